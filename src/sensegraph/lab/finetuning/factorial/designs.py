"""A 2 × 2 design as one file says it, the questions it asks, and the metrics it measures.

source: the paper GRAFT, section 5 (R14–R20, R23)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.factorial.factorial import Measured, Posed, Reply, grouped
from sensegraph.lab.finetuning.factorial.rating import Ratings
from sensegraph.lab.scores.bertscore import BertScore
from sensegraph.lab.scores.standard import NAMES, Pair, table
from sensegraph.lab.scores.statistics import DRAWS
from sensegraph.lab.scores.tokenmatch import LABEL, corpus_baseline, token_match
from sensegraph.runtime.runtime import Runtime

BERTSCORE, HUMAN = "bertscore", "human"
METRICS = (HUMAN, BERTSCORE, "bleu", "rouge-1", "semantic")  # the paper's five


@dataclass(frozen=True, slots=True)
class BertModel:
    """The model of BERTScore: its folder, the layer that is read, and the file of baselines to rescale scores by."""

    model: str
    num_layers: int = 17
    baseline: str = ""
    idf: bool = False


@dataclass(frozen=True, slots=True)
class Design:
    """What is compared. Paths are meant from the file's folder.

    `corpus` is the folder of an index, which all arms share; `questions` a file of JSON lines: id, question, answer or
    answers, type, topic. `gold` says where the gold answers come from, and stands in every table. `base` and `tuned`
    are settings of the two engines, as a corpus's settings file has them; without `tuned` there are the two base arms
    only. `chunks` and `summaries` are methods with their settings. Without `bertscore` no BERTScore is measured, but
    token-match F1 under its own name.
    """

    corpus: str
    questions: str
    gold: str
    base: dict[str, Any] = field(default_factory=dict)
    tuned: dict[str, Any] | None = None
    chunks: dict[str, Any] = field(default_factory=lambda: {"method": "naive", "top": 3})
    summaries: dict[str, Any] = field(default_factory=lambda: {"method": "graft", "top": 1})
    metrics: tuple[str, ...] = METRICS
    bertscore: BertModel | None = None
    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.gold.strip():
            raise SettingsError("gold is empty: say where the gold answers come from; every table names it.")
        known = (*METRICS, *NAMES)
        if unknown := [m for m in self.metrics if m not in known]:
            raise SettingsError(f"No metric is called {unknown[0]!r}; there are {', '.join(dict.fromkeys(known))}.")
        for name in ("chunks", "summaries"):
            if "method" not in getattr(self, name):
                raise SettingsError(f'{name} names no method, as in {name} = {{ method = "naive", top = 3 }}.')


def posed(path: Path) -> list[Posed]:
    """The questions of a design. Raises InputError, naming the line, for one without id, question or answer."""
    if not path.is_file():
        raise InputError(f"{path} is no file with questions; the design's `questions` names one.")
    lines = [(n, text) for n, text in enumerate(path.read_text("utf-8").splitlines(), 1) if text.strip()]
    found = [_posed(text, f"{path}, line {n}") for n, text in lines]
    if not found or len({p.id for p in found}) < len(found):
        raise InputError(f"{path}: questions need ids that differ, and there must be one question at least.")
    return found


def _posed(text: str, where: str) -> Posed:
    try:
        row = json.loads(text)
        answers = row.get("answers") or [row["answer"]]
        name = str(row.get("_id") or row["id"])
        return Posed(
            name, str(row["question"]), tuple(map(str, answers)), str(row.get("type", "")), str(row.get("topic", ""))
        )
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as e:
        raise InputError(f"{where}: a question has id, question and answer ({e!r}).") from e


# ── measuring ──


def measured(
    design: Design, asked: Sequence[Posed], replies: Sequence[Reply], rt: Runtime, ratings: Ratings | None = None
) -> tuple[list[Measured], list[str]]:
    """The values of every metric of the design, and what stands in its place or was left out, in words."""
    arms = grouped(asked, replies)
    found, notes = [], []
    for metric in dict.fromkeys(design.metrics):
        if metric == HUMAN:
            if ratings is None:
                notes.append("human: not rated; write a sheet with --sheet, and read it with --ratings")
            else:
                found.append(_rated(arms, ratings))
        elif metric == BERTSCORE:
            values, said = _matched(design, asked, arms, rt)
            found.append(values)
            notes += said
        else:
            found.append(_standard(metric, asked, arms, rt))
    return found, notes


def _rated(arms: Mapping[str, Sequence[Reply]], ratings: Ratings) -> Measured:
    values = {name: [ratings.value(r) for r in replies] for name, replies in arms.items()}
    how = f"share of {ratings.raters} raters who found it correct; {ratings.blank} fields left blank"
    return Measured(HUMAN, values, how)


def _standard(metric: str, asked: Sequence[Posed], arms: Mapping[str, Sequence[Reply]], rt: Runtime) -> Measured:
    columns = {
        name: table([Pair(r.answer, p.answers, p.type) for p, r in zip(asked, replies, strict=True)], [metric], rt)
        for name, replies in arms.items()
    }
    found = {name: one.column(metric) for name, one in columns.items()}
    return Measured(metric, {name: c.values for name, c in found.items()}, next(iter(found.values())).how)


def _matched(
    design: Design, asked: Sequence[Posed], arms: Mapping[str, Sequence[Reply]], rt: Runtime
) -> tuple[Measured, list[str]]:
    """BERTScore by the design's model, never unscaled where a baseline was named; else token-match F1."""
    if design.bertscore is None:
        return _token_matched(asked, arms, rt)
    b = design.bertscore
    scorer = BertScore(Path(b.model), b.num_layers, Path(b.baseline) if b.baseline else None, bool(b.baseline), b.idf)
    values, cut = {}, 0
    for name, replies in arms.items():
        scores = scorer.scores([(r.answer, p.answers) for p, r in zip(asked, replies, strict=True)])
        values[name], cut = [m.f1 for m in scores.matches], cut + scores.cut
    notes = [f"BERTScore: {cut} texts were cut to what the model takes"] if cut else []
    if not b.baseline:
        notes.append("BERTScore is raw: no baseline was named, so it cannot be compared with the paper's figures")
    return Measured("BERTScore F1", values, scorer.how), notes


def _token_matched(
    asked: Sequence[Posed], arms: Mapping[str, Sequence[Reply]], rt: Runtime
) -> tuple[Measured, list[str]]:
    gold = [a for p in asked for a in p.answers]
    baseline = corpus_baseline(gold, rt) if len(set(gold)) > 1 else None
    values = {}
    for name, replies in arms.items():
        best = []
        for p, r in zip(asked, replies, strict=True):
            best.append(max(m.f1 for m in token_match([(r.answer, g) for g in p.answers], rt, baseline)))
        values[name] = best
    how = f"rescaled by {baseline.source}" if baseline else f"raw, vectors of {rt.embedder.name}"
    note = f"BERTScore was not measured: the design names no model for it; {LABEL} stands in its place"
    return Measured(LABEL, values, how), [note]


def told(design: Design) -> dict[str, Any]:
    """The design as plain values."""
    return asdict(design)
