"""The two retrieval arms of GRAFT beside BM25: which documents they lead to, the size of their context, and their cost.

    python bench/graft.py [--data DIR] [--keep DIR] [--set NAME …]

Each set is indexed offline (kept in `--keep`, so that a second run is quick). A row is a setting: recall at 2, 5 and 10
of the judged documents (a summary leads to those that its statements come from), CPU milliseconds and context tokens
for one question, and, for recall at 5, the difference to BM25 in points with its 95 % interval over 2,000 paired
resamplings. What training data are is measured by finetuning_data.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from client import options
from lightrag import SETS, shown

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "bm25": ("bm25", {}),
    "naive, top = 3": ("naive", {"top": 3}),
    "graft": ("graft", {}),
    "graft, top = 3": ("graft", {"top": 3}),
    "graft, top = 10": ("graft", {"top": 10}),
    "graft, explain = 10": ("graft", {"explain": 10}),
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            shown(name, Path(given.data) / name, Path(given.keep or folder) / name, ROWS, "graft")


if __name__ == "__main__":
    main()
