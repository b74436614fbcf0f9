"""Names of one thing in a graph: what texts define, what a model is asked, and why a pair stays apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.errors import InputError, SettingsError
from sensegraph.index.graph import duplicates
from sensegraph.index.graph.duplicates import (
    Duplicates,
    _ask_engine,
    _note_open_pairs,
    apart_key,
    entity_names,
    find_duplicates,
    ids_apart,
    merge_operations,
    names_by_id,
)
from sensegraph.index.graph.elements import entity_id
from sensegraph.index.graph.graph_settings import ResolveSettings
from sensegraph.index.graph.homonyms import find_senses, list_candidates
from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.index.graph.told_names import list_short_forms
from sensegraph.resolution import Comparison, Group, Proposal, Rule
from sensegraph.resolution.aliases import Aliases
from sensegraph.resolution.comparison.scoring import Collection
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Description, Entity, Graph, Relation, Source
from wired import runtime


@pytest.mark.parametrize(
    ("able", "engine", "why"),
    [
        (True, "none", "index.resolve.engine is none"),
        (True, "auto", "the engine left them open"),
        (False, "none", "the engine some does not judge names"),
        (False, "auto", "the engine some does not judge names"),
    ],
)
def test_pairs_in_question_stay_apart_for_one_of_three_reasons(able: bool, engine: Any, why: str) -> None:
    rt: Any = SimpleNamespace(engine=SimpleNamespace(tasks={"resolve"} if able else {"answer"}, name="some"))
    (note,) = _note_open_pairs(3, rt, ResolveSettings(engine=engine))
    assert note.startswith("3 uncertain pairs stay apart: ")
    assert why in note
    assert _note_open_pairs(0, rt, ResolveSettings(engine=engine)) == ()


def entity(name: str, chunks: Sequence[str], kind: str = "person", aliases: tuple[str, ...] = ()) -> Entity:
    said = (Description(f"{name} is known.", Source(chunks[0], 0, 5)),)
    return Entity(f"id {name}", name, kind, "", said, tuple(chunks), len(chunks), 0, aliases)


def texts_of(found: Mapping[str, str]) -> Any:
    return lambda ids: {i: Chunk(i, "d", 0, len(found[i]), 1, found[i]) for i in ids if i in found}


# ── what texts define ──


def define(graph: Graph, texts: Any) -> list[Rule]:
    """What these texts say of the short forms of a graph."""
    return [rule for short in list_short_forms(NameGraph.of(graph)) for rule in short.find_rules(texts(short.chunks))]


@pytest.mark.parametrize(
    ("long", "kinds", "text", "defined"),
    [
        ("Apple Inc", ("org", "org"), "The apple inc (ai) grew.", True),
        ("Apple Inc", ("other", "org"), "Apple Inc (AI) grew.", True),
        ("Apple Inc", ("org", "other"), "Apple Inc (AI) grew.", True),
        ("Apple Inc", ("org", "person"), "Apple Inc (AI) grew.", False),
        ("Big Inc", ("org", "org"), "Big Inc (AI) grew.", False),
        ("Apple Inc", ("org", "org"), "Apple Inc, or (AI), grew.", False),
    ],
)
def test_a_short_form_in_parentheses_behind_a_name_of_its_letter_and_type(
    long: str, kinds: tuple[str, str], text: str, defined: bool
) -> None:
    graph = Graph((entity(long, ["c"], kinds[0]), entity("AI", ["c"], kinds[1])))
    found = [(r.kind, r.one, r.other, r.by) for r in define(graph, texts_of({"c": text}))]
    assert found == ([("merge", f"id {long}", "id AI", "text")] if defined else [])


@pytest.mark.parametrize(
    ("name", "short"), [("AB", True), ("A&B4567", True), ("ABCDEFGH", False), ("A", False), ("1AB", False)]
)
def test_a_short_form_has_two_to_seven_capitals_or_digits(name: str, short: bool) -> None:
    graph = Graph((entity(f"{name[0]} Long", ["c"]), entity(name, ["c"])))
    assert bool(define(graph, texts_of({"c": f"{name[0]} Long ({name})."}))) == short


def test_a_definition_is_looked_for_in_the_first_twenty_chunks_of_the_short_form() -> None:
    chunks = [f"c{i:02}" for i in range(21)]
    for place, found in ((19, 1), (20, 0)):
        graph = Graph((entity("Apple Inc", chunks[place:]), entity("AI", chunks)))
        told = texts_of(dict.fromkeys(chunks, "AI grew.") | {chunks[place]: "Apple Inc (AI) grew."})
        assert len(define(graph, told)) == found


def test_things_are_compared_with_their_neighbours_both_ways() -> None:
    link = Relation("r", "id A", "id B", "", (), 1.0, ("c",))
    graph = Graph((entity("A", ["c", "e"]), entity("B", ["c"]), entity("C", ["d"])), (link,))
    names = NameGraph.of(graph)
    found = [names.mentioned(row) for row in range(len(names))]
    assert [(m.id, m.name, m.count, m.neighbours, m.places) for m in found] == [
        ("id A", "A", 2, ("id B",), ("c", "e")),
        ("id B", "B", 1, ("id A",), ("c",)),
        ("id C", "C", 1, (), ("d",)),
    ]


# ── what a model is asked ──

JOHN, J = entity("John Smith", ["c0", "c1"]), entity("J. Smith", ["c2"])
GREY = Graph((J, JOHN))
GREY_PAIR = Proposal(J.id, JOHN.id, (J.name, JOHN.name), "ask", 0.8, "")
TOLD = {"c0": "It rained. John Smith left. John Smith came.", "c1": "John Smith spoke.", "c2": "So J. Smith sang."}


def judged(
    folder: Path, reply: Mapping[str, Any], graph: Graph = GREY, **settings: Any
) -> tuple[Duplicates, list[Any]]:
    """What is found with a model that answers so, and what it was asked."""
    with ScriptedServer(Script(reply=lambda body: json.dumps(reply), keep_bodies=True)) as server:
        rt = runtime(SqliteStore(folder), server)
        found = find_duplicates(graph, rt, ResolveSettings(**settings), texts=texts_of(TOLD))
        return found, [call.body["messages"][-1]["content"] for call in server.calls]


def decided(found: Duplicates) -> list[tuple[str, str, str, str]]:
    return [(*p.names, p.decision, p.by) for p in found.proposals]


def test_what_a_model_calls_one_thing_is_merged(tmp_path: Path) -> None:
    found, asked = judged(tmp_path, {"groups": [[1, 2]]})
    assert decided(found) == [("J. Smith", "John Smith", "merge", "engine")]
    assert [g.members for g in found.groups] == [("id J. Smith", "id John Smith")]
    assert (found.asked, len(asked), found.notes) == (1, 1, ())
    (text,) = asked
    assert '"John Smith left."' in text
    assert '"John Smith spoke."' in text
    assert '"So J. Smith sang."' in text
    assert "It rained" not in text
    assert "John Smith came" not in text
    assert "J. Smith is known." in text


def test_what_a_model_calls_two_things_stays_apart(tmp_path: Path) -> None:
    found, _ = judged(tmp_path, {"groups": [[1], [2]]})
    assert (found.asked, found.groups, found.notes) == (1, (), ())
    assert "merge" not in {p.decision for p in found.proposals}
    found, _ = judged(tmp_path / "none", {"groups": []})
    assert (found.asked, found.groups) == (1, ())


def test_nobody_is_asked_where_that_is_set_and_a_note_says_so(tmp_path: Path) -> None:
    found, asked = judged(tmp_path, {"groups": [[1, 2]]}, engine="none")
    assert (found.asked, asked, len(found.notes)) == (0, [], 1)
    assert decided(found) == [("J. Smith", "John Smith", "ask", "names")]
    sure, asked = judged(tmp_path, {"groups": []}, accept=0.5)
    assert (decided(sure)[0][2], asked, sure.notes) == ("merge", [], ())


def test_of_a_name_three_sentences_of_its_first_five_chunks_are_shown(tmp_path: Path) -> None:
    ids = [f"k{i}" for i in range(7)]
    told = {name: f"Here is John Smith in {i}." for i, name in enumerate(ids)}
    with ScriptedServer(Script(reply=lambda body: '{"groups": []}', keep_bodies=True)) as server:
        for first, shown in ((0, "012"), (3, "34"), (5, "")):
            graph = Graph((J, entity("John Smith", ids)))
            there = texts_of({name: text for name, text in told.items() if int(name[1]) >= first})
            find_duplicates(graph, runtime(SqliteStore(tmp_path / shown), server), ResolveSettings(), texts=there)
            text = server.calls[-1].body["messages"][-1]["content"]
            assert "".join(d for d in "0123456" if f"John Smith in {d}." in text) == shown


def test_eight_in_question_are_asked_about_at_once_and_more_in_pairs(tmp_path: Path) -> None:
    for count in (8, 9):
        first = ["John", *(f"{letter}." for letter in "J"), *(f"Jo{'abcdefgh'[i]}" for i in range(count - 2))]
        people = [entity(f"{name} Smith", [f"c{i}"]) for i, name in enumerate(first)]
        graph = Graph(tuple(sorted(people, key=lambda e: e.id)))
        grey = find_duplicates(graph, plain(tmp_path), ResolveSettings(engine="none"), texts=texts_of(TOLD)).proposals
        pairs = [p for p in grey if p.decision == "ask"]
        found, asked = judged(tmp_path / str(count), {"groups": []}, graph)
        together = {i for p in pairs for i in (p.one, p.other)}
        assert len(together) == count
        assert (found.asked, len(asked)) == (len(pairs), 1 if count == 8 else len(pairs))


def plain(folder: Path) -> Any:
    return runtime(SqliteStore(folder / "plain"))


# ── applying ──


def test_an_entity_is_called_by_its_names_and_one_that_was_imported_by_none() -> None:
    single, first, second = ("ada", "person"), ("bo", "person"), ("bob", "person")
    aliases = Aliases(groups=((first, second),))
    known = names_by_id(aliases)
    assert known == {entity_id(first): (first, second), entity_id(second): (first, second)}
    ada = Entity(entity_id(single), "Ada", "Person", "", (), ("c",), 1, 0)
    assert entity_names(ada, known) == (single,)
    bo = Entity(entity_id(first), "Bo", "person", "", (), ("c",), 1, 0)
    assert entity_names(bo, known) == (first, second)
    with pytest.raises(InputError, match="'Ada' was not read"):
        entity_names(Entity("imported", "Ada", "person", "", (), ("c",), 1, 0), known)


def test_pairs_apart_are_those_of_the_graph_under_the_ids_that_it_has() -> None:
    ada, bo, bob, cy = (("ada", "p"), ("bo", "p"), ("bob", "p"), ("cy", "p"))
    graph = Graph(tuple(Entity(entity_id(n), n[0], n[1], "", (), ("c",), 1, 0) for n in (ada, bo)))
    apart = ((bob, ada), (ada, bo), (ada, cy), (bo, bob))
    pair = tuple(sorted((entity_id(ada), entity_id(bo))))
    ids = [e.id for e in graph.entities]
    assert ids_apart(ids, Aliases(groups=((bo, bob),), apart=apart)) == [pair]
    assert ids_apart(ids, Aliases(apart=((ada, cy),))) == []


def test_a_merge_says_what_speaks_for_it_and_how_sure_it_is() -> None:
    people = {e.id: e for e in (Entity(entity_id((n, "p")), n, "p", "", (), ("c",), 1, 0) for n in ("ada", "bo", "cy"))}
    ids = {e.name: i for i, e in people.items()}

    def proposal(a: str, b: str, score: float, decision: Any = "merge", by: Any = "names") -> Proposal:
        return Proposal(ids[a], ids[b], (a, b), decision, score, f"{a}{b}", by)

    group = Group("g", "ada", "p", (ids["ada"], ids["bo"]))
    others = (proposal("ada", "cy", 0.1), proposal("ada", "bo", 0.2, "keep"))
    for by, said in (("names", "rule"), ("engine", "engine")):
        found = Duplicates((proposal("ada", "bo", 0.9, by=by), proposal("bo", "ada", 0.7), *others), (group,))
        (made,) = merge_operations(found, people, {})
        assert (made.kind, made.names) == ("merge", (("ada", "p"), ("bo", "p")))
        assert (made.evidence, made.score, made.by) == ("ada, bo: adabo; bo, ada: boada", 0.7, said)
    (made,) = merge_operations(Duplicates(groups=(group,)), people, {})
    assert (made.evidence, made.score, made.by) == ("", 1.0, "rule")


def test_settings_are_checked_and_what_is_sure_is_merged_at_a_build() -> None:
    assert (ResolveSettings().automatic, ResolveSettings().sure, ResolveSettings().engine) == (True, 0.9, "auto")
    assert (Duplicates().asked, Duplicates().compared) == (0, 0)
    with pytest.raises(SettingsError):
        ResolveSettings(accept=0.2, reject=0.3)
    with pytest.raises(SettingsError, match=r"index\.resolve\.sure"):
        ResolveSettings(sure=0.2)
    assert ResolveSettings(sure=1.0).sure == 1.0


def test_proposals_come_by_decision_then_by_score_and_say_who_decided(tmp_path: Path) -> None:
    names = ("Robert Smith", "Rob Smith", "Bob Smith", "Robert K. Smith", "Robert J. Smith", "Ada")
    graph = Graph(tuple(sorted((entity(n, [f"c{i}"]) for i, n in enumerate(names)), key=lambda e: e.id)))
    found = find_duplicates(graph, plain(tmp_path), ResolveSettings(engine="none"), texts=texts_of({})).proposals
    order = [(("merge", "ask", "keep").index(p.decision), -p.score, p.names) for p in found]
    assert order == sorted(order)
    assert len({p.score for p in found if p.decision == "ask"}) > 1
    assert found[0].score == max(p.score for p in found if p.decision == found[0].decision)


@pytest.mark.parametrize(("groups", "why"), [([[1, 2]], "and found one thing"), ([[1]], "two things")])
def test_what_a_model_found_is_the_reason(tmp_path: Path, groups: list[list[int]], why: str) -> None:
    jack = entity("John Smith", ["c0", "c1"], aliases=("Jack",))
    with ScriptedServer(Script(reply=lambda body: json.dumps({"groups": groups}), keep_bodies=True)) as server:
        rt = runtime(SqliteStore(tmp_path), server)
        rules = _ask_engine(
            Graph((J, jack)), [GREY_PAIR], rt, texts_of({"c1": "It rained. So Jack slept. John Smith."})
        )
        assert [(r.kind, r.by, r.why.endswith(why)) for r in rules] == [
            ("merge" if len(groups[0]) == 2 else "apart", "engine", True)
        ]
        assert '"So Jack slept."' in server.calls[0].body["messages"][-1]["content"]


def test_what_stands_for_pairs_apart_names_both_with_their_types() -> None:
    assert apart_key(Aliases()) == ""
    apart = ((("ada", "p"), ("bo", "q")), (("c", "r"), ("d", "s")))
    assert apart_key(Aliases(apart=apart)) == "ada/p bo/q; c/r d/s"


def test_where_a_name_is_added_only_those_are_compared_and_settled_beside_which_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, compare = list[int](), Collection.make_comparison

    def note(found: Collection, row: int, others: Sequence[int]) -> Comparison:
        asked.append(row)
        return compare(found, row, others)

    monkeypatch.setattr(Collection, "make_comparison", note)
    # as a build does
    monkeypatch.setattr(duplicates, "compare_in_partitions", partial(duplicates.compare_in_partitions, noted=True))
    firms = [f"{name} {kind}" for name in ("Amber", "Birch", "Copper", "Dune", "Ember") for kind in ("Works", "Yard")]
    towns = {f"k{i}": f"The {name} is old. He was born in {name}, Ohio." for i, name in enumerate(firms)}
    graph = Graph(tuple(entity(name, (f"k{i}",), "organization") for i, name in enumerate(firms)))
    places = tuple(entity(word, (f"k{i}", f"k{i + 1}"), "place") for i, word in enumerate(("Amber", "Birch", "Copper")))
    rt = plain(tmp_path)

    def search(graph: Graph, rt: Any) -> Any:
        senses = find_senses(list_candidates(NameGraph.of(graph), {}, rt), texts_of(towns), rt)
        return senses, find_duplicates(graph, rt, ResolveSettings(engine="none"), texts=texts_of(towns))

    search(Graph((*graph.entities, *places)), rt)
    compared = len(asked)
    assert compared > 5
    asked.clear()
    assert rt.computed["duplicates.senses"] >= 1
    more = (*graph.entities, *places, entity("Cormorant Colony", ("k9",), "organization"))
    again = plain(tmp_path)
    found = search(Graph(more), again)
    assert again.computed["duplicates.senses"] == 0
    assert len(asked) < compared / 2
    assert found == search(Graph(more), plain(tmp_path / "fresh"))
