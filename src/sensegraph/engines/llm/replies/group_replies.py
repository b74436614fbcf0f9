"""Values out of replies about groups: aggregates, links, summary entities and condensations (LeanRAG, HiRAG, RAPTOR).

A value that breaks a rule is mended here and comes with a problem, so that it is used only where asking once more
brings none better; what was mended is then told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sensegraph.engines.llm.replies.answer_replies import (
    Head,
    compose_report,
    describe_dangling,
    describe_missing_findings,
)
from sensegraph.engines.llm.replies.cited_records import Cited, Records
from sensegraph.engines.llm.replies.extracted_records import convert_record, read_number
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    declines_in_words,
    decode_json,
    describe_cut,
    is_truncated,
    keep_whole_sentences,
    list_in,
    read_one_text,
    strip_wrapping,
)
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, WORD, fold
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Brief, Membership, Passage, Report, Statement, SummaryEntity

RENAMED = "names of aggregates were those of a member: a type was added"
SHORTENED = "texts about groups were longer than asked for: cut"
NAMED = "texts about two groups name their members"
CALLED = "texts about two groups speak of a community"
ATTACHED = "members that no summary entity named were given to the first"

_GROUP = "group"  # where no member has a type
_STRONGEST = 10.0
_UNSAID = 1.0  # the strength of a membership of which nothing is said
_COMMUNITY = re.compile(r"\bcommunit(?:y|ies)\b", re.IGNORECASE)
_MARK_BEGUN = re.compile(r"(?<!\s)\s*+[\[【][^\[\]【】]*\Z")  # at the end of a reply that was cut off
_MOST_NAMED = 20  # members that an objection names
_SHORTEST = 3  # characters of a name that is looked for in a text
_NUMBER = re.compile(r"\W*(?:(?:entit(?:y|ies)|reports?|records?|ids?)\W*)?(\d{1,9})\W*", re.IGNORECASE)


class _Summary(msgspec.Struct, frozen=True):
    name: str
    description: str
    type: str | None = ""


class _Member(msgspec.Struct, frozen=True):
    id: str | int | float
    description: str | None = ""
    strength: str | int | float | None = None


@dataclass(frozen=True, slots=True)
class Written(Cited):
    """The text of a reply; `problem` says how its form is wrong, `doubtful` is a text in plain words.

    Such a text may be a refusal.
    """

    problem: str = ""
    doubtful: bool = False


# ── aggregates (LeanRAG, Eq. 4) ──


def read_aggregate(reply: Reply, cited: Records, brief: Brief, least: int) -> Reading[Report]:
    """Name, description and at least `least` findings, fewer where the group has fewer members than that.

    A name that a member has gets the type of most members behind it.
    """
    data = decode_json(reply)
    if not isinstance(data, dict):
        return Reading(None, describe_cut(reply) or "it is no JSON object")
    try:
        named = {"title": data.get("entity_name"), "summary": data.get("entity_description"), "rating": 0.0}
        head = msgspec.convert(named, Head, strict=False)
    except msgspec.ValidationError as e:
        return Reading(None, f"its form is wrong: {e}")
    made, dangling = compose_report(head, data, cited)
    if not made.title or not any(s.text.strip() for s in made.summary):
        return Reading(None, "its entity_name or entity_description is empty", len(dangling))
    members = _select_members(cited.passages)
    name = " ".join(made.title.split())
    kinds = (k.strip() for p, k in zip(brief.context.passages, brief.types, strict=False) if p.kind != "relation")
    most = Counter(k for k in kinds if k).most_common(1)  # the first of several that are as frequent
    title, taken = name, {fold(m.title) for m in members}
    while fold(title) in taken:
        title = f"{title} ({most[0][0] if most else _GROUP})"
    clash = f"entity_name {name!r} is the name of a member; a name for the whole group is asked for"
    problems = [
        clash if title != name else "",
        describe_missing_findings(len(made.findings), least if len(members) >= least else 1, reply),
        describe_dangling(dangling),
    ]
    mended = (RENAMED,) if title != name else ()
    return Reading(replace(made, title=title), _join_problems(problems), len(dangling), mended)


# ── links (LeanRAG, Eq. 5) ──


def read_link(reply: Reply, cited: Records, most: int) -> Reading[tuple[Statement, ...]]:
    """What links two groups, in at most `most` words, without a word on their members or on communities."""
    got = _read_text(reply, cited, "link")
    if got is None:
        return Reading(None, "it holds no link")
    named = _find_named_members(got.text, cited.passages)
    given = (f"{p.title} {p.text}" for p in cited.passages)
    called = bool(_COMMUNITY.search(got.text)) and not any(map(_COMMUNITY.search, given))
    problems = [
        got.problem,
        _describe_excess(got.text, most),
        f"it names members of the groups: {', '.join(named)}; speak of the groups only" if named else "",
        "it speaks of a community; call the groups by their names" if called else "",
        describe_dangling(got.dangling),
    ]
    mended = (*((NAMED,) if named else ()), *((CALLED,) if called else ()))
    return _fit_text(got, most, problems, mended)


def _find_named_members(text: str, passages: Sequence[Passage]) -> list[str]:
    """The members that `text` names: those that a relation joins, unless a group is called like that.

    Names in small letters only may be common words, and are not looked for.
    """
    groups = " ".join(p.title for p in passages if p.kind != "relation")
    ends = (end.strip() for p in passages if p.kind == "relation" for end in p.title.split(" — "))
    names = (n for n in dict.fromkeys(ends) if HAN.search(n) or (len(n) >= _SHORTEST and n != n.lower()))
    return [n for n in names if _contains_name(text, n) and not _contains_name(groups, n)][:_MOST_NAMED]


def _contains_name(text: str, name: str) -> bool:
    """Whether `name` stands in `text` as a whole; in any case where it is all in capitals."""
    if HAN.search(name):
        return name in text  # no blanks around words
    flags = re.IGNORECASE if name == name.upper() else re.NOFLAG
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags) is not None


# ── condensations (RAPTOR) ──


def read_condensed(reply: Reply, cited: Records, most: int) -> Reading[tuple[Statement, ...]]:
    """The text said shorter, in at most `most` words; plain words are taken where asking again brings no more.

    A longer one is cut without asking again: what it says at its end is what matters least.
    """
    got = _read_text(reply, cited, "condensed")
    if got is None:
        return Reading(None, "it holds no condensed text")
    enough = is_truncated(reply) and bool(_describe_excess(got.text, most))  # where it was cut off does not matter then
    problem = "" if enough else got.problem
    return _fit_text(got, most, [problem, describe_dangling(got.dangling)], ())


# ── summary entities (HiRAG) ──


def read_summary_entities(reply: Reply, cited: Records) -> Reading[tuple[SummaryEntity, ...]]:
    """Summary entities with their members; a member that none has is given to the first."""
    data = decode_json(reply)
    listed = data if isinstance(data, list) else list_in(data, "summary_entities")
    listed = _give_members(listed, list_in(data, "members") if isinstance(data, dict) else [])
    read = [made for made in (_read_summary_entity(raw, cited) for raw in listed) if made]
    made = [entity for entity, _ in read if entity.members]
    dangling = tuple(lost for _, names in read for lost in names)
    unusable = len(listed) - len(made)
    if not made:
        return Reading(None, describe_cut(reply) or "it holds no list of summary entities with members")
    held = {m.id for entity in made for m in entity.members}
    left = [(n, p) for n, p in enumerate(cited.passages, 1) if p.kind != "relation" and p.id not in held]
    listed_left = ", ".join(f"{n} ({' '.join(p.title.split())})" for n, p in left[:_MOST_NAMED])
    rest = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
    problems = [
        describe_cut(reply),
        f"{unusable} of its summary entities have no name, no description or no member" if unusable else "",
        f"these members belong to no summary entity: {listed_left}{rest}" if left else "",
        describe_dangling(dangling),
    ]
    more = tuple(Membership(p.id, "", _UNSAID) for _, p in left)
    made[0] = replace(made[0], members=(*made[0].members, *more))
    return Reading(tuple(made), _join_problems(problems), len(dangling) + unusable, (ATTACHED,) * len(left))


def _give_members(entities: Sequence[Any], members: Sequence[Any]) -> list[Any]:
    """Summary entities with their members inside, where these are listed apart: each `of` the place of its entity.

    One without a place that there is belongs to the only summary entity, and where there are several to none.
    """
    held: dict[int, list[Any]] = {}
    for member in members:
        place = int(read_number(member.get("of"), 0.0)) if isinstance(member, dict) else 0
        held.setdefault(1 if len(entities) == 1 else place, []).append(member)
    given = ((e, held.get(n, [])) for n, e in enumerate(entities, 1))
    return [{**e, "members": [*list_in(e, "members"), *own]} if isinstance(e, dict) and own else e for e, own in given]


def _read_summary_entity(raw: Any, cited: Records) -> tuple[SummaryEntity, tuple[str, ...]] | None:
    """One summary entity, and what in it named nothing; a description that cites nothing rests on all members."""
    said = convert_record(raw, _Summary)
    if said is None:
        return None
    name = cited.resolve(" ".join(said.name.split())).text.strip()
    got = cited.resolve(said.description.strip())
    if not name or not got.text.strip():
        return None
    members, lost = _read_members(list_in(raw, "members"), cited)
    statements = got.statements
    if not any(s.references for s in statements):
        statements = (Statement(got.text, tuple(m.id for m in members)),)
    kind = " ".join((said.type or "").split())
    return SummaryEntity(name, kind, statements, members), (*got.dangling, *lost)


def _read_members(raws: Sequence[Any], cited: Records) -> tuple[tuple[Membership, ...], list[str]]:
    """The members that a reply lists, each once, and what it lists that is none."""
    found: dict[str, Membership] = {}
    lost: list[str] = []
    for raw in raws:
        said = convert_record(raw if isinstance(raw, dict) else {"id": raw}, _Member)
        name = _find_member(said.id, cited) if said else None
        if said is None or name is None:
            lost.append(f"member {said.id if said else raw}"[:80])
            continue
        text = cited.resolve((said.description or "").strip()).text.strip()
        strength = min(_STRONGEST, max(0.0, read_number(said.strength, _UNSAID)))
        found.setdefault(name, Membership(name, text, strength))
    return tuple(found.values()), lost


def _find_member(said: str | int | float, cited: Records) -> str | None:
    """The id of the member that is meant: by its name, else by the number of its record."""
    members = _select_members(cited.passages)
    text = str(int(said)) if isinstance(said, float) and said.is_integer() else str(said)
    if by_name := next((p.id for p in members if fold(p.title) == fold(text)), None):
        return by_name
    number = _NUMBER.fullmatch(text)
    name = cited.find(int(number[1])) if number else None
    return name if any(p.id == name for p in members) else None


# ── shared ──


def estimate_words(text: str) -> int:
    """The number of words between blanks; of scripts written without them, two characters count as one word."""
    return len(text.split()) + len(HAN.findall(text)) // 2


def shorten_statements(statements: Sequence[Statement], most: int) -> tuple[Statement, ...]:
    """The beginning of a text, in whole sentences, of at most `most` words; in whole words where one is longer."""
    text = "".join(s.text for s in statements)
    if estimate_words(text) <= most:
        return tuple(statements)
    ends = [end for _, end in split_sentences(text)]
    fitting = bisect_right(ends, most, key=lambda end: estimate_words(text[:end]))
    if fitting:
        return _cut_statements(statements, ends[fitting - 1])
    at = bisect_right(range(1, len(text) + 1), most, key=lambda end: estimate_words(text[:end]))
    kept = _cut_statements(statements, len(text[:at].rstrip().rstrip(",;:")))
    return (*kept[:-1], replace(kept[-1], text=f"{kept[-1].text}…")) if kept else ()


def _cut_statements(statements: Sequence[Statement], end: int) -> tuple[Statement, ...]:
    """The statements up to character `end` of their text."""
    kept: list[Statement] = []
    for statement in statements:
        if end <= 0:
            break
        kept.append(replace(statement, text=statement.text[:end]))
        end -= len(statement.text)
    return tuple(kept)


def _read_text(reply: Reply, cited: Records, name: str) -> Written | None:
    """The one text that a reply is about, else None; plain words may be a refusal, so they come with a problem."""
    text = read_one_text(reply, name)
    if not WORD.search(text) or declines_in_words(reply):
        return None
    doubtful = "{" not in strip_wrapping(reply.text)
    problem = "it is no JSON object" if doubtful else ""
    if is_truncated(reply):
        text, problem = keep_whole_sentences(_MARK_BEGUN.sub("", text)), describe_cut(reply)
    got = cited.resolve(text)
    return Written(got.statements, got.dangling, problem, doubtful) if WORD.search(got.text) else None


def _fit_text(
    got: Written, most: int, problems: Iterable[str], mended: tuple[str, ...]
) -> Reading[tuple[Statement, ...]]:
    """The text within its limit."""
    cut = (SHORTENED,) if _describe_excess(got.text, most) else ()
    text, told = shorten_statements(got.statements, most), _join_problems(problems)
    return Reading(text, told, len(got.dangling), (*mended, *cut), doubtful=got.doubtful)


def _describe_excess(text: str, most: int) -> str:
    words = estimate_words(text)
    return f"it has {words} words, and at most {most} are asked for" if words > most else ""


def _select_members(passages: Iterable[Passage]) -> list[Passage]:
    return [p for p in passages if p.kind != "relation"]


def _join_problems(problems: Iterable[str]) -> str:
    return "; ".join(p for p in problems if p)
