"""What a question to a corpus gives besides its answer: how much was left out, which method, what is to be known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import load_settings
from sensegraph.corpus.views import view_matches
from sensegraph.errors import InputError, SettingsError
from sensegraph.graphs.match.matches import Matches
from sensegraph.language.text import count_tokens
from sensegraph.types import Document, Source
from wired import corpus, stories

QUESTION = "Who paid Ada Harrow?"


def test_a_search_counts_what_it_leaves_out(built: Corpus) -> None:
    every, first = built.search(QUESTION, method="bm25", top=99), built.search(QUESTION, method="bm25", top=2)
    assert len(every.passages) > 3
    assert first.passages == every.passages[:2]
    assert first.documents == every.documents[:2]
    assert first.omitted == every.omitted + len(every.passages) - 2
    assert first.tokens == sum(count_tokens(p.text) for p in first.passages)
    assert len(built.search(QUESTION, method="bm25", top=1).passages) == 1
    with pytest.raises(InputError, match="at least 1"):
        built.search(QUESTION, top=0)


def test_a_search_takes_the_method_that_is_named(built: Corpus) -> None:
    found = {name: built.search(QUESTION, method=name, top=9).passages for name in ("bm25", "naive", "auto")}
    assert min(map(len, found.values())) > 2
    assert [p.id for p in found["bm25"]] != [p.id for p in found["naive"]]
    assert [p.score for p in found["auto"]] != [p.score for p in found["bm25"]]


def test_notes_say_who_chose_and_what_waits(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server) as made:
        made.add(stories(2))
        made.build()
        plain = made.query(QUESTION, method="bm25").notes
        assert len(plain) == 1
        chosen = made.query(QUESTION)
        assert [n for n in chosen.notes if n.startswith(f"method: {chosen.method} (")] == [chosen.notes[0]]
        deep = made.query(QUESTION, depth=0)
        assert (deep.method, deep.notes[0]) == ("graphrag", "method: graphrag (a depth was given)")
        made.add(Document("new", "Something new."))
        made.remove("story-00")
        waiting = "2 documents were added, changed or removed since the last build"
        assert waiting in made.query(QUESTION, method="bm25").notes
        assert made.status().pending == ("new", "story-00")
    with Corpus.open(tmp_path, settings={"engine": "offline", "embedder": "offline"}) as other:
        (engine,) = (n for n in other.query(QUESTION, method="bm25").notes if "answered by" in n)
        assert engine.startswith("the index was built by the engine ")
        assert engine.endswith(", the question answered by offline")


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": {"chunk_tokens": 120, "chunk_overlap": 20, "resolve": {"apply": "none"}}}
    settings["index"].pop("resolve")
    with Corpus.open(tmp_path / "offline", settings=settings) as made:
        made.add(stories(3))
        made.build()
        yield made


def test_a_decision_counts_what_it_changed_and_its_undoing_the_same(offline: Corpus) -> None:
    before = offline.index()
    one, other = sorted(before.graph.entities, key=lambda e: (-len(e.chunks), e.id))[:2]

    def changed(now: list[object], then: list[object]) -> int:
        return len([x for x in now if x not in then])

    merged = offline.merge(one.name, other.name)
    after = offline.index()
    for done, now, then in ((merged, after, before), (offline.undo(), offline.index(), after)):
        assert done.entities == changed(list(now.graph.entities), list(then.graph.entities)) > 0
        assert done.relations == changed(list(now.graph.relations), list(then.graph.relations)) > 0
        assert done.reports == changed(list(now.hierarchy.clusters), list(then.hierarchy.clusters)) > 0


def test_a_value_of_a_table_of_matches_is_shown_by_its_fields() -> None:
    source = Source("c", 0, 5)
    made = Matches(("a", "b", "c"), (((source, 1), source, "text"),), 1)
    assert view_matches(made) == {
        "columns": ("a", "b", "c"),
        "rows": [
            {"a": [{"chunk": "c", "start": 0, "end": 5}, 1], "b": {"chunk": "c", "start": 0, "end": 5}, "c": "text"}
        ],
        "found": 1,
        "notes": (),
    }


def test_a_value_of_the_wrong_type_is_named_by_its_dotted_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"\(setting `index\.chunk_tokens`\)\.$"):
        load_settings(tmp_path, {"index": {"chunk_tokens": "many"}})


def test_a_question_keeps_its_words(built: Corpus) -> None:
    with pytest.raises(InputError, match="question is empty"):
        built.query(" \n")
    evidence = built.search("Ada Harrow", method="bm25", top=3)
    assert replace(evidence, notes=()).passages == evidence.passages
    assert evidence.notes == ()
