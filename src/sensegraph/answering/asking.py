"""From evidence to an answer: what an engine that quotes is given, reranking, the engine's tasks as steps, map-reduce,
and how every answer is concluded.

An engine that quotes compares words, and shows what it is given, word for word. One that writes in its own words
understands reports, relations and sub-answers. Methods say for which of the two a thing is made; they ask no engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from sensegraph.answering.looked_up_chunks import (
    find_identified_chunks,
    find_listed_chunks,
    find_named_chunks,
    find_naming_stems,
    find_opening_chunks,
    place_rare_chunks,
    read_heads,
)
from sensegraph.errors import EndpointError, StepFailed
from sensegraph.index.index import Index
from sensegraph.index.passages import Teller, answer_from_draft, documents_behind, ground_statements, passage_tokens
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import (
    count_tokens,
    decode_tokens,
    encode_tokens,
    list_stems,
    pack_batches,
    part_camel_case,
    take_within,
)
from sensegraph.protocols import LanguageEngine, Method, Reranker, StreamingEngine
from sensegraph.runtime.activity import tell_stage
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Answer,
    Chunk,
    Context,
    Description,
    Draft,
    Evidence,
    Inquiry,
    Lead,
    NameCounts,
    Passage,
    Point,
    Question,
    Refinement,
    Statement,
    WordCounts,
)

S = TypeVar("S", bound=str)
T = TypeVar("T")

_LONG = 600  # characters of a span that is quoted whole


def settle_asking(how: S, rt: Runtime, *, model: S, rules: S) -> S:
    """The setting `how`, where `auto` stands for `model` if the engine understands what it reads, else for `rules`."""
    if how != "auto":
        return how
    return rules if rt.engine.quotes else model


def for_quoting(rt: Runtime, make: Callable[[], Iterable[T]]) -> list[T]:
    """What `make` makes for an engine that quotes, and can show and compare only what it is given; else nothing."""
    return list(make()) if rt.engine.quotes else []


def for_writing(rt: Runtime, make: Callable[[], Iterable[T]]) -> list[T]:
    """What `make` makes for an engine that writes in its own words; one that quotes reads the sentences instead."""
    return [] if rt.engine.quotes else list(make())


def written_text(statements: Sequence[Statement], rt: Runtime) -> str | None:
    """What the engine wrote in its own words; None for one that quotes: its words are those that it was given."""
    return None if rt.engine.quotes else "".join(s.text for s in statements)


def quote_sources(passages: Sequence[Passage], index: Index, rt: Runtime) -> list[Passage]:
    """Passages whose quotes an engine that quotes may show as the sources' words.

    Where a model wrote what the index tells, or it was imported, the quotes are the spans' own texts: prose of another
    is no quotation, however true.
    """
    if not rt.engine.quotes or index.manifest.quoted:
        return list(passages)
    chunks = index.chunks(sorted({q.source.chunk for p in passages for q in p.quotes}))
    return [replace(p, quotes=_own_quotes(p.quotes, chunks)) if p.quotes and p.kind != "point" else p for p in passages]


def _own_quotes(quotes: Sequence[Description], chunks: dict[str, Chunk]) -> tuple[Description, ...]:
    """The texts of the quotes' spans, whole sentences where a span is part of one; each span once."""
    found = {}
    for quote in quotes:
        chunk = chunks.get(quote.source.chunk)
        if chunk is None or quote.source.end - quote.source.start > _LONG:
            continue
        touched = [(a, b) for a, b in split_sentences(chunk.text) if a < quote.source.end and quote.source.start < b]
        start, end = (touched[0][0], touched[-1][1]) if touched else (quote.source.start, quote.source.end)
        found[chunk.id, start, end] = Description(chunk.text[start:end], replace(quote.source, start=start, end=end))
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Candidates:
    """A question and the texts that may help, in the order that they were found in.

    All are scored together: some models look at the others when they score one.
    """

    question: str
    texts: tuple[str, ...]


