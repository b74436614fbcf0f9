"""What a question is shown beside reports, over a graph of three entities: names, rare words, sentences."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.methods.graphrag import details
from sensegraph.methods.graphrag.actions import Action, settle_action
from sensegraph.methods.graphrag.details import (
    _entity_passage,
    _search_words,
    _spans_of_names,
    _weigh_sentences,
    central_sentences,
    find_asked_entities,
    most_mentioned_entities,
    rare_sentences,
)
from sensegraph.types import Cluster, Description, Entity, Graph, Lead, Passage, Relation, Source, Statement

RT: Any = None  # what is in memory is searched without


def said(text: str, place: int = 0) -> Description:
    return Description(text, Source("c", place, place + len(text)))


def entity(name: str, *texts: str, chunks: tuple[str, ...] = ("x" * 12 + "1",), frequency: int = 1) -> Entity:
    told = tuple(said(t, 100 * i) for i, t in enumerate(texts))
    return Entity(name.lower(), name, "p", f"All of {name}.", told, chunks, frequency, 1)


def index(*entities: Entity, relations: tuple[Relation, ...] = ()) -> Any:
    return SimpleNamespace(graph=Graph(entities, relations))


# ── names of a question ──


def test_names_are_looked_for_in_stretches_of_three_words_without_words_of_asking_and_by_initials() -> None:
    spans = _spans_of_names("Which point has Skerry Rock Lamp House?")
    assert spans["skerry rock lamp"] == [(3, 6)]
    assert spans["rock lamp house"] == [(4, 7)]
    assert "skerry rock lamp house" not in spans
    assert not {"sr", "srl"} & spans.keys()  # a word of four letters has no part in initials
    assert not [name for name in spans if "point" in name.split()]
    assert _spans_of_names("Skerry Harbour Council")["shc"] == [(0, 3)]
    assert _spans_of_names("a I") == {}


def test_of_names_inside_each_other_the_longest_is_meant_and_of_equal_ones_the_most_mentioned() -> None:
    rock, lamp, both = entity("Rock"), entity("Lamp"), entity("Rock Lamp")
    found = find_asked_entities("Does the Rock Lamp burn at Lamp?", index(rock, lamp, both), ["burn"])
    assert [p.title for p in found] == ["Rock Lamp", "Lamp"]
    rare = Entity("z", "Lamp", "q", "", (), ("y" * 12 + "1",), 1, 1)
    often = Entity("a", "LAMP", "q", "", (), ("y" * 12 + "1", "y" * 12 + "2"), 1, 1)
    assert [p.id for p in find_asked_entities("The Lamp?", index(rare, often), [])] == ["a"]
    assert [p.id for p in find_asked_entities("The Lamp?", index(rare, lamp), [])] == ["z"]  # then the last by id


def test_an_entity_comes_with_the_sentences_that_hold_most_words_and_its_documents() -> None:
    texts = ("Nothing.", "Lamp oil.", "A lamp.", "Oil and lamp.")
    chunks = ("x" * 12 + "1", "x" * 12 + "2", "y" * 12 + "1")
    shown = _entity_passage(entity("Ada", *texts, chunks=chunks), ["lamp", "oil"])
    assert [q.text for q in shown.quotes] == ["Lamp oil.", "Oil and lamp.", "A lamp.", "Nothing."]
    assert (shown.documents, shown.title, shown.text) == (2, "Ada", "All of Ada.")
    many = entity("Ada", *(f"Lamp {i}." for i in range(50)))
    assert len(_entity_passage(many, ["lamp"]).quotes) == 40


def test_beside_those_asked_about_come_the_eight_that_most_documents_name() -> None:
    chunks = tuple(letter * 12 + "1" for letter in "abcdefghij")
    people = [entity(f"E{i}", "One.", "Two.", chunks=chunks[: 1 + i]) for i in range(10)]
    asked = [Passage("entity", "e9", "")]
    found = most_mentioned_entities(index(*people), asked)
    assert [(p.id, p.documents, len(p.quotes)) for p in found] == [(f"e{i}", 1 + i, 1) for i in range(8, 0, -1)]


# ── rare words ──


def test_words_are_searched_without_the_endings_that_vary() -> None:
    assert _search_words("What do the smugglers carry by boat?") == ["boat", "carr", "smuggle"]
    assert _search_words("Who is it?") == []


def test_sentences_with_rare_words_join_their_community_heaviest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five elements; "smuggle" is in one, "harbo" in three: ln 6 and ln 8/3."""
    ada = entity("Ada", "Smugglers came to the harbour.", "The harbour was calm.", "A smuggler left.")
    bo = entity("Bo", "Bo likes the harbour.")
    link = Relation("r", "ada", "cy", "", (said("They met at the harbour.", 900),), 1.0, ("c",))
    made = index(ada, bo, entity("Cy", "Nothing."), entity("Di", "Calm."), relations=(link,))
    clusters = [Cluster("g", 0, 0, "", (), ("ada", "cy")), Cluster("h", 0, 0, "", (), ("bo",))]
    asked = "What of smugglers in the harbour?"
    found = rare_sentences(asked, made, clusters, RT)
    assert {name: [d.text for d in listed] for name, listed in found.items()} == {
        "g": [
            "Smugglers came to the harbour.",
            "A smuggler left.",
            "The harbour was calm.",
            "They met at the harbour.",
        ],
        "h": ["Bo likes the harbour."],
    }
    assert rare_sentences(asked, made, clusters[1:], RT).keys() == {"h"}
    monkeypatch.setattr(details, "_ALL", 3)
    assert {name: len(listed) for name, listed in rare_sentences(asked, made, clusters, RT).items()} == {"g": 3}


