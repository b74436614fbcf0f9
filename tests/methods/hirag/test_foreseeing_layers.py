"""What the layers of HiRAG would cost, foreseen (P01, N98)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.estimate import Estimate, StepEstimate
from wired import corpus, stories

PARTS: dict[str, Any] = {"parts": ["graph", "layers"], "layers": {"cluster_size": 6}}
NAMES = ("layering.abstract", "reports.report")


def step(found: Estimate, name: str) -> StepEstimate:
    (one,) = [s for s in found.steps if s.step == name]
    return one


def opened(folder: Path, server: ScriptedServer, **index: Any) -> Corpus:
    return corpus(folder, server, index={**PARTS, **index})


def test_summary_entities_and_reports_are_foreseen_within_a_factor_of_two_and_nothing_is_paid(tmp_path: Path) -> None:
    with ScriptedServer() as server, opened(tmp_path, server) as made:
        made.add(stories(8))
        foreseen = made.estimate()
        assert not server.calls
        built = made.build()
        for name in NAMES:
            paid, told = made.status().ledger[name], step(foreseen, name)
            assert built.computed[name] / 2 <= told.items <= built.computed[name] * 2, name
            assert paid.prompt_tokens / 2 <= told.prompt_tokens <= paid.prompt_tokens * 2, name
            assert paid.completion_tokens / 3 <= told.completion_tokens <= paid.completion_tokens * 3, name
        assert foreseen.embedding_tokens / 2 < built.usage.embedding_tokens < foreseen.embedding_tokens * 2


@pytest.mark.parametrize("parts", [["graph", "layers"], ["graph", "reports", "layers"]])
def test_what_is_built_costs_nothing_and_a_document_more_costs_a_part(tmp_path: Path, parts: list[str]) -> None:
    with ScriptedServer() as server, opened(tmp_path, server, parts=parts) as made:
        made.add(stories(8))
        first = made.build()
        found = made.estimate()
        assert [step(found, name).items for name in NAMES] == [0, 0]
        assert found.tokens == 0
        more = made.estimate(stories(9)[-1])
        assert all(0 < step(more, name).items <= first.computed[name] * 1.5 for name in NAMES)


def test_a_context_that_both_graphs_have_is_paid_once(tmp_path: Path) -> None:
    with ScriptedServer() as server, opened(tmp_path, server, parts=["graph", "reports", "layers"]) as made:
        made.add(stories(8))
        foreseen, built = made.estimate(), made.build()
        assert step(foreseen, "reports.report").items <= built.computed["reports.report"] * 2


def test_a_build_without_layers_foresees_none(tmp_path: Path) -> None:
    with ScriptedServer() as server, opened(tmp_path, server, parts=["graph"]) as made:
        made.add(stories(2))
        steps = {s.step for s in made.estimate().steps}
        assert steps
        assert not steps & set(NAMES)
