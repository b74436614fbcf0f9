"""Lists, counts and causes asked of a corpus: what a search does not find first is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph import Corpus

FILLER = "The vicar spoke of the weather and of the roof. Tea was served in the hall, and the fair was praised."


@pytest.fixture(scope="module")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    folder: Path = tmp_path_factory.mktemp("parish")
    for month in range(1, 13):
        title = f"Parish meeting, {month} {'January' if month % 2 else 'May'} 20{month + 4:02}"
        told = f"The parish has {20 + month} bells. " if month % 3 == 0 else ""
        repair = f"The repair RP-{month} was paid. " if month in (2, 5, 11) else ""
        (folder / f"{month}.md").write_text(f"# {title}\n\n{FILLER} {told}{repair}{FILLER}\n", encoding="utf-8")
    (folder / "tower.md").write_text(
        "# The tower\n\nThe tower was closed in June 2016.\n\n"
        "## Cause\n\nLightning had struck the spire in May 2015.\n",
        encoding="utf-8",
    )
    (folder / "rp-8.md").write_text("# RP-8: the gutter\n\nOn 4 March 2012 the gutter fell down.\n", encoding="utf-8")
    with Corpus.open(folder / "index", settings={"engine": "offline"}) as corpus:
        corpus.add(str(folder))
        corpus.build()
        yield corpus


def test_a_list_holds_what_stands_in_few_of_many_documents(parish: Corpus) -> None:
    answer = parish.query("Which repairs were paid for?")
    assert [name in answer.text for name in ("RP-2", "RP-5", "RP-11")] == [True] * 3
    assert len(answer.citations) >= 3


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many bells did the parish have in June 2011?", "**26 bells**"),
        ("how many bells did the parish have at the end of 2016?", "**32 bells**"),
        ("How many bells does the parish have?", "**32 bells**"),
    ],
)
def test_a_count_is_that_of_the_latest_text_before_the_time(parish: Corpus, question: str, first: str) -> None:
    assert parish.query(question).text.startswith(first)


def test_documents_that_mention_something_are_counted(parish: Corpus) -> None:
    text = parish.query("How many documents mention the gutter?").text
    assert text.startswith("**1** document names gutter.")


def test_a_cause_from_before_the_time_of_the_question_is_found(parish: Corpus) -> None:
    assert "Lightning" in parish.query("Why was the tower closed in June 2016?").text
