"""What holds for every method, with either engine: kinds of question, filters, streaming, history."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harbour import MARKS, QUESTIONS, TEXTS, UNANSWERABLE, papers
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.methods import METHODS, load_method
from sensegraph.methods.lazygraphrag.concepts import CONCEPTS
from sensegraph.questions import Condition, Scope
from sensegraph.testing import check_citations
from sensegraph.types import Answer, Question, Turn
from wired import corpus

NONE = {
    "points": '{"points": [{"text": "Nothing here bears on it.", "score": 0}]}',
    "lead": '{"answer": "Nothing here bears on it.", "score": 0, "follow_ups": ["Which qubits are meant?"]}',
    "refinement": '{"expanded_question": "Which qubits?", "sub_questions": ["Which?"], "hypothetical_answer": "Some."}',
    "test": "no",
    "grade": '{"reason": "It is about a harbour.", "rating": 0}',
    "answer": '{"answer": "The sources do not say."}',
}
ANSWERED_BY = {"multi-hop": "letter-2023", "local": "minutes-2019", "comparison": "minutes-2019"}
SAID = {"multi-hop": ("Ivo Marsh",), "local": ("Ada Finch", "lighthouse"), "comparison": ("Ada Finch", "Tom Reeve")}
SHORT: dict[tuple[str, str, str], str] = {
    **dict.fromkeys((("offline", name, "follow-up") for name in ("graphrag", "ts")), "no report says what she bought"),
    **dict.fromkeys((("offline", name, "search") for name in ("graphrag", "ts")), "every report draws on more papers"),
    ("offline", "graphrag", "multi-hop of number"): "every report draws on more papers than the filter leaves",
    ("scripted", "ts", "multi-hop"): "the vectors of the script are of words, so the report on the wood is not near",
    ("scripted", "lazygraphrag", "global"): "the script calls one chunk relevant",
}
"""What is not answered, or not from the right documents, today, with the reason; an entry that is mended fails."""
SAYS_SO = re.compile(r"\b(nothing|do not say|do not answer|not say)\b", re.IGNORECASE)


def _unanswerable(body: dict[str, Any]) -> str | None:
    return NONE.get(task_of(body)) if "zeppelin" in body["messages"][-1]["content"] else None


@pytest.fixture(scope="module", params=["offline", "scripted"])
def harbour(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("harbour")
    with ScriptedServer(Script(reply=_unanswerable)) as server:
        parts = sorted({part for name in METHODS for part in load_method(name).reads})
        index = {"chunk_tokens": 60, "chunk_overlap": 10, "parts": parts}
        offline = {"engine": "offline", "index": index}
        made = (
            Corpus.open(folder, settings=offline) if request.param == "offline" else corpus(folder, server, index=index)
        )
        with made:
            made.add(papers())
            made.build()
            yield made


@pytest.fixture(params=list(METHODS))
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def falls_short(harbour: Corpus, method: str, request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Says that a test is expected to fail where the table has an entry for what it asks."""

    def expect(what: str) -> None:
        if reason := SHORT.get((harbour.engine.name, method, what)):
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    return expect


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_every_method_answers_every_kind_of_question_with_citations(harbour: Corpus, method: str, kind: str) -> None:
    answer = harbour.query(QUESTIONS[kind], method=method)
    check_citations(answer, TEXTS)
    assert answer.method == method
    assert not SAYS_SO.search(answer.text), answer.text
    assert {c.document for c in answer.citations} <= set(answer.evidence.documents)


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_every_method_answers_from_the_right_documents(
    harbour: Corpus, method: str, kind: str, falls_short: Callable[[str], None]
) -> None:
    """A question about the whole corpus from several of them; any other from the one that says it."""
    falls_short(kind)
    answer = harbour.query(QUESTIONS[kind], method=method)
    cited = {c.document for c in answer.citations}
    if kind == "global":
        assert len(cited) > 1
    elif harbour.engine.quotes:
        assert ANSWERED_BY[kind] in cited
        assert [name for name in SAID[kind] if name not in answer.text] == []
    else:  # the scripted server cites the first of what it is given, whatever was asked
        assert ANSWERED_BY[kind] in answer.evidence.documents


def test_a_plain_question_of_fact_is_answered_from_its_document(harbour: Corpus, method: str) -> None:
    answer = harbour.query(QUESTIONS["local"], method=method)
    assert answer.text
    if harbour.engine.quotes:  # the scripted server weighs no question
        assert "Ada Finch" in answer.text
        assert any("lighthouse of Skerry Point" in c.quote for c in answer.citations)


def test_what_no_document_says_is_said_to_be_unanswerable(harbour: Corpus, method: str) -> None:
    answer = harbour.query(UNANSWERABLE, method=method)
    assert SAYS_SO.search(answer.text), answer.text
    check_citations(answer, TEXTS, abstains=True)


def test_asking_twice_gives_the_same_answer(harbour: Corpus, method: str) -> None:
    first, again = (harbour.query(QUESTIONS["comparison"], method=method) for _ in range(2))
    assert (again.text, again.citations, again.evidence) == (first.text, first.citations, first.evidence)
    assert again.usage.calls == 0


def test_an_answer_is_told_as_it_is_written(harbour: Corpus, method: str) -> None:
    """The pieces, joined, are the text: first while it is written, then from the store."""
    for _ in range(2):
        told: list[str] = []
        answer = harbour.query(f"{QUESTIONS['local']} Tell it slowly.", method=method, hear=told.append)
        assert "".join(told) == answer.text


