"""Kills an index run at random moments, starts it again, and counts what was paid for twice.

    python bench/kills.py [--data DIR] [--corpus carol | --corpus FOLDER] [--kills 10] [--latency-ms 50] [--seed 0]

Each row is an index run of its own: killed with SIGKILL when the server has answered so many calls, then run again to
its end. `finished` counts the model calls that the server had answered when the signal was sent, `stored` the results
that the killed run left, `in flight` the calls that the server answered into the void, and `repeated` the finished
calls that the second run made again (one whose reply was under way in that moment may be among them).
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from pathlib import Path

from client import Server, chosen, content, options, prepared, sensegraph, serving, start, table


def main() -> None:
    parser = options(__doc__, "carol")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    files = str(chosen(given))
    with tempfile.TemporaryDirectory() as folder, serving("--latency-ms", str(given.latency_ms)) as server:
        whole = prepared(Path(folder) / "whole", server)
        assert sensegraph("index", files, "--root", str(whole), "--quiet").code == 0
        total, wanted = server.stats()["ok"], content(whole)
        draw = random.Random(given.seed)
        moments = sorted(draw.randrange(1, total) for _ in range(given.kills))
        rows = [killed(Path(folder) / str(i), server, files, m, wanted) for i, m in enumerate(moments)]
        table(
            ["finished", "of", "stored", "in flight", "repeated", "index equal"], [[r[0], total, *r[1:]] for r in rows]
        )
        print(f"moments: {len(rows)}, finished calls repeated: {sum(r[3] for r in rows)}")


def killed(root: Path, server: Server, files: str, moment: int, wanted: object) -> tuple[int, int, int, int, bool]:
    """Kill one run after `moment` calls, run it again: calls finished, stored, in flight, repeated; equal."""
    prepared(root, server)
    server.reset()
    running = start("index", files, "--root", str(root), "--quiet")
    while server.stats()["ok"] < moment and running.poll() is None:
        time.sleep(0.005)
    when = time.time()
    running.kill()
    running.wait()
    time.sleep(0.3)  # what is on its way at the server comes to its end
    log = server.stats()["log"]
    finished = {sha for sha, _, status, at in log if status == 200 and at < when}
    kept = stored(root)
    server.reset()
    assert sensegraph("index", files, "--root", str(root), "--quiet").code == 0
    again = {sha for sha, _, status, _ in server.stats()["log"] if status == 200}
    return len(finished), kept, len(log) - len(finished), len(finished & again), content(root) == wanted


def stored(root: Path) -> int:
    """Results of model calls in the store (vectors not counted: 64 of them are one call)."""
    path = root / ".sensegraph" / "store.sqlite"
    if not path.exists():
        return 0
    query = "SELECT COUNT(*) FROM object WHERE step IN ('extraction.extract', 'reports.report', 'graph.summarise')"
    (count,) = sqlite3.connect(path).execute(query).fetchone()
    return int(count)


if __name__ == "__main__":
    main()
