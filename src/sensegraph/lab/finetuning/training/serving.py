"""A tuned model served: as one folder of weights for servers that know no adapter, or by an endpoint of this machine.

The endpoint has the form of OpenAI's and is for trying out, one request at a time; a server made for load takes the
merged folder instead.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any

from sensegraph.engines.llm.trained_prompt import MANIFEST
from sensegraph.engines.local.local_engine import LocalCalls
from sensegraph.engines.local.local_model import LocalModel, load_local_model, read_base_model, require_extra
from sensegraph.errors import InputError, SensegraphError
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal

HOST = "127.0.0.1"
_LONGEST = 1 << 24  # bytes of a request


@contextmanager
def serve_endpoint(model: LocalModel, port: int = 0) -> Iterator[str]:
    """The base address of a server over `model`, for as long as the context lasts; port 0 takes a free one.

    Raises InputError where somebody else has the port.
    """
    try:
        server = ThreadingHTTPServer((HOST, port), _make_handler(LocalCalls(model)))
    except OSError as e:
        raise InputError(f"Port {port} of {HOST} cannot be used ({e.strerror}): choose another one.") from e
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _make_handler(calls: LocalCalls) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers one connection."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            status, reply = answer_request(calls, self.path, self._body())
            self._send(status, reply)

        def do_GET(self) -> None:
            listed = {"object": "list", "data": [{"id": calls.model.name, "object": "model"}]}
            known = self.path.rstrip("/") == "/v1/models"
            self._send(200 if known else 404, listed if known else _format_error("not found", "unknown_url"))

        def _body(self) -> bytes:
            size = int(self.headers.get("Content-Length") or 0)
            return self.rfile.read(size) if size <= _LONGEST else b""

        def _send(self, status: int, reply: dict[str, Any]) -> None:
            raw = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object, **__: object) -> None:
            """No line for each request: prompts may be private."""

    return Handler


_UNDERSTOOD = (
    *("model", "messages", "prompt", "max_tokens", "max_completion_tokens", "temperature", "seed"),
    *("response_format", "user", "metadata"),  # the first of these is refused with words of its own
)
# what says no more than what happens anyway
_NEUTRAL: Mapping[str, tuple[Any, ...]] = MappingProxyType({
    "n": (1,), "best_of": (1,), "stream": (False,), "echo": (False,), "logprobs": (False, 0), "top_logprobs": (0,),
    "top_p": (1, 1.0), "presence_penalty": (0, 0.0), "frequency_penalty": (0, 0.0), "stop": ([],), "logit_bias": ({},),
    "tools": ([],), "suffix": ("",),
})  # fmt: skip
_CODES = {Kind.DOWN: "unknown_url", Kind.WINDOW: "context_length_exceeded"}


def answer_request(calls: LocalCalls, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and body of the reply to one request."""
    try:
        request = json.loads(body)
        if not isinstance(request, dict) or not (request.get("messages") or request.get("prompt")):
            raise ValueError("neither messages nor a prompt")
        if unknown := find_unsupported_field(request):
            said = f"{unknown} is not understood: this endpoint knows {', '.join(_UNDERSTOOD)}"
            raise Refusal(Outcome(Kind.FIELD, said, 400, unknown))
        reply = calls.post(path.removeprefix("/v1"), request)
        return 200, reply | {"object": "chat.completion", "model": calls.model.name}
    except Refusal as e:
        return e.outcome.status, _format_error(str(e), _CODES.get(e.outcome.kind, "unsupported"), e.outcome.field)
    except (ValueError, KeyError, TypeError) as e:
        return 400, _format_error(f"the request cannot be read ({e})", "invalid_request")
    except SensegraphError as e:
        return 500, _format_error(str(e), "failed")


def find_unsupported_field(request: Mapping[str, Any]) -> str:
    """The first field of a request that would have to be passed over; empty where there is none.

    A field that is null, or that says what happens anyway (`n` = 1), asks for nothing.
    """
    for name, value in request.items():
        if name in _UNDERSTOOD or value is None:
            continue
        if not any(value == plain and type(value) is type(plain) for plain in _NEUTRAL.get(name, ())):
            return name
    return ""


def _format_error(message: str, code: str, param: str = "") -> dict[str, Any]:
    return {"error": {"message": message, "code": code} | ({"param": param} if param else {})}


def merge_adapter(tuned: Path, out: Path) -> Path:
    """Add the adapter in `tuned` to the weights of its base and write both as one model, in the base's own precision.

    The manifest goes with it, so that the prompt of the training stays known. Raises InputError for a folder without
    an adapter, and for an `out` that is not empty.
    """
    require_extra("Merging")
    if not read_base_model(tuned):
        raise InputError(f"{tuned} holds no adapter: a model whose weights were all trained is ready as it is.")
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out} is not empty: name a folder that is, or a new one.")
    import torch
    from transformers import AutoConfig

    tokenizer, model = load_local_model(str(tuned))
    stored = AutoConfig.from_pretrained(read_base_model(tuned), local_files_only=True).dtype
    whole = model.merge_and_unload().to(stored or torch.float32)  # 32 bits where the base model does not say
    out.mkdir(parents=True, exist_ok=True)
    whole.save_pretrained(out)
    tokenizer.save_pretrained(out)
    about = tuned / MANIFEST
    if about.is_file():
        told = json.loads(about.read_text("utf-8")) | {"merged_from": str(tuned)}
        (out / MANIFEST).write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return out


def list_serving_commands(folder: Path) -> str:
    """The ways to serve a model of one folder, and the settings that use it, as lines for a shell and a file."""
    name = shlex.quote(str(folder))
    return (
        f'in this process       engine = "local" and, under [local], model = {json.dumps(str(folder))}\n'
        f"as an endpoint        sensegraph tune serve {name}\n"
        f"by another server     vllm serve {name}\n"
        'then, under [endpoint]: base_url = "http://127.0.0.1:8000/v1", model = ' + json.dumps(folder.name) + "\n"
        f"and, under [model]:     trained_prompt = {json.dumps(str(folder))}, to be asked as it was trained"
    )
