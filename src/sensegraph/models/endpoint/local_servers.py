"""Servers with models that run on this machine: found where they usually listen, for `init` to offer. None is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec

from sensegraph.models.endpoint.incoming import WireError
from sensegraph.models.endpoint.outcomes import read_json

OLLAMA, LLAMA = "http://127.0.0.1:11434", "http://127.0.0.1:8080"
_SECONDS = 0.5  # on one machine an answer takes a few milliseconds


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered: its kind, where it is, the models that it has, and a chat model's window (0: unknown)."""

    kind: str
    base_url: str
    models: tuple[str, ...]
    embedding_models: tuple[str, ...] = ()
    window: int = 0
    ready: bool = True

    def suggest_settings(self) -> dict[str, str]:
        """What the table [endpoint] would say to use it: its first models."""
        named = {"model": self.models, "embedding_model": self.embedding_models}
        return {"base_url": self.base_url} | {name: found[0] for name, found in named.items() if found}


def find_local_servers() -> list[LocalServer]:
    """The Ollama and the llama-server that run on this machine. Nothing is sent but requests for what they have."""
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(ask_ollama, OLLAMA), pool.submit(ask_llama, LLAMA)]
        return [server for one in found if (server := one.result())]


def ask_ollama(address: str) -> LocalServer | None:
    """By `/api/tags`, which lists models; those that only embed are told by their names and families."""
    said = _read_json(address)("/api/tags")
    models = said.get("models")
    if not isinstance(models, list):
        return None
    listed = [m for m in models if isinstance(m, dict) and isinstance(m.get("name"), str)]
    embedding = [m["name"] for m in listed if is_embedding_model(m)]
    others = [m["name"] for m in listed if m["name"] not in embedding]
    return LocalServer("Ollama", f"{address}/v1", tuple(others), tuple(embedding))


def ask_llama(address: str) -> LocalServer | None:
    """By `/props`, which tells model and window, and `/health`, which tells whether the model is loaded."""
    ask = _read_json(address)
    said = ask("/props")
    usual = said.get("default_generation_settings")
    if not isinstance(usual, dict):
        return None
    path = str(said.get("model_alias") or said.get("model_path") or "default")
    window = usual.get("n_ctx")
    model = path.replace("\\", "/").rsplit("/", 1)[-1]
    ready = ask("/health").get("status") == "ok"
    return LocalServer(
        "llama-server", f"{address}/v1", (model,), window=window if isinstance(window, int) else 0, ready=ready
    )


def is_embedding_model(model: Mapping[str, Any]) -> bool:
    """Whether a model of Ollama's list only embeds."""
    details = model.get("details")
    families: Sequence[Any] = (details.get("families") or ()) if isinstance(details, dict) else ()
    words = [model["name"], *map(str, families)]
    return any(part in word.casefold() for word in words for part in ("embed", "bert", "minilm", "bge-", "e5-"))


def _read_json(address: str) -> Callable[[str], dict[str, Any]]:
    """What the server at an address says at a path: an object, empty where it says none."""
    from sensegraph.models.endpoint.wire import Patience, Wire

    wire = Wire(address, {}, connections=1, patience=Patience(_SECONDS, _SECONDS, 2 * _SECONDS, _SECONDS), direct=True)

    def ask(path: str) -> dict[str, Any]:
        try:
            response = wire.get(path)
            found = read_json(response.body) if response.status < 300 else {}
        except (WireError, msgspec.DecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    return ask
