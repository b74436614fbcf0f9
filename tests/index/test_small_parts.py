"""Small parts of the index by examples: keys that are looked for, spans that are narrowed, names that are dated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.algorithms.ranking import unpack_rows
from sensegraph.errors import InputError, ItemFailed, NotIndexed
from sensegraph.index import vectors
from sensegraph.index.extraction import _count_kinds, _may_be_unread
from sensegraph.index.graph.elements import EntityNode, _other_forms
from sensegraph.index.graph.lookups import _title_links
from sensegraph.index.index import Index
from sensegraph.index.manifest import Catalogue, DocumentEntry, Manifest
from sensegraph.index.passages import Room, _narrow_span, _word_overlap
from sensegraph.index.restricted.arrivals import note_arrivals
from sensegraph.index.restricted.dates import (
    DatedSentence,
    Dates,
    Dating,
    entities_by_name,
    find_dated_sentences,
    settle_dates,
)
from sensegraph.index.restricted.moment import _restrict_to_known
from sensegraph.index.tracing import KeyRecordingStore
from sensegraph.questions import Scope
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Document, Entity, Graph, Usage

# ── keys that are looked for ──


def test_a_store_that_records_reads_what_is_there_writes_nothing_and_notes_the_keys(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.write({"one": b"1"})
    store.write_rows("two.rows", [("a", b"x")])
    store.write_array("three", np.arange(3))
    store.set_refs({"name": "one"})
    store.spend("step", Usage(2))
    seen = KeyRecordingStore(store)
    assert seen.read(["one", "none"]) == {"one": b"1"}
    assert seen.has(["one", "four"]) == {"one"}
    rows, array = seen.rows("two.rows"), seen.array("three")
    assert rows is not None
    assert array is not None
    assert (list(rows.scan()), array.tolist()) == ([b"x"], [0, 1, 2])
    assert (seen.ref("name"), seen.refs("na"), seen.ledger()) == ("one", {"name": "one"}, {"step": Usage(2)})
    assert list(seen.asked) == ["one", "none", "four", "two", "three"]
    seen.write({"five": b"5"})
    seen.write_rows("six.rows", [])
    seen.write_array("seven", np.arange(1))
    seen.set_refs({"name": "five"})
    seen.spend("step", Usage(9))
    assert list(seen.asked)[5:] == ["five", "six", "seven"]
    assert store.has(["five", "six.rows", "seven"]) == set()
    assert (store.ref("name"), store.ledger()) == ("one", {"step": Usage(2)})


@pytest.mark.parametrize(
    ("stored", "doubted"),
    [
        (b'{"entities":[],"relations":[],"claims":[],"rounds":[]}', True),
        (b'{"entities":[],"relations":[],"claims":[],"nothing":true}', False),
        (b'{"entities":["x"],"relations":[],"claims":[],"rounds":[]}', False),
    ],
)
def test_what_was_stored_as_empty_is_doubted_unless_it_says_that_there_is_nothing(stored: bytes, doubted: bool) -> None:
    assert _may_be_unread(stored) == doubted


def test_eight_kinds_are_named_the_most_frequent_first() -> None:
    kinds = [(name, 1 + (name in "ch")) for name in "abcdefghi"]
    assert _count_kinds("were odd", kinds[:2]) == "2 were odd: 1 × a; 1 × b"
    eight = "2 × c; 2 × h; 1 × a; 1 × b; 1 × d; 1 × e; 1 × f; 1 × g"
    assert _count_kinds("were odd", kinds) == f"11 were odd: {eight}; and 1 other kinds"
    assert _count_kinds("were odd", kinds[:8]) == f"10 were odd: {eight}"


# ── spans and room ──


def test_a_long_span_is_narrowed_to_the_sentence_that_shares_most_words() -> None:
    filler = "Nothing else was said on that long day. "
    text = f"Before. {filler * 9}Ada lit the great lamp. {filler * 4}Ada lit a lamp. After."
    first = text.index("Ada lit the great")
    narrowed = _narrow_span(text, 8, len(text) - 7, "Ada lit the great lamp")
    assert text[slice(*narrowed)].strip() == "Ada lit the great lamp."
    assert narrowed[0] == first
    assert _narrow_span(text, 0, 400, "Ada lit the great lamp") == (0, 400)
    assert _narrow_span(text, 8, 408, "so") == (8, 408)
    start, end = _narrow_span(text, 8, 409, "quartz")
    assert (start, text[start:end].strip()) == (8, filler.strip())


def test_words_overlap_by_their_share_less_a_little_for_length() -> None:
    said = frozenset({"lamp", "lit"})
    assert _word_overlap(said, "Lamp") == pytest.approx(1 / 2.1)
    assert _word_overlap(said, "lamp lit") == pytest.approx(2 / 2.2)
    assert _word_overlap(said, "") == _word_overlap(frozenset(), "lamp") == 0.0


def test_room_is_filled_up_to_the_first_that_does_not_fit() -> None:
    room = Room(10)
    assert room.filled([4, 6, 1], lambda n: n) == [4, 6]
    assert room.left == 0
    room = Room(9)
    assert room.filled([4, 6, 1], lambda n: n) == [4]
    assert (room.left, room.filled([5, 1], lambda n: n), room.filled([1], lambda n: n)) == (5, [5], [])


# ── names ──


def test_other_forms_are_told_as_texts_write_them_most_often_first_and_pronouns_are_none() -> None:
    named = Counter({"Ada Finch": 4, "ADA": 2, "A": 9, "she": 7})
    node = EntityNode(names=named, surfaces=Counter({"Ada": 3, "Mrs Finch": 5}))
    assert _other_forms("ada finch", node) == ("Mrs Finch", "Ada")
    bare = EntityNode(names=Counter({"Ada Finch": 4, "ADA": 2, "Ada": 3, "Finch": 1, "x": 8}))
    assert _other_forms("ada finch", bare) == ("Ada", "Finch")
    many = EntityNode(surfaces=Counter({f"name {i}": 20 - i for i in range(12)}))
    assert _other_forms("none", many) == tuple(f"name {i}" for i in range(8))


def test_titles_are_tied_to_what_mentions_them_and_share_the_weight() -> None:
    """Entity 0 is in chunks 0 and 2 and titles 1 and 2; entity 1 is in chunk 1 and titles nothing."""
    start, held = np.array([0, 2, 3]), np.array([0, 2, 1])
    owns, owned = np.array([0, 2, 2]), np.array([1, 2])
    source, target, weight = _title_links(start, held, owns, owned, np.array([3.0, 5.0]))
    assert list(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True)) == [
        (0, 1, 1.5),
        (0, 2, 1.5),
        (2, 1, 1.5),
    ]


def entity(name: str, shown: str, frequency: int, *aliases: str) -> Entity:
    return Entity(name, shown, "p", "", (), (), frequency, 0, aliases)


def test_of_several_entities_of_a_name_the_most_mentioned_is_meant_and_names_come_before_aliases() -> None:
    people = entity("a", "Ada", 1, "Bo"), entity("b", "ADA", 3, "Cy"), entity("c", "Bo", 1), entity("d", "Bo", 1)
    assert entities_by_name(Graph(people)) == {"ada": "b", "bo": "c", "cy": "b"}


# ── dates ──


def test_sentences_with_a_date_are_facts_where_their_chunks_hold_them() -> None:
    text = "Ada came in 2011. Nothing. Bo left on 4 March 2012."
    (found,) = find_dated_sentences.fn([Document("d", text)])
    assert [(s.text.strip(), s.first, s.last) for s in found] == [
        ("Ada came in 2011.", "2011", "2011"),
        ("Bo left on 4 March 2012.", "", "2012-03-04"),
    ]
    chunks = [Chunk("c0", "d", 0, 10, 3, ""), Chunk("c1", "d", 10, 60, 9, ""), Chunk("e", "f", 0, 60, 9, "")]
    odd = DatedSentence(60, 70, "Once.", "", "", 2)
    (dates,) = settle_dates.fn([Dating({"d": [*found, odd]}, chunks, {})], functional=())
    assert [[(s.chunk, s.start, s.end) for s in f.sources] for f in dates.facts] == [
        [("c0", 0, 10), ("c1", 0, found[0].end - 10)],
        [("c1", found[1].start - 10, found[1].end - 10)],
    ]
    assert (dates.unread, [(f.type, f.disputed, f.flagged) for f in dates.facts]) == (2, [("", False, False)] * 2)
    assert len({f.id for f in dates.facts}) == 2
    assert {len(f.id) for f in dates.facts} == {20}
    assert (Dates().unread, len(Dates().facts)) == (0, 0)


# ── what was known ──

MANIFEST = Manifest("", "", "", "", "", "", "", "", {"documents": 3})


def test_what_is_said_of_documents_that_were_known_in_another_version_or_not_known_at_all(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    entries = {name: DocumentEntry(name, "1", "", "", ()) for name in "abc"}
    note_arrivals(store, [entries["a"], DocumentEntry("b", "0", "", "", ())], "2020-01-01T00:00:00Z")
    note_arrivals(store, [entries["a"], entries["b"]], "2021-01-01T00:00:00Z")

    def known(moment: str, names: str, unknown: Any = "include") -> tuple[str, str]:
        listed = Catalogue(tuple(entries[n] for n in names), ())
        index: Any = SimpleNamespace(store=store, catalogue=listed, given=None, manifest=MANIFEST)
        inside, note = _restrict_to_known(index, Scope(known_at=moment, unknown=unknown))
        return "".join(sorted(inside.inside)), note  # type: ignore[attr-defined]

    assert known("2022", "ab") == ("ab", "known at 2022: 2 of 2 documents")
    changed = "; 1 were known in an earlier version, which is not kept, and are left out"
    assert known("2020", "ab") == ("a", f"known at 2020: 1 of 2 documents{changed}")
    since = "; of 1 it is not known since when"
    assert known("2020", "abc") == ("ac", f"known at 2020: 2 of 3 documents{changed}{since}")
    assert known("2022", "abc", "exclude") == ("ab", f"known at 2022: 2 of 3 documents{since}")
    with pytest.raises(InputError, match="known at 2019; the first came 2020-01-01"):
        known("2019", "ab")


# ── vectors ──


class Counting:
    """Vectors of one column: the length of each text; and how many texts came at once."""

    def __init__(self, *, waits: bool, lexical: bool = False) -> None:
        self.waits, self.lexical, self.name, self.blocks = waits, lexical, "counting", list[int]()

    def embed(self, texts: list[str], kind: str) -> Any:
        self.blocks.append(len(texts))
        return np.array([[float(len(t))] for t in texts], np.float32)


def test_texts_whose_rows_are_not_known_are_embedded_in_blocks_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", 2)
    by: Any = Counting(waits=False)
    texts, names = ["a", "bb", "ccc", "dd", "e"], np.arange(10, dtype=np.uint64).reshape(5, 2)
    known = vectors.pack_rows(np.array([[7.0]]))
    whole, again = vectors.embed_segment.fn(
        [
            vectors.Run(texts, names, np.zeros(0, np.int64), known[:0]),
            vectors.Run([t for t in texts if t != "dd"], names, np.array([3]), known),
        ],
        embedder=by,
        numbers="int16",
    )
    assert by.blocks == [2, 2, 1, 2, 2]
    assert np.allclose(unpack_rows(whole)[:, 0], [1, 2, 3, 2, 1])
    assert np.allclose(unpack_rows(again)[:, 0], [1, 2, 3, 7, 1])
    assert whole["text"].tolist() == again["text"].tolist() == names.tolist()


def test_rows_are_true_to_half_of_a_whole_number_and_zeros_stay_zeros() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 9))
    rows[7] = 0
    for numbers, most in (("int16", 32_767), ("int8", 127)):
        packed = vectors.pack_rows(rows, numbers)  # type: ignore[arg-type]
        assert packed["values"].dtype == numbers
        largest = np.abs(rows).max(axis=1, keepdims=True)
        assert (np.abs(unpack_rows(packed) - rows) <= largest / most * 0.5001 + 1e-12).all()
        assert not unpack_rows(packed)[7].any()
    for wrong in (np.nan, np.inf):
        with pytest.raises(ItemFailed, match="not finite"):
            vectors.pack_rows(np.array([[1.0, wrong]]))


def test_a_stored_vector_of_either_form_is_read_alike() -> None:
    by: Any = SimpleNamespace(embed=lambda texts, kind: np.array([[0.6, -0.8, 0.0]], np.float32))
    (now,) = vectors.embed_texts.fn(["abc"], embedder=by)
    before = np.array([0.6, -0.8, 0.0], np.float32).tobytes()
    assert len(now) == 1 + 4 + 2 * 3 < len(before)
    one, other = vectors.read_vectors([now, before])
    assert np.array_equal(one, other)
    assert np.allclose(one, [0.6, -0.8, 0], atol=1e-4)
    assert vectors.read_vectors([]).shape == (0, 0)


def test_vectors_that_add_nothing_to_full_text_are_not_made() -> None:
    rt: Any = SimpleNamespace(embedder=Counting(waits=True, lexical=True))
    assert vectors.beyond_words(rt, lambda: pytest.fail("made in vain")) is None
    meant: Any = SimpleNamespace(embedder=Counting(waits=True))
    made: Any = object()
    assert vectors.beyond_words(meant, lambda: made) is made


@pytest.mark.parametrize(("place", "number"), [(0, None), (9, None), (10, 1), (19, 1), (20, 2), (99, 2)])
def test_a_figure_is_told_from_the_line_on_that_names_it(place: int, number: int | None) -> None:
    told: Any = [SimpleNamespace(head=10, page=4, figure=1), SimpleNamespace(head=20, page=None, figure=2)]
    index: Any = SimpleNamespace(root=SimpleNamespace(_places={"d": ((0, 15), told), "e": ((0, 15), [])}))
    index._figure = lambda name, place: Index._figure(index, name, place)
    assert Index.figure(index, "d", place) == number
    assert Index.figure(index, "e", place) is None
    assert Index.page(index, "e", place) == 1 + (place >= 15)
    assert Index.page(index, "d", place) == {None: 1, 1: 4, 2: None}[number]


def test_vectors_of_before_begin_as_they_will_and_have_an_even_number_of_bytes() -> None:
    old = np.frombuffer(b"\1\0\0\x3f" + np.array([0.25, -1.0], "<f4").tobytes(), "<f4")
    new = vectors.embed_texts.fn(["ab", "c"], embedder=Counting(waits=False))
    assert vectors.read_vectors([old.tobytes()])[0].tolist() == pytest.approx(old.tolist(), abs=1e-4)
    assert vectors.read_vectors(new).tolist() == [[pytest.approx(2.0)], [pytest.approx(1.0)]]


@pytest.mark.parametrize("names", [["reports", "graph", "names"], ["graph"], ["names", "zzz", "graph"]])
def test_of_parts_that_are_missing_the_one_that_is_built_first_is_named(names: list[str]) -> None:
    index: Any = SimpleNamespace(manifest=SimpleNamespace(part_names=frozenset(["outline"])), given=())
    with pytest.raises(NotIndexed, match=r"\bgraph\b"):
        Index.check_parts(index, names)
    Index.check_parts(index, ["outline"])


def test_of_a_long_span_of_blanks_all_is_cited() -> None:
    assert _narrow_span(" " * 5_000, 3, 4_003, "lamp") == (3, 4_003)
