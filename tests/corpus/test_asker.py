"""Which method answers a question, and when another one is asked in its place: what is heard, and what is noted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harbour import papers
from sensegraph.corpus.asker import Asker, _rests_on_one
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import GivenTools
from sensegraph.methods.auto import Able, Choice, find_names_with
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.questions import Question, Scope
from sensegraph.types import Answer, Citation

OFFLINE = {"engine": "offline", "embedder": "offline"}
ASKED = Question("What are these papers about?")
ONE, TWO = Citation(1, "a", 0, 4, "So i"), Citation(2, "b", 0, 4, "So w")


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings=OFFLINE) as made:
        made.add(papers()[:3])
        made.build()
        yield made


class Telling:
    """A method that tells its text as it answers, and cites what it is given."""

    def __init__(self, name: str, *citations: Citation) -> None:
        self.name, self.citations, self.requires, self.reads = name, citations, frozenset(), frozenset()

    def answer(self, question: Any, index: Any, rt: Any) -> Answer:
        text = self.name + "".join(f" [{c.marker}]" for c in self.citations)
        if rt.hear:
            rt.hear(text)
        return Answer(text, self.citations, notes=(f"of {self.name}",))


def ask(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, first: Telling, choice: Choice | None, *, model: bool, hear: bool,
    **options: Any,
) -> tuple[Answer, list[str], list[str]]:  # fmt: skip
    """The answer where `first` is chosen and others cite two sources; what was heard; the methods that were made."""
    made, heard = [], list[str]()

    def method(self: Asker, name: str = "auto", *given: Any, **more: Any) -> tuple[Telling, Choice | None]:
        made.append(name)
        return (first, choice) if len(made) == 1 else (Telling(name, ONE, TWO), None)

    monkeypatch.setattr(Asker, "method", method)
    monkeypatch.setattr(Asker, "_able", property(lambda self: Able(model)))
    answer = corpus.asker.query(ASKED, Scope(), "auto", heard.append if hear else None, **options)
    return answer, heard, made[1:]


WHOLE = Choice("graphrag", "it asks for all", "global", "whole", ("lightrag", "naive"))


@pytest.mark.parametrize("model", [False, True])
@pytest.mark.parametrize("hear", [False, True])
def test_where_the_reports_hold_nothing_passages_are_read_and_only_their_answer_is_heard(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch, model: bool, hear: bool
) -> None:
    answer, heard, made = ask(harbour, monkeypatch, Telling("graphrag"), WHOLE, model=model, hear=hear)
    assert len(made) == 1
    assert answer.method == made[0] != "graphrag"
    assert heard == [answer.text] * hear
    assert answer.notes[0] == "method: graphrag (it asks for all); the reports hold nothing on it: passages were read"
    assert answer.notes[-1] == f"of {made[0]}"


def test_an_answer_of_reports_that_cites_is_heard_as_it_is_written(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, heard, made = ask(harbour, monkeypatch, Telling("graphrag", ONE, TWO), WHOLE, model=True, hear=True)
    assert (answer.method, heard, made) == ("graphrag", ["graphrag [1] [2]"], [])
    assert answer.notes[0] == "method: graphrag (it asks for all)"


@pytest.mark.parametrize(
    ("first", "choice", "options"),
    [
        (Telling("graphrag"), None, {}),  # the one who asked chose it
        (Telling("graphrag"), replace(WHOLE, aspect="plain"), {}),
        (Telling("graphrag"), WHOLE, {"depth": 0}),  # reports were asked for
        (Telling("other"), WHOLE, {}),
    ],
)
def test_an_answer_without_sources_stays_where_nothing_else_was_meant(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch, first: Telling, choice: Choice | None, options: dict[str, Any]
) -> None:
    answer, heard, made = ask(harbour, monkeypatch, first, choice, model=True, hear=True, **options)
    assert (answer.text, heard, made) == (first.name, [first.name], [])


@pytest.mark.parametrize(
    ("others", "hear", "model", "cited", "reason"),
    [
        (("naive", "kag"), False, True, (ONE,), "; that answer rests on one passage: naive was asked"),
        (("naive",), True, True, (ONE,), "; that answer rests on one passage"),
        ((), False, True, (ONE,), "; that answer rests on one passage"),
        (("naive",), False, False, (ONE,), ""),
        (("naive",), False, True, (ONE, TWO), ""),
        (("naive",), False, True, (ONE, replace(ONE, marker=2)), "; that answer rests on one passage: naive was asked"),
        (("naive",), False, True, (ONE, replace(ONE, marker=2, start=9)), ""),
        (("naive",), False, True, (), ""),
    ],
)
def test_an_answer_about_all_that_rests_on_one_passage_is_noted_and_another_method_asked(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch,
    others: tuple[str, ...], hear: bool, model: bool, cited: tuple[Citation, ...], reason: str,
) -> None:  # fmt: skip
    choice = replace(WHOLE, method="other", others=others)
    answer, heard, made = ask(harbour, monkeypatch, Telling("other", *cited), choice, model=model, hear=hear)
    assert answer.notes[0] == f"method: other (it asks for all){reason}"
    assert made == (["naive"] if reason.endswith("was asked") else [])
    assert len(heard) == int(hear)
    assert (answer.method == "naive") is bool(made)


def test_of_a_corpus_of_one_passage_an_answer_may_rest_on_it() -> None:
    one = SimpleNamespace(catalogue=SimpleNamespace(chunks=[1]))
    more = SimpleNamespace(catalogue=SimpleNamespace(chunks=[1, 2]))
    assert not _rests_on_one(Answer("a", (ONE,)), one)  # type: ignore[arg-type]
    assert _rests_on_one(Answer("a", (ONE,)), more)  # type: ignore[arg-type]


def test_a_method_that_is_named_given_or_set_is_looked_up_before_a_stream_begins(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = list[str]()
    usual = Asker.method
    monkeypatch.setattr(Asker, "method", lambda self, name, *more, **options: looked.append(name) or usual(self, name))
    monkeypatch.setattr("sensegraph.corpus.asker.AnswerStream", lambda ask: "begun")
    space = harbour.workspace

    def look(name: str) -> list[str]:
        looked.clear()
        assert harbour.asker.stream(ASKED, Scope(), name) == "begun"
        return list(looked)

    assert look("auto") == []  # question and index choose, when it is asked
    assert look("bm25") == ["bm25"]
    with monkeypatch.context() as patch:
        patch.setattr(space, "given", GivenTools(method=BM25()))
        assert look("auto") == ["auto"]
    with monkeypatch.context() as patch:
        patch.setattr(space, "settings", replace(space.settings, method="bm25"))
        assert look("auto") == ["auto"]


def test_evidence_is_found_by_the_method_that_is_named_or_given_and_else_by_one_that_finds_names(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = list[str]()
    usual = Asker.method
    monkeypatch.setattr(
        Asker, "method", lambda self, name, *more, **options: looked.append(name) or usual(self, "bm25")
    )
    usually = find_names_with(harbour.index())
    for given, name, found in ((None, "auto", usually), (None, "naive", "naive"), (BM25(), "auto", "auto")):
        monkeypatch.setattr(harbour.workspace, "given", GivenTools(method=given))
        assert harbour.asker.search(ASKED, Scope(), name, 3).passages
        assert looked.pop() == found
