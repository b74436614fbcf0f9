"""Sentences and the names in them: at the borders of words, in order, without a call (linearrag §3, §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.linearrag.sentences import SENTENCES, Sentences, sentence_graph, sentence_texts
from sensegraph.questions import Scope
from sensegraph.types import Chunk, Entity, Graph
from wired import corpus, stories

PARTS = {"engine": "offline", "index": {"parts": ["graph", "sentences"], "chunk_tokens": 60, "chunk_overlap": 10}}


def chunk(name: str, text: str, document: str = "") -> Chunk:
    return Chunk(name, document or name, 0, len(text), 1, text)


def made(names: Sequence[str], *texts: str, document: str = "") -> Sentences:
    entities = tuple(Entity(f"e{i}", n, "name", "", (), ("c0",), 1, 0) for i, n in enumerate(names))
    chunks = [chunk(f"c{i}", text, document) for i, text in enumerate(texts)]
    (found,) = sentence_graph.fn([(Graph(entities), chunks)])
    return found


def times(found: Sentences) -> dict[tuple[int, int], int]:
    owner = np.repeat(np.arange(found.entities), np.diff(found.first)).tolist()
    return {(e, c): n for e, c, n in zip(owner, found.chunks.tolist(), found.times.tolist(), strict=True)}


def named(found: Sentences) -> list[list[int]]:
    return [found.held[a:b].tolist() for a, b in zip(found.start, found.start[1:], strict=False)]


def test_names_are_counted_at_the_borders_of_words() -> None:
    found = made(["US", "USA", "Ann"], "The USA and the US. Music is for us. Annual, Ann said, Annie and Ann.")
    assert times(found) == {(0, 0): 1, (1, 0): 1, (2, 0): 2}


def test_of_names_that_overlap_the_longest_is_meant() -> None:
    found = made(["Port Ellery", "Port Ellery Council", "Ellery"], "The Port Ellery Council met in Port Ellery.")
    assert named(found) == [[0, 1]]


def test_a_word_in_lower_case_is_no_name_that_has_a_capital() -> None:
    found = made(["May", "herring", "New York"], "In May they may sell herring. May they? The new york style.")
    assert times(found) == {(0, 0): 2, (1, 0): 1, (2, 0): 1}


def test_names_in_scripts_without_blanks_are_found_inside_runs() -> None:
    found = made(["东京大学", "东京"], "他在东京大学学习。他住在东京。")
    assert named(found) == [[0], [1]]


def test_of_entities_with_one_name_that_of_the_chunk_is_meant() -> None:
    one = Entity("e0", "Jordan", "person", "", (), ("c0",), 1, 0)
    two = Entity("e1", "Jordan", "place", "", (), ("c1", "c2"), 1, 0)
    chunks = [chunk("c0", "Jordan played."), chunk("c1", "He went to Jordan."), chunk("c9", "Jordan again.")]
    (found,) = sentence_graph.fn([(Graph((one, two)), chunks)])
    assert times(found) == {(0, 0): 1, (1, 1): 1, (1, 2): 1}


def test_a_sentence_of_several_chunks_is_one_with_all_its_places() -> None:
    found = made(["Ada"], "Ada paid. Ada left.", "Ada left. So it was.")
    assert len(found) == 2
    assert np.diff(found.spots).tolist() == [1, 2]
    assert sentence_texts(found, [chunk("c0", "Ada paid. Ada left."), chunk("c1", "Ada left. So it was.")]) == [
        "Ada paid.",
        "Ada left.",
    ]


def test_neighbours_are_chunks_of_one_document_only() -> None:
    apart = made(["Ada"], "So it was 7.", "So it was 8.")
    beside = made(["Ada"], "So it was 7.", "So it was 8.", document="d")
    assert len(apart.walk.source) == 0
    assert set(zip(beside.walk.source.tolist(), beside.walk.target.tolist(), strict=True)) == {(0, 1), (1, 0)}


def test_a_chunk_without_a_name_divides_nothing_by_zero() -> None:
    found = made(["Ada", "Bram"], "So it was.", "Ada met Ada and Bram.")
    assert np.isfinite(found.walk.share).all()
    from_chunk = {t: s for f, t, s in zip(found.leaves, found.comes, found.chance, strict=True) if f == 1}
    assert from_chunk == pytest.approx({2: 2 / 3, 3: 1 / 3})


def test_the_order_of_entities_changes_only_their_numbers() -> None:
    text = "Ada met Bram. Bram met Cora in Port Ellery. Cora wrote."
    names = ["Ada", "Bram", "Cora", "Port Ellery"]
    one, other = made(names, text), made(names[::-1], text)
    assert [sorted(3 - e for e in here) for here in named(other)] == named(one)
    assert {(3 - e, c): n for (e, c), n in times(other).items()} == times(one)


def test_no_name_at_all_can_be_stored_and_filtered() -> None:
    found = made(["Ada"], "So it was.")
    assert len(found) == 0
    assert found.within([0], [0]).entities == 1


@pytest.mark.slow
def test_indexing_again_or_in_two_steps_is_indexing_once(tmp_path: Path) -> None:
    papers = stories(5)

    def content(made_corpus: Corpus) -> dict[str, list[object]]:
        made_corpus.build()
        found = made_corpus.index().part(SENTENCES)
        return {f.name: np.asarray(getattr(found, f.name)).tolist() for f in fields(found)}

    once, twice = (Corpus.open(tmp_path / name, settings=PARTS) for name in ("once", "twice"))
    with once, twice:
        once.add(papers)
        twice.add(papers[:2])
        content(twice)
        twice.add(papers)
        assert content(twice) == content(twice) == content(once)


def test_indexing_calls_nobody_for_sentences(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=PARTS) as made_corpus:
        made_corpus.add(stories(2))
        assert made_corpus.build().usage.calls == 0


def test_a_filter_leaves_the_sentences_inside(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index={"parts": ["graph", "sentences"]}) as made_corpus:
        made_corpus.add(stories(4))
        made_corpus.build()
        index, rt = made_corpus.index(), made_corpus.runtime()
        inside = restrict_to_scope(index, Scope(documents=("story-01", "story-02")))
        found = inside.part(SENTENCES)
        assert 0 < len(found) < len(index.part(SENTENCES))
        ids = [c.id for c in inside.catalogue.chunks]
        known = inside.chunks(ids)
        texts = [known[name] for name in ids]
        alone = sentence_graph.fn([(inside.graph, texts)])[0]
        assert sentence_texts(found, texts) == sentence_texts(alone, texts)
        assert named(found) == named(alone)
        assert times(found) == times(alone)
        assert found.document.tolist() != []
        vectors = index.vectors_of(rt.embedder, "sentence")
        assert len(vectors) == len(index.part(SENTENCES))
        assert np.array_equal(inside.vectors_of(rt.embedder, "sentence"), vectors[found.number])
