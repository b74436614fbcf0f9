"""HippoRAG's, LinearRAG's and FastGraphRAG's scores, from records by loops and with the PageRank of networkx."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.graph.lookups import ties_of
from sensegraph.methods.fastgraphrag.fastgraphrag import FastGraphRAG
from sensegraph.methods.hipporag.facts import FACTS
from sensegraph.methods.hipporag.hipporag import GUTIERREZ2025, HippoRAG
from sensegraph.methods.linearrag.linearrag import LinearRAG
from sensegraph.methods.linearrag.sentences import SENTENCES
from sensegraph.retrieval.arms import rank_by_graph, seeds_of
from sensegraph.retrieval.assembling import ends_of
from sensegraph.types import Question

QUESTION = Question("Whom did Ada Harrow pay, and who sailed with Iris Quay?")


@cache
def vector(built: Corpus, text: str, role: str = "document") -> np.ndarray:
    return np.asarray(built.runtime().embedder.embed([text], role)[0], np.float64)  # type: ignore[arg-type]


def nearness(built: Corpus) -> list[float]:
    """Min–max normalised cosines of the question with every chunk."""
    index, asked = built.index(), vector(built, QUESTION.sought, "query")
    ids = [entry.id for entry in index.catalogue.chunks]
    near = [float(vector(built, index.chunks([name])[name].text) @ asked) for name in ids]
    return [(value - min(near)) / (max(near) - min(near)) for value in near]


def mentions(built: Corpus) -> dict[str, list[int]]:
    """The chunks, by position, that mention each entity."""
    place = {entry.id: i for i, entry in enumerate(built.index().catalogue.chunks)}
    return {e.id: sorted({place[c] for c in e.chunks}) for e in built.index().graph.entities}


def facts(built: Corpus) -> list[tuple[str, str, str, int]]:
    """Ends, text and number of chunks of each fact, as the part holds them."""
    known, entities = built.index().part(FACTS), built.index().graph.entities
    return [
        (entities[int(known.source[i])].id, entities[int(known.target[i])].id, known.text(i), len(known.stating(i)))
        for i in range(len(known))
    ]


def graph_of_facts(built: Corpus, parallel: float, *, context: bool) -> nx.Graph:
    """Edges of facts by their statements, of mentions by 1, and of names whose cosine is 0.8 or more by that."""
    made = nx.Graph()
    made.add_nodes_from([*range(len(built.index().catalogue.chunks)), *mentions(built)])

    def add(one: object, other: object, weight: float) -> None:
        made.add_edge(one, other, weight=weight + made.get_edge_data(one, other, {"weight": 0.0})["weight"])

    for source, target, _, stated in facts(built):
        add(source, target, parallel * stated)
    if context:
        for entity, chunks in mentions(built).items():
            for chunk in chunks:
                add(entity, chunk, 1.0)
    named = [e for e in built.index().graph.entities if sum(map(str.isalnum, e.name)) > 2]
    for one, other in combinations(named, 2):
        alike = float(vector(built, one.name) @ vector(built, other.name))
        if alike >= 0.8:
            add(one.id, other.id, alike)
    return made


def phrases(built: Corpus, method: HippoRAG) -> dict[str, float]:
    """The mass of entities: the mean over the linked facts of the fact's score, by the entity's chunks."""
    asked, held = vector(built, QUESTION.sought, "query"), mentions(built)
    scored = sorted(((float(vector(built, text) @ asked), a, b) for a, b, text, _ in facts(built)), reverse=True)
    linked = [(score / scored[0][0], a, b) for score, a, b in scored[: method.facts] if score > 0]
    found = {}
    for entity in held:
        own = [score / len(held[entity]) for score, a, b in linked for end in (a, b) if end == entity]
        if own:
            found[entity] = sum(own) / len(own)
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[: method.phrases])


@pytest.mark.parametrize("settings", [{}, dict(GUTIERREZ2025), {"phrase_share": 0.8, "damping": 0.8}])
def test_hipporag_is_networkx_pagerank_from_phrases_and_passages(built: Corpus, settings: dict[str, float]) -> None:
    """HippoRAG 2, §3.2, for our settings and those of the authors' code; every number from a record or a text."""
    method = HippoRAG(linking="vectors", filter="none", tolerance=1e-9, **settings)  # type: ignore[arg-type]
    mass, near = phrases(built, method), nearness(built)
    assert len(mass) == method.phrases
    if method.passage_factor:
        reset = {**{i: method.passage_factor * value for i, value in enumerate(near)}, **mass}
    else:
        scale = (1 - method.phrase_share) / sum(near)
        reset = {i: scale * value for i, value in enumerate(near)}
        reset |= {entity: method.phrase_share * value for entity, value in mass.items()}
    walk = graph_of_facts(built, method.parallel, context=True)
    wanted = nx.pagerank(walk, method.damping, reset, max_iter=1000, tol=1e-12)
    found, _ = method.rank(QUESTION, built.index(), built.runtime())
    assert len(found.positions) == len(near)
    assert found.scores == pytest.approx([wanted[i] for i in found.positions.tolist()], abs=2e-6)


