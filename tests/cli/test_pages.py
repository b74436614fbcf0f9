"""Pages laid out from values, filters read from flags, and what is said when a command cannot go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sensegraph.answering.grounding.checking import Checked, Problem
from sensegraph.cli import app
from sensegraph.cli.asking import ScopeOptions, format_checks, read_history
from sensegraph.cli.browsing import lay_out_entity, lay_out_report, lay_out_reports
from sensegraph.errors import InputError
from sensegraph.index.browse.pages import (
    ChunkRow,
    ClaimRow,
    EntityPage,
    EntityRow,
    Headline,
    Neighbour,
    Place,
    RelationRow,
    ReportPage,
    ReportRow,
    Said,
)
from sensegraph.questions import Condition, Scope, Turn
from sensegraph.types import Citation

HERE = Path(".")


def laid_out(lines: Any) -> list[str]:
    return [" " * line.indent + line.text for line in lines]


def row(number: int, rating: float = 5.0) -> ReportRow:
    return ReportRow(f"{number:02}23456789abc", f"Title {number}", rating, 1, 1_200 + number, 2, 0)


def test_a_list_of_reports_says_how_many_there_are_and_how_to_read_one() -> None:
    lines = laid_out(lay_out_reports([row(i) for i in range(3)], 1, 2, 2, Path("notes")))
    assert lines == [
        "3 reports at depth 1, best rating first; depths go from 0 to 1",
        "",
        "  id          rating  entities  documents  title",
        "  0023456789     5.0     1,200          2  Title 0",
        "  0123456789     5.0     1,201          2  Title 1",
        "  … and 1 more (--limit, --json)",
        "",
        "Read one: sensegraph show reports --root notes ID",
    ]
    one = laid_out(lay_out_reports([row(0)], 0, 1, 1, HERE))
    assert one[0] == "1 report at depth 0, best rating first; there is no other depth"
    assert one[-1] == "Read one: sensegraph show reports ID"
    assert len(one) == 6


def claim(**more: Any) -> ClaimRow:
    fields = {"object": "Bo", "starts": "1835", "ends": "1836", "place": Place("d", 1, 2)} | more
    return ClaimRow("k", "Ada", type="PAID", status="TRUE", description="She paid.", **fields)


ENTITIES = tuple(EntityRow(f"e{i}", f"Name {i}", "person", 1_000 + i, 2, f"Text {i}") for i in range(3))
RELATIONS = (
    RelationRow("r0", "Ada", "Bo", "paid", "She paid him.", 1_234.5),
    RelationRow("r1", "Ada", "Cy", "", "They met.", 2.0),
    RelationRow("r2", "Ada", "Di", "knew", "", 0.25),
)
CLAIMS = (claim(), claim(object="NONE", starts="", place=None), claim(object="", ends=""), claim(starts="", ends=""))
PAGE = ReportPage(
    report=row(7, 7.25), rating_explanation="It matters.", summary="All is so. [1]",
    findings=(Headline("First", "So  it\nis. [1]"),), citations=(Citation(1, "d", 3, 9, "so it"),), unresolved=2,
    parent=row(8), children=(row(9), row(10), row(11)), entities=ENTITIES, relations=RELATIONS, claims=CLAIMS,
    chunks=tuple(ChunkRow(f"c{i}", Place("d", 10 * i, 10 * i + 9), 3 - i, f"Text {i}.") for i in range(2)),
    chunks_in_all=5,
)  # fmt: skip


def test_a_report_is_laid_out_from_its_sources_down_to_its_chunks() -> None:
    assert laid_out(lay_out_report(PAGE, 2, {"d": "rows.csv"}, HERE)) == [
        "Title 7",
        "report 0723456789abc, depth 1, 1,207 entities, 2 documents",
        "rating 7.2 of 10: It matters.",
        "",
        "All is so. [1]",
        "",
        "1. First",
        "   So it is. [1]",
        "",
        "Sources",
        "  [1] d:3-9 in rows.csv “so it”",
        "  removed 2 invalid citations",
        "",
        "Part of",
        "  id          rating  entities  documents  title",
        "  0823456789     5.0     1,208          2  Title 8",
        "",
        "Divided into (3, best rating first)",
        "  id          rating  entities  documents  title",
        "  0923456789     5.0     1,209          2  Title 9",
        "  1023456789     5.0     1,210          2  Title 10",
        "  … and 1 more (--limit, --json)",
        "",
        "Entities (3, those with most neighbours first)",
        "  neighbours  type    name    description",
        "       1,000  person  Name 0  Text 0",
        "       1,001  person  Name 1  Text 1",
        "  … and 1 more (--limit, --json)",
        "",
        "Relations (3, heaviest first)",
        "  weight  between   description",
        "   1,234  Ada – Bo  paid: She paid him.",
        "       2  Ada – Cy  They met.",
        "  … and 1 more (--limit, --json)",
        "",
        "Claims (4)",
        "  Ada – Bo: PAID, TRUE (1835 to 1836) d:1-2 in rows.csv “She paid.”",
        "  Ada: PAID, TRUE (1836) “She paid.”",
        "  … and 2 more (--limit, --json)",
        "",
        "Chunks (5, those that name most of the entities first)",
        "  d:0-9 in rows.csv (3 entities) “Text 0.”",
        "  d:10-19 in rows.csv (2 entities) “Text 1.”",
        "  … and 3 more (--limit, --json)",
        "",
        "Further down: sensegraph show reports ID for a report below, sensegraph show entity NAME",
    ]


def test_a_report_without_more_says_no_more() -> None:
    bare = ReportPage(row(7), "", "All is so.", (), (), 0, None, (), ENTITIES[:1], (), (), (), 0)
    assert laid_out(lay_out_report(bare, 1, {}, Path("notes"))) == [
        "Title 7",
        "report 0723456789abc, depth 1, 1,207 entities, 2 documents",
        "rating 5.0 of 10",
        "",
        "All is so.",
        "",
        "Entities (1, those with most neighbours first)",
        "  neighbours  type    name    description",
        "       1,000  person  Name 0  Text 0",
        "",
        "Further down: sensegraph show entity --root notes NAME",
    ]


def test_an_entity_is_laid_out_with_what_is_said_of_it_and_around_it() -> None:
    said = (Said("She lit it.", "c", Place("d", 3, 9)), Said("She left.", "gone", None), Said("More.", "c", None))
    near = tuple(Neighbour(e, r) for e, r in zip(ENTITIES, RELATIONS, strict=True))
    page = EntityPage(ENTITIES[0], 1, said, near[::-1], CLAIMS[2:], (row(1), row(2)))
    assert laid_out(lay_out_entity(page, 2, {}, HERE)) == [
        "Name 0 (person)",
        "entity e0, 1 mention in 2 chunks, 1,000 neighbours",
        "",
        "Text 0",
        "",
        "What the chunks say (3)",
        "  d:3-9 “She lit it.”",
        "  “She left.”",
        "  … and 1 more (--limit, --json)",
        "",
        "Neighbours (3, heaviest relation first)",
        "  weight  type    name    relation",
        "    0.25  person  Name 2  knew",
        "       2  person  Name 1  They met.",
        "  … and 1 more (--limit, --json)",
        "",
        "Claims (2)",
        "  Ada: PAID, TRUE (1835) d:1-2 “She paid.”",
        "  Ada – Bo: PAID, TRUE d:1-2 “She paid.”",
        "",
        "Communities, from the coarsest down",
        "  depth  id          title",
        "  1      0123456789  Title 1",
        "  1      0223456789  Title 2",
        "",
        "Read one: sensegraph show reports ID",
    ]


# ── flags of questions ──


def test_tests_of_metadata_are_read_with_numbers_and_truths() -> None:
    texts = [
        "year>=2020",
        " author = Ann Lee ",
        "lang!=de",
        "share<0.5",
        "n<=-3",
        "read=TRUE",
        "seen=false",
        "x>+7",
        "v=1.2.3",
    ]
    found = ScopeOptions(documents=["a*"], metadata=texts, since="2020", until="2020-02-29").read_filter()
    assert (found.documents, found.since, found.until) == (("a*",), "2020", "2020-02-29")
    assert [(c.field, c.operator, c.value) for c in found.where] == [
        ("year", ">=", 2020),
        ("author", "=", "Ann Lee"),
        ("lang", "!=", "de"),
        ("share", "<", 0.5),
        ("n", "<=", -3),
        ("read", "=", True),
        ("seen", "=", False),
        ("x", ">", 7),
        ("v", "=", "1.2.3"),
    ]
    assert [type(c.value) for c in found.where[:1]] == [int]
    assert ScopeOptions().read_filter() == Scope()
    assert Condition("a", "=", 1) == Condition("a", "=", 1.0)


@pytest.mark.parametrize(
    "given",
    [
        {"metadata": ["year"]},
        {"metadata": ["=5"]},
        {"metadata": ["a==5"]},
        {"since": "soon"},
        {"until": "2023-02-29"},
        {"since": "2023-13"},
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(typer.BadParameter, match=r"is no (test|ISO date)"):
        ScopeOptions(**given).read_filter()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"as_of": "2020"}, {"as_of": "2020"}),
        ({"during": "2015/2018"}, {"between": ("2015", "2018")}),
        ({"during": "2015/"}, {"between": ("2015", "")}),
        ({"during": "/2018"}, {"between": ("", "2018")}),
        ({"during": "2015/2015"}, {"between": ("2015", "2015")}),
        ({"known_at": "2020-05", "unknown": "exclude"}, {"known_at": "2020-05", "unknown": "exclude"}),
        ({"during": "/2018", "unknown": "exclude"}, {"between": ("", "2018"), "unknown": "exclude"}),
    ],
)
def test_times_are_read_from_flags(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert ScopeOptions(**given).add_times(Scope(since="1999")) == Scope(since="1999", **expected)


@pytest.mark.parametrize(
    "given",
    [
        {"as_of": "2020", "during": "2015/2018"},
        {"unknown": "exclude"},
        {"during": "2015"},
        {"during": "/"},
        {"during": "2018/2015"},
        {"during": "a/2018"},
        {"as_of": "soon"},
        {"known_at": "soon"},
    ],
)
def test_times_that_say_nothing_or_two_things_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(typer.BadParameter, match="--"):
        ScopeOptions(**given).add_times(Scope())


def test_a_conversation_is_read_line_by_line_and_a_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"question": "Who?", "answer": "Ada"}\n\n{"question": "When?"}\n')
    assert read_history(path) == (Turn("Who?", "Ada"), Turn("When?"))
    assert read_history(None) == ()
    path.write_text('{"question": "Who?"}\n{"answer": 1}\n')
    with pytest.raises(InputError, match="line 2"):
        read_history(path)


def test_checks_are_told_with_their_figures_and_problems() -> None:
    problems = (
        Problem("unsupported", "It is so.", "nothing says it", ("1", "[Data: 2]")),
        Problem("dangling", "No.", ""),
    )
    made = Checked("words", 3, 1, 1, ("Nobody.",), 2, 1, 0.5, 0.25, problems)
    assert format_checks(made).splitlines() == [
        "Checks (words)",
        "- 3 statements; 1 of 2 supported by their citations",
        "- 1 statement without a source: “Nobody.”",
        "- 1 statement without a verdict",
        "- 1 of 2 quoted spans read as in their documents",
        "- citation recall 0.50, citation precision 0.25",
        "! not supported [1][Data: 2] “It is so.”",
        "  nothing says it",
        "! dangling citation  “No.”",
    ]
    plain = Checked("one", 1, 1, 0, (), 1, 1, None, 0.5, ())
    assert len(format_checks(plain).splitlines()) == 3
    silent = Checked("one", 0, 0, 0, (), 0, 0, None, None, (), abstained=True)
    assert format_checks(silent).splitlines()[1:] == ["- the answer says that it has none: there is nothing to check"]


# ── what cannot go on, and reports ──


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "stopped; run the same command to resume"),
        (OSError(28, "No space left", "/x"), 1, "/x cannot be used (No space left); check that it may be read"),
        (OSError("odd"), 1, "A file cannot be used (odd); check"),
        (InputError("Not so."), 1, "Not so."),
    ],
)
def test_what_ends_a_command_is_said_in_one_line(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sensegraph.cli.options.open_corpus", fail)
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == code
    assert result.stderr.strip().startswith(said)
    assert len(result.stderr.splitlines()) == 1


def test_personal_data_is_reported_by_kind_and_by_the_worst_documents(tmp_path: Path) -> None:
    for i in range(22):
        mails = " ".join(f"name{j}@example.com" for j in range(1 + (i == 5)))
        (tmp_path / f"{i:02}.txt").write_text(f"Write to {mails}.")
    result = CliRunner().invoke(app, ["documents", "pii", str(tmp_path), "--root", str(tmp_path / "none")])
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "23 found in 22 of 22 documents"
    assert lines[1] == "email           23  aaaa9@aaaaaaa.aaa"
    assert lines[2:5] == ["05.txt  2 email", "00.txt  1 email", "01.txt  1 email"]
    assert lines[22] == "… and 2 more documents (--limit, --json)"
    assert lines[23] == "not found by design:"
    assert len(lines) > 27
    assert all(line.startswith("- ") for line in lines[24:])


def test_as_many_documents_as_are_listed_leave_none_to_name(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"{i:02}.txt").write_text("Write to ada@example.com.")
    result = CliRunner().invoke(app, ["documents", "pii", str(tmp_path), "--root", str(tmp_path / "none")])
    assert [line for line in result.stdout.splitlines() if "1 email" in line][-1] == "19.txt  1 email"
    assert "more documents" not in result.stdout


def test_a_folder_that_was_only_prepared_has_nothing(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["init", "--root", str(tmp_path)]).exit_code == 0
    found = json.loads(CliRunner().invoke(app, ["status", "--root", str(tmp_path), "--json"]).stdout)
    assert found.pop("schema") == 1
    numbers = {name: value for name, value in found.items() if isinstance(value, int) and not isinstance(value, bool)}
    assert numbers
    assert set(numbers.values()) == {0}
