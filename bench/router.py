"""Whether `auto` tells kinds of questions apart.

    python bench/router.py [--data DIR] [--keep DIR] [--set NAME …] [--against]

First the 60 labelled questions of tests/methods/router.tsv, and those of router_more.tsv on other kinds of corpora,
over an index of the names beside them: accuracy, a table of confusion (rows: as labelled), and the questions that were
told wrongly. Then, for each data set, indexed offline (kept
in `--keep`), how many of its questions are of each kind, the methods chosen, and milliseconds of CPU for one choice:
podcast asks about the whole, 2wiki, hotpotqa, musique and multihop-news have two hops or more, lihua-world and xquad
mostly one. `--against` sets `auto` beside always the same method, on the judged questions: recall at 5 documents, the
share of the judged documents that stand in the context, and the context's tokens; and the same for the questions of
one name alone. Rules and labelled questions were written by the same hand: the 60 show what the rules are meant to do,
the other sets what they do elsewhere. What a model would be asked with is chosen without one, as the choice needs none.
"""

from __future__ import annotations

import argparse
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

from hybrid import questions, recall  # noqa: E402
from named import named, rows  # noqa: E402
from sensegraph.corpus.corpus import Corpus  # noqa: E402
from sensegraph.index.index import Index  # noqa: E402
from sensegraph.methods import load_method  # noqa: E402
from sensegraph.methods.auto import Able, Kind, choose_method  # noqa: E402
from sensegraph.types import Evidence, Question  # noqa: E402

FIXTURE = HERE.parent / "tests" / "methods"
SETS = ("podcast", "2wiki", "musique", "hotpotqa", "multihop-news", "lihua-world", "carol", "xquad-en", "xquad-de")
SETS += ("xquad-zh",)
KINDS = get_args(Kind)
ALWAYS = ("hybrid", "local", "bm25", "naive")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", dest="sets", choices=[*SETS, "none"])
    parser.add_argument("--against", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compared(given, Path(given.keep or folder), Path(folder))


def compared(given: argparse.Namespace, keep: Path, folder: Path) -> None:
    """Print what the arguments ask for."""
    labelled(folder / "names")
    sets = [name for name in given.sets or SETS if name != "none"]
    found = [counted(name, Path(given.data) / name, keep / name) for name in sets]
    if found:
        table(["set", "questions", *KINDS, "methods", "with a model", "CPU ms"], found)
    for name in sets if given.against else ():
        if (Path(given.data) / name / "qrels").is_dir():
            against(Path(given.data) / name, keep / name)


def labelled(folder: Path) -> None:
    """Accuracy and confusion over the labelled questions."""
    index = named(folder, rows(FIXTURE / "router_names.tsv"))
    for file in ("router.tsv", "router_more.tsv"):
        confuse(index, rows(FIXTURE / file))


def confuse(index: Index, questions: list[tuple[str, ...]]) -> None:
    """One file of labelled questions."""
    told = [(kind, choose_method(question, index), question) for kind, question in questions]
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
        choose_method("Who?", index)
        before = time.process_time()
        choices = [choose_method(question, index) for question in asked]
        spent = 1000 * (time.process_time() - before) / len(asked)
        models = [choose_method(question, index, Able(model=True)) for question in asked]
    kinds = Counter(c.kind for c in choices)
    taken = [", ".join(f"{m} {n}" for m, n in Counter(c.method for c in of).most_common()) for of in (choices, models)]
    return [name, len(asked), *(kinds[k] for k in KINDS), *taken, f"{spent:.2f}"]


def against(data: Path, root: Path) -> None:
    """`auto` beside always the same method."""
    with Corpus.open(root, create=False) as corpus:
        index, rt = corpus.index(), corpus.runtime()
        rows: dict[str, list[tuple[float, float, int]]] = {name: [] for name in (*ALWAYS, "auto")}
        judged = questions(data)
        choices = [choose_method(text, index) for text, _ in judged]
        for (text, gold), choice in zip(judged, choices, strict=True):
            for name in ALWAYS:
                rows[name].append(judge(load_method(name).retrieve(Question(text), index, rt), gold, index))
            rows["auto"].append(
                rows[choice.method][-1]
                if choice.method in ALWAYS
                else judge(load_method(choice.method).retrieve(Question(text), index, rt), gold, index)
            )
    for label, kept in (("all", None), ("one name", "local")):
        places = [i for i, c in enumerate(choices) if kept in (None, c.kind)]
        if not places:
            continue
        print(f"\n{root.name}, {label}: {len(places)} questions")
        means = {
            name: [sum(x) / len(places) for x in zip(*(found[i] for i in places), strict=True)]
            for name, found in rows.items()
        }
        table(
            ["", "R@5", "in context", "tokens"],
            [[n, f"{a:.1f}", f"{b:.1f}", f"{c:,.0f}"] for n, (a, b, c) in means.items()],
        )


def judge(found: Evidence, gold: frozenset[str], index: Index) -> tuple[float, float, int]:
    """Recall at 5 documents, recall of all that the context shows, and its tokens."""
    chunks = {s.chunk for p in found.passages for s in (*p.sources, *(q.source for q in p.quotes))}
    shown = set(index.documents_of(sorted(chunks)).values())
    return recall(found.documents, gold, 5), 100 * len(gold & shown) / len(gold), found.tokens


if __name__ == "__main__":
    main()
