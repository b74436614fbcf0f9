"""How long patterns over the graph take: on an index of real texts, and on a large one that is made up.

    python bench/matching.py [--data DIR] [--corpus podcast | --root DIR] [--entities 100000] [--relations 500000]

The first index is built offline from `--corpus` (or is that of `--root`), the second put into a store without reading
any text: seven types, nineteen labels, ends drawn so that few entities have most relations, as in texts. The first
query of all reads the whole graph; a later process finds that in the store. The table gives every query twice in one
process: as it comes, and again; seconds are those of the CPU. What SQLite takes for three of the joins stands below.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from sensegraph.corpus.corpus import Corpus
from sensegraph.graphs.match.facets import collect_facets
from sensegraph.graphs.match.shelf import GraphReader
from sensegraph.index.build import publish_manifest
from sensegraph.index.graph.lookups import find_lookups
from sensegraph.index.graph.merging import describe_graphs
from sensegraph.runtime.results import Result, load_result, save_result
from sensegraph.types import Claim, Description, Document, Entity, Graph, Relation, Source

TYPES = ("person", "organization", "place", "event", "work", "concept", "product")
LABELS = (
    "founded advised funded visited wrote criticised joined left married taught hired met praised sued built owns "
    "leads knows quoted inspired"
).split()
_FIRST = "Ada Bram Cora Dirk Elsa Finn Gwen Hugo Iris Joss Kara Lars Adalyn Bramus Coralyn Dirkus Elsalyn".split()
_LAST = "Harrow Fenwick Stone Millar Quay Berg Lind Holm Harrowson Stoneford Millarley Quayford Bergson".split()
_SAID = "Ada Lovelace met Charles Babbage in London. "
REAL = (
    ("one hop, by name", "(a {name: $name})-[r]-(b) RETURN a.name, r.description, b.name"),
    ("one hop, by types", "(p:Person)-[r]-(o:Organization) RETURN p.name, o.name ORDER BY r.weight DESC LIMIT 9"),
    ("one hop, told one way", "(p:Person)-[r]->(o:Organization) WHERE r.directed RETURN p.name, o.name LIMIT 20"),
    ("one hop, words in texts", "(p:Person)-[r]-(o) WHERE r.description CONTAINS 'found' RETURN p.name, o.name"),
    ("one hop, regular expression", "(p:Person)-[r]-(o) WHERE r.description =~ '.*found(ed|s|er).*' RETURN count(*)"),
    ("two hops, by types", "(p:Person)--(o:Organization)--(q:Person) RETURN o, count(*) AS n ORDER BY n DESC LIMIT 9"),
    ("two hops, by name", "(a {name: $name})-[*1..2]-(b:Person) RETURN b.name, count(*) AS n ORDER BY n DESC LIMIT 9"),
    ("three hops, by two names", "p = (a {name: $name})-[*1..3]-(b {name: $other}) RETURN length(p), count(*)"),
    ("all relations, counted", "(a)-[r]-(b) RETURN a.type, b.type, count(*), avg(r.weight) ORDER BY count(*) DESC"),
    ("claims by type", "(k:Claim)-[:ABOUT]->(a) RETURN a.type, k.type, count(*) AS n ORDER BY n DESC LIMIT 10"),
)  # fmt: skip
LARGE = (*REAL[:3], ("one hop, by label", "(p:Person)-[:FOUNDED]->(o:Organization) RETURN count(*)"), *REAL[3:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--corpus", default="podcast")
    parser.add_argument("--root", type=Path)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--relations", type=int, default=500_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = given.root or real(Path(folder) / "real", given.data / given.corpus)
        measured(root, REAL)
        root = Path(folder) / "large"
        large(root, given.entities, given.relations)
        measured(root, LARGE)
        compared(root)


def real(root: Path, texts: Path) -> Path:
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        corpus.add(texts)
        corpus.build()
    return root


# ── measuring ──


def measured(root: Path, queries: Sequence[tuple[str, str]]) -> None:
    """The table of one index."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        firsts = [pool.apply(first, (root,)) for _ in range(2)]
        counts, rows = pool.apply(table, (root, queries))
    print(f"\n{counts['entities']:,} entities, {counts['relations']:,} relations, {counts['claims']:,} claims")
    print(f"the first query of all: {firsts[0]:.2f} s; of a later process: {firsts[1]:.3f} s")
    print("| query | combinations | rows | CPU s | again |\n|---|---|---|---|---|")
    for row in rows:
        print("| {} | {} | {} | {:.3f} | {:.3f} |".format(*row), flush=True)


