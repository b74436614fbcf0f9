"""Ten endpoints and three more as `doctor --online` meets them, and all that it prints of each, pinned.

Where a line was meant to change, `python tests/doctor_tables.py` writes tests/data/doctor.txt again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typer.testing import CliRunner

from scripted_dresses import VENDORS, WINDOW, small_window
from scripted_vendors import Asked, VendorServer, refuse
from sensegraph.cli import app

PINNED = Path(__file__).parent / "data" / "doctor.txt"
ONE = {"id": "scripted", "object": "model"}


def listed(**fields: Any) -> dict[str, Any]:
    """A list of models with one that has these fields."""
    return {"/v1/models": {"object": "list", "data": [{"id": "other"}, ONE | fields]}}


PAGES: dict[str, dict[str, Any]] = {
    "openai_5": listed(owned_by="system"),
    "vllm_qwen": listed(owned_by="vllm", max_model_len=12_000),
    "ollama_4k": {
        "/v1/models": {"data": [{"id": "scripted:latest", "owned_by": "library"}]},
        "/api/ps": {"models": [{"name": "scripted:latest", "context_length": 4096}]},
    },
    "llamacpp": {"/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 4}},
    "lmstudio": {"/api/v0/models": {"data": [ONE | {"loaded_context_length": 32_768}]}},
    "openrouter": listed(context_length=131_072, top_provider={"max_completion_tokens": 3000}),
    "groq_6k": listed(context_window=131_072, max_completion_tokens=32_768),
    "broken": {"/v1/models": {"data": [{"id": "another"}, {"id": "one-more"}]}},
    "small": listed(max_model_len=WINDOW),
    "tiny": listed(max_model_len=900),
}
FURTHER = ("broken", "small", "tiny")


def refusing_all(asked: Asked) -> Any:
    """What an endpoint says that does not know the key."""
    return refuse(401, "Incorrect API key provided", code="invalid_api_key")


@contextmanager
def serve_vendors() -> Iterator[VendorServer]:
    """The endpoints."""
    manners = {v.__name__: v for v in VENDORS}
    with VendorServer(manners | {"broken": refusing_all, "small": small_window, "tiny": Asked.calm}, PAGES) as made:
        yield made


def doctor(server: VendorServer, name: str, root: Path, *more: str, **endpoint: Any) -> tuple[int, str]:
    """The status of the command and what it printed, for the endpoint of this name."""
    given = {"base_url": server.url(name), "model": "scripted", "embedding_model": "embeds", "backoff_s": 0.005}
    flags = [f"--set=endpoint.{n}={json.dumps(v)}" for n, v in (given | endpoint).items()]
    done = CliRunner().invoke(app, ["doctor", "--online", "--root", str(root), *flags, *more])
    return done.exit_code, done.output


def show_table(name: str, code: int, printed: str) -> str:
    """What is pinned of one endpoint: the status, and what was printed of it, without the port."""
    told = re.sub(r"127\.0\.0\.1:\d+", "HOST", printed)
    told = re.sub(r"(?ms)^sensegraph  .*?(?=^(model|chat|endpoint|key) )", "", told)  # the installation, the store
    return f"== {name}: status {code}\n{told.rstrip()}\n"


def read_tables() -> dict[str, str]:
    """What is pinned, by the name of the endpoint."""
    tables = re.split(r"(?m)^(?=== )", PINNED.read_text(encoding="utf-8"))[1:]
    return {table[3:].partition(":")[0]: table for table in tables}


if __name__ == "__main__":
    with serve_vendors() as vendors, TemporaryDirectory() as scratch:
        names = [*(v.__name__ for v in VENDORS), *FURTHER]
        found = [show_table(name, *doctor(vendors, name, Path(scratch) / name)) for name in names]
    PINNED.write_text("".join(found), encoding="utf-8")
