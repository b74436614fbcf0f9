"""Reports and entities read with no question asked (N18, N76, G17)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.index.browse.elements import (
    find_entities,
    find_report,
    list_reports,
    read_entity,
    read_report,
)
from sensegraph.index.index import Index
from sensegraph.language.defining import AskedName, rate_mention
from sensegraph.runtime.results import Table
from sensegraph.types import Cluster, Document, Entity, Finding, Graph, Hierarchy, Source, Statement
from wired import stories

OFFLINE = {
    "engine": "offline",
    "index": {"chunk_tokens": 120, "chunk_overlap": 20, "clusters": {"max_cluster_size": 6}},
}


# so many sentences that some are in the overlap of two chunks
ANNOUNCED = " ".join(f"Ada Fenwick announced in {1822 + n} that Hugo Stone had left Quay Town." for n in range(20))


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """An index with claims, made without a model."""
    with Corpus.open(tmp_path_factory.mktemp("offline"), settings=OFFLINE) as corpus:
        corpus.add(stories(6), [Document("announced", ANNOUNCED)])
        corpus.build()
        yield corpus


@pytest.fixture(params=["model", "offline"])
def index(request: pytest.FixtureRequest, built: Corpus, offline: Corpus) -> Index:
    return (built if request.param == "model" else offline).index()


def texts(index: Index) -> dict[str, str]:
    return {d.id: index.document(d.id).text for d in index.catalogue.documents}


def top(index: Index, depth: int = 0) -> Cluster:
    """The report at `depth` with most children."""
    return max(index.clusters_at(depth), key=lambda c: (c.level > 0, len(c.members), c.id))


# ── lists ──


def test_the_reports_of_a_depth_cover_every_entity_once_and_come_best_first(index: Index) -> None:
    for depth in range(index.depth + 1):
        rows = list_reports(index, depth)
        assert sorted(r.id for r in rows) == sorted(c.id for c in index.clusters_at(depth))
        assert [r.rating for r in rows] == sorted((r.rating for r in rows), reverse=True)
        assert sum(r.entities for r in rows) == index.manifest.counts["entities"]


def test_a_row_counts_what_is_below_a_report(index: Index) -> None:
    rows = {r.id: r for d in range(index.depth) for r in list_reports(index, d)}
    assert rows
    for c in index.hierarchy.clusters:
        if c.id in rows:
            assert rows[c.id].children == sum(other.parent == c.id for other in index.hierarchy.clusters)
            assert (rows[c.id].entities, rows[c.id].documents) == (len(c.entities), c.documents)


# ── one report ──


def test_a_report_is_found_by_its_id_the_beginning_of_it_or_its_title_in_any_case(index: Index) -> None:
    titles = Counter(c.title.casefold() for c in index.hierarchy.clusters)
    wanted = next(c for c in index.hierarchy.clusters if titles[c.title.casefold()] == 1)
    for name in (wanted.id, wanted.id[:12], wanted.title, wanted.title.upper()):
        assert find_report(index, name) == wanted


def test_what_may_be_several_reports_is_refused_with_the_ids_to_choose_from(index: Index) -> None:
    firsts = Counter(c.id[0] for c in index.hierarchy.clusters)
    letter, many = firsts.most_common(1)[0]
    with pytest.raises(InputError, match=rf"may be any of {many} reports; give the id of one: {letter}\w{{19}} \("):
        find_report(index, letter)


def test_an_unknown_report_is_refused_with_the_nearest_titles(index: Index) -> None:
    title = index.hierarchy.clusters[0].title
    with pytest.raises(InputError, match=rf"no report '{title[:-1]}#'; did you mean .*{re.escape(title)}"):
        find_report(index, f"{title[:-1]}#")
    with pytest.raises(InputError, match="no report ''"):
        find_report(index, "")


def test_a_report_is_shown_whole_with_numbered_citations_of_the_exact_words(index: Index) -> None:
    documents = texts(index)
    assert index.hierarchy.clusters
    for cluster in index.hierarchy.clusters:
        page = read_report(index, cluster.id, 1)
        said = "\n".join([page.summary, *(f.text for f in page.findings)])
        assert [c.marker for c in page.citations] == list(range(1, len(page.citations) + 1))
        assert {int(n) for n in re.findall(r"\[(\d+)\]", said)} == {c.marker for c in page.citations}
        assert all(documents[c.document][c.start : c.end] == c.quote for c in page.citations)
        bare = re.sub(r" (\[\d+\])+", "", said)
        told = ["".join(s.text for s in part) for part in (cluster.summary, *(f.statements for f in cluster.findings))]
        assert bare.split() == " ".join(told).split()
        assert [f.summary for f in page.findings] == [f.summary for f in cluster.findings]
        assert page.unresolved == 0


def test_a_report_leads_down_to_its_children_and_they_lead_back(index: Index) -> None:
    page = read_report(index, top(index).id)
    assert page.parent is None
    assert len(page.children) >= 2
    assert sum(c.entities for c in page.children) == page.report.entities
    for child in page.children:
        below = read_report(index, child.id)
        assert below.parent == page.report
        assert below.report == child
        assert {e.id for e in below.entities} < {e.id for e in page.entities}


def test_a_report_lists_all_its_entities_and_exactly_the_relations_inside(index: Index) -> None:
    degree = {e.id: e.degree for e in index.graph.entities}
    assert index.hierarchy.clusters
    for cluster in index.hierarchy.clusters:
        page, members = read_report(index, cluster.id, 1), set(cluster.entities)
        assert {e.id for e in page.entities} == members
        assert [e.degree for e in page.entities] == sorted((degree[m] for m in members), reverse=True)
        inner = {r.id for r in index.graph.relations if r.source in members and r.target in members}
        assert {r.id for r in page.relations} == inner
        assert [r.weight for r in page.relations] == sorted((r.weight for r in page.relations), reverse=True)


def test_a_report_lists_the_claims_about_its_entities_with_their_places(offline: Corpus) -> None:
    index = offline.index()
    documents, claims = texts(index), list(index.graph.claims)
    assert claims
    for cluster in index.hierarchy.clusters:
        page = read_report(index, cluster.id, 1)
        about = {(c.object, c.type, c.description) for c in claims if c.subject in cluster.entities}
        assert {(c.object, c.type, c.description) for c in page.claims} == about
        for claim in page.claims:
            assert claim.place is not None
            assert claim.description in documents[claim.place.document][claim.place.start : claim.place.end]


def test_a_claim_that_two_overlapping_chunks_hold_is_told_once(offline: Corpus) -> None:
    index = offline.index()
    told = Counter(c for i in list_reports(index) for c in (replace(x, id="") for x in read_report(index, i.id).claims))
    assert set(told.values()) == {1}
    assert len(told) < len(index.graph.claims)


def test_the_chunks_of_a_report_are_those_of_its_entities_and_can_be_cut(index: Index) -> None:
    documents, cluster = texts(index), top(index)
    held = Counter(c for e in index.entities(cluster.entities).values() for c in e.chunks)
    page = read_report(index, cluster.id)
    assert {c.id: c.entities for c in page.chunks} == held
    assert page.chunks_in_all == len(held) > 1
    assert all(documents[c.place.document][c.place.start : c.place.end] == c.text for c in page.chunks)
    short = read_report(index, cluster.id, 1)
    assert short.chunks_in_all == len(held)
    assert [c.entities for c in short.chunks] == [max(held.values())]


# ── entities ──


def test_an_entity_is_found_by_its_name_in_any_case_or_by_its_id(index: Index) -> None:
    assert len(index.graph.entities) > 5
    for entity in list(index.graph.entities)[::7]:
        for name in (entity.name, entity.name.upper(), f"  {entity.name.lower()} ", entity.id):
            assert entity in find_entities(index, name)


def test_an_unknown_entity_is_refused_with_the_nearest_names(index: Index) -> None:
    name = max((e.name for e in index.graph.entities), key=lambda n: (len(n), n))
    with pytest.raises(InputError, match=rf"no entity '{name}s'; did you mean '{name}'"):
        find_entities(index, f"{name}s")


def test_all_entities_of_one_name_are_found_and_a_type_chooses(monkeypatch: pytest.MonkeyPatch, built: Corpus) -> None:
    """D11: two things of one name stay two."""
    index = built.index()
    one, other = list(index.graph.entities)[:2]
    twins = (replace(one, name="Paris", type="person"), replace(other, name="Paris", type="geo"))
    monkeypatch.setitem(vars(index), "graph", Graph(twins))
    monkeypatch.setitem(vars(index), "lookups", replace(index.lookups))
    monkeypatch.setattr(type(index.lookups), "called", lambda _, name: [0, 1] if name == "Paris" else [])
    assert {e.type for e in find_entities(index, "Paris")} == {"person", "geo"}
    assert find_entities(index, "Paris", "GEO") == [twins[1]]
    with pytest.raises(InputError, match="no entity 'Paris' of the type 'event'; there is one of: geo, person"):
        find_entities(index, "Paris", "event")


def test_an_entity_shows_what_each_chunk_says_of_it_and_where(index: Index) -> None:
    documents = texts(index)
    assert len(index.graph.entities) > 5
    for entity in list(index.graph.entities)[::5]:
        page = read_entity(index, entity)
        assert sorted(s.text for s in page.descriptions) == sorted(d.text for d in entity.descriptions)
        rated = [rate_mention(AskedName(entity.name), s.text) for s in page.descriptions]
        assert rated == sorted(rated, reverse=True)
        for said in page.descriptions:
            assert said.place is not None
            assert said.text in documents[said.place.document][said.place.start : said.place.end]


def test_an_entity_shows_its_neighbours_and_the_relations_to_them(index: Index) -> None:
    ends = [(r, {r.source, r.target}) for r in index.graph.relations]
    assert len(index.graph.entities) > 5
    for entity in list(index.graph.entities)[::5]:
        page = read_entity(index, entity)
        linked = {r.id: next(iter(e - {entity.id})) for r, e in ends if entity.id in e}
        assert {n.relation.id: n.entity.id for n in page.neighbours} == linked
        assert len(page.neighbours) == page.entity.degree
        weights = [n.relation.weight for n in page.neighbours]
        assert weights == sorted(weights, reverse=True)
        assert all(entity.name in (n.relation.source, n.relation.target) for n in page.neighbours)


def test_the_end_of_a_relation_that_its_texts_name_first_stands_first(tmp_path: Path) -> None:
    """Ids are in no order that means anything: half of the labels read backwards."""
    names = ["Ada Fenwick", "Hugo Stone", "Ida Marsh", "Noor Haag", "Tom Reeve", "Ruth Feld"]
    towns = ["Quay Town", "Skerry", "Linton", "Brindle", "Ellery", "Corby"]
    told = [f"{name} founded the harbour office of {town}. " for name, town in zip(names, towns, strict=True)]
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        corpus.add([Document("offices", "".join(told * 3))])
        corpus.build()
        index = corpus.index()
        rows = [n.relation for e in index.graph.entities if e.name in names for n in read_entity(index, e).neighbours]
    pairs = [(r.source, r.target) for r in rows if {r.source, r.target} & {*towns} and {r.source, r.target} & {*names}]
    right = {*zip(names, towns, strict=True)}
    assert len(right & {*pairs}) == len(names)
    assert not {(town, name) for name, town in right} & {*pairs}


def test_an_entity_shows_its_communities_from_the_coarsest_down(index: Index) -> None:
    assert len(index.graph.entities) > 5
    for entity in list(index.graph.entities)[::5]:
        page = read_entity(index, entity)
        holds = [c.id for c in index.hierarchy.clusters if entity.id in c.entities]
        assert [c.id for c in page.communities] == holds
        assert [c.depth for c in page.communities] == list(range(len(holds)))


# ── how it reads ──


def test_reading_a_page_scans_no_table(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are fetched by id and position, however large the index is."""
    cluster, entity = top(index), next(iter(index.graph.entities))

    def refuse(self: Table[object]) -> None:
        raise AssertionError("a whole table was read")

    monkeypatch.setattr(Table, "raw", refuse)
    monkeypatch.setattr(Table, "__iter__", refuse)
    monkeypatch.setattr(Table, "ids", refuse)
    assert read_report(index, cluster.id, 3).entities
    assert read_entity(index, find_entities(index, entity.name)[0]).entity.name == entity.name


