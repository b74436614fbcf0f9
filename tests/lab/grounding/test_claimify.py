"""Claims by a model in three stages, and by rules without one (G44)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import UnsupportedTask
from sensegraph.lab.grounding.claims import ClaimSettings, Window, find_claims
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

ANSWER = "Ada Quay built the mill in 1801, and Bram Quay sold it. It was red [1]. Why is that? Mills are useful."
ASKED = [("Who built the mill?", ANSWER)]


def stages(server: ScriptedServer) -> list[str]:
    return [c.task for c in server.calls]


def test_sentences_are_selected_disambiguated_and_parted(server: ScriptedServer, store: SqliteStore) -> None:
    (found,) = find_claims(ASKED, ClaimSettings(), runtime(store, server))
    assert found.claims == ("Ada Quay built the mill in 1801.", "Bram Quay sold it.")
    assert found.by == "claims by scripted"
    assert (found.sentences, dict(found.dropped)) == (4, {"select": 3, "disambiguate": 0, "decompose": 0})


def test_a_completion_is_only_asked_for_while_it_can_decide(server: ScriptedServer, store: SqliteStore) -> None:
    find_claims(ASKED, ClaimSettings(), runtime(store, server))
    # two of three agree on each of 4 sentences, then on 1, which is parted once
    assert len(server.done()) == 2 * 4 + 2 + 1


def test_what_was_asked_is_never_asked_again(server: ScriptedServer, store: SqliteStore) -> None:
    rt = runtime(store, server)
    first = find_claims(ASKED, ClaimSettings(), rt)
    calls = len(server.calls)
    assert find_claims(ASKED, ClaimSettings(), rt) == first
    assert len(server.calls) == calls


def test_a_claim_that_is_made_twice_counts_once(server: ScriptedServer, store: SqliteStore) -> None:
    twice = "Ada Quay built the mill. Bram Quay sold it; Ada Quay built the mill!"
    (found,) = find_claims([("?", twice)], ClaimSettings(), runtime(store, server))
    assert (len(found.claims), found.repeated) == (2, 1)


def test_the_windows_are_what_the_model_sees(store: SqliteStore) -> None:
    text = " ".join(f"Town {i} is large." for i in range(9))
    script = Script(keep_bodies=True)
    with ScriptedServer(script) as server:
        how = ClaimSettings(select=Window(2, 1, 1, 1, 0.2), disambiguate=Window(1, 0, 1, 1, 0.2))
        find_claims([("?", text)], how, runtime(store, server))
        shown = [c.body["messages"][1]["content"] for c in server.done() if "Town 4" in _sentence(c.body)]
    assert len(shown) == 3
    assert [f"Town {i}" for i in range(9) if f"Town {i}" in shown[0]] == ["Town 2", "Town 3", "Town 4", "Town 5"]
    assert [f"Town {i}" for i in range(9) if f"Town {i}" in shown[1]] == ["Town 3", "Town 4"]


def _sentence(body: dict[str, Any]) -> str:
    return next(line for line in body["messages"][1]["content"].splitlines() if line.startswith("Sentence: "))


@pytest.mark.parametrize(("good", "kept"), [(1, 0), (2, 1), (3, 1)])
def test_too_few_completions_drop_a_sentence(good: int, kept: int, store: SqliteStore) -> None:
    given = iter([True] * good + [False] * 9)

    def reply(body: dict[str, Any]) -> str:
        if "statements" in json.dumps(body.get("response_format", {})):
            return json.dumps({"statements": ["Oslo is large."]})
        whole = next(given) if "Oslo is large" in _sentence(body) and _selecting(body) else True
        return json.dumps({"reason": "", "sentence": "Oslo is large." if whole else ""})

    with ScriptedServer(Script(reply=reply)) as server:
        rt = runtime(store, server, concurrency=1)
        (found,) = find_claims([("?", "Oslo is large.")], ClaimSettings(), rt)
    assert (len(found.claims), dict(found.dropped)["select"]) == (kept, 1 - kept)


def _selecting(body: dict[str, Any]) -> bool:
    return "Sentences after" in body["messages"][1]["content"] or body["response_format"]["json_schema"][
        "name"
    ].endswith("select")


def test_without_a_model_rules_find_them_and_say_so(store: SqliteStore) -> None:
    rt = replace(runtime(store), engine=ClassicalEngine())
    (found,) = find_claims(ASKED, ClaimSettings(), rt)
    assert found.by == "heuristic claims"
    assert "Ada Quay built the mill in 1801" in found.claims
    with pytest.raises(UnsupportedTask, match="claim"):
        find_claims(ASKED, ClaimSettings(by="model"), rt)


def test_rules_can_be_asked_for_where_there_is_a_model(store: SqliteStore) -> None:
    assert (
        find_claims(ASKED, ClaimSettings(by="rules"), runtime(store))[0].by == "heuristic claims"
    )  # no server: no call
