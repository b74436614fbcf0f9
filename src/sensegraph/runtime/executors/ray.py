"""Run batches on a Ray cluster: the one file that imports ray. Its tasks alone are used: pure functions of content."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import ray

from sensegraph.errors import ItemFailed, SettingsError
from sensegraph.runtime.activity import check_stop
from sensegraph.runtime.executors.processes import LocalExecutor, attempt, begin_here

_AHEAD = 2  # tasks for each CPU that are on their way, so that none waits for the driver
_TOGETHER = 16  # batches of a task at most, where there are many: a task costs the driver as much as several batches
_CALLS = 8  # that stay in the cluster: a step comes again in the next part of an index
_LOOKED_S = 5.0  # after which the CPUs of the cluster are counted again: nodes come and go
_PATIENCE_S = 2.0  # of a worker that has work for others: where it asks at once, more workers than CPUs are started
_IDLE_MS = 60_000  # that a worker of a cluster on this machine alone waits for work before it ends
_RETRIES = 3  # of a batch whose worker or node died
_COPIES: dict[str, Any] = {}  # of a worker: the call that it works for


class RayExecutor:
    """What works goes to the nodes of a cluster; what waits stays in the threads of this process.

    `address` is `auto` (the cluster that this machine belongs to), that of one (`ray://HOST:10001`, `HOST:6379`), or
    empty for one on this machine alone, with `processes` workers (0: as many as cores). Work begins in this process,
    and what is not done after `patience` seconds goes to the nodes. A call - tool, settings - travels to each node
    once, and is unpacked once by each worker. A worker or node that dies costs its batches only: they run again
    elsewhere. Raises SettingsError where the cluster cannot be reached.
    """

    def __init__(self, address: str = "", threads: int = 16, processes: int = 0, patience: float = 2.0) -> None:
        self.address, self.patience = address, patience
        self._here, self._of_worker = LocalExecutor(threads, processes), False
        self._calls: OrderedDict[str, Any] = OrderedDict()  # by what they hold, those used last at the end

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """Yield (position, result or exception) as batches finish."""
        if waits:
            yield from self._here.map(call, batches, waits=True)
            return
        begun = 0 if self.elsewhere else (yield from begin_here(call, batches, self.patience))
        if begun < len(batches):
            self._connect()
            yield from _run_on_cluster(self._share(call), batches, begun)

    def __reduce__(self) -> tuple[Any, ...]:
        return _executor_of_worker, (self._here.threads, max(self.patience, _PATIENCE_S))

    @property
    def elsewhere(self) -> bool:
        """Whether work goes to the nodes at once, be it little: it does when they have begun, but for a worker's."""
        return not self._of_worker and (not self.patience or bool(ray.is_initialized()))

    def _share(self, call: Callable[[Any], Any]) -> tuple[str, Any]:
        """What a call is named after, and where it lies in the cluster; one that was there lately is not sent again."""
        packed = ray.cloudpickle.dumps(call)
        name = f"{ray.get_runtime_context().get_job_id()} {hashlib.blake2b(packed, digest_size=20).hexdigest()}"
        self._calls[name] = self._calls.pop(name, None) or ray.put(packed)
        if len(self._calls) > _CALLS:
            self._calls.popitem(last=False)
        return name, self._calls[name]

    def hold(self, make: Callable[[], Callable[[Any], Any]]) -> RayPool:
        """A pool of what `make` makes, which is too large to travel with work; begun when it is first called."""
        return RayPool(self, make)

    def _connect(self) -> None:
        """Join the cluster, once in a process."""
        if ray.is_initialized():
            return
        own: dict[str, Any] = {"address": self.address} if self.address else {"address": "local"}
        if not self.address:
            kept = {"idle_worker_killing_time_threshold_ms": _IDLE_MS}
            own |= {"num_cpus": self._here.processes, "include_dashboard": False, "_system_config": kept}
        try:
            ray.init(log_to_driver=False, configure_logging=False, **own)
        except (ConnectionError, RuntimeError, ValueError) as e:
            said = " ".join(str(e).split())
            raise SettingsError(
                f"The cluster at executor.address = {self.address!r} cannot be reached ({said}). Start it (ray start), "
                "or set executor.kind = local."
            ) from e


