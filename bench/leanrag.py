"""LeanRAG beside BM25: recall of the judged documents, with paired intervals, and the size of its context.

    python bench/leanrag.py [--data DIR] [--keep DIR] [--set NAME …]

Each set is indexed offline (kept in `--keep`, so that a second run is quick). A row is a setting: recall at 2, 5 and
10, CPU milliseconds and context tokens for one question, and, for recall at 5, the difference to BM25 in points with
its 95 % interval over 2,000 paired resamplings. What aggregates cost is measured by aggregation.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from client import options
from lightrag import SETS, shown

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "bm25": ("bm25", {}),
    "naive": ("naive", {}),
    "leanrag": ("leanrag", {}),
    "by = vectors": ("leanrag", {"by": "vectors"}),
    "seeds = 5": ("leanrag", {"seeds": 5}),
    "seeds = 20": ("leanrag", {"seeds": 20}),
    "root = on": ("leanrag", {"root": "on"}),
    "relations = false": ("leanrag", {"relations": False}),
    "findings = true": ("leanrag", {"findings": True}),
    "chunks = 10": ("leanrag", {"chunks": 10}),
    "chunks = 0": ("leanrag", {"chunks": 0}),
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            shown(name, Path(given.data) / name, Path(given.keep or folder) / name, ROWS, "leanrag")


if __name__ == "__main__":
    main()
