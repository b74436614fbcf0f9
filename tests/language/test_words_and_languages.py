"""Graphemes, terms, batches, the language of a text, stems, parts of speech, and the lists that they rest on."""

from __future__ import annotations

import re

import pytest

from sensegraph.engines.llm.language_names import name_language
from sensegraph.engines.offline.extraction.page_reader import choose_name_rules
from sensegraph.index.chunks import inside_grapheme
from sensegraph.language import text as text_module
from sensegraph.language import word_lists
from sensegraph.language.naming_words import COUNTRY, NICKNAMES, NUMBERS, ROMAN
from sensegraph.language.text import (
    collect_terms,
    detect_language,
    is_word_character,
    known_form,
    list_stems,
    name_stemmer,
    pack_batches,
    remember,
    stem_run,
    tag_words,
    take_within,
)


def take(items: list[int], budget: int) -> tuple[list[int], int]:
    return take_within(items, budget, int)


def pack(items: list[int], budget: int) -> list[list[int]]:
    return pack_batches(items, budget, int)


def write_mixed(words: int, listed: int, stops: str) -> str:
    """So many words, the first of which are the stop words in turns."""
    return " ".join((stops.split() * words)[:listed] + ["zorb"] * (words - listed))


def list_sorted_terms(text: str) -> list[str]:
    return sorted(collect_terms(text))


def tag_sentence(sentence: str) -> str:
    return tag_words(sentence.split())


def count_listed(language: str) -> int:
    words = ("the", "und", "however", "allerdings", "auch", "también", "januar", "although", "toen")
    return sum(word in word_lists.stop_words(language) for word in words)


def connects(language: str, word: str) -> bool:
    return word in word_lists.name_connectors(language)


def look_up(table: str, word: str) -> object:
    tables = {"NUMBERS": NUMBERS, "ROMAN": ROMAN, "NICKNAMES": NICKNAMES, "COUNTRY": COUNTRY}
    tables |= {"SHORT_FORMS": word_lists.SHORT_FORMS}
    return tables[table].get(word)


def is_listed(table: str, word: str) -> bool:
    lists = {
        "abbreviated months": frozenset(word_lists.ABBREVIATED_MONTHS),
        "beginnings of months": word_lists.MONTH_BEGINNINGS,
        "small words": word_lists.small_words(),
        "german": word_lists.read_lexicon("german")["stop"],
        "short months": frozenset(word_lists.SHORT_MONTHS),
    }
    return word in lists[table]


@pytest.mark.parametrize(
    ("text", "place", "start", "expected"),
    [
        ("\r\n", 1, 0, True),
        ("a\u200db", 1, 0, True),
        ("a\u200db", 2, 0, True),
        ("क्ष", 2, 0, True),
        ("🇩🇪🇫🇷", 3, 0, True),
        ("x🇩🇪", 2, 0, True),
        ("à", 1, 0, True),
        ("a\n", 1, 0, False),
    ],
)
def test_a_cut_may_part_a_grapheme(text: str, place: int, start: int, expected: bool) -> None:
    assert inside_grapheme(text, place, start) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都 京 well-known a’b a_b", ["a_b", "a’b", "well-known", "京", "京都", "東京"]),
    ],
)
def test_terms_of_scripts_without_blanks_are_pairs(text: str, expected: list[str]) -> None:
    assert list_sorted_terms(text) == expected


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("_", True),
    ],
)
def test_letters_digits_and_underscores_belong_to_words(character: str, expected: bool) -> None:
    assert is_word_character(character) == expected


@pytest.mark.parametrize(
    ("items", "budget", "expected"),
    [
        ([2, 3, 1], 5, ([2, 3], 1)),
    ],
)
def test_what_fits_is_taken_in_order(items: list[int], budget: int, expected: tuple[object, ...]) -> None:
    assert take(items, budget) == expected


@pytest.mark.parametrize(
    ("items", "budget", "expected"),
    [
        ([2, 3, 1], 5, [[2, 3], [1]]),
    ],
)
def test_batches_are_filled_to_the_budget(items: list[int], budget: int, expected: list[list[int]]) -> None:
    assert pack(items, budget) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat", "en"),
        ("zorb", "en"),
        ("der Hund", "en"),  # one small word is too few
        ("der Hund und die Katze", "de"),
        ("der und the a", "en"),  # as many English ones
        ("der und the", "de"),
        ("l’eau et les", "fr"),
        ("och inte", "sv"),
        ("det som og", "da"),
        ("um de", "pt"),  # of languages with as many, the one whose words fewer others share
        ("de los", "es"),
        ("nie jest", "pl"),
        ("東京abcd", "zh"),
        ("東 abc", "zh"),
        ("東 abcd", "en"),
        ("Он шёл", "ru"),
        ("ον ab", "en"),
        ("привет αβγδεζ", ""),
        ("x " * 1990 + "der und", "de"),
        ("x " * 1999 + "der und", "en"),
    ],
)
def test_small_words_and_scripts_of_the_beginning_tell_a_language(text: str, expected: str) -> None:
    assert detect_language(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("der Hund und die Katze", "german"), ("nie jest", "english"), ("東京", "english")]
)
def test_a_language_without_stop_words_for_search_is_stemmed_as_english(text: str, expected: str) -> None:
    assert name_stemmer(text) == expected


