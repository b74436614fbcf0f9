"""Every question asked under every condition: what is answered is stored, and never asked for twice."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from sensegraph.answering.grounding.checking import says_no_answer
from sensegraph.errors import BudgetExceeded, EndpointDown, EndpointError, ItemFailed, StepFailed
from sensegraph.lab.experiments.plan import Asked
from sensegraph.language.text import split_sentences
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Usage

_MARK = re.compile(r"\s*\[\d+(?:,\s*\d+)*\]")


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
        return not self.failure and (not self.text or says_no_answer(self.answer.text))


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
