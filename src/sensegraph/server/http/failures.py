"""What a request that fails is told: a status, and one object with a code, what went wrong, and what helps."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sensegraph import errors
from sensegraph.errors import SensegraphError

JSON = "application/json"

# the nearest of an error's classes counts
_KINDS: dict[type[SensegraphError], tuple[int, str]] = {
    errors.EmptyCorpus: (409, "change"),
    errors.InputError: (400, "change"),
    errors.SettingsError: (422, "settings"),
    errors.NotIndexed: (409, "index"),
    errors.UnsupportedTask: (422, "change"),
    errors.BudgetExceeded: (429, "wait"),
    errors.BatchPending: (409, "wait"),
    errors.Busy: (409, "wait"),
    errors.StoreError: (503, "retry"),
    errors.Stopped: (503, "retry"),
    errors.PromptTooLong: (422, "change"),
    errors.EndpointError: (502, "endpoint"),
    errors.StepFailed: (502, "retry"),
    errors.ItemFailed: (502, "retry"),
    SensegraphError: (500, "none"),
}
_CODES = {
    400: ("BadRequest", "change"),
    401: ("Unauthorized", "sign-in"),
    403: ("Forbidden", "none"),
    404: ("NotFound", "change"),
    405: ("MethodNotAllowed", "change"),
    409: ("Conflict", "wait"),
    413: ("TooLarge", "change"),
    415: ("UnsupportedType", "change"),
    429: ("TooMany", "wait"),
}


class Refused(HTTPException):
    """A request that is not answered: a status, and why; `retry_after` seconds where it may be asked again."""

    def __init__(self, status: int, message: str, retry_after: int = 0) -> None:
        super().__init__(status, message, {"Retry-After": str(retry_after)} if retry_after else None)


def suggest_next(code: str) -> str:
    """What helps against an error of this name."""
    kind = getattr(errors, code, None)
    return next(_KINDS[k][1] for k in kind.__mro__ if k in _KINDS) if isinstance(kind, type) else "retry"


def describe_failure(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status of a failure, and its object: the code is the name of the error."""
    if isinstance(error, SensegraphError):
        kind = next(kind for kind in type(error).__mro__ if kind in _KINDS)
        status, after = _KINDS[kind]
        return status, {"code": type(error).__name__, "message": str(error), "next": after}
    if isinstance(error, HTTPException):
        code, after = _CODES.get(error.status_code, ("Internal", "none"))
        return error.status_code, {"code": code, "message": error.detail, "next": after}
    if isinstance(error, OSError):
        message = f"{error.filename or 'A file'} cannot be used ({error.strerror or error})."
        return 500, {"code": "Internal", "message": message, "next": "none"}
    return 500, {"code": "Internal", "message": "The server failed; its log says how.", "next": "retry"}


def render_failure(error: Exception) -> Response:
    """The answer to a request that failed."""
    status, told = describe_failure(error)
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(msgspec.json.encode({"error": told}), status, headers, JSON)
