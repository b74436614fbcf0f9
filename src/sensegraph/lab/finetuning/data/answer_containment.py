"""Whether a text holds another: an answer, or a passage; case, width and white space do not count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from sensegraph.lab.finetuning.data.example_types import Passage, SourceQuestion
from sensegraph.language.text import HAN, fold

_RUN = re.compile(r"\w+")  # Scrooge's holds Scrooge
_POLAR = frozenset(("yes", "no"))
_folded = lru_cache(maxsize=4096)(fold)  # a passage is compared with many


def count_answer_words(answer: str) -> int:
    """The number of words of an answer; of a script without spaces the number of its characters."""
    return sum(len(w) if HAN.search(w) else 1 for w in _RUN.findall(answer))


def is_polar(answer: str) -> bool:
    """Whether an answer is yes or no, which a text may hold without saying anything of the question."""
    return fold(answer).strip(".! ") in _POLAR


def contains_answer(text: str, answer: str) -> bool:
    """Whether `text` holds `answer` as whole words, or, in a script without spaces, as it is written."""
    if HAN.search(answer):
        return fold(answer) in _folded(text)
    sought = _space_words(answer)
    return bool(sought.strip()) and sought in _space_words(text)


def _space_words(text: str) -> str:
    """The folded words of `text` with one blank around each."""
    return f" {' '.join(_RUN.findall(_folded(text)))} "


def find_answer(text: str, answers: Iterable[str], least: int = 1) -> str:
    """The first of `answers` with at least `least` words that `text` holds; yes and no are not looked for."""
    return next(
        (a for a in answers if count_answer_words(a) >= least and not is_polar(a) and contains_answer(text, a)), ""
    )


def overlaps_passage(one: Passage, other: Passage) -> bool:
    """Whether two passages show the same stretch of one document, or one holds the whole text of the other."""
    (home, start, end), (place, begin, stop) = one.place, other.place
    if home == place and start < stop and begin < end:
        return True
    a, b = _folded(one.text), _folded(other.text)
    return a in b or b in a


def reject_distractor(passage: Passage, asked: SourceQuestion, chosen: Iterable[Passage], leak_words: int) -> str:
    """Why a passage cannot be a distractor of a question beside those that were chosen; nothing where it can."""
    if any(overlaps_passage(passage, p) for p in asked.oracles):
        return "overlaps a gold passage"
    if any(overlaps_passage(passage, p) for p in chosen):
        return "overlaps another distractor"
    return "holds the answer" if find_answer(passage.text, asked.answers, leak_words) else ""
