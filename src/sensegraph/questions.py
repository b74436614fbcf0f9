"""What a user asks: the question, the conversation that it is part of, the filter that it is asked within, how rare
its words are in a corpus, and what is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from sensegraph.errors import InputError
from sensegraph.extractions import Scalar

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a conversation: what was asked, and what was answered."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a user asks, and the conversation before it, oldest turn first.

    `search` is what to look for where that is not the text itself: the question without its date.
    """

    text: str
    history: tuple[Turn, ...] = ()
    search: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InputError(f"A question is a text, not {_type_of(self.text)}.")
        if wrong := [turn for turn in self.history if not isinstance(turn, Turn)]:
            raise InputError(f"history holds values Turn(question, answer), not {_type_of(wrong[0])}.")

    @property
    def sought(self) -> str:
        """What to search with: the question, then up to five earlier ones, the latest first (N58)."""
        return "\n".join([self.search or self.text, *(t.question for t in reversed(self.history[-5:]))])


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one field of a document's metadata; `operator` is =, !=, <, <=, > or >=.

    Raises InputError for another operator, and for a value that is no text, number or truth value.
    """

    field: str
    operator: str
    value: Scalar

    def __post_init__(self) -> None:
        if not isinstance(self.field, str):
            raise InputError(f"The field of a condition is a text, not {_type_of(self.field)}.")
        if self.operator not in OPERATORS:
            known = ", ".join(OPERATORS)
            raise InputError(f"The condition on {self.field} has the operator {self.operator!r}; choose of {known}.")
        ordered = self.operator not in ("=", "!=")
        if not isinstance(self.value, str | Real) and (self.value is not None or ordered):
            kind = _type_of(self.value)
            raise InputError(f"The condition on {self.field} compares with a text, a number or a bool, not {kind}.")


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that a question may be answered from; an empty scope is the whole corpus.

    `documents` are ids or patterns with `*` and `?`, any of which may match; all conditions `where` must hold; `since`
    and `until` are ISO 8601 and bound a document's time, both included. A document without the field or the time that
    is asked for is outside.

    `as_of` (a moment) and `between` (from the first through the second, either may be open) are ISO 8601 and bound
    when what the texts state was true; `unknown` says whether what states no date is included. `known_at` leaves the
    documents that the index knew then.

    One pattern or condition may stand for a tuple of one. Raises InputError for a field of another type.
    """

    documents: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    since: str = ""
    until: str = ""
    as_of: str = ""
    between: tuple[str, str] = ("", "")
    known_at: str = ""
    unknown: Literal["include", "exclude"] = "include"

    def __post_init__(self) -> None:
        _settle_tuple(self, "documents", str, "ids or patterns of documents")
        _settle_tuple(self, "where", Condition, 'values such as Condition("year", ">=", 2020)')
        for name in ("since", "until", "as_of", "known_at"):
            if not isinstance(value := getattr(self, name), str):
                raise InputError(f"{name} of a scope is a text in ISO 8601, such as 2023-05-17, not {_type_of(value)}.")
        pair: Any = self.between
        if isinstance(pair, str) or len(pair := _listed(pair)) != 2 or not all(isinstance(m, str) for m in pair):
            raise InputError(
                f'between is two moments such as ("2015", "2018"), either may be "", not {self.between!r}.'
            )
        object.__setattr__(self, "between", pair)
        if self.unknown not in ("include", "exclude"):
            raise InputError(f"unknown of a scope is include or exclude, not {self.unknown!r}.")


def _settle_tuple(scope: Scope, name: str, kind: type, what: str) -> None:
    """Make a field of a scope the tuple that it stands for. Raises InputError where its members are of another type."""
    given = getattr(scope, name)
    members = (given,) if isinstance(given, kind | str) else _listed(given)
    if wrong := [member for member in members if not isinstance(member, kind)]:
        raise InputError(f"{name} of a scope holds {what}, not {wrong[0]!r}.")
    object.__setattr__(scope, name, members)


def _listed(value: Any) -> tuple[Any, ...]:
    """The members of a list or a tuple; of anything else itself, which is then told to be wrong."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _type_of(value: object) -> str:
    return type(value).__name__


@dataclass(frozen=True, slots=True)
class NameCounts:
    """In how many chunks and documents a name stands (`exact`: all were read), and its parts that no other bears."""

    chunks: int
    documents: int
    exact: bool
    alone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How many `chunks` of the corpus hold some words, given as search's stems; and the `name` that is asked about.

    `partial` says that not all chunks that name things of the kind that is asked for were read; `heads` are the lines
    that documents of the context open with, each with the part of chunk ids that tells its document. `named` are those
    of the words that no chunk holds, but the id or the title of a document.
    """

    chunks: int
    words: tuple[tuple[str, int], ...]
    name: NameCounts | None = None
    partial: bool = False
    heads: tuple[tuple[str, str], ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchWords:
    """What to look for: `names` of single things and details, and `themes`, what a question is about; often none."""

    names: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()
