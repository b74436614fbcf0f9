"""Signatures of texts, against the same sums in whole numbers of Python, one letter after another."""

from __future__ import annotations

import pytest

from sensegraph.algorithms.minhash import hash_bands

WIDE = 1 << 64


def mix(value: int) -> int:
    value = value * 0x9E3779B97F4A7C15 % WIDE
    value = (value ^ value >> 29) * 0xBF58476D1CE4E5B9 % WIDE
    return value ^ value >> 32


def bands_by_hand(text: str, count: int, rows: int) -> list[int]:
    letters = [ord(letter) for letter in f"  {text} "]
    grams = [a << 42 ^ b << 21 ^ c for a, b, c in zip(letters, letters[1:], letters[2:], strict=False)]
    found = []
    for band in range(count):
        value = 0
        for row in range(rows):
            lot = (band * rows + row + 1) * 0x2545F4914F6CDD1D % WIDE
            value = mix(value ^ min(mix(gram ^ lot) for gram in grams))
        found.append(value)
    return found


TEXTS = ["", "a", "Ada", "Ada Finch", "哈勃", "🌊 and salt"]


@pytest.mark.parametrize(("count", "rows"), [(1, 1), (2, 3), (5, 2)])
def test_bands_are_those_of_the_least_mixed_trigrams(count: int, rows: int) -> None:
    found = hash_bands(TEXTS, count=count, rows=rows)
    assert found.tolist() == [bands_by_hand(text, count, rows) for text in TEXTS]


def test_twelve_bands_of_three_rows_are_usual_and_no_texts_have_none() -> None:
    assert hash_bands(["salt"]).tolist() == [bands_by_hand("salt", 12, 3)]
    assert hash_bands([]).shape == (0, 12)
    assert hash_bands([], count=4).shape == (0, 4)
