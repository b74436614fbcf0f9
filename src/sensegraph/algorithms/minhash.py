"""Texts with many character trigrams in common, by MinHash signatures cut into bands: near-linear in their length.

Broder 1997, On the resemblance and containment of documents; banding as in Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, §3.4. Equal input gives equal bands, on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def hash_bands(texts: Sequence[str], *, count: int = 12, rows: int = 3) -> Hashes:
    """The bands of each text's signature, shape (n, `count`): two texts that share one are candidates.

    Of two texts whose sets of trigrams have the Jaccard coefficient s, a share 1 − (1 − s^`rows`)^`count` do.
    """
    if not len(texts):
        return np.zeros((0, count), np.uint64)
    grams, start = _hash_trigrams(texts)
    found = np.zeros((len(texts), count), np.uint64)
    for band in range(count):
        for row in range(rows):
            mixed = _mix_bits(grams ^ np.uint64((band * rows + row + 1) * 0x2545F4914F6CDD1D % (1 << 64)))
            least = np.minimum.reduceat(mixed, start)
            found[:, band] = _mix_bits(found[:, band] ^ least)
    return found


def _mix_bits(values: Hashes) -> Hashes:
    """A finaliser: every bit of the input changes half of the bits of the output."""
    mixed = values * _BASE
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX
    return mixed ^ (mixed >> np.uint64(32))


def mix_hashes(values: Hashes) -> Hashes:
    """Numbers of which every bit depends on all of a number's."""
    mixed = (values ^ (values >> np.uint64(31))) * _BASE
    return (mixed ^ (mixed >> np.uint64(29))) * _MIX


def _hash_trigrams(texts: Sequence[str]) -> tuple[Hashes, NDArray[np.int64]]:
    """The hashes of all trigrams of each text, blanks around it included, and where those of each begin."""
    padded = [f"  {text} " for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint64)
    sizes = np.array([len(p) for p in padded], np.int64)
    begins = np.cumsum(sizes) - sizes
    rolled = (letters[:-2] << np.uint64(42)) ^ (letters[1:-1] << np.uint64(21)) ^ letters[2:]
    inside = np.ones(len(rolled), np.bool_)
    ends = begins[1:]
    inside[ends - 1] = inside[ends - 2] = False
    counts = sizes - 2
    return rolled[inside], np.cumsum(counts) - counts
