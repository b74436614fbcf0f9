"""The commands that tell facts by their time, and the flags of a question about a time (N90)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asked_in_time import officeholders
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document

RUN = CliRunner()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    officeholders(folder).close()
    return folder


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a document that says nothing but what held later."""
    folder = tmp_path_factory.mktemp("lost")
    with Corpus.open(folder) as corpus:
        corpus.add(
            Document("long.txt", "In 2003 Cara Lund became mayor of Ostby. The harbour was built long ago."),
            Document("late.txt", "In 2016 the mayor of Ostby opened the new bridge."),
        )
        corpus.build()
    return folder


def run(*words: str) -> tuple[int, str]:
    result = RUN.invoke(app, list(words))
    return result.exit_code, result.output


def test_timeline_prints_one_line_a_fact_with_its_place(root: Path) -> None:
    code, printed = run("show", "timeline", "nordwind", "--since", "2012", "--root", str(root))
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].startswith("2011-03 – before 2018-09-01  In March 2011 Bo Lind became chief executive")
    assert lines[0].endswith("[nordwind-2011:0-57]")
    assert not any("Anna Berg became" in line.split("—")[0] for line in lines)


def test_timeline_as_json_quotes_the_documents(root: Path) -> None:
    code, printed = run("show", "timeline", "Sea Museum", "--json", "--root", str(root))
    events = json.loads(printed)["events"]
    assert code == 0
    assert [e["disputed"] for e in events] == [True, True]
    assert {e["document"] for e in events} == {"museum-a", "museum-b"}


def test_changes_prints_what_took_the_place_of_what(root: Path) -> None:
    code, printed = run("show", "changes", "2008", "2010", "--root", str(root))
    assert code == 0
    assert "changed  since 2009-07-01  Ostby became the capital of Norland on 1 July 2009." in printed
    assert "instead of  1950 – before 2009-07-01  Altstad became" in printed
    code, printed = run("show", "changes", "2008", "2008", "--root", str(root))
    assert printed.strip() == "Nothing dated changed between 2008 and 2008."


def test_changes_as_json_tells_what_before_and_after(root: Path) -> None:
    _, printed = run("show", "changes", "2010", "2012", "--json", "--root", str(root))
    found = json.loads(printed)["changes"]
    assert {c["what"] for c in found} == {"began", "ended", "changed"}


def test_a_question_takes_a_moment_or_a_stretch(root: Path) -> None:
    asked = ["query", "--root", str(root), "--method", "local", "--json", "Who was mayor of Ostby?"]
    assert "Emil Gran" in json.loads(run(*asked, "--as-of", "2013-03-01")[1])["answer"]
    assert "Frida Holm" in json.loads(run(*asked, "--during", "2018/")[1])["answer"]
    assert "facts from 2018 on" in json.loads(run(*asked, "--during", "2018/")[1])["notes"]


def test_a_search_takes_them_too(root: Path) -> None:
    words = ["search", "--root", str(root), "--method", "naive", "--json", "mayor of Ostby", "--as-of", "2018"]
    texts = " ".join(e["text"] for e in json.loads(run(*words)[1])["evidence"])
    assert "Frida Holm became mayor" in texts
    assert "Emil Gran was mayor" not in texts


@pytest.mark.parametrize("method", ["naive", "bm25", "hybrid"])
def test_a_search_shows_people_no_sentence_of_another_time(root: Path, method: str) -> None:
    code, printed = run("search", "--root", str(root), "--method", method, "mayor of Ostby", "--as-of", "2005")
    assert code == 0
    assert "   mayor-a:0-47 “Dora Frey was mayor of Ostby from 2002 to 2009.”" in printed
    assert "Emil Gran" not in printed
    assert "Frida Holm became" not in printed


def test_passages_of_which_a_time_leaves_nothing_are_counted_and_not_shown(lost: Path) -> None:
    code, printed = run("search", "--root", str(lost), "--method", "naive", "mayor of Ostby", "--as-of", "2005")
    assert code == 0
    assert [line.split()[-1] for line in printed.splitlines() if line[:2] in ("1.", "2.")] == ["long.txt"]
    assert "- not shown: 1 passage without anything that held then" in printed


def test_a_search_names_the_entities_and_reports_that_it_found(root: Path) -> None:
    _, printed = run("search", "--root", str(root), "--method", "local", "Who is Bo Lind?")
    assert re.search(r"^\d+\. entity \d\.\d+  Bo Lind  nordwind-2011", printed, re.MULTILINE)


@pytest.mark.parametrize(
    "flags",
    [
        ["--during", "2013/2009"],
        ["--during", "2009-07-02/2009-07-01"],
        ["--as-of", "spring"],
        ["--as-of", "2015", "--during", "2015/2016"],
        ["--during", "2015"],
        ["--unknown", "exclude"],
        ["--known-at", "2015-02-30"],
    ],
)
def test_flags_that_make_no_sense_are_wrong_usage(root: Path, flags: list[str]) -> None:
    assert run("query", "--root", str(root), "Who?", *flags)[0] == 2


def test_what_cannot_be_told_is_said_in_one_sentence(root: Path) -> None:
    code, printed = run("show", "changes", "2012", "2010", "--root", str(root))
    assert (code, "2010 is before 2012" in printed) == (1, True)
    code, printed = run("show", "timeline", "Nordwind", "--since", "2012", "--until", "2000", "--root", str(root))
    assert (code, "2000 is before 2012" in printed) == (1, True)
    code, printed = run("show", "timeline", "Nobody at all", "--root", str(root))
    assert code == 1
    code, printed = run("show", "timeline", "Nordwind", "--since", "soon", "--root", str(root))
    assert (code, "is no ISO date" in printed) == (1, True)
