"""Rankings scored, compared and told, in figures that can be worked out by hand."""

from __future__ import annotations

from math import log2

import pytest

from sensegraph.documents.document_files import Skipped
from sensegraph.errors import InputError
from sensegraph.index.manifest import Manifest
from sensegraph.lab.retrieval.retrieval_scores import (
    Measured,
    Measuring,
    Reranking,
    Result,
    choose_held_out,
    compare_runs,
    measure_ranking,
    score_run,
)
from sensegraph.lab.retrieval.retrieval_tables import (
    align_columns,
    describe_comparison,
    format_result,
    metric_label,
    record_measurements,
    record_set,
    tabulate_sets,
)
from sensegraph.lab.retrieval.runs import Cost, Found, Named, Run
from sensegraph.lab.retrieval.test_collections import JudgedSet, Query
from sensegraph.methods.basic.naive import Naive
from sensegraph.types import Document, Usage

HOW = Measuring(cuts=(1, 2), draws=50)
QUERIES = tuple(Query(f"q{i}", f"Q{i}?", {"a": 1, "b": 1}, "who" if i % 2 else "") for i in range(8))
COUNTS = {"documents": 1200, "chunks": 3400, "entities": 5, "relations": 0}


def run(method: str, *documents: str, notes: tuple[str, ...] = (), wide: int = 0) -> Run:
    """Of each question the same documents, given as letters, or none."""
    told = (tuple(listed) for listed in documents)
    made = (Found(f"q{i}", d, 1000 + i, 0.001 * (i + 1), i < wide, notes) for i, d in enumerate(told))
    return Run(method, tuple(made))


def measured(name: str = "towns", better: str = "ab") -> Measured:
    runs = (run("base", *["xa"] * 7, ""), run("new", *[better] * 8, notes=("a note",), wide=3))
    scores = tuple(score_run(r, QUERIES, HOW) for r in runs)
    skipped = (Skipped("x.pdf", "x.pdf is broken."),)
    left, dangling = (("without a judgement", 2),), tuple(f"d{i}" for i in range(7))
    judged = JudgedSet(name, "dev", (Document("a", "A"),), QUERIES, left, dangling, skipped)
    return Measured(judged, QUERIES, runs, scores, compare_runs(scores, "base", HOW), "base", 1)


def result(found: Measured, computed: int = 3) -> Result:
    manifest = Manifest("d", "c", "w", "v", "offline", "hashed-terms", "x", "s", COUNTS)
    return Result(found, manifest, Cost(2.5, 0.5, computed))


def test_a_ranking_has_each_measure_at_each_cut() -> None:
    assert measure_ranking(["x", "a", "a", "b"], {"a": 1, "b": 1}, (1, 2, 3)) == pytest.approx(
        (0, 0.5, 1, 0, 0, 1, 0, 0.5, 2 / 3, (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3)), 0.5)
    )


def test_scores_are_means_medians_and_counts() -> None:
    base, new = measured().scores
    assert base.values["recall@2"] == (0.5,) * 7 + (0.0,)
    assert base.means["recall@2"].mean == pytest.approx(3.5 / 8)
    assert (base.cpu_ms, base.context_tokens) == (pytest.approx(4.5), 1003.5)
    assert (base.empty, base.wide, base.notes) == (1, 0, ())
    assert (new.empty, new.wide, new.notes) == (0, 3, (("a note", 8),))
    assert (HOW.primary, Measuring().primary, Measuring(metric="mrr").primary) == ("recall@2", "recall@5", "mrr")


def test_a_method_is_compared_with_the_baseline_on_every_metric() -> None:
    (found,) = (c for c in measured().comparisons if c.metric == "recall@2")
    assert (found.method, found.baseline, found.n, found.exact) == ("new", "base", 8, True)
    assert found.difference.mean == pytest.approx(4.5 / 8)
    assert (found.wins, found.ties, found.losses) == (8, 0, 0)
    assert (found.p, found.p_holm) == (2 / 2**8, 2 / 2**8)
    assert describe_comparison(found).startswith("+56.2 (p 0.008)")


