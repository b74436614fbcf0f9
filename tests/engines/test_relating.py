"""Causes, parts of a question, comparisons, what follows, relations, and questions that a text asks itself."""

from __future__ import annotations

import pytest

from form_corpora import CLINIC, CLUB, PROGRAM, Texts, answer_lines, ask, passages
from sensegraph.engines.offline.answers.question_text import restore_names, split_question
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences

ANSWERS = [
    (
        CLINIC,
        "Why did patients fall ill on ward 2?",
        "cause",
        ["The kitchen had served shellfish that was not cooked through."],
    ),
    (
        CLUB,
        "What does the club repair, and who announced it?",
        "parts",
        ["2. The club repairs the roof of the stand.", "Who: **Maud Pell**, who wrote it, in “Letter”."],
    ),
    (PROGRAM, "Which release came after 3.1?", "succession", ["**3.2**: Quill 3.2 corrects the export of tables."]),
    (
        PROGRAM,
        "Which version of Quill came before 4.0?",
        "succession",
        ["**3.2**: Quill 3.2 corrects the export of tables."],
    ),
    (
        PROGRAM,
        "What was the next release after Quill 3.2?",
        "succession",
        ["**4.0**: Quill 4.0 removes the old macros."],
    ),
    (
        PROGRAM,
        "How do Quill 3.1 and Quill 3.2 differ?",
        "comparison",
        ["**Quill 3.1**: Quill 3.1 adds tables.", "**Quill 3.2**: Quill 3.2 corrects the export of tables."],
    ),
    (
        PROGRAM,
        "Which is newer, Quill 3.1 or Quill 4.0?",
        "comparison",
        [
            "**Quill 4.0**",
            "- **Quill 3.1**: Release notes, 4 May 2020.",
            "- **Quill 4.0**: Release notes, 2 March 2021.",
            "302 days lie between the two dates.",
        ],
    ),
    (PROGRAM, "Can Quill open RTF files?", "as_asked", ["Not yet, no.", "- It opens plain text."]),
    (
        PROGRAM,
        "Why is Quill slow to start on Windows?",
        "as_asked",
        ["It loads all fonts first.", "- Turn the preview off."],
    ),
    (CLUB, "Who founded Linton FC?", "relation", ["**Ann Lee**: Linton FC was founded by Ann Lee in 1901."]),
    (CLUB, "Who was Linton FC founded by?", "relation", ["**Ann Lee**: Linton FC was founded by Ann Lee in 1901."]),
    (
        CLUB,
        "What did Linton FC found?",
        "relation",
        ["**Linton Colts**: Linton FC founded a youth team, Linton Colts, in 1950."],
    ),
    (
        CLUB,
        "Which groups were founded by Ann Lee?",
        "relation",
        [
            "- **Linton FC**: Linton FC was founded by Ann Lee in 1901.",
            "- **Linton Choir**: Ann Lee also founded the Linton Choir in 1907.",
        ],
    ),
]


@pytest.mark.parametrize(("texts", "question", "form", "lines"), ANSWERS)
def test_each_form_answers_its_own_questions(texts: Texts, question: str, form: str, lines: list[str]) -> None:
    assert answer_lines(question, texts) == (form, lines)


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (CLINIC, "Why did the nurses fall ill at the day clinic?"),  # only supposed
        (CLUB, "Why did the Rovers lose the final?"),  # a fact says it in one sentence
        (CLUB, "Who founded Corby Town?"),
        (CLUB, "When was Linton FC founded?"),
        (PROGRAM, "Which release came after 4.0?"),
        (PROGRAM, "Which is newer, Quill 3.1 or Quill 9.9?"),
        (PROGRAM, "How do Quill 3.2 and Quill 9.9 differ?"),
        (PROGRAM, "Why does Quill print in green?"),
        (PROGRAM, "Which RTF files can Quill open?"),  # a text asks whether it can
        (PROGRAM, "How do Quill and Quill Pro differ?"),
    ],
)
def test_what_no_rule_is_sure_of_is_left_to_facts(texts: Texts, question: str) -> None:
    assert ask(question, texts)[0] in ("fact", "")


def test_what_is_denied_stands_behind_the_true_cause() -> None:
    texts = {
        "Report on the flood": (
            "# Report on the flood\n\nThe cellar of the library was flooded on 3 May 2018 for two hours.\n\n"
            "## Cause\n\n"
            "The flood of 3 May was not caused by the rain. A pipe under the reading room had burst."
        )
    }
    form, lines = answer_lines("How long was the cellar of the library flooded on 3 May 2018, and why?", texts)
    assert form == "parts"
    assert lines[1:] == [
        "Why: A pipe under the reading room had burst.",
        "- The flood of 3 May was not caused by the rain.",
    ]


def test_what_is_only_supposed_is_no_cause() -> None:
    texts = {"Flood": "# The flood\n\nThe cellar was flooded.\n\n## Cause\n\nWe suspect the old pipe."}
    assert ask("Why was the cellar flooded?", texts)[0] == "fact"
    sure = {name: text.replace("We suspect the old pipe", "The old pipe had burst") for name, text in texts.items()}
    assert answer_lines("Why was the cellar flooded?", sure) == ("cause", ["The old pipe had burst."])


def test_how_one_thing_led_to_another_is_told_where_a_text_on_the_one_names_the_other() -> None:
    texts = {
        "Outage of the catalogue": (
            "# Outage of the catalogue\n\nThe catalogue of the library was down in June 2018.\n\n## Cause\n\n"
            "The bill for the server was sent to the desk of Nora Finch, who had retired in May."
        ),
        "Farewell": "# Farewell\n\nNora Finch retires in May. There will be cake.",
    }
    form, lines = answer_lines("How did the retirement of Nora Finch lead to the outage of the catalogue?", texts)
    assert form == "cause"
    assert lines == ["The bill for the server was sent to the desk of Nora Finch, who had retired in May."]


def test_two_events_are_told_in_order_of_time_without_a_bare_yes() -> None:
    texts = {
        "Diary": "On 3 May 2018 the vicar Tom Ash left the parish. On 7 May 2018 the new bells were hung by Ned Cole."
    }
    form, lines = answer_lines("Did Tom Ash leave before or after Ned Cole hung the bells?", texts)
    assert form == "comparison"
    assert [line.split(":")[0] for line in lines[:2]] == ["- **Tom Ash leave**", "- **Ned Cole hung the bells**"]
    assert lines[2] == "4 days lie between the two dates."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who founded linton fc?", "who founded Linton FC?"),
        ("Who founded Linton FC?", "Who founded Linton FC?"),
        ("what is a ground?", "what is a ground?"),
    ],
)
def test_names_in_small_letters_are_written_as_the_texts_do(question: str, expected: str) -> None:
    text = " ".join(("The club Linton FC has a ground.", "The team of Linton FC likes its ground."))
    assert restore_names(question, read_source_sentences(passages({"Club": text}), "en")) == expected


def test_a_question_is_split_where_it_asks_for_something_else() -> None:
    assert split_question("What changed in May and June, and why?") == ["What changed in May and June", "why?"]
