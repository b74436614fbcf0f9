"""Whether `auto` tells kinds of questions apart.

    python bench/router.py [--data DIR] [--keep DIR] [--set NAME …]

First the 60 labelled questions of tests/methods/router.tsv, over an index of the names beside it: accuracy, a table of
confusion (rows: as labelled), and the questions that were told wrongly. Then, for each data set, indexed offline (kept
in `--keep`), how many of its questions are of each kind, and milliseconds of CPU for one choice: podcast and qmsum's
general questions ask about the whole, 2wiki, hotpotqa, musique and multihop-news have two hops or more, lihua-world
and xquad mostly one. Rules and questions were written by the same hand: the data sets are the better witness.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import get_args

from client import options, sensegraph, source, table

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from named import named, rows  # noqa: E402
from sensegraph.corpus import Corpus  # noqa: E402
from sensegraph.methods.auto import Kind, choose  # noqa: E402

FIXTURE = HERE.parent / "tests" / "methods"
SETS = ("podcast", "2wiki", "musique", "hotpotqa", "multihop-news", "lihua-world", "carol", "xquad-de", "xquad-zh")
KINDS = get_args(Kind)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", dest="sets", choices=[*SETS, "none"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        labelled(Path(folder) / "names")
        sets = [name for name in given.sets or SETS if name != "none"]
        found = [counted(name, Path(given.data) / name, Path(given.keep or folder) / name) for name in sets]
    if found:
        table(["set", "questions", *KINDS, "methods", "CPU ms"], found)


def labelled(folder: Path) -> None:
    """Accuracy and confusion over the labelled questions."""
    index = named(folder, rows(FIXTURE / "router_names.tsv"))
    told = [(kind, choose(question, index), question) for kind, question in rows(FIXTURE / "router.tsv")]
    right = sum(kind == choice.kind for kind, choice, _ in told)
    print(f"{right} of {len(told)} labelled questions are told rightly\n")
    confusion = Counter((kind, choice.kind) for kind, choice, _ in told)
    table(["", *KINDS], [[k, *(confusion[k, other] for other in KINDS)] for k in KINDS])
    for kind, choice, question in told:
        if kind != choice.kind:
            print(f"  {kind} taken as {choice.kind}: {question} ({choice.reason})")
    print()


def counted(name: str, data: Path, root: Path) -> list[object]:
    """How the questions of a data set are told."""
    ready = (root / ".sensegraph").is_dir()
    if not ready and (run := sensegraph("index", str(source(data)), "--root", str(root), "--quiet")).code:
        sys.exit(f"index ended with {run.code}: {run.err}")
    asked = [json.loads(line)["text"] for line in (data / "queries.jsonl").open(encoding="utf-8")]
    with Corpus.open(root, create=False) as corpus:
        index = corpus.index()
        choose("Who?", index)
        before = time.process_time()
        choices = [choose(question, index) for question in asked]
        spent = 1000 * (time.process_time() - before) / len(asked)
    kinds, methods = Counter(c.kind for c in choices), Counter(c.method for c in choices)
    taken = ", ".join(f"{m} {n}" for m, n in methods.most_common())
    return [name, len(asked), *(kinds[k] for k in KINDS), taken, f"{spent:.2f}"]


if __name__ == "__main__":
    main()
