"""A 2 × 2 design as one file says it, the questions it asks, and the metrics it measures.

source: the paper GRAFT, section 5 (R14–R20, R23)
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sensegraph.corpus.settings import convert_settings
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.factorial.design_effects import DesignQuestion, Measured, Reply, group_replies
from sensegraph.lab.finetuning.factorial.rating import Ratings
from sensegraph.lab.scores.standard import NAMES, Pair, score_pairs
from sensegraph.lab.scores.statistics import DRAWS
from sensegraph.lab.scores.tokenmatch import LABEL, BertScore, corpus_baseline, token_match
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


def read_design(path: Path) -> Design:
    """The design of a file, its paths from where the file is."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as e:
        raise InputError(f"{path} is no file: a design is a TOML file, see docs/finetuning-training.md.") from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise SettingsError(f"{path} is not valid TOML: {e}.") from e
    for name in ("corpus", "questions", "gold"):
        if name not in table:
            raise SettingsError(f"{path}: {name} is missing; a design names corpus, questions and gold.")
    found = convert_settings(table, Design, str(path))
    root = path.parent
    bert = found.bertscore
    if bert is not None:
        bert = replace(bert, model=str(root / bert.model), baseline=str(root / bert.baseline) if bert.baseline else "")
    corpus, questions = str(root / found.corpus), str(root / found.questions)
    return replace(found, corpus=corpus, questions=questions, bertscore=bert)


def read_design_questions(path: Path) -> list[DesignQuestion]:
    """The questions of a design. Raises InputError, naming the line, for one without id, question or answer."""
    if not path.is_file():
        raise InputError(f"{path} is no file with questions; the design's `questions` names one.")
    lines = [(n, text) for n, text in enumerate(path.read_text("utf-8").splitlines(), 1) if text.strip()]
    found = []
    for number, text in lines:
        try:
            row = json.loads(text)
            answers = tuple(map(str, row.get("answers") or [row["answer"]]))
            name, kind, topic = str(row.get("_id") or row["id"]), str(row.get("type", "")), str(row.get("topic", ""))
            found.append(DesignQuestion(name, str(row["question"]), answers, kind, topic))
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as e:
            raise InputError(f"{path}, line {number}: a question has id, question and answer ({e!r}).") from e
    if not found or len({p.id for p in found}) < len(found):
        raise InputError(f"{path}: questions need ids that differ, and there must be one question at least.")
    return found


# ── measuring ──


def measure_design(
    design: Design,
    asked: Sequence[DesignQuestion],
    replies: Sequence[Reply],
    rt: Runtime,
    ratings: Ratings | None = None,
) -> tuple[list[Measured], list[str]]:
    """The values of every metric of the design, and what stands in its place or was left out, in words."""
    arms = group_replies(asked, replies)
    found, notes = [], []
    for metric in dict.fromkeys(design.metrics):
        if metric == HUMAN:
            if ratings is None:
                notes.append("human: not rated; write a sheet with --sheet, and read it with --ratings")
            else:
                rated = {name: [ratings.value(r) for r in given] for name, given in arms.items()}
                how = f"share of {ratings.raters} raters who found it correct; {ratings.blank} fields left blank"
                found.append(Measured(HUMAN, rated, how))
        elif metric == BERTSCORE:
            values, said = _score_by_bert(design, asked, arms, rt)
            found.append(values)
            notes += said
        else:
            tables = {
                name: score_pairs(
                    [Pair(r.answer, p.answers, p.type) for p, r in zip(asked, replies, strict=True)], [metric], rt
                )
                for name, replies in arms.items()
            }
            columns = {name: one.column(metric) for name, one in tables.items()}
            found.append(
                Measured(metric, {name: c.values for name, c in columns.items()}, next(iter(columns.values())).how)
            )
    return found, notes


def _score_by_bert(
    design: Design, asked: Sequence[DesignQuestion], arms: Mapping[str, Sequence[Reply]], rt: Runtime
) -> tuple[Measured, list[str]]:
    """BERTScore by the design's model, never unscaled where a baseline was named; else token-match F1."""
    if design.bertscore is None:
        gold = [a for p in asked for a in p.answers]
        baseline = corpus_baseline(gold, rt) if len(set(gold)) > 1 else None
        best: dict[str, list[float]] = {name: [] for name in arms}
        for name, replies in arms.items():
            for p, r in zip(asked, replies, strict=True):
                best[name].append(max(m.f1 for m in token_match([(r.answer, g) for g in p.answers], rt, baseline)))
        how = f"rescaled by {baseline.source}" if baseline else f"raw, vectors of {rt.embedder.name}"
        note = f"BERTScore was not measured: the design names no model for it; {LABEL} stands in its place"
        return Measured(LABEL, best, how), [note]
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


def record_design(design: Design) -> dict[str, Any]:
    """The design as plain values."""
    return asdict(design)
