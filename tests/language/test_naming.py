"""Labels of speakers, words of sentences and languages, each rule on small examples."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.extraction.page_reader import choose_name_rules
from sensegraph.engines.offline.reports.report_parts import _can_close
from sensegraph.engines.offline.reports.sentence_quality import is_third_person, rate_soundness
from sensegraph.language.noun_phrases import Reader
from sensegraph.language.speakers import recase_label
from sensegraph.resolution.comparison.name_reading import _read_acronym


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("FEI-FEI LI", "Fei-Fei Li"),
        ("KEVIN'S FRIEND", "Kevin's Friend"),
        ("O'NEILL", "O'Neill"),
        ("MARY-JO O'B", "Mary-Jo O'b"),
        ("D'ARCY", "D'Arcy"),
        ("MCKAY", "McKay"),
        ("MCA", "Mca"),
        ("JJ ABRAMS", "JJ Abrams"),
        ("AL GORE", "Al Gore"),
        ("TJ", "Tj"),
        ("LUDWIG VAN BEETHOVEN", "Ludwig van Beethoven"),
        ("VAN MORRISON", "Van Morrison"),
        ("Ann LEE", "Ann Lee"),
        ("J.R. EWING", "J.R. Ewing"),
    ],
)
def test_a_label_in_capitals_is_written_as_a_name(label: str, name: str) -> None:
    assert recase_label(label) == name


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("NASA", "nasa"),
        ("U.S.A.", "usa"),
        ("AT&T", "att"),
        ("IoT", "iot"),
        ("PhD", "phd"),
        ("Iot", ""),
        ("nasa", ""),
        ("A", ""),
        ("ABCDEFG", "abcdefg"),
        ("ABCDEFGH", ""),
        ("US NAVY", ""),
        ("AB", "ab"),
        ("Ab", ""),
    ],
)
def test_an_acronym_has_two_to_seven_letters_all_but_one_capitals(text: str, letters: str) -> None:
    assert _read_acronym(text) == letters


@pytest.mark.parametrize(
    ("before", "word", "after", "verb"),
    [
        ("computers", "predict", "the", True),
        ("computers", "predict", "winds", False),
        ("computers", "the", "the", False),
        ("computers", "predicts", "the", False),
        ("computers", "early", "the", False),
        ("protein", "binds", "to", True),
        ("protein", "bind", "to", False),
        ("protein", "binds", "of", False),
        ("protein", "binds", "iron", False),
        ("protein", "process", "to", False),
        ("protein", "virus", "to", False),
        ("protein", "ann's", "to", False),
        ("the", "costs", "to", False),
        ("quickly", "binds", "to", False),
    ],
)
def test_an_unlisted_verb_is_told_by_its_neighbours(before: str, word: str, after: str, verb: bool) -> None:
    assert is_third_person(before, word, after) == verb


@pytest.mark.parametrize(
    ("word", "can"),
    [("", False), ("harbour", True), ("the", False), ("slowly", False), ("we", False), ("built", False), ("go", False)],
)
def test_a_clause_ends_with_a_thing(word: str, can: bool) -> None:
    assert _can_close(word) == can


def test_a_sound_sentence_counts_in_full() -> None:
    assert rate_soundness("Wind farms need steady wind.") == 1.0


def test_a_run_of_nouns_is_a_phrase_where_a_noun_ends_it() -> None:
    read = Reader().phrases
    assert read("The stone bridge is closed.") == ("stone bridge",)
    assert read("We saw the political crisis.") == ("political crisis",)
    assert read("The bridge is old.") == ()


def test_a_language_is_told_from_the_first_forty_thousand_characters() -> None:
    english = "The mill stands by the river and it is old, as we know. " * 800
    german = "Die Mühle steht an dem Fluss und sie ist alt, wie wir alle wissen. " * 8000
    assert len(english) > 40_000 < len(german) / 10
    assert choose_name_rules(english + german) == choose_name_rules(english) == "en"
    assert choose_name_rules(english[:100] + german) == choose_name_rules(german) == "de"
