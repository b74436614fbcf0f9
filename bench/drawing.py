"""How long pictures take and how large they are: `python bench/drawing.py [--root DIR]`.

Draws made graphs of growing size, in which most links stay inside blocks, and with `--root` the index of a corpus.
Prints one line a graph: entities, relations, seconds for the layout and for each file, and the files' sizes in kB.
`flat` is the hardest case for the layout: all entities in one community that has no parts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

from sensegraph.graphs.drawing.drawing import lay_out_drawing
from sensegraph.graphs.drawing.rendering import render_html, render_png, render_svg
from sensegraph.graphs.drawing.scene import compose_scene
from sensegraph.types import Cluster, Entity, Graph, Relation

T = TypeVar("T")
Levels = Sequence[Sequence[Cluster]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, help="the folder of a corpus with an index")
    root = parser.parse_args().root
    print(f"{'graph':<12}{'entities':>9}{'relations':>10}{'layout s':>9}{'svg s':>7}{'png s':>7}{'html s':>7}", end="")
    print(f"{'svg kB':>8}{'png kB':>8}{'html kB':>8}")
    if root:
        measure(root.resolve().name, *indexed(root))
    for name, nodes, outer, inner in (
        ("made 1k", 1000, 100, 20),
        ("made 4k", 4000, 200, 25),
        ("made 8k", 8000, 400, 40),
        ("flat 4k", 4000, 4000, 4000),
    ):
        measure(name, made(nodes, outer), [blocks(nodes, outer, 0), blocks(nodes, inner, 1)])


def measure(name: str, graph: Graph, levels: Levels) -> None:
    drawing, layout = timed(lambda: lay_out_drawing(graph, levels, name=name))
    vector, vector_s = timed(lambda: render_svg(compose_scene(drawing, 0)))
    pixels, pixels_s = timed(lambda: render_png(compose_scene(drawing, 0)))
    page, page_s = timed(lambda: render_html(drawing))
    sizes = [len(vector.encode()), len(pixels), len(page.encode())]
    print(f"{name:<12}{len(graph.entities):>9,}{len(graph.relations):>10,}{layout:>9.1f}", end="")
    print(f"{vector_s:>7.1f}{pixels_s:>7.1f}{page_s:>7.1f}" + "".join(f"{size / 1000:>8,.0f}" for size in sizes))


def timed(call: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def indexed(root: Path) -> tuple[Graph, Levels]:
    from sensegraph import Corpus

    with Corpus.open(root, create=False) as corpus:
        index = corpus.index()
        graph = Graph(tuple(index.graph.entities), tuple(index.graph.relations))
        return graph, [index.clusters_at(d) for d in range(min(2, index.depth))]


def made(nodes: int, size: int) -> Graph:
    """Every node with three links back, four fifths of them inside its block."""
    lot, pairs = Random(0), set()
    for i in range(1, nodes):
        first = i // size * size
        pairs |= {(lot.randrange(first if i > first and lot.random() < 0.8 else 0, i), i) for _ in range(3)}
    degree = [0] * nodes
    for a, b in pairs:
        degree[a] += 1
        degree[b] += 1
    entities = tuple(Entity(name(i), f"Name {i}", "thing", "", (), (), 1, degree[i]) for i in range(nodes))
    return Graph(entities, tuple(link(a, b, 1 + lot.random()) for a, b in sorted(pairs)))


def name(i: int) -> str:
    return f"{i:06d}"


def link(a: int, b: int, weight: float) -> Relation:
    return Relation(f"{a:06d}-{b:06d}", name(a), name(b), "", (), weight, ())


def blocks(nodes: int, size: int, depth: int) -> list[Cluster]:
    starts = range(0, nodes, size)
    inside = [tuple(map(name, range(s, min(s + size, nodes)))) for s in starts]
    return [Cluster(f"{depth}-{k}", 1 - depth, depth, "", (), some, f"Community {k}") for k, some in enumerate(inside)]


if __name__ == "__main__":
    main()
