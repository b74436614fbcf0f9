"""Rows of which zeros are left out, and texts that are found by a part of their words, each against plain reckoning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sensegraph.algorithms import sparse_rows
from sensegraph.algorithms.full_text import WordRows
from sensegraph.algorithms.sparse_rows import SparseRows, pack_sparse


def make_records(count: int, dim: int, held: float, size: int = 2, seed: int = 1) -> Any:
    drawn = np.random.default_rng(seed)
    made = np.zeros(count, np.dtype([("text", "<u8", (2,)), ("scale", "<f4"), ("values", f"<i{size}", (dim,))]))
    values = drawn.integers(-100, 100, (count, dim)) * (drawn.random((count, dim)) < held)
    made["values"], made["scale"] = values, drawn.random(count).astype(np.float32)
    made["text"] = drawn.integers(0, 2**60, (count, 2))
    made["values"][3:5] = 0  # rows of nothing
    return made


@pytest.fixture
def records() -> Any:
    return make_records(40, 30, 0.15)


@pytest.fixture
def rows(records: Any) -> SparseRows:
    packed = pack_sparse(records)
    assert packed.dtype == np.uint8
    return SparseRows(packed)


def test_rows_come_back_as_they_were_whole_in_part_and_by_place(records: Any, rows: SparseRows) -> None:
    assert len(rows) == 40
    assert rows.dtype == records.dtype
    assert np.array_equal(rows.records(), records)
    assert rows[:] is rows
    assert rows[0:40] is rows
    for begin, end in ((0, 0), (0, 7), (3, 5), (35, 60), (9, 4)):
        part = rows[begin:end]
        assert len(part) == len(records[begin:end])
        assert np.array_equal(part.records(), records[begin:end])
    middle = rows[10:30]
    assert np.array_equal(middle[5:9].records(), records[15:19])
    assert np.array_equal(middle[[3, 0, 3]], records[[13, 10, 13]])
    assert np.array_equal(middle["scale"], records["scale"][10:30])
    assert np.array_equal(middle["text"], records["text"][10:30])


@pytest.mark.parametrize("held", [0.05, 1.0])
@pytest.mark.parametrize(("begin", "end"), [(0, 40), (2, 6), (3, 5), (11, 40), (7, 7)])
def test_products_are_those_of_whole_rows(records: Any, rows: SparseRows, held: float, begin: int, end: int) -> None:
    drawn = np.random.default_rng(2)
    queries = (drawn.random((3, 30)) * (drawn.random((3, 30)) < held)).astype(np.float32)
    queries[1] = 0
    part = records[begin:end]
    wanted = queries @ (part["values"].astype(np.float32) * part["scale"][:, None]).T
    found = rows[begin:end].multiply(queries)
    assert found.shape == (3, end - begin)
    assert np.abs(found - wanted).max(initial=0.0) < 1e-2


@pytest.mark.parametrize("size", [1, 2])
def test_rows_are_packed_where_that_takes_at_most_half(size: int) -> None:
    most = 40 * 30 * size // (sparse_rows._PAYS * (2 + size))
    made = make_records(40, 30, 0.0, size)
    flat = made["values"].reshape(-1)
    flat[:most] = 1
    made["values"] = flat.reshape(40, 30)
    assert pack_sparse(made).dtype == np.uint8
    flat[most] = 1
    made["values"] = flat.reshape(40, 30)
    assert pack_sparse(made) is made
    wide = np.zeros(1, np.dtype([("text", "<u8", (2,)), ("scale", "<f4"), ("values", "<i1", ((1 << 16) + 1,))]))
    assert pack_sparse(wide) is wide


TEXTS = ["the pier was old", "a pie", "the old pilot", "", "happier pier", "old"]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("pie", [0, 1, 4]), ("\npie", [0, 1, 4]), ("pie\n", [1]), ("pier\n", [0, 4]), ("\npier\n", [0, 4]),
        ("pp", [4]), ("o", [0, 2, 5]), ("old", [0, 2, 5]), ("z", []), ("", []), ("the", [0, 2]),
    ],
)  # fmt: skip
def test_texts_are_found_by_a_part_of_a_word(part: str, found: list[int]) -> None:
    rows = WordRows.build(text.split() for text in TEXTS)
    assert rows.find(part).tolist() == found


def test_words_of_other_letters_are_found_and_no_text_holds_none() -> None:
    rows = WordRows.build([["mühle", "mühle"], ["\u6771\u4eac"], ["hle"]])
    assert [rows.find(part).tolist() for part in ("hle", "ü", "\u4eac", "m")] == [[0, 2], [0], [1], [0]]
    assert len(rows.rows) == 3  # a word twice in a text is there once
    assert WordRows.build([]).find("a").tolist() == []


@pytest.mark.parametrize("held", [0.0, 0.15])
def test_columns_are_steps_where_they_are_few_and_read_either_way(monkeypatch: pytest.MonkeyPatch, held: float) -> None:
    records = make_records(40, 700, held)
    stepped = pack_sparse(records)
    monkeypatch.setattr(sparse_rows, "_OPENED", -1)
    plain = pack_sparse(records)
    assert [int(p[24:32].view("<i8")[0]) for p in (stepped, plain)] == [-2, 2]
    one, other = SparseRows(stepped), SparseRows(plain)
    assert np.array_equal(one.records(), records)
    assert np.array_equal(one["column"], other["column"])
    assert np.array_equal(one[3:9].records(), other[3:9].records())
