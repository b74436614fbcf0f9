"""The seven seams: engine, embedder, reranker, chunker, store, executor, method. All that varies is behind one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sensegraph.keeping import CorpusStore as CorpusStore
from sensegraph.keeping import Executor as Executor
from sensegraph.keeping import Rows as Rows
from sensegraph.keeping import Store as Store
from sensegraph.types import (
    Answer,
    Brief,
    Check,
    Chunk,
    Context,
    Contrast,
    Document,
    Draft,
    Evidence,
    Excerpt,
    Extraction,
    Inquiry,
    Lead,
    Point,
    Question,
    Refinement,
    Report,
    Statement,
    SummaryEntity,
    Support,
    Trial,
    Usage,
    Verdict,
    Wish,
)

if TYPE_CHECKING:
    from sensegraph.runtime.runtime import Runtime

Task = Literal[
    "extract",
    "survey",
    "resolve",
    "summarise",
    "report",
    "aggregate",
    "relate",
    "abstract",
    "condense",
    "rate",
    "answer",
    "ask",
    "refine",
    "test",
    "grade",
    "judge",
    "score",
    "contrast",
    "propose",
    "claim",
    "support",
]
Part = Literal[
    "graph", "reports", "concepts", "relations", "names", "facts", "sentences", "aggregates", "layers", "tree"
]
Vectors = NDArray[np.float32]


@runtime_checkable
class LanguageEngine(Protocol):
    """Language tasks over batches of values: same length and order out as in.

    No task takes or returns free text to be parsed: an engine that thinks in prompts keeps them inside, an engine
    that thinks in grammars never sees one. `batch` is the number of items a step hands over at once: 1 where a call
    costs money, so that each result is stored as it returns. `waits` says that a call waits for someone else
    (threads help) rather than works here (processes help). `quotes` says that it writes with the sources' own words,
    so that passages must carry them.
    """

    @property
    def name(self) -> str:
        """What answers and errors call it."""
        ...

    @property
    def tasks(self) -> frozenset[Task]:
        """What it can do."""
        ...

    @property
    def batch(self) -> int:
        """Items handed over at once."""
        ...

    @property
    def waits(self) -> bool:
        """Whether a call waits rather than works."""
        ...

    @property
    def quotes(self) -> bool:
        """Whether passages must carry their sources' words."""
        ...

    def fingerprint(self, task: Task) -> str:
        """Everything about this engine that can change the result of `task`: model, prompt, schema, temperature…"""
        ...

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Entities, relations and claims of each chunk."""
        ...

    def summarise(self, contexts: Sequence[Context]) -> list[str]:
        """One description from several of the same thing (`title` names it)."""
        ...

    def report(self, contexts: Sequence[Context]) -> list[Report]:
        """A report on each community, whose entities, relations, claims and sub-reports are the passages."""
        ...

    def aggregate(self, briefs: Sequence[Brief]) -> list[Report]:
        """A name (`title`), description (`summary`) and findings of each group of similar entities (LeanRAG, Eq. 4)."""
        ...

    def relate(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        """What links two groups: their two descriptions come first among the passages, then the relations (Eq. 5)."""
        ...

    def abstract(self, briefs: Sequence[Brief]) -> list[tuple[SummaryEntity, ...]]:
        """More general entities that stand for each group, every member in at least one of them (HiRAG)."""
        ...

    def condense(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        """Each context's text said shorter (RAPTOR)."""
        ...

    def rate(self, inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
        """Partial answers from each context, each with its usefulness 0–100 (the map step)."""
        ...

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        """A final answer from each context (the reduce step, and answers from chunks)."""
        ...

    def ask(self, inquiries: Sequence[Inquiry]) -> list[Lead]:
        """A partial answer from each context with its usefulness 0–100, and questions to follow up (DRIFT)."""
        ...

    def refine(self, inquiries: Sequence[Inquiry]) -> list[Refinement]:
        """Each question made ready for search; the passages show what the corpus speaks of, and how."""
        ...

    def test(self, inquiries: Sequence[Inquiry]) -> list[bool]:
        """Whether the passages of each inquiry help to answer its question: the cheapest possible yes or no."""
        ...

    def grade(self, inquiries: Sequence[Inquiry]) -> list[int]:
        """How relevant the passages of each inquiry are to its question, 0 (not at all) to 5."""
        ...

    def usage(self) -> Usage:
        """What this engine has spent since it was made. Engines without cost return `Usage()`."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What it did less well than asked since it was made, each with how often."""
        ...


@runtime_checkable
class SurveyingEngine(LanguageEngine, Protocol):
    """An engine that must see the corpus before it can read a chunk (task `survey`).

    `observe` does the heavy work, one document at a time, from that document alone; `learn` joins the observations
    into what holds for the corpus; `read` extracts with both, quickly. All three are deterministic, and a document's
    observation never depends on another document: that is what makes an update cheap and equal to a rebuild.
    Observations and lexicons are opaque bytes.
    """

    def observe(self, documents: Sequence[tuple[Chunk, ...]]) -> list[bytes]:
        """What each document shows by itself; it is given as its chunks, in order, a long one in sections of them."""
        ...

    def learn(self, observations: Iterable[bytes]) -> bytes:
        """What the whole corpus shows; independent of the order of the observations."""
        ...

    def read(self, items: Sequence[tuple[tuple[Chunk, ...], bytes]], lexicon: bytes) -> list[tuple[Extraction, ...]]:
        """The extractions of each document (chunks, observation), one per chunk, in order."""
        ...


@runtime_checkable
class ResolvingEngine(LanguageEngine, Protocol):
    """An engine that can judge whether different names are one thing (task `resolve`)."""

    def resolve(self, briefs: Sequence[Brief]) -> list[tuple[tuple[str, ...], ...]]:
        """Of the entities of each brief (its passages), the sets of ids that are one thing; unknown ids are left out.

        `quotes` of a passage are sentences that name it, `types` of the brief the types of the entities.
        """
        ...


@runtime_checkable
class JudgingEngine(LanguageEngine, Protocol):
    """An engine that can judge answers; those that think in rules have only some of these tasks (see `tasks`)."""

    def judge(self, trials: Sequence[Trial]) -> list[Verdict]:
        """The better of the two answers of each trial, by its criterion; never who wrote them, always in this order."""
        ...

    def score(self, trials: Sequence[Trial]) -> list[Verdict]:
        """A score for the one answer of each trial, from `low` to `high`, by its criterion."""
        ...

    def contrast(self, trials: Sequence[Trial]) -> list[Contrast]:
        """What the two answers of each trial share, and what only one of them says."""
        ...

    def propose(self, wishes: Sequence[Wish]) -> list[tuple[str, ...]]:
        """At most `count` lines for each wish, in the engine's order, none of them known."""
        ...

    def claim(self, excerpts: Sequence[Excerpt]) -> list[tuple[str, ...]]:
        """What the stage makes of each sentence: one sentence, several claims (`decompose`), or nothing."""
        ...

    def support(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the texts of each check bear its statement."""
        ...


@runtime_checkable
class StreamingEngine(LanguageEngine, Protocol):
    """An engine whose answer can be told while it is written."""

    def stream(self, inquiry: Inquiry, tell: Callable[[Statement], None]) -> Draft:
        """The draft that `answer` would give; each of its statements is told, in order, as soon as it is whole."""
        ...


@runtime_checkable
class PricedEngine(LanguageEngine, Protocol):
    """An engine whose calls cost money, and can be foreseen."""

    def calls(self, task: Task, item: Any) -> int:
        """The calls that `item` needs at least."""
        ...

    def prompt_tokens(self, task: Task, item: Any) -> int:
        """Tokens of the prompt that `item` would make."""
        ...

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for so many tokens; 0 where no price is set."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors, shape `(n, dim)` float32. Queries and documents may differ."""

    @property
    def name(self) -> str:
        """What answers and errors call it."""
        ...

    @property
    def dim(self) -> int:
        """The length of a vector; 0 while it is not known."""
        ...

    @property
    def batch(self) -> int:
        """Texts handed over at once."""
        ...

    @property
    def waits(self) -> bool:
        """Whether a call waits rather than works."""
        ...

    @property
    def lexical(self) -> bool:
        """Whether its vectors compare words alone, so that full text finds what they find, and more."""
        ...

    def fingerprint(self) -> str:
        """Everything about this embedder that can change a vector."""
        ...

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors, one row a text. An empty text is a zero row."""
        ...

    def usage(self) -> Usage:
        """What this embedder has spent since it was made."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Reads a question together with each text, which is dearer than comparing vectors, and finds more."""

    @property
    def name(self) -> str:
        """What notes and errors call it."""
        ...

    @property
    def top(self) -> int:
        """How many texts, the first of a ranking, it is given at most."""
        ...

    @property
    def waits(self) -> bool:
        """Whether a call waits rather than works."""
        ...

    def fingerprint(self) -> str:
        """Everything about this reranker that can change a score."""
        ...

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits the question: finite, higher is better, in the order of `texts`."""
        ...

    def usage(self) -> Usage:
        """What this reranker has spent since it was made."""
        ...


@runtime_checkable
class Chunker(Protocol):
    """Cuts documents into chunks, which are exact spans of their texts."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    def fingerprint(self) -> str:
        """Everything about this chunker that can change a span."""
        ...

    def chunk(self, documents: Sequence[Document]) -> list[list[tuple[int, int]]]:
        """The spans (start, end) of each document's chunks, in characters of its text, by where they begin.

        Spans may overlap. One document never changes the spans of another.
        """
        ...


@runtime_checkable
class Method(Protocol):
    """A paper's way to find evidence for a question in an index, and to answer from it.

    Implementations are frozen dataclasses whose fields are the method's settings with the paper's defaults.
    """

    @property
    def name(self) -> str:
        """The paper's name for it, lower-case."""
        ...

    @property
    def requires(self) -> frozenset[Task]:
        """The tasks that it needs of an engine when a question is asked."""
        ...

    @property
    def reads(self) -> frozenset[Part]:
        """The parts of an index that it reads, besides the chunks, their vectors and their words."""
        ...

    def retrieve(self, question: Question, index: Any, rt: Runtime) -> Evidence:
        """Ranked passages, no answer."""
        ...

    def answer(self, question: Question, index: Any, rt: Runtime) -> Answer:
        """An answer with citations."""
        ...
