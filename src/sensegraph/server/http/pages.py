"""The page: files of this package, as they are, packed once and known by a digest."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sensegraph.server.http.failures import Refused
from sensegraph.server.http.routes import Endpoint

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page, as of a time."""

    changed: int
    tag: str
    kind: str
    raw: bytes
    packed: bytes


class Page:
    """The files of the page. One that changes on the disk is read again."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(str(files("sensegraph.server") / "page"))
        self._known: dict[str, PageFile] = {}

    def endpoints(self) -> list[Endpoint]:
        """The routes of the page: its addresses below /c/ are all of the one page."""
        return [
            Endpoint("GET", "/", self.show, "The page.", "", gives="text/html"),
            Endpoint("GET", "/c/{place:path}", self.show, "The page, at a place of it.", "", gives="text/html"),
            Endpoint("GET", "/page/{file:path}", self.send, "A file of the page.", "", gives="*/*"),
        ]

    async def show(self, request: Request) -> Response:
        """The page itself."""
        return self._answer(request, "index.html")

    async def send(self, request: Request) -> Response:
        """A file of it."""
        return self._answer(request, request.path_params["file"])

    def _answer(self, request: Request, name: str) -> Response:
        found = self._find(name)
        if found is None:
            raise Refused(404, f"The page has no file {name[:100]!r}.")
        headers = {"ETag": found.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if found.tag in request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
        packs = "gzip" in request.headers.get("accept-encoding", "") and len(found.packed) < len(found.raw)
        if packs:
            headers["Content-Encoding"] = "gzip"
        return Response(found.packed if packs else found.raw, 200, headers, found.kind)

    def _find(self, name: str) -> PageFile | None:
        place = self._folder / name
        kind = _TYPES.get(place.suffix)
        if kind is None or "\0" in name or not place.resolve().is_relative_to(self._folder.resolve()):
            return None
        if not place.is_file():
            return None
        changed, known = place.stat().st_mtime_ns, self._known.get(name)
        if known is None or known.changed != changed:
            raw = place.read_bytes()
            tag = f'"{sha256(raw).hexdigest()[:24]}"'
            known = self._known[name] = PageFile(changed, tag, kind, raw, gzip.compress(raw, 9, mtime=0))
        return known
