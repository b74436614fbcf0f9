"""Names, times, labels and parts of speech, sentence by sentence."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.extraction import page_reader
from sensegraph.engines.offline.extraction.names import find_name_candidates
from sensegraph.engines.offline.extraction.page_reader import choose_name_rules
from sensegraph.engines.offline.extraction.sentence_words import locate_words
from sensegraph.language.dates import stated_dates
from sensegraph.language.speakers import write_label
from sensegraph.language.text import tag_words


def found(text: str, language: str = "en") -> list[str]:
    words = locate_words(text, [(0, len(text))])[0]
    barred = {i for span in stated_dates.find_times(text, 0, len(text)) for i in words.find_within(*span)}
    return [c.surface for c in find_name_candidates(words, text, 0, barred, language)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("we met President Lincoln there", ["Lincoln"]),
        ("so Malaysian Prime Minister Mahathir bin Mohamad spoke", ["Malaysian", "Mahathir bin Mohamad"]),
        ("the University of California in Los Angeles", ["University of California", "Los Angeles"]),
        ("at the 23rd Cannes Film Festival in May", ["23rd Cannes Film Festival"]),
        ("by J. R. R. Tolkien and others", ["J. R. R. Tolkien"]),
        ("the U.S. and Johnson & Johnson", ["U.S.", "Johnson & Johnson"]),
        ('they sang " Like Someone in Love " again', ["Like Someone in Love"]),
        ("a Japanese - American writer", ["Japanese", "American"]),
        ("he saw Microsoft's Azure", ["Microsoft", "Azure"]),
        ("it is Bitcoin because I said so", ["Bitcoin"]),
        ("the Trade and Foreign Affairs Ministry", ["Trade and Foreign Affairs Ministry"]),
        ("see Episode_29_Final.txt for more", []),
        ("it came on CD and DVD", []),
    ],
)
def test_a_sentence_gives_these_names(text: str, names: list[str]) -> None:
    assert found(text) == names


def test_a_word_that_opens_a_sentence_is_left_to_the_corpus() -> None:
    text = "Music met Prince."
    words = locate_words(text, [(0, len(text))])[0]
    (first, *_) = find_name_candidates(words, text, 0, (), "en")
    assert (first.first, first.inner) == ("music", -1)


def test_german_nouns_before_names_are_not_joined_to_them() -> None:
    assert found("das Vorwort von Luther", "de") == ["Vorwort", "Luther"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Aunque vivía en Sevilla, fue a la Isla de los Faros.", ["Sevilla", "Isla de los Faros"]),
        ("Cependant il quitta la Place des Vosges avec Marie.", ["Place des Vosges", "Marie"]),
        ("Однако он приехал в Тверь, где жил Иван Ломакин.", ["Тверь", "Иван Ломакин"]),
        ("Когда Анна вернулась, они жили у Байкала.", ["Анна", "Байкала"]),
    ],
)
def test_names_of_other_languages_hold_their_small_words_and_not_what_opens_sentences(
    text: str, names: list[str]
) -> None:
    assert found(text, "xx") == names


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("on 13 March 1963 in Oslo", ["13 March 1963"]),
        ("July 3, 1954 and the 1990s", ["July 3, 1954", "1990s"]),
        ("from 1801 - 1870", ["1801", "1870"]),
        ("in 1983–84", ["1983–84"]),
        ("the 16th century BCE", ["16th century BCE"]),
        ("a 20th Century Fox film", []),
        ("1,990 people and 3.1999", []),
        ("two weeks later", ["two weeks"]),
    ],
)
def test_times_are_found_as_they_are_written(text: str, stated: list[str]) -> None:
    assert [text[a:b] for a, b in stated_dates.find_times(text, 0, len(text))] == stated


@pytest.mark.parametrize(
    ("stated", "span"),
    [
        ("13 March 1963", ("1963-03-13", "1963-03-13")),
        ("February 2012", ("2012-02-01", "2012-02-29")),
        ("July 3, 1954", ("1954-07-03", "1954-07-03")),
        ("1990s", ("1990-01-01", "1999-12-31")),
        ("2008", ("2008-01-01", "2008-12-31")),
        ("two weeks", ("", "")),
        ("May", ("", "")),
        ("1997 - 8", ("", "")),
    ],
)
def test_dates_become_iso_only_where_the_text_states_them(stated: str, span: tuple[str, str]) -> None:
    assert stated_dates.read_iso_span(stated) == span


def test_labels_in_capitals_are_written_as_names() -> None:
    assert write_label("FEI-FEI LI") == "Fei-Fei Li"
    assert write_label("danah boyd") == "danah boyd"


def test_tags_tell_nouns_from_verbs_by_their_neighbours() -> None:
    assert tag_words("we want to work".split())[-1] == "b"
    assert tag_words("the work is hard".split())[1] in "nN"
    assert tag_words("don't xyzzing 12 ,".split()) == "mg#."


def test_a_document_is_put_together_from_overlapping_chunks() -> None:
    from sensegraph.types import Chunk

    chunks = (Chunk("a", "d", 5, 10, 0, "abcde"), Chunk("b", "d", 8, 13, 0, "defgh"), Chunk("c", "d", 15, 17, 0, "xy"))
    joined = page_reader.join_chunks(chunks)
    assert (joined.text, joined.base) == ("abcdefgh\n\nxy", 5)
    assert [joined.bounds(chunk) for chunk in chunks] == [(0, 5), (3, 8), (10, 12)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The cat is on the mat and it was there.", "en"),
        ("Die Katze ist auf der Matte und sie war nicht dort.", "de"),
        ("黑豹队的防守只丢了", "zh"),
        ("Кошка сидела на ковре " * 6, "xx"),
        ("القاهرة مدينة كبيرة جدا", "un"),
        ("", "en"),
    ],
)
def test_the_language_of_a_document_is_read_from_script_and_stop_words(text: str, code: str) -> None:
    assert choose_name_rules(text) == code
