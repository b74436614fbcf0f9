"""Pictures as files: a scene as SVG or PNG, a drawing as one HTML page to look around in.

An SVG follows its surroundings, light or dark. A PNG is drawn larger and made smaller again, so that edges are smooth,
and needs the extra `draw`. The page needs no network, and nothing besides itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.graphs.drawing.drawing import Drawing
from sensegraph.graphs.drawing.scene import bundle_links, choose_paints, find_inner_links
from sensegraph.graphs.drawing.shapes import (
    ROLES,
    Disc,
    Scene,
    Shape,
    Stroke,
    Text,
    find_colour,
    shorten_text,
    split_rgb,
    tint_colour,
)

if TYPE_CHECKING:
    from PIL import ImageFont


FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FINER = 3  # pixels drawn for one of the file, in each direction
_SHARES = (0.0, 0.88, 0.6, 0.93, 0.3, 0.75, 0.45)  # of paper in the colours that a file holds, most needed first
_GREYS = 40
_STEPS = 24  # pieces of a curve
_HALO = 1.5
_BOLD = 12.0  # smaller letters would run into each other
_FACES = ("DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Arial Unicode.ttf")  # where a system has them
_HOLE = re.compile(r"\{\{(\w+)\}\}")
_SAID = 600  # characters of a description or a summary


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
        width = _format_number(shape.width)
        return f'class="s-{shape.paint}" stroke-width="{width}" stroke-opacity="{shape.opacity:.2g}"'
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


def render_png(scene: Scene, font: Path | None = None) -> bytes:
    """The scene as a PNG file on light paper, one pixel a unit, in a font file or the one that Pillow brings.

    Raises InputError where Pillow is not installed or the font file is none.
    """
    from_pil = _load_pillow()
    size = (round(scene.width * _FINER), round(scene.height * _FINER))
    image = from_pil.Image.new("RGB", size, split_rgb(find_colour("paper")[0]))
    pen = from_pil.ImageDraw.Draw(image, "RGBA")  # this mode lays translucent shapes over what is there
    source = _choose_font(scene, font)
    fonts = {s.size: _load_font(source, s.size * _FINER) for s in scene.shapes if isinstance(s, Text)}
    for shape in scene.shapes:
        if isinstance(shape, Disc):
            x, y, reach = shape.x * _FINER, shape.y * _FINER, shape.radius * _FINER
            box = (x - reach, y - reach, x + reach, y + reach)
            pen.ellipse(box, fill=_translucent_colour(shape.paint, shape.opacity))
            if shape.line:
                outline, wide = _translucent_colour(shape.paint, 0.45), max(1, round(shape.line * _FINER))
                pen.ellipse(box, outline=outline, width=wide)
        elif isinstance(shape, Stroke):
            pen.polygon(_outline_stroke(shape), fill=_translucent_colour(shape.paint, shape.opacity))
        else:
            font_of, anchor = fonts[shape.size], {"start": "l", "middle": "m", "end": "r"}[shape.anchor] + "m"
            at, width = (shape.x * _FINER, shape.y * _FINER), round(_HALO * _FINER)
            if shape.halo:
                halo = _translucent_colour("paper", 0.85)
                pen.text(at, shape.text, halo, font_of, anchor, stroke_width=width, stroke_fill=halo)
            heavy = 1 if shape.bold and shape.size >= _BOLD else 0
            pen.text(at, shape.text, _translucent_colour(shape.paint, 1.0), font_of, anchor, stroke_width=heavy)
    # 256 colours at most: those of the scene as they are and paler, and greys for letters
    used = sorted({s.paint for s in scene.shapes})
    shares = _SHARES[: max(1, (256 - _GREYS) // max(len(used), 1))]
    mixed = [split_rgb(tint_colour(find_colour(name)[0], share)) for name in used for share in shares]
    greys = [(n, n, n) for n in np.linspace(0, 255, _GREYS).round().astype(int).tolist()]
    palette = np.array([*greys, *mixed][:256], np.uint8)
    finished = image.reduce(_FINER)
    small = from_pil.Image.frombytes("P", finished.size, _nearest_colours(np.asarray(finished), palette).tobytes())
    small.putpalette(palette.ravel().tolist())
    out = BytesIO()
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


def _nearest_colours(pixels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The number of the nearest colour of the palette for every pixel, (height, width) from (height, width, 3)."""
    packed = pixels.astype(np.int32) @ np.array([65536, 256, 1], np.int32)
    seen, where = np.unique(packed, return_inverse=True)
    parts = np.stack((seen >> 16, seen >> 8 & 255, seen & 255), 1).astype(np.float32)
    known = palette.astype(np.float32)
    far = (known**2).sum(1) - 2 * parts @ known.T
    return np.asarray(far.argmin(1).astype(np.uint8)[where.reshape(packed.shape)])


def list_missing_characters(scene: Scene, font: Path | None = None) -> list[str]:
    """The characters of the scene's texts that the font of its PNG has no shape for, sorted."""
    _load_pillow()
    return _missing_characters(_load_font(_choose_font(scene, font), 20), scene)


