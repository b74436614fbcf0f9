"""Whether the lines of a text are wrapped, and at which column.

A program that fills lines up to a width W leaves, for a line and the one behind it,
len(line) <= W < len(line) + 1 + len(first word behind). The W that fits most pairs is the right margin. A text is
wrapped when that W explains many pairs, and many of the second lines begin with a small letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sensegraph.language.lines import Line, count_columns
from sensegraph.language.word_lists import small_words

UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\u3001-\u303f]")
"""Letters and marks of scripts that write no blanks between words."""
SLACK = 8  # columns by which a line may fall short of the margin
_LEAST_PAIRS, _FEWEST_PAIRS = 4, 2
_LEAST_MARGIN, _USUAL_MARGIN = 24, 36  # of any wrapped text; of one with few lines that begin small
_LEAST_WRAPPED = 0.15  # of (share explained by the margin) × (share that begins with a small letter)
_PROSE = frozenset(("text", "item", "quote"))


@dataclass(frozen=True, slots=True)
class Wrapping:
    """The right margin of a text, and whether its lines are wrapped there."""

    margin: int = 0
    wrapped: bool = False

    def fills(self, line: Line, behind: str) -> bool:
        """Whether the first word of `behind` had no room in the line any more."""
        room = self.margin - SLACK - line.column - 1
        return room < 0 or count_first_columns(behind) > room


def count_first_columns(text: str) -> int:
    """The columns of the first word of a text; of a script without blanks, of its first character."""
    first = (text.split(None, 1) or [""])[0]
    if first.isascii():
        return len(first)
    return 2 if UNSPACED.match(first) else count_columns(first)


def measure_wrapping(lines: Sequence[Line]) -> Wrapping:
    """The margin that explains most pairs of lines, and whether enough pairs speak for it."""
    found = [
        (line, behind.said)
        for line, behind in pairwise(lines)
        if (behind.kind == "text" and line.kind in _PROSE) or behind.kind == line.kind == "quote"
    ]
    pairs = len(found)
    if pairs < _FEWEST_PAIRS:
        return Wrapping()
    steps = Counter([line.column for line, _ in found])
    steps.subtract(Counter([line.column + 1 + count_first_columns(said) + SLACK for line, said in found]))
    best = now = margin = 0
    for column in sorted(steps):
        now += steps[column]
        if now > best:
            best, margin = now, column
    if margin < _LEAST_MARGIN:
        return Wrapping()
    firsts = Counter([said[:1] for _, said in found])
    small = sum(n for first, n in firsts.items() if first.islower())
    cased = sum(n for first, n in firsts.items() if first.lower() != first.upper())
    marked = sum(line.stopped for line, _ in found)
    share, many = best / pairs, pairs >= _LEAST_PAIRS
    enough = many and share * small / max(1, cased) >= _LEAST_WRAPPED
    if margin >= _USUAL_MARGIN and share >= 0.8 and marked <= 0.4 * pairs and not enough:
        hanging = small_words()
        enough = small > 0 or any(line.text.rpartition(" ")[2].lower() in hanging for line, _ in found)
    if small > 0.9 * cased and marked < 0.05 * pairs:  # a chat without capitals and marks begins every line small
        enough = share >= 0.8
    return Wrapping(margin, enough or (many and cased < 0.2 * pairs and share >= 0.6))


def mend_prose(lines: Sequence[Line], wrapping: Wrapping) -> None:
    """Take lines of a wrapped paragraph for what they are that their signs show as code, a table or a quotation."""
    for number, line in enumerate(lines):
        if line.kind not in ("code", "row", "quote") or line.fenced:
            continue
        near = [lines[n] for n in (number - 1, number + 1) if 0 <= n < len(lines)]
        alike = [one for one in near if one.kind == "text" and one.indent == line.indent]
        before = number > 0 and lines[number - 1] in alike and not lines[number - 1].stopped
        behind = number + 1 < len(lines) and lines[number + 1] in alike and lines[number + 1].text[0].islower()
        if line.kind == "quote":
            before, behind = before and near[-1].kind != "quote", False
        elif line.text.count(" ") < 2:  # of so few words only the end of a paragraph is sure
            before, behind = before and line.kind == "code", False
        if (before and wrapping.fills(lines[number - 1], line.text)) or (
            behind and not line.stopped and wrapping.fills(line, lines[number + 1].text)
        ):
            line.kind, line.mark = "text", 0
