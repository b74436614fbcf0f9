"""RAPTOR: nodes of every level found together or from the top down, within the context (raptor §4, §7, §9)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbour import TEXTS, papers
from scripted import ScriptedServer
from sensegraph.cli.show import format_evidence
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError, UnsupportedTask
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.raptor.raptor import RAPTOR, fit_nodes
from sensegraph.methods.raptor.tree import Nodes
from sensegraph.methods.raptor.tree_part import TREE
from sensegraph.questions import Scope
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract, check_citations
from sensegraph.types import Document, Question
from wired import corpus

PARTS: dict[str, Any] = {"parts": ["tree"], "tree": {"leaf_tokens": 25, "children": 3}}
QUESTION = Question("Who keeps the lighthouse of Skerry Point?")
WAYS = [{"search": s, "comparing": c} for s in ("collapsed", "traverse") for c in ("words", "vectors")]


class TestRAPTORContract(MethodContract):
    def make(self) -> RAPTOR:
        return RAPTOR()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index=PARTS)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": PARTS}
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings=settings) as made:
        made.add(papers())
        made.build()
        yield made


def chain(tokens: list[int], members: list[list[int]], leaves: int) -> Nodes:
    """Nodes of these sizes, the first `leaves` of them leaves; the others with these children."""
    sizes = [0] * leaves + [len(m) for m in members]
    return Nodes(
        np.array(tokens, np.int32),
        np.array([0] * leaves + [1] * len(members), np.int32),
        np.zeros(len(tokens), np.int8),
        np.concatenate(([0], np.cumsum(sizes))),
        np.array([i for m in members for i in m], np.int32),
        np.arange(leaves, dtype=np.int32),
        np.arange(len(tokens)),
    )


# ── what the context holds ──


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(1, 200))
def test_the_context_holds_its_budget_and_every_later_node_that_there_is_room_for(sizes: list[int], room: int) -> None:
    """The authors' code stops at the first node that does not fit."""
    nodes = chain(sizes, [], len(sizes))
    kept = fit_nodes(range(len(sizes)), nodes, room)
    left = room - sum(sizes[i] for i in kept)
    assert left >= 0
    for i in set(range(len(sizes))) - set(kept):
        assert sizes[i] > room - sum(sizes[j] for j in kept if j < i)


def test_a_summary_goes_where_half_of_its_leaves_are_read_and_its_room_is_used() -> None:
    nodes = chain([30, 30, 30, 30, 20, 30], [[0, 1, 2, 3]], 5)
    assert fit_nodes([0, 5, 1, 4], nodes, 110) == [0, 5, 1, 4]
    assert fit_nodes([0, 5, 1, 4], nodes, 90) == [0, 5, 1]
    assert fit_nodes([0, 5, 1, 4], nodes, 90, no_overlap=True) == [0, 1, 4]
    assert fit_nodes([0, 5, 4], nodes, 90, no_overlap=True) == [0, 5, 4]  # a quarter of it


@given(st.integers(0, 10**6), st.integers(20, 300))
def test_without_overlap_no_summary_is_read_beside_half_of_its_leaves(seed: int, room: int) -> None:
    random = Random(seed)
    leaves = random.randint(2, 10)
    members = [sorted(random.sample(range(leaves), random.randint(1, leaves))) for _ in range(random.randint(1, 5))]
    nodes = chain([random.randint(1, 60) for _ in range(leaves + len(members))], members, leaves)
    ranked = random.sample(range(len(nodes)), len(nodes))
    kept = fit_nodes(ranked, nodes, room, no_overlap=True)
    assert bool(kept) == any(int(nodes.tokens[i]) <= room for i in range(len(nodes)))
    assert sum(int(nodes.tokens[i]) for i in kept) <= room
    for i in kept:
        if i >= leaves:
            assert 2 * len(nodes.below(i) & set(kept)) < len(nodes.below(i))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(0, 150))
