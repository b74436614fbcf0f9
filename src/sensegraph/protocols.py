"""The seven seams: engine, embedder, reranker, chunker, store, executor, method. All that varies is behind one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sensegraph.types import (
    Answer,
    Brief,
    Chunk,
    Context,
    Document,
    Draft,
    Evidence,
    Extraction,
    Inquiry,
    Lead,
    Point,
    Question,
    Refinement,
    Report,
    Statement,
    Usage,
)

if TYPE_CHECKING:
    from sensegraph.runtime.runtime import Runtime

Task = str
"""The name of a task: `extract`, `survey` and `resolve` (the graph), `summarise` and `report` (the index), `rate`,
`ask`, `refine`, `test` and `answer` (a question), and whatever a paper's folder or the lab declares in its `tasks.py`.
But for `survey`, an engine with a task has a method of that name, over a batch of values.
"""
PartName = str  # of a part of an index: see `sensegraph.index.parts`
Vectors = NDArray[np.float32]
Numbers = Literal["int16", "int8"]  # as which vectors are stored


@runtime_checkable
class LanguageEngine(Protocol):
    """Language tasks over batches of values: same length and order out as in.

    Here stand the tasks that the index and several papers need. A task that one paper needs is declared by its folder
    (`methods/*/tasks.py`), those that judge answers by `lab/tasks.py`. An engine implements what it can, by name and
    signature, and imports none of them.

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

    def rate(self, inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
        """Partial answers from each context, each with its usefulness 0–100 (the map step)."""
        ...

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        """A final answer from each context (the reduce step, and answers from chunks)."""
        ...

    def ask(self, inquiries: Sequence[Inquiry]) -> list[Lead]:
        """A partial answer from each context with its usefulness 0–100, and questions to follow up."""
        ...

    def refine(self, inquiries: Sequence[Inquiry]) -> list[Refinement]:
        """Each question made ready for search; the passages show what the corpus speaks of, and how."""
        ...

    def test(self, inquiries: Sequence[Inquiry]) -> list[bool]:
        """Whether the passages of each inquiry help to answer its question: the cheapest possible yes or no."""
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

    `observe` sees a document alone. Then there are `looks` at the corpus: `count` counts a document and asks for terms,
    `learn` makes entries by term of all counts, each document is told those of its terms, and `read` reads with them.
    """

    @property
    def looks(self) -> int:
        """How often the corpus is looked through."""

    def observe(self, documents: Sequence[tuple[Chunk, ...]]) -> list[bytes]:
        """What each document shows by itself; it is given as its chunks, in order, a long one in sections of them."""

    def count(self, items: Sequence[tuple[bytes, Mapping[str, str]]], look: int) -> list[tuple[Sequence[str], bytes]]:
        """What each document (observation, entries told) asks of this look and those before, and what it counts."""

    def learn(self, counts: Iterable[bytes], look: int, known: Mapping[str, str]) -> Mapping[str, str]:
        """All entries by term that the counts teach, in any order: classes rather than counts, which change less."""

    def read(self, items: Sequence[tuple[tuple[Chunk, ...], bytes, Mapping[str, str]]]) -> list[tuple[Extraction, ...]]:
        """The extractions of each document (chunks, observation, entries of all looks), one per chunk, in order."""


@runtime_checkable
class ResolvingEngine(LanguageEngine, Protocol):
    """An engine that can judge whether different names are one thing (task `resolve`)."""

    def resolve(self, briefs: Sequence[Brief]) -> list[tuple[tuple[str, ...], ...]]:
        """Of the entities of each brief (its passages), the sets of ids that are one thing; unknown ids are left out.

        `quotes` of a passage are sentences that name it, `types` of the brief the types of the entities.
        """


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
    """Reads a question together with each text, which costs more than comparing vectors, and finds more."""

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

    def fingerprint(self) -> str:
        """Everything about this chunker that can change a span."""
        ...

    def chunk(self, documents: Sequence[Document]) -> list[list[tuple[int, int]]]:
        """The spans (start, end) of each document's chunks, in order; no document changes the spans of another."""
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
    def reads(self) -> frozenset[PartName]:
        """The parts of an index that it reads, besides the chunks, their vectors and their words."""
        ...

    def retrieve(self, question: Question, index: Any, rt: Runtime) -> Evidence:
        """Ranked passages, no answer."""
        ...

    def answer(self, question: Question, index: Any, rt: Runtime) -> Answer:
        """An answer with citations."""
        ...


# ── keeping and running ──


class Rows(Protocol):
    """An immutable ordered table of encoded records, read by position or by id without loading it."""

    def __len__(self) -> int: ...

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        ...

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        ...

    def scan(self) -> Iterator[bytes]:
        """All records in order, read in blocks."""
        ...

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        ...


@runtime_checkable
class Store(Protocol):
    """Immutable things under content keys (objects, tables, arrays), and a few mutable names for them (refs).

    Every write is atomic: a reader, or a run after a crash, finds all of it or nothing.
    """

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present; a missing key is simply absent."""
        ...

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present, as an object, a table or an array."""
        ...

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Store all of `objects` or none. Writing a key that exists changes nothing."""
        ...

    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Store a table of (id, record) in this order."""
        ...

    def rows(self, key: str) -> Rows | None:
        """The table under `key`, if it is there."""
        ...

    def write_array(self, key: str, array: NDArray[Any]) -> None:
        """Store an array; it is read back memory-mapped."""
        ...

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, memory-mapped read-only, if it is there."""
        ...

    def ref(self, name: str) -> str | None:
        """The value that `name` stands for now."""
        ...

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Set (or, with None, delete) all of these names at once."""
        ...

    def refs(self, prefix: str = "") -> dict[str, str]:
        """All names that begin with `prefix`, sorted."""
        ...

    def spend(self, step: str, usage: Usage) -> None:
        """Add to the ledger of what each step has cost."""
        ...

    def ledger(self) -> dict[str, Usage]:
        """The sums of the ledger by step."""
        ...


class Executor(Protocol):
    """Runs `call` on every batch: in this process, in threads, in processes, or on other machines.

    Yields `(position, result or exception)` as batches finish, in any order; never raises for a batch. Closing the
    iterator stops what has not begun.
    """

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """`waits` says that a call waits (use threads) rather than works (use processes)."""
        ...
