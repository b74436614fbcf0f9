"""Subtitles as running text, and the heads and feet of pages of an RFC."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.documents import load
from sensegraph.documents.subtitles import parse_subtitles
from sensegraph.language.blocks import read_blocks

SRT = """1
00:00:01,000 --> 00:00:03,000
<i>The bridge was</i>
built by Ada Finch

2
00:00:03,200 --> 00:00:05,000
{\\an8}in 1815.

3
00:00:15,000 --> 00:00:17,000
- Who paid?
- The town did.
"""


def test_cues_are_joined_and_a_pause_ends_a_paragraph():
    text = parse_subtitles("x.srt", SRT).text
    assert text == "The bridge was built by Ada Finch in 1815.\n\nWho paid?\nThe town did."


def test_who_speaks_begins_a_line_and_is_named_once():
    text = """WEBVTT - The bridge

NOTE made by hand
STYLE

intro
00:01.000 --> 00:02.000 align:start
<v Ada Finch>We built <c.loud>it</c> &amp; paid

00:02.000 --> 00:03.000
<v Ada Finch>for it.</v> <v Bob>Well,

00:03.000 --> 00:04.000
<v Bob>yes.

00:04.000 --> 00:05.000
A bell rings.
"""
    document = parse_subtitles("x.vtt", text)
    assert document.text == "Ada Finch: We built it & paid for it.\nBob: Well, yes.\nA bell rings."
    assert document.title == "The bridge"


def test_a_line_that_is_shown_on_is_told_once_and_shouted_names_begin_lines():
    cues = ["one\ntwo", "two\nthree", "ADA FINCH: four"]
    text = "\n\n".join(f"00:0{n}.000 --> 00:0{n + 1}.000\n{cue}" for n, cue in enumerate(cues))
    assert parse_subtitles("x.vtt", text).text == "one two three\nADA FINCH: four"


@pytest.mark.parametrize("name", ["x.srt", "x.vtt"])
def test_a_file_without_cues_is_named(tmp_path: Path, name):
    (tmp_path / name).write_text("Only words.\n")
    (skipped,) = load([tmp_path]).skipped
    assert "holds no cues with times" in skipped.reason


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=4).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=9, unique=True), st.booleans(), st.sampled_from(["\n\n", "\n"]))
def test_the_words_of_the_cues_are_the_text_however_they_are_parted(cues, numbered, parted):
    def cue(n: int, words: str) -> str:
        number = f"{n}\n" if numbered else ""
        return f"{number}00:00:{n:02},000 --> 00:00:{n:02},900\n{words}"

    text = parted.join(cue(n, words) for n, words in enumerate(cues, 1)) + "\n"
    assert parse_subtitles("x.srt", text).text == " ".join(cues)


def test_heads_and_feet_of_the_pages_of_an_rfc_are_left_out():
    ends = ("river", "bridge", "town", "valley", "road")

    def page(n: int) -> str:
        end = ends[n - 1]
        prose = f"   The protocol of the {end} carries a message from\n   one end of the {end} to another.\n\n\n"
        body = f"{n}.  Section of {n}\n\n{prose}"
        return f"Finch                       Standards Track                    [Page {n}]\n".join(
            [body, "\f\nRFC 9999                      Bridges                    March 2024\n\n\n"]
        )

    source = "".join(page(n) for n in range(1, 6))
    text = read_blocks(source).text
    assert len(text) == len(source)
    assert "[Page" not in text
    assert "RFC 9999" not in text
    assert [" ".join(line.split()) for line in text.split("\n") if "carries" in line] == [
        f"The protocol of the {end} carries a message from one end of the {end} to another." for end in ends
    ]
