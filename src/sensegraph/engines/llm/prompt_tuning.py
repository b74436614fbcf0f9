"""Prompts fitted to a corpus: its domain, a reader's persona, its types, and worked examples (edge2024, §3.1.2; G05).

The model names the first three from a sample, then reads a few passages of it; what it found in them becomes the
examples. The result is a set of templates for people to read and edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import msgspec

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import Asker, plan_task
from sensegraph.engines.llm.language_names import name_language
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import OTHER, LLMSettings, fold_type_name
from sensegraph.engines.llm.replies.reply_text import Reading, decode_json
from sensegraph.engines.llm.templates import defuse_text, split_template
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens, take_within
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Chunk, Extraction, Usage

EXAMPLES = 3  # passages that become worked examples
_PASSAGE = 200  # tokens of a passage that is shown: examples are paid for with every chunk
_MOST_TYPES = 12
_REPLY = 1000  # tokens of a profile
_AS_THEY_ARE = frozenset(  # parts of a talk, the question that must be cheapest, and what judges answers: by no persona
    "glean-names glean-check glean-more claims-check claims-more references test tune "
    "judge judge-scored judge-decided score contrast personas tasks questions grounded-questions reverse-questions "
    "claim-select claim-disambiguate claim-decompose support "
    "plan keywords concepts filter triple-names triples rank".split()  # their examples are turns, and of no corpus
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What kind of corpus it is, who should read it, in which language it is, and what to look for."""

    domain: str
    persona: str
    language: str
    entity_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A passage of the corpus and what the model found in it."""

    passage: Chunk
    found: Extraction


@dataclass(frozen=True, slots=True)
class Tuned:
    """The profile of a corpus, the examples taken from it, its templates by name, and what all that cost."""

    profile: Profile
    examples: tuple[Example, ...]
    templates: tuple[tuple[str, str], ...]
    usage: Usage
    notes: tuple[str, ...] = ()


def fit_prompts(engine: LLMEngine, passages: Sequence[Chunk], language: str = "") -> Tuned:
    """Templates fitted to the corpus that `passages` are a sample of, written in `language` (empty: its own).

    Raises ItemFailed when the model's account of the corpus stays unusable, and what an endpoint raises.
    """
    shown = [_shorten_chunk(p) for p in passages]
    before, settings = engine.usage(), replace(engine.settings, language=language or engine.settings.language)
    values = {"language": f"Write in {settings.language}." if settings.language else "Write in their language."}
    plan = plan_task("profile", "tune", settings, values, _REPLY)
    user = "\n\n".join(f"Passage {n}. {prompts.write_chunk(p)}" for n, p in enumerate(shown, 1))
    profile = Asker(engine.endpoint).ask("tune-prompts", plan, user, _read_profile, f"{len(shown)} passages")
    reader = LLMEngine(engine.endpoint, replace(settings, entity_types=profile.entity_types, prompts=""))
    read = ((passage, reader.extract([passage])[0]) for passage in shown[: 2 * EXAMPLES])  # one by one, as needed
    examples = tuple(islice((Example(passage, found) for passage, found in read if found.entities), EXAMPLES))
    notes = () if examples else ("No passage of the sample gave an example: the packaged ones stay.",)
    texts = tuple((name, fit_template(name, profile, examples, settings)) for name in list_fitted_templates())
    return Tuned(profile, examples, texts, engine.usage() - before, notes)


def list_fitted_templates() -> tuple[str, ...]:
    """The templates that are fitted; the others stay as they are."""
    return tuple(name for name in prompts.TEMPLATES if name not in _AS_THEY_ARE)


def fit_template(name: str, profile: Profile, examples: Sequence[Example], settings: LLMSettings) -> str:
    """The packaged template `name` with the profile before it, and the examples in the place of its own.

    The last of its own stays: it shows that there may be nothing to find.
    """
    text = prompts.read_packaged_template(name)
    found = split_template(name, text)
    made = [turn for turn in (_write_example(name, example, settings) for example in examples) if turn]
    if made:
        text = replace(found, turns=(*made, found.turns[-1])).write()
    persona, domain = defuse_text(profile.persona), defuse_text(profile.domain)
    return f"You are {persona}. The corpus holds {domain}.\n\n{text}"


# ── what kind of corpus it is ──


def _read_profile(reply: Reply) -> Reading[Profile]:
    """The account in a reply; it must say a domain, a persona and at least one type."""
    try:
        data = decode_json(reply)
        said = msgspec.convert({"language": "", **data} if isinstance(data, dict) else data, Profile)
    except msgspec.ValidationError as e:
        return Reading(None, f"its form is wrong: {e}")
    types = {fold_type_name(kind): " ".join(kind.split()).casefold() for kind in said.entity_types}
    listed = tuple(kind for known, kind in types.items() if known not in ("", OTHER))[:_MOST_TYPES]
    if not (said.domain.strip() and said.persona.strip() and listed):
        return Reading(None, "its domain, persona or list of types is empty")
    return Reading(Profile(_phrase(said.domain), _phrase(said.persona), _phrase(said.language), listed))


def _phrase(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


# ── worked examples ──


def _shorten_chunk(chunk: Chunk) -> Chunk:
    """The first whole sentences of a chunk, as many as an example may have, and at least one.

    A chunk that is not the beginning of its document may begin inside a sentence.
    """
    spans = split_sentences(chunk.text)
    spans = spans[1:] if chunk.start and len(spans) > 1 else spans
    kept, _ = take_within(spans, _PASSAGE, lambda span: count_tokens(chunk.text[span[0] : span[1]]))
    start, end = spans[0][0], (kept or spans[:1])[-1][1]
    text, at = chunk.text[start:end], chunk.start
    return replace(chunk, text=text, start=at + start, end=at + end, tokens=count_tokens(text))


def _write_example(name: str, example: Example, settings: LLMSettings) -> tuple[str, str] | None:
    """An example as a turn in the form that the template `name` asks for; None where it asks for none or holds nothing.

    In the tuple format a record is its kind, then the fields in their order.
    """
    kind, _, form = name.partition("-")
    if kind not in ("extract", "claims") or (kind == "claims" and not example.found.claims):
        return None
    entities = [{"name": e.name, "type": e.type, "description": e.description} for e in example.found.entities]
    relations = []
    for r in example.found.relations:
        ends = {"source": r.source, "target": r.target} | ({"type": r.label} if settings.relation_types else {})
        relations.append(ends | {"description": r.description, "strength": round(r.strength)})
    records: dict[str, list[dict[str, Any]]] = {"entities": entities, "relations": relations}
    if kind == "claims":
        fields = ("subject", "object", "type", "status", "starts", "ends", "description")
        quotes = [(c, {"quote": example.passage.text[c.start : c.end]}) for c in example.found.claims]
        records = {"claims": [{name: getattr(c, name) for name in fields} | quote for c, quote in quotes]}
    listed = "; ".join(dict.fromkeys(e.name for e in example.found.entities))
    named = f"\n\nEntities: {listed}" if kind == "claims" else ""
    language = settings.language or name_language(example.passage.text)
    head = ["Write in " + (f"{language}." if language else "the language of the text.")]
    head = ["{{types}}", *head] if kind == "extract" else head
    text = defuse_text(f"Text:\n{example.passage.text}{named}")
    asked = "\n".join(["Example, from this corpus.", "", *head, "", text])
    if not form:
        return asked, defuse_text(msgspec.json.encode(records).decode())
    kinds = {"entities": "entity", "relations": "relationship", "claims": "claim"}
    tuples = [
        f'("{kinds[name]}"<|>{"<|>".join(str(v) for v in record.values())})'
        for name, listed in records.items()
        for record in listed
    ]
    return asked, defuse_text("\n".join(["\n##\n".join(tuples), "<|COMPLETE|>"]))
