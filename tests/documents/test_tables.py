"""Tables, in files and in pages: their rows are told in words."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph import Corpus
from sensegraph.documents import Loaded, load
from sensegraph.documents.document_files import DEFAULTS
from sensegraph.documents.markup import parse_html
from sensegraph.documents.tables import tell_table
from sensegraph.language.sentences import split_sentences
from sensegraph.language.tables import is_header, tell_row, tell_ruled_rows
from sensegraph.types import Document


def read(folder, name: str, text: str) -> Loaded:
    (folder / name).write_text(text, encoding="utf-8")
    return load([folder / name])


def told(folder, text: str, name: str = "x.csv") -> list[str]:
    """The paragraphs of the one document that a table gives."""
    (document,) = read(folder, name, text).documents
    return document.text.split("\n\n")


def page(table: str) -> str:
    return parse_html("x.html", f"<p>Before</p>{table}").text.removeprefix("Before\n\n")


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_row_is_told_as_one_sentence_with_the_names_of_its_columns(tmp_path):
    text = 'Name,Born,Height (m)\nAda Finch,1815,1.63\n"Stone, Bob",1820,tall\n'
    loaded = read(tmp_path, "great_men-and-women.csv", text)
    facts = (("columns", "Name, Born, Height (m)"), ("rows", 2))
    rows = "Name: Ada Finch; Born: 1815; Height: 1.63 m.\n\nName: Stone, Bob; Born: 1820; Height (m): tall."
    assert loaded == Loaded((Document("great_men-and-women.csv", rows, "great men and women", facts),))
    assert len(list(split_sentences(rows))) == 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_with_which_most_rows_have_one_width(tmp_path, delimiter):
    rows = [["Town", "Share", "Note"], ["Oslo", "1.5", "a; b, c | d"], ["Bergen", "2.5", ""], ["Voss", "3", "e"]]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows(rows)
    first, second, third = told(tmp_path, buffer.getvalue())
    assert first == "Town: Oslo; Share: 1.5; Note: a; b, c | d."
    assert (second, third) == ("Town: Bergen; Share: 2.5.", "Town: Voss; Share: 3; Note: e.")


def test_decimal_commas_do_not_make_commas_the_delimiter(tmp_path):
    assert told(tmp_path, "Name;Size\nAda;1,63\nBob;1,80\n") == ["Name: Ada; Size: 1,63.", "Name: Bob; Size: 1,80."]


def test_a_row_of_units_goes_to_the_columns(tmp_path):
    assert told(tmp_path, "Stadt,Fläche,Höhe\n,[km²],(m)\nKöln,405,53\n") == [
        "Stadt: Köln; Fläche: 405 km²; Höhe: 53 m."
    ]


def test_what_stands_above_the_header_and_below_the_rows_is_kept(tmp_path):
    text = "Population by town,,\n,,\nTown,2020,2021\nOslo,69,70\nBergen,28,\nSource: the office\n"
    expected = [
        "Population by town",
        "Town: Oslo; 2020: 69; 2021: 70.",
        "Town: Bergen; 2020: 28.",
        "Source: the office",
    ]
    assert told(tmp_path, text) == expected


def test_remarks_are_kept_and_the_header_may_be_one(tmp_path):
    text = "# Lists of bridges,\n# made by hand, as of today.\n#\n# Corrections are welcome.\n" + "# So it is.\n" * 80
    text += "#name\tlength\tcity\nTower\t244\tLondon\n# The next, is gone.\nOld\t100\tBonn\n"
    first, *others = told(tmp_path, text, "x.tsv")
    assert first.startswith("Lists of bridges,\nmade by hand, as of today.")
    assert others[-3:] == [
        "name: Tower; length: 244; city: London.",
        "The next, is gone.",
        "name: Old; length: 100; city: Bonn.",
    ]


def test_a_table_of_numbers_has_no_header(tmp_path):
    assert told(tmp_path, "1,2.5,3\n4,5,6\n") == ["1; 2.5; 3.", "4; 5; 6."]


def test_a_list_of_one_column_is_a_table(tmp_path):
    assert told(tmp_path, "Town\nOslo\nBergen\n") == ["Town: Oslo.", "Town: Bergen."]


def test_times_are_told_in_one_form_and_one_that_all_rows_share_is_the_time_of_the_table(tmp_path):
    text = "Time,Town\n5.3.2024,Oslo\n5 March 2024,Bergen\n"
    (document,) = read(tmp_path, "x.csv", text).documents
    assert document.text == "Time: 2024-03-05; Town: Oslo.\n\nTime: 2024-03-05; Town: Bergen."
    assert document.time == "2024-03-05"
    (other,) = read(tmp_path, "y.csv", text + "6.3.2024,Voss\n").documents
    assert other.time == ""


def test_a_row_with_too_many_fields_is_named_and_the_others_are_told(tmp_path):
    loaded = read(tmp_path, "x.csv", "Town,People\nOslo,1,2\nBergen,3\n")
    assert [d.text for d in loaded.documents] == ["Town: Bergen; People: 3."]
    (skipped,) = loaded.skipped
    assert skipped.reason == "line 2 has 3 fields where the header has 2; quote fields that hold the delimiter."


def test_a_header_without_rows_is_named(tmp_path):
    loaded = read(tmp_path, "x.csv", "Town,People\n")
    assert not loaded.documents
    assert "no records below its header" in loaded.skipped[0].reason


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12)
UNIT = re.compile(r"\s*(?:[(\[][^()\[\]]+[)\]]\s*)?")  # "[km]", "(EUR)" or nothing: a first row of these tells units
RECORDS = st.lists(st.tuples(CELLS, CELLS, CELLS).filter(lambda row: any(cell.strip() for cell in row)), min_size=1)


@given(RECORDS.filter(lambda rows: not all(map(UNIT.fullmatch, rows[0]))), st.sampled_from(",;\t|"))
def test_every_cell_is_told_in_its_place_however_it_is_quoted(rows, delimiter):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("Alpha", "Beta", "Gamma"), *rows])
    *_, (where, document) = tell_table("x.csv", buffer.getvalue(), DEFAULTS, delimiter)
    assert where == ""
    expected = [tell_row(("Alpha", "Beta", "Gamma"), row) for row in rows]
    assert document.text.split("\n\n") == expected  # type: ignore[union-attr]


@given(st.permutations(["Oslo,1", "Bergen,2", "Voss,3", "Bodø,4"]))
def test_the_order_of_the_rows_is_that_of_the_paragraphs(rows):
    *_, (_, document) = tell_table("x.csv", "\n".join(["Town,People", *rows]), DEFAULTS)
    names = [row.partition(",")[0] for row in rows]
    assert [part.split(";")[0] for part in document.text.split("\n\n")] == [f"Town: {name}" for name in names]  # type: ignore[union-attr]


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_row_of_a_page_is_told_with_the_header_of_the_table_behind_its_caption():
    table = "<table><caption>Towns</caption><tr><th>Town<th>People<tr><td>Oslo<td>5<tr><td>Voss<td>6</table>"
    assert page(table) == "Towns\n\nTown: Oslo; People: 5.\n\nTown: Voss; People: 6."


def test_header_rows_are_joined_and_cells_reach_over_rows_and_columns():
    head = "<thead><tr><th rowspan=2>Town<th colspan=2>People<tr><th>2020<th>2021</thead>"
    rows = "<tr><td colspan=3>South<tr><th>Bergen</th><td rowspan=2>7<td>8<tr><td>Voss<td>9"
    assert page(f"<table>{head}{rows}</table>").split("\n\n") == [
        "South",
        "Town: Bergen; People, 2020: 7; People, 2021: 8.",
        "Town: Voss; People, 2020: 7; People, 2021: 9.",
    ]


def test_headers_at_the_left_name_what_stands_beside_them():
    table = "<table><tr><th colspan=2>Ada Finch<tr><th>Born<td>1815<tr><th>Height<td>1.63 m</table>"
    assert page(table) == "Ada Finch\n\nBorn: 1815.\n\nHeight: 1.63 m."


def test_a_cell_that_ends_with_a_colon_names_the_one_beside_it():
    page = "<table><tr><td>Bridge:</td><td>Tower</td></tr><tr><td>City:</td><td>London</td></tr></table>"
    assert parse_html("x.html", page).text == "Bridge: Tower.\n\nCity: London."


def test_paragraphs_in_the_cells_of_a_table_that_places_text_stay_apart():
    page = "<table><tr><td>Menu<ul><li>Home</li><li>News</li></ul></td><td><h2>Head</h2><p>Text</p></td></tr></table>"
    assert parse_html("x.html", page).text.split("\n\n") == ["Menu", "Home", "News", "Head", "Text"]


def test_a_first_row_of_words_above_numbers_is_a_header():
    assert (
        page("<table><tr><td>Name<td>Age<tr><td>Bob<td>7<tr><td>Al<td>8</table>")
        == "Name: Bob; Age: 7.\n\nName: Al; Age: 8."
    )


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("<table><tr><td>Left<td>Right<tr><td>more<td>words</table>", "Left | Right\nmore | words"),
        ("<table role=presentation><tr><th>A<th>B<tr><td>c<td>d</table>", "A | B\nc | d"),
        ("<table><tr><th>A<th>B<tr><td><ul><li>c</ul><td>d</table>", "A | B\n\nc\n\nd"),
        ("<table><tr><th>A<th>B</table>", "A | B"),
    ],
)
def test_a_table_that_only_places_text_stays_as_it_is(table, text):
    assert page(table) == text


@pytest.mark.parametrize(
    ("row", "header"),
    [
        (["Name", "Born"], True),
        (["", "2020", "2021"], True),
        (["2020", "2021"], False),
        (["Ada", "1.5"], False),
        (["Name", "Name"], False),
        (["", "", "x"], False),
        (["word " * 20, "word " * 10], False),
    ],
)
def test_a_header_is_a_row_of_different_short_words(row, header):
    assert is_header(row) is header


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────────

PIPED = (
    "Towns:\n\n| Town | Name \\| nick | Height (m) |\n|:---|---|--:|\n| Oslo | a \\| b | 23 |\n| Voss | | |\n\na | b\n"
)


def test_rows_of_markdown_are_told_with_the_header_of_their_table_and_their_spans():
    told = {PIPED[start:end]: row for (start, end), row in tell_ruled_rows(PIPED).items()}
    assert told == {
        "Oslo | a \\| b | 23 |": "Town: Oslo; Name | nick: a | b; Height: 23 m.",
        "Voss | | |": "Town: Voss.",
    }


def test_pipes_without_a_ruled_header_are_no_table():
    assert not tell_ruled_rows("a | b\nc | d\n---\ne -- f | g\n")


def test_what_a_row_says_of_a_name_is_told_with_the_header_and_the_span_stays_that_of_the_row(tmp_path):
    text = "# Wren\n\n| Name | Town |\n|---|---|\n| Ada Finch | Oslo |\n| Bob Stone | Bergen |\n"
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as corpus:
        corpus.add([Document("x.md", text)])
        corpus.build()
        found = {e.name: e.descriptions[0] for e in corpus.index().graph.entities}
    assert found["Bob Stone"].text == "Name: Bob Stone; Town: Bergen."
    source = found["Bob Stone"].source
    assert text[source.start : source.end] == "Bob Stone | Bergen |"
