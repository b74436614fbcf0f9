"""Rules of the methods that walk over names, sentences and facts, and of the groups that two of them make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from sensegraph.algorithms.ranking import Stack
from sensegraph.extractions import Triple
from sensegraph.methods.graphrag import told_reports
from sensegraph.methods.hipporag import facts, triples
from sensegraph.methods.hirag import layering, layers
from sensegraph.methods.hirag.layered import LayerSettings
from sensegraph.methods.leanrag import aggregated, aggregates
from sensegraph.methods.linearrag import linearrag
from sensegraph.methods.linearrag.sentences import sentence_graph, sentence_texts
from sensegraph.methods.walk import name_runs, name_words, shown_names
from sensegraph.methods.walk.naming import NameSettings, make_names
from sensegraph.methods.walk.walk import names_in_question
from sensegraph.runtime.results import Result
from sensegraph.types import Chunk, Cluster, Description, Entity, Finding, Graph, Relation, Source, Statement


def _cut(texts: Mapping[str, str], size: int) -> list[tuple[Chunk, ...]]:
    """Documents by title in chunks of so many characters."""
    return [
        tuple(
            Chunk(f"d{i}-{a}", f"d{i}", a, min(a + size, len(text)), 9, text[a : a + size], title)
            for a in range(0, max(len(text), 1), size)
        )
        for i, (title, text) in enumerate(texts.items())
    ]


def name_texts(
    texts: Mapping[str, str], questions: Sequence[str] = (), size: int = 160, settings: Mapping[str, Any] | None = None
) -> list[Any]:
    """The index of the names of some texts, which names questions have, and what half of the chunks leave of it."""
    noted = name_words.spell_documents.fn(_cut(texts, size))
    known = shown_names.make_gazetteer(noted)
    names, columns = name_runs.name_run(noted, [name_runs.count_mentions(one, known) for one in noted])
    whole = name_words.NamedDocuments([columns], [names], [len(noted)], known)
    (found,) = make_names.fn([whole], settings=NameSettings(**settings or {}))
    half = found.within(np.arange(0, found.chunks, 2))
    columns_of = (
        "salience", "chunks_of", "bearers", "proper", "start", "held", "times", "bears", "begin", "holders", "borne",
        "hint", "hints", "title", "aside", "document", "way", "to", "share", "facts",
    )  # fmt: skip
    return [
        [np.round(np.asarray(getattr(one, name), np.float64), 6) for name in columns_of] for one in (found, half)
    ] + [names_in_question(question, found) for question in questions]  # fmt: skip


def activate(
    names: Sequence[str], texts: Sequence[str], seeds: Mapping[int, float], near: Sequence[float], *how: float
) -> list[Any]:
    """The sentences of some chunks with the names in them, and what spreads from seeds over sentences that are near."""
    entities = tuple(Entity(f"e{i}", name, "name", "", (), ("c0",), 1, 0) for i, name in enumerate(names))
    chunks = [Chunk(f"c{i}", f"d{i}", 0, len(text), 1, text) for i, text in enumerate(texts)]
    (found,) = sentence_graph.fn([(Graph(entities), chunks)])
    given = np.array([seeds.get(str(i), 0.0) for i in range(len(names))])  # type: ignore[call-overload]
    sigma = np.resize(np.array(near), len(found))
    rounds, delta, kappa = how
    active = linearrag.spread_activation(found, lambda rows: sigma[rows], given, int(rounds), delta, int(kappa))
    return [
        sentence_texts(found, chunks), found.start, found.held, found.first, found.chunks, found.times,
        np.round(active.weight, 6), active.hop,
    ]  # fmt: skip


def state_facts(
    names: Sequence[str], told: Sequence[Sequence[Any]], question: str, settings: Mapping[str, Any] | None = None
) -> list[Any]:
    """Facts of relations, written as two names, a label, and texts by chunk; how they score; what half leaves."""
    chunks = sorted({chunk for *_, said in told for chunk in said})
    entities = tuple(Entity(n, n, "name", "", (), tuple(chunks[i % 3 : i % 3 + 2]), 1, 1) for i, n in enumerate(names))
    relations = tuple(
        Relation(f"r{i}", one, other, "", tuple(Description(t, Source(c, 0, 1)) for c, t in said.items() if t), 1.0,
                 tuple(said), label)
        for i, (one, other, label, said) in enumerate(told)
    )  # fmt: skip
    made = facts.FactSettings(**settings or {})
    rows = np.array([[np.cos(i * (j + 1.3)) for j in range(4)] for i in range(len(names))], np.float32)
    vectors = Stack([rows / np.linalg.norm(rows, axis=1, keepdims=True)]) if len(names) else None
    (found,) = facts.make_facts.fn([(Graph(entities, relations), chunks, vectors)], settings=made)
    half = found.within(list(range(0, len(names), 2)), list(range(0, len(chunks), 2)))
    return [
        [[one.text(i), one.stating(i), int(one.source[i]), int(one.target[i])] for i in range(len(one))]
        for one in (found, half)
    ] + [np.round(found.score(question), 6), facts.fact_texts(Graph(entities, relations), made),
         [[way.source, way.target, np.round(way.share, 6)] for way in (found.walk, found.moves(2.0, context=False))],
    ]  # fmt: skip


def join_triples(names: Mapping[str, Sequence[str]], *told: Sequence[Sequence[str]]) -> list[Any]:
    """The graph that triples of chunks make with entities, given as names with their aliases."""
    entities = tuple(Entity(n, n, "name", "", (), ("c0",), 1, 1, aliases=tuple(others)) for n, others in names.items())
    said = tuple(tuple(Triple(*row) for row in rows) for rows in told)
    found = triples.join_triples(Graph(entities), [f"c{i}" for i in range(len(said))], said)
    called = {e.id: e.name for e in found.entities}
    return [
        [[e.name, e.type, e.chunks] for e in found.entities],
        [[called[r.source], r.label, called[r.target], r.weight, r.chunks, [d.text for d in r.descriptions]]
         for r in found.relations],
    ]  # fmt: skip


def choose_findings(
    reports: Sequence[tuple[str, float, str, Sequence[tuple[str, str]]]], wanted: Sequence[str], listed: str = ""
) -> list[Any]:
    """Which findings of reports, given as title, rating, entities and findings, bear on stems, and what is told."""
    clusters = [
        Cluster(
            f"p{i}", 0, 0, "", tuple(members), tuple(members), title, rating=rating,
            findings=tuple(Finding(head, tuple(Statement(t, ("x",), (Source("c", 9 * j, 9 * j + 5),)[: j % 3])
                                               for j, t in enumerate(text.split("|")))) for head, text in found),
        )
        for i, (title, rating, members, found) in enumerate(reports)
    ]  # fmt: skip
    findings = [one for cluster in clusters for one in told_reports.list_findings(cluster)]
    chosen, weights = told_reports.choose_findings(findings, frozenset(wanted), frozenset(listed))
    told = [list(told_reports.tell_finding(one, weights)) for one in chosen]
    return [[f"{one.cluster.id} {one.headline}" for one in chosen], weights,
            [[[s.text, [p.start for p in s.sources]] for s in one] for one in told]]  # fmt: skip


def foresee_groups(chunks: Sequence[str], before: Sequence[int], size: int) -> list[Any]:
    """How nodes, each with its first chunk, are grouped where some have a group of an earlier build."""
    names = [f"n{i}" for i in range(len(chunks))]
    known = np.array(before, np.int32)
    earlier = SimpleNamespace(labels=lambda *_: known)
    upper: Any = SimpleNamespace(
        earlier=earlier, sizes=[1], settings=SimpleNamespace(cluster_size=size),
        known={n: SimpleNamespace(chunks=tuple(c)) for n, c in zip(names, chunks, strict=True)},
    )  # fmt: skip
    lower: Any = SimpleNamespace(followed=earlier, done=[], settings=SimpleNamespace(cluster_size=size))
    level: Any = SimpleNamespace(
        nodes=[SimpleNamespace(id=n, chunks=tuple(c)) for n, c in zip(names, chunks, strict=True)]
    )
    nothing = Result("", Stack())
    return [
        layers.ForeseenLayers.clusters(upper, names, nothing),
        aggregates.ForeseenAggregates.labels(lower, level, nothing),
    ]


def stop_layers(found: Sequence[float], settings: Mapping[str, Any]) -> bool:
    """Whether clusters of the last of some sparsities are summed up no more."""
    return layering.stops_layers(found, LayerSettings(**settings))


def trace_ancestry(
    entities: str, clusters: Sequence[tuple[str, int, str, str]], links: Sequence[Sequence[str]]
) -> list[Any]:
    """Who is above whom, of clusters given as id, level, parent and members, and which of them are linked."""
    made = [Cluster(name, level, 0, parent, tuple(members), ()) for name, level, parent, members in clusters]
    relations = [SimpleNamespace(source=a, target=b) for a, b in links]
    whole = cast(Any, SimpleNamespace(clusters=made, relations=relations))
    (found,) = aggregated.make_ancestry.fn([(list(entities), whole)])
    return [found.home, found.parent, found.start, found.other, found.links, found.among(range(len(made)))]
