"""Placeholders: alike for the same thing, not to be guessed, and nothing left of the original (R28)."""

from __future__ import annotations

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import StoreError
from sensegraph.personal.finding import Named, build_finder
from sensegraph.personal.masking import SECRET, Masker, mask_shape, read_secret, survey_personal_data
from sensegraph.personal.personal_settings import KINDS, PersonalSettings, tally_findings
from sensegraph.runtime.keys import key
from sensegraph.types import Document

EVERYTHING = PersonalSettings(kinds=KINDS)  # type: ignore[arg-type]
M = Masker(build_finder(EVERYTHING), b"a" * 32)
PLANTED = ("jane.doe@example.com", "+49 30 901820", "DE89 3704 0044 0532 0130 00", "536-90-4399", "203.0.113.77")


def test_a_placeholder_is_the_same_for_the_same_thing_and_another_for_another() -> None:
    one, _ = M.text("jane@example.com, Jane@Example.com")
    left, right = one.split(", ")
    assert left == right
    assert re.fullmatch(r"EMAIL-[a-f][0-9a-f]{9}", left)
    assert M.text("june@example.com")[0] != left


def test_without_the_secret_a_placeholder_cannot_be_tried_out() -> None:
    other = Masker(build_finder(EVERYTHING), b"b" * 32)
    assert other.text("jane@example.com")[0] != M.text("jane@example.com")[0]


def test_by_kind_alone_nothing_tells_two_things_apart_but_ids_stay_apart() -> None:
    short = Masker(build_finder(PersonalSettings(style="kind")), b"a" * 32)
    assert short.text("jane@example.com or june@example.com")[0] == "[EMAIL] or [EMAIL]"
    ids = {short.document(Document(f"{name}@example.com.txt", "x"))[0].id for name in ("jane", "june")}
    assert len(ids) == 2


@given(
    st.lists(st.sampled_from([*PLANTED, "and", "met in Ulm.", "电话", "\n", "(see", ")", "2026-03-04"]), max_size=12)
)
def test_masking_leaves_nothing_and_doing_it_again_changes_nothing(parts: list[str]) -> None:
    masked, counts = M.text("; ".join(parts))
    assert not [p for p in PLANTED if p in masked]
    assert sum(counts.values()) == sum(p in PLANTED for p in parts)
    again, more = M.text(masked)
    assert (again, sum(more.values())) == (masked, 0)


@pytest.mark.parametrize(
    ("field", "value", "person"),
    [
        ("author", "Xu Qvist", True),
        ("Author", "Xu", True),
        ("sender", "A B C D", True),
        ("sender", "A B C D E", False),
        ("author", "Xu qvist", False),
        ("author", "Team 7", False),
        ("author", "Xu2 Qvist", False),
        ("author", "", False),
        ("colour", "Xu Qvist", False),
    ],
)
def test_a_field_for_a_person_holds_one_where_its_value_looks_like_a_name(field: str, value: str, person: bool) -> None:
    masked, counts = M.document(Document("d", "Nothing.", "", ((field, value),)))
    assert (masked.metadata != ((field, value),)) is person
    assert counts["person"] == int(person)


def test_a_number_is_masked_between_other_numbers() -> None:
    assert not re.search(r"901820", M.text("+49 30 901820 536-90-4399 +49 30 901820")[0])


def test_ids_titles_and_metadata_are_masked_too() -> None:
    d = Document(
        "mail/jane.doe@example.com.txt",
        "Nothing here.",
        "To jane.doe@example.com",
        (("ssn", 536904399), ("from jane.doe@example.com", "x"), ("author", "Jane Doe"), ("pages", 12), ("read", True)),
        "2026-03-04",
    )
    masked, counts = M.document(d)
    assert not re.search("jane|doe|5369", repr(masked), re.IGNORECASE)
    assert (masked.text, masked.time, masked.metadata[3:]) == (d.text, d.time, d.metadata[3:])
    assert masked.id.startswith("mail/EMAIL-")
    assert masked.id.endswith(".txt")
    assert counts == {"email": 3, "identity": 1, "person": 1}


def test_what_stands_around_a_placeholder_stays_and_letters_are_kept_apart_from_it() -> None:
    (mail,) = re.findall(r"EMAIL-\w+", M.text("jane@example.com")[0])
    masked, _ = M.document(Document("d", "x", "", (("note", "mail jane@example.com today, bob@example.com"),)))
    other = M.text("bob@example.com")[0]
    assert masked.metadata == (("note", f"mail {mail} today, {other}"),)
    phone = M.text("+49 30 901820")[0]
    assert M.text("電 話+49 30 901820") == (f"電 話 {phone}", {"phone": 1})
    assert M.text("話+49 30 901820電 x") == (f"話 {phone} 電 x", {"phone": 1})