def test_a_word_of_more_than_three_elements_and_a_twentieth_of_all_is_not_rare() -> None:
    for count, rare in ((3, True), (4, False)):
        made = index(*(entity(f"E{i}", "The harbour.") for i in range(count)), entity("Other", "Calm."))
        found = rare_sentences("the harbour", made, [Cluster("g", 0, 0, "", (), ("e0",))], RT)
        assert bool(found) == rare
    large = index(*(entity(f"E{i}", "The harbour." if i < 5 else "Calm.") for i in range(100)))
    assert rare_sentences("the harbour", large, [Cluster("g", 0, 0, "", (), ("e0",))], RT)


# ── the whole ──

LONG = "This is a sentence of more than forty characters."


def test_central_sentences_weigh_the_mentions_of_those_that_they_name() -> None:
    other = "Another sentence that has more than forty characters."
    ada = entity("Ada", LONG, "Short.", frequency=9)
    bo = Entity("bo", "Bo", "p", "", (said(LONG), said(other, 500)), ("c",), 2, 1)
    link = Relation("r", "ada", "bo", "", (said(other, 500),), 30.0, ("c",))
    between = said("A sentence between two communities that is long.", 700)
    apart = Relation("s", "ada", "cy", "", (between,), 30.0, ("c",))
    clusters = [Cluster("g", 0, 0, "", (), ("ada", "bo")), Cluster("h", 0, 0, "", (), ("cy",))]
    made = index(ada, bo, entity("Cy", "x"), relations=(link, apart))
    assert {n: [d.text for d in listed] for n, listed in central_sentences(made, clusters).items() if listed} == {
        "g": [other, LONG]  # ln 3 + ln 31 against ln 10 + ln 3
    }


@pytest.mark.parametrize(("length", "shown"), [(39, False), (40, True), (300, True), (301, False)])
def test_a_sentence_is_shown_that_can_be_read(length: int, shown: bool) -> None:
    found = details._Found()
    _weigh_sentences(found, [said("y" * length)], math.log(2))
    _weigh_sentences(found, [said("y" * length)], math.log(3))
    assert list(found.weight.values()) == ([pytest.approx(math.log(6))] if shown else [])


# ── what a follow-up question found ──


def test_an_action_is_settled_by_the_answers_that_help_best_first() -> None:
    low = Lead((Statement(" Low.", ("a",)), Statement(" More.")), 20.0)
    high, nothing = Lead((Statement("\nHigh.", ("b",)),), 80.0), Lead((Statement("No.", ("a",)),), 0.0)
    read = [Passage("chunk", "a", "one two", sources=(Source("ca", 0, 3),)), Passage("chunk", "b", "three")]
    made: Any = SimpleNamespace(documents_of=lambda ids: {"ca": "d"})
    done = settle_action(Action("i", "Q?"), [(low, read[:1]), (high, read), (nothing, [])], made)
    assert done.text == "High.\n\nLow. More."
    assert [s.references for s in done.answer] == [("b",), ("a",), ()]
    assert (done.status, done.score) == ("done", pytest.approx(100 / 3))
    assert (done.evidence, done.documents) == (("a", "a", "b"), ("d",))
    assert done.tokens == 2 * 2 + 1
    empty = settle_action(Action("i", "Q?"), [], made)
    assert (empty.answer, empty.score, empty.tokens) == ((), 0.0, 0)
