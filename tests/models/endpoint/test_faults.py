"""Faults at the wire: the build completes, or ends with one clear error after storing everything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in, talk_in
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import BudgetExceeded, EndpointDown, StepFailed
from wired import content, corpus, settings, stories


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The index as it is when nothing goes wrong."""
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("calm"), server) as made:
        made.add(stories())
        made.build()
        return content(made)


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Corpus:
    opened = corpus(tmp_path, server, endpoint={"timeout_s": 1.5, "max_retries": 6}, index={"most_failed": 0.0})
    opened.add(stories())
    return opened


FAULTS = {
    "too many requests": Script(fail_rate=0.3, fail_status=429, retry_after="0.01"),
    "a date to retry at": Script(fail_rate=0.2, fail_status=503, retry_after="date:0"),
    "errors of the server": Script(fail_rate=0.3, fail_status=500, retry_after="0.01"),
    "dropped connections": Script(drop_rate=0.15, times=2),
    "bodies that are no JSON": Script(garbled_rate=0.15, times=2),
    "a hanging call": Script(hang_rate=0.05, times=1, seed=1),
    "malformed replies": Script(malformed_rate=0.2, times=1),
    "fenced replies": Script(style="fenced"),
    "quotes that are not JSON's": Script(style="single"),
    "no schemas": Script(schemas="none"),
}


SLOW = ("dropped connections", "bodies that are no JSON", "a hanging call")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in FAULTS])
def test_the_build_completes_and_the_index_is_the_same(
    made: Corpus, server: ScriptedServer, calm: dict[str, Any], name: str
) -> None:
    server.script = FAULTS[name]
    built = made.build()
    assert content(made) == calm
    harm = sum(n for kind, n in server.faults.items() if kind != "malformed")
    assert built.usage.retries == harm
    assert bool(server.faults) == any(
        getattr(FAULTS[name], f"{kind}_rate") for kind in ("fail", "drop", "garbled", "hang", "malformed")
    )
    assert built.usage.calls + built.usage.embedding_calls == len(server.done()) - server.faults["garbled"]


def _first_only(mark: str, said: str | tuple[str, str]) -> Callable[[dict[str, Any]], Any]:
    """A script that says this to the first asking of prompts that hold `mark`, and the usual when asked again."""

    def reply(body: dict[str, Any]) -> str | tuple[str, str] | None:
        messages = talk_in(body)
        return said if len(messages) == 2 and mark in messages[1]["content"] else None

    return reply


CUT = (
    '{"entities": [{"name": "Ada"}, {"name": "Bo"}], "relations": [{"source": "Ada", "target": "Bo"}, {"so',
    "length",
)


def test_replies_that_are_cut_off_are_asked_for_again(
    made: Corpus, server: ScriptedServer, calm: dict[str, Any]
) -> None:
    server.script = Script(reply=_first_only("Text:", CUT))
    made.build()
    assert len(server.done("extraction")) == 2 * 12
    assert content(made) == calm


def test_what_stays_cut_off_is_kept_and_told(made: Corpus, server: ScriptedServer) -> None:
    server.script = Script(reply=lambda body: CUT if "Text:" in asked_in(body) else None)
    notes = made.build().notes
    assert any("12 × a reply cut off at its limit" in note for note in notes)


def test_a_refusal_in_words_is_no_summary(tmp_path: Path, server: ScriptedServer) -> None:
    index = settings(server)["index"] | {"graph": {"describe_above": 20}}
    with corpus(tmp_path / "calm", server, index=index) as one, corpus(tmp_path / "made", server, index=index) as other:
        for made in (one, other):
            made.add(stories())
        one.build()
        server.reset()
        server.script = Script(reply=_first_only("Descriptions:", "I am afraid that I cannot do that."))
        other.build()
        assert server.done("summary")
        assert content(one) == content(other)


def test_an_item_that_cannot_be_done_is_one_error_after_all_others_are_stored(
    made: Corpus, server: ScriptedServer, calm: dict[str, Any]
) -> None:
    server.script = Script(malformed_rate=1.0, only="Text:\\nJoss")
    with pytest.raises(
        StepFailed, match=r"extraction\.extract: \d+ of 12 items failed .*run the same command"
    ) as caught:
        made.build()
    done = made.store.ledger()["extraction.extract"].calls - 2 * caught.value.failed
    assert done == 12 - caught.value.failed > 0
    server.script = Script()
    server.reset()
    made.build()
    assert len(server.done("extraction")) == caught.value.failed
    assert content(made) == calm


def test_a_server_that_always_fails_is_one_error_that_names_it(made: Corpus, server: ScriptedServer) -> None:
    server.script = Script(fail_rate=1.0, fail_status=500, retry_after="0.001", fail_message="out of order")
    with pytest.raises(StepFailed, match="failed 7 times, last with HTTP 500: out of order") as caught:
        made.build()
    assert caught.value.failed == 12
    assert made.store.ledger()["extraction.extract"].retries == 12 * 6


