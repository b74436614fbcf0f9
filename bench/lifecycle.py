"""What an update costs, and whether it equals building again.

    python bench/lifecycle.py [--data DIR] [--corpus qmsum | --corpus FOLDER] [--extra FILE] [--documents N]

Builds, builds again, adds one document, removes it, edits one: model calls, items computed, reports rewritten (count
and share of all), modularity against clustering afresh, and whether the index equals one that was built in an empty
folder (without the hierarchy, which may go on from the earlier communities; with `--fresh` the hierarchy too).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from client import Server, chosen, content, options, prepared, serving, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.build import publish_manifest
from sensegraph.types import Cluster, Document

EXACT = ("documents", "chunks", "entities", "relations", "vectors")


def main() -> None:
    parser = options(__doc__, "qmsum")
    parser.add_argument("--extra", default="", help="the document to add; else the last of the corpus is kept back")
    parser.add_argument("--documents", type=int, default=0, help="how many documents to take (0: all)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        with Corpus.open(prepared(Path(folder) / "read", server)) as reader:
            reader.add(chosen(given))
            documents = list(reader.documents())[: given.documents or None]
            if given.extra:
                reader.add(given.extra)
                extra = next(d for d in reader.documents() if d.id == Path(given.extra).name)
            else:
                extra = documents.pop()
        table(HEAD, Life(Path(folder), server, documents, extra).rows())


HEAD = (
    "what,model calls,embedding calls,computed,chunks read,reports,rewritten,% of all,modularity ÷ fresh,"
    "equals fresh build,with --fresh"
).split(",")


class Life:
    """One corpus and what happens to it, in order."""

    def __init__(self, folder: Path, server: Server, documents: list[Document], extra: Document) -> None:
        self.folder, self.server, self.documents, self.extra = folder, server, documents, extra
        self.corpus = Corpus.open(prepared(folder / "life", server))

    def rows(self) -> list[list[object]]:
        first = self.documents[len(self.documents) // 2]
        half = len(first.text) // 2
        edited = replace(first, text=first.text[:half] + " Nobody had expected that. " + first.text[half:])
        changed = [edited if d.id == first.id else d for d in self.documents]
        return [
            self._step("build", lambda: self.corpus.add(self.documents), self.documents),
            self._step("build again", lambda: None, self.documents),
            self._step("add one", lambda: self.corpus.add(self.extra), [*self.documents, self.extra]),
            self._step("remove it", lambda: self.corpus.remove(self.extra.id), self.documents),
            self._step("edit one", lambda: self.corpus.add(edited), changed),
        ]

    def _step(self, name: str, change: Callable[[], object], expected: list[Document]) -> list[object]:
        before = self._reports()
        change()
        self.server.reset()
        built = self.corpus.build()
        tasks = self.server.stats()["tasks"]
        after = self._reports()
        rewritten = sum(after[k] != before.get(k) for k in after)
        embedding = tasks.pop("embedding", 0)
        row = [name, sum(tasks.values()), embedding, sum(built.computed.values()), tasks.get("extraction", 0)]
        row += [tasks.get("report", 0), rewritten, f"{100 * rewritten / len(after):.1f}"]
        return [*row, *self._against(expected)]

    def _against(self, expected: list[Document]) -> list[object]:
        """Against an index of the same documents that was built in an empty folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            with Corpus.open(prepared(Path(place), self.server)) as other:
                other.add(expected)
                other.build()
                best = other.index().hierarchy.modularity
            wanted = content(Path(place))
        quality = self.corpus.index().hierarchy.modularity / best if best else 1.0
        exact = _equal(content(self.corpus.root), wanted, EXACT)
        copy = self.corpus.index().manifest  # the life goes on from the updated hierarchy
        self.corpus.build(fresh=True)
        whole = _equal(content(self.corpus.root), wanted, tuple(wanted))
        self._restore(copy)
        return [f"{quality:.4f}", exact, whole]

    def _restore(self, manifest: Any) -> None:
        publish_manifest(manifest, self.corpus.runtime())

    def _reports(self) -> dict[str, str]:
        if not self.corpus.status().counts:
            return {}
        return {c.id: _report(c) for c in self.corpus.index().hierarchy.clusters}


def _report(cluster: Cluster) -> str:
    return f"{cluster.title}\n{cluster.text}"


def _equal(one: dict[str, Any], other: dict[str, Any], names: tuple[str, ...]) -> str:
    wrong = [n for n in names if one[n] != other[n]]
    return "yes" if not wrong else "no: " + ", ".join(wrong)


if __name__ == "__main__":
    main()
