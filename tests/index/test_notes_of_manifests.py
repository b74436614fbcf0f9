"""What a manifest notes of what was left out, and which parts and vectors it names: each sentence as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from sensegraph.errors import NotIndexed, StoreError
from sensegraph.index.manifest import REF, LeftOut, Manifest, note_left_out, read_manifest
from sensegraph.runtime.stores.sqlite import SqliteStore

END = ". `sensegraph index --retry` asks again; `sensegraph status` lists all"
PLAIN = Manifest("d", "c", "w", "v", "engine", "embedder", "by", "settings", {"chunks": 2})


def chunks(count: int, why: str = "no") -> list[LeftOut]:
    return [LeftOut(f"d{i}", i, i + 9, "refused", why) for i in range(count)]


def texts(count: int, why: str = "no", partial: bool = False) -> list[LeftOut]:
    return [LeftOut("", 0, 0, "refused", why, "report", f"Name {i}", partial) for i in range(count)]


def name_chunks(count: int) -> str:
    return "; ".join(f"d{i} {i}–{i + 9} (no)" for i in range(count))


def name_texts(count: int) -> str:
    return "; ".join(f"report of Name {i} (no)" for i in range(count))


FAILED, QUOTED = "missing from the graph because reading failed", "sources because writing failed"
CUT = "cut off and used as far as they go, of"


@pytest.mark.parametrize(
    ("left", "notes"),
    [
        ([], []),
        (chunks(1), [f"1 chunk is {FAILED}: {name_chunks(1)}"]),
        (chunks(2), [f"2 chunks are {FAILED}: {name_chunks(2)}"]),
        (chunks(5), [f"5 chunks are {FAILED}: {name_chunks(5)}"]),
        (chunks(6), [f"6 chunks are {FAILED}: {name_chunks(5)}; and 1 more"]),
        (chunks(1_234), [f"1,234 chunks are {FAILED}: {name_chunks(5)}; and 1229 more"]),
        (chunks(1, "x" * 160 + "y"), [f"1 chunk is {FAILED}: d0 0–9 ({'x' * 160})"]),
        (texts(1), [f"1 text quotes its {QUOTED}: {name_texts(1)}"]),
        (texts(2), [f"2 texts quote their {QUOTED}: {name_texts(2)}"]),
        (texts(1_000), [f"1,000 texts quote their {QUOTED}: {name_texts(5)}; and 995 more"]),
        (texts(1, "x" * 160 + "y"), [f"1 text quotes its {QUOTED}: report of Name 0 ({'x' * 160})"]),
        (texts(1, partial=True), [f"1 reply was {CUT}: report Name 0 (no)"]),
        (texts(1, "x" * 160 + "y", partial=True), [f"1 reply was {CUT}: report Name 0 ({'x' * 160})"]),
        ([replace(one, partial=True) for one in chunks(2)],
         [f"2 replies were {CUT}: chunk d0 0–9 (no); chunk d1 1–10 (no)"]),
        (
            [*texts(1), *chunks(1), replace(chunks(1)[0], partial=True), *texts(1, partial=True)],
            [
                f"1 chunk is {FAILED}: {name_chunks(1)}",
                f"1 text quotes its {QUOTED}: {name_texts(1)}",
                f"2 replies were {CUT}: chunk d0 0–9 (no); report Name 0 (no)",
            ],
        ),
    ],
)  # fmt: skip
def test_what_was_left_out_is_noted_by_kind_and_the_first_five_are_named(left: list[LeftOut], notes: list[str]) -> None:
    assert note_left_out(left) == tuple(note + END for note in notes)


@pytest.mark.parametrize(
    ("given", "parts"),
    [({}, set()), ({"graph": "g"}, {"graph"}), ({"hierarchy": "h"}, {"reports"}), ({"communities": "x"}, set()),
     ({"graph": "g", "hierarchy": "h"}, {"graph", "reports"})],
)  # fmt: skip
def test_the_parts_of_an_index_are_those_with_a_key(given: dict[str, Any], parts: set[str]) -> None:
    assert replace(PLAIN, **given).part_names == parts


def test_vectors_of_each_kind_are_named_and_empty_where_there_are_none() -> None:
    assert PLAIN.stacks == {"chunk": "v", "entity": "", "report": ""}
    assert replace(PLAIN, entity_vectors="e", report_vectors="r").stacks == {"chunk": "v", "entity": "e", "report": "r"}


def test_a_manifest_is_read_back_and_what_is_wrong_with_one_is_said(store: SqliteStore) -> None:
    with pytest.raises(NotIndexed, match="There is no index here yet; run `sensegraph index PATH` first"):
        read_manifest(store)
    store.set_refs({REF: "gone"})
    with pytest.raises(StoreError, match="list of parts is gone from the store; run `sensegraph index` again"):
        read_manifest(store)
    made = replace(PLAIN, graph="g", notes=("a note",), left_out=tuple(chunks(1)), clusters=(1, 2), copies="k")
    store.write({"whole": msgspec.json.encode(made), "other": b'{"parts":{},"documents":1}', "none": b"{"})
    store.set_refs({REF: "whole"})
    assert read_manifest(store) == made
    for name in ("other", "none"):
        store.set_refs({REF: name})
        with pytest.raises(StoreError, match="The index was made by another version"):
            read_manifest(store)
