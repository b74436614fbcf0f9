"""Lists, counts and causes asked of a corpus: what a search does not find first is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph import Corpus
from sensegraph.answering.looked_up_chunks import find_listed_chunks

FILLER = "The vicar spoke of the weather and of the roof. Tea was served in the hall, and the fair was praised."


@pytest.fixture(scope="module")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    folder: Path = tmp_path_factory.mktemp("parish")
    for n in range(1, 61):
        title = f"Parish meeting, {n % 28 + 1} {'January' if n % 2 else 'May'} {1960 + n}"
        told = f"The parish has {n - 20} bells. " if n % 3 == 0 else ""
        repair = f"The repair RP-{n} was paid. " if n in (2, 5, 51) else ""
        (folder / f"{n}.md").write_text(f"# {title}\n\n{FILLER} {told}{repair}{FILLER}\n", encoding="utf-8")
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
    answer = parish.query("Which repairs were there?")
    assert [f"**{name}**" in answer.text for name in ("RP-2", "RP-5", "RP-8", "RP-51")] == [True] * 4
    assert len(answer.citations) == 4
    assert "RP-8" not in parish.query("Which repairs were paid?").text  # no text says so


def test_every_chunk_that_names_one_of_a_kind_is_looked_up(parish: Corpus) -> None:
    found, complete = find_listed_chunks("Which repairs were paid for?", parish.index())
    assert sorted(re.findall(r"RP-\d+", " ".join(p.text for p in found))) == ["RP-2", "RP-5", "RP-51", "RP-8"]
    assert complete
    counted, complete = find_listed_chunks("How many bells are there?", parish.index())
    assert len(counted) == 20
    assert find_listed_chunks("Who is the vicar?", parish.index()) == ([], True)
    _, complete = find_listed_chunks("Which roofs are there?", parish.index())
    assert complete


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many bells did the parish have in June 2011?", "**31 bells**"),
        ("how many bells did the parish have at the end of 2014?", "**34 bells**"),
        ("How many bells does the parish have?", "**40 bells**"),
    ],
)
def test_a_count_is_that_of_the_latest_text_before_the_time(parish: Corpus, question: str, first: str) -> None:
    assert parish.query(question).text.startswith(first)


def test_documents_that_mention_something_are_counted(parish: Corpus) -> None:
    text = parish.query("How many documents mention the gutter?").text
    assert text.startswith("**1** document names gutter.")


def test_a_cause_from_before_the_time_of_the_question_is_found(parish: Corpus) -> None:
    assert "Lightning" in parish.query("Why was the tower closed in June 2016?").text
