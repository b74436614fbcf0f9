"""Training data: its report, chance over many seeds, leaks counted anew, size and memory, the figures that are printed.

    python bench/finetuning_data.py [--data DIR] [--set NAME …] [--seeds N] [--questions N]

For every set and preset the report of `sensegraph tune data`, its hard distractors being what `walk` gets wrong; then
the same over `--seeds` seeds as one: oracle positions (χ² over all places), the share of examples with oracle, and
distractors that hold an answer, found here by plain search and not by the package. Questions from the graph of `carol`.
A file of `--questions` drawn questions in the form of HotpotQA, and of a quarter of them: CPU and the most memory.
Last the arithmetic of the figures that the paper prints.
"""

from __future__ import annotations

import json
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from client import options, table
from sensegraph.cli.lab.question_sources import SourceRequest, open_question_source
from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.finetuning.data import index_source
from sensegraph.lab.finetuning.data.chances import compare_positions, expected_range
from sensegraph.lab.finetuning.data.example_types import PRESETS, DataSettings, Example, MadeExample
from sensegraph.lab.finetuning.data.examples import make_examples
from sensegraph.lab.finetuning.data.report import Reporter, format_data_report
from sensegraph.lab.finetuning.data.sources import Source
from sensegraph.lab.finetuning.factorial import printed

SETS = ("hotpotqa", "carol")


def gathered(folder: Path) -> Source:
    """A test collection with what `walk` gets wrong beside each question."""
    with open_question_source(
        SourceRequest(folder, None, 0, "auto", "", "", {"engine": "offline"}), 0, lambda *_: None
    ) as found:
        return replace(found, questions=tuple(found.questions))


def reported(found: Source, how: DataSettings) -> None:
    reporter = Reporter(found, how)
    for item in make_examples(found.questions, found.pool, how):
        reporter.add(item)
    print(format_data_report(reporter.report()), end="\n\n")


def over_seeds(found: Source, name: str, seeds: int) -> list[object]:
    """One row: all examples of `seeds` seeds together."""
    orders: Counter[tuple[bool, ...]] = Counter()
    kept = count = leaking = long = 0
    for seed in range(seeds):
        how = replace(PRESETS[name], seed=seed)
        made = [m.example for m in make_examples(found.questions, found.pool, how) if isinstance(m, MadeExample)]
        count += len(made)
        kept += sum(bool(e.oracles) for e in made)
        orders.update(tuple(p.oracle for p in e.passages) for e in made)
        leaking += sum(leaks(e, 1) for e in made)
        long += sum(leaks(e, 2) for e in made)
    placed = compare_positions(orders)
    due = expected_range(count, PRESETS[name].oracle_share)
    chi = f"{placed.chi2:.1f} / {placed.freedom}"
    return [found.name, name, count, kept, f"{due[0]}–{due[1]}", chi, f"{placed.p:.3f}", leaking, long]


def leaks(example: Example, least: int) -> int:
    """Distractors that hold an answer of at least `least` words: a plain search, apart from the package's."""
    sought = [a for a in example.answers if a.lower() not in ("yes", "no") and len(re.findall(r"\w+", a)) >= least]
    patterns = [re.compile(r"\b" + r"\W+".join(re.findall(r"\w+", a)) + r"\b", re.IGNORECASE) for a in sought]
    return sum(any(p.search(shown.text) for p in patterns) for shown in example.passages if not shown.oracle)


def from_graph(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place, Corpus.open(place, settings={"engine": "offline"}) as corpus:
        corpus.add(folder / "corpus.jsonl")
        corpus.build(parts=("graph",))
        found = index_source.draw_graph_questions(corpus.index(), 200)
        reported(replace(found, name=f"{folder.name}, questions from the graph"), PRESETS["raft"])


# ── size ──


def hotpot(path: Path, count: int) -> None:
    """`count` questions over ten drawn paragraphs of about a hundred words each, two of them gold."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(5000)]

    def paragraph() -> list[str]:
        return [" ".join(draw.choices(words, k=25)).capitalize() + "." for _ in range(4)]

    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            context = [[f"Page {n}-{i}", paragraph()] for i in range(10)]
            answer = " ".join(context[3][1][0].split()[:2])
            record = {"_id": str(n), "question": f"What of {n}?", "answer": answer, "type": "bridge"}
            facts = [[context[i][0], 0] for i in (3, 7)]
            file.write(json.dumps({**record, "context": context, "supporting_facts": facts}) + "\n")


def sized(count: int) -> list[object]:
    """One row: seconds and the most memory of `tune data` over so many questions, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path, made = Path(folder) / "drawn.jsonl", Path(folder) / "train.jsonl"
        hotpot(path, count)
        program = [sys.executable, __file__, "--one", str(path), str(made)]
        run = subprocess.run(program, capture_output=True, text=True, check=True)
        cpu, memory = run.stdout.split()[-2:]
        size = [f"{p.stat().st_size / 1e6:.0f}" for p in (path, made)]
        return [f"{count:,}", *size, cpu, memory]


def one(path: str, made: str) -> None:
    from typer.testing import CliRunner

    from sensegraph.cli import app

    result = CliRunner().invoke(app, ["tune", "data", path, "--out", made, "--quiet"])
    assert result.exit_code == 0, result.output
    spent = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{spent.ru_utime + spent.ru_stime:.0f} {spent.ru_maxrss / 1024:.0f}")


# ── printed figures ──


def arithmetic() -> None:
    shown = printed.read_figures()
    cells = printed.recompute_joint(shown)
    off = printed.select_odd_cells(cells)
    print(f"joint cells that are the mean of 29 and 38: {len(cells) - len(off)} of {len(cells)}")
    for cell in off:
        print(f"  not {cell.metric} of {cell.system}: {cell.printed} printed, {cell.computed:.3f} computed")
    best = "; ".join(f"{a}/{b} {n}" for a, b, n in printed.fit_divisions(shown)[:3])
    print(f"cells that fit, by division of the questions: {best}")
    for cell in printed.find_non_shares(shown):
        print(f"  no share: {cell.table} human of {cell.system}, {cell.printed}; near is {cell.computed:.4f}")
    for finding in printed.check_claims(shown):
        why = f" ({'; '.join(finding.against)})" if finding.against else ""
        print(f"  {'holds' if finding.holds else 'FAILS'}  {finding.claim.place}{why}")


def main(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["--one"]:
        one(*arguments[1:])
        return
    parser = options(__doc__, SETS[0])
    parser.add_argument("--set", action="append", dest="sets", help="test collections below --data")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--questions", type=int, default=20_000)
    given = parser.parse_args(arguments)
    sets = [gathered(Path(given.data) / name) for name in given.sets or SETS]
    for found in sets:
        for how in PRESETS.values():
            reported(found, how)
    head = ("set", "preset", "examples", "with oracle", "due at 99 %", "χ² / df", "p", "leaks", "of two words")
    table(head, [over_seeds(found, name, given.seeds) for found in sets for name in PRESETS])
    print()
    from_graph(Path(given.data) / "carol")
    if given.questions:
        head = ("questions", "MB read", "MB written", "CPU s", "memory MB")
        table(head, [sized(given.questions // 4), sized(given.questions)])
        print()
    arithmetic()


if __name__ == "__main__":
    main(sys.argv[1:])
