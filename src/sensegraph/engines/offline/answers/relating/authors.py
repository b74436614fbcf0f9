"""Who wrote a text, as it says itself: a signature below a closing formula, a field, or a line with a name alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

from sensegraph.engines.offline.answers.asked import Asked, Written
from sensegraph.engines.offline.answers.lists.weighing import Weigher
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, group_by_reference
from sensegraph.engines.offline.reports.sentence_quality import join_with_and
from sensegraph.language.text import fold, known_word, split_runs
from sensegraph.types import Statement

LAST = 5  # sentences at the end of a text that may name who wrote it
_NAME = r"(?P<name>(?:[A-ZÀ-Þ][\w.’'-]*\s+){1,3}[A-ZÀ-Þ][\w’'-]+)"
_FIELDS = re.compile(
    rf"\b(?:(?:[Ww]ritten|[Ss]igned|[Rr]eported|[Aa]nnounced|[Cc]ompiled|[Dd]rawn\s+up)\s+by|[Aa]uthor|[Ss]ecretary|"
    rf"[Mm]inutes|^From|^By|^Von)\s*:?\s+{_NAME}"
)
_CLOSING = re.compile(
    r"\b(?:regards|wishes|sincerely|faithfully|truly|yours|cheers|thanks|grüße[n]?|cordialement|saludos)\b[\s,.!]*$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*who\s+(?:wrote|authored|edited|(?:is|are|was|were)\s+the\s+(?:authors?|editors?|writers?)\s+of)\s+"
    r"(?P<work>.+?)\W*$",
    re.IGNORECASE,
)
_ADDRESS = r"\s*(?P<address>[<(]?[\w.+-]+\s?(?:@|\s+at\s+)\s?[\w-]+(?:\.|\s+dot\s+)[\w.-]+[>)]?)?"
_BYLINE = re.compile(rf"^\W*(?:[Bb]y\s+)?{_NAME}{_ADDRESS}\W*$")
OPENING, HELD = 8, 0.6  # sentences that a text opens with, and the share of the name of a work that they hold
_ALONE = re.compile(rf"^\W*{_NAME}(?:,\s[^.]{{2,60}})?\W*$")


def find_author(held: Sequence[SourceSentence]) -> tuple[str, SourceSentence] | None:
    """The name of who wrote a text, and the sentence that tells; None where the text does not."""
    end = list(held[-LAST - 1 :])
    for before, one in pairwise(end):
        if _CLOSING.search(before.raw) and (match := _ALONE.match(one.raw)):
            return match["name"], one
    for one in (*held[:LAST], *reversed(end)):
        if match := _FIELDS.search(one.raw):
            return match["name"], one
    if held and (match := _ALONE.match(held[-1].raw)):
        return match["name"], held[-1]
    return None


def answer_author(asked: Asked) -> Written | None:
    """Who wrote a work, by the lines that a text opens with; None for other questions, and where none names anybody."""
    match = _ASKS.match(asked.question)
    if match is None:
        return None
    work, heads = Weigher(asked, match["work"]), dict(asked.counted.heads) if asked.counted else {}
    found: list[tuple[bool, float, int, list[SourceSentence]]] = []
    for held in group_by_reference(asked.sentences).values():
        opening = held[:OPENING]
        named = [
            s
            for s in opening
            if (m := _BYLINE.match(s.raw))
            and (m["address"] or _may_be_person(m["name"], f"{match['work']} {s.document}"))
        ]
        share = work.share(held[0].document, *(s.raw for s in opening))
        if named and share >= HELD:
            found.append((held[0].raw in heads.get(held[0].origin, ""), share, -held[0].order, named))
    if not found:
        return None
    *_, lines = max(found, key=itemgetter(0, 1, 2))
    orders = [s.order for s in lines]
    lines = lines if orders[-1] - orders[0] < len(lines) else lines[:1]
    names = join_with_and([m["name"] for s in lines if (m := _BYLINE.match(s.raw))])
    references, sources = tuple(dict.fromkeys(s.reference for s in lines)), tuple(s.source for s in lines)
    title = f" of “{lines[0].document}”" if lines[0].document else ""
    return Written((Statement(f"**{names}**: so the first lines{title} say.", references, sources),))


def _may_be_person(name: str, other: str) -> bool:
    """Whether what stands alone in a line may be a person's name: no word of the work or its title, not all common."""
    words = list(map(fold, split_runs(name)))
    return set(map(fold, split_runs(other))).isdisjoint(words) and not all(map(known_word, words))
