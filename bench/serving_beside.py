"""The server beside LightRAG's, in one run: what it takes to install and start, its memory, its page, and its requests.

    python3 -m venv VENV && VENV/bin/pip install "lightrag-hku[api]"
    python bench/serving_beside.py --lightrag VENV [--each 30]

Both read the bundled texts and ask the same scripted endpoint for replies and vectors, over their own HTTP. LightRAG
needs a table of tokens from the network to start: here it gets one of 256 bytes instead, which takes less memory, and
chunks that are as long in characters. Times of CPU are those of the server's process, user and system; a start is the
second one, so that byte code is there. Sizes are those of the files that were installed, without byte code.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgets import core_distributions, core_megabytes
from client import Server, serving, table
from serving import DEMO, ask, compiled, cpu_of, memory_of, served, weigh_extra

PAGE = DEMO.parent.parent / "server" / "page"
BYTES = """
import tiktoken
def take_bytes(*names):
    ranks = {bytes([i]): i for i in range(256)}
    return tiktoken.Encoding("bytes", pat_str="[^!]|!", mergeable_ranks=ranks, special_tokens={})
tiktoken.encoding_for_model = tiktoken.get_encoding = take_bytes
"""
WEIGH = """
import json, os
from importlib.metadata import distributions
found = {d.name.lower(): d.files or () for d in distributions() if d.name.lower() not in ("pip", "setuptools", "wheel")}
places = {str(f.locate()) for files in found.values() for f in files if "__pycache__" not in str(f)}
print(json.dumps([len(found), sum(os.path.getsize(p) for p in places if os.path.exists(p)) / 1e6]))
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a server takes; `alone` says whether it starts without a network."""

    distributions: int
    install_mb: float
    alone: str
    start_s: float
    idle_mb: float
    later_mb: float
    health_ms: float
    search_ms: float
    answer_ms: float
    script_kb: float
    packed_kb: float


def weigh_page(folder: Path) -> tuple[float, float]:
    """The JavaScript of a page in kB, plain and packed."""
    scripts = [place.read_bytes() for place in sorted(folder.rglob("*.js"))]
    return sum(map(len, scripts)) / 1000, sum(len(gzip.compress(s, 9)) for s in scripts) / 1000


def take_cpu(process: int, each: int, request: Callable[[int], bytes]) -> float:
    """The CPU in ms of a request; of the first two nothing is counted."""
    for number in range(2):
        request(-1 - number)
    before = cpu_of(process)
    for number in range(each):
        request(number)
    return (cpu_of(process) - before) / each * 1000


def write_question(number: int) -> str:
    """A question that was not asked before."""
    return f"What happened at Brackwater Labs on day {number + 3}?"


# ── ours ──


def measure_own(folder: Path, model: Server, each: int) -> Figures:
    """The figures of this server."""
    names, extra = weigh_extra()
    given = [f"endpoint.base_url={model.url}", "endpoint.model=scripted", "endpoint.embedding_model=hashed"]
    words = ["--engine", "model", "--trust", *(word for setting in given for word in ("--set", setting))]
    root = folder / "own"
    command = [sys.executable, "-m", "sensegraph", "index", str(DEMO), "--root", str(root), "--quiet", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    c, start, idle = f"/api/v1/{root.name}", 0.0, 0.0
    with compiled() as environment:
        for turn in range(2):
            with served(root, *words, environment=environment) as (program, port):
                ask(port, "GET", "/healthz")
                start, idle = cpu_of(program.pid), memory_of(program.pid)
                if not turn:
                    continue

                def search(number: int, port: int = port) -> bytes:
                    return ask(port, "POST", f"{c}/search", {"question": write_question(number), "method": "naive"})

                def answer(number: int, port: int = port) -> bytes:
                    return ask(port, "POST", f"{c}/query", {"question": write_question(number), "method": "naive"})

                took = [
                    take_cpu(program.pid, each, lambda _, port=port: ask(port, "GET", "/healthz")),
                    take_cpu(program.pid, each, search),
                    take_cpu(program.pid, each, answer),
                ]
                later = memory_of(program.pid)
    return Figures(
        len(core_distributions()) + len(names),
        core_megabytes() + extra,
        "yes",
        start,
        idle,
        later,
        *took,
        *weigh_page(PAGE),
    )


# ── LightRAG's ──


def find_port() -> int:
    """A port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        number: int = door.getsockname()[1]
    return number


