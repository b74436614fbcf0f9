"""Lists that commands print: decisions on names, plans, tables of matches, forecasts, tables measured anew."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from sensegraph.cli import curating, graphs, indexing
from sensegraph.cli.lab import repro, table_measuring, tune
from sensegraph.cli.lab.evaluation_forecast import Forecast, format_forecast, guess_answer, record_forecast
from sensegraph.cli.lab.retrieval_measuring import load_named_methods
from sensegraph.corpus.names import Applied, Resolved
from sensegraph.corpus.settings import Settings
from sensegraph.corpus.sources import Added, Plan
from sensegraph.corpus.workspace import Built
from sensegraph.documents.images import FiguresRead, UnreadImages
from sensegraph.errors import InputError
from sensegraph.graphs.match.matches import Matches
from sensegraph.index.browse.pages import EntityRow, RelationRow
from sensegraph.index.graph.duplicates import Duplicates
from sensegraph.index.question_costs import QuestionEstimate
from sensegraph.lab.reproduction.table_recipes import Pinned, Recipe, ReproducedTable, list_figures
from sensegraph.resolution.aliases import Operation
from sensegraph.resolution.resolution_types import Proposal
from sensegraph.types import Citation, Usage

HERE = Path(".")

# ── decisions on names ──

MERGE = Operation("3", "merge", (("ada", "person"), ("a. finch", "person")), output="Ada", evidence="initials")
SPLIT = Operation("12", "split", (("ada", "person"),), others=(("bo", "person"), ("cy", "")), reverted="2026-01-01")
THERE = Operation("1234", "split", (("ada", "person"),), others=(("bo", ""),), documents=("a.txt", "b.txt"), by="user")


def test_a_decision_is_told_on_one_line() -> None:
    assert [curating._format_operation(o) for o in (MERGE, SPLIT, THERE)] == [
        "   3 merge ada (person) + a. finch (person) → Ada, by user: initials",
        "  12 split ada (person) without bo + cy, by user [undone 2026-01-01]",
        "1234 split ada (person) in a.txt, b.txt, by user",
    ]


def test_what_decisions_did_is_counted_and_twenty_of_them_are_named() -> None:
    built = Built({}, (), {"reports.report": 2}, Usage(calls=1), ("a note",))
    done = Applied((MERGE,) * 22, built, 1, 2, 0)
    lines = curating._format_applied(done).splitlines()
    assert lines[:20] == [curating._format_operation(MERGE)] * 20
    assert lines[20:] == [
        "… and 2 more",
        "new or changed: 1 entity, 2 relations, 0 reports; 2 reports written anew",
        "1 call, 0 tokens",
        "- a note",
    ]
    assert len(curating._format_applied(Applied((MERGE,) * 20, built, 1, 2, 0)).splitlines()) == 23


def proposal(n: int, decision: Any, score: float = 0.5) -> Proposal:
    return Proposal(f"a{n}", f"b{n}", (f"Ada {n}", f"A. {n}"), decision, score, "so")


def test_proposals_are_listed_by_what_was_decided_and_the_first_of_each() -> None:
    types = {f"{side}{n}": kind for n in range(4) for side, kind in (("a", "person"), ("b", "place"))}
    some: Any = SimpleNamespace()
    found = Duplicates(
        (proposal(0, "keep"), proposal(1, "merge", 0.875), proposal(2, "merge"), proposal(3, "merge")), (some,)
    )
    assert curating._format_resolved(Resolved(found, types), 2, Path("notes")).splitlines() == [
        "duplicates: 3 pairs",
        "  0.88 Ada 1 (person) + A. 1 (place): so",
        "  0.50 Ada 2 (person) + A. 2 (place): so",
        "  … and 1 more (--limit, --json)",
        "",
        "kept apart: 1 pair",
        "  0.50 Ada 0 (person) + A. 0 (place): so",
        "",
        "dry run; to merge the duplicates: sensegraph entities duplicates --apply --root notes",
    ]
    applied = Applied((MERGE,), Built({}, (), {}, Usage()), 1, 0, 0)
    assert "new or changed: 1 entity" in curating._format_resolved(Resolved(found, types, applied), 3, HERE)
    assert "dry run" not in curating._format_resolved(Resolved(found, types, applied), 3, HERE)
    nothing = Resolved(Duplicates(notes=("2 pairs were not asked about",)), {})
    assert curating._format_resolved(nothing, 2, HERE) == ("no duplicates found\n\n- 2 pairs were not asked about")


# ── plans ──


def test_a_plan_names_twenty_documents_of_each_kind_and_what_is_withheld() -> None:
    plan = Plan(
        added=tuple(f"a{i}" for i in range(21)), edited=("e",), renamed=(("old", "new"),), same=("s",) * 1_000,
        withheld=("w",), unread=("p", "q", "r", "t"), notes=("a note",),
    )  # fmt: skip
    lines = indexing._format_plan(plan).splitlines()
    assert lines[0] == "21 added, 1 edited, 1 renamed, 0 removed, 1,000 as they were"
    assert lines[1:21] == [f"+ a{i}" for i in range(20)]
    assert lines[21:] == [
        "  and 1 more added",
        "~ e",
        "> old → new",
        "1 document cannot be found and may be in what could not be read (p, q, r): not removed; "
        "fix that, or use: sensegraph documents remove",
        "- a note",
    ]
    some = Plan(removed=tuple(f"r{i}" for i in range(20)))
    assert len(indexing._format_plan(some).splitlines()) == 21
    assert indexing._describe_withheld(Plan(withheld=("w",) * 1_200)).startswith("1,200 documents cannot")


# ── matches ──

ADA = EntityRow("e", "Ada", "person", 1, 1, "")


def test_matches_are_a_table_with_numbers_at_the_right_then_sources_and_notes() -> None:
    cited = (Citation(1, "d", 0, 3, "one"), Citation(2, "d", 4, 7, "two"))
    found = Matches(("who", "n", "x"), ((ADA, 5, "long " * 30), (None, None, True)), 3, ((2,), (1, 2)), cited, ("so",))
    assert list(graphs._lay_out_matches(found, {"d": "rows.csv"})) == [
        f"who  n  x{' ' * 100}".rstrip(),
        f"Ada  5  {('long ' * 20).strip()} …  [2]",
        f"        true{' ' * 97}  [1][2]",
        "3 rows, 2 shown",
        "\nSources",
        "[1] d:0-3 in rows.csv “one”",
        "[2] d:4-7 in rows.csv “two”",
        "\nNotes",
        "- so",
    ]
    assert list(graphs._lay_out_matches(Matches(("a",), (), 0), {})) == ["0 rows"]
    many = list(graphs._lay_out_matches(Matches(("a",), ((1,),) * 101, 101), {}))
    assert (len(many), many[-1]) == (102, "101 rows, 100 shown")
    cell = list(graphs._lay_out_matches(Matches(("a", "b"), (("word " * 20, "x"),), 1), {}))
    assert cell[1].startswith(f"{'word ' * 12}…")


def test_values_of_matches_are_shown_by_their_names() -> None:
    named, plain = (
        RelationRow("r", "Ada", "Bo", "paid", "She paid.", 1.0),
        RelationRow("r", "Ada", "Bo", "", "She left.", 1),
    )
    path = SimpleNamespace()
    assert [graphs._format_value(v) for v in (None, True, False, 1234567.0, 0.5, 3, ("a", ADA), ADA, named, plain)] == [
        *("", "true", "false", "1.23457e+06", "0.5", "3", "a, Ada", "Ada", "paid", "She left."),
    ]
    assert graphs._format_value(path) == str(path)


def test_parameters_of_a_pattern_are_read_as_json_or_as_text() -> None:
    given = graphs._parse_parameters(["who=Ann", "n=5", "all=true", "list=[1, 2]", 'q="x"', "empty="])
    assert given == {"who": "Ann", "n": 5, "all": True, "list": [1, 2], "q": "x", "empty": ""}
    assert graphs._parse_parameters(None) == {}
    for wrong in ("who", "=5", "a b=5", "1a=5"):
        with pytest.raises(typer.BadParameter, match="name=value"):
            graphs._parse_parameters([wrong])


# ── forecasts ──


def test_a_forecast_is_a_table_of_its_parts_and_their_sum() -> None:
    parts = {
        "index": Usage(calls=1_000, prompt_tokens=20_000, completion_tokens=500, cost_usd=1.5),
        "idle": Usage(),
        "embed": Usage(embedding_calls=1, embedding_tokens=70, cost_usd=0.25),
    }
    assert [line.rstrip() for line in format_forecast(Forecast(parts, least=("K", "D"))).splitlines()] == [
        "part    calls  tokens in  tokens out  cost $",
        "index   1,000     20,000         500    1.50",
        "embed       0         70           0    0.25",
        "in all  1,000     20,070         500    1.75",
        "at least, for K, D: how often the method asks is known only when the index is there",
    ]
    free = Forecast({"a": Usage(calls=1)})
    assert format_forecast(free).splitlines()[-1] == "cost not known: no prices are set (endpoint.price_…)"
    assert format_forecast(Forecast({})) == "no calls to a model, no cost; the time is this machine's own"
    assert len(format_forecast(Forecast({"a": Usage(embedding_tokens=1)})).splitlines()) == 4
    assert record_forecast(free)["parts"]["all"] == record_forecast(free)["parts"]["a"] == {
        "calls": 1, "prompt_tokens": 0, "completion_tokens": 0, "embedding_tokens": 0, "cost_usd": 0.0,
    }  # fmt: skip
    assert (Forecast({}).least, record_forecast(free)["least"]) == ((), [])


def test_an_answer_is_guessed_to_take_what_a_question_by_its_method_is_foreseen_to_take() -> None:
    condition: Any = SimpleNamespace(name="C")
    foreseen = QuestionEstimate("drift", False, 22, 9_000, 700, 0.5)
    assert guess_answer(condition, foreseen, 18, 2, "Who?").usage == Usage(22, 9_000, 700, cost_usd=0.5)
    assert guess_answer(condition, None, 18, 2, "Who?").usage == Usage()


@pytest.mark.parametrize(("text", "found"), [(None, None), ("3", (3, 3)), ("3,4", (3, 4)), (" 0 , 12 ", (0, 12))])
def test_distractors_are_a_number_or_a_pair(text: str | None, found: tuple[int, int] | None) -> None:
    assert tune._parse_distractors(text) == found
    for wrong in ("", "3,", "a", "1,2,3", "-1"):
        with pytest.raises(typer.BadParameter, match="--distractors"):
            tune._parse_distractors(wrong)


def test_methods_are_named_once_each_with_their_settings() -> None:
    named = load_named_methods(" naive, bm25 ,", Settings())
    assert [(n.name, n.method.name) for n in named] == [("naive", "naive"), ("bm25", "bm25")]
    for wrong in ("", " ,", "naive,naive"):
        with pytest.raises(typer.BadParameter, match="each once"):
            load_named_methods(wrong, Settings())


# ── tables measured anew ──

PINS = Pinned("offline", date(2026, 1, 2), "make it", 5.0, {"A": (10.0, 4.0)})


def test_a_reproduced_table_without_a_pin_says_so_and_figures_without_a_published_one_have_no_verdict() -> None:
    recipe = Recipe("2", "units", "time", {"A": "a", "B": "b"}, 5.0)
    figures = list_figures(recipe, ("x", "y"), {"A": (10.4, 5.0), "B": (1_234.0, None)}, {"A": (10.0, None)}, PINS)
    made = ReproducedTable(recipe, figures, "offline", ("a note",), PINS)
    recorded = {(f["row"], f["column"]): f for f in repro.record_reproduction("x2026", made)["figures"]}
    assert [recorded["A", c]["against_published"] for c in "xy"] == ["reproduced", ""]
    assert [recorded["A", c]["against_pin"] for c in "xy"] == ["as before", "changed"]
    assert [recorded["B", c]["ours"] for c in "xy"] == [1_234.0, None]
    assert "a note" in repro.format_reproduction("x2026", made).splitlines()
    bare = ReproducedTable(recipe, list_figures(recipe, ("x",), {"A": (1.0,), "B": (None,)}, {}, None), "offline")
    assert repro.format_reproduction("x2026", bare).splitlines()[-1].startswith("No figure is compared with a pin:")


def test_the_data_of_a_recipe_are_known_by_their_files_and_the_questions_that_are_asked(tmp_path: Path) -> None:
    recipe = Recipe("2", "recall", "time", {}, sets=("one",))
    folder = tmp_path / recipe.folders[0]
    bench = table_measuring.Bench("edge2024", tmp_path, tmp_path, {}, lambda *_: None)
    assert table_measuring.hash_measuring_sets(recipe, bench) == ""
    with pytest.raises(InputError, match=r"corpus\.jsonl"):
        table_measuring.check_measuring_sets(recipe, bench)
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("{}\n")
    (folder / "queries.jsonl").write_text("{}\n\n{}\n")
    table_measuring.check_measuring_sets(recipe, bench)

    def known(questions: int) -> str:
        made = table_measuring.Bench("edge2024", tmp_path, tmp_path, {}, lambda *_: None, questions)
        return table_measuring.hash_measuring_sets(recipe, made)

    assert len(known(0)) == 12
    assert known(2) == known(3) == known(0) != known(1)
    before = known(0)
    (folder / "queries.jsonl").write_text("{}\n{}\n")
    assert known(0) != before


def test_images_that_were_not_read_are_counted_by_reason_and_up_to_five_files_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    unread = [UnreadImages(f"{n}.pdf", 1_000 * n, "no model that sees is set") for n in range(1, 8)]
    indexing._report_images(FiguresRead(0, (UnreadImages("a.pdf", 1, "it is\ntoo large"), *unread[:5])))
    indexing._report_images(FiguresRead(0, tuple(unread)))
    indexing._report_images(FiguresRead(3))
    named = ", ".join(f"{n}.pdf ({1_000 * n:,})" for n in range(1, 6))
    assert capsys.readouterr().err.splitlines() == [
        "1 image was not read: a.pdf (1); it is\\ntoo large",
        f"15,000 images were not read: {named}; no model that sees is set",
        f"28,000 images were not read: {named} and 2 more files; no model that sees is set",
    ]


def test_a_document_that_cannot_be_found_is_told_with_up_to_three_places_that_were_not_read() -> None:
    said = indexing._describe_withheld(Plan(withheld=("w",), unread=("a", "b", "c", "d")))
    assert said == (
        "1 document cannot be found and may be in what could not be read (a, b, c): not removed; "
        "fix that, or use: sensegraph documents remove"
    )


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (["a b"], ("1 document that was read", "stays", "'a b'")),
        (["a", "b", "c"], ("3 documents that were read", "stay", "a b c")),
        (["a", "b", "c", "d"], ("4 documents that were read", "stay", "a b c …")),
        ([], ()),
    ],
)
def test_documents_that_can_no_longer_be_read_are_told_with_the_command_that_removes_them(
    gone: list[str], said: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    form = "{} from in can no longer be read there, and {} indexed until: sensegraph documents remove {} --root c"
    recorded = list[Any]()
    mirror = SimpleNamespace(find_missing=lambda paths, read: gone, record_origin=lambda *given: recorded.append(given))
    added = Added(new=("x",), changed=("y",), same=("z",))
    corpus: Any = SimpleNamespace(add=lambda *paths: added, mirror=mirror)
    place = [Path("in")]
    assert indexing._add_documents(corpus, place, place, Path("c")) == (added, gone)
    assert recorded == [(place, ["x", "y", "z"])]
    assert capsys.readouterr().err.strip() == (form.format(*said) if said else "")
    nothing: Any = SimpleNamespace(add=lambda *paths: Added(), mirror=mirror)
    with pytest.raises(InputError, match="Nothing could be read from in; the index is as it was"):
        indexing._add_documents(nothing, place, place, Path("c"))
