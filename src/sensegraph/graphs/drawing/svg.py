"""A scene as one SVG file that follows its surroundings, light or dark, and needs nothing besides."""

from __future__ import annotations

import re
from itertools import groupby
from xml.sax.saxutils import escape

from sensegraph.graphs.drawing.colours import ROLES, colour
from sensegraph.graphs.drawing.shapes import Disc, Scene, Shape, Stroke

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg(scene: Scene) -> str:
    """The scene as the text of an SVG file."""
    size = f'width="{_n(scene.width)}" height="{_n(scene.height)}" viewBox="0 0 {_n(scene.width)} {_n(scene.height)}"'
    # the classes of the colours that are used, and what becomes of paper and ink in the dark
    used = [name for name in sorted({s.paint for s in scene.shapes}) if name not in ROLES]
    light = [_classes(name, colour(name)[0]) for name in (*ROLES, *used)]
    dark = [_classes(name, colour(name)[1]) for name in ROLES]
    letters = f"text{{font-family:{FONT};dominant-baseline:central}}"
    halo = ".h{stroke-width:3px;stroke-linejoin:round;stroke-opacity:.85;paint-order:stroke}.b{font-weight:bold}"
    night = f"@media(prefers-color-scheme:dark){{{''.join(dark)}}}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{plain(scene.title)}</title>",
        f"<style>{letters}{halo}path{{fill:none;stroke-linecap:round}}{''.join(light)}{night}</style>",
        '<rect width="100%" height="100%" class="f-paper"/>',
    ]
    for look, alike in groupby(scene.shapes, key=_look):
        parts += [f"<g {look}>", *map(_element, alike), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def plain(text: str) -> str:
    """`text` as XML may hold it: escaped, without the characters that XML has no way to write."""
    return escape(_UNPRINTABLE.sub("", text), {'"': "&quot;"})


def _n(value: float) -> str:
    """A number with one decimal at most."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _classes(name: str, value: str) -> str:
    return f".f-{name}{{fill:{value}}}.s-{name}{{stroke:{value}}}"


def _look(shape: Shape) -> str:
    if isinstance(shape, Stroke):
        return f'class="s-{shape.paint}" stroke-width="{_n(shape.width)}" stroke-opacity="{shape.opacity:.2g}"'
    if isinstance(shape, Disc):
        line = f' stroke-width="{_n(shape.line)}" stroke-opacity=".45"' if shape.line else ""
        edge = f" s-{shape.paint}" if shape.line else ""
        opacity = f' fill-opacity="{shape.opacity:.2g}"' if shape.opacity < 1 else ""
        return f'class="f-{shape.paint}{edge}"{opacity}{line}'
    kind = f"f-{shape.paint}" + " b" * shape.bold + " h s-paper" * shape.halo
    return f'class="{kind}" font-size="{_n(shape.size)}" text-anchor="{shape.anchor}"'


def _element(shape: Shape) -> str:
    if isinstance(shape, Stroke):
        bend = f"Q{_n(shape.bend.real)} {_n(shape.bend.imag)} " if shape.bend is not None else "L"
        return (
            f'<path d="M{_n(shape.start.real)} {_n(shape.start.imag)}{bend}{_n(shape.end.real)} {_n(shape.end.imag)}"/>'
        )
    if isinstance(shape, Disc):
        circle = f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'
        return f"{circle}><title>{plain(shape.title)}</title></circle>" if shape.title else f"{circle}/>"
    return f'<text x="{_n(shape.x)}" y="{_n(shape.y)}">{plain(shape.text)}</text>'
