"""What `sensegraph serve` takes: to install and start, of memory, and of CPU for each kind of request.

    python bench/serving.py --root CORPUS [--requests 500] [--each 30]

CORPUS is a folder that was indexed offline. Times of CPU are those of the server's process, user and system; times on
the clock are of this machine as busy as it is. A question is measured beside the same question to `Corpus` in a process
of its own. Of the mixed requests by eight clients every answer is compared with the one that was given alone.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from budgets import core_distributions

TICKS = os.sysconf("SC_CLK_TCK")
EXTRA = ("starlette", "uvicorn", "python-multipart")
CLIENTS = 8


def cpu_of(process: int) -> float:
    """The CPU seconds of a process until now."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def memory_of(process: int) -> float:
    """The resident memory of a process, in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def children_of(process: int) -> list[int]:
    """The processes that a process started."""
    return [int(p) for task in Path(f"/proc/{process}/task").iterdir() for p in (task / "children").read_text().split()]


def weigh_extra() -> tuple[list[str], float]:
    """The distributions that the extra brings besides those of the core, and their size in MB, without byte code."""
    found, wanted = dict[str, float](), list(EXTRA)
    while wanted:
        name = re.split(r"[^\w.-]", wanted.pop())[0]
        try:
            made = distribution(name)
        except PackageNotFoundError:
            continue
        if name in found or name in core_distributions():
            continue
        files = [f.locate() for f in made.files or () if "__pycache__" not in str(f)]
        found[name] = sum(os.path.getsize(f) for f in files if os.path.exists(f)) / 1e6
        wanted += [r for r in made.requires or () if "extra ==" not in r and "python_version" not in r]
    return sorted(found), sum(found.values())


@contextmanager
def served(root: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server over a corpus in a process of its own, and its port."""
    command = [sys.executable, "-m", "sensegraph", "serve", str(root), "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr
        line = program.stderr.readline()
        try:
            yield program, int(line.partition(" at ")[2].partition(";")[0].rstrip("/").rpartition(":")[2])
        finally:
            program.send_signal(signal.SIGTERM)
            program.wait(60)


def ask(port: int, method: str, path: str, body: Any = None, packed: bool = False) -> bytes:
    """The body of an answer."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {"Content-Type": "application/json"} | ({"Accept-Encoding": "gzip"} if packed else {})
    link.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = link.getresponse()
    read = answer.read()
    link.close()
    if answer.status != 200:
        raise RuntimeError(f"{method} {path}: {answer.status} {read[:300]!r}")
    return read


def plain(raw: bytes) -> Any:
    """An answer without the time that it took."""
    text = raw.decode()
    found = json.loads(text.rpartition("data: ")[2].strip() if "\nevent: " in text else text)
    if isinstance(found, dict):
        found.get("usage", {}).pop("seconds", None)
    return found


def list_requests(port: int, name: str) -> dict[str, tuple[str, str, Any]]:
    """Requests of every kind, by what they are called."""
    c = f"/api/v1/{name}"
    entities = json.loads(ask(port, "GET", f"{c}/entities?limit=3"))["entities"]
    document = json.loads(ask(port, "GET", f"{c}/documents?limit=1"))["documents"][0]["id"]
    about = entities[0]["name"]
    question = f"What is said of {about}?"
    return {
        "health": ("GET", "/healthz", None),
        "status": ("GET", f"{c}/status", None),
        "reports": ("GET", f"{c}/reports", None),
        "documents": ("GET", f"{c}/documents", None),
        "document": ("GET", f"{c}/documents/{quote(document, safe='')}", None),
        "entities": ("GET", f"{c}/entities?q=a", None),
        "entity": ("GET", f"{c}/entities/{entities[0]['id']}", None),
        "map": ("GET", f"{c}/map", None),
        "match": ("POST", f"{c}/match", {"pattern": "(a)-[r]-(b)", "limit": 10}),
        "search": ("POST", f"{c}/search", {"question": about}),
        "hybrid": ("POST", f"{c}/query", {"question": question, "method": "hybrid"}),
        "streamed": ("POST", f"{c}/query", {"question": question, "method": "hybrid", "stream": True}),
        "auto": ("POST", f"{c}/query", {"question": question}),
    }


def measure_start(root: Path) -> None:
    """CPU and memory until the first answer."""
    with served(root) as (program, port):
        ask(port, "GET", f"/api/v1/{root.resolve().name}/status")
        print(f"start: {cpu_of(program.pid):.2f} CPU s to the first answer, {memory_of(program.pid):.0f} MB idle")


def measure_each(program: subprocess.Popen[str], port: int, asked: dict[str, tuple[str, str, Any]], each: int) -> None:
    """CPU of each kind of request."""
    for name, (method, path, body) in asked.items():
        first = plain(ask(port, method, path, body)) if name != "health" else None  # what is computed once
        before = cpu_of(program.pid)
        for _ in range(each):
            found = ask(port, method, path, body)
            assert first is None or plain(found) == first
        print(f"  {name:<10} {(cpu_of(program.pid) - before) / each * 1000:8.1f} ms CPU, {len(found):,} bytes")


IN_PROCESS = """
import json, sys, time
from sensegraph import Corpus
root, question, each = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Corpus.open(root, create=False) as corpus:
    corpus.query(question, method="hybrid")
    before = time.process_time()
    for _ in range(each):
        corpus.query(question, method="hybrid")
    print((time.process_time() - before) / each * 1000)
"""


def measure_overhead(root: Path, question: str, each: int, program: subprocess.Popen[str], port: int) -> None:
    """A question over HTTP beside the same question to Corpus, in turns."""
    over, alone = list[float](), list[float]()
    body = {"question": question, "method": "hybrid"}
    for _ in range(3):
        before = cpu_of(program.pid)
        for _ in range(each):
            ask(port, "POST", f"/api/v1/{root.resolve().name}/query", body)
        over.append((cpu_of(program.pid) - before) / each * 1000)
        words = [sys.executable, "-c", IN_PROCESS, str(root), question, str(each)]
        alone.append(float(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
    print(
        f"question: {min(over):.1f} ms CPU over HTTP, {min(alone):.1f} ms to Corpus (the least of 3 rounds of {each})"
    )


def measure_first_event(port: int, name: str, question: str, each: int) -> None:
    """The time on the clock until the first event, and the first stage, of a stream."""
    body = json.dumps({"question": question, "method": "hybrid", "stream": True}).encode()
    head = f"POST /api/v1/{name}/query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    took = list[float]()
    for _ in range(each):
        with socket.create_connection(("127.0.0.1", port)) as link:
            begun = time.perf_counter()
            link.sendall(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            got = b""
            while b"event: stage" not in got:
                got += link.recv(65536)
            took.append((time.perf_counter() - begun) * 1000)
            while link.recv(65536):
                pass
    took.sort()
    print(f"first event of a stream: {took[0]:.1f} ms at best, {took[len(took) // 2]:.1f} ms median, on the clock")


def measure_many(
    program: subprocess.Popen[str], port: int, asked: dict[str, tuple[str, str, Any]], requests: int
) -> None:
    """Eight clients at once: answers compared, and memory after each half."""
    kinds = [name for name in asked if name not in ("health", "status")]
    alone = {name: plain(ask(port, *asked[name])) for name in kinds}
    mixed = [kinds[n % len(kinds)] for n in range(requests)]
    Random(0).shuffle(mixed)
    differing = Counter[str]()

    def one(name: str) -> None:
        if plain(ask(port, *asked[name])) != alone[name]:
            differing[name] += 1

    memory, before = [memory_of(program.pid)], cpu_of(program.pid)
    for half in (mixed[: requests // 2], mixed[requests // 2 :], mixed[: requests // 2]):
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(one, half))
        memory.append(memory_of(program.pid))
    count = requests + requests // 2
    took = (cpu_of(program.pid) - before) / count * 1000
    steps = " → ".join(f"{m:.0f}" for m in memory)
    told = f"{sum(differing.values())} answers differ {dict(differing)}, {took:.1f} ms CPU each"
    print(f"{count} mixed requests by {CLIENTS} clients: {told}")
    print(
        f"  memory {steps} MB (before, and after each {requests // 2}); processes left: {len(children_of(program.pid))}"
    )


def measure_leaving(root: Path) -> None:
    """How long after its client has left a question hangs up on a model that does not answer."""
    closed, taken = threading.Event(), threading.Event()
    door = socket.create_server(("127.0.0.1", 0))

    def stand() -> None:
        while True:
            link, _ = door.accept()
            with link:
                if b"chat/completions" in link.recv(65536):
                    taken.set()
                    while link.recv(65536):
                        pass
                    closed.set()
                    return
                link.sendall(b"HTTP/1.1 404 none\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    threading.Thread(target=stand, daemon=True).start()
    words = ["--engine", "model", "--trust", "--set", f"endpoint.base_url=http://127.0.0.1:{door.getsockname()[1]}/v1"]
    with served(root, *words, "--set", "endpoint.model=none") as (_, port):
        name = json.loads(ask(port, "GET", f"/api/v1/{root.resolve().name}/entities?limit=1"))["entities"][0]["name"]
        question = {"question": f"What is said of {name}?", "method": "bm25", "stream": True}
        body = json.dumps(question).encode()
        head = f"POST /api/v1/{root.resolve().name}/query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        head += "Content-Type: application/json\r\n"
        link = socket.create_connection(("127.0.0.1", port))
        link.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        if not taken.wait(120):
            raise RuntimeError("the model was not asked")
        begun = time.perf_counter()
        link.close()
        closed.wait(120)
        print(f"a client leaves: its model is hung up on after {time.perf_counter() - begun:.2f} s on the clock")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--each", type=int, default=30)
    given = parser.parse_args()
    names, size = weigh_extra()
    print(f"extra: {size:.1f} MB, {len(names)} distributions: {', '.join(names)}")
    measure_start(given.root)
    with served(given.root) as (program, port):
        name = given.root.resolve().name
        asked = list_requests(port, name)
        print(f"each kind of request, {given.each} times:")
        measure_each(program, port, asked, given.each)
        packed = ask(port, "GET", f"/api/v1/{name}/map", packed=True)
        print(f"map of depth 0: {len(packed) / 1000:.1f} kB as sent, {len(gzip.decompress(packed)) / 1000:.1f} kB")
        question = asked["hybrid"][2]["question"]
        measure_first_event(port, name, question, given.each)
        measure_overhead(given.root, question, given.each, program, port)
        measure_many(program, port, asked, given.requests)
    measure_leaving(given.root)


if __name__ == "__main__":
    main()
