"""The description of the API for programs (OpenAPI 3.1), made of the table of routes and the structs of bodies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sensegraph import __version__
from sensegraph.server.http.routes import Endpoint

_VARIABLE = re.compile(r"\{(\w+)(:path)?\}")
_FAILURE = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("code", "message", "next")},
            "required": ["code", "message", "next"],
        }
    },
    "required": ["error"],
}


def describe_api(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The description of these routes."""
    taken = list(dict.fromkeys(e.takes for e in endpoints if e.takes))
    references, schemas = msgspec.json.schema_components(taken, ref_template="#/components/schemas/{name}")
    reference = dict(zip(taken, references, strict=True))
    paths = dict[str, dict[str, Any]]()
    for e in endpoints:
        names = [name for name, _ in _VARIABLE.findall(e.path)]
        operation: dict[str, Any] = {
            "summary": e.summary,
            "operationId": f"{e.handler.__name__}_{e.method.lower()}",
            "parameters": [
                *({"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in names),
                *({"name": n, "in": "query", "schema": {"type": "string"}} for n in e.query),
            ],
            "responses": {
                "200": {"description": "What was asked for.", "content": {e.gives: {}}},
                "default": {"description": "Why not.", "content": {"application/json": {"schema": _FAILURE}}},
            },
            "security": [{"token": [e.level]}] if e.level else [],
        }
        if e.takes:
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": reference[e.takes]}},
            }
        paths.setdefault(_VARIABLE.sub(r"{\1}", e.path), {})[e.method.lower()] = operation
    token = {"type": "http", "scheme": "bearer", "description": "A token of the file of --token-file."}
    return {
        "openapi": "3.1.0",
        "info": {"title": "sensegraph", "version": __version__, "description": "Corpora with exact citations."},
        "paths": paths,
        "components": {"schemas": schemas | {"Failure": _FAILURE}, "securitySchemes": {"token": token}},
    }
