"""How fast the offline engine reads: `python bench/extraction_speed.py [--data DIR] [--set podcast] [--against SRC]`.

Megabytes of text (UTF-8) per second of CPU, in one process, the start of the interpreter and the reading of the file
left out: `observe` (what each document shows by itself), `learn` (all looks at the corpus), `read` (the extractions),
and all three together; of several rounds the fastest. Then where the time goes: CPU seconds by module under
cProfile, which adds its own cost to every call, so that read shares there and speeds above. Time in the interpreter's
own functions and in extension modules counts for the module that calls them.

`--index` measures instead what `sensegraph index` takes for the same corpus: CPU seconds of all processes, one round.

`--against SRC` measures another copy of the package too, in turns with this one, and says whether both find the same:

    mkdir ../before && git archive 1fee300 src | tar -x -C ../before
    python bench/extraction_speed.py --against ../before/src
"""

from __future__ import annotations

import argparse
import cProfile
import hashlib
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import sensegraph
from sensegraph.engines.offline.extraction import corpus_reading
from sensegraph.runtime.keys import encode_canonical
from sensegraph.types import Chunk, Extraction

BATCH = 32
PASSES = ("observe", "learn", "read")
SHOWN = 15
OURS = str(Path(sensegraph.__file__).parent) + os.sep

Documents = Sequence[tuple[Chunk, ...]]


def documents(path: Path) -> Documents:
    """The records of a .jsonl file, each a document of one chunk."""
    with path.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        (Chunk(r["_id"], r["_id"], 0, len(r["text"]), 0, r["text"], r.get("title", "")),) for r in records if r["text"]
    ]


def extracted(docs: Documents) -> tuple[list[float], list[tuple[Extraction, ...]]]:
    """CPU seconds of the three passes, and the extractions."""
    marks, seen, found = [time.process_time()], [], []
    for i in range(0, len(docs), BATCH):
        seen += corpus_reading.observe_documents(docs[i : i + BATCH])
    marks.append(time.process_time())
    told, _ = corpus_reading.survey_documents(seen)
    marks.append(time.process_time())
    items = list(zip(docs, seen, told, strict=True))
    for i in range(0, len(items), BATCH):
        found += corpus_reading.read_documents(items[i : i + BATCH])
    marks.append(time.process_time())
    return [b - a for a, b in pairwise(marks)], found


def once(path: Path) -> dict[str, Any]:
    """One round: megabytes, CPU seconds of each pass, and a hash of all extractions."""
    docs = documents(path)
    seconds, found = extracted(docs)
    size = sum(len(c.text.encode()) for (c,) in docs) / 1e6
    return {"mb": size, "seconds": seconds, "hash": hashlib.sha256(encode_canonical(found)).hexdigest()[:16]}


def elsewhere(path: Path, source: Path) -> dict[str, Any]:
    """One round in a process of its own with the package in `source`."""
    command = [sys.executable, __file__, "--once", str(path)]
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    made = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
    if not Path(made["package"]).is_relative_to(source):
        raise SystemExit(f"the package in {source} was not used, but {made['package']}; give the folder that holds it.")
    return dict(made)


def indexed(path: Path, source: Path) -> float:
    """CPU seconds of `sensegraph index` with the package in `source`, its workers and its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as root:
        command = [sys.executable, "-m", "sensegraph", "index", str(path), "--root", root, "--engine", "offline"]
        subprocess.run([*command, "--quiet"], check=True, env=os.environ | {"PYTHONPATH": str(source)}, cwd=root)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fastest(rounds: Sequence[dict[str, Any]]) -> list[float]:
    """The least CPU seconds of each pass, and of all three."""
    least = [min(r["seconds"][i] for r in rounds) for i in range(len(PASSES))]
    return [*least, min(sum(r["seconds"]) for r in rounds)]


def speeds(name: str, rounds: Sequence[dict[str, Any]]) -> list[float]:
    """Prints the speed of each pass; returns the seconds."""
    seconds, size = fastest(rounds), rounds[0]["mb"]
    shown = "  ".join(f"{p} {s:.2f} s {size / s:.2f}" for p, s in zip((*PASSES, "all"), seconds, strict=True))
    print(f"{name}: {size:.2f} MB; CPU s and MB per CPU s: {shown}; extractions {rounds[0]['hash']}")
    return seconds


def profiled(call: Callable[[], Any]) -> Counter[str]:
    """CPU seconds by module of ours; what the interpreter and others do counts for the module of ours that asked."""
    profile = cProfile.Profile(time.process_time)
    profile.runcall(call)
    table: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    seconds: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in table.items():
        if file.startswith(OURS):
            seconds[file.removeprefix(OURS)] += own
            continue
        for (asking, _, _), (_, _, spent, _) in callers.items():
            seconds[asking.removeprefix(OURS) if asking.startswith(OURS) else "elsewhere"] += spent
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--set", default="podcast")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path, help="a folder that holds another `sensegraph`")
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps({**once(given.once), "package": sensegraph.__file__}))
        return
    path = given.data.resolve() / given.set / "corpus.jsonl"
    if given.index:
        for source in filter(None, (Path(OURS).parent, given.against)):
            print(f"{source}: index {indexed(path, source.resolve()):.1f} s of CPU")
        return
    compare(path, given.against, given.rounds)
    print(f"\n{'module':48}{'s':>6}{'share':>8}   (cProfile, one more round)")
    docs = documents(path)
    found = profiled(lambda: extracted(docs))
    for module, seconds in found.most_common(SHOWN):
        print(f"{module:48}{seconds:6.2f}{seconds / found.total():8.1%}")


def compare(path: Path, other: Path | None, rounds: int) -> None:
    """Measures this package, and the other one in turns with it."""
    here = Path(sensegraph.__file__).parent.parent
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(elsewhere(path, here))
        if other:
            theirs.append(elsewhere(path, other.resolve()))
    after = speeds("this", ours)
    if other:
        before = speeds(f"{other}", theirs)
        ratios = "  ".join(f"{p} {b / a:.2f}" for p, a, b in zip((*PASSES, "all"), after, before, strict=True))
        same = "the same extractions" if ours[0]["hash"] == theirs[0]["hash"] else "OTHER EXTRACTIONS"
        print(f"times as fast: {ratios}; {same}")


if __name__ == "__main__":
    main()
