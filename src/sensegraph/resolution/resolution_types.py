"""The values of entity resolution: what is compared, what was decided and why, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sensegraph.errors import SettingsError

Decision = Literal["merge", "ask", "keep"]
"""One thing; undecided, a question for an engine or a user; two things."""
Origin = Literal["names", "engine", "text", "user"]
"""Who decided: the comparison of names and contexts, an engine, a pattern of the text, or the user."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Something that texts mention, to be compared with others.

    `id` is unique. `count` is how often it is mentioned. `aliases` are other names that the texts themselves give it
    ("Long Form (LF)"). `neighbours` are the ids of what it is related to, `places` those of the chunks that mention
    it: both are its context, and may be empty where there is none. Two with the same `listed`, not empty, stand in a
    list that names each thing once: they are two things.
    """

    id: str
    name: str
    type: str = ""
    count: int = 1
    aliases: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A decision that stands above the comparison: two ids are one thing (`merge`), or two (`apart`).

    Of rules that contradict one another the later counts; one of the user counts before any other.
    """

    kind: Literal["merge", "apart"]
    one: str
    other: str
    by: Origin = "user"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Resolving:
    """How names are resolved.

    `accept` and `reject` bound the band of scores, 0 to 1, in which a pair is a question; `cross_types` are pairs of
    types that may be one thing. `rare` is the most names that share a word for it to bring them together, `near` the
    most candidates of one name, `least` the cosine from which vectors bring two together, `largest` the size of a
    component up to which all its pairs are compared.
    """

    accept: float = 0.85
    reject: float = 0.35
    cross_types: tuple[tuple[str, str], ...] = ()
    rare: int = 32
    near: int = 15
    least: float = 0.6
    largest: int = 300

    def __post_init__(self) -> None:
        if not 0 <= self.reject <= self.accept <= 1:
            raise SettingsError(
                f"resolve: reject ({self.reject}) and accept ({self.accept}) must be 0 to 1, accept not below reject."
            )
        for name in ("rare", "near", "largest"):
            if getattr(self, name) < 2:
                raise SettingsError(f"resolve.{name} is {getattr(self, name)}; it must be 2 or more.")


@dataclass(frozen=True, slots=True)
class Judged:
    """How alike two are: `score` from 0 to 1, and why in words; `kind` names the relation that gave the score.

    `veto` says that nothing but a rule makes them one.
    """

    score: float
    why: str
    kind: str = ""
    veto: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pair of ids, `one` < `other`, with their names, what was decided, by whom, how surely, and why."""

    one: str
    other: str
    names: tuple[str, str]
    decision: Decision
    score: float
    why: str
    by: Origin = "names"


@dataclass(frozen=True, slots=True)
class Alias:
    """A row of the table of aliases: this name, of this member, is the group's; who decided that, and why.

    `score` is that of the decision; 1 for the canonical name itself and for what users decided.
    """

    name: str
    key: str
    member: str
    group: str
    score: float
    by: Origin
    why: str


@dataclass(frozen=True, slots=True)
class Group:
    """What is one thing: its canonical name and type, and the ids that are it, ascending. `id` is the first of them."""

    id: str
    name: str
    type: str
    members: tuple[str, ...]
    aliases: tuple[Alias, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """All groups (also those of one member), in the order of ids, and all pairs that were merged or are in question.

    `compared` counts pairs that were scored, `passed_over` those that blocking gave up because a name had too many
    better candidates, `crowded` words that too many names share to bring them together, `notes` say what was
    degraded, and which rules contradict one another.
    """

    groups: tuple[Group, ...]
    proposals: tuple[Proposal, ...]
    compared: int = 0
    passed_over: int = 0
    crowded: int = 0
    notes: tuple[str, ...] = ()
