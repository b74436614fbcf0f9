"""What an endpoint tells for nothing: its list of models, and the pages on which local servers tell their window.

Nothing of a corpus is sent. The key goes to the list alone, which lies below the address that was approved; the pages
lie beside it, and get none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from sensegraph.models.endpoint.incoming import WireError
from sensegraph.models.endpoint.outcomes import read_json
from sensegraph.models.endpoint.profile import Profile

if TYPE_CHECKING:
    from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

_MOST = 1_000_000_000  # of what is counted here
_PATIENCE_S = 5.0  # for each page: they are a help, and no condition
_WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length", "inputTokenLimit")
_MOST_OUT = ("max_completion_tokens", "outputTokenLimit")
_OWNERS = {"library": "Ollama", "llamacpp": "llama.cpp", "vllm": "vLLM", "sglang": "SGLang"}


@dataclass(frozen=True, slots=True)
class Offer:
    """What was told; 0 and empty where it was not. `status` is that of the list of models, 0 where nobody answered."""

    server: str = ""
    models: tuple[str, ...] = ()
    window: int = 0
    most_out: int = 0
    slots: int = 0
    status: int = 0

    def add_to(self, known: Profile) -> Profile:
        """What is known with what was told; of two windows the smaller one."""
        window = min(filter(None, (known.window, self.window)), default=0)
        most_out = min(filter(None, (known.most_out, self.most_out)), default=0)
        return replace(known, window=window, most_out=most_out, slots=self.slots or known.slots)


def read_offer(settings: EndpointSettings, headers: Mapping[str, str]) -> Offer:
    """What the endpoint of these settings tells of its model; `headers` are those with the key."""
    status, listed = _fetch(settings.base_url, headers, "/models")
    found = Offer(status=status)
    rows = [row for row in _list_rows(listed, "data") if isinstance(row.get("id"), str)]
    found = replace(found, models=tuple(row["id"] for row in rows))
    if row := _find_model(rows, settings.model):
        nested = row.get("top_provider")
        places = [row, nested] if isinstance(nested, dict) else [row]
        owner = str(row.get("owned_by") or "").casefold()
        found = replace(
            found,
            server=_OWNERS.get(owner, ""),
            window=_find_number(places, _WINDOWS),
            most_out=_find_number(places, _MOST_OUT),
        )
    parts = urlsplit(settings.base_url)
    root = re.sub(r"/v1/?$", "", parts.path)
    if found.window or not status or root == parts.path:  # the pages of local servers lie beside their /v1
        return found
    return read_server_pages(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{root}", settings.model, found)


def read_server_pages(root: str, model: str, found: Offer) -> Offer:
    """What was found with what the page of one of the local servers tells."""
    _, page = _fetch(root, {}, "/props")
    given = page.get("default_generation_settings")
    if isinstance(given, dict) and (window := _find_number([given], ("n_ctx",))):
        return replace(found, server="llama.cpp", window=window, slots=_find_number([page], ("total_slots",)))
    _, page = _fetch(root, {}, "/api/ps")
    if "models" in page:
        rows = [row | {"id": row.get("name") or row.get("model")} for row in _list_rows(page, "models")]
        loaded = _find_model(rows, model) or {}
        return replace(found, server="Ollama", window=_find_number([loaded], ("context_length",)))
    _, page = _fetch(root, {}, "/api/v0/models")
    if row := _find_model(_list_rows(page, "data"), model):
        return replace(found, server="LM Studio", window=_find_number([row], ("loaded_context_length",)))
    return found


def _fetch(base: str, headers: Mapping[str, str], path: str) -> tuple[int, dict[str, Any]]:
    """The status and the object that a page holds; an empty one where there is none, or nobody answers."""
    from sensegraph.models.endpoint.wire import Patience, Wire

    patience = Patience(_PATIENCE_S, _PATIENCE_S, _PATIENCE_S, _PATIENCE_S)
    try:
        found = Wire(base, headers, connections=1, patience=patience).get(path)
        page = read_json(found.body) if found.status < 300 else {}
    except (WireError, msgspec.DecodeError):
        return 0, {}
    return found.status, page if isinstance(page, dict) else {"data": page}


def _list_rows(page: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = page.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _find_model(rows: list[dict[str, Any]], model: str) -> dict[str, Any] | None:
    """The row of a model: of its name, of that with the usual tag, or of the last part of it."""
    for same in (model, f"{model}:latest", f"models/{model}"):
        if row := next((row for row in rows if row.get("id") == same), None):
            return row
    return None


def _find_number(places: list[dict[str, Any]], names: tuple[str, ...]) -> int:
    """The first number above 0, as far as it can be, under one of these names; 0 where there is none."""
    found = (place.get(name) for name in names for place in places)
    return next((n for n in found if isinstance(n, int) and not isinstance(n, bool) and 0 < n <= _MOST), 0)
