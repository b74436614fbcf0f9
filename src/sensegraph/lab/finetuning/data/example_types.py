"""The values of fine-tuning data, how they are made, and examples as lines of JSON, in forms that libraries read.

    completion   {"prompt": …, "completion": …}
    chat         {"messages": [{"role": "system"|"user"|"assistant", "content": …}, …]}
    evaluation   {"id", "question", "answer", "answers", "type", "made", "written", "passages": [{"id", "title", "text",
                  "oracle", "kind"}, …], "target"}, and "parts" where a right answer has several

A prompt is instruction, question, passages, in this order, and what is learnt follows (R04). Lines end with a line
feed, keys keep their order, text is UTF-8: equal examples are equal bytes.

source: the paper GRAFT, section 4.1 (R02–R05, R29); RAFT, Zhang et al. 2024
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

from sensegraph.engines.llm import trained_prompt
from sensegraph.errors import SettingsError
from sensegraph.papers import paper_folder

Style = Literal["plain", "cot"]
Answers = Literal["first", "all"]
Hardness = Literal["own", "hard", "random", ""]

T = TypeVar("T")

STYLES, ANSWERS = get_args(Style), get_args(Answers)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that an example shows. `oracle` says that the answer rests on it.

    `id` names it in its source, `document` the document it comes from, where `start` is its first character; `kind`
    says how a distractor was found: `own` came with the question, `hard` is a retrieval's error, `random` was drawn.
    `topic` is what an audit counts it under.
    """

    id: str
    text: str
    title: str = ""
    oracle: bool = False
    document: str = ""
    start: int = 0
    kind: Hardness = ""
    topic: str = ""

    @property
    def place(self) -> tuple[str, int, int]:
        """The document, the first character in it, and the one after the last."""
        return self.document or self.id, self.start, self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """A question with its answers and the passages that they rest on; `near` are wrong passages, most alike first.

    Any of the `answers` is right. Where a right answer has several `parts`, the answer is all of them as one text.
    `reasoning` is given where the source has one, its quotes between `BEGIN` and `END`. `made` says who made the
    question: `given` by somebody, `template` (by a rule from the graph), `model`, `persona`; `written` that an engine
    wrote the answer, from the gold passages alone.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    oracles: tuple[Passage, ...]
    near: tuple[Passage, ...] = ()
    type: str = ""
    reasoning: str = ""
    made: str = "given"
    written: bool = False
    parts: tuple[str, ...] = ()

    @property
    def sought(self) -> tuple[str, ...]:
        """What a passage may hold of the answer: one of its parts, else the whole."""
        return self.parts or self.answers


@dataclass(frozen=True, slots=True)
class Example:
    """One example to train on: the question over its passages in the order shown, and what is to be learnt.

    `target` is what follows the prompt: the answer alone, or reasoning and answer. `tokens` counts both (cl100k).
    `answers` are all that the source gives, of which `answer` is the one that is learnt; `made` and `written` say where
    question and answer come from.
    """

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...]
    target: str
    tokens: int = 0
    type: str = ""
    made: str = "given"
    answers: tuple[str, ...] = ()
    written: bool = False
    parts: tuple[str, ...] = ()

    @property
    def sought(self) -> tuple[str, ...]:
        """What a passage may hold of the answer: one of its parts, else the whole."""
        return self.parts or self.answers

    @property
    def oracles(self) -> tuple[Passage, ...]:
        """The passages that the answer rests on; none where they were left out."""
        return tuple(p for p in self.passages if p.oracle)


@dataclass(frozen=True, slots=True)
class MadeExample:
    """An example, the passages that could not be its distractors by reason, and whether it has fewer than wanted."""

    example: Example
    passed_over: tuple[tuple[str, int], ...] = ()
    short: bool = False


@dataclass(frozen=True, slots=True)
class DroppedQuestion:
    """A question of which no example was made, and why."""

    id: str
    reason: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class DataSettings:
    """How examples are made (the paper GRAFT, section 4.1; RAFT).

    `oracle_share` is RAFT's P, the share of examples that keep their oracle passages. `style` says what is learnt: the
    answer (`plain`), or reasoning in verbatim quotes and then the answer (`cot`). A question with more than
    `most_oracles` gold passages is dropped. Each example gets a number of distractors drawn from `distractors` (least,
    most), `hard` of them the first wrong passages of a retrieval; with `pad` more follow, up to `max_tokens` of prompt
    and target together. A passage that holds an answer of `leak_words` words or more is no distractor. `answers` says
    whether the first of several gold answers is learnt, or all, with `; ` between them.
    """

    oracle_share: float = 1.0
    style: Style = "plain"
    most_oracles: int = 2
    distractors: tuple[int, int] = (3, 4)
    hard: int = 2
    pad: bool = True
    max_tokens: int = 2048
    leak_words: int = 2
    answers: Answers = "first"
    seed: int = 0

    def __post_init__(self) -> None:
        least, most = self.distractors
        for name, value, known in (("style", self.style, STYLES), ("answers", self.answers, ANSWERS)):
            if value not in known:
                raise SettingsError(f"{name} cannot be {value!r}; it is one of {', '.join(known)}.")
        if not 0 <= self.oracle_share <= 1:
            raise SettingsError(f"oracle_share ({self.oracle_share}) must lie between 0 and 1.")
        if not 0 <= least <= most or self.hard < 0 or min(self.most_oracles, self.max_tokens, self.leak_words) < 1:
            raise SettingsError(
                f"distractors ({least}, {most}) must ascend from 0, hard ({self.hard}) be at least 0, most_oracles "
                f"({self.most_oracles}), max_tokens ({self.max_tokens}) and leak_words ({self.leak_words}) at least 1."
            )


PRESETS: Mapping[str, DataSettings] = MappingProxyType(
    {
        "graft": DataSettings(),  # the paper never leaves the oracle out, and trains on plain answers (R29)
        "raft": DataSettings(oracle_share=0.8, style="cot"),
    }
)


def choose_by_name(known: Mapping[str, T], name: str, what: str) -> T:
    """What is known by this name. Raises SettingsError, naming all, for what does not exist."""
    if name not in known:
        raise SettingsError(f"No {what} is called {name!r}; there are {', '.join(known)}.")
    return known[name]


def find_data_preset(name: str) -> DataSettings:
    """The settings of a preset. Raises SettingsError for one that does not exist."""
    return choose_by_name(PRESETS, name, "preset")


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
    return trained_prompt.format_passage(passage.title, passage.text)


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
    asked = {n: getattr(example, n) for n in ("id", "question", "answer", "answers", "type", "made", "written")}
    shown = [{n: getattr(p, n) for n in ("id", "title", "text", "oracle", "kind")} for p in example.passages]
    asked |= {"answers": list(example.answers)} | ({"parts": list(example.parts)} if example.parts else {})
    return asked | {"passages": shown, "target": example.target}


def parse_form(name: str) -> Form:
    """The form that is called so. Raises SettingsError for one that does not exist."""
    return choose_by_name({str(form): form for form in FORMS}, name, "form")


def format_example_line(example: Example, form: Form) -> str:
    """An example as one line of JSON, with its end."""
    return json.dumps(record_example(example, form), ensure_ascii=False) + "\n"
