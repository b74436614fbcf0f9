"""The batch interface of an endpoint over HTTP: a file of requests goes up, a batch is made of it, files come down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import quote

import msgspec

from sensegraph.errors import EndpointDown
from sensegraph.models.endpoint.calls import Calls
from sensegraph.models.endpoint.incoming import Response, WireError
from sensegraph.models.endpoint.limits import choose_pause
from sensegraph.models.endpoint.outcomes import read_error, read_json
from sensegraph.runtime.activity import pause

MARK = "sensegraph"  # the name under which a batch says of which requests it was made
_BOUND = "sensegraph-part-5f1d0c8e4b7a"
_AGAIN = (408, 409, 425, 429)  # and all from 500 on: the same may go well later
_LISTED = 100


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the endpoint tells it."""

    id: str
    status: str
    done: int = 0
    failed: int = 0
    total: int = 0
    files: tuple[str, ...] = ()  # of what was answered, and of what was not
    error: str = ""
    code: str = ""


class BatchClient:
    """Uploads, batches and downloads at the endpoint of `calls`. Raises EndpointDown where it cannot."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def upload(self, name: str, lines: bytes) -> str:
        """The id of a file of requests that was put there."""
        head = (
            f'--{_BOUND}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{_BOUND}\r\n'
            f'Content-Disposition: form-data; name="file"; filename="{name}.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        body = head.encode() + lines + f"\r\n--{_BOUND}--\r\n".encode()
        kind = f"multipart/form-data; boundary={_BOUND}"
        return str(self._ask(lambda: self._calls.wire.post("/files", body, kind))["id"])

    def create(self, file: str, name: str, path: str) -> RemoteBatch:
        """A batch of the requests in a file, which carries its `name`.

        Where a reply is lost the batch may have been made all the same: then it is looked for before it is made again.
        """
        made = {"input_file_id": file, "endpoint": path, "completion_window": "24h", "metadata": {MARK: name}}
        body = msgspec.json.encode(made)
        return _read_batch(self._ask(lambda: self._calls.wire.post("/batches", body), instead=lambda: self._find(name)))

    def find(self, name: str) -> RemoteBatch | None:
        """The batch that carries this name, among the latest."""
        found = self._find(name)
        return _read_batch(found) if found else None

    def read(self, batch: str) -> RemoteBatch:
        """How a batch stands."""
        return _read_batch(self._ask(lambda: self._calls.wire.get(f"/batches/{quote(batch, safe='')}")))

    def download(self, name: str, file: IO[bytes]) -> None:
        """Write what is in a file of the endpoint's into `file`."""
        self._call(lambda: self._calls.wire.download(f"/files/{quote(name, safe='')}/content", file))

    def _find(self, name: str) -> dict[str, Any] | None:
        listed = self._ask(lambda: self._calls.wire.get(f"/batches?limit={_LISTED}")).get("data")
        rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        return next((row for row in rows if _read_object(row.get("metadata")).get(MARK) == name), None)

    def _ask(
        self, send: Callable[[], Response], instead: Callable[[], dict[str, Any] | None] | None = None
    ) -> dict[str, Any]:
        if isinstance(raw := self._call(send, instead), dict):
            return raw
        try:
            if isinstance(found := read_json(raw), dict):
                return found
        except msgspec.DecodeError:
            pass
        where = self._calls.address
        raise EndpointDown(f"{where} answers a request about batches with no JSON: it may have none.")

    def _call(self, send: Callable[[], Response], instead: Callable[[], Any] | None = None) -> Any:
        """What comes back, after as many tries as are allowed; after a lost reply `instead` is asked first."""
        settings, last = self._calls.settings, ""
        for attempt in range(settings.max_retries + 1):
            if attempt:
                pause(choose_pause(attempt - 1, None, settings.backoff_s))
                if instead and (found := instead()) is not None:
                    return found
            try:
                response = send()
            except WireError as e:
                last = str(e)
                continue
            if response.status < 300:
                return response.body
            last = f"HTTP {response.status}: {read_error(response.body).message}"
            if response.status not in _AGAIN and response.status < 500:
                break
        words = self._calls.clean(last)
        raise EndpointDown(
            f"{self._calls.address} does not take batches ({words}): run again without --batch (and endpoint.batch), "
            "or run again later to go on.",
            words=words,
        )


def _read_batch(said: dict[str, Any]) -> RemoteBatch:
    counts, listed = _read_object(said.get("request_counts")), _read_object(said.get("errors")).get("data")
    given = (counts.get(name) for name in ("completed", "failed", "total"))
    done, failed, total = (n if isinstance(n, int) else 0 for n in given)
    first = _read_object(listed[0] if isinstance(listed, list) and listed else None)
    files = tuple(str(said[name]) for name in ("output_file_id", "error_file_id") if said.get(name))
    error, code = str(first.get("message") or ""), str(first.get("code") or "")
    return RemoteBatch(str(said.get("id")), str(said.get("status")), done, failed, total, files, error, code)


def _read_object(value: Any) -> dict[str, Any]:
    """An object of a reply; empty where there is none."""
    return value if isinstance(value, dict) else {}
