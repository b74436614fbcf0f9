"""Answers to why: the sentence that names a cause, where a label, a heading or a word of it says that it is one.

What is only supposed or denied counts less than what is told. A question without such a sentence is one of fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sensegraph.engines.offline.answers.asked import Asked, Written, list_sentences
from sensegraph.engines.offline.answers.lists.weighing import Weigher, list_by_document
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.causing import CAUSE_CUES

LABELLED, UNDER, TOLD, DENIED = 1.0, 0.9, 0.7, 0.3  # how sure it is that a sentence gives a cause
BELOW = 4  # a heading of causes and the sentences below it that may give one
SUPPOSED = 0.5  # how much less what is only supposed counts
NEAR, DOCUMENT = 0.6, 0.4  # weights of what stands beside a sentence, and of its document
SURE, LIKELY = 0.5, 0.42  # scores from which a cause answers by itself, and as part of a question
HALF = 0.5  # share of the effect's words that a text about it holds
MOST = 3


@dataclass(frozen=True, slots=True)
class Cause:
    """A sentence that gives a cause, what makes it whole, and how surely it is the cause of what is asked about."""

    sentences: tuple[SourceSentence, ...]
    score: float


def answer_cause(asked: Asked) -> Written | None:
    """The cause of what a question names; None for other questions, and where no text says outright what it is."""
    if match := CAUSE_CUES["asks how"].search(asked.question):
        return answer_influence(asked, match["one"], match["event"])
    match = CAUSE_CUES["asks why"].search(asked.question)
    if match is None or len(split_question(asked.question)) > 1:
        return None
    found = find_causes(asked, match["event"], UNDER)
    if not found or found[0].score < SURE:
        return None
    chosen = list(found[0].sentences)
    return Written(tuple(list_sentences(chosen[:MOST])))


def find_causes(asked: Asked, event: str, least: float = DENIED) -> list[Cause]:
    """The sentences that give a cause of an event, surest first; marked as such at least so clearly."""
    weigher = Weigher(asked, event)
    if not weigher.weights:
        return []
    found = []
    for origin, held in list_by_document(asked.sentences).items():
        whole, below = weigher.share_of_document(origin), 0
        if not whole:
            continue
        for i, one in enumerate(held):
            if CAUSE_CUES["heads"].search(one.raw) and is_heading(one.raw):
                below = BELOW
                continue
            below = 0 if is_heading(one.raw) else below - 1
            mark = rate_mark(one, below > 0)
            if mark < least:
                continue
            near = weigher.share(one.document, *(s.raw for s in held[max(0, i - 1) : i + 2]))
            score = mark * (NEAR * near + DOCUMENT * whole)
            # a label has its effect behind it, and what is denied stands before what is true
            behind = [s for s in held[i + 1 : i + 2] if not is_heading(s.raw) and mark == LABELLED]
            before = [s for s in held[max(0, i - 1) : i] if CAUSE_CUES["denies"].search(s.raw) and mark != LABELLED]
            whole_cause = (one, *(s for s in (*behind, *before) if s.chunk == one.chunk))
            found.append(Cause(whole_cause, score))
    return sorted(found, key=lambda c: (-c.score, c.sentences[0].order))


def asks_why(part: str) -> bool:
    """Whether a part of a question asks for a cause."""
    return CAUSE_CUES["asks why"].search(part) is not None


def rate_mark(one: SourceSentence, below: bool) -> float:
    """How surely a sentence gives a cause, by its label, the heading above it, or its words."""
    if one.raw.endswith("?"):
        return 0.0
    if CAUSE_CUES["denies"].search(one.raw):
        return DENIED
    mark = LABELLED if CAUSE_CUES["labels"].search(one.raw) else UNDER if below else 0.0
    mark = max(mark, TOLD if CAUSE_CUES["tells"].search(one.raw) else 0.0)
    return mark * (SUPPOSED if CAUSE_CUES["supposes"].search(one.raw) else 1.0)


def answer_influence(asked: Asked, one: str, event: str) -> Written | None:
    """How one thing led to another: sentences that name the one in texts about the other."""
    cause, effect = Weigher(asked, one), Weigher(asked, event)
    names = {re.sub(r"['’]s$", "", word) for word in re.findall(r"\b[A-Z][\w’'-]+", one)}
    rated = []
    for origin, held in list_by_document(asked.sentences).items():
        whole = effect.share_of_document(origin)
        for i, s in enumerate(held):
            named = not names or all(re.search(rf"\b{re.escape(name)}\b", s.raw) for name in names)
            if named and not is_heading(s.raw) and whole >= HALF:
                near = effect.share(s.document, *(t.raw for t in held[max(0, i - 1) : i + 2]))
                rated.append((cause.share(s.raw) + whole + near, -s.order, s))
    if not rated or not names:
        return None
    best = max(rated)[2]
    chosen = [best]
    chosen += [c.sentences[0] for c in find_causes(asked, event) if c.sentences[0].origin == best.origin][:1]
    return Written(tuple(list_sentences([s for i, s in enumerate(chosen) if differs_from(s, chosen[:i])])))
