"""What is said of elements is stored as where chunks say it, and comes back as it was."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import ResultGone
from sensegraph.index.graph.elements import relation_id
from sensegraph.index.graph.stored.chunk_texts import (
    COLLAPSED,
    SAME,
    ChunkTexts,
    SaidPlaces,
    SaidSpans,
    Text,
    keep_texts,
    shorten_said,
    tell_form,
)
from sensegraph.index.graph.stored.packed_records import (
    PackedRows,
    join_descriptions,
    open_entity,
    open_relation,
    pack_entity,
    pack_relation,
)
from sensegraph.runtime.keys import chunk_id, key
from sensegraph.runtime.results import Table
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Description, Entity, Extraction, Relation, Source

TEXT = "The  quay of Ada lies here.\nBo Reed built it in 1901 — nobody lives there."
CHUNK, ODD = chunk_id("harbour", 0, TEXT), "c1"
FIND = {CHUNK: TEXT, ODD: TEXT[::-1]}.__getitem__
TEXTS = SaidSpans(FIND)


class Forms:
    """How what the chunks say is told from its spans."""

    def find_form(self, chunk: str, start: int, end: int, said: str) -> Text:
        return tell_form(said, FIND(chunk)[start:end])


FORMS = Forms()
encode = msgspec.json.Encoder().encode

spans = st.tuples(st.sampled_from([CHUNK, ODD]), st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
forms = st.sampled_from(["span", "collapsed", "own", ""])
dates = st.sampled_from([("", ""), ("1901", ""), ("1901-02", "1902")])


@st.composite
def sayings(draw: st.DrawFn) -> Description:
    """What a chunk says: a span, a span on one line, or words of its own."""
    (chunk, start, end), form, dated = draw(spans), draw(forms), draw(dates)
    whole = TEXTS.find(chunk)[start:end]
    text = {"span": whole, "collapsed": " ".join(whole.split()), "own": f"{whole}!", "": ""}[form]
    return Description(text, Source(chunk, start, end), *dated)


said_of = st.lists(sayings(), max_size=4).map(tuple)
chunks_of = st.lists(st.sampled_from([CHUNK, ODD, chunk_id("other", 3, "x")]), unique=True, max_size=3).map(tuple)
ids = st.text("0123456789abcdef", min_size=20, max_size=20)


@given(said_of, chunks_of, ids, st.booleans())
def test_an_entity_comes_back_as_it_was_to_the_byte(
    said: tuple[Description, ...], chunks: tuple[str, ...], name: str, own: bool
) -> None:
    description = "A summary." if own else join_descriptions(said)
    made = Entity(name, "Ada's quay", "place", description, said, chunks, 3, 2, ("the quay",), 1)
    assert encode(open_entity(pack_entity(made, FORMS), TEXTS)) == encode(made)


@given(said_of, chunks_of, ids, ids, st.floats(0, 1e9), st.booleans())
def test_a_relation_comes_back_as_it_was_to_the_byte(
    said: tuple[Description, ...], chunks: tuple[str, ...], one: str, other: str, weight: float, directed: bool
) -> None:
    for value in (weight, round(weight % 9, 6)):
        made = Relation(
            relation_id(one, other), one, other, join_descriptions(said), said, value, chunks, "owns", directed
        )
        assert encode(open_relation(pack_relation(made, FORMS), TEXTS)) == encode(made)


@pytest.mark.parametrize(
    ("text", "form"),
    [(TEXT[:27], SAME), ("The quay of Ada lies here.", COLLAPSED), ("It lies here.", "It lies here."), ("", "")],
)
def test_what_is_said_is_a_span_or_a_span_on_one_line_or_a_text_of_its_own(text: str, form: Any) -> None:
    said = Description(text, Source(CHUNK, 0, 27), "1901", "")
    assert shorten_said(said, FORMS) == (0, 27, form, "1901", "")
    places = SaidPlaces()
    for chunk in (ODD, CHUNK, CHUNK):  # what one chunk says is not told of another
        found = places.find(chunk, FIND(chunk), said.text, 0, 27, "1901", "")
    assert found == (0, 27, form, "1901", "")
    assert places.find(CHUNK, TEXT, said.text, 5, 5, "", "")[:2] == (0, len(TEXT))  # of no span it is the whole text
    assert TEXTS.describe(CHUNK, 0, 27, form, "1901", "") == said


def store_texts(store: SqliteStore, runs: list[dict[str, str]]) -> ChunkTexts:
    keys = [key("texts", i) for i in range(len(runs))]
    packed = keep_texts.fn([[(name, "d", text, Extraction()) for name, text in run.items()] for run in runs])
    for k, array in zip(keys, packed, strict=True):
        store.write_array(k, array)
    return ChunkTexts(store, keys)


def test_texts_of_chunks_are_found_in_the_run_that_holds_them(tmp_path: Path) -> None:
    runs = [{}, {f"a{i}": f"{i} é {'x' * i}" for i in range(40)}, {"b": ""}]
    store = SqliteStore(tmp_path)
    texts = store_texts(store, runs)
    for run in runs:
        assert {name: texts.find(name) for name in run} == run
    with pytest.raises(ResultGone, match="text of the chunk none is gone from the store"):
        texts.find("none")
    with pytest.raises(ResultGone, match="texts k are gone from the store"):
        ChunkTexts(store, ["k"]).find("b")
    assert ChunkTexts(store, texts.keys).__reduce__()[1] == (store, texts.keys)
    store.close()


@dataclass(frozen=True)
class Bare:
    id: str
    chunks: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    description: str


@pytest.mark.parametrize(
    "find", [lambda t: list(t), lambda t: t.at(range(20)), lambda t: list(t.find(t.ids()).values())]
)
def test_a_table_of_packed_records_opens_them_and_reads_no_text_where_none_is_wanted(
    tmp_path: Path, find: Callable[[Any], Any]
) -> None:
    store = SqliteStore(tmp_path)
    texts = store_texts(store, [{CHUNK: TEXT}])
    said = (Description(TEXT[:27], Source(CHUNK, 0, 27)),)
    made = [Entity(f"{i:020x}", f"n{i}", "place", join_descriptions(said), said, (CHUNK,), 1, 0) for i in range(20)]
    store.write_rows("k.entities", [(e.id, pack_entity(e, FORMS)) for e in made])
    rows = PackedRows(texts, open_entity, store, [("k.entities", 20, made[0].id)])
    table: Table[Entity] = Table(rows, Entity)
    assert find(table) == made
    assert (table.shared, table.joined) == (texts.keys, (("k.entities", 20, made[0].id),))
    assert [t.description for t in table.lightly(Told)] == [e.description for e in made]
    assert list(table.scan_json()) == [encode(e) for e in made]
    assert list(map(table.decode, table.raw())) == made
    store.forget(texts.keys)
    fresh: Table[Entity] = Table(PackedRows(*rows.__reduce__()[1]), Entity)
    assert [(b.id, b.chunks) for b in fresh.lightly(Bare)] == [(e.id, e.chunks) for e in made]
    store.close()


def test_a_record_that_is_read_briefly_is_described_as_it_is_and_no_text_is_read_for_a_summary(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    texts = store_texts(store, [{CHUNK: TEXT}])
    said = (Description(TEXT[:27], Source(CHUNK, 0, 27)),)
    told = [join_descriptions(said), "A summary."]
    made = [Entity(f"{i:020x}", f"n{i}", "place", text, said, (CHUNK,), 1, 0) for i, text in enumerate(told)]
    store.write_rows("k.entities", [(e.id, pack_entity(e, FORMS)) for e in made])
    table: Table[Entity] = Table(PackedRows(texts, open_entity, store, [("k.entities", 2, made[0].id)]), Entity)
    assert [(e.name, e.description) for e in table.read_briefly([0, 1])] == [(e.name, e.description) for e in made]
    assert [e.descriptions for e in table.read_briefly([0, 1])] == [said, ()]
    plain: Table[Relation] = Table(PackedRows(texts, open_relation, store, []), Relation)
    assert plain.read_briefly([]) == []
    store.close()


def test_rows_travel_with_the_keys_of_their_texts() -> None:
    texts = ChunkTexts(None, ["a", "b"])  # type: ignore[arg-type]
    rows = PackedRows(texts, open_relation, None, [("k.relations", 3, "0")])  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(rows))
    assert (again.shared, again.parts, again._open_one) == (("a", "b"), (("k.relations", 3, "0"),), open_relation)
