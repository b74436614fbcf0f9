"""Facts and the graph of a walk: sums over chunks, exact under filters and updates (hipporag §3, §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.hipporag.facts import FACTS, Facts, FactSettings, fact_texts, make_facts
from sensegraph.questions import Scope
from sensegraph.types import Description, Document, Entity, Graph, Relation, Source
from wired import corpus, stories

PARTS = {"engine": "offline", "index": {"parts": ["graph", "facts"]}}


def entity(name: str, *chunks: str) -> Entity:
    return Entity(name, name, "name", "", (), chunks, len(chunks), 1)


def relation(a: str, b: str, *said: tuple[str, str], label: str = "") -> Relation:
    told = tuple(Description(text, Source(chunk, 0, 1)) for chunk, text in said if text)
    return Relation(f"{a}-{b}", a, b, "", told, 1.0, tuple(dict.fromkeys(c for c, _ in said)), label)


def made(entities: Sequence[Entity], relations: Sequence[Relation] = (), chunks: str = "abc", **settings: str) -> Facts:
    graph = Graph(tuple(entities), tuple(relations))
    (found,) = make_facts.fn([(graph, list(chunks), None)], settings=FactSettings(**settings))  # type: ignore[arg-type]
    return found


def weights(found: Facts, parallel: float = 1.0) -> dict[tuple[int, int], float]:
    """The weight of every edge; entities are numbered after the chunks."""
    way, n = found.moves(parallel), int(found.chunks[0])
    out = {}
    mass = np.zeros(n + found.entities)
    for one, other, weight in (
        (found.source + n, found.target + n, parallel * np.diff(found.tells)),
        (np.repeat(np.arange(found.entities), np.diff(found.start)) + n, found.held, np.ones(len(found.held))),
        (found.one + n, found.other + n, found.near),
    ):
        np.add.at(mass, one, weight)
        np.add.at(mass, other, weight)
    for a, b, share in zip(way.source.tolist(), way.target.tolist(), way.share.tolist(), strict=True):
        out[a, b] = out.get((a, b), 0) + share * mass[a]
    return out


def test_a_fact_is_one_text_with_all_chunks_that_state_it() -> None:
    pair = relation("Ada", "Bram", ("a", "Ada paid Bram"), ("b", "Ada paid Bram"), ("b", "Ada hired Bram"))
    found = made([entity("Ada", "a", "b"), entity("Bram", "a", "b")], [pair])
    assert [found.text(i) for i in range(len(found))] == ["Ada paid Bram", "Ada hired Bram"]
    assert [found.stating(i).tolist() for i in range(2)] == [[0, 1], [1]]


def test_a_fact_edge_weighs_the_statements_of_its_pair_over_all_chunks() -> None:
    pair = relation("Ada", "Bram", ("a", "Ada paid Bram"), ("b", "Ada paid Bram"), ("b", "Ada hired Bram"))
    found = made([entity("Ada", "a", "b"), entity("Bram", "a", "b")], [pair])
    assert weights(found)[3, 4] == pytest.approx(3)
    assert weights(found, parallel=2)[3, 4] == pytest.approx(6)


def test_edges_are_symmetric_and_synonyms_add_to_facts() -> None:
    pair = relation("Harbour Council", "harbour councils", ("a", "both are one"))
    found = made([entity("Harbour Council", "a"), entity("harbour councils", "a")], [pair])
    edges = weights(found)
    assert edges[3, 4] == pytest.approx(2)  # the fact and a synonym of similarity 1
    assert all(edges[b, a] == pytest.approx(weight) for (a, b), weight in edges.items())


def test_a_long_sentence_is_told_as_names_with_the_label_that_it_holds() -> None:
    said = "In the spring of that year, as the papers wrote, Bram was hired by Ada for the new pier."
    ends = [entity("Ada", "a"), entity("Bram", "a")]
    found = made(ends, [relation("Ada", "Bram", ("a", said), label="was hired by")])
    assert found.text(0) == "Bram was hired by Ada"
    other = made(ends, [relation("Ada", "Bram", ("a", said), label="never met")])
    assert other.text(0) == "Bram Ada"  # a label that another chunk gave is not this chunk's
    assert made(ends, [relation("Ada", "Bram", ("a", said))], text="description").text(0) == said


def test_relations_without_a_description_are_facts_of_all_their_chunks() -> None:
    found = made([entity("Ada", "a", "c"), entity("Bram", "a", "c")], [relation("Ada", "Bram", ("a", ""), ("c", ""))])
    assert [found.text(0), found.stating(0).tolist()] == ["Ada Bram", [0, 2]]


def test_names_in_other_scripts_stay_apart_and_short_ones_are_no_synonyms() -> None:
    names = ["東京都", "大阪府", "Москва", "Минск", "Al", "al"]
    found = made([entity(name, "a") for name in names])
    assert len(found.one) == 0


def test_no_fact_at_all_is_a_graph_that_can_be_stored_and_filtered() -> None:
    found = made([entity("Ada", "a")])
    assert len(found) == 0
    assert not found.score("Ada").any()
    assert found.within([0], [0]).entities == 1


def content(found: Facts) -> dict[str, list[object]]:
    return {f.name: np.asarray(getattr(found, f.name)).tolist() for f in fields(found)}


@pytest.mark.slow
def test_indexing_in_two_steps_or_with_a_detour_is_indexing_once(tmp_path: Path) -> None:
    papers = stories(6)
    once, twice = (Corpus.open(tmp_path / name, settings=PARTS) for name in ("once", "twice"))
    with once, twice:
        once.add(papers[:5])
        once.build()
        twice.add(papers[:3])
        twice.build()
        twice.add(papers)
        twice.build()
        twice.remove(papers[5].id)
        twice.build()
        assert content(twice.index().part(FACTS)) == content(once.index().part(FACTS))


def test_what_is_outside_a_filter_gives_no_fact(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=PARTS) as made_corpus:
        made_corpus.add(stories(4))
        made_corpus.build()
        index = made_corpus.index()
        inside = restrict_to_scope(index, Scope(documents=("story-01", "story-02")))
        found, names = inside.part(FACTS), [e.name for e in inside.graph.entities]
        assert 0 < len(found) < len(index.part(FACTS))
        assert int(found.chunks[0]) == len(inside.catalogue.chunks)
        assert found.entities == len(names)
        texts = " ".join(c.text for c in inside.chunks([c.id for c in inside.catalogue.chunks]).values())
        for i in range(len(found)):
            assert names[found.source[i]] in texts
            assert names[found.target[i]] in texts
            assert max(found.stating(i)) < len(inside.catalogue.chunks)
        assert max(found.score("Whom did Ada Harrow pay?")) == max(
            index.part(FACTS).score("Whom did Ada Harrow pay?")[found.number]
        )


def test_with_a_model_facts_and_names_are_embedded_and_a_filter_cuts_the_vectors(
    tmp_path: Path, server: ScriptedServer
) -> None:
    with corpus(tmp_path, server, index={"parts": ["graph", "facts"]}) as made_corpus:
        made_corpus.add(stories(3))
        made_corpus.build()
        index, rt = made_corpus.index(), made_corpus.runtime()
        vectors = index.vectors_of(rt.embedder, "fact")
        assert len(vectors) == len(index.part(FACTS)) == len(fact_texts(index.graph, FactSettings()))
        first = rt.embedder.embed([index.part(FACTS).text(0)], "document")[0]
        assert np.allclose(vectors[0], first, atol=1e-4)
        inside = restrict_to_scope(index, Scope(documents=("story-01",)))
        assert np.array_equal(inside.vectors_of(rt.embedder, "fact"), vectors[inside.part(FACTS).number])
        assert made_corpus.estimate(Document("new", "Ada Harrow paid Bram Fenwick.")).embedding_tokens > 0


def test_facts_need_a_graph_and_settings_that_can_work(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="facts without graph"):
        Corpus.open(tmp_path, settings={"index": {"parts": ["facts"]}})
    with pytest.raises(SettingsError, match="synonym"):
        FactSettings(synonym=0)
    with pytest.raises(SettingsError, match="neighbours"):
        FactSettings(neighbours=0)
