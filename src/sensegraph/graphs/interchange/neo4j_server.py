"""A graph to a server of Neo4j, and one back, by its official driver (the extra `neo4j`): the one file that knows it.

All values travel as parameters; nothing of a graph is ever part of a query.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.database_rows import TIES, GraphRows, Row
from sensegraph.graphs.interchange.exporting import prepare_folder, write_whole_file
from sensegraph.graphs.interchange.listing import split_blocks
from sensegraph.index.index import Index

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Session

_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_AT_ONCE = 1_000  # rows of a transaction
_NODES = ("Entity", "Claim")
_KEYS = "CREATE CONSTRAINT sensegraph_{0} IF NOT EXISTS FOR (n:{1}) REQUIRE (n.corpus, n.id) IS UNIQUE"
_NODE = (
    "UNWIND $rows AS row MERGE (n:{0} {{corpus: $corpus, id: row.id}}) SET n = row, n.corpus = $corpus, n.push = $push"
)
_ENDS = (
    "UNWIND $rows AS row MATCH (a:{0} {{corpus: $corpus, id: row.from_id}}), "
    "(b:Entity {{corpus: $corpus, id: row.to_id}}) "
)
_RELATION = _ENDS + "MERGE (a)-[r:RELATED {{id: row.own.id}}]->(b) SET r = row.own, r.push = $push"
_TIE = _ENDS + "MERGE (a)-[r:{1}]->(b) SET r.push = $push"
_OLD_EDGES = (
    "MATCH (a {corpus: $corpus})-[r:RELATED|ABOUT|OBJECT]->() WHERE (a:Entity OR a:Claim) AND r.push <> $push "
    "WITH r LIMIT $most DELETE r RETURN count(*) AS gone"
)
_OLD_NODES = (
    "MATCH (n {corpus: $corpus}) WHERE (n:Entity OR n:Claim) AND n.push <> $push "
    "WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone"
)
_PULL_NODES = (
    "MATCH (n) WHERE $corpus IS NULL OR n.corpus = $corpus "
    "RETURN elementId(n) AS place, labels(n) AS labels, properties(n) AS own"
)
_PULL_EDGES = (
    "MATCH (a)-[r]->(b) WHERE $corpus IS NULL OR (a.corpus = $corpus AND b.corpus = $corpus) "
    "RETURN elementId(a) AS start, elementId(b) AS end, elementId(r) AS place, type(r) AS kind, properties(r) AS own"
)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is (`bolt://…`, `neo4j://…`, or `neo4j+s://…` with TLS), who asks, and which database of it."""

    url: str
    user: str = "neo4j"
    password: str = ""
    database: str = ""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push sent, and how many nodes and edges of an earlier push of the corpus it removed."""

    entities: int
    relations: int
    claims: int
    removed_nodes: int
    removed_edges: int


@dataclass(frozen=True, slots=True)
class Pulled:
    """The files that a pull wrote, and what is in them; `notes` say what was left out."""

    files: tuple[Path, ...]
    entities: int
    relations: int
    notes: tuple[str, ...]


def push_graph(index: Index, server: Server, corpus: str) -> Pushed:
    """Make the graph of `index` the graph of the corpus called `corpus` in a database of Neo4j.

    Nodes are `Entity` and `Claim`, edges `RELATED`, `ABOUT` and `OBJECT`, each node with the property `corpus`. What an
    earlier push of the same corpus left and is no longer there is removed; nothing else is touched. Pushing again after
    a failure completes it. Raises InputError where the server cannot be reached or refuses, or the driver is missing;
    NotIndexed for an index without a graph.
    """
    rows, push = GraphRows(index), uuid4().hex
    with open_session(server) as session:
        for label in _NODES:
            session.run(_KEYS.format(label.lower(), label)).consume()

        def send(query: str, every: Iterable[Row]) -> int:
            count = 0
            for block in split_blocks(every, _AT_ONCE):
                session.execute_write(_run_query, query, rows=block, corpus=corpus, push=push)
                count += len(block)
            return count

        def remove(query: str) -> int:
            gone = 0
            while some := session.execute_write(_run_query, query, corpus=corpus, push=push, most=_AT_ONCE):
                gone += some
            return gone

        entities = send(_NODE.format("Entity"), rows.entities())
        claims = send(_NODE.format("Claim"), rows.claims())
        linked = ({"from_id": a, "to_id": b, "own": own} for a, b, own in rows.relations())
        relations = send(_RELATION.format("Entity"), linked)
        for kind in TIES:
            send(_TIE.format("Claim", kind), ({"from_id": k, "to_id": e} for k, e in rows.ties(kind)))

        edges = remove(_OLD_EDGES)
        return Pushed(entities, relations, claims, remove(_OLD_NODES), edges)


def pull_graph(
    server: Server, folder: str | Path, *, corpus: str = "", name: str = "name", force: bool = False
) -> Pulled:
    """Write a graph of Neo4j as the tables `entities` and `relationships`, which an import reads.

    Without `corpus` it is the whole database. The property `name` of a node is its name; a node without one is left
    out, and counted. Its type is the property `type`, else its first label. What several nodes are called is told apart
    by their types, then by a number. Raises InputError as `push_graph` does, and for a folder that is not empty, unless
    `force` is given.
    """
    with open_session(server) as session:
        place = prepare_folder(folder, force=force)
        nodes = list(_read_nodes(session, corpus, name))
        titles = _tell_apart([(title, kind) for _, title, kind, _ in nodes if title])
        named = iter(titles)
        called = {own: next(named) for own, title, _, _ in nodes if title}
        entities, relations = place / "entities.jsonl", place / "relationships.jsonl"
        with write_whole_file(entities) as file:
            for own, title, kind, description in nodes:
                if title:
                    row = {"id": own, "title": called[own], "type": kind, "description": description}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
        count = lost = 0
        with write_whole_file(relations) as file:
            for found in session.run(_PULL_EDGES, corpus=corpus or None):
                if found["kind"] in TIES and "push" in found["own"]:
                    continue  # of a claim of ours
                if found["start"] not in called or found["end"] not in called or found["start"] == found["end"]:
                    lost += 1
                    continue
                own = found["own"]
                text = own.get("description") or own.get("label") or found["kind"].replace("_", " ").lower()
                ends = {"source": called[found["start"]], "target": called[found["end"]]}
                given = own.get("weight")
                weight = float(given) if isinstance(given, int | float) and given > 0 else 1.0
                row = {"id": found["place"], **ends, "description": str(text)} | {"weight": weight}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    without = len(nodes) - len(called)
    notes = [f"{without} nodes without the property {name!r} were left out"] * (without > 0)
    notes += [f"{lost} edges that lead to such a node, or from a node to itself, were left out"] * (lost > 0)
    return Pulled((entities, relations), len(called), count, tuple(notes))


@contextmanager
def open_session(server: Server) -> Iterator[Session]:
    """A session with a server. Raises InputError where the driver is missing, and in place of the driver's errors."""
    try:
        import neo4j
        from neo4j.exceptions import DriverError, Neo4jError
    except ImportError as e:
        raise InputError("A server of Neo4j is reached by its driver: pip install 'sensegraph[neo4j]'.") from e
    if server.url.partition("://")[0] not in _SCHEMES:
        raise InputError(f"{server.url!r} is no address of a server of Neo4j; it begins with bolt:// or neo4j+s://.")
    try:
        with (
            neo4j.GraphDatabase.driver(server.url, auth=(server.user, server.password)) as driver,
            driver.session(database=server.database or None) as session,
        ):
            driver.verify_connectivity()
            yield session
    except (DriverError, Neo4jError, ValueError) as e:
        why = " ".join(str(e).split())[:300]
        raise InputError(
            f"The server at {server.url} cannot be used as {server.user!r} ({why}); check the address, the user, the "
            "password and the name of the database."
        ) from e


def _read_nodes(session: Session, corpus: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """The place, the name, the type and the description of every node; what is a claim of ours is none."""
    for found in session.run(_PULL_NODES, corpus=corpus or None):
        labels, own = found["labels"], found["own"]
        if not (labels == ["Claim"] and "push" in own):
            title, kind = str(own.get(name) or "").strip(), str(own.get("type") or next(iter(labels), ""))
            yield found["place"], title, kind, str(own.get("description") or "")


def _tell_apart(named: list[tuple[str, str]]) -> list[str]:
    """Names that differ: those that several bear get their type, and a number where that does not help."""
    often = Counter(title for title, _ in named)
    typed = [f"{title} ({kind})" if often[title] > 1 and kind else title for title, kind in named]
    seen, found = set[str](), list[str]()
    for title in typed:
        number, one = 1, title
        while one in seen:
            number += 1
            one = f"{title} {number}"
        seen.add(one)
        found.append(one)
    return found


def _run_query(tx: ManagedTransaction, /, query: str, **given: Any) -> int:
    """Run a query in a transaction; how many things it says are gone."""
    found = tx.run(query, given).single()
    return int(found["gone"]) if found else 0
