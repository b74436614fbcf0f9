"""What two texts share, word by word, in any script: ROUGE-1, ROUGE-2 and ROUGE-L.

source: Lin 2004. On ASCII text the words are those of the usual library (runs of letters and digits, without regard to
case); elsewhere they are Unicode words with their accents and vowel signs, and each character of a script that is
written without spaces is one. The usual library sees nothing but a-z and 0-9: other scripts score 0 there, and "Zürich"
falls in two.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, LCSseq
from rapidfuzz.process import cdist

Floats = NDArray[np.float64]

_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SIGNS = (  # accents, points and vowel signs that stand apart from their letter, and the joiners inside words
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06ed\u0900-\u0903\u093a-\u0963\u0981-\u0df3\u200c\u200d"
)
_WORD = re.compile(rf"[{_UNSPACED}]|(?![{_UNSPACED}])[^\W_](?:(?![{_UNSPACED}])[^\W_]|[{_SIGNS}])*")


def split_words(text: str) -> list[str]:
    """The words of `text`, in order, without regard to case; composed and decomposed letters are the same."""
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


def rouge_1(candidate: str, reference: str) -> float:
    """F1 of the words that the two share, each as often as both have it; 0 where one has none."""
    ours, theirs = split_words(candidate), split_words(reference)
    return _shared_f1((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def rouge_2(candidate: str, reference: str) -> float:
    """F1 of the pairs of neighbouring words that the two share; 0 where one has none."""
    ours, theirs = list(pairwise(split_words(candidate))), list(pairwise(split_words(reference)))
    return _shared_f1((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def rouge_l(candidate: str, reference: str) -> float:
    """F1 of the longest common sequence of words; 0 where one has none."""
    ours, theirs = split_words(candidate), split_words(reference)
    return _shared_f1(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def rouge_distances(texts: Sequence[str]) -> Floats:
    """1 − ROUGE-L of every pair, shape (n, n); two texts without a word are as far apart as can be."""
    listed = [split_words(t) for t in texts]
    if not listed:
        return np.zeros((0, 0))
    apart: Floats = cdist(listed, listed, scorer=Indel.normalized_distance, dtype=np.float64)
    empty = np.array([not found for found in listed])
    apart[np.ix_(empty, empty)] = 1.0
    np.fill_diagonal(apart, 0.0)
    return apart


def _shared_f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if ours and theirs else 0.0
