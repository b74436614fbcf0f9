"""Imports an index of the reference implementation, exports it again, and exports large graphs in all formats.

    python bench/interchange.py [--data DIR] [--entities 100000]

First: seconds to import `carol-reference-index` offline, what became of its rows, how many fields of all seven tables
are equal after an export, and how much is kept beside. Then: an index with so many entities, three relations and one
claim for each, reports on two depths, is put into a store without reading any text; each row is one export in a process
of its own. `memory` is the most that the process held (resident), `base` what a process holds that only opens it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import msgspec

from sensegraph.corpus.corpus import Corpus
from sensegraph.graphs.interchange.exporting import export_tables
from sensegraph.graphs.interchange.extras import Extras
from sensegraph.graphs.interchange.importing import import_tables
from sensegraph.graphs.interchange.ladybug import export_ladybug
from sensegraph.graphs.interchange.property_graphs import export_graph
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.graphs.interchange.tables import COLUMNS
from sensegraph.index.build import publish_manifest
from sensegraph.index.graph.lookups import find_lookups
from sensegraph.index.graph.merging import describe_graphs
from sensegraph.index.hierarchy.reports import keep_hierarchy
from sensegraph.runtime.results import Result, load_result, save_result
from sensegraph.types import (
    Claim,
    Cluster,
    Description,
    Document,
    Entity,
    Graph,
    Hierarchy,
    Relation,
    Source,
    Statement,
)

_HOME = 20  # entities of a community, and of a chunk
_SAID = "Ada Lovelace met Charles Babbage in London. "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--entities", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        moved(given.data / "carol-reference-index", Path(folder) / "carol")
        large(Path(folder) / "large", given.entities)


# ── there and back ──


def moved(source: Path, root: Path) -> None:
    started = time.perf_counter()
    with Corpus.open(root) as corpus:
        done = import_tables(read_tables(source), corpus.runtime(), corpus.settings.index, corpus.add)
        between = time.perf_counter()
        export_tables(corpus.index(), corpus.store, root / "out")
        ended = time.perf_counter()
        extras = Extras(corpus.store, corpus.index().manifest.chunks)
        beside = sum(len(msgspec.json.encode(e)) for t in COLUMNS for e in extras.scan(t))
    print(f"import {between - started:.2f} s, export {ended - between:.2f} s")
    print("rows:", ", ".join(f"{n} {t}" for t, n in done.rows.items()))
    print("index:", ", ".join(f"{n} {t}" for t, n in done.manifest.counts.items()), "clusters", done.manifest.clusters)
    for note in done.notes:
        print(f"- {note}")
    pairs = [pair for t in COLUMNS for pair in zip(lines(source, t), lines(root / "out", t), strict=True)]
    fields = [(row[c], again[c]) for row, again in pairs for c in row]
    size = sum((source / f"{t}.jsonl").stat().st_size for t in COLUMNS)
    print(f"fields equal after export: {sum(a == b for a, b in fields)} of {len(fields)}")
    print(f"kept beside: {beside} bytes of {size} ({beside / size:.1%})")


def lines(folder: Path, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{table}.jsonl").read_text(encoding="utf-8").split("\n") if line]


# ── large graphs ──


class Made(Sequence[Any]):
    """Records that are made when they are asked for."""

    def __init__(self, count: int, make: Any) -> None:
        self.count, self.make = count, make

    def __len__(self) -> int:
        return self.count

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.make(index)

    def __iter__(self) -> Iterator[Any]:
        return (self.make(i) for i in range(self.count))


def large(root: Path, count: int) -> None:
    settings = {"index": {"parts": [], "chunk_tokens": 12, "chunk_overlap": 0}}
    with Corpus.open(root, settings=settings) as corpus:
        told = [Document(f"text {i}", _SAID * 50) for i in range(max(1, count // 50 // _HOME))]
        corpus.add(told)
        corpus.build()
        put(corpus, count, [c.id for c in corpus.index().catalogue.chunks])
    print(f"\nentities {count}, relations {3 * count}, claims {count}")
    print("| form | seconds | MB written | memory MB |\n|---|---|---|---|")
    for form in ("base", "jsonl", "csv", "graphml", "cypher", "json", "ladybug", "ladybug-cypher"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, memory = pool.apply(exported, (root, form))
        size = sum(p.stat().st_size for p in (root / form).glob("*")) / 1e6
        print(f"| {form} | {seconds:.1f} | {size:.0f} | {memory:.0f} |", flush=True)


def exported(root: Path, form: str) -> tuple[float, float]:
    """Seconds and the most memory, in MB, of one export."""
    started = time.perf_counter()
    with Corpus.open(root, create=False) as corpus:
        if form == "jsonl":
            export_tables(corpus.index(), corpus.store, root / form)
        elif form.startswith("ladybug"):
            export_ladybug(corpus.index(), root / form, script=form.endswith("cypher"))
        elif form != "base":
            export_graph(corpus.index(), root / form, form)  # type: ignore[arg-type]
    return time.perf_counter() - started, peak()


def peak() -> float:
    """The most resident memory that this process has held, in MB (the kernel's own count starts with the program)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def put(corpus: Corpus, count: int, chunks: Sequence[str]) -> None:
    """Publish an index of so many entities, on these chunks."""
    rt = corpus.runtime()

    def at(i: int) -> str:
        return chunks[i // _HOME % len(chunks)]

    def span(i: int) -> tuple[Description, ...]:
        return (Description(_SAID, Source(at(i), 0, 10)),)

    def name(i: int) -> str:
        return f"{i % count:08}"

    def entity(i: int) -> Entity:
        return Entity(name(i), f"Entity {i}", "person", f"What is known of entity {i}.", span(i), (at(i),), 1, 6)

    def relation(i: int) -> Relation:
        ends = sorted((name(i // 3), name(i // 3 + 1 + 7 * (i % 3))))
        return Relation(f"{i:09}", ends[0], ends[1], f"What links the two of {i}.", span(i // 3), 1.0, (at(i // 3),))

    def claim(i: int) -> Claim:
        return Claim(f"{i:08}", name(i), "NONE", "fact", "TRUE", f"A claim on {i}.", "", "", Source(at(i), 0, 10))

    leaves = -(-count // _HOME)

    def cluster(i: int) -> Cluster:
        if i < leaves // _HOME + 1:
            members = [f"b{j:07}" for j in range(i * _HOME, min(leaves, (i + 1) * _HOME))]
            inside = tuple(name(j) for j in range(i * _HOME**2, min(count, (i + 1) * _HOME**2)))
            return Cluster(f"a{i:07}", 1, 0, "", tuple(members), inside, f"Top {i}", (Statement("A report."),))
        i -= leaves // _HOME + 1
        inside = tuple(name(j) for j in range(i * _HOME, min(count, (i + 1) * _HOME)))
        said = (Statement(f"A report on {i}.", inside[:3]),)
        return Cluster(f"b{i:07}", 0, 1, f"a{i // _HOME:07}", inside, inside, f"Leaf {i}", said)

    upper = leaves // _HOME + 1
    save_result(
        rt.store, describe_graphs, "large", Graph(Made(count, entity), Made(3 * count, relation), Made(count, claim))
    )
    save_result(rt.store, keep_hierarchy, "reports", Hierarchy(Made(upper + leaves, cluster)))
    known, told = (
        Result("large", load_result(rt.store, describe_graphs, "large")),
        Result("reports", load_result(rt.store, keep_hierarchy, "reports")),
    )
    manifest = replace(
        corpus.index().manifest, graph="large", hierarchy="reports", clusters=(upper, leaves),
        lookups=find_lookups(known, told, rt).key,
    )  # fmt: skip
    publish_manifest(manifest, rt)


if __name__ == "__main__":
    main()
