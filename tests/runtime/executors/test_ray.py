"""What goes to a cluster of Ray, how much at once, and what comes of it: over a cluster that stands in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray", reason='ray is not installed: pip install "sensegraph[ray]"')

from sensegraph.errors import ItemFailed, SettingsError
from sensegraph.runtime.executors import ray as over_ray
from sensegraph.runtime.executors.ray import RayExecutor, _executor_of_worker, _pack, _run_batches


class Ended(Exception):
    """A worker that has died."""


class Actor:
    """What holds a copy of a model, in this process."""

    def __init__(self, held: Any) -> None:
        self.run = SimpleNamespace(remote=lambda value: lambda: held.run(value))


class Cluster:
    """What the executor uses of ray. A task runs when its result is asked for; one with a batch of `dying` ends."""

    exceptions = SimpleNamespace(RayError=Ended)
    cloudpickle = SimpleNamespace(dumps=pickle.dumps)

    def __init__(self, **resources: float) -> None:
        self.resources, self.dying, self.busy = resources, set[Any](), 0
        self.sizes, self.sent, self.cancelled, self.begun = list[int](), list[Any](), list[Any](), list[Any]()
        self.flying = self.most = self.asked = 0
        self.options: list[dict[str, Any]] = []

    def is_initialized(self) -> bool:
        return bool(self.begun)

    def init(self, **given: Any) -> None:
        self.begun.append(given)

    def cluster_resources(self) -> dict[str, float]:
        self.asked += 1
        return self.resources

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": True}, {"Alive": False}, {"Alive": True}, {"Alive": True}]

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_job_id=lambda: "job")

    def put(self, value: Any) -> Callable[[], Any]:
        self.sent.append(value)
        return lambda: value

    def get(self, one: Callable[[], Any]) -> Any:
        return one()

    def wait(self, tasks: list[Any], *, timeout: float, num_returns: int = 1) -> tuple[list[Any], list[Any]]:
        assert (timeout, num_returns) == (5.0, 1)
        assert tasks
        if self.busy:
            self.busy -= 1
            return [], tasks
        return tasks[:1], tasks[1:]

    def cancel(self, one: Any, *, force: bool) -> None:
        assert not force
        self.cancelled.append(one)

    def send(self, name: str, call: Any, batches: bytes) -> Callable[[], Any]:
        held = pickle.loads(batches)
        self.sizes.append(len(held))
        self.flying += 1
        self.most = max(self.most, self.flying)

        def run() -> bytes:
            self.flying -= 1
            if self.dying.intersection(held):
                raise Ended
            return _run_batches(name, call, batches)

        return run

    def remote(self, **restarts: Any) -> Any:
        def set_options(**more: Any) -> Any:
            self.options.append(restarts | more)
            return SimpleNamespace(remote=lambda make: Actor(over_ray._Holder(make)))

        return lambda kind: SimpleNamespace(options=set_options)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster(CPU=2.0)
    monkeypatch.setattr(over_ray, "ray", made)
    monkeypatch.setattr(over_ray, "_TASK", SimpleNamespace(remote=made.send))
    monkeypatch.setattr(over_ray, "_COPIES", {})
    return made


def double(batch: int) -> int:
    if batch == 13:
        raise ValueError("unlucky")
    return 2 * batch


def make_double() -> Callable[[int], int]:
    return double


@pytest.mark.parametrize(
    ("cpus", "count", "sizes", "most"),
    [
        (2.0, 80, [10, 8, 7, 6, 6, 5, 4, 4, 3, 3, 3, 2, 2, 2, 1, *[1] * 14], 4),
        (2.0, 200, [16, 16, 16, 16, 16], 4),
        (0.5, 9, [2, 1, 1, 1, 1, 1, 1, 1], 2),
        (0.0, 3, [1, 1, 1], 2),
        (3.9, 5, [1, 1, 1, 1, 1], 5),
    ],
)
def test_two_tasks_for_each_cpu_are_on_their_way_and_hold_fewer_batches_towards_the_end(
    cluster: Cluster, cpus: float, count: int, sizes: list[int], most: int
) -> None:
    cluster.resources = {"CPU": cpus} if cpus else {}
    executor = RayExecutor(patience=0.0)
    found = dict(executor.map(double, list(range(100, 100 + count)), waits=False))
    assert found == {i: 200 + 2 * i for i in range(count)}
    assert (cluster.sizes[: len(sizes)], cluster.most) == (sizes, most)
    assert sum(cluster.sizes) == count
    assert (cluster.cancelled, len(cluster.sent)) == ([], 1)


@pytest.mark.parametrize("begun", [0.5, 1000.0])  # seconds after the machine was started
def test_the_cpus_are_counted_again_after_five_seconds(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, begun: float
) -> None:
    now = [begun]
    monkeypatch.setattr(over_ray, "time", SimpleNamespace(monotonic=lambda: now[0]))
    results = RayExecutor(patience=0.0).map(double, list(range(20)), waits=False)
    next(results)
    now[0] += 5.0
    for _ in range(6):
        next(results)
    assert (cluster.asked, cluster.most) == (1, 4)
    now[0] += 0.1
    cluster.resources = {"CPU": 4.0}
    list(results)
    assert (cluster.asked, cluster.most) == (2, 8)


def test_of_a_task_that_dies_each_batch_runs_again_alone_and_the_one_to_blame_is_named(cluster: Cluster) -> None:
    cluster.resources, cluster.dying, cluster.busy = {"CPU": 1.0}, {3}, 2
    found = dict(RayExecutor(patience=0.0).map(double, list(range(16)), waits=False))
    assert isinstance(found.pop(3), Ended)
    assert isinstance(found.pop(13), ValueError)
    assert found == {i: 2 * i for i in range(16) if i not in (3, 13)}
    assert cluster.sizes[:2] == [4, 3]
    assert sum(cluster.sizes) == 20  # the four of the task that died went twice


def test_leaving_early_cancels_what_is_on_its_way(cluster: Cluster) -> None:
    results = RayExecutor(patience=0.0).map(double, list(range(30)), waits=False)
    assert next(results) == (0, 0)
    assert len(cluster.sizes) == 4
    results.close()  # type: ignore[attr-defined]
    assert (len(cluster.cancelled), len(cluster.sizes)) == (3, 4)


def test_what_waits_and_what_is_done_in_time_goes_nowhere(cluster: Cluster) -> None:
    executor = RayExecutor(patience=60.0)
    for waits in (True, False):
        assert sorted(executor.map(double, [1, 2, 3], waits=waits)) == [(0, 2), (1, 4), (2, 6)]
    assert (cluster.begun, cluster.sizes) == ([], [])


def test_work_that_has_begun_here_goes_on_there(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_ray, "begin_here", lambda call, batches, patience: (yield 0, call(batches[0])) or 1)
    assert dict(RayExecutor().map(double, [1, 2, 3], waits=False)) == {0: 2, 1: 4, 2: 6}
    assert cluster.sizes == [1, 1]


def test_work_goes_elsewhere_at_once_where_the_nodes_have_begun_but_not_from_a_worker(cluster: Cluster) -> None:
    usual = RayExecutor()
    assert (usual.patience, usual._here.threads, usual.address) == (2.0, 16, "")
    assert [usual.elsewhere, RayExecutor(patience=0.0).elsewhere] == [False, True]
    cluster.init()
    assert usual.elsewhere
    made, given = RayExecutor(threads=5, patience=0.0).__reduce__()
    assert (made, given) == (_executor_of_worker, (5, 2.0))
    assert RayExecutor(patience=7.0).__reduce__()[1] == (16, 7.0)
    copy = made(*given)
    assert (copy.elsewhere, copy.patience, copy._here.threads) == (False, 2.0, 5)
    assert not _executor_of_worker(1, 0.0).elsewhere


class Scale:
    """A call with a setting."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __call__(self, batch: int) -> int:
        return batch * self.by


