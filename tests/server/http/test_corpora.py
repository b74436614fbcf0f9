"""What is read of one index while another may take its place."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import StoreError
from sensegraph.server.http.corpora import ServedCorpus


def serve_keys(*keys: str) -> ServedCorpus:
    """A corpus whose index has these keys, one each time that it is asked, and the last from then on."""
    left = list(keys)
    workspace = SimpleNamespace(index_key=lambda: left.pop(0) if len(left) > 1 else left[0])
    corpus: Any = SimpleNamespace(workspace=workspace)
    return ServedCorpus("notes", corpus)


class View:
    """What is shown, and how often that was asked for; the first `lost` times the store has lost it."""

    def __init__(self, lost: int = 0) -> None:
        self.asked, self.lost = 0, lost

    def __call__(self, corpus: Any) -> dict[str, Any]:
        self.asked += 1
        if self.asked <= self.lost:
            raise StoreError("what was there is gone")
        return {"time": self.asked}


def test_what_one_index_shows_carries_its_key() -> None:
    view = View()
    found = serve_keys("a").read(view)
    assert (found["index"], found["time"], view.asked) == ("a", 1, 1)


def test_a_view_is_made_again_where_another_index_took_its_place_meanwhile() -> None:
    found = serve_keys("a", "b", "b").read(View())
    assert (found["index"], found["time"]) == ("b", 2)
    lost = serve_keys("a", "b", "b").read(View(lost=1))
    assert (lost["index"], lost["time"]) == ("b", 2)


def test_after_three_views_the_last_is_shown_though_the_index_goes_on_changing() -> None:
    found = serve_keys(*"abcdefgh").read(view := View())
    assert (found["time"], view.asked) == (3, 3)


def test_what_the_same_index_has_lost_or_three_have_is_an_error() -> None:
    with pytest.raises(StoreError):
        serve_keys("a").read(view := View(lost=1))
    assert view.asked == 1
    with pytest.raises(StoreError):
        serve_keys(*"abcdefgh").read(view := View(lost=3))
    assert view.asked == 3
