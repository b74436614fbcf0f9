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
        ("A-J", "a j"),
        ("A J", "a j"),
        ("MS-DOS", "ms dos"),
        ("Ms. Jones-Hall", "jones hall"),
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
    assert {"uno", "un"} & {*read_name("United Nations").acronyms} == {"un"}
    assert {"ww2", "wwii"} <= {*read_name("World War II").acronyms}
    assert "bbc" in read_name("British Broadcasting Corporation").acronyms


@given(st.text(max_size=30), st.booleans())
def test_any_text_has_a_key_that_case_and_blanks_do_not_change(raw: str, person: bool):
    name = read_name(raw, person)
    assert bool(name.key) == bool(raw.split())
    assert read_name(f"  {raw}\n", person).key == name.key


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("Henry V", ("henry", "5")),
        ("Henry V Adams", ("henry", "v", "adams")),  # a letter is a number only at the end
        ("Henry II Adams", ("henry", "2", "adams")),
        ("II Lamp", ("ii", "lamp")),
        ("V", ("v",)),
        ("henry ii", ("henry", "ii")),
        ("Realise colours", ("realize", "colors")),
        ("Our wise metre", ("our", "wise", "metre")),  # words below six letters stay
    ],
)
def test_roman_numbers_stand_behind_a_name(raw: str, words: tuple[str, ...]):
    assert read_name(raw).words == words
    assert read_name("Henry (II)").qualifier == ("ii",)
    assert read_name("Henry (V)").qualifier == ("v",)


@pytest.mark.parametrize(
    ("raw", "generation"),
    [
        ("John Adam Smith Jr.", "jr"),
        ("Henry VIII", "8"),
        ("Henry 29", "29"),
        ("Area 30", ""),
        ("Jr.", ""),
        ("Jr. John Smith", ""),
    ],
)
def test_a_generation_stands_last_and_is_below_thirty(raw: str, generation: str):
    assert read_name(raw, person=True).generation == generation


def test_a_title_alone_is_a_name_and_no_title():
    assert (read_name("Mrs.", True).woman, read_name("Mr.", True).man) == (False, False)
    assert (read_name("Mrs. Lee", True).woman, read_name("Mrs. Lee", True).man) == (True, False)
    assert (read_name("Mr. Lee", True).woman, read_name("Mr. Lee", True).man) == (False, True)
    assert (read_name("Dr. Mr. Lee", True).man, read_name("Ann Lee Mr", True).man) == (True, False)


def test_legal_forms_and_degrees_are_taken_from_the_end():
    assert (read_name("Toyota Motor Co. and Ltd.").core, read_name("Toyota Motor Co. and Ltd.").legal) == (
        ("toyota", "motor"),
        ("co", "and", "ltd"),
    )
    assert read_name("Lamp and Ltd.").core == ("lamp",)
    assert read_name("John Adam Smith MD PhD", True).core == ("john", "adam", "smith")
    assert read_name("Smith PhD", True).core == ("smith", "phd")


def test_an_acronym_has_two_to_seven_letters_of_which_one_may_be_small():
    letters = {raw: read_name(raw).letters for raw in ("NASa", "NAsa", "N", "ABCDEFG", "ABCDEFGH", "A. B.", "A B")}
    assert letters == {
        "NASa": "nasa", "NAsa": "", "N": "", "ABCDEFG": "abcdefg", "ABCDEFGH": "", "A. B.": "ab", "A B": ""
    }  # fmt: skip
    assert read_name("Bank of England").acronyms == ("be", "boe")
    assert read_name("England").acronyms == ()
    assert "abcdefgh" in read_name("Ax Bx Cx Dx Ex Fx Gx Hx").acronyms
    assert read_name("Ax Bx Cx Dx Ex Fx Gx Hx Ix").acronyms == ()


def test_quantities_are_numbers_and_long_figures_are_codes():
    assert read_name("Lamp 0070").numbers == ("70",)
    assert read_name("Lamp 000").numbers == ("0",)
    assert read_name("Lamp 05km").numbers == ("5",)
    assert (read_name("Lamp 12345").codes, read_name("Lamp 123456").codes) == ((), ("123456",))
    assert (read_name("Lamp 12345").numbers, read_name("Lamp 123456").numbers) == (("12345",), ())
    assert (read_name("Lamp 12qq").codes, read_name("Lamp 12kb").codes) == (("12qq",), ())
    assert read_name("Wool-Worth-X1").core == ("woolworthx1",)
    assert read_name("Woolly-Worth-X1").core == ("woolly", "worth", "x1")


@pytest.mark.parametrize(
    ("raw", "numbers"),
    [
        ("Lantern 7.0", ("7",)),
        ("Lantern v7", ("7",)),
        ("Lantern version 7.0", ("7",)),
        ("Lantern 7.5", ("7.5",)),
        ("Lantern Part II", ("2",)),
        ("Lantern Vol. 2", ("2",)),
        ("Lantern 7 for Win 98/Me/2000/XP", ("7",)),
        ("Lantern 7, system 10.3 or later", ("7",)),
        ("Windows 2000", ("2000",)),  # one system may be the thing itself
    ],
)
def test_a_version_is_a_number_and_the_systems_that_it_runs_on_are_none(raw: str, numbers: tuple[str, ...]):
    assert read_name(raw).numbers == numbers


@pytest.mark.parametrize(
    ("raw", "key", "beside"),
    [
        ("Paris, Texas", "paris", ("texas",)),
        ("Paris, TX, USA", "paris", ("texas",)),
        ("Paris TX", "paris", ("texas",)),
        ("Paris (TX)", "paris", ("texas",)),
        ("Paris, France", "paris", ("france",)),
        ("PARIS IN", "paris in", ()),  # where all is in capitals two letters are no code
        ("Lantern Motors, CO", "lantern motors", ()),  # a legal form before a region
        ("University of California, Berkeley", "university of california berkeley", ()),
        ("Lantern (DVD)", "lantern", ()),  # what it comes as
    ],
)
def test_regions_behind_a_name_stand_beside_it_however_they_are_written(raw: str, key: str, beside: tuple[str, ...]):
    assert (read_name(raw).key, read_name(raw).qualifier) == (key, beside)


def test_a_person_may_have_a_degree_or_a_generation_behind_a_comma():
    keys = {read_name(raw, person=True).key for raw in ("Smith, John, Jr.", "John Smith, Jr.", "John Smith Jr.")}
    assert keys == {"john smith jr"}
    assert read_name("John Adam Smith, Ph.D.", person=True).key == "john adam smith"
