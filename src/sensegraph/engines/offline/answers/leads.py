"""The offline engine's asking half: leads to follow, parts of a question, and whether a passage bears on it.

All of it is lexical. A lead's statements are sentences of the sources, its questions name what stands in them; nothing
is imagined: there is no hypothetical answer (drift §7, lazygraphrag §6, graphrag §4.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sensegraph.engines.offline.answers.composing import DIRECT, LEAST_SCORE, MOST_SAID, rate_inquiries
from sensegraph.engines.offline.answers.conversation import resolve_history
from sensegraph.engines.offline.answers.follow_ups import strip_asking_words, suggest_follow_ups
from sensegraph.engines.offline.answers.question_coverage import (
    RARE,
    TOKEN,
    WantedWords,
    find_han_runs,
    guess_language,
    measure_coverage,
    read_wanted_words,
)
from sensegraph.engines.offline.answers.question_rules import FRAME, understand_question
from sensegraph.engines.offline.answers.sentence_relevance import (
    KNOWN,
    RelevantSentence,
    find_relevant,
    rate_usefulness,
    term_weights,
)
from sensegraph.engines.offline.answers.short_answers import choose_direct_sentences
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    detect_passage_language,
    differs_from,
    find_report_hosts,
    read_source_sentences,
    state_sentences,
)
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.language.text import HAN
from sensegraph.language.word_lists import read_list
from sensegraph.types import Inquiry, Lead, Passage, Refinement, Statement

ENOUGH = 0.4  # share of the question's weight that a window of a relevant passage holds
ENOUGH_HAN = 0.3  # the same for pairs of characters, of which many only adjoin the words
LINKED = 0.1  # share by which less is enough where a concept linked to the question's stands there too
MOST_PARTS = 5  # parts of a question
GRADES = 5  # the highest grade of a report (graphrag §4.2)
EACH = 3  # statements of each theme of an overview

_INSIDE = frozenset("of the to in on for de des von van der la le du".split())  # may stand inside a name


# ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_leads(inquiries: Sequence[Inquiry]) -> list[Lead]:
    """The best relevant sentences of each context, their usefulness 0–100, and up to five questions to follow up.

    Where no sentence of a question of fact is relevant, what comes nearest; of an overview, the weightiest themes.
    """
    leads = []
    for inquiry in map(resolve_history, inquiries):
        passages = inquiry.context.passages
        code = detect_passage_language(passages)
        text = strip_asking_words(inquiry.question)
        if HAN.search(text) and not _asks_about_all(text, code):
            # without the characters that only ask: as pairs they would count as words that nothing holds
            text = "，".join(find_han_runs(text)) or text
        question, sentences = understand_question(text, code), read_source_sentences(passages, code)
        found: list[RelevantSentence] = []
        if question.shape == "overview":
            points = sorted(rate_inquiries([inquiry])[0], key=lambda p: -p.score)
            kept = [s for point in points for s in point.statements[:EACH]][:MOST_SAID]
            lines = (("\n" if i else "") + s.text.lstrip() for i, s in enumerate(kept))
            statements = tuple(Statement(line, s.references, s.sources) for line, s in zip(lines, kept, strict=True))
            score = points[0].score if points else 0.0
        else:
            found = find_relevant(question, sentences)
            score = rate_usefulness(found)
            chosen: list[SourceSentence] = []
            if score >= LEAST_SCORE:
                for one in found:
                    if len(chosen) < MOST_SAID and differs_from(one.sentence, chosen):
                        chosen.append(one.sentence)
            else:
                known = sum(share for share, _ in term_weights(question, sentences, strict=False).values())
                factual = question.shape in ("lookup", "decide")
                chosen = choose_direct_sentences(question, sentences, DIRECT) if factual and known >= KNOWN else []
                score = LEAST_SCORE / 2 if chosen else 0.0
            statements = state_sentences(chosen, find_report_hosts(sentences))
        leads.append(
            Lead(statements, score, suggest_follow_ups(read_wanted_words(text, code), passages, found, sentences, code))
        )
    return leads


# ── refine ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def refine_questions(inquiries: Sequence[Inquiry]) -> list[Refinement]:
    """Each question with its names and noun phrases as parts, and no hypothesis: none is imitated.

    A common word alone is no part; a question of one part has none beside itself.
    """
    refined = []
    for question in (resolve_history(inquiry).question for inquiry in inquiries):
        code = guess_language(question)
        wanted = read_wanted_words(question, code)
        runs = find_han_runs(question) if HAN.search(question) else _find_question_phrases(question, code, wanted)
        found = list(dict.fromkeys(runs))
        whole = [p for p in found if not any(p != q and p in q for q in found)]
        weight = {p: sum(wanted.weights.get(t, 0.0) for t in dict.fromkeys(stem_text(p, code))) for p in whole}
        parts = sorted((p for p in whole if weight[p] >= RARE), key=lambda p: (-weight[p], whole.index(p)))
        refined.append(Refinement(question, tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()))
    return refined


def _find_question_phrases(question: str, code: str, wanted: WantedWords) -> Iterator[str]:
    """Runs of words that name something; a small word stands between two of them, not at an end.

    A run in capitals is a part by itself: "film Straw Hat" is a film, and a name.
    """
    run: list[str] = []
    for word in [*TOKEN.findall(question), "?"]:
        own = word[0].isalnum() and word.casefold() not in FRAME | read_list("verbs")
        if own and any(t in wanted.weights for t in stem_text(word, code)):
            if run and code != "de" and word[0].isupper() != run[0][0].isupper():
                yield _trim_run(run)
                run = []
            run.append(word)
        elif run and word.casefold() in _INSIDE and run[0][0].isupper():
            run.append(word)
        elif run:
            yield _trim_run(run)
            run = []


def _trim_run(run: Sequence[str]) -> str:
    """The words of a run without the small ones at its end."""
    words = list(run)
    while words and words[-1] in _INSIDE:
        words.pop()
    return " ".join(words)


# ── test ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_passages(inquiries: Sequence[Inquiry]) -> list[bool]:
    """Whether a passage of each context holds enough of the question: two fifths of its weight, or a whole name.

    Passages of kind concept are no text to be judged, but concepts linked to the question's: where one of them stands
    beside a word of the question, less is enough. Any text will do for a question about the whole.
    """
    results = []
    for inquiry in map(resolve_history, inquiries):
        passages = [p for p in inquiry.context.passages if p.kind != "concept"]
        linked = [p.title or p.text for p in inquiry.context.passages if p.kind == "concept"]
        results.append(any(_bears_on(inquiry.question, passage, linked) for passage in passages))
    return results


def _bears_on(question: str, passage: Passage, linked: Sequence[str]) -> bool:
    """Whether a passage holds enough of a question, or a part of it and a whole linked concept."""
    text = _all_text(passage)
    code = guess_language(passage.text)
    wanted = read_wanted_words(question, code)
    if not wanted or _asks_about_all(question, code):
        return bool(text.strip())
    there = measure_coverage(wanted, text, code)
    least = ENOUGH_HAN if HAN.search(question) else ENOUGH
    if there.named or there.near >= least:
        return True
    if not there.content or there.near < least - LINKED:
        return False
    concepts = (frozenset(stem_text(concept, code)) - wanted.weights.keys() for concept in linked)
    return any(
        measure_coverage(WantedWords(dict.fromkeys(sorted(c), 1.0)), text, code).whole == 1.0 for c in concepts if c
    )


@lru_cache(maxsize=1 << 8)
def _asks_about_all(question: str, code: str) -> bool:
    """Whether the question is about the whole corpus."""
    return understand_question(question, code).shape == "overview"


def _all_text(passage: Passage) -> str:
    """All that a passage says: its title, its text, its quotes."""
    return "\n".join(part for part in (passage.title, passage.text, *(q.text for q in passage.quotes)) if part)


# ── grade ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def grade_reports(inquiries: Sequence[Inquiry]) -> list[int]:
    """0–5 for each context: fifths of the question's weight that its best passage holds, 1 for any word that names.

    A question about the whole grades reports by half their rating, at least 1, so that none is lost.
    """
    grades = []
    for inquiry in map(resolve_history, inquiries):
        best = 0
        for passage in (p for p in inquiry.context.passages if p.kind != "concept"):
            code = guess_language(passage.text)
            wanted = read_wanted_words(inquiry.question, code)
            if not wanted or _asks_about_all(inquiry.question, code):
                best = max(best, min(GRADES, max(1, round(passage.score / 2))))
                continue
            there = measure_coverage(wanted, _all_text(passage), code)
            best = max(best, max(1, round(GRADES * there.whole)) if there.content else 0)
        grades.append(best)
    return grades
