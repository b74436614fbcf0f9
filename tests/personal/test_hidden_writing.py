"""What is personal is found however it is written: over lines, full-width, with percent signs, in small letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.corpus.privacy import find_people
from sensegraph.personal.finding import build_finder
from sensegraph.personal.labels import find_names_in_id
from sensegraph.personal.masking import Masker
from sensegraph.personal.normalising import join_lines, normalise_signs
from sensegraph.personal.people import find_people_by_names, is_no_persons_name
from sensegraph.personal.personal_settings import RULED, PersonalSettings
from sensegraph.types import Document

SETTINGS = PersonalSettings(kinds=(*RULED, "person"))
MASKER = Masker(build_finder(SETTINGS), b"a" * 32)


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, text[s.start : s.end]) for s in MASKER.found(text, find_people(text, SETTINGS))]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("iban", "DE89 3704 0044\n0532 0130 00"),
        ("phone", "+49 30\n901820"),
        ("address", "12 Oak Street,\nLeeds LS1 4AP"),
        ("address", "Gartenstraße 12,\n88026 Ulm"),
        ("address", "Gartenstraße 12, 61348 Bad\nHomburg"),
        ("address", "Gartenstraße 12,\n61348 Ulm"),
        ("card", "4111 1111\n> 1111 1111"),
        ("email", "jane.doe@\nexample.com"),
        ("email", "ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍ"),
        ("email", "jane.doe%40example.com"),
        ("email", "jane.doe&#64;example.com"),
        ("email", "jane\u200b.doe@exam\u00adple.com"),
        ("phone", "%2B49%2030%20901820"),
        ("iban", "DE89\u202f3704\u202f0044\u202f0532\u202f0130\u202f00"),
        ("ip", "２０３．０．１１３．７７"),
        ("identity", "536\u201190\u20114399"),
        ("person", "Priya\nRaman"),
        ("person", "Priya%20Raman"),
        ("person", "Ju\u0308rgen Mu\u0308ller"),
    ],
)
def test_a_thing_is_found_whole_however_it_is_written(kind: str, text: str) -> None:
    assert found(f"The letter speaks of {text} and of nothing else.") == [(kind, text)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Personalausweis L01X00T47", "L01X00T47"),
        ("perso-nr. l01x00t47", "l01x00t47"),
        ("the code L01X00T471 was read", "L01X00T471"),
        ("Passnummer C01X00T47", "C01X00T47"),
        ("the insured A123456780 was seen", "A123456780"),
        ("Führerschein B072RRE2I55", "B072RRE2I55"),
        ("Steuernummer 12/345/67890", "12/345/67890"),
        ("the holder MORGA657054SM9IJ drove", "MORGA657054SM9IJ"),
        ("UTR 12345 67890", "12345 67890"),
        ("the card 1EG4-TE5-MK73 was shown", "1EG4-TE5-MK73"),
        ("driver's license D1234567", "D1234567"),
    ],
)
def test_numbers_of_german_and_english_papers_are_found(text: str, number: str) -> None:
    assert found(f"Here {text}.") == [("identity", number)]


@pytest.mark.parametrize(
    "text",
    [
        "the code L01X00T472 was read",
        "the insured A123456781 was seen",
        "order L01X00T471",
        "Seriennummer 482910338817",
        "Bestellung 2341 2341 2346",
        "4111 1111\n1111 1111",  # a column
        "about 100%20%30 of x² and ½",
        "version 1.\n2.3.4",
    ],
)
def test_what_only_looks_like_it_stays_over_lines_too(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The drawings were made by Priya Raman last year.", ["Priya Raman"]),
        ("made by priya raman last year", ["priya raman"]),
        ("PRIYA RAMAN signed it; Raman, Priya", ["PRIYA RAMAN", "Raman, Priya"]),
        ("Wir haben Karl-Heinz Weißmann gefragt.", ["Karl-Heinz Weißmann"]),
        ("We met frau lehmbruck and Mr BAKER.", ["lehmbruck", "BAKER"]),
        ("Das Gutachten, das Oyelaran Brankovic erstellte, fehlt.", ["Oyelaran Brankovic"]),
        ("It was signed by Xiulan Qvortrup.", ["Xiulan Qvortrup"]),
        ("Xochitl Ramirez left; later Ramirez came.", ["Xochitl Ramirez", "Ramirez"]),
        ("They met in San Francisco, in Central Park and at the Harbour Board.", []),
        ("Das Städtische Klinikum und die Nordwind Gruppe erklärten es.", []),
        ("Sales by General Electric rose in March and April.", []),
    ],
)
def test_names_are_found_by_the_names_that_people_have(text: str, names: list[str]) -> None:
    places = sorted({*find_people_by_names(text)}, key=lambda place: (place[0], -place[1]))
    whole = [p for i, p in enumerate(places) if not any(q[0] <= p[0] and p[1] <= q[1] for q in places[:i])]
    assert [text[a:b] for a, b in whole] == names


@pytest.mark.parametrize(
    ("name", "none"),
    [
        ("Room 214", True),
        ("NHS", True),
        ("Tel", True),
        ("Minute Walks", True),
        ("The Harbour", True),
        ("New York", True),
        ("Northwind Group", True),
        ("Green", False),
        ("Priya Group", False),
        ("Qvortrup", False),
    ],
)
def test_what_was_taken_for_a_name_may_say_nothing_of_the_kind(name: str, none: bool) -> None:
    assert is_no_persons_name(name) is none


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("priya-raman-cv.pdf", ["priya-raman"]),
        ("letters/RamanPriya.txt", ["RamanPriya"]),
        ("2022 Priya%20Raman contract.md", ["Priya%20Raman"]),
        ("Scan von Ole_Ahlers.pdf", ["Ole_Ahlers"]),
        ("rose long.txt", ["rose long"]),
        ("qvortrup.txt", ["qvortrup"]),
        ("harbour-report-2022.txt", []),
        ("minutes/2021-03-04 meeting.md", []),
        ("calls.csv#17", []),
        ("550e8400-e29b-41d4-a716-446655440000", []),
        ("PERSON-abcdef0123/cv.txt", []),
        ("will-smith.txt", ["will-smith"]),  # of small words those that are names belong to one
        ("smith-hope.txt", ["smith-hope"]),
        ("the-smith.txt", ["smith"]),
        ("emily-for.txt", ["emily"]),
        ("QVORT-abcdef0123.txt", []),  # a placeholder, which begins with the word
        ("deadbeef1.txt", []),  # as do hashes
        ("1deadbeef.txt", []),
        ("x" * 30 + ".txt", ["x" * 30]),
        ("Grace_Hopper_cv.pdf", ["Grace_Hopper"]),
        ("grace prescott.md", ["grace prescott"]),
        ("Maximilian-young.txt", ["Maximilian-young"]),
        ("gzip-changelog.txt", []),
        ("zlib-README", []),
        ("Linux-kernel_HOWTO.txt", []),
        ("mark-up.html", []),
        ("bill-of-lading.pdf", []),
        ("rose-garden.txt", []),
        ("python-tutorial.md", []),
    ],
)
def test_in_the_name_of_a_file_common_words_and_programs_stay_and_names_do_not(name: str, masked: list[str]) -> None:
    assert [name[s.start : s.end] for s in find_names_in_id(name, ())] == masked


def test_a_name_in_the_name_of_a_file_stands_nowhere_in_the_document() -> None:
    d = Document(
        "hr/raman_priya.txt", "The report is done.", "raman_priya", (("file", "raman_priya.txt"), ("pages", 3))
    )
    masked, counts = MASKER.document(d)
    assert "raman" not in repr(masked).casefold()
    assert "priya" not in repr(masked).casefold()
    assert masked.metadata[1] == ("pages", 3)
    assert counts["person"] >= 3
    without = Masker(build_finder(PersonalSettings()), b"a" * 32)
    assert without.document(d)[0] == d


def test_a_word_that_the_text_has_unmasked_stays_in_the_name_of_the_file() -> None:
    plain = Document("qvortrup-notes.txt", "Start qvortrup with a port.", "qvortrup-notes")
    kept, counts = MASKER.document(plain, find_people(plain.text, SETTINGS))
    assert (kept.id, kept.title, counts) == (plain.id, plain.title, {})
    person = Document("qvortrup-notes.txt", "The plan is by Priya Qvortrup.", "qvortrup-notes")
    masked, _ = MASKER.document(person, find_people(person.text, SETTINGS))
    assert "qvortrup" not in f"{masked.id} {masked.title} {masked.text}".casefold()
    other = Document("qvortrup-notes.txt", "Nobody is named here.")
    assert MASKER.document(other)[0].id.startswith("NAME-")


def test_a_word_of_a_name_is_masked_in_a_title_where_it_is_written_as_one() -> None:
    text = "The plan is by Priya Young. Nobody objected."
    asked = Document("a", text, "Notes of Priya Young for young people")
    masked, _ = MASKER.document(asked, find_people(text, SETTINGS))
    plain, title = masked.text, masked.title
    assert plain.startswith("The plan is by PERSON-")
    assert title.startswith("Notes of PERSON-")
    assert title.endswith(" for young people")


@given(st.text(st.sampled_from("aB1 .-@\n\r\t>%20C3é\u0308\u200b\u00ad\u00a0Ａ²…"), max_size=40))
def test_a_view_knows_where_each_of_its_signs_stands(text: str) -> None:
    view = normalise_signs(text)
    joined = join_lines(view)
    for one in (view, joined):
        places = [one.place(i, i + 1) for i in range(len(one.text))]
        assert len(one.starts) == len(one.ends) == len(one.text) * bool(one.starts)
        assert all(0 <= a < b <= len(text) for a, b in places)
        assert places == sorted(places)
        assert normalise_signs(one.text).text == one.text or "%" in text or "\u0308" in text
    assert not [b for b in joined.breaks if not 0 <= b <= len(joined.text)]
    plain = "the same, in any case"
    assert normalise_signs(plain) == join_lines(normalise_signs(plain)) == normalise_signs(plain)


def test_a_line_is_joined_to_the_next_within_a_paragraph_and_a_divided_word_is_whole() -> None:
    view = join_lines(normalise_signs("a har-\nbour, Karl-\nHeinz\n\nnew 1\n2"))
    assert view.text == "a harbour, Karl-Heinz\n\nnew 1 2"
    assert view.place(2, 9) == (2, 11)
    assert view.crosses(2, 9)
    assert not view.crosses(23, 26)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("12 \n34", True),
        ("a\n\n12\n34\n\nb", True),  # letters of other paragraphs
        ("head\n12\n34\ntail", True),  # and of lines that were joined
        ("x 12\n34", False),
        ("x12\n34", False),
        ("12\n34 x", False),
        ("12\n34x", False),
        ("(5) 12\n34 ;", True),
    ],
)
def test_a_number_stands_alone_where_no_letter_is_in_its_lines(text: str, alone: bool) -> None:
    view = join_lines(normalise_signs(text))
    start = view.text.index("12")
    assert view.crosses(start, view.text.index("34") + 2)
    assert view.stands_alone(start, view.text.index("34") + 2) is alone


def test_of_two_words_in_an_id_of_which_one_is_a_name_that_people_have_the_whole_is_a_person() -> None:
    def kinds(name: str) -> list[tuple[str, str]]:
        return [(s.kind, s.value) for s in find_names_in_id(name, ())]

    assert kinds("Priya-qvortrup.txt") == [("person", "priya qvortrup")]
    assert kinds("qvortrup-Priya.txt") == [("person", "qvortrup priya")]
    assert kinds("qvortrup-zorpkelvix.txt") == [("name", "qvortrup zorpkelvix")]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("see 030–901820 in it", ""),
        ("tel. 030–901820 in it", "030–901820"),
        ("her tel. is\n> 030–901820 in it", "030–901820"),  # the word stands in the line before
        ("see 030 901820 or so", "030 901820"),
        ("see 030901820 or so", ""),
    ],
)
def test_a_range_or_one_run_of_digits_is_a_telephone_number_where_a_word_says_so(text: str, number: str) -> None:
    assert found(text) == [("phone", number)] * bool(number)


def test_a_line_behind_an_address_that_only_begins_with_a_capital_is_no_part_of_it() -> None:
    address = "Gartenstraße 12,\n61348 Ulm"
    assert found(f"{address}\nPeter came.") == [("address", address)]
    assert found("12 Oak Street\nPeter came.") == [("address", "12 Oak Street")]
