"""Replies that hold no result: nothing false is stored of them, and a healthy server is asked later."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in, reply, task_of
from sensegraph.answering.asking import test_contexts
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import EndpointError, ReplyRefused, StepFailed
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.extraction import extract_records
from sensegraph.index.graph.describing import summarise_descriptions
from sensegraph.lab.tasks import judge_trials
from sensegraph.methods.graphrag.global_search import grade
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.limits import Journal
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.trials import Trial
from sensegraph.types import Chunk, Context, Inquiry, Passage
from wired import content, corpus, runtime, stories

Body = dict[str, Any]
OLD = (
    b'{"entities":[],"relations":[],"claims":[],"rejected":[],"outside":[],"rounds":[]}'  # as the old reading stored it
)
MARK = "Text:\nJoss"  # in the prompts of some chunks
EMPTY = '{"entities": [], "relations": []}'


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Body:
    """The index as it is when nothing goes wrong."""
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("calm"), server) as made:
        made.add(stories())
        made.build()
        return content(made)


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path, server, index={"most_failed": 0.0}) as opened:
        opened.add(stories())
        yield opened


def part(kind: str, said: Any) -> Body:
    return {"type": kind, kind: said}


def thinking(body: Body) -> Body:
    """What is said in the form of Mistral's thinking models."""
    thoughts = part("thinking", [part("text", "They want names. [1] {maybe}")])
    said = reply(body, "json")
    return {"message": {"content": [thoughts, part("text", said[:20]), part("text", said[20:])]}}


def chunks_of(made: Corpus) -> list[Chunk]:
    index = made.settings.index
    cut = made.runtime().each(chunk_documents, made.documents(), size=index.chunk_tokens, overlap=index.chunk_overlap)
    return [c for document in cut for c in document]


# ── replies that can be read ──

READ: dict[str, Callable[[Body], Any]] = {
    "parts": thinking,
    "tags": lambda body: f"<think>Is it {{this}} or [that]?</think>\n{reply(body, 'json')}",
    "brackets": lambda body: f"[THINK]Is it {{this}} or [that]?[/THINK]{reply(body, 'json')}",
    "no beginning": lambda body: f"Is it [that]?</think>{reply(body, 'json')}",
    "channels": lambda body: (
        "<|channel|>analysis<|message|>Is it {this}?<|end|><|start|>assistant<|channel|>final<|message|>"
        f"{reply(body, 'json')}<|return|>"
    ),
}


@pytest.mark.parametrize("form", READ)
def test_thoughts_are_taken_off_and_the_index_is_the_same(
    made: Corpus, server: ScriptedServer, calm: Body, form: str
) -> None:
    server.script = Script(reply=READ[form])
    made.build()
    assert content(made) == calm
    assert len(server.done("extraction")) == 12


# ── replies that cannot ──

UNREADABLE: dict[str, tuple[Any, str]] = {
    "thoughts in parts": ({"message": {"content": [part("thinking", [part("text", "Hm.")])]}}, "it is empty"),
    "no content": (
        {"message": {"content": None, "reasoning_content": "Hm."}, "finish_reason": "length"},
        "thoughts and no reply",
    ),
    "open tag": ("<think>They want {names} [1]", "thoughts and no reply"),
    "open tag, cut": (("<think>They want {names} [1]", "length"), "thoughts and no reply"),
    "open bracket": ("[THINK] hm", "thoughts and no reply"),
    "open channel": ("<|channel|>analysis<|message|>They want [1]", "thoughts and no reply"),
    "only thoughts": ("[THINK] hm [/THINK]", "thoughts and no reply"),
    "a refusal in words": ("I'm sorry [1], I can't help", "it declines: I'm sorry"),
    "names": ('["Mara Voss", "Lindholm"]', "no entities and no relations"),
    "triples": ('[["Mara Voss", "runs", "Lindholm"]]', "no entities and no relations"),
    "a bare list": ("[]", "no entities and no relations"),
    "a name": ('{"entities": "Mara Voss"}', "no entities and no relations"),
    "null": ('{"entities": null, "relations": null}', "no entities and no relations"),
    "begun": ('{"entities": [', "no entities and no relations"),
    "words before the end mark": ("I will end with <|COMPLETE|>.", "no entities and no relations"),
}


@pytest.mark.parametrize("form", UNREADABLE)
def test_what_cannot_be_read_is_asked_for_again_fails_its_items_and_is_mended_by_a_healthy_server(
    made: Corpus, server: ScriptedServer, calm: Body, form: str
) -> None:
    said, why = UNREADABLE[form]
    server.script = Script(reply=lambda body: said if MARK in asked_in(body) else None)
    with pytest.raises(StepFailed, match=why) as caught:
        made.build()
    failed = caught.value.failed
    assert 0 < failed < 12
    assert len(server.done("extraction")) == 12 + failed
    server.script = Script()
    server.reset()
    made.build()
    assert len(server.done("extraction")) == failed
    assert content(made) == calm


