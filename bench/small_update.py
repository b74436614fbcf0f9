"""What one small file more costs offline, through the command line: `python bench/small_update.py [--set podcast]`.

The records of a set with one title are one text file, or `--files N` of equal size hold `--mb M` of all its text; with
`--texts FOLDER …` the text files of these folders are taken as they are.
They are indexed by the offline engine with the default parts, then a file of one sentence is added, twice, and at last
nothing is changed. Printed for each run of `sensegraph index`: CPU seconds of all processes (the start of the
interpreter too), most memory of all processes together (pages that they share count once for each), bytes on disk, and
those for one of text; and how many items of each step were computed, of which `extraction.read` are the documents (or
sections of them) that were read.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from client import table
from offline_index import tree_memory

SENTENCES = (
    "Albert Einstein wrote to Niels Bohr in Copenhagen about quantum theory and the future of physics.\n",
    "Marie Curie met Pierre Curie in Paris, and they talked about data privacy at the museum.\n",
)
LISTED = ("extraction.observe", "extraction.count", "extraction.read", "reports.report", "duplicates.compared")
HEAD = ["what", "CPU s", "wall s", "memory MB", "on disk MB", "÷ text", *LISTED]


def write_files(folder: Path, data: Path, files: int, size: int) -> int:
    """Write the texts of a set as files; the bytes of all."""
    texts: dict[str, list[str]] = defaultdict(list)
    with (data / "corpus.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts[record.get("title") or record["_id"]].append(record["text"])
    made = ["\n".join(held) for held in texts.values()]
    if files:
        whole = "\n\n".join(made)[:size]
        step = -(-len(whole) // files)
        made = [whole[at : at + step] for at in range(0, len(whole), step)]
    for number, text in enumerate(made):
        (folder / f"d{number:05}.txt").write_text(text, encoding="utf-8")
    return sum(len(text.encode()) for text in made)


def copy_files(folder: Path, places: Sequence[Path]) -> int:
    """Copy the text files of these folders; the bytes of all."""
    texts = [text for place in places for text in sorted(place.glob("*.txt"))]
    return sum(Path(shutil.copy(text, folder / f"{text.parent.name}-{text.name}")).stat().st_size for text in texts)


def index(root: Path, folder: Path) -> tuple[float, float, int, dict[str, int]]:
    """CPU seconds, wall seconds and most bytes of memory of `sensegraph index`; what was computed."""
    before, started, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    command = [sys.executable, "-m", "sensegraph", "index", str(folder), "--root", str(root), "--engine", "offline"]
    with tempfile.TemporaryFile("w+") as said:  # no pipe: what is printed of many communities would fill it
        with subprocess.Popen([*command, "--json"], stdout=said, env=dict(os.environ)) as process:
            while process.poll() is None:
                peak = max(peak, tree_memory(process.pid))
                time.sleep(0.2)
        said.seek(0)
        printed = said.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - started, peak, json.loads(printed).get("computed", {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--set", default="podcast")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--mb", type=float, default=2.0)
    parser.add_argument("--texts", type=Path, nargs="+")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder, root = Path(place) / "texts", Path(place) / "root"
        folder.mkdir()
        root.mkdir()
        if given.texts:
            size = copy_files(folder, given.texts)
        else:
            size = write_files(folder, given.data / given.set, given.files, int(given.mb * 1e6))
        print(f"{len(list(folder.iterdir()))} files, {size / 1e6:.2f} MB")
        for what in ("first", "one added", "another added", "nothing changed"):
            if "added" in what:
                text = SENTENCES[what.startswith("another")]
                (folder / f"new-{what.split()[0]}.txt").write_text(text, encoding="utf-8")
            cpu, wall, peak, computed = index(root, folder)
            held = sum(f.stat().st_size for f in (root / ".sensegraph").rglob("*") if f.is_file())
            figures = [f"{cpu:.1f}", f"{wall:.1f}", f"{peak / 1e6:.0f}", f"{held / 1e6:.1f}", f"{held / size:.1f}"]
            rows.append([what, *figures, *(computed.get(step, 0) for step in LISTED)])
    table(HEAD, rows)


if __name__ == "__main__":
    main()
