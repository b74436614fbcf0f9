"""Nodes of a tree by position: children, leaves below, tops, and what is left of them inside some chunks."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.methods.raptor.tree import Nodes, cut_pieces


@pytest.fixture
def nodes() -> Nodes:
    """Leaves 0 to 3 of the chunks 0, 0, 2 and 5; 4 over 0 and 1, 5 over 1 and 2, 6 over 4 and 5; leaf 3 is alone."""
    child = [0, 1, 1, 2, 4, 5]
    return Nodes(
        np.array([9, 8, 7, 6, 5, 4, 3], np.int32), np.array([0, 0, 0, 0, 1, 1, 2], np.int32), np.zeros(7, np.int8),
        np.array([0, 0, 0, 0, 0, 2, 4, 6]), np.array(child, np.int32), np.array([0, 0, 2, 5], np.int32), np.arange(7),
    )  # fmt: skip


def test_a_node_has_its_children_and_the_leaves_below_it(nodes: Nodes) -> None:
    assert (len(nodes), nodes.leaves) == (7, 4)
    assert (nodes.children([4, 5]), nodes.children([6]), nodes.children([0])) == ([0, 1, 2], [4, 5], [])
    assert [sorted(nodes.below(node)) for node in (0, 3, 4, 6)] == [[0], [3], [0, 1], [0, 1, 2]]
    assert nodes.tops() == [3, 6]


def test_inside_some_chunks_a_summary_is_left_where_all_below_it_is(nodes: Nodes) -> None:
    inside = nodes.within([0, 5])
    assert inside.number.tolist() == [0, 1, 3, 4]
    assert (inside.chunk.tolist(), inside.level.tolist()) == ([0, 0, 1], [0, 0, 0, 1])
    assert (inside.start.tolist(), inside.child.tolist(), inside.tokens.tolist()) == (
        [0, 0, 0, 0, 2],
        [0, 1],
        [9, 8, 6, 5],
    )
    assert inside.tops() == [2, 3]
    assert nodes.within([0, 2, 5]).number.tolist() == list(range(7))
    assert len(nodes.within([])) == len(nodes.within([9])) == 0


@pytest.mark.parametrize(("places", "summaries"), [([0], 3), ([2], 2), ([5], 0), ([], 0), ([0, 2, 5], 3)])
def test_a_summary_rests_on_a_chunk_however_far_below(nodes: Nodes, places: list[int], summaries: int) -> None:
    assert nodes.touching(places) == summaries


def test_a_long_text_is_cut_after_marks_then_between_words_then_hard() -> None:
    def pieces(text: str, size: int, **within: int) -> list[str]:
        return [text[a:b] for a, b in cut_pieces(text, size, **within)]

    assert pieces("one two, three four", 4) == ["one two,", "three four"]
    assert pieces("one two three", 1) == ["one", "two", "three"]
    assert pieces("x one two, three y", 4, start=2, end=16) == ["one two,", "three"]
    hard = pieces("q" * 64, 4)
    assert "".join(hard) == "q" * 64
    assert len(hard) > 1
