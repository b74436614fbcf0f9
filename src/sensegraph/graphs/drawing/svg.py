"""A scene as one SVG file that follows its surroundings, light or dark, and needs nothing besides."""

from __future__ import annotations

import re
from itertools import groupby
from xml.sax.saxutils import escape

from sensegraph.graphs.drawing.colours import ROLES, find_colour
from sensegraph.graphs.drawing.shapes import Disc, Scene, Shape, Stroke

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_svg(scene: Scene) -> str:
    """The scene as the text of an SVG file."""
    width, height = _format_number(scene.width), _format_number(scene.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    # the classes of the colours that are used, and what becomes of paper and ink in the dark
    used = [name for name in sorted({s.paint for s in scene.shapes}) if name not in ROLES]
    light = [_style_classes(name, find_colour(name)[0]) for name in (*ROLES, *used)]
    dark = [_style_classes(name, find_colour(name)[1]) for name in ROLES]
    letters = f"text{{font-family:{FONT};dominant-baseline:central}}"
    halo = ".h{stroke-width:3px;stroke-linejoin:round;stroke-opacity:.85;paint-order:stroke}.b{font-weight:bold}"
    night = f"@media(prefers-color-scheme:dark){{{''.join(dark)}}}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape_xml(scene.title)}</title>",
        f"<style>{letters}{halo}path{{fill:none;stroke-linecap:round}}{''.join(light)}{night}</style>",
        '<rect width="100%" height="100%" class="f-paper"/>',
    ]
    for look, alike in groupby(scene.shapes, key=_group_attributes):
        parts += [f"<g {look}>", *map(_render_shape, alike), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def escape_xml(text: str) -> str:
    """`text` as XML may hold it: escaped, without the characters that XML has no way to write."""
    return escape(_UNPRINTABLE.sub("", text), {'"': "&quot;"})


def _format_number(value: float) -> str:
    """A number with one decimal at most."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _style_classes(name: str, value: str) -> str:
    return f".f-{name}{{fill:{value}}}.s-{name}{{stroke:{value}}}"


def _group_attributes(shape: Shape) -> str:
    if isinstance(shape, Stroke):
        return (
            f'class="s-{shape.paint}" stroke-width="{_format_number(shape.width)}" stroke-opacity="{shape.opacity:.2g}"'
        )
    if isinstance(shape, Disc):
        line = f' stroke-width="{_format_number(shape.line)}" stroke-opacity=".45"' if shape.line else ""
        edge = f" s-{shape.paint}" if shape.line else ""
        opacity = f' fill-opacity="{shape.opacity:.2g}"' if shape.opacity < 1 else ""
        return f'class="f-{shape.paint}{edge}"{opacity}{line}'
    kind = f"f-{shape.paint}" + " b" * shape.bold + " h s-paper" * shape.halo
    return f'class="{kind}" font-size="{_format_number(shape.size)}" text-anchor="{shape.anchor}"'


def _render_shape(shape: Shape) -> str:
    if isinstance(shape, Stroke):
        points = (shape.start, shape.end) if shape.bend is None else (shape.start, shape.bend, shape.end)
        start, *middle, end = (f"{_format_number(p.real)} {_format_number(p.imag)}" for p in points)
        return f'<path d="M{start}{f"Q{middle[0]} " if middle else "L"}{end}"/>'
    x, y = _format_number(shape.x), _format_number(shape.y)
    if isinstance(shape, Disc):
        circle = f'<circle cx="{x}" cy="{y}" r="{_format_number(shape.radius)}"'
        return f"{circle}><title>{escape_xml(shape.title)}</title></circle>" if shape.title else f"{circle}/>"
    return f'<text x="{x}" y="{y}">{escape_xml(shape.text)}</text>'
