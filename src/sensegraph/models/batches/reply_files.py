"""Replies to a batch in files, a line each: read line by line, and only their places are held in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from sensegraph.errors import InputError
from sensegraph.models.endpoint.incoming import WHOLE
from sensegraph.models.endpoint.outcomes import read_json

_LONGEST_KEY = 200  # characters; ours have some sixty
_WORDS = 500  # characters of why there is no reply
_MOST_REPLIES = 500_000  # of a file that a user gives: ten of the largest batches


class StoredReply(msgspec.Struct, frozen=True):
    """What came back for a request: status and body; status 0 with why there is none."""

    key: str
    status: int
    reply: msgspec.Raw


class ReplyStore:
    """The replies of a build, in a file. Of each reply the place in the file is held, not the reply."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def read(self, key: str) -> StoredReply | None:
        """The reply to a request, if there is one."""
        if key not in self._places:
            return None
        with self._path.open("rb") as file:
            file.seek(self._places[key])
            return msgspec.json.decode(file.readline(), type=StoredReply)

    def load(self) -> Iterator[tuple[str, str]]:
        """Find what an earlier run wrote; what has no reply comes out, with why."""
        self._places.clear()
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            at = 0
            for line in file:
                try:
                    one = msgspec.json.decode(line, type=StoredReply)
                except msgspec.DecodeError:  # a line that was cut off
                    pass
                else:
                    yield from self._know(one, at)
                at += len(line)

    def keep(self, found: Iterable[StoredReply]) -> Iterator[tuple[str, str]]:
        """Write replies down before they are relied on; what has none comes out, with why."""
        with self._path.open("a+b") as file:
            at = file.seek(0, os.SEEK_END)
            if at and (file.seek(at - 1), file.read(1))[1] != b"\n":  # the last line was cut off
                at += file.write(b"\n")
            for one in found:
                wrote = file.write(msgspec.json.encode(one) + b"\n")
                yield from self._know(one, at)
                at += wrote
            file.flush()
            os.fsync(file.fileno())

    def _know(self, one: StoredReply, at: int) -> Iterator[tuple[str, str]]:
        if one.status:
            self._places[one.key] = at
        else:
            yield one.key, str(msgspec.json.decode(one.reply))


def decode_replies(file: IO[bytes]) -> Iterator[StoredReply]:
    """The lines of a file of replies: `custom_id` with `response` (`status_code`, `body`), or with `error`.

    A line that is none, or longer than any reply, is as good as no reply: its request is asked again.
    """
    whole = True  # whether the line before has been read to its end
    while line := file.readline(WHOLE + 1):
        begins, whole = whole, line.endswith(b"\n") or len(line) <= WHOLE
        if not (begins and whole):
            continue
        try:
            if (one := _decode_reply(read_json(line))) is not None:
                yield one
        except msgspec.DecodeError:
            continue


def _decode_reply(said: object) -> StoredReply | None:
    said = said if isinstance(said, dict) else {}
    response, error, key = said.get("response") or {}, said.get("error"), said.get("custom_id")
    if not isinstance(key, str) or len(key) > _LONGEST_KEY or not isinstance(response, dict):
        return None
    given = response.get("status_code") or (200 if response.get("body") and not error else 0)
    status = given if isinstance(given, int) and given < 1000 else 0
    if 200 <= status < 500 and status not in (408, 409, 425, 429):
        return StoredReply(key, status, msgspec.Raw(msgspec.json.encode(response.get("body"))))
    body = response.get("body")
    told = error or (body.get("error") if isinstance(body, dict) else None) or f"status {status}"
    words = told.get("message") or told.get("code") if isinstance(told, dict) else told
    return StoredReply(key, 0, msgspec.Raw(msgspec.json.encode(str(words)[:_WORDS])))


def read_given_replies(path: Path) -> Iterator[StoredReply]:
    """The replies in a file of the user's. Raises InputError where it cannot be read, or holds none or too many."""
    count = 0
    try:
        with path.open("rb") as file:
            for count, one in enumerate(decode_replies(file), start=1):
                if count > _MOST_REPLIES:
                    most = f"more than {_MOST_REPLIES:,} replies"
                    raise InputError(f"{path} holds {most}; split it, and give the parts in one run after another.")
                yield one
    except OSError as e:
        raise InputError(f"{path} cannot be read: {e.strerror}; name the file of replies.") from e
    if not count:
        raise InputError(f"{path} holds no reply: each line must hold custom_id and response.body.")
