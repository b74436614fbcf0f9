"""A scene as a PNG file, drawn larger and made smaller again so that edges are smooth. Needs the extra `draw`."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.graphs.drawing.colours import find_colour, split_rgb, tint_colour
from sensegraph.graphs.drawing.shapes import Disc, Scene, Stroke, Text

if TYPE_CHECKING:
    from PIL import ImageFont

    Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

_FINER = 3  # pixels drawn for one of the file, in each direction
_SHARES = (0.0, 0.88, 0.6, 0.93, 0.3, 0.75, 0.45)  # of paper in the colours that a file holds, most needed first
_GREYS = 40
_STEPS = 24  # pieces of a curve
_HALO = 1.5
_BOLD = 12.0  # smaller letters would run into each other
_FACES = ("DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Arial Unicode.ttf")  # where a system has them


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
                pen.ellipse(
                    box, outline=_translucent_colour(shape.paint, 0.45), width=max(1, round(shape.line * _FINER))
                )
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


def _missing_characters(face: Font, scene: Scene) -> list[str]:
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


def _load_font(source: str, size: float) -> Font:
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
