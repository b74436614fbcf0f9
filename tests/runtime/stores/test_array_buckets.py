"""Arrays of a corpus in a database may lie in a bucket or a shared folder, and are read there by every machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')
pytest.importorskip("obstore", reason='obstore is not installed: pip install "sensegraph[bucket]"')

from databases import corpus_url, database_store, forget_copies
from sensegraph.corpus.settings import load_settings
from sensegraph.corpus.tools import make_store
from sensegraph.errors import SettingsError, StoreError, Unapproved
from sensegraph.runtime.stores.array_files import ArrayBucket
from sensegraph.runtime.stores.postgres import PostgresStore

ROWS = np.arange(3 << 20, dtype=np.float32).reshape(-1, 8)  # 12 MB: more than one piece of a table


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where arrays may lie: a shared folder, and a bucket behind the protocol of S3 on this machine."""
    if request.param == "folder":
        yield f"file://{tmp_path}/shared"
        return
    servers = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    server = servers.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    given = {"ENDPOINT": f"http://{host}:{port}", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1"}
    for name, value in {**given, "ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    import urllib3

    urllib3.request("PUT", f"http://{host}:{port}/arrays", headers={"Host": f"{host}:{port}"})
    yield f"s3://arrays/{tmp_path.name}"
    server.stop()


def count_bytes(store: PostgresStore) -> int:
    """The bytes of arrays in the database."""
    return int(store._ask("SELECT coalesce(sum(length(value)), 0) FROM piece")[0][0])


def test_arrays_lie_in_the_bucket_and_other_machines_read_them_there(place: str, tmp_path: Path) -> None:
    with closing(database_store(tmp_path, arrays=place)) as store:
        store.write_array("rows", ROWS)
        store.write_array("rows", ROWS)
        assert (store.has(["rows"]), store.array_names(), count_bytes(store)) == ({"rows"}, ["rows"], 0)
        assert ArrayBucket(place).list_older(datetime.now(UTC) + timedelta(hours=1)) == {"rows.npy"}
        forget_copies(tmp_path)
        other = pickle.loads(pickle.dumps(store))
        assert np.array_equal(other.array("rows"), ROWS)
        assert other.array("none") is None
        other.close()


def test_what_a_sweep_removes_goes_from_the_bucket_and_what_a_killed_process_left_goes_later(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket, later = ArrayBucket(place), datetime.now(UTC) + timedelta(hours=1)
    with closing(database_store(tmp_path, arrays=place)) as store, store.exclusive():
        store.write_array("kept", ROWS)
        store.write_array("gone", ROWS)
        (tmp_path / "left.npy").write_bytes(b"left")
        bucket.put(tmp_path / "left.npy")
        store.sweep(["kept"])
        assert bucket.list_older(later) == {"kept.npy", "left.npy"}
        monkeypatch.setattr("sensegraph.runtime.stores.array_files._LEFT", timedelta(days=-1))
        store.sweep(["kept"])
        assert bucket.list_older(later) == {"kept.npy"}
        assert np.array_equal(np.asarray(store.array("kept")), ROWS)


def test_an_object_that_is_gone_or_damaged_is_computed_again(place: str, tmp_path: Path) -> None:
    bucket = ArrayBucket(place)
    with closing(database_store(tmp_path, arrays=place)) as store:
        store.write_array("rows", ROWS)
        for spoil in (lambda: bucket.remove(["rows.npy"]), lambda: bucket.put(tmp_path / "rows.npy")):
            (tmp_path / "rows.npy").write_bytes(b"other")
            spoil()
            forget_copies(tmp_path)
            with pytest.raises(StoreError, match="damaged at rows"):
                store.array("rows")
            assert store.has(["rows"]) == set()
            store.write_array("rows", ROWS)
            assert np.array_equal(np.asarray(store.array("rows")), ROWS)


def test_arrays_stay_where_they_are(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/shared"
    database_store(tmp_path, arrays=place).close()
    with pytest.raises(StoreError, match=f"lie in {place}; set store.arrays to"):
        database_store(tmp_path)
    with pytest.raises(StoreError, match=f"lie in {place}; set store.arrays to"):
        database_store(tmp_path, arrays="file:///elsewhere")
    database_store(tmp_path / "plain").close()
    with pytest.raises(StoreError, match="lie in the database"):
        database_store(tmp_path / "plain", arrays=place, readonly=True)


def test_a_place_that_is_none_and_a_bucket_that_is_away_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"store.arrays = 'ftp://x' is no place for arrays"):
        ArrayBucket("ftp://x")
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "a.npy").write_text("a")
    bucket = ArrayBucket(f"file://{tmp_path}/shared")
    (tmp_path / "shared").rmdir()
    (tmp_path / "shared").write_text("in the way")
    with pytest.raises(StoreError, match=r"shared cannot be used \(.*Check store.arrays"):
        bucket.put(tmp_path / "a.npy")


def test_a_bucket_that_a_file_chose_needs_an_approval_and_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENSEGRAPH_TRUST", "")
    chosen = f'[store]\nurl = "{corpus_url(tmp_path)}"\narrays = "s3://theirs/arrays/"\n'
    (tmp_path / "sensegraph.toml").write_text(chosen)
    with pytest.raises(Unapproved, match="s3://theirs/arrays"):
        make_store(load_settings(tmp_path, {}), tmp_path)
    (tmp_path / "sensegraph.toml").write_text(chosen.replace("s3://theirs", f"file://{tmp_path}"))
    make_store(load_settings(tmp_path, {}), tmp_path).close()
    with pytest.raises(SettingsError, match=r"set store\.url, or take"):
        make_store(load_settings(tmp_path, {"store": {"arrays": "file:///shared", "url": ""}}), tmp_path)
