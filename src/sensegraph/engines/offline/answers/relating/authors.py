"""Who wrote a text, as it says itself: a signature below a closing formula, a field, or a last line with a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sensegraph.engines.offline.answers.source_sentences import SourceSentence

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
