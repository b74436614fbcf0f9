"""Whether limits hold over processes and over a restart: calls in any minute, and a budget, as the server counts them.

    python bench/shared_limits.py [--workers 3] [--requests 600] [--window 60] [--tokens 4000] [--killed-after 700]

Copies of one endpoint in several processes share its limits through a database. Each asks a scripted server as fast as
it is let. In the middle one is killed (kill -9) and another begins in its place; when the budget is at its end one more
begins. A window of other than 60 seconds runs the same code with a shorter minute. The calls are counted where they
arrive, so what a process was late with shows too.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from databases import corpus_url, start_database
from scripted import Body, ScriptedServer
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.limits import Journal
from sensegraph.runtime.stores.postgres import PostgresStore

_WORKER = """
import pickle, sys, threading
number, window, sys.path[:0] = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
from sensegraph.errors import BudgetExceeded
from sensegraph.models.endpoint.limits import SharedPace
endpoint = pickle.load(sys.stdin.buffer)
calls = endpoint.calls
calls._pace = SharedPace(calls.journal.limits, endpoint.address, endpoint.settings.requests_per_minute, 0, window)
said = []
def work(thread):
    i = 0
    while not said:
        i += 1
        try:
            endpoint.chat([{"role": "user", "content": f"say {number} {thread} {i}"}], max_tokens=20)
        except BudgetExceeded as e:
            said.append(str(e))
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(said[0])
"""


class CountingServer(ScriptedServer):
    """A scripted server that counts the tokens that it charges for."""

    def reset(self) -> None:
        super().reset()
        self.tokens: list[int] = []

    def _answer(self, path: str, body: Body, fault: str) -> bytes:
        reply = super()._answer(path, body, fault)
        self.tokens.append(int(msgspec.json.decode(reply)["usage"]["total_tokens"]))
        return reply


@dataclass(frozen=True, slots=True)
class Counted:
    """What the server saw: calls, the most in any window, tokens of all and the largest; what the processes said."""

    calls: int
    most: int
    tokens: int
    largest: int
    seconds: float
    after_end: int
    said: tuple[str, ...]


def count_most(times: Sequence[float], window: float) -> int:
    """The most of these moments in any `window` seconds."""
    ordered = sorted(times)
    return max((bisect_left(ordered, start + window) - i for i, start in enumerate(ordered)), default=0)


def spend_together(
    url: str,
    folder: Path,
    *,
    workers: int,
    requests: int,
    window: float,
    counted: float,
    budget: int,
    killed_after: int,
) -> Counted:
    """Run so many processes until the budget is spent, of which the first is killed after so many calls.

    `requests` may be made in any `window` seconds; how many were is counted in any `counted` seconds.
    """
    with (
        closing(PostgresStore(url, folder, folder / "copies")) as store,
        CountingServer() as server,
        Journal(store.replies, folder, store.limits) as journal,
    ):
        table = EndpointSettings(
            server.base_url, "scripted", requests_per_minute=requests, max_tokens_total=budget, max_retries=4
        )
        sent = pickle.dumps(Endpoint(table, journal))

        def work(number: int) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", _WORKER, str(number), str(window), *sys.path]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert process.stdin is not None
            process.stdin.write(sent)
            process.stdin.close()
            process.stdin = None
            return process

        running = [work(n) for n in range(workers)]
        while len(server.calls) < killed_after and any(p.poll() is None for p in running):
            time.sleep(0.005)
        running[0].kill()
        running[0].communicate()
        said = [p.communicate()[0].decode() for p in [*running[1:], work(workers)]]
        before = len(server.calls)
        said.append(work(workers + 1).communicate()[0].decode())  # begins when all is spent
        times = [c.finished for c in server.calls]
        return Counted(
            len(times),
            count_most(times, counted),
            sum(server.tokens),
            max(server.tokens),
            max(times) - min(times),
            len(times) - before,
            tuple(said),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--window", type=float, default=60.0)
    parser.add_argument("--tokens", type=int, default=4_000)
    parser.add_argument("--killed-after", type=int, default=700)
    given = parser.parse_args()
    how: dict[str, Any] = {"workers": given.workers, "requests": given.requests, "window": given.window}
    with tempfile.TemporaryDirectory(prefix="sensegraph-limits-") as folder:
        url = corpus_url(Path(folder), start_database(lasting=True).get_uri())
        found = spend_together(
            url, Path(folder), **how, counted=given.window, budget=given.tokens, killed_after=given.killed_after
        )
    print(f"{found.calls:,} calls of {given.workers} processes in {found.seconds:.1f} s, one killed, one in its place")
    print(f"the most in any {given.window:g} s: {found.most:,} of {given.requests:,}")
    print(f"tokens: {found.tokens:,} of {given.tokens:,}, the largest call {found.largest}")
    print(f"calls of a process that begins afterwards: {found.after_end}")


if __name__ == "__main__":
    main()
