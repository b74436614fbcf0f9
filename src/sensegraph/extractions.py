"""What was read, and what one chunk of it says: the values before anything is merged. They are part of `types`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Scalar = str | int | float | bool | None
_FIGURE = re.compile(r"^\ufffc figure (\d{1,6})(?:, page (\d{1,6}))?, described by ([^\n]{1,200})\n", re.MULTILINE)
_FILE = re.compile(r"(.*[^/.])\.(?:[a-z]{2,5}|[A-Z]{3})")


# ── what was read ────────────────────────────────────────────────────────────────────────────────────────────────────


class Shortened:
    """What shows itself at a prompt of Python on a few lines: `display` says how."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The fields that are not as usual, long ones shortened."""
        from sensegraph.display import shorten_value

        return shorten_value(self)


class Displayed:
    """What shows itself as `display` says: as text where it is printed, as HTML in a notebook."""

    __slots__ = ()

    def __str__(self) -> str:
        """The text, then each source with its quote."""
        from sensegraph.display import show_text

        return show_text(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        """The same as HTML."""
        from sensegraph.display import show_html

        return show_html(self)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class CitedFigure:
    """A figure of a document, counted from 1, as the model `described_by` tells it."""

    number: int
    described_by: str


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """Where the text of a document tells of a figure: the line from `head` on names it, from `start` on it is told."""

    head: int
    start: int
    page: int | None
    figure: CitedFigure

    def write_head(self) -> str:
        """The line that begins what is told of the figure."""
        page = f", page {self.page}" if self.page else ""
        return f"\ufffc figure {self.figure.number}{page}, described by {self.figure.described_by}\n"


@dataclass(frozen=True, slots=True, repr=False)
class Document(Shortened):
    """A source text. `id` is the caller's name for it, unique in the corpus; `time` is ISO 8601 or empty.

    `metadata` are pairs of a name and a value; a mapping is made such pairs, in the order of names.

    A form feed in the text begins a page. What a model told of its figures stands at its end, each behind a line that
    begins with U+FFFC, the sign for an object in a text.
    """

    id: str
    text: str
    title: str = ""
    metadata: tuple[tuple[str, Scalar], ...] = ()
    time: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.metadata, Mapping):
            pairs = sorted(self.metadata.items(), key=lambda pair: str(pair[0]))
            object.__setattr__(self, "metadata", tuple(pairs))

    @property
    def pages(self) -> tuple[int, ...]:
        """Where each page begins in the text, empty ones at its end left out; nothing where it has no form feed."""
        if "\f" not in self.text:
            return ()
        return 0, *(m.end() for m in re.finditer("\f", self.text.rstrip()))

    @property
    def figures(self) -> tuple[PlacedFigure, ...]:
        """The figures that a model told of, where the text tells of them; each to the next, the last to its end."""
        if "\ufffc" not in self.text:
            return ()
        return tuple(
            PlacedFigure(m.start(), m.end(), int(m[2]) if m[2] else None, CitedFigure(int(m[1]), m[3]))
            for m in _FIGURE.finditer(self.text)
        )


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Shortened):
    """A span of one document; `title` is the document's.

    `text` is `document.text[start:end]` as it is read: as long, with blanks where lines were only wrapped. `tokens`
    counts it, a run of blanks as one.
    """

    id: str
    document: str
    start: int
    end: int
    tokens: int
    text: str
    title: str = ""

    @property
    def heading(self) -> str:
        """The title; where there is none and the document's id is the name of a file, that without its extension."""
        file = None if self.title else _FILE.fullmatch(self.document)
        return file[1].replace("_", " ") if file else self.title


@dataclass(frozen=True, slots=True)
class Source:
    """Where something is said: `text[start:end]` of the chunk with id `chunk`."""

    chunk: str
    start: int
    end: int

    def __init__(self, chunk: str, start: int, end: int) -> None:
        # by the slots, as in the values below of which a build makes most: what dataclasses write looks up how to set
        _set_chunk(self, chunk)
        _set_start(self, start)
        _set_end(self, end)


_set_chunk, _set_start, _set_end = (vars(Source)[name].__set__ for name in Source.__slots__)


# ── what one chunk says ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Description:
    """What one chunk says about an entity or a relation; kept for ever, so that removal and filters are exact.

    `starts` and `ends` say since and until when it holds, as ISO dates, where a model told; else the text may tell.
    """

    text: str
    source: Source
    starts: str = ""
    ends: str = ""

    def __init__(self, text: str, source: Source, starts: str = "", ends: str = "") -> None:
        _set_text(self, text)
        _set_source(self, source)
        _set_since(self, starts)
        _set_until(self, ends)


_set_text, _set_source, _set_since, _set_until = (vars(Description)[name].__set__ for name in Description.__slots__)


@dataclass(frozen=True, slots=True)
class Mention:
    """A surface form with its span in the chunk: `surface == chunk.text[start:end]`."""

    surface: str
    start: int
    end: int

    def __init__(self, surface: str, start: int, end: int) -> None:
        _set_surface(self, surface)
        _set_first(self, start)
        _set_last(self, end)


_set_surface, _set_first, _set_last = (vars(Mention)[name].__set__ for name in Mention.__slots__)


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """An entity as one chunk shows it. `start:end` is the span that says `description` (0:0 when not known)."""

    name: str
    type: str
    description: str = ""
    start: int = 0
    end: int = 0
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """A link between two names of the same chunk; `label` is a short verb phrase where one was found.

    `source` is its subject and `target` its object, unless it is not `directed`: then the text does not say which
    acts. `starts` and `ends` say since and until when it holds, as ISO dates, where a model was asked for them.
    """

    source: str
    target: str
    description: str = ""
    strength: float = 1.0
    start: int = 0
    end: int = 0
    label: str = ""
    starts: str = ""
    ends: str = ""
    directed: bool = True


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    """A statement about `subject`. `status` is TRUE, FALSE or SUSPECTED; `starts`/`ends` are ISO dates or empty."""

    subject: str
    object: str
    type: str
    status: str
    description: str
    starts: str = ""
    ends: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Triple:
    """What a chunk says in three parts, in its own words; a date or a number may be the object."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True, repr=False)
class Extraction(Shortened):
    """What one chunk says.

    `rejected` counts, by reason, the records that a model's reply held but that could not be used; `outside`, by type,
    those that were kept although their type is none of those asked for; `rounds` the new entities of each gleaning.
    `nothing` says of an empty one that it was read as such: the chunk names nothing.
    """

    entities: tuple[ExtractedEntity, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    claims: tuple[ExtractedClaim, ...] = ()
    rejected: tuple[tuple[str, int], ...] = ()
    outside: tuple[tuple[str, int], ...] = ()
    rounds: tuple[int, ...] = ()
    nothing: bool = False