def first(root: Path) -> float:
    """Seconds from opening an index to the first rows."""
    began = time.process_time()
    with Corpus.open(root) as corpus:
        corpus.match("(a:Person)-[r]->(b:Place)", returned="a.name, b.name", limit=10)
    return time.process_time() - began


def table(root: Path, queries: Sequence[tuple[str, str]]) -> tuple[dict[str, int], list[tuple[object, ...]]]:
    """Every query twice."""
    with Corpus.open(root) as corpus:
        counts = corpus.index().manifest.counts
        names = known(corpus)
        rows = []
        for called, text in queries:
            seconds, found = [], None
            for _ in range(2):
                began = time.process_time()
                found = corpus.match(text, parameters=names, seconds=120.0, most=10_000_000)
                seconds.append(time.process_time() - began)
            most = max(int(s.rsplit(": ", 1)[1].split()[0].replace(",", "")) for s in found.steps)
            rows.append((called, most, found.found, *seconds))
    return counts, rows


def known(corpus: Corpus) -> dict[str, str]:
    """The best known person and organization."""
    query = "(a:{}) RETURN a.name ORDER BY a.degree DESC LIMIT 1"
    return {
        "name": str(corpus.match(query.format("Person")).rows[0][0]),
        "other": str(corpus.match(query.format("Organization")).rows[0][0]),
    }


# ── the same in SQL ──

JOIN = "node a JOIN edge e ON e.near = a.id JOIN node b ON b.id = e.far"
BOTH = "a.type = 'person' AND b.type = 'organization'"
SQL = (
    ("one hop, by types", f"SELECT a.id, b.id FROM {JOIN} WHERE {BOTH} ORDER BY e.weight DESC"),
    (
        "two hops, by types",
        f"SELECT b.id, count(*) AS n FROM {JOIN} JOIN edge f ON f.near = b.id JOIN node c ON c.id = f.far "
        f"WHERE {BOTH} AND c.type = 'person' AND e.id <> f.id GROUP BY b.id ORDER BY n DESC LIMIT 9",
    ),
    ("all relations, counted", f"SELECT a.type, b.type, count(*), avg(e.weight) FROM {JOIN} GROUP BY a.type, b.type"),
)


def compared(root: Path) -> None:
    """What SQLite takes for the same joins over tables in memory, which would first have to be filled."""
    with Corpus.open(root) as corpus:
        shelf = shelf_of(corpus)
        db = sqlite3.connect(":memory:")
        began = time.process_time()
        db.execute("CREATE TABLE node (id INTEGER PRIMARY KEY, type TEXT)")
        db.execute("CREATE TABLE edge (near INTEGER, far INTEGER, id INTEGER, weight REAL)")
        kinds = [shelf.facets.types[k] for k in shelf.facets.kinds.tolist()]
        db.executemany("INSERT INTO node VALUES (?, ?)", enumerate(kinds))
        source, target = (ends.tolist() for ends in shelf.ends)
        rows = list(zip(source, target, range(len(source)), shelf.facets.weights.tolist(), strict=True))
        db.executemany("INSERT INTO edge VALUES (?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO edge VALUES (?, ?, ?, ?)", ((b, a, i, w) for a, b, i, w in rows))
        db.execute("CREATE INDEX nearby ON edge (near)")
        db.execute("CREATE INDEX kind ON node (type)")
        db.execute("ANALYZE")
        print(f"\nin SQLite, after filling its tables in {time.process_time() - began:.1f} s:")
        for called, text in SQL:
            began = time.process_time()
            db.execute(text).fetchall()
            print(f"| {called} | {time.process_time() - began:.3f} |", flush=True)


