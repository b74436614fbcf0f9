"""The web service of docs/web-service.md runs as it stands, under Starlette and, where it is installed, FastAPI."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from harbour import TEXTS
from sensegraph.errors import BudgetExceeded, Busy
from sensegraph.types import Answer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "web-service.md"
PROGRAM = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
ASKED = "What did Ada Finch ask the Harbour Council?"
Ask = Callable[[str, dict[str, Any]], Any]


@asynccontextmanager
async def started(app: Any) -> AsyncIterator[Ask]:
    """Asks an application that is started, as a server would: a path and a body give a status and the text."""

    async def ask(path: str, body: dict[str, Any]) -> tuple[int, str]:
        sent: list[dict[str, Any]] = []
        first = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

        async def receive() -> dict[str, Any]:
            if first:
                return first.pop()
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": path, "raw_path": path.encode()}
        scope |= {"query_string": b"", "headers": [(b"content-type", b"application/json")], "app": app, "state": {}}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http", "root_path": ""}
        await app(scope, receive, send)
        return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:]).decode()

    async with app.router.lifespan_context(app):
        yield ask


@pytest.fixture(params=["starlette.applications.Starlette", "fastapi.FastAPI"])
def service(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    module, _, name = request.param.rpartition(".")
    if find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(compile(PROGRAM, str(PAGE), "exec"), found)
    arguments = {"routes": found["routes"], "lifespan": found["lifespan"]}
    handlers = {found["SensegraphError"]: found["refuse"]}
    found["app"] = getattr(import_module(module), name)(**arguments, exception_handlers=handlers)
    return found


def test_the_service_is_updated_asked_and_heard_and_says_what_is_wrong(service: dict[str, Any]) -> None:
    documents = [{"id": f"{name}.txt", "text": text, "metadata": {"year": 1850}} for name, text in TEXTS.items()]

    async def run() -> None:
        async with started(service["app"]) as ask:
            assert (await ask("/stream", {"question": ASKED}))[0] == 409
            status, told = await ask("/update", {"documents": documents})
            assert (status, json.loads(told)) == (200, {"documents": len(TEXTS)})
            status, told = await ask("/ask", {"question": ASKED, "where": [["year", "=", 1850]]})
            assert status == 200
            assert json.loads(told)["sources"]
            status, heard = await ask("/stream", {"question": ASKED, "documents": ["*.txt"]})
            text, _, sources = heard.rpartition("\n")
            assert (status, text, json.loads(sources)) == (200, json.loads(told)["text"], json.loads(told)["sources"])
            for body, wanted in (
                ({"question": " "}, 400),
                ({"question": ASKED, "documents": ["nosuch*"]}, 400),
                ({"question": ASKED, "method": "nosuch"}, 422),
                ({"question": ASKED, "where": [["nosuch", "=", 1]]}, 400),
            ):
                for path in ("/ask", "/stream"):
                    assert (await ask(path, body))[0] == wanted, (path, body)

    asyncio.run(run())


def test_what_shows_only_while_a_question_is_asked_has_a_status_too(service: dict[str, Any]) -> None:
    async def run() -> None:
        async with started(service["app"]) as ask:
            await ask("/update", {"documents": [{"id": n, "text": t} for n, t in TEXTS.items()]})
            corpus = service["app"].state.corpus.corpus

            def refuse(*_: Any, **__: Any) -> Answer:
                raise BudgetExceeded("The limit is reached.")

            corpus.asker.query = refuse
            assert (await ask("/stream", {"question": ASKED}))[0] == 429
            corpus.wait = 0.01
            with corpus.store.exclusive():
                status, told = await ask("/update", {"documents": [{"id": "x", "text": TEXTS["minutes-2019"]}]})
            assert (status, json.loads(told)["error"]) == (409, Busy.__name__)

    asyncio.run(run())
