"""When what sentences state was true: dates found in the texts, and functional facts closed by the next (N90, §3).

Every sentence with a date is a dated statement; its interval holds for all that rests on it: relations, claims,
descriptions, and the sentence itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sensegraph.algorithms.segments import cut_keys
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import Catalogue
from sensegraph.language.blocks import read_text
from sensegraph.language.dates.intervals import Assertion, Held, Interval, held_in, make_interval, settle_assertions
from sensegraph.language.dates.moments import find_hints
from sensegraph.language.dates.stated_dates import stated_in
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import fold
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Document, Graph, Source


@dataclass(frozen=True, slots=True)
class TemporalSettings:
    """Whether dates are found in the texts, and which relation types admit one holder at a time.

    `functional` are types such as "CEO of" or "capital of": of several holders each ends where the next begins.
    `questions`: a date in a question ("in 2015") is read as a filter, and the answer says so.
    """

    dates: bool = True
    functional: tuple[str, ...] = ()
    questions: bool = True


@dataclass(frozen=True, slots=True)
class DatedSentence:
    """What stands at start:end of a document's text, as it is read, was so from `first` through `last`.

    `unread` counts dates that could not be read; `earliest` bounds a beginning that is not stated.
    """

    start: int
    end: int
    text: str
    first: str
    last: str
    unread: int = 0
    earliest: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A dated statement: `first` and `last` as the text states them, `starts` and `ends` the half-open interval.

    `sources` are its spans in chunks. Of a functional type, `holder` is `type` of `thing`; what ended it is
    `superseded_by`, by which rule is the `reason`. `flagged`: what was stated cannot be, and is unknown. `earliest`
    bounds a beginning that is not stated ("after 2024").
    """

    id: str
    document: str
    start: int
    end: int
    text: str
    first: str
    last: str
    starts: str
    ends: str
    sources: tuple[Source, ...]
    type: str = ""
    thing: str = ""
    holder: str = ""
    disputed: bool = False
    superseded_by: str = ""
    reason: str = ""
    flagged: bool = False
    earliest: str = ""

    @property
    def interval(self) -> Interval:
        """When it holds."""
        return Interval(self.starts, self.ends, self.flagged, self.earliest)


@dataclass(frozen=True, slots=True)
class Dates:
    """All dated statements in the order of documents and of their places; `unread` counts dates nobody could read."""

    facts: Sequence[Fact] = ()
    unread: int = 0


@step("dates.dated", version=6)
def find_dated_sentences(documents: Sequence[Document]) -> list[tuple[DatedSentence, ...]]:
    """The sentences of each document that state a date, relative dates by the document's own time."""
    listed = []
    for d in documents:
        text = read_text(d.text)
        hints = find_hints(text)
        spans = split_sentences(text) if hints else []
        hinted = [(a, b) for a, b in spans if bisect_left(hints, a) < bisect_left(hints, b)]
        found = [(a, b, stated_in(text[a:b], d.time)) for a, b in hinted]
        listed.append(
            tuple(
                DatedSentence(a, b, text[a:b], s.first, s.last, s.unread, s.earliest)
                for a, b, s in found
                if s.first or s.last or s.unread or s.earliest
            )
        )
    return listed


@step("dates.dating", version=1)
def list_dating(runs: Sequence[Iterable[tuple[DatedSentence, ...]]]) -> list[tuple[int, ...]]:
    """Which documents of each run state a date."""
    return [tuple(place for place, stated in enumerate(run) if stated) for run in runs]


@dataclass(frozen=True, slots=True)
class Dating:
    """What intervals are made of: documents by id with their dated sentences, their chunks, the names in the graph."""

    sentences: Mapping[str, Sequence[DatedSentence]]
    chunks: Iterable[Chunk]
    known: Mapping[str, str]


