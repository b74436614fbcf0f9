"""Cells of a page: their colours by a sum, and which hold words."""

from __future__ import annotations

import pytest

from sensegraph.lab.experiments import sheets
from sensegraph.lab.experiments.sheets import Cell, make_table


@pytest.mark.parametrize(
    ("shade", "ground", "ink"),
    [
        (0.5, (247, 247, 247), "#000"), (1.0, (86, 138, 191), "#000"), (0.0, (196, 128, 66), "#000"),
        (0.75, (167, 193, 219), "#000"), (0.25, (222, 187, 157), "#000"), (2.0, (86, 138, 191), "#000"),
        (-1.0, (196, 128, 66), "#000"),
    ],
)  # fmt: skip
def test_a_shade_goes_three_quarters_of_the_way_to_its_end(
    shade: float, ground: tuple[int, int, int], ink: str
) -> None:
    style = f' style="background:rgb({",".join(map(str, ground))});color:{ink}"'
    assert sheets._shade_style(Cell("1", shade)) == style


def test_a_cell_without_a_shade_has_no_style_and_one_on_dark_ground_white_ink(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sheets._shade_style(Cell("1")) == ""
    monkeypatch.setattr(sheets, "_SOFT", 1.0)
    assert sheets._shade_style(Cell("1", 1.0)).endswith('background:rgb(33,102,172);color:#fff"')


def test_words_and_figures_are_told_apart_cell_by_cell() -> None:
    page = sheets._render_table(
        make_table("c", ["", "a", "b"], [["r", Cell("w w", words=True), Cell("1", strong=True)]])
    )
    assert '<td class="words">w w</td><td><strong>1</strong></td>' in page
    assert '<th scope="row">r</th>' in page