def test_what_cannot_be_answered_is_told_too(harbour: Corpus, method: str) -> None:
    told: list[str] = []
    answer = harbour.query(f"{UNANSWERABLE} And why?", method=method, hear=told.append)
    assert "".join(told) == answer.text


def test_a_conversation_before_the_question_is_taken_in(
    harbour: Corpus, method: str, falls_short: Callable[[str], None]
) -> None:
    falls_short("follow-up")
    history = [Turn("Who runs the Blythe Shipyard?", "Nora Blythe runs the Blythe Shipyard.")]
    answer = harbour.query("What did she buy, and from whom?", method=method, history=history)
    check_citations(answer, TEXTS)


# ── filters ──


SCOPES: dict[str, tuple[Scope, Callable[[str], bool]]] = {
    "document": (Scope(documents=("letter-*",)), lambda name: name.startswith("letter-")),
    "metadata": (Scope(where=(Condition("kind", "!=", "minutes"),)), lambda name: not name.startswith("minutes")),
    "number": (Scope(where=(Condition("year", ">=", 2022),)), lambda name: int(name[-4:]) >= 2022),
    "time": (Scope(since="2020", until="2022"), lambda name: 2020 <= int(name[-4:]) <= 2022),
}


def _everything(answer: Answer) -> str:
    """All text that an answer holds, its evidence and its quotes too."""
    shown = [t for p in answer.evidence.passages for t in (p.text, p.title, *(q.text for q in p.quotes))]
    return "\n".join([answer.text, *answer.notes, *(c.quote for c in answer.citations), *shown])


@pytest.mark.parametrize("kind", list(SCOPES))
@pytest.mark.parametrize("question", [*QUESTIONS.values(), "Which words are in the papers: Quillfeather, Umbercastle?"])
def test_what_is_filtered_out_does_not_leak(harbour: Corpus, method: str, kind: str, question: str) -> None:
    scope, inside = SCOPES[kind]
    answer = harbour.query(question, method=method, scope=scope)
    assert answer.citations or SAYS_SO.search(answer.text), answer.text
    outside = [name for name in TEXTS if not inside(name)]
    shown = _everything(answer).replace(question, "")
    assert [MARKS[name] for name in outside if MARKS[name] in shown] == []
    assert all(inside(c.document) for c in answer.citations)
    assert all(map(inside, answer.evidence.documents))
    for name in outside:  # no sentence of an outside document that no inside document has
        own = {s for s in TEXTS[name].split(". ") if not any(s in TEXTS[n] for n in TEXTS if inside(n))}
        assert [s for s in own if s in shown] == []


@pytest.mark.parametrize("kind", ["document", "number"])
def test_what_the_filter_leaves_is_answered(
    harbour: Corpus, method: str, kind: str, falls_short: Callable[[str], None]
) -> None:
    """The letter that says who owns the wood is inside of both."""
    falls_short(f"multi-hop of {kind}")
    scope, inside = SCOPES[kind]
    answer = harbour.query(QUESTIONS["multi-hop"], method=method, scope=scope)
    assert inside(ANSWERED_BY["multi-hop"])
    check_citations(answer, TEXTS)


@pytest.mark.parametrize("kind", list(SCOPES))
def test_every_method_says_how_many_documents_the_filter_leaves(harbour: Corpus, method: str, kind: str) -> None:
    scope, inside = SCOPES[kind]
    answer = harbour.query(QUESTIONS["local"], method=method, scope=scope)
    assert any(f"leaves {sum(map(inside, TEXTS))} of {len(TEXTS)} documents" in note for note in answer.notes)


def test_search_obeys_the_filter_too(harbour: Corpus, method: str, falls_short: Callable[[str], None]) -> None:
    falls_short("search")
    scope, inside = SCOPES["time"]
    found = harbour.search(QUESTIONS["local"], method=method, scope=scope, top=50)
    assert found.documents
    assert found.passages
    assert all(map(inside, found.documents))
    assert not any(MARKS[n] in p.text for p in found.passages for n in TEXTS if not inside(n))


def test_a_filter_that_leaves_nothing_is_an_error_that_names_it(harbour: Corpus, method: str) -> None:
    with pytest.raises(InputError, match=r"none of the 7 documents.*1999"):
        harbour.query(QUESTIONS["local"], method=method, scope=Scope(until="1999"))


def test_a_filter_that_leaves_everything_changes_no_evidence(harbour: Corpus, method: str) -> None:
    index, rt, chosen = harbour.index(), harbour.runtime(), load_method(method)
    from sensegraph.index.restricted.scope import restrict_to_scope

    asked = Question(QUESTIONS["multi-hop"])
    everything = restrict_to_scope(index, Scope(documents=("*",)))
    assert chosen.retrieve(asked, everything, rt) == chosen.retrieve(asked, index, rt)


def test_reports_that_draw_on_what_is_outside_are_left_out_and_counted(harbour: Corpus) -> None:
    scope, _ = SCOPES["time"]
    notes = harbour.query(QUESTIONS["global"], method="graphrag", scope=scope).notes
    assert any(re.search(r"\d+ of \d+ reports drew on documents outside the filter", note) for note in notes)


def test_concepts_outside_the_filter_are_not_told(harbour: Corpus) -> None:
    from sensegraph.index.restricted.scope import restrict_to_scope

    inside = restrict_to_scope(harbour.index(), Scope(documents=("letter-*",))).part(CONCEPTS)
    said = " ".join(TEXTS[n] for n in TEXTS if n.startswith("letter-")).casefold()
    assert [name for name in inside.leading(100) if name not in said] == []
    assert len(inside.leading(100)) < len(harbour.index().part(CONCEPTS).leading(100))
