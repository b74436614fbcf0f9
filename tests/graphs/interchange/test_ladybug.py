"""The graph as a database of LadybugDB: it opens, it holds all, and it answers as our own patterns do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.resources import files
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import ladybug
import pytest

from drawn_patterns import draw_pattern
from little_graphs import Given, entity, relation
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.importing import Imported
from sensegraph.graphs.interchange.ladybug import export_ladybug
from sensegraph.graphs.match.facets import collect_facets
from sensegraph.graphs.match.matches import Matches, Request, match_patterns
from sensegraph.graphs.match.shelf import GraphReader
from sensegraph.index.index import Index
from sensegraph.types import Claim, Entity, Graph, Hierarchy, Source

MEMORY = 64 << 20


class Opened:
    """A database that can be asked."""

    def __init__(self, path: Path | str, *, read_only: bool = True) -> None:
        self.database = ladybug.Database(str(path), buffer_pool_size=MEMORY, max_num_threads=1, read_only=read_only)
        self.connection = ladybug.Connection(self.database)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        found: Any = self.connection.execute(query)
        return [tuple(row) for row in found.get_all()]

    def close(self) -> None:
        self.connection.close()
        self.database.close()


def exported(index: Index, folder: Path) -> Opened:
    return Opened(export_ladybug(index, folder).files[0])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("demo"), settings={"engine": "offline"}) as corpus:
        corpus.add(str(files("sensegraph") / "data" / "demo"))
        corpus.build()
        yield corpus


@pytest.fixture(scope="module")
def demo_database(demo: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    database = exported(demo.index(), tmp_path_factory.mktemp("database"))
    yield database
    database.close()


# ── what it holds ──


def test_the_database_holds_every_entity_relation_and_claim(demo: Corpus, demo_database: Opened):
    graph = demo.index().graph
    assert dict(demo_database.rows("MATCH (a:Entity) RETURN a.id, a.name")) == {e.id: e.name for e in graph.entities}
    assert dict(demo_database.rows("MATCH ()-[r:RELATED]->() RETURN r.id, r.weight")) == {
        r.id: r.weight for r in graph.relations
    }
    assert dict(demo_database.rows("MATCH (k:Claim)-[:ABOUT]->(a) RETURN k.id, a.id")) == {
        c.id: c.subject for c in graph.claims
    }
    assert len(graph.claims) > 10


def test_an_entity_has_all_that_the_index_says_of_it(demo: Corpus, demo_database: Opened):
    columns = "name, type, description, aliases, frequency, degree, documents, chunks, community_0, community_0_title"
    asked = ", ".join(f"a.{c}" for c in columns.split(", "))
    (row,) = demo_database.rows(f"MATCH (a:Entity {{name: 'Jonas Weil'}}) RETURN {asked}")
    (e,) = demo.entities("Jonas Weil")
    assert row[:6] == (e.name, e.type, e.description, list(e.aliases), e.frequency, e.degree)
    assert set(row[6]) == set(demo.index().documents_of(e.chunks).values())
    assert row[7] == list(e.chunks)
    home = next(c for c in demo.index().hierarchy.clusters if c.id == row[8])
    assert e.id in home.entities
    assert (home.depth, home.title) == (0, row[9])


def test_a_relation_leads_from_its_subject_and_names_its_documents(demo: Corpus, demo_database: Opened):
    found = demo_database.rows(
        "MATCH (a)-[r:RELATED]->(b) RETURN r.id, a.id, b.id, r.source, r.label, r.directed, r.description, r.documents"
    )
    index = demo.index()
    known = index.relations([row[0] for row in found])
    assert len(known) == len(index.graph.relations) > 100
    for name, a, b, source, label, directed, description, documents in found:
        r = known[name]
        assert (a, b, source, directed) == (r.source, r.target, r.source, r.directed)
        assert (label, description) == (r.label or None, r.description or None)
        assert set(documents) == set(index.documents_of(r.chunks).values()) != set()


HOSTILE = "A \"quoted\", <b>odd</b> & 'n' \\u0022 \\ name;\nwith two lines\u2028 and \x07 \x85 \r\n é 李 😀"


def hostile_index() -> Index:
    """Two entities, of which one has a name that no format likes, a relation and a claim with little else."""
    a, b = entity(0, HOSTILE, "person"), entity(1, "Bo", "", (HOSTILE,))
    claim = Claim("k0", a.id, HOSTILE, "", "TRUE", HOSTILE, "", "", Source("c0", 0, 5))
    return Whole(Graph((a, b), (relation(0, a, b, (HOSTILE,), HOSTILE),), (claim,)))


class Whole(Given):
    """An index that is a graph without communities."""

    hierarchy = Hierarchy()
    depth = 0


def test_no_name_ends_its_text_early_and_what_is_missing_is_null(tmp_path: Path):
    database = exported(hostile_index(), tmp_path)
    assert set(database.rows("MATCH (a:Entity) RETURN a.name, a.type")) == {(HOSTILE, "person"), ("Bo", None)}
    assert database.rows("MATCH ()-[r:RELATED]->() RETURN r.label, r.description, r.`starts`") == [
        (HOSTILE, HOSTILE, None)
    ]
    assert database.rows("MATCH (k:Claim)-[:OBJECT]->(a) RETURN k.object, a.name, k.type") == [(HOSTILE, HOSTILE, None)]
    database.close()


def test_the_script_makes_the_same_database_and_running_it_twice_changes_nothing(tmp_path: Path):
    (script,) = export_ladybug(hostile_index(), tmp_path / "script", script=True).files
    database = Opened(tmp_path / "made", read_only=False)
    direct = exported(hostile_index(), tmp_path / "direct")
    queries = (
        "MATCH (a:Entity) RETURN a.* ORDER BY a.id",
        "MATCH (a)-[r:RELATED]->(b) RETURN a.id, r.*, b.id",
        "MATCH (k:Claim) RETURN k.*",
        "MATCH (k:Claim)-[t]->(a) RETURN k.id, label(t), a.id ORDER BY label(t), a.id",
    )
    for _ in range(2):
        for line in script.read_bytes().decode().split(";\n")[:-1]:
            database.connection.execute(line)
        for query in queries:
            assert database.rows(query) == direct.rows(query) != []
    database.close()
    direct.close()


# ── writing it ──


def test_a_folder_that_is_not_empty_is_written_to_only_by_force(tmp_path: Path):
    exported(hostile_index(), tmp_path).close()
    with pytest.raises(InputError, match="is not empty"):
        export_ladybug(hostile_index(), tmp_path)
    (path,) = export_ladybug(Whole(Graph((entity(0, "Ann", "person"),))), tmp_path, force=True).files
    database = Opened(path)
    assert database.rows("MATCH (a) RETURN a.name") == [("Ann",)]
    database.close()
    assert [p.name for p in tmp_path.iterdir()] == ["graph.lbug"]


def test_without_the_library_the_error_names_the_extra_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "ladybug", None)
    with pytest.raises(InputError, match=r"sensegraph\[ladybug\]"):
        export_ladybug(hostile_index(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert export_ladybug(hostile_index(), tmp_path / "out", script=True).counts["entities"] == 2


# ── patterns ──


def drawn_graph(seed: int) -> Graph:
    """Thirty entities, some with the same name, ninety relations and twenty claims."""
    random = Random(seed)
    types, labels = ("person", "firm", "place_of_work", ""), ("founded", "WORKS_AT", "paid-for", "")
    names = [f"{a}{b}" for a in ("Ann", "Bo", "Cid", "Dee", "Orb") for b in ("", " Lee", " Roe", "ton", "'s")]
    entities: list[Entity] = []
    for i in range(30):
        aliases = tuple(random.sample(("Boss", "Anna", "The Old One"), random.randint(0, 2)))
        entities.append(entity(i, random.choice(names), random.choice(types), aliases))
    pairs = random.sample([(a, b) for a in entities for b in entities if a.id < b.id], 90)
    relations = []
    for i, (a, b) in enumerate(pairs):
        a, b = random.choice([(a, b), (b, a)])
        texts = tuple(f"{a.name} met {b.name} {n} times." for n in range(random.randint(1, 3)))
        weight = random.choice([1.0, 2.5, 4.0])
        relations.append(relation(i, a, b, texts, random.choice(labels), weight, random.random() < 0.7))
    degrees = {e.id: sum(e.id in (r.source, r.target) for r in relations) for e in entities}
    entities = [entity(i, e.name, e.type, e.aliases, degrees[e.id]) for i, e in enumerate(entities)]
    claims = []
    for i in range(20):
        about, aimed = random.choice(entities), random.choice([*names, "NONE", "a thing"])
        status, source = random.choice(["TRUE", "FALSE", ""]), Source(f"c{i}", 0, 9)
        claims.append(Claim(f"k{i}", about.id, aimed, "said", status, f"{about.name} said so.", "", "", source))
    by_id = attrgetter("id")  # as in every graph
    return Graph(*(tuple(sorted(records, key=by_id)) for records in (entities, relations, claims)))


Ask = Callable[[str], Matches]


def plain(rows: Any, *, ordered: bool) -> list[tuple[str, ...]]:
    """Rows that can be compared: numbers of any kind, and texts; without an order where none was asked for."""
    shown = [tuple(f"{v:.6f}" if isinstance(v, int | float | Decimal) else str(v) for v in row) for row in rows]
    return shown if ordered else sorted(shown)


def compare(graph: Graph, ask: Ask, database: Opened, count: int) -> int:
    """Compare so many drawn patterns; how many had rows."""
    read = Graph(tuple(graph.entities), tuple(graph.relations), tuple(graph.claims))  # decoded once
    some = 0
    for seed in range(count):
        drawn = draw_pattern(Random(seed), read)
        found = ask(drawn.ours).rows
        theirs = database.rows(drawn.theirs)
        assert plain(found, ordered=drawn.ordered) == plain(theirs, ordered=drawn.ordered), drawn
        some += bool(found) and found[0][0] not in (0, None)
    return some


@pytest.mark.slow
def test_match_and_ladybug_agree_on_100_patterns_over_a_drawn_graph(tmp_path: Path):
    graph = drawn_graph(1)
    index = Whole(graph)
    facets = collect_facets.fn([graph])[0]
    database = exported(index, tmp_path)

    def ask(query: str) -> Matches:
        return match_patterns(Request(query), GraphReader(index, facets, facets))

    assert compare(graph, ask, database, 100) > 50
    database.close()


@pytest.mark.slow
def test_match_and_ladybug_agree_on_60_patterns_over_the_demo(demo: Corpus, demo_database: Opened):
    assert compare(demo.index().graph, demo.match, demo_database, 60) > 25


@pytest.mark.slow
def test_match_and_ladybug_agree_on_40_patterns_over_an_index_that_a_model_made(
    carol: tuple[Corpus, Imported], tmp_path: Path
):
    corpus = carol[0]
    database = exported(corpus.index(), tmp_path)
    assert compare(corpus.index().graph, corpus.match, database, 40) > 15
    database.close()
