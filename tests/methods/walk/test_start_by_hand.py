"""Where a walk starts and what a bridge adds, over a handful of chunks: shares and sums are worked out by hand."""

from __future__ import annotations

from math import exp
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.methods.walk import walk as walking
from sensegraph.methods.walk.walk import Walk


def asked(words: list[float], names: list[int] = [], aside: dict[int, float] | None = None) -> Any:  # noqa: B006
    marks = aside or {}
    return SimpleNamespace(words=np.array(words), names=names, aside=lambda chunk, names: marks.get(chunk, 0.0))


def names(holding: dict[int, tuple[list[int], list[bool]]], salience: list[float], owners: int = 2) -> Any:
    """Five chunks; by name the chunks that hold it, and which of them bear it."""
    rows = {n: (np.array(c, np.int64), np.array(b, np.bool_)) for n, (c, b) in holding.items()}
    bearers = [int(rows[n][1].sum()) for n in sorted(rows)]
    return SimpleNamespace(
        chunks=5, holding=rows.__getitem__, bearers=bearers, owners=owners, salience=np.array(salience)
    )


def started(method: Walk, seen: Any, text: tuple[list[int], list[float]], known: Any) -> dict[int, float]:
    nodes, mass = method._start(seen, (np.array(text[0], np.int64), np.array(text[1])), known)
    assert nodes.tolist() == sorted(nodes.tolist())
    return dict(zip(nodes.tolist(), mass.tolist(), strict=True))


def test_names_words_and_passages_that_bear_a_name_share_the_start() -> None:
    """Name 0 is held by chunks 0 to 2, and 0 bears it; name 1 is in chunk 3 alone, which bears it: no node of it."""
    known = names({0: ([0, 1, 2], [True, False, False]), 1: ([3], [True])}, [0.5, 1.5])
    found = started(Walk(power=2.0), asked([0.0] * 5, [0, 1]), ([1, 4], [1.0, 0.5]), known)
    expected = {0: 0.6 * 0.5 / 2, 3: 0.6 * 1.5 / 2 + 0.1 * 1 / (4 / 3), 5: 0.1 * (1 / 3) / (4 / 3)}
    expected |= {1: 0.3 * 1 / 1.25, 4: 0.3 * 0.25 / 1.25}
    assert found == pytest.approx(expected)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_share_that_leads_nowhere_goes_to_the_others() -> None:
    known = names({0: ([0, 1], [False, False])}, [1.0])
    assert started(Walk(power=1.0), asked([0.0] * 5, [0]), ([2], [1.0]), known) == pytest.approx({2: 0.75, 5: 0.25})
    assert started(Walk(text=0.0), asked([0.0] * 5, [0]), ([2], [1.0]), known) == pytest.approx({5: 1.0})
    assert started(Walk(), asked([0.0] * 5), ([], []), known) == {}


def test_a_name_that_too_many_bear_or_nobody_holds_starts_nothing_at_them() -> None:
    many = names({0: ([0, 1, 2], [True, True, True]), 1: ([], [])}, [1.0, 1.0])
    assert started(Walk(), asked([0.0] * 5, [0, 1]), ([], []), many) == pytest.approx({5: 1.0})
    enough = names({0: ([0, 1, 2], [True, True, True])}, [1.0], owners=3)
    assert set(started(Walk(), asked([0.0] * 5, [0]), ([], []), enough)) == {0, 1, 2, 5}


def test_passages_of_one_name_share_it_by_their_titles_and_then_by_their_words() -> None:
    shared = Walk()._shared([0, 1], asked([2.0, 4.0]), names({}, []))
    total = exp(0.5) + exp(1.0)
    assert shared == [(0, pytest.approx(exp(0.5) / total)), (1, pytest.approx(exp(1.0) / total))]
    titled = dict(Walk()._shared([0, 1], asked([2.0, 4.0], aside={0: 0.5}), names({}, [])))
    assert titled[0] == pytest.approx(exp(5.5) / (exp(5.5) + exp(1.0)))
    assert [share for _, share in Walk()._shared([3], asked([0.0] * 5), names({}, []))] == [1.0]


def test_what_is_looked_at_is_all_of_a_small_corpus_and_else_what_leads_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked([0.0, 5.0, 0.0, 4.0, 3.0, 0.0])
    assert Walk()._pool(np.array([0]), [np.array([2])], seen).tolist() == [0, 1, 2, 3, 4, 5]
    monkeypatch.setattr(walking, "_POOL", 2)
    monkeypatch.setattr(walking, "_ALL", 6)
    assert len(Walk()._pool(np.array([0]), [], seen)) == 6
    monkeypatch.setattr(walking, "_ALL", 5)
    assert Walk()._pool(np.array([0]), [np.array([5, 1]), np.array([5])], seen).tolist() == [0, 1, 3, 5]


def test_a_bridge_adds_what_is_left_open_times_the_tie_and_nothing_to_itself() -> None:
    """Two words, of which chunk 0 has the first; its tie to chunk 1 is 0.5 (the larger of two), to chunk 2 none."""
    scores = np.array([[1.0, 0.2, 0.0], [0.0, 1.0, 0.5]])
    seen: Any = SimpleNamespace(
        scores=lambda pool: scores,
        idf=np.array([1.0, 3.0]),
        uncovered=lambda chunk, names, covered: np.array([covered, 1.0]),
    )
    hops = [(0, 0.8, np.array([1, 1]), np.array([0.5, 0.25]))]
    found = Walk(covered=0.1, untied=0.05)._bridged(hops, np.array([0, 1, 2]), seen, names({}, []))
    whole = 0.1 * 1.0 + 1.0 * 3.0
    left = [0.0, (0.1 * 0.2 + 1.0) / whole, 0.5 / whole]
    assert found.tolist() == pytest.approx([0.0, 0.8 * left[1] * 0.55, 0.8 * left[2] * 0.05])
    twice = Walk(covered=0.1, untied=0.05)._bridged(hops * 2, np.array([0, 1, 2]), seen, names({}, []))
    assert twice.tolist() == pytest.approx((2 * found).tolist())


def test_a_bridge_leads_to_what_bears_a_name_most_closely_and_to_hinted_titles() -> None:
    """Chunk 0 mentions names 1 and 2; chunk 3 bears name 1 and chunk 4 mentions it; a title of chunk 2 hints at 2."""
    known: Any = SimpleNamespace(
        chunks=5,
        of=lambda chunk: (np.array([0, 1, 2]), np.array([True, False, False])),
        chunks_of=np.array([9, 2, 4]),
        salience=np.array([1.0, 0.5, 0.25]),
        begin=np.array([0, 0, 2, 2]),
        holders=np.array([3, 4]),
        borne=np.array([1.0, 0.0]),
        hint=np.array([0, 0, 0, 1]),
        hints=np.array([2]),
    )
    chunks, ties = Walk(mentioned=0.4, titled=0.8)._bridge(0, known)
    assert (chunks.tolist(), ties.tolist()) == ([3, 4], pytest.approx([0.5, 0.2]))  # name 2 is in four chunks
    known.chunks_of = np.array([9, 2, 3])
    chunks, ties = Walk(mentioned=0.4, titled=0.8)._bridge(0, known)
    assert dict(zip(chunks.tolist(), ties.tolist(), strict=True)) == pytest.approx({3: 0.5, 4: 0.2, 2: 0.8 * 0.25})
    _, halved = Walk(mentioned=0.4, titled=0.8, spread=1)._bridge(0, known)
    assert halved.tolist() == pytest.approx((ties / 2).tolist())