@step("reranking.score", version=2, uses="reranker", batch=1)
def score_candidates(asked: Sequence[Candidates], *, reranker: Reranker) -> list[list[float]]:
    """How well each text of each question fits, higher is better. Raises EndpointError for too few scores."""
    listed = []
    for one in asked:
        found = reranker.scores(one.question, one.texts)
        if len(found) != len(one.texts):
            raise EndpointError(f"{reranker.name} gave {len(found)} scores for {len(one.texts)} texts; try again.")
        listed.append(found)
    return listed


def rerank_evidence(question: Question, evidence: Evidence, index: Index, rt: Runtime) -> Evidence:
    """The evidence in the order of the runtime's reranker, with a note; as it is where there is none.

    The first `reranker.top` chunks are ordered, and have the reranker's scores; what follows stays behind them.
    """
    reranker = rt.reranker
    if reranker is None or not evidence.passages:
        return evidence
    where = [i for i, p in enumerate(evidence.passages) if p.kind == "chunk"]
    if not where:
        note = f"{reranker.name} reranked nothing: the evidence holds no chunks"
        return replace(evidence, notes=(*evidence.notes, note))
    read = [evidence.passages[i] for i in where[: reranker.top]]
    found = rt.once(score_candidates, Candidates(question.sought, tuple(p.text for p in read))).value
    ordered = sorted(zip(read, found, strict=True), key=lambda pair: -pair[1])  # of equal ones the earlier stays first
    best = [replace(p, score=s) for p, s in ordered]
    passages = _place_ordered(evidence.passages, where, best)
    note = f"{reranker.name} reranked {len(read)} of {len(where)} chunks"
    place = {name: i for i, name in enumerate(evidence.documents)}
    behind = [name for name in documents_behind(best, index) if name in place]
    documents = _place_ordered(evidence.documents, sorted(place[name] for name in behind), behind)
    return replace(evidence, passages=passages, documents=documents, notes=(*evidence.notes, note))


def _place_ordered(items: Sequence[T], where: Sequence[int], ordered: Sequence[T]) -> tuple[T, ...]:
    """`items`, with what is `ordered` at the first of the positions `where`."""
    new = dict(zip(where, ordered, strict=False))
    return tuple(new.get(i, item) for i, item in enumerate(items))


NOTHING = "Nothing in this corpus helps to answer the question."


