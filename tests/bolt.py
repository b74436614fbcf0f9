"""A server of Neo4j that is scripted: Bolt 5.4 over a socket of the loopback, with a graph in memory.

It speaks the protocol (handshake, chunks, PackStream, transactions, failures) and knows the few queries of
`neo4j_server` by their beginnings; it reads no Cypher. Whether a real server takes the queries is tested where one is.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

HELLO, LOGON, LOGOFF, GOODBYE, RESET, RUN = 0x01, 0x6A, 0x6B, 0x02, 0x0F, 0x10
BEGIN, COMMIT, ROLLBACK, DISCARD, PULL, TELEMETRY = 0x11, 0x12, 0x13, 0x2F, 0x3F, 0x54
SUCCESS, RECORD, IGNORED, FAILURE = 0x70, 0x71, 0x7E, 0x7F


def pack(value: Any) -> bytes:
    """A value in PackStream."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return b"\xcb" + struct.pack(">q", value)
        case float():
            return b"\xc1" + struct.pack(">d", value)
        case str():
            text = value.encode()
            return b"\xd2" + struct.pack(">I", len(text)) + text
        case list() | tuple():
            return b"\xd6" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
        case dict():
            return b"\xda" + struct.pack(">I", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())
    raise TypeError(type(value))


class Unpacker:
    """Values from PackStream."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def size(self, width: int) -> int:
        return int.from_bytes(self.take(width), "big")

    def value(self) -> Any:
        """The next value."""
        mark = self.size(1)
        if mark < 0x80 or mark >= 0xF0:
            return mark if mark < 0x80 else mark - 256
        if mark >> 4 in (0x8, 0x9, 0xA, 0xB):
            kind, count = mark >> 4, mark & 15
        elif mark in (0xC8, 0xC9, 0xCA, 0xCB):
            return int.from_bytes(self.take(1 << mark - 0xC8), "big", signed=True)
        elif mark in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[mark]
        elif mark == 0xC1:
            return struct.unpack(">d", self.take(8))[0]
        else:
            kind, width = {0xD0: (8, 1), 0xD1: (8, 2), 0xD2: (8, 4), 0xD4: (9, 1), 0xD5: (9, 2), 0xD6: (9, 4),
                           0xD8: (10, 1), 0xD9: (10, 2), 0xDA: (10, 4)}[mark]  # fmt: skip
            count = self.size(width)
        if kind == 0x8:
            return self.take(count).decode()
        if kind == 0x9:
            return [self.value() for _ in range(count)]
        if kind == 0xA:
            return {self.value(): self.value() for _ in range(count)}
        return (self.size(1), *(self.value() for _ in range(count)))


@dataclass
class Graph:
    """What a push left: nodes by label, corpus and id; edges by kind, ends and id."""

    nodes: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    edges: dict[tuple[str, tuple[str, str, str], tuple[str, str, str], str], dict[str, Any]] = field(
        default_factory=dict
    )

    def copy(self) -> Graph:
        return Graph({k: dict(v) for k, v in self.nodes.items()}, {k: dict(v) for k, v in self.edges.items()})

    def run(self, query: str, given: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
        """The columns and the rows of a query."""
        if query.startswith("CREATE CONSTRAINT"):
            return [], []
        if found := re.match(r"UNWIND \$rows AS row MERGE \(n:(\w+) ", query):
            for row in given["rows"]:
                key = (found[1], given["corpus"], row["id"])
                self.nodes[key] = {**row, "corpus": given["corpus"], "push": given["push"]}
            return [], []
        if found := re.match(r"UNWIND \$rows AS row MATCH \(a:(\w+) .* MERGE \(a\)-\[r:(\w+)", query):
            for row in given["rows"]:
                ends = ((found[1], given["corpus"], row["from_id"]), ("Entity", given["corpus"], row["to_id"]))
                if all(end in self.nodes for end in ends):
                    own = row.get("own", {})
                    self.edges[(found[2], *ends, own.get("id", ""))] = {**own, "push": given["push"]}
            return [], []
        if "DELETE r" in query:
            old = [k for k, v in self.edges.items() if k[1][1] == given["corpus"] and v["push"] != given["push"]]
            for key in old[: given["most"]]:
                del self.edges[key]
            return ["gone"], [[len(old[: given["most"]])]]
        if "DETACH DELETE n" in query:
            old_nodes = [k for k, v in self.nodes.items() if k[1] == given["corpus"] and v.get("push") != given["push"]]
            for node in old_nodes[: given["most"]]:
                del self.nodes[node]
            return ["gone"], [[len(old_nodes[: given["most"]])]]
        wanted = given["corpus"]
        if query.startswith("MATCH (n)"):
            rows = [["/".join(k), [k[0]], v] for k, v in self.nodes.items() if wanted in (None, v.get("corpus"))]
            return ["place", "labels", "own"], rows
        assert query.startswith("MATCH (a)-[r]->(b)"), query
        kept = [(k, v) for k, v in self.edges.items() if wanted in (None, k[1][1])]
        lines = [["/".join(k[1]), "/".join(k[2]), f"{k[0]}/{k[3] or i}", k[0], v] for i, (k, v) in enumerate(kept)]
        return ["start", "end", "place", "kind", "own"], lines


class BoltServer:
    """Serves until it is left; `fail` may answer a query with a failure: a code and a message."""

    def __init__(self, graph: Graph | None = None, *, password: str = "right") -> None:
        self.graph, self.password = graph or Graph(), password
        self.queries: list[tuple[str, int]] = []
        self.fail: Callable[[str, int], tuple[str, str] | None] = lambda query, count: None
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"bolt://127.0.0.1:{self.socket.getsockname()[1]}"

    def __enter__(self) -> BoltServer:
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        """One connection, from the handshake on."""
        with connection, connection.makefile("rb") as reader:
            assert reader.read(20)[:4] == b"\x60\x60\xb0\x17"
            connection.sendall(b"\x00\x00\x04\x05")
            before, broken, rows = self.graph, False, iter(())
            for tag, *fields in messages(reader):
                if tag == GOODBYE:
                    return
                if tag == RESET:
                    broken = False
                elif broken:
                    send(connection, IGNORED)
                    continue
                said: dict[str, Any] = {"server": "Neo4j/5.4.0", "connection_id": "one"} if tag == HELLO else {}
                failure = None
                if tag == LOGON and fields[0].get("credentials") != self.password:
                    failure = ("Neo.ClientError.Security.Unauthorized", "The client is unauthorized.")
                elif tag == BEGIN:
                    before = self.graph.copy()
                elif tag == ROLLBACK:
                    self.graph = before
                elif tag == RUN:
                    query, given = fields[0], fields[1]
                    self.queries.append((query, len(given.get("rows", ()))))
                    failure = self.fail(query, len(self.queries))
                    if failure is None:
                        columns, found = self.graph.run(query, given)
                        said, rows = {"fields": columns}, iter(found)
                elif tag == PULL:
                    said = {"has_more": send_rows(connection, rows, fields[0]["n"])}
                if failure:
                    broken = True
                    self.graph = before
                    send(connection, FAILURE, {"code": failure[0], "message": failure[1]})
                else:
                    send(connection, SUCCESS, said)


def send_rows(connection: socket.socket, rows: Iterator[list[Any]], count: int) -> bool:
    """Send so many of the rows, all for -1; whether there may be more."""
    while count:
        row = next(rows, None)
        if row is None:
            return False
        send(connection, RECORD, row)
        count -= 1
    return True


def messages(reader: Any) -> Iterator[tuple[Any, ...]]:
    """The messages of a client: tag and fields."""
    data = b""
    while head := reader.read(2):
        size = int.from_bytes(head, "big")
        if size:
            data += reader.read(size)
        elif data:
            yield Unpacker(data).value()
            data = b""


def send(connection: socket.socket, tag: int, *fields: Any) -> None:
    """Send one message, in chunks."""
    body = bytes([0xB0 + len(fields), tag]) + b"".join(map(pack, fields))
    chunks = [body[at : at + 60_000] for at in range(0, len(body), 60_000)]
    connection.sendall(b"".join(len(c).to_bytes(2, "big") + c for c in chunks) + b"\0\0")
