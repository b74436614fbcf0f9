"""Training data as it lies on disk: lines of JSON in the completion, chat or evaluation form, read as pairs.

Examples are written one at a time, each file in its place when all are written, with a report for each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sensegraph.engines.llm.trained_prompt import Layout
from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data import examples
from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    Form,
    MadeExample,
    Passage,
    SourceQuestion,
    format_example_line,
    format_passage,
    format_prompt,
)
from sensegraph.lab.finetuning.data.report import Check, DataReport, Reporter
from sensegraph.lab.finetuning.data.sources import Source, hash_text

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
    parts: tuple[str, ...] = ()

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
        name, question, answer = str(row["id"]), _read_text_field(row, "question"), _read_text_field(row, "answer")
        passages = []
        for p in row["passages"]:
            ident, text = str(p.get("id", "")), _read_text_field(p, "text")
            passages.append(Passage(ident, text, str(p.get("title", "")), bool(p.get("oracle"))))
        answers = tuple(map(str, row.get("answers") or ()))
        kind, target = str(row.get("type") or ""), str(row.get("target") or "")
        parts = tuple(map(str, row.get("parts") or ()))
        return Item(name, question, answer, tuple(passages), answers, kind, target, parts)
    except (KeyError, TypeError) as e:
        raise InputError(
            f"{where}: an evaluation's line has id, question, answer and passages; wrong or missing: {e}."
        ) from e


def _read_text_field(row: Mapping[str, Any], name: str) -> str:
    if not isinstance(row[name], str):
        raise TypeError(f"{name} is no text")
    return str(row[name])


@dataclass(frozen=True, slots=True)
class HeldOutFile:
    """What is held out of training, and where it goes: the questions that rest on a `share` of the gold passages."""

    path: Path
    share: float


class Output:
    """A file of examples with its report. What was written so far is gone on leaving, unless it was kept."""

    def __init__(self, source: Source, how: DataSettings, form: Form, path: Path) -> None:
        self.source, self.how, self.form, self.path = source, how, form, path
        self._reporter = Reporter(source, how)
        self._draft = path.with_name(f"{path.name}.part")
        self._file = self._draft.open("w", encoding="utf-8", newline="\n")

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    def add(self, item: MadeExample | DroppedQuestion) -> None:
        """Write an example, and count it; of a question without one count why."""
        self._reporter.add(item)
        if isinstance(item, MadeExample):
            self._file.write(format_example_line(item.example, self.form))

    def report(self) -> DataReport:
        """What was written. Raises InputError, with the reasons, where that is not one example."""
        found = self._reporter.report()
        if not found.examples:
            why = "; ".join(f"{n} × {reason}" for reason, n in (*found.dropped, *found.left_out)) or "there are none"
            raise InputError(f"No example could be made of the questions of {self.source.name}: {why}.")
        return found

    def keep(self) -> None:
        """Put the file in its place."""
        self._file.close()
        self._draft.replace(self.path)


def write_examples(
    source: Source, how: DataSettings, form: Form, path: Path, held: HeldOutFile | None = None
) -> tuple[DataReport, DataReport | None]:
    """Write the examples of a source to `path`, and report on them; no file is changed unless all are written.

    What is `held` out goes to its own file, in the evaluation form and always with its oracles, and has a report of its
    own. Raises InputError where a file would hold no example, and for an empty pool.
    """
    examples.check_pool(source.pool)
    with ExitStack() as stack:
        outputs = [stack.enter_context(Output(source, how, form, path))]
        if held:
            apart = replace(source, name=f"{source.name}, held out", left_out=())
            outputs.append(stack.enter_context(Output(apart, replace(how, oracle_share=1.0), "evaluation", held.path)))
        split = examples.split_held_out(source.questions, held.share, how) if held else ()
        trained, golds_apart = set[int](), list[set[int]]()  # gold passages: of training, and of each held-out question
        for asked, apart_from in split or ((q, False) for q in source.questions):
            out = outputs[apart_from]
            out.add(asked if isinstance(asked, DroppedQuestion) else examples.make_example(asked, source.pool, out.how))
            golds = {hash_text(p.text) for p in asked.oracles} if held and isinstance(asked, SourceQuestion) else set()
            if apart_from:
                golds_apart.append(golds)
            else:
                trained |= golds
        reports = [output.report() for output in outputs]
        for output in outputs:
            output.keep()
    if not held:
        return reports[0], None
    seen = sum(bool(golds) and golds <= trained for golds in golds_apart)
    told = f"{seen:,} of {len(golds_apart):,} questions do not"
    told += ": training shows all that they rest on; add documents" if seen else ""
    check = Check("needs a passage held out", not seen, told)
    return reports[0], replace(reports[1], checks=(*reports[1].checks, check))
