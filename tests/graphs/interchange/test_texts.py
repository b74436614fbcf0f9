"""Every chunk is exactly a span of its document, whatever the text units are (N59)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.graphs.interchange.knowledge import Texts, place_text_units
from sensegraph.graphs.interchange.tables import DocumentRow, Tables, UnitRow
from sensegraph.language.blocks import read_blocks


def tables(documents: dict[str, str], units: list[tuple[str, str]]) -> Tables:
    rows = [DocumentRow({}, name, i, "", text, (), "", ()) for i, (name, text) in enumerate(documents.items())]
    cut = [UnitRow({}, f"u{i}", i, text, (document,)) for i, (document, text) in enumerate(units)]
    return Tables(documents=rows, text_units=cut)


def spans(texts: Texts) -> list[tuple[str, int, int]]:
    return [(c.document, c.start, c.end) for c in texts.all_chunks()]


def place(documents: dict[str, str], *units: tuple[str, str]) -> Texts:
    return place_text_units(tables(documents, list(units)), size=20, overlap=5)


def test_a_text_unit_is_the_span_that_it_equals():
    found = place({"d": "one two three four"}, ("d", "one two"), ("d", "two three"), ("d", "four"))
    assert spans(found) == [("d", 0, 7), ("d", 4, 13), ("d", 14, 18)]
    assert not found.notes


def test_a_text_unit_of_an_index_is_found_though_its_lines_were_wrapped_or_broken_by_a_page():
    text = "The keeper wrote to the\n\fharbour board.\n\fThe board met."
    units = read_blocks(text).text[:38], read_blocks(text).text[40:]
    found = place({"d": text}, ("d", units[0]), ("d", units[1]))
    assert "\n" not in units[0]
    assert spans(found) == [("d", 0, 38), ("d", 40, 55)]
    assert [c.text for c in found.all_chunks()] == [*units]


def test_words_that_come_twice_are_found_in_the_order_of_text_units():
    found = place({"d": "row. row. row."}, ("d", "row."), ("d", "row."), ("d", "row."))
    assert spans(found) == [("d", 0, 4), ("d", 5, 9), ("d", 10, 14)]


def test_lines_of_metadata_before_the_text_are_left_out():
    found = place({"d": "one two three"}, ("d", "title: d.txt.\nauthor: Elsa.\ntwo three"))
    assert spans(found) == [("d", 4, 13)]


def test_a_text_unit_that_is_no_span_becomes_a_document_of_its_own_and_is_counted():
    found = place({"d": "one two three"}, ("d", "one two"), ("d", "one … three"))
    assert spans(found) == [("d", 0, 7), ("u1", 0, 11)]
    assert list(found.made) == ["u1"]
    assert found.notes == ["1 text units are no span of their document and became documents of their own: 'u1'"]


def test_without_documents_every_text_unit_is_one():
    found = place_text_units(tables({}, [("gone", "one"), ("gone", "two")]), size=20, overlap=5)
    assert spans(found) == [("u0", 0, 3), ("u1", 0, 3)]
    assert not found.notes


def test_documents_without_text_units_are_cut_as_by_an_index():
    found = place({"d": "One two three. " * 30})
    assert len(found.chunks["d"]) > 3
    assert all(c.text == found.documents["d"].text[c.start : c.end] for c in found.all_chunks())


def test_all_chunks_of_a_document_share_a_mark_and_end_with_the_id_of_their_text_unit():
    found = place({"a": "one two", "b": "one two"}, ("a", "one"), ("a", "two"), ("b", "one"))
    names = [c.id for c in found.all_chunks()]
    assert names[0][:12] == names[1][:12] != names[2][:12]
    assert [n[12:] for n in names] == ["u0", "u1", "u2"]


@given(
    st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30), st.text(max_size=3)), max_size=6)
)
def test_every_chunk_is_its_span_and_every_text_unit_has_one(text: str, cuts: list[tuple[int, int, str]]):
    units = [("d", text[start : start + length] + noise) for start, length, noise in cuts]
    found = place({"d": text}, *units)
    assert len(found.chunk_of) == len(units)
    for c in found.all_chunks():
        text = found.documents[c.document].text
        assert c.text in (text[c.start : c.end], read_blocks(text).text[c.start : c.end])
    if units:
        assert sorted(found.chunk_of) == sorted(f"u{i}" for i in range(len(units)))
        assert sorted(found.chunk_of.values()) == sorted(c.id for c in found.all_chunks())
