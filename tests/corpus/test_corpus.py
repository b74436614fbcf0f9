from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import (
    EmptyCorpus,
    EndpointDown,
    InputError,
    ItemFailed,
    NotIndexed,
    SensegraphError,
    SettingsError,
    StepFailed,
    StoreError,
)
from sensegraph.runtime.stores.sqlite import FORMAT
from sensegraph.testing import SAMPLE
from sensegraph.types import Document
from wired import corpus, stories
from wired import settings as made_settings

QUESTION = "Who keeps the lighthouse?"


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path / "corpus", server) as opened:
        yield opened


@pytest.fixture
def indexed(made: Corpus) -> Corpus:
    made.add(*SAMPLE)
    made.build()
    return made


# ── documents ──


def test_adding_says_what_is_new_changed_and_the_same(made: Corpus) -> None:
    assert made.add(*SAMPLE).new == ("keeper", "board", "storm")
    edited = replace(SAMPLE[0], text="Another text.")
    added = made.add([edited, SAMPLE[1], Document("fourth", "New.")])
    assert (added.new, added.changed, added.same) == (("fourth",), ("keeper",), ("board",))
    assert list(made.document_keys()) == ["board", "fourth", "keeper", "storm"]
    assert list(made.documents())[2] == edited


def test_files_and_folders_are_added_and_what_is_skipped_is_named(made: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "input"
    folder.mkdir()
    (folder / "a.txt").write_text("Ada Finch keeps the lamp.")
    (folder / "b.jsonl").write_text('{"_id": "b1", "text": "Tom Reeve sailed."}\nno json\n')
    added = made.add(folder)
    assert added.new == ("a.txt", "b1")
    assert len(added.skipped) == 1


def test_a_path_that_does_not_exist_is_an_error_before_anything_is_stored(made: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        made.add(SAMPLE[0], tmp_path / "nowhere")
    assert made.document_keys() == {}


def test_a_document_without_an_id_is_refused(made: Corpus) -> None:
    with pytest.raises(InputError, match="1 documents have no id"):
        made.add(SAMPLE[0], Document("", "text"))
    assert made.document_keys() == {}


@pytest.mark.parametrize(
    "bad", [Document("a", "half \ud83d"), Document("\ud83d", "text"), Document("a", "t", metadata=(("k", "\ud83d"),))]
)
def test_a_document_that_is_no_unicode_is_refused_by_name(made: Corpus, bad: Document) -> None:
    with pytest.raises(InputError, match="no valid Unicode"):
        made.add(SAMPLE[0], bad)
    assert made.document_keys() == {}


def test_two_values_with_one_id_are_refused(made: Corpus) -> None:
    with pytest.raises(InputError, match=r"'keeper' is given more than once"):
        made.add(SAMPLE[0], replace(SAMPLE[0], text="Another."))


def test_removing_what_is_not_there_removes_nothing(made: Corpus) -> None:
    made.add(*SAMPLE)
    with pytest.raises(InputError, match="Not in the corpus: 'keper'"):
        made.remove("board", "keper")
    assert len(made.document_keys()) == 3


def test_status_tells_what_waits_for_the_next_build(indexed: Corpus) -> None:
    assert indexed.status().pending == ()
    indexed.remove("board")
    indexed.add(Document("new", "Text."), replace(SAMPLE[0], text="Edited."))
    status = indexed.status()
    assert status.pending == ("board", "keeper", "new")
    assert (status.documents, status.indexed) == (3, 3)
    assert any("3 documents were added, changed or removed" in n for n in indexed.query(QUESTION).notes)


def test_status_before_the_first_build_counts_documents_alone(made: Corpus) -> None:
    made.add(*SAMPLE)
    status = made.status()
    assert (status.documents, status.indexed, status.counts, status.clusters) == (3, 0, {}, ())
    assert status.pending == ("board", "keeper", "storm")


def test_status_tells_what_was_spent_and_on_what(indexed: Corpus, server: ScriptedServer) -> None:
    ledger = indexed.status().ledger
    assert ledger["extraction.extract"].calls == len(server.done("extraction"))
    assert ledger["reports.report"].calls == len(server.done("report"))
    assert indexed.status().size_bytes > 10_000


# ── building and asking ──


def test_a_corpus_that_is_opened_again_answers_at_once(indexed: Corpus, server: ScriptedServer) -> None:
    indexed.close()
    with corpus(indexed.root, server) as again:
        assert again.query(QUESTION).citations
        assert again.build().computed == {}


def test_a_corpus_without_documents_says_what_to_add(made: Corpus, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert made.add(tmp_path / "empty").new == ()
    with pytest.raises(EmptyCorpus, match="There are no documents to index; add a folder or file"):
        made.build()


def test_documents_without_any_text_are_an_error(made: Corpus) -> None:
    made.add(Document("a", ""), Document("b", "  \n"))
    with pytest.raises(EmptyCorpus, match="None of the 2 documents holds any text"):
        made.build()


def test_an_empty_document_beside_others_is_no_trouble(made: Corpus) -> None:
    made.add(*SAMPLE, Document("empty", ""))
    assert made.build().counts["documents"] == 4
    assert made.index().document("empty").text == ""


def test_a_run_in_which_no_chunk_yields_an_entity_is_an_error(made: Corpus, server: ScriptedServer) -> None:
    server.script = Script(reply=lambda body: '{"entities": [], "relations": []}')
    made.add(*SAMPLE)
    with pytest.raises(ItemFailed, match="No entity was found in 3 chunks"):
        made.build()
    with pytest.raises(NotIndexed):
        made.index()


def test_a_question_before_the_first_build_says_what_to_run(made: Corpus) -> None:
    with pytest.raises(NotIndexed):
        made.query(QUESTION)


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_refused(indexed: Corpus, question: str) -> None:
    with pytest.raises(InputError, match="question is empty"):
        indexed.query(question)
    with pytest.raises(InputError, match="question is empty"):
        indexed.search(question)


def test_search_returns_at_most_what_was_asked_for(indexed: Corpus) -> None:
    found = indexed.search(QUESTION, top=1)
    assert (len(found.passages), len(found.documents)) == (1, 1)
    assert found.omitted >= 1
    with pytest.raises(InputError, match="top must be at least 1"):
        indexed.search(QUESTION, top=0)


def test_a_reader_keeps_the_old_index_until_the_new_one_is_whole(indexed: Corpus, server: ScriptedServer) -> None:
    before = indexed.index().manifest
    indexed.add(*stories(2))
    server.script = Script(api_key="changed")
    with pytest.raises(EndpointDown):
        indexed.build()
    assert indexed.index().manifest == before
    server.script = Script()
    assert indexed.query(QUESTION).citations


# ── settings ──


def refused(folder: Path, settings: dict[str, Any]) -> str:
    with pytest.raises(SettingsError) as caught, Corpus.open(folder, settings=settings) as made:
        made.add(*SAMPLE)
    return str(caught.value)


def test_an_unknown_setting_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    assert "unknown setting index.chunk_token; did you mean index.chunk_tokens?" in refused(
        tmp_path, {"index": {"chunk_token": 300}}
    )
    (tmp_path / "sensegraph.toml").write_text("[endpoint]\nmodle = 'x'\n")
    message = refused(tmp_path, {})
    assert "sensegraph.toml: unknown setting endpoint.modle; did you mean endpoint.model?" in message


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"index": {"chunk_tokens": "many"}}, "chunk_tokens"),
        ({"index": {"chunk_tokens": 50, "chunk_overlap": 50}}, "index.chunk_overlap (50) must be"),
        ({"index": {"clusters": {"max_cluster_size": 0}}}, "index.clusters.max_cluster_size is 0"),
        ({"index": {"graph": {"weight": "heavy"}}}, "weight"),
        ({"engine": "model"}, "engine = model needs endpoint.model"),
        ({"endpoint": {"model": "m", "base_url": "ftp://x"}}, "endpoint.base_url must"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_by_name(
    tmp_path: Path, settings: dict[str, Any], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert expected in refused(tmp_path, settings)


def test_a_settings_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text("model = \n")
    assert "sensegraph.toml is not valid TOML" in refused(tmp_path, {})


def test_an_unknown_method_and_an_unknown_option_are_named(indexed: Corpus) -> None:
    with pytest.raises(SettingsError, match="No method is called 'graprag'; did you mean 'graphrag'"):
        indexed.query(QUESTION, method="graprag")
    with pytest.raises(SettingsError, match="unknown setting dept"):
        indexed.query(QUESTION, method="graphrag", dept=1)


def test_a_remote_endpoint_without_a_key_is_an_error_that_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    message = refused(tmp_path, {"endpoint": {"model": "m"}})
    assert "set the environment variable OPENAI_API_KEY" in message


def test_an_endpoint_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    with corpus(tmp_path, "http://127.0.0.1:9/v1") as made:
        made.add(*SAMPLE)
        with pytest.raises(EndpointDown, match=r"Cannot reach http://127\.0\.0\.1:9/v1"):
            made.build()


# ── the disk ──


def test_a_store_from_a_newer_version_is_refused(indexed: Corpus, server: ScriptedServer) -> None:
    indexed.store._db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    indexed.store._db.execute(f"INSERT INTO format VALUES ({FORMAT + 1})")
    indexed.close()
    with pytest.raises(StoreError, match="upgrade sensegraph"):
        corpus(indexed.root, server)


@pytest.mark.parametrize("size", [0, 100, 5000, 60_000])
def test_a_truncated_store_is_an_error_that_names_it(indexed: Corpus, server: ScriptedServer, size: int) -> None:
    indexed.close()
    os.truncate(indexed.store.path, size)
    with pytest.raises(StoreError, match=r"store\.sqlite"), corpus(indexed.root, server) as again:
        assert [again.build(), *again.index().graph.entities]


def test_garbage_instead_of_a_store_is_an_error_that_names_it(indexed: Corpus, server: ScriptedServer) -> None:
    indexed.close()
    indexed.store.path.write_bytes(os.urandom(20_000))
    with pytest.raises(StoreError, match=r"store\.sqlite cannot be used"):
        corpus(indexed.root, server)


def test_a_garbled_page_is_an_error_and_no_answer(indexed: Corpus, server: ScriptedServer) -> None:
    indexed.close()
    content = bytearray(indexed.store.path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 64] = b"\xff" * 64
    indexed.store.path.write_bytes(content)
    with pytest.raises(StoreError), corpus(indexed.root, server) as again:
        again.query(QUESTION)


def test_a_corpus_on_a_read_only_disk_can_be_asked(indexed: Corpus, server: ScriptedServer, tmp_path: Path) -> None:
    indexed.close()
    place = indexed.root / ".sensegraph"
    if os.geteuid() == 0:
        pytest.skip("a superuser may write everywhere")
    modes = {p: p.stat().st_mode for p in (place, *place.rglob("*"))}
    for p, mode in modes.items():
        p.chmod(mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    try:
        with Corpus.open(indexed.root, settings=None, create=False) as reader:
            assert reader.status().indexed == 3
        with pytest.raises(StoreError):
            corpus(indexed.root, server)
    finally:
        for p, mode in modes.items():
            p.chmod(mode)


def test_a_question_to_a_read_only_corpus_writes_nothing(
    indexed: Corpus, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed.close()
    monkeypatch.setattr("sensegraph.corpus.tools.can_write", lambda folder: False)
    before = {p: p.read_bytes() for p in indexed.root.rglob("*") if p.is_file()}
    with Corpus.open(indexed.root, settings=made_settings(server), create=False) as reader:
        assert reader.store.readonly
        assert reader.query(QUESTION, method="graphrag").citations
        assert reader.query(QUESTION, method="graphrag").usage.calls == 0  # remembered for as long as it is open
        assert reader.search(QUESTION).passages
        with pytest.raises(StoreError, match="readonly"):
            reader.remove("board")
    assert {p: p.read_bytes() for p in before} == before


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path, server: ScriptedServer) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"Check that the folder exists, is writable and has room"):
        corpus(tmp_path / "file", server)


def test_reading_makes_no_index_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotIndexed, match="There is no index in"):
        Corpus.open(tmp_path, create=False)
    assert list(tmp_path.iterdir()) == []


def test_every_error_is_one_of_ours_and_says_what_to_do(made: Corpus) -> None:
    with pytest.raises(SensegraphError) as caught:
        made.build()
    assert "sensegraph index" in str(caught.value)


def test_no_key_is_stored_or_shown(tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.script = Script(api_key="sk-very-secret")
    with corpus(tmp_path, server) as made:
        made.add(*SAMPLE)
        made.build()
        assert "sk-very-secret" not in repr(made.engine) + repr(made.settings)
        server.script = Script(api_key="another")
        made.add(Document("new", "Ada Finch sailed to Port Ellery."))
        with pytest.raises((EndpointDown, StepFailed)) as caught:
            made.build()
        assert "sk-very-secret" not in str(caught.value)
    held = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"sk-very-secret" not in held


def test_what_a_corpus_has_cost_can_be_read_with_an_ordinary_tool(indexed: Corpus) -> None:
    db = sqlite3.connect(indexed.store.path)
    (calls,) = db.execute("SELECT calls FROM ledger WHERE step = 'extraction.extract'").fetchone()
    assert calls == indexed.store.ledger()["extraction.extract"].calls > 0


def test_the_prompts_of_a_folder_that_is_indexed_whole_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "report.md").write_text("Write a report.")
    (tmp_path / "note.md").write_text("Grace Hopper wrote a compiler.")
    (tmp_path / "sensegraph.toml").write_text('[model]\nprompts = "prompts"\n')
    with Corpus.open(tmp_path) as corpus:
        assert corpus.add(tmp_path).new == ("note.md",)
