"""A drawing as one HTML page to look around in: it needs no network, and nothing besides itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any
from xml.sax.saxutils import escape

import msgspec
import numpy as np

from sensegraph.graphs.drawing.colours import ROLES, colour
from sensegraph.graphs.drawing.drawing import Drawing
from sensegraph.graphs.drawing.labels import shortened
from sensegraph.graphs.drawing.strongest_links import bundled, inside, paints

_HOLE = re.compile(r"\{\{(\w+)\}\}")
_SAID = 600  # characters of a description or a summary


def html(drawing: Drawing, depths: Sequence[int] = (0, 1)) -> str:
    """The drawing as the text of an HTML page with these depths, the first shown at first.

    Raises InputError for a depth that the drawing does not have.
    """
    edges = drawing.edges
    data = {  # all that the page draws and says; lists are by entity, relation or community
        "name": drawing.name or "Communities",
        "counts": [len(drawing.entities), drawing.left_out, drawing.relations],
        "size": [float(np.max(drawing.places.real, initial=1)), drawing.height],
        "x": _rounded(drawing.places.real),
        "y": _rounded(drawing.places.imag),
        "r": _rounded(drawing.radius),
        "names": [e.name for e in drawing.entities],
        "types": [e.type for e in drawing.entities],
        "texts": [shortened(e.description, _SAID) for e in drawing.entities],
        "degrees": [e.degree for e in drawing.entities],
        "from": edges.source.tolist(),
        "to": edges.target.tolist(),
        "weights": [float(f"{w:.3g}") for w in edges.weight],
        "depths": [_depth(drawing, drawing.depth(d)) for d in depths],
    }
    light, dark = (";".join(f"--{name}:{pair[i]}" for name, pair in ROLES.items()) for i in (0, 1))
    roles = f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    parts = {
        "title": escape(drawing.name or "Communities"),
        "style": _part("page.css").replace("{{roles}}", roles),
        "script": _part("page.js"),
        "data": harmless(msgspec.json.encode(data).decode()),
    }
    # all holes at once, so that what fills one is never taken for another
    return _HOLE.sub(lambda hole: parts[hole[1]], _part("page.html"))


def harmless(json: str) -> str:
    """JSON that may stand inside a script element: no text in it can end the element, or begin another."""
    return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028")


def _part(name: str) -> str:
    return (files("sensegraph.graphs.drawing") / name).read_text(encoding="utf-8")


def _depth(drawing: Drawing, depth: int) -> dict[str, Any]:
    named, bundles = drawing.communities[depth], bundled(drawing, depth)
    kept = bundles.edges
    return {
        "depth": depth,
        "of": drawing.labels[depth].tolist(),
        "titles": [c.title for c in named],
        "summaries": [shortened(c.summary, _SAID) for c in named],
        "sizes": [c.entities for c in named],
        "colours": [colour(name)[0] for name in paints(drawing, depth)],
        "x": _rounded(drawing.discs[depth].real),
        "y": _rounded(drawing.discs[depth].imag),
        "r": _rounded(drawing.reaches[depth]),
        "lines": np.flatnonzero(inside(drawing, depth)).tolist(),
        "bundles": [
            [int(kept.source[e]), int(kept.target[e]), float(f"{kept.weight[e]:.3g}")]
            for e in np.flatnonzero(bundles.drawn)
        ],
        "pairs": len(bundles.drawn),
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(v), 1) for v in values]
