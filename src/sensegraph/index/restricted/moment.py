"""An index as a moment leaves it: what held then, what is not known, and nothing that did not hold (N90, §4).

What a sentence states of another time is not there: its words are blanked in the chunks, and what rests on it alone -
descriptions, relations, claims, statements of reports - is left out before anything is ranked. Places stay as they
are, so that citations lead to the documents. What states no date is kept, or left out where that is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

from sensegraph.errors import InputError, NotIndexed
from sensegraph.index.index import Index
from sensegraph.index.parts import Part
from sensegraph.index.restricted.arrivals import known_then, read_arrivals
from sensegraph.index.restricted.dates import Dates, Fact, settle_dates
from sensegraph.index.restricted.scope import ScopedIndex, check_scope, join_texts, restrict_to_scope
from sensegraph.language.asking.causing import asks_cause
from sensegraph.language.asking.kinds import asks_for_several
from sensegraph.language.dates.intervals import Span, holds_during, make_interval, span_through
from sensegraph.language.dates.moments import first_instant, instant_after, is_readable
from sensegraph.language.dates.office_questions import read_office_question
from sensegraph.language.dates.stated_dates import When, describe_when, stated_in, when_asked, without_date
from sensegraph.questions import Scope
from sensegraph.runtime.results import recall_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Answer,
    Chunk,
    Claim,
    Cluster,
    Description,
    Entity,
    Graph,
    Hierarchy,
    Question,
    Relation,
    Source,
    Statement,
)  # fmt: skip

T = TypeVar("T")
_LONG = 600  # characters of a span that is no sentence: a model wrote of it
_MOST = 0.5  # share of a span that states another time, from which what it says is left out


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of chunks by chunk id: those that hold at the time asked about, and those that do not.

    Chunks that are `later`, of documents written after that time, say of it only what states a date, at these spans.
    """

    holding: dict[str, list[tuple[int, int]]]
    outside: dict[str, list[tuple[int, int]]]
    disputed: Mapping[Source, tuple[str, ...]] = field(default_factory=dict)
    exclude: bool = False
    span: Span | None = None
    later: Mapping[str, list[tuple[int, int]]] = field(default_factory=dict)

    def blanked(self, chunk: Chunk) -> Chunk:
        """The chunk with blanks for what is outside."""
        spans = self.outside.get(chunk.id, [])
        if self.exclude or chunk.id in self.later:
            kept = (self.later or self.holding).get(chunk.id, [])
            spans, at = [], 0  # what those that hold leave of the text
            for a, b in [*sorted(kept), (len(chunk.text), len(chunk.text))]:
                if at < a:
                    spans.append((at, a))
                at = max(at, b)
        text = chunk.text
        for a, b in spans:
            text = text[:a] + " " * (b - a) + text[b:]
        return replace(chunk, text=text)

    def left_out(self, source: Source) -> bool:
        """Whether what stands there is mostly outside; where unknown is excluded, whether it does not mostly hold."""
        size = max(1, source.end - source.start)
        if self.exclude or source.chunk in self.later:
            kept = self.later or self.holding
            return _shared_length(kept.get(source.chunk, []), source) / size < _MOST
        return _shared_length(self.outside.get(source.chunk, []), source) / size >= _MOST

    def elsewhere(self, said: Description) -> bool:
        """Whether a description is of another time: by what a model said of that, else by where it stands, or, as a
        model wrote it of a whole chunk, by the dates in its own words.
        """
        if said.starts or said.ends:
            return self._outside(said.starts, said.ends)
        if said.source.end - said.source.start <= _LONG or self.span is None:
            return self.left_out(said.source)
        found = stated_in(said.text)
        return self._outside(found.first, found.last)

    def beyond(self, claim: Claim) -> bool:
        """Whether a claim is of another time: by its own dates, else by where it stands."""
        return self._outside(claim.starts, claim.ends) if claim.starts or claim.ends else self.left_out(claim.source)

    def _outside(self, first: str, last: str) -> bool:
        if self.span is None:
            return False
        verdict = holds_during(make_interval(first, last), self.span)
        return verdict is not True if self.exclude else verdict is False

    def known(self, source: Source) -> bool:
        """Whether a statement that holds touches this span."""
        return _shared_length(self.holding.get(source.chunk, []), source) > 0

    def against(self, source: Source) -> Iterator[str]:
        """What other statements say against one that touches this span."""
        for s, texts in self.disputed.items():
            if s.chunk == source.chunk and s.start < source.end and source.start < s.end:
                yield from texts


