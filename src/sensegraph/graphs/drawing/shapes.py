"""The shapes of a still picture, their colours, and texts that stand without touching each other.

Twelve hues that colour-blind eyes tell apart too, grey for the rest, on light and dark. Five of the hues are those of
Okabe and Ito (2008); the others were chosen so that the smallest distance (OKLab) between any two, and to the grey, is
large in normal, protan and deutan sight at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, MARGIN, TOP = 1600.0, 24.0, 84.0  # units: of the canvas, around it, and above the map
HUES = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#a97fb7", "#56b4e9",
    "#b9202e", "#5769e6", "#9fcd85", "#874f74", "#8b89fe", "#22d7d9",
)  # fmt: skip
GREY = "#a8a8a8"
TONES = (0.0, 0.35, -0.28)  # towards white, or towards black
# paper and what is written on it: in a light and in a dark surrounding
ROLES: Mapping[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14161a"),
    "ink": ("#1c1e22", "#f2f2ef"),
    "soft": ("#5b6069", "#b3b8c0"),
    "faint": ("#c9ccd2", "#474c55"),
    "link": ("#7d838d", "#7f8691"),
}
# Widths in ems, rounded up, of a wide common face (DejaVu Sans): a text is seldom wider than it is measured.
_CLASSES = (
    (0.30, "Iijl"), (0.40, " ,./:;\\|·’‘()-[]ft"), (0.45, "!r"), (0.50, '"*_`–'), (0.55, "?Jcsz“”"), (0.60, "FLkvxy"),
    (0.65, "$0123456789EPSTYabdeghnopqu{}"), (0.70, "ABCKRVXZ"), (0.75, "NU"), (0.80, "&DGHOQ"), (0.85, "#+<=>^w~"),
    (0.90, "M"), (1.0, "%@Wm—…"),
)  # fmt: skip
_EMS: Mapping[str, float] = {c: width for width, some in _CLASSES for c in some}
_BOLD = 1.1
LINE = 1.2  # height of a line in ems


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle, with an outline of `line` units (0 for none); `title` says what it is."""

    x: float
    y: float
    radius: float
    paint: str
    opacity: float = 1.0
    line: float = 0.0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line, or a curve (quadratic, by its control point), of some width."""

    start: complex
    end: complex
    paint: str
    width: float
    opacity: float = 1.0
    bend: complex | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; (x, y) is the middle of its height, at its start, middle or end as `anchor` says."""

    x: float
    y: float
    text: str
    size: float
    paint: str = "ink"
    anchor: str = "start"
    bold: bool = False
    halo: bool = False


Shape = Disc | Stroke | Text


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture: its size, its title, and its shapes from back to front."""

    width: float
    height: float
    title: str
    shapes: tuple[Shape, ...]


def name_paint(hue: int, tone: int = 0) -> str:
    """The name of a colour: of the hue with this rank, or of the grey beyond the last; `tone` tells siblings apart."""
    return f"c{min(hue, len(HUES))}{'abc'[tone % len(TONES)]}"


def find_colour(name: str) -> tuple[str, str]:
    """The colour of this name as #rrggbb, in a light and in a dark surrounding."""
    if name in ROLES:
        return ROLES[name]
    mixed = tint_colour((*HUES, GREY)[int(name[1:-1])], TONES["abc".index(name[-1])])
    return mixed, mixed


def split_rgb(text: str) -> tuple[int, int, int]:
    """The three parts of #rrggbb, 0 to 255."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def tint_colour(text: str, share: float) -> str:
    """The colour #rrggbb mixed with this share of white, or of black where it is negative."""
    towards = 255 if share > 0 else 0
    return "#" + "".join(f"{round(part + (towards - part) * abs(share)):02x}" for part in split_rgb(text))


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its middle, its width and its height."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        right, down = abs(self.x - other.x) * 2, abs(self.y - other.y) * 2
        return right < self.width + other.width - 1e-9 and down < self.height + other.height - 1e-9

    def inside(self, other: Box) -> bool:
        """Whether this one does not stick out of the other."""
        right, down = abs(self.x - other.x) * 2, abs(self.y - other.y) * 2
        return right <= other.width - self.width + 1e-9 and down <= other.height - self.height + 1e-9


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
