"""Published tables are read as they were printed, and agree with themselves (G34, G35, G38, G46–G48, L24, R18–R22)."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.experiments.published import (
    Comparison6,
    find_paper,
    list_papers,
    list_published_tables,
    read_published_table,
    read_win_rate_comparisons,
)
from sensegraph.lab.scores.statistics import correct_by_holm, two_sided_p


def families() -> dict[tuple[str, str], list[Comparison6]]:
    found = defaultdict(list)
    for row in read_win_rate_comparisons():
        found[row.dataset, row.metric].append(row)
    return found


def agrees(row: Comparison6, p: float) -> bool:
    return p < 0.001 if row.p == "<0.001" else abs(p - float(row.p)) <= 0.01


def test_holm_over_the_fifteen_pairs_of_a_data_set_and_metric_gives_all_published_p():
    numeric = []
    for rows in families().values():
        assert len(rows) == 15
        for row, p in zip(rows, correct_by_holm([two_sided_p(r.z) for r in rows]), strict=True):
            assert agrees(row, p), row
            numeric += [abs(p - float(row.p))] if row.p != "<0.001" else []
    assert (len(read_win_rate_comparisons()), len(numeric)) == (120, 87)
    assert max(numeric) == pytest.approx(0.0063, abs=5e-5)


def test_a_family_of_sixty_gives_51_of_the_87_numeric_p_wrong_and_6_of_the_others():
    wrong = Counter()
    for dataset in ("podcast", "news"):
        rows = [r for r in read_win_rate_comparisons() if r.dataset == dataset]
        assert len(rows) == 60
        for row, p in zip(rows, correct_by_holm([two_sided_p(r.z) for r in rows]), strict=True):
            wrong[row.p == "<0.001"] += not agrees(row, p)
    assert wrong == {False: 51, True: 6}


def test_the_means_of_two_conditions_add_up_to_100():
    assert {round(sum(r.means), 6) for r in read_win_rate_comparisons()} == {100.0}


def test_the_claims_of_table_3_add_up_to_the_printed_number():
    found = read_published_table("edge2024", "3")
    assert round(sum(map(sum, found.rows.values())) * found.questions) == 47_075


def test_the_per_cents_of_table_2_follow_from_its_tokens():
    rows = read_published_table("edge2024", "Table 2").rows
    for data in ("podcast", "news"):
        tokens = rows[f"{data} tokens"]
        assert [100 * t / tokens[-1] for t in tokens] == pytest.approx(list(rows[f"{data} %"]), abs=0.06)


def test_fewer_clusters_are_left_the_higher_the_threshold_and_never_more_than_claims():
    four, three = read_published_table("edge2024", "4").rows, read_published_table("edge2024", "3").rows
    for data in ("news", "podcast"):
        columns = zip(three[data], *(four[f"{data} {t}"] for t in ("0.5", "0.6", "0.7", "0.8")), strict=True)
        assert all(list(c) == sorted(c, reverse=True) for c in columns)


def test_leanrag_is_alone_best_in_eleven_cells_ties_one_and_loses_four():
    kinds = Counter()
    for own, *others in read_published_table("zhang2025", "1").rows.values():
        kinds["best" if own > max(others) else "ties" if own == max(others) else "loses"] += 1
    assert kinds == {"best": 11, "ties": 1, "loses": 4}


def test_every_table_that_is_listed_can_be_read_and_has_a_figure_for_every_column():
    assert len(list_papers()) > 3
    for paper in list_papers():
        for name in list_published_tables(paper):
            if (paper, name) == ("edge2024", "6"):
                continue
            found = read_published_table(paper, name)
            assert found.rows
            assert found.caption
            assert {len(r) for r in found.rows.values()} == {len(found.columns)}, (paper, name)


def test_a_paper_goes_by_the_name_of_its_method_too_and_an_unknown_one_by_the_nearest():
    assert find_paper("hipporag2") == find_paper("hipporag") == "gutierrez2025"
    assert [find_paper(name) for name in ("graphrag", "leanrag", "graft", "cpm")] == [
        *("edge2024", "zhang2025", "graft2024", "traag2011"),
    ]
    with pytest.raises(InputError, match="did you mean edge2024"):
        find_paper("edge2042")
    with pytest.raises(InputError, match=r"there are .*2, 3, 4, 6"):
        read_published_table("edge2024", "9")
