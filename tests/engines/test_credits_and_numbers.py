"""Who reported something, whose name it is, what a number stands for, and which documents are of a kind."""

from __future__ import annotations

import pytest

from sensegraph import Corpus, Document
from sensegraph.language.asking.sentence_cues import names_maker
from sensegraph.types import Answer

NOTES = (
    "mill (2.4) stable\n\n"
    "  * New release of the mill.\n"
    "    - MILL-2024-3914: The sluice opens by itself. Reported by Ida Vrbova\n"
    "      of the harbour laboratory.\n"
    "    - MILL-2024-3915: The paddle breaks.\n"
    "      Reported by Karel Nowotny of the paddle group.\n"
    "    - MILL-2024-3916: The weir leaks.\n\n"
    "- The gate closes at night. Found by Ada Finch. [MSA-2021-03, low] [MILL-2024-3920]\n\n"
    "- The paddle is oiled. Found by Bo Ek. [MSA-2021-02, low] [MILL-2024-3921]\n\n"
    "The wheel did stop, which prevented the stones from turning. (Suggested by Tom Kuhlmann).\n"
)
CODES = (
    "The program sluice-check\n\nMost keepers only need a script that returns an exit status of 101 to it.\n\n"
    "Exit status codes:\n\n  0 - the sluice may be opened\n\n  101 - opening is forbidden by the keeper\n\n"
    "  105 - the state is not certain\n\n"
    "When sluice-check returns status 105, the mill assumes that opening is allowed, but it warns the keeper.\n"
)
TERMS = (
    "WEIR PUBLIC LICENSE\n\nVersion 2.0\n\n"
    '"Initial Developer" means the person named as the Initial Developer in the Source Code notice of Exhibit A. '
    "The Source Form is as defined by the Weir Public License. Everybody may keep a copy of the Weir Public License, "
    "and hand it on to others with the water wheel.\n"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with Corpus.open(tmp_path_factory.mktemp("notes"), settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add([
            Document("mill-notes.txt", NOTES),
            Document("codes.txt", CODES),
            Document("WPL-2", TERMS),
            Document("APL-1", TERMS.replace("WEIR", "ARK").replace("Weir", "Ark")),
        ])  # fmt: skip
        made.build()
        yield made


def ask(corpus: Corpus, question: str) -> Answer:
    return corpus.query(question, method="bm25")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who found MILL-2024-3914?", "Reported by Ida Vrbova of the harbour laboratory."),
        ("Who discovered MILL-2024-3915?", "Reported by Karel Nowotny of the paddle group."),
        ("Who suggested that the stopped wheel kept the stones from turning?", "(Suggested by Tom Kuhlmann)."),
    ],
)
def test_who_reported_something_stands_in_one_sentence_with_what_was_reported(
    corpus: Corpus, question: str, told: str
) -> None:
    first = ask(corpus, question).text.partition("\n\n")[0]
    assert told in first
    assert first.endswith(" [1]")


def test_identifiers_in_brackets_behind_a_sentence_are_of_it(corpus: Corpus) -> None:
    first = ask(corpus, "Who found MILL-2024-3920?").text.partition("\n\n")[0]
    assert first == "The gate closes at night. Found by Ada Finch. [MSA-2021-03, low] [MILL-2024-3920]. [1]"


def test_where_a_text_has_the_identifier_others_of_its_series_are_not_shown(corpus: Corpus) -> None:
    text = ask(corpus, "Who found MILL-2024-3914?").text
    assert "MILL-2024-3914" in text
    assert "MILL-2024-3915" not in text


def test_what_a_number_means_is_told_by_the_line_that_begins_with_it(corpus: Corpus) -> None:
    first = ask(corpus, "What does exit status 101 of sluice-check mean?").text.partition("\n\n")[0]
    assert "101 - opening is forbidden by the keeper" in first


def test_what_happens_at_a_number_is_not_told_by_the_line_that_begins_with_it(corpus: Corpus) -> None:
    first = ask(corpus, "What does the mill do when sluice-check returns status 105?").text.partition("\n\n")[0]
    assert "the mill assumes that opening is allowed" in first


@pytest.mark.parametrize("question", ["Who wrote the Weir Public License 2.0?", "Who are the authors of WPL-2?"])
def test_terms_in_capitals_and_words_of_the_question_are_no_authors(corpus: Corpus, question: str) -> None:
    answer = ask(corpus, question)
    assert answer.text.startswith("The sources do not answer this.")
    assert answer.abstained
    assert "“WPL-2”" not in answer.text


def test_documents_of_a_kind_are_counted_and_stand_in_the_order_of_their_names(corpus: Corpus) -> None:
    assert ask(corpus, "Which documents are licences?").text == (
        "**2** documents:\n\n- **APL-1**: ARK PUBLIC LICENSE. [1]\n- **WPL-2**: WEIR PUBLIC LICENSE. [2]"
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("It was written by Ann Lee.", True),
        ("The author of the tool is Mark Brown.", True),
        ("Copyright (C) 2007 Free Software Foundation, Inc.", True),
        ("The Initial Developer in the Source Code notice required by Exhibit A.", False),
        ("NO USE OF THE CODE IS AUTHORIZED HERE.", False),
        ("As defined by the Weir Public License.", False),
    ],
)
def test_a_maker_has_a_name_that_is_no_common_word_and_not_of_the_question(text: str, named: bool) -> None:
    assert names_maker(text, "Who wrote the Weir Public License?") is named
