"""Relations put together of links, and what a run is told of moves, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.algorithms import segments
from sensegraph.index import vectors
from sensegraph.index.browse.documents import find_named_spans
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merging import gather_relations, merge_extractions
from sensegraph.index.graph.stored import slices
from sensegraph.index.graph.stored.chunk_texts import SAME
from sensegraph.index.hierarchy.gathering import order_small
from sensegraph.index.passages import _narrow_span
from sensegraph.types import Chunk, Entity, ExtractedEntity, ExtractedRelation, Extraction, Graph


def told(*relations: tuple[str, str, str, float, str, bool]) -> list[tuple[Chunk, Extraction]]:
    """A chunk for each relation: its ends, what is said, strength, label, and whether it has a direction."""
    found = []
    for number, (a, b, said, strength, label, directed) in enumerate(relations):
        ends = tuple(ExtractedEntity(name, "person", f"{name} is here.") for name in (a, b))
        link = ExtractedRelation(a, b, said, strength=strength, label=label, directed=directed)
        found.append((Chunk(f"c{number}", f"d{number}", 0, 9, 2, "x" * 9), Extraction(ends, (link,))))
    return found


SAID = told(
    ("Ann", "Bo", "They meet.", 2.0, "met", False),
    ("Bo", "Ann", "", 4.0, "met", False),
    ("Ann", "Bo", "She paid him.", 3.0, "paid", True),
    ("Bo", "Ann", "He paid her.", 1.0, "paid", True),
    ("Ann", "Bo", "She paid again.", 2.0, "paid", True),
    ("Ann", "Cy", "They part.", 7.0, "", False),
)


@pytest.mark.parametrize(
    ("weight", "weights"), [("count", [1.0, 5.0]), ("strength", [7.0, 12.0]), ("normalised", [0.2, 1.0])]
)
def test_a_relation_is_put_together_of_all_that_is_said_between_two(weight: Any, weights: list[float]) -> None:
    graph = merge_extractions(SAID, GraphSettings(weight=weight))
    names = {e.id: e.name for e in graph.entities}
    found = sorted(graph.relations, key=lambda r: len(r.chunks))
    assert [r.weight for r in found] == pytest.approx(weights)
    few, many = found
    assert {names[few.source], names[few.target]} == {"Ann", "Cy"}
    assert (few.label, few.directed, len(few.descriptions), few.chunks) == ("", False, 1, ("c5",))
    assert (many.label, len(many.descriptions), len(many.chunks)) == ("paid", 4, 5)
    assert not many.directed  # it is said both ways
    assert (names[many.source], names[many.target]) == ("Ann", "Bo")  # two of three say it this way round
    assert gather_relations([], weight, lambda _, said: said) == []


def node(name: str, *chunks: str) -> Entity:
    return Entity(name, name, "thing", "", (), chunks, len(chunks), 0)


def test_small_components_stand_in_the_order_of_the_texts_that_hold_them() -> None:
    def chunk(document: str, text: str) -> str:
        return document.ljust(12, "0") + text

    one, two, three = chunk("d1", "b"), chunk("d1", "a"), chunk("d2", "c")
    graph = Graph((node("p", one), node("q", two), node("r", three, one), node("s", three)))
    found = order_small(graph, 1)
    assert sorted(found) == [("p",), ("q",), ("r",), ("s",)]
    again = order_small(Graph(tuple(reversed(graph.entities))), 1)
    assert again == found  # in whatever order they are listed
    assert found.index(("q",)) < found.index(("p",))  # of one document the text that comes first by its hash
    assert order_small(graph, 0) == ()
    assert order_small(Graph(), 5) == ()


def test_names_that_touch_are_both_found_and_of_two_that_overlap_the_first() -> None:
    both = [Entity(n, n, "t", "", (), (), 1, 0) for n in ("Ada-", "Bo", "Ada Bo", "Bo Cy")]
    assert [(s.start, s.end) for s in find_named_spans("Ada-Bo came.", both)] == [(0, 4), (4, 6)]
    assert [(s.start, s.end) for s in find_named_spans("Ada Bo Cy", both)] == [(0, 6)]


@pytest.mark.parametrize(
    ("begin", "length", "whole"), [(0, 400, True), (300, 400, True), (300, 401, False), (0, 401, False)]
)
def test_a_span_of_more_than_four_hundred_characters_is_narrowed(begin: int, length: int, whole: bool) -> None:
    text = "x" * begin + "Ada lit the lamp. " + "It rained on the quay. " * 40
    found = _narrow_span(text, begin, begin + length, "Ada lit the lamp")
    assert found == ((begin, begin + length) if whole else (begin, begin + 17))


def test_a_relation_that_is_said_one_way_alone_has_a_direction() -> None:
    (found,) = merge_extractions([SAID[2], SAID[4]], GraphSettings()).relations
    assert found.directed
    (found,) = merge_extractions([SAID[0], SAID[1]], GraphSettings()).relations
    assert (found.directed, found.weight, len(found.descriptions)) == (False, 2.0, 1)


def test_texts_that_several_slices_hold_are_packed_once_in_the_order_in_which_they_come() -> None:
    def row(chunk: str, text: str | int = SAME) -> Any:
        return SimpleNamespace(chunk=chunk, said=(0, 9, text, "", ""))

    rows: list[Any] = [row("c1", "twelve chars"), row("c1", "twelve chars"), row("c2", "once alone"), row("c3")]
    rows.append(SimpleNamespace(chunk="c4", said=None))
    assert list(slices._list_texts(rows)) == ["c1", "twelve chars", "c2", "once alone", "c3", "c4"]
    link = slices.LinkRow("ada", "quay", True, 1.0, "lives in", True, "c1", None)
    assert list(slices._list_texts([link])) == ["c1", "ada", "quay"]
    shared = [b"one longer text that comes again", b"another longer text that comes again"]
    whole = slices._pack_slice(b"head" + shared[1], [1], shared)
    assert len(whole) < len(slices._pack_slice(b"head" + shared[1], [], shared))


@pytest.mark.parametrize(
    ("count", "usual"),
    [
        (0, 256), (64 * 255, 256), (64 * 511, 256), (64 * 512, 512), (64 * 1023, 512), (64 * 1024, 1024),
        (64 * 8192, 8192), (64 * 16384, 8192), (64 * 10**6, 8192),
    ],
)  # fmt: skip
def test_vectors_are_cut_in_about_sixty_four_segments_that_are_neither_short_nor_long(
    monkeypatch: pytest.MonkeyPatch, count: int, usual: int
) -> None:
    class Cut(Exception):
        """It would be cut so."""

    def cut(ends: Any, size: int, most: int) -> None:
        raise Cut(ends.tolist(), size, most)

    bound = 2**32 // usual
    names = np.array([[(bound - 1) << 32, 0], [bound << 32, 0]], np.uint64)
    monkeypatch.setattr(segments, "cut_runs", cut)
    monkeypatch.setattr(vectors, "_name_texts", lambda texts: names)
    texts: Any = range(count)
    with pytest.raises(Cut) as caught:
        vectors._embed_segments(texts, None)  # type: ignore[arg-type]
    assert caught.value.args == ([True, False], usual, 3 * usual)
