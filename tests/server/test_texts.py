"""What hosts without structured output are shown of a tool's result."""

from __future__ import annotations

from typing import Any

from sensegraph.server.texts import write_result

PART: dict[str, Any] = {
    "document": "letter",
    "start": 0,
    "end": 20,
    "page": None,
    "text": "Ada Finch wrote the ",
    "length": 61,
}


def test_a_part_of_a_document_says_how_much_more_there_is_and_the_last_one_says_nothing() -> None:
    assert write_result("read", {**PART, "next": "20"}) == (
        "[letter:0-20]\nAda Finch wrote the \n[41 more characters from 20]"
    )
    last = {**PART, "start": 41, "end": 61}
    assert write_result("read", last) == "[letter:41-61]\nAda Finch wrote the "
