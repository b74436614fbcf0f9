"""HiRAG's retrieval: candidates, communities, key entities, bridge, sections, modes (hirag §4–§7, §9)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from harbour import QUESTIONS, papers
from scripted import ScriptedServer
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.graph.lookups import ties_of
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import count_tokens
from sensegraph.methods.hirag.hirag import (
    HiRAG,
    Mode,
    _count_things,
    bridge_relations,
    communities_around,
    find_candidates,
    key_entities,
)
from sensegraph.methods.hirag.layers_part import LAYERS
from sensegraph.retrieval.assembling import ends_of, flatten_groups, near_neighbours
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Evidence, Question
from wired import corpus, stories

PARTS = {"parts": ["graph", "reports", "layers"], "layers": {"cluster_size": 5}}
QUESTION = Question("Whom did Ada Harrow pay, and why were boats bought?")
ALL = {"context_tokens": 10**6}


class TestHiRAGContract(MethodContract):
    def make(self) -> HiRAG:
        return HiRAG()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index=PARTS)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("hirag"), server, index=PARTS) as opened:
        opened.add(stories(8))
        opened.build()
        yield opened


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    index = {**PARTS, "chunk_tokens": 60, "chunk_overlap": 10}
    with Corpus.open(tmp_path_factory.mktemp("offline"), settings={"engine": "offline", "index": index}) as opened:
        opened.add([*papers(), *stories(3)])
        opened.build()
        yield opened


def found(made: Corpus, question: Question = QUESTION, **settings: Any) -> Evidence:
    return HiRAG(**settings).retrieve(question, made.index(), made.runtime())


def of(evidence: Evidence, kind: str) -> list[str]:
    return [p.id for p in evidence.passages if p.kind == kind]


def seen(made: Corpus) -> Index:
    return made.index().part(LAYERS)


def candidates(made: Corpus, top: int = 200, floor: float = 0.2, by: Any = "vectors") -> dict[int, float]:
    rt = made.runtime()
    query = np.asarray(rt.embedder.embed([QUESTION.sought], "query")[0], np.float32)
    return find_candidates(QUESTION, query, seen(made), rt, top, floor, by)


def cosines(made: Corpus) -> np.ndarray:
    query = np.asarray(made.runtime().embedder.embed([QUESTION.sought], "query")[0], np.float64)
    return np.asarray(seen(made).vectors_of(made.embedder, "entity"), np.float64) @ query


# ── candidates: §4, step 1 ──


def test_candidates_are_the_nearest_entities_of_all_layers_above_the_floor(made: Corpus) -> None:
    cosine = cosines(made)
    nearest = [i for i in np.argsort(-cosine, kind="stable").tolist() if cosine[i] >= 0.2]
    assert list(candidates(made)) == nearest[:200]
    assert list(candidates(made, top=7)) == nearest[:7]
    assert len(candidates(made, floor=-1.0)) == len(cosine) > len(nearest) > 0
    levels = {e.level for i, e in enumerate(seen(made).graph.entities) if i in candidates(made)}
    assert len(levels) > 1


def test_local_entities_are_the_first_of_the_candidates(made: Corpus) -> None:
    ids = [e.id for e in seen(made).graph.entities]
    wanted = [ids[i] for i in candidates(made)]
    assert of(found(made, **ALL), "entity") == wanted[:20]
    assert of(found(made, top=3, **ALL), "entity") == wanted[:3]


def test_where_vectors_compare_words_the_named_come_first(offline: Corpus) -> None:
    question = Question("Port Ellery landed less herring: who counted it and warned of a closed season?")

    def names(**settings: Any) -> list[str]:
        evidence = found(offline, question, cosine_floor=0.0, **settings)
        return [p.title for p in evidence.passages if p.kind == "entity"]

    assert names()[0] == names(by="names")[0] == "Port Ellery"
    assert names(by="vectors")[0] != "Port Ellery"


# ── communities: step 2 ──


def test_communities_hold_a_local_entity_and_those_with_most_come_first(made: Corpus) -> None:
    index, local = seen(made), list(candidates(made))[:20]
    ids = {index.graph.entities[i].id for i in local}
    around = communities_around(local, index, 2)
    inside = [(len(ids & set(c.entities)), c.rating) for c in around.values()]
    assert inside == sorted(inside, reverse=True)
    assert min(count for count, _ in inside) > 0
    wanted = {c.id for c in index.hierarchy.clusters if c.depth <= 2 and ids & set(c.entities)}
    assert {c.id for c in around.values()} == wanted
    assert all(index.hierarchy.clusters[place] == c for place, c in around.items())
    roots = communities_around(local, index, 0)
    assert {c.depth for c in roots.values()} == {0}
    assert len(roots) < len(around)


def test_whole_reports_are_read_in_this_order_until_their_budget(made: Corpus) -> None:
    around = [c.id for c in communities_around(list(candidates(made))[:20], seen(made), 2).values()]
    assert of(found(made, report_tokens=10**6, **ALL), "report") == around
    sizes = [passage_tokens(p) for p in found(made, report_tokens=10**6, **ALL).passages if p.kind == "report"]
    few = found(made, report_tokens=sum(sizes[:3]) + sizes[3] // 2, **ALL)
    assert of(few, "report") == around[:3]
    assert any("no room for" in note and "reports" in note for note in few.notes)


# ── key entities: step 4 ──


def test_each_community_gives_its_first_candidates_in_the_order_of_similarity(made: Corpus) -> None:
    index, found_ = seen(made), list(candidates(made, floor=-1.0))
    around = communities_around(found_[:20], index, 2)
    keys = key_entities(found_, around, index.lookups, 2)
    assert keys
    wanted = set()
    for cluster in around.values():
        inside = [p for p in found_ if index.graph.entities[p].id in set(cluster.entities)]
        wanted.update(inside[:2])
    assert set(keys) == wanted
    assert keys == [p for p in found_ if p in wanted]  # defect 1: the original's order is that of a set


def test_without_a_community_the_first_of_all_are_key_entities(made: Corpus) -> None:
    found_ = list(candidates(made))
    assert key_entities(found_, {}, seen(made).lookups, 10) == found_[:10]
    assert key_entities([], {}, seen(made).lookups, 10) == []


# ── bridge: step 5 ──


def bridged(made: Corpus, keys: list[int], *, path_only: bool = False) -> list[int]:
    index, rt = seen(made), made.runtime()
    return bridge_relations(keys, index, ends_of(index, rt), ties_of(index, rt).weight, path_only=path_only)


def far_apart(made: Corpus) -> tuple[int, int]:
    """Two entities that are joined by a way of two relations or more."""
    lookups = seen(made).lookups
    one = 0
    beside = set(lookups.around(one)[0].tolist())
    second = {b for a in beside for b in lookups.around(a)[0].tolist()} - beside - {one}
    return one, min(second)


def test_the_bridge_is_what_lies_among_the_entities_on_the_ways(made: Corpus) -> None:
    """Eq. 16: both ends on the ways; `path_only` keeps the ways' own relations."""
    index, keys = seen(made), list(candidates(made))[:8]
    places, own = bridged(made, keys), bridged(made, keys, path_only=True)
    assert set(own) < set(places)
    graph = index.graph
    on = {end for p in own for end in (graph.relations[p].source, graph.relations[p].target)}
    among = {i for i, r in enumerate(graph.relations) if r.source in on and r.target in on}
    assert set(places) == among
    rank = [(-sum(index.lookups.degree[list(_ends(index, p))]), -graph.relations[p].weight) for p in places]
    assert rank == sorted(rank)


