"""The prompt of a training travels with the model: any endpoint can be told to ask answers with it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.engines.llm.llm import LLMEngine, LLMSettings
from sensegraph.engines.llm.trained_prompt import MANIFEST, Layout, read_layout
from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.training.serving import serve_endpoint
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.types import Context, Inquiry, Passage

TEMPLATE = "{{passages}}\n\nAsked: {{question}}\nAnswer:"
PASSAGES = (
    Passage("chunk", "c1", "Ada Finch keeps the lamp.", title="Skerry"),
    Passage("chunk", "c2", "Barley is sold at noon."),
)
LEARNT = "Skerry\nAda Finch keeps the lamp.\n\nBarley is sold at noon.\n\nAsked: Who keeps the lamp?\nAnswer:"
INQUIRY = Inquiry("Who keeps the lamp?", Context(PASSAGES, "x"))


class Recites:
    """A model that says what comes after the words of its training, and nothing of sense after others."""

    name = "recites"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def prompt_of(self, messages: Any) -> str:
        return " ".join(m["content"] for m in messages)

    def continued(self, prompt: str, most: int, temperature: Any, seed: Any) -> Any:
        self.prompts.append(prompt)
        said = " Ada Finch" if prompt == LEARNT else "salt salt salt"
        return SimpleNamespace(text=said, prompt_tokens=2 * len(prompt.split()), tokens=2, finish="stop")


def engine(address: str, **settings: Any) -> LLMEngine:
    return LLMEngine(Endpoint(EndpointSettings(address, model="recites", max_retries=0)), LLMSettings(**settings))


def manifest(folder: Path, prompt: str = TEMPLATE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / MANIFEST).write_text(json.dumps({"prompt": prompt}), encoding="utf-8")
    return folder


@pytest.mark.parametrize("given", ["folder", "manifest", "template"])
def test_a_tuned_model_behind_an_endpoint_is_asked_as_it_was_trained(tmp_path: Path, given: str) -> None:
    folder = manifest(tmp_path / "tuned")
    (tmp_path / "own.md").write_text(TEMPLATE, encoding="utf-8")
    path = {"folder": folder, "manifest": folder / MANIFEST, "template": tmp_path / "own.md"}[given]
    model: Any = Recites()
    with serve_endpoint(model) as address:
        made = engine(address, trained_prompt=str(path))
        (draft,) = made.answer([INQUIRY])
        told: list[str] = []
        streamed = made.stream(INQUIRY, lambda statement: told.append(statement.text))
    (statement,) = draft.statements
    assert (statement.text, statement.references) == ("Ada Finch", ("c1",))
    assert streamed == draft
    assert told == ["Ada Finch"]
    assert (made.usage().calls, made.usage().prompt_tokens, made.usage().completion_tokens) == (2, 68, 4)


def test_without_the_prompt_of_its_training_the_same_model_is_asked_for_cited_records() -> None:
    model: Any = Recites()
    with serve_endpoint(model) as address:
        (draft,) = engine(address).answer([INQUIRY])
    assert draft.statements[0].text.startswith("salt")
    assert not any("Asked: " in prompt for prompt in model.prompts)


def test_the_prompt_of_a_training_is_part_of_what_an_answer_is_kept_under_and_of_nothing_else(tmp_path: Path) -> None:
    one, other, none = (
        engine("http://localhost:9/v1", **given)
        for given in (
            {"trained_prompt": str(manifest(tmp_path / "a"))},
            {"trained_prompt": str(manifest(tmp_path / "b", TEMPLATE + " ?"))},
            {},
        )
    )
    assert len({e.fingerprint("answer") for e in (one, other, none)}) == 3
    assert len({e.fingerprint("rate") for e in (one, other, none)}) == 1


@pytest.mark.parametrize(
    ("prompt", "said"),
    [("{{question}} alone", "needs {{question}} and {{passages}}"), ("", "needs {{question}} and {{passages}}")],
)
def test_a_prompt_without_both_places_is_refused(tmp_path: Path, prompt: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_layout(manifest(tmp_path / "tuned", prompt))
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["no json", "[1]"])
def test_what_is_no_manifest_is_refused_with_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"sensegraph-tuning\.json cannot be read"):
        read_layout(tmp_path)
    with pytest.raises(SettingsError, match="nowhere cannot be read"):
        read_layout(tmp_path / "nowhere")


def test_what_stands_in_a_passage_is_never_taken_for_a_place() -> None:
    assert Layout(TEMPLATE).prompt("{{passages}}", ["{{question}}"]) == "{{question}}\n\nAsked: {{passages}}\nAnswer:"
