"""What aggregates would cost, foreseen (P01, N98)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.estimate import Estimate, StepEstimate
from wired import corpus, stories

PARTS = {"parts": ["graph", "aggregates"], "aggregates": {"cluster_size": 6, "threshold": 2}}
NAMES = ("aggregates.aggregate", "aggregates.relate")


def steps(found: Estimate) -> dict[str, StepEstimate]:
    return {s.step: s for s in found.steps}


def opened(folder: Path, server: ScriptedServer) -> Corpus:
    return corpus(folder, server, index=PARTS)


def test_aggregates_are_foreseen_within_a_factor_of_two_and_nothing_is_paid(tmp_path: Path) -> None:
    """How many relations there will be between groups cannot be known without vectors."""
    with ScriptedServer() as server, opened(tmp_path, server) as made:
        made.add(stories(8))
        foreseen = steps(made.estimate())
        assert not server.calls
        built = made.build()
        aggregates, paid = foreseen[NAMES[0]], made.status().ledger[NAMES[0]]
        assert built.computed[NAMES[0]] / 2 <= aggregates.items <= built.computed[NAMES[0]] * 2
        assert paid.prompt_tokens / 2 <= aggregates.prompt_tokens <= paid.prompt_tokens * 2
        assert aggregates.completion_tokens > 0
        assert foreseen[NAMES[1]].items > 0


def test_what_is_built_costs_nothing_and_a_document_more_costs_a_part(tmp_path: Path) -> None:
    with ScriptedServer() as server, opened(tmp_path, server) as made:
        made.add(stories(10))
        first = made.build()
        assert [steps(made.estimate())[name].items for name in NAMES] == [0, 0]
        more = steps(made.estimate(stories(11)[-1]))
        assert 0 < more["aggregates.aggregate"].items < first.computed["aggregates.aggregate"]


@pytest.mark.parametrize("embed", ["description", "name+description"])
def test_what_would_be_embedded_is_foreseen(tmp_path: Path, embed: str) -> None:
    index = {**PARTS, "aggregates": {"cluster_size": 6, "embed": embed}}
    with ScriptedServer() as server, corpus(tmp_path, server, index=index) as made:
        made.add(stories(4))
        foreseen = made.estimate().embedding_tokens
        assert foreseen / 2 < made.build().usage.embedding_tokens < foreseen * 2