def _executor_of_worker(threads: int, patience: float) -> RayExecutor:
    """The executor of what a worker does that has steps of its own: little work stays with it."""
    made = RayExecutor("", threads, patience=patience)
    made._of_worker = True
    return made


class RayPool:
    """Copies of what `make` makes, each in an actor: one on each GPU of the cluster, else one on each node.

    A copy takes one call at a time, from whichever thread. One whose worker or node died is made anew elsewhere.
    """

    def __init__(self, executor: RayExecutor, make: Callable[[], Callable[[Any], Any]]) -> None:
        self._executor, self._make, self._starting = executor, make, threading.Lock()
        self._idle: SimpleQueue[Any] = SimpleQueue()
        self.size = 0

    def call(self, value: Any) -> Any:
        """What a copy that is free gives. Raises what it raises, and ItemFailed where copies end again and again."""
        with self._starting:
            if not self.size:
                self._start()
        actor = self._idle.get()
        try:
            task = actor.run.remote(value)
            while not ray.wait([task], timeout=_LOOKED_S)[0]:
                check_stop()
            found = ray.get(task)
        except ray.exceptions.RayError as e:
            raise ItemFailed(f"A worker that holds a model ended ({' '.join(str(e).split())[:200]})") from e
        finally:
            self._idle.put(actor)
        if isinstance(found, BaseException):
            raise found
        return found

    def _start(self) -> None:
        self._executor._connect()
        gpus = int(ray.cluster_resources().get("GPU", 0))
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        begin = ray.remote(max_restarts=-1, max_task_retries=_RETRIES)(_Holder).options(
            num_cpus=0, num_gpus=1 if gpus else 0, scheduling_strategy="SPREAD"
        )
        self.size = gpus or nodes
        for _ in range(self.size):
            self._idle.put(begin.remote(self._make))


class _Holder:
    """What an actor holds."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        self._held = make()

    def run(self, value: Any) -> Any:
        """What it gives, or the exception."""
        return attempt(self._held, value)


def _pack(value: Any) -> bytes:
    """A value that travels: pickled in C, ten times as fast as Ray does it, but for what only Ray can pickle."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        packed: bytes = ray.cloudpickle.dumps(value)
        return packed


def _run_batches(name: str, call: Sequence[Any], batches: bytes) -> bytes:
    """The results of batches or their exceptions; the call, in a list so that it is not unpacked each time, is kept."""
    if name not in _COPIES:
        _COPIES.clear()
        _COPIES[name] = pickle.loads(ray.get(call[0]))
    return _pack([attempt(_COPIES[name], batch) for batch in pickle.loads(batches)])


_TASK: Any = ray.remote(max_retries=_RETRIES)(_run_batches)


def _run_on_cluster(
    call: tuple[str, Any], batches: Sequence[Any], position: int
) -> Iterator[tuple[int, Any | BaseException]]:
    """Run batches from number `position` on; leaving early cancels what has not begun.

    Of a task that fails each batch runs again alone: one of them may be to blame.
    """
    (name, shared), window, looked = call, 0, -_LOOKED_S
    running: dict[Any, range] = {}

    def begin(some: range) -> None:
        running[_TASK.remote(name, [shared], _pack([batches[i] for i in some]))] = some

    try:
        while running or position < len(batches):
            check_stop()
            if time.monotonic() - looked > _LOOKED_S:
                window, looked = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1))), time.monotonic()
            while position < len(batches) and len(running) < window:
                together = max(1, min(_TOGETHER, (len(batches) - position) // (2 * window)))
                begin(range(position, position + together))
                position += together
            done, _ = ray.wait(list(running), num_returns=1, timeout=_LOOKED_S)
            for one in done:
                some = running.pop(one)
                try:
                    yield from zip(some, pickle.loads(ray.get(one)), strict=True)
                except ray.exceptions.RayError as e:
                    if len(some) == 1:
                        yield some.start, e
                    else:
                        for i in some:
                            begin(range(i, i + 1))
    finally:
        for one in running:
            ray.cancel(one, force=False)
