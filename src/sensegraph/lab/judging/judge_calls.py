"""Answers put before a judge, two by two or one by one; every verdict is stored as it comes, and paid for once.

    answers by condition ─▶ judge_pairs ─▶ Judgements ─▶ tallies, bias, majorities, reasons
                         ─▶ score_answers ─▶ Marks

papers: Edge et al. 2024, §3.3, §4.1, app. F (G31, G32); Zhang et al. 2025, app. D.4 (L21, L22). The judge sees a
question, a criterion and answers: never a condition, a method, or that it has seen the same before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import product
from operator import add
from typing import Any

from sensegraph.errors import InputError
from sensegraph.lab.judging.criteria import Rules
from sensegraph.lab.judging.judgements import Judged, Judgements, Mark, Marks, Pair, list_pairs
from sensegraph.lab.scores.standard import split_words
from sensegraph.lab.tasks import contrast_trials, judge_trials, score_trials
from sensegraph.protocols import PricedEngine, Task
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Contrast, Trial, Verdict

Answers = Mapping[str, Sequence[str | None]]  # by condition, one a question; None where there is none

_NOTHING = "(It says nothing that the other answer does not say.)"
_EMPTY = "(The answer is empty.)"
_UNIQUE = "Shown of each answer is only what the other does not say. Where that makes no difference, neither is better."
_REPLY: Mapping[Task, int] = {"judge": 130, "score": 130, "contrast": 500}  # tokens of a reply, about


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

    def __add__(self, other: Foreseen) -> Foreseen:
        return Foreseen(*map(add, astuple(self), astuple(other)))


def judge_pairs(
    answers: Answers, questions: Sequence[str], rules: Rules, rt: Runtime, pairs: Sequence[Pair] | None = None
) -> Judgements:
    """Every verdict on the answers of two conditions, for each question, criterion, replicate and order.

    `pairs` are all where they are not given. Where one of two answers is missing there is nothing to judge: those
    replicates have no verdict. Raises UnsupportedTask, before any work, for an engine that has no judge, InputError
    for answers that do not fit the questions, and what `Runtime.each` raises: what was paid for is stored.
    """
    _check_judging(answers, questions, rules, rt, "judge")
    chosen = tuple(pairs) if pairs is not None else list_pairs(list(answers))
    shown = list(_list_pair_trials(answers, questions, rules, chosen))
    trials = [trial for _, trial in shown]
    if rules.differential:  # one contrast serves all trials of two answers
        rt.check("Judging what differs", frozenset({"contrast"}))
        needed = _list_contrasts([t for t in trials if isinstance(t, Trial)])
        contrasts = dict(zip(map(_unordered_key, needed), rt.each(contrast_trials, needed), strict=True))
        trials = [_show_differences(t, contrasts[_unordered_key(t)]) if isinstance(t, Trial) else t for t in trials]
    found = iter(rt.each(judge_trials, [t for t in trials if isinstance(t, Trial)]))
    rows = []
    for (judged, _), trial in zip(shown, trials, strict=True):
        v = next(found) if isinstance(trial, Trial) else trial
        rows.append(replace(judged, winner=v.winner, reason=v.reason, scores=v.scores))
    return Judgements(rules, len(questions), chosen, tuple(rows), _count_words(answers))


def score_answers(answers: Answers, questions: Sequence[str], rules: Rules, rt: Runtime) -> Marks:
    """The scores of each answer by each criterion, as often as `rules.replicates` says.

    A missing answer has no score; an empty one is shown as what it is. Raises as `judge_pairs` does.
    """
    _check_judging(answers, questions, rules, rt, "score")
    shown = list(_list_single_trials(answers, questions, rules))
    found = rt.each(score_trials, [trial for _, trial in shown])
    marks = [
        replace(mark, score=v.scores[0] if v.scores else None, reason=v.reason)
        for (mark, _), v in zip(shown, found, strict=True)
    ]
    return Marks(rules, len(questions), tuple(answers), tuple(marks), _count_words(answers))


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
        return _foresee_step(score_trials, [trial for _, trial in _list_single_trials(answers, questions, rules)], rt)
    chosen = tuple(pairs) if pairs is not None else list_pairs(list(answers))
    trials = [t for _, t in _list_pair_trials(answers, questions, rules, chosen) if isinstance(t, Trial)]
    found = _foresee_step(judge_trials, trials, rt)
    return found + _foresee_step(contrast_trials, _list_contrasts(trials), rt) if rules.differential else found


# ── what is shown ──


def _list_pair_trials(
    answers: Answers, questions: Sequence[str], rules: Rules, pairs: Sequence[Pair]
) -> Iterator[tuple[Judged, Trial | Verdict]]:
    """All trials, question by question, with what the judge is not told; a verdict in a trial's place needs no judge.

    Where one order is asked, it is drawn by the seed alone.
    """
    bands = rules.bands if rules.scored else ""
    replicates = range(rules.replicates)
    for (q, text), pair, criterion, r in product(enumerate(questions), pairs, rules.criteria, replicates):
        orders = [pair, (pair[1], pair[0])]
        if not rules.both_orders:
            drawn = int(key("order", rules.seed, sorted(pair), (q, criterion.name, r))[:8], 16) % 2
            orders = [max(orders) if drawn else min(orders)]
        for first, second in orders:
            one, other = answers[first][q], answers[second][q]
            trial: Trial | Verdict = Verdict(None, "An answer is missing.")
            if one is not None and other is not None:
                name, definition = criterion.name, criterion.definition
                texts = (one.strip() or _EMPTY, other.strip() or _EMPTY)
                trial = Trial(text, name, definition, texts, r, rules.low, rules.high, bands, rules.tie)
            yield Judged(q, criterion.name, first, second, r, None), trial


def _list_single_trials(answers: Answers, questions: Sequence[str], rules: Rules) -> Iterator[tuple[Mark, Trial]]:
    """Each answer by each criterion, with what the judge is not told; a missing one is left out."""
    runs = range(rules.replicates)
    for (q, text), (condition, told), criterion, run in product(
        enumerate(questions), answers.items(), rules.criteria, runs
    ):
        answer = told[q]
        if answer is not None:
            name, definition = criterion.name, criterion.definition
            texts = (answer.strip() or _EMPTY,)
            trial = Trial(text, name, definition, texts, run, rules.low, rules.high, rules.bands)
            yield Mark(q, name, condition, run, None), trial


# ── only what differs ──


def _list_contrasts(trials: Sequence[Trial]) -> list[Trial]:
    """What to contrast: each two answers once, whatever the order in which they are shown."""
    every = {_unordered_key(t): Trial(t.question, "", "", _unordered_key(t)[1:]) for t in trials}
    return list(every.values())


def _unordered_key(trial: Trial) -> tuple[str, ...]:
    """The question and the answers, in whatever order they are shown."""
    return (trial.question, *sorted(trial.answers))


def _show_differences(trial: Trial, told: Contrast) -> Trial | Verdict:
    """The trial on what only one of the answers says, which may always tie; a tie where neither says anything alone."""
    if not (told.common or told.first or told.second):
        return Verdict(None, "What the answers share could not be told.")
    if not (told.first or told.second):
        return Verdict(0, "The answers say the same.")
    parts = (told.first, told.second) if trial.answers == _unordered_key(trial)[1:] else (told.second, told.first)
    shown = tuple("\n".join(f"- {s}" for s in part) or _NOTHING for part in parts)
    return replace(trial, definition=f"{trial.definition} {_UNIQUE}", answers=shown, tie=True)


# ── counting ──


def _check_judging(answers: Answers, questions: Sequence[str], rules: Rules, rt: Runtime, task: Task) -> None:
    rt.check("Judging answers", frozenset({task}))
    for condition, told in answers.items():
        if len(told) != len(questions):
            raise InputError(
                f"{condition} has {len(told)} answers to {len(questions)} questions; give one each, None where missing."
            )
    if task == "judge" and len(answers) < 2:
        raise InputError("There is nothing to compare: give the answers of at least two conditions.")


def _count_words(answers: Answers) -> Mapping[str, tuple[int, ...]]:
    """Words of each answer; a missing one has none."""
    return {c: tuple(len(split_words(a or "")) for a in told) for c, told in answers.items()}


def _foresee_step(asked: Step[Any, Any], trials: Sequence[Trial], rt: Runtime) -> Foreseen:
    """Calls and tokens of a step's trials that are not stored."""
    missing, task = rt.missing(asked, trials), asked.task or "judge"
    if not isinstance(rt.engine, PricedEngine):
        return Foreseen(len(trials), len(trials) - len(missing), 0, 0, 0, 0.0)
    sizes: dict[tuple[str, ...], int] = {}
    prompt = 0
    for t in (trials[i] for i in missing):  # replicates and orders are alike: counted once
        like = (t.criterion, *_unordered_key(t))
        if like not in sizes:
            sizes[like] = rt.engine.prompt_tokens(task, t)
        prompt += sizes[like]
    written = len(missing) * _REPLY[task]
    price = rt.engine.price(prompt, written)
    return Foreseen(len(trials), len(trials) - len(missing), len(missing), prompt, written, price)