REFUSED: dict[str, tuple[Body, str]] = {
    "filter, half a reply": (
        {"message": {"content": '{"entities": [{"name": "Ada"}], "relations": []}'}, "finish_reason": "content_filter"},
        "ReplyRefused: .*finish_reason content_filter",
    ),
    "filter, no reply": (
        {"message": {"content": ""}, "finish_reason": "content_filter"},
        "finish_reason content_filter",
    ),
    "Gemini": ({"message": {"content": EMPTY}, "finish_reason": "SAFETY"}, "finish_reason safety"),
    "refusal": ({"message": {"content": None, "refusal": "I can not speak of that."}}, "I can not speak of that"),
    "a part": ({"message": {"content": [part("refusal", "Not that.")]}}, "Not that"),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_refused_fails_its_items_after_one_request_and_names_the_reason(
    made: Corpus, server: ScriptedServer, calm: Body, form: str
) -> None:
    said, why = REFUSED[form]
    server.script = Script(reply=lambda body: said if MARK in asked_in(body) else None)
    with pytest.raises(StepFailed, match=why):
        made.build()
    assert len(server.done("extraction")) == 12  # not asked twice
    assert made.store.ledger()["extraction.extract"].calls == 12  # and counted, for it was paid
    server.script = Script()
    made.build()
    assert content(made) == calm


def test_a_reply_that_ended_in_an_error_is_asked_for_again(made: Corpus, server: ScriptedServer, calm: Body) -> None:
    half = {"message": {"content": '{"entities": [{"name": "Ada"}], "relations": []}'}, "finish_reason": "error"}
    seen: list[Body] = []

    def once(body: Body) -> Body | None:
        seen.append(body)
        return half if "Text:" in asked_in(body) and seen.count(body) == 1 else None

    server.script = Script(reply=once)
    built = made.build()
    assert content(made) == calm
    assert built.usage.retries == 12
    with ScriptedServer(Script(reply=lambda body: half)) as broken:
        end = Endpoint(EndpointSettings(broken.base_url, model="m", max_retries=1, backoff_s=0.01))
        with pytest.raises(EndpointError, match=r"2 times, last with .*finish_reason error"):
            end.chat([{"role": "user", "content": "?"}], max_tokens=9)


def test_an_empty_extraction_in_its_form_is_believed_and_never_asked_for_again(
    made: Corpus, server: ScriptedServer
) -> None:
    said = [EMPTY, f"Here:\n```json\n{EMPTY}\n```", "{'entities': [], 'relations': []}", "<|COMPLETE|>"]
    texts = [c.text for c in chunks_of(made)][:4]
    by_text = dict(zip(texts, said, strict=True))
    server.script = Script(reply=lambda body: next((r for t, r in by_text.items() if t in asked_in(body)), None))
    made.build()
    assert len(server.done("extraction")) == 12 + 4  # names stand in these passages: each is asked about once more
    server.reset()
    made.build()
    assert server.calls == []


# ── what earlier versions believed ──


def test_an_extraction_that_was_stored_as_empty_is_asked_for_once_more_and_all_others_stay(
    tmp_path: Path, server: ScriptedServer, calm: Body, monkeypatch: pytest.MonkeyPatch
) -> None:
    with corpus(tmp_path, server) as made:
        made.add(stories())
        chunks = chunks_of(made)
        with monkeypatch.context() as before:
            before.setattr("sensegraph.runtime.runtime.replace_doubted", lambda store, step, keys: keys)  # as it was
            before.setattr("sensegraph.corpus.settled._describe_program", lambda: [("the version before", 0, 0)])
            keys = made.runtime().keys(extract_records, chunks)
            made.store.write(dict.fromkeys(keys[:3], OLD), extract_records.name)
            made.build()
            assert len(server.done("extraction")) == 9
            assert content(made) != calm
        assert set(made.runtime().keys(extract_records, chunks)) & set(keys) == set(keys[3:])
        assert made.runtime().missing(extract_records, chunks) == [0, 1, 2]
        server.reset()
        made.build()
        assert len(server.done("extraction")) == 3
        mended = content(made)
        for followed in ("communities", "clusters"):  # they go on from those of the build before
            assert mended.pop(followed)
        assert mended == {name: calm[name] for name in mended}
        for sweep in (False, True):
            if sweep:
                made.collect()
            server.reset()
            made.build()
            assert server.calls == []


def test_an_old_empty_extraction_that_is_empty_is_confirmed_once(made: Corpus, server: ScriptedServer) -> None:
    chunks = chunks_of(made)
    keys = made.runtime().keys(extract_records, chunks)
    made.store.write({keys[0]: OLD}, extract_records.name)
    server.script = Script(reply=lambda body: EMPTY if chunks[0].text in asked_in(body) else None)
    made.build()
    assert len(server.done("extraction")) == 12 + 1
    server.reset()
    made.build()
    assert server.calls == []


LEFT = [part("thinking", [part("text", "Hm.")])]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ({"message": {"content": LEFT}}, 1),  # read again, it has nothing: asked once more, with the objection
        ({"message": {"content": "half"}, "finish_reason": "content_filter"}, 1),
        ({"message": {"content": EMPTY}, "finish_reason": "error"}, 1),
    ],
)
def test_a_reply_that_a_killed_run_left_behind_is_read_anew(
    made: Corpus, server: ScriptedServer, calm: Body, said: Body, asked: int
) -> None:
    made.workspace.journal.__enter__()  # as if this run were killed after its first reply came
    bodies: list[tuple[str, bytes]] = []
    keep = made.workspace.journal.key

    def note(path: str, body: bytes) -> str:
        bodies.append((path, body))
        return keep(path, body)

    made.workspace.journal.key = note  # type: ignore[method-assign]
    made.engine.extract(chunks_of(made)[:1])
    (path, body), *_ = bodies
    made.workspace.journal.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    file = Path(made.workspace.journal._replies.place)
    choice = {"index": 0, "finish_reason": "stop"} | said
    line = {"key": Journal.key(path, body), "reply": {"choices": [choice]}}
    file.write_text(json.dumps(line) + "\n")
    server.reset()
    with corpus(made.root, server) as again:
        again.build()
        assert content(again) == calm
    assert len(server.done("extraction")) == 11 + asked


