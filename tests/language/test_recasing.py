"""Names in text without its capitals: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.sentences import split_sentences
from sensegraph.language.truecase import rate_capital, recase_text


def recase(text: str) -> str:
    return recase_text(text, split_sentences(text))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("oslo", 1.0),
        ("march", 0.0),
        ("finch", 0.85),
        ("reading", 0.3),
        ("zorbing", 0.5),
        ("zorber", 0.85),
        ("boater", 0.0),
        ("turkey", 1.0),
        ("quillfeather", 0.0),
        ("reading's", 0.3),
        ("sea-lamp", 0.0),
        ("overlit", 0.85),
        ("lighthouse", 0.95),
    ],
)
def test_a_word_is_rated_by_lists_and_form(word: str, expected: float) -> None:
    assert rate_capital(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "the old committee met on monday and decided nothing about the budget of the next year.",
            "The old committee met on Monday and decided nothing about the budget of the next year.",
        ),
        (
            "in may he met dr. smith and martha ostrevin at the university of oxford in march 1990.",
            "In may he met dr. Smith and Martha Ostrevin at the University of Oxford in March 1990.",
        ),
        (
            ("HOW QUILLFEATHER CAME BACK\n\nThey say Quillfeather came back late, and how it was, nobody knew."),
            ("How Quillfeather came back\n\nThey say Quillfeather came back late, and how it was, nobody knew."),
        ),
        (
            (
                "Installing The New Package With Debian\n\nThe manual of Debian says how a new "
                "package comes, installing it first."
            ),
            (
                "Installing the new package with Debian\n\nThe manual of Debian says how a new "
                "package comes, installing it first."
            ),
        ),
        (
            ("the portuguese government and the german army met bill finch's brother mr. tom zorb there"),
            ("The Portuguese government and the German Army met Bill Finch's brother mr. Tom Zorb there"),
        ),
        (
            "Then he left for portugal. Then she was in canada with anna.",
            "Then he left for Portugal. Then she was in Canada with Anna.",
        ),
        (
            "The tool reads stdin with chmod or grep. Then it writes the stdout of nroff.",
            "The tool reads stdin with chmod or grep. Then it writes the stdout of nroff.",
        ),
        (
            "she is in the mr smith house with saint mary and st john of the new york times there",
            "She is in the MR Smith House with Saint Mary and St John of the New York Times there",
        ),
        ("aa bb cc dd ee ff gg hh", "Aa bb cc dd ee ff gg hh"),
        (
            ("THE BELL\n\nThey say the bell rang there and no Bell was there but one, and they say so."),
            ("THE BELL\n\nThey say the bell rang there and no Bell was there but one, and they say so."),
        ),
        (
            ("Big Boats Zorb Quux\n\nthey say that it was hard for all of them there, Anna said, it is so."),
            ("Big Boats Zorb Quux\n\nthey say that it was hard for all of them there, Anna said, it is so."),
        ),
        (
            ("Big Boats Zorb\n\nthey say that it was hard for all of them there, Anna said, it is so."),
            ("Big Boats Zorb\n\nthey say that it was hard for all of them there, Anna said, it is so."),
        ),
        (
            "so in the lake of the oslo hills and in the hills of oslo they were all there",
            "So in the Lake of the Oslo Hills and in the Hills of Oslo they were all there",
        ),
        (
            "the bbc and tv and mps and brrr and tsk tsktsk there were all of them so",
            "The BBC and tv and MPS and BRRR and tsk Tsktsk there were all of them so",
        ),
        (
            "in 1815 march came; by 3 march and march 4 we may go, may 5 or 6 may it be",
            "In 1815 March came; by 3 March and March 4 we may go, May 5 or 6 May it be",
        ),
    ],
)
def test_text_without_capitals_gets_likely_ones(text: str, expected: str) -> None:
    assert recase(text) == expected
