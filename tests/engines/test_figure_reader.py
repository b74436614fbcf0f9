"""Figures are described while documents are read: what was described before costs nothing, and what fails is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sensegraph.documents.images import Figure
from sensegraph.engines.llm.figure_task import FigureReader
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import ItemFailed
from sensegraph.models.embedders import HashedTerms
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Usage

MILL, PIER, TORN = (Figure(n, None, "", data, "png", 512, 512) for n, data in enumerate((b"mill", b"pier", b"torn"), 1))


class Describer:
    """Tells the data of an image, and fails for what is torn."""

    name, tasks, batch, waits, quotes = "eye", frozenset({"describe"}), 1, True, False
    endpoint = SimpleNamespace(settings=EndpointSettings(price_prompt=1.0, price_completion=10.0))

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def fingerprint(self, task: str) -> str:
        return f"eye {task}"

    def usage(self) -> Usage:
        return Usage()

    def notes(self) -> tuple[str, ...]:
        return ()

    def count_tokens(self, figure: Figure) -> int:
        return 1_000 + figure.number

    def describe(self, figures: Sequence[Figure]) -> list[str]:
        self.seen += [figure.data for figure in figures]
        if TORN in figures:
            raise ItemFailed("it is torn")
        return [f"A {figure.data.decode()}." for figure in figures]


@pytest.fixture
def rt(tmp_path: Path) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), SqliteStore(tmp_path), SerialExecutor())


def read(rt: Runtime, paid: bool = True, **more: Any) -> tuple[FigureReader, Describer]:
    made = Describer()
    return FigureReader(cast(Any, made), rt, paid=paid, **more), made


def test_a_figure_that_was_described_before_is_not_described_again(rt: Runtime) -> None:
    reader, made = read(rt)
    assert reader.name == "eye"
    assert reader.tell([MILL]) == ["A mill."]
    assert (made.seen, reader.missing) == ([b"mill"], [MILL])
    again, idle = read(rt)
    assert again.tell([MILL, MILL]) == ["A mill.", "A mill."]
    assert (idle.seen, again.missing) == ([], [])
    assert again.estimate() == Usage()


def test_where_nothing_is_paid_a_stand_in_takes_the_place_of_what_is_missing(rt: Runtime) -> None:
    read(rt)[0].tell([MILL])
    reader, idle = read(rt, paid=False)
    first, second, third, fourth = reader.tell([PIER, MILL, PIER, TORN])
    assert second == "A mill."
    assert first == third == fourth == "A figure that no model has described yet. " * 20
    assert idle.seen == []
    assert reader.estimate() == Usage(2, 2_005, 400, cost_usd=(2_005 + 4_000) / 1e6)


def test_a_figure_whose_reply_cannot_be_used_has_no_description(rt: Runtime) -> None:
    reader, _ = read(rt)
    assert reader.tell([MILL, TORN, PIER]) == ["A mill.", None, "A pier."]
    assert reader.tell([PIER]) == ["A pier."]


def test_replies_are_kept_around_what_is_paid_alone(rt: Runtime) -> None:
    kept: list[str] = []

    @contextmanager
    def keep() -> Iterator[None]:
        kept.append("begun")
        yield
        kept.append("stored")

    reader, _ = read(rt, kept=keep)
    reader.tell([MILL])
    assert kept == ["begun", "stored"]
    reader.tell([MILL])
    assert kept == ["begun", "stored"]


def test_descriptions_are_stored_under_a_key_for_each_image(rt: Runtime) -> None:
    reader, _ = read(rt)
    reader.tell([MILL])
    keys = reader.list_keys([MILL.digest, PIER.digest])
    assert len(set(keys)) == 2
    assert rt.store.has(keys) == {keys[0]}
