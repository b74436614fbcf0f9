"""Ray clusters for tests: nodes that are processes of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


def add_node(made: Any) -> None:
    """Add a node to a cluster, and wait until it is there."""
    made.add_node(**_NODE)
    made.wait_for_nodes()


@contextmanager
def cluster(nodes: int) -> Iterator[Any]:
    """A cluster of so many nodes with one CPU each, which this process belongs to. Skips the test without ray."""
    ray = pytest.importorskip("ray", reason='ray is not installed: pip install "sensegraph[distributed]"')
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(os.path.abspath(place) for place in sys.path if place))
        made = Cluster(initialize_head=True, head_node_args={**_NODE, "include_dashboard": False})
        try:
            for _ in range(nodes - 1):
                add_node(made)
            ray.init(address=made.address, log_to_driver=False, configure_logging=False)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()
