"""Prompts: templates filled from the settings, contexts as numbered tables, and the schema of each reply.

A template is the fixed part of a prompt (the system message, and examples as turns); what is asked about follows in the
user's message. So providers can reuse the fixed part, and a template's text says everything that a key must know about
it. Schemas are strict: every property is required and no other is allowed. Gemini takes four levels of objects and
lists, xgrammar no pattern, and several servers no bound on a list: none of ours has more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sensegraph.engines.llm import templates
from sensegraph.engines.llm.llm_settings import OTHER, Domain
from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.errors import SettingsError
from sensegraph.language.text import count_tokens, take_within
from sensegraph.papers import paper_folder
from sensegraph.types import Brief, Chunk, Context, Inquiry, Turn

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}


def extraction_schema(domain: Domain, *, dates: bool = False) -> Schema:
    """The form of entities and relations; only an enforced domain leaves no type but its own and `other`.

    With `dates` a relation says since and until when it holds.
    """
    name, told = _said(_TEXT, "as the passage writes it"), _said(_TEXT, "all that the passage says about it")
    entity = _object_of(name=name, type=_type_schema(domain.entity_types, domain), description=told)
    kind = {"type": _type_schema(domain.relation_types, domain)} if domain.relation_types else {}
    when = {"starts": _DATE, "ends": _DATE} if dates else {}
    end, linked = _said(_TEXT, "the name of an entity of the list"), _said(_TEXT, "how the two are linked")
    strength = _said(_NUMBER, "1 to 10")
    relation = _object_of(source=end, target=end, **kind, **when, description=linked, strength=strength)
    return _object_of(entities=_list_of(entity), relations=_list_of(relation))


def _type_schema(listed: Sequence[str], domain: Domain) -> Schema:
    return _choice_of(*dict.fromkeys((*listed, OTHER))) if domain.enforced else _TEXT


def _object_of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _choice_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _said(kind: Schema, words: str) -> Schema:
    """A field with what it is to hold, for endpoints that show the form to the model."""
    return kind | {"description": words}


_CITES = "cites its records by their numbers, as [3, 7]"
_FINDINGS = _list_of(
    _object_of(summary=_said(_TEXT, "one short sentence"), explanation=_said(_TEXT, f"a paragraph that {_CITES}"))
)
_STATUS = _choice_of("TRUE", "FALSE", "SUSPECTED")
_DATE = _said(_TEXT, "YYYY, YYYY-MM or YYYY-MM-DD, or empty")
_CLAIM = _object_of(
    subject=_said(_TEXT, "an entity of the list"),
    object=_said(_TEXT, "an entity of the list, or none"),
    type=_TEXT,
    status=_STATUS,
    starts=_DATE,
    ends=_DATE,
    description=_said(_TEXT, "the claim with its evidence"),
    quote=_said(_TEXT, "the exact words of the passage"),
)
_SUMMARY_ENTITY = _object_of(name=_TEXT, type=_TEXT, description=_said(_TEXT, f"two to five sentences; {_CITES}"))
_MEMBER = _object_of(
    id=_said(_INTEGER, "the number of a record"),
    of=_said(_INTEGER, "the place of its summary entity in that list, from 1"),
    description=_said(_TEXT, "how it belongs there"),
    strength=_said(_NUMBER, "0 to 10"),
)
_RECORDS = _said(_list_of(_INTEGER), "the numbers of at most five records that support it")
_POINT = _object_of(text=_TEXT, score=_said(_INTEGER, "0 to 100"), records=_RECORDS)
_LINES = _object_of(lines=_list_of(_TEXT))
_REASON = _said(_TEXT, "one short sentence")
_SENTENCE = _object_of(reason=_REASON, sentence=_said(_TEXT, "the sentence, or empty"))

REPLY_SCHEMAS: dict[str, Schema] = {
    "claims": _object_of(claims=_list_of(_CLAIM)),
    "summary": _object_of(summary=_TEXT),
    "report": _object_of(
        title=_said(_TEXT, "short, with names"),
        summary=_said(_TEXT, _CITES),
        rating=_said(_NUMBER, "0 to 10"),
        rating_explanation=_TEXT,
        findings=_FINDINGS,
    ),
    "aggregate": _object_of(
        entity_name=_said(_TEXT, "the name of no member"),
        entity_description=_said(_TEXT, _CITES),
        findings=_FINDINGS,
    ),
    "link": _object_of(link=_said(_TEXT, _CITES)),
    "abstract": _object_of(summary_entities=_list_of(_SUMMARY_ENTITY), members=_list_of(_MEMBER)),
    "described": _object_of(
        kind=_said(_TEXT, "one to three words, or decoration"),
        description=_TEXT,
        data=_said(_list_of(_TEXT), "what can be read off it, one sentence each"),
        words=_said(_TEXT, "all words that stand in it"),
    ),
    "condensed": _object_of(condensed=_said(_TEXT, _CITES)),
    "points": _object_of(points=_list_of(_POINT)),
    "answer": _object_of(answer=_said(_TEXT, f"Markdown; {_CITES}")),
    "lead": _object_of(
        answer=_said(_TEXT, _CITES), score=_said(_INTEGER, "0 to 100"), follow_ups=_said(_list_of(_TEXT), "questions")
    ),
    "refinement": _object_of(expanded_question=_TEXT, sub_questions=_list_of(_TEXT), hypothetical_answer=_TEXT),
    "grade": _object_of(reason=_REASON, rating=_said(_INTEGER, "0 to 5")),
    "same": _object_of(reason=_REASON, groups=_said(_list_of(_list_of(_INTEGER)), "numbers of entities that are one")),
    "profile": _object_of(domain=_TEXT, persona=_TEXT, language=_TEXT, entity_types=_list_of(_TEXT)),
    "judge": _object_of(reasoning=_TEXT, winner={"type": "integer", "enum": [0, 1, 2]}),
    "judge-decided": _object_of(reasoning=_TEXT, winner={"type": "integer", "enum": [1, 2]}),
    "judge-scored": _object_of(reasoning=_TEXT, score_a=_NUMBER, score_b=_NUMBER, winner=_choice_of("A", "B", "tie")),
    "score": _object_of(explanation=_TEXT, score=_NUMBER),
    "contrast": _object_of(common=_list_of(_TEXT), first_only=_list_of(_TEXT), second_only=_list_of(_TEXT)),
    **dict.fromkeys("personas tasks questions grounded-questions reverse-questions".split(), _LINES),
    **dict.fromkeys(("claim-select", "claim-disambiguate"), _SENTENCE),
    "claim-decompose": _object_of(statements=_list_of(_TEXT)),
    "support": _object_of(reason=_REASON, supported={"type": "boolean"}),
    "plan": _object_of(steps=_list_of(_object_of(question=_TEXT, action=_TEXT))),
    "keywords": _object_of(high_level=_list_of(_TEXT), low_level=_list_of(_TEXT)),
    "concepts": _object_of(named=_list_of(_TEXT), general=_list_of(_TEXT)),
    "filter": _object_of(facts=_list_of(_INTEGER)),
    "triple-names": _object_of(entities=_list_of(_TEXT)),
    "triples": _object_of(triples=_list_of(_object_of(subject=_TEXT, predicate=_TEXT, object=_TEXT))),
    "rank": _object_of(scores=_list_of(_object_of(id=_INTEGER, score=_INTEGER))),
}
"""The form of each reply, by the name of its task; those of claims and of a profile too."""


_ASKED = (  # folder of the paper, and the templates in it
    (
        "edge2024",
        "extract extract-tuple glean-names glean-check glean-more claims claims-tuple claims-check claims-more "
        "references describe summarise report rate rate-answer answer ask refine test grade resolve tune "
        "judge judge-scored contrast personas tasks questions grounded-questions rank",
    ),
    ("circlemind2024", "concepts"),
    ("guo2024", "keywords"),
    ("gutierrez2025", "filter triple-names triples"),
    ("liang2024", "plan"),
    ("zhang2025", "aggregate relate judge-decided score"),
    ("huang2025", "abstract"),
    ("sarthi2024", "condense"),
    ("metropolitansky2025", "claim-select claim-disambiguate claim-decompose"),
    ("es2023", "reverse-questions"),
    ("gao2023", "support"),
)
_FOLDERS: Mapping[str, str] = MappingProxyType({name: paper for paper, names in _ASKED for name in names.split()})
TEMPLATES = tuple(_FOLDERS)

_TABLES = {  # kind: (title, columns); edge2024, app. E
    "report": ("Reports", "id,title,report"),
    "entity": ("Entities", "id,entity,description"),
    "relation": ("Relationships", "id,source,target,description"),
    "claim": ("Claims", "id,subject,description"),
    "point": ("Points", "id,score,point"),
    "chunk": ("Sources", "id,title,text"),
}
_CONVERSATION = "Conversation so far (it shows what the question refers to, and is no source to cite):"
_OTHER = ("Records", "id,title,text")


# ── templates ──


@cache
def read_packaged_template(name: str) -> str:
    """The template that comes with the package."""
    return (paper_folder(_FOLDERS[name]) / "prompts" / f"{name}.md").read_text("utf-8")


def copy_templates(folder: Path) -> list[Path]:
    """The packaged templates, copied into `folder`; one that exists is left as it is, unless it is an earlier copy."""
    folder.mkdir(parents=True, exist_ok=True)
    copies = [folder / f"{name}.md" for name in sorted(TEMPLATES)]
    for copy in copies:
        if not copy.exists() or templates.is_earlier_edition(copy.stem, copy.read_text("utf-8")):
            copy.write_text(read_packaged_template(copy.stem), "utf-8", newline="\n")
    return copies


def read_template(name: str, directory: str = "") -> str:
    """The user's `name`.md in `directory` where there is one, else the packaged template.

    A copy of an earlier version that nobody edited is no template of the user's.
    """
    own = Path(directory) / f"{name}.md"
    text = own.read_text("utf-8") if directory and own.is_file() else ""
    return text if text and not templates.is_earlier_edition(name, text) else read_packaged_template(name)


def check_prompt_folder(directory: str) -> None:
    """Raise SettingsError for a folder of prompts that is missing or holds a file that would never be read."""
    if not directory:
        return
    if not Path(directory).is_dir():
        raise SettingsError(f"The folder of prompts {directory!r} does not exist: create it or clear the setting.")
    unknown = sorted(p.name for p in Path(directory).glob("*.md") if p.stem not in TEMPLATES)
    if unknown:
        raise SettingsError(f"No prompt is named {unknown[0]} (in {directory!r}); names: {', '.join(TEMPLATES)}.")


def fill_template(name: str, values: Mapping[str, str], directory: str = "") -> str:
    """The instructions of the template with each `{{placeholder}}` replaced.

    Raises SettingsError for one that is not in `values`.
    """
    return templates.fill_text(name, split_template(name, directory).instructions, values)


def split_template(name: str, directory: str = "") -> templates.Template:
    """The template in its parts."""
    return templates.split_template(name, read_template(name, directory))


# ── what is asked about ──


def write_chunk(chunk: Chunk) -> str:
    """The text to read, below the title of its document."""
    return (f"Title: {_single_line(chunk.title)}\n\n" if chunk.title else "") + f"Text:\n{chunk.text}"


def write_descriptions(title: str, texts: list[str], so_far: str = "") -> str:
    """Descriptions of one thing, to be made into one."""
    earlier = f"\n\nDescription so far:\n{so_far}" if so_far else ""
    return f"Name: {_single_line(title)}{earlier}\n\nDescriptions:\n" + "\n".join(f"- {_single_line(t)}" for t in texts)


def number_records(context: Context) -> Records:
    """The records that the numbers in the tables of `context` stand for."""
    kinds = list(dict.fromkeys([*_TABLES, *sorted({p.kind for p in context.passages})]))
    return Records(tuple(sorted(context.passages, key=lambda p: kinds.index(p.kind))))


def write_context(context: Context) -> tuple[str, Records]:
    """The tables of a context, and the records that their numbers stand for."""
    return _write_tables(number_records(context), None)


def _write_tables(found: Records, types: Mapping[str, str] | None) -> tuple[str, Records]:
    """The tables of these records; with `types`, by passage id, those that are no relations have a column for it."""
    blocks: list[str] = []
    for number, passage in enumerate(found.passages, 1):
        typed = types is not None and passage.kind != "relation"
        if number == 1 or passage.kind != found.passages[number - 2].kind:
            title, columns = _TABLES.get(passage.kind, _OTHER)
            names = columns.split(",")
            columns = ",".join([*names[:2], "type", *names[2:]]) if typed else columns
            blocks.append(f"# {title}\n{columns}")
        cells = [passage.title, passage.text]
        if passage.kind == "relation":
            source, _, target = passage.title.partition(" — ")
            cells = [source, target, passage.text]
        elif types is not None:
            cells = [passage.title, types.get(passage.id, ""), passage.text]
        elif passage.kind == "point":
            text = f"{passage.title}: {passage.text}" if passage.title else passage.text
            cells = [f"{passage.score:.0f}", text]
        cells = [_single_line(cell) for cell in cells]
        quoted = ['"' + c.replace('"', '""') + '"' if "," in c or '"' in c else c for c in cells]
        blocks[-1] += f"\n{number},{','.join(quoted)}"
    return "\n\n".join(blocks), found


def write_community(context: Context) -> tuple[str, Records]:
    """What a report is written from."""
    tables, records = write_context(context)
    return (f"Community: {_single_line(context.title)}\n\n" if context.title else "") + tables, records


def write_brief(brief: Brief, words: int) -> tuple[str, Records]:
    """How long, and the tables; no length is named where `words` is 0.

    The title is left out: it may be made of members' names, and a name is what is asked for.
    """
    context = brief.context
    length = f"Length: at most {words} words\n\n" if words else ""
    types = {p.id: kind for p, kind in zip(context.passages, brief.types, strict=False)} if any(brief.types) else None
    tables, found = _write_tables(number_records(context), types)
    return length + tables, found


def write_inquiry(inquiry: Inquiry, history_tokens: int) -> str:
    """The tables that a question is answered from, the conversation before it, and the question.

    The tables come first, so that questions about the same tables share what comes before them.
    """
    about = f"\n\nAbout: {_single_line(inquiry.context.title)}" if inquiry.context.title else ""
    tables = write_context(inquiry.context)[0]
    return f"{tables}\n\n{_write_question(inquiry, history_tokens)}{about}".lstrip()


def write_passages(inquiry: Inquiry, history_tokens: int) -> str:
    """Passages that nobody will cite, the conversation before a question, and the question."""
    texts = [f"{_single_line(p.title)}\n{p.text}" if p.title else p.text for p in inquiry.context.passages]
    return "Text:\n" + "\n\n".join(texts) + f"\n\n{_write_question(inquiry, history_tokens)}"


def write_refinement(inquiry: Inquiry, history_tokens: int) -> str:
    """What the corpus speaks of, how its reports read, the conversation before a question, and the question."""
    concepts = [_single_line(p.title or p.text) for p in inquiry.context.passages if p.kind == "concept"]
    examples = [f"{_single_line(p.title)}\n{p.text}" for p in inquiry.context.passages if p.kind != "concept"]
    spoken = [f"The corpus speaks of: {'; '.join(concepts)}"] if concepts else []
    shown = [*spoken, *(f"Example report:\n{e}" for e in examples)]
    return "\n\n".join([*shown, _write_question(inquiry, history_tokens)])


def fit_history(history: Sequence[Turn], budget: int) -> tuple[list[Turn], int]:
    """The latest turns that fit into `budget` tokens, oldest first, and how many earlier ones do not.

    Where the latest alone does not fit, the end of its answer is cut off; if that is not enough, it is left out too.
    """
    if not history or budget <= 0:
        return [], len(history)
    kept, left = take_within(reversed(history), budget, lambda turn: count_tokens(_write_turn(turn)))
    if kept:
        return kept[::-1], left
    last = history[-1]
    room = (
        budget - count_tokens(_write_turn(replace(last, answer="…"))) - 2
    )  # for tokens that change where texts are joined
    if room <= 0:
        return [], left
    words = last.answer.split()
    fitting = bisect_right(range(len(words)), room, key=lambda n: count_tokens(" ".join(words[: n + 1])))
    return [replace(last, answer=" ".join(words[:fitting]) + "…")], left - 1


def _write_question(inquiry: Inquiry, history_tokens: int) -> str:
    turns, _ = fit_history(inquiry.history, history_tokens)
    asked = f"Question: {_single_line(inquiry.question)}"
    return "\n".join([_CONVERSATION, *map(_write_turn, turns)]) + f"\n\n{asked}" if turns else asked


def _write_turn(turn: Turn) -> str:
    answered = f"\nAnswered: {_single_line(turn.answer)}" if turn.answer.strip() else ""
    return f"Asked: {_single_line(turn.question)}{answered}"


def _single_line(text: str) -> str:
    return " ".join(text.split())
