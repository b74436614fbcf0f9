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

from sensegraph.engines.llm.replies import records, replies
from sensegraph.engines.llm.replies.references import Records
from sensegraph.engines.llm.replies.replies import Reading, cut_off, decoded, few, nameless, truncated
from sensegraph.language.text import HAN, WORD, fold, sentences
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
_MARK_BEGUN = re.compile(r"\s*[\[【][^\[\]【】]*\Z")  # at the end of a reply that was cut off
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
class Written:
    """A text with its references; `dangling` lists those that named nothing, `problem` says how its form is wrong.

    `doubtful` is a text in plain words, which may be a refusal.
    """

    statements: tuple[Statement, ...]
    dangling: tuple[str, ...]
    problem: str = ""
    doubtful: bool = False

    @property
    def text(self) -> str:
        """The whole text without reference marks."""
        return "".join(s.text for s in self.statements)


# ── aggregates (LeanRAG, Eq. 4) ──


def aggregate(reply: Reply, cited: Records, brief: Brief, least: int) -> Reading[Report]:
    """Name, description and at least `least` findings, fewer where the group has fewer members than that.

    A name that a member has gets the type of most members behind it.
    """
    data = decoded(reply)
    if not isinstance(data, dict):
        return Reading(None, cut_off(reply) if truncated(reply) else "it is no JSON object")
    try:
        head = msgspec.convert(_headed(data), replies.Head, strict=False)
    except msgspec.ValidationError as e:
        return Reading(None, f"its form is wrong: {e}")
    made, dangling = replies.composed(head, data, cited)
    if not made.title or not any(s.text.strip() for s in made.summary):
        return Reading(None, "its entity_name or entity_description is empty", len(dangling))
    members = _members(cited.passages)
    name = " ".join(made.title.split())
    title = _unlike(name, {fold(m.title) for m in members}, _majority(brief))
    problems = [
        _same_name(name) if title != name else "",
        few(len(made.findings), least if len(members) >= least else 1, reply),
        nameless(dangling),
    ]
    mended = (RENAMED,) if title != name else ()
    return Reading(replace(made, title=title), _joined(problems), len(dangling), mended)


def _headed(data: dict[str, Any]) -> dict[str, Any]:
    """The head of a report under the names that reports have."""
    return {"title": data.get("entity_name"), "summary": data.get("entity_description"), "rating": 0.0}


def _same_name(name: str) -> str:
    return f"entity_name {name!r} is the name of a member; a name for the whole group is asked for"


def _unlike(name: str, taken: set[str], kind: str) -> str:
    """`name`, with `kind` behind it as often as it is taken."""
    while fold(name) in taken:
        name = f"{name} ({kind})"
    return name


def _majority(brief: Brief) -> str:
    """The type of most members; of the first of them where several are as frequent."""
    kinds = (k.strip() for p, k in zip(brief.context.passages, brief.types, strict=False) if p.kind != "relation")
    found = Counter(k for k in kinds if k).most_common(1)
    return found[0][0] if found else _GROUP


# ── links (LeanRAG, Eq. 5) ──


def link(reply: Reply, cited: Records, most: int) -> Reading[tuple[Statement, ...]]:
    """What links two groups, in at most `most` words, without a word on their members or on communities."""
    got = _written(reply, cited, "link")
    if got is None:
        return Reading(None, "it holds no link")
    named = _named(got.text, cited.passages)
    called = bool(_COMMUNITY.search(got.text)) and not any(_COMMUNITY.search(_said(p)) for p in cited.passages)
    problems = [
        got.problem,
        _longer(got.text, most),
        f"it names members of the groups: {', '.join(named)}; speak of the groups only" if named else "",
        "it speaks of a community; call the groups by their names" if called else "",
        nameless(got.dangling),
    ]
    mended = (*((NAMED,) if named else ()), *((CALLED,) if called else ()))
    return _held(got, most, problems, mended)


