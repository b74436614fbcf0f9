"""Files of examples that were begun and not kept, what lines of examples must be, and tables of a design."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data import example_files, examples
from sensegraph.lab.finetuning.data.example_files import Output, read_pairs
from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    MadeExample,
    Passage,
    SourceQuestion,
)
from sensegraph.lab.finetuning.data.report import Leaks, Spread, _describe_figures
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, format_effects, tabulate_design
from sensegraph.lab.scores.statistics import Interval
from sensegraph.language.text import count_tokens


def test_what_was_begun_is_gone_on_leaving_unless_it_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_files, "Reporter", lambda source, how: None)
    source: Any = SimpleNamespace(name="harbour")
    path = tmp_path / "examples.jsonl"
    with Output(source, None, "completion", path) as output:  # type: ignore[arg-type]
        output._file.write("one\n")
        assert [p.name for p in tmp_path.iterdir()] == ["examples.jsonl.part"]
    assert list(tmp_path.iterdir()) == []
    with Output(source, None, "completion", path) as output:  # type: ignore[arg-type]
        output._file.write("two\n")
        output.keep()
        assert path.read_text() == "two\n"  # all of it, before anybody leaves
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("examples.jsonl", "two\n")]


@pytest.mark.parametrize(
    ("messages", "prompt"),
    [
        ([("user", "Who?"), ("assistant", "Ada.")], "user: Who?"),
        ([("system", "Be brief."), ("user", "Who?"), ("assistant", "Ada.")], "system: Be brief.|user: Who?"),
        ([("assistant", "Ada.")], None),
        ([("user", "Who?"), ("user", "Ada.")], None),
        ([], None),
    ],
)
def test_a_chat_ends_with_the_assistant_and_begins_with_somebody_else(
    messages: list[tuple[str, str]], prompt: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps({"messages": [{"role": role, "content": said} for role, said in messages]}) + "\n")

    def talk(before: Any) -> str:
        return "|".join(f"{m['role']}: {m['content']}" for m in before)

    if prompt is None:
        with pytest.raises(InputError, match="the last one of the assistant"):
            read_pairs(path, talk)
    else:
        (pair,) = read_pairs(path, talk)
        assert (pair.prompt, pair.target) == (prompt, " Ada.")


def test_a_design_is_told_by_its_arms_and_by_its_effects() -> None:
    value = Interval(0.5, 0.25, 0.75)
    row = SimpleNamespace(
        metric="F1", type="all", questions=1_200, undefined=0,
        arms=(("rag", value), ("graft", value)), effects=(("tuning", value),),
    )  # fmt: skip
    found: Any = SimpleNamespace(arms=("rag", "graft"), rows=(row,))
    assert tabulate_design(found, "arms") == [
        ["metric", "questions", "Baseline RAG", "GRAFT"],
        ["F1", "all (1,200)", "0.500 [0.250, 0.750]", "0.500 [0.250, 0.750]"],
    ]
    assert tabulate_design(found, "effects") == [
        ["metric", "questions", "tuning", "summaries", "interaction"],
        ["F1", "all (1,200)", "+0.500 [+0.250, +0.750]", "—", "—"],
    ]


def test_effects_are_told_only_of_all_four_arms() -> None:
    def told(*arms: str) -> list[str]:
        found: Any = SimpleNamespace(
            posed=[1] * 1_200, arms=arms, gold="given", rows=(), how=(("F1", "of words"),), notes=("n",)
        )
        return format_effects(found).splitlines()

    whole, part = told(*(arm.name for arm in ARMS)), told("rag", "graft")
    assert whole[0].startswith("1,200 questions, 4 arms; gold answers: given.")
    assert whole[1].split() == ["metric", "questions", *" ".join(arm.title for arm in ARMS).split()]
    assert whole[3].split() == ["metric", "questions", "tuning", "summaries", "interaction"]
    assert part[1].split() == ["metric", "questions", "Baseline", "RAG", "GRAFT"]
    assert "tuning" not in part[1] + part[2]
    assert part[3] not in whole
    assert part[-2:] == whole[-2:] == ["F1: of words", "n"]


def figures(**changes: Any) -> list[str]:
    """The lines of a report of examples, of which nothing is unusual but the `changes`."""
    usual: dict[str, Any] = {
        "share": (0.7, 0.8125), "with_oracle": 1_500, "oracles": ((1, 1_400), (2, 100)), "distractors": (), "reused": 1,
        "passages": Spread(4, 4.0, 4.0, 4.0, 4), "tokens": Spread(100, 350.0, 400.25, 1_000.0, 1_200),
        "targets": Spread(3, 12.0, 14.0, 80.0, 90),
        "positions": SimpleNamespace(seen=(700, 800)), "leaks": Leaks(0, 0, 0, 0), "answered": (1_200, 1_300),
        "near": "",
        "passed_over": (), "short": 0, "several": 0, "settings": SimpleNamespace(answers="all"), "written": 0,
        "masked": None, "types": (("who", 1_500),),
    }  # fmt: skip
    return list(_describe_figures(SimpleNamespace(**{**usual, **changes})))  # type: ignore[arg-type]


USUAL = [
    "with oracle: 1,500 (70.0 % to 81.2 % at 95 %); 1,400 with 1, 100 with 2",
    "passages of an example: 4; none distractors, one drawn 1 time at most",
    "tokens of an example: 100–1,200, median 350, mean 400.2; of what is learnt: 3–90, median 12, mean 14.0",
    "oracle by place: 700, 800",
    "leaks: 0 distractors of 0 examples hold a short answer; answers yes or no: 0",
    "answer word for word in an oracle: 1,200 of 1,300",
]


def test_figures_of_examples_are_told_line_by_line_and_what_there_is_none_of_is_left_out() -> None:
    assert figures() == USUAL


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"near": "words"}, ["distractors near the question by: words; passed over: none"]),
        ({"passed_over": (("alike", 1_200),)}, ["distractors near the question by: nobody; passed over: 1,200 alike"]),
        ({"short": 1}, ["fewer distractors than wanted, for want of room or of passages: 1 example"]),
        ({"several": 2}, ["several answers: 2 examples, of which all are learnt"]),
        (
            {"several": 2, "settings": SimpleNamespace(answers="first")},
            ["several answers: 2 examples, of which the first is learnt"],
        ),
        ({"written": 1_200}, ["answers written by an engine from the gold passages: 1,200"]),
        ({"masked": ()}, ["personal data replaced: none"]),
        ({"masked": (("email", 2), ("phone", 1))}, ["personal data replaced: 2 email; 1 phone"]),
        ({"types": (("who", 2), ("why", 1))}, ["types: 2 who; 1 why"]),
    ],
)
def test_what_is_unusual_about_examples_has_a_line_of_its_own(changes: dict[str, Any], lines: list[str]) -> None:
    assert figures(**changes) == [*USUAL, *lines]


def test_one_leak_is_said_as_one() -> None:
    assert figures(leaks=Leaks(1, 1, 0, 1_200))[4] == (
        "leaks: 1 distractor of 1 example holds a short answer; answers yes or no: 1,200"
    )


def questions(*names: str) -> list[SourceQuestion]:
    return [SourceQuestion(n, f"Who is {n}?", ("Ada",), (Passage(n, f"Ada is {n} of the harbour."),)) for n in names]


@pytest.mark.parametrize(("all_held", "count"), [(True, 2), (False, 1)])
@pytest.mark.parametrize("unused", [None, "a", "b", "c", "d"])
def test_of_few_questions_those_of_one_passage_are_apart_from_the_others_and_only_of_those_that_can_be_used(
    all_held: bool, count: int, unused: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "is_held_out", lambda asked, share, seed: all_held)
    monkeypatch.setattr(examples, "_can_use", lambda asked, how: asked.id != unused)
    given = [
        *questions("a", "b", "c", "d"),
    ]
    split = list(examples.split_held_out(given, 0.5, DataSettings()))
    held = {asked.id for asked, apart in split if apart}
    assert [asked for asked, _ in split] == given
    assert unused not in held
    assert len(held) == count + (all_held and unused is None)


def test_an_example_may_take_all_its_tokens_and_not_one_more() -> None:
    (asked,) = questions("keeper")
    whole = count_tokens(examples.format_prompt(asked.question, asked.oracles)) + count_tokens("Ada")
    how = DataSettings(style="plain", oracle_share=1.0, max_tokens=whole)
    made = examples.make_example(asked, [Passage("x", "Nobody came to the old pier.")], how)
    assert isinstance(made, MadeExample)
    assert [p.text for p in made.example.passages] == [asked.oracles[0].text]
    dropped = examples.make_example(asked, [], replace(how, max_tokens=whole - 1))
    assert isinstance(dropped, DroppedQuestion)
    assert dropped.reason == "its gold passages do not fit"
