"""Examples as lines of JSON, in the forms that libraries of training read.

    completion   {"prompt": …, "completion": …}
    chat         {"messages": [{"role": "system"|"user"|"assistant", "content": …}, …]}
    evaluation   {"id", "question", "answer", "answers", "type", "made", "written", "passages": [{"id", "title", "text",
                  "oracle", "kind"}, …], "target"}

A prompt is instruction, question, passages, in this order, and what is learnt follows (R04). Lines end with a line
feed, keys keep their order, text is UTF-8: equal examples are equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, get_args

from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.data.example_types import Example, Passage
from sensegraph.papers import paper_folder

Form = Literal["completion", "chat", "evaluation"]
FORMS: tuple[Form, ...] = get_args(Form)
_PAPER = "graft2024"
_PLACEHOLDER = re.compile(r"\{\{(question|passages)\}\}")


@cache
def read_instruction() -> str:
    """What every prompt begins with."""
    return _read_packaged_prompt("instruction").strip()


@cache
def _read_packaged_prompt(name: str) -> str:
    return (paper_folder(_PAPER) / "prompts" / f"{name}.md").read_text("utf-8")


def format_question(question: str, passages: Sequence[Passage]) -> str:
    """The question over its passages: what a user's message of a chat holds."""
    shown = "\n\n".join(map(format_passage, passages))
    given = {"question": question, "passages": shown}
    return _PLACEHOLDER.sub(lambda found: given[found[1]], _read_packaged_prompt("asked")).strip()


def format_passage(passage: Passage) -> str:
    """A passage as a prompt shows it. Nothing in it tells an oracle passage from a distractor."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def format_prompt(question: str, passages: Sequence[Passage]) -> str:
    """The whole prompt as one text, ready for the target to follow."""
    return f"{read_instruction()}\n\n{format_question(question, passages)}\n\nAnswer:"


def record_example(example: Example, form: Form) -> dict[str, Any]:
    """An example in one of the forms."""
    if form == "completion":
        return {"prompt": format_prompt(example.question, example.passages), "completion": f" {example.target}"}
    if form == "chat":
        said = (read_instruction(), format_question(example.question, example.passages), example.target)
        roles = ("system", "user", "assistant")
        return {"messages": [{"role": r, "content": t} for r, t in zip(roles, said, strict=True)]}
    shown = [
        {"id": p.id, "title": p.title, "text": p.text, "oracle": p.oracle, "kind": p.kind} for p in example.passages
    ]
    return {
        "id": example.id,
        "question": example.question,
        "answer": example.answer,
        "answers": list(example.answers),
        "type": example.type,
        "made": example.made,
        "written": example.written,
        "passages": shown,
        "target": example.target,
    }


def parse_form(name: str) -> Form:
    """The form that is called so. Raises SettingsError for one that does not exist."""
    for form in FORMS:
        if form == name:
            return form
    raise SettingsError(f"No form is called {name!r}; there are {', '.join(FORMS)}.")


def format_example_line(example: Example, form: Form) -> str:
    """An example as one line of JSON, with its end."""
    return json.dumps(record_example(example, form), ensure_ascii=False) + "\n"
