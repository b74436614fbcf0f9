"""Rules of offline answers from passages of all kinds, given in a form that stands in a line of JSON.

A passage is given as its kind, its title, its text, its score, its quotes and how many documents are behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sensegraph.engines.offline.answers import (
    asked,
    asking_tasks,
    composing,
    features,
    overviews,
    questions,
    ranking,
    source_sentences,
    themes,
)
from sensegraph.engines.offline.answers.offices.office_answers import answer_office
from sensegraph.engines.offline.answers.offices.office_claims import OfficeReader
from sensegraph.engines.offline.answers.offices.office_sentences import Claim
from sensegraph.engines.offline.answers.offices.office_terms import (
    end_instant,
    group_by_thing,
    prefer_thing,
    settle_terms,
)
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, choose_language, read_source_sentences
from sensegraph.language.dates.office_questions import read_office_question
from sensegraph.questions import NameCounts
from sensegraph.types import Context, Description, Inquiry, Passage, Source, Statement, Turn, WordCounts

Given = Sequence[Any]  # kind, title, text, score, quotes, documents


def make_inquiry(question: str, given: Sequence[Given], history: Sequence[str] = (), documents: int = 9) -> Inquiry:
    """A question with the passages found for it, and the questions before it."""
    passages = tuple(make_passage(i, *one) for i, one in enumerate(given))
    return Inquiry(question, Context(passages), documents, tuple(Turn(text, "") for text in history))


def make_passage(
    number: int, kind: str, title: str, text: str, score: float, quotes: Sequence[str] = (), documents: int = 1
) -> Passage:
    """A passage; each of its quotes stands in a chunk of its own, and a chunk in a document of its own."""
    sources = (Source(f"{number:012}-0", 0, len(text)),) if text else ()
    quoted = tuple(Description(q, Source(f"{number:06}{i:06}-0", 0, len(q))) for i, q in enumerate(quotes))
    return Passage(kind, f"{kind[:1]}{number}", text, score, title, sources, quoted, documents)


def lead(*given: Any) -> list[Any]:
    """The lead of a context: its statements, its usefulness, and the questions to follow up."""
    (found,) = asking_tasks.find_leads([make_inquiry(*given)])
    return ["".join(s.text for s in found.statements), found.score, found.questions]


def rate(*given: Any) -> list[Any]:
    """The points of a context, each with its score, its title and its statements."""
    (points,) = composing.rate_inquiries([make_inquiry(*given)])
    return [[p.score, p.title, *show_statements(p.statements)] for p in points]


def answer(*given: Any) -> list[Any]:
    """An answer, what each of its statements rests on, and whether it is none."""
    draft = composing.compose_answer(make_inquiry(*given))
    return [*show_statements(draft.statements), draft.abstained, draft.notes]


def define(question: str, given: Sequence[Given], counted: Sequence[Any] = ()) -> list[Any]:
    """What something is; `counted` says in how many chunks and documents of a corpus its name stands."""
    inquiry = make_inquiry(question, given)
    if counted:
        chunks, documents, exact, alone = counted
        name = NameCounts(chunks, documents, exact, tuple(alone))
        inquiry = replace(inquiry, counted=WordCounts(2_000, (), name))
    draft = composing.compose_answer(inquiry)
    return [*show_statements(draft.statements), draft.abstained, draft.notes[1:]]


def shorten(question: str, given: Sequence[Given], words: int) -> list[str]:
    """An answer in about so many words."""
    return show_statements(composing.compose_answer(make_inquiry(question, given), words).statements)


def resolve(question: str, history: Sequence[str]) -> str:
    """The question as it can be understood without those before it."""
    return composing.resolve_history(make_inquiry(question, (), history)).question


def judge(*given: Any) -> list[Any]:
    """Whether passages bear on a question, the grade of them as reports, and the refined question."""
    inquiry = make_inquiry(*given)
    (refined,) = asking_tasks.refine_questions([inquiry])
    return [asking_tasks.test_passages([inquiry])[0], asking_tasks.grade_reports([inquiry])[0], refined]


def read(*given: Any) -> list[Any]:
    """The sentences of a context: their text, who says them, and how well they stand."""
    _, sentences = _read_question(*given)
    return [[s.text, s.speaker, s.source.start, s.reference, s.document, s.host, s.quality, s.terms] for s in sentences]


def find_relevant(*given: Any) -> list[Any]:
    """The sentences that bear on a question, how much they do, and what its terms weigh."""
    question, sentences = _read_question(*given)
    found = [
        [r.sentence.order, r.score, r.sign, r.host, r.whole]
        for r in source_sentences.find_relevant(question, sentences)
    ]
    loose = source_sentences.find_relevant(question, sentences, strict=False)
    weights = source_sentences.term_weights(question, sentences)
    return [found, [[r.sentence.order, r.score] for r in loose], weights]


def hold(question: str, given: Sequence[Given]) -> list[Any]:
    """What a context says of who held an office: the claims of its sentences, and the terms that they make."""
    asked_for, inquiry = read_office_question(question), make_inquiry(question, given)
    if asked_for is None:
        return []
    passages = inquiry.context.passages
    sentences = read_source_sentences(passages, choose_language(question, passages))
    reader = OfficeReader(asked_for, passages, sentences)
    claims = prefer_thing(reader.read(), asked_for, sentences, reader.elsewhere)
    told = [
        [c.holder, c.kind, c.first, c.last, c.sentence.order, c.seen, c.temporary, c.loose, c.thing] for c in claims
    ]
    groups = [[thing, _show_terms(group)] for thing, group in group_by_thing(claims, asked_for, sentences)]
    written = answer_office(asked.Asked(question, passages, tuple(sentences)))
    return [told, _show_terms(claims), groups, written and [s.text for s in written.statements]]


def _show_terms(claims: Sequence[Claim]) -> list[Any]:
    terms = settle_terms(claims)
    ends = [end_instant(terms, i) for i in range(len(terms))]
    return [[t.holder, t.first, t.last, t.temporary, t.seen, end] for t, end in zip(terms, ends, strict=True)]


def rank(*given: Any) -> list[Any]:
    """The sentences that answer a question of fact, how well they do, and the lines that each leads in to."""
    question, sentences = _read_question(*given)
    led = [[s.order for s in asked.list_led_in(sentences, i)] for i in range(len(sentences))]
    direct = composing.choose_direct_sentences(question, sentences, 2)
    ranked = [[s.order, score] for s, score in composing._rank_sentences(question, sentences)]
    return [ranked, [s.order for s in direct], led]


def select(texts: Sequence[str], code: str = "en") -> list[Any]:
    """Which sentences can be shown, which are not alike, and which hold most of what all of them say."""
    sentences = [
        SourceSentence(
            text, "", Source(f"d{i}-0", 0, len(text)), f"p{i}", source_sentences.stem_content_words(text, code), i
        )
        for i, text in enumerate(texts)
    ]
    shown, varied = source_sentences.select_presentable(sentences), source_sentences.choose_varied(sentences, 3)
    covering = composing.choose_covering(sentences, 20)
    return [[s.order for s in chosen] for chosen in (shown, varied, covering)]


def find_variants(term: str, *text: str) -> Any:
    """The stems of a text that stand for a term, and what they count."""
    return source_sentences.find_variants(term, Counter(text))


def find_hosts(told: Sequence[Sequence[str]]) -> list[Any]:
    """Who leads a talk, given as speakers, passages and what is said, by the reports on it and by its own words."""
    sentences = [
        SourceSentence(text, speaker, Source(f"{reference}-0", i, i), reference, tuple(text.casefold().split()), i)
        for i, (speaker, reference, text) in enumerate(told)
    ]
    found = composing.find_report_hosts(sentences), source_sentences.find_hosts(sentences)
    return [*found, [s.text for s in composing.report_speech(sentences, len(told) > 2)]]


def find_themes(*given: Any) -> list[Any]:
    """The themes of a context: their titles, their weights, and their sentences."""
    _, sentences = _read_question(*given)
    leads = source_sentences.find_hosts(sentences)
    found = overviews.find_chunk_themes(sentences)
    told = [[t.title, t.weight, [s.order for s in t.best], [s.order for s in t.all]] for t in found]
    return [told, [themes.rate_sentence(s, leads) for s in sentences]]


def read_evidence(question: str, given: Sequence[Given], counted: Sequence[Any] = ()) -> Any:
    """What tells how well each sentence answers a question of fact; `counted` are the chunks and words of a corpus."""
    counts = WordCounts(counted[0], tuple(map(tuple, counted[1]))) if counted else None
    inquiry = make_inquiry(question, given)
    sentences = read_source_sentences(inquiry.context.passages, choose_language(question, inquiry.context.passages))
    found = features.read_evidence(question, inquiry.context.passages, sentences, counts)
    if not found:
        return None
    weights = ranking.load_weights()
    chances, gate = ranking.rate_sentences(found, weights)
    return [
        found.kind, [s.raw for s in found.sentences], found.features, found.gate, found.union, found.headings,
        found.because, found.second, found.missing, found.unnamed, found.unlisted, chances, gate,
        ranking.rate_holding(found, weights), ranking.holds_answer(found, weights, gate),
    ]  # fmt: skip


def _read_question(*given: Any) -> tuple[questions.Question, list[SourceSentence]]:
    """A question as it is understood, and the sentences of its context."""
    inquiry = make_inquiry(*given)
    code = choose_language(inquiry.question, inquiry.context.passages)
    return questions.understand_question(inquiry.question, code), read_source_sentences(inquiry.context.passages, code)


def show_statements(statements: Iterable[Statement]) -> list[str]:
    return [
        f"{s.text} @ {' '.join((*s.references, *(f'{o.chunk}:{o.start}-{o.end}' for o in s.sources)))}"
        for s in statements
    ]
