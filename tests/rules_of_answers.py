"""Rules of answers that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.answering.grounding import unanswered
from sensegraph.answering.grounding.checking import check_answer
from sensegraph.answering.grounding.citations import ByWords
from sensegraph.types import Answer, Citation, Document, WordCounts


def leave_unanswered(
    question: str, said: str, quotes: Sequence[str] = (), titles: Sequence[str] = (), counted: Any = None, *beside: Any
) -> Any:
    """Why an answer does not seem to answer a question; `counted` are the chunks of a corpus and its words."""
    counts = WordCounts(counted[0], tuple(map(tuple, counted[1]))) if counted else None
    texts = unanswered.AnswerTexts(said, tuple(quotes), tuple(titles), *map(tuple, beside))
    return unanswered.find_unanswered(unanswered.PosedQuestion(question, counts), texts)


def check(
    answer: str, text: str, quotes: Sequence[str], question: str = "", title: str = "", wide: bool = False
) -> Any:
    """An answer held against a document of which it cites these quotes; `wide`: with what stands around them."""
    document = Document("d", text, title)
    places = [max(0, text.find(quote)) for quote in quotes]
    cited = tuple(
        Citation(number, "d", at, at + len(quote), quote)
        for number, at, quote in zip(range(1, 99), places, quotes, strict=False)
    )
    by = Wide() if wide else ByWords()
    posed = unanswered.PosedQuestion(question) if question else None
    found = check_answer(Answer(answer, cited), {"d": document}.get, by, posed=posed)
    return [
        found.statements, found.supported, found.citations, found.exact, found.uncited, found.abstained, found.recall,
        found.precision, [[p.kind, p.statement, p.reason] for p in found.problems], found.unanswered,
    ]  # fmt: skip


class Wide(ByWords):
    """Rules that are given what stands around a quote too."""

    wide = True
