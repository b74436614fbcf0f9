"""All things of a kind, and how many there are: each dated and cited, of the time that is asked about."""

from __future__ import annotations

import pytest

from form_corpora import CLINIC, CLUB, PROGRAM, Texts, answer_lines, ask, passages
from sensegraph import Corpus, Document

LISTS = [
    (
        CLINIC,
        "Which outbreaks were reported in 2019?",
        [
            "- **NV-03** (1 March 2019): norovirus on ward 2.",
            "- **NV-04** (12 July 2019): norovirus at the day clinic.",
            "- **NV-05** (9 September 2019): The outbreaks of the summer, NV-04 and NV-05, are over.",
        ],
    ),
    (
        CLINIC,
        "Which surgeons joined the clinic in 2019?",
        [
            "- **Dr Lena Voss** (3 March 2019): Dr Lena Voss is our new surgeon.",
            "- **Omar Quist** (9 September 2019): With Omar Quist, we have three surgeons again.",
        ],
    ),
    (
        PROGRAM,
        "Which releases were published in 2020?",
        [
            "- **Quill 3.1** (4 May 2020): Release notes, 4 May 2020.",
            "- **Quill 3.2** (9 June 2020): Release notes, 9 June 2020.",
        ],
    ),
    (
        CLUB,
        "Which players joined in 1930?",
        ["**Tom Ash, Ned Cole and Joe Firth**: The players Tom Ash, Ned Cole and Joe Firth joined the club."],
    ),
    (
        PROGRAM,
        "Which schools use Quill 4.0?",
        [
            "**Alder College, Marsh Hall and Cole Academy**: Quill 4.0 is used in schools such as: Alder College, "
            "a day school; Marsh Hall, for boarders; and Cole Academy."
        ],
    ),
]


@pytest.mark.parametrize(("texts", "question", "lines"), LISTS)
def test_things_of_a_kind_are_listed_in_order_of_time(texts: Texts, question: str, lines: list[str]) -> None:
    assert answer_lines(question, texts) == ("list", lines)


def test_every_line_of_a_list_is_cited_with_a_sentence_that_holds_its_name() -> None:
    texts = dict(zip((p.id for p in passages(CLINIC)), CLINIC.values(), strict=True))
    _, statements = ask("Which outbreaks were reported?", CLINIC)
    assert len(statements) == 3
    for statement in statements:
        (reference,), (source,) = statement.references, statement.sources
        name = statement.text.split("**")[1]
        assert name in texts[reference][source.start : source.end]


def test_the_order_of_the_documents_makes_no_difference() -> None:
    question = "Which outbreaks were reported in 2019?"
    assert answer_lines(question, dict(reversed(CLINIC.items()))) == answer_lines(question, CLINIC)


def test_who_was_there_before_is_not_listed_among_those_who_came() -> None:
    assert "Ada Blum" not in str(ask("Which surgeons joined the clinic?", CLINIC))
    assert "Ada Blum" in str(ask("Which surgeons are there?", CLINIC))


@pytest.mark.parametrize(
    ("texts", "question", "lines"),
    [
        (
            CLINIC,
            "Which measures were taken for the winter?",
            [
                "Measures for the winter:",
                "- Masks are worn on all wards.",
                "- Visits end at six.",
                "- Flu shots are offered to everybody.",
            ],
        ),
        (
            CLUB,
            "Which grounds does the club have?",
            [
                "Our grounds are:",
                "- **Hill Road**: a small ground by the mill.",
                "- **The Meadow**: flooded in most winters.",
                "- **Station Park**: the ground of today.",
            ],
        ),
        (
            CLUB,
            "What did the committee agree to?",
            [
                "- The club lowers the fee for pupils to five pounds.",
                "- The club repairs the roof of the stand.",
                "- Rules of other years stay in force.",
            ],
        ),
    ],
)
def test_a_list_of_the_text_is_shown_as_it_is(texts: Texts, question: str, lines: list[str]) -> None:
    assert answer_lines(question, texts) == ("set_list", lines)


