"""A text without its runs of white space, and the way back to where it stands in its source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_RUNS = re.compile(r"\s(?:\s+|(?<=[\t\v\r\xa0\u3000]))")  # begins with one class, which is found three times as fast
_RUN = re.compile(r"[ \n]+")
_RARE = [c for c in map(chr, range(0x3001)) if c.isspace() and c not in " \n"]  # of few texts


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A text with every run of white space as one blank, one line end or two; `places` lead to where it comes from.

    `starts` are where pieces begin in `text`, `places` where they begin in the source.
    """

    text: str
    starts: Sequence[int] = (0,)
    places: Sequence[int] = (0,)

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """The span of the source for a span of the text."""
        starts, places = self.starts, self.places
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end) - 1
        return places[first] + start - starts[first], places[last] + end - starts[last]

    def from_source(self, place: int) -> int:
        """The place in the text for a place in the source; inside of a run of blanks, the end of what is left of it."""
        piece = bisect_right(self.places, place) - 1
        here = self.starts[piece] + place - self.places[piece]
        return min(here, self.starts[piece + 1]) if piece + 1 < len(self.starts) else here


def collapse_blanks(text: str) -> Collapsed:
    """`text` without its runs of white space: what it is whatever columns it was wrapped at."""
    starts, places, parts = [0], [0], []
    place = size = 0
    for match in _RUNS.finditer(text) if any(map(text.__contains__, _RARE)) else _find_runs(text):
        what = "\n" * min(match[0].count("\n"), 2) or " "
        if what == match[0]:
            continue
        parts += [text[place : match.start()], what]
        size += match.start() - place + len(what)
        place = match.end()
        starts.append(size)
        places.append(place)
    if not parts:
        return Collapsed(text)
    parts.append(text[place:])
    return Collapsed("".join(parts), starts, places)


def _find_runs(text: str) -> Iterator[re.Match[str]]:
    """What `_RUNS` finds, sooner, in a text that has no white space but blanks and line ends."""
    flat, place = text.replace("\n", " "), 0
    while (place := flat.find("  ", place)) >= 0 and (run := _RUN.match(text, place)):
        yield run
        place = run.end()


def locate_in_source(source: str, start: int, read: str, first: int, last: int) -> tuple[int, int]:
    """The span of `source` for `read[first:last]`, where `read` is a part of it as it is read, from `start` on.

    Nearly always `start + first, start + last`; where characters moved to the left, the place where they stand.
    """
    if source[start + first : start + last] == read[first:last]:
        return start + first, start + last
    line = read.rfind("\n", 0, first) + 1  # what moves, moves inside its block
    places: dict[int, int] = {}  # of each character but blanks; what was dropped in the source is passed over
    here = start + line
    for i, character in enumerate(read[line:last]):
        if character not in " \n":
            found = source.find(character, max(here, start + line + i))
            if found < 0:
                break
            places[i], here = found, found + 1
    inside = [places[i] for i in range(first - line, last - line) if i in places]
    return (inside[0], inside[-1] + 1) if inside else (start + first, start + last)
