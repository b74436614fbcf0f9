"""Shares of what an answer rests on, sentence by sentence, on both sides of what counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sensegraph.answering.grounding.citations import Reference
from sensegraph.errors import SettingsError
from sensegraph.lab.grounding import answer_grounding
from sensegraph.lab.grounding.answer_grounding import (
    Grounded,
    Grounding,
    GroundingSettings,
    Mean,
    average_measures,
    average_precision,
)
from sensegraph.lab.grounding.claims import ClaimSettings, Window
from sensegraph.trials import Wish

FOUR = "Lamp pier boat mill."


def share(context: tuple[str, ...], text: str, *quotes: str) -> float | None:
    """The share of the context's sentences that an answer rests on; neither an engine nor a judge is asked."""
    answer = Grounded("?", text, context, tuple((Reference(i), q) for i, q in enumerate(quotes, 1)))
    none = cast("Any", None)
    return answer_grounding._Answers([answer], GroundingSettings(), none, none).used_share()[0]


@pytest.mark.parametrize(
    ("context", "text", "quotes", "used"),
    [
        ((FOUR,), FOUR, (), 1.0),
        ((FOUR,), "Lamp pier rope tide.", (), 1.0),  # half of the words of both
        ((FOUR,), "Lamp rope tide crew.", (), 0.0),
        ((FOUR,), "Lamp pier boat mill rope tide crew sail.", (), 1.0),
        ((FOUR,), "Lamp pier boat mill rope tide crew sail mast.", (), 0.0),
        ((FOUR,), "Lamp rope. Pier tide.", (), 0.0),  # no one sentence has half of them
        ((FOUR, "Rope tide crew sail."), FOUR, (), 0.5),
        ((f"{FOUR} Rope tide crew sail. Mast oar net hook.",), FOUR, (), 1 / 3),
        ((FOUR,), "Rope.", (FOUR,), 1.0),
        ((FOUR,), "Rope.", ("pier boat",), 1.0),  # a part of it is quoted
        ((FOUR,), "Rope.", (f"So: {FOUR} Really.",), 1.0),  # it is a part of what is quoted
        ((FOUR,), "Rope.", ("pier   boat",), 1.0),
        ((FOUR,), "Rope.", ("",), 0.0),
        ((FOUR,), "", (), 0.0),
        ((), FOUR, (FOUR,), 0.0),
        (("",), FOUR, (), 0.0),
        (("...",), "...", (), 0.0),  # no words are nothing in common
    ],
)
def test_a_sentence_is_used_that_is_quoted_or_shares_half_of_its_words(
    context: tuple[str, ...], text: str, quotes: tuple[str, ...], used: float
) -> None:
    assert share(context, text, *quotes) == pytest.approx(used)


@pytest.mark.parametrize(
    ("found", "gold", "recall"),
    [
        (("a", "b"), ("a",), 1.0), (("a", "b"), ("a", "c"), 0.5), (("a", "a"), ("a", "a", "b"), 0.5), ((), ("a",), 0.0),
        (("a",), (), None),
    ],
)  # fmt: skip
def test_recall_is_the_share_of_what_was_to_be_found(
    found: tuple[str, ...], gold: tuple[str, ...], recall: float | None
) -> None:
    none = cast("Any", None)
    answer = Grounded("?", "", found=found, gold=gold)
    assert answer_grounding._Answers([answer], GroundingSettings(), none, none).document_recall() == [recall]


def test_relevancy_is_the_mean_likeness_of_a_question_with_those_that_its_answer_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = {"q": [1.0, 0.0], "a": [0.0, 1.0], "b": [1.0, 0.0], "c": [0.6, 0.8], "r": [0.0, -1.0], "d": [0.8, -0.6]}
    asked_back = {"says q": ("a", "b", "c"), "says r": ("d",), "says nothing": ()}

    def propose(step: object, wishes: list[Wish]) -> list[tuple[str, ...]]:
        assert [(w.wanted, w.count) for w in wishes] == [("reverse", 3), ("reverse", 3), ("reverse", 0)]
        return [asked_back[w.texts[0]] for w in wishes]

    def embed(texts: list[str], rt: object) -> SimpleNamespace:
        return SimpleNamespace(value=[vectors[text] for text in texts])

    monkeypatch.setattr(answer_grounding, "embed_all", embed)
    answers = [Grounded("q", "says q", ()), Grounded("r", "says r", ()), Grounded("q", "says nothing", ())]
    none, rt = cast("Any", None), cast("Any", SimpleNamespace(engine=SimpleNamespace(tasks={"propose"}), each=propose))
    found = answer_grounding._Answers(answers, GroundingSettings(), rt, none).relevancy()
    assert found == [pytest.approx(1.6 / 3), pytest.approx(0.6), 0.0]
    rt.engine.tasks.clear()
    assert answer_grounding._Answers(answers, GroundingSettings(), rt, none).relevancy() == [None] * 3


@pytest.mark.parametrize(
    ("useful", "precision"),
    [([], 0.0), ([False], 0.0), ([True], 1.0), ([False, True], 0.5), ([True, False, True], (1 + 2 / 3) / 2)],
)
def test_precision_is_averaged_over_the_places_of_what_is_useful(useful: list[bool], precision: float) -> None:
    assert average_precision(useful) == pytest.approx(precision)


def test_means_leave_out_what_is_not_defined() -> None:
    given = [Grounding({"a": a, "b": None}, "rules", "rules", False, 0, 0) for a in (0.0, 1.0, None, 0.5)]
    assert average_measures(given) == (Mean("a", 0.5, 3, 1), Mean("b", None, 0, 4))
    assert average_measures([]) == ()


def test_usual_settings_are_those_of_the_papers() -> None:
    assert ClaimSettings() == ClaimSettings(
        "auto", Window(5, 5, 3, 2, 0.2), Window(5, 0, 3, 2, 0.2), Window(5, 0, 1, 1, 0.0)
    )
    assert (answer_grounding._RATINGS, answer_grounding._QUESTIONS, answer_grounding._HALF) == (2, 3, 0.5)
    assert GroundingSettings().most == answer_grounding.MOST
    with pytest.raises(SettingsError, match="faithfulness"):
        GroundingSettings(("faithfulnes",))
