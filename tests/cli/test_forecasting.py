"""How long answers are foreseen to be, on which depends what measuring them takes; and what is said of an index."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.cli.lab import evaluation_forecast
from sensegraph.cli.lab.evaluation_forecast import (
    count_report_sentences,
    describe_index,
    foresee_answer_length,
    foresee_condition,
)
from sensegraph.lab.experiments.rehearsal import USUAL
from sensegraph.types import Answer, Cluster, Finding, Statement


def report(sentences: int) -> Cluster:
    """A report of so many sentences, two of them its summary's."""
    told = [Statement(f"It rained {n} times. ") for n in range(sentences)]
    findings = tuple(Finding("A headline of its own. And more.", (s,)) for s in told[2:])
    return Cluster("c", 0, 0, "", (), (), "Title.", tuple(told[:2]), findings)


def prepared(*reports: Cluster, engine: str = "one", parts: tuple[str, ...] = ("graph", "reports")) -> Any:
    """An evaluation of a corpus whose index the engine `one` made."""
    made = SimpleNamespace(engine="one", part_names=parts)
    corpus = SimpleNamespace(
        engine=SimpleNamespace(name=engine),
        manifest=lambda: made,
        index=lambda: SimpleNamespace(hierarchy=SimpleNamespace(clusters=reports)),
    )
    return SimpleNamespace(corpus=corpus, to_index=None)


def replies(*lengths: int) -> Any:
    return [
        ("q", SimpleNamespace(answer=Answer(" ".join(f"It snowed {n} times." for n in range(size)))))
        for size in lengths
    ]


def test_answers_to_come_are_as_long_on_the_average_as_those_that_are_there() -> None:
    known = {"a": replies(2, 3), "b": replies(6)}
    assert foresee_answer_length(prepared(), known) == 4
    assert foresee_answer_length(prepared(), {"a": replies(0)}) == 1


@pytest.mark.parametrize(
    ("sizes", "more", "length"),
    [
        ((4, 5, 6), {}, 5),
        ((4, 5), {}, USUAL),  # too few to tell
        ((30, 31, 32), {}, 31),
        ((50, 51, 52), {}, 2 * USUAL),
        ((4, 5, 6), {"engine": "other"}, USUAL),
        ((4, 5, 6), {"parts": ("graph",)}, USUAL),
    ],
)
def test_without_an_answer_it_is_the_length_of_the_reports_that_the_same_model_wrote(
    sizes: tuple[int, ...], more: dict[str, Any], length: int
) -> None:
    ready = prepared(*map(report, sizes), **more)
    assert foresee_answer_length(ready, {"a": []}) == length
    ready.to_index = Path("texts")
    assert foresee_answer_length(ready, {}) == USUAL
    ready.to_index, ready.corpus.manifest = None, lambda: None
    assert foresee_answer_length(ready, {}) == USUAL


def test_a_headline_is_no_sentence_of_a_report() -> None:
    assert [count_report_sentences(report(n)) for n in (2, 3, 7)] == [2, 3, 7]


@pytest.mark.parametrize(
    ("engine", "model", "said"),
    [
        ("one", "m", ""),
        ("other", "", "what one by other would take: sensegraph index --root 'a b/c' --dry-run"),
        ("other", "m n", "sensegraph index --root 'a b/c' --set endpoint.model='m n' --dry-run"),
    ],
)
def test_where_another_engine_made_the_index_it_is_said_what_tells_its_price(
    engine: str, model: str, said: str
) -> None:
    ready = prepared(engine=engine)
    ready.corpus.settings = SimpleNamespace(endpoint=SimpleNamespace(model=model))
    ready.plan = SimpleNamespace(corpus="c")
    found = list(describe_index(ready, Path("a b/plan.toml")))
    assert len(found) == bool(said)
    assert said in "".join(found)
    ready.to_index = Path("texts")
    assert list(describe_index(ready, Path("a b/plan.toml"))) == []


def test_what_a_question_takes_is_foreseen_for_an_engine_whose_calls_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_forecast, "load_method", lambda name, **settings: (name, settings))
    monkeypatch.setattr(evaluation_forecast, "PricedEngine", SimpleNamespace)
    monkeypatch.setattr(evaluation_forecast, "foresee_question", lambda *given: given)
    condition: Any = SimpleNamespace(method="bm25", settings={"k": 5})
    engine = SimpleNamespace(waits=True)
    ready: Any = SimpleNamespace(corpus=SimpleNamespace(engine=engine, store=SimpleNamespace(ledger=lambda: "ledger")))
    readable: Any = "readable"
    assert foresee_condition(condition, readable, ready) == (("bm25", {"k": 5}), False, "readable", engine, "ledger")
    assert foresee_condition(condition, None, ready) is None
    engine.waits = False
    assert foresee_condition(condition, readable, ready) is None
    monkeypatch.setattr(evaluation_forecast, "PricedEngine", int)
    ready.corpus.engine = SimpleNamespace(waits=True)
    assert foresee_condition(condition, readable, ready) is None
