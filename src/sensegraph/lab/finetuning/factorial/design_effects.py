"""The 2 × 2 design: a base or a tuned model, over chunks or over community summaries, and what each factor does.

                      chunks          summaries
    base model        Baseline RAG    Baseline GraphRAG
    tuned model       RAFT            GRAFT

Every question is answered in all four arms, so that effects are differences within a question; their intervals come
from resampling the questions. The paper prints means alone.

source: the paper GRAFT, section 5 (R14–R20); the effects are those of any 2 × 2 design
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.lab.scores.statistics import DRAWS, Interval, bootstrap_intervals

Floats = NDArray[np.float64]
ALL = "joint"


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the four: which model answers, from which passages; `title` is the paper's name."""

    name: str
    title: str
    model: Literal["base", "tuned"]
    context: Literal["chunks", "summaries"]


ARMS = (
    Arm("rag", "Baseline RAG", "base", "chunks"),
    Arm("raft", "RAFT", "tuned", "chunks"),
    Arm("graphrag", "Baseline GraphRAG", "base", "summaries"),
    Arm("graft", "GRAFT", "tuned", "summaries"),
)
# what the columns of the arms are weighted with, in the order of `ARMS`
EFFECTS: tuple[tuple[str, tuple[float, float, float, float]], ...] = (
    ("tuning", (-0.5, 0.5, -0.5, 0.5)),
    ("summaries", (-0.5, -0.5, 0.5, 0.5)),
    ("interaction", (1.0, -1.0, -1.0, 1.0)),
)


@dataclass(frozen=True, slots=True)
class DesignQuestion:
    """A question of the design, with its gold answers; tables are made for every `type`, a picture for the topics."""

    id: str
    question: str
    answers: tuple[str, ...]
    type: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one arm answered to one question, from which texts; `key` says by what (engine, method, their settings)."""

    id: str
    arm: str
    answer: str
    context: tuple[str, ...] = ()
    tokens: int = 0
    notes: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One metric over the questions of one type: the mean of each arm, and the effects, each with its interval.

    `undefined` counts the questions that have no value in some arm, and are left out of all.
    """

    metric: str
    type: str
    questions: int
    arms: tuple[tuple[str, Interval], ...]
    effects: tuple[tuple[str, Interval], ...]
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """The values of one metric: of each arm, those of the questions in their order (None: undefined)."""

    metric: str
    values: Mapping[str, Sequence[float | None]]
    how: str = ""


def group_replies(posed: Sequence[DesignQuestion], replies: Sequence[Reply]) -> dict[str, list[Reply]]:
    """The replies of each arm there is, in the order of the questions.

    Raises InputError for an arm that nobody knows, and one that lacks a question or answers one twice.
    """
    known = [arm.name for arm in ARMS]
    if odd := [r.arm for r in replies if r.arm not in known]:
        raise InputError(f"No arm is called {odd[0]!r}; there are {', '.join(known)}.")
    found = {}
    for name in [n for n in known if any(r.arm == n for r in replies)]:
        by_id = {r.id: r for r in replies if r.arm == name}
        count = sum(r.arm == name for r in replies)
        if missing := [p.id for p in posed if p.id not in by_id]:
            raise InputError(f"The arm {name} has no answer to {len(missing)} questions, such as {missing[0]!r}.")
        if count != len(by_id):
            raise InputError(f"The arm {name} answers {count - len(by_id)} questions twice; keep one answer each.")
        found[name] = [by_id[p.id] for p in posed]
    return found


def compute_rows(measured: Measured, types: Sequence[str], draws: int = DRAWS, seed: int = 0) -> list[Row]:
    """A row for every type of question, and one for all of them.

    `types` are those of the questions, in order. Effects need all four arms; with fewer there are means alone.
    """
    names = [arm.name for arm in ARMS if arm.name in measured.values]
    table = np.array([[np.nan if v is None else v for v in measured.values[name]] for name in names], np.float64).T
    kinds = list(dict.fromkeys(t for t in sorted(types) if t))
    wanted = [(kind, np.array([t == kind for t in types])) for kind in kinds] if len(kinds) > 1 else []
    wanted.append((ALL, np.ones(len(types), bool)))
    weights = np.array([w for _, w in EFFECTS]) if len(names) == len(ARMS) else np.zeros((0, len(names)))
    found = []
    for kind, mask in wanted:
        whole = table[mask & ~np.isnan(table).any(axis=1)]
        undefined = int(mask.sum()) - len(whole)
        if not len(whole):
            found.append(Row(measured.metric, kind, 0, (), (), undefined))
            continue
        values = bootstrap_intervals(np.concatenate((whole, whole @ weights.T), axis=1), draws, seed)
        arms = tuple(zip(names, values, strict=False))
        effects = tuple(zip((name for name, _ in EFFECTS), values[len(names) :], strict=False))
        found.append(Row(measured.metric, kind, len(whole), arms, effects, undefined))
    return found
