"""An evaluation as planned, the questions that it asks, and what its conditions answer: stored, never asked twice."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

from sensegraph.answering.grounding.checking import says_no_answer
from sensegraph.errors import BudgetExceeded, EndpointDown, EndpointError, InputError, ItemFailed, StepFailed
from sensegraph.lab.judging.criteria import Rules, choose_rules
from sensegraph.lab.judging.judgements import list_pairs
from sensegraph.lab.retrieval.test_collections import read_gold_answers, read_json_objects
from sensegraph.lab.scores.statistics import DRAWS
from sensegraph.language.sentences import split_sentences
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Usage

Metric = Literal["claims", "judge", "scores", "grounding", "reference"]
UNANSWERABLE = ("adversarial", "unanswerable")  # types of questions that the corpus does not answer

_MARK = re.compile(r"\s*\[\d+(?:,\s*\d+)*\]")


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """How answers are compared two by two.

    `preset` says how often and in which order a judge is asked, `criteria` by what (none: the preset's), `replicates`
    how often (0: as the preset says). `pairs` are all, or each condition against the baseline. `model` judges instead
    of the model that answers. `differential` shows the judge what each of two answers says alone.
    """

    preset: str = "sensegraph"
    criteria: tuple[str, ...] = ()
    replicates: int = 0
    pairs: Literal["all", "baseline"] = "all"
    model: str = ""
    differential: bool = False


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """How answers are scored one by one; `runs` says how often (0: as the preset says). The judge's model does it."""

    preset: str = "zhang2025"
    criteria: tuple[str, ...] = ()
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """An evaluation as it is written down. Paths are meant from the folder of the file.

    `corpus` is the folder of an index, or documents to index; `questions` a file of them. Each table of `conditions`
    names a `method`, and its settings. `context_tokens` is the context of every condition that does not give its own
    (0: what each method takes by itself); `answer_words` the most words of an answer, in whole sentences (0: no bound).
    `settings` are those of sensegraph.toml for all conditions. `limit` takes the first so many questions, `examples`
    shows the answers to so many. A run that is foreseen to need more calls than `ask_above` wants --yes.
    """

    corpus: str
    questions: str
    conditions: dict[str, dict[str, Any]]
    title: str = ""
    baseline: str = ""
    metrics: tuple[Metric, ...] = ("claims",)
    limit: int = 0
    context_tokens: int = 8_000
    answer_words: int = 0
    examples: int = 3
    draws: int = DRAWS
    seed: int = 0
    ask_above: int = 100
    output: str = ""
    judge: JudgePlan = field(default_factory=JudgePlan)
    scores: ScorePlan = field(default_factory=ScorePlan)
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.conditions:
            raise InputError("No condition is given: write a table [conditions.NAME] with a method for each.")
        if self.baseline and self.baseline not in self.conditions:
            known = ", ".join(self.conditions)
            raise InputError(f"The baseline {self.baseline!r} is no condition; there are {known}.")
        low = {"limit": 0, "context_tokens": 0, "answer_words": 0, "examples": 0, "draws": 1, "seed": 0, "ask_above": 0}
        for name, least in low.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}.")
        if "judge" in self.metrics and len(self.conditions) < 2:
            raise InputError("The metric 'judge' compares answers: give at least two conditions.")
        if twice := [m for m in self.metrics if self.metrics.count(m) > 1]:
            raise InputError(f"The metric {twice[0]!r} is named twice; name each once.")

    @property
    def judging(self) -> Rules:
        """The rules by which answers are compared. Raises InputError for a preset or criterion that nobody knows."""
        j = self.judge
        return choose_rules(j.preset, j.criteria, j.replicates, self.seed, j.differential)

    @property
    def scoring(self) -> Rules:
        """The rules by which answers are scored one by one."""
        return choose_rules(self.scores.preset, self.scores.criteria, self.scores.runs, self.seed)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of conditions that a judge compares."""
        return list_pairs(list(self.conditions), self.ground if self.judge.pairs == "baseline" else "")

    @property
    def ground(self) -> str:
        """The condition that others are compared with: the baseline, else the first."""
        return self.baseline or next(iter(self.conditions))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of an evaluation, with reference answers where it has some.

    Any of the `references` is right; `parts` are those of one right answer, each with the forms that it may have.
    """

    id: str
    text: str
    type: str = ""
    references: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the corpus is meant to answer it."""
        return self.type not in UNANSWERABLE


def read_asked_questions(path: Path, limit: int = 0) -> tuple[Asked, ...]:
    """The questions of a file: one a line as text, or as JSON objects (`queries.jsonl` of a folder in BEIR's layout).

    An object has `text` or `question`, and may have `_id` or `id`, `type`, `answers` (any of which is right) or `parts`
    (of one answer), at top or in `metadata`. Raises InputError for a file or a line that cannot be used.
    """
    file = path / "queries.jsonl" if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"There are no questions in {path}; give a .txt or .jsonl file, or a folder in BEIR's layout.")
    if file.suffix == ".jsonl":
        found = [_parse_asked_question(record, where) for where, record in read_json_objects(file)]
    else:
        lines = (line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines())
        found = [Asked(f"q{number}", line) for number, line in enumerate(filter(None, lines), 1)]
    if not found:
        raise InputError(f"{file} holds no question; write one a line.")
    if twice := [q.id for i, q in enumerate(found) if q.id in {p.id for p in found[:i]}]:
        raise InputError(f"{file}: the id {twice[0]!r} is given twice; each question needs its own.")
    return tuple(found[:limit] if limit else found)


def _parse_asked_question(record: dict[str, Any], where: str) -> Asked:
    """The question of a line of JSON; its reference answers are all that stand in one of the fields for them."""
    inner = record.get("metadata")
    fields = {**(inner if isinstance(inner, dict) else {}), **record}
    text = fields.get("text", fields.get("question"))
    if not isinstance(text, str) or not text.strip():
        raise InputError(f'{where}: not a question; give an object with "text".')
    name = fields.get("_id", fields.get("id", where.rpartition(" ")[2]))
    gold = read_gold_answers(record)
    return Asked(str(name), text.strip(), str(fields.get("type") or ""), gold.answers, gold.parts)


@dataclass(frozen=True, slots=True)
class Condition:
    """A method with its settings, ready to be asked; `key` stands for everything that decides its answers.

    `changed` are the settings that are not the method's own.
    """

    name: str
    method: str
    settings: Mapping[str, Any]
    ask: Callable[[str], Answer]
    key: str
    changed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What names a stored answer: the condition's key, and the question."""

    condition: str
    question: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it is measured; `failure` says why there is none, `cut` how many words were over the bound."""

    answer: Answer
    failure: str = ""
    cut: int = 0

    @property
    def text(self) -> str:
        """What was answered, without the marks of citations."""
        return _MARK.sub("", self.answer.text).strip()

    @property
    def words(self) -> int:
        """The length in words."""
        return len(self.text.split())

    @property
    def refused(self) -> bool:
        """Whether it only says that it cannot be answered: such an answer stays in the sample, and is counted."""
        return not self.failure and (self.answer.abstained or not self.text or says_no_answer(self.answer.text))


@dataclass(frozen=True, slots=True)
class Cost:
    """What the answers of a condition took: sums of usage, and seconds of one answer."""

    usage: Usage
    seconds_mean: float
    seconds_median: float
    context_tokens: float


@step("answering.answered", version=1)
def answer_requests(requests: Sequence[Request]) -> list[Answer]:
    """The place of stored answers: they are made by asking a condition, not by this step."""
    raise NotImplementedError(f"{len(requests)} answers are made by asking a condition")


def find_unanswered(condition: Condition, questions: Sequence[Asked], rt: Runtime) -> list[Asked]:
    """The questions that this condition has not answered yet."""
    places = rt.missing(answer_requests, [Request(condition.key, q.text) for q in questions])
    return [questions[i] for i in places]


def ask_condition(
    condition: Condition, questions: Sequence[Asked], rt: Runtime, *, most_words: int = 0
) -> tuple[Reply, ...]:
    """The answer of `condition` to every question, in order; `rt` holds the store of the evaluation.

    One that fails is counted as such and asked again by the next run. Raises EndpointDown and BudgetExceeded, after
    what was answered is stored.
    """
    found = []
    for done, question in enumerate(questions):
        rt.progress(f"answers of {condition.name}", done, len(questions))
        found.append(shorten_reply(_ask_question(condition, question, rt), most_words))
    rt.progress(f"answers of {condition.name}", len(questions), len(questions))
    return tuple(found)


def _ask_question(condition: Condition, question: Asked, rt: Runtime) -> Reply:
    """The stored or new answer to one question, with its seconds; a failure of this question alone is a reply, too."""

    def ask_and_time() -> Answer:
        begun = time.perf_counter()
        answer = condition.ask(question.text)
        return replace(answer, usage=replace(answer.usage, seconds=time.perf_counter() - begun))

    try:
        return Reply(rt.made(answer_requests, Request(condition.key, question.text), ask_and_time))
    except (EndpointDown, BudgetExceeded):
        raise
    except (StepFailed, ItemFailed, EndpointError) as e:
        return Reply(Answer("", method=condition.method), failure=str(e))


def shorten_reply(reply: Reply, most_words: int) -> Reply:
    """The reply with at most so many words, in whole sentences, the first always; 0 bounds nothing."""
    if not most_words or reply.words <= most_words:
        return reply
    text, kept = reply.answer.text, 0
    for number, (_, end) in enumerate(split_sentences(text)):
        if number and len(_MARK.sub("", text[:end]).split()) > most_words:
            break
        kept = end
    tail = re.match(r"(?:\s*\[\d+(?:,\s*\d+)*\])+", text[kept:])
    short = text[: kept + tail.end()] if tail else text[:kept]
    cited = {int(n) for marks in re.findall(r"\[([\d,\s]+)\]", short) for n in marks.split(",") if n.strip()}
    citations = tuple(c for c in reply.answer.citations if c.marker in cited)
    cut = replace(reply, answer=replace(reply.answer, text=short, citations=citations))
    return replace(cut, cut=reply.words - cut.words)


def sum_costs(found: Sequence[Reply]) -> Cost:
    """What these answers took, as it was when they were made."""
    good = [r.answer for r in found if not r.failure]
    seconds = [a.usage.seconds for a in good] or [0.0]
    usage = sum((a.usage for a in good), Usage())
    tokens = [a.evidence.tokens for a in good] or [0]
    return Cost(usage, sum(seconds) / len(seconds), median(seconds), sum(tokens) / len(tokens))
