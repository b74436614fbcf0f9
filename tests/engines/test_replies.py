from __future__ import annotations

import json
import sys

import pytest

from sensegraph.engines.llm.replies.answer_replies import read_summary
from sensegraph.engines.llm.replies.reply_text import decode_json, strip_wrapping
from sensegraph.models.endpoint.client import Reply

VALUE = {"summary": 'He said "this" \\ and — thát\nwas all.', "points": [{"text": "one", "score": 7}, {"x": [1, [2]]}]}
CUT = json.dumps(VALUE)


def read(text: str, reason: str = "stop") -> object:
    return decode_json(Reply(text, 1, 1, reason))


@pytest.mark.parametrize("length", range(CUT.index("He"), CUT.index('", "points')))
def test_a_text_that_is_cut_off_anywhere_is_read_up_to_there(length: int) -> None:
    found = read(CUT[:length])
    assert isinstance(found, dict)
    assert VALUE["summary"].startswith(found["summary"])  # type: ignore[attr-defined]
    assert len(json.dumps(found["summary"])) >= length - len('{"summary": ') - len("\\u00e")


def test_cut_off_replies_are_read_without_the_slow_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "json_repair", None)
    for end in ("[1, [2]]", "[1, [2", '{"x": [1, ', '"score": 7}, ', '"score": 7', '{"text": "on', "said"):
        assert isinstance(read(CUT[: CUT.index(end) + len(end)]), dict)


def test_broken_escapes_inside_a_text_lose_nothing_of_what_follows() -> None:
    found = read(r'{"summary": "a path \unit\x, and more", "points": [{"text": "kept", "score": 1}]}')
    assert isinstance(found, dict)
    assert found["points"] == [{"text": "kept", "score": 1}]


def test_what_runs_on_in_brackets_is_no_value() -> None:
    assert read("[" * 100_000) is None
    assert read('{"a":' * 100_000) is None


def test_half_a_character_in_broken_json_is_marked_as_lost() -> None:
    reply = Reply(r"""{'summary': "Ships \ud83d come \ud83d\ude00", }""", 0, 9, "stop")
    assert read_summary(reply).value == "Ships \ufffd come 😀"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('Here it is:\n```json\n{"a": 1}\n```\nDone.', '{"a": 1}'),
        ("Here it is:\n```\nADA<|>person\n```", "ADA<|>person"),
        ("Run this:\n```\nls\n```", "Run this:\n```\nls\n```"),
        ("<think>Hm.</think>Ada.", "Ada."),
        ("Ada.", "Ada."),
    ],
)
def test_a_fence_around_what_was_asked_for_is_taken_off_and_one_of_code_in_a_text_stays(reply: str, text: str) -> None:
    assert strip_wrapping(reply).strip() == text
