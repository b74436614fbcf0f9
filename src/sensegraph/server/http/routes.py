"""What every route shares: its place in the table, the body it takes, and how its answer is written."""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sensegraph import __version__
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed
from sensegraph.server.http.access import Level
from sensegraph.server.http.bodies import decode_body
from sensegraph.server.http.corpora import JSON, Library, ServedCorpus
from sensegraph.server.http.failures import JSON as JSON_TYPE
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.guard import require_level

B = TypeVar("B")
Handler = Callable[[Request], Awaitable[Response]]
_SMALL = 1500  # bytes that are not worth packing


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: how it is asked, who may, what it takes and does. `query` are the names of its parameters."""

    method: str
    path: str
    handler: Handler
    summary: str
    level: Level = "read"
    takes: type[Any] | None = None
    query: tuple[str, ...] = ()
    gives: str = JSON_TYPE

    def make_route(self) -> Route:
        """The route of the framework; one that needs a level is not reached without."""

        @wraps(self.handler)
        async def handle(request: Request) -> Response:
            if self.level:
                require_level(request, self.level)
            return await self.handler(request)

        return Route(self.path, handle, methods=[self.method])


async def read_body(request: Request, kind: type[B]) -> B:
    """The body of a request. Raises Refused for one that is not sent as JSON, InputError for what it must not hold."""
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != "application/json":
        raise Refused(415, "The body must be sent as `Content-Type: application/json`.")
    return decode_body(await request.body(), kind)


def read_tail(request: Request) -> str:
    """What follows /api/v1/CORPUS/KIND/ in the path, as it was sent: a slash in a name (%2F) is none of the path."""
    raw: bytes = request.scope["raw_path"]
    return raw.partition(b"?")[0].decode("latin-1").split("/", 5)[5]


def decode_name(tail: str) -> str:
    """A name from a path. Raises Refused for one that is no text."""
    try:
        return unquote(tail, errors="strict")
    except UnicodeDecodeError as e:
        raise Refused(404, "The address holds no valid UTF-8.") from e


def read_query_number(request: Request, name: str, usual: int, most: int = 1 << 60) -> int:
    """A number of the query. Raises InputError for what is none, or out of bounds."""
    text = request.query_params.get(name, "")
    if not text:
        return usual
    if not text.isascii() or not text.isdigit() or int(text) > most:
        raise InputError(f"{name} {text[:40]!r} is no number from 0 to {most}.")
    return int(text)


def read_query_flag(request: Request, name: str) -> bool:
    """Whether something of the query is true."""
    return request.query_params.get(name, "").lower() in ("1", "true", "yes")


def pack_object(value: Any, request: Request, headers: dict[str, str] | None = None, status: int = 200) -> Response:
    """An object as an answer: packed where that is worth it and the client takes it."""
    raw = msgspec.json.encode(value)
    told = {"Vary": "Accept-Encoding", **(headers or {})}
    if len(raw) > _SMALL and "gzip" in request.headers.get("accept-encoding", ""):
        raw, told["Content-Encoding"] = gzip.compress(raw, 4), "gzip"
    return Response(raw, status, told, JSON_TYPE)


async def answer_view(
    library: Library,
    request: Request,
    served: ServedCorpus,
    view: Callable[[Corpus], JSON],
    *,
    unknown: int = 0,
    cached: bool = True,
) -> Response:
    """What `view` shows of a corpus; with the tag of its index, by which a client asks whether it is another.

    Where a name leads to nothing, the status is `unknown`.
    """

    def work() -> Response:
        tag = f'"{__version__}-{served.tag()}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"} if cached else {}
        if cached and tag in request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
        return pack_object(served.read(view), request, headers)

    try:
        return await library.workers.read(work)
    except (InputError, NotIndexed) as e:
        if unknown and (isinstance(e, InputError) or served.corpus.workspace.index_key()):
            raise Refused(unknown, str(e)) from e
        raise