@pytest.mark.parametrize(
    ("words", "listed", "stops", "behind", "expected"),
    [
        (25, 3, "the", "", "xx"),
        (25, 4, "the", "", "en"),
        (24, 3, "the", "", "xx"),
        (23, 3, "the", "", "en"),
        (25, 3, "der und", "", "xx"),
        (25, 4, "der und", "", "de"),
        (19, 0, "", "", "en"),
        (20, 0, "", "", "xx"),
        (25, 4, "och inte", "", "xx"),
        (0, 0, "", "东京 abcdefgh", "en"),
        (0, 0, "", "東 abc", "zh"),
        (0, 0, "", "שלום abcd", "en"),
        (0, 0, "", "שלום abc", "un"),
        (0, 0, "", "αβγδ", "xx"),
    ],
)
def test_a_language_and_its_stop_words_tell_the_rules_for_names(
    words: int, listed: int, stops: str, behind: str, expected: str
) -> None:
    assert choose_name_rules(write_mixed(words, listed, stops) + behind) == expected


def test_a_script_is_told_from_the_beginning() -> None:
    assert choose_name_rules("a" * 3999 + "שלום" * 8000) == "en"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("US it IT", ["us", "it"]),
        ("東京都", ["東京", "京都"]),
        ("京", ["京"]),
        ("Häuser und Hafen der Stadt", ["haus", "haf", "stadt"]),
        ("маяки и дома", ["маяк", "и", "дом"]),
    ],
)
def test_terms_are_stems_or_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert list_stems(text) == expected


@pytest.mark.parametrize(
    ("word", "spoken", "expected"),
    [
        ("À", "french", ()),
    ],
)
def test_a_run_is_stemmed_in_its_language(word: str, spoken: str, expected: tuple[object, ...]) -> None:
    assert stem_run(word, spoken) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("don't", "m"),
        ("Tom's", "s"),
        ("over-size", "N"),
        ("x-", "J"),
        ("THE", "d"),
        ("he can light the lamps", "ombdN"),
        ("quickly's", "v"),
    ],
)
def test_words_are_tagged_by_list_form_and_neighbours(sentence: str, expected: str) -> None:
    assert tag_sentence(sentence) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("fog", True),
        ("foggier", True),
        ("los", False),
    ],
)
def test_a_regular_form_of_a_common_word_is_known(word: str, expected: bool) -> None:
    assert known_form(word) == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("xx", 9),
    ],
)
def test_stop_words_are_those_of_the_language(language: str, expected: int) -> None:
    assert count_listed(language) == expected


@pytest.mark.parametrize(
    ("language", "word", "expected"),
    [
        ("en", "of", True),
    ],
)
def test_connectors_stand_inside_names_of_the_language(language: str, word: str, expected: bool) -> None:
    assert connects(language, word) == expected


@pytest.mark.parametrize(
    ("table", "word", "expected"),
    [
        ("abbreviated months", "jan", True),
        ("beginnings of months", "janu", False),
    ],
)
def test_lists_hold_what_their_names_say(table: str, word: str, expected: bool) -> None:
    assert is_listed(table, word) == expected


@pytest.mark.parametrize(
    ("table", "word", "expected"),
    [
        ("SHORT_FORMS", "jan", 1),
        ("SHORT_FORMS", "may", None),
        ("SHORT_FORMS", "sept", 9),
        ("SHORT_FORMS", "okt", 10),
        ("SHORT_FORMS", "dez", 12),
        ("SHORT_FORMS", "mär", 3),
        ("SHORT_FORMS", "mrz", 3),
        ("SHORT_FORMS", "jän", 1),
        ("SHORT_FORMS", "jänner", 1),
    ],
)
def test_forms_are_looked_up(table: str, word: str, expected: int | None) -> None:
    assert look_up(table, word) == expected


def test_a_pattern_is_compiled_when_it_is_first_asked_for() -> None:
    cues = word_lists.Patterns("causes", re.IGNORECASE)
    assert not cues
    assert cues["asks why"].search("WHY did the ferry stop?")
    assert list(cues) == ["asks why"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Who is the harbour master of Lindholm?", "English"),
        ("Was sind die wichtigsten Themen?", "German"),
        ("Quels sont les thèmes principaux de ces documents ?", "French"),
        ("Какие основные темы этих документов?", "Russian"),
        ("主要主题是什么", "Chinese"),
        ("主要なテーマは何ですか", "Japanese"),
        ("Hvad er hovedemnerne i disse dokumenter, og hvem er det af dem?", "Danish"),
        ("Hva er hovedtemaene i disse dokumentene, og hvem var av dem som ikke kom?", ""),  # Norwegian
        ("Які основні теми цих документів?", ""),  # Ukrainian
        (
            "Hän on ollut siellä, ja he menivät sinne, mutta me emme.",
            "",
        ),  # Finnish: on, he and me are small words there
        ("Bu belgelerin ana temaları nelerdir?", ""),
        ("Themes", ""),
        ("", ""),
    ],
)
def test_a_language_is_named_only_where_it_is_sure(text: str, name: str) -> None:
    assert name_language(text) == name


def test_the_lexicon_is_its_words_and_not_what_is_said_of_it() -> None:
    letters = text_module._load_letters.__wrapped__()  # loaded anew
    assert [dict.get(letters, w) for w in ("house", "walked", "walking", "green", "the", "isn't", "lexicon")] == [
        "n", "v", "g", "J", "d", "m", "N",
    ]  # fmt: skip
    assert not [w for w in letters if w != w.lower() or w in ("0.20.1", "pattern.en")]


def test_what_was_found_in_a_text_is_not_looked_for_again_until_so_many_others_came() -> None:
    looked: list[str] = []

    @remember(2)
    def measure(text: str) -> int:
        looked.append(text)
        return len(text)

    assert [measure(text) for text in ("", "\ud800", "", "\ud800")] == [0, 1, 0, 1]
    assert looked == ["", "\ud800"]
    assert [measure(text) for text in ("three", "three", "")] == [5, 5, 0]
    assert looked == ["", "\ud800", "three", ""]
