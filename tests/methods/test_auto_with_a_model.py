"""What `auto` chooses where a model answers: among all methods, by what each is good for, the index and the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from named import named, rows
from scripted import ScriptedServer
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.methods import METHODS, load_method, parts_needed
from sensegraph.methods.auto import ASPECTS, Able, Aspect, choose_method, find_aspect, kind_of, rank_methods
from sensegraph.retrieval.signals import names_in_question
from wired import corpus, stories

HERE = Path(__file__).parent
MODEL = Able(model=True)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return named(tmp_path_factory.mktemp("named"), rows(HERE / "router_names.tsv"))


@pytest.mark.parametrize(
    ("question", "aspect"),
    [
        ("What are the main themes of the collection?", "whole"),
        ("What are the recurring themes around Contoso?", "around"),
        ("Who is Ada Lovelace?", "what"),
        ("When was Tom Reeve born?", "detail"),
        ("What did Tom Reeve ask the Harbour Board?", "path"),
        ("When did the wife of the inventor of the Analytical Engine die?", "steps"),
        ("What do Ada Lovelace and Charles Babbage have in common?", "shared"),
        ("Was verbindet Marie Curie mit Pierre Curie?", "shared"),
        ("Where does Jordan begin?", "ambiguous"),
        ("What colour was the door?", "plain"),
    ],
)
def test_a_question_shows_what_it_asks_for(question: str, aspect: Aspect, index: Index) -> None:
    names = [n for n in names_in_question(question, index) if n.proper]
    assert find_aspect(question, kind_of(question, names)[0], names, model=True) == aspect
    assert find_aspect(question, kind_of(question, names)[0], names, model=False) != "around"


def test_every_method_is_good_for_something_and_every_aspect_has_methods() -> None:
    assert set(ASPECTS) == set(get_args(Aspect))
    ranked = {aspect: rank_methods(aspect, model=True) for aspect in ASPECTS}
    assert {m for methods in ranked.values() for m in methods} == set(METHODS)
    assert all(len(methods) > 1 for methods in ranked.values())
    assert all(set(m.fits) | set(m.alone) <= set(ASPECTS) for m in METHODS.values())


def test_a_theme_is_no_matter_for_a_method_that_reads_one_passage() -> None:
    for model in (True, False):
        assert rank_methods("whole", model=model)[0] == "graphrag"
        assert not {"naive", "graft", "local"} & set(rank_methods("whole", model=model))


OWN = {  # methods with a part of their own, and a question that they are built for
    "lightrag": "What are the recurring themes around Contoso?",
    "leanrag": "What do Ada Lovelace and Charles Babbage have in common?",
    "hirag": "What do Ada Lovelace and Charles Babbage have in common?",
    "hipporag": "What did Tom Reeve ask the Harbour Board?",
    "linearrag": "What did Tom Reeve ask the Harbour Board?",
    "kag": "When did the wife of the inventor of the Analytical Engine die?",
    "drift": "What are the recurring themes around Contoso?",
    "raptor": "What colour was the door?",
    "ts": "What are the main themes of the collection?",
}


@pytest.mark.parametrize("method", OWN)
def test_what_was_built_for_a_method_is_used_where_it_is_best(
    method: str, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_method(method)
    parts = parts_needed(loaded) | loaded.reads & {"graph", "reports"}
    monkeypatch.setattr("sensegraph.methods.auto._is_served", lambda m, i, able: served(m, parts))
    choice = choose_method(OWN[method], index, MODEL)
    assert choice.method == method
    assert f"{method} is best for {ASPECTS[choice.aspect]}" in choice.reason


def served(method: str, parts: frozenset[str]) -> bool:
    loaded = load_method(method)
    return parts_needed(loaded) | loaded.reads & {"graph", "reports"} <= parts and method not in ("walk", "hybrid")


def test_an_engine_without_the_tasks_of_a_method_gets_another(index: Index) -> None:
    question = "When did the wife of the inventor of the Analytical Engine die?"
    assert choose_method(question, index, MODEL).method == "kag"
    able = Able(model=True, tasks=frozenset({"answer"}))
    assert choose_method(question, index, able).method == "fastgraphrag"


def test_a_large_corpus_is_not_read_as_a_whole_for_one_question(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "What are the main themes of the collection?"
    assert "ts" in choose_method(question, index, MODEL).others
    monkeypatch.setitem(METHODS, "ts", METHODS["ts"].__class__(**{**fields_of("ts"), "most_tokens": 1}))
    assert "ts" not in choose_method(question, index, MODEL).others


def fields_of(method: str) -> dict[str, Any]:
    return {name: getattr(METHODS[method], name) for name in METHODS[method].__dataclass_fields__}


def test_without_a_model_the_reason_speaks_of_none(index: Index) -> None:
    choice = choose_method("What did Tom Reeve ask the Harbour Board?", index)
    assert choice.method == "hybrid"
    assert "is best for" not in choice.reason


# ── over the scripted server ──


def one_source(body: dict[str, Any]) -> str | None:
    """An answer to a question about all that cites one record, where it is made of points."""
    task = task_of(body)
    if task == "points":
        text = body["messages"][1]["content"]
        cited = "Reports (1)" if "Reports" in text else "Sources (1)"
        return f'{{"points": [{{"text": "They wrote to each other [Data: {cited}].", "score": 80}}]}}'
    return None


def test_the_choice_is_told_in_the_notes_of_an_answer(tmp_path: Path) -> None:
    with ScriptedServer() as server, corpus(tmp_path, server) as made:
        made.add(stories(3))
        made.build()
        answer = made.query("Did Ada Harrow write to the brother of the employer of Cora Harrow?")
    assert answer.method == "kag"
    assert answer.notes[0].startswith("method: kag (")
    assert "of what this index serves, kag is best for questions that are answered in steps" in answer.notes[0]


def test_themes_are_not_answered_by_one_passage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer() as server, corpus(tmp_path, server) as made:
        made.add(stories(6))
        made.build()
        usual = made.query("What are the main themes of the stories?")
        assert usual.method == "graphrag"
        assert len({(c.document, c.start) for c in usual.citations}) > 1
        monkeypatch.setattr("sensegraph.corpus.asker._rests_on_one", lambda answer, index: True)
        answer = made.query("Which themes recur in these stories?")
    assert answer.method == "lazygraphrag"
    assert "that answer rests on one passage: lazygraphrag was asked" in answer.notes[0]


def test_an_answer_rests_on_one_passage_where_all_its_citations_do(tmp_path: Path) -> None:
    from sensegraph.corpus.asker import _rests_on_one
    from sensegraph.types import Answer, Citation

    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(2))
        made.build()
        index = made.index()
        one, other = Citation("1", "story-00", 0, 9, "x"), Citation("2", "story-01", 0, 9, "y")
        assert _rests_on_one(Answer("a", citations=(one, one)), index)
        assert not _rests_on_one(Answer("a", citations=(one, other)), index)
        assert not _rests_on_one(Answer("a"), index)
