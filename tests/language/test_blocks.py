"""What a text is read as: as long as its source, the same however it is wrapped."""

from __future__ import annotations

import re
import textwrap
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hanging import not_hanging
from sensegraph.language.blocks import find_header, read_blocks
from sensegraph.language.collapsing import collapse_blanks, locate_in_source
from sensegraph.language.sentences import split_sentences

WORDS = "the keeper of lamp went home by boat while Ada Finch wrote to Port Ellery about herring and oak".split()
PROSE = st.lists(st.lists(st.sampled_from(WORDS), min_size=30, max_size=60), min_size=3, max_size=5).map(
    lambda paragraphs: [" ".join(["Now", *words]) + "." for words in paragraphs]
)
TEXTS = st.text(st.sampled_from("aB.,:- \n\t\r\f|#>*=`~1中。\u00ad"), max_size=200)


def read(text: str) -> str:
    return collapse_blanks(read_blocks(text).text).text


@given(PROSE, st.integers(40, 100))
def test_wrapped_prose_reads_as_it_did_before(paragraphs: list[str], width: int) -> None:
    lines = [textwrap.wrap(p, width, break_on_hyphens=False) for p in paragraphs]
    assume(any(line[0].islower() for paragraph in lines for line in paragraph))  # else they may be lines of verse
    wrapped = "\n\n".join("\n".join(paragraph) for paragraph in lines)
    assert read(wrapped) == "\n\n".join(paragraphs)


@given(PROSE)
def test_line_ends_of_windows_and_indentation_change_nothing(paragraphs: list[str]) -> None:
    wrapped = "\n\n".join(textwrap.fill(p, 72) for p in paragraphs)
    assert read(wrapped.replace("\n", "\r\n")) == read(wrapped)
    assert read(textwrap.indent(wrapped, "    ")).strip() == read(wrapped)


@given(TEXTS)
def test_what_is_read_is_as_long_as_its_source_and_keeps_all_letters_but_those_of_a_header(text: str) -> None:
    found = read_blocks(text).text
    assert len(found) == len(text)
    letters = re.sub(r"[^\w]", "", text[find_header(text) :])
    assert re.sub(r"[^\w]", "", found) == letters or "\f" in text


@given(TEXTS)
def test_blocks_come_in_order_and_hold_every_letter(text: str) -> None:
    found = read_blocks(text).blocks
    assert len(read_blocks("One.\n\nTwo.").blocks) == 2
    assert all(a.end <= b.start for a, b in pairwise(found))
    inside = {i for b in found for i in range(b.start, b.end)}
    assert all(i in inside for i, c in enumerate(text) if c.isalnum()) or "\f" in text


def test_a_word_parted_at_the_end_of_a_line_is_whole_and_leads_back_to_its_source() -> None:
    text = (
        "The method signifi-\ncantly reduces what the\nkeeper of the lamp has\nto read each night of\n"
        "the long winter, and it is\nwell-known for that.\n"
    )
    found = read_blocks(text).text
    assert "signifi-" not in found
    place = found.index("significantly")
    assert locate_in_source(text, 0, found, place, place + 13) == (text.index("signifi"), text.index(" reduces"))
    assert "well-known" in found


def test_a_hyphen_stays_where_the_text_writes_it_elsewhere() -> None:
    text = (
        "They call it a multi-hop question. Of course a multi-\nhop question needs more than one step,\n"
        "and each of the steps needs a\npassage of its own to be found\nby the method that asks.\n"
    )
    assert collapse_blanks(read_blocks(text).text).text.count("multi-hop") == 2


def test_chinese_lines_are_joined_without_a_blank() -> None:
    line = "港务委员会决定在港口建造一座新的码头因为旧的码头在风暴中被毁坏了"
    text = "\n".join([line] * 6)
    assert read(text).rstrip() == line * 6


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# Title\n\nOne line of text that goes on for a while, as prose does here.\n", ["heading", "paragraph"]),
        ("- one\n- two\n", ["item", "item"]),
        ("> what he said\n\nand more\n", ["quote", "paragraph"]),
        ("```\ncode(x)\n```\n\nProse.\n", ["code", "paragraph"]),
        ("a | b | c\n1 | 2 | 3\n", ["row"]),
        ("Title\n=====\n\nText follows here.\n", ["heading", "paragraph"]),
        ("---\nkind: minutes\n---\nText follows here.\n", ["header", "paragraph"]),
        (
            "From: ada@example.org\nTo: tom@example.org\nSubject: pier\n\nDear Tom, it is done.\n",
            ["header", "paragraph"],
        ),
    ],
)
def test_blocks_have_their_kinds(text: str, kinds: list[str]) -> None:
    assert [block.kind for block in read_blocks(text).blocks] == kinds


