"""Whether as many calls are under way as a server bears: requests sent, and the time beside the least that is possible.

    python bench/flow.py [--scale 100] [--calls 320]

Three servers, in this process, with times scaled down: one slot at 15 s a reply (others wait in its queue), sixteen
slots at 40 s, and 60 requests a minute with a bucket of ten, which says how long to wait. Sixteen threads ask. The
floor is calls × seconds ÷ slots, or calls ÷ rate.
"""

from __future__ import annotations

import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from client import options, table

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests")]

from scripted_vendors import Answer, Asked, VendorServer, refuse  # noqa: E402
from sensegraph.errors import SensegraphError  # noqa: E402
from sensegraph.models.endpoint.client import Endpoint  # noqa: E402
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings  # noqa: E402

THREADS, REPLY_S, LONG_S, RATE, BUCKET = 16, 15.0, 40.0, 1.0, 10.0
TALK = [{"role": "system", "content": 'Reply as JSON: {"summary": "…"}'}, {"role": "user", "content": "- one\n- two"}]


def serve_in(slots: int, seconds: float) -> Callable[[Asked], object]:
    """A server that works on so many requests at once, and lets the others wait."""
    places = threading.Semaphore(slots)

    def serve(asked: Asked) -> object:
        with places:
            time.sleep(seconds)
        return asked.calm()

    return serve


def serve_at(rate: float) -> Callable[[Asked], object]:
    """A server that takes so many requests a second, and a few more at once; a refusal says how long to wait."""

    def serve(asked: Asked) -> object:
        now = time.monotonic()
        with asked.lock:
            level, last = asked.state.get("bucket", (BUCKET, now))
            level = min(BUCKET, level + (now - last) * rate)
            taken = level >= 1
            asked.state["bucket"] = (level - taken, now)
        if taken:
            return Answer(body=asked.calm(), wait=2 / rate)
        wait = round(1000 * (1 - level) / rate) + 1
        return refuse(429, f"Rate limit reached. Please try again in {wait}ms.", code="rate_limit_exceeded")

    return serve


def measure(server: VendorServer, name: str, calls: int, floor: float, scale: float) -> list[object]:
    """A row: what was sent for so many calls, what failed, and the seconds beside the floor."""
    end = Endpoint(EndpointSettings(base_url=server.url(name), model="m", concurrency=THREADS, backoff_s=0.5 / scale))

    def ask(i: int) -> bool:
        try:
            end.chat([*TALK[:1], {"role": "user", "content": f"- number {i}"}], max_tokens=100)
        except SensegraphError:
            return False
        return True

    began = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        good = sum(pool.map(ask, range(calls)))
    wall, sent = time.perf_counter() - began, len(server.requests(name))
    return [
        name,
        calls,
        sent,
        f"{sent / calls:.3f}",
        calls - good,
        f"{wall:.1f}",
        f"{floor:.1f}",
        f"{wall / floor:.2f}",
    ]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--scale", type=float, default=100.0)
    parser.add_argument("--calls", type=int, default=320)
    given: Namespace = parser.parse_args()
    scale, calls = given.scale, given.calls
    one, sixteen, rate = REPLY_S / scale, LONG_S / scale, RATE * scale / 4
    servers = {
        "one-slot": (serve_in(1, one), calls // 8, calls // 8 * one),
        "sixteen-slots": (serve_in(16, sixteen), calls, calls / 16 * sixteen),
        "60-a-minute": (serve_at(rate), calls, (calls - BUCKET) / rate),
    }
    with VendorServer({name: made[0] for name, made in servers.items()}) as server:
        rows = [measure(server, name, count, floor, scale) for name, (_, count, floor) in servers.items()]
    table(["server", "calls", "sent", "sent ÷ calls", "failed", "seconds", "floor", "seconds ÷ floor"], rows)


if __name__ == "__main__":
    main()
