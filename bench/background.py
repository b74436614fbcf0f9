"""How many of a million sentences of general English hold a word: the table `language/data/background.txt`.

    python bench/background.py [--data DIR] [--manuals DIR] [--write]

Counted are the words of noun phrases, by stems, in texts of four kinds, each of which weighs the same: paragraphs of
an encyclopedia, transcripts of meetings, personal chats, and manual pages. The program prints how many stems of each
kind it read; with `--write` it writes the table. Word counts are facts; its head names the sources and their licences.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sensegraph.language.background import stem_of
from sensegraph.retrieval.outline.notes import note_documents
from sensegraph.types import Chunk

TABLE = Path(__file__).parents[1] / "src" / "sensegraph" / "language" / "data" / "background.txt"
KINDS = {
    "encyclopedia": ("musique", "hotpotqa", "redocred"),
    "meetings": ("qmsum",),
    "chats": ("lihua-world",),
    "manuals": (),
}
HEAD = (
    "# In how many of a million sentences of general English each stem (Snowball) stands in a noun phrase: [k] heads"
    " stems of about 2^(k/2) sentences. Built by bench/background.py from paragraphs of Wikipedia (CC BY-SA 4.0; a part"
    " as CC BY 4.0), transcripts of meetings and invented chats (MIT), and manual pages of Debian packages (free"
    " licences). No text is kept, only counts."
)
STEMS = 20_000  # of the table
MILLION = 1_000_000


def read_texts(kind: str, data: Path, manuals: Path) -> Iterator[str]:
    """The texts of one kind."""
    for name in KINDS[kind]:
        path = next(p for p in (data / name / "corpus.jsonl", data / name / "docs.dev.jsonl") if p.exists())
        for line in path.read_text(encoding="utf-8").splitlines():
            yield re.sub(r"\{\w+\}", "", json.loads(line)["text"])  # marks of what is no speech
    if kind == "manuals":
        first = {re.split(r"[-_.]", path.name)[0]: path for path in sorted(manuals.glob("man[1-8]/*.gz"), reverse=True)}
        for path in first.values():  # one of each program
            text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            text = re.sub(r"^[.'].*$", "", text, flags=re.MULTILINE)  # requests of the formatter
            yield re.sub(r"\\f[A-Z]|\\-|\\&|\\\(..", "", text).replace("\n", " ")


def count_stems(texts: Iterator[str]) -> tuple[Counter[str], int]:
    """In how many sentences each stem stands, and the number of sentences."""
    counts, sentences = Counter[str](), 0
    for text in texts:
        (noted,) = note_documents.fn([(Chunk("c", "d", 0, len(text), 0, text),)])
        sentences += len(noted.lines)
        for word, n in noted.words.items():
            if len(word) > 2 and word.isalpha():
                counts[stem_of(word)] += n
    return counts, sentences


def main() -> None:
    """Count, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    shares = Counter[str]()
    for kind in KINDS:
        counts, sentences = count_stems(read_texts(kind, given.data, given.manuals))
        print(f"{kind}: {sentences:,} sentences, {len(counts):,} stems")
        for stem, n in counts.items():
            shares[stem] += n / max(sentences, 1) / len(KINDS)
    classes: dict[int, list[str]] = {}
    for stem, share in sorted(shares.items(), key=lambda x: (-x[1], x[0]))[:STEMS]:
        classes.setdefault(round(2 * math.log2(max(share * MILLION, 1))), []).append(stem)
    lines = [HEAD]
    for k, stems in sorted(classes.items(), reverse=True):
        lines.append(f"[{k}]")
        row = ""
        for stem in sorted(stems):
            if len(row) + len(stem) > 118:
                lines.append(row)
                row = ""
            row = f"{row} {stem}".strip()
        lines.append(row)
    text = "\n".join(lines) + "\n"
    print(f"{sum(map(len, classes.values())):,} stems, {len(text.encode()):,} bytes")
    if given.write:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