def test_front_matter_and_mail_headers_are_no_sentences() -> None:
    text = "---\ntitle: Minutes\nkind: council\n---\nAda Finch spoke.\n"
    found = read_blocks(text).text
    assert [found[a:b] for a, b in split_sentences(found)] == ["Ada Finch spoke."]
    assert find_header("Note: this is a remark.\nNothing: else.\n") == 0
    assert find_header("---\nNot a field\n---\n") == 0


def test_heads_and_feet_of_pages_are_left_out() -> None:
    told = ["lamp", "oil", "boat", "pier", "herring"]
    pages = [
        f"On the {word} the keeper wrote\nwhat he saw of the {word} and\nwhy the {word} was needed.\n\n"
        f"Harbour Council    Page {n}\n\f"
        for n, word in enumerate(told)
    ]
    found = read_blocks("".join(pages)).text
    assert "Harbour Council" not in found
    assert all(found.count(word) == 3 for word in told)


@pytest.mark.parametrize(
    "part",
    ["- ", "a\n", "---\n", "| ", "# ", "a-\nb ", "中\n", "```\n", "[x](", "a: b\n", "\f", "> > ", "1. ", "   x   y\n"],
)
def test_reading_never_hangs(part: str) -> None:
    with not_hanging():
        found = read_blocks(part * (60_000 // len(part)))
        assert len(found.text) == 60_000 // len(part) * len(part)


def test_a_line_that_stands_alone_on_a_new_page_does_not_go_on_with_the_page_before() -> None:
    text = "* Fix a fault of the listing\n\n\f\nversion 1.3 - Ann Lee, 2021-01-07\n\n* Fix another fault\n"
    assert [text[b.start : b.end] for b in read_blocks(text).blocks][1:2] == ["version 1.3 - Ann Lee, 2021-01-07"]


def list_blocks(text: str) -> list[tuple[str, str]]:
    return [(b.kind, text[b.start : b.end]) for b in read_blocks(text).blocks]


def test_the_line_that_signs_an_entry_of_a_log_does_not_go_on_with_the_next_entry() -> None:
    signed = " -- Ada Finch <ada@example.org>  Mon, 02 Jan 2023 13:06:21 +0100"
    change = "  * Mend the pedal of the old loom in the barn beside the mill, and the wheel\n    of the other one."
    log = "\n\n".join(f"loomctl (2.{n}-1) unstable; urgency=medium\n\n{change}\n\n{signed}" for n in range(6))
    found = [text for _, text in list_blocks(log)]
    assert found[2:4] == [signed.strip(), "loomctl (2.1-1) unstable; urgency=medium"]


def test_each_entry_that_begins_with_a_label_is_a_block_and_no_heading() -> None:
    log = "v1.5\n\n" + "\n".join(f"build: the wheel number {n} is turned by hand now" for n in range(5))
    assert [kind for kind, text in list_blocks(log) if text.startswith("build: ")] == ["paragraph"] * 5
    fields = list_blocks("Upstream-Name: loom\nSource: a barn\n\nThe loom is old and was mended often.\n")
    assert fields[:2] == [("paragraph", "Upstream-Name: loom"), ("paragraph", "Source: a barn")]
    alone = list_blocks("Part one: the loom\n\nThe loom is old and was mended often.\n")
    assert alone[0] == ("heading", "Part one: the loom")


def test_what_stands_further_in_behind_a_stop_is_a_block_of_its_own() -> None:
    log = "Changes from 1.0 to 1.1.\n    Added a handle that can be\n    turned.\n"
    assert next(text for _, text in list_blocks(log)) == "Changes from 1.0 to 1.1."


def test_a_paragraph_whose_first_line_stands_further_in_goes_on_with_a_name() -> None:
    text = """    The keeper of the lamp went to the store with old
Martha and with her two sons who had come over the water
in the night and brought oil and bread for all of them.

    Nobody had seen the boat of the harbour board before
Easter, and so they were glad of it and told the others
what they had heard about the ships from the mainland.
"""
    assert [kind for kind, _ in list_blocks(text)] == ["paragraph", "paragraph"]


def test_a_heading_in_small_letters_does_not_go_on_with_the_sentence_before_it() -> None:
    lines = [
        "Returns: success if the encoding is right, an error if the name is not one that is known, and",
        "another error where the encoding does not match the structure of the element that is (given).",
        "asn1 der decoding startEnd",
        "The function decodes what is given and writes where it begins and where it ends, as the library",
        "needs it to be told. It is used by those that read a part of an encoding and leave the rest.",
    ]
    read = read_blocks("\n".join(lines)).text
    assert [part.split() for part in read.split("\n") if "Returns" in part] == [" ".join(lines[:2]).split()]
    lines[2] = "asn1 der decoding begins there."  # prose, which ends with a mark
    assert "(given). asn1 der" in " ".join(read_blocks("\n".join(lines)).text.split("\n")[0].split())
