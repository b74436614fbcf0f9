"""Whether answers are grounded in what was retrieved, cited and asked: each measure by its definition (N94)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import ScriptedServer
from sensegraph.answering.asking import NOTHING
from sensegraph.answering.grounding.citations import Reference
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import SettingsError
from sensegraph.lab.grounding.answer_grounding import (
    METRICS,
    Grounded,
    GroundingSettings,
    average_measures,
    average_precision,
    collect_evidence,
    measure_grounding,
)
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Answer, Citation, Evidence, Passage
from wired import runtime

CONTEXT = ("Ada Quay built the mill in 1801. The sea was calm.", "Bram Quay sold the mill in 1811. It rained.")
SAID = Grounded(
    "Who built the mill?",
    "Ada Quay built the mill in 1801. [1] Bram Quay burnt the mill in 1811. [2]",
    CONTEXT,
    ((Reference(1), "Ada Quay built the mill in 1801."), (Reference(2), "Bram Quay sold the mill in 1811.")),
    reference="Ada Quay built the mill in 1801. Cora Quay painted it in 1805.",
    found=("a", "b", "c"),
    gold=("a", "c", "d"),
)


@pytest.fixture
def offline(store: SqliteStore) -> Runtime:
    return replace(runtime(store), engine=ClassicalEngine())


def value(answer: Grounded, metric: str, rt: Runtime) -> float | None:
    return measure_grounding([answer], GroundingSettings((metric,)), rt)[0].values[metric]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("faithfulness", 0.5),
        ("used_share", 0.5),
        ("statement_recall", 0.5),
        ("document_recall", 2 / 3),
        ("precision_at_k", (1 + 2 / 3) / 2),
        ("citation_recall", 0.5),
        ("citation_precision", 0.5),
        ("relevance_rating", None),
        ("relevancy", None),
    ],
)
def test_each_measure_is_what_it_is_defined_to_be(metric: str, expected: float | None, offline: Runtime) -> None:
    assert value(SAID, metric, offline) == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("metric", ["relevant_share", "used_share", "relevance_rating", "precision_at_k"])
def test_an_empty_context_is_0(metric: str, server: ScriptedServer, store: SqliteStore) -> None:
    assert value(replace(SAID, context=(), found=()), metric, runtime(store, server)) == 0


def test_an_answer_that_abstains_has_no_statements_and_no_relevancy(server: ScriptedServer, store: SqliteStore) -> None:
    (found,) = measure_grounding(
        [replace(SAID, text=NOTHING)], GroundingSettings(tuple(METRICS)), runtime(store, server)
    )
    assert found.abstained
    assert [found.values[m] for m in ("faithfulness", "citation_recall", "citation_precision")] == [None, None, None]
    assert found.values["relevancy"] == 0


def test_what_has_no_reference_and_no_gold_has_no_recall(offline: Runtime) -> None:
    bare = replace(SAID, reference="", gold=())
    assert value(bare, "statement_recall", offline) is None
    assert value(bare, "document_recall", offline) is None


def test_what_has_no_gold_is_as_precise_as_the_engine_finds_its_context_useful(
    server: ScriptedServer, store: SqliteStore
) -> None:
    bare, judged = replace(SAID, gold=()), replace(SAID, context=())
    how = GroundingSettings(("precision_at_k",))
    unjudged, known = measure_grounding([bare, judged], how, runtime(store, server))
    assert unjudged.values["precision_at_k"] == 1.0  # the model says yes to all
    assert known.values["precision_at_k"] == pytest.approx((1 + 2 / 3) / 2)


def test_a_model_judges_every_measure_and_is_not_asked_twice(server: ScriptedServer, store: SqliteStore) -> None:
    rt, how = runtime(store, server), GroundingSettings(tuple(METRICS))
    (found,) = measure_grounding([SAID], how, rt)
    assert (found.by, found.claimed) == ("support by scripted", "claims by scripted")
    assert found.values["faithfulness"] == 0.5
    assert all(v is not None and 0 <= v <= 1 for v in found.values.values())
    calls = len(server.calls)
    assert measure_grounding([SAID], how, rt) == [found]
    assert len(server.calls) == calls


def test_references_that_lead_nowhere_are_counted(offline: Runtime) -> None:
    (found,) = measure_grounding(
        [replace(SAID, text="Ada Quay built it. [9] So it is [Data: Reports (+more)].")], SETTINGS, offline
    )
    assert (found.dangling, found.unresolved) == (1, 1)


SETTINGS = GroundingSettings(("citation_recall", "document_recall"))


def test_means_are_over_what_is_defined_and_count_the_rest(offline: Runtime) -> None:
    found = measure_grounding([SAID, replace(SAID, text=NOTHING)], SETTINGS, offline)
    told = {m.metric: (m.mean, m.n, m.undefined) for m in average_measures(found)}
    assert told == {"citation_recall": (0.5, 1, 1), "document_recall": (pytest.approx(2 / 3), 2, 0)}
    assert average_measures([]) == ()


def test_an_answer_of_ours_brings_its_evidence_and_its_quotes() -> None:
    passages = (Passage("chunk", "x", CONTEXT[0]),)
    answer = Answer("It is so. [1]", (Citation(1, "a", 0, 3, "Ada"),), Evidence(passages, ("a",)))
    found = collect_evidence("Who?", answer, gold=["a"])
    assert (found.context, found.texts, found.found) == ((CONTEXT[0],), ((Reference(1), "Ada"),), ("a",))


def test_an_unknown_measure_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match="'faithfulness'"):
        GroundingSettings(("faithfullness",))


@pytest.mark.parametrize(
    ("useful", "expected"), [([], 0.0), ([False], 0.0), ([True, False], 1.0), ([False, True], 0.5), ([True] * 3, 1.0)]
)
def test_precision_at_k_by_hand(useful: list[bool], expected: float) -> None:
    assert average_precision(useful) == expected


@given(st.lists(st.booleans(), max_size=12))
def test_precision_at_k_is_highest_when_what_is_useful_comes_first(useful: list[bool]) -> None:
    best = average_precision(sorted(useful, reverse=True))
    assert best == any(useful)
    assert 0 <= average_precision(useful) <= best <= 1
