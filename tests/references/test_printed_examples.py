"""What the papers print and one can work out again: win rates, corrected p, context tokens, labels."""

from __future__ import annotations

import pytest

from sensegraph.lab.experiments.published import Comparison6, read_published_table, read_win_rate_comparisons
from sensegraph.lab.judging.judgements import majority_label
from sensegraph.lab.scores.statistics import correct_by_holm, two_sided_p

METRICS = ("comprehensiveness", "diversity", "empowerment", "directness")
ORDER = ("SS", "TS", "C0", "C1", "C2", "C3")

# Edge et al. 2024, Figure 2: the rows SS and TS right of the diagonal, whole per cents, then C0, C1 and C2
FIGURE_2 = {
    "podcast": {
        "comprehensiveness": ([17, 28, 25, 22, 21], [50, 48, 43, 44], [53, 50, 49], [52, 50], [52]),
        "diversity": ([18, 23, 25, 19, 19], [50, 50, 43, 46], [50, 46, 44], [44, 45], [48]),
        "empowerment": ([42, 57, 52, 49, 51], [59, 55, 52, 51], [49, 47, 48], [49, 50], [51]),
        "directness": ([56, 65, 60, 60, 60], [55, 52, 51, 52], [47, 48, 48], [50, 50], [50]),
    },
    "news": {
        "comprehensiveness": ([20, 28, 25, 21, 21], [44, 41, 38, 36], [52, 54, 52], [58, 55], [59]),
        "diversity": ([33, 38, 35, 29, 31], [53, 45, 44, 40], [40, 41, 41], [50, 50], [51]),
        "empowerment": ([47, 57, 49, 50, 50], [58, 50, 50, 48], [42, 45, 44], [52, 51], [50]),
        "directness": ([54, 59, 55, 55, 54], [55, 53, 52, 52], [48, 48, 47], [49, 49], [49]),
    },
}


def table_6(dataset: str, metric: str) -> list[Comparison6]:
    return [r for r in read_win_rate_comparisons() if (r.dataset, r.metric) == (dataset, metric)]


def win_rate(dataset: str, metric: str, first: str, second: str) -> float:
    for row in table_6(dataset, metric):
        if (row.first, row.second) == (first, second):
            return row.means[0]
        if (row.second, row.first) == (first, second):
            return row.means[1]
    raise KeyError((first, second))


def corrected(dataset: str, metric: str) -> dict[tuple[str, str], float]:
    rows = table_6(dataset, metric)
    found = correct_by_holm([two_sided_p(r.z) for r in rows])
    return {(r.first, r.second): p for r, p in zip(rows, found, strict=True)}


def test_the_cells_of_figure_2_are_those_of_table_6() -> None:
    """120 cells, printed twice by one paper: the rounded means of our table are those of the figure."""
    off = []
    for dataset, metrics in FIGURE_2.items():
        for metric, rows in metrics.items():
            for i, row in enumerate(rows):
                for second, cell in zip(ORDER[i + 1 :], row, strict=True):
                    if abs(win_rate(dataset, metric, ORDER[i], second) - cell) > 0.5 + 1e-9:
                        off.append(
                            (dataset, metric, ORDER[i], second, cell, win_rate(dataset, metric, ORDER[i], second))
                        )
    assert off == []


@pytest.mark.parametrize(
    ("dataset", "metric", "low", "high", "level"),
    [
        ("podcast", "comprehensiveness", 72, 83, 0.001),
        ("news", "comprehensiveness", 72, 80, 0.001),
        ("podcast", "diversity", 75, 82, 0.001),
        ("news", "diversity", 62, 71, 0.01),
    ],
)
def test_global_search_wins_against_vectors_as_section_5_1_says(
    dataset: str, metric: str, low: int, high: int, level: float
) -> None:
    rates = [win_rate(dataset, metric, first, "SS") for first in ORDER[1:]]
    assert (round(min(rates)), round(max(rates))) == (low, high)
    assert max(p for (_, second), p in corrected(dataset, metric).items() if second == "SS") < level


@pytest.mark.parametrize(
    ("dataset", "metric", "condition", "rate", "p"),
    [
        ("podcast", "comprehensiveness", "C2", 57, None),
        ("news", "comprehensiveness", "C3", 64, None),
        ("podcast", "diversity", "C2", 57, 0.036),
        ("news", "diversity", "C3", 60, None),
    ],
)
def test_summaries_win_against_source_texts_as_section_5_1_says(
    dataset: str, metric: str, condition: str, rate: int, p: float | None
) -> None:
    assert round(win_rate(dataset, metric, condition, "TS")) == rate
    found = corrected(dataset, metric)[condition, "TS"]
    assert found < 0.001 if p is None else found == pytest.approx(p, abs=0.002)


def test_summaries_need_as_many_tokens_less_as_section_5_1_says() -> None:
    """Table 2: 26 to 33 % fewer at the leaves, over 97 % at the roots, whose 9 to 43 times are those of news."""
    rows = read_published_table("edge2024", "2").rows
    tokens = {
        data: dict(zip(("C0", "C1", "C2", "C3", "TS"), rows[f"{data} tokens"], strict=True))
        for data in ("podcast", "news")
    }
    saved = {data: 100 * (1 - found["C3"] / found["TS"]) for data, found in tokens.items()}
    assert sorted(round(value) for value in saved.values()) == [26, 33]
    assert all(100 * (1 - found["C0"] / found["TS"]) > 97 for found in tokens.values())
    times = [found[name] / found["C0"] for found in tokens.values() for name in ("C1", "TS")]
    assert [round(value, 1) for value in times] == [8.5, 38.1, 8.9, 42.9]


def test_the_two_labels_that_section_5_2_works_out() -> None:
    """Three wins of five are a label; two, one and two ties are a tie."""
    assert majority_label([1, 1, 1, 2, 2]) == 1
    assert majority_label([1, 1, 2, 0, 0]) == 0
