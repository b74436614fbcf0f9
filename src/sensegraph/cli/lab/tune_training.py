"""Commands that train a model and put it to use: tune train, tune merge, tune evaluate, tune serve, tune world."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.lab.tune_factorial import app as app
from sensegraph.cli.options import Json, Quiet, print_json, print_message, print_text, read_overrides
from sensegraph.cli.progress import show_progress

if TYPE_CHECKING:
    from sensegraph.lab.finetuning.training.model_trials import Trial

Model = Annotated[str, typer.Option("--model", metavar="DIR", help="A folder with a model, or its name OWNER/MODEL.")]
Models = Annotated[
    list[str], typer.Option("--model", metavar="DIR", help="A folder with a model; repeatable, the first is the base.")
]
OutDir = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder that is written.")]


@app.command("train", short_help="Train a model on examples; resumes where it was stopped.")
def train_model(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Lines of JSON, as `tune data` writes them.")],
    model: Model,
    out_dir: OutDir,
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="graft (the paper's), lora, or full.")
    ] = "graft",
    recipe: Annotated[
        Path | None, typer.Option("--recipe", metavar="FILE.toml", help="Settings laid over the preset.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the recipe, as in --set rank=8."),
    ] = None,
    targets: Annotated[
        str, typer.Option("--targets", metavar="A,B,…", help="Layers that get an adapter, or auto.")
    ] = "",
    held_out: Annotated[
        Path | None, typer.Option("--held-out", metavar="FILE", help="Examples to take the loss on while training.")
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option("--prompt", metavar="FILE", help="The template of the prompts, if it is your own.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch a model that is named and not there.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a model on examples: checkpoints to resume from, losses as a picture, and what it was made of."""
    from sensegraph.lab.finetuning.pictures import collect_losses, draw_losses, write_pictures
    from sensegraph.lab.finetuning.training import training_run
    from sensegraph.lab.finetuning.training.training_recipes import read_recipe

    layers = {"targets": [t.strip() for t in targets.split(",") if t.strip()]} if targets else {}
    how = read_recipe(preset, recipe, read_overrides(settings) | layers)
    job = training_run.Job(data, model, out_dir, held_out, prompt, download)
    with show_progress(quiet) as shown:
        done = training_run.run_training(job, how, lambda point, steps: shown("train", point.step, steps))
    scene = draw_losses(f"Loss of {done.out.name}", collect_losses(done.points))
    pictures = write_pictures(scene, done.out, "losses")
    if as_json:
        found = asdict(replace(done, points=done.points[-1:]))
        last = found.pop("points")[0]
        found |= {"out": str(done.out), "last": last, "recipe": asdict(how)}
        print_json(found | {"pictures": [str(p) for p in pictures]})
        return
    print_text(training_run.describe_training(done))
    print_message("written: " + ", ".join(map(str, (done.out, *pictures))))
    print_text(f"next: sensegraph tune evaluate FILE --model {model} --model {out_dir}")


@app.command("merge", short_help="Write a tuned model as one folder of weights.")
def merge_model(
    tuned: Annotated[Path, typer.Argument(metavar="DIR", help="What `tune train` wrote.")], out_dir: OutDir
) -> None:
    """Write a tuned model as one folder of weights, and say how to serve it."""
    from sensegraph.lab.finetuning.training import serving

    serving.merge_adapter(tuned, out_dir)
    print_message(f"written: {out_dir}")
    print_text(serving.list_serving_commands(out_dir))


@app.command("evaluate", short_help="Ask models the questions of an evaluation file.")
def evaluate_models(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `tune data --form evaluation` writes it.")],
    model: Models,
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="DIR", help="Write there what each model said.")
    ] = None,
    metrics: Annotated[
        str,
        typer.Option("--metrics", metavar="A,B,…", help="Others besides exact match and F1: rouge-1, rouge-l, bleu."),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=0, metavar="N", help="Only the first N questions.")] = 0,
    most: Annotated[int, typer.Option("--tokens", min=1, metavar="N", help="Tokens of an answer at most.")] = 64,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask models the questions of an evaluation file: exact match, F1, and how often a distractor misled them."""
    from sensegraph.engines.local.local_engine import Layout
    from sensegraph.engines.local.local_model import LocalModel, LocalSettings
    from sensegraph.lab.finetuning.data import example_files
    from sensegraph.lab.finetuning.training import model_trials

    items = example_files.read_items(file)[: limit or None]
    names = [m for m in metrics.split(",") if m]
    found: list[tuple[str, Trial]] = []
    loaded = [LocalModel(LocalSettings(name)) for name in model]
    # one prompt for all: what the first tuned one of them was trained on, else ours
    templates = (str(one.manifest.get("prompt") or "") for one in loaded)
    template = next((text for text in templates if text), "")
    shape = Layout(template) if template else example_files.completion_layout()
    with show_progress(quiet) as shown:
        for name, one in zip(model, loaded, strict=True):

            def tell(done: int, name: str = name) -> None:
                shown(name, done, len(items))

            found.append((name, model_trials.run_trial(one, items, shape, most, tell)))
    if answers:
        answers.mkdir(parents=True, exist_ok=True)
        for number, (name, trial) in enumerate(found, 1):
            model_trials.write_trial(trial, answers / f"{number}-{Path(name).name}.jsonl")
    if as_json:
        print_json([model_trials.record_trial(name, trial, found[0][1], names) for name, trial in found])
    else:
        print_text(model_trials.compare_trials(found, names))


@app.command("serve", short_help="Serve a model of this machine as an endpoint.")
def serve_model(
    model: Annotated[str, typer.Argument(metavar="DIR", help="A folder with a model, tuned or not.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0: a free one.")] = 8000,
) -> None:
    """Serve a model in the form of an OpenAI-compatible endpoint, for this machine alone, until Ctrl-C."""
    from threading import Event

    from sensegraph.engines.local.local_model import LocalModel, LocalSettings
    from sensegraph.lab.finetuning.training.serving import serve_endpoint

    loaded = LocalModel(LocalSettings(model))
    loaded.context  # noqa: B018  a model that cannot be read is told before anybody calls
    with serve_endpoint(loaded, port) as address:
        print_text(
            f'{address} serves {loaded.name}: set endpoint.base_url = "{address}" and endpoint.model = "{loaded.name}"'
        )
        Event().wait()


@app.command("world", short_help="Write a made-up world to try fine-tuning on a CPU.")
def write_world(
    out_dir: OutDir,
    examples: Annotated[int, typer.Option("--examples", min=1, metavar="N", help="Examples to train on.")] = 16_000,
    distractors: Annotated[
        int, typer.Option("--distractors", min=0, metavar="N", help="In an example to train on, 0 to N.")
    ] = 3,
    oracle_share: Annotated[
        float, typer.Option("--oracle-share", min=0.0, max=1.0, metavar="P", help="Examples with oracle.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of names, scenes and weights.")] = 0,
) -> None:
    """Write a tiny model of random weights, examples of a made-up world to train it on, and held-out questions."""
    from sensegraph.lab.finetuning.training.world import Plan, write_world_files

    made = write_world_files(out_dir, Plan(examples, distractors, oracle_share, seed=seed))
    print_message("written: " + ", ".join(str(p) for p in asdict(made).values()))
    print_text(
        f"next: sensegraph tune train {out_dir}/train.jsonl --held-out {out_dir}/held-out.jsonl --model {out_dir}/base "
        f"--out {out_dir}/tuned --preset full --recipe {out_dir}/recipe.toml --prompt {out_dir}/prompt.md"
    )
