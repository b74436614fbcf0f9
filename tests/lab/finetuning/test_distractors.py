"""Which passages become distractors, counted by hand: room, misses, hard ones, and why others are passed over."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from sensegraph.lab.finetuning.data import examples
from sensegraph.lab.finetuning.data.example_types import DataSettings, Passage, SourceQuestion, format_passage
from sensegraph.lab.finetuning.data.examples import draw_positions, pick_distractors, reject_distractor
from sensegraph.language.text import count_tokens

GOLD = Passage("gold", "The lamp of Arle burns all night.")
ASKED = SourceQuestion("q", "What burns?", ("the great lamp",), (GOLD,))


def passage(number: int, words: int = 5, kind: str = "random", text: str = "") -> Passage:
    said = text or " ".join([f"word{number}"] * words)
    return Passage(f"d{number}", said, kind=kind)  # type: ignore[arg-type]


def cost(one: Passage) -> int:
    return count_tokens(format_passage(one)) + examples._MARGIN


def picked(listed: list[Passage], room: int, most: int | None = None, hard: int = 2) -> list[str]:
    chosen, _ = pick_distractors(listed, ASKED, DataSettings(hard=hard), room, most)
    return [p.id for p in chosen]


def test_passages_are_taken_in_their_order_while_there_is_room() -> None:
    listed = [passage(i) for i in range(4)]
    size = cost(listed[0])
    assert {cost(p) for p in listed} == {size}
    for room, taken in ((4 * size, 4), (4 * size - 1, 3), (size, 1), (size - 1, 0)):
        assert len(picked(listed, room)) == taken
    assert picked(listed, 9 * size, 2) == ["d0", "d1"]
    assert picked(listed, 9 * size, 0) == []


def test_a_passage_that_does_not_fit_is_passed_by_and_after_several_the_search_ends() -> None:
    small, large = passage(1), passage(2, 200)
    size = cost(small)
    for misses, found in ((examples._MISSES - 1, ["d1"]), (examples._MISSES, [])):
        assert picked([*[large] * misses, small], size) == found
    again = [*[large] * (examples._MISSES - 1), small, *[large] * (examples._MISSES - 1), passage(3)]
    assert picked(again, 2 * size) == ["d1", "d3"]


def test_no_more_hard_ones_are_taken_than_are_wanted() -> None:
    listed = [passage(0, kind="hard"), passage(1, kind="hard"), passage(2), passage(3, kind="hard"), passage(4)]
    assert picked(listed, 10_000, hard=2) == ["d0", "d1", "d2", "d4"]
    assert picked(listed, 10_000, hard=1) == ["d0", "d2", "d4"]
    assert picked(listed, 10_000, hard=0) == ["d2", "d4"]


def test_what_is_passed_over_is_counted_by_its_reason() -> None:
    leak = passage(1, text="Here the great lamp was seen.")
    same = replace(GOLD, id="other")
    twice = passage(3)
    chosen, reasons = pick_distractors([leak, same, twice, twice, twice], ASKED, DataSettings(), 10_000, None)
    assert [p.id for p in chosen] == ["d3"]
    assert dict(reasons) == {"holds the answer": 1, "overlaps a gold passage": 1, "overlaps another distractor": 2}


@pytest.mark.parametrize("count", [0, 1, 7, 500])
def test_positions_are_drawn_each_once_whether_listed_or_not(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = list(draw_positions(count, Random(3)))
    assert sorted(listed) == list(range(count))
    monkeypatch.setattr(examples, "_SHUFFLED", 0)
    drawn = list(draw_positions(count, Random(3)))
    assert sorted(drawn) == list(range(count))


def test_a_passage_that_holds_a_part_of_the_answer_is_no_distractor():
    asked = SourceQuestion("q", "What burns and what rusts?", ("the great lamp; the old iron gate",), (GOLD,))
    half = Passage("half", "They painted the old iron gate.")
    assert reject_distractor(half, asked, (), 3) == ""
    parts = replace(asked, parts=("the great lamp", "the old iron gate"))
    assert reject_distractor(half, parts, (), 3) == "holds the answer"
