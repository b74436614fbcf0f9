"""The engine finds what a search through everything finds, on small random graphs (N87)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from little_graphs import LABELS, TYPES, little
from matched_by_search import Edge, Node, Path, rows

_LABELS = sorted(label for label in LABELS if label)


@st.composite
def patterns(draw) -> list[Path]:
    """One or two paths of up to three nodes, which may share nodes; chains of up to three relations."""
    claims = draw(st.sets(st.sampled_from("abc"), max_size=1))
    numbers = iter(range(99))
    paths = []
    for _ in range(draw(st.integers(1, 2))):
        count = draw(st.integers(1, 3))
        nodes = [draw(_node(draw(st.sampled_from("abc")), claims)) for _ in range(count)]
        tied = [nodes[i].name in claims or nodes[i + 1].name in claims for i in range(count - 1)]
        edges = [draw(_edge(f"r{next(numbers)}", either)) for either in tied]
        paths.append(Path(tuple(nodes), tuple(edges)))
    return paths


def _node(name: str, claims: set[str]) -> st.SearchStrategy[Node]:
    if name in claims:
        return st.just(Node(name, "Claim"))
    return st.builds(Node, st.just(name), st.sampled_from(("", "", *TYPES)))


def _edge(name: str, tied: bool) -> st.SearchStrategy[Edge]:
    directions = st.sampled_from("-><")
    if tied:
        return st.builds(Edge, st.just(name), st.sampled_from(("", "ABOUT", "OBJECT")), directions)
    bounds = st.one_of(st.none(), st.sampled_from([(0, 1), (1, 1), (1, 2), (2, 3), (0, 2)]))
    return st.builds(Edge, st.just(name), st.sampled_from(("", *_LABELS)), directions, bounds)


def allowed(paths: list[Path], graph) -> bool:
    """Whether the words of a pattern are known in the graph, and no edge links two claims."""
    claims = {n.name for p in paths for n in p.nodes if n.type == "Claim"}
    pairs = [(p.nodes[i].name, p.nodes[i + 1].name) for p in paths for i in range(len(p.edges))]
    types = {n.type for p in paths for n in p.nodes} - {"", "Claim"}
    labels = {e.type for p in paths for e in p.edges} - {"", "ABOUT", "OBJECT"}
    conflicts = any(len({n.type for p in paths for n in p.nodes if n.name == name and n.type}) > 1 for name in "abc")
    return (
        not any(set(pair) <= claims for pair in pairs)
        and types <= {e.type for e in graph.graph.entities}
        and labels <= {r.label for r in graph.graph.relations}
        and not conflicts
    )


def ids(value) -> tuple[str, ...]:
    """The ids of what a column shows."""
    if isinstance(value, tuple):
        return tuple(v.id for v in value)
    return (value.id,)


@given(st.integers(0, 400), patterns())
def test_the_engine_finds_what_a_search_through_everything_finds(seed: int, paths: list[Path]):
    graph = little(seed)
    if not allowed(paths, graph):
        return
    found = graph.match(", ".join(p.text for p in paths))
    ties = {c for c in found.columns if any(isinstance(row[found.columns.index(c)], str) for row in found.rows)}
    names = [c for c in found.columns if c not in ties]
    mine = [tuple(ids(v) for c, v in zip(found.columns, row, strict=True) if c in names) for row in found.rows]
    wanted = [tuple(row[c] for c in names) for row in rows(graph, paths)]
    assert sorted(mine) == sorted(wanted)
