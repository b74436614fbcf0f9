"""Who is in a corpus, and how its conversations open, of lines that are written by hand."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.retrieval.outline import evidence, people
from sensegraph.retrieval.outline.part import OUTLINE
from sensegraph.retrieval.outline.phrases import Phrase
from sensegraph.retrieval.outline.themes import ThemeFinder
from sensegraph.retrieval.outline.values import Outline, Sentence, Theme
from sensegraph.types import Chunk


def opened(*units: str, titles: int) -> Any:
    """Conversations that open with these lines: "a" has a mark of its own, "A" has it and is worth nothing."""
    lines = [[(unit, place) for place in range(len(said))] for unit, said in enumerate(units)]
    return SimpleNamespace(
        unit=list(range(titles)), talks=list(range(len(units))), titles=["t"] * titles,
        opening=lambda unit, most: lines[unit][:most], sentence=lambda spot: spot,
        line=lambda spot: SimpleNamespace(
            marks=(units[spot[0]][spot[1]].lower(),), worth=float(units[spot[0]][spot[1]].islower())
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("units", "titles", "shown"),
    [
        (["ab", "ac", "ad", "e", "f", "g"], 6, [(0, 0)]),
        (["ab", "ac", "ad", "e", "f", "g"], 12, [(0, 0)]),
        (["ab", "ac", "ad", "e", "f", "g"], 13, []),
        (["ab", "ac", "d", "e", "f", "g"], 6, []),
        (["ab", "ac", "ad", "e", "f"], 5, []),
        (["ab", "Ac", "axb", "e", "b", "g"], 6, [(0, 0), (0, 1)]),
        (["A", "A", "A", "A", "A", "A"], 6, []),
        (["abcde", "abcde", "abcde", "f", "g", "h"], 6, [(0, 0), (0, 1), (0, 2)]),
    ],
)
def test_what_most_conversations_open_with_is_shown(units: list[str], titles: int, shown: list[Any]) -> None:
    assert list(people.find_shared_opening(opened(*units, titles=titles))) == shown


def test_speakers_are_told_by_the_lines_that_name_them_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ann speaks most; Bo has one name; of Cy no line is worth anything; Dee is named by no phrase; Abe as Eve."""
    spots = {("ann", "lee"): [3, 1, 1, 2], ("cy", "ray"): [0], ("eve", "fox"): [5], ("abe", "orr"): [6]}
    gathered: Any = SimpleNamespace(
        voices=Counter({"ann lee": 9, "bo": 8, "cy ray": 7, "dee kay": 6, "eve fox": 5, "abe orr": 5}),
        forms={("ann", "lee"): 1, ("bo",): 1, ("cy", "ray"): 1, ("eve", "fox"): 1, ("abe", "orr"): 1},
        phrase=lambda stems: SimpleNamespace(spots=spots[stems], label=" ".join(stems).title(), units={1, 2}),
        line=lambda spot: SimpleNamespace(worth=float(spot > 0)),
        place=lambda spot: spot,
        sentence=lambda spot: f"line {spot}",
    )
    told = people.list_speakers(gathered)
    assert [(p.label, p.units, p.sentences) for p in told] == [
        ("Ann Lee", 2, ("line 1", "line 2", "line 3")), ("Abe Orr", 2, ("line 6",)), ("Eve Fox", 2, ("line 5",)),
    ]  # fmt: skip
    monkeypatch.setattr(people, "LINES", 2)
    monkeypatch.setattr(people, "MOST", 1)
    assert [(p.label, p.sentences) for p in people.list_speakers(gathered)] == [("Ann Lee", ("line 1", "line 2"))]


@pytest.mark.parametrize(
    ("forms", "named"),
    [
        ({"Lamp Board": 3}, True),
        ({"Lamp board": 3}, False),
        ({"lamp board": 3}, False),
        ({"Lamp Board": 9, "lamp board": 1}, True),
        ({"Lamp Board": 4, "lamp board": 1}, False),
        ({"Lamp Board": 1, "lamp board": 3}, False),
        ({"LAMP BOARD": 3}, False),
    ],
)
def test_a_phrase_is_a_name_where_all_its_words_mostly_have_capitals(forms: dict[str, int], named: bool) -> None:
    held: Any = SimpleNamespace(forms={form: [0] * times for form, times in forms.items()})
    assert Phrase.named.func(held) is named  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("label", "named", "found"),
    [
        ("keeper", False, False), ("teacher", False, True), ("teachers", False, True), ("Teacher", True, False),
        ("Green Park", True, True), ("green park", False, False), ("Park", True, False),
    ],
)  # fmt: skip
def test_a_role_and_a_place_are_no_themes(label: str, named: bool, found: bool) -> None:
    phrase: Any = SimpleNamespace(label=label, named=named, stems=tuple(label.lower().split()))
    assert ThemeFinder._is_who_or_where(None, phrase) is found  # type: ignore[arg-type]


def test_who_says_a_phrase_says_it_twice_and_does_not_lead() -> None:
    """Of 10 units: Hal leads; Ann says it three times, Bo and Cy twice, Dee once."""
    speakers = ["Ann", "Hal", "Ann", "Cy", "Ann", "Cy", "Bo", "Bo", "Hal", "Dee", "", ""]
    finder: Any = SimpleNamespace(
        units=10,
        gathered=SimpleNamespace(
            said_by=lambda spot: (speakers[spot], "words"), voices=Counter({"Hal": 99, "Ann": 1, "Bo": 1})
        ),
    )
    phrase: Any = SimpleNamespace(spots=[*range(12), 9, 9])
    assert ThemeFinder._list_speakers(finder, phrase) == ["Ann", "Bo", "Cy"]


def test_an_outline_without_notes_is_left_as_it_is() -> None:
    value, none = Outline(), SimpleNamespace()
    assert OUTLINE.restrict_to_scope(value, none) is value  # type: ignore[arg-type]
    assert OUTLINE.restrict_to_moment(value, none) is value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([1.0, 1.0, 1.0], "abc"), ([0.0, -0.5, 0.0], ""), ([-0.01, 0.0, 0.5, 0.1], "bcd"), ([0.0, 2.0, 1.0], "abc"),
        ([0.1, 0.2], ""), ([], ""),
    ],
)  # fmt: skip
def test_people_are_told_of_whom_enough_is_said(monkeypatch: pytest.MonkeyPatch, rates: list[float], told: str) -> None:
    """Each has a sentence of a chunk of their own."""
    monkeypatch.setattr(evidence, "SAYS_WHO", 0.0)
    monkeypatch.setattr(evidence, "FEW_PEOPLE", 3)
    monkeypatch.setattr(
        evidence, "rate_mention", lambda name, said: rates["abcd".index(said[0])] if name.person else -9
    )
    chunks = {c: Chunk(c, "d", 0, 20, 4, f"{c} Ann Lee keeps it.") for c in "abcd"}
    themes = [Theme("Ann Lee", 1, sentences=(Sentence(c, 0, 19),)) for c in "abcd"[: len(rates)]]
    assert "".join(said.source.chunk for said in evidence.tell_people(themes, chunks)) == told
