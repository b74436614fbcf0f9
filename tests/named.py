"""An index whose graph is written by hand: names and types as a table gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.build import publish_manifest
from sensegraph.index.graph import lookups
from sensegraph.index.graph import merging as graph
from sensegraph.index.index import Index
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import save_result
from sensegraph.types import Document, Entity, Graph, Hierarchy

Named = tuple[str, str]


def rows(path: Path) -> list[tuple[str, str]]:
    """The two columns of a table, without its head."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [(first, second) for first, _, second in (line.partition("\t") for line in lines)]


def named(folder: Path, names: Sequence[Named], *, reports: bool = True) -> Index:
    """An index with an entity for each name and type, and one document that is about nothing."""
    with Corpus.open(folder, settings={"engine": "offline", "index": {"parts": []}}) as corpus:
        corpus.add(Document("note", "The door was green, and nobody remembered who had painted it."))
        corpus.build()
        rt = corpus.runtime()
        known = Graph(tuple(sorted((_entity(*n) for n in names), key=lambda e: e.id)))
        save_result(rt.store, graph.describe_graphs, "known", known)
        save_result(rt.store, lookups.build_lookups, "found", lookups.build_lookups.fn([(known, Hierarchy())])[0])
        said = corpus.index().manifest
        publish_manifest(replace(said, graph="known", lookups="found", hierarchy="told" if reports else ""), rt)
    return Corpus.open(folder, create=False).index()


def _entity(name: str, kind: str) -> Entity:
    return Entity(key(name, kind)[:20], name, kind, f"{name} is a {kind}.", (), (), 1, 0)
