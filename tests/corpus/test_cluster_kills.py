"""Whatever is killed in the middle of a build, what was stored or paid for is neither computed nor paid for again."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from clusters import KillingChunker, cluster, head_process
from databases import corpus_url, kill_database, restart_database, start_database
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import StepFailed
from sensegraph.models.endpoint.limits import Journal
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.protocols import Executor
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.testing import ExecutorContract
from wired import settings, stories

pytestmark = pytest.mark.slow
ARRAYS = frozenset(("vectors.segment", "vectors.embed"))  # results that are arrays, or counted one by one


def _work_once(batch: tuple[str, int]) -> list[int]:
    """The work of a batch; the first to come to number 5 kills its process."""
    folder, number = batch
    if number == 5:
        with suppress(FileExistsError):
            (Path(folder) / "killed").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return [number]


def _call_each(functions: Sequence[Callable[[], int]]) -> list[int]:
    """What functions give that have no name to travel by."""
    return [function() for function in functions]


class _Model:
    """Stands in for a model that a worker holds: says which process answers, and once kills it."""

    def __call__(self, asked: str) -> tuple[str, int]:
        if asked == "refused":
            raise Refusal(Outcome(Kind.DOWN, "no model serves it", 404))
        word, _, folder = asked.partition(" ")
        if folder:
            with suppress(FileExistsError):
                (Path(folder) / "model").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
        return "lives" if folder else word.upper(), os.getpid()


def _die_at_three(number: int) -> list[int]:
    """The work of a batch; number 3 kills its process whenever it is tried."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return [number]


def test_a_cluster_keeps_what_every_executor_keeps_when_a_worker_and_a_node_die(tmp_path: Path) -> None:
    with cluster(2) as nodes:
        import ray

        from sensegraph.runtime.executors import ray as executors
        from sensegraph.runtime.executors.ray import RayExecutor

        class Contract(ExecutorContract):
            def make(self) -> Executor:
                return RayExecutor(threads=4, patience=0.0)

        rules = [name for name in dir(Contract) if name.startswith("test_")]
        assert rules
        for name in rules:
            getattr(Contract(), name)()
        far = RayExecutor(patience=0.0)
        assert (far.elsewhere, pickle.loads(pickle.dumps(far)).elsewhere) == (True, False)
        assert dict(far.map(_call_each, [[lambda: 7], [lambda: 8, lambda: 9]], waits=False)) == {0: [7], 1: [8, 9]}
        pool = far.hold(_Model)
        with ThreadPoolExecutor(4) as threads:
            replies = list(threads.map(pool.call, ["a", "b", f"die {tmp_path}", "c", "d", "e"]))
        assert [text for text, _ in replies] == ["A", "B", "lives", "C", "D", "E"]
        assert pool.size == 2
        assert os.getpid() not in {process for _, process in replies}
        with pytest.raises(Refusal, match="no model serves it"):
            pool.call("refused")
        came = Counter[int]()
        batches = [(str(tmp_path), i) for i in range(60)]
        for position, result in RayExecutor(patience=0.0).map(_work_once, batches, waits=False):
            assert result == [position]
            came[position] += 1
            if sum(came.values()) == 15:
                nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)
        assert came == Counter(range(60))
        assert (tmp_path / "killed").exists()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(executors, "_TASK", ray.remote(max_retries=0)(executors._run_batches))
            found = dict(RayExecutor(patience=0.0).map(_die_at_three, range(24), waits=False))
        assert [n for n, result in found.items() if isinstance(result, BaseException)] == [3]
        assert {n for n, result in found.items() if result == [n]} == {*range(24)} - {3}


PROGRAM = """
import sys
sys.path[:0] = sys.argv[5:]
from pathlib import Path
from sensegraph.corpus.corpus import Corpus
from wired import settings, stories
folder, server, url, cluster = sys.argv[1:5]
executor = None
if cluster:
    from sensegraph.runtime.executors.ray import RayExecutor
    executor = RayExecutor(cluster, threads=4, patience=0.0)
given = {**settings(server), "store": {"url": url, "cache": folder + "/copies"}}
with Corpus.open(folder, settings=given, executor=executor) as made:
    made.add(stories(6))
    made.build()
"""


def build_six(folder: Path, given: dict[str, Any], **tools: Any) -> tuple[str, Mapping[str, int]]:
    """The key of the index of six stories, and how many results each step computed."""
    with Corpus.open(folder, settings=given, **tools) as corpus:
        corpus.add(stories(6))
        computed = corpus.build().computed
        return corpus.store.ref("index") or "", computed


def count_stored(url: str, folder: Path) -> Counter[str]:
    """How many results of each step are stored whole."""
    with closing(PostgresStore(url, folder, folder / "copies")) as store:
        arrays = Counter({"arrays": len(store.array_names())})
        return arrays + Counter(dict(store._ask("SELECT step, count(*) FROM object GROUP BY step")))


