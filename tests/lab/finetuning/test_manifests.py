"""What a training is of, before any library of training is needed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from finetuning_towns import NO_PAD, asked, example, pool
from sensegraph.engines.llm.trained_prompt import MANIFEST
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.data import example_files
from sensegraph.lab.finetuning.data.example_types import format_example_line
from sensegraph.lab.finetuning.data.examples import make_example
from sensegraph.lab.finetuning.training import serving, training_recipes
from sensegraph.lab.finetuning.training.training_recipes import Recipe
from sensegraph.lab.finetuning.training.training_run import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    data = tmp_path / "data.jsonl"
    data.write_text(
        format_example_line(example(make_example(asked(5), pool(), NO_PAD)), "completion"), encoding="utf-8"
    )
    return Job(data, "owner/model", tmp_path / "out", held_out=data)


def test_a_manifest_holds_hashes_versions_the_recipe_and_the_prompt(job: Job):
    found = training_recipes.make_manifest(job, Recipe(seed=7))
    assert found.data == found.held_out == example_files.hash_file(job.data)
    assert found.recipe["seed"] == 7
    assert found.prompt == example_files.completion_layout().template
    assert set(found.versions) == set(training_recipes.LIBRARIES)


def test_a_change_of_the_data_changes_the_manifest(job: Job):
    before = training_recipes.make_manifest(job, Recipe())
    job.data.write_text(job.data.read_text("utf-8").replace("?", "??", 1), encoding="utf-8")
    assert training_recipes.make_manifest(job, Recipe()).data != before.data


def test_data_with_another_prompt_needs_its_template(job: Job, tmp_path: Path):
    job.data.write_text(json.dumps({"prompt": "Q: who\nC: a text", "completion": "b"}))
    assert training_recipes.make_manifest(job, Recipe()).prompt == ""
    template = tmp_path / "prompt.md"
    template.write_text("Q: {{question}}\nC: {{passages}}")
    assert (
        training_recipes.make_manifest(replace(job, prompt=template), Recipe()).prompt
        == "Q: {{question}}\nC: {{passages}}"
    )
    template.write_text("Q: {{question}}")
    with pytest.raises(InputError, match="once each"):
        training_recipes.make_manifest(replace(job, prompt=template), Recipe())


def test_a_folder_belongs_to_one_training(job: Job):
    about = training_recipes.make_manifest(job, Recipe())
    training_recipes.claim_folder(job.out, about)
    training_recipes.claim_folder(job.out, about)
    assert json.loads((job.out / MANIFEST).read_text("utf-8"))["finished"] is False
    with pytest.raises(SettingsError, match=r"another training \(model, recipe differ\)"):
        training_recipes.claim_folder(
            job.out, training_recipes.make_manifest(replace(job, model="another/model"), Recipe(seed=1))
        )


def test_a_folder_with_something_else_in_it_is_left_alone(job: Job):
    job.out.mkdir()
    (job.out / "letter.txt").write_text("mine")
    with pytest.raises(SettingsError, match="is not empty and holds no training"):
        training_recipes.claim_folder(job.out, training_recipes.make_manifest(job, Recipe()))


def test_the_ways_to_serve_a_model_name_its_folder():
    said = serving.list_serving_commands(Path("my models/tuned"))
    assert "sensegraph tune serve 'my models/tuned'" in said
    assert "vllm serve 'my models/tuned'" in said
    assert 'model = "my models/tuned"' in said
