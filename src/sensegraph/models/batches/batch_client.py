"""The batch interface of an endpoint over HTTP: a file of requests goes up, a batch is made of it, files come down."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from sensegraph.errors import EndpointDown
from sensegraph.models.endpoint.calls import Calls
from sensegraph.models.endpoint.limits import choose_pause
from sensegraph.models.endpoint.outcomes import read_error
from sensegraph.models.endpoint.wire import Response, WireError

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

    def download(self, file: str) -> bytes:
        """What is in a file."""
        return bytes(self._call(lambda: self._calls.wire.get(f"/files/{quote(file, safe='')}/content")))

    def _find(self, name: str) -> dict[str, Any] | None:
        listed = self._ask(lambda: self._calls.wire.get(f"/batches?limit={_LISTED}")).get("data") or []
        return next((one for one in listed if (one.get("metadata") or {}).get(MARK) == name), None)

    def _ask(
        self, send: Callable[[], Response], instead: Callable[[], dict[str, Any] | None] | None = None
    ) -> dict[str, Any]:
        if isinstance(raw := self._call(send, instead), dict):
            return raw
        try:
            return msgspec.json.decode(raw, type=dict[str, Any])
        except msgspec.DecodeError as e:
            where = self._calls.address
            raise EndpointDown(f"{where} answers a request about batches with no JSON: it may have none.") from e

    def _call(self, send: Callable[[], Response], instead: Callable[[], Any] | None = None) -> Any:
        """What comes back, after as many tries as are allowed; after a lost reply `instead` is asked first."""
        settings, last = self._calls.settings, ""
        for attempt in range(settings.max_retries + 1):
            if attempt:
                time.sleep(choose_pause(attempt - 1, None, settings.backoff_s))
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
    counts = said.get("request_counts") or {}
    done, failed, total = (int(counts.get(name) or 0) for name in ("completed", "failed", "total"))
    first = ((said.get("errors") or {}).get("data") or [{}])[0]
    files = tuple(str(said[name]) for name in ("output_file_id", "error_file_id") if said.get(name))
    error, code = str(first.get("message") or ""), str(first.get("code") or "")
    return RemoteBatch(str(said.get("id")), str(said.get("status")), done, failed, total, files, error, code)
