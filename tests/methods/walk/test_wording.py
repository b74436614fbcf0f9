"""What chunks say: every stem is found by its own number, series count on, and what is told of a document is said."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.algorithms.ranking import hash_words
from sensegraph.index.manifest import DocumentEntry
from sensegraph.methods.walk import wording
from sensegraph.methods.walk.walk import Asked
from sensegraph.methods.walk.wording import Wording
from sensegraph.types import Chunk

TEXTS = ("The boiler stands still. It lacks a valve.", "The kettle is broken.", "Bread and cheese for all.")


def entry(name: str, time: str = "", **metadata: str) -> DocumentEntry:
    return DocumentEntry(name, "", "", time, tuple(metadata.items()))


def make(texts: tuple[str, ...], *entries: DocumentEntry) -> Wording:
    documents = [(Chunk(f"c{i}", e.id, 0, len(t), 9, t),) for i, (t, e) in enumerate(zip(texts, entries, strict=True))]
    said = wording.word_documents.fn(documents)
    (found,) = wording.make_wording.fn([wording.word_runs.fn([(said, list(entries))])])
    return found


def test_every_stem_is_found_by_its_own_number_and_any_other_by_none() -> None:
    found = make(TEXTS, *map(entry, ("a", "b", "c")))
    stems = sorted({stem for text in TEXTS for stem in wording.stem_written(text, "english")})
    numbers, idf = found.find(stems)
    assert sorted(numbers.tolist()) == list(range(len(found.keys))) == list(range(len(stems)))
    assert [found.keys[n] for n in numbers] == hash_words(stems).tolist()
    held = found.held[numbers] + 0.5
    assert idf.tolist() == pytest.approx(np.log1p((4 - held) / held).tolist())
    assert found.find(["zeppelin"])[0].tolist() == [-1]
    assert found.find([])[0].tolist() == []
    assert found != make(TEXTS, *map(entry, ("a", "b", "c")))  # arrays are not compared as values


def test_what_nothing_is_said_in_finds_nothing() -> None:
    numbers, idf = make(()).find(["boiler"])
    assert numbers.tolist() == [-1]
    assert idf.tolist() == pytest.approx([np.log1p(1.0)])


@pytest.mark.parametrize(
    ("names", "follows"),
    [
        (("a-1", "a-2", "b-3"), [0, 2, 0]),
        (("a-1", "a-3", "b-4"), [0, 0, 0]),
        (("a-09", "a-10", "b-1"), [0, 2, 0]),
        (("a-1", "a-2", "a-3"), [0, 0, 0]),  # mere numbers of a whole corpus tell nothing
        (("1", "a 7", "a 8"), [0, 0, 0]),
        (("b.1", "a 7", "a 8"), [0, 0, 2]),
    ],
)
def test_the_next_of_one_of_several_series_follows(names: tuple[str, ...], follows: list[int]) -> None:
    assert make(TEXTS, *map(entry, names)).follows.tolist() == follows


def test_the_day_and_short_fields_of_a_document_are_said_and_addresses_and_long_ones_are_not() -> None:
    told = entry("a", "2020-03-05", kind="ShipLog", url="http://x.example/y", long="word " * 99)
    found = make(TEXTS, told, entry("b"), entry("c"))
    said = {word: found.find([word])[0][0] >= 0 for word in ("ship", "log", "@2020-03-05", "@-03", "exampl", "word")}
    assert [word for word, there in said.items() if there] == ["ship", "log", "@2020-03-05", "@-03"]


def test_scores_of_stems_are_those_of_the_chunks_that_are_asked_for() -> None:
    none = np.zeros(0, np.uint64)
    hits = (
        (np.array([0, 2, 3]), np.array([1.0, 2.0, 3.0])), (np.array([3]), np.array([4.0])),
        (np.zeros(0, np.int64), np.zeros(0)), (np.array([1, 2]), np.array([5.0, 6.0])),
    )  # fmt: skip
    asked = Asked((), none, hits, np.zeros(4), np.zeros(4), none)
    every = [[1.0, 0.0, 2.0, 3.0], [0.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0], [0.0, 5.0, 6.0, 0.0]]
    assert asked.scores(np.arange(4)).tolist() == every
    for pool in ([0, 3], [1], [2, 3], [0, 1, 2], []):
        assert asked.scores(np.array(pool, np.int64)).tolist() == [[row[i] for i in pool] for row in every]
