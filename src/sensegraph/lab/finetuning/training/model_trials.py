"""Trials: the questions of an evaluation file put to a model, and what it said scored against the right answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.engines.llm.trained_prompt import Layout
from sensegraph.engines.local.local_model import LocalModel
from sensegraph.lab.experiments.sheets import format_count
from sensegraph.lab.finetuning.data.example_files import Item, format_item_prompt
from sensegraph.lab.finetuning.data.examples import ANSWER
from sensegraph.lab.retrieval.retrieval_tables import align_columns
from sensegraph.lab.scores.standard import Pair, Table, exact_match, normalise_answer, score_pairs, token_f1
from sensegraph.lab.scores.statistics import Interval, bootstrap_intervals, format_interval, mean_interval
from sensegraph.language.text import fold


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said to a question. `cut` says that the limit of its length ended it."""

    item: Item
    text: str
    prompt_tokens: int = 0
    tokens: int = 0
    cut: bool = False

    @property
    def right(self) -> float:
        """1 for an exact match with a right answer, else 0."""
        return exact_match(self.text, self.item.right)

    @property
    def misled(self) -> bool:
        """Whether it is wrong and holds words of a distractor that no oracle passage has."""
        said = normalise_answer(self.text)
        texts = [fold(p.text) for p in self.item.passages if not p.oracle]
        return not self.right and bool(said) and any(fold(said) in text for text in texts)


@dataclass(frozen=True, slots=True)
class Trial:
    """All that a model said, with the mean of exact match and F1 over the questions, and their 95 % intervals."""

    said: tuple[ModelAnswer, ...]
    exact: Interval
    f1: Interval

    @property
    def misled(self) -> float:
        """The share of questions answered from a distractor."""
        return sum(s.misled for s in self.said) / len(self.said)

    @property
    def cut(self) -> int:
        """How many answers ended at the limit of their length."""
        return sum(s.cut for s in self.said)

    def table(self, metrics: Sequence[str]) -> Table:
        """The answers scored by metrics of `lab.scores.standard`."""
        said = ((s.text, s.item) for s in self.said)
        return score_pairs([Pair(text, i.right, i.type, tuple((p,) for p in i.parts)) for text, i in said], metrics)


def run_trial(
    model: LocalModel,
    items: Sequence[Item],
    shape: Layout,
    most: int = 64,
    tell: Callable[[int], None] = lambda done: None,
) -> Trial:
    """Ask the model every question, the likeliest words each time; `tell` hears how many are done.

    Raises TooLong where a prompt does not fit the model's context.
    """
    found = []
    for done, item in enumerate(items, 1):
        made = model.continued(format_item_prompt(item, shape), most)
        answer, cut = extract_final_answer(made.text), made.finish == "length"
        found.append(ModelAnswer(item, answer, made.prompt_tokens, made.tokens, cut))
        tell(done)
    return score_trial(found)


def score_trial(said: Sequence[ModelAnswer]) -> Trial:
    """The means over all that was said; intervals are Wilson's of a share, else of questions resampled."""
    scores = ([s.right for s in said], [token_f1(s.text, s.item.right) for s in said])
    exact, f1 = (found for values in scores if (found := mean_interval(values, share=True)))
    return Trial(tuple(said), exact, f1)


def compare_exact(one: Trial, other: Trial) -> Interval:
    """How much more of the same questions `one` answers exactly than `other`, question by question."""
    values = [a.right - b.right for a, b in zip(one.said, other.said, strict=True)]
    return bootstrap_intervals(np.array(values, np.float64)[:, None])[0]


def extract_final_answer(text: str) -> str:
    """The answer in what a model said: what follows its reasoning where it gave one, else all of it."""
    _, mark, rest = text.rpartition(ANSWER)
    return (rest if mark else text).strip()


def write_trial(trial: Trial, path: Path) -> None:
    """Write what was said, a line of JSON a question."""
    rows = [
        {"id": s.item.id, "type": s.item.type, "question": s.item.question, "gold": list(s.item.right)}
        | {"answer": s.text, "right": s.right, "misled": s.misled, "cut": s.cut}
        for s in trial.said
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def record_trial(name: str, trial: Trial, first: Trial, metrics: Sequence[str]) -> dict[str, Any]:
    """The scores of one model for programs, with how far it is above the `first` one."""
    found = {"exact": asdict(trial.exact), "f1": asdict(trial.f1), "misled": trial.misled, "cut": trial.cut}
    others = {m: trial.table([m]).column(m).mean for m in metrics}
    above = {"above_first": asdict(compare_exact(trial, first))} if trial is not first else {}
    return {"model": name, "questions": len(trial.said)} | found | others | above


def compare_trials(found: Sequence[tuple[str, Trial]], metrics: Sequence[str]) -> str:
    """The scores of several models as a table for people; each is compared with the first one."""
    first = found[0][1]
    rows = [["model", "exact match", "F1", "misled", "cut", *metrics, "exact match above the first"]]
    for name, trial in found:
        more = [trial.table([m]).column(m).mean for m in metrics]
        others = ["" if m is None else f"{m:.3f}" for m in more]
        above = format_interval(compare_exact(trial, first), signed=True) if trial is not first else ""
        scores = [format_interval(trial.exact), format_interval(trial.f1), f"{trial.misled:.3f}", str(trial.cut)]
        rows.append([name, *scores, *others, above])
    wide = len(rows[0]) - (len(found) == 1)
    table = align_columns([row[:wide] for row in rows])
    how = "Wilson's where all values are 0 or 1, else of questions resampled"
    return f"{format_count(len(first.said), 'question')}, with 95 % intervals ({how})\n{table}"
