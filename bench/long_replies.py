"""What a client takes for long replies: sixteen calls at once, each for the vectors of 64 texts.

    python bench/long_replies.py

Each row is a client in a process of its own, over a server in another: replies as an honest model sends them, too long,
without end, and of what is no number. The memory is the most that the process had (Linux).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from pathlib import Path

from client import table
from sensegraph.errors import SensegraphError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

TEXTS, CALLS = 64, 16
VECTORS = {  # what a vector holds, how often
    "4,096 numbers": (b"0.0123456789", 4096),
    "16,384 short numbers": (b"1", 16384),
    "16,384 long numbers": (b"0.12345678901234567", 16384),
    "16,384 objects": (b"{}", 16384),
    "without end": (b"", 0),
}


class Server(ThreadingHTTPServer):
    """Takes all calls at once."""

    request_queue_size = 64


class Handler(BaseHTTPRequestHandler):
    """Answers every request with vectors of one kind."""

    vector: bytes

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        try:
            for piece in self.write_pieces():
                self.wfile.write(piece)
        except OSError:
            pass  # the client has enough

    def write_pieces(self) -> Iterator[bytes]:
        """The reply, in pieces."""
        yield b'{"data": ['
        yield from () if self.vector else repeat(b"a" * 65536)
        for place in range(TEXTS):
            yield b"," * bool(place) + b'{"index": %d, "embedding": [%b]}' % (place, self.vector)
        yield b"]}"

    def log_message(self, *_: object) -> None:
        """Nothing."""


def serve(name: str) -> None:
    value, count = VECTORS[name]
    made = Server(("127.0.0.1", 0), type("Own", (Handler,), {"vector": b",".join([value] * count)}))
    print(made.server_port, flush=True)
    made.serve_forever()


def ask(port: str) -> None:
    end = Endpoint(EndpointSettings(base_url=f"http://127.0.0.1:{port}/v1", embedding_model="m", max_retries=0))

    def embed(call: int) -> str:
        try:
            return f"{end.embed([f'text {call} {n}' for n in range(TEXTS)]).shape[1]:,} numbers"
        except SensegraphError as e:
            return str(e).split("sent ")[-1].split("last with ")[-1].split(": no model")[0].split(". Run")[0]

    with ThreadPoolExecutor(CALLS) as threads:
        said = set(threads.map(embed, range(CALLS)))
    most = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
    print(most, f"{time.process_time():.1f}", "; ".join(sorted(said)), sep="\t")


def main() -> None:
    rows: list[list[object]] = []
    for name in VECTORS:
        program = [sys.executable, __file__]
        with subprocess.Popen([*program, "serve", name], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            found = subprocess.run([*program, "ask", port], capture_output=True, text=True, check=True)
            server.kill()
        rows.append([name, *found.stdout.strip().split("\t")])
    table(["vectors", "MB", "CPU s", "what came of it"], rows)


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2]) if sys.argv[1:] else main()
