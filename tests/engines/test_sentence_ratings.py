"""How well a sentence reads by itself, what describes a thing, which words link two names, and what is claimed."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.extraction.document_reader import (
    StatedSentence,
    has_finite_verb,
    rate_description,
    rate_readability,
    select_claims,
)


def rate_words(words: int, end: str, english: bool) -> float:
    return rate_readability(("word " * words).strip() + end, english)


def rate_opening(sentence: str) -> float:
    return round(rate_readability(sentence, True), 6)


def describe(text: str, name: str, first: int, english: bool) -> float:
    """How much the sentence that begins at `first` says about a name in it."""
    start = text.index(name)
    return round(rate_description(text, start, start + len(name), (first, len(text)), english), 6)


def claim(rows: list[tuple[str, list[str], list[str], int]]) -> list[tuple[str, str, str, str, str, str]]:
    """The claims of sentences, each with its names, its times, and how many numbers it holds."""
    stated = [StatedSentence(t, 100 * i, 100 * i + len(t), n, d, k) for i, (t, n, d, k) in enumerate(rows)]
    return [(c.subject, c.object, c.type, c.status, c.starts, c.ends) for c in select_claims(stated)]


@pytest.mark.parametrize(
    ("words", "end", "english", "expected"),
    [
        (5, ".", False, 0.6),
        (5, "", True, 0.1),
        (10, ".", True, 1.0),
        (42, ".", True, 1.0),
        (42, ".", False, 0.6),
        (12, "?", True, 0.4),
    ],
)
def test_a_sentence_reads_well_between_ten_and_42_words(words: int, end: str, english: bool, expected: float) -> None:
    assert rate_words(words, end, english) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It is what she and they and we said of him there.", 0.64),
    ],
)
def test_open_pronouns_read_badly(sentence: str, expected: float) -> None:
    assert rate_opening(sentence) == expected


@pytest.mark.parametrize(
    ("text", "name", "first", "english", "expected"),
    [
        ("Ada Finch is a keeper of the lamp on the rock out there.", "Ada Finch", 0, True, 2.3),
        ("The keeper of the lamp is Ada Finch who is there for all years.", "Ada Finch", 0, True, 1.130435),
        ("x. The man is Ada Finch.", "Ada Finch", 3, True, 0.393548),
        (
            ("The very very very very very very very very very very old keeper Ada Finch is a man of the rock."),
            "Ada Finch",
            0,
            True,
            1.070588,
        ),
    ],
)
def test_what_defines_a_thing_describes_it(text: str, name: str, first: int, english: bool, expected: float) -> None:
    assert describe(text, name, first, english) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["the", "keeper", "kept", "the", "lamp"], True),
    ],
)
def test_a_sentence_has_a_finite_verb(words: list[str], expected: bool) -> None:
    assert has_finite_verb(words) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch", "Bell Rock"], [], 0)],
            [("Ada Finch", "Bell Rock", "FACT", "TRUE", "", "")],
        ),
        (
            [("Reportedly Ada Finch attacked the Bell Rock with Tom Reeve.", ["Ada Finch", "Bell Rock"], [], 0)],
            [("Ada Finch", "Bell Rock", "FACT", "SUSPECTED", "", "")],
        ),
        ([("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch"], [], 0)], []),
        (
            [
                (
                    "Ada Finch bought the Bell Rock from Tom Reeve in 1842.",
                    ["Ada Finch", "Bell Rock"],
                    ["1842", "May 1850"],
                    2,
                )
            ],
            [("Ada Finch", "Bell Rock", "ACQUISITION", "TRUE", "1842-01-01", "1850-05-31")],
        ),
        (
            [
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Ada Finch did not keep the lamp of the Bell Rock.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Ada Finch may have kept the lamp of the Bell Rock.", ["Ada Finch", "Bell Rock"], [], 0),
                ("In May Ada Finch kept the lamp of the Bell Rock.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Did Ada Finch keep the lamp of the Bell Rock in 1842?", ["Ada Finch", "Bell Rock"], [], 0),
                ("The lamp of the Bell Rock and the boats of Ada Finch.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Ada Finch bought the Bell Rock from Tom Reeve in 1842.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Reportedly Ada Finch attacked the Bell Rock with Tom Reeve.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Ada Finch wasn’t at the Bell Rock with Tom Reeve then.", ["Ada Finch", "Bell Rock"], [], 0),
            ],
            [
                ("Ada Finch", "Bell Rock", "FACT", "TRUE", "", ""),
                ("Ada Finch", "Bell Rock", "FACT", "FALSE", "", ""),
                ("Ada Finch", "Bell Rock", "FACT", "SUSPECTED", "", ""),
                ("Ada Finch", "Bell Rock", "FACT", "TRUE", "", ""),
            ],
        ),
        (
            [
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch"], [], 1),
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch", "Bell Rock"], [], 0),
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch", "Bell Rock"], ["1842"], 0),
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch"], ["1842"], 0),
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch", "Bell Rock"], ["1842"], 1),
                ("Ada Finch kept the lamp of the Bell Rock for ten years.", ["Ada Finch"], [], 1),
            ],
            [
                ("Ada Finch", "Bell Rock", "FACT", "TRUE", "", ""),
                ("Ada Finch", "Bell Rock", "FACT", "TRUE", "1842-01-01", "1842-12-31"),
                ("Ada Finch", "NONE", "FACT", "TRUE", "1842-01-01", "1842-12-31"),
                ("Ada Finch", "Bell Rock", "FACT", "TRUE", "1842-01-01", "1842-12-31"),
            ],
        ),
    ],
)
def test_the_sentences_that_state_most_are_claims(
    rows: list[tuple[object, ...]], expected: list[tuple[object, ...]]
) -> None:
    assert claim(rows) == expected
