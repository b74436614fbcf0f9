"""Whether the label of a relation reads right from its source to its target: relations drawn to be read by hand.

    python bench/directions.py musique multihop-news > drawn.tsv      # 50 of each set, with the sentence
    python bench/directions.py --folder /usr/share/doc/git            # of the texts of a folder
    python bench/directions.py --read                                 # what was found in bench/grades/directions.tsv

Each line is a relation that the offline engine calls directed: source, label, target and the sentence that tells it.
Read each as a sentence and write `right` or `wrong` before it: is the source the subject, and does the label lead to
the target?
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sensegraph import Corpus
from sensegraph.types import Document

GRADES = Path(__file__).parent / "grades" / "directions.tsv"
_MOST = 250  # documents of a set


def read_set(folder: Path, random_: random.Random) -> list[Document]:
    """Some documents of a measuring set."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    chosen = random_.sample(rows, min(_MOST, len(rows)))
    return [Document(row["_id"], row["text"], row.get("title", "")) for row in chosen]


def draw_relations(documents: Sequence[Document], count: int, random_: random.Random) -> list[tuple[str, ...]]:
    """Source, label, target and sentence of some directed relations."""
    with tempfile.TemporaryDirectory() as root, Corpus.open(root, settings={"engine": "offline"}) as corpus:
        corpus.add(documents)
        corpus.build(parts=["graph"])
        graph = corpus.index().graph
        names = {e.id: e.name for e in graph.entities}
        directed = [r for r in graph.relations if r.directed]
        drawn = []
        for r in random_.sample(directed, min(count, len(directed))):
            said = next((d.text for d in r.descriptions if r.label in d.text), r.descriptions[0].text)
            drawn.append((names[r.source], r.label, names[r.target], " ".join(said.split())))
        return drawn


def count_grades() -> None:
    """Print how many of the relations that were read are right, by kind of text."""
    rows = [line.split("\t") for line in GRADES.read_text("utf-8").splitlines()]
    for kind in dict.fromkeys(row[1] for row in rows):
        found = Counter(row[0] for row in rows if row[1] == kind)
        print(f"{kind}: {found['right']} of {found.total()} right")
    print(f"together: {sum(row[0] == 'right' for row in rows)} of {len(rows)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data", default=os.environ.get("SENSEGRAPH_DATA", "../shared/data"))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read", action="store_true")
    given = parser.parse_args()
    if given.read:
        count_grades()
        return
    chance = random.Random(given.seed)
    kinds = {name: read_set(Path(given.data) / name, chance) for name in given.sets}
    if given.folder:
        files = sorted(p for p in given.folder.rglob("*") if p.is_file() and p.suffix in (".txt", ".md", ""))
        kinds["documentation"] = [
            Document(str(i), p.read_text("utf-8", errors="replace")[:60_000], p.stem)
            for i, p in enumerate(chance.sample(files, min(60, len(files))))
        ]
    for kind, documents in kinds.items():
        for row in draw_relations(documents, given.count, chance):
            print("\t".join(("", kind, *row)))


if __name__ == "__main__":
    main()
