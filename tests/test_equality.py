"""The net under redesigns (bench/equality.py): it sees every difference, and lets pass only what is listed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from equality_compare import Listed, compare_items, first_difference, read_lines, read_listed, read_store, sums
from equality_runner import run_command, without_fresh
from sensegraph import Corpus
from sensegraph.runtime.stores.packs import delete_objects, name_key, read_objects, write_objects
from sensegraph.runtime.stores.sealing import sum_ref
from sensegraph.runtime.stores.sqlite import SqliteStore

BENCH = Path(__file__).resolve().parents[1] / "bench"
LISTED = BENCH / "equality-differences.toml"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("Ada Lovelace met Charles Babbage in London in 1833.", encoding="utf-8")
    with Corpus.open(tmp_path / "corpus", settings={"engine": "offline"}) as corpus:
        corpus.add(tmp_path / "texts")
        corpus.build()
    return tmp_path / "corpus" / ".sensegraph"


def changed(store: Path, change: Callable[[sqlite3.Connection], object]) -> list[str]:
    """The items of the store that differ after a change of its file."""
    before = read_store(store)
    with sqlite3.connect(store / "store.sqlite") as db:
        change(db)
    return [d.name for d in compare_items("case/store", before, read_store(store)).unlisted]


def edit(step: str, one: bytes, other: bytes) -> Callable[[sqlite3.Connection], object]:
    """Puts `other` in place of `one` in an object of a step, as if it had been written so."""

    def change(db: sqlite3.Connection) -> None:
        query = "SELECT key FROM object JOIN pack USING (number) WHERE step = ? LIMIT 1"
        key = name_key(db.execute(query, (step,)).fetchone()[0])
        was = read_objects(db, [key])[key]
        assert one in was
        delete_objects(db, [key])
        write_objects(db, {key: was.replace(one, other)}, step)

    return change


def test_one_changed_byte_of_any_kind_of_item_is_seen(store: Path) -> None:
    name = "document/a.txt"
    written = ("x", sum_ref(name, "x"), name)
    found = changed(store, lambda db: db.execute("UPDATE ref SET value = ?, sum = ? WHERE name = ?", written))
    assert found == [f"refs {name}"]
    (one,) = changed(store, edit("index.document", b"}", b"} "))
    assert one.startswith("objects index.document ")
    with closing(SqliteStore(store)) as made:
        ((key,),) = made.select("SELECT key FROM part WHERE key LIKE '%.entities'")
        table = made.rows(key)
        assert table is not None
        rows = list(zip(table.ids(), (record + b" " for record in table.scan()), strict=True))
        before = read_store(store)
        made.select("DELETE FROM part WHERE key = ?", (key,))
        made.write_rows(key, rows)
    differing = [d.name for d in compare_items("s", before, read_store(store)).unlisted]
    assert differing
    assert all(name.startswith(f"tables {key} ") for name in differing)
    before = read_store(store)
    path = next((store / "arrays").glob("*.npy"))
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    assert [d.name for d in compare_items("s", before, read_store(store)).unlisted] == [f"arrays {path.stem}"]


def test_a_step_of_another_name_and_a_manifest_of_another_key_are_seen(store: Path) -> None:
    query = "UPDATE pack SET step = 'other' WHERE step = 'index.document'"
    assert len(changed(store, lambda db: db.execute(query))) == 2
    assert changed(store, edit("index", b'"words":"', b'"words":"0')) == ["manifest", "keys in the manifest"]


def test_the_moment_of_a_build_is_no_difference_and_what_arrived_is_one(store: Path) -> None:
    name = "arrival/a.txt"

    def edited(one: str, other: str) -> Callable[[sqlite3.Connection], object]:
        def change(db: sqlite3.Connection) -> None:
            ((value,),) = db.execute("SELECT value FROM ref WHERE name = ?", (name,)).fetchall()
            assert one in value
            value = value.replace(one, other)
            db.execute("UPDATE ref SET value = ?, sum = ? WHERE name = ?", (value, sum_ref(name, value), name))

        return change

    assert changed(store, edited('"known_from":"20', '"known_from":"19')) == []
    assert changed(store, edited('"known_to":""', '"known_to":"x"')) == [f"refs {name}"]


def test_items_of_one_side_alone_are_differences() -> None:
    found = compare_items("case/answers", {"a": b"1", "b": b"2"}, {"b": b"2", "c": b"3"})
    assert [(d.name, d.first) for d in found.unlisted] == [
        ("a", "only in the base"),
        ("c", "only in the working tree"),
    ]
    assert sums([found]) == {"equal": 1, "listed": 0, "differ": 2}


def test_the_first_difference_names_the_place_in_json_the_line_of_a_text_and_the_byte_of_an_array() -> None:
    before, after = {"text": "x", "scores": [1.0, 2.0]}, {"text": "x", "scores": [1.0, 2.5]}
    assert first_difference(json.dumps(before).encode(), json.dumps(after).encode()) == ".scores[1]: '2.0' → '2.5'"
    assert first_difference(b'{"a": 1}', b'{"a": 1, "b": 2}') == ".b: 'nothing' → '2'"
    assert first_difference(b"one\ntwo\n", b"one\ntwo\nthree\n") == "line 3: '' → 'three\\n'"
    assert first_difference(b'{"a":1}', b'{"a": 1}').startswith("line 1")
    assert first_difference(b"\xff\x00\x01", b"\xff\x00\x02") == "byte 2 of 3 and 3"


def test_a_listed_difference_passes_and_others_do_not() -> None:
    listed = (Listed("abc", "why", r"^case/commands/entity"),)
    base, tree = {"entity X": b"1", "reports": b"1"}, {"entity X": b"2", "reports": b"2"}
    found = compare_items("case/commands", base, tree, listed)
    assert [d.name for d in found.unlisted] == ["reports"]
    assert sums([found]) == {"equal": 0, "listed": 1, "differ": 1}
    assert found.used == {listed[0]}


def test_a_rewritten_message_passes_only_where_nothing_else_differs() -> None:
    listed = (Listed("abc", "why", "answers/", old=r"run (\w+) again", new=r"call \1 anew"),)
    base = {"one": b"run index again: 1", "two": b"run index again: 1"}
    tree = {"one": b"call index anew: 1", "two": b"call index anew: 2"}
    found = compare_items("case/answers", base, tree, listed)
    assert [d.name for d in found.unlisted] == ["two"]
    assert found.used == {listed[0]}
    assert not compare_items("case/answers", base, base, listed).used


def test_the_list_of_deliberate_differences_can_be_read() -> None:
    base, listed = read_listed(LISTED)
    assert base
    assert all(entry.commit and entry.reason and entry.pattern for entry in listed)


def test_what_a_command_prints_is_kept_without_seconds_and_its_failure_is_kept_too(store: Path, tmp_path: Path) -> None:
    root = str(store.parent)
    name, found = run_command("query", "Who met Ada?", "--method", "bm25", "--root", root, "--json")
    assert name.startswith("query Who met Ada? --method bm25")
    assert found["code"] == 0
    assert "seconds" in found["printed"]["usage"]
    assert "seconds" not in without_fresh(found)["printed"]["usage"]
    _, failed = run_command("query", "Who?", "--root", str(tmp_path / "nothing"), "--json")
    assert failed["code"] == 1
    assert "There is no index" in failed["error"]
    assert without_fresh({"a": ({"seconds": 1, "b": 2},)}) == {"a": [{"b": 2}]}


def test_lines_of_the_runner_are_items_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('["walk 00 Who?", {"text": "a\\u2028b"}]\n', encoding="utf-8")
    assert read_lines(tmp_path / "x.jsonl") == {"walk 00 Who?": '{"text": "a\u2028b"}'.encode()}
    assert read_lines(tmp_path / "none.jsonl") == {}


def test_the_program_says_how_it_is_run() -> None:
    shown = subprocess.run([sys.executable, str(BENCH / "equality.py"), "--help"], capture_output=True, text=True)
    assert shown.returncode == 0
    assert "--quick" in shown.stdout
