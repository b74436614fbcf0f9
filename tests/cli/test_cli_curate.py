"""The commands of `sensegraph entities` that decide about names, as people and programs meet them (N79, N80)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document

Run = Callable[..., Result]
TEXTS = (
    Document("one", "The National Aeronautics and Space Administration (NASA) launched Apollo 11. "
             "NASA trained Neil Armstrong in Houston."),
    Document("two", "The National Aeronautics and Space Administration is in Washington. "
             "Neil Armstrong met Buzz Aldrin in Houston."),
)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n[index.resolve]\nautomatic = false\n')
    with Corpus.open(tmp_path) as corpus:
        corpus.add(TEXTS)
        corpus.build()
    return lambda *words: CliRunner().invoke(app, [*map(str, words), "--root", str(tmp_path)])


def test_proposals_are_shown_before_anything_is_merged(run: Run, tmp_path: Path) -> None:
    shown = run("entities", "duplicates", "--quiet").stdout + run("entities", "duplicates").stdout
    assert "duplicates: 1 pair" in shown
    assert "a text says National Aeronautics and Space Administration (NASA)" in shown
    assert f"dry run; to merge the duplicates: sensegraph entities duplicates --apply --root {tmp_path}" in shown
    assert run("entities", "log").stdout == ""
    assert "no operation yet" in run("entities", "log").stderr


def test_resolve_prints_one_object_for_programs(run: Run) -> None:
    found = json.loads(run("entities", "duplicates", "--json").stdout)
    (proposal,) = [p for p in found["proposals"] if p["decision"] == "merge"]
    assert set(proposal["names"]) == {"NASA", "National Aeronautics and Space Administration"}
    assert proposal["types"] == ["organization", "organization"]
    assert 0.85 <= proposal["score"] <= 1
    assert proposal["why"]
    assert found["applied"] is None
    applied = json.loads(run("entities", "duplicates", "--apply", "--json").stdout)["applied"]
    assert [o["kind"] for o in applied["operations"]] == ["merge"]
    assert applied["entities"] >= 1
    assert json.loads(run("entities", "duplicates", "--json").stdout)["proposals"] == []


def test_what_was_merged_is_listed_and_taken_back(run: Run) -> None:
    before = run("show", "entity", "Houston", "--json").stdout
    merged = run("entities", "merge", "Houston", "washington", "--as", "Cities")
    assert "1 merge houston (place) + washington (place) → Cities, by user" in merged.stdout
    assert "new or changed: " in merged.stdout
    assert json.loads(run("show", "entity", "Cities", "--json").stdout)["entities"][0]["entity"]["name"] == "Cities"
    assert run("entities", "rename", "Cities", "Two cities").exit_code == 0
    assert run("entities", "keep-apart", "NASA", "National Aeronautics and Space Administration").exit_code == 0
    kinds = [o["kind"] for o in json.loads(run("entities", "log", "--json").stdout)["operations"]]
    assert kinds == ["merge", "rename", "forbid"]
    assert run("entities", "undo", "2").exit_code == run("entities", "undo", "1").exit_code == 0
    assert "[undone 20" in run("entities", "log").stdout
    assert run("show", "entity", "Houston", "--json").stdout == before


def test_a_split_moves_what_a_document_says(run: Run) -> None:
    done = run("entities", "split", "Neil Armstrong", "--document", "two", "--as", "Neil Armstrong (pilot)")
    assert "split neil armstrong (person) in two → Neil Armstrong (pilot), by user" in done.stdout
    found = json.loads(run("show", "entity", "Neil Armstrong (pilot)", "--json").stdout)["entities"]
    assert [e["entity"]["type"] for e in found] == ["person"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("merge", "NASA", "Houstn"), "There is no entity 'Houstn'; did you mean 'Houston'?"),
        (("undo", "9"), "No operation stands that could be taken back"),
        (("split", "NASA", "ESA"), "was not merged from 'ESA'"),
    ],
)
def test_a_mistake_ends_in_one_sentence(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stdout == ""
