"""What a model call costs us, and what the scripted server can take.

    python bench/endpoint.py [--calls 2000] [--threads 16]

Prints the CPU time of one chat call and of one embedding call of 64 texts at this many threads (the server runs in a
process of its own), the share of the ideal throughput that is reached when the model takes 200 ms, and the calls per
second that the server answers over plain sockets.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

HERE = Path(__file__).resolve().parent
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
PROMPT = [
    {"role": "system", "content": 'Reply as JSON: {"summary": "…"}. ' * 60},
    {"role": "user", "content": "- The harbour of Lindholm was built in 1904 by Mara Voss.\n" * 40},
]


@contextlib.contextmanager
def server(*options: str) -> Iterator[str]:
    """The base URL of a scripted server in another process."""
    command = [sys.executable, str(HERE / "scripted_server.py"), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def timed(call: Callable[[int], object], count: int, threads: int) -> tuple[float, float]:
    """CPU and wall seconds of `count` calls."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, range(2 * threads)))
        cpu, wall = time.process_time(), time.perf_counter()
        list(pool.map(call, range(count)))
        return time.process_time() - cpu, time.perf_counter() - wall


def calls(url: str, count: int, threads: int) -> None:
    end = Endpoint(EndpointSettings(base_url=url, model="m", embedding_model="e", concurrency=threads))
    cpu, wall = timed(lambda i: end.chat(PROMPT, schema=SCHEMA, name="summary", max_tokens=200), count, threads)
    print(f"chat, {threads} threads: {1000 * cpu / count:.2f} ms of CPU a call, {count / wall:.0f} calls/s")
    texts = [f"text number {i} about the harbour" for i in range(64)]
    cpu, wall = timed(lambda i: end.embed(texts), count // 20, threads)
    print(f"embed, 64 texts, {threads} threads: {1000 * cpu / (count // 20):.2f} ms of CPU a call")


def waiting(url: str, threads: int, latency: float) -> None:
    end = Endpoint(EndpointSettings(base_url=url, model="m", concurrency=threads))
    count = 20 * threads
    _, wall = timed(lambda i: end.chat(PROMPT, schema=SCHEMA, name="summary", max_tokens=200), count, threads)
    ideal = threads / latency
    print(
        f"a model of {latency * 1000:.0f} ms: {count / wall:.0f} calls/s, {100 * count / wall / ideal:.0f} % of ideal"
    )


def capacity(url: str, count: int) -> None:
    """The server's own rate, asked over two plain connections with a small request."""
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    body = json.dumps({"model": "m", "messages": PROMPT}).encode()
    request = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    def client() -> None:
        with socket.create_connection((host, int(port))) as connection:
            for _ in range(count // 2):
                connection.sendall(request)
                while not connection.recv(65536).endswith(b"}"):
                    pass

    clients = [threading.Thread(target=client) for _ in range(2)]
    began = time.perf_counter()
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    print(f"the scripted server alone: {count / (time.perf_counter() - began):.0f} calls/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=16)
    given = parser.parse_args()
    with server() as url:
        calls(url, given.calls, given.threads)
        capacity(url, 2 * given.calls)
    with server("--latency-ms", "200") as url:
        waiting(url, given.threads, 0.2)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"peak memory: {used.ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
