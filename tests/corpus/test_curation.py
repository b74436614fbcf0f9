"""A corpus whose names are decided about: what is computed anew, what stays, and what undo restores (N44, N80, N81)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.browser import Browser
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.names import Applied, NameDecisions, _split_names
from sensegraph.errors import InputError
from sensegraph.index.graph.lookups import build_lookups
from sensegraph.resolution.log import read_operations, record_operations
from sensegraph.types import Document, Entity, Graph, Hierarchy
from wired import content, corpus, stories

OFFLINE = {
    "engine": "offline",
    "index": {"chunk_tokens": 120, "chunk_overlap": 20, "resolve": {"automatic": False}},
}
HOMONYMS = (
    Document("country", "Jordan is a kingdom in the Middle East. Amman is the capital of Jordan. "
             "Jordan borders Syria and Iraq. King Abdullah II rules Jordan."),
    Document("player", "Michael Jordan played basketball for the Chicago Bulls. Michael Jordan won six titles. "
             "Phil Jackson coached Michael Jordan."),
    Document("river", "The Jordan River flows into the Dead Sea. John the Baptist stood at the Jordan River."),
)  # fmt: skip
SPACE = (
    Document("one", "The National Aeronautics and Space Administration (NASA) launched Apollo 11. "
             "NASA trained Neil Armstrong in Houston."),
    Document("two", "The National Aeronautics and Space Administration is in Washington. "
             "Neil Armstrong met Buzz Aldrin in Houston. Apollo 12 landed on the Moon after Apollo 11."),
)  # fmt: skip


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path / "corpus", server) as opened:
        opened.add(stories())
        opened.build()
        server.reset()
        yield opened


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "offline", settings=OFFLINE) as opened:
        opened.add(SPACE)
        opened.build()
        yield opened


def two(opened: Corpus) -> tuple[str, str]:
    """The names of two entities that few chunks mention, one of them in common."""
    known = sorted(opened.index().graph.entities, key=lambda e: (len(e.chunks), e.id))
    return next((a.name, b.name) for a, b in combinations(known, 2) if set(a.chunks) & set(b.chunks))


def names(opened: Corpus) -> set[str]:
    return {e.name for e in opened.index().graph.entities}


def test_of_two_entities_of_one_name_is_asked_which(made: Corpus) -> None:
    kinds = ("person", "ship")
    graph = Graph(tuple(Entity(f"{kind}-0123456789", "Ada", kind, "", (), ("c",), 1, 1) for kind in kinds))
    index = SimpleNamespace(graph=graph, lookups=build_lookups.fn([(graph, Hierarchy())])[0])
    builder: Any = SimpleNamespace(index=lambda: index)
    with pytest.raises(
        InputError, match=r"'ada' may be any of 2 entities; say which: 'Ada \(person\)', 'Ada \(ship\)'"
    ):
        NameDecisions(made.workspace, builder).rename("ada", "Ada Finch")
    with pytest.raises(InputError, match=r"2 entities: person \(person-012\), ship \(ship-01234\); give the type"):
        Browser(made.workspace, builder).entity("ada")


# ── nothing is built anew but what changed ──


def test_after_a_merge_only_what_it_changed_is_computed(made: Corpus, server: ScriptedServer) -> None:
    one, other = two(made)
    reports = len(made.index().hierarchy.clusters)
    done = made.merge(one, other)
    tasks = server.stats()["tasks"]
    assert "extraction" not in tasks  # no text is read again
    assert 0 < tasks["report"] < reports / 2
    assert done.built.computed["reports.report"] == tasks["report"]
    assert done.entities < 15
    assert done.operations[0].kind == "merge"


def test_undo_restores_the_graph_byte_for_byte_and_asks_nobody(made: Corpus, server: ScriptedServer) -> None:
    before = content(made)
    made.merge(*two(made))
    assert content(made)["entities"] != before["entities"]
    server.reset()
    undone = made.undo()
    after = content(made)
    for part in ("documents", "chunks", "texts", "vectors", "entities", "relations", "claims"):
        assert after[part] == before[part], part
    assert server.calls == []
    assert "graph.graph" not in undone.built.computed
    made.build(fresh=True)
    assert content(made) == before


def test_an_index_equals_a_fresh_build_of_the_same_documents_and_log(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    one, other = two(made)
    made.merge(one, other)
    made.rename(one, "Somebody")
    made.merge(*two(made))
    made.undo("3")
    made.add(Document("late", f"{one} met {other} in Quay Town. Somebody met Ada Harrow."))
    made.remove("story-05")
    made.build(fresh=True)
    with corpus(tmp_path / "other", server) as fresh:
        record_operations(fresh.store, read_operations(made.store), "")
        fresh.add(list(made.documents()))
        fresh.build()
        assert content(fresh) == content(made)


def test_a_document_takes_its_aliases_with_it_and_the_operation_stays(made: Corpus) -> None:
    one, other = two(made)
    made.merge(one, other)
    (entity,) = [e for e in made.index().graph.entities if other in (e.name, *e.aliases) and e.aliases]
    made.remove(made.index().documents_of(entity.chunks)[entity.chunks[0]])
    made.build()
    assert not {one, other} & names(made)
    assert [o.kind for o in made.names.operations()] == ["merge"]


# ── proposals ──


def test_proposals_change_nothing_until_they_are_applied(offline: Corpus) -> None:
    before = content(offline)
    shown = offline.resolve()
    one = frozenset(("National Aeronautics and Space Administration", "NASA"))
    assert {frozenset(p.names): p.decision for p in shown.found.proposals}[one] == "merge"
    assert shown.applied is None
    assert content(offline) == before
    assert offline.names.operations() == ()
    applied = offline.resolve(apply=True)
    assert [p.names for p in applied.found.proposals] == [p.names for p in shown.found.proposals]
    assert len([n for n in names(offline) if n in ("NASA", "National Aeronautics and Space Administration")]) == 1
    assert offline.resolve(apply=True).applied is None  # what is one stays one: nothing is left to do


def test_every_applied_merge_has_its_evidence(offline: Corpus) -> None:
    done = offline.resolve(apply=True).applied
    assert done
    assert all(o.evidence and o.by == "rule" and 0.85 <= o.score <= 1 and o.time for o in done.operations)


def test_different_numbers_are_never_one(offline: Corpus) -> None:
    offline.resolve(apply=True)
    assert {"Apollo 11", "Apollo 12"} <= names(offline)


def test_what_is_forbidden_is_not_proposed_as_one(offline: Corpus) -> None:
    offline.forbid("NASA", "National Aeronautics and Space Administration")
    found = offline.resolve(apply=True)
    decided = {frozenset(p.names): p.decision for p in found.found.proposals}
    assert decided[frozenset(("NASA", "National Aeronautics and Space Administration"))] == "keep"
    assert {"NASA", "National Aeronautics and Space Administration"} <= names(offline)


def test_different_names_that_a_text_ties_together_are_one(tmp_path: Path) -> None:
    """N61: a full and a family name, a firm and its legal form, a short form that only the text explains."""
    texts = (
        Document("a", "Albert Einstein was born in Ulm. Einstein worked in Bern with Michele Besso."),
        Document("b", "Apple Inc. sells phones. Apple Inc. (AAPL) is in Cupertino. Apple was founded by Steve Jobs. "
                 "Houston (USA) is far away. USA and AAPL are short."),
    )  # fmt: skip
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        opened.add(texts)
        opened.build()
        done = opened.resolve(apply=True).applied
        assert done
        assert any("a text says Apple Inc. (AAPL)" in o.evidence for o in done.operations)
        found = {e.name: {a.casefold() for a in e.aliases} for e in opened.index().graph.entities}
        assert "einstein" in found["Albert Einstein"]
        assert found["Apple Inc."] >= {"apple", "aapl"}
        assert "Houston" in found


def test_homonyms_stay_apart(tmp_path: Path) -> None:
    """N44: a country, a player and a river of one name are three entities, before and after resolution."""
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        opened.add(HOMONYMS)
        opened.build()
        opened.resolve(apply=True)
        found = {e.name.removeprefix("the ").removeprefix("The "): e for e in opened.index().graph.entities}
        assert {"Jordan", "Michael Jordan", "Jordan River"} <= set(found)
        assert len({found[n].id for n in ("Jordan", "Michael Jordan", "Jordan River")}) == 3


def test_a_build_that_resolves_by_itself_equals_one_that_is_resolved_afterwards(
    offline: Corpus, tmp_path: Path
) -> None:
    settings = {**OFFLINE, "index": {**OFFLINE["index"], "resolve": {"automatic": True}}}  # type: ignore[dict-item]
    offline.resolve(apply=True)
    offline.build(fresh=True)
    with Corpus.open(tmp_path / "automatic", settings=settings) as opened:
        opened.add(SPACE)
        built = opened.build()
        assert content(opened)["entities"] == content(offline)["entities"]
        assert content(opened)["relations"] == content(offline)["relations"]
        assert any("merged into others" in note for note in built.notes)
        assert not opened.build().computed
        opened.split(
            "NASA", ["National Aeronautics and Space Administration"]
        )  # what was found by itself can be undone
        assert {"NASA", "National Aeronautics and Space Administration"} <= names(opened)


# ── pairs in question ──


def pairs_in_question(opened: Corpus) -> list[frozenset[str]]:
    return [frozenset(p.names) for p in opened.resolve(ask=False).found.proposals if p.decision == "ask"]


DOUBTFUL = (
    Document("a", "Peter Harrow sailed with Smith in 1820. Ada Stone paid Smith and Harrow."),
    Document(
        "b",
        "Smith wrote to Peter Harrow. Bob Smith painted for Ada Stone. Ann Smith hired Peter Harrow. Harrow came late.",
    ),
)


def test_pairs_in_question_go_to_the_engine_and_each_is_asked_about_once(
    tmp_path: Path, server: ScriptedServer
) -> None:
    with corpus(tmp_path, server) as opened:
        opened.add(DOUBTFUL)
        opened.build()
        grey = pairs_in_question(opened)
        assert grey
        server.reset()
        found = opened.resolve().found
        assert found.asked == len(grey)
        asked = server.stats()["tasks"]["same"]
        assert asked >= 1
        assert {p.by for p in found.proposals if frozenset(p.names) in grey} == {"engine"}
        again = opened.resolve(apply=True)
        assert server.stats()["tasks"]["same"] == asked  # what was answered is remembered
        assert again.applied
        assert "Peter Harrow" not in names(opened) or "Harrow" not in names(opened)
        assert {o.by for o in again.applied.operations} == {"engine"}


def test_offline_pairs_in_question_stay_apart_and_the_result_says_so(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        opened.add(DOUBTFUL)
        opened.build()
        found = opened.resolve().found
        grey = sum(p.decision == "ask" for p in found.proposals)
        assert grey
        assert found.notes[-1].startswith(f"{grey} uncertain pairs stay apart: the engine offline does not judge names")


# ── splitting, and what cannot be done ──


def test_what_one_document_means_can_be_another_thing(offline: Corpus) -> None:
    before = content(offline)
    offline.split("Neil Armstrong", documents=["two"], called="Neil Armstrong (pilot)")
    found = {e.name: e for e in offline.index().graph.entities}
    assert found["Neil Armstrong (pilot)"].aliases == ("Neil Armstrong",)
    assert set(offline.index().documents_of(found["Neil Armstrong"].chunks).values()) == {"one"}
    offline.merge("Neil Armstrong", "Neil Armstrong (pilot)")
    assert content(offline)["entities"] == before["entities"]
    offline.undo("2")
    offline.undo("1")
    assert content(offline)["entities"] == before["entities"]


def test_a_log_that_contradicts_itself_is_reported_at_the_build(offline: Corpus) -> None:
    offline.merge("Neil Armstrong", "Buzz Aldrin")
    done = offline.split("Neil Armstrong", ["Buzz Aldrin"])
    assert {"Neil Armstrong", "Buzz Aldrin"} <= names(offline)
    assert any(n.startswith("operation 1 (merge") and "overruled" in n for n in done.built.notes)
    done = offline.undo("1")
    assert any(n.startswith("operation 2 (split") and "is skipped" in n for n in done.built.notes)


WRONG = [
    (lambda c: c.merge("NASA", "Neil Armstrnog"), "no entity 'Neil Armstrnog'; did you mean 'Neil Armstrong'"),
    (lambda c: c.merge("NASA", "nasa"), "are one entity already"),
    (lambda c: c.split("NASA"), "split off 'NASA'"),
    (lambda c: c.split("NASA", ["Houston"]), "'NASA' was not merged from 'Houston'; its names are 'nasa'"),
    (lambda c: c.split("NASA", ["NASA"]), "keep at least one"),
    (lambda c: c.split("Neil Armstrong", documents=["three"]), "is not mentioned in 'three'; it is in 'one', 'two'"),
    (lambda c: c.split("Neil Armstrong", documents=["one", "two"]), "keep at least one"),
    (lambda c: c.split("Neil Armstrong", documents=["one"], called="neil  armstrong"), "choose another name"),
    (lambda c: c.rename("NASA", " "), "Say what 'NASA' is to be called"),
    (lambda c: c.forbid("NASA", "NASA"), "`split` takes names out of it"),
    (lambda c: c.undo(), "No operation stands"),
]  # fmt: skip


@pytest.mark.parametrize(("do", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_cannot_be_done_is_said_and_changes_nothing(offline: Corpus, do: Any, said: str) -> None:
    before = content(offline)
    with pytest.raises(InputError, match=said):
        do(offline)
    assert offline.names.operations() == ()
    assert content(offline) == before


def test_an_alias_leads_to_its_entity(offline: Corpus) -> None:
    offline.merge("NASA", "Houston", called="Space people")
    done: Applied = offline.rename("houston", "NASA of Houston")
    assert done.operations[0].names == tuple(sorted(done.operations[0].names))
    assert "NASA of Houston" in names(offline)


def test_reports_count_as_new_only_where_there_were_some_before(tmp_path: Path) -> None:
    def rename(parts: list[str], old: str, new: str) -> tuple[int, int]:
        with Corpus.open(tmp_path, settings={**OFFLINE, "index": {"parts": parts}}) as opened:
            if not opened.document_keys():
                opened.add(SPACE)
                opened.build()
            done = opened.rename(old, new)
            return done.entities, done.reports

    assert rename(["graph"], "Neil Armstrong", "Neil A. Armstrong") == (1, 0)
    assert rename(["graph", "reports"], "Neil A. Armstrong", "Neil Armstrong") == (1, 0)
    entities, reports = rename(["graph", "reports"], "Neil Armstrong", "N. Armstrong")
    assert entities == 1
    assert reports > 0


@pytest.mark.parametrize("called", ["", "Buzz"])
def test_names_that_are_split_off_are_called_anew_where_that_is_said(called: str) -> None:
    entity = Entity("1", "Neil", "person", "", (), (), 1, 0)
    names = (("neil", "person"), ("buzz aldrin", "person"), ("edwin", "person"))
    found = _split_names(entity, names, ["Buzz Aldrin"], called)
    told = [(o.kind, o.names, o.others, o.output) for o in found]
    split = ("split", (names[0], names[2]), (names[1],), "")
    assert told == [split, *[("rename", (names[1],), (), called)] * bool(called)]
