"""Index a corpus offline through the command line, then ask it: CPU, memory, the shape of the graph, citations.

    python bench/offline_index.py [--corpus DIR/podcast/corpus.jsonl] [--keep ROOT]

CPU and memory are those of the whole process tree (workers included), the start of the interpreter too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from sensegraph.corpus.corpus import Corpus

QUESTIONS = (
    ("What are the main themes across the conversations?", 0),
    ("What are the main themes across the conversations?", 2),
    ("What are the different perspectives on data privacy shared by the guests?", 2),
)


def tree_memory(pid: int) -> int:
    """Resident bytes of a process and all below it; pages that workers share count once for each (an upper bound)."""
    children: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
                sizes[int(entry.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            except (FileNotFoundError, ProcessLookupError):
                continue
    todo, total = [pid], 0
    while todo:
        one = todo.pop()
        total += sizes.get(one, 0)
        todo += children.get(one, [])
    return total


def run(arguments: list[str]) -> tuple[float, float, int, str]:
    """CPU seconds, wall seconds, peak bytes and output of `sensegraph ARGUMENTS`."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "sensegraph", *arguments]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, tree_memory(process.pid))
            time.sleep(0.1)
        output = process.stdout.read() if process.stdout else ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - started, peak, output


def shape(root: Path) -> None:
    """The graph's figures: modularity, components, largest community."""
    with Corpus.open(root, create=False) as corpus:
        index = corpus.index()
        place = {e.id: i for i, e in enumerate(index.graph.entities)}
        parent = np.arange(len(place))

        def find(node: int) -> int:
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = int(parent[node])
            return node

        for r in index.graph.relations:
            parent[find(place[r.source])] = find(place[r.target])
        largest = Counter(find(i) for i in range(len(place))).most_common(1)[0][1]
        roots = [c for c in index.hierarchy.clusters if c.depth == 0]
        widest = max(len(c.entities) for c in roots)
        print(f"entities {len(place)}, relations {len(index.graph.relations)}, by depth {index.manifest.clusters}")
        print(f"modularity {index.hierarchy.modularity:.3f}, largest component {largest / len(place):.1%}")
        print(f"largest community {widest / len(place):.1%}, isolated {sum(len(c.entities) == 1 for c in roots)}")


def ask(root: Path, question: str, depth: int) -> None:
    """An answer, and how many of its citations resolve to the words that they quote."""
    given = ["query", "--root", str(root), "--method", "graphrag", "--depth", str(depth), "--json", question]
    cpu, _, peak, output = run(given)
    answer = json.loads(output)
    with Corpus.open(root, create=False) as corpus:
        index = corpus.index()
        good = [
            c for c in answer["citations"] if index.document(c["document"]).text[c["start"] : c["end"]] == c["quote"]
        ]
    print(f"\n{question} (depth {depth}: {cpu:.1f} s of CPU, {peak / 1e6:.0f} MB)")
    print(f"citations {len(answer['citations'])}, resolving {len(good)}\n\n{answer['answer']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data"))
    parser.add_argument("--corpus", type=Path, default=data / "podcast" / "corpus.jsonl")
    parser.add_argument("--keep", type=Path, help="a folder for the index, instead of a temporary one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = given.keep or Path(folder)
        cpu, wall, peak, _ = run(["index", str(given.corpus), "--root", str(root), "--engine", "offline", "--quiet"])
        print(f"index: {cpu:.1f} s of CPU, {wall:.1f} s, peak {peak / 1e6:.0f} MB (all processes)")
        cpu, wall, _, _ = run(["index", "--root", str(root), "--engine", "offline", "--quiet"])
        print(f"again: {cpu:.1f} s of CPU")
        shape(root)
        for question, depth in QUESTIONS:
            ask(root, question, depth)


if __name__ == "__main__":
    main()