@contextmanager
def lightrag_served(
    venv: Path, folder: Path, environment: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """LightRAG's server in a process of its own, and its port. Raises RuntimeError where it does not start."""
    port, folder = find_port(), folder / "theirs"
    folder.mkdir(exist_ok=True)
    words = [str(venv / "bin" / "lightrag-server"), "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        program = subprocess.Popen(words, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        while True:
            with suppress(OSError):
                ask(port, "GET", "/health")
                break
            if program.poll() is not None:
                raise RuntimeError((folder / "log").read_text().strip().splitlines()[-1])
            time.sleep(0.2)
        yield program, port
    finally:
        with suppress(ProcessLookupError):
            program.send_signal(signal.SIGTERM)
        program.wait(60)


def set_lightrag(model: Server, folder: Path, kept: dict[str, str]) -> dict[str, str]:
    """The environment that LightRAG's server reads its settings from."""
    binding = {"BINDING": "openai", "BINDING_HOST": model.url, "BINDING_API_KEY": "none", "MODEL": "scripted"}
    stub = folder / "stub"
    stub.mkdir(exist_ok=True)
    (stub / "sitecustomize.py").write_text(BYTES)
    told = {f"{part}_{name}": value for part in ("LLM", "EMBEDDING") for name, value in binding.items()}
    more = {"EMBEDDING_DIM": "64", "CHUNK_SIZE": "4800", "CHUNK_OVERLAP_SIZE": "400", "PYTHONPATH": str(stub)}
    return kept | told | more


def measure_lightrag(venv: Path, folder: Path, model: Server, each: int) -> Figures:
    """The figures of LightRAG's server."""
    said = subprocess.run([str(venv / "bin" / "python"), "-c", WEIGH], capture_output=True, text=True, check=True)
    count, size = json.loads(said.stdout)
    (package,) = venv.glob("lib/python3*/site-packages/lightrag/api/webui")
    with compiled() as kept:
        environment = set_lightrag(model, folder, kept)
        closed = environment | {
            "PYTHONPATH": "",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "TIKTOKEN_CACHE_DIR": str(folder),
        }
        try:
            with lightrag_served(venv, folder, closed):
                alone = "yes"
        except RuntimeError as e:
            alone = "no"
            print(f"LightRAG's server without a network: {e}\n")
        start, idle = 0.0, 0.0
        for turn in range(2):
            with lightrag_served(venv, folder, environment) as (program, port):
                start, idle = cpu_of(program.pid), memory_of(program.pid)
                if not turn:
                    send_texts(port)
                    continue

                def query(number: int, port: int = port, **more: Any) -> bytes:
                    asked = {"query": write_question(number), "mode": "naive", "enable_rerank": False, **more}
                    return ask(port, "POST", "/query", asked)

                took = [
                    take_cpu(program.pid, each, lambda _, port=port: ask(port, "GET", "/health")),
                    take_cpu(program.pid, each, lambda number: query(number, only_need_context=True)),
                    take_cpu(program.pid, each, query),
                ]
                later = memory_of(program.pid)
    return Figures(count, size, alone, start, idle, later, *took, *weigh_page(package))


def send_texts(port: int) -> None:
    """Give LightRAG the bundled texts, and wait until it has read them."""
    places = sorted(DEMO.iterdir())
    body = {"texts": [p.read_text(encoding="utf-8") for p in places], "file_sources": [p.name for p in places]}
    ask(port, "POST", "/documents/texts", body)
    while True:
        time.sleep(1)
        counts = json.loads(ask(port, "GET", "/documents/status_counts"))["status_counts"]
        if counts["processed"] + counts["failed"] >= len(places):
            print(f"LightRAG read {counts['processed']} of {len(places)} texts")
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightrag", type=Path, required=True, metavar="VENV")
    parser.add_argument("--each", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving() as model:
        own = measure_own(Path(folder), model, given.each)
        theirs = measure_lightrag(given.lightrag.absolute(), Path(folder), model, given.each)
    rows = {
        "distributions": "{0.distributions}",
        "installed, MB": "{0.install_mb:.0f}",
        "starts without a network": "{0.alone}",
        "CPU s until the first answer": "{0.start_s:.2f}",
        "memory then, MB": "{0.idle_mb:.0f}",
        "memory after these requests, MB": "{0.later_mb:.0f}",
        "health, ms CPU": "{0.health_ms:.1f}",
        "passages for a question, ms CPU": "{0.search_ms:.1f}",
        "an answer by a model, ms CPU": "{0.answer_ms:.1f}",
        "JavaScript of the page, kB": "{0.script_kb:.0f}",
        "the same, packed, kB": "{0.packed_kb:.0f}",
    }
    version = re.search(r"lightrag_hku-([\d.]+)\.dist", " ".join(map(str, given.lightrag.rglob("lightrag_hku-*"))))
    head = ["", "sensegraph serve", f"LightRAG {version.group(1) if version else ''}".strip()]
    table(head, [[name, form.format(own), form.format(theirs)] for name, form in rows.items()])


if __name__ == "__main__":
    main()