def _ends(index: Index, place: int) -> tuple[int, int]:
    ids = {e.id: i for i, e in enumerate(index.graph.entities)}
    r = index.graph.relations[place]
    return ids[r.source], ids[r.target]


def test_a_way_leads_from_one_key_entity_to_the_other(made: Corpus) -> None:
    one, other = far_apart(made)
    index = seen(made)
    way = bridged(made, [one, other], path_only=True)
    assert len(way) == 2
    assert {one, other} < {end for p in way for end in _ends(index, p)}


def test_one_key_entity_or_none_has_no_bridge(made: Corpus) -> None:
    assert bridged(made, []) == bridged(made, [3]) == []


def test_key_entities_that_nothing_joins_have_no_bridge(offline: Corpus) -> None:
    """§7: the ways may be empty; that is no error."""
    index = offline.index()
    alone = [i for i in range(len(index.graph.entities)) if not len(index.lookups.around(i)[0])]
    rt = offline.runtime()
    assert len(alone) > 1
    assert bridge_relations(alone, index, ends_of(index, rt), ties_of(index, rt).weight, path_only=False) == []


def test_defect_4_the_bridge_reaches_what_no_relation_of_the_texts_joins(offline: Corpus) -> None:
    """Entities without relations are joined by the summary entity that they share."""
    index = offline.index()
    alone = {e.id for i, e in enumerate(index.graph.entities) if not len(index.lookups.around(i)[0])}
    large = index.part(LAYERS)
    places = [i for i, e in enumerate(large.graph.entities) if e.id in alone]
    homes = [set(large.lookups.around(i)[0].tolist()) for i in places]
    shared = [(places[i], places[i + 1]) for i, (a, b) in enumerate(pairwise(homes)) if a & b]
    assert shared
    assert len(bridged(offline, list(shared[0]), path_only=True)) == 2


