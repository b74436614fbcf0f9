"""The command that asks the graph by patterns (N87)."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asked_in_time import officeholders
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus

RUN = CliRunner()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("match")
    officeholders(folder, parts=["graph"]).close()
    return folder


def run(*words: str) -> tuple[int, str, str]:
    result = RUN.invoke(app, ["graph", "query", *words])
    return result.exit_code, result.stdout, result.stderr


def test_a_pattern_prints_a_table_and_counts_its_rows(root: Path):
    code, printed, _ = run("(a {name: 'nordwind'})-[r]-(b:Person)", "--return", "b.name AS who, b.degree", "--order",
                           "who", "--limit", "1", "--root", str(root))  # fmt: skip
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].split() == ["who", "b.degree"]
    assert lines[1].startswith("Anna Berg")
    assert lines[-1].endswith("rows, 1 shown")


def test_sources_follow_where_they_are_asked_for(root: Path):
    code, printed, _ = run("(a {name: 'Nordwind'})-[r]-(b {name: 'Anna Berg'})", "--cite", "--root", str(root))
    assert code == 0
    assert "[1]" in printed.splitlines()[1]
    assert "\nSources\n[1] nordwind-" in printed


def test_json_has_columns_rows_and_citations(root: Path):
    words = ["(a {name: $who})-[r]->(b)", "--return", "a, r.documents AS homes, b.name", "--param", "who=Nordwind"]
    code, printed, _ = run(*words, "--json", "--cite", "--root", str(root))
    found = json.loads(printed)
    assert code == 0
    assert found["columns"] == ["a", "homes", "b.name"]
    assert found["found"] == len(found["rows"]) == len(found["marks"])
    assert found["rows"][0]["a"]["name"] == "Nordwind"
    assert found["citations"][0]["document"] in found["rows"][0]["homes"]


def test_csv_is_read_back_by_csv(root: Path):
    words = ["(a {name: 'Nordwind'})-[r]-(b)", "--return", "a.name, r.description, b.aliases", "--csv", "--cite"]
    code, printed, _ = run(*words, "--root", str(root))
    rows = list(csv.reader(io.StringIO(printed)))
    assert code == 0
    assert rows[0] == ["a.name", "r.description", "b.aliases", "citations"]
    assert all(len(row) == 4 and row[0] == "Nordwind" and ":" in row[3] for row in rows[1:])


def test_lists_numbers_and_texts_are_parameters(root: Path):
    words = ["(a) WHERE a.name IN $who AND a.degree >= $least RETURN a.name ORDER BY a.name"]
    given = ["--param", 'who=["Nordwind", "Ostby"]', "--param", "least=1"]
    assert run(*words, *given, "--csv", "--root", str(root))[1].split() == ["a.name", "Nordwind", "Ostby"]


def test_explain_says_on_stderr_how_rows_were_found(root: Path):
    code, printed, said = run("(a {name: 'Nordwind'})-[r]-(b)", "--explain", "--csv", "--root", str(root))
    assert code == 0
    assert said.splitlines()[0].startswith("1. begin with a: 1 of ")
    assert "begin with" not in printed


def test_documents_can_be_left_out(root: Path):
    words = ["(a)-[r]-(b)", "--return", "DISTINCT r.documents", "--document", "nordwind-2011", "--csv"]
    code, printed, said = run(*words, "--root", str(root))
    assert code == 0
    assert printed.split() == ["r.documents", "nordwind-2011"]
    assert "the filter leaves 1 of" in said


def test_nothing_found_is_no_error(root: Path):
    assert run("(a {name: 'Nobody Atall'})", "--root", str(root))[:2] == (0, "0 rows\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["(a:Persn)"], 1, "In the pattern, column 4, at 'Persn)': no entity has the type 'Persn'"),
        (["(a)", "--where", "a.nam = 1"], 1, "In WHERE, column 3, at 'nam = 1'"),
        (["(a)", "--return", "b"], 1, "In RETURN, column 1, at 'b'"),
        (["(a)", "--order", "a.x"], 1, "In ORDER BY, column 3"),
        (["(a)-[r]-(b)", "--most", "3"], 1, "(limit 3)"),
        (["(a)", "--param", "x"], 2, "--param 'x' is not of the form name=value"),
        (["(a)", "--metadata", "x"], 2, "is no test"),
        (["(a)", "--limit", "-1"], 2, "--limit"),
    ],
)
def test_a_mistake_is_explained_in_one_sentence(root: Path, words: list[str], code: int, said: str):
    found = run(*words, "--root", str(root))
    assert found[0] == code
    assert said in found[2]
    assert found[1] == ""


def test_rows_beyond_a_hundred_are_counted_where_there_is_no_limit(root: Path):
    code, printed, _ = run("(a), (b)", "--return", "a.name, b.name", "--root", str(root))
    assert code == 0
    assert len(printed.splitlines()) == 1 + 100 + 1
    assert printed.splitlines()[-1].endswith("rows, 100 shown")


def test_a_path_is_one_cell(root: Path):
    words = ["p = (a {name: 'Nordwind'})-[*1..2]-(b:Person)", "--return", "p, length(p)", "--limit", "3", "--csv"]
    code, printed, _ = run(*words, "--root", str(root))
    assert code == 0
    assert all(row.startswith("Nordwind — ") for row in printed.splitlines()[1:])


@pytest.mark.slow
def test_the_commands_of_the_page_find_something_in_the_book_that_comes_with_it(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "match.md").read_text(encoding="utf-8")
    lines = [line for line in page.split("```sh\n")[1].split("```")[0].splitlines() if line]
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as corpus:
        corpus.add(str(files("sensegraph") / "data" / "carol"))
        corpus.build()
    assert len(lines) == 5
    for line in lines:
        code, printed, said = run(*shlex.split(line)[3:], "--root", str(tmp_path))
        assert code == 0, (line, said)
        assert not re.search(r"^0 rows|\"rows\": \[\]", printed, re.MULTILINE), line
