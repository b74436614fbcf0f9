"""Training on a CPU: what is learnt, resuming after a kill, adapters, 4 bits, merging, and every error (R11, R12)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sensegraph.engines.llm.trained_prompt import MANIFEST
from sensegraph.engines.local.local_model import LocalModel, LocalSettings, load_local_model
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.data.example_files import Pair
from sensegraph.lab.finetuning.training import serving, training_recipes, training_run
from sensegraph.lab.finetuning.training.training_recipes import Recipe
from sensegraph.lab.finetuning.training.training_run import Job, run_training
from sensegraph.lab.finetuning.training.world import Files, Sizes, write_tiny_model
from tuned_here import TRAINS, small_world

pytestmark = [*TRAINS, pytest.mark.slow]
SHORT = replace(
    training_recipes.find_recipe("full"), batch=20, accumulation=1, checkpoint_every=4, evaluate_every=5, device="cpu"
)
LORA = replace(SHORT, adapter="lora", rank=4, alpha=8, dropout=0.1, learning_rate=1e-2)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return small_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def phi(tmp_path_factory: pytest.TempPathFactory, here: Files) -> Path:
    """A tiny model of the paper's family."""
    words = json.loads((here.base / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return write_tiny_model(tmp_path_factory.mktemp("phi") / "base", list(words), Sizes("phi"))


def job(here: Files, out: Path, model: Path | None = None) -> Job:
    return Job(here.train, str(model or here.base), out, here.held_out, here.prompt)


def weights(folder: Path) -> dict[str, Any]:
    _, model = load_local_model(str(folder))
    return {name: p.detach() for name, p in model.named_parameters()}


def same(one: Path, other: Path) -> bool:
    import torch

    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_only_the_answer_is_learnt_and_nothing_of_the_prompt(here: Files):
    """R04; the mask of the labels."""
    tokenizer, _ = load_local_model(str(here.base))
    pair = Pair(*json.loads(here.train.read_text("utf-8").splitlines()[0]).values())
    found = training_run.encode_pair(pair, tokenizer)
    assert tokenizer.decode(found.ids[found.start :]).split() == [pair.target.strip(), tokenizer.eos_token]
    labels = training_run.make_tensors([found], 0, "cpu")["labels"][0].tolist()
    assert labels[: found.start] == [training_run.IGNORED] * found.start
    assert labels[found.start :] == list(found.ids[found.start :])
    assert training_run.encode_pair(pair, tokenizer, "all").start == 1


def test_what_stands_in_the_prompt_changes_the_loss_only_where_all_is_learnt(here: Files):
    tokenizer, _ = load_local_model(str(here.base))
    short, long = Pair("who", " feeds"), Pair("who who who", " feeds")
    assert training_run.encode_pair(short, tokenizer).learnt == training_run.encode_pair(long, tokenizer).learnt
    assert (
        training_run.encode_pair(short, tokenizer, "all").learnt
        < training_run.encode_pair(long, tokenizer, "all").learnt
    )


def test_the_loss_falls_and_all_that_a_training_is_of_is_written_down(here: Files, tmp_path: Path):
    heard = []
    done = run_training(job(here, tmp_path / "out"), replace(SHORT, epochs=3.0), lambda p, n: heard.append((p.step, n)))
    assert heard == [(n, 30) for n in range(1, 31)]
    assert done.points[-1].loss < done.points[0].loss - 0.5
    assert [p.step for p in done.points if p.held_out is not None] == [5, 10, 15, 20, 25, 30]
    about = json.loads((tmp_path / "out" / MANIFEST).read_text("utf-8"))
    assert about["finished"]
    assert about["recipe"]["batch"] == 20
    assert about["prompt"] == "{{passages}}\n\n{{question}}"
    assert about["versions"].keys() >= {"torch", "transformers", "peft"}
    lines = (tmp_path / "out" / training_run.LOSSES).read_text("utf-8").splitlines()
    assert len(lines) == 30


def test_equal_seeds_give_equal_weights_and_another_seed_does_not(here: Files, tmp_path: Path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run_training(job(here, tmp_path / name), replace(LORA, seed=seed))
    assert same(tmp_path / "a", tmp_path / "b")
    assert not same(tmp_path / "a", tmp_path / "c")


_KILLED = """
import sys
from pathlib import Path
from dataclasses import replace
from sensegraph.lab.finetuning.training.training_recipes import Recipe
from sensegraph.lab.finetuning.training.training_run import Job, run_training
recipe = Recipe(**{given!r})
def tell(point, steps):
    sys.stdout.write(f"{{point.step}}\\n"); sys.stdout.flush()
    if point.step == 7:
        sys.stdin.readline()  # until it is killed
run_training(Job(Path({data!r}), {model!r}, Path({out!r}), Path({held!r}), Path({prompt!r})), recipe, tell)
"""


def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_weights(here: Files, tmp_path: Path):
    """With dropout on, so that the random numbers must go on too."""
    one, other = tmp_path / "killed", tmp_path / "whole"
    given = {name: getattr(LORA, name) for name in Recipe.__dataclass_fields__}
    where = {"data": str(here.train), "model": str(here.base), "out": str(one)}
    code = _KILLED.format(given=given, held=str(here.held_out), prompt=str(here.prompt), **where)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        for said in run.stdout:
            if said.strip() == b"7":
                os.kill(run.pid, signal.SIGKILL)
                break
    assert training_recipes.list_checkpoints(one) == [4]
    done = run_training(job(here, one), LORA)
    assert (done.resumed, len(done.points), done.already) == (4, 10, False)
    whole = run_training(job(here, other), LORA)
    assert [p.loss for p in done.points] == [p.loss for p in whole.points]
    assert same(one, other)


def test_a_run_that_is_done_is_not_trained_again(here: Files, tmp_path: Path):
    run_training(job(here, tmp_path / "out"), SHORT)
    again = run_training(job(here, tmp_path / "out"), SHORT, lambda p, n: pytest.fail("a step was taken"))
    assert again.already
    assert again.points[-1].step == 10


def test_another_recipe_or_other_data_in_the_same_folder_are_refused(here: Files, tmp_path: Path):
    run_training(job(here, tmp_path / "out"), SHORT)
    with pytest.raises(SettingsError, match=r"another training \(recipe differ"):
        run_training(job(here, tmp_path / "out"), replace(SHORT, learning_rate=1.0))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(SettingsError, match="is not empty"):
        run_training(job(here, tmp_path / "full"), SHORT)


def test_gradients_of_parts_add_up_to_those_of_the_whole_batch(here: Files, tmp_path: Path):
    run_training(job(here, tmp_path / "whole"), replace(SHORT, samples=20))
    run_training(job(here, tmp_path / "parts"), replace(SHORT, samples=20, batch=5, accumulation=4))
    a, b = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert a.keys() == b.keys()
    assert a
    assert all((a[n] - b[n]).abs().max() < 1e-5 for n in a)


def test_an_adapter_is_learnt_beside_frozen_weights_merged_it_says_the_same(here: Files, tmp_path: Path):
    out, whole = tmp_path / "out", tmp_path / "whole"
    done = run_training(job(here, out), replace(LORA, epochs=3.0))
    trained, of = done.weights
    assert 0 < trained < of / 3
    assert set(done.targets) == {"q_proj", "k_proj", "v_proj", "o_proj"}
    base, tuned = weights(here.base), weights(out)
    frozen = [n for n in tuned if "lora" not in n]
    assert all((tuned[n] == base[n.removeprefix("base_model.model.").replace(".base_layer", "")]).all() for n in frozen)
    serving.merge_adapter(out, whole)
    prompts = [json.loads(x)["prompt"] for x in here.held_out.read_text("utf-8").splitlines()[:10]]
    said = [[LocalModel(LocalSettings(str(f))).continued(p, 3).text for p in prompts] for f in (out, whole)]
    assert said[0] == said[1]
    assert json.loads((whole / MANIFEST).read_text("utf-8"))["prompt"]
    assert json.loads((whole / "config.json").read_text("utf-8"))["dtype"] == "float32"
    with pytest.raises(InputError, match="holds no adapter"):
        serving.merge_adapter(whole, tmp_path / "again")
    with pytest.raises(InputError, match="is not empty"):
        serving.merge_adapter(out, whole)


def test_the_papers_recipe_trains_4_bits_with_its_optimiser_and_goes_on_after_a_stop(
    here: Files, phi: Path, tmp_path: Path
):
    """R11, R12: QLoRA with paged AdamW in 8 bits, here on a CPU and a tiny Phi."""
    paper = replace(training_recipes.find_recipe("graft"), samples=48, checkpoint_every=3, device="cpu")
    whole = run_training(job(here, tmp_path / "whole", phi), paper)
    assert set(whole.targets) == {"q_proj", "k_proj", "v_proj", "dense"}
    assert whole.steps == 6

    class Stopped(Exception):
        pass

    def stop(point: training_run.Point, steps: int) -> None:
        if point.step == 4:
            raise Stopped

    with pytest.raises(Stopped):
        run_training(job(here, tmp_path / "cut", phi), paper, stop)
    done = run_training(job(here, tmp_path / "cut", phi), paper)
    assert done.resumed == 3
    assert [p.loss for p in done.points] == pytest.approx([p.loss for p in whole.points], abs=1e-5)


def test_the_layers_as_the_paper_prints_them_are_an_error_for_phi_r11(here: Files, phi: Path, tmp_path: Path):
    printed = ("q_proj", "k_proj", "v_proj", "out_proj", "dense")
    with pytest.raises(SettingsError, match=r"no layer out_proj; it has dense, fc1, fc2, k_proj, q_proj, v_proj"):
        run_training(job(here, tmp_path / "out", phi), replace(LORA, targets=printed))


def test_examples_that_are_too_long_are_counted_and_never_cut(here: Files, tmp_path: Path):
    tokenizer, _ = load_local_model(str(here.base))
    sizes = sorted(
        len(training_run.encode_pair(p, tokenizer).ids)
        for p in training_recipes.read_training_pairs(here.train, tokenizer)
    )
    done = run_training(job(here, tmp_path / "out"), replace(SHORT, max_tokens=sizes[100] - 1))
    shorter = sum(size < sizes[100] for size in sizes)
    assert (done.examples, done.too_long[0]) == (shorter, 200 - shorter)
    with pytest.raises(InputError, match=rf"No example fits 5 tokens, the shortest has {sizes[0]}: raise max_tokens"):
        run_training(job(here, tmp_path / "none"), replace(SHORT, max_tokens=5))


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("./nowhere", "is no folder with a model"),
        ("nobody/nothing", r"not among the models that are cached here: give its folder, or --download"),
    ],
)
def test_a_model_that_is_not_there_is_an_error_at_once(here: Files, tmp_path: Path, model: str, why: str):
    with pytest.raises(InputError, match=why):
        run_training(replace(job(here, tmp_path / "out"), model=model), SHORT)


def test_a_folder_without_a_model_is_an_error(here: Files, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no model that can be read"):
        run_training(replace(job(here, tmp_path / "out"), model=str(tmp_path / "empty")), SHORT)


def test_a_gpu_that_is_not_there_is_an_error(here: Files, tmp_path: Path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(SettingsError, match="no GPU is to be seen here"):
        run_training(job(here, tmp_path / "out"), replace(SHORT, device="cuda"))


def test_held_out_questions_are_asked_with_the_prompt_of_the_training(here: Files, tmp_path: Path):
    """The evaluation form holds no prompt: it gets the one that is given."""
    tokenizer, _ = load_local_model(str(here.base))
    found = training_recipes.read_training_pairs(here.questions, tokenizer, here.prompt.read_text("utf-8"))
    rows = [json.loads(line) for line in here.questions.read_text("utf-8").splitlines()]
    assert all(p.prompt.endswith(f"\n\n{r['question']}") for p, r in zip(found, rows, strict=True))
    done = run_training(replace(job(here, tmp_path / "out"), held_out=here.questions), replace(SHORT, samples=20))
    assert done.points[-1].held_out


def test_a_prompt_that_the_data_does_not_have_is_an_error(here: Files, tmp_path: Path):
    other = tmp_path / "prompt.md"
    other.write_text("Question: {{question}}\n{{passages}}")
    with pytest.raises(InputError, match=r"is not what the prompts of .* look like"):
        run_training(replace(job(here, tmp_path / "out"), prompt=other), SHORT)


def test_a_tokenizer_of_another_model_is_an_error_and_no_crash(here: Files, tmp_path: Path):
    write_tiny_model(tmp_path / "small", ["who"])
    shutil.copytree(here.base, tmp_path / "mixed")
    shutil.copy(tmp_path / "small" / "model.safetensors", tmp_path / "mixed")
    shutil.copy(tmp_path / "small" / "config.json", tmp_path / "mixed")
    with pytest.raises(InputError, match=r"knows 70 tokens and the model 5; they do not fit"):
        run_training(job(here, tmp_path / "out", tmp_path / "mixed"), SHORT)


def test_a_model_of_16_bits_trains_in_32_on_a_cpu_and_is_merged_in_its_own_precision(here: Files, tmp_path: Path):
    import torch
    from transformers import AutoModelForCausalLM

    shutil.copytree(here.base, tmp_path / "half")
    AutoModelForCausalLM.from_pretrained(here.base, dtype=torch.float16).save_pretrained(tmp_path / "half")
    done = run_training(job(here, tmp_path / "out", tmp_path / "half"), LORA)
    assert done.points[-1].loss < done.points[0].loss
    serving.merge_adapter(tmp_path / "out", tmp_path / "whole")
    assert json.loads((tmp_path / "whole" / "config.json").read_text("utf-8"))["dtype"] == "float16"
