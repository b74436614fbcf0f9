"""The report as HTML and Markdown: well-formed, whole in itself, in order, and legible."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from sensegraph.lab.experiments.sheets import (
    Beside,
    Cell,
    Fold,
    Grid,
    Items,
    Named,
    Section,
    Sheet,
    format_number,
    format_signed,
    make_table,
    render_html,
    render_markdown,
)
from sensegraph.lab.scores.statistics import format_p_value

HEAT = make_table("Heat", ["", "A", "B"], [["A", "–", Cell("75.0", 0.75, strong=True)], ["B", Cell("25.0", 0.25), "–"]])
PLAIN = make_table("Said | of <A>", ["name", "what"], [["x & y", Cell("words\nmore", words=True)]], "A note.")
SHEET = Sheet(
    "A <report>",
    ("3 conditions.",),
    (
        Section("In short", (Items(("first", "second & last")),)),
        Section("Figures", (Grid((HEAT, HEAT), "How to read."), Fold("All", (PLAIN,)), "So it is.", PLAIN)),
        Section(
            "Answers",
            (
                Beside(
                    "Why?", (Named("A", "Because.\n\nOr <not>.", ("[1] a.txt:0-8 “Be\ncause & so”",)), Named("B", ""))
                ),
            ),
        ),
    ),
)


def tree(sheet: Sheet) -> ElementTree.Element:
    text = render_html(sheet)
    assert text.startswith("<!DOCTYPE html>")
    return ElementTree.fromstring(text.split("\n", 1)[1])


def test_the_page_is_well_formed_and_keeps_every_text_as_it_was():
    found = "".join(tree(SHEET).itertext())
    for text in ("A <report>", "second & last", "Said | of <A>", "x & y", "Or <not>.", "75.0", "A note."):
        assert text in found


def test_the_sources_of_a_text_stand_below_it_and_a_text_without_has_none():
    (answers,) = [e for e in tree(SHEET).iter("div") if e.get("class") == "beside"]
    first, second = list(answers)
    assert [li.text for li in first.iter("li")] == ["[1] a.txt:0-8 “Be\ncause & so”"]
    assert [e.tag for e in second] == ["h4"]
    shown = "> Because.\n>\n> Or <not>.\n>\n> Sources:\n>\n> - [1] a.txt:0-8 “Be cause & so”\n\n**B**\n\n>\n"
    assert render_markdown(SHEET).endswith(shown)


def test_the_page_asks_nothing_of_any_other_place():
    text = render_html(SHEET)
    assert re.findall(r"""(?:src|href)=["'](?!#)""", text) == []
    assert re.findall(r"url\(|@import|https?://|<script|<link|<img", text) == []


def test_headings_begin_with_one_and_never_skip_a_level():
    levels = [int(e.tag[1]) for e in tree(SHEET).iter() if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_every_table_has_a_caption_and_heads_of_columns_and_rows_and_scrolls_in_its_own_box():
    root = tree(SHEET)
    parents = {child: parent for parent in root.iter() for child in parent}
    tables = list(root.iter("table"))
    assert len(tables) == 4
    for one in tables:
        assert one.findtext("caption/span")
        assert {th.get("scope") for th in one.iter("th")} == {"col", "row"}
        widths = {len(row) for row in one.iter("tr")}
        assert len(widths) == 1
        assert parents[one].get("class") == "scroll"


def test_every_link_leads_to_a_section():
    root = tree(SHEET)
    targets = {e.get("id") for e in root.iter("section")}
    assert [a.get("href") for a in root.iter("a")] == [f"#{name}" for name in ("in-short", "figures", "answers")]
    assert {a.get("href", "")[1:] for a in root.iter("a")} == targets


def luminance(colour: tuple[int, ...]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in colour)]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("shade", [i / 20 for i in range(21)])
def test_the_number_in_a_shaded_cell_is_legible(shade: float):
    text = render_html(Sheet("t", (), (Section("s", (make_table("c", ["", "x"], [["r", Cell("1", shade)]]),)),)))
    found = re.search(r"background:rgb\((\d+),(\d+),(\d+)\);color:#(\w+)", text)
    assert found
    ground = luminance(tuple(int(found[i]) for i in (1, 2, 3)))
    ink = 0.0 if found[4] == "000" else 1.0
    light, dark = max(ground, ink) + 0.05, min(ground, ink) + 0.05
    assert light / dark >= 4.5  # WCAG 2.1, AA


def test_light_and_dark_follow_the_reader_and_a_phone_is_no_wider_than_itself():
    text = render_html(SHEET)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport" content="width=device-width' in text
    assert ".scroll { overflow-x: auto" in text


def test_a_table_of_words_alone_breaks_its_lines_on_a_phone_and_one_of_figures_does_not():
    said = make_table("Conditions", ["name", "settings"], [["C0", Cell("depth = 0", words=True)]])
    figures = make_table("Costs", ["name", "calls"], [["C0", "12"]])
    text = render_html(Sheet("t", (), (Section("s", (said, figures)),)))
    assert re.findall(r"<table( class=.*?)?><caption><span>(\w+)", text) == [
        (' class="said"', "Conditions"),
        ("", "Costs"),
    ]
    assert ".said th, .said td.words { white-space: normal;" in text


def test_heat_tables_stand_as_close_as_they_are_wide_and_their_captions_on_one_line():
    text = render_html(SHEET)
    assert ".grid { display: flex; flex-wrap: wrap;" in text
    assert ".heat caption { white-space: nowrap; }" in text


def test_markdown_has_the_same_parts_with_bars_escaped_and_what_counts_in_bold():
    text = render_markdown(SHEET)
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## In short", "## Figures", "## Answers"]
    assert "| A | – | **75.0** |" in text
    assert "**Said | of <A>**" in text
    assert "| x & y | words more |" in text
    assert "> Because.\n>\n> Or <not>." in text


def test_numbers_are_written_as_people_read_them():
    assert (format_number(None), format_number(-1234.5, 1), format_number(0.5)) == ("–", "−1,234.5", "0.50")
    assert (format_signed(0.25), format_signed(-0.25)) == ("+0.25", "−0.25")
    assert (format_p_value(0.0004), format_p_value(0.0404)) == ("< 0.001", "0.040")
