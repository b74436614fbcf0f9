"""The 2 × 2 design: a base or a tuned model, over chunks or over community summaries, and what each factor does.

                      chunks          summaries
    base model        Baseline RAG    Baseline GraphRAG
    tuned model       RAFT            GRAFT

Every question is answered in all four arms, so that effects are differences within a question; their intervals come
from resampling the questions. The paper prints means alone. The tables are text, Markdown and objects.

source: the paper GRAFT, section 5 (R14–R20); the effects are those of any 2 × 2 design
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.lab.retrieval.retrieval_tables import align_columns
from sensegraph.lab.scores.statistics import DRAWS, Interval, bootstrap_intervals, format_interval

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
    parts: tuple[tuple[str, ...], ...] = ()


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


_FOUR = "Effects need all four arms: without a tuned model there are means of the base arms only."


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a design gave: the replies, a row a metric and type, what the metrics leave open, and notes."""

    gold: str
    posed: tuple[DesignQuestion, ...]
    replies: tuple[Reply, ...]
    rows: tuple[Row, ...]
    how: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that there are."""
        return tuple(arm.name for arm in ARMS if any(r.arm == arm.name for r in self.replies))


def format_effects(found: Outcome) -> str:
    """The tables for a terminal."""
    parts = [_introduce_tables(found), align_columns(tabulate_design(found, "arms"))]
    parts += ["", align_columns(tabulate_design(found, "effects"))] if _has_all_arms(found) else ["", _FOUR]
    return "\n".join([*parts, "", *_explain_tables(found)])


def render_effects_page(found: Outcome) -> str:
    """The tables, what was measured how, and the answers of all arms to the first question of every type (R24)."""
    parts = [
        "# Tuning × context",
        "",
        _introduce_tables(found),
        "",
        *_markdown_table(tabulate_design(found, "arms")),
        "",
    ]
    parts += [*_markdown_table(tabulate_design(found, "effects")), ""] if _has_all_arms(found) else [_FOUR, ""]
    parts += [f"- {line}" for line in _explain_tables(found)]
    # answer and context of every arm, for the first question of each type
    titles = {arm.name: arm.title for arm in ARMS}
    lines = []
    firsts: dict[str, DesignQuestion] = {}
    for one in found.posed:
        firsts.setdefault(one.type, one)
    for asked in firsts.values():
        lines += [f"## {asked.question}", "", f"Gold: {'; '.join(asked.answers)}", ""]
        for reply in [r for r in found.replies if r.id == asked.id]:
            shown = "\n>\n".join("> " + " ".join(c.split()) for c in reply.context) or "> (nothing)"
            lines += [f"### {titles[reply.arm]}", "", reply.answer or "(no answer)", "", shown, ""]
    return "\n".join([*parts, "", *lines]) + "\n"


def record_effects(found: Outcome) -> dict[str, Any]:
    """The tables as plain values."""
    rows = [
        {"metric": r.metric, "type": r.type, "questions": r.questions, "undefined": r.undefined}
        | {"arms": {n: asdict(i) for n, i in r.arms}, "effects": {n: asdict(i) for n, i in r.effects}}
        for r in found.rows
    ]
    return {"gold": found.gold, "arms": found.arms, "rows": rows, "how": dict(found.how), "notes": list(found.notes)}


def tabulate_design(found: Outcome, part: Literal["arms", "effects"]) -> list[list[str]]:
    """The mean of every arm, or the two main effects and the interaction, each with its interval."""
    titles = {arm.name: arm.title for arm in ARMS} | {name: name for name, _ in EFFECTS}
    names = found.arms if part == "arms" else tuple(name for name, _ in EFFECTS)
    table = [["metric", "questions", *(titles[name] for name in names)]]
    for row in found.rows:
        values = dict(row.arms if part == "arms" else row.effects)
        shown = (format_interval(values[n], signed=part == "effects") if n in values else "—" for n in names)
        table.append([row.metric, f"{row.type} ({row.questions:,})", *shown])
    return table


def _has_all_arms(found: Outcome) -> bool:
    return len(found.arms) == len(ARMS)


def _introduce_tables(found: Outcome) -> str:
    return (
        f"{len(found.posed):,} questions, {len(found.arms)} arms; gold answers: {found.gold}. Means and effects with "
        "95 % intervals, questions resampled."
    )


def _explain_tables(found: Outcome) -> list[str]:
    lines = [f"{metric}: {how}" for metric, how in found.how if how]
    effect = "tuning, summaries: half the sum of the two differences; interaction: GRAFT − RAFT − GraphRAG + RAG"
    missing = [
        f"{r.metric}, {r.type}: {r.undefined} questions without a value left out" for r in found.rows if r.undefined
    ]
    return [*([effect] if _has_all_arms(found) else []), *lines, *missing, *found.notes]


def _markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + "---|" * len(rows[0]), *body]