def test_a_call_is_sent_once_while_it_is_among_the_last_eight(cluster: Cluster) -> None:
    executor = RayExecutor(patience=0.0)

    def use(by: int) -> int:
        before = len(cluster.sent)
        assert list(executor.map(Scale(by), [1, 2], waits=False)) == [(0, by), (1, 2 * by)]
        return len(cluster.sent) - before

    assert [use(by) for by in range(8)] == [1] * 8
    assert [use(0), use(8)] == [0, 1]  # the one used longest ago is forgotten
    assert [use(0), use(2), use(1)] == [0, 0, 1]
    assert all(name.startswith("job ") and len(name) == 44 for name in executor._calls)


def test_a_worker_keeps_the_call_that_it_works_for(cluster: Cluster) -> None:
    calls = [pickle.dumps(double), pickle.dumps(double), pickle.dumps(Scale(3))]
    opened: list[int] = []

    def shared(number: int) -> list[Callable[[], bytes]]:
        return [lambda: opened.append(number) or calls[number]]  # type: ignore[func-returns-value]

    for number, name in ((0, "a"), (1, "a"), (2, "b"), (0, "a")):
        _run_batches(name, shared(number), pickle.dumps([1]))
        assert list(over_ray._COPIES) == [name]
    assert opened == [0, 2, 0]
    assert pickle.loads(_run_batches("b", shared(2), pickle.dumps([2, 5]))) == [6, 15]


