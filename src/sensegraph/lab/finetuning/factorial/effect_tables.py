"""The tables of a 2 × 2 design: means by type of question and what each factor does, as text, Markdown and objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sensegraph.lab.finetuning.factorial.design_effects import ARMS, EFFECTS, DesignQuestion, Reply, Row
from sensegraph.lab.retrieval.retrieval_tables import align_columns
from sensegraph.lab.scores.statistics import Interval, format_interval

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
    parts = [_introduce_tables(found), align_columns(tabulate_arm_means(found))]
    parts += ["", align_columns(tabulate_effects(found))] if _has_all_arms(found) else ["", _FOUR]
    return "\n".join([*parts, "", *_explain_tables(found)])


def render_effects_page(found: Outcome) -> str:
    """The tables, what was measured how, and the answers of all arms to the first question of every type (R24)."""
    parts = ["# Tuning × context", "", _introduce_tables(found), "", *_markdown_table(tabulate_arm_means(found)), ""]
    parts += [*_markdown_table(tabulate_effects(found)), ""] if _has_all_arms(found) else [_FOUR, ""]
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


def tabulate_arm_means(found: Outcome) -> list[list[str]]:
    """The mean of every arm with its interval."""
    titles = {arm.name: arm.title for arm in ARMS}
    table = [["metric", "questions", *(titles[name] for name in found.arms)]]
    for row in found.rows:
        by_arm = dict(row.arms)
        table.append([row.metric, _label_row(row), *(_format_cell(by_arm.get(name)) for name in found.arms)])
    return table


def tabulate_effects(found: Outcome) -> list[list[str]]:
    """The two main effects and the interaction, each with its interval."""
    table = [["metric", "questions", *(name for name, _ in EFFECTS)]]
    for row in found.rows:
        by_name = dict(row.effects)
        table.append(
            [row.metric, _label_row(row), *(_format_cell(by_name.get(name), signed=True) for name, _ in EFFECTS)]
        )
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


def _label_row(row: Row) -> str:
    return f"{row.type} ({row.questions:,})"


def _format_cell(value: Interval | None, *, signed: bool = False) -> str:
    return "—" if value is None else format_interval(value, signed=signed)


def _markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + "---|" * len(rows[0]), *body]
