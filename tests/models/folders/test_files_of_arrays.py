"""Which files of arrays are read, by what their headers say: each refusal beside what just passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sensegraph.models.folders.folder_embedder import pool_tokens
from sensegraph.models.folders.tensors import read_tensors


def write_file(path: Path, header: Any, content: bytes, length: int | None = None) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(raw) if length is None else length).to_bytes(8, "little") + raw + content)
    return path


def entry(kind: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    ("kind", "numpy"),
    [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2"), ("I64", "<i8"), ("I32", "<i4"), ("I16", "<i2"), ("I8", "<i1"),
     ("U8", "<u1")],
)  # fmt: skip
def test_arrays_of_each_kind_are_mapped_at_their_places(tmp_path: Path, kind: str, numpy: str) -> None:
    first, second = np.arange(6, dtype=numpy).reshape(2, 3), np.array([7, 8], numpy)
    size = first.nbytes
    header = {
        "__metadata__": {"format": "pt"},
        "b": entry(kind, [2], size, size + second.nbytes),
        "a": entry(kind, [2, 3], 0, size),
        "none": entry(kind, [0, 4], size, size),
    }
    found = read_tensors(write_file(tmp_path / "f", header, first.tobytes() + second.tobytes()))
    assert {name: (array.dtype.str, array.tolist()) for name, array in found.items()} == {
        "a": (np.dtype(numpy).str, first.tolist()),
        "b": (np.dtype(numpy).str, second.tolist()),
        "none": (np.dtype(numpy).str, []),
    }
    assert found["none"].shape == (0, 4)
    assert isinstance(found["a"], np.memmap)


def test_numbers_of_sixteen_bits_with_the_range_of_32_are_read(tmp_path: Path) -> None:
    values = np.array([1.0, -2.5, 0.0, 1e30], np.float32)
    short = (values.view(np.uint32) >> 16).astype("<u2")
    found = read_tensors(write_file(tmp_path / "f", {"a": entry("BF16", [4], 0, 8)}, short.tobytes()))["a"]
    assert found.dtype == np.float32
    assert found[:3].tolist() == [1.0, -2.5, 0.0]
    assert found[3] == pytest.approx(1e30, rel=0.01)


CUT = "it is shorter than its header says: it was cut off"
NONE = "it is no safetensors file, or it was cut off"


@pytest.mark.parametrize(
    ("header", "content", "length", "said"),
    [
        ({"a": entry("U8", [3], 0, 3)}, b"abc", None, ""),
        ({"a": entry("U8", [3], 0, 3)}, b"ab", None, CUT),
        ({"a": entry("U8", [2], 1, 3)}, b"abc", None, ""),
        ({"a": entry("U8", [2], 0, 3)}, b"abc", None, CUT),
        ({"a": entry("U8", [4], 0, 3)}, b"abcd", None, CUT),
        ({"a": entry("I16", [1], 0, 2)}, b"ab", None, ""),
        ({"a": entry("I16", [2], 0, 2)}, b"ab", None, CUT),
        ({"a": entry("U8", [-1, -2], 0, 2)}, b"ab", None, CUT),
        ({"a": entry("U8", [], 0, 1)}, b"a", None, ""),
        ({"a": entry("C64", [1], 0, 8)}, b"a" * 8, None, "it holds numbers of the kind C64, which cannot be read here"),
        ({}, b"", None, ""),
        (b"", b"", 0, NONE),
        (b"{}", b"", 2, ""),
        (b"{}", b"", 3, NONE),
        (b"[]", b"", None, NONE),
        (b'{"a":1}', b"", None, NONE),
        (b'{"\xff":1}', b"", None, NONE),
    ],
)
def test_a_file_is_read_whose_header_fits_it(
    tmp_path: Path, header: Any, content: bytes, length: int | None, said: str
) -> None:
    path = write_file(tmp_path / "f", header, content, length)
    if said:
        with pytest.raises(ValueError, match=r".") as told:
            read_tensors(path)
        assert str(told.value) == said
    else:
        found = read_tensors(path)
        assert {name: array.nbytes for name, array in found.items()} == {
            name: given["data_offsets"][1] - given["data_offsets"][0]
            for name, given in (json.loads(header) if isinstance(header, bytes) else header).items()
        }


@pytest.mark.parametrize(
    ("mode", "pooled"),
    [
        ("cls", [[1.0, 8.0]]),
        ("lasttoken", [[4.0, 2.0]]),
        ("max", [[4.0, 8.0]]),
        ("mean", [[2.5, 5.0]]),
        ("mean_sqrt_len", [[5.0, 10.0]]),
        ("weightedmean", [[3.0, 4.0]]),
    ],
)
def test_vectors_of_tokens_become_one(mode: str, pooled: list[list[float]]) -> None:
    output = np.array([[[1.0, 8.0], [2.0, 6.0], [3.0, 4.0], [4.0, 2.0]]])
    found = pool_tokens(output, mode)
    assert (found.dtype, found.tolist()) == (np.float32, pooled)
