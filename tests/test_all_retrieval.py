"""The table of all retrieval: what it compares, what it leaves out, what it measures anew (bench/all_retrieval.py)."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from all_retrieval import Kept, Limit, Over, Place, code_of, parts_of, read_source, sample, union
from judged_towns import written
from retrieval_table import (
    CUTS,
    PUBLISHED,
    TITLED,
    UNTITLED,
    Cell,
    Column,
    as_object,
    left_out,
    markdown,
    published,
    tables,
    text,
    versus,
)
from sensegraph.lab.retrieval.retrieval_scores import list_metrics
from sensegraph.lab.retrieval.runs import Found, Named
from sensegraph.lab.retrieval.test_collections import Query, read_set
from sensegraph.methods import METHODS, load_method
from sensegraph.runtime.stores.sqlite import SqliteStore

BENCH = Path(__file__).resolve().parents[1] / "bench" / "all_retrieval.py"
QUERIES = tuple(Query(f"q{i:02}", f"Who is {i}?", {f"d{i}": 1}) for i in range(12))


def found(right: int, asked: int = 12, *, empty: int = 0, worse: int = 0) -> tuple[Found, ...]:
    """Rankings of `asked` questions: the first `right` find their document, the first `empty` name none."""
    named = [(f"d{i}",) if worse <= i < worse + right else ("elsewhere",) for i in range(asked)]
    named = [() if i < empty else d for i, d in enumerate(named)]
    return tuple(Found(f"q{i:02}", d, 10, 0.001 * (i + 1)) for i, d in enumerate(named))


def column(*cells: Cell, name: str = "towns", form: str = TITLED, titles: bool = True) -> Column:
    return Column(name, form, QUERIES, cells, 12, titles)


def test_a_difference_is_shown_only_where_it_is_real():
    made = column(Cell("bm25", found(2)), Cell("walk", found(12)), Cell("naive", found(3)))
    (recalls, *_) = tables([made])
    assert recalls.rows == (
        ("method", "towns (12)", "mean"),
        ("walk", "100.0 (+83.3)", "100.0"),
        ("naive", "25.0", "25.0"),
        ("bm25", "16.7", "16.7"),
    )


def test_more_methods_make_one_family_in_which_a_small_difference_is_no_longer_real():
    few = column(Cell("bm25", found(0)), Cell("walk", found(7)))
    more = column(Cell("bm25", found(0)), Cell("walk", found(7)), *(Cell(f"m{i}", found(0)) for i in range(5)))
    assert versus(few, ["bm25", "walk"])["walk"].p_holm == pytest.approx(2 / 2**7)
    assert versus(more, list(more.by_method))["walk"].p_holm == pytest.approx(6 * 2 / 2**7)


def test_a_sample_is_compared_on_its_own_questions_and_says_its_size():
    made = column(Cell("bm25", found(2)), Cell("drift", found(2, asked=4)))
    told = versus(made, ["bm25", "drift"])["drift"]
    assert (told.wins, told.ties, told.losses) == (0, 4, 0)
    assert told.difference.mean == 0
    assert "50.0 of 4" in text([made])
    assert "“of n”" in text([made])


def test_a_method_that_names_hardly_any_document_is_left_out_with_the_reason():
    made = column(Cell("bm25", found(2)), Cell("graphrag", found(12, empty=7)), Cell("ts", found(12, empty=6)))
    assert left_out([made]) == {"graphrag": "it named no document for 7 of 12 questions (R@5 all the same: towns 41.7)"}
    assert "graphrag" not in [row[0] for row in next(iter(tables([made]))).rows]
    assert "Left out: graphrag" in text([made])
    assert "towns: questions for which no document was named: ts 6." in text([made])


def test_a_method_that_failed_everywhere_is_left_out_and_one_that_failed_once_has_a_gap():
    whole = column(Cell("bm25", found(2)), Cell("kag", failed="UnsupportedTask: no"), Cell("walk", found(3)))
    part = column(Cell("bm25", found(2)), Cell("kag", failed="UnsupportedTask: no"), Cell("walk", failed="X: y"))
    assert left_out([whole, part]) == {"kag": "UnsupportedTask: no"}
    assert ("walk", "25.0", "–", "25.0") in next(iter(tables([whole, part]))).rows
    assert "towns: walk failed: X: y" in text([whole, part])


def test_the_tables_say_that_the_sets_reward_titles():
    made = [column(Cell("bm25", found(2)), form=form, titles=False) for form in (TITLED, UNTITLED)]
    for shown in (text(made), markdown(made)):
        assert "reward links by title" in shown
        assert "With titles: recall@5" in shown
        assert "All titles deleted: recall@5" in shown
        assert "There are no titles in towns" in shown


def test_published_figures_stand_beside_ours_in_both_forms():
    made = [column(Cell("bm25", found(3)), name="musique", form=form) for form in (TITLED, UNTITLED)]
    (table,) = published([[one] for one in made])
    (row,) = table.rows[1:]
    assert row[:6] == ("bm25", "musique", "R@2 / R@5", "32.4 / 43.5", "25.0 / 25.0", "25.0 / 25.0")
    assert row[6] == "11,656, ours 12"
    assert list(published([[column(Cell("bm25", found(3)))]])) == []


def test_every_published_table_has_a_figure_for_each_measure_and_a_source():
    published_tables = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["table"]
    assert len(published_tables) > 3
    for table in published_tables:
        assert table["source"]
        assert table["method"] in {*METHODS, "raptor"}
        assert table["measures"]
        assert table["sets"]
        assert set(table["measures"]) <= set(list_metrics(CUTS))
        assert all(len(one["figures"]) == len(table["measures"]) for one in table["sets"].values())


def test_cells_of_other_code_are_counted():
    assert "1 of 2 cells" in text([column(Cell("bm25", found(2)), Cell("walk", found(2), stale=True))])


def test_markdown_has_a_rule_of_as_many_columns_as_its_head():
    lines = markdown([column(Cell("bm25", found(2)))]).splitlines()
    at = lines.index("| method | towns (12) | mean |")
    assert lines[at + 1] == "|---|---|---|"


def test_everything_is_plain_json():
    told = json.loads(json.dumps(as_object([column(Cell("bm25", found(2)), Cell("walk", found(12)))])))
    assert told["columns"][0]["methods"]["walk"]["test"]["wins"] == 10
    assert told["columns"][0]["methods"]["bm25"]["test"] is None


def test_sets_that_are_joined_keep_their_questions_apart(tmp_path: Path):
    one, other = (read_set(written(tmp_path / name)) for name in ("east", "west"))
    joined = union("east+west", {"east": one, "west": other})
    assert len(joined.documents) == len({d.id for d in joined.documents}) == 24
    made = Column("east+west", TITLED, joined.queries, (Cell("bm25", (Found("east/q0", ("east/k0",), 1, 0.1),)),))
    assert made.part("east").mean("bm25") == 100
    assert made.part("west").mean("bm25") is None
    apart = next(t for t in tables([made]) if "one index" in t.title)
    assert apart.rows == (("method", "east (4)", "west (4)", "mean"), ("bm25", "100.0 of 1", "–", "100.0"))


def test_a_smaller_sample_is_part_of_a_larger_one_and_keeps_the_order():
    small, large = sample(QUERIES, 3), sample(QUERIES, 8)
    assert {q.id for q in small} <= {q.id for q in large}
    assert [q.id for q in large] == sorted(q.id for q in large)
    assert sample(QUERIES, len(QUERIES)) == list(QUERIES)


def test_a_sample_is_taken_only_where_all_questions_would_take_too_long():
    assert Limit(387, 600).sample(1.0) == 387
    assert Limit(387, 600).sample(2.0) == 200
    assert Limit(387, 600).sample(30.0) == 20
    assert Limit(14, 600).sample(1000.0) == 10
    assert Limit(5, 600).sample(1000.0) == 5


def test_a_cell_is_measured_anew_for_another_key_other_code_if_asked_or_a_larger_sample(tmp_path: Path):
    one, place = Named("bm25", load_method("bm25")), Place(tmp_path, "towns", TITLED)
    place.folder.mkdir(parents=True)
    told = Kept("key", code_of(one), "", found(1, asked=10), 5.0)
    (place.folder / "bm25.json").write_bytes(msgspec.json.encode(told))
    kept = place._kept(one, "key", False, Limit(12, 50))
    assert kept == Cell("bm25", told.found)
    assert place._kept(one, "other", False, Limit(12, 50)) is None
    assert place._kept(one, "key", False, Limit(12, 60)) is None
    (place.folder / "bm25.json").write_bytes(msgspec.json.encode(replace(told, code="other")))
    assert place._kept(one, "key", False, Limit(12, 50)) == Cell("bm25", told.found, stale=True)
    assert place._kept(one, "key", True, Limit(12, 50)) is None


def test_the_code_of_a_method_is_all_that_it_imports():
    walk, bm25 = (code_of(Named(n, load_method(n))) for n in ("walk", "bm25"))
    assert walk != bm25
    assert walk == code_of(Named("walk", load_method("walk", top=5)))
    seen: dict[str, str] = {}
    read_source("sensegraph.methods.basic.bm25", seen)
    assert {"sensegraph.retrieval.arms", "sensegraph.types", "sensegraph.language.text"} <= set(seen)
    assert "sensegraph.methods.walk.walk" not in seen


def test_an_index_has_the_parts_that_its_methods_read_and_reports_for_local_search():
    assert parts_of([Named("bm25", load_method("bm25"))]) == ["graph"]
    assert parts_of([Named("local", load_method("local"))]) == ["graph", "reports"]
    found = parts_of([Named(n, load_method(n)) for n in ("walk", "hipporag")])
    assert found == ["graph", "names", "wording", "facts"]


def test_what_questions_compute_is_not_kept(tmp_path: Path):
    base, upper = SqliteStore(tmp_path / "base"), SqliteStore(tmp_path / "upper")
    base.write({"a": b"1"})
    base.set_refs({"index": "a"})
    over = Over(base, upper)
    over.write({"b": b"2"})
    over.write_rows("r", [("x", b"3")])
    assert over.read(["a", "b"]) == {"a": b"1", "b": b"2"}
    assert over.has(["a", "b", "c"]) == {"a", "b"}
    assert list(over.rows("r").ids()) == ["x"]
    assert over.ref("index") == "a"
    assert base.has(["b", "r"]) == set()


@pytest.mark.slow
def test_the_command_prints_the_table_and_a_second_run_asks_nothing(tmp_path: Path):
    written(tmp_path / "towns")
    words = [sys.executable, str(BENCH), "--data", str(tmp_path), "--set", "towns", "--methods", "bm25,walk"]
    words += ["--cache", str(tmp_path / "cache")]
    first, second = (subprocess.run(words, capture_output=True, text=True, check=True) for _ in range(2))
    assert "titled towns: walk, 4 of 4 questions" in first.stderr
    assert all(f"\n{name} " in first.stdout for name in ("bm25", "walk"))
    assert second.stderr == ""
    assert second.stdout == first.stdout