def test_of_clauses_those_that_begin_with_who_is_asked_about_are_enough() -> None:
    texts = {"Pact": CLUB["Letter"].replace("the committee has agreed", "Corby and Linton have agreed")}
    texts = {name: text.replace("The club", "Corby") for name, text in texts.items()}
    _, lines = answer_lines("What did Corby agree to?", texts)
    assert lines == ["- Corby lowers the fee for pupils to five pounds.", "- Corby repairs the roof of the stand."]


COUNTS = [
    ("How many beds did the clinic have in April 2019?", ["**41 beds**: The clinic has 41 beds."]),
    (
        "How many beds did the clinic have at the end of 2019?",
        ["**45 beds**: The clinic has 45 beds since the east wing opened."],
    ),
    (
        "How many beds did the clinic have in January 2021, and does the leaflet agree?",
        [
            "The clinic has 52 beds, of which 7 are closed, which leaves 45.",
            "The sources do not agree: More than 60 beds for your health!",
        ],
    ),
    (
        "How many outbreaks were there?",
        [
            "At least 3 outbreaks are named:",
            "- **NV-03** (1 March 2019): norovirus on ward 2.",
            "- **NV-04** (12 July 2019): norovirus at the day clinic.",
            "- **NV-05** (9 September 2019): The outbreaks of the summer, NV-04 and NV-05, are over.",
        ],
    ),
]


@pytest.mark.parametrize(("question", "lines"), COUNTS)
def test_a_number_is_that_of_the_time_asked_about(question: str, lines: list[str]) -> None:
    assert answer_lines(question, CLINIC) == ("count", lines)


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (CLINIC, "How many beds did the clinic have in May 2025?"),  # too long after the last number
        (CLINIC, "How many doctors did the clinic have in 2019?"),
        (CLUB, "Which people are there?"),
        (
            {"Disks": "Options without filesystem-tables are:\n\n- a few\n- no more\n- none"},
            "Which filesystems are there?",
        ),
        (PROGRAM, "Which macros are there?"),
        (CLUB, "What did Tom Rowe agree to?"),
    ],
)
def test_what_no_rule_is_sure_of_is_left_to_facts(texts: Texts, question: str) -> None:
    assert ask(question, texts)[0] in ("fact", "")


def test_about_so_many_is_no_count() -> None:
    texts = CLINIC | {"Poster": "# Poster\n\n*Printed on 5 May 2021.*\n\nThe clinic has over 70 beds."}
    assert answer_lines("How many beds does the clinic have?", texts)[1] == [COUNTS[2][1][0]]


TOOL = {
    "tool": (
        "tool [-t red | green | blue] file\n\n-t kind\n\nGives the kind of key to make. "
        "The possible values are “red”, “green”, or “blue”."
    ),
    "other": "The tool has two friends. They say “yes”, “no”, and “perhaps” to everything.",
}


def test_choices_that_a_text_lists_without_a_number_are_counted() -> None:
    _, lines = answer_lines("How many kinds of key can the tool make with -t?", TOOL)
    assert lines[0] == "**3**: The possible values are “red”, “green”, or “blue”."


def test_choices_of_something_else_are_not_counted() -> None:
    _, lines = answer_lines("How many colours does the ferry have?", TOOL)
    assert lines
    assert not any(line.startswith("**3**") for line in lines)


def test_documents_of_a_kind_are_those_that_say_so_at_their_beginning(tmp_path) -> None:
    texts = {
        "weir.txt": "Weir Licence\n\nYou may open the weir at noon.",
        "mill.txt": "THE MILL FREE LICENSE, 4 May 2020\n\nThe wheel may be turned by all.",
        "log.txt": "Log of the quay\n\nThe licence of the quay has run out.",
        "letter.txt": "Dear Ann,\n\nthe boat is fine.",
    }
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as corpus:
        corpus.add([Document(name, text) for name, text in texts.items()])
        corpus.build()
        for question in ("Which documents are licences?", "Which licences are there in these documents?"):
            answer = corpus.query(question, method="bm25")
            assert {c.document for c in answer.citations} == {"weir.txt", "mill.txt"}
            assert not answer.abstained
