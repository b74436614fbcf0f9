"""Faults at the wire: does the build complete, is the index whole, and is what happened counted?

    python bench/faults.py [--data DIR] [--corpus carol | --corpus FOLDER] [--rate 0.05]

Each row is one `sensegraph index` against a server with one kind of fault, then the same command again without faults.
`same` says whether the first run's index equals the one of a calm server; `lost` counts chunks without a stored result
when the command said that it had succeeded.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from client import chosen, content, options, prepared, sensegraph, serving, table
from sensegraph.runtime.stores.sqlite import SqliteStore

FAULTS = {
    "none": [],
    "429, Retry-After": ["--fail-rate", "{rate}", "--fail-status", "429"],
    "500": ["--fail-rate", "{rate}", "--fail-status", "500"],
    "503, date to retry at": ["--fail-rate", "{rate}", "--fail-status", "503", "--retry-after", "date:1"],
    "dropped connection": ["--drop-rate", "{rate}"],
    "hanging call": ["--hang-rate", "{rate}"],
    "body that is no JSON": ["--garbled-rate", "{rate}"],
    "malformed reply": ["--malformed-rate", "{rate}"],
    "reply cut off": ["--truncate-rate", "{rate}"],
    "500 always": ["--fail-rate", "1", "--fail-status", "500"],
    "malformed always": ["--malformed-rate", "1"],
}


def main() -> None:
    parser = options(__doc__, "carol")
    parser.add_argument("--rate", type=float, default=0.05)
    given = parser.parse_args()
    files = str(chosen(given))
    with tempfile.TemporaryDirectory() as folder:
        rows: list[list[object]] = []
        wanted: dict[str, Any] = {}
        for name, flags in FAULTS.items():
            flags = [flag.format(rate=given.rate) for flag in flags]
            row, found = one(Path(folder) / name.replace(" ", "-"), name, files, flags, wanted)
            wanted = wanted or found
            rows.append(row)
        table(["fault", "faults", "exit", "calls ok", "retries", "rejected", "same", "lost", "then", "same"], rows)


def one(
    root: Path, name: str, files: str, flags: list[str], wanted: dict[str, Any]
) -> tuple[list[object], dict[str, Any]]:
    """One kind of fault: the row, and what the index holds in the end."""
    with serving(*flags) as server:
        prepared(root, server, timeout_s=2.0, max_retries=3)
        first = sensegraph("index", files, "--root", str(root), "--json")
        stats = server.stats()
    spent = json.loads(first.out)["usage"] if first.code == 0 else {}
    found = content(root) if first.code == 0 else {}
    said = first.err.strip().splitlines()[-1:] if first.code else [""]
    row: list[object] = [name, sum(stats["faults"].values()), first.code, stats["ok"], spent.get("retries", "-")]
    row += [spent.get("rejected", "-"), found == (wanted or found) if found else "-", missing(root) if found else "-"]
    with serving() as calm:
        prepared(root, calm)
        again = sensegraph("index", files, "--root", str(root), "--quiet")
        row += [f"exit {again.code}, {calm.stats()['ok']} calls", content(root) == (wanted or content(root))]
    if said[0]:
        print(f"{name}: {said[0]}")
    return row, content(root)


def missing(root: Path) -> int:
    """Chunks of the index without a stored extraction (equal texts share one)."""
    store = SqliteStore(root / ".sensegraph", readonly=True)
    ((read,),) = store.select("SELECT COUNT(*) FROM object WHERE step = 'extraction.extract'")
    keys = [key for (key,) in store.select("SELECT key FROM object WHERE step = 'chunks.chunk'")]
    documents = store.read(keys).values()
    texts = {(c["text"], c["title"]) for value in documents for c in json.loads(value)}
    return len(texts) - int(read)


if __name__ == "__main__":
    main()
