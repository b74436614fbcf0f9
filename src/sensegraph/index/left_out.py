"""What the engine failed to do for good: where it stands, why, and what takes its place in the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from sensegraph.index.manifest import LeftOut
from sensegraph.language.text import count_tokens, take_within
from sensegraph.protocols import Task
from sensegraph.runtime.batches import SetAside
from sensegraph.types import Brief, Chunk, Context, Finding, Graph, Passage, Report, Source, Statement

_READING: Task = "extract"
_TITLES = 3  # passages that a text in place of a report is called by
_FINDINGS = 5  # passages that it quotes
_LONGEST = 600  # tokens of a text in place of a shorter one


def list_left_out(
    aside: Sequence[SetAside], graph: Graph, chunks: Callable[[], Iterable[Chunk]]
) -> tuple[LeftOut, ...]:
    """Everything that was set aside in a build, once each: chunks first, then texts by their tasks."""
    texts = [(failed, _context_of(failed.item)) for failed in aside if not isinstance(failed.item, Chunk)]
    found = dict.fromkeys(_list_chunks(aside))
    for failed in aside:
        if isinstance(c := failed.item, Chunk) and failed.task != _READING:
            span = (c.document, c.start, c.end)
            name = c.title or c.document
            found[LeftOut(*span, failed.kind, failed.why, failed.task, name, failed.partial)] = None
    if texts:
        ids = {p.id for _, context in texts for p in context.passages}
        said = {e.id: e.descriptions[0].source for e in graph.entities if e.id in ids and e.descriptions}
        said |= {r.id: r.descriptions[0].source for r in graph.relations if r.id in ids and r.descriptions}
        first = [next(_list_sources(context, said), None) for _, context in texts]
        wanted = {source.chunk for source in first if source}
        spans = {c.id: c for c in chunks() if c.id in wanted}
        for (failed, context), at in zip(texts, first, strict=True):
            named = (failed.kind, failed.why, failed.task, _name_context(context))
            chunk = spans.get(at.chunk) if at else None
            span = (chunk.document, chunk.start + at.start, chunk.start + at.end) if chunk and at else ("", 0, 0)
            found[LeftOut(*span, *named, partial=failed.partial)] = None
    return tuple(sorted(found, key=lambda c: (c.what != "chunk", c.what, c.document, c.start, c.name)))


def recovered_chunks(before: Sequence[LeftOut], aside: Sequence[SetAside]) -> bool:
    """Whether a chunk that was missing from an earlier index is not missing from this build."""
    now = {(c.document, c.start, c.end) for c in _list_chunks(aside)}
    return any(c.what == "chunk" and (c.document, c.start, c.end) not in now for c in before)


def _list_chunks(aside: Sequence[SetAside]) -> Iterator[LeftOut]:
    """The chunks that could not be read, or in part only."""
    for failed in aside:
        if isinstance(c := failed.item, Chunk) and failed.task == _READING:
            yield LeftOut(c.document, c.start, c.end, failed.kind, failed.why, partial=failed.partial)


def _context_of(given: Context | Brief) -> Context:
    return given.context if isinstance(given, Brief) else given


def _list_sources(context: Context, said: Mapping[str, Source]) -> Iterator[Source]:
    """What a context rests on, in order; `said` is where elements that are shown without sources are told of."""
    for passage in context.passages:
        yield from passage.sources
        yield from (quote.source for quote in passage.quotes)
        if passage.id in said:
            yield said[passage.id]


# ── what takes the place of a text that could not be written ──


def quote_as_report(given: Context | Brief) -> Report:
    """A report that quotes the first passages of what it would have been written from; it is rated 0."""
    context = _context_of(given)
    first, rest = context.passages[:1], context.passages[1:_FINDINGS]
    findings = tuple(Finding(_title_of(p), (_quote_passage(p),)) for p in rest)
    why = "the engine wrote no report; these are its sources' own words"
    return Report(_name_context(context), tuple(map(_quote_passage, first)), findings, 0.0, why)


def quote_as_text(context: Context) -> str:
    """As many of the descriptions as stay readable, in order."""
    texts = [p.text for p in context.passages]
    return " ".join(take_within(texts, _LONGEST, count_tokens)[0] or texts[:1])


def quote_passages(brief: Brief) -> tuple[Statement, ...]:
    """As many passages, word for word, as the text was to have words; one at least."""
    passages = brief.context.passages
    return tuple(map(_quote_passage, take_within(passages, brief.words or _LONGEST, _length_of)[0] or passages[:1]))


def _quote_passage(passage: Passage) -> Statement:
    sources = tuple(dict.fromkeys(chain(passage.sources, (q.source for q in passage.quotes))))
    return Statement(f"{passage.text or passage.title} ", (passage.id,), sources)


def _name_context(context: Context) -> str:
    return context.title or ", ".join(_title_of(p) for p in context.passages[:_TITLES])


def _title_of(passage: Passage) -> str:
    return passage.title or " ".join(passage.text.split()[:8])


def _length_of(passage: Passage) -> int:
    return len(passage.text.split())
