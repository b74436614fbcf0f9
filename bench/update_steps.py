"""What one small file more costs offline, by step: `python bench/update_steps.py [--set podcast | --folder DIR]`.

The records of a set with one title are one text file (`--records N`: each of the first N is one), or the files of a
folder are taken. They are indexed by the offline engine with the default parts; then a file of one sentence is added.
Each happens in a process of its own. Printed of the second: CPU seconds in all, of the start and imports, of opening,
of each step without that of steps inside it, and of what stands beside steps; of workers; the most anonymous memory of
a process; bytes on disk before and after, and how many results each step computed.

`--root DIR` keeps the index and takes it where it is there: so that two checkouts are measured one after the other, run
this with the `PYTHONPATH` of each, each with a root of its own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scale import Watch, cpu, table
from sensegraph.corpus.corpus import Corpus
from small_update import SENTENCES, write_files

LISTED_S = 0.05  # CPU from which a step is listed


def add_folder(root: Path, folder: Path) -> dict[str, Any]:
    """Index the files of a folder in this process; what it cost."""
    started, watch = time.process_time(), Watch()
    corpus = Corpus.open(root, settings={"engine": "offline", "embedder": "offline"})
    opened = time.process_time()
    with watch.watching(), watch.timed("beside steps"):
        with watch.timed("adding"):
            corpus.add(folder)
        built = corpus.build()
    spent, size = time.process_time(), corpus.store.settle()  # type: ignore[attr-defined]
    corpus.close()
    stop_workers()
    return {
        "steps": {"start and imports": started, "opening": opened - started, **watch.by_step, "workers": cpu() - spent},
        "cpu": cpu(),
        "peak": watch.peak,
        "size": size,
        "computed": dict(built.computed),
    }


def stop_workers() -> None:
    """End the workers, so that their CPU is counted."""
    if "loky" in sys.modules:
        from loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)


def in_process(root: Path, folder: Path) -> dict[str, Any]:
    """What indexing a folder costs in a process of its own."""
    program = [sys.executable, __file__, "--phase", str(folder), "--root", str(root)]
    found: dict[str, Any] = json.loads(subprocess.run(program, stdout=subprocess.PIPE, check=True).stdout)
    return found


def measure(root: Path, texts: Path, place: Path) -> None:
    """Index `texts` where `root` does not hold an index of them, add a sentence to a copy, and print what that cost."""
    if not (root / ".sensegraph").exists():
        root.mkdir(parents=True, exist_ok=True)
        print(f"first build: {in_process(root, texts)['cpu']:.1f} CPU s")
    copied = Path(shutil.copytree(root, place / "copy"))  # with the times of files, which say that nothing was damaged
    more = place / "more"
    more.mkdir()
    (more / "new-one.txt").write_text(SENTENCES[0], encoding="utf-8")
    before = sum(f.stat().st_size for f in (copied / ".sensegraph").rglob("*") if f.is_file())
    found = in_process(copied, more)
    print(
        f"update: {found['cpu']:.2f} CPU s, {found['peak']:.0f} MB of memory, "
        f"{before / 1e6:.1f} → {found['size'] / 1e6:.1f} MB on disk\n"
    )
    listed = sorted(found["steps"].items(), key=lambda step: -step[1])
    rows = [[step, f"{s:.2f}", str(found["computed"].get(step, ""))] for step, s in listed if s >= LISTED_S]
    table(["step", "CPU s", "computed"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--set", default="podcast")
    parser.add_argument(
        "--records", type=int, default=0, help="files of one record each; by default one for each title"
    )
    parser.add_argument("--folder", type=Path, help="files that are indexed in place of a set")
    parser.add_argument("--root", type=Path, help="where the index lies, or is made (default: a temporary folder)")
    parser.add_argument("--phase", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.phase:
        print(json.dumps(add_folder(given.root, given.phase)))
        return
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        texts = given.folder or place / "texts"
        if not given.folder:
            texts.mkdir()
            if given.records:
                lines = (given.data / given.set / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
                for number, record in enumerate(map(json.loads, lines[: given.records])):
                    text = f"{record.get('title', '')}\n\n{record['text']}"
                    (texts / f"p{number:05}.txt").write_text(text, encoding="utf-8")
            else:
                write_files(texts, given.data / given.set, 0, 0)
        files = list(texts.iterdir())
        print(f"{len(files)} files, {sum(f.stat().st_size for f in files) / 1e6:.2f} MB")
        measure(given.root or place / "root", texts, place)


if __name__ == "__main__":
    main()
