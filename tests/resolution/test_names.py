"""Names as they are compared (N78)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.resolution import read


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
    assert read(raw).key == key


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
    assert read(raw, person=True).key == key


def test_numbers_are_found_however_they_are_written():
    assert read("World War II").numbers == read("World War 2").numbers == read("World War Two").numbers == ("2",)
    assert read("8GB iPod").numbers == ("8",)
    assert read("1,000 ships").numbers == ("1000",)
    assert read("GPT-4").numbers == ()


def test_codes_are_one_word_whatever_parts_them():
    assert read("Panasonic KX-TS208W").codes == read("Panasonic KXTS208W").codes == ("kxts208w",)
    assert read("MB739LL/A").codes == ("mb739lla",)
    assert read("010-10702-00").codes == ("0101070200",)
    assert read("Jean-Luc Picard").core == ("jean", "luc", "picard")


def test_what_stands_beside_a_name_is_kept_apart_from_it():
    assert (read("Mercury (planet)").key, read("Mercury (planet)").qualifier) == ("mercury", ("planet",))
    assert (read("北京市").key, read("北京市").kind) == ("北京", "city")
    assert (read("Mrs. Smith").key, read("Mrs. Smith").woman) == ("smith", True)
    assert read("Apple Inc.").legal == ("inc",)


def test_acronyms_have_letters_and_long_names_have_the_acronyms_that_they_may():
    assert read("U.N.").letters == read("UN").letters == "un"
    assert read("AT&T").letters == "att"
    assert read("Nations").letters == read("New York").letters == ""
    assert {"uno", "un"} & read("United Nations").acronyms == {"un"}
    assert {"ww2", "wwii"} <= read("World War II").acronyms
    assert {"bbc"} <= read("British Broadcasting Corporation").acronyms


@given(st.text(max_size=30), st.booleans())
def test_any_text_has_a_key_that_case_and_blanks_do_not_change(raw: str, person: bool):
    name = read(raw, person)
    assert bool(name.key) == bool(raw.split())
    assert read(f"  {raw}\n", person).key == name.key
