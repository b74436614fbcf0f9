"""What a page of `sensegraph show reports` and `sensegraph show entity` costs, on indexes of growing size.

    python bench/reading.py [--entities 10000 100000 …] [--depths 0 9]

The indexes are made up: entities in planted groups with ten relations each, a claim for every fifth, one chunk for
every ten, reports of a few sentences; clustered as any graph is. Prints CPU milliseconds of one call on a freshly
opened index (the median of five), and the size of what it shows.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from client import table
from sensegraph.index.browse import elements as browse
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.graph import lookups
from sensegraph.index.graph import merging as graph
from sensegraph.index.hierarchy import reports
from sensegraph.index.hierarchy.communities import ClusterSettings, group_entities
from sensegraph.index.index import Index, keep_documents
from sensegraph.index.manifest import REF, Catalogue, ChunkEntry, DocumentEntry, Manifest, list_catalogue
from sensegraph.language.text import count_tokens
from sensegraph.runtime.keys import chunk_id, key
from sensegraph.runtime.results import save_result
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import (
    Chunk,
    Claim,
    Cluster,
    Description,
    Document,
    Entity,
    Finding,
    Graph,
    Hierarchy,
    Relation,
    Source,
    Statement,
)

SAID = "Number {0} met number {1} at the harbour, and they spoke of the price of lamps for most of an evening."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, nargs="+", default=[10_000, 100_000])
    for n in parser.parse_args().entities:
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder))
            made(store, n)
            index = Index(store)
            print(f"\n{index.manifest.counts}, communities by depth {index.manifest.clusters}")
            table(["call", "CPU ms", "shown"], [measured(name, call, store) for name, call in calls(index).items()])
            store.close()


def calls(index: Index) -> dict[str, Callable[[Index], Any]]:
    """What is measured: on the report with most entities, one at the leaves, and the entity with most neighbours."""
    top = max(index.clusters_at(0), key=lambda c: len(c.entities))
    leaf = max(index.clusters_at(99), key=lambda c: (c.depth, len(c.entities)))
    name = index.lookups.name(int(np.argmax(index.lookups.degree)))
    return {
        "list of depth 0": lambda i: browse.list_reports(i, 0),
        "list of the deepest": lambda i: browse.list_reports(i, 99),
        "largest report, 20 chunks": lambda i: browse.read_report(i, top.id, 20).entities,
        "report at a leaf": lambda i: browse.read_report(i, leaf.id, 20).entities,
        "the same by a beginning of its id": lambda i: browse.read_report(i, leaf.id[:10], 20).entities,
        "entity": lambda i: browse.read_entity(i, browse.find_entities(i, name)[0]).neighbours,
        "entity that is unknown": unknown,
    }


def unknown(index: Index) -> str:
    try:
        browse.find_entities(index, "Nmuber 17")
    except browse.InputError as e:
        return str(e)
    raise AssertionError("it was found")


def measured(name: str, call: Callable[[Index], Any], store: SqliteStore) -> list[object]:
    spent = []
    for _ in range(5):
        begun = time.process_time()
        found = call(Index(store))
        spent.append(time.process_time() - begun)
    return [name, f"{1000 * statistics.median(spent):.1f}", f"{len(found):,}"]


# ── an index that nobody had to read for ──


def made(store: SqliteStore, n: int) -> None:
    """Write an index of `n` entities."""
    chunks = [_chunk(i) for i in range(n // 10)]
    whole = _graph(n, [c.id for c in chunks])
    found = group_entities(whole, None, ClusterSettings())
    reported = _hierarchy(list(found.groups), found.modularity, whole)
    depths = tuple(np.bincount([c.depth for c in reported.clusters]).tolist())
    save_result(store, graph.describe_graphs, "graph", whole)
    save_result(store, reports.keep_hierarchy, "hierarchy", reported)
    save_result(store, lookups.build_lookups, "lookups", lookups.build_lookups.fn([(whole, reported)])[0])
    save_result(store, list_catalogue, "documents", _catalogue(store, chunks))
    counts = {"documents": len(chunks), "chunks": len(chunks), "entities": n}
    counts |= {"relations": len(whole.relations), "claims": len(whole.claims)}
    parts = {"documents": "documents", "graph": "graph", "hierarchy": "hierarchy", "lookups": "lookups"}
    empty = dict.fromkeys(("chunks", "words", "vectors", "engine", "embedder", "vectors_by", "settings"), "")
    store.write({"index": msgspec.json.encode(Manifest(**parts, **empty, counts=counts, clusters=depths))})
    store.set_refs({REF: "index"})


def _chunk(i: int) -> Chunk:
    text = " ".join(SAID.format(j, j + 1) for j in range(10 * i, 10 * i + 10))
    return Chunk(chunk_id(f"d{i}", 0, text), f"d{i}", 0, len(text), count_tokens(text), text)


def _catalogue(store: SqliteStore, chunks: list[Chunk]) -> Catalogue:
    documents = [Document(c.document, c.text) for c in chunks]
    store.write({f"document {d.id}": keep_documents.encode(d) for d in documents})
    store.write({f"chunks {c.document}": chunk_documents.encode((c,)) for c in chunks})
    listed = tuple(DocumentEntry(d.id, f"document {d.id}", "", "", ()) for d in documents)
    return Catalogue(listed, tuple(ChunkEntry(c.id, c.document, f"chunks {c.document}", 0, c.tokens) for c in chunks))


def _graph(n: int, chunks: list[str]) -> Graph:
    """Half of each entity's relations lead to one of its ten, a third to one of its thousand, the rest anywhere."""
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(n), 5)
    reach = rng.choice([10, 1000, n], len(source), p=[0.5, 0.35, 0.15])
    target = np.minimum(source // reach * reach + (rng.random(len(source)) ** 2 * reach).astype(int), n - 1)
    pairs = sorted({(min(a, b), max(a, b)) for a, b in zip(source.tolist(), target.tolist(), strict=True) if a != b})
    degree = np.bincount(np.array(pairs).ravel(), minlength=n)
    said = [Description(SAID.format(i, i + 1), Source(chunks[i // 10 % len(chunks)], 0, 90)) for i in range(n)]
    entities = [_entity(i, said[i], int(degree[i])) for i in range(n)]
    relations = [_relation(a, b, said[a]) for a, b in pairs]
    claims = [
        Claim(f"c{i:09}", f"e{i:09}", "none", "price", "TRUE", said[i].text, "", "", said[i].source)
        for i in range(0, n, 5)
    ]
    return Graph(tuple(entities), tuple(relations), tuple(claims))


def _entity(i: int, said: Description, degree: int) -> Entity:
    return Entity(f"e{i:09}", f"Number {i}", "thing", said.text, (said,), (said.source.chunk,), 1, degree)


def _relation(a: int, b: int, said: Description) -> Relation:
    name = f"r{a:09}{b:09}"
    return Relation(name, f"e{a:09}", f"e{b:09}", said.text, (said,), 1.0, (said.source.chunk,))


def _hierarchy(groups: list[Any], modularity: float, whole: Graph) -> Hierarchy:
    said = {e.id: e.descriptions[0] for e in whole.entities}
    level: dict[str, int] = {}
    for g in sorted(groups, key=lambda g: -g.depth):
        level[g.id] = 1 + max((level[c] for c in g.children), default=-1)
    clusters = [_cluster(g, level[g.id], [said[e] for e in g.entities[:6]]) for g in groups]
    return Hierarchy(tuple(sorted(clusters, key=lambda c: (c.depth, c.id))), modularity)


def _cluster(g: Any, level: int, said: list[Description]) -> Cluster:
    told = tuple(Statement(d.text, sources=(d.source,)) for d in said)
    return Cluster(
        id=g.id,
        level=level,
        depth=g.depth,
        parent=g.parent,
        members=g.children or g.entities,
        entities=g.entities,
        title=f"Around {key(g.id)[:6]}",
        summary=told[:2],
        findings=tuple(Finding("They met", (s,)) for s in told),
        rating=len(g.entities) % 10,
        documents=len(g.entities),
    )


if __name__ == "__main__":
    main()
