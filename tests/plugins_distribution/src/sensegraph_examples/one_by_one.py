"""An executor: one batch after the other, in this thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sensegraph.runtime.executors.processes import attempt


class OneByOne:
    """Made with the settings' threads (`endpoint.concurrency`) and `processes`; it needs neither."""

    def __init__(self, threads: int = 1, processes: int = 1) -> None:
        pass

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """The position of each batch, and its result or its exception."""
        for position, batch in enumerate(batches):
            yield position, attempt(call, batch)