def _shared_length(spans: Sequence[tuple[int, int]], source: Source) -> int:
    return sum(max(0, min(b, source.end) - max(a, source.start)) for a, b in spans)


def dates_of(index: Index) -> Dates:
    """The dated statements of an index. Raises NotIndexed where it was built without."""
    if not index.manifest.dates:
        raise NotIndexed(
            "This index was built without dates: run `sensegraph index` again (in Python: `corpus.build()`); "
            "index.temporal.dates must not be false."
        )
    return recall_result(index.store, settle_dates, index.manifest.dates)


def spans_of(found: Dates, when: When) -> Spans:
    """What holds and what does not at the time asked about."""
    span, exclude = span_through(when.first, when.last), when.unknown == "exclude"
    holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
    outside: dict[str, list[tuple[int, int]]] = defaultdict(list)
    disputed: list[Fact] = []
    for fact in found.facts:
        verdict = holds_during(fact.interval, span)
        kept = outside if verdict is False else holding if verdict else None
        for s in fact.sources if kept is not None else ():
            kept[s.chunk].append((s.start, s.end))  # type: ignore[index]
        if verdict and fact.disputed:
            disputed.append(fact)
    return Spans(
        dict(holding),
        dict(outside),
        {
            s: tuple(g.text for g in disputed if (g.type, g.thing) == (f.type, f.thing) and g.holder != f.holder)
            for f in disputed
            for s in f.sources
        },
        exclude,
        span,
    )


def restrict_to_time(index: Index, scope: Scope, when: When | None = None, *, whole: bool = False) -> Index:
    """`index` as `scope` leaves it: its own times outrank those that were read from the question (`when`).

    With `whole`, the time of the question is noted and nothing is left out for it.
    """
    check_scope(scope)
    documents = replace(scope, as_of="", between=("", ""), known_at="", unknown="include")
    inside, note = index, ""
    if scope.known_at:
        inside, note = _restrict_to_known(index, scope)
    if documents != Scope():
        inside = restrict_to_scope(inside, documents)
    own = when_of(scope) or when
    if own is None and not note:
        return inside
    names = inside.inside if isinstance(inside, ScopedIndex) else frozenset(d.id for d in index.catalogue.documents)
    spans = spans_of(dates_of(index), own) if own and not whole else Spans({}, {})
    said = [note, describe_when(own) if own else ""]
    # a document says how things are when it is written, and of the time before nothing without a date
    if spans.span and when_of(scope) and not spans.exclude:
        timed = [d for d in index.catalogue.documents if d.id in names and is_readable(d.time)]
        late = {d.id for d in timed if first_instant(d.time) >= spans.span[1]}
        spans = replace(spans, later=_spans_with_dates(index, late, spans.span))
        of = "1 document that was" if len(late) == 1 else f"{len(late)} documents that were"
        said += [f"of {of} written later only what states a date is read"] * bool(late)
    return TimedIndex(index, names, spans, tuple(n for n in said if n))


def _spans_with_dates(index: Index, documents: Collection[str], span: Span) -> dict[str, list[tuple[int, int]]]:
    """By chunk of these documents where they state a date and may hold."""
    found: dict[str, list[tuple[int, int]]] = {c.id: [] for c in index.catalogue.chunks if c.document in documents}
    for fact in dates_of(index).facts if found else ():
        for s in fact.sources if holds_during(fact.interval, span) is not False else ():
            if s.chunk in found:
                found[s.chunk].append((s.start, s.end))
    return found


def when_of(scope: Scope) -> When | None:
    """The time that a scope asks for; None where it asks for none. Raises InputError for two, or one turned round."""
    if scope.as_of and any(scope.between):
        raise InputError("Ask for one moment (as_of) or for a stretch (between), not for both.")
    if scope.as_of:
        return When(scope.as_of, scope.as_of, unknown=scope.unknown)
    check_order(*scope.between)
    return When(*scope.between, unknown=scope.unknown) if any(scope.between) else None


