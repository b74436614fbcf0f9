"""What is found to be personal in a text, and what only looks like it (R28)."""

from __future__ import annotations

import pytest

from hanging import not_hanging
from sensegraph.errors import SettingsError
from sensegraph.personal.finding import Finder, build_finder
from sensegraph.personal.personal_settings import PersonalSettings, Span

F = build_finder(PersonalSettings())


def found(text: str, finder: Finder = F) -> list[tuple[str, str]]:
    return [(s.kind, text[s.start : s.end]) for s in finder.find(text)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "jane.doe+lists@mail.example.com"),
        ("email", "jürgen@bücher.example.de"),
        ("email", "bob [at] firm [dot] co [dot] uk"),
        ("phone", "+49 30 901820"),
        ("phone", "+1 (212) 555-0187"),
        ("phone", "020 7946 0018"),
        ("url", "https://twitter.com/janedoe"),
        ("url", "https://jane:secret@host.example.org/inbox"),
        ("url", "https://cs.example.edu/~jdoe/cv.html"),
        ("url", "linkedin.com/in/jane-doe-12"),
        ("ip", "203.0.113.77"),
        ("ip", "2001:db8::8a2e:370:7334"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB82WEST12345698765432"),
        ("card", "4111 1111 1111 1111"),
        ("card", "378282246310005"),
        ("address", "221B Baker Street, London NW1 6XE"),
        ("address", "1600 Pennsylvania Avenue NW, Washington, DC 20500"),
        ("address", "Musterstraße 12a, 12345 Berlin"),
        ("address", "12 rue de la Paix, 75002 Paris"),
        ("address", "Calle Mayor 12, 28013 Madrid"),
        ("address", "Keizersgracht 12, 1015 CN Amsterdam"),
        ("address", "P.O. Box 123, Springfield, IL 62701"),
    ],
)
def test_personal_data_is_found_whole(kind: str, text: str) -> None:
    assert found(f"So it is: {text}.") == [(kind, text)]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("She was born on 3 March 1985 in Ulm.", "3 March 1985"),
        ("DOB: 03/04/1985", "03/04/1985"),
        ("Date of birth 1985-04-03", "1985-04-03"),
        ("geboren am 3. März 1985", "3. März 1985"),
        ("née le 3 mars 1985", "3 mars 1985"),
        ("出生日期：1985年3月4日", "1985年3月4日"),
    ],
)
def test_a_date_is_personal_where_words_say_that_somebody_was_born(text: str, date: str) -> None:
    assert found(text) == [("birthday", date)]
    assert found(f"They met on {date}.") == []


@pytest.mark.parametrize(
    "text",
    [
        "npm install lodash@4.17.21 and img@2x.png",
        "git clone git@github.com:some/repository",
        "see https://en.wikipedia.org/wiki/Graph and https://github.com/about",
        "Version 1.2.3.4 replaces v10.20.30.40; see section 2.3.1.1 and 127.0.0.1",
        "ISBN 978-3-16-148410-0 and ISBN 0-306-40615-2",
        "It cost $1,234,567.89 or 12,345,678 euros in 1999-2004, 3.1415926535 times",
        "order 2125550187, invoice no. 4111111111111112",
        "DE89 3704 0044 0532 0130 01 has a wrong check digit",
        "at 12:30:45 on 2026-03-04, std::vector, doi:10.1000/182.2026.1111",
        "Dickens was born in 1812. A 5 Minute Drive, 12 Million Way",
        "RFC 2616, ISO 8601, 1920x1080, 0x7fff5fbff8c0, 550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_only_looks_personal_stays(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "536-90-4399",
        "AB 12 34 56 C",
        "943 476 5919",  # an NHS number in its groups
        "86 095 742 719",
        "15 070649 C 103",
        "1 84 12 76 451 089 46",
        "12345678Z",
        "X1234567L",
        "RCCMNL83S18D969H",
        "85.07.30-033.28",
        "44051401359",
        "880320-0016",
        "151086 95088",
        "131052-308T",
        "756.9217.0769.85",
        "710319/2745",
        "390.533.447-05",
        "BOXW310820HNERXN09",
        "11010519491231002X",
        "2341 2341 2346",
        "7503305044089",
        "ABCPE1234F",
    ],
)
def test_numbers_of_persons_are_found_by_their_form_and_check_digits(text: str) -> None:
    assert found(f"It says {text} there.") == [("identity", text)]


@pytest.mark.parametrize(
    ("before", "number"),
    [
        ("SSN", "536904399"),
        ("NHS number", "9434765919"),
        ("Steuer-ID", "86095742719"),
        ("BSN", "111222333"),
        ("CPR-nr.", "211062-5629"),
        ("SVNR", "1237 010180"),
        ("TFN", "123 456 782"),
        ("NIF", "501 964 843"),
        ("SIN", "123-456-782"),
        ("passport no.", "L8989019"),
        ("My Number", "123456789018"),
    ],
)
def test_a_weak_number_needs_a_word_that_names_it(before: str, number: str) -> None:
    assert found(f"{before} {number}.") == [("identity", number)]
    assert found(f"We counted {number} of them.") == []


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("jane@example.com.txt", "jane@example.com"),
        ("jane@mail.example.md", "jane@mail.example"),
        ("jane@example.rs", "jane@example.rs"),
        ("..jane'@example.com", "jane'@example.com"),
        ("a" * 64 + "@example.com", "a" * 64 + "@example.com"),
        ("-" + "a" * 64 + "@example.com", "a" * 64 + "@example.com"),
    ],
)
def test_an_address_of_mail_ends_before_the_ending_of_a_file(text: str, address: str) -> None:
    assert found(f"see {text}!") in ([("email", address)], [("email", address.rstrip("'"))])


