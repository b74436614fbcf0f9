"""Commands that train a model and put it to use: tune train, tune merge, tune evaluate, tune serve, tune world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.lab.factorial import app as app
from sensegraph.cli.options import Json, Quiet, out, out_json, overrides, say
from sensegraph.cli.progress import progress

if TYPE_CHECKING:
    from sensegraph.cli.progress import Report
    from sensegraph.engines.local.local_engine import Layout
    from sensegraph.engines.local.local_model import LocalModel
    from sensegraph.lab.finetuning.training.recipes import Recipe
    from sensegraph.lab.finetuning.training.training import Trained
    from sensegraph.lab.finetuning.training.trials import Trial
    from sensegraph.lab.scores.statistics import Interval

Model = Annotated[str, typer.Option("--model", metavar="DIR", help="A folder with a model, or its name OWNER/MODEL.")]
Models = Annotated[
    list[str], typer.Option("--model", metavar="DIR", help="A folder with a model; repeatable, the first is the base.")
]
OutDir = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder that is written.")]


@app.command(short_help="Train a model on examples; resumes where it was stopped.")
def train(
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
    from sensegraph.lab.finetuning.training import training

    how = _recipe(preset, recipe, targets, settings)
    job = training.Job(data, model, out_dir, held_out, prompt, download)
    with progress(quiet) as shown:
        done = training.train(job, how, lambda point, steps: shown("train", point.step, steps))
    pictures = _pictures(done)
    if as_json:
        out_json(_plain(done, how) | {"pictures": [str(p) for p in pictures]})
        return
    out(_told(done))
    say("written: " + ", ".join(map(str, (done.out, *pictures))))
    out(f"next: sensegraph tune evaluate FILE --model {model} --model {out_dir}")


@app.command(short_help="Write a tuned model as one folder of weights.")
def merge(
    tuned: Annotated[Path, typer.Argument(metavar="DIR", help="What `tune train` wrote.")], out_dir: OutDir
) -> None:
    """Write a tuned model as one folder of weights, and say how to serve it."""
    from sensegraph.lab.finetuning.training import merging

    merging.merge(tuned, out_dir)
    say(f"written: {out_dir}")
    out(merging.commands(out_dir))


@app.command(short_help="Ask models the questions of an evaluation file.")
def evaluate(
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
    from sensegraph.engines.local.local_model import LocalModel, LocalSettings
    from sensegraph.lab.finetuning.data import reading
    from sensegraph.lab.finetuning.training.trials import tried

    items = reading.items(file)[: limit or None]
    names = [m for m in metrics.split(",") if m]
    found: list[tuple[str, Trial]] = []
    loaded = [LocalModel(LocalSettings(name)) for name in model]
    shape = _layout(loaded)
    with progress(quiet) as shown:
        for name, one in zip(model, loaded, strict=True):
            made = tried(one, items, shape, most, partial(_told_done, shown, name, len(items)))
            found.append((name, made))
    if answers:
        _write_answers(answers, found)
    if as_json:
        first = found[0][1]
        out_json([_scores(name, made, names) | _above(made, first) for name, made in found])
    else:
        out(_table(found, names))


@app.command(short_help="Serve a model of this machine as an endpoint.")
def serve(
    model: Annotated[str, typer.Argument(metavar="DIR", help="A folder with a model, tuned or not.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0: a free one.")] = 8000,
) -> None:
    """Serve a model in the form of an OpenAI-compatible endpoint, for this machine alone, until Ctrl-C."""
    from threading import Event

    from sensegraph.engines.local.local_model import LocalModel, LocalSettings
    from sensegraph.lab.finetuning.training.serving import serving

    loaded = LocalModel(LocalSettings(model))
    loaded.context  # noqa: B018  a model that cannot be read is told before anybody calls
    with serving(loaded, port) as address:
        out(f'{address} serves {loaded.name}: set endpoint.base_url = "{address}" and endpoint.model = "{loaded.name}"')
        Event().wait()


@app.command("world", short_help="Write a made-up world to try fine-tuning on a CPU.")
def closed_world(
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
    from sensegraph.lab.finetuning.training.worlds import Plan, written

    made = written(out_dir, Plan(examples, distractors, oracle_share, seed=seed))
    say("written: " + ", ".join(str(p) for p in asdict(made).values()))
    out(
        f"next: sensegraph tune train {out_dir}/train.jsonl --held-out {out_dir}/held-out.jsonl --model {out_dir}/base "
        f"--out {out_dir}/tuned --preset full --recipe {out_dir}/recipe.toml --prompt {out_dir}/prompt.md"
    )


# ── train ──


def _recipe(preset: str, file: Path | None, targets: str, pairs: Sequence[str] | None) -> Recipe:
    """The preset with a file and flags laid over it."""
    import tomllib

    from sensegraph.corpus.settings import parse
    from sensegraph.errors import SettingsError
    from sensegraph.lab.finetuning.training.recipes import Recipe, recipe

    given: dict[str, Any] = {}
    if file is not None:
        try:
            given = tomllib.loads(file.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise SettingsError(f"{file} is not valid TOML: {e}.") from e
        parse(given, Recipe, str(file))
    given |= overrides(pairs) | ({"targets": [t.strip() for t in targets.split(",") if t.strip()]} if targets else {})
    base = {n: list(v) if isinstance(v, tuple) else v for n, v in asdict(recipe(preset)).items()}
    return parse(base | given, Recipe, "recipe")


def _pictures(done: Trained) -> list[Path]:
    """The losses as a picture: SVG, and PNG where Pillow is there."""
    from importlib.util import find_spec

    from sensegraph.lab.finetuning.training import curves

    scene = curves.chart(f"Loss of {done.out.name}", curves.losses(done.points))
    endings = ("svg", "png") if find_spec("PIL") else ("svg",)
    return [curves.write(scene, done.out / f"losses.{ending}") for ending in endings]


def _told(done: Trained) -> str:
    last = done.points[-1]
    held_out = f", held out {last.held_out:.4f}" if last.held_out is not None else ""
    trained, of = done.weights
    lines = [
        f"steps        {done.steps:,}, {done.examples:,} examples, {last.tokens:,} tokens in {last.seconds:,.1f} s",
        f"loss         {done.points[0].loss:.4f} at first, {last.loss:.4f} at last{held_out} (nats a token)",
        f"trained      {trained:,} of {of:,} weights" + (f" ({', '.join(done.targets)})" if done.targets else ""),
    ]
    if done.resumed:
        lines.append("resumed      " + ("it was done already" if done.already else f"from step {done.resumed:,}"))
    if any(done.too_long):
        lines.append(f"left out     {done.too_long[0]:,} examples and {done.too_long[1]:,} held out: too long")
    return "\n".join([*lines, *(f"note         {note}" for note in done.notes)])


def _plain(done: Trained, how: Recipe) -> dict[str, Any]:
    found = asdict(replace(done, points=done.points[-1:]))
    last = found.pop("points")[0]
    return found | {"out": str(done.out), "last": last, "recipe": asdict(how)}


# ── evaluate ──


def _layout(models: Sequence[LocalModel]) -> Layout:
    """One prompt for all: what the first tuned one of them was trained on, else ours."""
    from sensegraph.engines.local.local_engine import Layout
    from sensegraph.lab.finetuning.data.reading import layout

    known = (str(model.manifest.get("prompt") or "") for model in models)
    found = next((template for template in known if template), "")
    return Layout(found) if found else layout()


def _told_done(shown: Report, name: str, count: int, done: int) -> None:
    shown(name, done, count)


def _write_answers(folder: Path, found: Sequence[tuple[str, Trial]]) -> None:
    from sensegraph.lab.finetuning.training.trials import write

    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, made) in enumerate(found, 1):
        write(made, folder / f"{number}-{Path(name).name}.jsonl")


def _scores(name: str, made: Trial, metrics: Sequence[str]) -> dict[str, Any]:
    columns = {m: made.table([m]).column(m).mean for m in metrics}
    found = {"exact": asdict(made.exact), "f1": asdict(made.f1), "misled": made.misled, "cut": made.cut}
    return {"model": name, "questions": len(made.said)} | found | columns


def _table(found: Sequence[tuple[str, Trial]], metrics: Sequence[str]) -> str:
    from sensegraph.lab.finetuning.training.trials import gained
    from sensegraph.lab.retrieval.retrieval_tables import columns

    first = found[0][1]
    rows = [["model", "exact match", "F1", "misled", "cut", *metrics, "exact match above the first"]]
    for name, made in found:
        more = [made.table([m]).column(m).mean for m in metrics]
        others = ["" if m is None else f"{m:.3f}" for m in more]
        above = _interval(gained(made, first), signed=True) if made is not first else ""
        rows.append([name, *map(_interval, (made.exact, made.f1)), f"{made.misled:.3f}", str(made.cut), *others, above])
    wide = len(rows[0]) - (len(found) == 1)
    table = columns([row[:wide] for row in rows])
    return f"{len(first.said):,} questions, with 95 % intervals (questions resampled)\n{table}"


def _above(made: Trial, first: Trial) -> dict[str, Any]:
    """What is said of a model besides its scores: how far it is above the first one."""
    from sensegraph.lab.finetuning.training.trials import gained

    return {"above_first": asdict(gained(made, first))} if made is not first else {}


def _interval(value: Interval, *, signed: bool = False) -> str:
    form = "+.3f" if signed else ".3f"
    return f"{value.mean:{form}} [{value.low:{form}}, {value.high:{form}}]"
