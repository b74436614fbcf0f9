"""Answers as points of a plane: a panel an arm, on the same axes, coloured by type or by topic of the question.

The axes are the first two principal components of the answers' vectors; the paper names neither its embedder nor its
projection (Figures 7 and 8, R25).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.errors import InputError
from sensegraph.graphs.drawing.shapes import HUES, MARGIN, Disc, Scene, Shape, Stroke, Text, name_paint
from sensegraph.index.vectors import embed_all
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, DesignQuestion, Reply
from sensegraph.lab.finetuning.training.curves import write_pictures
from sensegraph.runtime.runtime import Runtime

_SIDE, _GAP, _TOP = 300.0, 28.0, 92.0
_LETTER = 7.5


@dataclass(frozen=True, slots=True)
class Place:
    """A point: of which arm, of which group, and what it shows when it is pointed at."""

    arm: str
    group: str
    title: str


def project_answers(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float64], float]:
    """The first two principal components of `vectors`, shape (n, d) → (n, 2), and their share of the variance.

    Raises InputError for fewer than two vectors.
    """
    if len(vectors) < 2:
        raise InputError("A picture of answers needs two of them at least.")
    found = reduce_dimensions(np.asarray(vectors), 2)
    flat = np.zeros((len(vectors), 2))
    flat[:, : found.shape[1]] = found
    whole = float(np.asarray(vectors, np.float64).var(axis=0).sum())
    return flat, float(flat.var(axis=0).sum()) / whole if whole else 0.0


def draw_answer_map(title: str, points: NDArray[np.float64], places: Sequence[Place]) -> Scene:
    """The points, shape (n, 2), in panels by arm, coloured by group; the largest groups get the colours."""
    arms = list(dict.fromkeys(p.arm for p in places))
    counts = {g: sum(p.group == g for p in places) for g in dict.fromkeys(p.group for p in places)}
    groups = sorted(counts, key=lambda g: (-counts[g], g))
    hues = {g: name_paint(n) for n, g in enumerate(groups)}
    shapes: list[Shape] = [Text(MARGIN, MARGIN + 8, title, 16.0, bold=True)]
    at = MARGIN
    for group in groups[: len(HUES)]:
        name = group or "(none)"
        shapes += [Disc(at + 5, MARGIN + 34, 5.0, hues[group]), Text(at + 16, MARGIN + 34, name, 12.0)]
        at += 36 + _LETTER * len(name)
    if len(groups) > len(HUES):
        shapes.append(Text(at, MARGIN + 34, f"grey: {len(groups) - len(HUES)} more", 12.0, "soft"))
    # the points are moved and scaled into a unit square, the same both ways
    low, span = points.min(axis=0), float((points.max(axis=0) - points.min(axis=0)).max())
    unit = (points - low) / span if span else np.full_like(points, 0.5)
    for number, arm in enumerate(arms):
        left, room = MARGIN + number * (_SIDE + _GAP), _SIDE - 24
        shapes.append(Text(left, _TOP - 12, arm, 13.0, bold=True))
        corners = [complex(left + x * _SIDE, _TOP + y * _SIDE) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))]
        shapes += [Stroke(one, other, "faint", 1.0) for one, other in pairwise(corners)]
        for (x, y), place in zip(unit, places, strict=True):
            if place.arm == arm:
                across, down = left + 12 + room * x, _TOP + 12 + room * (1 - y)
                shapes.append(Disc(across, down, 4.5, hues[place.group], 0.75, title=place.title))
    wide = max(2 * MARGIN + len(arms) * (_SIDE + _GAP), 2 * MARGIN + _LETTER * 1.2 * len(title))
    return Scene(wide, _TOP + _SIDE + 2 * MARGIN, title, tuple(shapes))


def write_answer_maps(
    asked: Sequence[DesignQuestion], replies: Sequence[Reply], rt: Runtime, folder: Path
) -> list[Path]:
    """Write the answers as points, coloured by type and by topic (Figures 7 and 8); the files that were written."""
    by_id, titles = {p.id: p for p in asked}, {a.name: a.title for a in ARMS}
    points, share = project_answers(embed_all([r.answer for r in replies], rt).value)
    made = []
    for name in ("type", "topic"):
        places = [
            Place(titles[r.arm], str(getattr(by_id[r.id], name)), f"{by_id[r.id].question}: {r.answer[:80]}")
            for r in replies
        ]
        title = f"Answers by {name} of question: two components, {share:.0%} of the variance of {rt.embedder.name}"
        made += write_pictures(draw_answer_map(title, points, places), folder, f"answers-by-{name}")
    return made
