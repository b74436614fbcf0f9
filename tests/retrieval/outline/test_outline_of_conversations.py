"""The outline of conversations: what they open with, who is in them, and who says most on a theme."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import outline_examples
from sensegraph.corpus.corpus import Corpus
from sensegraph.retrieval.outline.evidence import list_passages
from sensegraph.retrieval.outline.notes import note_documents
from sensegraph.retrieval.outline.part import OUTLINE, make_outline
from sensegraph.types import Document

OPENS = "In this programme we will talk with people who build new things for the rivers of the north."
GUESTS = {
    "Ann Lee": "a professor of marine biology at the harbour school",
    "Otto Brandt": "the founder of a company for tidal turbines",
    "Mara Holt": "an engineer who plans bridges for small towns",
    "Cy Dahl": "an author of books on the old canals",
}
THINGS = dict(zip(GUESTS, ("grey seal", "tidal turbine", "wooden bridge", "old canal"), strict=True))
MATTERS = (
    "The {thing} of this valley was drawn by a painter in spring.",
    "Every {thing} has needed more care than the people were willing to give.",
    "Without care the {thing} was lost in many winters of the last century.",
)


def write_conversation(number: int, guest: str, *, presented: bool) -> str:
    """A conversation of a host with one guest."""
    lines = [f"Eve Holm: {OPENS}"]
    lines += [f"Eve Holm: {guest} is {GUESTS[guest]}."] if presented else []
    lines += [f"Eve Holm: Welcome to our evening number {number} here, {guest.split()[0]}."]
    lines += [f"{guest}: {matter.format(thing=THINGS[guest])}" for matter in MATTERS]
    lines += ["Eve Holm: Thank you for that, it was very good to hear.", f"{guest}: It was good to be with you."]
    return "\n\n".join(lines)


def read_conversations(corpus: Corpus) -> None:
    guests = [name for name in GUESTS for _ in range(2)]
    corpus.add([
        Document(f"talk-{i}", write_conversation(i, guest, presented=i % 2 == 0), f"Talk {i}")
        for i, guest in enumerate(guests)
    ])  # fmt: skip
    corpus.build()


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": {"parts": ["graph", "reports", "outline"]}}
    with Corpus.open(tmp_path_factory.mktemp("talks"), settings=settings) as corpus:
        read_conversations(corpus)
        yield corpus


def test_the_head_calls_them_conversations(talks: Corpus) -> None:
    head = next(list_passages(talks.index())).text
    assert head.startswith("**8 conversations, ")
    assert "Speakers: Eve Holm (8), " in head


def test_what_most_conversations_open_with_is_kept_with_who_says_it(talks: Corpus) -> None:
    opened = next(p for p in list_passages(talks.index()) if p.id == "outline-opening")
    assert opened.text == "Most of them open alike:"
    assert f"Eve Holm: “{OPENS}”" in [q.text for q in opened.quotes]


def test_people_are_presented_by_the_sentence_that_says_who_they_are(talks: Corpus) -> None:
    people = next(p for p in list_passages(talks.index()) if p.id == "outline-people")
    told = [q.text for q in people.quotes]
    assert sorted(told) == sorted(f"Eve Holm: “{name} is {what}.”" for name, what in GUESTS.items())


def test_a_theme_of_conversations_names_who_says_most_on_it_but_not_the_host(talks: Corpus) -> None:
    theme = next(t for t in talks.index().part(OUTLINE).themes if t.label == "tidal turbine")
    assert theme.people == ("Otto Brandt",)


def test_the_answer_shows_what_they_open_with_and_who_is_in_them_with_citations(talks: Corpus) -> None:
    text = talks.query("What are the main themes?", method="graphrag").text
    assert f"Most of them open alike:\n\n- “{OPENS}” — Eve Holm [1]" in text
    people = text.partition("Among those who speak:\n\n")[2].partition("\n\n")[0].split("\n")
    assert len(people) == 4
    assert all(re.fullmatch(r"- “\w+ \w+ is (?:an?|the) .+\.” — Eve Holm \[\d\]", line) for line in people)


def test_a_question_about_the_whole_is_answered_by_the_outline_alone_where_a_text_has_its_words(tmp_path) -> None:
    settings = {"engine": "offline", "index": {"parts": ["graph", "reports", "outline"]}}
    with Corpus.open(tmp_path, settings=settings) as corpus:
        corpus.add([Document("note", "The main themes are the best of the games. " * 3, "Note on music")])
        read_conversations(corpus)
        text = corpus.query("What are the main themes?", method="graphrag").text
    assert text.startswith("**9 documents, ")


@pytest.mark.parametrize(("named", "form"), [(False, "themes"), (True, "subjects")])
def test_subjects_are_listed_by_their_titles_only_where_these_tell_more_than_a_number(named: bool, form: str) -> None:
    texts, _ = outline_examples.corpora()["subjects"]
    held = {name if named else f"{i:04}.txt": text for i, (name, text) in enumerate(texts.items())}
    notes = note_documents.fn([outline_examples.cut_chunks(name, text, name) for name, text in held.items()])
    assert make_outline.fn([notes])[0].form == form
