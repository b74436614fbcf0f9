"""A drawing as one HTML page to look around in: it needs no network, and nothing besides itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any
from xml.sax.saxutils import escape

import msgspec
import numpy as np

from sensegraph.graphs.drawing.colours import ROLES, find_colour
from sensegraph.graphs.drawing.drawing import Drawing
from sensegraph.graphs.drawing.labels import shorten_text
from sensegraph.graphs.drawing.strongest_links import bundle_links, choose_paints, find_inner_links

_HOLE = re.compile(r"\{\{(\w+)\}\}")
_SAID = 600  # characters of a description or a summary


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
    kept = bundles.edges
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
        "bundles": [
            [int(kept.source[e]), int(kept.target[e]), float(f"{kept.weight[e]:.3g}")]
            for e in np.flatnonzero(bundles.drawn)
        ],
        "pairs": len(bundles.drawn),
    }


def _round_values(values: Any) -> list[float]:
    return [round(float(v), 1) for v in values]
