"""Training data as it lies on disk, in three forms, and every line that is none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finetuning_towns import NO_PAD, asked, example, pool
from sensegraph.engines.local.local_model import render_talk
from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data import example_files
from sensegraph.lab.finetuning.data.example_files import Pair
from sensegraph.lab.finetuning.data.example_types import FORMS, format_example_line, record_example
from sensegraph.lab.finetuning.data.examples import make_example

EXAMPLE = example(make_example(asked(5), pool(), NO_PAD))


def talk(messages: object) -> str:
    return render_talk(messages, None)  # type: ignore[arg-type]


def put(folder: Path, *rows: object) -> Path:
    path = folder / "data.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return path


def test_the_three_forms_of_one_example_are_the_same_pair(tmp_path: Path):
    """R04: whatever the form, the model sees instruction, question, passages, and learns the target."""
    path = tmp_path / "all.jsonl"
    path.write_text("".join(format_example_line(EXAMPLE, form) for form in FORMS), encoding="utf-8")
    found = example_files.read_pairs(path, talk)
    row = record_example(EXAMPLE, "completion")
    assert found == [Pair(row["prompt"], row["completion"])] * 3


def test_the_layout_is_the_prompt_of_the_completion_form():
    texts = [example_files.format_passage(p) for p in EXAMPLE.passages]
    assert (
        example_files.completion_layout().prompt(EXAMPLE.question, texts)
        == record_example(EXAMPLE, "completion")["prompt"]
    )


def test_a_question_may_hold_the_mark_of_a_place():
    assert "{{passages}} {{question}}?" in example_files.completion_layout().prompt(
        "{{passages}} {{question}}?", ["a text"]
    )


def test_an_evaluation_file_keeps_passages_answers_and_which_are_gold(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    path.write_text(format_example_line(EXAMPLE, "evaluation"), encoding="utf-8")
    (item,) = example_files.read_items(path)
    assert [p.oracle for p in item.passages] == [p.oracle for p in EXAMPLE.passages]
    assert item.right == EXAMPLE.answers


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{", r"line 2: this is no JSON"),
        ("[]", r"line 2: this is no object"),
        ({"text": "x"}, r"line 2: neither prompt and completion.* it has text"),
        ({"prompt": "a", "completion": " "}, r"line 2: there is nothing to learn"),
        ({"messages": [{"role": "user", "content": "a"}]}, r"line 2: messages must"),
        ({"messages": [{"role": "user"}, {"role": "assistant", "content": "a"}]}, r"line 2: messages must"),
        ({"id": "1", "question": "q", "answer": "a"}, r"line 2: an evaluation's line .*passages"),
        ({"id": "1", "question": 3, "answer": "a", "passages": []}, r"line 2: .*question is no text"),
    ],
    ids=str,
)
def test_a_line_of_no_form_is_named(tmp_path: Path, row: object, why: str):
    path = put(tmp_path, {"prompt": "a", "completion": "b"}, row)
    with pytest.raises(InputError, match=why):
        example_files.read_pairs(path, talk)


def test_an_empty_file_and_one_that_is_not_there_say_what_writes_one(tmp_path: Path):
    with pytest.raises(InputError, match="holds no example"):
        example_files.read_pairs(put(tmp_path), talk)
    with pytest.raises(InputError, match="is no file: sensegraph tune data"):
        example_files.read_items(tmp_path / "none.jsonl")