def test_persons_are_masked_by_their_name_wherever_it_is_said_again() -> None:
    text = "Jane Doe came. Jane said so."
    people = [Named(0, 8, "Jane Doe"), Named(15, 19, "Jane Doe")]
    d = Document("jane-doe/cv.txt", text, "JANE DOE and Jane Doe", (("about", "by Jane Doe"),))
    masked, _ = M.document(d, people)
    (name,) = set(re.findall(r"PERSON-\w+", masked.text))
    assert masked.text == f"{name} came. {name} said so."
    assert masked.metadata == (("about", f"by {name}"),)
    assert masked.title == f"{name} and {name}"  # titles and ids in any way of writing
    assert re.fullmatch(r"PERSON-\w+/cv\.txt", masked.id)
    short, _ = M.document(Document("xu_li/cv.txt", "Xu Li came."), [Named(0, 5, "Xu Li")])
    assert re.fullmatch(r"PERSON-\w+/cv\.txt", short.id)  # of which no word by itself is long enough


@given(st.sets(st.sampled_from([f"{a}{b}{c}" for a in ("Jane Doe", "jane-doe") for b in (" ", "_") for c in "12"])))
def test_ids_that_differ_stay_different(ids: set[str]) -> None:
    people = [Named(0, 8, "Jane Doe")]
    assert len({M.document(Document(i, "Jane Doe came."), people)[0].id for i in ids}) == len(ids)


def test_the_hash_in_the_id_of_a_record_cannot_be_tried_out_either() -> None:
    text = "call +49 30 901820"
    guessable = f"calls.csv#{key(text, '', ())[:12]}"
    masked, _ = M.document(Document(guessable, text))
    assert re.fullmatch(r"calls\.csv#[a-f]\w{9}", masked.id)
    assert masked.id[10:] not in guessable
    assert M.document(Document("calls.csv#17", text))[0].id == "calls.csv#17"
    assert M.document(Document(guessable[10:], text))[0].id == guessable[10:]  # an id of its own
    assert Masker(build_finder(EVERYTHING)).document(Document(guessable, text))[0].id == guessable  # in a report


def test_a_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    assert read_secret(tmp_path, make=False) == b""
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: read_secret(tmp_path), range(32)))
    assert len(made) == 1
    assert [p.name for p in tmp_path.iterdir()] == [SECRET]
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600
    (tmp_path / SECRET).write_bytes(b"short")
    with pytest.raises(StoreError, match="32 bytes"):
        read_secret(tmp_path)


def test_a_secret_is_made_on_a_disk_without_links_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    assert read_secret(tmp_path) == read_secret(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [SECRET]
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600


def test_a_report_shows_counts_and_shapes_and_nothing_else() -> None:
    documents = [
        Document("jane@example.com.txt", f"Mail {PLANTED[0]} or call {PLANTED[1]}."),
        Document("b", "Nothing."),
        Document("june@example.com.txt", f"Mail {PLANTED[0]}."),
    ]
    found = survey_personal_data(((d, (), ()) for d in documents), PersonalSettings())
    assert (found.counts, found.read) == ({"email": 4, "phone": 1}, 3)
    assert found.documents == {"[EMAIL].txt": {"email": 2, "phone": 1}, "[EMAIL].txt (2)": {"email": 2}}
    assert found.examples == {"email": ("aaaa.aaa@aaaaaaa.aaa",), "phone": ("+99 99 999999",)}
    assert not re.search("jane|june|doe|901820", repr(found))
    assert found.unfound


@given(st.text())
def test_a_shape_tells_no_letter_and_no_digit(text: str) -> None:
    assert bool(mask_shape(text)) == bool(text)
    assert not set(re.findall(r"[^\W_]", mask_shape(text))) - {"a", "A", "9"} - set("\u00aa\u00ba")


def test_a_tally_counts_documents_with_something_in_them() -> None:
    from collections import Counter

    made = tally_findings([Counter(email=2), Counter(), Counter(phone=1, zebra=1)], masked=True)
    assert (dict(made.counts), made.documents) == ({"email": 2, "phone": 1, "zebra": 1}, 2)
    assert bool(made)
    assert not tally_findings([Counter()], masked=True)
