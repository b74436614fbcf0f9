"""What an outline holds: values as they are stored."""

from __future__ import annotations

import msgspec


class Sentence(msgspec.Struct, frozen=True, array_like=True):
    """A sentence by its place in a chunk, and who says it ("" for nobody known)."""

    chunk: str
    start: int
    end: int
    speaker: str = ""


class Theme(msgspec.Struct, frozen=True, array_like=True):
    """A theme by its phrase: how many units hold it, what goes with it, who, and sentences that may stand for it."""

    label: str
    units: int
    beside: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    sentences: tuple[Sentence, ...] = ()
