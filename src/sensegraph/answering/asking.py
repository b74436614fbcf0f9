"""The engine's tasks at question time, as steps: asked twice, answered once; and how every answer is concluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sensegraph.answering.quoting import quote_sources
from sensegraph.answering.reranking import rerank_evidence
from sensegraph.index.index import Index
from sensegraph.index.passages import Teller, answer_from_draft, documents_behind
from sensegraph.language.text import count_tokens
from sensegraph.protocols import LanguageEngine, StreamingEngine
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Context, Draft, Evidence, Inquiry, Lead, Passage, Point, Question, Refinement

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


def gather_evidence(
    passages: Sequence[Passage], index: Index, *, omitted: int = 0, notes: Sequence[str] = ()
) -> Evidence:
    """Evidence of these passages, best first, with the documents behind them and their tokens."""
    size = sum(count_tokens(p.text) for p in passages)
    return Evidence(tuple(passages), documents_behind(passages, index), size, omitted, tuple(notes))


def conclude_answer(question: Question, evidence: Evidence, index: Index, rt: Runtime) -> Answer:
    """One answer from the evidence, with citations; it says so when there is none to answer from.

    Where the runtime has a reranker, the evidence is put in its order first; where it has somebody who listens, the
    answer is told while it is written.
    """
    evidence = rerank_evidence(question, evidence, index, rt)
    if not evidence.passages:
        if rt.hear:
            rt.hear(NOTHING)
        return Answer(NOTHING, evidence=evidence, notes=evidence.notes)
    evidence = replace(evidence, passages=tuple(quote_sources(evidence.passages, index, rt)))
    asked = make_inquiry(question, evidence.passages, index)
    draft = _tell_draft(asked, evidence, index, rt) if rt.hear else rt.each(answer_contexts, [asked])[0]
    return answer_from_draft(draft, evidence, index)


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
