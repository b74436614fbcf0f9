"""The offline engine's asking half: leads to follow, parts of a question, and whether a passage bears on it.

All of it is lexical. A lead's statements are sentences of the sources, its questions name what stands in them; nothing
is imagined: there is no hypothetical answer (drift §7, lazygraphrag §6, graphrag §4.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sensegraph.engines.offline.answers.answering import DIRECT, LEAST_SCORE, MOST_SAID, rate
from sensegraph.engines.offline.answers.brief import direct
from sensegraph.engines.offline.answers.coverage import RARE, TOKEN, Sought, code_of, han_runs, held, sought
from sensegraph.engines.offline.answers.focusing import KNOWN, Relevant, relevant, term_weights, usefulness
from sensegraph.engines.offline.answers.follow_ups import bare, follow_ups
from sensegraph.engines.offline.answers.following import followed
from sensegraph.engines.offline.answers.overview import as_statements
from sensegraph.engines.offline.answers.questions import FRAME, understand
from sensegraph.engines.offline.answers.said import Said, apart, everything_said, hosts_of_reports, language_of
from sensegraph.engines.offline.reports.prose import stems
from sensegraph.language.text import HAN
from sensegraph.language.word_lists import listed
from sensegraph.types import Inquiry, Lead, Passage, Refinement, Statement

ENOUGH = 0.4  # share of the question's weight that a window of a relevant passage holds
ENOUGH_HAN = 0.3  # the same for pairs of characters, of which many only adjoin the words
LINKED = 0.1  # share by which less is enough where a concept linked to the question's stands there too
MOST_PARTS = 5  # parts of a question
GRADES = 5  # the highest grade of a report (graphrag §4.2)
EACH = 3  # statements of each theme of an overview

_INSIDE = frozenset("of the to in on for de des von van der la le du".split())  # may stand inside a name


# ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ask(inquiries: Sequence[Inquiry]) -> list[Lead]:
    """The best relevant sentences of each context, their usefulness 0–100, and up to five questions to follow up.

    Where no sentence of a question of fact is relevant, what comes nearest; of an overview, the weightiest themes.
    """
    leads = []
    for inquiry in map(followed, inquiries):
        passages = inquiry.context.passages
        code = language_of(passages)
        text = bare(inquiry.question)
        if HAN.search(text) and not _asks_about_all(text, code):
            # without the characters that only ask: as pairs they would count as words that nothing holds
            text = "，".join(han_runs(text)) or text
        question, said = understand(text, code), everything_said(passages, code)
        found: list[Relevant] = []
        if question.shape == "overview":
            points = sorted(rate([inquiry])[0], key=lambda p: -p.score)
            kept = [s for point in points for s in point.statements[:EACH]][:MOST_SAID]
            lines = (("\n" if i else "") + s.text.lstrip() for i, s in enumerate(kept))
            statements = tuple(Statement(line, s.references, s.sources) for line, s in zip(lines, kept, strict=True))
            score = points[0].score if points else 0.0
        else:
            found = relevant(question, said)
            score = usefulness(found)
            chosen: list[Said] = []
            if score >= LEAST_SCORE:
                for one in found:
                    if len(chosen) < MOST_SAID and apart(one.said, chosen):
                        chosen.append(one.said)
            else:
                known = sum(share for share, _ in term_weights(question, said, strict=False).values())
                factual = question.shape in ("lookup", "decide")
                chosen = direct(question, said, DIRECT) if factual and known >= KNOWN else []
                score = LEAST_SCORE / 2 if chosen else 0.0
            statements = as_statements(chosen, hosts_of_reports(said))
        leads.append(Lead(statements, score, follow_ups(sought(text, code), passages, found, said, code)))
    return leads


# ── refine ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def refine(inquiries: Sequence[Inquiry]) -> list[Refinement]:
    """Each question with its names and noun phrases as parts, and no hypothesis: none is imitated.

    A common word alone is no part; a question of one part has none beside itself.
    """
    refined = []
    for question in (followed(inquiry).question for inquiry in inquiries):
        code = code_of(question)
        wanted = sought(question, code)
        runs = han_runs(question) if HAN.search(question) else _find_phrases(question, code, wanted)
        found = list(dict.fromkeys(runs))
        whole = [p for p in found if not any(p != q and p in q for q in found)]
        weight = {p: sum(wanted.weights.get(t, 0.0) for t in dict.fromkeys(stems(p, code))) for p in whole}
        parts = sorted((p for p in whole if weight[p] >= RARE), key=lambda p: (-weight[p], whole.index(p)))
        refined.append(Refinement(question, tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()))
    return refined


def _find_phrases(question: str, code: str, wanted: Sought) -> Iterator[str]:
    """Runs of words that name something; a small word stands between two of them, not at an end.

    A run in capitals is a part by itself: "film Straw Hat" is a film, and a name.
    """
    run: list[str] = []
    for word in [*TOKEN.findall(question), "?"]:
        own = word[0].isalnum() and word.casefold() not in FRAME | listed("verbs")
        if own and any(t in wanted.weights for t in stems(word, code)):
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


def test(inquiries: Sequence[Inquiry]) -> list[bool]:
    """Whether a passage of each context holds enough of the question: two fifths of its weight, or a whole name.

    Passages of kind concept are no text to be judged, but concepts linked to the question's: where one of them stands
    beside a word of the question, less is enough. Any text will do for a question about the whole.
    """
    results = []
    for inquiry in map(followed, inquiries):
        passages = [p for p in inquiry.context.passages if p.kind != "concept"]
        linked = [p.title or p.text for p in inquiry.context.passages if p.kind == "concept"]
        results.append(any(_bears_on(inquiry.question, passage, linked) for passage in passages))
    return results


def _bears_on(question: str, passage: Passage, linked: Sequence[str]) -> bool:
    """Whether a passage holds enough of a question, or a part of it and a whole linked concept."""
    text = _all_text(passage)
    code = code_of(passage.text)
    wanted = sought(question, code)
    if not wanted or _asks_about_all(question, code):
        return bool(text.strip())
    there = held(wanted, text, code)
    least = ENOUGH_HAN if HAN.search(question) else ENOUGH
    if there.named or there.near >= least:
        return True
    if not there.content or there.near < least - LINKED:
        return False
    concepts = (frozenset(stems(concept, code)) - wanted.weights.keys() for concept in linked)
    return any(held(Sought(dict.fromkeys(sorted(c), 1.0)), text, code).whole == 1.0 for c in concepts if c)


@lru_cache(maxsize=1 << 8)
def _asks_about_all(question: str, code: str) -> bool:
    """Whether the question is about the whole corpus."""
    return understand(question, code).shape == "overview"


def _all_text(passage: Passage) -> str:
    """All that a passage says: its title, its text, its quotes."""
    return "\n".join(part for part in (passage.title, passage.text, *(q.text for q in passage.quotes)) if part)


# ── grade ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def grade(inquiries: Sequence[Inquiry]) -> list[int]:
    """0–5 for each context: fifths of the question's weight that its best passage holds, 1 for any word that names.

    A question about the whole grades reports by half their rating, at least 1, so that none is lost.
    """
    grades = []
    for inquiry in map(followed, inquiries):
        best = 0
        for passage in (p for p in inquiry.context.passages if p.kind != "concept"):
            code = code_of(passage.text)
            wanted = sought(inquiry.question, code)
            if not wanted or _asks_about_all(inquiry.question, code):
                best = max(best, min(GRADES, max(1, round(passage.score / 2))))
                continue
            there = held(wanted, _all_text(passage), code)
            best = max(best, max(1, round(GRADES * there.whole)) if there.content else 0)
        grades.append(best)
    return grades