def test_a_node_is_passed_over_only_where_there_is_no_room_for_it(sizes: list[int], room: int) -> None:
    ranked = Random(room).sample(range(len(sizes)), len(sizes))
    kept = fit_nodes(ranked, chain(sizes, [], len(sizes)), room)
    assert bool(len(kept)) == any(size <= room for size in sizes)
    for i in ranked:
        if i in kept:
            room -= sizes[i]
            assert room >= 0
        else:
            assert sizes[i] > room


@pytest.mark.parametrize("way", WAYS)
def test_the_evidence_fits_the_context_and_says_what_was_left_out(harbour: Corpus, way: dict[str, Any]) -> None:
    for room in (10, 60, 200):
        found = harbour.search(QUESTION.text, method="raptor", context_tokens=room, top=500, **way)
        assert found.tokens <= room
        assert found.omitted > 0 or room == 200


# ── searching ──


@pytest.mark.parametrize("way", WAYS)
def test_leaves_and_summaries_are_found_best_first(harbour: Corpus, way: dict[str, Any]) -> None:
    index, rt = harbour.index(), harbour.runtime()
    found = RAPTOR(**way).rank(QUESTION, index, rt)
    assert len(set(found.positions.tolist())) == len(found)
    assert not index.part(TREE).nodes.promoted[found.positions].any()
    assert {int(level) for level in index.part(TREE).nodes.level[found.positions]} >= {0, 1}
    if way["search"] == "collapsed":
        assert all(a >= b > 0 for a, b in pairwise(found.scores.tolist()))


