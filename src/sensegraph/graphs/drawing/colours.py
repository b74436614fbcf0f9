"""The colours of pictures: twelve hues that colour-blind eyes tell apart too, grey for the rest, on light and dark.

Five of the hues are those of Okabe and Ito (2008); the others were chosen so that the smallest distance (OKLab)
between any two, and to the grey, is large in normal, protan and deutan sight at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

HUES = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#a97fb7", "#56b4e9",
    "#b9202e", "#5769e6", "#9fcd85", "#874f74", "#8b89fe", "#22d7d9",
)  # fmt: skip
GREY = "#a8a8a8"
TONES = (0.0, 0.35, -0.28)  # towards white, or towards black
# paper and what is written on it: in a light and in a dark surrounding
ROLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "paper": ("#ffffff", "#14161a"),
        "ink": ("#1c1e22", "#f2f2ef"),
        "soft": ("#5b6069", "#b3b8c0"),
        "faint": ("#c9ccd2", "#474c55"),
        "link": ("#7d838d", "#7f8691"),
    }
)


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
