"""Texts on a picture: how wide they are, how they are wrapped, and where they stand without touching each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

# Widths in ems, rounded up, of a wide common face (DejaVu Sans): a text is seldom wider than it is measured.
_CLASSES = (
    (0.30, "Iijl"), (0.40, " ,./:;\\|·’‘()-[]ft"), (0.45, "!r"), (0.50, '"*_`–'), (0.55, "?Jcsz“”"), (0.60, "FLkvxy"),
    (0.65, "$0123456789EPSTYabdeghnopqu{}"), (0.70, "ABCKRVXZ"), (0.75, "NU"), (0.80, "&DGHOQ"), (0.85, "#+<=>^w~"),
    (0.90, "M"), (1.0, "%@Wm—…"),
)  # fmt: skip
_EMS: Mapping[str, float] = MappingProxyType({c: width for width, some in _CLASSES for c in some})
_BOLD = 1.1
LINE = 1.2  # height of a line in ems


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its middle, its width and its height."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        return (
            abs(self.x - other.x) * 2 < self.width + other.width - 1e-9
            and abs(self.y - other.y) * 2 < self.height + other.height - 1e-9
        )

    def inside(self, other: Box) -> bool:
        """Whether this one does not stick out of the other."""
        return (
            abs(self.x - other.x) * 2 <= other.width - self.width + 1e-9
            and abs(self.y - other.y) * 2 <= other.height - self.height + 1e-9
        )


@dataclass(frozen=True, slots=True)
class Label:
    """Lines of text about the middle (x, y), in a size in units."""

    x: float
    y: float
    lines: tuple[str, ...]
    size: float
    bold: bool = False

    @property
    def box(self) -> Box:
        """The rectangle that the text needs."""
        width = max((measure_text(line, self.size, self.bold) for line in self.lines), default=0.0)
        return Box(self.x, self.y, width, LINE * self.size * len(self.lines))


def measure_text(text: str, size: float, bold: bool = False) -> float:
    """The width of `text` in units, rather too wide than too narrow."""
    return sum(map(_character_width, text)) * size * (_BOLD if bold else 1.0)


def _character_width(character: str) -> float:
    if (width := _EMS.get(character)) is not None:
        return width
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return _EMS.get(unicodedata.normalize("NFD", character)[0], 0.9)


def wrap_text(text: str, size: float, width: float, lines: int, bold: bool = False) -> tuple[str, ...]:
    """`text` in at most so many lines of at most this width; what does not fit is cut, with an ellipsis."""
    parts: list[str] = []  # words; one that is wider than a line in pieces
    for word in text.split():
        piece = ""
        for character in word:
            if piece and measure_text(piece + character, size, bold) > width:
                parts.append(piece)
                piece = ""
            piece += character
        parts.append(piece)
    rows: list[str] = []
    for part in parts:
        joined = f"{rows[-1]} {part}" if rows else part
        if rows and measure_text(joined, size, bold) <= width:
            rows[-1] = joined
        else:
            rows.append(part)
    if len(rows) > lines:
        last = " ".join(rows[lines - 1 :])
        if measure_text(last, size, bold) > width:
            while last and measure_text(last.rstrip() + "…", size, bold) > width:
                last = last[:-1]
            last = last.rstrip(" ,;:–-") + "…"
        rows = [*rows[: lines - 1], last]
    return tuple(rows)


def place_labels(
    wanted: Iterable[Sequence[Label]], canvas: Box, taken: Sequence[Label] = ()
) -> tuple[list[Label], int]:
    """Of each sequence of alternatives the first that meets none before it and stays on the canvas.

    Returns the labels, and how many found no place.
    """
    boxes = [label.box for label in taken]
    found: list[Label] = []
    lost = 0
    for choices in wanted:
        free = next((c for c in choices if c.box.inside(canvas) and not any(c.box.meets(b) for b in boxes)), None)
        if free is None:
            lost += 1
        else:
            found.append(free)
            boxes.append(free.box)
    return found, lost


def shorten_text(text: str, most: int) -> str:
    """`text` on one line, cut at a word after at most so many characters, with an ellipsis where it was cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rsplit(" ", 1)[0] + "…"
