"""The values that flow through the system. Frozen, comparable, serialisable; no behaviour but views.

    Document → Chunk → Extraction → Graph → Hierarchy → Evidence → Answer

Spans are half-open and count characters. A `Source` is a span *inside a chunk*; a `Citation` is a span *inside a
document*. Ids are content keys or the caller's names, never positions and never names given by a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sensegraph.extractions import Chunk as Chunk
from sensegraph.extractions import CitedFigure, Displayed, Shortened
from sensegraph.extractions import Description as Description
from sensegraph.extractions import Document as Document
from sensegraph.extractions import ExtractedClaim as ExtractedClaim
from sensegraph.extractions import ExtractedEntity as ExtractedEntity
from sensegraph.extractions import ExtractedRelation as ExtractedRelation
from sensegraph.extractions import Extraction as Extraction
from sensegraph.extractions import Mention as Mention
from sensegraph.extractions import Scalar as Scalar
from sensegraph.extractions import Source as Source
from sensegraph.questions import NameCounts as NameCounts
from sensegraph.questions import Question as Question
from sensegraph.questions import Turn as Turn
from sensegraph.questions import WordCounts as WordCounts


@dataclass(frozen=True, slots=True)
class Usage:
    """What something cost. Tokens as the endpoint counted them; `cost_usd` is 0 where no price is set."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    cost_usd: float = 0.0
    retries: int = 0
    rejected: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f) + getattr(other, f) for f in self.__slots__))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f) - getattr(other, f) for f in self.__slots__))


