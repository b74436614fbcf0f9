"""What one more document costs: calls by step, reports written anew, communities that stay, wall time.

    python bench/update.py [--data DIR] [--corpus podcast] [--documents N]

Indexes all documents but the last over the scripted server, adds the last, builds, collects, and prints for the first
build, the update and the collection what was asked of the model by step, and how long it took. Then takes it out again.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import Server, chosen, options, prepared, serving, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import Built
from sensegraph.index.hierarchy.communities import count_fates

HEAD = "what,chunks,extraction,summary,report,embedding,reports in all,% asked for,texts that differ,wall s".split(",")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--documents", type=int, default=0, help="how many documents to take (0: all)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        with Corpus.open(prepared(Path(folder) / "read", server)) as reader:
            reader.add(chosen(given))
            *documents, last = list(reader.documents())[: given.documents or None]
        with Corpus.open(prepared(Path(folder) / "life", server)) as corpus:
            life = Life(corpus, server)
            rows = [
                life.row("first build", lambda: corpus.add(documents)),
                life.row("one added", lambda: corpus.add(last)),
                life.row("nothing changed", lambda: None),
                life.row("one removed", lambda: corpus.remove(last.id)),
            ]
            table(HEAD, rows)
            print("\n".join(life.fates))
            print(collected(corpus))


class Life:
    """One corpus and what happens to it."""

    def __init__(self, corpus: Corpus, server: Server) -> None:
        self.corpus, self.server, self.fates = corpus, server, list[str]()
        self.reports = Counter[str]()

    def row(self, name: str, change: Callable[[], object]) -> list[Any]:
        self.server.reset()
        change()
        started = time.perf_counter()
        built: Built = self.corpus.build()
        wall = time.perf_counter() - started
        asked = self.server.stats()["tasks"]
        clusters = self.corpus.index().hierarchy.clusters
        now = Counter(f"{c.title}\n{c.text}" for c in clusters)
        anew = (now - self.reports).total()
        self.reports = now
        told = ", ".join(f"{n} {kind}" for kind, n in count_fates(built.fates).items())
        self.fates += [f"communities, {name}: {told}"] if told else []
        asks = [asked.get(task, 0) for task in ("extraction", "summary", "report", "embedding")]
        share = f"{100 * asks[2] / len(clusters):.1f}"
        return [name, built.counts["chunks"], *asks, len(clusters), share, anew, f"{wall:.1f}"]


def collected(corpus: Corpus) -> str:
    """What a collection frees after all that."""
    started = time.perf_counter()
    found = corpus.collect()
    total, wall = found.total, time.perf_counter() - started
    return (
        f"collect: {total.objects:,} objects, {total.tables:,} tables, {total.arrays:,} arrays; on disk "
        f"{found.before / 1e6:,.1f} MB before, {found.after / 1e6:,.1f} MB after; {wall:.1f} s"
    )


if __name__ == "__main__":
    main()
