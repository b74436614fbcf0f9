"""What requests and replies of an OpenAI-compatible endpoint look like, as far as they are more than a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from sensegraph.errors import EndpointError
from sensegraph.protocols import Vectors
from sensegraph.text import tokens

FORMS = ("json_schema", "json_object", "none")  # how a schema is demanded, best first
_PER_MESSAGE = 4  # tokens that a chat format adds to each message


def form(number: int, schema: dict[str, Any] | None, name: str) -> dict[str, Any]:
    """The fields of a request that demand a reply in the form of `schema`, in the way `FORMS[number]`."""
    if schema is None or number == 2:
        return {}
    if number == 1:
        return {"response_format": {"type": "json_object"}}
    wanted = {"name": name, "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


def said(body: bytes) -> tuple[str, str]:
    """What the body of an error says: message and code, from the shapes in use."""
    try:
        found = msgspec.json.decode(body)
    except msgspec.DecodeError:
        found = body.decode(errors="replace")
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return str(error or "no message"), ""
    message = error.get("message") or error.get("detail") or "no message"
    return str(message), str(error.get("code") or error.get("type") or "")


def counted(reply: Mapping[str, Any], name: str) -> int | None:
    """A number of the reply's usage, where it gives it."""
    value = (reply.get("usage") or {}).get(name)
    return int(value) if value is not None else None


def prompt_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """Our own count of the tokens of a prompt."""
    return sum(tokens(m["content"]) + _PER_MESSAGE for m in messages)


def vectors(reply: Mapping[str, Any], count: int) -> Vectors:
    """The vectors of an embedding reply in the order asked for, shape `(count, dim)` float32.

    Raises EndpointError when they are too few or of different length.
    """
    rows = [r["embedding"] for r in sorted(reply["data"], key=lambda r: int(r.get("index", 0)))]
    sizes = sorted({len(r) for r in rows})
    if len(rows) != count or len(sizes) != 1:
        raise EndpointError(f"Asked for {count} vectors of one length, got {len(rows)} of lengths {sizes}; try again.")
    return np.asarray(rows, dtype=np.float32)