def _named(text: str, passages: Sequence[Passage]) -> list[str]:
    """The members that `text` names: those that a relation joins, unless a group is called like that.

    Names in small letters only may be common words, and are not looked for.
    """
    groups = " ".join(p.title for p in passages if p.kind != "relation")
    ends = (end.strip() for p in passages if p.kind == "relation" for end in p.title.split(" — "))
    names = (n for n in dict.fromkeys(ends) if HAN.search(n) or (len(n) >= _SHORTEST and n != n.lower()))
    return [n for n in names if _holds(text, n) and not _holds(groups, n)][:_MOST_NAMED]


def _holds(text: str, name: str) -> bool:
    """Whether `name` stands in `text` as a whole; in any case where it is all in capitals."""
    if HAN.search(name):
        return name in text  # no blanks around words
    flags = re.IGNORECASE if name == name.upper() else 0
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags) is not None


def _said(passage: Passage) -> str:
    return f"{passage.title} {passage.text}"


# ── condensations (RAPTOR) ──


def condensed(reply: Reply, cited: Records, most: int) -> Reading[tuple[Statement, ...]]:
    """The text said shorter, in at most `most` words; plain words are taken where asking again brings no more.

    A longer one is cut without asking again: what it says at its end is what matters least.
    """
    got = _written(reply, cited, "condensed")
    if got is None:
        return Reading(None, "it holds no condensed text")
    enough = truncated(reply) and bool(_longer(got.text, most))  # where it was cut off does not matter then
    problem = "" if enough else got.problem
    return _held(got, most, [problem, nameless(got.dangling)], ())


# ── summary entities (HiRAG) ──


def abstract(reply: Reply, cited: Records) -> Reading[tuple[SummaryEntity, ...]]:
    """Summary entities with their members; a member that none has is given to the first."""
    data = decoded(reply)
    listed = data if isinstance(data, list) else replies.list_in(data, "summary_entities")
    read = [made for made in (_summary_entity(raw, cited) for raw in listed) if made]
    made = [entity for entity, _ in read if entity.members]
    dangling = tuple(lost for _, names in read for lost in names)
    unusable = len(listed) - len(made)
    if not made:
        return Reading(
            None, cut_off(reply) if truncated(reply) else "it holds no list of summary entities with members"
        )
    left = _left_out(made, cited)
    problems = [
        cut_off(reply) if truncated(reply) else "",
        f"{unusable} of its summary entities have no name, no description or no member" if unusable else "",
        _leaves_out(left),
        nameless(dangling),
    ]
    more = tuple(Membership(p.id, "", _UNSAID) for _, p in left)
    made[0] = replace(made[0], members=(*made[0].members, *more))
    return Reading(tuple(made), _joined(problems), len(dangling) + unusable, (ATTACHED,) * len(left))


def _summary_entity(raw: Any, cited: Records) -> tuple[SummaryEntity, tuple[str, ...]] | None:
    """One summary entity, and what in it named nothing; a description that cites nothing rests on all members."""
    try:
        said = msgspec.convert(raw, _Summary, strict=False)
    except msgspec.ValidationError:
        return None
    name = cited.cited(" ".join(said.name.split())).text.strip()
    got = cited.cited(said.description.strip())
    if not name or not got.text.strip():
        return None
    members, lost = _memberships(replies.list_in(raw, "members"), cited)
    statements = got.statements
    if not any(s.references for s in statements):
        statements = (Statement(got.text, tuple(m.id for m in members)),)
    kind = " ".join((said.type or "").split())
    return SummaryEntity(name, kind, statements, members), (*got.dangling, *lost)


def _memberships(raws: Sequence[Any], cited: Records) -> tuple[tuple[Membership, ...], list[str]]:
    """The members that a reply lists, each once, and what it lists that is none."""
    found: dict[str, Membership] = {}
    lost: list[str] = []
    for raw in raws:
        said = _member(raw)
        name = _record(said.id, cited) if said else None
        if said is None or name is None:
            lost.append(f"member {said.id if said else raw}"[:80])
            continue
        text = cited.cited((said.description or "").strip()).text.strip()
        strength = min(_STRONGEST, max(0.0, records.number(said.strength, _UNSAID)))
        found.setdefault(name, Membership(name, text, strength))
    return tuple(found.values()), lost