@step("language.rate", version=1, uses="engine", task="rate")
def rate_contexts(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[tuple[Point, ...]]:
    """Rated partial answers from each context (the map step)."""
    return engine.rate(inquiries)


@step("language.answer", version=1, uses="engine", task="answer")
def answer_contexts(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[Draft]:
    """The final answer from each context (the reduce step)."""
    return engine.answer(inquiries)


@step("language.ask", version=1, uses="engine", task="ask")
def ask_contexts(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[Lead]:
    """A partial answer from each context, and questions to follow up."""
    return engine.ask(inquiries)


@step("language.refine", version=1, uses="engine", task="refine")
def refine_questions(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[Refinement]:
    """Each question made ready for search."""
    return engine.refine(inquiries)


@step("language.test", version=1, uses="engine", task="test")
def test_contexts(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[bool]:
    """Whether each context helps to answer its question."""
    return engine.test(inquiries)


def make_inquiry(question: Question, passages: Sequence[Passage], index: Index) -> Inquiry:
    """`question` with the passages to answer it from."""
    return Inquiry(question.text, Context(tuple(passages)), index.manifest.counts["documents"], question.history)


def count_words(question: Question, index: Index, passages: Sequence[Passage] = ()) -> WordCounts:
    """How many chunks hold each word of the question and of the conversation before it; what the passages' texts open
    with.
    """
    asked = (*(turn.question for turn in question.history), question.text)
    plain = (text.lower() if text.isupper() else text for text in asked)
    stems = sorted({stem for text in plain for stem in list_stems(part_camel_case(text))})
    words = tuple((stem, index.words.count(stem)) for stem in stems)
    named = find_naming_stems([stem for stem, n in words if not n], index)
    return WordCounts(len(index.words), words, heads=read_heads(passages, index), named=named)


def leads_of(inquiries: Sequence[Inquiry], rt: Runtime) -> tuple[list[Lead | None], Mapping[str, int]]:
    """The lead of each inquiry, None for one that failed, and how often each reason of failure came."""
    try:
        return [*rt.each(ask_contexts, inquiries)], {}
    except StepFailed as e:
        keys = rt.keys(ask_contexts, inquiries)
        gone = {keys[i] for i in rt.missing(ask_contexts, inquiries)}
        stored = iter(rt.each(ask_contexts, [q for q, k in zip(inquiries, keys, strict=True) if k not in gone]))
        return [None if k in gone else next(stored) for k in keys], e.reasons


def gather_evidence(
    passages: Sequence[Passage], index: Index, *, omitted: int = 0, notes: Sequence[str] = ()
) -> Evidence:
    """Evidence of these passages, best first, with the documents behind them and their tokens."""
    size = sum(count_tokens(p.text) for p in passages)
    return Evidence(tuple(passages), documents_behind(passages, index), size, omitted, tuple(notes))


def add_rare_chunks(question: Question, evidence: Evidence, index: Index, rt: Runtime) -> Evidence:
    """The evidence with chunks that hold rare words of the question, for an engine that quotes: it reads the first."""
    placed = for_quoting(rt, lambda: place_rare_chunks(question.text, evidence.passages, index))
    if not placed or [p.id for p in placed] == [p.id for p in evidence.passages]:
        return evidence
    return gather_evidence(placed, index, omitted=evidence.omitted, notes=evidence.notes)


def add_named_chunks(
    question: Question, evidence: Evidence, index: Index, rt: Runtime
) -> tuple[Evidence, NameCounts | None]:
    """The evidence with the chunks in front that say what a name is, for an engine that quotes, where that is asked.

    Those that hold an identifier of the question too. With it how often the name stands in the corpus.
    """
    looked_up = for_quoting(rt, lambda: [find_named_chunks(question.text, index)])
    found, named = looked_up[0] if looked_up else ([], None)
    found = found or for_quoting(rt, lambda: find_identified_chunks(question.text, evidence.passages, index))
    if not found:
        return evidence, named
    ids = {p.id for p in found}
    best = max((p.score for p in evidence.passages), default=1.0)
    front = [replace(p, score=best) for p in found]
    passages = [*front, *(p for p in evidence.passages if p.kind != "chunk" or p.id not in ids)]
    return gather_evidence(passages, index, omitted=evidence.omitted, notes=evidence.notes), named


def add_listed_chunks(question: Question, evidence: Evidence, index: Index, rt: Runtime) -> tuple[Evidence, bool]:
    """The evidence with the chunks behind it that name things of the kind that is asked for, and whether these are all.

    Only for an engine that quotes, and a question that asks for all of a kind, or for their number. Where it asks who
    made something, the chunks that documents open with stand behind.
    """
    looked_up = for_quoting(rt, lambda: [find_listed_chunks(question.text, index)])
    found, complete = looked_up[0] if looked_up else ([], True)
    found = found or for_quoting(rt, lambda: find_opening_chunks(question.text, evidence.passages, index))
    ids = {p.id for p in evidence.passages}
    behind = [p for p in found if p.id not in ids]
    if not found:
        return evidence, complete
    named = {p.id: p.title for p in found}
    passages = (*(replace(p, title=named.get(p.id, p.title)) for p in evidence.passages), *behind)
    return gather_evidence(passages, index, omitted=evidence.omitted, notes=evidence.notes), complete


def conclude_answer(question: Question, evidence: Evidence, index: Index, rt: Runtime) -> Answer:
    """One answer from the evidence, with citations; it says so when there is none to answer from.

    Where the runtime has a reranker, the evidence is put in its order first; where it has somebody who listens, the
    answer is told while it is written.
    """
    evidence, named, complete = rerank_evidence(question, evidence, index, rt), None, True
    if not any(p.kind == "outline" for p in evidence.passages):  # of a question about the whole no word is looked up
        evidence = add_rare_chunks(question, evidence, index, rt)
        evidence, named = add_named_chunks(question, evidence, index, rt)
        evidence, complete = add_listed_chunks(question, evidence, index, rt)
    if not evidence.passages:
        if rt.hear:
            rt.hear(NOTHING)
        return Answer(NOTHING, evidence=evidence, notes=evidence.notes, abstained=True)
    evidence = replace(evidence, passages=tuple(quote_sources(evidence.passages, index, rt)))
    shown = evidence.passages
    counts = for_quoting(rt, lambda: [replace(count_words(question, index, shown), name=named, partial=not complete)])
    counted = next(iter(counts), None)
    asked = replace(make_inquiry(question, evidence.passages, index), counted=counted)
    tell_stage("writing", f"from {len(evidence.passages)} passages")
    draft = _tell_draft(asked, evidence, index, rt) if rt.hear else rt.each(answer_contexts, [asked])[0]
    return answer_from_draft(draft, evidence, index)


class AnswersOnce:
    """What a method inherits that makes one answer of what it retrieves."""

    def answer(self: Method, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from what is retrieved."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)


def _tell_draft(asked: Inquiry, evidence: Evidence, index: Index, rt: Runtime) -> Draft:
    """The draft, each of its statements told as soon as it is known."""
    teller = Teller(evidence.passages, index, rt.hear or (lambda _: None))
    engine = rt.engine
    if isinstance(engine, StreamingEngine):
        draft = rt.made(answer_contexts, asked, lambda: engine.stream(asked, teller.tell))
    else:
        draft = rt.each(answer_contexts, [asked])[0]
    for statement in draft.statements[teller.count :]:
        teller.tell(statement)
    return draft


def map_reduce(
    question: Question, passages: Iterable[Passage], index: Index, rt: Runtime, *, budget: int, seed: int, place: str
) -> Evidence:
    """Points from all passages, shuffled into batches of `budget` tokens; those above 0, best first, within `budget`.

    A passage that is larger than the budget is cut, alone in its batch, and counted in the notes; `place` says there
    where the passages are from.
    """
    listed = quote_sources(list(passages), index, rt)
    Random(seed).shuffle(listed)
    cut: list[Passage] = []
    for passage in listed:
        if passage_tokens(passage) > budget:  # its beginning, whole characters
            numbers = encode_tokens(passage.text)[: max(1, budget - count_tokens(passage.title))]
            while (text := decode_tokens(numbers)) is None:
                numbers = numbers[:-1]
            cut.append(replace(passage, text=text))
        else:
            cut.append(passage)
    batches = pack_batches(cut, budget, passage_tokens)
    rated = rate_batches(question, batches, index, rt)
    kept, omitted = take_within(rated, budget, passage_tokens)
    read = "1 batch" if len(batches) == 1 else f"{len(batches)} batches"
    notes = [f"based on {len(listed)} {place}: {len(rated)} points, read in {read}"]
    if short := sum(before is not after for before, after in zip(listed, cut, strict=True)):
        notes.append(f"{short} of the {place} are longer than context_tokens ({budget}) and were cut")
    return gather_evidence(kept, index, omitted=omitted, notes=notes)


def rate_batches(question: Question, batches: Sequence[Sequence[Passage]], index: Index, rt: Runtime) -> list[Passage]:
    """The points of every batch of passages that are above 0, as passages, best first (the map step)."""
    mapped = rt.each(rate_contexts, [make_inquiry(question, batch, index) for batch in batches])
    rated = ((point, batch) for batch, points in zip(batches, mapped, strict=True) for point in points)
    return sorted((point_passage(p, batch) for p, batch in rated if p.score > 0), key=lambda p: -p.score)


def point_passage(point: Point, batch: Sequence[Passage]) -> Passage:
    """A point from `batch` as a passage that the final answer can cite, with the sentences it rests on."""
    statements = ground_statements(point.statements, batch)
    text = "".join(s.text for s in statements).strip()
    quotes = tuple(Description(s.text.strip(), source) for s in statements for source in s.sources)
    return Passage("point", key(point)[:20], text, point.score, point.title, quotes=quotes, documents=point.documents)


_CITED = re.compile(r"\[\d+\]")


class Patient:
    """Listens in somebody's place until an answer cites a source: one that cites nothing is asked for elsewhere."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear, self._heard, self._open = hear, "", False

    def __call__(self, text: str) -> None:
        """Hear the next piece; pass it on as soon as something was cited."""
        self._heard += text
        self._open = self._open or _CITED.search(self._heard) is not None
        if self._open:
            self._hear(self._heard)
            self._heard = ""
