"""What hostile files cost: each kind is read in a process of its own, and its time and memory are printed.

    python bench/hostile.py [--folder DIR] [--index]

With --index, `sensegraph index` makes an index, offline and with the usual settings, of the longest files beside a
short text: its status, what it says of what it skipped, and the memory of all its processes together, ten times a
second.

The files are made in a folder that is removed again (about 400 MB). CPU seconds, and the most memory
that the process had; the row "nothing" is what the package itself needs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_READ = """
import json, resource, sys, time
from sensegraph.documents import DocumentSettings, Skipped, stream
begun, count, length, left = time.process_time(), 0, 0, []
for item in stream(sys.argv[1], settings=DocumentSettings(max_seconds=10)):
    if isinstance(item, Skipped):
        left.append(item.reason)
    else:
        count, length = count + 1, length + len(item.text)
cpu = time.process_time() - begun
print(json.dumps([count, length, left, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def write_large_file(root: Path) -> None:
    with (root / "large.txt").open("w") as file:
        for _ in range(200):
            file.write("Some words of a very long book. \n" * (1_000_000 // 33))


def write_too_large_file(root: Path) -> None:
    with (root / "sparse.txt").open("wb") as file:
        file.truncate(100_000_000_000)


def write_long_line(root: Path) -> None:
    with (root / "line.txt").open("w") as file:
        for _ in range(50):
            file.write("word " * 200_000)


def write_long_word(root: Path) -> None:
    with (root / "line.md").open("w") as file:
        file.write("# ")
        for _ in range(50):
            file.write(" " * 1_000_000)
        file.write("x")


def write_tiny_files(root: Path) -> None:
    for n in range(10_000):
        place = root / f"{n // 100}"
        place.mkdir(exist_ok=True)
        (place / f"{n}.txt").write_text(f"Text {n}.")


def write_odd_names(root: Path) -> None:
    names = (b"two\nlines.txt", b"caf\xe9.txt", "turned\u202etxt.txt".encode(), b"bell\x07.txt", b"-rf.txt", b"a b.txt")
    for name in names:
        with open(os.path.join(os.fsencode(root), name), "w") as file:
            file.write("A text.")
    for number, data in enumerate(
        (b"\xff\xfe\x00", b"\xc3(" * 500, b"\x80" * 999, "käse".encode("utf-16"), b"\0" * 99)
    ):
        (root / f"encoding{number}.txt").write_bytes(data)


def write_links(root: Path) -> None:
    (root / "a.txt").write_text("A text.")
    for name, target in (
        ("environ.txt", "/proc/self/environ"), ("self", "/proc/self"), ("passwd.txt", "/etc/passwd"), ("etc", "/etc"),
        ("zero.txt", "/dev/zero"), ("loop", str(root)), ("one", str(root / "two")), ("two", str(root / "one")),
    ):  # fmt: skip
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe.txt")


def write_bombs(root: Path) -> None:
    for name in ("bomb.docx", "bomb.xlsx", "bomb.odt"):
        with zipfile.ZipFile(root / name, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.xml", "w") as part:
            for _ in range(1_000):
                part.write(bytes(1_000_000))
    (root / "deep.html").write_text("<div>" * 1_000_000)
    (root / "marks.html").write_text("<b id=1>" * 900 + "<p>x" * 100_000)
    (root / "deep.json").write_text("[" * 1_000_000)
    (root / "deep.eml").write_text(
        "From: a\n" + "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(20_000))
    )


def write_nothing(root: Path) -> None:
    (root / "a.txt").write_text("A text.")


def write_story(root: Path) -> None:
    (root / "story.txt").write_text("Ada Lovelace wrote to Charles Babbage. Charles Babbage lived in London.\n")


INDEXED: dict[str, Callable[[Path], None]] = {
    "one file of 200 MB": write_large_file,
    "one line of 50 MB": write_long_line,
    "nothing but the short text": write_story,
}
KINDS: dict[str, Callable[[Path], None]] = {
    "nothing": write_nothing,
    "one file of 200 MB": write_large_file,
    "one file of 100 GB": write_too_large_file,
    "one line of 50 MB": write_long_line,
    "one heading of 50 MB of blanks": write_long_word,
    "10,000 tiny files": write_tiny_files,
    "odd names and encodings": write_odd_names,
    "links, pipes, devices": write_links,
    "bombs and deep nesting": write_bombs,
}


def list_processes(root: int) -> list[int]:
    """A process and all that it started, as far as they live."""
    found = [root]
    for number in found:
        with suppress(OSError):
            for task in Path(f"/proc/{number}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def sum_memory(numbers: list[int]) -> int:
    """Kilobytes that processes hold for themselves, together."""
    total = 0
    for number in numbers:
        with suppress(OSError):
            lines = Path(f"/proc/{number}/status").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
    return total


def index_each(folder: str | None) -> None:
    """Print a row for each of the longest files: what an index of it costs, or why there is none."""
    print("| what | status | documents | skipped, by name | CPU s | most memory of all processes, MB |")
    print("|---|---|---|---|---|---|")
    for kind, write in INDEXED.items():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            source, root = Path(place) / "texts", Path(place) / "corpus"
            source.mkdir()
            root.mkdir()
            write_story(source)
            write(source)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            words = [sys.executable, "-m", "sensegraph", "index", str(source), "--root", str(root), "--json"]
            plain = {k: v for k, v in os.environ.items() if not k.startswith("SENSEGRAPH")}
            with (
                (root / "out").open("wb") as out,
                (root / "err").open("wb") as err,
                subprocess.Popen(words, stdout=out, stderr=err, env=plain) as process,
            ):
                most = 0
                while process.poll() is None:
                    most = max(most, sum_memory(list_processes(process.pid)))
                    time.sleep(0.1)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            said, wrong = (root / "out").read_text(), (root / "err").read_text()
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if not said:
            raise SystemExit(f"{kind}: status {process.returncode}, {wrong[-2000:]}")
        told = json.loads(said)
        skipped = "; ".join(one["reason"] for one in told["skipped"]) or "nothing"
        count = told["documents"]
        print(f"| {kind} | {process.returncode} | {count} | {skipped} | {cpu:.1f} | {most / 1024:,.0f} |", flush=True)


def main() -> None:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=None, help="where the files are made")
    parser.add_argument("--index", action="store_true", help="make an index of the longest files")
    given = parser.parse_args()
    if given.index:
        index_each(given.folder)
        return
    print("| what | documents | characters | skipped, by name | CPU s | most memory, MB |\n|---|---|---|---|---|---|")
    for kind, write in KINDS.items():
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            write(Path(folder))
            done = subprocess.run([sys.executable, "-c", _READ, folder], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{kind}: {done.stderr[-2000:]}")
        count, length, left, cpu, memory = json.loads(done.stdout)
        print(f"| {kind} | {count:,} | {length:,} | {len(left)} | {cpu:.1f} | {memory:,.0f} |", flush=True)


if __name__ == "__main__":
    if sys.platform == "win32":
        raise SystemExit("The files are those of a Unix.")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
