"""Faults of a server: how does a build end, what is stored, how much memory is taken, and is the index mended?

    python bench/faults.py [--documents 12] [--rate 0.3] [--only NAME]

Each row is one build in a process of its own, over a scripted server with one fault, then the same build without
faults. `same` says whether the first build's index equals the one of a calm server; `false` counts what it stored under
a key of that index with another content; `then` are the calls of the second build, and whether its index is the calm
one. What may not be is named at the end, with exit status 1; tests/models/endpoint/test_hostile_servers.py holds the
same rows to the same rules.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from client import table
from faults_of_servers import FAULTS, Row, build_apart, build_calmly, meet_fault


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=12)
    parser.add_argument("--rate", type=float, default=0.3)
    parser.add_argument("--only", default="", help="faults whose name holds this")
    parser.add_argument("--say", action="store_true", help="print what each build says")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calm = build_calmly(Path(folder) / "calm", given.documents)
        found = [
            meet_fault(name, Path(folder) / str(n), calm, given.documents, given.rate, build_apart)
            for n, name in enumerate(FAULTS)
            if given.only in name
        ]
    table(["fault", "met", "ended", "same", "false", "MB", "CPU s", "then"], [_cells(row) for row in found])
    for row in found if given.say else []:
        print(f"{row.fault}: {row.first.said}")
    whole = sum(row.first.how == "whole" and row.same for row in found)
    errors = sum(row.first.how == "error" for row in found)
    most = max(row.first.mb or 0 for row in found)
    lacking, mended = len(found) - whole - errors, sum(row.mended for row in found)
    print(f"{len(found)} faults: {whole} builds have the index of a calm one, {lacking} say what they lack, ", end="")
    print(f"{errors} end with one error; {mended} are mended by a calm build; ", end="")
    print(f"{sum(row.false for row in found)} false results are stored; at most {most:.0f} MB")
    wrongs = [f"{row.fault}: {wrong}" for row in found for wrong in row.list_wrongs()]
    print(*wrongs, sep="\n", end="\n" * bool(wrongs))
    return 1 if wrongs else 0


def _cells(row: Row) -> list[object]:
    first = row.first
    then = f"{row.asked} calls, {'same' if row.mended else 'another'}"
    mb = "-" if first.mb is None else f"{first.mb:.0f}"
    return [row.fault, row.met, first.how, "yes" if row.same else "no", row.false, mb, f"{first.cpu_s:.1f}", then]


if __name__ == "__main__":
    sys.exit(main())
