"""Whether every answer comes from one index, while it is built anew and collected again and again.

    python bench/readers.py [--questions 1000] [--stores file,database]

A reader, which is a process with a store of its own, asks one question after the other. Meanwhile this process changes
all documents, builds and collects, so that passages of two indexes cannot stand together in one answer unseen. Printed
are the questions, those that failed, answers from more than one index, the indexes that were answered from, and the
builds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from databases import corpus_url
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document

_READER = """
import json, sys
folder, given, questions, sys.path[:0] = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
from pathlib import Path
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError
answers, failed = [], []
with Corpus.open(Path(folder), settings=given, create=False) as corpus:
    print("open", flush=True)
    while len(answers) + len(failed) < questions or answers[-1] == answers[0] and len(answers) < 100 * questions:
        try:
            passages = corpus.search("Who is the keeper of the light?", method="bm25", top=4).passages
            answers.append([p.text.partition(" Stone")[0].rpartition(" ")[2] for p in passages])
        except SensegraphError as e:
            failed.append(str(e))
Path(folder, "read.json").write_text(json.dumps([answers, failed]))
"""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader got: the questions, what failed, answers that mix indexes or are cut short, indexes, builds."""

    questions: int
    failed: tuple[str, ...]
    mixed: int
    indexes: int
    builds: int


def ask_while_building(folder: Path, store: dict[str, Any], questions: int) -> Read:
    """Ask so many questions of a corpus in `folder`, or in the database that `store` names, while it is changed.

    Where the first index is still there after all of them, more are asked until another is.
    """
    given: dict[str, Any] = {"engine": "offline", "index": {"parts": ["graph"]}, "processes": 1}
    given |= {"store": store} if store else {}
    with Corpus.open(folder, settings=given) as corpus:

        def build(version: int) -> None:
            corpus.add(
                Document(f"{n}", f"The keeper of light {n} is Ada{version} Stone since {1800 + version}.")
                for n in range(4)
            )
            corpus.build()
            corpus.collect()

        build(0)
        command = [sys.executable, "-c", _READER, str(folder), json.dumps(given), str(questions), *sys.path]
        builds = 1
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            reader.stdout.readline()
            while reader.poll() is None:
                build(builds)
                builds += 1
        answers, failed = json.loads((folder / "read.json").read_text())
    mixed = sum(len(names) != 4 or len(set(names)) != 1 for names in answers)
    return Read(len(answers) + len(failed), tuple(failed), mixed, len({n for names in answers for n in names}), builds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--stores", default="file,database")
    given = parser.parse_args()
    print("| store | questions | failed | from several indexes | indexes | builds |\n|---|---:|---:|---:|---:|---:|")
    for kind in given.stores.split(","):
        with tempfile.TemporaryDirectory(prefix="sensegraph-readers-") as place:
            folder = Path(place)
            store = {} if kind == "file" else {"url": corpus_url(folder), "cache": str(folder / "copies")}
            found = ask_while_building(folder, store, given.questions)
            row = (kind, found.questions, len(found.failed), found.mixed, found.indexes, found.builds)
            print(f"| {' | '.join(map(str, row))} |", flush=True)
            print(*found.failed[:3], sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
