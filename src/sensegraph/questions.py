"""What a user asks: the question, the conversation that it is part of, the filter that it is asked within, how rare
its words are in a corpus, and what is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sensegraph.extractions import Scalar


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

    @property
    def sought(self) -> str:
        """What to search with: the question, then up to five earlier ones, the latest first (N58)."""
        return "\n".join([self.search or self.text, *(t.question for t in reversed(self.history[-5:]))])


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one field of a document's metadata; `operator` is =, !=, <, <=, > or >=."""

    field: str
    operator: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that a question may be answered from; an empty scope is the whole corpus.

    `documents` are ids or patterns with `*` and `?`, any of which may match; all conditions `where` must hold; `since`
    and `until` are ISO 8601 and bound a document's time, both included. A document without the field or the time that
    is asked for is outside.

    `as_of` (a moment) and `between` (from the first through the second, either may be open) are ISO 8601 and bound
    when what the texts state was true; `unknown` says whether what states no date is included. `known_at` leaves the
    documents that the index knew then.
    """

    documents: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    since: str = ""
    until: str = ""
    as_of: str = ""
    between: tuple[str, str] = ("", "")
    known_at: str = ""
    unknown: Literal["include", "exclude"] = "include"


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
