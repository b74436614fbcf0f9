"""Graphs through the vectors of an index: every method finds by them what it finds without."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.algorithms import approximate
from sensegraph.algorithms.approximate import is_installed
from sensegraph.algorithms.ranking import find_nearest_rows
from sensegraph.algorithms.segments import cut_segments
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index import navigation as navigating
from sensegraph.index.settings import IndexSettings
from sensegraph.index.vectors import nearest_to
from sensegraph.methods import METHODS, load_method
from sensegraph.questions import Scope
from sensegraph.types import Document
from wired import corpus, stories

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not is_installed(), reason="needs the extra ann")]

PARTS = sorted({part for name in METHODS for part in load_method(name).reads})
ASKED = ("Who sailed with Ada Harrow?", "Who bought a boat from Hugo Stone in 1840?", "What did Iris Quay do?")
APART = Scope(documents=("story-0*",))
_CUT = partial(cut_segments, least=25, usual=15, most=60)


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as made:
        made.setattr(navigating, "cut", _CUT)
        made.setattr(approximate, "_DEAR", 0)
        made.setattr(approximate, "_MANY", 16)
        yield made


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    """A corpus whose vectors all have graphs."""
    folder = tmp_path_factory.mktemp("ways")
    with ScriptedServer() as server, corpus(folder, server, index={"parts": PARTS, "exact_below": 1}) as made:
        made.add(stories(40))
        made.build()
        yield made


@pytest.fixture(scope="module")
def exact(ways: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """The same without graphs."""
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("exact"), server, index={"parts": PARTS}) as made:
        made.add(stories(40))
        made.build()
        yield made


def test_every_kind_of_vectors_that_is_long_enough_has_graphs_of_all_its_rows(ways: Corpus, exact: Corpus) -> None:
    index, embedder = ways.index(), ways.runtime().embedder
    assert not exact.index().manifest.ways
    assert index.manifest.ways.keys() == {kind for kind, key in index.manifest.stacks.items() if key}
    for kind, stretches in index.manifest.ways.items():
        navigator = index.navigator(kind)
        assert navigator is not None
        assert navigator is index.navigator(kind)
        assert len(navigator.graphs) == len(stretches) == len(_CUT(index.vectors_of(embedder, kind)))
        assert sum(len(opened) for _, opened in navigator._opened) == len(index.vectors_of(embedder, kind))
    assert len(index.manifest.ways["chunk"]) > 1


def test_a_second_build_computes_nothing(ways: Corpus) -> None:
    before = ways.index().manifest
    assert not ways.build().computed
    assert ways.index().manifest == before


def test_an_update_makes_only_graphs_of_segments_that_changed(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    settings = {"engine": "offline", "index": {"parts": [], "exact_below": 1, "chunk_tokens": 40, "chunk_overlap": 0}}
    with Corpus.open(tmp_path, settings=settings) as made:
        made.add(stories(90))
        made.build()
        before = made.index().manifest.ways["chunk"]
        made.add(Document("story-205", stories(91)[-1].text))
        assert made.build().computed["navigating.navigation"] <= 2 < len(before)
        assert {key for _, key in made.index().manifest.ways["chunk"]} & {key for _, key in before}
        made.remove("story-205")
        assert "navigating.navigation" not in made.build().computed
        assert made.index().manifest.ways["chunk"] == before


@pytest.mark.parametrize("kind", ["chunk", "entity", "relation", "fact", "sentence"])
def test_nearly_all_true_neighbours_of_every_kind_are_found(ways: Corpus, kind: str) -> None:
    index, rt = ways.index(), ways.runtime()
    vectors = index.vectors_of(rt.embedder, kind)  # type: ignore[arg-type]
    found = wanted = 0
    for query in np.asarray(vectors)[:: max(1, len(vectors) // 30)]:
        _, scores = nearest_to(query, index, rt, 10, kind)  # type: ignore[arg-type]
        true, best = find_nearest_rows(vectors, query, 10)
        found += sum(scores >= best[-1])  # as near as the true ones, of which several may be equal
        wanted += len(true)
    assert found / wanted > 0.95
    assert list(rt.noted) == [f"of {len(vectors):,} vectors of kind {kind} the nearest were sought approximately"]


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_finds_what_it_finds_without_graphs(ways: Corpus, exact: Corpus, method: str) -> None:
    found = wanted = 0
    for question in ASKED:
        near, true = (c.search(question, method=method, top=10) for c in (ways, exact))
        found += len({p.text for p in near.passages} & {p.text for p in true.passages})
        wanted += len({p.text for p in true.passages})
        assert not any("sought approximately" in note for note in true.notes)
    assert found >= 0.9 * wanted


def test_an_answer_says_that_the_search_was_approximate(ways: Corpus, exact: Corpus) -> None:
    said = [c.query(ASKED[0], method="naive").notes for c in (ways, exact)]
    assert [sum("vectors of kind chunk the nearest were sought approximately" in n for n in s) for s in said] == [1, 0]
    assert not any("approximately" in note for note in ways.query(ASKED[0], method="bm25").notes)


@pytest.mark.parametrize("method", ["naive", "hybrid", "local", "linearrag", "lightrag"])
def test_inside_a_filter_everything_is_compared(ways: Corpus, exact: Corpus, method: str) -> None:
    for question in ASKED:
        near, true = (c.search(question, method=method, scope=APART) for c in (ways, exact))
        assert [p.text for p in near.passages] == [p.text for p in true.passages]
        assert near.notes == true.notes
        assert all(name.startswith("story-0") for name in near.documents)


def test_questions_asked_at_once_find_what_each_finds_alone(ways: Corpus) -> None:
    methods = ["naive", "bm25", "local"] * 4
    alone = [ways.search(ASKED[i % 3], method=m) for i, m in enumerate(methods)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda i: ways.search(ASKED[i % 3], method=methods[i]), range(len(methods)))) == alone
    assert ["approximately" in " ".join(e.notes) for e in alone[:3]] == [True, False, True]


def test_without_the_extra_all_are_compared_and_that_is_said(
    ways: Corpus, exact: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (approximate, navigating):
        monkeypatch.setattr(module, "is_installed", lambda: False)
    near, true = (c.search(ASKED[1], method="naive") for c in (ways, exact))
    assert near.passages == true.passages
    assert near.notes == ("all 80 vectors of kind chunk were compared: the extra `ann` is not installed",)
    exact.workspace.settings = ways.settings
    built = exact.build()
    assert not exact.index().manifest.ways
    assert any("80 vectors of kind chunk are compared one by one: the extra `ann`" in note for note in built.notes)


def test_a_size_below_0_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"index\.exact_below must be at least 0"):
        IndexSettings(exact_below=-1)
