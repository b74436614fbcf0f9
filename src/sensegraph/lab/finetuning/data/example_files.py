"""Training data as it lies on disk: lines of JSON in the completion, chat or evaluation form, read as pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sensegraph.engines.local.local_engine import Layout
from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data.example_forms import format_passage, format_prompt
from sensegraph.lab.finetuning.data.example_types import Passage

Talk = Callable[[Sequence[Mapping[str, str]]], str]


@dataclass(frozen=True, slots=True)
class Pair:
    """What a model is given, and what it is to say after it."""

    prompt: str
    target: str


@dataclass(frozen=True, slots=True)
class Item:
    """One question of an evaluation file: over its passages, with its right answer.

    `target` is what training has it say, where that is more than the answer; `type` is what tables group it under.
    """

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...] = ()
    type: str = ""
    target: str = ""

    @property
    def right(self) -> tuple[str, ...]:
        """All answers that count as right."""
        return self.answers or (self.answer,)


def completion_layout() -> Layout:
    """The prompt that the completion form of our data is written in."""
    return Layout(format_prompt("{{question}}", (Passage("", "{{passages}}"),)))


def read_pairs(path: Path, talk: Talk, shape: Layout | None = None) -> list[Pair]:
    """Prompt and target of every line; `talk` makes a prompt of a chat, `shape` one of an evaluation's line.

    Raises InputError, naming the line, for what is none of the three forms.
    """
    shape, found = shape or completion_layout(), list[Pair]()
    for where, row in _read_rows(path):
        messages = row.get("messages")
        if isinstance(row.get("prompt"), str) and isinstance(row.get("completion"), str):
            pair = Pair(row["prompt"], row["completion"])
        elif isinstance(messages, list):
            fine = all(isinstance(m, dict) and isinstance(m.get("content"), str) and m.get("role") for m in messages)
            if not fine or len(messages) < 2 or messages[-1]["role"] != "assistant":
                raise InputError(
                    f"{where}: messages must be objects with role and content, the last one of the assistant."
                )
            pair = Pair(talk(messages[:-1]), " " + str(messages[-1]["content"]))
        elif "question" in row:
            item = _read_item(row, where)
            pair = Pair(format_item_prompt(item, shape), f" {item.target or item.answer}")
        else:
            raise InputError(
                f"{where}: neither prompt and completion, nor messages, nor question, answer and passages; "
                f"it has {', '.join(map(str, row)) or 'nothing'}."
            )
        if not pair.target.strip():
            raise InputError(f"{where}: there is nothing to learn, the answer is empty; remove the line.")
        found.append(pair)
    return found


def read_items(path: Path) -> list[Item]:
    """The questions of an evaluation file. Raises InputError, naming the line, for another form."""
    return [_read_item(row, where) for where, row in _read_rows(path)]


def hash_file(path: Path) -> str:
    """A hash of the file's bytes, as a manifest names it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if not path.is_file():
        raise InputError(f"{path} is no file: sensegraph tune data writes one.")
    empty = True
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            empty, where = False, f"{path}, line {number}"
            try:
                row = json.loads(text)
            except json.JSONDecodeError as e:
                raise InputError(f"{where}: this is no JSON ({e.msg}); every line is one object.") from e
            if not isinstance(row, dict):
                raise InputError(f"{where}: this is no object; every line is one.")
            yield where, row
    if empty:
        raise InputError(f"{path} holds no example: sensegraph tune data writes some.")


def format_item_prompt(item: Item, shape: Layout) -> str:
    """The prompt of a question over its passages."""
    return shape.prompt(item.question, [format_passage(p) for p in item.passages])


def _read_item(row: Mapping[str, Any], where: str) -> Item:
    try:
        return Item(
            str(row["id"]),
            _read_text_field(row, "question"),
            _read_text_field(row, "answer"),
            tuple(
                Passage(
                    str(p.get("id", "")), _read_text_field(p, "text"), str(p.get("title", "")), bool(p.get("oracle"))
                )
                for p in row["passages"]
            ),
            tuple(map(str, row.get("answers") or ())),
            str(row.get("type") or ""),
            str(row.get("target") or ""),
        )
    except (KeyError, TypeError) as e:
        raise InputError(
            f"{where}: an evaluation's line has id, question, answer and passages; wrong or missing: {e}."
        ) from e


def _read_text_field(row: Mapping[str, Any], name: str) -> str:
    if not isinstance(row[name], str):
        raise TypeError(f"{name} is no text")
    return str(row[name])
