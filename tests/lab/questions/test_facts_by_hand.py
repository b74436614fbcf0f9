"""What one sentence tells of a thing: how long it may be, which name gives way, and what stands by itself."""

from __future__ import annotations

import pytest

from sensegraph.lab.questions import stated_facts
from sensegraph.lab.questions.stated_facts import GAP, find_gapped_sentences, find_tied_entities, speaks_english
from sensegraph.types import Description, Entity, Graph, Relation, Source


def thing(name: str, *texts: str) -> Entity:
    said = tuple(Description(text, Source(f"c{i}", 0, 1)) for i, text in enumerate(texts))
    return Entity(name, name, "place", "", said, (), 1, 1)


ADA, ARLE = thing("Ada Finch"), thing("Arle")
OFTEN = "often "


@pytest.mark.parametrize(
    ("sentence", "rest", "head", "after"),
    [
        ("Ada Finch left Arle.", "left Arle", "left", ""),
        ("Ada Finch left the Arle.", "left the Arle", "left", ""),
        ("Ada Finch left Arle in the cold rain.", "left Arle in the cold rain", "left", "in the cold rain"),
        ("Ada Finch left Arle in the very cold rain.", "left Arle in the very cold rain", "", ""),
        ("Ada Finch is a friend of Arle.", None, "", ""),  # many things are
        ("Ada Finch is a friend of Arle since 1990.", "is a friend of Arle since 1990", "is a friend of", "since 1990"),
        ("Ada Finch is a friend of Arle and Brun.", "is a friend of Arle and Brun", "is a friend of", "and Brun"),
        ("Arle left Ada Finch.", None, "", ""),
        ("Ada Finch left Arle?", None, "", ""),
        ('Ada Finch left "Arle.', None, "", ""),
        ('Ada Finch left "Arle".', 'left "Arle"', None, None),
        ("Ada Finch left Arle (and Brun.", None, "", ""),
        ("Ada Finch left Arle with Ada Finch.", None, "", ""),
        ("Ada Finch left Arlesham.", None, "", ""),
        ("Ada Finch left it to Arle.", None, "", ""),
        ("Ada Finch Arle.", None, "", ""),
        (f"Ada Finch left Arle {OFTEN * 23}.", f"left Arle {OFTEN * 23}".strip(), "", ""),
        (f"Ada Finch left Arle {OFTEN * 24}.", None, "", ""),
    ],
)
def test_a_sentence_tells_what_follows_its_subject(
    sentence: str, rest: str | None, head: str | None, after: str | None
) -> None:
    found = stated_facts._parse_fact(sentence, ADA, ARLE, "c1", english=True)
    if rest is None:
        assert found is None
        return
    assert found is not None
    assert (found.rest, found.chunk, found.linked) == (rest, "c1", bool(found.head))
    if head is not None:
        assert (found.head, found.after) == (head, after)


def test_in_another_language_no_verb_is_looked_for() -> None:
    found = stated_facts._parse_fact("Ada Finch Arle verlassen sie.", ADA, ARLE, "c1", english=False)
    assert found is not None
    assert found.rest == "Arle verlassen sie"


def gapped(*texts: str) -> list[str]:
    return [t.rest for t in find_gapped_sentences(Graph((thing("Arle", *texts),)))]


def test_a_gap_stands_for_a_name_that_a_sentence_of_eight_to_thirty_words_has_once() -> None:
    assert gapped("One two three four five six seven Arle.") == [f"One two three four five six seven {GAP}."]
    assert gapped("One two three four five six Arle.") == []
    assert len(gapped("Arle " + "word " * 29 + ".")) == 1
    assert gapped("Arle " + "word " * 30 + ".") == []
    assert gapped("Arle and Arle one two three four five six seven.") == []
    many = [f"{w} two three four five six seven Arle." for w in "One Two Three Four Five Six".split()]
    assert len(gapped(*many)) == 4
    assert gapped(many[0], many[0]) == []  # two chunks say it


@pytest.mark.parametrize(
    ("label", "chunks", "name", "found"),
    [
        ("owns", ("c1",), "Brun", 2),
        ("", ("c1",), "Brun", 0),
        ("owns", ("c1", "c2"), "Brun", 0),
        ("owns", ("c1",), "brun", 0),
    ],
)
def test_what_one_chunk_alone_ties_is_taken_both_ways(
    label: str, chunks: tuple[str, ...], name: str, found: int
) -> None:
    other = thing(name)
    graph = Graph((ARLE, other), (Relation("r", ARLE.id, other.id, "", (), 1.0, chunks, label),))
    ties = find_tied_entities(graph)
    assert [(t.subject.name, t.object.name, t.chunk, t.named) for t in ties] == [
        ("Arle", name, "c1", True), (name, "Arle", "c1", True),
    ][:found]  # fmt: skip


def test_the_language_is_told_from_the_first_fifty_texts() -> None:
    english = "The boat was at the pier and they saw it there."
    assert speaks_english([english])
    assert not speaks_english(["李明住在北京。", english])
    assert speaks_english([english] * 50 + ["李明住在北京。"])
    assert not speaks_english([english] * 49 + ["李明住在北京。"])