# ── chunks: step 3 ──


def test_chunks_come_by_entity_and_then_by_the_neighbours_that_share_them(made: Corpus) -> None:
    index, rt = seen(made), made.runtime()
    tied, local = ties_of(index, rt), [i for i, e in enumerate(index.graph.entities) if not e.level][:4]
    places = flatten_groups(near_neighbours(local, index, tied, len(index.catalogue.chunks)))
    entities = list(index.graph.entities)
    ids = [c.id for c in index.catalogue.chunks]

    def rank(place: int) -> tuple[int, int, int]:
        first = next(i for i, e in enumerate(local) if ids[place] in entities[e].chunks)
        beside = set(index.lookups.around(local[first])[0].tolist())
        return first, -sum(ids[place] in entities[b].chunks for b in beside), place

    wanted = {i for i, name in enumerate(ids) if any(name in entities[e].chunks for e in local)}
    assert places == sorted(wanted, key=rank)
    assert len({-rank(p)[1] for p in places}) > 1


def test_chunks_that_entities_of_the_texts_bring_come_before_those_of_summary_entities(made: Corpus) -> None:
    evidence = found(made, order="shared", **ALL)
    level = {e.id: e.level for e in seen(made).graph.entities}
    shown = seen(made).entities(of(evidence, "entity"))
    texts = {c for e in shown.values() if not e.level for c in e.chunks}
    assert any(level[e] for e in of(evidence, "entity"))
    inside = [c in texts for c in of(evidence, "chunk")]
    assert inside == sorted(inside, reverse=True)


def test_where_vectors_compare_words_the_nearest_chunks_come_first(offline: Corpus) -> None:
    question = Question(QUESTIONS["local"])
    chunks = [p for p in found(offline, question).passages if p.kind == "chunk"]
    assert "keeps the lighthouse" in chunks[0].text
    assert [p.score for p in chunks] == sorted((p.score for p in chunks), reverse=True)
    assert {p.score for p in found(offline, question, order="shared").passages if p.kind == "chunk"} == {0.0}


def test_a_model_s_vectors_leave_the_chunks_in_the_authors_order(made: Corpus) -> None:
    assert of(found(made), "chunk") == of(found(made, order="shared"), "chunk")
    assert set(of(found(made, order="near", **ALL), "chunk")) == set(of(found(made, **ALL), "chunk"))


# ── sections and modes: step 6 ──

