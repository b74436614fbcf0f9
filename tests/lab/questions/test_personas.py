"""Algorithm 1: from a description to questions, never reading the corpus (G30)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harbour import MARKS, TEXTS, papers
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, UnsupportedTask
from sensegraph.lab.questions.proposing import Proposer
from sensegraph.lab.questions.question_making import (
    PersonaSettings,
    Posing,
    foresee_questions,
    make_persona_questions,
    make_question_set,
)
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import corpus, runtime

ABOUT = "Minutes, letters and newspapers of a small harbour town, for people who study its past."
SMALL = PersonaSettings(2, 3, 2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store")
    yield opened
    opened.close()


def varied(**script: Any) -> Script:
    """Replies whose lines are all different: their words are drawn from the request and the line's number."""

    def reply(body: dict[str, Any]) -> str | None:
        if "messages" not in body:
            return None
        asked = body["messages"][1]["content"]
        count = int(asked.partition("Wanted: ")[2].split("\n")[0].split(",")[0])
        words = [hashlib.sha256(f"{asked} {n}".encode()).hexdigest() for n in range(count)]
        return json.dumps({"lines": [" ".join(w[i : i + 6] for i in range(0, 60, 6)) + "?" for w in words]})

    return Script(reply=reply, **script)


def test_every_persona_asks_so_many_questions_at_each_of_its_tasks(store: SqliteStore):
    with ScriptedServer(varied()) as server:
        found = make_persona_questions(ABOUT, Proposer(runtime(store, server)), SMALL)
    assert len(found.questions) == 2 * 3 * 2
    assert len({q.text for q in found.questions}) == 12
    assert len({(q.persona, q.task) for q in found.questions}) == 6
    assert {(q.kind, q.made, q.needs) for q in found.questions} == {("global", "persona", "global")}
    assert (found.dropped, found.missing) == ((), ())


def test_five_of_each_are_125(store: SqliteStore):
    assert (PersonaSettings().personas, PersonaSettings().tasks, PersonaSettings().questions) == (5, 5, 5)
    with ScriptedServer(varied()) as server:
        found = make_persona_questions(ABOUT, Proposer(runtime(store, server)))
    assert len(found.questions) == 125


def test_the_endpoint_receives_no_byte_of_the_corpus(tmp_path: Path):
    with ScriptedServer() as server, corpus(tmp_path / "corpus", server) as made:
        made.add(*papers())
        made.build()
        server.reset()
        server.script = varied(keep_bodies=True)
        found = make_question_set(Posing(ABOUT, SMALL), made.index(), made.runtime())
        sent = [json.dumps(call.body) for call in server.calls]
    assert len(found.questions) == 12
    assert len(sent) >= 1 + 2 + 6
    assert all(ABOUT in body for body in sent if "Collection" in body)
    pieces = [text[i : i + 20] for text in TEXTS.values() for i in range(0, len(text) - 20, 10)]
    for body in sent:
        assert not [mark for mark in MARKS.values() if mark in body]
        assert not [piece for piece in pieces if piece in body]


def test_asking_twice_pays_once(store: SqliteStore):
    with ScriptedServer(varied()) as server:
        first = make_persona_questions(ABOUT, Proposer(runtime(store, server)), SMALL)
        paid = len(server.calls)
        assert make_persona_questions(ABOUT, Proposer(runtime(store, server)), SMALL) == first
        assert len(server.calls) == paid


def scripted(lines: dict[str, list[str]]) -> Script:
    """Replies with these lines, by the name of the form; questions in turn."""
    turns = iter(lines["questions"])

    def reply(body: dict[str, Any]) -> str:
        name = body["response_format"]["json_schema"]["name"]
        found = [next(turns, "What else is there?")] if name == "questions" else lines[name]
        return json.dumps({"lines": found})

    return Script(keep_bodies=True, reply=lambda body: reply(body) if "messages" in body else None)


def test_a_duplicate_is_dropped_counted_and_asked_for_again(store: SqliteStore):
    same = ["How do harbours grow over time?", "How do harbours grow over time", "Who argued about money most of all?"]
    with ScriptedServer(scripted({"personas": ["A"], "tasks": ["T1", "T2"], "questions": same})) as server:
        rt = runtime(store, server, concurrency=1)
        found = make_persona_questions(ABOUT, Proposer(rt), PersonaSettings(1, 2, 1))
        wishes = [c.body["messages"][1]["content"] for c in server.calls if "messages" in c.body]
    assert sorted(q.text for q in found.questions) == sorted([same[2], found.questions[0].text])
    assert found.dropped == (("a duplicate", 1),)
    assert "Known:\n- How do harbours grow over time" in wishes[-1]


def test_what_stays_missing_after_all_rounds_is_counted(store: SqliteStore):
    same = ["How do harbours grow over time?"] * 9
    with ScriptedServer(scripted({"personas": ["A"], "tasks": ["T1", "T2"], "questions": same})) as server:
        found = make_persona_questions(ABOUT, Proposer(runtime(store, server)), PersonaSettings(1, 2, 1, rounds=2))
    assert len(found.questions) == 1
    assert found.missing == (("global", 1),)


def test_personas_that_come_short_are_asked_for_again(store: SqliteStore):
    turns = iter([["A", "a"], ["B"]])

    def reply(body: dict[str, Any]) -> str | None:
        name = body.get("response_format", {}).get("json_schema", {}).get("name")
        lines = {"personas": lambda: next(turns), "tasks": lambda: ["T"], "questions": lambda: [f"Why {len(seen)}?"]}
        seen.append(name)
        return json.dumps({"lines": lines[name]()}) if name else None

    seen: list[str] = []
    with ScriptedServer(Script(reply=reply)) as server:
        found = make_persona_questions(
            ABOUT, Proposer(runtime(store, server, concurrency=1)), PersonaSettings(2, 1, 1, near=1)
        )
    assert {q.persona for q in found.questions} == {"A", "B"}
    assert seen.count("personas") == 2


def test_the_estimate_names_the_calls_that_are_then_made(store: SqliteStore):
    with ScriptedServer(varied()) as server:
        rt = runtime(store, server)
        steps = {s.step: s for s in foresee_questions(Posing(ABOUT, SMALL), None, rt)}
        assert server.calls == []
        make_question_set(Posing(ABOUT, SMALL), None, rt)
        asked = [c for c in server.calls if c.task != "embedding"]
        assert steps["proposing.propose"].calls == len(asked) == 1 + 2 + 6
        assert steps["proposing.propose"].prompt_tokens > 1000
        assert foresee_questions(Posing(ABOUT, SMALL), None, rt) == ()


def test_an_engine_without_a_model_cannot_invent_personas(store: SqliteStore, tmp_path: Path):
    offline = Corpus.open(tmp_path / "offline", settings={"engine": "offline"})
    with offline as made, pytest.raises(UnsupportedTask, match=r"by personas .* it needs a model"):
        make_question_set(Posing(ABOUT), None, made.runtime())


def test_a_description_and_sensible_numbers_are_needed(store: SqliteStore):
    with pytest.raises(InputError, match="Describe the corpus"):
        Posing("  ")
    with ScriptedServer() as server, pytest.raises(InputError, match="Describe the corpus in a sentence"):
        make_persona_questions("\n", Proposer(runtime(store, server)))
    with pytest.raises(InputError, match="at least one persona"):
        PersonaSettings(personas=0)
    with pytest.raises(InputError, match="above 0 and at most 1"):
        PersonaSettings(near=0)
