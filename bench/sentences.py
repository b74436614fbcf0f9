"""Whether the text of a document is lost or changed between the file and its sentences, and how fast it is read.

    python bench/sentences.py                       # licences, papers of packages, change logs of this machine
    python bench/sentences.py FOLDER FILE.txt …     # files of your own

Prints for how many sentences the slice of the source equals the sentence but for blanks and hyphens at line ends; the
share of the characters (blanks left out) that lie in blocks; megabytes of UTF-8 per second of CPU for blocks, for
sentences and for both, the fastest of three rounds; and what an input of twice the length costs, five times.
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sensegraph.language.blocks import Reading, read_blocks
from sensegraph.language.collapsing import locate_in_source
from sensegraph.language.sentences import split_sentences

FILES = ("/usr/share/common-licenses", "/usr/share/doc")
_QUOTED = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
MOST = 250_000  # characters taken of a file
DOUBLED = 5


def load_texts(names: Sequence[str], most: int) -> Iterator[str]:
    """The texts of files, also compressed ones, and of those in folders: at most `most` of a folder."""
    for name in names:
        path = Path(name)
        found = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        texts = [p for p in found if p.suffix in (".gz", ".txt", ".md", ".rst", "") or p == path]
        for file in texts[:: max(1, len(texts) // most)]:
            data = file.read_bytes()
            if file.suffix == ".gz":
                data = gzip.decompress(data)
            if b"\0" not in data[:4096]:
                yield data.decode("utf-8", "replace")[:MOST]


def equals_source(source: str, reading: Reading, start: int, end: int) -> bool:
    """Whether a sentence is what its slice of the source says, but for what joins lines.

    That is blanks, the hyphen where a word was parted, and the marks of quoted lines.
    """
    first, last = locate_in_source(source, 0, reading.text, start, end)
    said, stood = "".join(reading.text[start:end].split()), "".join(_QUOTED.sub("\n", source[first:last]).split())
    return said == stood or said.replace("-", "") == stood.replace("-", "").replace("\u00ad", "").replace("‐", "")


def count_covered(text: str, reading: Reading) -> tuple[int, int]:
    """The characters of a text but its blanks, and those of them that lie in blocks."""
    inside = sum(len("".join(text[b.start : b.end].split())) for b in reading.blocks)
    return len("".join(text.split())), inside


def measure_seconds(call: Callable[[], Any], rounds: int = 3) -> float:
    """The least CPU seconds of a call."""
    spent = []
    for _ in range(rounds):
        begun = time.process_time()
        call()
        spent.append(time.process_time() - begun)
    return min(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--most", type=int, default=400, help="files taken of a folder, evenly")
    given = parser.parse_args()
    texts = list(load_texts(given.files, given.most))
    readings = [read_blocks(text) for text in texts]
    spans = [split_sentences(reading.text) for reading in readings]
    size = sum(len(text.encode()) for text in texts) / 1e6
    told = [equals_source(t, r, a, b) for t, r, s in zip(texts, readings, spans, strict=True) for a, b in s]
    covered = [count_covered(t, r) for t, r in zip(texts, readings, strict=True)]
    whole, inside = (sum(counts) for counts in zip(*covered, strict=True))
    print(
        f"{len(texts)} texts, {size:.1f} MB, {len(told):,} sentences; {len(told) - sum(told)} differ from their source"
    )
    print(f"{100 * inside / whole:.2f} % of the characters lie in blocks")
    blocks = measure_seconds(lambda: [read_blocks(text) for text in texts])
    sentences = measure_seconds(lambda: [split_sentences(reading.text) for reading in readings])
    parts = (("blocks", blocks), ("sentences", sentences), ("together", blocks + sentences))
    print("MB per CPU s: " + ", ".join(f"{name} {size / spent:.2f}" for name, spent in parts))
    text = max(texts, key=len)[: MOST // 4]
    costs = [
        measure_seconds(lambda n=n: split_sentences(read_blocks(text * n).text))  # type: ignore[misc]
        for n in (2**i for i in range(DOUBLED + 1))
    ]
    print("twice the length costs " + ", ".join(f"{b / a:.2f}" for a, b in pairwise(costs)) + " times as much")


if __name__ == "__main__":
    main()
