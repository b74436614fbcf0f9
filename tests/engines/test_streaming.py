"""An answer that is told while it is written is the one that would have come whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_engine import REPORTS
from sensegraph.engines.llm.replies.answer_replies import read_answer
from sensegraph.engines.llm.replies.cited_records import AnswerStream, AnswerText, Records, read_streamed_answer
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Statement

CITED = Records(REPORTS)
MARKS = st.sampled_from(
    [
        "[Data: Reports (1)]",
        " [Data: Reports (1, 2); Entities (9)]",
        "[2, 3]",
        "[1999]",
        "[1999] [2]",
        "(Data: Reports (3))",
        "[Data: Rep",
        "[see",
        "]",
        "(Data:",
        "(data",
        "【Data: Reports (2)】",
        "[Data: 1 [2]",
        " [Reports (1)] , [3]",
    ]
)
BITS = st.one_of(
    MARKS,
    st.sampled_from(
        ["A is so", "B was", " ", ".", ",", ";", "\n\n", "# ", "(", "[", '"', "\\", "\\alpha", "…", "}", ' "hi", ']
    ),
    st.text(max_size=6),
)
TEXTS = st.lists(BITS, max_size=12).map("".join)
CUTS = st.lists(st.integers(1, 9), min_size=1, max_size=8)


def pieces(text: str, sizes: list[int]) -> list[str]:
    found, at = [], 0
    while at < len(text):
        size = sizes[len(found) % len(sizes)]
        found.append(text[at : at + size])
        at += size
    return found


def forms(text: str, ascii_: bool, form: int) -> str:
    """`text` as an answer, in one of the forms that models give it."""
    plain = json.dumps({"answer": text}, ensure_ascii=ascii_)
    if form == 1:
        return f"```json\n{plain}\n```"
    if form == 2:
        return f'<think>They want {{"answer": "x"}}.</think>\n{plain}'
    if form == 3:
        return f"Here it is:\n{plain}"
    return text if form == 4 else plain


@given(TEXTS, st.booleans(), st.integers(0, 4), CUTS)
def test_any_cut_of_a_reply_is_told_as_the_statements_of_the_whole(
    text: str, ascii_: bool, form: int, sizes: list[int]
) -> None:
    reply = forms(text, ascii_, form)
    draft = read_answer(Reply(reply, 1, 1, "stop"), CITED).value
    told: list[Statement] = []
    stream = AnswerStream(CITED, told.append)
    for piece in pieces(reply, sizes):
        stream.hear(piece)
    statements = list(draft.statements) if draft else []
    assert told == statements[: len(told)]
    assert stream.count == len(told)


@given(st.text(), st.booleans(), CUTS)
def test_a_text_is_decoded_as_json_says_however_it_is_cut(text: str, ascii_: bool, sizes: list[int]) -> None:
    reading = AnswerText()
    reply = json.dumps({"answer": text}, ensure_ascii=ascii_)
    parts = [reading.feed(p) for p in pieces(reply, sizes)]
    assert "".join(parts) == text.strip()
    assert reading.closed
    assert read_streamed_answer(reply) == text.strip()


@given(TEXTS, st.booleans(), st.integers(0, 60))
def test_of_a_reply_that_is_cut_off_the_beginning_of_the_text_is_read(text: str, ascii_: bool, length: int) -> None:
    reply = json.dumps({"answer": text}, ensure_ascii=ascii_)
    cut = len('{"answer": "') + length
    found = read_streamed_answer(reply[:cut])
    assert found is not None
    assert text.strip().startswith(found.rstrip("\ufffd"))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('{"answer": "a \\alpha \\u12 b"}', "a \\alpha \\u12 b"),
        ('{"answer": "He said "yes" to it."}', 'He said "yes" to it.'),
        ('{"answer": "one\nline\ttab"}', "one\nline\ttab"),
        ('{"answer": "\\ud83d\\ude00 \\ud83d \\ude00 \\ud83d\\u0041"}', "\U0001f600 \ufffd \ufffd \ufffdA"),
        ('{"answer": "so", "sources": [1]}', "so"),
        ('{"answer": "so" }\nI hope that this helps.', "so"),
        ('<think>so {"answer": "no"}</think>{"answer": "yes"}', "yes"),
    ],
)
def test_what_models_make_of_json_is_read(reply: str, text: str) -> None:
    assert read_streamed_answer(reply) == text
    reading = AnswerText()
    assert "".join(map(reading.feed, reply)) == text


@pytest.mark.parametrize("reply", ["Just words.", '{"answer": 5}', '["answer"]', 'I say {"answer": "x"}', ""])
def test_another_form_is_not_read_in_pieces(reply: str) -> None:
    assert read_streamed_answer(reply) is None


def test_a_statement_is_told_when_the_next_has_begun_and_not_before() -> None:
    told: list[str] = []
    stream = AnswerStream(CITED, lambda s: told.append(s.text))
    steps = [('{"answer": "A is [Data: Rep', 0), ("orts (1)]", 0), (". ", 0), ("[2]", 0), (" B", 1), (' is."}', 1)]
    for piece, count in steps:
        stream.hear(piece)
        assert len(told) == count, piece
    assert told == ["A is."]


def test_code_in_an_answer_is_part_of_it() -> None:
    reply = json.dumps({"answer": 'Use this:\n```json\n{"a": 1}\n```\nand [Data: Reports (1)].'})
    reading = read_answer(Reply(reply, 1, 1, "stop"), CITED)
    assert reading.value is not None
    assert reading.value.statements[0].text.startswith("Use this:")
