"""How seldom cycles of objects are looked for while a build runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from sensegraph.runtime.background import collect_cycles_seldom


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_cycles_are_looked_for_less_often_meanwhile_and_as_before_when_the_last_has_ended() -> None:
    gc.set_threshold(700, 10, 10)
    one, other = collect_cycles_seldom(), collect_cycles_seldom()
    with one:
        assert gc.get_threshold()[0] > 10_000
        other.__enter__()
    assert gc.get_threshold()[0] > 10_000
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("first", [0, 1_000_000])
def test_where_they_are_looked_for_never_or_more_seldom_that_stays(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with collect_cycles_seldom():
        assert gc.get_threshold() == (first, 10, 10)
    assert gc.get_threshold() == (first, 10, 10)


@pytest.mark.parametrize(("frozen", "done"), [(0, ["freeze", "unfreeze"]), (5, [])])
def test_what_is_there_at_the_end_counts_as_old_and_what_a_program_froze_stays_frozen(
    frozen: int, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.set_threshold(700, 10, 10)
    seen: list[str] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    monkeypatch.setattr(gc, "freeze", lambda: seen.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: seen.append("unfreeze"))
    with collect_cycles_seldom(), collect_cycles_seldom():
        pass
    assert seen == done
