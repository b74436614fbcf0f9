"""An answer held against its sources: what is found, and what a sound answer is told (N94, N100)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sensegraph.answering.asking import NOTHING
from sensegraph.answering.grounding import checking
from sensegraph.answering.grounding.checking import Checked, _widen_quote, check_answer, check_answers
from sensegraph.answering.grounding.citations import ByEngine, ByWords
from sensegraph.answering.grounding.unanswered import AnswerTexts, PosedQuestion
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Answer, Citation, Document
from wired import runtime

TOWNS = Document("towns", "Oslo has 700,000 people. Bergen is not dry. Ada Lind hired Bo Berg in 1911.", "Towns")
TALK = Document(
    "talk", "Ada: Hello.\nBo: The mill is old.\nAda: I see, thank you.\nBo: It was sold.\nAda: Good.\nBo: Yes."
)
DOCUMENTS = {d.id: d for d in (TOWNS, TALK)}


def citation(marker: int, document: Document, quote: str) -> Citation:
    start = document.text.index(quote)
    return Citation(marker, document.id, start, start + len(quote), quote)


SOUND = Answer(
    "Oslo has 700,000 people. [1] Bergen is not dry. [2] Ada Lind hired Bo Berg in 1911. [3] Nobody knows more.",
    (
        citation(1, TOWNS, "Oslo has 700,000 people."),
        citation(2, TOWNS, "Bergen is not dry."),
        citation(3, TOWNS, "Ada Lind hired Bo Berg in 1911."),
    ),
)


def checked(answer: Answer) -> Checked:
    return check_answer(answer, DOCUMENTS.get, ByWords())


def test_a_sound_answer_has_no_problem_and_what_cites_nothing_is_listed() -> None:
    found = checked(SOUND)
    assert (found.problems, found.uncited, found.abstained) == ((), ("Nobody knows more.",), False)
    assert (found.statements, found.supported, found.citations, found.exact) == (4, 3, 3, 3)
    assert (found.recall, found.precision, found.by) == (0.75, 1.0, "lexical support")


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("700,000", "900,000", "unsupported"),
        ("Oslo has", "Moss has", "unsupported"),
        ("is not dry", "is dry", "unsupported"),
        ("Ada Lind hired Bo Berg", "Bo Berg hired Ada Lind", "unsupported"),
        ("people. [1]", "people. [2]", "unsupported"),
        ("people. [1]", "people. [7]", "dangling"),
        ("Bergen is", "Carl says that Bergen is", "speaker"),
    ],
)
def test_an_error_is_found_in_the_statement_that_holds_it(old: str, new: str, kind: str) -> None:
    found = checked(replace(SOUND, text=SOUND.text.replace(old, new)))
    assert [p.kind for p in found.problems] == [kind]
    assert new.split(". [")[0] in found.problems[0].statement
    assert found.problems[0].reason


@pytest.mark.parametrize(
    "change", [{"quote": "Oslo has many people."}, {"start": 3, "end": 27}, {"end": 20}, {"document": "gone"}]
)
def test_a_quote_that_is_not_the_documents_is_found(change: dict[str, object]) -> None:
    wrong = replace(SOUND.citations[0], **change)  # type: ignore[arg-type]
    found = checked(replace(SOUND, citations=(wrong, *SOUND.citations[1:])))
    assert "misquoted" in [p.kind for p in found.problems]
    assert found.exact == 2


def test_a_speaker_is_whose_label_stands_before_the_span() -> None:
    said = Answer("Bo says: “The mill is old.” [1]", (citation(1, TALK, "The mill is old."),))
    assert checked(said).problems == ()
    (problem,) = checked(replace(said, text=said.text.replace("Bo", "Ada"))).problems
    assert (problem.kind, problem.reason) == ("speaker", "in what is cited, it is said by bo")


def test_a_note_of_the_source_is_no_mark_of_the_answer() -> None:
    noted = Document("noted", "Oslo has many people.[12] It rains.")
    answer = Answer("Oslo has many people.[12] [1]", (citation(1, noted, "Oslo has many people.[12]"),))
    found = check_answer(answer, {"noted": noted}.get, ByWords())
    assert (found.problems, found.statements, found.supported) == ((), 1, 1)


def test_an_answer_that_has_none_has_nothing_to_check() -> None:
    found = checked(Answer(NOTHING))
    assert (found.abstained, found.statements, found.recall, found.precision) == (True, 0, None, None)


def test_an_answer_that_abstains_and_cites_what_comes_nearest_has_no_recall_but_its_quotes_are_checked() -> None:
    text = (
        "The sources do not answer this. “qubits” stands nowhere in them.\n\nWhat comes nearest: Bergen is not dry. [1]"
    )
    answer = Answer(text, (citation(1, TOWNS, "Bergen is not dry."),), abstained=True)
    for one in (answer, replace(answer, abstained=False)):  # as it says of itself, and by its words alone
        found = checked(one)
        assert (found.abstained, found.recall, found.precision) == (True, None, None)
        assert (found.statements, found.exact, found.uncited, found.problems) == (1, 1, (), ())
    wrong = replace(answer, citations=(replace(answer.citations[0], quote="Bergen is dry."),))
    assert [p.kind for p in checked(wrong).problems] == ["unsupported", "misquoted"]


def test_a_model_is_shown_what_stands_around_a_span(server, store: SqliteStore) -> None:  # type: ignore[no-untyped-def]
    answer = Answer("Bergen is not dry in 1911. [1]", (citation(1, TOWNS, "Bergen is not dry."),))
    assert [p.kind for p in checked(answer).problems] == ["unsupported"]
    found = check_answers([answer], DOCUMENTS.get, ByEngine(runtime(store, server)))[0]
    assert (found.problems, found.by) == ((), "support by scripted")


def test_several_answers_are_checked_as_each_alone() -> None:
    wrong = replace(SOUND, text=SOUND.text.replace("700,000", "5"))
    assert check_answers([SOUND, wrong], DOCUMENTS.get, ByWords()) == [checked(SOUND), checked(wrong)]


def test_the_nearest_label_alone_says_who_speaks() -> None:
    said = Answer("Ada says: “It was sold.” [1]", (citation(1, TALK, "It was sold."),))
    (problem,) = checked(said).problems  # Ada's label stands before Bo's
    assert (problem.kind, problem.reason) == ("speaker", "in what is cited, it is said by bo")
    (problem,) = checked(replace(said, text=said.text.replace("Ada", "Cy"))).problems
    assert problem.reason == "in what is cited, it is said by bo"
    assert checked(replace(said, text=said.text.replace("Ada", "Bo"))).problems == ()
    alone = Answer("Cy says: “Hello.” [1]", (citation(1, TALK, "Hello."),))
    (problem,) = checked(alone).problems  # one label stands before it
    assert problem.reason == "in what is cited, it is said by ada"
    first = Answer("Cy says: “Oslo has 700,000 people.” [1]", (citation(1, TOWNS, "Oslo has 700,000 people."),))
    (problem,) = checked(first).problems
    assert problem.reason == "the cited documents name no cy"
    assert checked(replace(first, text=first.text.replace("Cy", "Ada Lind"))).problems == ()


def test_of_a_document_that_is_not_there_it_is_not_said_whom_it_names() -> None:
    said = Answer("Bo says that Bergen is cold. [1]", (Citation(1, "gone", 0, 4, "Cold"),))
    found = check_answer(said, {}.get, ByWords())
    assert [p.kind for p in found.problems if p.kind == "speaker"] == []
    assert found.problems


STORIES = [f"The boat number {n} sailed to Bergen." for n in range(7)]
STORY = Document("story", " ".join(STORIES), "Boats", (), "1911")


@pytest.mark.parametrize(("first", "last", "begin", "end"), [(3, 3, 1, 5), (0, 0, 0, 2), (6, 6, 4, 6), (1, 4, 0, 6)])
def test_a_quote_is_read_with_two_sentences_before_and_behind_it(first: int, last: int, begin: int, end: int) -> None:
    quote = " ".join(STORIES[first : last + 1])[4:-1]
    assert _widen_quote(citation(1, STORY, quote), STORY) == " ".join(STORIES[begin : end + 1])


def test_a_quote_that_is_nowhere_in_the_document_is_read_as_it_is() -> None:
    assert _widen_quote(citation(1, STORY, STORIES[3]), None) == STORIES[3]
    moved = replace(citation(1, STORY, STORIES[3]), start=4)
    assert _widen_quote(moved, STORY) == STORIES[3]
    blank = Document("blank", "One.\n\n\n\nTwo.")
    assert _widen_quote(Citation(1, "blank", 5, 7, "\n\n"), blank) == "\n\n"


def test_a_question_is_held_against_what_is_within_a_thousand_characters_of_what_is_cited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[AnswerTexts] = []
    monkeypatch.setattr(checking, "find_unanswered", lambda posed, texts: seen.append(texts) or ("told",))
    long = Document("long", f"{'a' * 1500}{'b' * 10}{'c' * 1500}", "Long", (), "1911")
    cited = (Citation(1, "long", 1500, 1510, "b" * 10), Citation(2, "story", 0, 8, "The boat"))
    found = check_answer(
        Answer("So it is. [1][2]", cited), {"long": long, "story": STORY}.get, ByWords(), posed=PosedQuestion("Who?")
    )
    assert found.unanswered == ("told",)
    (texts,) = seen
    assert texts.said == "So it is. [1][2]"
    assert (texts.quotes, texts.titles) == (("b" * 10, "The boat"), ("Long 1911", "Boats 1911"))
    assert texts.near == (f"{'a' * 1000}{'b' * 10}{'c' * 1000}", STORY.text)
    assert texts.around == (long.text, " ".join(STORIES[:3]))


def test_a_problem_says_what_is_wrong_and_with_which_mark() -> None:
    cited = (citation(1, TOWNS, "Bergen is not dry."), Citation(3, "gone", 0, 4, "Cold"))
    found = check_answer(Answer("Bergen is not dry. [1][2] It is cold. [3]", cited), DOCUMENTS.get, ByWords())
    assert [(p.kind, p.statement, p.reason, p.marks) for p in found.problems if p.kind != "unsupported"] == [
        ("dangling", "Bergen is not dry.", "the answer has no source [2]", ("[2]",)),
        ("misquoted", "It is cold.", "there is no document gone", ("[3]",)),
    ]
    assert (found.statements, found.citations, found.exact) == (2, 2, 1)
    moved = check_answer(Answer("It is dry. [1]", (Citation(1, "towns", 1, 5, "dry."),)), DOCUMENTS.get, ByWords())
    assert [p.reason for p in moved.problems if p.kind == "misquoted"] == ["towns:1-5 reads otherwise"]
