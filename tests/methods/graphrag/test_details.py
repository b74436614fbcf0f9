"""What an engine that quotes is given beside the reports, and what it costs when there is nothing to give."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.graphrag.details import (
    central_sentences,
    count_documents_about,
    detail_reports,
    find_asked_entities,
    find_speaking_reports,
    most_mentioned_entities,
    rare_sentences,
)
from sensegraph.questions import Scope
from sensegraph.types import Document

_TALKS = {
    "power": "Ann Lee built the Skerry Lamp with Bob Ray. The Skerry Lamp burns whale oil from Port Vane.",
    "law": "Bob Ray wrote the Harbour Law with Cara Doe. The Harbour Law limits whale oil in Port Vane.",
    "trade": "Cara Doe sold amber in Port Vane. The amber trade of Port Vane paid for the Skerry Lamp.",
    "again": "Ann Lee and Bob Ray keep the Skerry Lamp. Smugglers cross Port Vane in the winter of each year.",
}
ASKED = "What do the speakers say about smugglers?"
WHOLE = "What are the main themes across the conversations?"


RT: Any = SimpleNamespace(once=lambda step, whole, names: SimpleNamespace(value=step.fn([whole()])[0]))
"""Makes what an index tells by its words, and keeps nothing."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder: Path = tmp_path_factory.mktemp("details")
    corpus = Corpus.open(str(folder), settings={"engine": "offline"})
    corpus.add(*(Document(name, text) for name, text in _TALKS.items()))
    corpus.build()
    return corpus.index()


def quotes(index: Index, question: str) -> list[str]:
    return [q.text for p in detail_reports(question, index, index.clusters_at(0), RT) for q in p.quotes]


def test_sentences_that_hold_a_rare_word_join_the_report_of_their_community(index: Index) -> None:
    said = rare_sentences(ASKED, index, index.clusters_at(0), RT)
    assert any("Smugglers" in d.text for found in said.values() for d in found)
    assert all("mugglers" in d.text for found in said.values() for d in found)
    assert set(said) <= {c.id for c in index.clusters_at(0)}


def test_under_a_filter_rare_words_are_found_among_what_is_left(index: Index) -> None:
    clusters = index.clusters_at(0)
    everything = restrict_to_scope(index, Scope(documents=("*",)))
    assert rare_sentences(ASKED, everything, clusters, RT) == rare_sentences(ASKED, index, clusters, RT) != {}
    without = restrict_to_scope(index, Scope(documents=("power", "law", "trade")))
    assert rare_sentences(ASKED, without, without.clusters_at(0), RT) == {}


def test_a_word_that_no_element_holds_adds_nothing(index: Index) -> None:
    assert rare_sentences("What do the speakers say about chromodynamics?", index, index.clusters_at(0), RT) == {}


def test_what_is_handed_over_leads_to_its_own_words(index: Index) -> None:
    clusters = index.clusters_at(0)
    given = [
        d
        for found in (rare_sentences(ASKED, index, clusters, RT), central_sentences(index, clusters))
        for ds in found.values()
        for d in ds
    ]
    chunks = index.chunks(sorted({d.source.chunk for d in given}))
    assert given
    for d in given:
        span = chunks[d.source.chunk].text[d.source.start : d.source.end]
        assert span.split()[-1] in d.text


def test_words_of_asking_are_not_searched(index: Index) -> None:
    assert rare_sentences(WHOLE, index, index.clusters_at(0), RT) == {}


def test_a_question_about_the_whole_gets_central_sentences_once_each(index: Index) -> None:
    found = central_sentences(index, index.clusters_at(0))
    texts = [d.text for ds in found.values() for d in ds]
    assert texts
    for ds in found.values():
        assert len({d.text for d in ds}) == len(ds)
    assert set(texts) & set(quotes(index, WHOLE))


def test_documents_about_a_community_are_those_that_bring_its_members_together(index: Index) -> None:
    counts = count_documents_about(index, index.clusters_at(0))
    assert set(counts) == {c.id for c in index.clusters_at(0)}
    assert all(0 <= n <= len(_TALKS) for n in counts.values())
    assert max(counts.values()) >= 1
    assert all(n <= c.documents for c in index.clusters_at(0) for n in [counts[c.id]])


def test_an_entity_that_the_question_names_comes_with_the_documents_that_mention_it(index: Index) -> None:
    (passage,) = find_asked_entities("How often is the Skerry Lamp mentioned?", index, ["lamp"])
    assert passage.title == "Skerry Lamp"
    assert passage.documents == 3
    assert passage.kind == "entity"


def test_a_name_inside_a_longer_one_is_left_out(index: Index) -> None:
    assert [p.title for p in find_asked_entities("What of Port Vane and the Harbour Law?", index, [])] == [
        "Port Vane",
        "Harbour Law",
    ]


def test_a_question_that_compares_gets_the_other_names_that_most_documents_hold(index: Index) -> None:
    asked = find_asked_entities("Skerry Lamp", index, [])
    beside = most_mentioned_entities(index, asked)
    assert beside[0].title == "Port Vane"
    assert "Skerry Lamp" not in {p.title for p in beside}
    kinds = [
        p.kind
        for p in detail_reports("Is the Skerry Lamp named more than other things?", index, index.clusters_at(0), RT)
    ]
    assert kinds.count("entity") > 1


def test_the_same_question_is_given_the_same_bytes(index: Index) -> None:
    for question in (ASKED, WHOLE):
        assert detail_reports(question, index, index.clusters_at(0), RT) == detail_reports(
            question, index, index.clusters_at(0), RT
        )


def test_the_reports_that_speak_of_a_question_are_those_with_a_word_of_it_in_any_form(index: Index) -> None:
    clusters = list(index.hierarchy.clusters)
    words = sorted({w.casefold() for c in clusters for w in c.text.replace(".", "").split() if len(w) > 5})
    found = {w: find_speaking_reports(w, [w], index, RT) for w in words}
    assert any(0 < len(speak) < len(clusters) for speak in found.values())
    for word, speak in found.items():
        assert speak == {c.id for c in clusters if word[:5] in f"{c.title} {c.text}".casefold()}
    assert find_speaking_reports("Which chromodynamics?", ["chromodynami"], index, RT) == frozenset()


def test_of_reports_without_a_word_of_a_question_about_something_none_is_read(index: Index) -> None:
    every = index.clusters_at(9)
    read = [p.id for p in detail_reports(ASKED, index, every, RT, speaking=True) if p.kind == "report"]
    assert 0 < len(read) < len(every)
    whole = [p for p in detail_reports(WHOLE, index, every, RT, speaking=True) if p.kind == "report"]
    assert len(whole) == len(every)


def test_reports_under_a_filter_are_searched_as_those_of_the_whole(index: Index) -> None:
    everything = restrict_to_scope(index, Scope(documents=("*",)))
    for question, words in (("Which oil?", ["whale"]), ("Whose harbour?", ["harbo"])):
        found = find_speaking_reports(question, words, index, RT)
        assert found
        assert find_speaking_reports(question, words, everything, RT) == found
