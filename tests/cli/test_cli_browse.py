"""`sensegraph show reports` and `sensegraph show entity`, as people and programs meet them (N18, N76, G17)."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.cli.browsing import Line, _align_columns, lay_out_report, print_page
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.browse.pages import EntityRow, RelationRow, ReportPage, ReportRow
from sensegraph.types import Document
from wired import stories

Run = Callable[..., Result]
ANNOUNCED = " ".join(f"Ada Fenwick announced in {1822 + n} that Hugo Stone had left Quay Town." for n in range(6))
RULES = "[index]\nchunk_tokens = 120\nchunk_overlap = 20\n[index.clusters]\nmax_cluster_size = 6\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read")
    (folder / "sensegraph.toml").write_text(f'engine = "offline"\n{RULES}')
    with Corpus.open(folder) as corpus:
        corpus.add(stories(6), [Document("announced", ANNOUNCED)])
        corpus.build()
    return folder


@pytest.fixture
def run(root: Path) -> Run:
    def invoke(*words: object) -> Result:
        return CliRunner().invoke(app, [*map(str, words), "--root", str(root)])

    return invoke


def test_the_list_shows_the_best_reports_and_how_to_read_one(run: Run, root: Path) -> None:
    found = run("show", "reports", "--limit", 2)
    everything = json.loads(run("show", "reports", "--json").stdout)
    lines = found.stdout.splitlines()
    assert found.exit_code == 0
    assert lines[0].startswith(f"{len(everything['reports'])} reports at depth 0, best rating first; depths go from 0")
    assert lines[2].split() == ["id", "rating", "entities", "documents", "title"]
    assert [line.split()[0] for line in lines[3:5]] == [r["id"][:10] for r in everything["reports"][:2]]
    assert f"… and {len(everything['reports']) - 2} more (--limit, --json)" in found.stdout
    assert lines[-1] == f"Read one: sensegraph show reports --root {root} ID"


def test_a_depth_beyond_the_deepest_is_the_deepest_and_named_so(run: Run) -> None:
    found = json.loads(run("show", "reports", "--depth", 99, "--json").stdout)
    assert found["depth"] == found["depths"] - 1
    assert found["reports"] == json.loads(run("show", "reports", "--depth", found["depth"], "--json").stdout)["reports"]
    assert f"at depth {found['depth']}, best" in run("show", "reports", "--depth", 99).stdout


def test_the_id_that_the_list_shows_opens_the_report_with_all_its_parts(run: Run) -> None:
    rows = json.loads(run("show", "reports", "--json").stdout)["reports"]
    row = next(r for r in rows if r["children"])
    found = run("show", "reports", row["id"][:10])
    heads = [
        line for line in found.stdout.splitlines() if re.match(r"(Sources|Divided|Entities|Relations|Chunks)", line)
    ]
    assert found.exit_code == 0
    assert found.stdout.startswith(f"{row['title']}\nreport {row['id']}, depth 0, ")
    assert [h.split()[0] for h in heads] == ["Sources", "Divided", "Entities", "Relations", "Chunks"]
    assert re.search(r"^  \[1\] [\w-]+:\d+-\d+ “", found.stdout, re.MULTILINE)
    assert "\x1b" not in found.stdout


def test_a_child_names_what_it_is_part_of(run: Run) -> None:
    rows = json.loads(run("show", "reports", "--json").stdout)["reports"]
    parent = next(r for r in rows if r["children"])
    child = json.loads(run("show", "reports", parent["id"], "--json").stdout)["children"][0]
    found = run("show", "reports", child["id"])
    assert "Part of\n" in found.stdout
    assert f"  {parent['id'][:10]}" in found.stdout.partition("Part of\n")[2]


def test_json_holds_everything_of_a_report(run: Run) -> None:
    rows = json.loads(run("show", "reports", "--json").stdout)["reports"]
    page = json.loads(run("show", "reports", rows[0]["id"], "--json", "--limit", 1).stdout)
    assert page["report"] == rows[0]
    assert len(page["entities"]) == rows[0]["entities"] > 1
    assert len(page["chunks"]) == page["chunks_in_all"]
    assert {"document", "start", "end", "page"} == page["chunks"][0]["place"].keys()
    assert {"marker", "document", "start", "end", "quote", "page"} == page["citations"][0].keys()


def test_an_entity_is_shown_with_all_that_is_known_of_it(run: Run) -> None:
    found = run("show", "entity", "ada fenwick")
    assert found.exit_code == 0
    assert found.stdout.startswith("Ada Fenwick (person)\nentity ")
    for head in ("What the chunks say (", "Neighbours (", "Claims (", "Communities, from the coarsest down"):
        assert head in found.stdout
    assert re.search(r"^  announced:\d+-\d+ “Ada Fenwick announced in 1822", found.stdout, re.MULTILINE)


def test_json_holds_everything_of_an_entity(run: Run) -> None:
    (page,) = json.loads(run("show", "entity", "Ada Fenwick", "--json").stdout)["entities"]
    assert page["entity"]["name"] == "Ada Fenwick"
    assert len(page["neighbours"]) == page["entity"]["degree"]
    assert page["communities"][0]["depth"] == 0
    assert page["claims"][0]["place"]["document"] == "announced"


def test_several_entities_of_one_name_are_listed_with_their_types(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from sensegraph.index.browse import elements as browse

    real = browse.find_entities
    monkeypatch.setattr(
        browse, "find_entities", lambda index, name, kind: real(index, name) + real(index, "Hugo Stone")
    )
    found = run("show", "entity", "Ada Fenwick")
    assert found.stdout.startswith("2 entities are called Ada Fenwick\n")
    assert found.stdout.count("person") == 2
    assert "--type TYPE" in found.stdout
    assert len(json.loads(run("show", "entity", "Ada Fenwick", "--json").stdout)["entities"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("entity", "Ada Fenwik"), "There is no entity 'Ada Fenwik'; did you mean 'Ada Fenwick'?"),
        (
            ("entity", "Ada Fenwick", "--type", "geo"),
            "no entity 'Ada Fenwick' of the type 'geo'; there is one of: person",
        ),
        (("reports", "no such title"), "There is no report 'no such title'; the nearest: "),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence_on_stderr(run: Run, words: tuple[str, ...], said: str) -> None:
    found = run(*words)
    assert (found.exit_code, found.stdout) == (1, "")
    assert said in found.stderr


def test_before_a_build_both_say_what_to_run(tmp_path: Path) -> None:
    for words in (["show", "reports"], ["show", "entity", "x"]):
        found = CliRunner().invoke(app, [*words, "--root", str(tmp_path)])
        assert found.exit_code == 1
        assert "run `sensegraph index PATH" in found.stderr


def test_a_terminal_gets_emphasis_and_rows_cut_at_its_edge_and_control_characters_shown() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=30, highlight=False)
    print_page(
        iter([Line("Title", "bold"), Line("a" * 50, row=True), Line("b " * 30, indent=4), Line("\x07[red]c")]), console
    )
    lines = file.getvalue().splitlines()
    assert lines[0] == "\x1b[1mTitle\x1b[0m"
    assert lines[1] == "a" * 29 + "…"
    assert len(lines) == 6
    assert all(line.startswith("    b") for line in lines[2:5])
    assert lines[5] == "\\x07[red]c"


def test_columns_stand_under_each_other_with_wide_characters_too() -> None:
    lines = [line.text for line in _align_columns([("name", "kind"), ("東京", "geo"), ("Rome", "geo")])]
    assert lines == ["name  kind", "東京  geo", "Rome  geo"]


def test_numbers_stand_at_the_right_of_their_column_in_a_report() -> None:
    rows = [RelationRow(f"r{w}", "Ada", "Quay", "", "sails", w) for w in (1200.0, 7.0)]
    people = [EntityRow(n, n, "person", d, 1, "sails") for n, d in (("Ada", 1200), ("Bo", 7))]
    report = ReportRow("r", "Quay", 1.0, 0, 2, 1, 0)
    page = ReportPage(report, "", "", (), (), 0, None, (), tuple(people), tuple(rows), (), (), 0)
    lines = [line.text for line in lay_out_report(page, 10, {}, Path())]
    at = lines.index("Relations (2, heaviest first)")
    assert [line.partition("Ada")[0] for line in lines[at + 2 : at + 4]] == [" 1,200  ", "     7  "]
    at = lines.index("Entities (2, those with most neighbours first)")
    assert [line.partition("person")[0] for line in lines[at + 2 : at + 4]] == ["     1,200  ", "         7  "]
