"""What the frameworks are given of a search: passages, each with the exact spans of documents behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sensegraph.language.collapsing import locate_in_source
from sensegraph.questions import Scope

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.extractions import CitedFigure
    from sensegraph.index.index import Index
    from sensegraph.types import Chunk, Document, Passage, Source

EVERY_DOCUMENT = Scope()


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A span of a document's text, in characters, half-open; `quote` is that text, `page` counts from 1 or is None.

    In a `figure` the text is what a model told of it.
    """

    document: str
    start: int
    end: int
    page: int | None
    quote: str
    figure: CitedFigure | None = None


@dataclass(frozen=True, slots=True)
class LocatedPassage:
    """A passage, the spans that it rests on (best first), and the title and the metadata of the first's document."""

    passage: Passage
    spans: tuple[SourceSpan, ...]
    title: str = ""
    document_metadata: Mapping[str, Any] | None = None

    def metadata(self) -> dict[str, Any]:
        """Plain values for the metadata of other frameworks.

        `source` (a document's id), `start`, `end` and `page` are those of the first span, and `spans` lists all of
        them. A span has a `quote` where the passage is not itself the text of the span, and a `figure` (its `number`,
        and the model that it is `described_by`) where it is what that model told of one.
        """
        own = {"kind": self.passage.kind, "id": self.passage.id, "score": self.passage.score, "title": self.title}
        first = self.spans[0] if self.spans else SourceSpan("", 0, 0, None, "")
        place = {"source": first.document, "start": first.start, "end": first.end, "page": first.page}
        spans = [
            {"document": s.document, "start": s.start, "end": s.end, "page": s.page}
            | ({} if self.passage.kind == "chunk" else {"quote": s.quote})
            | ({"figure": asdict(s.figure)} if s.figure else {})
            for s in self.spans
        ]
        return own | place | {"spans": spans, "metadata": dict(self.document_metadata or {})}


def search_passages(
    corpus: Corpus,
    question: str,
    *,
    method: str = "auto",
    top: int = 10,
    scope: Scope | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[LocatedPassage]:
    """The passages that `Corpus.search` finds, best first, with their spans. Raises what `Corpus.search` raises."""
    found = corpus.search(question, method=method, scope=scope or EVERY_DOCUMENT, top=top, **(options or {}))
    return locate_passages(found.passages, corpus.index())


def locate_passages(passages: Iterable[Passage], index: Index) -> list[LocatedPassage]:
    """The passages with the spans behind them, each once, in the order of their sources."""
    listed = [(p, [*p.sources, *(q.source for q in p.quotes)]) for p in passages]
    chunks = index.chunks(sorted({s.chunk for _, sources in listed for s in sources}))
    documents = {name: index.document(name) for name in sorted({c.document for c in chunks.values()})}
    located = []
    for passage, sources in listed:
        spans = dict.fromkeys(
            locate_span(chunks[s.chunk], s, documents[chunks[s.chunk].document], index)
            for s in sources
            if s.chunk in chunks
        )
        first = documents[next(iter(spans)).document] if spans else None
        located.append(
            LocatedPassage(passage, tuple(spans), first.title if first else "", dict(first.metadata) if first else None)
        )
    return located


def locate_span(chunk: Chunk, source: Source, document: Document, index: Index) -> SourceSpan:
    """Where a span of a chunk stands in its document."""
    start, end = locate_in_source(document.text, chunk.start, chunk.text, source.start, source.end)
    figure = index.figure(document.id, start)
    return SourceSpan(document.id, start, end, index.page(document.id, start), document.text[start:end], figure)
