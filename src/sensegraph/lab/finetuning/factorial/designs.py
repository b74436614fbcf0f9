"""A 2 × 2 design as one file says it: its questions, the answers of its arms, ratings by people, and its metrics.

What was answered is kept in a file. The human metric of the paper is the share of answers judged correct (section 5.2,
R16), by people who do not see which arm an answer is of. Equal answers to one question are one line of their sheet,
judged once for all arms that gave it.

source: the paper GRAFT, section 5 (R14–R20, R23)
"""

from __future__ import annotations

import csv
import json
import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import convert_settings
from sensegraph.documents.cells import write_cell
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, DesignQuestion, Measured, Reply, group_replies
from sensegraph.lab.retrieval.test_collections import read_gold_answers
from sensegraph.lab.scores.standard import NAMES, Pair, join_parts, score_pairs
from sensegraph.lab.scores.statistics import DRAWS
from sensegraph.lab.scores.tokenmatch import LABEL, BertScore, corpus_baseline, token_match
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer

_COLUMNS = ("line", "question", "gold", "answer", "correct")
_YES, _NO = ("1", "yes", "y", "true", "correct"), ("0", "no", "n", "false", "wrong")


@dataclass(frozen=True, slots=True)
class Ratings:
    """What was judged: of each line the share of raters who found it correct; `raters` sheets, `blank` empty fields."""

    share: dict[str, float]
    raters: int
    blank: int

    def value(self, reply: Reply) -> float | None:
        """The rating of a reply; None where nobody judged it."""
        return self.share.get(rating_line(reply))


def rating_line(reply: Reply) -> str:
    """The line of a sheet that a reply stands on: the same for equal answers to one question, and silent on the arm."""
    return key("rating", reply.id, " ".join(reply.answer.split()))[:12]


def write_sheet(path: Path, posed: Sequence[DesignQuestion], replies: Sequence[Reply], seed: int = 0) -> int:
    """Write the sheet, in an order drawn by `seed`; how many lines it has. A cell never begins a formula."""
    asked = {p.id: p for p in posed}
    lines = {rating_line(r): (asked[r.id], r.answer) for r in replies}
    order = sorted(lines)
    random.Random(f"sheet {seed}").shuffle(order)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for line in order:
            question, answer = lines[line]
            cells = (question.question, "; ".join(question.answers), answer)
            writer.writerow([line, *map(write_cell, cells), ""])
    return len(order)


def read_ratings(paths: Sequence[Path]) -> Ratings:
    """The sheets of all raters, one each. Raises InputError, naming file and line, for what is no judgement."""
    judged: dict[str, list[float]] = {}
    blank = 0
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"File not found: {path}. Create it with `sensegraph tune compare --sheet`, and fill it in."
            )
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [c for c in ("line", "correct") if c not in (reader.fieldnames or ())]:
                raise InputError(f"{path} has no column {' and '.join(missing)}: keep the sheet's first line.")
            for number, row in enumerate(reader, 2):
                text = str(row["correct"] or "")
                said = text.strip().casefold()
                if not said:
                    blank += 1
                elif said in (*_YES, *_NO):
                    judged.setdefault(str(row["line"]), []).append(float(said in _YES))
                else:
                    raise InputError(f"{path}, line {number}: {text!r} is no judgement; write yes or no, or 1 or 0.")
    return Ratings({line: sum(v) / len(v) for line, v in judged.items()}, len(paths), blank)


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
        raise InputError(f"{path} is no file: a design is a TOML file, see docs/finetuning.md.") from e
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
            gold = read_gold_answers(row, ("answer", "answers"))
            answers, parts = gold.answers or join_parts(gold.parts), gold.parts
            if not answers:
                raise KeyError("answer")
            name, kind, topic = str(row.get("_id") or row["id"]), str(row.get("type", "")), str(row.get("topic", ""))
            found.append(DesignQuestion(name, str(row["question"]), answers, kind, topic, parts))
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
            columns = {}
            for name, replies in arms.items():
                pairs = [Pair(r.answer, p.answers, p.type, p.parts) for p, r in zip(asked, replies, strict=True)]
                columns[name] = score_pairs(pairs, [metric], rt).column(metric)
            how = next(iter(columns.values())).how
            found.append(Measured(metric, {name: c.values for name, c in columns.items()}, how))
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


Opening = Callable[[Mapping[str, Any]], Corpus]  # opens the corpus with the settings of an arm
Report = Callable[[str, int, int], None]
_MARKER = re.compile(r"\s*\[(\d+)\]")


def remove_markers(answer: Answer) -> str:
    """The answer without the numbers of its citations: gold answers have none, and raters must not see who cites."""
    numbers = {c.marker for c in answer.citations}
    return _MARKER.sub(lambda found: "" if int(found[1]) in numbers else found[0], answer.text).strip()


def answer_in_arms(
    design: Design, asked: list[DesignQuestion], path: Path, report: Report, opening: Opening
) -> list[Reply]:
    """The replies of every arm there is; those that stand in the file already and would be the same are kept."""
    kept = {}
    for text in path.read_text("utf-8").splitlines() if path.is_file() else []:
        try:
            row: dict[str, Any] = json.loads(text)
        except json.JSONDecodeError:
            continue  # a line that a kill cut off: its question is asked again
        fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()}
        earlier = Reply(**fields)
        kept[earlier.arm, earlier.id, earlier.key] = earlier
    found: list[Reply] = []
    for arm in ARMS:
        settings = design.base if arm.model == "base" else design.tuned
        if settings is None:
            continue
        table = dict(design.chunks if arm.context == "chunks" else design.summaries)
        with closing(opening(settings)) as corpus:
            method, manifest = str(table.pop("method")), corpus.manifest()
            # what an answer depends on besides the question
            engine, parts = corpus.engine.fingerprint("answer"), manifest and asdict(manifest)
            base = key("factorial", 1, engine, method, table, parts)
            for done, one in enumerate(asked, 1):
                place = (arm.name, one.id, key(base, one.question))
                if place in kept:
                    found.append(kept[place])
                else:
                    answer = corpus.query(one.question, method=method, **table)
                    context = tuple(p.text for p in answer.evidence.passages)
                    tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
                    said = remove_markers(answer)
                    found.append(Reply(one.id, arm.name, said, context, tokens, answer.notes, place[2]))
                    with path.open("a", encoding="utf-8") as file:
                        file.write(_format_reply(found[-1]))
                report(arm.title, done, len(asked))
    path.write_text("".join(map(_format_reply, found)), encoding="utf-8")  # without what an earlier design left
    return found


def _format_reply(reply: Reply) -> str:
    return json.dumps(asdict(reply), ensure_ascii=False) + "\n"
