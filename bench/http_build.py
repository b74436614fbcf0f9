"""What building an index over HTTP costs the client, and whether the index keeps its laws.

    python bench/http_build.py [--data DIR] [--corpus podcast | --corpus FOLDER] [--latency-ms 200]

`sensegraph index` runs as a process of its own, 16 calls at a time, against the scripted server in another: CPU
seconds and peak memory are the client's alone, its start included. Floor = (calls × latency) ÷ 16, what any client
must wait. Laws: each entity in exactly one community at every depth; all inner relations of every community offered to
its report, none foreign; references of reports that lead nowhere; citations that are not the text of their span.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from client import CONCURRENCY, Run, chosen, opened, options, prepared, sensegraph, serving, table
from sensegraph.index.hierarchy.packing import Group, list_elements, pack_community, report_statements
from sensegraph.index.index import Index


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving("--latency-ms", str(given.latency_ms)) as server:
        root = prepared(Path(folder) / "corpus", server)
        first = sensegraph("index", str(chosen(given)), "--root", str(root), "--quiet")
        if first.code:
            sys.exit(f"index ended with {first.code}: {first.err}")
        stats = server.stats()
        server.reset()
        again = sensegraph("index", str(chosen(given)), "--root", str(root), "--quiet")
        costs(first, stats["ok"], stats["tasks"], given.latency_ms / 1000)
        table(
            ["again", "CPU s", "peak MB", "wall s", "calls"],
            [["", f"{again.cpu_s:.1f}", f"{again.peak_mb:.0f}", f"{again.wall_s:.1f}", server.stats()["ok"]]],
        )
        index = opened(root)
        size = sum(f.stat().st_size for f in root.rglob("*") if f.is_file()) / 1e6
        print(f"index: {size:.1f} MB, {index.manifest.counts}, clusters by depth {index.manifest.clusters}")
        laws(index)


def costs(run: Run, calls: int, tasks: dict[str, int], latency: float) -> None:
    floor = calls * latency / CONCURRENCY
    ratio = f"{run.wall_s / floor:.2f}" if floor else "-"
    head = ["first", "CPU s", "peak MB", "wall s", "calls", "floor s", "wall ÷ floor"]
    row = ["", f"{run.cpu_s:.1f}", f"{run.peak_mb:.0f}", f"{run.wall_s:.1f}", calls, f"{floor:.1f}", ratio]
    table(head, [row])
    print(f"calls by task: {tasks}")


def laws(index: Index) -> None:
    graph, clusters = index.graph, list(index.hierarchy.clusters)
    entities = [e.id for e in graph.entities]
    for depth in range(index.depth):
        covered = Counter(e for c in index.clusters_at(depth) for e in c.entities)
        once = sum(covered[e] == 1 for e in entities)
        print(f"depth {depth}: {once} of {len(entities)} entities in exactly one community")
    offered, inner, foreign = offers(index)
    print(f"inner relations offered to reports: {offered} of {inner}, foreign: {foreign}")
    known = {*entities, *(r.id for r in graph.relations), *(c.id for c in graph.claims), *(c.id for c in clusters)}
    references = [name for c in clusters for s in report_statements(c) for name in s.references]
    print(f"references in reports: {len(references)}, dangling: {sum(n not in known for n in references)}")


def offers(index: Index) -> tuple[int, int, int]:
    """Inner relations that the context of a report without a budget holds, all there are, and foreign ones."""
    lines = list_elements(index.graph, {}, quotes=False)
    ends = [(r.id, r.source, r.target) for r in index.graph.relations]
    offered = inner = foreign = 0
    for c in index.hierarchy.clusters:
        context = pack_community(Group(c.id, c.depth, c.parent, (), c.entities), lines, (), 10**9)
        shown = {p.id for p in context.passages if p.kind == "relation"} if context else set()
        members = set(c.entities)
        wanted = {r for r, a, b in ends if a in members and b in members}
        offered, inner, foreign = offered + len(shown & wanted), inner + len(wanted), foreign + len(shown - wanted)
    return offered, inner, foreign


if __name__ == "__main__":
    main()
