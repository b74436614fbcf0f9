"""Which vectors get graphs, and what is said where they cannot be made."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.algorithms.approximate import NO_EXTRA
from sensegraph.algorithms.ranking import Stack
from sensegraph.index import navigation
from sensegraph.index.navigation import add_navigation


@dataclass(frozen=True)
class Described:
    """What a manifest says of vectors."""

    stacks: dict[str, str]
    counts: dict[str, int]
    clusters: tuple[int, ...] = ()
    notes: tuple[str, ...] = ("before",)
    ways: dict[str, Any] = field(default_factory=dict)


SIZES = {"many": 1_234, "few": 9}
RT: Any = SimpleNamespace(store=None)


@pytest.mark.parametrize(
    ("exact_below", "installed", "ways", "notes"),
    [
        (0, True, [], []),
        (0, False, [], []),
        (9, True, ["chunk", "entity"], []),
        (10, True, ["chunk"], []),
        (1_234, True, ["chunk"], []),
        (1_235, True, [], []),
        (1_234, False, [], ["1,234 vectors of kind chunk"]),
        (9, False, [], ["1,234 vectors of kind chunk", "9 vectors of kind entity"]),
        (1_235, False, [], []),
    ],
)
def test_vectors_get_graphs_from_a_number_on(
    monkeypatch: pytest.MonkeyPatch,
    exact_below: int,
    installed: bool,
    ways: list[str],
    notes: list[str],
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(navigation, "open_stack", lambda store, name: opened.append(name) or range(SIZES[name]))
    monkeypatch.setattr(navigation, "is_installed", lambda: installed)
    monkeypatch.setattr(navigation, "navigate_segments", lambda name, rt: ((0, f"{name} {SIZES[name]}"),))
    stacks = {"chunk": "many", "entity": "few", "report": ""}
    manifest: Any = Described(stacks, {"chunks": SIZES["many"], "entities": SIZES["few"]})
    found = add_navigation(manifest, RT, exact_below)
    assert opened == [name for name, size in SIZES.items() if 0 < exact_below <= size]  # others are counted unopened
    assert found.ways == {
        kind: ((0, f"{name} {SIZES[name]}"),) for kind, name in manifest.stacks.items() if kind in ways
    }
    assert found.notes == ("before", *(f"{note} are compared one by one: {NO_EXTRA}" for note in notes))
    assert manifest.notes == ("before",)


def test_each_segment_has_a_graph_of_its_rows_that_is_named_after_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    segments = [SimpleNamespace(begin=0, end=3, digest="x"), SimpleNamespace(begin=3, end=5, digest="y")]

    def once(step: Any, whole: Any, names: Any) -> Any:
        asked.append((step.name, np.asarray(whole())[:, 0].tolist(), names))
        return SimpleNamespace(value=segments, key=f"key {names[0]}")

    vectors = Stack([np.array([[0.0], [1.0]], np.float32), np.array([[2.0], [3.0], [4.0]], np.float32)])
    monkeypatch.setattr(navigation, "open_stack", lambda store, name: {"name": vectors}[name])
    rt: Any = SimpleNamespace(once=once, store=None, executor=None, computed={}, large=False)
    found = navigation.navigate_segments("name", rt)
    assert found == ((0, "key x"), (3, "key y"))
    assert asked == [
        ("navigating.segments", [0, 1, 2, 3, 4], ("name",)),
        ("navigating.navigation", [0, 1, 2], ("x", navigation.FORMAT)),
        ("navigating.navigation", [3, 4], ("y", navigation.FORMAT)),
    ]