@step("dates.dates", version=3, form="tables")
def settle_dates(wholes: Sequence[Dating], *, functional: tuple[str, ...]) -> list[Dates]:
    """Every dated statement with its interval; functional ones chained, in any order of documents the same."""
    return [_settle_facts(w, functional) for w in wholes]


def find_dates(
    listed: Result[Catalogue],
    keys: Sequence[str],
    chunks: Results[tuple[Chunk, ...]],
    graph: Result[Graph] | None,
    rt: Runtime,
    settings: TemporalSettings,
) -> Result[Dates]:
    """The dated statements of the documents with these `keys`, which are `listed` and have these `chunks`.

    They are those of before where the documents that state a date are the same.
    """
    from sensegraph.runtime.delegating import store_separately

    documents = Results(rt.store, keep_documents, keys)
    store_separately(rt, lambda: rt.each(find_dated_sentences, documents))
    found = rt.each(find_dated_sentences, documents)
    functional = settings.functional if graph else ()
    runs = cut_keys(keys)
    items = ReadItems(rt.store, len(runs), lambda i: found.reader(runs[i]))
    dating = rt.once_each(list_dating, items, list(map(found.tell_run, runs)))
    places = [run[place] for run, some in zip(runs, dating, strict=True) for place in some.value]

    def whole() -> Dating:
        rt.rely_on([found.keys[place] for place in places])
        known = entities_by_name(graph.value) if graph and functional else {}
        names = [d.id for d in take_records(listed.value.documents, places)]
        by_document = dict(zip(names, found.at(places), strict=True))
        return Dating(by_document, (c for held in chunks.at(places) for c in held), known)

    stated = key([(keys[place], found.keys[place], chunks.keys[place]) for place in places])
    names = (stated, *([graph.key] if graph and functional else []))
    return rt.once(settle_dates, whole, names=names, functional=functional)


def entities_by_name(graph: Graph) -> dict[str, str]:
    """The id of the entity of each folded name; of several the most mentioned, then the first by id."""
    ranked = sorted(graph.entities, key=lambda e: (-e.frequency, e.id))
    names: dict[str, str] = {}
    for aliases in (False, True):
        for e in ranked:
            for name in e.aliases if aliases else (e.name,):
                names.setdefault(fold(name), e.id)
    return names


def _settle_facts(w: Dating, functional: Sequence[str]) -> Dates:
    places: dict[tuple[str, int], list[Source]] = defaultdict(list)  # the spans of dated sentences in chunks
    for c in w.chunks:
        for s in w.sentences.get(c.document, ()):
            start, end = max(s.start, c.start), min(s.end, c.end)
            if start < end:
                places[c.document, s.start].append(Source(c.id, start - c.start, end - c.start))
    facts = [
        _make_fact(
            name, s, places.get((name, s.start), ()), held_in(s.text, functional, w.known) if functional else None
        )
        for name, listed in w.sentences.items()
        for s in listed
        if s.first or s.last or s.earliest
    ]
    unread = sum(s.unread for listed in w.sentences.values() for s in listed)
    closed = settle_assertions(
        Assertion(f.id, (f.type, f.thing), f.holder, f.first, f.last, f"{f.document}\0{f.start:09}")
        for f in facts
        if f.type
    )
    for i, f in enumerate(facts):
        if found := closed.get(f.id):
            held, by = found.interval, found.superseded_by
            facts[i] = replace(
                f, starts=held.starts, ends=held.ends, disputed=found.disputed, superseded_by=by, reason=found.reason
            )
    return Dates(tuple(facts), unread)


def _make_fact(name: str, s: DatedSentence, sources: Sequence[Source], held: Held | None) -> Fact:
    interval = make_interval(s.first, s.last)
    own = (held.type, held.thing, held.holder) if held else ("", "", "")
    return Fact(
        key("fact", name, s.start, s.end, s.text)[:20], name, s.start, s.end, s.text, s.first, s.last,
        interval.starts, interval.ends, tuple(sources), *own, flagged=interval.flagged, earliest=s.earliest,
    )  # fmt: skip
