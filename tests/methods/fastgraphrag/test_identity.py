"""Two names of one thing, and the walk over relations and such links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.algorithms.similar import Pairs
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.graph.lookups import ties_of
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.fastgraphrag.fastgraphrag import Likeness, entity_moves, entity_walk, identity_links
from sensegraph.questions import Scope
from sensegraph.retrieval.assembling import Ends, ends_of
from sensegraph.types import Document
from wired import corpus, stories

NAMES = [
    Document("a", "The Harbour Council of Port Ellery met Ada Finch. Ada Finch thanked the Harbour Council."),
    Document(
        "b", "Port Ellery's Harbour Council wrote to Nora Blythe. Nora Blythe knows the Port Ellery Harbour Council."
    ),
    Document("c", "The Harbour Council of Ellery Port answered Tom Reeve. Tom Reeve left the Lowmouth Fishery Office."),
]


def linked(made: Corpus, likeness: Likeness) -> set[tuple[str, str]]:
    index = made.index()
    found = identity_links(index, made.runtime(), likeness)
    ids = [e.id for e in index.graph.entities]
    return {(ids[a], ids[b]) for a, b in zip(found.one, found.other, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("by", ["vectors", "names"])
def test_defect_1_links_of_a_grown_index_are_those_of_one_built_at_once(
    tmp_path: Path, server: ScriptedServer, by: Any
) -> None:
    likeness = Likeness(by, 0.5, 3)
    with corpus(tmp_path / "grown", server) as grown, corpus(tmp_path / "whole", server) as whole:
        grown.add(stories(1))
        grown.build()
        linked(grown, likeness)
        grown.add(stories(2))
        grown.build()
        whole.add(stories(2))
        whole.build()
        assert linked(grown, likeness) == linked(whole, likeness) != set()


def test_every_link_is_near_enough_and_among_the_nearest(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    found = identity_links(index, rt, Likeness("vectors", 0.6, 2))
    vectors = index.vectors_of(rt.embedder, "entity")[:].astype(np.float64)
    cosine = vectors @ vectors.T
    np.fill_diagonal(cosine, -1)
    near = [set(np.argsort(-row, kind="stable")[:2].tolist()) for row in cosine]
    wanted = {(min(i, j), max(i, j)) for i, row in enumerate(near) for j in row if cosine[i, j] >= 0.6}
    assert set(zip(found.one.tolist(), found.other.tolist(), strict=True)) == wanted
    assert wanted


def test_where_vectors_compare_words_names_are_compared(tmp_path: Path) -> None:
    with Corpus.open(
        tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"], "resolve": {"automatic": False}}}
    ) as made:
        made.add(NAMES)
        made.build()
        assert linked(made, Likeness()) == linked(made, Likeness("names")) != set()


@pytest.mark.parametrize("none", [Likeness("none"), Likeness("vectors", 0.5, 0)])
def test_without_links_there_are_none(built: Corpus, none: Likeness) -> None:
    assert linked(built, none) == set()


def test_a_filter_keeps_the_links_inside(built: Corpus) -> None:
    index, rt, likeness = built.index(), built.runtime(), Likeness("vectors", 0.5, 3)
    inside = restrict_to_scope(index, Scope(documents=("story-0[0-3]",)))
    ids = [e.id for e in inside.graph.entities]
    found = identity_links(inside, rt, likeness)
    got = {(ids[a], ids[b]) for a, b in zip(found.one, found.other, strict=True)}
    assert got == {pair for pair in linked(built, likeness) if set(pair) <= set(ids)} != set()


def _pairs(*pairs: tuple[int, int]) -> Pairs:
    one, other = np.asarray(pairs, np.int32).reshape(-1, 2).T
    return Pairs(one, other, np.ones(len(one)))


def test_a_link_beside_a_relation_adds_nothing_and_any_other_weighs_one() -> None:
    joins, weight = Ends(np.array([0, 1], np.int32), np.array([1, 2], np.int32)), np.array([4.0, 2.0])
    for edges, between in (("simple", 1.0), ("weighted", 4.0)):
        (moves,) = entity_moves.fn([(joins, weight, _pairs((0, 1), (2, 3)), 4)], edges=edges)
        share = {(int(a), int(b)): float(s) for a, b, s in zip(moves.source, moves.target, moves.share, strict=True)}
        right = 1.0 if edges == "simple" else 2.0
        assert share[0, 1] == 1.0
        assert share[1, 0] == pytest.approx(between / (between + right))
        assert share[2, 3] == pytest.approx(1 / (1 + right))
        assert len(share) == 6


def test_the_walk_is_made_once(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    joins, weight = ends_of(index, rt), ties_of(index, rt).weight
    first, again = (entity_walk(index, rt, Likeness("vectors", 0.5, 3), "simple", joins, weight) for _ in range(2))
    assert rt.computed["identity.entity_moves"] <= 1
    assert first.share.tobytes() == again.share.tobytes()
