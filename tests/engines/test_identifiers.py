"""Identifiers in questions are compared whole: what the texts say of one is shown, and that it is nowhere is said."""

from __future__ import annotations

import pytest

from form_corpora import Texts, passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.lists.identifiers import answer_identifier
from sensegraph.engines.offline.answers.lists.list_answers import answer_list
from sensegraph.engines.offline.answers.lists.releases import answer_release
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences
from sensegraph.language.asking.identifiers import asks_for_identifier, find_identifiers, write_identifier_pattern
from sensegraph.types import WordCounts

LOG: Texts = {
    "millwright news": (
        "Version 2.4.1 (released 2021-05-06)\n\n- The sluice no longer leaks. Found by Ada Finch. "
        "[MSA-2021-03, low] [FLT-2021-0417]\n\n- The paddle is oiled.\n\n"
        "Version 2.4.0 (released 2021-02-01)\n\n- Close the hatch at night (FLT-2020-1100).\n"
    ),
    "loom news": "Version 1.2.0 (released 2020-07-08)\n\n- The reed is straight again. [FLT-2020-04171]\n",
}


def told(form, question: str) -> str:
    held = passages(LOG)
    counted = WordCounts(9, ())
    written = form(Asked(question, held, tuple(read_source_sentences(held, "en")), counted))
    return "".join(s.text for s in written.statements) if written else ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Who closed FLT-2021-0417?", ("FLT-2021-0417",)),
        ("What did node eu_7b:42 say to db-node-03?", ("eu_7b:42", "db-node-03")),
        ("What changed in loomctl-2.1 and v1.5.2-rc1?", ()),
        ("A 3-year plan of mid-2019 for the 19th-century mill, see https://example.org/a-1", ()),
    ],
)
def test_an_identifier_has_letters_and_digits_and_is_no_version(text: str, names: tuple[str, ...]) -> None:
    assert find_identifiers(text) == names


def test_an_identifier_stands_only_where_it_stands_whole() -> None:
    rule = write_identifier_pattern("FLT-12")
    assert [bool(rule.search(t)) for t in ("(FLT-12)", "flt 12.", "FLT-123", "FLT-12-4", "XFLT-12", "FLT-1")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("question", ["FLT-2021-0417", "What is FLT-2021-0417?", "Where is FLT-2021-0417 mentioned?"])
def test_a_line_that_only_has_the_identifier_is_shown_with_what_it_is_of(question: str) -> None:
    assert asks_for_identifier(question)
    assert told(answer_identifier, question) == (
        "- The sluice no longer leaks. Found by Ada Finch. [MSA-2021-03, low] [FLT-2021-0417]."
    )


def test_an_identifier_that_is_nowhere_is_said_to_be_nowhere() -> None:
    assert told(answer_identifier, "What is FLT-2021-04?") == (
        "The sources do not answer this. “FLT-2021-04” stands nowhere in them."
    )
    assert told(answer_identifier, "Who found the leak of FLT-2021-0417?") == ""  # which facts tell


def test_all_identifiers_of_a_kind_are_listed_by_its_plural() -> None:
    lines = told(answer_list, "Which FLTs are mentioned?").splitlines()
    assert sorted(line.split("**")[1] for line in lines) == ["FLT-2020-04171", "FLT-2020-1100", "FLT-2021-0417"]


def test_which_identifier_a_version_has_is_told_with_the_lines_before_it() -> None:
    lines = told(answer_release, "Which FLT was fixed in millwright 2.4.1?").splitlines()
    assert lines[0] == "**Version 2.4.1 (released 2021-05-06)**:"
    assert [line for line in lines[1:] if line] == [
        "- The sluice no longer leaks. Found by Ada Finch. [MSA-2021-03, low] [FLT-2021-0417].",
    ]  # fmt: skip


WORKS = (
    "Ada Finch oiled the northern paddle before dawn under FLT-2021-0417.",
    "Seven barrels of tar came by barge for FLT-2021-0417.",
    "Brick dust blocked every outer drain until FLT-2021-0417 ended.",
    "Nobody could read what Tom Reed had written on FLT-2021-0417.",
    "Rain fell through a hole that FLT-2021-0417 should have closed.",
    "Their cook paid twelve shillings towards work on FLT-2021-0417.",
    "Since Monday two horses pull stones uphill because of FLT-2021-0417.",
)


@pytest.mark.parametrize(("count", "shown"), [(5, 5), (6, 6), (7, 6)])
def test_at_most_six_sentences_that_have_the_identifier_are_shown(count: int, shown: int) -> None:
    held = passages({"works": "\n\n".join(WORKS[:count])})
    asked = Asked("FLT-2021-0417", held, tuple(read_source_sentences(held, "en")), WordCounts(9, ()))
    written = answer_identifier(asked)
    assert written
    assert [s.text.strip() for s in written.statements] == [f"- {work}" for work in WORKS[:shown]]
