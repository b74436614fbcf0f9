"""A model engine on the scripted server, and values to try it with."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from scripted import Script, ScriptedServer
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.protocols import Task
from sensegraph.types import Chunk, Context, Inquiry, Passage

TEXT = "Ada Lovelace met Charles Babbage in London. The Engine was designed by Charles Babbage."
CHUNK = Chunk("chunk-key", "doc-1", 0, len(TEXT), 20, TEXT, "A meeting")
ENTITIES = tuple(Passage("entity", f"entity-key-{i}", f"Thing {i}, which is good", title=f"T{i}") for i in range(5))
RELATION = Passage("relation", "relation-key", "they work, together", title="T0 — T1")
COMMUNITY = Context((RELATION, *ENTITIES), "T0 and others")
REPORTS = tuple(Passage("report", f"report-key-{i}", f"Report {i} on the harbour.", title=f"R{i}") for i in range(3))
INQUIRY = Inquiry("What about the harbour?", Context(REPORTS))
TASKS: tuple[Task, ...] = ("extract", "summarise", "report", "rate", "answer")

Body = dict[str, Any]


def engine(server: ScriptedServer, endpoint: Body | None = None, **settings: Any) -> LLMEngine:
    """An engine on `server`; without gleaning, so that calls can be counted, unless `max_gleanings` is given."""
    settings = {"max_gleanings": 0} | settings
    given = {"model": "m", "backoff_s": 0.01, **(endpoint or {})}
    return LLMEngine(Endpoint(EndpointSettings(base_url=server.base_url, **given)), LLMSettings(**settings))


def replies(*texts: str | tuple[str, str]) -> Callable[[Body], str | tuple[str, str]]:
    """The texts in turn; the last one for ever."""
    left = list(texts)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def says(*texts: Any, **script: Any) -> ScriptedServer:
    given = [t if isinstance(t, str | tuple) else json.dumps(t) for t in texts]
    return ScriptedServer(Script(reply=replies(*given), keep_bodies=True, **script))


def report_of(findings: int = 6, **changes: Any) -> Body:
    found = [
        {"summary": f"Finding {i}", "explanation": f"It is so [Data: Entities ({i + 1})]."} for i in range(findings)
    ]
    report = {"title": "The things", "summary": "They are good [Data: Relationships (6)].", "rating": 7.5}
    return report | {"rating_explanation": "They matter.", "findings": found} | changes
