"""What an outline holds: values as they are stored."""

from __future__ import annotations

from typing import Literal

import msgspec

Form = Literal["", "themes", "subjects", "story"]


class Sentence(msgspec.Struct, frozen=True, array_like=True):
    """A sentence by its place in a chunk, and who says it ("" for nobody known)."""

    chunk: str
    start: int
    end: int
    speaker: str = ""


class Theme(msgspec.Struct, frozen=True, array_like=True):
    """A theme by its phrase: how many units hold it, what goes with it, who, and sentences that may stand for it.

    Of a collection it is a group, `beside` its titles; of a story a part, or somebody with those who appear beside.
    """

    label: str
    units: int
    beside: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    sentences: tuple[Sentence, ...] = ()


class Outline(msgspec.Struct, frozen=True):
    """What a corpus is about. `units` are titles: records with the same one count once; `voices` speak in so many.

    `themes` are those of its `form`: themes, groups of separate subjects, parts of a story (with its `cast`); "" where
    there is too little for any. So many units are `talks`: `people` are those who speak there, with lines that may say
    who they are, and `opening` is what most of them open with. `notes` are the keys of what each document adds.
    """

    form: Form = ""
    units: int = 0
    sentences: int = 0
    voices: tuple[tuple[str, int], ...] = ()
    themes: tuple[Theme, ...] = ()
    cast: tuple[Theme, ...] = ()
    more: tuple[str, ...] = ()
    talks: int = 0
    people: tuple[Theme, ...] = ()
    opening: tuple[Sentence, ...] = ()
    notes: tuple[str, ...] = ()
