"""Rows of the matrix of endpoint behaviours: what a row is, what is done with it, and what has to come of it.

A row is a manner of tests/scripted_vendors.py and what is wanted: results as of a calm endpoint, or named errors, at
no more than so many requests. Times are scaled: a millisecond or ten stand for a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from scripted_vendors import Manner, Request, VendorServer
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.errors import SensegraphError, Unreadable
from sensegraph.models.embedders import RemoteEmbedder
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.rerankers import EndpointReranker
from sensegraph.types import Chunk, Context, Inquiry, Passage

_PEOPLE = (
    "Ada Lovelace met Charles Babbage in London.",
    "Mara Voss runs Lindholm Works.",
    "Olga Stone owns Quay Mill.",
)
CHUNKS = [Chunk(f"chunk-{i}", f"doc-{i}", 0, len(t), 12, t, "A meeting") for i, t in enumerate(_PEOPLE)]
MANY = [Chunk(f"many-{i}", f"doc-{i}", 0, 40, 12, f"Person{i} Stone met Thing{i} Wood here.", "") for i in range(35)]
MARK = "Mara Voss"  # stands in the second chunk alone


def _reports(count: int) -> tuple[Passage, ...]:
    return tuple(Passage("report", f"r-{i}", f"Report {i} on the harbour " * 20, title=f"R{i}") for i in range(count))


INQUIRY = Inquiry("What about the harbour?", Context(_reports(2)))
LONG = Inquiry("What about the harbour?", Context(_reports(90)))  # about 10,000 tokens
TEXTS = [f"Text {i} about boat {i * 7} and quay" for i in range(80)]
LONG_TEXT = " ".join(f"word{i}" for i in range(420))
DOCUMENTS = [f"boat {'quay ' * i}mill" for i in range(12)]


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `do` are letters: E extractions of three chunks, T of thirty-five at once, A an answer, B one from far
    too much, S a streamed answer, V a yes or no, M vectors of 80 texts, L the same with one long text, R 12 scores.

    `fails` is what the errors say of the items `hurt` (all, where none is named); the others are as of a calm endpoint,
    and so are all where nothing fails. `lost` is how many requests more may be sent than to a calm one, `said` what the
    notes say, `kind` the kind that errors have.
    """

    number: str
    serve: Manner
    do: str = "E"
    fails: str = ""
    hurt: tuple[int, ...] = ()
    lost: int = 0
    said: str = ""
    kind: str = ""
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[Run], None] | None = None
    differs: bool = False  # results are there, and need not be those of a calm endpoint
    left: str = ""  # why the row cannot pass today

    @property
    def name(self) -> str:
        return f"{self.number}_{self.serve.__name__}"


@dataclass(frozen=True, slots=True)
class Run:
    """What came of a row."""

    results: list[Any]
    requests: list[Request]
    notes: str
    told: list[str]
    endpoint: Endpoint

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [r.body for r in self.requests]


def run_row(server: VendorServer, name: str, do: str, given: Mapping[str, Any]) -> Run:
    """Do what `do` says at the endpoint `name`, with these settings of it."""
    server.forget(name)
    usual = {
        "model": "scripted",
        "embedding_model": "embeds",
        "rerank_model": "ranks",
        "backoff_s": 0.002,
        "max_retries": 3,
    }
    known = {f.name for f in fields(EndpointSettings)}
    if unknown := set(given) - known:
        pytest.fail(f"no such settings: {unknown}")
    made = Endpoint(EndpointSettings(base_url=server.url(name), **(usual | dict(given))), api_key="key-of-mine")
    engine = LLMEngine(made, LLMSettings(max_gleanings=0))
    results, told = list[Any](), list[str]()

    def attempt(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except SensegraphError as e:
            return e

    for letter in do:
        if letter == "E":
            results += [attempt(lambda c=c: engine.extract([c])[0]) for c in CHUNKS]
        elif letter == "T":
            with ThreadPoolExecutor(made.settings.concurrency) as pool:
                results += pool.map(lambda c: attempt(lambda: engine.extract([c])[0]), MANY)
        elif letter in "AB":
            results.append(attempt(lambda x=INQUIRY if letter == "A" else LONG: engine.answer([x])[0]))
        elif letter == "S":
            results.append(attempt(lambda: engine.stream(INQUIRY, lambda s: told.append(s.text))))
        elif letter == "V":
            results.append(attempt(lambda: engine.test([INQUIRY])[0]))
        elif letter in "ML":
            texts = TEXTS if letter == "M" else [*TEXTS[:9], LONG_TEXT, *TEXTS[9:19]]
            rows = attempt(lambda t=texts: RemoteEmbedder(made).embed(t, "document"))
            results += list(rows) if isinstance(rows, np.ndarray) else [rows]
        elif letter == "R":
            results.append(attempt(lambda: EndpointReranker(made).scores("boat quay", DOCUMENTS)))
    return Run(results, list(server.requests(name)), "\n".join(engine.notes()), told, made)


@cache
def calm_run(server: VendorServer, do: str) -> Run:
    """What a calm endpoint gives."""
    return run_row(server, "calm", do, {})


def check_row(server: VendorServer, row: Row) -> None:
    """What came of the row is what is wanted of it."""
    calm, run = calm_run(server, row.do), run_row(server, row.name, row.do, row.endpoint)
    hurt = row.hurt or (tuple(range(len(run.results))) if row.fails else ())
    for i, found in enumerate(run.results):
        if i in hurt:
            assert isinstance(found, SensegraphError), f"item {i} did not fail: {str(found)[:300]}"
            assert re.search(row.fails, str(found), re.IGNORECASE | re.DOTALL), str(found)
            assert not row.kind or getattr(found, "kind", "") == row.kind, (getattr(found, "kind", ""), str(found))
        else:
            found = found.instead if isinstance(found, Unreadable) and row.differs else found
            if isinstance(found, BaseException):
                raise AssertionError(f"item {i} failed: {found!r}") from found
            assert row.differs or _is_same(found, calm.results[i]), f"item {i}: {str(found)[:300]}"
    assert len(run.requests) <= len(calm.requests) + row.lost, [r.status for r in run.requests]
    assert re.search(row.said, run.notes, re.IGNORECASE), run.notes or "no note"
    if row.check:
        row.check(run)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool(np.allclose(one, other, atol=1e-4))
    return bool(one == other)


def cases(rows: Sequence[Row]) -> list[Any]:
    """The rows as parameters of a test; those that cannot pass today are expected to fail."""
    return [
        pytest.param(r, id=r.name, marks=[pytest.mark.xfail(strict=True, reason=r.left)] if r.left else [])
        for r in rows
    ]


def serving(rows: Sequence[Row]) -> VendorServer:
    """A server with the manners of these rows, and the calm one."""
    from scripted_vendors import Asked

    assert len({r.name for r in rows}) == len(rows)
    return VendorServer({"calm": Asked.calm, **{r.name: r.serve for r in rows}})