def shelf_of(corpus: Corpus) -> GraphReader:
    found = (
        corpus.runtime()
        .once(collect_facets, lambda: corpus.index().graph, names=(corpus.index().manifest.graph,))
        .value
    )
    return GraphReader(corpus.index(), found, found)


# ── a large index ──


def large(root: Path, entities: int, relations: int) -> None:
    """Publish an index of a graph that is made up."""
    with Corpus.open(
        root, settings={"engine": "offline", "index": {"parts": [], "chunk_tokens": 12, "chunk_overlap": 0}}
    ) as corpus:
        corpus.add([Document(f"text {i}", _SAID * 50) for i in range(200)])
        corpus.build()
        chunks = [c.id for c in corpus.index().catalogue.chunks]
        rt, made = corpus.runtime(), drawn(chunks, entities, relations)
        save_result(rt.store, describe_graphs, "large", made)
        known_graph = Result("large", load_result(rt.store, describe_graphs, "large"))
        counts = {"entities": entities, "relations": len(made.relations), "claims": len(made.claims)}
        before = corpus.index().manifest
        found = find_lookups(known_graph, None, rt)
        publish_manifest(replace(before, graph="large", lookups=found.key, counts={**before.counts, **counts}), rt)


def drawn(chunks: Sequence[str], count: int, relations: int) -> Graph:
    random = Random(7)
    ids = [f"{i:08x}" for i in range(count)]
    names = [f"{random.choice(_FIRST)} {random.choice(_LAST)} {i}" for i in range(count)]
    kinds = random.choices(TYPES, (30, 15, 20, 5, 5, 20, 5), k=count)
    pairs = list(ends(count, relations))
    degree = np.bincount(np.asarray(pairs).ravel(), minlength=count).tolist()

    def said(text: str, i: int) -> tuple[Description, ...]:
        return (Description(text, Source(chunks[i % len(chunks)], 0, 10)),)

    def entity(i: int) -> Entity:
        text = f"{names[i]} is known for a great many things, of which the texts tell now and then."
        return Entity(ids[i], names[i], kinds[i], text, said(text, i), (chunks[i % len(chunks)],), 1, degree[i])

    def relation(n: int, pair: tuple[int, int]) -> Relation:
        a, b = pair if random.random() < 0.5 else pair[::-1]
        label = random.choice(LABELS)
        text = f"In the year {1800 + n % 220} {names[a]} {label} {names[b]}, as everybody knows."
        return Relation(
            f"{n:08x}", ids[pair[0]], ids[pair[1]], text, said(text, n), 1.0 + n % 9, (chunks[n % len(chunks)],), label
        )

    claims = [
        Claim(f"{i:08x}", ids[i], names[i // 2], "FACT", "TRUE", f"A claim on {i}.", "", "", Source(chunks[0], 0, 10))
        for i in range(0, count, 5)
    ]
    return Graph([entity(i) for i in range(count)], [relation(n, p) for n, p in enumerate(pairs)], claims)


def ends(count: int, relations: int) -> Iterator[tuple[int, int]]:
    """Distinct pairs, first end below second; few entities have most of them."""
    random = np.random.default_rng(7)
    order = random.permutation(count)
    seen = set[tuple[int, int]]()
    while len(seen) < relations:
        ranks = (count * random.random((relations, 2)) ** 2.5).astype(np.int64)
        for a, b in np.sort(order[ranks], axis=1).tolist():
            if a != b and len(seen) < relations and (a, b) not in seen:
                seen.add((a, b))
                yield a, b


if __name__ == "__main__":
    main()
