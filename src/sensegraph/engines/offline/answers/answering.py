"""The offline engine's map and reduce: partial answers from reports or chunks, and the answer from those.

Nothing is invented: every sentence that is shown is a sentence of a source, lightly trimmed, with its exact span; what
connects them (counts, names, headings) is computed from them (classical-engine §5).
"""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.engines.offline.answers.brief import direct, narrow, reported, summary
from sensegraph.engines.offline.answers.focused import focused
from sensegraph.engines.offline.answers.focusing import KNOWN, relevant, term_weights, usefulness
from sensegraph.engines.offline.answers.following import followed, note
from sensegraph.engines.offline.answers.overview import (
    as_statements,
    chunk_themes,
    overview,
    point_themes,
    themed_point,
)
from sensegraph.engines.offline.answers.questions import Question, understand
from sensegraph.engines.offline.answers.said import (
    Said,
    everything_said,
    group_by_reference,
    hosts_of_reports,
    language_of,
)
from sensegraph.engines.offline.answers.wording import NOTE, plain
from sensegraph.engines.offline.reports.prose import stems
from sensegraph.types import Draft, Inquiry, Point, Statement

LEAST_SCORE = 20.0  # a focused point below this is noise: one common word of several
MOST_SAID = 16  # sentences that a focused point carries
BESIDE = 99.9  # score of what an answer that compares cannot do without
BRIEF_FROM = 4  # chunks with something relevant, from which a focused answer is written in themes
SUMMARY_WORDS = 220
DIRECT = 4  # sentences that answer a question of fact


def rate(inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
    """The map step: partial answers from each context with their usefulness 0–100; none where nothing is relevant.

    Overview questions give a point for every report, by rating and coverage; focused ones a point for every report or
    chunk that speaks of what is asked, by relevance.
    """
    rated: list[tuple[Point, ...]] = []
    for inquiry in map(followed, inquiries):
        passages = inquiry.context.passages
        code = language_of(passages)
        question, said = understand(inquiry.question, code), everything_said(passages, code)
        leads, own = hosts_of_reports(said), group_by_reference(said)
        if question.shape != "overview":
            found, points = relevant(question, said), []
            for passage in passages:
                bearing = [r for r in found if r.said.reference == passage.id]
                score = usefulness(bearing)
                documents = passage.documents if passage.kind == "entity" else len({r.said.origin for r in bearing})
                best = [r.said for r in bearing[:MOST_SAID]]
                if score < LEAST_SCORE and passage.kind == "entity" and question.shape == "count":
                    best, score = own.get(passage.id, [])[:1], BESIDE  # what the question compares with, by its name
                if best and score >= LEAST_SCORE:
                    points.append(Point(as_statements(best, leads), score, passage.title, documents))
            rated.append(tuple(points))
        elif any(p.kind == "report" for p in passages):
            speakers = frozenset(s.speaker for s in said if s.speaker)
            themed = (themed_point(p, own.get(p.id, ()), inquiry.corpus, leads, speakers) for p in passages)
            rated.append(tuple(point for point in themed if point))
        else:
            themes = ((t, min(100.0, 10.0 * t.passages)) for t in chunk_themes(said))
            rated.append(tuple(Point(as_statements(t.best), score, t.title, t.passages) for t, score in themes))
    return rated


def answer(inquiries: Sequence[Inquiry]) -> list[Draft]:
    """The reduce step, and answers from chunks: a text of quoted sentences with their spans, in Markdown."""
    return [compose(inquiry) for inquiry in inquiries]


def compose(inquiry: Inquiry, words: int = 0) -> Draft:
    """The answer to one inquiry; `words` asks for a short one of about that length (0: as long as it takes)."""
    asked, inquiry = inquiry, followed(inquiry)
    notes = (NOTE, *note(asked, inquiry))
    passages = inquiry.context.passages
    code = language_of(passages)
    question, said = understand(inquiry.question, code), everything_said(passages, code)
    if question.shape != "overview":
        statements = _answer_focused(question, inquiry, said, words)
    elif words or (question.unit in ("meeting", "book", "chat") and not any(p.kind == "point" for p in passages)):
        statements = list(summary(question, said, words or SUMMARY_WORDS))
    else:
        pointed = any(p.quotes for p in passages)
        themes = point_themes(passages, said) if pointed else chunk_themes(said)
        told = overview(question, inquiry, themes) if themes else summary(question, said, SUMMARY_WORDS)
        statements = list(told)
    if any(s.sources for s in statements):
        return Draft(tuple(statements), notes=notes)
    # nothing is found on the subject where no sentence has a word of it, else only on the question as a whole
    subject = set(stems(question.subject, code))
    absent = bool(subject) and all(subject.isdisjoint(s.terms) for s in said)
    what = f" on {question.subject}" if absent else " that answers this"
    return Draft((plain(f"I find nothing{what} in the sources that I was given."),), notes=notes[1:])


def _answer_focused(question: Question, inquiry: Inquiry, said: Sequence[Said], words: int) -> list[Statement]:
    """The statements that answer a question about something; none where nothing bears on it."""
    if words:
        return list(reported(narrow(question, said, words), False))
    passages = inquiry.context.passages
    beside = {
        p.id
        for p in passages
        if p.kind == "point" and p.score == BESIDE and not set(question.terms) & set(stems(p.title, "en"))
    }
    said = [s for s in said if s.reference not in beside]
    pointed = any(p.kind == "point" for p in passages)
    found = relevant(question, said, strict=not pointed)
    factual = question.shape in ("lookup", "decide") or (question.names and question.shape == "open")
    if factual or (len({r.said.chunk for r in found}) < BRIEF_FROM and question.shape == "open" and not pointed):
        chosen = direct(question, said, DIRECT)
        known = sum(share for share, _ in term_weights(question, said, strict=False).values())
        nearest = "I find nothing that speaks of all that is asked; what comes nearest is this. "
        return [*([plain(nearest)] if chosen and known < KNOWN else []), *reported(chosen, False)]
    if not found:
        return []
    others = sorted(((p.title, p.documents) for p in passages if p.id in beside), key=lambda x: (-x[1], x[0]))
    # the documents behind a point whose title is just what is asked about, by its words or its initials
    asked = {t for t in question.terms if t not in question.minor}
    initials = "".join(w[0] for w in question.subject.split()).casefold()
    same = [p for p in passages if set(stems(p.title, "en")) == asked or p.title.casefold() == initials]
    named = max((p.documents for p in same if p.kind == "point"), default=0)
    return list(focused(question, found, inquiry.corpus, named, others))