def test_the_collapsed_tree_finds_what_a_plain_comparison_of_all_nodes_finds(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    asked = rt.embedder.embed([QUESTION.text], "query")[0]
    vectors = np.concatenate([index.vectors_of(rt.embedder, "leaf"), index.vectors_of(rt.embedder, "summary")])
    cosines = vectors.astype(np.float64) @ asked.astype(np.float64)
    own = [i for i in range(len(cosines)) if not index.part(TREE).nodes.promoted[i] and cosines[i] > 0]
    wanted = sorted(own, key=lambda i: -cosines[i])
    found = RAPTOR(comparing="vectors").rank(QUESTION, index, rt)
    assert found.scores.tolist() == pytest.approx([cosines[i] for i in wanted], abs=1e-6)
    assert found.positions.tolist()[:5] == wanted[:5]


def test_the_traversal_goes_down_by_the_best_children(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    nodes, scores = index.part(TREE).nodes, index.part(TREE).score(QUESTION.text)
    layer, wanted = nodes.tops(), list[int]()
    while layer:
        chosen = sorted((i for i in layer if scores[i] > 0), key=lambda i: (-scores[i], i))[:2]
        wanted += [i for i in chosen if not nodes.promoted[i]]
        layer = nodes.children(chosen)
    found = RAPTOR(search="traverse", k=2, comparing="words").rank(QUESTION, index, rt)
    assert found.positions.tolist() == wanted
    levels = nodes.level[found.positions].tolist()
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == 0


def test_leaves_of_one_chunk_are_cited_each_at_its_own_span(harbour: Corpus) -> None:
    found = harbour.search("Harbour Council pier Ada Finch Tom Reeve", method="raptor", top=100)
    leaves = [p for p in found.passages if p.kind == "chunk"]
    chunks = harbour.index().chunks([p.sources[0].chunk for p in leaves])
    assert len({p.id for p in leaves}) == len(leaves) > len(chunks)
    for p in leaves:
        (source,) = p.sources
        assert chunks[source.chunk].text[source.start : source.end] == p.text
    answer = harbour.query(QUESTION.text, method="raptor")
    check_citations(answer, TEXTS)
    assert any("lighthouse of Skerry Point" in c.quote for c in answer.citations)


def test_a_search_shows_where_in_the_document_a_leaf_stands(harbour: Corpus) -> None:
    found = harbour.search(QUESTION.text, method="raptor")
    shown = format_evidence(found, harbour.index(), QUESTION.text)
    said = "Ada Finch keeps the lighthouse of Skerry Point."
    start = TEXTS["minutes-2019"].index(said)
    assert f"minutes-2019:{start}-{start + len(said)} “{said}”" in shown


def test_summaries_are_reports_that_quote_their_sources(harbour: Corpus) -> None:
    found = harbour.search(QUESTION.text, method="raptor", top=100)
    told = [p for p in found.passages if p.kind == "report"]
    chunks = harbour.index().chunks(sorted({q.source.chunk for p in told for q in p.quotes}))
    assert told
    for p in told:
        assert p.quotes
        assert all(q.text in chunks[q.source.chunk].text[q.source.start : q.source.end] for q in p.quotes)


def test_one_chunk_is_a_tree_of_its_leaves(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": PARTS}) as made:
        made.add(Document("only", "Ada Finch keeps the lighthouse of Skerry Point."))
        made.build()
        for way in WAYS:
            found = made.search(QUESTION.text, method="raptor", **way)
            assert [p.text for p in found.passages] == ["Ada Finch keeps the lighthouse of Skerry Point."]
            assert found.documents == ("only",)


@pytest.mark.parametrize("way", WAYS)
def test_a_question_that_shares_nothing_finds_nothing(harbour: Corpus, way: dict[str, Any]) -> None:
    found = harbour.search("?", method="raptor", **way)
    assert (found.passages, found.documents, found.tokens) == ((), (), 0)


def test_two_runs_agree_to_the_bit(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    for way in WAYS:
        first, again = (RAPTOR(**way).rank(QUESTION, index, rt) for _ in range(2))
        assert first.positions.tobytes() == again.positions.tobytes()
        assert first.scores.tobytes() == again.scores.tobytes()


# ── filters, settings ──


@pytest.mark.parametrize("way", WAYS)
def test_a_filter_leaves_out_summaries_that_rest_on_anything_outside(harbour: Corpus, way: dict[str, Any]) -> None:
    whole = harbour.index()
    inside = restrict_to_scope(whole, Scope(documents=("letter-*", "minutes-*")))
    tree, chunks = inside.part(TREE), {c.id for c in inside.catalogue.chunks}
    assert 0 < len(tree.leaves) < len(whole.part(TREE).leaves)
    assert all(leaf.chunk in chunks for leaf in tree.leaves)
    assert all(set(c.chunks) <= chunks for c in tree.summaries)
    shown = {c.id for c in whole.part(TREE).summaries if set(c.chunks) <= chunks}
    assert {c.id for c in tree.summaries} == shown
    touched = sum(bool(set(c.chunks) & chunks) for c in whole.part(TREE).summaries)
    assert tree.hidden == touched - len(shown) > 0
    found = RAPTOR(**way).retrieve(QUESTION, inside, harbour.runtime())
    assert found.notes == (
        f"{tree.hidden} of {touched} summaries rest on documents outside the filter and were left out",
    )
    assert {s.chunk for p in found.passages for s in (*p.sources, *(q.source for q in p.quotes))} <= chunks
    assert set(found.documents) <= {c.document for c in inside.catalogue.chunks}


def test_vectors_inside_a_filter_are_those_of_its_nodes(harbour: Corpus) -> None:
    whole = harbour.index()
    inside, embedder = restrict_to_scope(whole, Scope(documents=("letter-*",))), harbour.runtime().embedder
    leaves = [
        i for i, leaf in enumerate(whole.part(TREE).leaves) if leaf.id in {m.id for m in inside.part(TREE).leaves}
    ]
    assert leaves
    assert np.array_equal(inside.vectors_of(embedder, "leaf"), whole.vectors_of(embedder, "leaf")[leaves])
    assert len(inside.vectors_of(embedder, "summary")) == len(inside.part(TREE).summaries)


@pytest.mark.parametrize("bad", [{"k": 0}, {"top": 0}, {"context_tokens": 0}])
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        RAPTOR(**bad)


def test_an_engine_that_does_not_condense_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": PARTS}) as made:
        made.add(papers())
        tasks = made.engine.tasks - {"condense"}
        monkeypatch.setattr(type(made.engine), "tasks", tasks)
        with pytest.raises(UnsupportedTask, match="condense"):
            made.build()
