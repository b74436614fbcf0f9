"""The shapes of a still picture, and the picture: what every format is written from."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, MARGIN, TOP = 1600.0, 24.0, 84.0  # units: of the canvas, around it, and above the map
DASH = " · "


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
