"""Open triples as a part of an index: entities first, then triples; what facts are made of them (hipporag §3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_methods import message_of
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.replies.method_replies import read_names, read_triples
from sensegraph.errors import ItemFailed, UnsupportedTask
from sensegraph.extractions import Triple
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.hipporag.facts import FACTS
from sensegraph.methods.hipporag.hipporag import HippoRAG
from sensegraph.methods.hipporag.triples import TRIPLES, join_triples
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.questions import Scope
from sensegraph.types import Chunk, Document, Entity, Graph, Question
from wired import corpus

PARTS = {"parts": ["graph", "triples", "facts"]}
TEXTS = {
    "yard": "The yard on Skerry was founded by Nora Blythe in 1907.",
    "boats": "Nora Blythe sold nine boats to Ivo Marsh.",
    "weather": "It rained.",
    "quiet": "Nobody said a word.",
}
NAMES = {
    "yard": ["Skerry", "Nora Blythe", "1907"],
    "boats": ["Nora Blythe", "Ivo Marsh"],
    "weather": [],
    "quiet": [],
}
SAID = {
    "yard": [("Nora Blythe", "founded", "yard on Skerry"), ("yard on Skerry", "was founded in", "1907")],
    "boats": [("Nora Blythe", "sold nine boats to", "Ivo Marsh")],
}
CHUNK = Chunk("c1", "yard", 0, len(TEXTS["yard"]), 12, TEXTS["yard"])


def name_of(message: str) -> str:
    return next(name for name, text in TEXTS.items() if text in message)


def replies(body: dict[str, Any]) -> str | None:
    task = task_of(body)
    if task not in ("triple-names", "triples"):
        return None
    name = name_of(message_of(body))
    if task == "triple-names":
        return json.dumps({"entities": NAMES[name]})
    return json.dumps({"triples": [dict(zip(("subject", "predicate", "object"), t, strict=True)) for t in SAID[name]]})


def built(folder: Path, server: ScriptedServer, index: dict[str, Any] | None = None) -> Corpus:
    made = corpus(folder, server, index=index or PARTS)
    made.add([Document(name, text, name) for name, text in TEXTS.items()])
    made.build()
    return made


def engine(server: ScriptedServer) -> LLMEngine:
    return LLMEngine(Endpoint(EndpointSettings(server.base_url, model="scripted", max_retries=1)))


# ── two calls for a chunk ──


def test_entities_are_asked_for_first_and_shown_with_the_passage(tmp_path: Path) -> None:
    with ScriptedServer(Script(reply=replies, keep_bodies=True)) as server:
        made = engine(server)
        assert made.triples([CHUNK]) == [tuple(Triple(*t) for t in SAID["yard"])]
        names, triples = server.calls
        assert [names.task, triples.task] == ["triple-names", "triples"]
        assert message_of(triples.body).endswith(f"{TEXTS['yard']}\n\nNamed entities: Skerry; Nora Blythe; 1907")
        assert made.calls("triples", CHUNK) == 2
        asked = sum(made._plans[name].overhead for name in ("triple-names", "triples"))
        assert made.prompt_tokens("triples", CHUNK) > asked > 1_024


def test_a_passage_that_names_nothing_takes_one_call() -> None:
    with ScriptedServer(Script(reply=lambda _: '{"entities": []}')) as server:
        assert engine(server).triples([CHUNK]) == [()]
        assert len(server.calls) == 1


@pytest.mark.parametrize("bad", ["", "I cannot help with that.", '{"entities": [""], "triples": [{}]}', "{}"])
@pytest.mark.parametrize("task", ["triple-names", "triples"])
def test_what_cannot_be_read_is_asked_for_again_and_then_fails_by_name(task: str, bad: str) -> None:
    def reply(body: dict[str, Any]) -> str | None:
        return bad if task_of(body) == task else replies(body)

    with ScriptedServer(Script(reply=reply)) as server:
        with pytest.raises(ItemFailed, match=r"the reply of scripted about .*chunk c1 of document 'yard'"):
            engine(server).triples([CHUNK])
        assert len(server.done(task)) >= 2


def replied(value: Any) -> Reply:
    return Reply(json.dumps(value), 1, 1, "stop")


def test_triples_in_lists_are_read_and_those_of_another_text_are_no_triples() -> None:
    listed = [["Nora", "sold", 9], ["Nora", "sold", "9"], ["Orrin", "ran", "Lasse"], ["Nora", "is", "nora"], ["x", "y"]]
    found = read_triples(replied({"triples": listed}), "Nora sold 9.")
    assert found.value == (Triple("Nora", "sold", "9"),)
    assert found.removed == 3
    assert read_triples(replied({"triples": [["Orrin", "ran", "Lasse"]]}), "Nora sold 9.").value is None
    assert read_triples(replied({"triples": []}), "Nora.").value == ()
    assert read_names(replied({"entities": [{"name": "Nora"}, "nora", 1907]})).value == ("Nora", "1907")


# ── what the facts are ──


def entity(name: str, *chunks: str, aliases: tuple[str, ...] = ()) -> Entity:
    return Entity(name, name, "name", "", (), chunks, len(chunks), 1, aliases)


def test_phrases_stand_behind_the_entities_and_equal_triples_are_one_relation() -> None:
    graph = Graph((entity("Nora Blythe", "a", aliases=("Nora",)), entity("Ivo", "a")))
    same = Triple("nora", "Sold boats to", "IVO")
    said = ((Triple("Nora", "sold boats to", "Ivo"),), (same, Triple("Ivo", "died in", "1911")))
    joined = join_triples(graph, "ab", said)
    assert [e.name for e in joined.entities] == ["Nora Blythe", "Ivo", "1911"]
    assert [e.chunks for e in joined.entities] == [("a", "b"), ("a", "b"), ("b",)]
    sold, died = joined.relations
    assert (sold.source, sold.label, sold.target, sold.chunks) == ("Nora Blythe", "sold boats to", "Ivo", ("a", "b"))
    assert [d.text for d in sold.descriptions] == ["Nora sold boats to Ivo", "nora Sold boats to IVO"]
    assert died.target == joined.entities[2].id


def test_an_index_with_triples_has_them_as_its_facts_and_answers_from_them(tmp_path: Path) -> None:
    with ScriptedServer(Script(reply=replies, keep_bodies=True)) as server, built(tmp_path, server) as made:
        index, rt = made.index(), made.runtime()
        assert sorted(len(t) for t in index.part(TRIPLES)) == [0, 0, 1, 2]
        facts = index.part(FACTS)
        assert sorted(facts.text(i) for i in range(len(facts))) == sorted(" ".join(t) for s in SAID.values() for t in s)
        assert facts.entities > len(index.graph.entities)  # 1907 is a phrase, and no entity
        found = HippoRAG(filter="none").retrieve(Question("Who founded the yard on Skerry?"), index, rt)
        assert found.documents[0] == "yard"
        assert index.manifest.counts["triples"] == 3
        assert len(server.done("triple-names")) == 4
        assert len(server.done("triples")) == 2


def test_a_filter_keeps_the_phrases_of_the_chunks_inside(tmp_path: Path) -> None:
    with ScriptedServer(Script(reply=replies)) as server, built(tmp_path, server) as made:
        inside = restrict_to_scope(made.index(), Scope(documents=("yard",)))
        facts = inside.part(FACTS)
        assert sorted(facts.text(i) for i in range(len(facts))) == sorted(" ".join(t) for t in SAID["yard"])
        assert len(inside.part(TRIPLES)) == 1
        found = HippoRAG(filter="none").retrieve(Question("When was it founded?"), inside, made.runtime())
        assert found.documents == ("yard",)


def test_without_the_part_facts_are_those_of_the_graph_and_nobody_is_asked(tmp_path: Path) -> None:
    index = {"parts": ["graph", "facts"]}
    with ScriptedServer() as server, built(tmp_path, server, index) as made:
        assert {c.task for c in server.calls} == {"extraction", "embedding"}
        assert made.index().part(FACTS).entities == len(made.index().graph.entities)


def test_an_estimate_counts_two_calls_for_each_chunk_and_a_second_build_makes_none(tmp_path: Path) -> None:
    with ScriptedServer(Script(reply=replies)) as server, corpus(tmp_path, server, index=PARTS) as made:
        made.add([Document(name, text, name) for name, text in TEXTS.items()])
        (step,) = [s for s in made.estimate().steps if s.step == "hipporag.triples"]
        assert (step.items, step.calls) == (4, 8)
        made.build()
        server.reset()
        made.build()
        assert server.calls == []


def _refusing(name: str) -> Callable[[dict[str, Any]], str | None]:
    def reply(body: dict[str, Any]) -> str | None:
        lost = task_of(body) == "triple-names" and TEXTS[name] in message_of(body)
        return "I would rather not." if lost else replies(body)

    return reply


def test_a_chunk_whose_triples_cannot_be_read_is_named_and_the_rest_is_built(tmp_path: Path) -> None:
    with ScriptedServer(Script(reply=_refusing("boats"))) as server, corpus(tmp_path, server, index=PARTS) as made:
        made.add([Document(name, text, name) for name, text in TEXTS.items()])
        built = made.build()
        (left,) = built.left_out
        assert (left.what, left.document, left.start) == ("triples", "boats", 0)
        assert any("triples of boats" in note for note in built.notes)
        assert len(made.index().part(FACTS)) == 2


def test_an_engine_that_writes_no_triples_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": PARTS}) as made:
        made.add([Document("a", TEXTS["yard"])])
        with pytest.raises(UnsupportedTask, match="the triples of hipporag"):
            made.build()
