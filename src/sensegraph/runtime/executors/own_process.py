"""Run one thing in a process that ends with it, and so gives all the memory that it took back."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from sensegraph.runtime.told_progress import TELLS

_IN_FILE = 1 << 16  # bytes of an array from which it travels in a file
_STEP = 64  # bytes: arrays begin at a multiple of them


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
        file = NamedTemporaryFile(prefix="sensegraph", delete=False)  # noqa: SIM115 - who opens it again removes it

        def put(buffer: pickle.PickleBuffer) -> bool:
            """Whether this buffer stays in what is pickled; else it is written."""
            with buffer.raw() as raw:
                if raw.nbytes < _IN_FILE:
                    return True
                file.seek(-(-file.tell() // _STEP) * _STEP)
                spans.append((file.tell(), file.tell() + raw.nbytes))
                file.write(raw)
            return False

        try:
            with file:
                packed = cloudpickle.dumps((call, value), protocol=5, buffer_callback=put)
            yield cls(packed, file.name, spans)
        finally:
            with suppress(OSError):
                Path(file.name).unlink(missing_ok=True)

    def run(self) -> Any:
        """What the call gives for its value. Arrays are mapped; what is written into them stays in this process."""
        from sensegraph.runtime.background import collect_cycles_seldom

        held = np.memmap(self.path, np.uint8, "c").data if self.spans else memoryview(b"")
        with suppress(OSError):  # where a file may be removed that is mapped
            os.unlink(self.path)
        with collect_cycles_seldom():
            call, value = pickle.loads(self.packed, buffers=[held[begin:end] for begin, end in self.spans])
            return call(value)


def begin_own_process(call: Callable[[Any], Any], value: Any, held: ExitStack) -> tuple[Any, Future[Any]]:
    """Begin a process for one call: what it tells, and what comes of the call. It ends as `held` is closed.

    Raises whatever there is: none may be begun here, or what a user made cannot travel; then nothing was done.
    """
    from loky import ProcessPoolExecutor  # unlike multiprocessing, needs no guard in the user's script
    from loky.backend import get_context

    context = get_context("loky")
    told, tell = map(held.enter_context, context.Pipe(duplex=False))
    ended, _ = map(held.enter_context, context.Pipe(duplex=False))
    parcel = held.enter_context(Parcel.pack(call, value))
    pool = ProcessPoolExecutor(1, context=context, initializer=settle_in, initargs=(tell, ended))
    made: list[Future[Any]] = []
    # one that has done its work ends by itself; another is killed
    held.callback(lambda: pool.shutdown(wait=True, kill_workers=not (made and made[0].done())))
    made.append(pool.submit(parcel.run))
    return told, made[0]


def settle_in(tell: Any, ended: Any) -> None:
    """Keep what tells the process that waits for this one, and end where that is gone: then `ended` can be read.

    What is printed goes where errors go: that process may print something for a program.
    """
    TELLS[:] = [tell.send]
    sys.stdout = sys.stderr
    with suppress(OSError):
        os.dup2(2, 1)

    def look() -> None:
        with suppress(EOFError, OSError):
            ended.recv_bytes()
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
