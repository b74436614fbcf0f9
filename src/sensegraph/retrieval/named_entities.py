"""The entities that a question names: stretches of its words that are names of the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from sensegraph.index.index import Index
from sensegraph.language.text import WORD
from sensegraph.language.word_lists import STOP

Sought = Literal["auto", "vectors", "names"]  # how a method looks for the entities of a question
_LONGEST = 6  # words of a name in a question
_NO_NAMES = frozenset(w for words in STOP.values() for w in words)
_OWNER = re.compile(r"['’]s?$")
_HAN_NAME = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def entities_named_in(text: str, index: Index) -> list[int]:
    """Positions of the entities whose names stand in `text`, in its order; of overlapping names the longest."""
    taken: set[int] = set()
    found: dict[int, list[int]] = {}
    stretches = sorted(_candidate_names(text), key=lambda s: (s[0] - s[1], s[0]))
    called = index.lookups.called_each([name for _, _, name in stretches])
    for (begin, end, _), places in zip(stretches, called, strict=True):
        if places and taken.isdisjoint(range(begin, end)):
            taken.update(range(begin, end))
            found[begin] = places
    return [place for begin in sorted(found) for place in found[begin]]


def _candidate_names(text: str) -> Iterator[tuple[int, int, str]]:
    """Stretches of up to six words that may be names, with their places; of scripts without blanks every stretch."""
    spans = [m.span() for m in WORD.finditer(text)]
    words = [text[a:b].casefold() for a, b in spans]
    for i in range(len(spans)):
        for j in range(i + 1, min(len(spans), i + _LONGEST) + 1):
            if j - i > 1 or (words[i] not in _NO_NAMES and len(words[i]) > 1):
                a, b = spans[i][0], spans[j - 1][1]
                yield a, b, _OWNER.sub("", text[a:b])
    for run in _HAN_NAME.finditer(text):
        a, b = run.span()
        yield from ((i, j, text[i:j]) for i in range(a, b) for j in range(i + 2, min(b, i + 12) + 1))