def ends_before_it_begins(first: str, last: str) -> bool:
    """Whether the stretch from `first` through `last` ends before it begins; false where one is open or unreadable."""
    return is_readable(first) and is_readable(last) and instant_after(last) <= first_instant(first)


def check_order(first: str, last: str) -> None:
    """Raise InputError where a stretch ends before it begins; either end may be open."""
    if ends_before_it_begins(first, last):
        raise InputError(f"{last} is before {first}; give the earlier moment first.")


def _restrict_to_known(index: Index, scope: Scope) -> tuple[Index, str]:
    """The index of the documents that were known then, as they are now, and what has to be said of it."""
    then = known_then(read_arrivals(index.store), index.catalogue.documents, scope.known_at, scope.unknown == "include")
    if not then.inside:
        raise InputError(f"No document of this corpus was known at {scope.known_at}; the first came {then.first}.")
    note = f"known at {scope.known_at}: {len(then.inside)} of {len(index.catalogue.documents)} documents"
    if then.changed:
        note += f"; {then.changed} were known in an earlier version, which is not kept, and are left out"
    if then.unknown:
        note += f"; of {then.unknown} it is not known since when"
    return ScopedIndex(index, then.inside), note


class TimedIndex(ScopedIndex):
    """The part of an index that the documents `inside` make, without what did not hold at the time asked about."""

    def __init__(self, whole: Index, inside: frozenset[str], spans: Spans, said: tuple[str, ...]) -> None:
        super().__init__(whole, inside)
        self.spans, self.said = spans, said

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks inside, blank where they state another time."""
        return {name: self.spans.blanked(c) for name, c in super().chunks(ids).items()}

    @cached_property
    def graph(self) -> Graph:
        """What is said of entities, relations and claims that may hold; entities that it names stay."""
        whole = super().graph
        links = tuple(r for r in map(self._relation, whole.relations) if r)
        claims = tuple(c for c in whole.claims if not self.spans.beyond(c))
        named = {end for r in links for end in (r.source, r.target)} | {c.subject for c in claims}
        entities = (self._entity(e, e.id in named) for e in whole.entities)
        return Graph(tuple(e for e in entities if e), links, claims)

    def _relation(self, relation: Relation) -> Relation | None:
        kept = self._said(relation.descriptions)
        if len(kept) == len(relation.descriptions):
            return relation
        chunks = tuple(dict.fromkeys(d.source.chunk for d in kept))
        weight = relation.weight * len(kept) / len(relation.descriptions)
        found = replace(
            relation, description=join_texts(kept), descriptions=kept, weight=weight, chunks=chunks, label=""
        )
        return found if kept else None

    def _entity(self, entity: Entity, named: bool) -> Entity | None:
        kept = self._said(entity.descriptions)
        if len(kept) == len(entity.descriptions):
            return entity
        return replace(entity, description=join_texts(kept), descriptions=kept) if kept or named else None

    def _said(self, descriptions: Sequence[Description]) -> tuple[Description, ...]:
        return tuple(d for d in descriptions if not self.spans.elsewhere(d))

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The reports, without the statements that rest on another time alone."""
        found = super().hierarchy
        return replace(found, clusters=tuple(map(self.statements_that_hold, found.clusters)))

    def _read_part(self, part: Part[T, Any]) -> T:
        """What is left of a part, without what did not hold."""
        return part.restrict_to_moment(super()._read_part(part), self)

    def statements_that_hold(self, cluster: Cluster) -> Cluster:
        """A report without the statements that rest on another time alone; the same where there are none."""
        summary = self._stated(cluster.summary)
        findings = tuple(replace(f, statements=self._stated(f.statements)) for f in cluster.findings)
        kept = tuple(f for f, whole in zip(findings, cluster.findings, strict=True) if f.statements or f == whole)
        if summary == cluster.summary and kept == cluster.findings:
            return cluster
        return replace(cluster, summary=summary, findings=kept)

    def _stated(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple(s for s in statements if not s.sources or not all(map(self.spans.left_out, s.sources)))

    def notes(self) -> tuple[str, ...]:
        """Which time was asked about, what the filter of documents leaves, and of reports that were read how many are
        marked.
        """
        whole = self.whole.manifest.counts["documents"]
        notes = [*self.said, *(super().notes() if len(self.inside) < whole else ())]
        if "hierarchy" in vars(self) and (cut := self._marked()):
            rest = "1 report rests" if cut == 1 else f"{cut} reports rest"
            notes.append(f"{rest} in part on facts of other times: statements on these alone are left out")
        return tuple(notes)

    def _marked(self) -> int:
        before = {c.id: c for c in ScopedIndex(self.whole, self.inside).hierarchy.clusters}
        return sum(before[c.id] != c for c in self.hierarchy.clusters if c.id in before)


_READ_THEIR_TIME = (read_office_question, asks_for_several, asks_cause)  # questions whose answers are found by date


def ask_in_time(
    question: Question, index: Index, scope: Scope, rt: Runtime, *, read: bool = True
) -> tuple[Question, Index]:
    """The question and the index that it is to be asked of, with what the scope and the question say of time.

    A date that is `read` from the question is the filter; an engine that quotes looks for the rest of the question,
    because what holds at a time need not name it. Where it is asked who held an office, for all things of a kind, or
    for a cause, such an engine reads the date itself, from all that is said: a cause comes before what it leads to.
    """
    check_scope(scope)
    today = datetime.now(UTC).date().isoformat()
    when = None
    if read and index.manifest.dates and when_of(scope) is None:
        when = when_asked(question.text, today)
    if when and rt.engine.quotes and any(reads(question.text) for reads in _READ_THEIR_TIME):
        search = without_date(question.text, today)
        return replace(question, search=search), restrict_to_time(index, scope, when, whole=True)
    inside = restrict_to_time(index, scope, when)
    office = read_office_question(question.text) if rt.engine.quotes and index.manifest.dates else None
    if office and office.kind == "now" and scope.as_of:  # who held it then is told by what began and ended it
        asked = question.text.rstrip(" ?？.!")
        lead = "on" if len(scope.as_of) > len("2022-03") else "in"
        dated = f"{asked} {lead} {scope.as_of[:10]}?"
        return replace(question, text=dated, search=question.search or question.text), inside
    plain = replace(question, text=without_date(question.text, today)) if when and rt.engine.quotes else question
    return plain, inside


def time_notes(answer: Answer, index: Index) -> tuple[str, ...]:
    """Notes on citations that do not say whether they held then, and on those that another source contradicts."""
    if not isinstance(index, TimedIndex) or not (index.spans.holding or index.spans.outside):
        return ()
    unknown: list[int] = []
    others: dict[str, list[int]] = defaultdict(list)
    for c, touched in zip(answer.citations, _touched_spans(answer, index), strict=True):
        if not any(index.spans.known(s) for s in touched):
            unknown.append(c.marker)
        for text in dict.fromkeys(t for s in touched for t in index.spans.against(s) if t != c.quote):
            others[text].append(c.marker)
    said = f"{_list_markers(unknown)} {'does' if len(unknown) == 1 else 'do'} not say whether it held then"
    against = (f"{_list_markers(m)} is disputed; another source says: “{text}”" for text, m in others.items())
    return (*([said] if unknown else []), *against)


def _touched_spans(answer: Answer, index: TimedIndex) -> Iterator[list[Source]]:
    """For each citation its span in the chunks that hold it."""
    wanted = {c.document for c in answer.citations}
    entries = [e.id for e in index.whole.catalogue.chunks if e.document in wanted]
    chunks = list(index.whole.chunks(entries).values())
    for c in answer.citations:
        own = (k for k in chunks if k.document == c.document and k.start < c.end and c.start < k.start + len(k.text))
        yield [Source(k.id, c.start - k.start, c.end - k.start) for k in own]


def _list_markers(markers: Sequence[int]) -> str:
    return ", ".join(f"[{m}]" for m in markers)


__all__ = [
    "Spans",
    "TimedIndex",
    "ask_in_time",
    "check_order",
    "dates_of",
    "ends_before_it_begins",
    "restrict_to_time",
    "spans_of",
    "time_notes",
    "when_of",
]
