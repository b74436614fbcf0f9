"""The figures that the paper prints, against each other and against its text (R14, R18–R22; graft §6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sensegraph.lab.finetuning.factorial.printed import (
    check_claims,
    find_non_shares,
    fit_divisions,
    nearest_shares,
    read_figures,
    recompute_joint,
    select_odd_cells,
)

SHOWN = read_figures()


def test_19_of_20_joint_cells_are_the_mean_of_29_global_and_38_other_questions():
    """R14, R22."""
    cells = recompute_joint(SHOWN)
    assert len(cells) == 20
    assert [(c.metric, c.system, c.printed, round(c.computed, 3)) for c in select_odd_cells(cells)] == [
        ("human", "RAFT", 0.403, 0.439)
    ]
    assert max(c.off for c in cells if c not in select_odd_cells(cells)) < 0.001


def test_no_other_division_of_the_67_questions_fits_as_many():
    assert fit_divisions(SHOWN)[:3] == ((29, 38, 19), (30, 37, 18), (28, 39, 16))


def test_two_human_figures_are_no_share_of_their_questions_and_both_belong_to_raft():
    """9, 12 and 18 of 29; 10, 23 and 20 of 38; 19, 27, 35 and 38 of 67; but .500 of 29 and .393 of 38 are none."""
    assert [(c.table, c.system, c.printed) for c in find_non_shares(SHOWN)] == [
        ("global", "RAFT", 0.5),
        ("non-global", "RAFT", 0.393),
    ]
    sizes = {"global": 29, "non-global": 38, "joint": 67}
    counts = {(c.table, c.system): round(c.computed * sizes[c.table]) for c in nearest_shares(SHOWN)}
    whole = [counts["joint", s] for s in SHOWN.systems]
    parts = [counts["global", s] + counts["non-global", s] for s in SHOWN.systems]
    assert whole == [19, 27, 35, 38]
    assert [a - b for a, b in zip(parts, whole, strict=True)] == [0, 2, 0, 0]  # again RAFT's alone


def test_the_claims_that_do_not_hold_are_named_with_the_cells_that_say_so():
    """R21."""
    wrong = {f.claim.place: f.against for f in check_claims(SHOWN) if not f.holds}
    assert wrong == {
        "section 5.4, Figure 2: GRAFT is highest on all metrics": (
            "global bertscore: Baseline GraphRAG 0.346, GRAFT 0.33",
        ),
        "section 5.4, Figure 3: GRAFT stays superior": ("non-global human: Baseline GraphRAG 0.605, GRAFT 0.526",),
    }
    assert len(check_claims(SHOWN)) == 11


def test_a_claim_about_most_metrics_fails_when_half_speak_against_it():
    claim = next(c for c in SHOWN.claims if c.lower)
    (turned,) = check_claims(replace(SHOWN, claims=(replace(claim, lower=False),)))
    assert not turned.holds
    assert len(turned.against) == 3


@pytest.mark.parametrize(("table", "total"), [("global", 29), ("non-global", 38)])
def test_the_questions_of_the_parts_are_the_67_of_the_paper(table: str, total: int):
    assert SHOWN.questions[table] == total
    assert sum(SHOWN.questions.values()) == 67


def test_what_is_equal_on_both_tables_is_neither_higher_nor_lower():
    claim = next(c for c in SHOWN.claims if not c.above)
    for lower in (False, True):
        same = replace(claim, between=("global", "global"), lower=lower)
        (found,) = check_claims(replace(SHOWN, claims=(same,)))
        assert not found.holds
        assert len(found.against) == len(SHOWN.metrics)
