"""A model of this machine as an engine: what can be said of it without its libraries."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.corpus.settings import Settings, load_settings
from sensegraph.corpus.tables import ExecutorTable
from sensegraph.corpus.tools import make_tools
from sensegraph.engines.llm.trained_prompt import Layout, format_passage, rests_on
from sensegraph.engines.local import local_model
from sensegraph.engines.local.local_engine import HeldModel, LocalCalls, LocalEndpoint, PooledCalls
from sensegraph.engines.local.local_model import (
    Continued,
    LocalModel,
    LocalSettings,
    read_base_model,
    render_talk,
    require_extra,
)
from sensegraph.errors import SettingsError
from sensegraph.models.endpoint.calls import Streaming
from sensegraph.models.endpoint.outcomes import Refusal
from sensegraph.types import Passage


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local_model, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"needs torch, transformers, peft: pip install 'sensegraph\[finetune\]'"):
        LocalModel(LocalSettings("somewhere"))
    with pytest.raises(SettingsError, match="4-bit quantisation needs bitsandbytes"):
        require_extra("4-bit quantisation", ("bitsandbytes",))


def test_the_engine_local_needs_the_name_of_a_model():
    with pytest.raises(SettingsError, match=r"engine = local needs local\.model"):
        make_tools(Settings(engine="local"))


class Pool:
    """Stands in for copies of a model elsewhere."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def call(self, request: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        self.asked.append(request)
        message = {"role": "assistant", "content": "It is Ada."}
        return {"choices": [{"index": 0, "message": message, "text": "It is Ada.", "finish_reason": "stop"}]}


def test_the_copies_of_a_pool_answer_in_place_of_the_model_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "find_spec", lambda name: True)  # the libraries are those of other machines
    pool, heard = Pool(), list[str]()
    calls = LocalEndpoint(LocalSettings("somewhere"), pool=pool).calls
    body = {"messages": [{"role": "user", "content": "Who?"}]}
    reply = calls.post("/chat/completions", body, streaming=Streaming({}, heard.append))
    assert reply["choices"][0]["message"]["content"] == "It is Ada."
    assert pool.asked == [("/chat/completions", body)]
    assert heard == ["It is Ada."]


def test_a_held_model_answers_as_an_endpoint_does_and_refuses_what_it_does_not_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_model, "find_spec", lambda name: True)
    monkeypatch.setattr(LocalModel, "continued", lambda model, prompt, *how: Continued(prompt.upper(), 3, 4, "stop"))
    held = HeldModel(LocalSettings("somewhere"))
    reply = held(("/completions", {"prompt": "who?"}))
    assert (reply["choices"][0]["text"], reply["usage"]["total_tokens"]) == ("WHO?", 7)
    with pytest.raises(Refusal, match="does not serve /embeddings") as caught:
        held(("/embeddings", {}))
    assert pickle.loads(pickle.dumps(caught.value)).outcome == caught.value.outcome


def test_a_model_of_this_machine_continues_as_far_as_it_is_asked_and_without_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[tuple[object, ...]]()

    def continued(model: LocalModel, prompt: str, *how: object) -> Continued:
        asked.append(how)
        return Continued(prompt, 3, 4, "stop")

    monkeypatch.setattr(local_model, "find_spec", lambda name: True)
    monkeypatch.setattr(LocalModel, "continued", continued)
    endpoint = LocalEndpoint(LocalSettings("somewhere"))
    heard = list[str]()
    for given in ({}, {"max_tokens": 9, "seed": 5}, {"max_completion_tokens": 8, "temperature": 0.5}):
        made = endpoint.calls.post("/completions", {"prompt": "Who?"} | given, streaming=Streaming({}, heard.append))
    assert asked == [(256, None, None), (9, None, 5), (8, 0.5, None)]
    assert made["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert (made["choices"][0]["index"], heard) == (0, ["Who?"] * 3)
    assert (endpoint.settings.temperature, endpoint.settings.seed) == (0.0, None)
    again = pickle.loads(pickle.dumps(LocalEndpoint(LocalSettings("somewhere"), 0.5, 7)))
    assert (again.settings.temperature, again.settings.seed, again.local.model) == (0.5, 7, "somewhere")
    with pytest.raises(Refusal, match="response_format is not understood"):
        endpoint.calls.post("/completions", {"prompt": "Who?", "response_format": {"type": "json_object"}})


def test_a_cluster_that_is_named_holds_the_model_of_the_engine_local(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason='ray is not installed: pip install "sensegraph[distributed]"')
    monkeypatch.setattr(local_model, "find_spec", lambda name: True)
    here = Settings(engine="local", local=LocalSettings("somewhere"), executor=ExecutorTable("ray"))
    named = replace(here, executor=ExecutorTable("ray", "auto"))
    kinds = [type(cast(Any, make_tools(given)[0]).endpoint.calls) for given in (here, named)]
    assert kinds == [LocalCalls, PooledCalls]


def test_a_folder_is_meant_from_the_corpus_and_a_name_stays_one(tmp_path: Path):
    (tmp_path / "tuned").mkdir()
    found = load_settings(tmp_path, {"local": {"model": "tuned"}})
    assert found.local.model == str(tmp_path / "tuned")
    assert load_settings(tmp_path, {"local": {"model": "owner/model"}}).local.model == "owner/model"


def test_a_talk_without_a_template_ends_where_the_answer_begins():
    talk = [{"role": "system", "content": "Read.\n"}, {"role": "user", "content": "Who?"}]
    assert render_talk(talk, None) == "Read.\n\nWho?\n\nAnswer:"


def test_a_layout_shows_texts_as_they_are_whatever_they_hold():
    layout = Layout("{{passages}} | {{question}}")
    assert layout.prompt("a {{passages}}?", ["{{question}}", "\\1"]) == "{{question}}\n\n\\1 | a {{passages}}?"
    assert format_passage("Title", "text") == "Title\ntext"
    assert format_passage("", "text") == "text"


def test_an_answer_rests_on_the_passages_that_hold_its_words():
    passage = Passage("chunk", "1", "Faran  governs Bogul.", title="Bogul")
    assert rests_on("faran", passage)
    assert rests_on("Faran governs Bogul.", passage)
    assert not rests_on("Gogrix", passage)
    assert not rests_on(" . ", passage)


def test_an_adapter_says_its_base_and_a_whole_model_none(tmp_path: Path):
    assert read_base_model(tmp_path) == ""
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "a/base"}))
    assert read_base_model(tmp_path) == "a/base"


@pytest.mark.skipif(find_spec("peft") is not None, reason="the extra finetune is installed")
@pytest.mark.parametrize(
    "words",
    [
        ("train", "data.jsonl", "--model", "base", "--out", "out"),
        ("merge", "tuned", "--out", "out"),
        ("serve", "tuned"),
        ("world", "--out", "out"),
        ("evaluate", "data.jsonl", "--model", "base"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_says_at_once_what_to_install(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    line = {"id": "1", "question": "q", "answer": "a", "passages": []}
    Path("data.jsonl").write_text(json.dumps(line) + "\n")
    result = CliRunner().invoke(app, ["tune", *words])
    assert result.exit_code == 1
    assert "pip install 'sensegraph[finetune]'" in result.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.jsonl"]
