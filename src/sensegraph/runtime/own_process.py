"""Run one thing in a process that ends with it, and so gives all the memory that it took back."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from sensegraph.runtime.activity import check_stop

_LOOKED_S = 0.1  # after which progress is told, and one looks whether the work is to stop
_ALIVE_S = 1.0  # after which the process looks whether the one that waits for it is still there
_LARGE = 1 << 16  # bytes of an array from which it is mapped from a file
_ALIGNED = 64  # bytes: where arrays begin in that file
_CANNOT = (ImportError, OSError, AttributeError, RuntimeError, TypeError, ValueError, pickle.PickleError)
_TELLS: list[Callable[[tuple[str, int, int]], None]] = []  # in such a process: what tells the one that waits


@dataclass(frozen=True, slots=True)
class Parcel:
    """A call with its value on their way to a process: pickled, but for large arrays, which lie in a file."""

    packed: bytes
    path: str
    spans: Sequence[tuple[int, int]]

    @classmethod
    @contextmanager
    def pack(cls, call: Callable[[Any], Any], value: Any) -> Iterator[Parcel]:
        """A parcel while it is on its way."""
        import cloudpickle

        spans: list[tuple[int, int]] = []
        with NamedTemporaryFile(prefix="sensegraph", delete=False) as file:

            def put(buffer: pickle.PickleBuffer) -> bool:
                """Whether this buffer stays in what is pickled; else it is written."""
                with buffer.raw() as raw:
                    if raw.nbytes < _LARGE:
                        return True
                    file.seek(-(-file.tell() // _ALIGNED) * _ALIGNED)
                    spans.append((file.tell(), file.tell() + raw.nbytes))
                    file.write(raw)
                return False

            try:
                packed = cloudpickle.dumps((call, value), protocol=5, buffer_callback=put)
                file.close()
                yield cls(packed, file.name, spans)
            finally:
                Path(file.name).unlink(missing_ok=True)

    def run(self) -> Any:
        """What the call gives for its value. Arrays are mapped; what is written into them stays in this process."""
        held = np.memmap(self.path, np.uint8, "c").data if self.spans else memoryview(b"")
        with suppress(OSError):  # where a file may be removed that is mapped
            os.unlink(self.path)
        call, value = pickle.loads(self.packed, buffers=[held[begin:end] for begin, end in self.spans])
        return call(value)


def run_in_own_process(call: Callable[[Any], Any], value: Any, progress: Callable[[str, int, int], None]) -> Any:
    """What `call` gives for `value`, or the exception, from a process that is begun for that and ends with it.

    `progress` is told what `ToldProgress` is told there. Raises Stopped, and ends the process, where it is to stop.
    """
    with ExitStack() as held:
        try:
            from loky import ProcessPoolExecutor  # unlike multiprocessing, needs no guard in the user's script
            from loky.backend import get_context

            context = get_context("loky")
            told, tell = map(held.enter_context, context.Pipe(duplex=False))
            parcel = held.enter_context(Parcel.pack(call, value))
            pool = ProcessPoolExecutor(1, context=context, initializer=begin_own_process, initargs=(tell, os.getpid()))
            future = pool.submit(parcel.run)
        except _CANNOT as e:  # no process may be begun here, or something cannot travel
            return e
        finished = False
        try:
            while not future.done() or told.poll():
                if told.poll(_LOOKED_S):
                    progress(*told.recv())
                check_stop()
            finished = True
        finally:
            pool.shutdown(wait=True, kill_workers=not finished)
        return future.exception() or future.result()


def begin_own_process(tell: Any, waiting: int) -> None:
    """Keep what tells the process that waits for this one, and end where that is gone."""
    _TELLS[:] = [tell.send]

    def look() -> None:
        while os.getppid() == waiting:
            time.sleep(_ALIVE_S)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


class ToldProgress:
    """The progress of what runs in a process of its own, told to the one that waits for it; elsewhere told to nobody.

    Of what goes on quickly it tells some.
    """

    def __init__(self) -> None:
        self._step, self._said = "", 0.0

    def __call__(self, step: str, done: int, total: int) -> None:
        """So much of a step is done."""
        now = time.monotonic()
        if _TELLS and (step != self._step or done == total > 1 or now - self._said > _LOOKED_S):
            self._step, self._said = step, now
            _TELLS[0]((step, done, total))
