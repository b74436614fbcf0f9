"""What is read comes from a replica as far as it is there, else from the database; names are those of the database."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from databases import corpus_url, database_store, database_url, start_database, start_replica
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError, StoreError
from sensegraph.runtime.stores import postgres_replica
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.runtime.stores.postgres_replica import ReplicatedStore
from sensegraph.types import Document


@contextmanager
def two_stores(tmp_path: Path) -> Iterator[tuple[PostgresStore, ReplicatedStore]]:
    """A store that stands for a replica which follows nobody, and one that reads there what it lacks itself."""
    place = tmp_path / "other"
    with closing(database_store(place)) as behind:
        url, replica = corpus_url(tmp_path), corpus_url(place)
        with closing(ReplicatedStore(url, tmp_path, tmp_path / "cache", replica=url)) as store:
            store._open = lambda: PostgresStore(replica, place, place / "cache", readonly=True)
            yield behind, store


def test_what_a_replica_has_is_read_there_and_the_rest_from_the_database(tmp_path: Path) -> None:
    with two_stores(tmp_path) as (behind, store):
        behind.write({"far": b"there"}, "s")
        behind.write_rows("far table", [("a", b"1")])
        behind.write_array("far array", np.arange(3))
        store.write({"near": b"here"}, "s")
        store.write_rows("near table", [("b", b"2")])
        store.write_array("near array", np.arange(4))
        assert store.read(["far", "near", "none"]) == {"far": b"there", "near": b"here"}
        assert store.has(["far", "near", "far table", "near array", "none"]) == {
            *("far", "near", "far table", "near array"),
        }
        tables = [store.rows(name) for name in ("far table", "near table", "none")]
        assert [rows and list(rows.scan()) for rows in tables] == [[b"1"], [b"2"], None]
        arrays = [store.array(name) for name in ("far array", "near array", "none")]
        assert [None if array is None else len(array) for array in arrays] == [3, 4, None]


def test_names_are_those_of_the_database_and_a_build_reads_nothing_in_a_replica(tmp_path: Path) -> None:
    with two_stores(tmp_path) as (behind, store):
        behind.write({"far": b"there"}, "s")
        behind.set_refs({"index": "old"})
        store.set_refs({"index": "new"})
        assert store.ref("index") == "new"
        assert store.has(["far"]) == {"far"}
        with store.exclusive():
            assert store.has(["far"]) == set()
        copy = pickle.loads(pickle.dumps(store))
        assert (type(copy), copy.has(["far"])) == (PostgresStore, set())
        copy.close()


def test_a_replica_that_cannot_be_used_or_has_no_store_yet_is_left_alone(tmp_path: Path) -> None:
    url = corpus_url(tmp_path)
    nowhere = url.replace("/postgres?", "/not-there?")
    assert nowhere != url
    with closing(ReplicatedStore(url, tmp_path, tmp_path / "cache", replica=nowhere)) as store:
        store.write({"near": b"here"}, "s")
        assert store.read(["near"]) == {"near": b"here"}
        opened = list[int]()
        store._open = lambda: opened.append(1)  # type: ignore[assignment, return-value]
        assert store.has(["near"]) == {"near"}
        assert opened == []
        store._away -= 60
        store._open = lambda: PostgresStore(corpus_url(tmp_path / "empty"), tmp_path, tmp_path / "cache", readonly=True)
        assert store.has(["near"]) == {"near"}


def test_a_replica_is_of_a_database_and_of_the_same_schema(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"store.replica names the schema sensegraph, store.url c_"):
        ReplicatedStore(corpus_url(tmp_path), tmp_path, tmp_path / "cache", replica=database_url())
    given = {"engine": "offline", "store": {"replica": corpus_url(tmp_path)}}
    with pytest.raises(SettingsError, match=r"store.replica is for a corpus in a database: set store.url"):
        Corpus.open(tmp_path, settings=given)


def test_a_store_that_is_closed_closes_its_replica(tmp_path: Path) -> None:
    with two_stores(tmp_path) as (_, store):
        assert store._replica is None
        assert store.has(["far"]) == set()
        replica = store._replica
        assert replica is not None
        assert not replica.closed
        replica.close()
        assert store.has(["far"]) == set()
        again = store._replica
        assert again is not replica
    assert (again.closed, store.closed) == (True, True)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("since", "gate", "found"),
    [(0.0, None, "own"), (29.5, None, "own"), (30.0, None, "there"), (99.0, None, "there"), (99.0, "held", "own")],
)
def test_a_replica_that_could_not_be_used_is_asked_again_after_thirty_seconds(
    monkeypatch: pytest.MonkeyPatch, since: float, gate: str | None, found: str
) -> None:
    store: Any = ReplicatedStore.__new__(ReplicatedStore)
    store._gate, store._away, store._replica = gate, 1000.0, None
    store._open = lambda: SimpleNamespace(closed=False)
    monkeypatch.setattr(postgres_replica.time, "monotonic", lambda: 1000.0 + since)
    assert store._ask_replica(lambda replica: "there", "own") == found

    def fail(replica: object) -> str:
        raise StoreError("it is away")

    assert store._ask_replica(fail, "own") == "own"
    assert store._away == 1000.0 + (since if found == "there" else 0.0)


@pytest.mark.slow
def test_questions_are_answered_from_a_replica_that_follows_and_from_the_newest_index(tmp_path: Path) -> None:
    server = start_database()
    with start_replica(server) as far:
        url, replica = corpus_url(tmp_path, str(server.get_uri())), corpus_url(tmp_path, far)
        store = {"url": url, "replica": replica, "cache": str(tmp_path / "copies")}
        given = {"engine": "offline", "store": store}
        with Corpus.open(tmp_path, settings=given) as corpus:
            corpus.add(Document("a", "Charles Babbage built the engine in London.", "Engines"))
            corpus.build()
            name = corpus.store.ref("index") or ""
            follows = wait_for(lambda: PostgresStore(replica, tmp_path, tmp_path / "cache"))
            with closing(follows) as behind:
                wait_for(lambda: behind.ref("index") == name)
                assert behind.readonly
        with Corpus.open(tmp_path, settings=given, create=False) as corpus:
            found, read = set[str](), PostgresStore.read
            with pytest.MonkeyPatch.context() as patch:  # what the replica gives
                patch.setattr(PostgresStore, "read", lambda own, keys: note_found(found, own, read(own, keys)))
                assert corpus.search("Who built the engine?", method="bm25").documents == ("a",)
            assert name in found
            corpus.add(Document("b", "Ada Lovelace wrote the first program in Paris.", "Programs"))
            corpus.build()
            assert corpus.search("Who wrote the first program?", method="bm25").documents[0] == "b"
    server.cleanup()


def note_found(found: set[str], store: PostgresStore, read: dict[str, bytes]) -> dict[str, bytes]:
    """What was read, whose keys are noted where a replica gave it."""
    found.update(read if store.readonly else ())
    return read


def wait_for(found: Callable[[], Any]) -> Any:
    """What is found, tried for ten seconds."""
    until = time.monotonic() + 10
    while True:
        try:
            if (value := found()) or time.monotonic() > until:
                return value
        except Exception:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)
