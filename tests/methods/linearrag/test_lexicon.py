"""Names that sentences are searched for: the longest, with a capital unless they are written without, and whose."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.methods.linearrag.sentences import Lexicon, sentence_graph, sentence_texts
from sensegraph.types import Chunk, Entity, Graph


def lexicon(*names: tuple[str, str]) -> Lexicon:
    """Names with the letters of the chunks that mention them."""
    made = Lexicon()
    for name, chunks in names:
        made.add(name, tuple(chunks))
    return made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada Finch met Ada.", [(0, 0), (14, 1)]),
        ("ADA FINCH met ada.", [(0, 0)]),  # one word needs a capital, two need none
        ("the ada finch of old", [(4, 0)]),
        ("an oak, an Oak", [(3, 2), (11, 2)]),  # it is written without
        ("Adair and Finch", []),
        ("奥斯陆的李明。", [(0, 3), (4, 4)]),
        ("李在李明", [(2, 4)]),
        ("Q and ?", []),  # a name of one letter is none
        ("", []),
    ],
)
def test_the_longest_name_is_found_from_left_to_right(text: str, found: list[tuple[int, int]]) -> None:
    names = lexicon(
        ("Ada Finch", "a"), ("Ada", "a"), ("oak", "a"), ("奥斯陆", "a"), ("李明", "a"), ("Q", "a"), ("?", "a")
    )
    assert list(names.found(text, "a")) == found


def test_of_entities_of_one_name_that_of_the_chunk_is_meant_else_that_of_most_chunks() -> None:
    names = lexicon(("Ada", "a"), ("Ada", "bcd"), ("ADA", "bef"))
    assert [next(names.found("Ada", chunk))[1] for chunk in "abcez"] == [0, 1, 1, 2, 1]


def test_sentences_know_their_places_names_and_walk() -> None:
    entities = [Entity(f"e{i}", n, "name", "", (), ("c0",), 1, 0) for i, n in enumerate(("Ada", "Bo"))]
    said = ("Ada came. It rained. Bo met Ada, and Ada left.", "Bo came.", "Ada came. Bo came.")
    chunks = [Chunk(f"c{i}", "one" if i < 2 else "two", 0, len(t), 1, t) for i, t in enumerate(said)]
    (found,) = sentence_graph.fn([(Graph(tuple(entities)), chunks)])
    assert sentence_texts(found, chunks) == ["Ada came.", "Bo met Ada, and Ada left.", "Bo came."]
    assert (found.start.tolist(), found.held.tolist()) == ([0, 1, 3, 4], [0, 0, 1, 1])
    assert (found.spots.tolist(), found.place.tolist()) == ([0, 2, 3, 5], [0, 2, 0, 1, 2])
    assert (found.begin.tolist(), found.end.tolist()) == ([0, 0, 21, 0, 10], [9, 9, 46, 8, 18])
    assert (found.first.tolist(), found.chunks.tolist(), found.times.tolist()) == (
        [0, 2, 5],
        [0, 2, 0, 1, 2],
        [3, 1, 1, 1, 1],
    )
    assert (found.document.tolist(), found.entities, len(found)) == ([0, 0, 1], 2, 3)
    rows = [found.naming[1][a:b].tolist() for a, b in zip(found.naming[0], found.naming[0][1:], strict=False)]
    assert rows == [[0, 1], [1, 2]]
    # from a chunk to a name by its share, to a neighbour of its document by 1; from a name back by those shares
    weight = np.zeros((5, 5))
    for a, b, w in ((0, 3, 3 / 4), (0, 4, 1 / 4), (1, 4, 1), (2, 3, 1 / 2), (2, 4, 1 / 2), (0, 1, 1)):
        weight[a, b] = weight[b, a] = w
    dense = np.zeros((5, 5))
    dense[found.walk.source, found.walk.target] = found.walk.share
    assert dense == pytest.approx(weight / weight.sum(axis=1, keepdims=True))
