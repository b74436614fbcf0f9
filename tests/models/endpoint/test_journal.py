"""What a killed run was paid and did not store is there for the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.chunks import chunk_documents
from sensegraph.models.endpoint.limits import Journal
from sensegraph.runtime.stores.replies import ReplyFile
from sensegraph.types import Chunk
from wired import content, corpus, stories


def test_a_reply_that_a_run_did_not_live_to_store_is_recalled(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    killed = Journal(ReplyFile(path)).__enter__()
    killed.keep(killed.key("/x", b"one"), b'{"a": "line\\\\nend",\n "b": 1}')
    with Journal(ReplyFile(path)) as journal:
        assert journal.recall(journal.key("/x", b"one")) == b'{"a": "line\\\\nend",  "b": 1}'
        assert journal.recall(journal.key("/y", b"one")) is None
        assert journal.recall(journal.key("/x", b"two")) is None


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    killed = Journal(ReplyFile(path)).__enter__()
    for name in (b"one", b"two"):
        killed.keep(killed.key("", name), b'{"a": 1}')
    path.write_bytes(path.read_bytes()[:-5])
    with Journal(ReplyFile(path)) as journal:
        assert journal.recall(journal.key("", b"one")) == b'{"a": 1}'
        assert journal.recall(journal.key("", b"two")) is None


def test_nothing_is_left_after_a_run_that_ended(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    with Journal(ReplyFile(path)) as journal:
        journal.keep("k", b"{}")
        assert path.exists()
    assert not path.exists()
    with pytest.raises(ValueError), Journal(ReplyFile(path)):
        raise ValueError
    assert not path.exists()


def test_after_an_interrupt_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    journal = Journal(ReplyFile(path)).__enter__()
    journal.keep("k", b"{}")
    journal.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert path.exists()


def test_outside_of_a_build_nothing_is_kept(tmp_path: Path) -> None:
    journal = Journal(ReplyFile(tmp_path / "replies.jsonl"))
    journal.keep("k", b"{}")
    assert journal.recall("k") is None
    assert not list(tmp_path.iterdir())


def test_a_build_asks_for_no_reply_that_a_killed_one_had_got(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path / "one", server) as made:
        made.add(stories())
        made.workspace.journal.__enter__()  # as if this run were killed after its replies came, before any was stored
        engine = made.engine
        chunks = _chunks(made)
        for chunk in chunks:
            engine.extract([chunk])
    asked = len(server.done("extraction"))
    assert asked == len(chunks) > 0
    with corpus(tmp_path / "one", server) as made:
        made.build()
        assert len(server.done("extraction")) == asked
        found = content(made)
    with corpus(tmp_path / "calm", server) as made:
        made.add(stories())
        made.build()
        assert content(made) == found


def _chunks(made: Corpus) -> list[Chunk]:
    index = made.settings.index
    cut = made.runtime().each(chunk_documents, made.documents(), size=index.chunk_tokens, overlap=index.chunk_overlap)
    return [c for document in cut for c in document]
