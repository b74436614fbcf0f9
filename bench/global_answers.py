"""What the offline engine answers to a question about the whole corpus, and what its outline costs.

    python bench/global_answers.py [--data DIR] [--keep DIR] [--question TEXT] CORPUS…

CORPUS is a test collection (a folder with `corpus.jsonl`, below --data or by its path), a folder of documents, or
`demo`. Prints the answer to read, the CPU milliseconds of the question, the CPU seconds that the outline adds to an
index and those of the whole index. Indexes are kept below --keep and built once.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "src" / "sensegraph" / "data" / "demo"
WITHOUT = ["graph", "reports", "concepts", "names"]


def add_documents(corpus: Corpus, folder: Path) -> None:
    """The records of a test collection, or the files of a folder."""
    if (folder / "corpus.jsonl").exists():
        lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
        corpus.add([Document(page["_id"], page["text"], page["title"]) for page in map(json.loads, lines)])
        return
    for path in sorted(p for p in folder.iterdir() if p.is_file() and not p.is_symlink()):
        if path.suffix:
            corpus.add(path)
        else:  # licences have no ending that tells what they are
            corpus.add(Document(path.name, path.read_text(encoding="utf-8", errors="replace"), path.name))


def show_answer(name: str, folder: Path, keep: Path, question: str) -> None:
    """Build what is missing, ask, and print."""
    root = keep / name
    spent = []
    for parts in (WITHOUT, [*WITHOUT, "outline"]):
        with Corpus.open(root, settings={"engine": "offline", "index": {"parts": parts}}) as corpus:
            begun = time.process_time()
            if not corpus.document_keys():
                add_documents(corpus, folder)
            corpus.build()
            spent.append(time.process_time() - begun)
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        corpus.query("What are the main subjects of these texts?")  # loads what every question needs
        begun = time.process_time()
        answer = corpus.query(question)
        asked = time.process_time() - begun
    print(f"== {name}: {1000 * asked:.0f} ms of CPU for the question; index {spent[0]:.1f} s, outline {spent[1]:.2f} s")
    print(f"{answer.text}\n")


def main() -> None:
    """Each corpus in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--question", default="What are the main themes?")
    parser.add_argument("corpora", nargs="+")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        for name in given.corpora:
            place = DEMO if name == "demo" else given.data / name if (given.data / name).is_dir() else Path(name)
            show_answer(Path(name).name, place, given.keep or Path(folder), given.question)


if __name__ == "__main__":
    main()
