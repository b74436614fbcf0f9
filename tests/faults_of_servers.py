"""Faults of a server, a row each: what the tests meet one by one, and what bench/faults.py prints as a table.

A row is a build over a server with one fault, and then the same build over a calm one. What may not be is the same for
all: `Row.list_wrongs`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripted import Script, ScriptedServer
from scripted_harms import HARMS, WIRE
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError
from sensegraph.runtime.stores.packs import list_objects
from wired import content, corpus, stories

MOST_MB = 300
ITEM = "Text:\\nJoss"  # stands in the requests about one chunk in two or so of wired.stories
VECTORS = '"encoding_format"'  # stands in the requests for vectors
_RATES: dict[str, tuple[str, dict[str, Any]]] = {
    "429, Retry-After": ("fail_rate", {}),
    "500": ("fail_rate", {"fail_status": 500}),
    "503, a date to retry at": ("fail_rate", {"fail_status": 503, "retry_after": "date:0"}),
    "dropped connection": ("drop_rate", {}),
    "hanging call": ("hang_rate", {"times": 1}),
    "body that is no JSON": ("garbled_rate", {}),
    "malformed reply": ("malformed_rate", {}),
    "reply cut off": ("truncate_rate", {}),
    **{harm: ("harm_rate", {"harm": harm}) for harm in HARMS},
}
_ALWAYS: dict[str, Script] = {
    "500 always": Script(fail_rate=1.0, fail_status=500),
    "malformed always": Script(malformed_rate=1.0),
    "reply cut off always": Script(truncate_rate=1.0),
    "gzip bomb always": Script(harm="gzip bomb", harm_rate=1.0),
    "vectors without end": Script(harm="endless body", harm_rate=1.0, only=VECTORS),
    "an item that is declined": Script(harm="declines", harm_rate=1.0, only=ITEM),
    "an item that is filtered": Script(harm="content filter", harm_rate=1.0, only=ITEM),
    "an item that is cut off": Script(truncate_rate=1.0, only=ITEM),
}
FAULTS = (*_RATES, *_ALWAYS)
ON_THE_WIRE = tuple(WIRE)
ENDPOINT = {"timeout_s": 1.5, "max_retries": 3, "backoff_s": 0.01}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a build ended: `whole`, `N left out, M cut off`, `error` or `crash`, with what it said.

    `mb` is the most memory that its process had, where it was one of its own.
    """

    how: str
    said: str
    cpu_s: float
    mb: float | None = None


@dataclass(frozen=True, slots=True)
class Calm:
    """What an index over a server without faults holds, and what stands in its store under which key."""

    content: dict[str, Any]
    stored: dict[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one fault, which was `met` so often: the first build, and the index in the end.

    `same` says whether the first build made the index of a calm run, `false` counts what it stored under a key of
    that index with another content, `mended` says whether the calm build made it; `asked` counts the calls of that.
    """

    fault: str
    met: int
    first: Ended
    same: bool
    false: int
    asked: int
    mended: bool

    def list_wrongs(self) -> list[str]:
        """What may not be, whatever a server does."""
        found = {
            "the fault was never met": self.met == 0,
            "the build crashed": self.first.how == "crash",
            "an error says nothing": self.first.how == "error" and len(self.first.said) < 20,
            "a build that says that it is whole has another index": self.first.how == "whole" and not self.same,
            "something false is stored": self.false > 0,
            "a calm build does not complete the index": not self.mended,
            f"it took more than {MOST_MB} MB": (self.first.mb or 0) > MOST_MB,
        }
        return [wrong for wrong, holds in found.items() if holds]


def script_fault(name: str, rate: float) -> Script:
    """A server that shows this fault in a share of its replies, or in all where its name says so."""
    if name in _ALWAYS:
        return _ALWAYS[name]
    field, given = _RATES[name]
    return replace(Script(**given), **{field: rate})


def build_calmly(folder: Path, count: int) -> Calm:
    """The index of so many stories as it is when nothing goes wrong."""
    with ScriptedServer() as server, corpus(folder, server) as made:
        made.add(stories(count))
        made.build()
        return Calm(content(made), _list_stored(made))


def build_here(url: str, folder: Path, count: int) -> Ended:
    """Build an index of so many stories over a server, and say how that ended."""
    began = time.process_time()
    with corpus(folder, url, endpoint=ENDPOINT) as made:
        made.add(stories(count))
        try:
            built = made.build()
        except SensegraphError as e:
            how, said = "error", " ".join(str(e).split())
        else:
            cut = sum(left.partial for left in built.left_out)
            lacking = {"left out": len(built.left_out) - cut, "cut off": cut}
            how = ", ".join(f"{count} {what}" for what, count in lacking.items() if count) or "whole"
            said = "; ".join(built.notes)
    return Ended(how, said, time.process_time() - began)


def build_apart(url: str, folder: Path, count: int) -> Ended:
    """The same in a process of its own, whose memory is measured."""
    program = [sys.executable, __file__, url, str(folder), str(count)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return Ended("crash", done.stderr.strip()[-500:], 0.0)
    return Ended(**json.loads(done.stdout.splitlines()[-1]))


def meet_fault(
    name: str, folder: Path, calm: Calm, count: int, rate: float, build: Callable[[str, Path, int], Ended]
) -> Row:
    """One row: a build over a server with this fault, then one over a calm server."""
    with ScriptedServer(script_fault(name, rate)) as server:
        first = build(server.base_url, folder, count)
        met = sum(server.faults.values())
    with ScriptedServer() as server, corpus(folder, server, endpoint=ENDPOINT) as made:
        stored = _list_stored(made)
        false = sum(calm.stored.get(key, found) != found for key, found in stored.items())
        same = made.manifest() is not None and content(made) == calm.content
        left_out = made.build(retry=True).left_out
        mended = not left_out and content(made) == calm.content
        return Row(name, met, first, same, false, len(server.calls), mended)


def _list_stored(made: Corpus) -> dict[str, str]:
    """A hash of everything in a store, by its key."""
    store = made.store
    keys = [key for key, _, _ in list_objects(store)]
    found = {key: hashlib.sha256(value).hexdigest() for key, value in store.read(keys).items()}
    for (key,) in store.select("SELECT DISTINCT key FROM part WHERE key <> '-'"):
        rows = store.rows(key)
        assert rows is not None
        found[f"table {key}"] = hashlib.sha256(b"\n".join(rows.scan())).hexdigest()
    for file in store.root.glob("arrays/*"):
        found[f"array {file.name}"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def _measure_memory() -> float | None:
    """MB that this process had at most, where the system tells it of a process alone."""
    status = Path("/proc/self/status")
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024 if status.exists() else None


def main() -> None:
    """What `build_apart` runs."""
    url, folder, count = sys.argv[1:]
    ended = build_here(url, Path(folder), int(count))
    told = {"how": ended.how, "said": ended.said, "cpu_s": ended.cpu_s, "mb": _measure_memory()}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
