"""Answers put before a judge, two by two or one by one; every verdict is stored as it comes, and paid for once.

    answers by condition ─▶ judge_pairs ─▶ Judgements ─▶ tallies, bias, majorities, reasons
                         ─▶ score_answers ─▶ Marks

papers: Edge et al. 2024, §3.3, §4.1, app. F (G31, G32); Zhang et al. 2025, app. D.4 (L21, L22). The judge sees a
question, a criterion and answers: never a condition, a method, or that it has seen the same before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sensegraph.errors import InputError
from sensegraph.lab.judging.criteria import Criterion, Rules
from sensegraph.lab.judging.judgements import Judged, Judgements, Pair, pairs_of
from sensegraph.lab.judging.marks import Mark, Marks
from sensegraph.lab.scores.overlap import words
from sensegraph.lab.tasks import JudgingEngine
from sensegraph.protocols import PricedEngine, Task
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Step, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Contrast, Trial, Verdict

Answers = Mapping[str, Sequence[str | None]]  # by condition, one a question; None where there is none

_NOTHING = "(It says nothing that the other answer does not say.)"
_EMPTY = "(The answer is empty.)"
_UNIQUE = "Shown of each answer is only what the other does not say. Where that makes no difference, neither is better."
_REPLY: Mapping[Task, int] = {"judge": 130, "score": 130, "contrast": 500}  # tokens of a reply, about


@step("judging.judge", 1, uses="engine", task="judge")
def judge(trials: Sequence[Trial], engine: JudgingEngine) -> list[Verdict]:
    """The better of two answers, or neither."""
    return engine.judge(trials)


@step("judging.score", 1, uses="engine", task="score")
def score(trials: Sequence[Trial], engine: JudgingEngine) -> list[Verdict]:
    """A score for one answer."""
    return engine.score(trials)


@step("judging.contrast", 1, uses="engine", task="contrast")
def contrast(trials: Sequence[Trial], engine: JudgingEngine) -> list[Contrast]:
    """What two answers share, and what only one says."""
    return engine.contrast(trials)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What judging will take: calls that are not stored yet, their tokens (replies are an estimate), and the price.

    With `rules.differential` the tokens are at most: what is alike in two answers is not known before.
    """

    trials: int
    stored: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


def judge_pairs(
    answers: Answers, questions: Sequence[str], rules: Rules, rt: Runtime, pairs: Sequence[Pair] | None = None
) -> Judgements:
    """Every verdict on the answers of two conditions, for each question, criterion, replicate and order.

    `pairs` are all where they are not given. Where one of two answers is missing there is nothing to judge: those
    replicates have no verdict. Raises UnsupportedTask, before any work, for an engine that has no judge, InputError
    for answers that do not fit the questions, and what `Runtime.each` raises: what was paid for is stored.
    """
    _checked(answers, questions, rules, rt, "judge")
    chosen = tuple(pairs) if pairs is not None else pairs_of(list(answers))
    shown = list(_shown(answers, questions, rules, chosen))
    told = _differential(shown, rules, rt) if rules.differential else [s.trial for s in shown]
    asked = [t for t in told if isinstance(t, Trial)]
    found = iter(rt.each(judge, asked))
    verdicts = [next(found) if isinstance(t, Trial) else t for t in told]
    rows = (_judged(s, v) for s, v in zip(shown, verdicts, strict=True))
    return Judgements(rules, len(questions), chosen, tuple(rows), _lengths(answers))


def score_answers(answers: Answers, questions: Sequence[str], rules: Rules, rt: Runtime) -> Marks:
    """The scores of each answer by each criterion, as often as `rules.replicates` says.

    A missing answer has no score; an empty one is shown as what it is. Raises as `judge_pairs` does.
    """
    _checked(answers, questions, rules, rt, "score")
    shown = list(_alone(answers, questions, rules))
    found = rt.each(score, [trial for _, trial in shown])
    marks = [
        replace(mark, score=v.scores[0] if v.scores else None, reason=v.reason)
        for (mark, _), v in zip(shown, found, strict=True)
    ]
    return Marks(rules, len(questions), tuple(answers), tuple(marks), _lengths(answers))


def foresee_judging(
    answers: Answers,
    questions: Sequence[str],
    rules: Rules,
    rt: Runtime,
    pairs: Sequence[Pair] | None = None,
    singly: bool = False,
) -> Foreseen:
    """What `judge_pairs` would take, or with `singly` `score_answers`; nothing is asked."""
    if singly:
        return _foreseen(score, [trial for _, trial in _alone(answers, questions, rules)], rt)
    chosen = tuple(pairs) if pairs is not None else pairs_of(list(answers))
    trials = [s.trial for s in _shown(answers, questions, rules, chosen) if isinstance(s.trial, Trial)]
    found = _foreseen(judge, trials, rt)
    return _added(found, _foreseen(contrast, _contrasts(trials), rt)) if rules.differential else found


# ── what is shown ──


@dataclass(frozen=True, slots=True)
class _Shown:
    """A trial with what the judge is not told: whose answers they are. A verdict in its place needs no judge."""

    question: int
    first: str
    second: str
    criterion: str
    replicate: int
    trial: Trial | Verdict


def _shown(answers: Answers, questions: Sequence[str], rules: Rules, pairs: Sequence[Pair]) -> Iterator[_Shown]:
    """All trials, question by question."""
    for q, text in enumerate(questions):
        for pair in pairs:
            for criterion in rules.criteria:
                for r in range(rules.replicates):
                    for one, other in _orders(pair, (q, criterion.name, r), rules):
                        trial = _trial(text, criterion, (answers[one][q], answers[other][q]), r, rules)
                        yield _Shown(q, one, other, criterion.name, r, trial)