# ── texts ──


def test_a_refusal_in_words_that_stays_is_no_description(store: SqliteStore) -> None:
    parts = Context((Passage("entity", "a", "One says this."), Passage("entity", "b", "Another says that.")), "Ada")
    for said in ("I am afraid that I cannot do that.", "I'm sorry [1], I can't help", "<think>They want"):
        with ScriptedServer(Script(reply=lambda body, said=said: said)) as server, pytest.raises(StepFailed):
            runtime(store, server).each(summarise_descriptions, [parts])
    with ScriptedServer(Script(reply=lambda body: "She cannot help him.")) as server:
        assert list(runtime(store, server).each(summarise_descriptions, [parts])) == ["She cannot help him."]


def test_half_an_answer_is_none(made: Corpus, server: ScriptedServer) -> None:
    made.build()
    half = {"message": {"content": '{"answer": "Ada wrote'}, "finish_reason": "content_filter"}
    server.script = Script(reply=lambda body: half if task_of(body) == "answer" else None)
    with pytest.raises((StepFailed, ReplyRefused), match="content_filter"):
        made.query("What did Ada do?", method="naive")
    server.script = Script()
    assert made.query("What did Ada do?", method="naive").text


@pytest.mark.parametrize(("finish", "why"), [("content_filter", "was refused"), ("error", "in the middle of a reply")])
def test_half_an_answer_that_was_told_ends_in_an_error_that_names_the_reason(
    made: Corpus, server: ScriptedServer, finish: str, why: str
) -> None:
    made.build()
    said = ('{"answer": "Ada wrote to Bram. Then she ', finish)
    server.script = Script(reply=lambda body: said if task_of(body) == "answer" else None)
    with pytest.raises(EndpointError, match=rf"{why}.*{finish}"):
        made.query("What did Ada do?", method="naive", hear=lambda text: None)
    server.script = Script()
    server.reset()
    made.query("What did Ada do?", method="naive", hear=lambda text: None)
    assert len(server.done("answer")) == 1  # nothing of it was stored


def test_thoughts_without_an_end_are_never_told(made: Corpus, server: ScriptedServer) -> None:
    made.build()
    server.script = Script(reply=lambda body: '<think>Okay, {"answer": "no' if task_of(body) == "answer" else None)
    told: list[str] = []
    with pytest.raises(Exception, match="thoughts and no reply"):
        made.query("What did Ada do?", method="naive", hear=told.append)
    assert told == []
    server.script = Script(reply=thinking)
    answer = made.query("What did Ada do?", method="naive", hear=told.append)
    assert "".join(told).strip()
    assert "They want names" not in answer.text


# ── what a run goes on without ──

ASKED = Inquiry(
    "Which harbour is very old?", Context((Passage("chunk", "c", "The harbour is very, very old, which is so."),))
)
TRIAL = Trial("Which?", "comprehensiveness", "It says more.", ("One.", "Two, and more of it."))


@pytest.mark.parametrize(
    ("step", "item", "instead"),
    [(test_contexts, ASKED, False), (grade, ASKED, 1), (judge_trials, TRIAL, None)],
    ids=["test", "grade", "judge"],
)
def test_what_a_run_goes_on_without_is_asked_for_again_by_the_next(
    store: SqliteStore, step: Any, item: Any, instead: Any
) -> None:
    with ScriptedServer(Script(reply=lambda body: "who knows")) as server:
        (found,) = runtime(store, server).each(step, [item])
        assert getattr(found, "winner", found) == instead
    with ScriptedServer() as server:
        (found,) = runtime(store, server).each(step, [item])
        assert len(server.calls) == 1
        assert getattr(found, "winner", found) != instead
        runtime(store, server).each(step, [item])
        assert len(server.calls) == 1
