"""What the three passes of the offline engine hand to each other: compact, typed, encoded with MessagePack.

An observation is what one document shows by itself; a lexicon is what the corpus shows. Positions in an observation
count characters from the start of the document's first chunk.
"""

from __future__ import annotations

import msgspec

from sensegraph.language.transcripts import Talk

CROWD = 24  # things of one sentence that are paired, at most: more is a list


class Word(msgspec.Struct, frozen=True, gc=False):  # made for every word: a dataclass takes five times as long
    """A word or mark with its place in the document."""

    text: str
    start: int
    end: int


class Candidate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A run of capitals that may be a name.

    `inner` is where it begins when its first word, which opens a sentence, proves to be no name: -1 when nothing
    would be left. `first` is that word in lower case, empty inside a sentence; `more` says that a capital follows it.
    """

    sentence: int
    start: int
    end: int
    surface: str
    inner: int = -1
    first: str = ""
    more: bool = False
    left: str = ""
    before: str = ""
    right: str = ""
    marks: str = ""


class Value(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A time or a number that the text states."""

    sentence: int
    start: int
    end: int
    surface: str
    kind: str


class Phrase(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A run of nouns and adjectives: the spans of its words (start, end, start, end …) and the words, folded.

    In Chinese it is a run of characters, out of which the corpus's terms are found.
    """

    sentence: int
    spans: tuple[int, ...]
    words: tuple[str, ...]


class Ends(msgspec.Struct, frozen=True, array_like=True):
    """The first fields of an observation: all that is decoded to find out what surrounds texts."""

    work: str
    title: str
    language: str
    bounds: tuple[int, ...] = ()
    head: str = ""
    tail: str = ""


class Observation(Ends, frozen=True, array_like=True):
    """What one document shows by itself.

    `head` and `tail` are its first and last characters; `sentences` holds start and end in turn; `prints` three
    hashes a sentence (whole, opening, close; 0 for none); `talk` whether it may be a transcript; `shown` how it writes
    what its labels name, by key, and `spellings` how else it writes these names; `capitals` how often a word is
    capitalised inside a sentence; `lowers` how often it is not.
    """

    sentences: tuple[int, ...] = ()
    prints: tuple[int, ...] = ()
    names: tuple[Candidate, ...] = ()
    values: tuple[Value, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    talk: Talk = msgspec.field(default_factory=Talk)
    shown: dict[str, str] = msgspec.field(default_factory=dict)
    spellings: dict[str, int] = msgspec.field(default_factory=dict)
    capitals: dict[str, int] = msgspec.field(default_factory=dict)
    lowers: dict[str, int] = msgspec.field(default_factory=dict)


class Lexicon(msgspec.Struct, frozen=True, array_like=True):
    """What the corpus shows.

    `refused` are words that open sentences and are no names (`refused_runs`: not even before a capital);
    `boilerplate` the hashes of repeated show notes, `fronts` and `backs` what documents share at their edges,
    `series` three words that most titles share ("notes of the week");
    `hidden` the names of hosts, `speakers` those of all who speak (key → name), `roles` labels that are no one's name,
    `talks` the works that are transcripts;
    `same` the full name for a last or first name by work (for the whole corpus under ""), `full` how those full names
    are written; `kinds` the type of every name (key → letter); `units` the kept concepts (stems → name), `terms` those
    of scripts without blanks; `nodes` numbers the ends of the kept relations; `pairs` holds `low << 32 | high` in
    rising order, `strengths` what one unit of evidence for each is worth; `nouns` are the common nouns of German.
    """

    chunks: int = 0
    refused: frozenset[str] = frozenset()
    refused_runs: frozenset[str] = frozenset()
    boilerplate: frozenset[int] = frozenset()
    fronts: frozenset[str] = frozenset()
    backs: frozenset[str] = frozenset()
    series: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    speakers: dict[str, str] = msgspec.field(default_factory=dict)
    roles: frozenset[str] = frozenset()
    talks: frozenset[str] = frozenset()
    same: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    full: dict[str, str] = msgspec.field(default_factory=dict)
    kinds: dict[str, str] = msgspec.field(default_factory=dict)
    units: dict[str, str] = msgspec.field(default_factory=dict)
    terms: frozenset[str] = frozenset()
    nodes: dict[str, int] = msgspec.field(default_factory=dict)
    pairs: tuple[int, ...] = ()
    strengths: tuple[float, ...] = ()
    nouns: frozenset[str] = frozenset()
