"""What `sensegraph serve` takes: to install and start, of memory, and of CPU for each kind of request.

    python bench/serving.py [--root CORPUS] [--requests 500] [--each 50]

CORPUS is a folder that was indexed offline; without one the bundled demonstration is. Times of CPU are those of the
server's process, user and system, and have byte code to start from, as an installed package has; times on the clock are
of this machine as busy as it is. A question over HTTP takes turns with the same question to `Corpus` in a process of
its own, which is told it over a pipe, so that both begin after a pause. Of the mixed requests by eight clients every
answer is compared with the one that was given alone, and what the answers of a scripted model cost is added up.
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
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from budgets import core_distributions
from client import serving

TICKS = os.sysconf("SC_CLK_TCK")
EXTRA = ("starlette", "uvicorn", "python-multipart")
CLIENTS = 8
DEMO = Path(__file__).resolve().parent.parent / "src" / "sensegraph" / "data" / "demo"
VARIETY = 5  # entities and documents that the mixed requests are about


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


def members_of(group: int) -> list[int]:
    """The processes of a group."""
    found = list[int]()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            if int((place / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                found.append(int(place.name))
    return found


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
def compiled() -> Iterator[dict[str, str]]:
    """An environment in which byte code is kept, in a folder that goes at the end."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        yield kept | {"PYTHONPYCACHEPREFIX": folder}