def journalled(url: str, folder: Path) -> set[str]:
    """The requests whose replies are written down and not stored yet."""
    with closing(PostgresStore(url, folder, folder / "copies")) as store:
        return set(store.replies.read())


def requests(server: ScriptedServer) -> set[str]:
    """The requests that the server answered, named as in the journal."""
    found = set()
    for call in server.done():
        body = {name: value for name, value in call.body.items() if name not in ("stream", "stream_options")}
        path = "/embeddings" if call.task == "embedding" else "/chat/completions"
        found.add(Journal.key(path, msgspec.json.encode(body)))
    return found


@contextmanager
def cluster_for(dies: str) -> Iterator[str]:
    """The address of a cluster of two nodes where the driver of one is to die; else nothing."""
    with cluster(2, joined=False) if dies == "driver" else nullcontext() as made:
        yield made.address if made else ""


@pytest.mark.parametrize("dies", ["builder", "database", "driver"])
def test_what_was_paid_for_is_not_paid_for_again_when_a_builder_a_database_or_the_driver_of_a_cluster_dies(
    tmp_path: Path, server: ScriptedServer, dies: str
) -> None:
    expected, _ = build_six(tmp_path / "whole", settings(server))
    total = len(server.done())
    server.reset()
    server.script = Script(latency_s=0.03, keep_bodies=True)
    database = start_database(lasting=True)
    folder = tmp_path / "killed"
    url = corpus_url(folder, database.get_uri())
    with cluster_for(dies) as address:
        command = [sys.executable, "-c", PROGRAM, str(folder), server.base_url, url, address, *sys.path]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
            while len(server.done()) < total // 2 and running.poll() is None:
                time.sleep(0.001)
            kill_database(database) if dies == "database" else running.kill()
            _, said = running.communicate(timeout=60)
    assert running.returncode != 0
    # by what was asked of it first: the store, or the lock that is held
    lost = "cannot be used" in said or "broke, and with it the right to build" in said
    assert lost is (dies == "database"), said
    time.sleep(0.1)  # calls on their way at the server end by themselves
    restart_database(database)
    asked, kept, before = requests(server), journalled(url, folder), count_stored(url, folder)
    assert kept
    assert kept <= asked
    assert len(asked) < total
    server.reset()
    server.script = Script(keep_bodies=True)
    key, computed = build_six(folder, {**settings(server), "store": {"url": url, "cache": str(tmp_path / "copies")}})
    assert key == expected
    assert not kept & requests(server)
    assert server.stats()["repeated"] == 0
    assert 0 < len(server.done()) <= total - len(kept)
    grown = count_stored(url, folder) - before
    assert before["chunks.chunk"] == 6
    assert "chunks.chunk" not in computed
    assert {step: n for step, n in computed.items() if n > grown[step] and step not in ARRAYS} == {}
    database.cleanup()


def test_a_build_on_a_cluster_goes_on_when_a_worker_and_a_node_are_killed(
    tmp_path: Path, server: ScriptedServer
) -> None:
    expected, whole = build_six(
        tmp_path / "whole", settings(server), chunker=KillingChunker(), executor=SerialExecutor()
    )
    total = len(server.done())
    server.reset()
    folder = tmp_path / "killed"
    given = {**settings(server), "store": {"url": corpus_url(folder), "cache": str(folder / "copies")}}
    with cluster(2) as nodes:
        from sensegraph.runtime.executors.ray import RayExecutor

        chunker = KillingChunker(str(tmp_path), (os.getpid(), head_process(nodes)), nodes=True)
        executor = RayExecutor(threads=4, patience=0.0)
        assert build_six(folder, given, chunker=chunker, executor=executor) == (expected, whole)
    assert (tmp_path / "worker").exists()
    assert (tmp_path / "node").exists()
    assert (len(server.done()), server.stats()["repeated"]) == (total, 0)


def test_a_worker_of_this_machine_that_is_killed_ends_a_build_which_the_next_run_goes_on_with(
    tmp_path: Path, server: ScriptedServer
) -> None:
    expected, whole = build_six(
        tmp_path / "whole", settings(server), chunker=KillingChunker(), executor=SerialExecutor()
    )
    total = len(server.done())
    server.reset()
    folder = tmp_path / "killed"
    url = corpus_url(folder)
    given = {**settings(server), "store": {"url": url, "cache": str(folder / "copies")}}
    tools = {"chunker": KillingChunker(str(tmp_path), (os.getpid(),)), "executor": LocalExecutor(4, 2, patience=0.0)}
    with pytest.raises(StepFailed, match="Worker"):
        build_six(folder, given, **tools)
    before = count_stored(url, folder)
    key, computed = build_six(folder, given, **tools)
    assert key == expected
    assert computed["chunks.chunk_by"] == whole["chunks.chunk_by"] - before["chunks.chunk_by"]
    assert (len(server.done()), server.stats()["repeated"]) == (total, 0)
