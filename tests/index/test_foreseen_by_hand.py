"""What a build would take, part by part: sums, prices, what earlier calls took, and the limit that is advised."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index import estimate
from sensegraph.index.estimate import Estimate, Foresight, StepEstimate, foresee_extraction, round_limit
from sensegraph.index.extraction import extract_records
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.index.settings import IndexSettings
from sensegraph.language.text import count_tokens
from sensegraph.protocols import PricedEngine
from sensegraph.resolution.aliases import Aliases
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Document, ExtractedEntity, Extraction, Usage
from wired import corpus, runtime, stories

TEXT = "Ada Finch met Tom Reeve. Tom Reeve left."
CHUNK = Chunk("c", "d", 0, len(TEXT), 10, TEXT)


@pytest.fixture
def foresight(tmp_path: Path, server: ScriptedServer) -> Foresight:
    return foreseen(tmp_path, server)


def foreseen(folder: Path, server: ScriptedServer, spent: Usage | None = None, **index: Any) -> Foresight:
    rt = runtime(SqliteStore(folder), server)
    if spent:
        rt.store.spend(extract_records.name, spent)
    assert isinstance(rt.engine, PricedEngine)
    return Foresight(rt, rt.engine, IndexSettings(**index), [CHUNK])


def test_a_step_is_the_sum_of_what_its_items_ask_for(foresight: Foresight) -> None:
    engine = foresight.engine
    found = foresight.step("some.step", "extract", [CHUNK, CHUNK], [7, 5])
    prompt = engine.prompt_tokens("extract", CHUNK)
    assert prompt > count_tokens(TEXT)
    assert found == StepEstimate("some.step", 2, 2 * engine.calls("extract", CHUNK), 2 * prompt, 12)


def test_twenty_calls_or_more_of_a_step_tell_what_the_next_will_write(tmp_path: Path, server: ScriptedServer) -> None:
    for calls, expected in ((19, 7), (20, 3), (40, 2)):
        made = foreseen(tmp_path / str(calls), server, Usage(calls, 1, 60))
        assert made.step(extract_records.name, "extract", [CHUNK], [7]).completion_tokens == expected
        assert made.step("another.step", "extract", [CHUNK], [7]).completion_tokens == 7


def test_the_reply_to_a_chunk_is_foreseen_by_its_records(tmp_path: Path, server: ScriptedServer) -> None:
    """Two names and one relation: their texts, 22 tokens for an entity, 24 for a relation, 10 for the rest."""
    extraction, summaries = foreseen(tmp_path, server, parts=("graph",))._read_chunks()
    found = foresee_extraction(CHUNK)
    assert ([e.name for e in found.entities], len(found.relations)) == (["Ada Finch", "Tom Reeve"], 1)
    said = "Ada Finch met Tom Reeve."
    texts = ["Ada Finch", said, "Tom Reeve", said, "Ada Finch", "Tom Reeve", said]
    assert extraction.completion_tokens == sum(map(count_tokens, texts)) + 2 * 22 + 24 + 10
    assert (extraction.step, extraction.items, summaries.items) == (extract_records.name, 1, 0)


def test_crowded_entities_are_summed_up_part_by_part_until_one_text_is_left(foresight: Foresight) -> None:
    """Eight descriptions of 18 tokens, two of which fit into a part: four summaries, then two, then one."""
    settings = GraphSettings(describe_above=50, summary_input=45)
    said = [f"Ada lit the great lamp of the harbour again and again on day {i} of it." for i in range(8)]
    pairs = [
        (Chunk(f"c{i}", "d", 0, 9, 9, text), Extraction((ExtractedEntity("Ada", "person", text),)))
        for i, text in enumerate(said)
    ]
    merged = merge_extractions(pairs, settings)
    found, graph = foresight._summaries(merged, settings)
    assert (found.items, found.calls) == (7, 7)
    assert found.completion_tokens == 3 * 8 * count_tokens(said[0])
    assert graph.entities[0].description == " ".join(said)
    plain, graph = foresight._summaries(merged, GraphSettings(describe_above=5000))
    assert (plain.items, plain.completion_tokens) == (0, 0)


def test_sums_prices_and_the_limit_that_is_advised(tmp_path: Path, server: ScriptedServer) -> None:
    prices = {"price_prompt": 2.0, "price_completion": 8.0}
    with corpus(tmp_path, server, endpoint=prices) as made:
        made.add(stories(3))
        found = made.estimate()
    assert not server.calls
    assert (found.documents, found.chunks > 3) == (3, True)
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        assert getattr(found, name) == sum(getattr(s, name) for s in found.steps) > 0
    assert found.tokens == found.prompt_tokens + found.completion_tokens + found.embedding_tokens
    assert found.cost_usd == pytest.approx((2 * found.prompt_tokens + 8 * found.completion_tokens) / 1e6)
    limit = 1.5 * found.tokens + 12_000
    figure = 10 ** (len(str(int(limit))) - 2)
    assert found.most_tokens == ceil(limit / figure) * figure
    assert len(str(found.most_tokens).rstrip("0")) <= 2
    assert found.usage == Usage(
        found.calls, found.prompt_tokens, found.completion_tokens,
        embedding_tokens=found.embedding_tokens, cost_usd=found.cost_usd,
    )  # fmt: skip
    assert Estimate(0, 0, (), 0, 1, 2, 4, 0.0).tokens == 7


def test_what_this_machine_does_costs_nothing_and_is_counted(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "embedder": "offline"}) as made:
        made.add(Document("a", TEXT), Document("b", "Something else."))
        found = made.estimate()
        assert (found.calls, found.tokens, found.most_tokens, found.cost_usd) == (0, 0, 0, 0.0)
        assert {s.step.partition(".")[2]: s.items for s in found.steps} == {"observe": 2, "embed": 2}
        made.build()
        again = made.estimate()
        assert {s.items for s in again.steps} == {0}
        assert (again.documents, again.chunks) == (2, 2)


def test_a_step_before_the_build_is_added_to_all_sums() -> None:
    build = Estimate(2, 9, (StepEstimate("extract", 9, 9, 100, 50),), 9, 100, 50, 7, 1.5, 400)
    whole = build.with_step("describe", Usage(3, 40, 20, cost_usd=0.25))
    assert whole.steps == (StepEstimate("describe", 3, 3, 40, 20), *build.steps)
    assert (whole.calls, whole.prompt_tokens, whole.completion_tokens, whole.cost_usd) == (12, 140, 70, 1.75)
    assert (whole.embedding_tokens, whole.tokens, whole.most_tokens) == (7, 217, round_limit(217))
    assert whole.usage == Usage(12, 140, 70, embedding_tokens=7, cost_usd=1.75)
    assert build.with_step("describe", Usage()) is build


LOG = Aliases(groups=((("a", "p"), ("b", "p")),), moved=((("c", "p"), "d1", ("c", "q")),))
LAST = Aliases(groups=((("a", "p"), ("b", "p"), ("e", "p")), (("f", "p"), ("g", "p"))), moved=LOG.moved)


@pytest.mark.parametrize(
    ("log", "graph", "automatic", "last"),
    [
        (LOG, "g", True, True),
        (LOG, "g", False, False),
        (LOG, "", True, False),
        (LOG, None, True, False),
        (Aliases(), "g", True, True),
        (LAST, "g", True, True),
        (Aliases(groups=((("a", "p"), ("x", "p")),)), "g", True, False),
        (Aliases(groups=(*LOG.groups, (("a", "p"), ("x", "p")))), "g", True, False),
        (Aliases(groups=LOG.groups, moved=((("c", "p"), "d2", ("c", "q")),)), "g", True, False),
        (Aliases(groups=LOG.groups, apart=((("a", "p"), ("x", "p")),)), "g", True, False),
    ],
)
def test_names_are_as_in_the_last_build_where_it_holds_all_of_the_log(
    monkeypatch: pytest.MonkeyPatch, log: Aliases, graph: str | None, automatic: bool, last: bool
) -> None:
    monkeypatch.setattr(estimate, "read_operations", lambda store: [])
    monkeypatch.setattr(estimate, "replay_operations", lambda operations: SimpleNamespace(aliases=log))
    monkeypatch.setattr(estimate, "read_manifest", lambda store: SimpleNamespace(graph=graph))
    monkeypatch.setattr(estimate, "aliases_of", lambda rt, made: LAST)
    store = SimpleNamespace(ref=lambda name: "" if graph is None else "m")
    settings = SimpleNamespace(resolve=SimpleNamespace(automatic=automatic))
    asked: Any = SimpleNamespace(rt=SimpleNamespace(store=store), settings=settings)
    assert Foresight._aliases(asked) is (LAST if last else log)