# ── the graph ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False)
class Entity(Shortened):
    """A named thing. `frequency` counts mentions, `degree` its distinct neighbours in the whole graph.

    `aliases` are what else the texts call it, most often first. `level` is 0 for what the texts name; 1 and more for a
    summary entity that stands for a group of the level below (HiRAG).
    """

    id: str
    name: str
    type: str
    description: str
    descriptions: tuple[Description, ...]
    chunks: tuple[str, ...]
    frequency: int
    degree: int
    aliases: tuple[str, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Relation(Shortened):
    """A weighted, described link between two entity ids, of which there is one for each pair; `label` may be empty.

    `source`, `label` and `target` read as subject, verb and object. A relation that is not `directed` is told both
    ways, or none of its texts says which end acts.
    """

    id: str
    source: str
    target: str
    description: str
    descriptions: tuple[Description, ...]
    weight: float
    chunks: tuple[str, ...]
    label: str = ""
    directed: bool = True


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about the entity id `subject`, with the span that says it."""

    id: str
    subject: str
    object: str
    type: str
    status: str
    description: str
    starts: str
    ends: str
    source: Source


@dataclass(frozen=True, slots=True, repr=False)
class Graph(Shortened):
    """Entities, relations and claims merged over the corpus, each in the order of its ids."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    claims: Sequence[Claim] = ()


# ── what an engine reads and writes ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False)
class Passage(Shortened):
    """One piece of text that can be cited.

    `kind` is entity, relation, claim, report, point or chunk; `id` names the record in the index; `title` is its
    name; `sources` lead to the text that supports it; `quotes` are the spans' own words where they are needed
    (the offline engine writes with them); `documents` counts the documents behind it where that is known.
    """

    kind: str
    id: str
    text: str
    score: float = 0.0
    title: str = ""
    sources: tuple[Source, ...] = ()
    quotes: tuple[Description, ...] = ()
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of written text with what it rests on.

    `text` keeps its own spacing and markup: a text is the concatenation of its statements. `references` are the ids
    of the passages cited; `sources` the exact spans (filled from the passages where the engine gives none).
    """

    text: str
    references: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A headline of a report and the statements that explain it."""

    summary: str
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What an engine says about one community; `rating` is its importance, 0–10.

    `dangling` counts references of the reply that named nothing in its context, and were removed.
    """

    title: str
    summary: tuple[Statement, ...]
    findings: tuple[Finding, ...] = ()
    rating: float = 0.0
    rating_explanation: str = ""
    dangling: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """A rated partial answer; `score` is its usefulness for the question, 0–100."""

    statements: tuple[Statement, ...]
    score: float
    title: str = ""
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """What an engine is given to write from: `title` says what about, `passages` what may be cited.

    `omitted` counts the records that did not fit the budget.
    """

    passages: tuple[Passage, ...]
    title: str = ""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question with the context to answer it from, and the conversation before it.

    `corpus` is the number of documents of the whole corpus; `counted` tells how rare the words of the question and of
    the conversation are in it, where the engine compares words.
    """

    question: str
    context: Context
    corpus: int = 0
    history: tuple[Turn, ...] = ()
    counted: WordCounts | None = None


@dataclass(frozen=True, slots=True)
class Lead:
    """A partial answer with its usefulness 0–100, and the questions to follow up (DRIFT)."""

    statements: tuple[Statement, ...] = ()
    score: float = 0.0
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refinement:
    """A question made ready for search: expanded, split into parts, and with an answer imagined for it.

    `hypothesis` is what a good answer might look like, to be embedded and never shown; it may be empty.
    """

    question: str
    questions: tuple[str, ...] = ()
    hypothesis: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """An engine's answer before its references become citations; `abstained` says that it is none."""

    statements: tuple[Statement, ...]
    dangling: int = 0
    notes: tuple[str, ...] = ()
    abstained: bool = False


@dataclass(frozen=True, slots=True)
class Brief:
    """What is to be written of a group: its context, how long, and the type of each passage (empty: none is known).

    `words` is the most words that may be written, 0 for what the engine does by itself. `types` is empty or as long
    as the passages.
    """

    context: Context
    words: int = 0
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Membership:
    """How one member belongs to a summary entity; `id` is that of the member's passage, `strength` 0–10."""

    id: str
    description: str
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class SummaryEntity:
    """A more general thing that stands for some members of a group (HiRAG §4.1)."""

    name: str
    type: str
    description: tuple[Statement, ...]
    members: tuple[Membership, ...]


# ── the hierarchy ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False)
class Cluster(Shortened):
    """A group of nodes with a text: community, aggregate, layer or summary.

    `level` counts from the leaves (0 = finest), `depth` from the root (0 = coarsest, the papers' C0). `members` are
    the ids one level down (entities for a leaf, else clusters); `entities` all entity ids below. `tokens` counts the
    report's text, `omitted` the elements that its context had no room for.
    """

    id: str
    level: int
    depth: int
    parent: str
    members: tuple[str, ...]
    entities: tuple[str, ...]
    title: str = ""
    summary: tuple[Statement, ...] = ()
    findings: tuple[Finding, ...] = ()
    rating: float = 0.0
    rating_explanation: str = ""
    documents: int = 0
    tokens: int = 0
    omitted: int = 0
    type: str = ""
    chunks: tuple[str, ...] = ()
    promoted: str = ""

    @property
    def text(self) -> str:
        """The report as one text, without references."""
        parts = ["".join(s.text for s in self.summary)]
        parts += [f"{f.summary}: {''.join(s.text for s in f.statements)}" for f in self.findings]
        return "\n".join(p.strip() for p in parts if p.strip())


@dataclass(frozen=True, slots=True)
class ClusterRelation:
    """What links two clusters of one `level`, `source < target`: the `count` relations one level down between them.

    `relations` are the ids of these; `statements` say what they have in common, or all that they say.
    """

    id: str
    source: str
    target: str
    level: int
    statements: tuple[Statement, ...]
    count: int
    relations: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is said of the link, as one text."""
        return "".join(s.text for s in self.statements).strip()


@dataclass(frozen=True, slots=True, repr=False)
class Hierarchy(Shortened):
    """Clusters ordered by depth, then id, and what links clusters of a level.

    Every depth, projected, is a partition of the entities; where memberships are soft (RAPTOR) it covers the leaves.
    """

    clusters: Sequence[Cluster] = ()
    modularity: float = 0.0
    notes: tuple[str, ...] = ()
    relations: Sequence[ClusterRelation] = ()


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Shortened):
    """Passages in the order in which they are read, best first; `omitted` counts what the budget cut off."""

    passages: tuple[Passage, ...] = ()
    documents: tuple[str, ...] = ()
    tokens: int = 0
    omitted: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """`quote == document.text[start:end]`; `marker` is its number in the answer, `page` that on which it begins.

    In a `figure` the words are those of a model that described it, and not of the source.
    """

    marker: int
    document: str
    start: int
    end: int
    quote: str
    page: int | None = None
    figure: CitedFigure | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Shortened, Displayed):
    """An answer with its citations, the evidence behind it, its cost, and notes on what was degraded.

    `abstained` says that the evidence holds no answer: what is cited then is only what comes nearest.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    method: str = ""
    engine: str = ""
    abstained: bool = False