SECTIONS: dict[Mode, set[str]] = {
    "hirag": {"report", "relation", "entity", "chunk"},
    "hi_nobridge": {"report", "entity", "chunk"},
    "hi_local": {"entity", "relation", "chunk"},
    "hi_global": {"report", "chunk"},
    "hi_bridge": {"relation", "chunk"},
    "flat": {"report", "relation", "entity", "chunk"},
}
KINDS = ("report", "relation", "entity", "chunk")


def test_every_mode_is_tried() -> None:
    assert set(get_args(Mode)) == SECTIONS.keys()


@pytest.mark.parametrize("mode", list(SECTIONS))
def test_every_mode_reads_its_sections_in_order(made: Corpus, mode: Mode) -> None:
    kinds = [p.kind for p in found(made, mode=mode, **ALL).passages]
    order = KINDS if mode != "hi_local" else ("entity", "relation", "chunk")
    assert set(kinds) == SECTIONS[mode]
    assert kinds == sorted(kinds, key=order.index)


def test_modes_differ_in_nothing_but_their_sections(made: Corpus) -> None:
    """An ablation takes away one section, and leaves the others as they are."""
    whole = found(made, **ALL)
    for mode in ("hi_nobridge", "hi_global", "hi_bridge"):
        part = found(made, mode=mode, **ALL)
        assert part.passages
        assert part.passages == tuple(p for p in whole.passages if p.kind in SECTIONS[mode])


def test_the_local_mode_reads_the_relations_of_the_local_entities(made: Corpus) -> None:
    evidence = found(made, mode="hi_local", top=4, relation_tokens=10**6, **ALL)
    index = seen(made)
    local = set(of(evidence, "entity"))
    wanted = {r.id for r in index.graph.relations if r.source in local or r.target in local}
    assert wanted
    assert set(of(evidence, "relation")) == wanted


def test_the_flat_mode_knows_no_summary_entity(made: Corpus) -> None:
    """The paper's "w/o HiIndex"."""
    ids = {e.id for e in made.index().graph.entities}
    assert set(of(found(made, mode="flat", **ALL), "entity")) <= ids
    assert not set(of(found(made, **ALL), "entity")) <= ids
    assert HiRAG(mode="flat").reads == {"graph", "reports"}
    assert HiRAG().reads == {"graph", "layers"}


