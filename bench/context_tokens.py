"""What each condition of global search reads: Table 2 of Edge et al. 2024 for an index of ours.

    python bench/context_tokens.py [--data DIR] [--corpus podcast | --corpus FOLDER] [--engine offline|scripted|both]

Units and tokens of the reports of C0 to C3 (every entity once at each depth) and of the source texts (TS), and the per
cent of the largest. With the scripted server the reports are as long as its replies, not as a real model's.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from client import chosen, opened, options, prepared, sensegraph, serving, table
from sensegraph.index.index import Index


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--engine", choices=["offline", "scripted", "both"], default="both")
    given = parser.parse_args()
    for engine in ["offline", "scripted"] if given.engine == "both" else [given.engine]:
        with built(chosen(given), engine) as index:
            print(f"{engine} engine: {index.manifest.counts}")
            table(["condition", "units", "tokens", "% of TS"], list(conditions(index)))


def conditions(index: Index) -> Iterator[list[object]]:
    """A row for each condition."""
    everything = sum(c.tokens for c in index.catalogue.chunks)
    for depth in range(4):
        clusters = index.clusters_at(depth)
        read = sum(c.tokens for c in clusters)
        yield [f"C{depth}", len(clusters), f"{read:,}", f"{100 * read / everything:.1f}"]
    yield ["TS", len(index.catalogue.chunks), f"{everything:,}", "100.0"]


@contextmanager
def built(corpus: Path, engine: str) -> Iterator[Index]:
    """The index of `corpus`, made in a folder that goes again."""
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        root = prepared(Path(folder) / "corpus", server) if engine == "scripted" else Path(folder) / "corpus"
        flags = [] if engine == "scripted" else ["--engine", "offline"]
        run = sensegraph("index", str(corpus), "--root", str(root), "--quiet", *flags)
        if run.code:
            sys.exit(f"index ended with {run.code}: {run.err}")
        yield opened(root)


if __name__ == "__main__":
    main()
