"""Headers, speakers, persons and roles: who and what is read as one, and what is left out."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.extraction import page_reader
from sensegraph.engines.offline.extraction.corpus_reading import read_together
from sensegraph.language import speakers, text
from sensegraph.types import Chunk, ExtractedEntity, Extraction

PROSE = (
    "The mill stood empty. A farmer from Dorset bought the old wheel, and two smiths came to carry it away before "
    "winter. Nobody asked for the price. The road was long, and the horses were slow on the hills near Exeter. "
)


def whole(text: str, name: str = "d", title: str = "") -> tuple[Chunk, ...]:
    return (Chunk(name, name, 0, len(text), 0, text, title),)


def corpus(*documents: tuple[Chunk, ...]) -> list[Extraction]:
    return [x for xs in read_together(documents) for x in xs]


def names(x: Extraction) -> set[str]:
    return {e.name for e in x.entities}


def entity(x: Extraction, name: str) -> ExtractedEntity:
    return next(e for e in x.entities if e.name == name)


def test_a_header_that_three_documents_share_is_not_read() -> None:
    header = "Copy for Winston Abernathy, Quarterly Board\n"
    found = corpus(*(whole(f"{header}{i}. Anna Berg{i} spoke. {PROSE}", f"d{i}") for i in range(3)))
    assert all("Dorset" in names(x) for x in found)
    assert not any({"Winston Abernathy", "Quarterly Board"} & names(x) for x in found)
    alone = corpus(whole(f"{header}1. Anna Berg spoke. {PROSE}"))
    assert "Winston Abernathy" in names(alone[0])


def test_a_footer_that_three_documents_share_is_not_read() -> None:
    footer = "\nPrinted by Abernathy and Sons"
    found = corpus(*(whole(f"{PROSE} {i} carts came{i}.{footer}", f"d{i}") for i in range(3)))
    assert len(found) == 3
    assert all("Dorset" in names(x) for x in found)
    assert not any("Abernathy" in name for x in found for name in names(x))


def test_a_line_that_runs_through_many_documents_of_a_title_is_not_read() -> None:
    words = "mill barn road cart horse wheel smith field river town house bridge".split()
    texts = [
        f"The old {w} near Dorset stood empty for years.\nJournal of the Abernathy Society\nNobody sold the {w} again."
        for w in words
    ]
    found = corpus(*(whole(t, f"d{i}", "Mills") for i, t in enumerate(texts)))
    assert len(found) == 12
    assert all("Dorset" in names(x) for x in found)
    assert not any("Abernathy" in name for x in found for name in names(x))


def test_copies_of_a_document_are_read_all_the_same() -> None:
    found = corpus(*(whole(PROSE, f"d{i}") for i in range(4)))
    assert len(found) == 4
    assert all({"Dorset", "Exeter"} <= names(x) for x in found)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("as in EP-12 and", "EP-12"),
        ("see k00-001 for", "k00-001"),
        ("print ebf0372218 now", "ebf0372218"),
        ("order SKU-A012345678 now", "A012345678"),
        ("open ChrisUrmson.txt now", "ChrisUrmson.txt"),
        ("at https://x.org/Some_Page?q=1 today", "https://x.org/Some_Page?q=1"),
        ("and {pause} they", "{pause}"),
        ("and [MUSIC] they", "[MUSIC]"),
        ("write to Ann.Lee@example.org soon", "Ann.Lee@example.org"),
        ("set Max_tokens to 5", "Max_tokens"),
        ("call __Load_Index2__ first", "__Load_Index2__"),
    ],
)
def test_what_machines_read_is_no_name(text: str, code: str) -> None:
    assert [text[a:b] for a, b in page_reader.find_codes(text, 0, len(text))] == [code]
    assert not corpus(whole(f"They came, {text} then."))[0].entities


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19 and B-52",
        "an _Ada Lovelace_ here",
        "in 1999-2003",
        "the U.S. and Node.js",
        "for PERSON-ebf0372218 of ADDRESS-a012345678",
    ],
)
def test_names_with_digits_or_dots_and_what_masked_persons_are_called_are_no_codes(text: str) -> None:
    assert page_reader.find_codes(text, 0, len(text)) == []


@pytest.mark.parametrize("title", ["The Sound and Fury", "The_Sound_and_Fury"])
def test_a_title_is_found_in_its_text_however_its_words_are_joined(title: str) -> None:
    (read,) = corpus(whole("The Sound and Fury is a book that they read. It was The Sound and Fury.", title=title))
    assert "Sound and Fury" in names(read)


TALK = (
    "MAYA LIN: I drew the Vietnam Wall in one spring, and it was never easy for anyone.\n"
    "BOB ROSS: Yes.\nMAYA LIN: Right.\nBOB ROSS: Hm.\nMAYA LIN: So.\nBOB ROSS: Well.\n"
)


def test_what_a_speaker_says_is_told_under_her_name_and_its_span_is_without_the_label() -> None:
    (x,) = corpus(whole(TALK))
    wall = entity(x, "Vietnam Wall")
    assert wall.description.startswith("Maya Lin: I drew the Vietnam Wall")
    assert TALK[wall.start :].startswith("I drew the")


def test_what_stands_before_the_first_label_is_said_by_nobody() -> None:
    (x,) = corpus(whole(f"We went to Kyoto Station and stayed there for a week.\n{TALK}"))
    assert entity(x, "Kyoto Station").description.startswith("We went to Kyoto Station")


def test_a_label_of_someone_unknown_ends_the_turn_before_it() -> None:
    (x,) = corpus(whole(f"{TALK}Appendix: they moved to Kyoto Station and stayed there for a week.\n"))
    assert "Bob Ross" not in entity(x, "Kyoto Station").description


def test_a_label_that_a_border_cut_names_nobody() -> None:
    (_, x) = corpus(whole(TALK, "a"), whole("YA LIN: I saw Kyoto Station once again.\n" + TALK, "b"))
    assert "Kyoto Station" in names(x)
    assert not any(name.casefold() == "ya lin" for name in names(x))
    assert "ya lin" not in entity(x, "Kyoto Station").description.casefold()


def test_a_speaker_is_written_as_the_text_writes_the_name_elsewhere() -> None:
    text = "We talk to danah boyd today.\n" + "DANAH BOYD: I like maps.\nFEI-FEI LI: And I like cats.\n" * 3
    (x,) = corpus(whole(text))
    assert {"danah boyd", "Fei-Fei Li"} <= names(x)


def test_a_last_name_alone_is_the_person_of_the_whole_corpus_where_only_one_has_it() -> None:
    first = "Ebenezer Hobbins kept a shop. Ebenezer Hobbins said nothing. We saw Ebenezer Hobbins walk."
    second = "That night Mr. Hobbins dined alone. Then, said Hobbins, it was late. We asked Hobbins twice."
    found = corpus(whole(first, "a", "One"), whole(second, "b", "Two"))
    assert "Hobbins" not in names(found[1])
    assert "Ebenezer Hobbins" in names(found[1])


def test_a_last_name_of_several_people_stays_as_it_is() -> None:
    first = "Robert Hobbins kept a shop. We saw Peter Hobbins walk, and Robert Hobbins said so to Peter Hobbins."
    second = "That night Mr. Hobbins dined alone. Then, said Hobbins, it was late. We asked Hobbins twice."
    found = corpus(whole(first, "a", "One"), whole(second, "b", "Two"))
    assert "Hobbins" in names(found[1])


@pytest.mark.parametrize("label", ["the chair", "professor e", "marketing", "speaker 1", "project manager", "q"])
def test_a_label_that_many_may_have_is_a_role(label: str) -> None:
    assert speakers.names_role(label)


@pytest.mark.parametrize("label", ["mark twain", "kevin scott", "ann", "will.i.am", "danah boyd", "bill gates"])
def test_a_label_that_names_someone_is_no_role(label: str) -> None:
    assert not speakers.names_role(label)


def test_a_role_is_related_to_nothing() -> None:
    lines = [f"Chair: I call Anna Berg from Oslo {i}.\nAnna Berg: Thank you, Chair, and Oslo.\n" for i in range(4)]
    (x,) = corpus(whole("".join(lines)))
    assert "Chair" in names(x)
    assert x.relations
    assert not any("Chair" in (r.source, r.target) for r in x.relations)


def test_which_words_are_common_does_not_depend_on_what_was_read_before() -> None:
    text.tag_words(["zorblax"])
    assert not text.known_word("zorblax")
    assert text.known_form("foggier")