@pytest.mark.parametrize("text", ["jane@example.png", "jane@v1.2.txt", "svn@host.example:some", "''@example.com"])
def test_what_only_looks_like_an_address_of_mail_is_none(text: str) -> None:
    assert found(f"see {text}!") == []


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ip 9.8.7.6", "9.8.7.6"),
        ("the server of our whole great harbour office is 9.8.7.6", ""),
        ("see 9.8.7.6", ""),
        ("see 10.8.7.6", "10.8.7.6"),
        ("v10.20.30.40 is out, the newest of them all", ""),
        ("Version 10.20.30.40 is out, the newest of them all", ""),
        ("at last: v10.20.30.40 is out, the newest of them all", ""),
        ("see 2001:db8::1", "2001:db8::1"),
        ("see 1::a23", "1::a23"),
        ("see 1::a2", ""),
        ("see dead::beef", ""),
        ("see 224.0.0.12, 255.255.255.10, 127.10.0.1, ff02::1:2, 300.10.10.10 and ip 0.0.0.0", ""),
    ],
)
def test_the_address_of_a_machine_is_neither_a_version_nor_one_that_every_machine_has(text: str, address: str) -> None:
    assert found(f"{text} or so, and then there is more of it") == ([("ip", address)] if address else [])


def test_what_is_allowed_stays_in_any_case() -> None:
    allowing = build_finder(PersonalSettings(allow=("*@example.org", "+49 30 901820")))
    text = "Info@Example.org, jane@example.com, +49 30 901820, +49 30 901821"
    assert found(text, allowing) == [("email", "jane@example.com"), ("phone", "+49 30 901821")]


def test_patterns_of_the_user_come_before_the_rules() -> None:
    own = build_finder(PersonalSettings(patterns={"employee": r"E-\d{6}", "host": r"\w+@10\.0\.0\.1"}))
    assert found("E-123456 at root@10.0.0.1", own) == [("employee", "E-123456"), ("host", "root@10.0.0.1")]


@pytest.mark.parametrize(
    ("patterns", "said"), [({"a b": "x"}, "small letters"), ({"odd": "("}, "regular"), ({"all": "x*"}, "empty")]
)
def test_a_pattern_that_cannot_be_used_is_an_error_that_names_it(patterns: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        build_finder(PersonalSettings(patterns=patterns))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("tel 0309018 20", True),
        ("you may reach her there: 0309018 20", True),
        ("see 0309018 20", False),
        ("call her when all of the others have gone to bed: 0309018 20", False),
    ],
)
def test_a_number_in_groups_of_nobody_is_one_where_a_word_of_calling_stands_within_thirty_characters(
    text: str, holds: bool
) -> None:
    assert found(f"{text} or so, and then there is more of it") == ([("phone", "0309018 20")] if holds else [])


def test_a_region_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(SettingsError, match="'Berlin' is no region"):
        build_finder(PersonalSettings(regions=("Berlin",))).find("call 030 901820")


def test_only_the_kinds_that_are_asked_for_are_found() -> None:
    assert found("jane@example.com +49 30 901820", build_finder(PersonalSettings(kinds=("phone",)))) == [
        ("phone", "+49 30 901820")
    ]


def test_two_ways_of_writing_one_thing_have_one_plain_form() -> None:
    def plain(text: str) -> set[str]:
        return {s.value for s in F.find(text)}

    assert plain("tel. 030 901820 or +49 (30) 90 18 20") == {"+4930901820"}
    assert plain("DE89370400440532013000 or DE89 3704 0044 0532 0130 00") == {"DE89370400440532013000"}
    assert plain("Jane@Example.com or jane@example.com") == {"jane@example.com"}


def test_spans_that_overlap_become_one_of_the_surer_kind_so_that_nothing_is_left() -> None:
    text = "https://cs.example.edu/~jdoe?mail=jane@example.com"
    assert found(text) == [("url", text)]
    joined = F.find("abcdef", [Span("person", 0, 4, "abcd"), Span("phone", 2, 6, "1")])
    assert joined == [Span("phone", 0, 6, "abcdef")]
    assert F.find("abcdef", [Span("person", 3, 3, "")]) == []


@pytest.mark.parametrize(
    "part", ["1 ", "1.", "@", "a.", "AB12 ", "12 Aaa Bbb ", ":", "+49 ", "born on ", "Via Roma ", "(", "A. "]
)
def test_a_text_that_is_made_to_be_slow_is_not(part: str) -> None:
    with not_hanging():  # it takes less than a second; with the square of the length, minutes
        spans = F.find("jane@example.com\n" + part * (50_000 // len(part)))
    assert spans[0].kind == "email"


@pytest.mark.parametrize("mark", ["[PERSON]", "PERSON-a0123456ff"])
@pytest.mark.parametrize("before", ["", "So says ", "x" * 50 + " "])
def test_what_touches_a_mark_is_masked_already(mark: str, before: str) -> None:
    text = f"{before}{mark} and more"
    begin, end = len(before), len(before) + len(mark)
    more = [Span("person", *place, "") for place in ((begin, end), (end - 1, end + 4), (begin, begin + 1))]
    assert build_finder(PersonalSettings()).find(text, more) == []
    for beside in (Span("person", end, end + 4, ""), Span("person", begin - 2, begin, "")):
        kept = [beside] if beside.start >= 0 else []
        assert build_finder(PersonalSettings()).find(text, kept) == kept
