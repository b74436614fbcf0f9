"""The paths of a walk over names, pair by pair: what a chunk mentions, what bears it, and what is left out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sensegraph.index.chunks import chunk_documents
from sensegraph.language.text import list_stems
from sensegraph.methods.walk import naming
from sensegraph.methods.walk.naming import Names, NameSettings, hash_words, make_names, name_graph
from sensegraph.runtime.results import Results, recall_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Document
from wired import runtime

TEXTS = [
    ("Ada Harrow", "Ada Harrow was a pilot. She sailed to Quay with Finn Stone. Finn Stone saw Gwen Millar."),
    ("Quay (town)", "Quay is a town by the sea. Its mayor was Gwen Millar."),
    ("Finn Stone", "Finn Stone was a painter. Stone lived in Quay. Stone knew Ada Harrow. Quay knew Stone."),
    ("Quay (ship)", "Quay was a ship. Ada Harrow sailed on it to Old Mill."),
    ("Quay (film)", "Quay was a film, said Gwen Millar, and Gwen Millar knew Finn Stone."),
    ("Lighthouse", "The lighthouse stands alone. Nobody lives there, said Gwen Millar of Quay and Ada Harrow."),
    ("Old Mill", "The mill stood by the river for years. " * 12 + "Quay is near, and Finn Stone."),
]


def name_chunks(chunks: Results[tuple[Chunk, ...]], rt: Runtime, settings: NameSettings) -> Names:
    return recall_result(rt.store, make_names, name_graph(chunks, rt, settings))


@pytest.fixture(scope="module")
def chunked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Results[tuple[Chunk, ...]], Runtime]]:
    folder: Path = tmp_path_factory.mktemp("paths")
    rt = runtime(SqliteStore(folder / "store"))
    given = [Document(f"d{i}", text, title) for i, (title, text) in enumerate(TEXTS)]
    yield rt.each(chunk_documents, given, size=60, overlap=10), rt
    rt.store.close()


def by_hand(found: Names, how: NameSettings) -> dict[tuple[int, int], float]:
    """The share of each path, from the pairs of chunk and name."""
    weight = defaultdict[tuple[int, int], float](float)
    mentions = list[tuple[int, int]]()
    bearing = defaultdict[int, list[int]](list)
    for chunk in range(found.chunks):
        for name, bears in zip(*(a.tolist() for a in found.of(chunk)), strict=True):
            (bearing[name].append if bears else lambda c, n=name: mentions.append((c, n)))(chunk)
            at = int(found.start[chunk]) + found.of(chunk)[0].tolist().index(name)
            if 1 < found.chunks_of[name] <= max(3, how.common * found.chunks):
                told = 1 + math.log(max(int(found.times[at]), 1)) + how.bears * bears
                weight[chunk, found.chunks + name] += told * float(found.salience[name])
                weight[found.chunks + name, chunk] += told * float(found.salience[name])
    links = defaultdict[tuple[int, int], float](float)
    for chunk, name in mentions:
        if len({int(found.document[c]) for c in bearing[name]}) <= how.owners:
            for other in bearing[name]:
                if found.document[chunk] != found.document[other]:
                    links[chunk, other] += float(found.salience[name]) / len(bearing[name])
    for (chunk, other), share in links.items():
        weight[chunk, other] += how.forward * min(1.0, share)
        weight[other, chunk] += how.backward * min(1.0, share)
    whole = defaultdict[int, float](float)
    for (source, _), w in weight.items():
        whole[source] += w
    return {pair: w / whole[pair[0]] for pair, w in weight.items() if w > 0}


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"owners": 2}, {"owners": 3}, {"common": 0.5}, {"common": 1.0}, {"bears": 0.5}, {"forward": 0.0},
        {"backward": 0.0}, {"forward": 7.0, "backward": 3.0, "common": 0.7},
    ],
)  # fmt: skip
def test_every_path_has_the_share_of_its_weight(
    chunked: tuple[Results[tuple[Chunk, ...]], Runtime], settings: dict[str, Any]
) -> None:
    how = NameSettings(**settings)
    found = name_chunks(*chunked, how)
    paths = defaultdict[tuple[int, int], float](float)
    for source in range(len(found.way) - 1):
        for place in range(int(found.way[source]), int(found.way[source + 1])):
            paths[source, int(found.to[place])] += float(found.share[place])
    assert paths == pytest.approx(by_hand(found, how), rel=1e-5)
    assert len(paths) > 20
    cut = found.within(np.array([0, 2, 3, 5]))  # the same over some chunks alone
    inside = defaultdict[tuple[int, int], float](float)
    for source in range(len(cut.way) - 1):
        for place in range(int(cut.way[source]), int(cut.way[source + 1])):
            inside[source, int(cut.to[place])] += float(cut.share[place])
    assert inside == pytest.approx(by_hand(cut, how), rel=1e-5)


def test_what_is_counted_of_names(chunked: tuple[Results[tuple[Chunk, ...]], Runtime]) -> None:
    found = name_chunks(*chunked, NameSettings())
    idf = np.log1p((found.chunks - found.chunks_of + 0.5) / (found.chunks_of + 0.5))
    assert found.salience == pytest.approx(idf / idf.max(), rel=1e-5)
    for name in range(len(found)):
        chunks, bears = found.holding(name)
        assert found.chunks_of[name] == len(chunks)
        assert found.bearers[name] == len(np.unique(found.document[chunks[bears]]))
    crowded = found.chunks_of[found.chunks_of > 3].sum()
    assert found.hubs == pytest.approx(crowded / len(found.held))
    assert 0 < found.hubs < 1
    assert (found.longest, found.owners) == (4, 5)  # Gwen Millar of Quay
    assert found.facts[1:6].tolist() == [5.0, 0.05, 2.0, 2.0, 0.4]
    quay, mill = found.find(["quay", "old mill"]).tolist()
    assert found.bearers[[quay, mill]].tolist() == [3, 1]
    assert found != name_chunks(*chunked, NameSettings(bears=1.0))


@pytest.mark.parametrize(
    ("titles", "names", "hints"),
    [
        ([["old", "mill"], ["mill"], ["old", "mill", "road"]], ["old mill", "road", "sea"], [[0, 2], [2], []]),
        ([["a1"]] * 3, ["a1"], [[0, 1, 2]]),
        ([["a1"]] * 4, ["a1"], [[]]),  # of more than three, and a twentieth, nothing is said
        ([["a1"]] * 4 + [["b2"]] * 76, ["a1"], [[0, 1, 2, 3]]),
        ([["a1"]] * 4 + [["b2"]] * 75, ["a1"], [[]]),
        ([["a1"]] * 9 + [["a1", "b2"]], ["a1 b2"], [[9]]),  # by the rarest of its words
    ],
)
def test_a_name_is_hinted_at_by_titles_that_have_all_its_words(
    titles: list[list[str]], names: list[str], hints: list[list[int]]
) -> None:
    def listed(lists: list[list[str]]) -> Any:
        values = hash_words([stem for own in lists for stem in own])
        return naming._Lists(values, np.array([len(own) for own in lists], np.int64))

    start, rows = naming._find_hints(listed(titles), listed([list_stems(name) for name in names]))
    assert [rows[a:b].tolist() for a, b in pairwise(start.tolist())] == hints


def test_words_are_told_apart_by_their_hashes() -> None:
    assert hash_words(["a", "b", "a"]).tolist() == [hash_words([w])[0] for w in "aba"]
    assert len(np.unique(hash_words(["a", "b", ""]))) == 3
    assert hash_words([]).tolist() == []