def test_a_mode_without_its_part_says_what_to_build(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph", "layers"]}}) as opened:
        opened.add(papers())
        opened.build()
        with pytest.raises(NotIndexed, match="'reports'"):
            opened.query(QUESTIONS["local"], method="hirag", mode="flat")


@pytest.mark.parametrize("mode", list(SECTIONS))
@pytest.mark.parametrize("budget", [1, 150, 600, 2000, 32_000])
def test_defect_2_the_context_never_exceeds_its_cap(made: Corpus, mode: Mode, budget: int) -> None:
    evidence = found(made, mode=mode, context_tokens=budget)
    assert (
        sum(passage_tokens(p) for p in evidence.passages if p.kind != "chunk")
        + sum(made.index().tokens_of([p.id])[p.id] for p in evidence.passages if p.kind == "chunk")
        == evidence.tokens
    )
    assert evidence.tokens <= budget


def test_defect_2_every_section_is_capped(made: Corpus) -> None:
    caps = {"report": "report_tokens", "relation": "bridge_tokens", "entity": "entity_tokens", "chunk": "text_tokens"}
    whole = found(made, **ALL)
    for kind, setting in caps.items():
        few = found(made, **{setting: 100}, **ALL)
        kept, offered = ([p for p in one.passages if p.kind == kind] for one in (few, whole))
        sizes = [count_tokens(p.text) + (kind != "chunk") * count_tokens(p.title) for p in offered]
        assert kept == offered[: len(kept)]
        assert sum(sizes[: len(kept)]) <= 100 < sum(sizes[: len(kept) + 1]), kind


def test_a_small_context_is_shared_and_what_one_section_leaves_the_next_may_use(made: Corpus) -> None:
    evidence = found(made, context_tokens=2500)
    assert {p.kind for p in evidence.passages} == set(KINDS)
    without = found(made, mode="hi_global", report_tokens=0, context_tokens=500, text_tokens=500)
    assert not of(without, "report")
    assert sum(made.index().tokens_of(of(without, "chunk")).values()) == without.tokens > 300
    assert evidence.omitted > 0
    assert any(note.startswith("no room for ") for note in evidence.notes)


def test_the_notes_say_how_large_each_section_is(made: Corpus) -> None:
    evidence = found(made)
    note = next(note for note in evidence.notes if note.startswith("read: "))
    assert [len(of(evidence, kind)) for kind in ("report", "relation", "entity", "chunk")] == [
        int(n) for n in re.findall(r"(\d+) (?:reports?|relations? on bridges|entity|entities|chunks?) \(", note)
    ]
    assert "bridge (" not in note


def test_the_notes_say_one_of_one_thing_and_many_of_many() -> None:
    assert [_count_things("reports", 1), _count_things("bridge", 0)] == ["1 report", "0 relations on bridges"]
    assert [_count_things("entities", 1), _count_things("entities", 2)] == ["1 entity", "2 entities"]


# ── answers ──


def test_one_question_costs_one_answer(made: Corpus) -> None:
    answer = made.query("Who painted for whom in the story of the quay?", method="hirag")
    assert answer.usage.calls == 1
    assert answer.citations


def test_summary_entities_can_be_cited(made: Corpus) -> None:
    """Defect 3: what a model wrote of a group leads to the spans of its members."""
    above = {e.id for e in seen(made).graph.entities if e.level}
    shown = [p for p in found(made, **ALL).passages if p.id in above]
    assert shown
    assert all(p.quotes for p in shown)
    chunks = {
        c.id: len(c.text) for p in shown for c in made.index().chunks([q.source.chunk for q in p.quotes]).values()
    }
    assert all(q.source.end <= chunks[q.source.chunk] for p in shown for q in p.quotes)


def test_defect_7_a_question_that_nothing_fits_is_answered_honestly(offline: Corpus) -> None:
    question = "?!"  # no word, no vector
    evidence = found(offline, Question(question))
    assert evidence.passages == ()
    assert "no entity of this index is near the question" in evidence.notes
    assert offline.query(question, method="hirag").text == NOTHING


def test_a_floor_that_nothing_reaches_gives_a_result_too(made: Corpus) -> None:
    assert found(made, cosine_floor=0.999).passages == ()


def test_an_index_with_one_entity_is_answered_from(tmp_path: Path) -> None:
    """§7: fewer than three entities have no layer."""
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": PARTS}) as opened:
        opened.add(replace(papers()[0], text="Ada Finch keeps the lamp. Ada Finch sleeps little."))
        assert opened.build().counts["summary_entities"] == 0
        answer = opened.query("What does Ada Finch keep?", method="hirag")
    assert "lamp" in answer.text
    assert answer.citations


PROGRAM = """
import sys
from harbour import QUESTIONS, papers
from sensegraph.corpus.corpus import Corpus
from wired import stories
index = {"parts": ["graph", "layers"], "chunk_tokens": 60, "chunk_overlap": 10, "layers": {"cluster_size": 5}}
with Corpus.open(sys.argv[1], settings={"engine": "offline", "index": index}) as made:
    made.add([*papers(), *stories(2)])
    made.build()
    for question in QUESTIONS.values():
        answer = made.query(question, method="hirag")
        print(answer.text, [(p.kind, p.id, p.score) for p in answer.evidence.passages], answer.evidence.documents)
"""


@pytest.mark.slow
def test_defect_1_two_processes_give_the_same_answers(tmp_path: Path) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert said[0]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"top": 0}, "top"),
        ({"top_m": 0}, "top_m"),
        ({"context_tokens": 0}, "context_tokens"),
        ({"depth": -1}, "depth"),
        ({"report_tokens": -1}, "report_tokens"),
        ({"text_tokens": -1}, "text_tokens"),
        ({"cosine_floor": 1.0}, "cosine_floor"),
    ],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=f"hirag: {named}"):
        HiRAG(**bad)
