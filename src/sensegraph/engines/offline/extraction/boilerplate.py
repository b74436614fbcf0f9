"""What surrounds a text and is no part of it: headers and footers that documents share, and repeated show notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from sensegraph.engines.offline.extraction import page_text
from sensegraph.engines.offline.extraction.observations import Ends, Lexicon, Observation
from sensegraph.language.speakers import can_name_speaker, find_label_candidates
from sensegraph.language.text import fold

EDGE = 400  # characters of a document's beginning and end that are looked at
_LEAST, _DOCUMENTS = 15, 3
_SHORTEST = 5  # the name of a file may be shorter than `_LEAST`
_PART = 4  # a wrapper is at most this part of the documents that show it: copies of a text share more
_BORDER = re.compile(r"\n|(?<=\w{4})[.!?][\"”’)]*(?=\s)|\|\s|\.[A-Za-z]{2,4}\d?(?=\s)")
_CUT_FRONT = re.compile(r"\s*([A-ZÀ-Þ][A-ZÀ-Þ’'. \-]{0,38}):(?=\s)")
_CUT_BACK = re.compile(r"\n[ \t]*([A-ZÀ-Þ]{2}[A-ZÀ-Þ’'. \-]{0,38})$")


def cut_edges(text: str) -> tuple[str, str]:
    """The beginning and the end of a document, in which a wrapper is looked for."""
    return _replace_broken(text[:EDGE]), _replace_broken(text[-EDGE:])


def _replace_broken(text: str) -> str:
    """The text with a mark for each half of a broken character, which no encoding holds."""
    return text.encode("utf-8", "replace").decode()


def find_wrappers(ends: Iterable[Ends]) -> tuple[frozenset[str], frozenset[str]]:
    """The beginnings and the ends that at least three documents share word for word, up to a natural border."""
    heads, tails = [], []
    for one in ends:
        size = min(EDGE, _measure_document(one) // _PART)
        heads.append(one.head[:size])
        tails.append(one.tail[::-1][:size])
    fronts, backs = set(), set()
    for front, n in _common_starts(heads):
        fronts.add(front[: max((m.end() for m in _BORDER.finditer(front) if m.end() <= n), default=0)])
    for reverse, n in _common_starts(tails):
        back = reverse[::-1]
        borders = (m.end() for m in _BORDER.finditer(back) if m.end() >= len(back) - n)
        backs.add(back[min(borders, default=len(back)) :])
    fronts = {front[: _find_turn(front)] for front in fronts}
    backs = {back for back in backs if _find_turn(back) == len(back)}
    return _keep_long(fronts), _keep_long(backs)


def _find_turn(text: str) -> int:
    """Where a speaker's turn begins: what someone says is no wrapper, however many say it."""
    return next((label.start for label in find_label_candidates(text + " ") if can_name_speaker(label.key)), len(text))


def _keep_long(found: Iterable[str]) -> frozenset[str]:
    return frozenset(w for w in found if len(w) >= _LEAST or page_text.find_codes(w, 0, len(w)))


def _common_starts(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Texts with the length of what they share with two neighbours in the order of texts, where all three differ."""
    ordered = sorted(texts)
    found = []
    for one, other in zip(ordered, ordered[_DOCUMENTS - 1 :], strict=False):
        size = min(len(one), len(other))
        same = next((i for i in range(size) if one[i] != other[i]), size)
        if _SHORTEST <= same < size:
            found.append((one, same))
    return found


def _measure_document(one: Observation | Ends) -> int:
    return max(one.bounds, default=0)


@lru_cache(maxsize=4)
def _sort_longest_first(wrappers: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(wrappers, key=lambda w: (-len(w), w)))


def find_body(one: Observation, lexicon: Lexicon) -> tuple[int, int]:
    """Where a document's own text begins and ends; what a border left of a speaker's label is no part of it."""
    size = _measure_document(one)
    fronts, backs = _sort_longest_first(lexicon.fronts), _sort_longest_first(lexicon.backs)
    front = next(len(w) for w in fronts if one.head.startswith(w)) if one.head.startswith(fronts) else 0
    back = next(len(w) for w in backs if one.tail.endswith(w)) if one.tail.endswith(backs) else 0
    if lexicon.speakers:
        if (cut := _CUT_FRONT.match(one.head, front)) and _is_label_part(cut[1], lexicon, str.endswith):
            front = cut.end()
        if not back and (cut := _CUT_BACK.search(one.tail)) and _is_label_part(cut[1], lexicon, str.startswith):
            back = len(one.tail) - cut.start(1)
    return min(front, size), max(size - back, front)


def _is_label_part(piece: str, lexicon: Lexicon, at: Callable[[str, str], bool]) -> bool:
    key = fold(piece)
    return key not in lexicon.speakers and any(at(name, key) for name in lexicon.speakers)


def count_outside_words(one: Observation, lexicon: Lexicon) -> tuple[Counter[str], Counter[str]]:
    """The capitals and the lower-case words that the observation counts in the document's wrapper."""
    begin, end = find_body(one, lexicon)
    size = _measure_document(one)
    upper: list[str] = []
    lower: list[str] = []
    for a, b in zip(one.sentences[::2], one.sentences[1::2], strict=True):
        if a < begin:
            page_text.count_capitals(page_text.locate_words(one.head, a, min(b, begin)), upper, lower)
        elif b > end:
            shift = size - len(one.tail)
            page_text.count_capitals(
                page_text.locate_words(one.tail, max(a, end) - shift, b - shift), upper, lower, inside=a < end
            )
    return Counter(upper), Counter(lower)


def find_notes(one: Observation, lexicon: Lexicon) -> frozenset[int]:
    """The sentences that most works of the corpus repeat (show notes), unless they are half of the document."""
    known = lexicon.boilerplate
    notes = frozenset(i // 3 for i, p in enumerate(one.prints) if p in known) if known else frozenset()
    notes = notes if 6 * len(notes) < len(one.prints) else frozenset()  # a copy of a document is no show note
    begin, end = find_body(one, lexicon)
    if not begin and end == _measure_document(one):
        return notes
    spans = zip(one.sentences[::2], one.sentences[1::2], strict=True)
    return notes | {n for n, (a, b) in enumerate(spans) if b <= begin or a >= end}