def test_a_set_is_told_with_its_index_methods_comparisons_types_and_notes() -> None:
    interval = next(c for c in measured().comparisons if c.metric == "recall@2").difference
    between = f"+{100 * interval.low:.1f} … +{100 * interval.high:.1f}"
    assert format_result(result(measured()), HOW).split("\n\n") == [
        "towns (dev): 8 questions (2 left out: without a judgement; 1 left out: without a document to be asked of)\n"
        "index: 1,200 documents, 3,400 chunks, 5 entities; engine offline, embedder hashed-terms; "
        "built in 2.5 CPU s, 5.0 s/MB of 0.50 MB\n"
        "documents that could not be read: 1, the first: x.pdf is broken.\n"
        "judgements of what is not there: 7: d0, d1, d2, d3, d4 and 2 more",
        "method   R@1    R@2  all@1  all@2  nDCG@10    MRR  CPU ms  tokens\n"
        "base     0.0   43.8    0.0    0.0     33.8   43.8     4.5   1,004\n"
        "new     50.0  100.0    0.0  100.0    100.0  100.0     4.5   1,004",
        f"R@2 − base  points  {'95 %':>{len(between)}}      p  p Holm  wins  ties  losses\n"
        f"new          +56.2  {between}  0.008   0.008     8     0       0",
        "R@2 by type  questions  base    new\n(none)               4  50.0  100.0\nwho                  4  37.5  100.0",
        "Notes\n- base named no document for 1 of 8 questions\n"
        "- new: 3 of 8 rankings were made with a wider context\n- new: a note",
    ]


def test_what_was_there_already_and_what_a_reranker_took_are_told() -> None:
    found = measured()
    reranked = Measured(
        found.judged, found.queries[:1], found.runs, found.scores, (), "base", 0, Reranking("ranks", 50, Usage(3, 400))
    )
    lines = format_result(result(reranked, computed=0), HOW).splitlines()
    assert lines[0] == "towns (dev): 1 question (2 left out: without a judgement)"
    assert lines[1].endswith("embedder hashed-terms; it was there")
    assert lines[2] == "every ranking's first 50 chunks within its context reranked by ranks: 3 calls, 400 tokens"
    assert not any("by type" in line for line in lines)


def test_sets_count_alike_and_a_method_is_chosen_on_the_others() -> None:
    one, other, third = measured("one"), measured("two", "xy"), measured("three", "xy")
    table = tabulate_sets([result(one), result(other)], HOW).splitlines()
    assert [line.split() for line in table] == [
        ["R@2", "one", "two", "mean"], ["base", "43.8", "43.8", "43.8"], ["new", "100.0", "0.0", "50.0"]
    ]  # fmt: skip
    held = choose_held_out([one, other, third], "recall@2", ("base", "new"))
    assert [(h.name, h.method, round(h.mean, 4), round(h.best, 4)) for h in held] == [
        ("one", "base", 0.4375, 1.0), ("two", "new", 0.0, 0.4375), ("three", "new", 0.0, 0.4375)
    ]  # fmt: skip
    with pytest.raises(InputError, match="two sets"):
        choose_held_out([one], "recall@2", ("base",))
    with pytest.raises(InputError, match="'none' was not measured"):
        choose_held_out([one, other], "recall@2", ("base", "none"))


def test_columns_are_aligned_the_first_to_the_left() -> None:
    assert align_columns([["a", "b"], ["long", "100"]]) == "a       b\nlong  100"
    assert [metric_label(m) for m in ("recall@5", "ndcg@10", "mrr", "all@2")] == ["R@5", "nDCG@10", "MRR", "all@2"]


def test_programs_are_given_every_figure() -> None:
    told = record_set(result(measured()))
    assert (told["name"], told["documents"], told["questions"]) == ("towns", 1, 8)
    assert told["left_out"] == {"without a judgement": 2, "unplaced": 1}
    assert told["types"] == {"": 4, "who": 4}
    assert told["reranking"] is None
    assert told["scores"]["new"]["by_type"]["who"]["recall@2"] == 1.0
    assert told["queries"][7]["methods"]["base"]["documents"] == []
    assert told["queries"][2]["methods"]["base"]["cpu_ms"] == pytest.approx(3.0)
    assert told["queries"][2]["methods"]["new"]["recall@2"] == 1.0
    whole = record_measurements([Named("naive", Naive(top=7))], HOW, [result(measured())])
    assert whole["methods"]["naive"]["settings"]["top"] == 7
    assert "requires" not in whole["methods"]["naive"]["settings"]
    assert whole["measuring"]["metric"] == "recall@2"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cuts": ()}, "at least 1"),
        ({"cuts": (0, 5)}, "at least 1, not 0, 5"),
        ({"draws": 0}, "not 0"),
        ({"metric": "x"}, "'x'"),
    ],
)
def test_measures_that_cannot_be_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Measuring(**given)  # type: ignore[arg-type]
    assert Measuring(cuts=(1,), draws=1).primary == "recall@1"
