"""Kills an index run at random moments, starts it again, and counts what was paid for twice.

    python bench/kills.py [--data DIR] [--corpus carol | --corpus FOLDER] [--kills 10] [--latency-ms 50] [--seed 0]

Each row is an index run of its own: killed with SIGKILL when the server has answered so many calls, then run again to
its end. `stored` counts the results of model calls that the killed run left, and `asked again` how many of those the
second run paid for once more. `answered` are the calls that the server had answered when the signal was sent; those
that are not stored by then were on the wire or in the client's hands (`lost`: at most as many as run at a time).
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
        table(["answered", "of", "stored", "asked again", "lost", "index equal"], [[r[0], total, *r[1:]] for r in rows])
        print(f"moments: {len(rows)}, results of the store or the journal asked for again: {sum(r[2] for r in rows)}")


def killed(root: Path, server: Server, files: str, moment: int, wanted: object) -> tuple[int, int, int, int, bool]:
    """Kill one run after `moment` calls, run it again: calls answered, stored, asked again, lost; index equal."""
    prepared(root, server)
    server.reset()
    running = start("index", files, "--root", str(root), "--quiet")
    while server.stats()["ok"] < moment and running.poll() is None:
        time.sleep(0.005)
    when = time.time()
    running.kill()
    running.wait()
    time.sleep(0.3)  # what is on its way at the server comes to its end
    answered = {sha for sha, task, status, at in server.stats()["log"] if status == 200 and at < when}
    kept = stored(root)
    server.reset()
    assert sensegraph("index", files, "--root", str(root), "--quiet").code == 0
    calls = [sha for sha, task, status, _ in server.stats()["log"] if status == 200 and task != "embedding"]
    twice = max(0, kept + len(calls) - stored(root))  # below 0 where the journal held replies that were not stored
    return len(answered), kept, twice, len(answered & set(calls)), content(root) == wanted


def stored(root: Path) -> int:
    """Results of model calls in the store (vectors not counted: 64 of them are one call)."""
    path = root / ".sensegraph" / "store.sqlite"
    if not path.exists():
        return 0
    steps = "('extraction.extract', 'reports.report', 'graph.summarise')"
    query = f"SELECT COUNT(*) FROM object JOIN pack USING (number) WHERE step IN {steps}"
    (count,) = sqlite3.connect(path).execute(query).fetchone()
    return int(count)


if __name__ == "__main__":
    main()
