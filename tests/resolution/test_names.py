"""Names as they are compared (N78)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.resolution import read_name


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("The Apple, Inc.", "apple"),
        ("Toyota Motor Co., Ltd.", "toyota motor"),
        ("Scrooge’s", "scrooge"),
        ("  New\u00a0 York ", "new york"),
        ("U.S.A.", "usa"),
        ("Dr. John Watson", "john watson"),
        ("Straße", "strasse"),
        ("Ελλάδα", "ελλαδα"),
        ("Ёлка", "елка"),
        ("हिन्दी", "हिन्दी"),
        ("Dept. of Defence", "department of defense"),
        ("Henry VIII", "henry 8"),
        ("Second World War", "2 world war"),
        ("General Motors", "general motors"),
        ("The Who", "who"),
        ("Inc.", "inc"),
        ("?!", "?!"),
        ("", ""),
    ],
)
def test_the_key_leaves_out_what_says_little(raw: str, key: str):
    assert read_name(raw).key == key


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("King Charles", "charles"),
        ("Smith, John", "john smith"),
        ("John Smith, Jr.", "john smith jr"),
        ("King", "king"),
    ],
)
def test_titles_and_the_order_of_a_register_are_read_in_names_of_persons(raw: str, key: str):
    assert read_name(raw, person=True).key == key


def test_numbers_are_found_however_they_are_written():
    assert (
        read_name("World War II").numbers
        == read_name("World War 2").numbers
        == read_name("World War Two").numbers
        == ("2",)
    )
    assert read_name("8GB iPod").numbers == ("8",)
    assert read_name("1,000 ships").numbers == ("1000",)
    assert read_name("GPT-4").numbers == ()


def test_codes_are_one_word_whatever_parts_them():
    assert read_name("Panasonic KX-TS208W").codes == read_name("Panasonic KXTS208W").codes == ("kxts208w",)
    assert read_name("MB739LL/A").codes == ("mb739lla",)
    assert read_name("010-10702-00").codes == ("0101070200",)
    assert read_name("Jean-Luc Picard").core == ("jean", "luc", "picard")


def test_what_stands_beside_a_name_is_kept_apart_from_it():
    assert (read_name("Mercury (planet)").key, read_name("Mercury (planet)").qualifier) == ("mercury", ("planet",))
    assert (read_name("北京市").key, read_name("北京市").kind) == ("北京", "city")
    assert (read_name("Mrs. Smith").key, read_name("Mrs. Smith").woman) == ("smith", True)
    assert read_name("Apple Inc.").legal == ("inc",)


def test_acronyms_have_letters_and_long_names_have_the_acronyms_that_they_may():
    assert read_name("U.N.").letters == read_name("UN").letters == "un"
    assert read_name("AT&T").letters == "att"
    assert read_name("Nations").letters == read_name("New York").letters == ""
    assert {"uno", "un"} & read_name("United Nations").acronyms == {"un"}
    assert {"ww2", "wwii"} <= read_name("World War II").acronyms
    assert {"bbc"} <= read_name("British Broadcasting Corporation").acronyms


@given(st.text(max_size=30), st.booleans())
def test_any_text_has_a_key_that_case_and_blanks_do_not_change(raw: str, person: bool):
    name = read_name(raw, person)
    assert bool(name.key) == bool(raw.split())
    assert read_name(f"  {raw}\n", person).key == name.key