def _missing_characters(face: ImageFont.FreeTypeFont | ImageFont.ImageFont, scene: Scene) -> list[str]:
    unknown = bytes(face.getmask("\uffff"))
    used = sorted({c for s in scene.shapes if isinstance(s, Text) for c in s.text if not c.isspace()})
    return [c for c in used if bytes(face.getmask(c)) == unknown]


def _choose_font(scene: Scene, font: Path | None) -> str:
    """The font file given, or none for Pillow's own; where that lacks a character, a common one that has all."""
    if font is not None or not _missing_characters(_load_font("", 20), scene):
        return str(font or "")
    from PIL import ImageFont

    for name in _FACES:
        with suppress(OSError):  # this system has none of that name
            if not _missing_characters(ImageFont.truetype(name, 20), scene):
                return name
    return ""


def _load_pillow() -> Any:
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError as e:
        raise InputError("A PNG needs Pillow: pip install 'sensegraph[draw]', or draw an SVG: --format svg.") from e
    return PIL


def _load_font(source: str, size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    if not source:
        return ImageFont.load_default(size)
    try:
        return ImageFont.truetype(source, size)
    except OSError as e:
        raise InputError(f"{source} cannot be read as a font ({e}); name a .ttf or .otf file.") from e


def _translucent_colour(name: str, opacity: float) -> tuple[int, int, int, int]:
    return (*split_rgb(find_colour(name)[0]), round(255 * opacity))


def _outline_stroke(stroke: Stroke) -> list[tuple[float, float]]:
    """The outline of a line or a curve of some width, as one polygon, so that it is nowhere laid over itself."""
    part = np.linspace(0.0, 1.0, 2 if stroke.bend is None else _STEPS)
    bend = (stroke.start + stroke.end) / 2 if stroke.bend is None else stroke.bend
    points = stroke.start * (1 - part) ** 2 + 2 * bend * part * (1 - part) + stroke.end * part**2
    along = np.gradient(points)
    side = 1j * along / np.maximum(abs(along), 1e-9) * stroke.width / 2
    outline = np.concatenate((points + side, (points - side)[::-1])) * _FINER
    return [(float(p.real), float(p.imag)) for p in outline]


def render_html(drawing: Drawing, depths: Sequence[int] = (0, 1)) -> str:
    """The drawing as the text of an HTML page with these depths, the first shown at first.

    Raises InputError for a depth that the drawing does not have.
    """
    edges = drawing.edges
    data = {  # all that the page draws and says; lists are by entity, relation or community
        "name": drawing.name or "Communities",
        "counts": [len(drawing.entities), drawing.left_out, drawing.relations],
        "size": [float(np.max(drawing.places.real, initial=1)), drawing.height],
        "x": _round_values(drawing.places.real),
        "y": _round_values(drawing.places.imag),
        "r": _round_values(drawing.radius),
        "names": [e.name for e in drawing.entities],
        "types": [e.type for e in drawing.entities],
        "texts": [shorten_text(e.description, _SAID) for e in drawing.entities],
        "degrees": [e.degree for e in drawing.entities],
        "from": edges.source.tolist(),
        "to": edges.target.tolist(),
        "weights": [float(f"{w:.3g}") for w in edges.weight],
        "depths": [_depth_data(drawing, drawing.depth(d)) for d in depths],
    }
    light, dark = (";".join(f"--{name}:{pair[i]}" for name, pair in ROLES.items()) for i in (0, 1))
    roles = f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    parts = {
        "title": escape(drawing.name or "Communities"),
        "style": _read_page_part("page.css").replace("{{roles}}", roles),
        "script": _read_page_part("page.js"),
        "data": escape_script_json(msgspec.json.encode(data).decode()),
    }
    # all holes at once, so that what fills one is never taken for another
    return _HOLE.sub(lambda hole: parts[hole[1]], _read_page_part("page.html"))


def escape_script_json(json: str) -> str:
    """JSON that may stand inside a script element: no text in it can end the element, or begin another."""
    return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028")


def _read_page_part(name: str) -> str:
    return (files("sensegraph.graphs.drawing") / name).read_text(encoding="utf-8")


def _depth_data(drawing: Drawing, depth: int) -> dict[str, Any]:
    named, bundles = drawing.communities[depth], bundle_links(drawing, depth)
    kept, drawn = bundles.edges, np.flatnonzero(bundles.drawn)
    return {
        "depth": depth,
        "of": drawing.labels[depth].tolist(),
        "titles": [c.title for c in named],
        "summaries": [shorten_text(c.summary, _SAID) for c in named],
        "sizes": [c.entities for c in named],
        "colours": [find_colour(name)[0] for name in choose_paints(drawing, depth)],
        "x": _round_values(drawing.discs[depth].real),
        "y": _round_values(drawing.discs[depth].imag),
        "r": _round_values(drawing.reaches[depth]),
        "lines": np.flatnonzero(find_inner_links(drawing, depth)).tolist(),
        "bundles": [[int(kept.source[e]), int(kept.target[e]), float(f"{kept.weight[e]:.3g}")] for e in drawn],
        "pairs": len(bundles.drawn),
    }


def _round_values(values: Any) -> list[float]:
    return [round(float(v), 1) for v in values]