def test_the_first_hipporag_is_networkx_pagerank_over_entities_alone(built: Corpus) -> None:
    """HippoRAG, §2.3: reset 1 / |P_i| at the entities of the question; a chunk gets what its entities have."""
    index, rt, held = built.index(), built.runtime(), mentions(built)
    persons = [e for e in index.graph.entities if " " in e.name]
    often, once = (choose(persons, key=lambda e: len(e.chunks)) for choose in (max, min))
    assert len(held[often.id]) > len(held[once.id])
    question = Question(f"Did {often.name} argue with {once.name}?")
    entities = [index.graph.entities[i].id for i in seeds_of(question, index, rt)]
    assert {often.id, once.id} <= {*entities}
    walk = graph_of_facts(built, 1.0, context=False).subgraph(held)
    there = nx.pagerank(walk, 0.5, {e: 1 / len(held[e]) for e in entities}, max_iter=1000, tol=1e-12)
    wanted: Counter[int] = Counter()
    for entity, chunks in held.items():
        for chunk in chunks:
            wanted[chunk] += there[entity]  # type: ignore[assignment]
    found, _ = HippoRAG(version=1, linking="vectors", tolerance=1e-9).rank(question, index, rt)
    assert dict(zip(found.positions.tolist(), found.scores.tolist(), strict=True)) == pytest.approx(
        {chunk: score for chunk, score in wanted.items() if score > 1e-9}  # networkx begins everywhere, abs=2e-6
    )


def test_linearrag_is_networkx_pagerank_from_activated_entities_and_passages(built: Corpus) -> None:
    """Zhuang et al. 2025: with one iteration the seeds stay; I(p) = w (λ near + ln(1 + Σ A ln(1 + n) / L))."""
    index, rt, known = built.index(), built.runtime(), built.index().part(SENTENCES)
    method, near = LinearRAG(iterations=1, comparing="vectors", tolerance=1e-9), nearness(built)
    count = len(near)
    seeds = set(seeds_of(QUESTION, index, rt, 2.0))
    named = [
        (entity, int(known.chunks[k]), int(known.times[k]))
        for entity in range(known.entities)
        for k in range(int(known.first[entity]), int(known.first[entity + 1]))
    ]
    texts = {i: index.chunks([entry.id])[entry.id].text for i, entry in enumerate(index.catalogue.chunks)}
    names = [e.name for e in index.graph.entities]
    assert all(texts[chunk].casefold().count(names[entity].casefold()) >= times for entity, chunk, times in named)
    walk = nx.Graph()
    walk.add_nodes_from(range(count + known.entities))
    for entity, chunk, times in named:
        walk.add_edge(count + entity, chunk, weight=times / sum(n for _, other, n in named if other == chunk))
    for i in range(count - 1):
        documents = [index.catalogue.chunks[j].document for j in (i, i + 1)]
        if documents[0] == documents[1]:
            walk.add_edge(i, i + 1, weight=1.0)
    reset = {count + entity: 1.0 for entity in seeds}
    for chunk in range(count):
        bonus = math.log(1 + sum(math.log(1 + n) for entity, other, n in named if other == chunk and entity in seeds))
        reset[chunk] = method.passages * (method.dense * near[chunk] + bonus)
    wanted = nx.pagerank(walk, method.damping, reset, max_iter=1000, tol=1e-12)
    found, _ = method.rank(QUESTION, index, rt)
    assert found.scores == pytest.approx([wanted[i] for i in found.positions.tolist()], abs=2e-6)
    assert len(found.positions) == count


@pytest.mark.parametrize("edges", ["simple", "weighted"])
def test_fastgraphrag_walks_as_networkx_does(built: Corpus, edges: str) -> None:
    index, rt = built.index(), built.runtime()
    method = FastGraphRAG(edges=edges, identity="none", tolerance=1e-12)  # type: ignore[arg-type]
    walk = nx.Graph()
    place = {e.id: i for i, e in enumerate(index.graph.entities)}
    walk.add_nodes_from(place.values())
    for r in index.graph.relations:
        walk.add_edge(place[r.source], place[r.target], weight=r.weight if edges == "weighted" else 1.0)
    reset = np.arange(len(place), dtype=np.float64) % 3
    wanted = nx.pagerank(walk, 0.85, dict(enumerate(reset)), max_iter=2000, tol=1e-13)
    found = method.walk(reset, index, rt, ends_of(index, rt), ties_of(index, rt))
    assert found == pytest.approx([wanted[i] for i in range(len(place))], abs=1e-9)


def test_the_graph_scores_chunks_by_the_neighbourhoods_of_networkx(built: Corpus) -> None:
    """weight / degree of the neighbour for each relation of a seed, 1 / |P| for each seed of a chunk (N83)."""
    index, rt, held = built.index(), built.runtime(), mentions(built)
    ids = [e.id for e in index.graph.entities]
    seeds = [ids[i] for i in seeds_of(QUESTION, index, rt)]
    known = nx.Graph((r.source, r.target) for r in index.graph.relations)
    chunk = {entry.id: i for i, entry in enumerate(index.catalogue.chunks)}
    wanted = [sum(1 / len(held[seed]) for seed in seeds if i in held[seed]) for i in range(len(chunk))]
    for seed in seeds:
        for r in index.graph.relations:
            if seed in (r.source, r.target):
                other = r.target if r.source == seed else r.source
                for stated in sorted({chunk[c] for c in r.chunks}):
                    wanted[stated] += r.weight / known.degree(other)
    found = rank_by_graph(QUESTION, index, rt, len(chunk))
    assert any(wanted)
    assert dict(zip(found.positions.tolist(), found.scores.tolist(), strict=True)) == pytest.approx(
        {i: score for i, score in enumerate(wanted) if score}
    )