def _member(raw: Any) -> _Member | None:
    try:
        return msgspec.convert(raw if isinstance(raw, dict) else {"id": raw}, _Member, strict=False)
    except msgspec.ValidationError:
        return None


def _record(said: str | int | float, cited: Records) -> str | None:
    """The id of the member that is meant: by its name, else by the number of its record."""
    members = _members(cited.passages)
    text = str(int(said)) if isinstance(said, float) and said.is_integer() else str(said)
    if by_name := next((p.id for p in members if fold(p.title) == fold(text)), None):
        return by_name
    number = _NUMBER.fullmatch(text)
    name = cited.find(int(number[1])) if number else None
    return name if any(p.id == name for p in members) else None


def _left_out(made: Iterable[SummaryEntity], cited: Records) -> list[tuple[int, Passage]]:
    """The members that no summary entity has, with the numbers of their records."""
    held = {m.id for entity in made for m in entity.members}
    return [(n, p) for n, p in enumerate(cited.passages, 1) if p.kind != "relation" and p.id not in held]


def _leaves_out(left: Sequence[tuple[int, Passage]]) -> str:
    if not left:
        return ""
    named = ", ".join(f"{n} ({' '.join(p.title.split())})" for n, p in left[:_MOST_NAMED])
    rest = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
    return f"these members belong to no summary entity: {named}{rest}"


# ── shared ──


def length(text: str) -> int:
    """The number of words between blanks; of scripts written without them, two characters count as one word."""
    return len(text.split()) + len(HAN.findall(text)) // 2


def shortened(statements: Sequence[Statement], most: int) -> tuple[Statement, ...]:
    """The beginning of a text, in whole sentences, of at most `most` words; in whole words where one is longer."""
    text = "".join(s.text for s in statements)
    if length(text) <= most:
        return tuple(statements)
    ends = [end for _, end in sentences(text)]
    fitting = bisect_right(ends, most, key=lambda end: length(text[:end]))
    if fitting:
        return _until(statements, ends[fitting - 1])
    at = bisect_right(range(1, len(text) + 1), most, key=lambda end: length(text[:end]))
    kept = _until(statements, len(text[:at].rstrip().rstrip(",;:")))
    return (*kept[:-1], replace(kept[-1], text=f"{kept[-1].text}…")) if kept else ()


def _until(statements: Sequence[Statement], end: int) -> tuple[Statement, ...]:
    """The statements up to character `end` of their text."""
    kept: list[Statement] = []
    for statement in statements:
        if end <= 0:
            break
        kept.append(replace(statement, text=statement.text[:end]))
        end -= len(statement.text)
    return tuple(kept)


def _written(reply: Reply, cited: Records, name: str) -> Written | None:
    """The one text that a reply is about, else None; plain words may be a refusal, so they come with a problem."""
    text = replies.only_text(reply, name)
    if not WORD.search(text) or replies.declines(reply):
        return None
    doubtful = "{" not in replies.plain(reply.text)
    problem = "it is no JSON object" if doubtful else ""
    if truncated(reply):
        text, problem = replies.whole_sentences(_MARK_BEGUN.sub("", text)), cut_off(reply)
    got = cited.cited(text)
    return Written(got.statements, got.dangling, problem, doubtful) if WORD.search(got.text) else None


def _held(got: Written, most: int, problems: Iterable[str], mended: tuple[str, ...]) -> Reading[tuple[Statement, ...]]:
    """The text within its limit."""
    cut = (SHORTENED,) if _longer(got.text, most) else ()
    text, told = shortened(got.statements, most), _joined(problems)
    return Reading(text, told, len(got.dangling), (*mended, *cut), doubtful=got.doubtful)


def _longer(text: str, most: int) -> str:
    words = length(text)
    return f"it has {words} words, and at most {most} are asked for" if words > most else ""


def _members(passages: Iterable[Passage]) -> list[Passage]:
    return [p for p in passages if p.kind != "relation"]


def _joined(problems: Iterable[str]) -> str:
    return "; ".join(p for p in problems if p)
