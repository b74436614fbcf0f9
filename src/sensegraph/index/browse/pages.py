"""What is shown of an index that is read without a question: rows of lists, and whole pages on reports and entities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sensegraph.extractions import CitedFigure, Shortened
from sensegraph.types import Citation, Scalar

if TYPE_CHECKING:
    from sensegraph.index.index import Index


@dataclass(frozen=True, slots=True)
class Place:
    """Characters `start` to `end` of a document; `page` is the one they begin on, where the document has pages.

    In a `figure` they are what a model told of it.
    """

    document: str
    start: int
    end: int
    page: int | None = None
    figure: CitedFigure | None = None


def place_span(index: Index, document: str, start: int, end: int) -> Place:
    """A span of a document with its page and its figure."""
    return Place(document, start, end, index.page(document, start), index.figure(document, start))


@dataclass(frozen=True, slots=True, repr=False)
class ReportRow(Shortened):
    """A report in a list; `entities`, `documents` and `children` count what is below it."""

    id: str
    title: str
    rating: float
    depth: int
    entities: int
    documents: int
    children: int


@dataclass(frozen=True, slots=True, repr=False)
class EntityRow(Shortened):
    """An entity in a list; `degree` counts its neighbours, `chunks` where it is mentioned."""

    id: str
    name: str
    type: str
    degree: int
    chunks: int
    description: str


@dataclass(frozen=True, slots=True, repr=False)
class RelationRow(Shortened):
    """A relation with the names of its ends."""

    id: str
    source: str
    target: str
    label: str
    description: str
    weight: float


@dataclass(frozen=True, slots=True, repr=False)
class ClaimRow(Shortened):
    """A claim with the name of its subject and the place that says it (None where that chunk is gone)."""

    id: str
    subject: str
    object: str
    type: str
    status: str
    description: str
    starts: str
    ends: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk and how many of the entities in question it mentions."""

    id: str
    place: Place
    entities: int
    text: str


@dataclass(frozen=True, slots=True)
class Headline:
    """A finding of a report: what it says in short, and the text with numbered citations."""

    summary: str
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class ReportPage(Shortened):
    """A whole report, and the way down from it.

    Numbers in square brackets are those of `citations`; `unresolved` counts sources that led nowhere. `entities` are
    those of highest degree first, relations the heaviest, `chunks` those that mention most of the entities; the last
    may be cut, `chunks_in_all` counts them.
    """

    report: ReportRow
    rating_explanation: str
    summary: str
    findings: tuple[Headline, ...]
    citations: tuple[Citation, ...]
    unresolved: int
    parent: ReportRow | None
    children: tuple[ReportRow, ...]
    entities: tuple[EntityRow, ...]
    relations: tuple[RelationRow, ...]
    claims: tuple[ClaimRow, ...]
    chunks: tuple[ChunkRow, ...]
    chunks_in_all: int

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents that the page names, each once."""
        places = [c.place for c in self.chunks] + [c.place for c in self.claims if c.place]
        return tuple(dict.fromkeys([*(c.document for c in self.citations), *(p.document for p in places)]))


@dataclass(frozen=True, slots=True, repr=False)
class Said(Shortened):
    """What one chunk says of an entity, and where (None where that chunk is gone)."""

    text: str
    chunk: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity at the other end of a relation."""

    entity: EntityRow
    relation: RelationRow


@dataclass(frozen=True, slots=True, repr=False)
class EntityPage(Shortened):
    """An entity and all that is known of it.

    Descriptions come first that tell what it is, then the heaviest relations, and its communities from the coarsest
    down.
    """

    entity: EntityRow
    frequency: int
    descriptions: tuple[Said, ...]
    neighbours: tuple[Neighbour, ...]
    claims: tuple[ClaimRow, ...]
    communities: tuple[ReportRow, ...]

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents that the page names, each once."""
        places = [s.place for s in self.descriptions] + [c.place for c in self.claims]
        return tuple(dict.fromkeys(p.document for p in places if p))


@dataclass(frozen=True, slots=True, repr=False)
class DocumentRow(Shortened):
    """A document in a list; `entities` counts those that it mentions.

    `state` is `indexed`; or `new`, `changed` or `removed` since the index was built. `same_as` is the first document
    with the same text, where that is another one.
    """

    id: str
    title: str
    time: str
    metadata: tuple[tuple[str, Scalar], ...]
    entities: int
    state: str
    same_as: str = ""


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """Characters `start` to `end` of a text, which name an entity (its id)."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True, repr=False)
class DocumentPage(Shortened):
    """A document of the index, or a part of it: `text` are its characters `start` to `end` of `length`.

    `pages` are where the pages of the whole text begin, where it has any. `mentions` are where the whole text names
    `entities`, where that was asked for.
    """

    id: str
    title: str
    time: str
    metadata: tuple[tuple[str, Scalar], ...]
    text: str
    start: int
    end: int
    length: int
    pages: tuple[int, ...] | None = None
    mentions: tuple[NamedSpan, ...] | None = None
    entities: tuple[EntityRow, ...] | None = None
