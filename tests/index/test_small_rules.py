"""Small rules of the index by examples that are counted by hand: orders, limits, and what is said of times."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.errors import InputError, SettingsError
from sensegraph.index.browse.elements import find_report, list_reports
from sensegraph.index.estimate import foresee_extraction
from sensegraph.index.graph.describing import crowded_elements, split_context
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.lookups import build_ties, entity_salience, tie_chunks
from sensegraph.index.hierarchy.communities import ClusterSettings, Communities, count_fates
from sensegraph.index.left_out import list_left_out, recovered_chunks
from sensegraph.index.manifest import Catalogue, ChunkEntry, DocumentEntry
from sensegraph.index.restricted.dates import Fact
from sensegraph.index.restricted.timeline import describe_interval
from sensegraph.language.text import count_tokens
from sensegraph.runtime.batches import SetAside
from sensegraph.types import (
    Chunk,
    Cluster,
    Context,
    Description,
    Entity,
    Graph,
    Hierarchy,
    Passage,
    Relation,
    Source,
)

# ── lists of reports ──


def report(name: str, rating: float, documents: int, entities: int, depth: int = 0, level: int = 0) -> Cluster:
    members = tuple(f"e{i}" for i in range(entities))
    made = Cluster(name, level, depth, "", members, members, f"Title {name[:2]}")
    return replace(made, rating=rating, documents=documents)


REPORTS = (
    report("aa1", 5.0, 2, 3),
    report("aa2", 5.0, 3, 1),
    report("bb1", 7.0, 1, 1),
    report("bb2", 5.0, 2, 4, level=1),
    report("cc1", 5.0, 2, 3, depth=1),
)


def shelf(*clusters: Cluster) -> Any:
    known = {c.id: c for c in clusters}
    depths = tuple(sum(c.depth == d for c in clusters) for d in range(3))
    return SimpleNamespace(
        hierarchy=Hierarchy(clusters),
        manifest=SimpleNamespace(clusters=depths),
        clusters=lambda ids: {i: known[i] for i in ids if i in known},
    )


def test_reports_come_by_rating_then_documents_then_entities_then_id() -> None:
    assert [r.id for r in list_reports(shelf(*REPORTS))] == ["bb1", "aa2", "bb2", "aa1"]
    assert [r.id for r in list_reports(shelf(*REPORTS), 1)] == ["bb1", "aa2", "aa1", "cc1"]
    assert [r.id for r in list_reports(shelf(*REPORTS), 9)] == ["bb1", "aa2", "aa1", "cc1"]


def test_a_report_is_found_by_its_id_its_beginning_or_its_title_and_five_are_offered() -> None:
    many = shelf(*(report(f"ab{i}", 1.0, 1, 1) for i in range(7)), report("cd1", 1.0, 1, 1))
    assert find_report(many, "cd").id == find_report(many, "TITLE CD").id == find_report(many, "cd1").id == "cd1"
    with pytest.raises(InputError, match="any of 7 reports") as caught:
        find_report(many, "ab")
    assert str(caught.value).count("(Title ab, depth 0)") == 5
    with pytest.raises(InputError, match="no report 'Titel'"):
        find_report(many, "Titel")


# ── communities and descriptions ──


@pytest.mark.parametrize("name", ["max_cluster_size", "resolution", "randomness"])
def test_settings_of_communities_are_above_nought(name: str) -> None:
    assert ClusterSettings() == ClusterSettings(max_cluster_size=10, resolution=1.0, randomness=0.001, seed=0)
    assert ClusterSettings(**{name: 1}) is not None
    for wrong in (0, -1, float("inf")):
        with pytest.raises(SettingsError, match=f"index.clusters.{name}"):
            ClusterSettings(**{name: wrong})
    with pytest.raises(SettingsError, match="seed"):
        ClusterSettings(seed=-1)
    assert (Communities().groups, Communities().modularity, count_fates(())) == ((), 0.0, {})


def test_settings_of_the_graph_have_their_least() -> None:
    assert (GraphSettings().describe_above, GraphSettings().summary_input) == (500, 4000)
    assert GraphSettings(describe_above=0, summary_input=1).summary_input == 1
    for wrong in ({"describe_above": -1}, {"summary_input": 0}):
        with pytest.raises(SettingsError):
            GraphSettings(**wrong)


def described(*texts: str, name: str = "Ada") -> Entity:
    said = tuple(Description(text, Source("c", i, i + 1)) for i, text in enumerate(texts))
    return Entity(name.lower(), name, "person", "", said, ("c",), 1, 0)


def test_what_says_more_than_the_limit_in_several_texts_is_crowded() -> None:
    texts = ("Ada lit the lamp.", "Ada went home.", "Ada lit the lamp.")
    size = count_tokens("\n".join(texts[:2]))
    graph = Graph((described(*texts), described("long " * 50, name="Bo")))

    def crowded(limit: int) -> list[tuple[str, str, int]]:
        found = crowded_elements(graph, GraphSettings(describe_above=limit))
        return [(name, context.title, len(context.passages)) for name, context in found]

    assert crowded(size - 1) == [("ada", "Ada", 2)]
    assert crowded(size) == []
    linked = replace(graph, relations=(Relation("r", "ada", "bo", "", described(*texts).descriptions, 1.0, ("c",)),))
    found = dict(crowded_elements(linked, GraphSettings(describe_above=size - 1)))
    assert {name: context.title for name, context in found.items()} == {"ada": "Ada", "r": "Ada — Bo"}


def test_texts_are_parted_by_what_fits_and_at_least_in_pairs() -> None:
    def parts(budget: int, count: int) -> list[int]:
        passages = tuple(Passage("description", "", "one two three") for _ in range(count))
        return [len(c.passages) for c in split_context(Context(passages, "T"), budget)]

    size = count_tokens("one two three")
    assert parts(2 * size, 5) == [2, 2, 1]
    assert parts(3 * size - 1, 4) == [2, 2]
    assert parts(size, 5) == parts(1, 5) == [2, 2, 1]
    assert parts(1, 1) == [1]
    assert parts(5 * size, 5) == parts(5 * len("one two three"), 5) == [5]


# ── what is foreseen ──


def test_names_are_foreseen_as_runs_of_capitals_and_their_neighbours() -> None:
    text = "Yesterday Ada Finch met the Board of Trade. The I of Bo! Ada Finch, Bo and X left."
    found = foresee_extraction(Chunk("c", "d", 0, len(text), 1, text), {"ada finch": "person"})
    assert [(e.name, e.type) for e in found.entities] == [
        ("Yesterday Ada Finch", "name"),
        ("Board of Trade", "name"),
        ("The I of Bo", "name"),
        ("Ada Finch", "person"),
        ("Bo", "name"),
    ]
    assert [(r.source, r.target) for r in found.relations] == [
        ("Yesterday Ada Finch", "Board of Trade"),
        ("Ada Finch", "Bo"),
    ]
    long = foresee_extraction(Chunk("c", "d", 0, 9, 1, "Ada went " + "on and " * 60 + "on."))
    assert len(long.entities[0].description.split()) == 40


# ── ties between chunks ──


def test_chunks_are_tied_by_mentions_titles_and_relations_with_their_weights() -> None:
    """Three chunks; Ada is in two, Bo in one; the second document is called Ada; ln(1 + (N − df + ½)/(df + ½))."""
    said = (Description("So.", Source("c0", 0, 1)),)
    ada = Entity("e0", "Ada", "person", "", said, ("c0", "c1"), 2, 1)
    bo = Entity("e1", "Bo", "person", "", said, ("c1", "gone"), 1, 1)
    link = Relation("r0", "e0", "e1", "", said, 3.0, ("c1", "gone"))
    entries = tuple(ChunkEntry(f"c{i}", f"d{max(0, i - 1)}", "k", 0, 5) for i in range(3))
    documents = (DocumentEntry("d0", "k", "The lamp", "", ()), DocumentEntry("d1", "k", "ada (person)", "", ()))
    ties = build_ties.fn([tie_chunks(Graph((ada, bo), (link,)), Catalogue(documents, entries))])[0]
    assert [ties.mentioning(e).tolist() for e in (0, 1)] == [[0, 1], [1]]
    assert [ties.titled(e).tolist() for e in (0, 1)] == [[2], []]
    assert (ties.stating(0).tolist(), ties.weight.tolist()) == ([1], [3.0])
    salient = np.log1p(1.5 / 2.5) / np.log1p(2.5 / 1.5)
    assert entity_salience(ties, [0, 1], 3).tolist() == pytest.approx([salient, 1.0])
    weights = {
        (0, 3): salient, (1, 3): salient, (1, 4): 1.0, (2, 3): 2 * salient, (3, 4): 0.6,
        (0, 2): 2 * salient, (1, 2): 2 * salient, (2, 0): 0.4 * salient, (2, 1): 0.4 * salient,
    }  # fmt: skip
    weights |= {(b, a): w for (a, b), w in list(weights.items()) if 3 in (a, b) or 4 in (a, b)}
    out = {a: sum(w for (first, _), w in weights.items() if first == a) for a, _ in weights}
    moves = zip(ties.source.tolist(), ties.target.tolist(), ties.walk.share.tolist(), strict=True)
    assert {(a, b): share for a, b, share in moves} == pytest.approx(
        {(a, b): w / out[a] for (a, b), w in weights.items()}
    )


def test_a_name_that_titles_more_than_five_documents_titles_none() -> None:
    entity = Entity("e0", "Ada", "person", "", (), ("c0",), 1, 0)
    for count, titled in ((5, [0, 1, 2, 3, 4]), (6, [])):
        entries = tuple(ChunkEntry(f"c{i}", f"d{i}", "k", 0, 5) for i in range(count))
        documents = tuple(DocumentEntry(f"d{i}", "k", "Ada", "", ()) for i in range(count))
        ties = build_ties.fn([tie_chunks(Graph((entity,)), Catalogue(documents, entries))])[0]
        assert ties.titled(0).tolist() == titled


# ── what is said of times ──


@pytest.mark.parametrize(
    ("starts", "ends", "last", "reason", "said"),
    [
        ("2011", "2019", "2018", "", "2011 – 2018"),
        ("2011", "2012", "2011", "", "2011"),
        ("2011", "", "", "", "since 2011"),
        ("", "2019", "2018", "", "until 2018"),
        ("2011", "2018-09-01", "2020", "superseded", "2011 – before 2018-09-01"),
        ("", "2018-09-01", "", "superseded", "until before 2018-09-01"),
        ("2011", "", "2018", "superseded", "2011 – 2018"),
    ],
)
def test_an_interval_is_said_as_the_text_says_it_or_by_what_ended_it(
    starts: str, ends: str, last: str, reason: str, said: str
) -> None:
    fact = Fact("f", "d", 0, 1, "So.", starts, last, starts, ends, (), reason=reason)
    assert describe_interval(fact) == said
    assert describe_interval(replace(fact, flagged=True)) == "unclear"


# ── what is left out ──


def test_chunks_that_could_not_be_read_are_listed_before_texts_that_could_not_be_written() -> None:
    read = Chunk("c1", "z", 3, 9, 2, "A text", "Title")
    aside = [
        SetAside("k1", "aggregate", Context((Passage("entity", "e0", "", title="Ada"),)), "declined", "no"),
        SetAside("k2", "extract", read, "declined", "no"),
        SetAside("k3", "claims", read, "form", "cut", partial=True),  # type: ignore[arg-type]
        SetAside("k4", "extract", replace(read, document="a"), "content refused", "no"),
    ]
    found = list_left_out(aside, Graph(()), lambda: [read])
    assert [(c.what, c.document, c.name, c.partial) for c in found] == [
        ("chunk", "a", "", False), ("chunk", "z", "", False), ("aggregate", "", "Ada", False),
        ("claims", "z", "Title", True),
    ]  # fmt: skip
    assert recovered_chunks(found, aside[2:])
    assert not recovered_chunks(found, aside)
