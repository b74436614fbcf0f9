"""What a model is asked about names, and what is made of its replies (N79)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import Script, ScriptedServer
from sensegraph.engines.llm.group_tasks import read_same_sets, write_names
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.types import Brief, Context, Description, Passage, Source


def said(text: str) -> tuple[Description, ...]:
    return (Description(text, Source("c", 0, len(text))),)


BRIEF = Brief(
    Context(
        (
            Passage("entity", "a", "A company.", title="Apple", quotes=said("Apple sells phones.")),
            Passage(
                "entity", "b", "A maker of phones.", title="Apple Inc.", quotes=said("Apple Inc. is in California.")
            ),
            Passage("entity", "c", "A fruit.", title="apple"),
        )
    ),
    types=("organization", "organization", "food"),
)


def reply(text: str) -> Reply:
    return Reply(text, 1, 1, "stop")


def engine(server: ScriptedServer) -> LLMEngine:
    return LLMEngine(Endpoint(EndpointSettings(base_url=server.base_url, model="scripted", max_retries=0)))


def test_a_model_sees_names_types_descriptions_and_sentences() -> None:
    user, _ = write_names(BRIEF)
    assert "id,entity,type,description" in user
    assert "1,Apple,organization,A company." in user
    assert '2: "Apple Inc. is in California."' in user


@pytest.mark.parametrize(
    ("text", "sets", "removed"),
    [
        ('{"reason": "x", "groups": [[1, 2]]}', (("a", "b"),), 0),
        ('```json\n{"groups": [["2", "1"], [3]]}\n```', (("a", "b"),), 0),
        ('{"groups": [[1, 2, 9], [0]]}', (("a", "b"),), 2),  # numbers that name nothing
        ('{"groups": [[1, 2], [2, 3]]}', (("a", "b"),), 1),  # one entity is one thing
        ('{"groups": [[1, 1, "Apple"]]}', (), 2),
        ('{"groups": []}', (), 0),
    ],
)
def test_sets_of_ids_are_read_and_unknown_numbers_counted(text: str, sets: Any, removed: int) -> None:
    found = read_same_sets(reply(text), write_names(BRIEF)[1])
    assert (found.value, found.removed) == (sets, removed)


@pytest.mark.parametrize("text", ["I cannot tell.", '{"groups": "1 and 2"}', "[]"])
def test_a_reply_without_groups_is_asked_for_again(text: str) -> None:
    assert read_same_sets(reply(text), write_names(BRIEF)[1]).value is None


@given(st.lists(st.lists(st.integers(-2, 6), max_size=5), max_size=4))
def test_whatever_a_model_says_the_sets_do_not_overlap(groups: list[list[int]]) -> None:
    sets = read_same_sets(reply(json.dumps({"groups": groups})), write_names(BRIEF)[1]).value or ()
    assert read_same_sets(reply('{"groups": [[1, 2]]}'), write_names(BRIEF)[1]).value == (("a", "b"),)
    every = [i for found in sets for i in found]
    assert len(every) == len(set(every))
    assert set(every) <= {"a", "b", "c"}
    assert all(len(found) > 1 for found in sets)


def test_one_entity_alone_needs_no_call_and_unknown_ids_are_told() -> None:
    with ScriptedServer(Script(reply=lambda body: '{"reason": "", "groups": [[1, 2, 7]]}')) as server:
        model = engine(server)
        assert model.resolve([Brief(Context(BRIEF.context.passages[:1]))]) == [()]
        assert server.calls == []
        assert model.resolve([BRIEF]) == [(("a", "b"),)]
        assert model.notes() == ("1 unusable parts of replies to resolve",)