def test_what_is_not_stored_in_a_table_is_read_too(built: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the parts of an index behind a filter are."""
    index, plain = built.index(), built.index()
    monkeypatch.setitem(vars(plain), "graph", Graph(*(tuple(getattr(index.graph, f)) for f in _GRAPH)))
    monkeypatch.setitem(vars(plain), "hierarchy", Hierarchy(tuple(index.hierarchy.clusters)))
    cluster, entity = top(index), next(iter(index.graph.entities))
    assert read_report(plain, cluster.id[:12]) == read_report(index, cluster.id)
    assert read_entity(plain, entity) == read_entity(index, entity)
    with pytest.raises(InputError, match="the nearest"):
        find_entities(plain, "nobody of this name")


_GRAPH = ("entities", "relations", "claims")


def test_sources_that_lead_nowhere_are_counted_and_a_gone_chunk_has_no_place(
    built: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = built.index()
    cluster = top(index)
    lost = (Statement("Gone.\0", (), (Source("nowhere", 0, 5),)),)
    broken = replace(cluster, summary=lost, findings=(Finding("So", lost),))
    monkeypatch.setattr(Index, "clusters", lambda _, ids: {broken.id: broken} if broken.id in ids else {})
    page = read_report(index, cluster.id, 1)
    assert (page.summary, page.findings[0].text, page.unresolved, page.citations) == ("Gone.", "Gone.", 2, ())
    entity: Entity = next(iter(index.graph.entities))
    homeless = replace(entity, descriptions=tuple(replace(d, source=lost[0].sources[0]) for d in entity.descriptions))
    assert {s.place for s in read_entity(index, homeless).descriptions} == {None}


def test_an_index_without_anything_says_so(built: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    index = built.index()
    monkeypatch.setitem(vars(index), "hierarchy", Hierarchy())
    with pytest.raises(InputError, match="There is no report 'x': the index holds none"):
        find_report(index, "x")