def test_a_server_that_asks_for_an_hour_ends_the_run_and_says_so(made: Corpus, server: ScriptedServer) -> None:
    server.script = Script(fail_rate=1.0, retry_after="3600")
    with pytest.raises(EndpointDown, match="asks to wait 3600 s"):
        made.build()
    assert len(server.calls) <= 13  # each chunk once, and one batch to embed


@pytest.mark.slow
def test_a_server_that_stops_in_the_middle_is_one_error_and_what_it_said_is_kept(
    tmp_path: Path, calm: dict[str, Any]
) -> None:
    server = ScriptedServer(Script(latency_s=0.01)).__enter__()

    def stop(step: str, done: int, total: int) -> None:
        if (step, done) == ("extraction.extract", 4):
            server.__exit__()

    endpoint = {"timeout_s": 0.5, "max_retries": 1, "concurrency": 2}
    with corpus(tmp_path, server, endpoint=endpoint) as made:
        made.add(stories())
        made.workspace.progress = stop
        with pytest.raises(EndpointDown, match="Cannot reach"):
            made.build()
        kept = made.store.ledger()["extraction.extract"].calls
    assert 4 <= kept < 12
    with ScriptedServer() as another, corpus(tmp_path, another) as again:
        again.build()
        assert len(another.done("extraction")) == 12 - kept
        assert content(again) == calm


def test_a_budget_is_never_exceeded_and_the_next_run_goes_on(
    made: Corpus, server: ScriptedServer, calm: dict[str, Any]
) -> None:
    endpoint = {"max_tokens_total": 26_000, "concurrency": 4}
    spent, runs = 0, 0
    said: list[str] = []
    while True:
        runs += 1
        with corpus(made.root, server, endpoint=endpoint) as limited:
            try:
                limited.build()
                break
            except BudgetExceeded as e:
                said.append(str(e))
            finally:
                ledger = limited.store.ledger().values()
                now = sum(u.prompt_tokens + u.completion_tokens + u.embedding_tokens for u in ledger)
                assert now - spent <= 26_000
                spent = now
    assert runs - 1 == sum("endpoint.max_tokens_total" in text for text in said) > 0
    assert server.stats()["repeated"] == 0
    assert content(made) == calm


def test_unusable_records_are_rejected_and_counted(made: Corpus, server: ScriptedServer) -> None:
    spoilt = '{"entities": [{"name": "Ada"}, {"name": "Bo"}, {"name": ""}], "relations": []}'

    def reply(body: dict[str, Any]) -> str | None:
        return spoilt if "Text:" in asked_in(body) else None

    server.script = Script(reply=reply)
    built = made.build()
    assert any(note.startswith("12 records of extraction could not be used: 12 × ") for note in built.notes)
    server.reset()
    assert [n for n in built.notes if "records of extraction" in n] == list(made.build().notes)
    assert server.calls == []


def test_replies_that_were_asked_for_again_are_counted(made: Corpus, server: ScriptedServer) -> None:
    server.script = Script(malformed_rate=0.2, times=1)
    assert made.build().usage.rejected == server.faults["malformed"] > 0
    assert made.status().ledger["extraction.extract"].rejected > 0


def test_references_that_name_nothing_are_removed_and_counted(made: Corpus, server: ScriptedServer) -> None:
    report = (
        '{"title": "T", "summary": "All is so [Data: Entities (999)].", "rating": 5, "rating_explanation": "", '
        '"findings": [{"summary": "s", "explanation": "It is [Data: Entities (1)]."}]}'
    )

    def reply(body: dict[str, Any]) -> str | None:
        return report if "Community:" in asked_in(body) else None

    server.script = Script(reply=reply)
    built = made.build()
    assert built.usage.rejected > 0
    assert any("references in reports" in n for n in built.notes)
    index = made.index()
    known = {e.id for e in index.graph.entities} | {r.id for r in index.graph.relations}
    known |= {c.id for c in index.hierarchy.clusters}
    assert {n for c in index.hierarchy.clusters for s in c.summary for n in s.references} <= known


@pytest.mark.slow
def test_d10_a_call_that_waits_does_not_hold_back_the_others(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sensegraph.models.endpoint.calls._FIRST_S", 0.0)  # the first call may be the one that waits
    server.script = Script(hang_rate=1.0, times=1, only="Text:\\nJoss")
    with corpus(tmp_path, server, endpoint={"timeout_s": 1.0}) as made:
        made.add(stories())
        made.build()
    hung = server.faults["hang"]
    begun = server.calls[0].finished
    meanwhile = [c for c in server.done("extraction") if c.finished < begun + 0.8]
    assert hung > 0
    assert len(meanwhile) == 12 - hung