def _orders(pair: Pair, place: tuple[int, str, int], rules: Rules) -> tuple[Pair, ...]:
    """Both orders, or one that is drawn by the seed alone, whatever the answers."""
    turned = (pair[1], pair[0])
    if rules.both_orders:
        return (pair, turned)
    drawn = int(key("order", rules.seed, sorted(pair), place)[:8], 16) % 2
    return (tuple(sorted(pair, reverse=bool(drawn))),)  # type: ignore[return-value]


def _trial(
    question: str, criterion: Criterion, answers: tuple[str | None, str | None], replicate: int, rules: Rules
) -> Trial | Verdict:
    one, other = answers
    if one is None or other is None:
        return Verdict(None, "An answer is missing.")
    bands = rules.bands if rules.scored else ""
    shown = (one.strip() or _EMPTY, other.strip() or _EMPTY)
    return Trial(
        question, criterion.name, criterion.definition, shown, replicate, rules.low, rules.high, bands, rules.tie
    )


def _alone(answers: Answers, questions: Sequence[str], rules: Rules) -> Iterator[tuple[Mark, Trial]]:
    """Each answer by each criterion, with what the judge is not told; a missing one is left out."""
    for q, text in enumerate(questions):
        for condition, told in answers.items():
            for criterion in rules.criteria:
                for run in range(rules.replicates):
                    answer = told[q]
                    if answer is None:
                        continue
                    shown = (answer.strip() or _EMPTY,)
                    trial = Trial(
                        text, criterion.name, criterion.definition, shown, run, rules.low, rules.high, rules.bands
                    )
                    yield Mark(q, criterion.name, condition, run, None), trial


# ── only what differs ──


def _differential(shown: Sequence[_Shown], rules: Rules, rt: Runtime) -> list[Trial | Verdict]:
    """The trials with the answers replaced by what the other does not say; one contrast serves all of a pair."""
    rt.check("Judging what differs", frozenset({"contrast"}))
    trials = [s.trial for s in shown if isinstance(s.trial, Trial)]
    needed = _contrasts(trials)
    found = dict(zip(map(_alike, needed), rt.each(contrast, needed), strict=True))
    return [_unique(s.trial, found) if isinstance(s.trial, Trial) else s.trial for s in shown]


def _contrasts(trials: Sequence[Trial]) -> list[Trial]:
    """What to contrast: each two answers once, whatever the order in which they are shown."""
    every = {_alike(t): Trial(t.question, "", "", _alike(t)[1:]) for t in trials}
    return list(every.values())


def _alike(trial: Trial) -> tuple[str, ...]:
    """The question and the answers, in whatever order they are shown."""
    return (trial.question, *sorted(trial.answers))


def _unique(trial: Trial, found: Mapping[tuple[str, ...], Contrast]) -> Trial | Verdict:
    """The trial on what only one of the answers says, which may always tie; a tie where neither says anything alone."""
    told = found[_alike(trial)]
    if not (told.common or told.first or told.second):
        return Verdict(None, "What the answers share could not be told.")
    if not (told.first or told.second):
        return Verdict(0, "The answers say the same.")
    parts = (told.first, told.second) if trial.answers == _alike(trial)[1:] else (told.second, told.first)
    shown = tuple("\n".join(f"- {s}" for s in part) or _NOTHING for part in parts)
    return replace(trial, definition=f"{trial.definition} {_UNIQUE}", answers=shown, tie=True)


# ── counting ──


def _judged(shown: _Shown, verdict: Verdict) -> Judged:
    s = shown
    return Judged(
        s.question, s.criterion, s.first, s.second, s.replicate, verdict.winner, verdict.reason, verdict.scores
    )


def _checked(answers: Answers, questions: Sequence[str], rules: Rules, rt: Runtime, task: Task) -> None:
    rt.check("Judging answers", frozenset({task}))
    for condition, told in answers.items():
        if len(told) != len(questions):
            raise InputError(
                f"{condition} has {len(told)} answers to {len(questions)} questions; give one each, None where missing."
            )
    if task == "judge" and len(answers) < 2:
        raise InputError("There is nothing to compare: give the answers of at least two conditions.")


def _lengths(answers: Answers) -> Mapping[str, tuple[int, ...]]:
    """Words of each answer; a missing one has none."""
    return {c: tuple(len(words(a or "")) for a in told) for c, told in answers.items()}


def _foreseen(asked: Step[Any, Any], trials: Sequence[Trial], rt: Runtime) -> Foreseen:
    """Calls and tokens of a step's trials that are not stored."""
    missing, task = rt.missing(asked, trials), asked.task or "judge"
    if not isinstance(rt.engine, PricedEngine):
        return Foreseen(len(trials), len(trials) - len(missing), 0, 0, 0, 0.0)
    sizes: dict[tuple[str, ...], int] = {}
    prompt = 0
    for t in (trials[i] for i in missing):  # replicates and orders are alike: counted once
        like = (t.criterion, *_alike(t))
        if like not in sizes:
            sizes[like] = rt.engine.prompt_tokens(task, t)
        prompt += sizes[like]
    written = len(missing) * _REPLY[task]
    price = rt.engine.price(prompt, written)
    return Foreseen(len(trials), len(trials) - len(missing), len(missing), prompt, written, price)


def _added(one: Foreseen, other: Foreseen) -> Foreseen:
    return Foreseen(
        one.trials + other.trials,
        one.stored + other.stored,
        one.calls + other.calls,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        one.cost_usd + other.cost_usd,
    )
