"""What two texts share, word by word, in any script: ROUGE-1 and ROUGE-L.

source: Lin 2004. On ASCII text the words are those of the usual library (runs of letters and digits, without regard to
case); elsewhere they are Unicode words, and each character of a script that is written without spaces is one. The usual
library sees nothing but a-z and 0-9: other scripts score 0 there, and "Zürich" falls in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, LCSseq
from rapidfuzz.process import cdist

Floats = NDArray[np.float64]

_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|"
    r"(?:(?![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[^\W_])+"
)


def words(text: str) -> list[str]:
    """The words of `text`, in order, without regard to case."""
    return _WORD.findall(text.lower())


def rouge_1(candidate: str, reference: str) -> float:
    """F1 of the words that the two share, each as often as both have it; 0 where one has none."""
    ours, theirs = words(candidate), words(reference)
    return _f1((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def rouge_l(candidate: str, reference: str) -> float:
    """F1 of the longest common sequence of words; 0 where one has none."""
    ours, theirs = words(candidate), words(reference)
    return _f1(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def distances(texts: Sequence[str]) -> Floats:
    """1 − ROUGE-L of every pair, shape (n, n); two texts without a word are as far apart as can be."""
    listed = [words(t) for t in texts]
    if not listed:
        return np.zeros((0, 0))
    apart: Floats = cdist(listed, listed, scorer=Indel.normalized_distance, dtype=np.float64)
    empty = np.array([not found for found in listed])
    apart[np.ix_(empty, empty)] = 1.0
    np.fill_diagonal(apart, 0.0)
    return apart


def _f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if ours and theirs else 0.0
