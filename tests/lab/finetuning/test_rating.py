"""Blind rating: sheets without a trace of the arm, and read again (R16)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, DesignQuestion, Reply
from sensegraph.lab.finetuning.factorial.designs import read_ratings, write_sheet

ASKED = [DesignQuestion(str(n), f"question {n}", (f"gold {n}",)) for n in range(6)]
REPLIES = [Reply(p.id, arm.name, f"answer {p.id} {arm.name}") for arm in ARMS for p in ASKED]


def filled(path: Path, say: dict[str, str]) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]))
        writer.writeheader()
        writer.writerows([row | {"correct": say.get(row["answer"], "")} for row in table])


def test_a_sheet_shows_no_arm_and_not_the_order_of_the_arms(tmp_path: Path):
    path = tmp_path / "sheet.csv"
    replies = [Reply(p.id, arm.name, f"answer {n}") for n, arm in enumerate(ARMS) for p in ASKED]
    assert write_sheet(path, ASKED, replies) == 24
    text = path.read_text("utf-8")
    assert not [arm for arm in ARMS if arm.name in text or arm.title in text]
    given = [line.split(",")[3] for line in text.splitlines()[1:]]
    assert given != sorted(given)


def test_equal_answers_to_a_question_are_judged_once_for_all_arms(tmp_path: Path):
    path = tmp_path / "sheet.csv"
    replies = [Reply("0", arm.name, "same  words") for arm in ARMS]
    assert write_sheet(path, ASKED, replies) == 1
    filled(path, {"same  words": "yes"})
    found = read_ratings([path])
    assert [found.value(r) for r in replies] == [1.0] * 4


def test_the_judgements_of_raters_are_averaged_and_blanks_counted(tmp_path: Path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, said in zip(paths, ("yes", "0"), strict=True):
        write_sheet(path, ASKED, REPLIES)
        filled(path, {REPLIES[0].answer: said})
    found = read_ratings(paths)
    assert found.value(REPLIES[0]) == 0.5
    assert found.value(REPLIES[1]) is None
    assert (found.raters, found.blank) == (2, 46)


def test_an_answer_that_a_table_program_would_run_is_text(tmp_path: Path):
    path = tmp_path / "sheet.csv"
    write_sheet(path, ASKED, [Reply("0", "rag", "=1+1")])
    assert "'=1+1" in path.read_text("utf-8")


def test_a_sheet_that_cannot_be_read_is_named_with_its_line(tmp_path: Path):
    path = tmp_path / "sheet.csv"
    write_sheet(path, ASKED, REPLIES[:1])
    filled(path, {REPLIES[0].answer: "perhaps"})
    with pytest.raises(InputError, match=r"sheet\.csv, line 2: 'perhaps' is no judgement"):
        read_ratings([path])
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column line and correct"):
        read_ratings([path])
    with pytest.raises(InputError, match="File not found"):
        read_ratings([tmp_path / "none.csv"])
