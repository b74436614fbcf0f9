"""`Corpus.check` and `query --check`: an answer held against the documents of its corpus."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asked_in_time import officeholders
from scripted import ScriptedServer
from sensegraph.answering.grounding.checking import Checked, Problem
from sensegraph.cli import app
from sensegraph.cli.asking import format_checks
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import UnsupportedTask
from wired import corpus as scripted_corpus
from wired import stories

RUN = CliRunner()
ASKED = "Who was mayor of Ostby in 2013?"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checking")
    officeholders(folder).close()
    return folder


def test_what_a_corpus_answers_offline_keeps_to_its_sources(root: Path) -> None:
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        found = corpus.check(corpus.query(ASKED, method="naive"))
    assert found.citations > 0
    assert (found.problems, found.exact) == ((), found.citations)


def test_an_error_put_into_an_answer_is_found_and_told(root: Path) -> None:
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        answer = corpus.query(ASKED, method="naive")
        first = answer.citations[0]
        gone = replace(first, document="no-such-document")
        wrong = replace(
            answer, text=answer.text.replace("- ", "- In 1066 ", 1), citations=(gone, *answer.citations[1:])
        )
        found = corpus.check(wrong)
    assert {p.kind for p in found.problems} == {"unsupported", "misquoted"}
    printed = format_checks(found)
    assert "! not supported [1] “In 1066" in printed
    assert "numbers that what is cited does not hold: 1066" in printed
    assert "there is no document no-such-document" in printed


def test_an_answer_is_held_against_its_question_where_that_is_given(root: Path) -> None:
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        answer = corpus.query(ASKED, method="naive")
        assert corpus.check(answer, question=ASKED).unanswered == ()
        other = corpus.check(answer, question="When did Fenella Quist paint the lighthouse?")
        assert corpus.check(answer).unanswered == ()
        both = corpus.asker.check([answer, answer], questions=[ASKED, "Who is Fenella Quist?"])
    assert other.problems == ()
    (reason,) = other.unanswered
    assert "Fenella Quist" in reason
    assert format_checks(other).endswith(f"! may answer another question\n  {reason}")
    assert [bool(found.unanswered) for found in both] == [False, True]


def test_a_model_that_is_not_there_is_not_pretended(root: Path) -> None:
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        answer = corpus.query(ASKED, method="naive")
        with pytest.raises(UnsupportedTask, match="support"):
            corpus.check(answer, by="model")


def test_query_prints_the_checks_below_the_answer(root: Path) -> None:
    result = RUN.invoke(app, ["query", "--root", str(root), "--method", "naive", "--check", ASKED])
    assert result.exit_code == 0
    behind = result.output.partition("Checks (lexical support)\n")[2]
    assert "read as in their documents" in behind
    assert "citation recall" in behind


def test_as_json_the_checks_are_a_member_and_without_the_flag_there_is_none(root: Path) -> None:
    words = ["query", "--root", str(root), "--method", "naive", "--json", ASKED]
    checks = json.loads(RUN.invoke(app, [*words, "--check"]).output)["checks"]
    assert (checks["by"], checks["problems"], checks["unanswered"]) == ("lexical support", [], [])
    assert checks["usage"]["calls"] == 0
    assert "checks" not in json.loads(RUN.invoke(app, words).output)


def test_the_command_tells_what_answers_another_question(tmp_path: Path, server: ScriptedServer) -> None:
    """The scripted model answers whatever it is asked."""
    endpoint = f'[endpoint]\nbase_url = "{server.base_url}"\nmodel = "scripted"\nembedding_model = "scripted"\n'
    (tmp_path / "sensegraph.toml").write_text(endpoint, encoding="utf-8")
    with Corpus.open(tmp_path) as corpus:
        corpus.add(stories(2))
        corpus.build()
    words = ["query", "--root", str(tmp_path), "--method", "local", "--check", "When was Fenella Quist painted?"]
    told = json.loads(RUN.invoke(app, [*words, "--json"]).output)["checks"]["unanswered"]
    assert [reason for reason in told if "Fenella Quist" in reason] != []
    assert "! may answer another question\n  names of the question" in RUN.invoke(app, words).output


def test_a_model_judges_where_there_is_one_and_is_asked_once(tmp_path: Path, server: ScriptedServer) -> None:
    with scripted_corpus(tmp_path, server) as corpus:
        corpus.add(stories(2))
        corpus.build()
        answer = corpus.query("Who hired whom?", method="local")
        found = corpus.check(answer)
        assert (found.by, found.citations > 0, found.unjudged) == ("support by scripted", True, 0)
        calls = len(server.calls)
        assert corpus.check(answer) == found
        assert len(server.calls) == calls


def test_the_checks_say_what_cites_nothing_and_what_has_no_verdict() -> None:
    problem = Problem("dangling", "Oslo is large.", "the answer has no source [9]", ("[9]",))
    found = Checked("support by m", 3, 1, 1, ("It is so.",), 2, 1, 1 / 3, 0.5, (problem,))
    assert format_checks(found).splitlines() == [
        "Checks (support by m)",
        "- 3 statements; 1 of 2 supported by their citations",
        "- 1 statement without a source: “It is so.”",
        "- 1 statement without a verdict",
        "- 1 of 2 quoted spans read as in their documents",
        "- citation recall 0.33, citation precision 0.50",
        "! dangling citation [9] “Oslo is large.”",
        "  the answer has no source [9]",
    ]


def test_an_answer_that_has_none_is_not_measured() -> None:
    found = Checked("lexical support", 0, 0, 0, (), 0, 0, None, None, (), abstained=True)
    assert format_checks(found).splitlines()[1:] == ["- the answer says that it has none: there is nothing to check"]
