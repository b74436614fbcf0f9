"""What bodies of replies say: vectors in the order asked for, as many as were asked for."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.errors import EndpointError
from sensegraph.models.endpoint.bodies import read_vectors


def reply(*rows: tuple[int, list[float]]) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": vector} for i, vector in rows]}


def test_vectors_come_in_the_order_asked_for_whatever_the_order_of_the_reply() -> None:
    found = read_vectors(reply((1, [0.0, 1.0]), (0, [1.0, 0.0])), 2)
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(0, [1.0])], 2),
        ([(0, [1.0]), (1, [2.0]), (2, [3.0])], 2),
        ([(0, [1.0]), (1, [2.0, 3.0])], 2),
    ],
)
def test_too_few_too_many_or_uneven_vectors_are_an_error_that_says_what_came(
    rows: list[tuple[int, list[float]]], count: int
) -> None:
    with pytest.raises(EndpointError, match=f"Asked for {count} vectors of one length, got {len(rows)}"):
        read_vectors(reply(*rows), count)
