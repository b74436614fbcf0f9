"""What the tree of RAPTOR would cost, foreseen (P01, N98)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.estimate import Estimate, StepEstimate
from wired import corpus, stories

PARTS: dict[str, Any] = {"parts": ["tree"], "tree": {"leaf_tokens": 30, "children": 3}}
NAME = "growing.condense"


def step(found: Estimate) -> StepEstimate:
    return next(s for s in found.steps if s.step == NAME)


def opened(folder: Path, server: ScriptedServer) -> Corpus:
    return corpus(folder, server, index=PARTS)


def test_summaries_are_foreseen_within_a_factor_of_two_and_nothing_is_paid(tmp_path: Path) -> None:
    with ScriptedServer() as server, opened(tmp_path, server) as made:
        made.add(stories(8))
        foreseen = made.estimate()
        assert not server.calls
        built = made.build()
        paid = made.status().ledger[NAME]
        assert built.computed[NAME] / 2 <= step(foreseen).items <= built.computed[NAME] * 2
        assert paid.prompt_tokens / 2 <= step(foreseen).prompt_tokens <= paid.prompt_tokens * 2
        assert foreseen.embedding_tokens / 2 < built.usage.embedding_tokens < foreseen.embedding_tokens * 2


def test_what_is_built_costs_nothing_and_a_document_more_costs_a_part(tmp_path: Path) -> None:
    with ScriptedServer() as server, opened(tmp_path, server) as made:
        made.add(stories(8))
        first = made.build()
        found = made.estimate()
        assert (step(found).items, found.tokens) == (0, 0)
        assert 0 < step(made.estimate(stories(9)[-1])).items <= first.computed[NAME] * 1.5


def test_a_build_without_a_tree_foresees_none(tmp_path: Path) -> None:
    with ScriptedServer() as server, corpus(tmp_path, server, index={"parts": []}) as made:
        made.add(stories(2))
        steps = {s.step for s in made.estimate().steps}
        assert steps
        assert NAME not in steps
