"""The offline engine's map and reduce: partial answers from reports or chunks, and the answer from those.

Nothing is invented: every sentence that is shown is a sentence of a source, lightly trimmed, with its exact span; what
connects them (counts, names, headings) is computed from them (classical-engine §5).
"""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.engines.offline.answers.conversation import note_reading, resolve_history
from sensegraph.engines.offline.answers.focused_answers import write_focused_answer
from sensegraph.engines.offline.answers.overviews import (
    find_chunk_themes,
    find_point_themes,
    make_themed_point,
    write_overview,
)
from sensegraph.engines.offline.answers.question_rules import Question, understand_question
from sensegraph.engines.offline.answers.sentence_relevance import KNOWN, find_relevant, rate_usefulness, term_weights
from sensegraph.engines.offline.answers.short_answers import (
    choose_direct_sentences,
    choose_narrow_sentences,
    report_speech,
    summarise_text,
)
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    detect_passage_language,
    find_report_hosts,
    group_by_reference,
    read_source_sentences,
    state_sentences,
)
from sensegraph.engines.offline.answers.wording import NOTE
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.types import Draft, Inquiry, Point, Statement

LEAST_SCORE = 20.0  # a focused point below this is noise: one common word of several
MOST_SAID = 16  # sentences that a focused point carries
BESIDE = 99.9  # score of what an answer that compares cannot do without
BRIEF_FROM = 4  # chunks with something relevant, from which a focused answer is written in themes
SUMMARY_WORDS = 220
DIRECT = 4  # sentences that answer a question of fact


def rate_inquiries(inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
    """The map step: partial answers from each context with their usefulness 0–100; none where nothing is relevant.

    Overview questions give a point for every report, by rating and coverage; focused ones a point for every report or
    chunk that speaks of what is asked, by relevance.
    """
    rated: list[tuple[Point, ...]] = []
    for inquiry in map(resolve_history, inquiries):
        passages = inquiry.context.passages
        code = detect_passage_language(passages)
        question, sentences = understand_question(inquiry.question, code), read_source_sentences(passages, code)
        leads, own = find_report_hosts(sentences), group_by_reference(sentences)
        if question.shape != "overview":
            found, points = find_relevant(question, sentences), []
            for passage in passages:
                bearing = [r for r in found if r.sentence.reference == passage.id]
                score = rate_usefulness(bearing)
                documents = passage.documents if passage.kind == "entity" else len({r.sentence.origin for r in bearing})
                best = [r.sentence for r in bearing[:MOST_SAID]]
                if score < LEAST_SCORE and passage.kind == "entity" and question.shape == "count":
                    best, score = own.get(passage.id, [])[:1], BESIDE  # what the question compares with, by its name
                if best and score >= LEAST_SCORE:
                    points.append(Point(state_sentences(best, leads), score, passage.title, documents))
            rated.append(tuple(points))
        elif any(p.kind == "report" for p in passages):
            speakers = frozenset(s.speaker for s in sentences if s.speaker)
            themed = (make_themed_point(p, own.get(p.id, ()), inquiry.corpus, leads, speakers) for p in passages)
            rated.append(tuple(point for point in themed if point))
        else:
            themes = ((t, min(100.0, 10.0 * t.passages)) for t in find_chunk_themes(sentences))
            rated.append(tuple(Point(state_sentences(t.best), score, t.title, t.passages) for t, score in themes))
    return rated


def answer_inquiries(inquiries: Sequence[Inquiry]) -> list[Draft]:
    """The reduce step, and answers from chunks: a text of quoted sentences with their spans, in Markdown."""
    return [compose_answer(inquiry) for inquiry in inquiries]


def compose_answer(inquiry: Inquiry, words: int = 0) -> Draft:
    """The answer to one inquiry; `words` asks for a short one of about that length (0: as long as it takes)."""
    asked, inquiry = inquiry, resolve_history(inquiry)
    notes = (NOTE, *note_reading(asked, inquiry))
    passages = inquiry.context.passages
    code = detect_passage_language(passages)
    question, sentences = understand_question(inquiry.question, code), read_source_sentences(passages, code)
    if question.shape != "overview":
        statements = _answer_focused(question, inquiry, sentences, words)
    elif words or (question.unit in ("meeting", "book", "chat") and not any(p.kind == "point" for p in passages)):
        statements = list(summarise_text(question, sentences, words or SUMMARY_WORDS))
    else:
        pointed = any(p.quotes for p in passages)
        themes = find_point_themes(passages, sentences) if pointed else find_chunk_themes(sentences)
        told = (
            write_overview(question, inquiry, themes) if themes else summarise_text(question, sentences, SUMMARY_WORDS)
        )
        statements = list(told)
    if any(s.sources for s in statements):
        return Draft(tuple(statements), notes=notes)
    # nothing is found on the subject where no sentence has a word of it, else only on the question as a whole
    subject = set(stem_text(question.subject, code))
    absent = bool(subject) and all(subject.isdisjoint(s.terms) for s in sentences)
    what = f" on {question.subject}" if absent else " that answers this"
    return Draft((Statement(f"I find nothing{what} in the sources that I was given."),), notes=notes[1:])


def _answer_focused(
    question: Question, inquiry: Inquiry, sentences: Sequence[SourceSentence], words: int
) -> list[Statement]:
    """The statements that answer a question about something; none where nothing bears on it."""
    if words:
        return list(report_speech(choose_narrow_sentences(question, sentences, words), False))
    passages = inquiry.context.passages
    beside = {
        p.id
        for p in passages
        if p.kind == "point" and p.score == BESIDE and not set(question.terms) & set(stem_text(p.title, "en"))
    }
    sentences = [s for s in sentences if s.reference not in beside]
    pointed = any(p.kind == "point" for p in passages)
    found = find_relevant(question, sentences, strict=not pointed)
    factual = question.shape in ("lookup", "decide") or (question.names and question.shape == "open")
    if factual or (len({r.sentence.chunk for r in found}) < BRIEF_FROM and question.shape == "open" and not pointed):
        chosen = choose_direct_sentences(question, sentences, DIRECT)
        known = sum(share for share, _ in term_weights(question, sentences, strict=False).values())
        nearest = "I find nothing that speaks of all that is asked; what comes nearest is this. "
        return [
            *([Statement(nearest)] if chosen and known < KNOWN else []),
            *report_speech(chosen, False),
        ]
    if not found:
        return []
    others = sorted(((p.title, p.documents) for p in passages if p.id in beside), key=lambda x: (-x[1], x[0]))
    # the documents behind a point whose title is just what is asked about, by its words or its initials
    asked = {t for t in question.terms if t not in question.minor}
    initials = "".join(w[0] for w in question.subject.split()).casefold()
    same = [p for p in passages if set(stem_text(p.title, "en")) == asked or p.title.casefold() == initials]
    named = max((p.documents for p in same if p.kind == "point"), default=0)
    return list(write_focused_answer(question, found, inquiry.corpus, named, others))