def test_only_what_pickle_cannot_pack_is_packed_by_ray(cluster: Cluster) -> None:
    cluster.cloudpickle = SimpleNamespace(dumps=lambda value: b"by ray")
    assert pickle.loads(_pack([1, "a"])) == [1, "a"]
    assert _pack(lambda: 1) == b"by ray"
    assert _pack(iter(x for x in "ab")) == b"by ray"


def test_a_cluster_is_joined_once_or_made_here_with_as_many_workers_as_are_set(cluster: Cluster) -> None:
    executor = RayExecutor(processes=3, patience=0.0)
    for _ in range(2):
        list(executor.map(double, [1], waits=False))
    kept = {"idle_worker_killing_time_threshold_ms": 60_000}
    own = {"num_cpus": 3, "include_dashboard": False, "_system_config": kept}
    quiet = {"log_to_driver": False, "configure_logging": False}
    assert cluster.begun == [{"address": "local", **own, **quiet}]
    cluster.begun.clear()
    list(RayExecutor("ray://head:10001", processes=3, patience=0.0).map(double, [1], waits=False))
    assert cluster.begun == [{"address": "ray://head:10001", **quiet}]


def test_a_cluster_that_cannot_be_reached_is_named(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**given: Any) -> None:
        raise ConnectionError("nobody\n  is there")

    monkeypatch.setattr(cluster, "init", refuse)
    with pytest.raises(SettingsError, match=r"address = 'auto' cannot be reached \(nobody is there\)\. Start"):
        list(RayExecutor("auto", patience=0.0).map(double, [1], waits=False))


@pytest.mark.parametrize(("resources", "size", "gpus"), [({"GPU": 2.0}, 2, 1), ({}, 3, 0)])
def test_a_pool_has_a_copy_on_each_gpu_or_on_each_node_that_is_alive(
    cluster: Cluster, resources: dict[str, float], size: int, gpus: int
) -> None:
    cluster.resources, cluster.busy = resources, 2
    pool = RayExecutor(patience=0.0).hold(make_double)
    assert (pool.size, cluster.begun) == (0, [])
    assert [pool.call(4), pool.call(5)] == [8, 10]
    assert (pool.size, pool._idle.qsize(), len(cluster.begun)) == (size, size, 1)
    placed = {"num_cpus": 0, "num_gpus": gpus, "scheduling_strategy": "SPREAD"}
    assert cluster.options == [{"max_restarts": -1, "max_task_retries": 3, **placed}]
    with pytest.raises(ValueError, match="unlucky"):
        pool.call(13)
    assert pool._idle.qsize() == size


def test_a_copy_that_ends_again_and_again_fails_its_item_alone(cluster: Cluster, monkeypatch: Any) -> None:
    pool = RayExecutor(patience=0.0).hold(make_double)
    assert pool.call(1) == 2

    def end(one: Any) -> None:
        raise Ended("x" * 300)

    monkeypatch.setattr(cluster, "get", end)
    with pytest.raises(ItemFailed, match=r"ended \(x{200}\)$"):
        pool.call(1)
    assert pool._idle.qsize() == pool.size == 3


def test_a_batch_whose_worker_died_runs_three_times_more() -> None:
    assert over_ray._TASK._default_options["max_retries"] == 3
