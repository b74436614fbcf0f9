"""What is read again when a small document comes: `python bench/rereading.py [--data DIR] [--set podcast]`.

The documents but the last are extracted by the offline engine; then sentences of the last come one at a time, each a
document of its own beside the others. Printed are CPU seconds and computed items by step for the first extraction, for
each sentence (the median and the worst), and for an extraction where nothing changed; and what travels with a section.
`--folder DIR` takes the text files of a folder instead of a set; records of a set with one title are one document.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.index import surveying
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.extraction import extract_all
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document

STEPS = [f"extraction.{name}" for name in ("observe", "count", "learn", "tell", "told", "read")]


class Timed(Runtime):
    """A runtime that says what each step took."""

    spent: dict[str, float] = {}  # noqa: RUF012

    def each(self, step, *given, **more):  # type: ignore[no-untyped-def]
        return self._timed(super().each, step, given, more)

    def once(self, step, *given, **more):  # type: ignore[no-untyped-def]
        return self._timed(super().once, step, given, more)

    def _timed(self, run, step, given, more):  # type: ignore[no-untyped-def]
        before, inner = time.process_time(), sum(self.spent.values())
        found = run(step, *given, **more)
        here = time.process_time() - before - (sum(self.spent.values()) - inner)
        self.spent[step.name] = self.spent.get(step.name, 0.0) + here
        return found


def extract(documents: Sequence[Document], store: SqliteStore) -> tuple[dict[str, float], Counter[str]]:
    """CPU seconds by step, and how many items each computed."""
    rt = Timed(ClassicalEngine(), HashedTerms(), store, SerialExecutor())
    rt.spent.clear()
    for _ in extract_all(rt.each(chunk_documents, documents, size=600, overlap=100), rt):
        pass
    return dict(rt.spent), rt.computed


def show(what: str, spent: dict[str, float], computed: Counter[str]) -> None:
    parts = ", ".join(f"{s.split('.')[1]} {spent.get(s, 0.0):.2f} ({computed[s]})" for s in STEPS)
    print(f"{what}: {sum(spent.get(s, 0.0) for s in STEPS):.2f} CPU s; {parts}")


def documents(given: argparse.Namespace) -> list[Document]:
    if given.folder:
        paths = sorted(p for p in given.folder.rglob("*") if p.is_file())
        return [Document(str(p), p.read_text(encoding="utf-8", errors="replace"), p.name) for p in paths]
    texts: dict[str, list[str]] = defaultdict(list)
    with (given.data / given.set / "corpus.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts[record.get("title") or record["_id"]].append(record["text"])
    return [Document(title, "\n".join(held), title) for title, held in texts.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--set", default="podcast")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sentences", type=int, default=10)
    given = parser.parse_args()
    *held, last = documents(given)
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", last.text) if 70 < len(s) < 140]
    told: list[int] = []
    tell = surveying.Told.at
    surveying.Told.at = lambda self, at: [told.append(len(pickle.dumps(x[-1]))) or x for x in tell(self, at)]
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(folder)
        print(f"{len(held)} documents, {sum(len(d.text) for d in held) / 1e6:.2f} M characters")
        show("first", *extract(held, store))
        print(f"entries that travel with a section: {mean(told) / 1e3:.0f} kB, at most {max(told) / 1e3:.0f}")
        chosen = sentences[:: max(1, len(sentences) // given.sentences)][: given.sentences]
        runs = [(s, *extract([*held, Document("new", s, "new")], store)) for s in chosen]
        again = [computed["extraction.read"] - 1 for _, _, computed in runs]
        print(f"read again: {again}, on average {mean(again):.1f} = {100 * mean(again) / len(held):.1f} %")
        runs.sort(key=lambda run: sum(run[1].get(s, 0.0) for s in STEPS))
        print(f"median {median(sum(spent.get(s, 0.0) for s in STEPS) for _, spent, _ in runs):.2f} CPU s")
        for name, run in (("middle", runs[len(runs) // 2]), ("worst", runs[-1])):
            show(f"{name} ({' '.join(run[0].split())[:60]})", *run[1:])
        show("nothing changed", *extract(held, store))


if __name__ == "__main__":
    main()
