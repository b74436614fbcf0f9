"""Documents with one text, groups that are kept, and pages that name documents: worked out by hand."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.index.browse.copies import group_copies, hash_texts, keep_hashes, note_copies
from sensegraph.index.browse.pages import EntityPage, ReportPage
from sensegraph.index.hierarchy import similar_clusters
from sensegraph.index.hierarchy.similar_clusters import Grouping, _earlier_starts, _group_rows
from sensegraph.index.hierarchy.stand_ins import first_words
from sensegraph.types import Document, Passage


def test_texts_are_hashed_and_those_without_one_are_in_no_group() -> None:
    given = [Document("c", "same"), Document("a", "same"), Document("b", " \n"), Document("d", "other"),
             Document("e", " \n"), Document("f", "same ")]  # fmt: skip
    hashed = hash_texts.fn(given)
    assert [name for name, _ in hashed] == ["c", "a", "b", "d", "e", "f"]
    assert [len(digest) for _, digest in hashed] == [32, 32, 0, 32, 0, 32]
    assert hashed[0][1] == hashed[1][1] != hashed[5][1]
    kept = keep_hashes.fn([hashed, []])
    assert [[name for name, _ in run] for run in kept] == [["c", "a", "d", "f"], []]
    more = [("z", "1"), ("y", "1"), ("x", "2"), ("w", "3"), ("v", "2"), ("u", "2")]
    assert group_copies.fn([kept[0], more, []]) == [(("a", "c"),), (("u", "v", "x"), ("y", "z")), ()]


END = ". Each is indexed and cited; `sensegraph documents list` marks them, `sensegraph documents remove` removes one"


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((2,), "2 documents hold the same text as another: a0 = a1"),
        ((3,), "3 documents hold the same text as another: a0 = a1 = a2"),
        ((4, 2), "6 documents hold the same text as another: a0 = a1 = a2 and 1 more; b0 = b1"),
        ((1_203,), "1,203 documents hold the same text as another: a0 = a1 = a2 and 1,200 more"),
        ((2,) * 5, "10 documents hold the same text as another: a0 = a1; b0 = b1; c0 = c1; d0 = d1; e0 = e1"),
        ((2,) * 6, "12 documents hold the same text as another: a0 = a1; b0 = b1; c0 = c1; d0 = d1; e0 = e1; "
         "and 1 more groups"),
    ],
)  # fmt: skip
def test_a_note_names_five_groups_and_three_documents_of_each(sizes: tuple[int, ...], said: str) -> None:
    groups = tuple(tuple(f"{'abcdefgh'[g]}{i}" for i in range(size)) for g, size in enumerate(sizes))
    assert note_copies(groups) == (said + END,)
    assert note_copies(()) == ()


def test_what_stands_in_for_a_text_has_its_first_words() -> None:
    passages = [Passage("chunk", "a", "one  two\nthree"), Passage("chunk", "b", "four")]
    assert [first_words(passages, most) for most in (0, 2, 3, 4, 9)] == [
        "", "one two", "one two three", "one two three four", "one two three four",
    ]  # fmt: skip
    assert first_words([], 5) == ""


def page(kind: Any, **given: Any) -> Any:
    """A page of which only this is said."""
    return kind(**{f.name: given.get(f.name, ()) for f in fields(kind)})


def at(document: str | None) -> Any:
    return SimpleNamespace(place=document and SimpleNamespace(document=document), document=document)


def test_pages_name_each_document_once_in_the_order_of_what_they_show() -> None:
    made = page(EntityPage, descriptions=(at("b"), at(None), at("a")), claims=(at("c"), at("b"), at(None)))
    assert made.documents == ("b", "a", "c")
    made = page(
        ReportPage, citations=(at("z"), at("b")), chunks=(at("a"), at("z")), claims=(at(None), at("c"), at("a"))
    )
    assert made.documents == ("z", "b", "a", "c")
    assert page(EntityPage).documents == page(ReportPage).documents == ()


@pytest.mark.parametrize(
    ("loss", "best", "kept", "fresh", "stays"),
    [
        (1.1, 1.0, 2, 2, True),
        (1.11, 1.0, 2, 2, False),
        (0.01, 0.0, 2, 2, True),
        (0.011, 0.0, 2, 2, False),
        (0.06, 0.05, 2, 2, True),
        (0.0601, 0.05, 2, 2, False),
        (1.0, 1.0, 4, 2, True),
        (1.0, 1.0, 5, 2, False),
        (0.5, 1.0, 2, 0, True),
        (0.5, 1.0, 3, 0, False),
    ],
)
def test_earlier_clusters_are_kept_within_a_tenth_of_the_scatter_and_up_to_twice_as_many(
    monkeypatch: pytest.MonkeyPatch, loss: float, best: float, kept: int, fresh: int, stays: bool
) -> None:
    class Found:
        def __init__(self, count: int, name: int) -> None:
            self.labels, self.count = np.full(3, name), count

        def __len__(self) -> int:
            return self.count

    monkeypatch.setattr(similar_clusters, "reduce_dimensions", lambda vectors, dims, seed: vectors)
    monkeypatch.setattr(
        similar_clusters, "cluster_rows",
        lambda rows, size, seed, start=None: Found(fresh, 0) if start is None else Found(kept, 1),
    )  # fmt: skip
    monkeypatch.setattr(
        similar_clusters, "measure_scatter", lambda rows, labels: loss + 1e-13 * -1 if labels[0] else best
    )
    found = _group_rows(np.zeros((3, 2), np.float32), np.zeros(3, np.int32), 5, 2, 1)
    assert found.labels.tolist() == [int(stays)] * 3
    assert found.given_up.tolist() == ([] if stays else pytest.approx([loss, best, kept, fresh]))
    afresh = _group_rows(np.zeros((3, 2), np.float32), np.zeros(0, np.int32), 5, 2, 1)
    assert (afresh.labels.tolist(), len(afresh.given_up), afresh.note()) == ([0] * 3, 0, "")


def test_what_was_given_up_is_told_in_figures() -> None:
    found = Grouping(np.zeros(1, np.int32), np.array([0.25049, 0.2, 12.0, 7.0]))
    assert found.note() == (
        "clustered by meaning afresh: 7 clusters leave 0.200 of the variance inside, the 12 from before 0.250"
    )


@pytest.mark.parametrize(("size", "starts"), [(3, 1), (2, 2), (1, 2)])
def test_new_rows_have_labels_of_their_own_first_where_they_are_as_many_as_a_cluster(size: int, starts: int) -> None:
    rows, start = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]]), np.array([0, 1, -1, -1], np.int32)
    found = [one.tolist() for one in _earlier_starts(rows, start, size, 1)]
    assert len(found) == starts
    assert found[-1] == [0, 1, -1, -1]
    if starts == 2:
        assert found[0][:2] == [0, 1]
        assert min(found[0][2:]) == 2
    assert start.tolist() == [0, 1, -1, -1]
