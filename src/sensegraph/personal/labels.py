"""Names of people in ids, names of files and titles, where no sentence tells what is a name.

A word of an id stays where it is a common one, says what a file is, names a program, or is no word; and where the text
of the document has it unmasked. Of the others, names that people have are masked, and words that nobody knows: a wrong
placeholder costs less than the name of a person in every citation. A name that is also a common word (`mark`, `bill`)
is one beside another only, as in a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

from sensegraph.language.text import fold
from sensegraph.language.word_lists import small_words
from sensegraph.personal.normalising import normalise_signs
from sensegraph.personal.people import is_common_word, is_family_name, is_given_name, read_names
from sensegraph.personal.personal_settings import Span

_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_CODE = re.compile(r"(?=[0-9a-f-]*\d)[0-9a-f-]{8,}|[A-Z]{1,6}-[a-f][0-9a-f]{9}|\[[A-Z]{2,20}\]")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}(?:\.[A-Za-z]{2,4})?(?=$|#)")
_BESIDE = re.compile(r"[ _\-.+,]{0,3}")  # what may stand between two words of one name
_SHORT = 3  # letters of a word that may be a name


def find_names_in_id(
    text: str, known: Collection[str], stays: Callable[[str], bool] = lambda word: False
) -> Iterator[Span]:
    """Names in an id or the name of a file; `known` are folded words of names that the document tells.

    Kind `person` for names that people have, `name` for words that nobody knows; neighbours are one. `stays` says of a
    folded word that nobody knows whether the document's text has it where nothing is masked.
    """
    view = normalise_signs(text)
    codes = [m.span() for m in (*_CODE.finditer(view.text), *_ENDING.finditer(view.text))]
    words = [
        (start, end)
        for m in _PART.finditer(view.text)
        for start, end in _split_camel(view.text, *m.span())
        if not any(a <= start and end <= b for a, b in codes)
    ]
    kinds = _classify(view.text, words, known, stays)
    made: list[tuple[str, int, int]] = []
    for (start, end), kind in zip(words, kinds, strict=True):
        if not kind:
            continue
        if made and _BESIDE.fullmatch(view.text, made[-1][2], start):
            first = made.pop()
            kind, start = ("person" if "person" in (kind, first[0]) else "name"), first[1]
        made.append((kind, start, end))
    for kind, start, end in made:
        folded = " ".join(_PART.findall(view.text[start:end])).casefold()
        yield Span(kind, *view.place(start, end), folded)


def find_names_in_title(
    text: str, known: Collection[str], name: str = "", stays: Callable[[str], bool] = lambda word: False
) -> Iterator[Span]:
    """Words of names in a title: those that the document or its id tells. A title that is a part of the id is read so.

    A common word is one of them where it has a capital or stands beside another; neighbours are one name.
    """
    if known and text and fold(text) in fold(name):
        yield from find_names_in_id(text, known, stays)
        return
    view = normalise_signs(text)
    words = [s for m in _PART.finditer(view.text) for s in _split_camel(view.text, *m.span())] if known else []
    made: list[tuple[int, int]] = []
    for start, end in words:
        if view.text[start:end].casefold() not in known:
            continue
        first = made.pop()[0] if made and _BESIDE.fullmatch(view.text, made[-1][1], start) else start
        made.append((first, end))
    for start, end in made:
        said = view.text[start:end]
        if " " in said or not said.islower() or not is_common_word(said):
            yield Span("person", *view.place(start, end), " ".join(_PART.findall(said)).casefold())


def _split_camel(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """`PriyaRaman` as two words."""
    places = [start, *(m.start() for m in _CAMEL.finditer(text, start, end)), end]
    yield from pairwise(places)


def _classify(
    text: str, words: Sequence[tuple[int, int]], known: Collection[str], stays: Callable[[str], bool]
) -> list[str]:
    """The kind of each word, empty for those that stay."""
    folded = [text[start:end].casefold() for start, end in words]
    kinds = [_classify_word(word, known, stays) for word in folded]
    listed = list(kinds)
    for i, word in enumerate(folded):  # Rose Long: beside a name even a common word may be one
        if kinds[i] or _says_what(word) or (word in small_words() and not _has_list(word)):
            continue
        for j in (i - 1, i + 1):
            if not (0 <= j < len(words) and _BESIDE.fullmatch(text, words[min(i, j)][1], words[max(i, j)][0])):
                continue
            called = _has_list(word), _has_list(folded[j]) and not _says_what(folded[j])
            capitals = text[words[i][0]].isupper() and text[words[j][0]].isupper() and not _says_what(folded[j])
            if all(called) or (any(called) and capitals):
                kinds[i] = "person"
            elif listed[j]:
                kinds[i] = "name"
    return kinds


def _classify_word(word: str, known: Collection[str], stays: Callable[[str], bool]) -> str:
    """The kind of a word by itself, empty where it stays."""
    if word in known and not _says_what(word):
        return "person"
    if _says_what(word) or is_common_word(word) or word in read_names("software"):
        return ""
    if _has_list(word):
        return "person"
    return "" if stays(word) else "name"


def _has_list(word: str) -> bool:
    """Whether people are called so."""
    return is_given_name(word) or is_family_name(word)


def _says_what(word: str) -> bool:
    """Whether a word says what a file is, or is too short for a name."""
    return word in read_names("document") or len(word) < _SHORT
