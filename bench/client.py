"""The command line over a scripted server, both as processes of their own: what the benchmarks of building share."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index

HERE = Path(__file__).resolve().parent
CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class Run:
    """What a process did and took; CPU and memory are its own, its start included."""

    code: int
    cpu_s: float
    peak_mb: float
    wall_s: float
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Server:
    """A scripted server in another process."""

    url: str

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/stats") as reply:
            found: dict[str, Any] = json.load(reply)
        return found

    def reset(self) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/reset", data=b"", method="POST")).close()


@contextmanager
def serving(*flags: str) -> Iterator[Server]:
    """A scripted server with these flags of bench/scripted_server.py."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "scripted_server.py"), *flags], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()


def measured(process: subprocess.Popen[str], out: Any, err: Any, started: float) -> Run:
    """Wait for a process and tell what it took."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    out.seek(0)
    err.seek(0)
    cpu = usage.ru_utime + usage.ru_stime
    return Run(process.returncode, cpu, usage.ru_maxrss / 1024, time.perf_counter() - started, out.read(), err.read())


def sensegraph(*arguments: str) -> Run:
    """Run the command line to its end."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started = time.perf_counter()
        return measured(start(*arguments, out=out, err=err), out, err, started)


def start(*arguments: str, out: Any = subprocess.DEVNULL, err: Any = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """Start the command line."""
    program = "from sensegraph.cli import main; main()"
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=out, stderr=err, text=True)


def prepared(root: Path, server: Server, **endpoint: Any) -> Path:
    """A corpus folder whose settings name the server as model and embedder, and ask about each chunk once."""
    root.mkdir(parents=True, exist_ok=True)
    table = {"base_url": server.url, "model": "scripted", "embedding_model": "hashed", "concurrency": CONCURRENCY}
    lines = [f"{name} = {json.dumps(value)}" for name, value in (table | endpoint).items()]
    model = ["[model]", "max_gleanings = 0  # so that calls of extraction are chunks", ""]
    (root / "sensegraph.toml").write_text("\n".join([*model, "[endpoint]", *lines, ""]))
    return root


def source(folder: str | Path) -> Path:
    """What to index of a folder: its corpus.jsonl (BEIR's layout), else the folder of texts itself."""
    beir = Path(folder) / "corpus.jsonl"
    return beir if beir.is_file() else Path(folder)


def options(doc: str | None, default: str = "podcast") -> argparse.ArgumentParser:
    """Arguments that the benchmarks have in common."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("SENSEGRAPH_DATA", "../shared/data")
    parser.add_argument("--data", default=data, help="folder of the data sets")
    parser.add_argument("--corpus", default=default, help="a data set, or any folder of texts")
    return parser


def chosen(given: argparse.Namespace) -> Path:
    """The files that the arguments name."""
    place = Path(given.data) / given.corpus
    return source(place if place.is_dir() else given.corpus)


def opened(root: Path) -> Index:
    """The index in a corpus folder."""
    return Corpus.open(root, create=False).index()


def content(root: Path) -> dict[str, Any]:
    """Everything that an index holds, by value."""
    store = Corpus.open(root, create=False).store
    m = Index(store).manifest
    tables = {
        "documents": f"{m.documents}.documents",
        "chunks": f"{m.documents}.chunks",
        "entities": f"{m.graph}.entities",
        "relations": f"{m.graph}.relations",
        "communities": f"{m.communities}.groups",
        "clusters": f"{m.hierarchy}.clusters",
    }
    found: dict[str, Any] = {name: list(rows.scan()) for name, k in tables.items() if (rows := store.rows(k))}
    return found | {"vectors": Index(store).vectors.tobytes()}


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a head, in columns."""
    cells = [[str(c) for c in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        print("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
