"""From which entities methods set out, over five entities with vectors of two columns."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.index.graph.lookups import build_lookups
from sensegraph.methods.fastgraphrag.fastgraphrag import FastGraphRAG
from sensegraph.methods.hirag.hirag import find_candidates
from sensegraph.methods.leanrag.leanrag import find_entity_seeds
from sensegraph.retrieval.signals import Keywords
from sensegraph.types import Entity, Graph, Hierarchy, Question

NAMES = ("Ada", "Bo", "Cy", "Dan", "Eve")
QUERY = np.array([1.0, 0.0], np.float32)
COSINES = (0.6, 0.8, 0.2, 0.0, -0.6)
ROWS = np.array([[c, (1 - c * c) ** 0.5] for c in COSINES], np.float32)


def index(**chunks: int) -> Any:
    entities = tuple(Entity(n, n, "p", "", (), tuple(f"{i}" for i in range(chunks.get(n, 1))), 1, 1) for n in NAMES)
    graph = Graph(entities)
    return SimpleNamespace(
        graph=graph,
        lookups=build_lookups.fn([(graph, Hierarchy())])[0],
        vectors_of=lambda embedder, kind="chunk": ROWS,
        navigator=lambda kind: None,
    )


def runtime(*, lexical: bool) -> Any:
    """An embedder for which every text asks the same, but that "up" asks for the second column."""

    def embed(texts: list[str], kind: str) -> Any:
        return np.array([[0.0, 1.0] if text == "up" else [1.0, 0.0] for text in texts], np.float32)

    return SimpleNamespace(embedder=SimpleNamespace(lexical=lexical, embed=embed), noted=Counter())


def shown(found: dict[int, float]) -> list[tuple[str, float]]:
    return [(NAMES[place], round(score, 3)) for place, score in found.items()]


WHO = Question("What of Cy and Eve?")


@pytest.mark.parametrize(
    ("by", "top", "floor", "found"),
    [
        ("vectors", 5, 0.2, [("Bo", 0.8), ("Ada", 0.6), ("Cy", 0.2)]),
        ("vectors", 5, 0.21, [("Bo", 0.8), ("Ada", 0.6)]),
        ("vectors", 1, 0.2, [("Bo", 0.8)]),
        ("names", 5, 0.9, [("Cy", 1.0), ("Eve", 1.0), ("Bo", 0.8), ("Ada", 0.6)]),
        ("names", 3, 0.9, [("Cy", 1.0), ("Eve", 1.0), ("Bo", 0.8)]),
        ("auto", 5, 0.9, [("Cy", 1.0), ("Eve", 1.0), ("Bo", 0.8), ("Ada", 0.6)]),
    ],
)
def test_candidates_are_near_or_named(by: Any, top: int, floor: float, found: list[tuple[str, float]]) -> None:
    floor = float(np.float32(floor))
    assert shown(find_candidates(WHO, QUERY, index(), runtime(lexical=True), top, floor, by)) == found
    meant = shown(find_candidates(WHO, QUERY, index(), runtime(lexical=False), top, floor, by))
    assert (meant == found) == (by != "auto")


@pytest.mark.parametrize(
    ("by", "top", "chunks", "found"),
    [
        ("vectors", 3, {}, [("Bo", 0.8), ("Ada", 0.6), ("Cy", 0.2)]),
        ("names", 5, {}, [("Bo", 0.8), ("Ada", 0.6), ("Cy", 0.2), ("Eve", -0.6)]),  # Dan is not near at all
        ("names", 2, {}, [("Cy", 0.2), ("Eve", -0.6)]),
        ("names", 2, {"Eve": 20}, [("Cy", 0.2), ("Eve", -0.6)]),
        ("names", 2, {"Eve": 21}, [("Bo", 0.8), ("Cy", 0.2)]),
        ("auto", 2, {}, [("Cy", 0.2), ("Eve", -0.6)]),
    ],
)
def test_seeds_take_in_those_named_unless_many_chunks_mention_them(
    by: Any, top: int, chunks: dict[str, int], found: list[tuple[str, float]]
) -> None:
    assert shown(find_entity_seeds(WHO, QUERY, index(**chunks), runtime(lexical=True), top, by)) == found


def started(words: Keywords, **settings: Any) -> dict[str, float]:
    rt = runtime(lexical=False)
    found = FastGraphRAG(**settings).reset(Question("ask"), words, index(), rt)
    return {NAMES[i]: round(float(x), 4) for i, x in enumerate(found) if x}


def test_each_phrase_shares_one_among_what_is_near_it() -> None:
    """The question itself is a theme: (1 + cosine) / 2 of Bo 0.9, Ada 0.8, Cy 0.6, whose sum is 2.3."""
    theme = {"Bo": round(0.9 / 2.3, 4), "Ada": round(0.8 / 2.3, 4), "Cy": round(0.6 / 2.3, 4)}
    assert started(Keywords((), (), ())) == theme
    assert started(Keywords((), (), ()), generic_top=1) == {"Bo": 1.0}
    assert started(Keywords((), (), ()), generic_floor=0.5) == {"Bo": round(0.9 / 1.7, 4), "Ada": round(0.8 / 1.7, 4)}


def test_a_name_weighs_as_much_as_all_that_is_near_a_theme() -> None:
    theme = started(Keywords((), (), ()))
    assert started(Keywords(("Eve",), (), ((4,),))) == theme | {"Eve": 1.0}
    assert started(Keywords(("twins",), (), ((3, 4),))) == theme | {"Dan": 0.5, "Eve": 0.5}
    assert started(Keywords(("someone",), (), ((),)), named_top=1) == theme | {"Bo": 1.0}
    assert started(Keywords(("someone",), (), ((),)), named_top=1, named_floor=0.81) == theme
    assert started(Keywords(("up",), (), ((),)), named_top=1) == theme | {"Dan": 1.0}  # the larger of two counts
    inexact = started(Keywords(("Eve",), (), ((4,),)), exact=False, named_top=1)
    assert inexact == theme | {"Bo": 1.0}
    both = started(Keywords((), ("up",), ()), generic_top=2)
    assert both["Dan"] == round(1.0 / 1.9899, 4)
    assert set(both) == {"Bo", "Ada", "Dan", "Cy"}
