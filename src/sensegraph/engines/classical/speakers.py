"""Speakers of a transcript: labels before a colon that come back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_LABEL = re.compile(r"^[ \t]*([^\W\d_][^:\n\"“”?!;]{0,38}?)[ \t]?:(?=\s)", re.MULTILINE)
_TIMES_SEEN = 3
_SHORT = 4  # words of a label, at most


def label_spans(text: str) -> list[tuple[int, int, str]]:
    """Start, end (behind the colon) and folded form of every label that opens a line at least three times."""
    found = [(m.start(1), m.end(), _folded(m[1])) for m in _LABEL.finditer(text)]
    counts = Counter(label for _, _, label in found)
    return [f for f in found if counts[f[2]] >= _TIMES_SEEN and 0 < len(f[2].split()) <= _SHORT]


def labels(spans: Sequence[tuple[int, int, str]]) -> tuple[str, ...]:
    """The distinct labels, sorted."""
    return tuple(sorted({label for _, _, label in spans}))


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


def written(label: str) -> str:
    """A label in all capitals as a name is written: "FEI-FEI LI" → "Fei-Fei Li"; initials keep their capitals."""
    if not label.isupper():
        return label
    return " ".join(
        w if len(w.strip(".")) < 2 else "-".join(p.capitalize() for p in w.split("-")) for w in label.split()
    )
