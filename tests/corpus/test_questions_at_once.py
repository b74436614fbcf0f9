"""One corpus, shared by threads: the answers are those of one after the other, and each knows what it cost itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from scripted import ScriptedServer
from sensegraph import StopToken, begin_activity
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import Stopped
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.types import Answer, Usage
from wired import finished_corpus, stories

QUESTIONS = [
    (question, method)
    for question in ("Who paid Ada Harrow?", "Who sailed with Iris Stone?", "What binds these people?")
    for method in ("naive", "walk", "graphrag", "local", "bm25")
]


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with finished_corpus(tmp_path / "corpus", server, stories()) as opened:
        yield opened


def told(answer: Answer) -> tuple[object, ...]:
    """All of an answer but the time that it took."""
    return answer.text, answer.citations, answer.notes, answer.method, replace(answer.usage, seconds=0.0)


def test_eight_threads_get_the_answers_of_one_each_with_its_own_usage_and_notes(
    made: Corpus, server: ScriptedServer
) -> None:
    def ask(asked: tuple[str, str]) -> Answer:
        question, method = asked
        return made.query(question, method=method)

    for asked in QUESTIONS:
        ask(asked)  # replies are stored from now on
    alone = {asked: told(ask(asked)) for asked in QUESTIONS}
    server.script = replace(server.script, latency_s=0.01)
    server.reset()
    mixed = QUESTIONS * 4
    Random(0).shuffle(mixed)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, mixed))
    assert [told(answer) for answer in answers] == [alone[asked] for asked in mixed]


def test_questions_that_are_asked_at_once_count_as_many_calls_as_the_server_answered(
    made: Corpus, server: ScriptedServer
) -> None:
    server.script = replace(server.script, latency_s=0.02)
    server.reset()
    names = [f"Who knows number {i}?" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda name: made.query(name, method="naive"), names))
    spent = sum((answer.usage for answer in answers), Usage())
    assert {answer.usage.calls for answer in answers} == {1}
    assert spent.calls == len(server.done("answer")) == 8
    assert spent.embedding_calls == len(server.done("embedding")) == 8
    assert made.engine.usage().calls == 8


def test_a_question_starts_no_process(made: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "loky", None)
    executor = made.workspace.asking_runtime().executor
    assert isinstance(executor, LocalExecutor)
    monkeypatch.setattr(executor, "patience", 0.0)
    assert [found for _, found in executor.map(str.upper, ["a", "b"], waits=False)] == ["A", "B"]
    assert made.query("What binds these people?", method="graphrag").text


def test_a_stopped_question_raises_and_the_next_is_answered(made: Corpus, server: ScriptedServer) -> None:
    token = StopToken()
    token.stop()
    with pytest.raises(Stopped), begin_activity(token):
        made.query("Who paid Ada Harrow?", method="naive")
    assert made.query("Who paid Ada Harrow?", method="naive").text


def test_the_stages_of_a_question_are_told_as_they_come(made: Corpus) -> None:
    heard = list[tuple[str, str]]()
    with begin_activity(tell=lambda *said: heard.append(said)):
        made.query("Who paid Ada Harrow?", method="naive")
    assert [stage for stage, _ in heard] == ["method", "writing"]
    assert heard[0] == ("method", "naive")
    assert heard[1][1].startswith("from ")


def test_a_build_that_is_stopped_keeps_what_it_paid_for_and_goes_on(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    with finished_corpus(tmp_path / "other", server, stories()) as other:
        whole = other.index().manifest.counts
    token, seen = StopToken(), list[int]()
    made.add(*(replace(d, id=f"again-{d.id}", text=d.text + " Ada Harrow left.") for d in stories()))
    server.reset()

    def progress(step: str, done: int, total: int) -> None:
        if step == "extraction.extract" and done:
            seen.append(done)
            token.stop()

    made.workspace.progress = progress
    with pytest.raises(Stopped), begin_activity(token):
        made.build()
    paid = len(server.done("extraction"))
    assert seen
    assert paid > 0
    made.workspace.progress = lambda *_: None
    made.build()
    chunks = made.index().manifest.counts["chunks"]
    assert chunks > whole["chunks"]
    assert len(server.done("extraction")) <= chunks - whole["chunks"] + 16  # at most what was under way is asked again


def test_a_question_that_waits_for_its_model_ends_before_that_answers_when_it_is_stopped(
    made: Corpus, server: ScriptedServer
) -> None:
    server.script = replace(server.script, latency_s=20.0)
    token, answered = StopToken(), len(server.done())
    threading.Timer(0.3, token.stop).start()
    with pytest.raises(Stopped), begin_activity(token):
        made.query("Who paid Bram Harrow in 1814?", method="naive")
    assert len(server.done()) == answered  # it did not wait until the model had answered
