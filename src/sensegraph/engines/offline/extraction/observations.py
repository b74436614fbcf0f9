"""What the passes of the offline engine hand to each other: compact, typed, encoded with MessagePack.

An observation is what one document shows by itself; a lexicon is what the corpus shows of the terms of one document,
and is made of entries by term. Positions in an observation count characters from the start of its first chunk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from sensegraph.language.text import fold
from sensegraph.language.transcripts import Talk

_read_list = msgspec.json.Decoder(list[str]).decode
CROWD = 24  # things of one sentence that are paired, at most: more is a list


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


class Mentioned(Ends, frozen=True, array_like=True):
    """What one document names, and in which sentences: all that is decoded once its words are counted.

    `head` and `tail` are its first and last characters; `sentences` holds start and end in turn; `prints` three
    hashes a sentence (whole, opening, close; 0 for none).
    """

    sentences: tuple[int, ...] = ()
    prints: tuple[int, ...] = ()
    names: tuple[Candidate, ...] = ()
    values: tuple[Value, ...] = ()
    phrases: tuple[Phrase, ...] = ()


class Observation(Mentioned, frozen=True, array_like=True):
    """What one document shows by itself.

    `talk` says whether it may be a transcript; `shown` how it writes what its labels name, by key, and `spellings` how
    else it writes these names; `capitals` how often a word is capitalised inside a sentence; `lowers` how often it is
    not.
    """

    talk: Talk = msgspec.field(default_factory=Talk)
    shown: dict[str, str] = msgspec.field(default_factory=dict)
    spellings: dict[str, int] = msgspec.field(default_factory=dict)
    capitals: dict[str, int] = msgspec.field(default_factory=dict)
    lowers: dict[str, int] = msgspec.field(default_factory=dict)


class Lexicon(msgspec.Struct, frozen=True):
    """What a section is told of the corpus: the entries of its own terms.

    `refused` are words that open sentences and are no names (`refused_runs`: not even before a capital);
    `boilerplate` the hashes of repeated show notes, `fronts` and `backs` what documents share at their edges,
    `series` three words that most titles share ("notes of the week");
    `hidden` the names of hosts, `speakers` those of all who speak (key → name), `label_ends` and `label_starts` pieces
    that such keys end or begin with, `roles` labels that are no one's name, `talks` the works that are transcripts;
    `same` the full name for a last or first name by work (for the whole corpus under ""), `full` how those full names
    are written; `kinds` the type of a name (key → letter; "m" where there is none); `kept` the stems of concepts,
    `units` the concepts' names (stems → name), `terms` those of scripts without blanks; `strengths` what one unit of
    evidence for a relation is worth, by the keys of its ends in rising order; `nouns` are the common nouns of German.
    """

    refused: frozenset[str] = frozenset()
    refused_runs: frozenset[str] = frozenset()
    boilerplate: frozenset[int] = frozenset()
    fronts: frozenset[str] = frozenset()
    backs: frozenset[str] = frozenset()
    series: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    speakers: dict[str, str] = msgspec.field(default_factory=dict)
    label_ends: frozenset[str] = frozenset()
    label_starts: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    talks: frozenset[str] = frozenset()
    same: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    full: dict[str, str] = msgspec.field(default_factory=dict)
    kinds: dict[str, str] = msgspec.field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    units: dict[str, str] = msgspec.field(default_factory=dict)
    terms: frozenset[str] = frozenset()
    strengths: dict[tuple[str, str], float] = msgspec.field(default_factory=dict)
    nouns: frozenset[str] = frozenset()


class Entry:
    """What an entry of the lexicon says of a term: the first character of the term, as it is asked for.

    The term is this character and what it is about; unless something else is said, that the entry is there says all.
    """

    FRONT = "F"  # the first characters of a text; the entry: a list of the shared beginnings that begin so
    BACK = "B"  # the last characters of a text; the entry: a list of the shared ends that end so
    REFUSED = "r"  # a word
    REFUSED_RUN = "R"  # a word
    PRINT = "b"  # the hash of a sentence
    SERIES = "q"  # two words; the entry: a list of the words that follow
    HIDDEN = "h"  # the key of a name
    SPEAKER = "s"  # the key of a label; the entry: the name
    LABEL_END = "e"  # a piece that keys of labels end with
    LABEL_START = "g"  # a piece that they begin with
    ROLE = "o"  # the key of a name
    TALK = "k"  # a work
    NOUN = "n"  # a word
    KIND = "y"  # the key of a name; the entry: its letter
    PERSON = "P"  # the key of a name of several words that is guessed to be a person's
    SAME = "a"  # the key of a name; the entry: a list of the full name's key, its letter, how it is written
    SAME_HERE = "A"  # a work, a tabulator, and the key of a name; the entry: as before
    FULL = "f"  # the key of a name; the entry: how it is written
    KEPT = "c"  # the stems of a concept
    UNIT = "u"  # the stems of a concept; the entry: a list of its name, whether it is hidden, whether it is a role
    TERM = "t"  # two characters; the entry: a list of the terms that begin with them
    PAIR = "p"  # two keys in rising order, a tabulator between them; the entry: a number


def read_entries(entries: Mapping[str, str]) -> Lexicon:
    """The lexicon that these entries make, which may be those of one section or of a whole corpus."""
    found = defaultdict[str, dict[str, str]](dict)
    for term, value in entries.items():
        found[term[0]][term[1:]] = value
    # fmt: off
    words = {
        name: frozenset(found[kind])
        for name, kind in (
            ("refused", Entry.REFUSED), ("refused_runs", Entry.REFUSED_RUN), ("label_ends", Entry.LABEL_END),
            ("label_starts", Entry.LABEL_START), ("talks", Entry.TALK), ("nouns", Entry.NOUN), ("kept", Entry.KEPT),
        )
    }
    # fmt: on
    same: dict[str, dict[str, str]] = {}
    full, kinds = found[Entry.FULL], dict.fromkeys(found[Entry.PERSON], "P") | found[Entry.KIND]
    shorts = [("", short, value) for short, value in found[Entry.SAME].items()]
    shorts += [(*term.rsplit("\t", 1), value) for term, value in found[Entry.SAME_HERE].items()]  # type: ignore[misc]
    for work, short, value in shorts:
        key, kind, name = unpack_list(value)
        same.setdefault(work, {})[short] = key
        full[key], kinds[key] = name, kind
    units = {unit: unpack_list(value) for unit, value in found[Entry.UNIT].items()}
    return Lexicon(
        **words,
        boilerplate=frozenset(map(int, found[Entry.PRINT])),
        fronts=frozenset(w for value in found[Entry.FRONT].values() for w in unpack_list(value)),
        backs=frozenset(w for value in found[Entry.BACK].values() for w in unpack_list(value)),
        series=frozenset(f"{two} {w}" for two, value in found[Entry.SERIES].items() for w in unpack_list(value)),
        hidden=frozenset(found[Entry.HIDDEN]) | {fold(name) for name, hidden, _ in units.values() if hidden},
        roles=frozenset(found[Entry.ROLE]) | {fold(name) for name, _, role in units.values() if role},
        speakers=found[Entry.SPEAKER],
        same=same,
        full=full,
        kinds=kinds,
        units={unit: name for unit, (name, _, _) in units.items()},
        terms=frozenset(w for value in found[Entry.TERM].values() for w in unpack_list(value)),
        strengths={(a, b): float(value) for term, value in found[Entry.PAIR].items() for a, b in [term.split("\t")]},
    )


def pack_list(words: Iterable[str]) -> str:
    """Several words as one entry."""
    return msgspec.json.encode(list(words)).decode()


def unpack_list(entry: str) -> list[str]:
    """The words of an entry."""
    return _read_list(entry)
