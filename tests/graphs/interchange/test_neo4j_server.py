"""The graph pushed to a scripted server at Bolt and pulled back; to a real one where SENSEGRAPH_TEST_NEO4J names it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import neo4j
import pytest

import little_tables
from bolt import BoltServer
from little_graphs import Given, entity, relation
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.graphs.interchange import neo4j_server
from sensegraph.graphs.interchange.importing import Imported, import_tables
from sensegraph.graphs.interchange.neo4j_server import Server, pull_graph, push_graph
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.index.index import Index
from sensegraph.types import Claim, Graph, Hierarchy, Source

HOSTILE = "A 'quoted' \"name\"}) DETACH DELETE n // \\u0022 \x07 é 李 😀"


class Whole(Given):
    """An index that is a graph without communities."""

    hierarchy = Hierarchy()
    depth = 0


def town(*names: str) -> Index:
    """Entities of these names in a row, each related to the next, and a claim about the first."""
    entities = tuple(entity(i, name, "person") for i, name in enumerate(names))
    pairs = pairwise(entities)
    relations = tuple(relation(i, a, b, (f"{a.name} met {b.name}.",), "MET") for i, (a, b) in enumerate(pairs))
    claim = Claim("k0", "e0", names[-1], "said", "TRUE", "It was said.", "1843", "", Source("c0", 0, 5))
    return Whole(Graph(entities, relations, (claim,)))


def server_of(bolt: BoltServer, **given: str) -> Server:
    return replace(Server(bolt.url, password="right"), **given)


# ── push ──


def test_a_push_sends_every_entity_relation_and_claim_as_parameters():
    with BoltServer() as bolt:
        done = push_graph(town("Ann", HOSTILE, "Cid"), server_of(bolt), "town")
    assert (done.entities, done.relations, done.claims) == (3, 2, 1)
    assert (done.removed_nodes, done.removed_edges) == (0, 0)
    assert [v["name"] for k, v in bolt.graph.nodes.items() if k[0] == "Entity"] == ["Ann", HOSTILE, "Cid"]
    own = bolt.graph.nodes["Entity", "town", "e1"]
    assert (own["type"], own["chunks"], own["documents"], own["degree"]) == ("person", ["c1"], ["c1.txt"], 0)
    kinds = sorted((kind, a[2], b[2]) for kind, a, b, _ in bolt.graph.edges)
    assert kinds == [("ABOUT", "k0", "e0"), ("OBJECT", "k0", "e2"), ("RELATED", "e0", "e1"), ("RELATED", "e1", "e2")]
    assert not any(HOSTILE in query for query, _ in bolt.queries)
    assert bolt.queries[0][0].startswith("CREATE CONSTRAINT")


def test_pushing_again_changes_nothing_and_what_is_gone_is_removed():
    with BoltServer() as bolt:
        server = server_of(bolt)
        push_graph(town("Ann", "Bo", "Cid"), server, "town")
        push_graph(town("Zoe", "Yan"), server, "village")
        again = push_graph(town("Ann", "Bo", "Cid"), server, "town")
        assert (again.removed_nodes, again.removed_edges, len(bolt.graph.nodes)) == (0, 0, 7)
        less = push_graph(town("Ann", "Bo"), server, "town")
    assert (less.entities, less.removed_nodes) == (2, 1)
    assert less.removed_edges == 2  # to Cid: that of Bo, and that of the claim
    left = {v["name"] for k, v in bolt.graph.nodes.items() if k[0] == "Entity"}
    assert left == {"Ann", "Bo", "Zoe", "Yan"}


def test_many_rows_go_in_several_transactions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(neo4j_server, "_AT_ONCE", 10)
    with BoltServer() as bolt:
        push_graph(town(*(f"N{i}" for i in range(25))), server_of(bolt), "town")
        push_graph(town("A", "B"), server_of(bolt), "town")
    assert [n for q, n in bolt.queries if "MERGE (n:Entity" in q] == [10, 10, 5, 2]
    assert len([q for q, _ in bolt.queries if "DETACH DELETE" in q]) == 1 + 4
    assert len(bolt.graph.nodes) == 3


def test_a_failure_that_passes_is_tried_again():
    failed: list[int] = []

    def fail(query: str, count: int) -> tuple[str, str] | None:
        if "MERGE (a)-[r:RELATED" in query and not failed:
            failed.append(count)
            return "Neo.TransientError.Transaction.DeadlockDetected", "deadlock"
        return None

    with BoltServer() as bolt:
        bolt.fail = fail
        done = push_graph(town("Ann", "Bo"), server_of(bolt), "town")
    assert (len(failed), done.relations) == (1, 1)
    assert len([key for key in bolt.graph.edges if key[0] == "RELATED"]) == 1


def test_a_failure_that_stays_is_an_error_that_says_what_to_check():
    with BoltServer() as bolt:
        bolt.fail = lambda query, count: (
            ("Neo.ClientError.Security.Forbidden", "no right to write") if "MERGE" in query else None
        )
        with pytest.raises(InputError, match="no right to write"):
            push_graph(town("Ann", "Bo"), server_of(bolt), "town")


@pytest.mark.parametrize(
    ("url", "password", "said"),
    [
        ("", "wrong", "cannot be used as 'neo4j'"),
        ("bolt://127.0.0.1:9", "right", "check the address, the user, the password"),
        ("http://127.0.0.1", "right", "no address of a server of Neo4j"),
    ],
)
def test_a_server_that_cannot_be_used_is_an_error(url: str, password: str, said: str, tmp_path: Path):
    with BoltServer() as bolt, pytest.raises(InputError, match=said):
        pull_graph(Server(url or bolt.url, password=password), tmp_path / "pulled")
    assert not (tmp_path / "pulled").exists()


def test_without_the_driver_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "neo4j", None)
    with pytest.raises(InputError, match=r"sensegraph\[neo4j\]"):
        push_graph(town("Ann", "Bo"), Server("bolt://127.0.0.1:9"), "town")


# ── pull ──


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_was_pushed_is_pulled_and_can_be_imported(little: tuple[Corpus, Imported], tmp_path: Path):
    index = little[0].index()
    with BoltServer() as bolt:
        push_graph(index, server_of(bolt), "little")
        done = pull_graph(server_of(bolt), tmp_path / "pulled", corpus="little")
    assert (done.entities, done.relations, done.notes) == (5, 3, ())
    tables = read_tables(tmp_path / "pulled")
    with Corpus.open(tmp_path / "root", settings={"engine": "offline"}) as corpus:
        import_tables(tables, corpus.runtime(), corpus.settings.index, corpus.add)
        graph, wanted = corpus.index().graph, index.graph
        assert sorted(e.name for e in graph.entities) == sorted(e.name for e in wanted.entities)
        names, known = ({e.id: e.name for e in g.entities} for g in (graph, wanted))
        assert sorted((names[r.source], names[r.target], r.weight) for r in graph.relations) == sorted(
            (known[r.source], known[r.target], r.weight) for r in wanted.relations
        )


def test_a_graph_of_others_is_pulled_by_labels_kinds_and_another_name(tmp_path: Path):
    with BoltServer() as bolt:
        ann, bo, none = ("Person", "", "1"), ("Firm", "", "2"), ("Firm", "", "3")
        bolt.graph.nodes |= {ann: {"title": "Ann"}, bo: {"title": "Ann", "description": "A firm."}, none: {}}
        bolt.graph.edges |= {("WORKS_AT", ann, bo, "x"): {"weight": "much"}, ("OWNS", bo, none, "y"): {}}
        done = pull_graph(server_of(bolt), tmp_path, name="title")
    assert rows_of(done.files[0]) == [
        {"id": "Person//1", "title": "Ann (Person)", "type": "Person", "description": ""},
        {"id": "Firm//2", "title": "Ann (Firm)", "type": "Firm", "description": "A firm."},
    ]
    assert rows_of(done.files[1]) == [
        {
            "id": "WORKS_AT/x",
            "source": "Ann (Person)",
            "target": "Ann (Firm)",
            "description": "works at",
            "weight": 1.0,
        }
    ]
    assert done.notes == (
        "1 nodes without the property 'title' were left out",
        "1 edges that lead to such a node, or from a node to itself, were left out",
    )


def test_equal_names_of_equal_types_are_told_apart_by_a_number(tmp_path: Path):
    with BoltServer() as bolt:
        bolt.graph.nodes |= {("Person", "", str(i)): {"name": "Ann"} for i in range(3)}
        done = pull_graph(server_of(bolt), tmp_path)
    assert [row["title"] for row in rows_of(done.files[0])] == ["Ann (Person)", "Ann (Person) 2", "Ann (Person) 3"]


def test_a_folder_with_something_in_it_is_not_written_to(tmp_path: Path):
    (tmp_path / "mine").write_text("")
    with BoltServer() as bolt, pytest.raises(InputError, match="is not empty"):
        pull_graph(server_of(bolt), tmp_path)


# ── a real server ──


@pytest.mark.skipif(
    "SENSEGRAPH_TEST_NEO4J" not in os.environ, reason="SENSEGRAPH_TEST_NEO4J names no server (URL|user|password)"
)
def test_a_real_server_takes_a_push_and_gives_it_back(little: tuple[Corpus, Imported], tmp_path: Path):
    server = Server(*os.environ["SENSEGRAPH_TEST_NEO4J"].split("|"))
    index = little[0].index()
    push_graph(index, server, "sensegraph-test")
    again = push_graph(index, server, "sensegraph-test")
    assert (again.removed_nodes, again.removed_edges) == (0, 0)
    done = pull_graph(server, tmp_path, corpus="sensegraph-test")
    assert (done.entities, done.relations) == (5, 3)
    with neo4j.GraphDatabase.driver(server.url, auth=(server.user, server.password)) as driver:
        claims, *_ = driver.execute_query(
            "MATCH (k:Claim {corpus: 'sensegraph-test'})-[:ABOUT]->(a) RETURN count(*) AS n"
        )
        driver.execute_query("MATCH (n {corpus: 'sensegraph-test'}) DETACH DELETE n")
    assert claims[0]["n"] == len(little_tables.tables()["covariates"])
