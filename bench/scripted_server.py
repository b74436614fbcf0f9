"""The scripted OpenAI-compatible server of the tests as a process of its own.

    python bench/scripted_server.py --port 8399 --latency-ms 200 --fail-rate 0.02

GET /stats says what was asked, POST /reset forgets it. With --port 0 a free port is taken; the address is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from scripted import Script, ScriptedServer


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--fail-status", type=int, default=429)
    parser.add_argument("--retry-after", default="0.01", help="seconds, date:N, or empty for none")
    for name in ("fail", "malformed", "garbled", "hang", "drop", "truncate"):
        parser.add_argument(f"--{name}-rate", type=float, default=0.0)
    parser.add_argument("--times", type=int, default=0, help="faults of one request at most (0: no bound)")
    parser.add_argument("--schemas", default="json_schema", choices=["json_schema", "json_object", "none"])
    parser.add_argument("--style", default="json", choices=["json", "tuple", "fenced", "single"])
    parser.add_argument("--no-usage", dest="usage", action="store_false")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


async def serve(server: ScriptedServer) -> None:
    running = asyncio.create_task(server.run())
    while not server.port:
        await asyncio.sleep(0.01)
    print(server.base_url, flush=True)
    await running


def main() -> None:
    given = vars(options())
    port, latency = given.pop("port"), given.pop("latency_ms") / 1000
    asyncio.run(serve(ScriptedServer(Script(latency_s=latency, **given), port)))


if __name__ == "__main__":
    main()
