"""The offline engine's asking half: leads to follow, parts of a question, and whether a passage bears on it.

All of it is lexical. A lead's statements are sentences of the sources, its questions name what stands in them; nothing
is imagined: there is no hypothetical answer (drift §7, lazygraphrag §6, graphrag §4.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sensegraph.engines.offline.answers.answering import DIRECT, LEAST_SCORE, MOST_SAID, rate
from sensegraph.engines.offline.answers.brief import direct
from sensegraph.engines.offline.answers.coverage import RARE, Held, Sought, code_of, han_runs, held, sought
from sensegraph.engines.offline.answers.focusing import KNOWN, Relevant, relevant, term_weights, usefulness
from sensegraph.engines.offline.answers.follow_ups import bare, follow_ups
from sensegraph.engines.offline.answers.following import followed
from sensegraph.engines.offline.answers.overview import as_statements
from sensegraph.engines.offline.answers.questions import FRAME, Question, understand
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
_TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*|[^\w\s]")
_INSIDE = frozenset("of the to in on for de des von van der la le du".split())  # may stand inside a name


# ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ask(inquiries: Sequence[Inquiry]) -> list[Lead]:
    """The best relevant sentences of each context, their usefulness 0–100, and up to five questions to follow up."""
    return [_lead(followed(inquiry)) for inquiry in inquiries]


def _lead(inquiry: Inquiry) -> Lead:
    passages = inquiry.context.passages
    code = language_of(passages)
    text = _finding(bare(inquiry.question), code)
    question, said = understand(text, code), everything_said(passages, code)
    found = relevant(question, said) if question.shape != "overview" else []
    statements, score = _overview(inquiry) if question.shape == "overview" else _told(question, found, said)
    return Lead(statements, score, follow_ups(sought(text, code), passages, found, said, code))


def _finding(question: str, code: str) -> str:
    """A Han question without the characters that only ask: as pairs they would count as words that nothing holds."""
    runs = han_runs(question) if HAN.search(question) and not _of_all(question, code) else []
    return "，".join(runs) or question


def _overview(inquiry: Inquiry) -> tuple[tuple[Statement, ...], float]:
    """The statements of the weightiest themes, and the score of the first."""
    points = sorted(rate([inquiry])[0], key=lambda p: -p.score)
    kept = [s for point in points for s in point.statements[:EACH]][:MOST_SAID]
    lines = (Statement(("\n" if i else "") + s.text.lstrip(), s.references, s.sources) for i, s in enumerate(kept))
    return tuple(lines), points[0].score if points else 0.0


def _told(question: Question, found: Sequence[Relevant], said: Sequence[Said]) -> tuple[tuple[Statement, ...], float]:
    """The relevant sentences, none of them twice; of a question of fact, where there are none, what comes nearest."""
    score, chosen = usefulness(found), _distinct(found)
    if score < LEAST_SCORE:
        weights = term_weights(question, said, strict=False)
        known = sum(share for share, _ in weights.values())
        factual = question.shape in ("lookup", "decide")
        chosen = direct(question, said, DIRECT) if factual and known >= KNOWN else []
        score = LEAST_SCORE / 2 if chosen else 0.0
    return as_statements(chosen, hosts_of_reports(said)), score


def _distinct(found: Sequence[Relevant]) -> list[Said]:
    chosen: list[Said] = []
    for one in found:
        if len(chosen) == MOST_SAID:
            break
        if apart(one.said, chosen):
            chosen.append(one.said)
    return chosen


# ── refine ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def refine(inquiries: Sequence[Inquiry]) -> list[Refinement]:
    """Each question with its names and noun phrases as parts, and no hypothesis: none is imitated.

    A common word alone is no part; a question of one part has none beside itself.
    """
    questions = (followed(inquiry).question for inquiry in inquiries)
    return [Refinement(question, _parts(question)) for question in questions]


def _parts(question: str) -> tuple[str, ...]:
    code = code_of(question)
    wanted = sought(question, code)
    found = list(dict.fromkeys(han_runs(question) if HAN.search(question) else _phrases(question, code, wanted)))
    whole = [p for p in found if not any(p != q and p in q for q in found)]
    weight = {p: sum(wanted.weights.get(t, 0.0) for t in dict.fromkeys(stems(p, code))) for p in whole}
    parts = sorted((p for p in whole if weight[p] >= RARE), key=lambda p: (-weight[p], whole.index(p)))[:MOST_PARTS]
    return tuple(parts) if len(parts) > 1 else ()


def _phrases(question: str, code: str, wanted: Sought) -> Iterator[str]:
    """Runs of words that name something; a small word stands between two of them, not at an end.

    A run in capitals is a part by itself: "film Straw Hat" is a film, and a name.
    """
    run: list[str] = []
    for word in [*_TOKEN.findall(question), "?"]:
        own = word[0].isalnum() and word.casefold() not in FRAME | listed("verbs")
        if own and any(t in wanted.weights for t in stems(word, code)):
            if run and code != "de" and word[0].isupper() != run[0][0].isupper():
                yield _trimmed(run)
                run = []
            run.append(word)
        elif run and word.casefold() in _INSIDE and run[0][0].isupper():
            run.append(word)
        elif run:
            yield _trimmed(run)
            run = []


def _trimmed(run: Sequence[str]) -> str:
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
    return [_helps(followed(inquiry)) for inquiry in inquiries]


def _helps(inquiry: Inquiry) -> bool:
    passages = [p for p in inquiry.context.passages if p.kind != "concept"]
    linked = [p.title or p.text for p in inquiry.context.passages if p.kind == "concept"]
    return any(_bears(inquiry.question, passage, linked) for passage in passages)


def _bears(question: str, passage: Passage, linked: Sequence[str]) -> bool:
    text = _text(passage)
    code = code_of(passage.text)
    wanted = sought(question, code)
    if not wanted or _of_all(question, code):
        return bool(text.strip())
    there = held(wanted, text, code)
    least = ENOUGH_HAN if HAN.search(question) else ENOUGH
    if there.named or there.near >= least:
        return True
    return there.content and there.near >= least - LINKED and _holds_one(linked, wanted, text, code)


def _holds_one(linked: Sequence[str], wanted: Sought, text: str, code: str) -> bool:
    """Whether the text holds a whole concept that is not just words of the question."""
    for concept in linked:
        own = frozenset(stems(concept, code)) - wanted.weights.keys()
        if own and held(Sought(dict.fromkeys(sorted(own), 1.0)), text, code).whole == 1.0:
            return True
    return False


@lru_cache(maxsize=1 << 8)
def _of_all(question: str, code: str) -> bool:
    """Whether the question is about the whole corpus."""
    return understand(question, code).shape == "overview"


def _text(passage: Passage) -> str:
    """All that a passage says: its title, its text, its quotes."""
    return "\n".join(part for part in (passage.title, passage.text, *(q.text for q in passage.quotes)) if part)


# ── grade ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def grade(inquiries: Sequence[Inquiry]) -> list[int]:
    """0–5 for each context: fifths of the question's weight that its best passage holds, 1 for any word that names.

    A question about the whole grades reports by half their rating, at least 1, so that none is lost.
    """
    return [_graded(followed(inquiry)) for inquiry in inquiries]


def _graded(inquiry: Inquiry) -> int:
    return max((_grade(inquiry.question, p) for p in inquiry.context.passages if p.kind != "concept"), default=0)


def _grade(question: str, passage: Passage) -> int:
    code = code_of(passage.text)
    wanted = sought(question, code)
    if not wanted or _of_all(question, code):
        return min(GRADES, max(1, round(passage.score / 2)))
    there: Held = held(wanted, _text(passage), code)
    return max(1, round(GRADES * there.whole)) if there.content else 0
