"""A model that sees is told in how many words and in which language it describes a figure, and its replies are read."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sensegraph.documents.images import Figure
from sensegraph.engines.llm.figure_task import FigureDescriber, read_description
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

CUT = "it was cut off after 9 tokens; write less, the most important first"


def describer(settings: LLMSettings, **more: Any) -> FigureDescriber:
    endpoint = SimpleNamespace(settings=EndpointSettings(model="m", **more))
    return FigureDescriber(cast(Endpoint, endpoint), settings)


@pytest.mark.parametrize(
    ("tokens", "language", "words", "said"),
    [
        (500, "", "100 words", "Write in the language of its words, or else in English."),
        (1000, "French", "200 words", "Write in French."),
    ],
)
def test_a_figure_is_described_in_a_fifth_of_the_tokens_in_words(
    tokens: int, language: str, words: str, said: str
) -> None:
    plan = describer(LLMSettings(describe_tokens=tokens, language=language))._plan
    assert words in plan.system
    assert said in plan.system
    assert plan.max_tokens == tokens


def test_prompt_and_image_are_what_a_description_takes_to_ask_for() -> None:
    made, figure = describer(LLMSettings()), Figure(1, None, "", b"x", "png", 512, 512)
    assert made.count_tokens(figure) == made._plan.overhead + 255


def test_who_thinks_otherwise_describes_otherwise() -> None:
    settings = LLMSettings()
    prints = {
        describer(settings).fingerprint("describe"),
        describer(settings, thoughts="low").fingerprint("describe"),
        describer(settings, extra_body={"top_k": 1}).fingerprint("describe"),
        describer(settings, seed=3).fingerprint("describe"),
    }
    assert len(prints) == 4
    assert describer(settings, thoughts="auto").fingerprint("describe") in prints


@pytest.mark.parametrize(
    ("said", "cut", "value", "problem"),
    [
        ({"kind": "decoration", "description": "x"}, False, "", ""),
        ({"kind": "line chart", "description": " It  rises. ", "data": ["2019: 3", " ", 5], "words": "Oil"}, False,
         "Line chart.\nIt rises.\n2019: 3\nWords in it: Oil", ""),
        ({"kind": "", "description": "", "data": ["a"]}, False, "a", ""),
        ({"kind": "map", "description": ""}, False, None, "it describes nothing"),
        ({"description": "It is."}, True, "It is.", CUT),
        ("plain words", False, None, "it is no JSON object"),
    ],
)  # fmt: skip
def test_a_description_is_its_kind_what_it_shows_and_its_words(
    said: Any, cut: bool, value: str | None, problem: str
) -> None:
    text = said if isinstance(said, str) else json.dumps(said)
    found = read_description(Reply(text, 1, 9, "length" if cut else "stop"))
    assert (found.value, found.problem, found.doubtful) == (value, problem, cut)
