"""Files of examples that were begun and not kept, what lines of examples must be, and tables of a design."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data import example_files
from sensegraph.lab.finetuning.data.example_files import Output, read_pairs
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, format_effects, tabulate_design
from sensegraph.lab.scores.statistics import Interval


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