@contextmanager
def served(
    root: Path, *words: str, environment: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server over a corpus in a process of its own, and its port; no process of its group outlives it."""
    command = [sys.executable, "-m", "sensegraph", "serve", str(root), "--port", "0", *words]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as program:
        assert program.stderr
        line = program.stderr.readline()
        try:
            yield program, int(line.partition(" at ")[2].partition(";")[0].rstrip("/").rpartition(":")[2])
        finally:
            program.send_signal(signal.SIGTERM)
            program.wait(60)
    if left := members_of(program.pid):
        raise RuntimeError(f"processes {left} outlived the server that started them")


def exchange(link: http.client.HTTPConnection, method: str, path: str, body: Any = None, packed: bool = False) -> bytes:
    """The body of an answer over a connection that stays open; who asks too quickly waits as it is told."""
    headers = {"Content-Type": "application/json"} | ({"Accept-Encoding": "gzip"} if packed else {})
    while True:
        link.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = link.getresponse()
        read = answer.read()
        if answer.status != 429:
            break
        time.sleep(float(answer.headers["Retry-After"]))
    if answer.status != 200:
        raise RuntimeError(f"{method} {path}: {answer.status} {read[:300]!r}")
    return read


def ask(port: int, method: str, path: str, body: Any = None, packed: bool = False) -> bytes:
    """The body of an answer that comes over a connection of its own."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as link:
        return exchange(link, method, path, body, packed)


def plain(raw: bytes) -> Any:
    """An answer without the time that it took."""
    text = raw.decode()
    found = json.loads(text.rpartition("data: ")[2].strip() if "\nevent: " in text else text)
    if isinstance(found, dict):
        found.get("usage", {}).pop("seconds", None)
    return found


def list_requests(port: int, name: str, number: int = 0) -> dict[str, tuple[str, str, Any]]:
    """Requests of every kind, by what they are called; about the entity and the document of this number."""
    c = f"/api/v1/{name}"
    entity = json.loads(ask(port, "GET", f"{c}/entities?limit=1&cursor={number}"))["entities"][0]
    document = json.loads(ask(port, "GET", f"{c}/documents?limit=1&cursor={number}"))["documents"][0]["id"]
    about, limit = entity["name"], 10 + number
    question = f"What is said of {about}?"
    return {
        "health": ("GET", "/healthz", None),
        "status": ("GET", f"{c}/status", None),
        "reports": ("GET", f"{c}/reports", None),
        "documents": ("GET", f"{c}/documents?limit={limit}", None),
        "document": ("GET", f"{c}/documents/{quote(document, safe='')}", None),
        "entities": ("GET", f"{c}/entities?q=a&limit={limit}", None),
        "entity": ("GET", f"{c}/entities/{entity['id']}", None),
        "map": ("GET", f"{c}/map", None),
        "match": ("POST", f"{c}/match", {"pattern": "(a)-[r]-(b)", "limit": limit}),
        "search": ("POST", f"{c}/search", {"question": about}),
        "hybrid": ("POST", f"{c}/query", {"question": question, "method": "hybrid"}),
        "streamed": ("POST", f"{c}/query", {"question": question, "method": "hybrid", "stream": True}),
        "auto": ("POST", f"{c}/query", {"question": question}),
    }


def index_demo(root: Path) -> Path:
    """A corpus of the bundled texts, indexed offline."""
    words = [sys.executable, "-m", "sensegraph", "index", str(DEMO), "--root", str(root), "--engine", "offline"]
    subprocess.run([*words, "--quiet"], check=True)
    return root


def measure_start(root: Path) -> None:
    """CPU and memory until the first answer; a first start, which makes the byte code, is not counted."""
    told = ""
    with compiled() as environment:
        for _ in range(2):
            with served(root, environment=environment) as (program, port):
                ask(port, "GET", f"/api/v1/{root.name}/status")
                told = f"{cpu_of(program.pid):.2f} CPU s to the first answer, {memory_of(program.pid):.0f} MB idle"
    print(f"start: {told}")


def measure_each(program: subprocess.Popen[str], port: int, asked: dict[str, tuple[str, str, Any]], each: int) -> None:
    """CPU of each kind of request."""
    for name, (method, path, body) in asked.items():
        first = plain(ask(port, method, path, body)) if name != "health" else None  # what is computed once
        before = cpu_of(program.pid)
        for _ in range(each):
            found = ask(port, method, path, body)
            assert first is None or plain(found) == first
        print(f"  {name:<10} {(cpu_of(program.pid) - before) / each * 1000:8.1f} ms CPU, {len(found):,} bytes")


BESIDE = """
import sys
from sensegraph import Corpus
with Corpus.open(sys.argv[1], create=False) as corpus:
    for line in sys.stdin:
        corpus.query(line.strip(), method="hybrid")
        print("answered", flush=True)
"""


def measure_overhead(root: Path, question: str, each: int, program: subprocess.Popen[str], port: int) -> None:
    """A question over HTTP, on one connection, and the same question to Corpus, in turns."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    words, over, alone = [sys.executable, "-c", BESIDE, str(root)], list[float](), list[float]()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as beside:
        assert beside.stdin
        assert beside.stdout
        for turn in range(4):
            before = cpu_of(program.pid), cpu_of(beside.pid)
            for _ in range(each if turn else 2):  # the first turn opens the index
                exchange(link, "POST", f"/api/v1/{root.name}/query", {"question": question, "method": "hybrid"})
                beside.stdin.write(question + "\n")
                beside.stdin.flush()
                beside.stdout.readline()
            over.append((cpu_of(program.pid) - before[0]) / each * 1000)
            alone.append((cpu_of(beside.pid) - before[1]) / each * 1000)
        beside.stdin.close()
    link.close()
    more = sorted(o - a for o, a in zip(over[1:], alone[1:], strict=True))[1]
    said = f"{min(over[1:]):.1f} ms CPU over HTTP, {min(alone[1:]):.1f} ms to Corpus"
    print(f"question: {said} (the least of 3 rounds of {each}), {more:.1f} ms more (median)")


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


def measure_many(program: subprocess.Popen[str], port: int, name: str, requests: int) -> None:
    """Eight clients at once: answers compared with those given alone, and memory after every hundred."""
    kinds: list[tuple[str, tuple[str, str, Any]]] = []
    for number in range(VARIETY):
        found = list_requests(port, name, number)
        kinds += [(kind, asked) for kind, asked in found.items() if kind not in ("health", "status")]
    alone = [plain(ask(port, *asked)) for _, asked in kinds]
    mixed = [n % len(kinds) for n in range(requests)]
    Random(0).shuffle(mixed)
    differing = Counter[str]()

    def one(number: int) -> None:
        if plain(ask(port, *kinds[number][1])) != alone[number]:
            differing[kinds[number][0]] += 1

    memory, before = [memory_of(program.pid)], cpu_of(program.pid)
    for first in range(0, requests, 100):
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(one, mixed[first : first + 100]))
        memory.append(memory_of(program.pid))
    took = (cpu_of(program.pid) - before) / requests * 1000
    told = f"{sum(differing.values())} answers differ from those given alone {dict(differing) or ''}".rstrip()
    print(f"{requests} mixed requests ({len(kinds)} different) by {CLIENTS} clients: {told}, {took:.1f} ms CPU each")
    steps = " → ".join(f"{m:.0f}" for m in memory)
    print(f"  memory {steps} MB (before, and after each 100); processes left: {len(children_of(program.pid))}")


def measure_usage(root: Path, questions: int) -> None:
    """What the answers of a scripted model say that they cost, added up, beside what it was asked."""
    with serving() as model:
        words = ["--engine", "model", "--trust", "--set", f"endpoint.base_url={model.url}"]
        with served(root, *words, "--set", "endpoint.model=scripted") as (_, port):
            told, run = list[dict[str, Any]](), token_hex(4)  # what was asked before is not paid for again

            def one(number: int) -> None:
                asked = {"question": f"What happened on day {number} of {run}?", "method": "bm25"}
                told.append(json.loads(ask(port, "POST", f"/api/v1/{root.name}/query", asked))["usage"])

            with ThreadPoolExecutor(CLIENTS) as pool:
                list(pool.map(one, range(questions)))
            counted = ask(port, "GET", "/metrics").decode()
        asked = model.stats()["calls"]
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        total = sum(usage[name] for usage in told)
        if f"sensegraph_{name}_total {total}\n" not in counted or (name == "calls" and total != asked):
            raise RuntimeError(f"{name}: the answers say {total:,}, the endpoint {asked}, the server\n{counted}")
    calls, tokens = (sum(usage[name] for usage in told) for name in ("calls", "prompt_tokens"))
    least, most = min(u["calls"] for u in told), max(u["calls"] for u in told)
    print(f"{questions} questions to a scripted model by {CLIENTS} clients: the endpoint was called {asked} times;")
    print(
        f"  the answers say {calls} calls, {least} to {most} each, and {tokens:,} tokens of prompts; so says /metrics"
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
        name = json.loads(ask(port, "GET", f"/api/v1/{root.name}/entities?limit=1"))["entities"][0]["name"]
        question = {"question": f"What is said of {name}?", "method": "bm25", "stream": True}
        body = json.dumps(question).encode()
        head = f"POST /api/v1/{root.name}/query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--each", type=int, default=50)
    given = parser.parse_args()
    names, size = weigh_extra()
    print(f"extra: {size:.1f} MB, {len(names)} distributions: {', '.join(names)}")
    with tempfile.TemporaryDirectory() as folder:
        root = given.root.resolve() if given.root else index_demo(Path(folder) / "demo")
        measure_start(root)
        with served(root) as (program, port):
            asked = list_requests(port, root.name)
            print(f"each kind of request, {given.each} times:")
            measure_each(program, port, asked, given.each)
            packed = ask(port, "GET", f"/api/v1/{root.name}/map", packed=True)
            print(f"map of depth 0: {len(packed) / 1000:.1f} kB as sent, {len(gzip.decompress(packed)) / 1000:.1f} kB")
            question = asked["hybrid"][2]["question"]
            measure_first_event(port, root.name, question, given.each)
            measure_overhead(root, question, given.each, program, port)
            measure_many(program, port, root.name, given.requests)
        measure_usage(root, given.requests)
        measure_leaving(root)


if __name__ == "__main__":
    main()
