"""Ray clusters for tests: nodes that are processes of this machine; and what kills them in the middle of their work."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sensegraph.types import Document

_NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


def add_node(made: Any) -> None:
    """Add a node to a cluster, and wait until it is there."""
    _begin(lambda: made.add_node(**_NODE))
    made.wait_for_nodes()


def _begin(start: Callable[[], Any]) -> Any:
    """Start a node, which has half a minute for it: on a busy machine that may take several attempts."""
    for left in (3, 2, 1, 0):
        try:
            return start()
        except Exception:
            if not left:
                raise
    return None


@contextmanager
def cluster(nodes: int, *, joined: bool = True) -> Iterator[Any]:
    """A cluster of so many nodes with one CPU each, which this process has joined. Skips the test without ray."""
    ray = pytest.importorskip("ray", reason='ray is not installed: pip install "sensegraph[distributed]"')
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_idle_worker_killing_time_threshold_ms", "60000")
        patch.setenv("PYTHONPATH", os.pathsep.join(os.path.abspath(place) for place in sys.path if place))
        head = {"initialize_head": True, "head_node_args": {**_NODE, "include_dashboard": False}}
        made = _begin(lambda: Cluster(**head))
        try:
            for _ in range(nodes - 1):
                add_node(made)
            if joined:
                ray.init(address=made.address, log_to_driver=False, configure_logging=False)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


def head_process(made: Any) -> int:
    """The process that runs the head node of a cluster, and begins its workers."""
    return int(made.head_node.all_processes["raylet"][0].process.pid)


@dataclass(frozen=True)
class KillingChunker:
    """Cuts each document in two; where `folder` is given it kills on its way, once each and by force, what runs it.

    That is a worker, and with `nodes` the process of a node besides: any but those `spared`, which are that of the
    driver and that of its own node. There it waits until the other is dead.
    """

    folder: str = ""
    spared: tuple[int, ...] = ()
    nodes: bool = False

    def fingerprint(self) -> str:
        return "halves"

    def chunk(self, documents: Sequence[Document]) -> list[list[tuple[int, int]]]:
        if self.folder and os.getpid() not in self.spared:
            self._kill("worker", os.getpid())
            if self.nodes and os.getppid() not in self.spared:
                self._kill("node", os.getppid())
            until = time.monotonic() + 60
            while self.nodes and not (Path(self.folder) / "node").exists() and time.monotonic() < until:
                time.sleep(0.02)
        return [_cut_in_two(document.text) for document in documents]

    def _kill(self, what: str, process: int) -> None:
        with suppress(FileExistsError):
            (Path(self.folder) / what).touch(exist_ok=False)
            os.kill(process, signal.SIGKILL)
            time.sleep(60)  # a worker ends with its node


def _cut_in_two(text: str) -> list[tuple[int, int]]:
    middle = text.find(". ", len(text) // 2) + 1
    return [(0, middle), (middle + 1, len(text))] if middle else [(0, len(text))]
