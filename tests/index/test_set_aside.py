"""Chunks that a model refuses for good: the index of everything else is built, named what is missing, and completed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.cli import app
from sensegraph.errors import SettingsError, StepFailed
from sensegraph.index.settings import IndexSettings
from sensegraph.types import Document
from wired import corpus, settings, stories, story

MARK = "the forbidden word"


def documents(count: int, marked: int) -> list[Document]:
    """Documents of one chunk each; the first `marked` hold what the filter refuses."""
    return [
        Document(f"d{i:03}", f"{story(i, i, 3)} {MARK}." if i < marked else story(i, i, 3), f"Story {i}")
        for i in range(count)
    ]


def refusing(body: dict[str, Any]) -> tuple[str, str] | None:
    """What a content filter answers to requests of extraction that hold the mark."""
    asked = json.dumps(body.get("messages", []))
    return ("", "content_filter") if MARK in asked else None


FILTER = Script(reply=refusing)
CALM = Script()


def test_the_rest_is_built_the_missing_is_named_and_retry_completes_it(tmp_path: Path) -> None:
    given = documents(8, 1)
    with ScriptedServer(FILTER) as server, corpus(tmp_path / "a", server) as made:
        made.add(given)
        built = made.build()
        (left,) = built.left_out
        assert (left.document, left.start, left.end) == ("d000", 0, len(given[0].text))
        assert left.kind == "content refused"
        (note,) = [n for n in built.notes if "missing from the graph" in n]
        assert "d000 0–" in note
        assert made.status().left_out == built.left_out
        assert built.counts["chunks"] == 8
        assert any("missing from the graph" in n for n in made.query("Who wrote to whom?", method="naive").notes)
        first = len(server.calls)
        again = made.build()
        assert (len(server.calls), again.left_out) == (first, built.left_out)  # not asked for again by itself
        server.script = CALM
        server.calls.clear()
        whole = made.build(retry=True)
        assert whole.left_out == ()
        assert len(server.done("extraction")) == 1  # nothing is paid twice
        healed = made.manifest()
        assert made.status().left_out == ()
    with ScriptedServer(CALM) as server, corpus(tmp_path / "b", server) as calm:
        calm.add(given)
        calm.build()
        wanted = calm.manifest()
    assert healed == wanted


def test_what_failed_for_another_reason_is_asked_for_again_by_the_next_build(tmp_path: Path) -> None:
    garbled = Script(reply=lambda body: "a list of names" if MARK in json.dumps(body.get("messages", [])) else None)
    with ScriptedServer(garbled) as server, corpus(tmp_path, server) as made:
        made.add(documents(8, 1))
        assert [c.document for c in made.build().left_out] == ["d000"]
        server.script = CALM
        server.calls.clear()
        assert made.build().left_out == ()
        assert len(server.done("extraction")) == 1


def test_a_build_fails_where_more_than_the_allowed_share_cannot_be_read(tmp_path: Path) -> None:
    with ScriptedServer(FILTER) as server, corpus(tmp_path, server) as made:
        made.add(documents(8, 3))
        with pytest.raises(StepFailed, match="3 of 8"):
            made.build()
    with ScriptedServer(FILTER) as server, corpus(tmp_path / "none", server, index={"most_failed": 0.0}) as made:
        made.add(documents(8, 1))
        with pytest.raises(StepFailed, match="1 of 8"):
            made.build()


def test_ten_of_two_hundred_are_set_aside_one_by_one(tmp_path: Path) -> None:
    with ScriptedServer(FILTER) as server, corpus(tmp_path, server, index={"parts": ["graph"]}) as made:
        made.add(documents(200, 10))
        built = made.build()
        assert [c.document for c in built.left_out] == [f"d{i:03}" for i in range(10)]
        (note,) = [n for n in built.notes if "missing from the graph" in n]
        assert note.startswith("10 chunks are missing")
        assert "and 5 more" in note


def test_the_share_that_may_fail_is_a_share() -> None:
    with pytest.raises(SettingsError, match=r"most_failed"):
        IndexSettings(most_failed=1.5)
    assert IndexSettings(most_failed=0.1).key == IndexSettings().key


def test_index_ends_with_0_and_says_what_is_missing_and_with_1_where_it_is_strict(tmp_path: Path) -> None:
    run = CliRunner()
    for name, text in ((d.id, d.text) for d in documents(8, 1)):
        (tmp_path / "input").mkdir(exist_ok=True)
        (tmp_path / "input" / f"{name}.txt").write_text(text)
    with ScriptedServer(FILTER) as server:
        tables = settings(server)
        lines = [
            f"[{t}]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in rows.items() if not isinstance(v, dict))
            for t, rows in tables.items()
        ]
        (tmp_path / "sensegraph.toml").write_text("\n".join(lines))
        where = ["--root", str(tmp_path), "--trust"]
        done = run.invoke(app, ["index", *where])
        assert done.exit_code == 0, done.output
        assert "missing from the graph" in done.output
        assert run.invoke(app, ["index", *where, "--strict"]).exit_code == 1
        said = run.invoke(app, ["status", *where[:2]]).output
        assert "not read" in said
        assert "sensegraph index --retry" in said
        server.script = CALM
        assert run.invoke(app, ["index", *where, "--retry", "--strict"]).exit_code == 0


# ── texts that the engine does not write ──

INDEX = {
    "graph": {"describe_above": 20},
    "aggregates": {"cluster_size": 3},
    "tree": {"input_tokens": 600, "stop": 3},
}
WRITING = {  # by the task of the scripted server: what is named that is not written, and the part that it is of
    "summary": ("summarise", "graph"),
    "report": ("report", "reports"),
    "aggregate": ("aggregate", "aggregates"),
    "link": ("relate", "aggregates"),
    "abstract": ("abstract", "layers"),
    "condensed": ("condense", "tree"),
}


@pytest.mark.parametrize("task", sorted(WRITING))
def test_a_text_that_is_refused_quotes_its_sources_is_named_and_is_written_by_retry(tmp_path: Path, task: str) -> None:
    refused: list[str] = []
    what, part = WRITING[task]
    index = INDEX | {"parts": sorted({"graph", part})}

    def refuse_one(body: dict[str, Any]) -> tuple[str, str] | None:
        text = json.dumps(body.get("messages", []))
        if task_of(body) != task or (refused and refused[0] != text):
            return None
        refused[:] = [text]
        return ("", "content_filter")

    with ScriptedServer(Script(reply=refuse_one)) as server, corpus(tmp_path / "a", server, index=index) as made:
        made.add(stories(8))
        built = made.build()
        (left,) = built.left_out
        assert (left.what, left.kind) == (what, "content refused")
        assert left.name
        assert left.document.startswith("story-") or "Story" in left.name  # a text over leaves is called by titles
        assert any("quotes its sources because writing failed" in n and left.name in n for n in built.notes)
        partial = made.manifest()
        server.calls.clear()
        again = made.build()
        assert (server.done(), again.left_out) == ([], built.left_out)  # what was refused is not asked for by itself
        assert made.manifest() == partial
        made.collect()
        server.calls.clear()
        assert (made.build().left_out, server.done()) == (built.left_out, [])  # nothing that it needs was collected
        server.script = CALM
        whole = made.build(retry=True)
        assert whole.left_out == ()
        healed = made.manifest()
        repeated = [c.sha for c in server.done()]
        assert len(set(repeated)) == len(repeated)
    with ScriptedServer(CALM) as server, corpus(tmp_path / "b", server, index=index) as calm:
        calm.add(stories(8))
        calm.build()
        assert healed == calm.manifest()


def test_what_stays_cut_off_is_named_and_the_next_build_puts_the_whole_in_its_place(tmp_path: Path) -> None:
    with ScriptedServer(Script(truncate_rate=1.0, only=MARK)) as server, corpus(tmp_path / "a", server) as made:
        made.add(documents(8, 1))
        built = made.build()
        (left,) = [c for c in built.left_out if c.what == "chunk"]
        assert (left.document, left.kind, left.partial) == ("d000", "cut off", True)
        assert any("cut off and used as far as they go, of: chunk d000 0–" in n for n in built.notes)
        shown = CliRunner().invoke(app, ["status", "--root", str(tmp_path / "a")]).output
        assert "cut off" in shown
        server.script = CALM
        assert made.build().left_out == ()
        healed = made.manifest()
    with ScriptedServer(CALM) as server, corpus(tmp_path / "b", server) as calm:
        calm.add(documents(8, 1))
        calm.build()
        assert healed == calm.manifest()
