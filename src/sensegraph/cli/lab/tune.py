"""Commands that fine-tune a model and put it to use: the group `tune`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option

from sensegraph.cli import options
from sensegraph.cli.progress import show_progress

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.lab.finetuning.training.model_trials import Trial

CorpusPath = Annotated[
    Path,
    Argument(
        metavar="CORPUS",
        help="A test collection in BEIR's layout, an index's folder, or a file in the form of HotpotQA.",
    ),
]
Questions = Annotated[
    Path | None, Option("--questions", metavar="FILE", help="Questions for an index, a line of JSON each.")
]
FromGraph = Annotated[
    int, Option("--from-graph", min=0, metavar="N", help="Make N questions from the graph of an index.")
]
WriteAnswers = Annotated[bool, Option("--write-answers", help="Generate missing gold answers with the engine.")]
Near = Annotated[str, Option("--near", metavar="METHOD", help="Retriever that supplies hard negatives, or none.")]
Share = Annotated[float | None, Option("--oracle-share", min=0.0, max=1.0, metavar="P", help="Examples with oracle.")]
Oracles = Annotated[int | None, Option("--oracles", min=1, metavar="N", help="Gold passages of a question at most.")]
Distractors = Annotated[str | None, Option("--distractors", metavar="LEAST,MOST", help="Distractors before padding.")]
Hard = Annotated[int | None, Option("--hard", min=0, metavar="N", help="Hard ones at most.")]
Length = Annotated[int | None, Option("--length", min=1, metavar="TOKENS", help="Prompt and target together.")]
Answers = Annotated[
    str | None, Option("--answers", metavar="first|all", help="Which of several gold answers is learnt.")
]
Seed = Annotated[int, Option("--seed", min=0, metavar="N", help="Seed of all that is drawn.")]
Topic = Annotated[
    str, Option("--topic", metavar="FIELD", help="Metadata that the audit counts by.", show_default="title")
]
HeldOut = Annotated[
    Path | None, Option("--held-out", metavar="FILE", help="Where questions that are held out of training go.")
]
HeldShare = Annotated[
    float, Option("--held-share", min=0.0, max=1.0, metavar="S", help="Gold passages that are held out.")
]

_ANSWERS = "answers.jsonl"
Models = Annotated[
    list[str], Option("--model", metavar="DIR", help="A folder with a model; repeatable, the first is the base.")
]
OutDir = Annotated[Path, Option("--out", metavar="DIR", help="The folder that is written.")]


def make_training_data(
    corpus: CorpusPath,
    out_file: Annotated[Path, Option("--out", metavar="FILE", help="Where the lines of JSON go.")],
    preset: Annotated[str, Option("--preset", metavar="NAME", help="graft, or raft.")] = "graft",
    form: Annotated[str, Option("--form", metavar="NAME", help="completion, chat, or evaluation.")] = "completion",
    questions: Questions = None,
    from_graph: FromGraph = 0,
    write_answers: WriteAnswers = False,
    mask: Annotated[bool, Option("--mask", help="Replace personal data (settings `personal`).")] = False,
    near: Near = "auto",
    oracle_share: Share = None,
    style: Annotated[str | None, Option("--style", metavar="NAME", help="plain, or cot.")] = None,
    oracles: Oracles = None,
    distractors: Distractors = None,
    hard: Hard = None,
    padding: Annotated[bool, Option("--pad/--no-pad", help="Fill up with more distractors.")] = True,
    length: Length = None,
    answers: Answers = None,
    seed: Seed = 0,
    split: Annotated[str, Option("--split", metavar="NAME", help="Judgements: qrels/NAME.tsv.")] = "",
    topic: Topic = "",
    held_out: HeldOut = None,
    held_share: HeldShare = 0.1,
    report: Annotated[Path | None, Option("--report", metavar="FILE.md", help="Write the report there.")] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    engine: options.Engine = None,
    settings: options.Set = None,
    trust: options.Trust = False,
) -> None:
    """Make training data: each question over its gold passages among distractors, and a report on what is in it."""
    from sensegraph.cli.lab.question_sources import SourceRequest, open_question_source
    from sensegraph.lab.finetuning.data import report as texts
    from sensegraph.lab.finetuning.data.example_files import HeldOutFile, write_examples
    from sensegraph.lab.finetuning.data.example_types import find_data_preset, parse_form

    wanted: dict[str, Any] = {"oracle_share": oracle_share, "style": style, "most_oracles": oracles, "hard": hard}
    wanted |= {"pad": padding, "distractors": _parse_distractors(distractors), "max_tokens": length, "answers": answers}
    how = replace(find_data_preset(preset), seed=seed, **{k: v for k, v in wanted.items() if v is not None})
    shape, given = parse_form(form), options.read_overrides(settings, engine, trust=trust)
    apart_file = HeldOutFile(held_out, held_share) if held_out else None
    request = SourceRequest(corpus, questions, from_graph, near, split, topic, given, write_answers, mask)
    with show_progress(quiet) as shown, open_question_source(request, seed, shown) as found:
        made, apart = write_examples(found, how, shape, out_file, apart_file)
    reports = [made, apart] if apart else [made]
    if failing := ", ".join(c.name for r in reports for c in r.checks if not c.holds):
        options.print_message(f"not all checks hold: {failing}; read the report before you train on these data")
    if report:
        report.write_text("\n".join(map(texts.render_data_page, reports)), encoding="utf-8")
    if as_json:
        held = texts.record_data_report(apart) if apart else None
        options.print_json(texts.record_data_report(made) | {"held_out": held, "file": str(out_file), "form": form})
        return
    shares = [texts.describe_held_out(made, apart, held_share)] if apart else []
    options.print_text("\n\n".join([*map(texts.format_data_report, reports), *shares]))
    options.print_message("written: " + ", ".join(str(file) for file in (out_file, held_out, report) if file))


def _parse_distractors(text: str | None) -> tuple[int, int] | None:
    """`3,4` or `3` as (least, most). Raises BadParameter for what is neither."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2 or not all(part.isdecimal() for part in parts):
        raise BadParameter(f"--distractors {text!r} is no number and no pair of numbers, such as 3,4.")
    return int(parts[0]), int(parts[-1])


def run_factorial(
    design: Annotated[Path, Argument(metavar="FILE.toml", help="What is compared, and on which questions.")],
    out_dir: Annotated[Path, Option("--out", metavar="DIR", help="Answers, tables and pictures go there.")],
    sheet: Annotated[
        Path | None, Option("--sheet", metavar="FILE.csv", help="Write a sheet for raters, who see no arm.")
    ] = None,
    ratings: Annotated[
        list[Path] | None, Option("--ratings", metavar="FILE.csv", help="A sheet that was filled in; repeatable.")
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    trust: options.Trust = False,
) -> None:
    """Answer the questions of a design in all arms, and say what tuning and summaries do, alone and together."""
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import load_settings
    from sensegraph.lab.finetuning import pictures
    from sensegraph.lab.finetuning.factorial import design_effects, designs
    from sensegraph.lab.finetuning.factorial import design_effects as effects_of

    plan = designs.read_design(design)
    asked = designs.read_design_questions(Path(plan.questions))

    def opening(settings: Mapping[str, Any]) -> Corpus:
        # the settings are the design's, and not the user's own
        loaded = load_settings(Path(plan.corpus), {"trust": trust}, settings, str(design))
        corpus = Corpus.open(plan.corpus, create=False)
        corpus.workspace.settings = loaded
        return corpus

    judged = designs.read_ratings(ratings) if ratings else None
    out_dir.mkdir(parents=True, exist_ok=True)
    with show_progress(quiet or as_json) as shown:
        replies = designs.answer_in_arms(plan, asked, out_dir / _ANSWERS, shown, opening)
        with opening(plan.base) as corpus:
            measured, notes = designs.measure_design(plan, asked, replies, corpus.runtime(), judged)
            drawn = pictures.write_answer_maps(asked, replies, corpus.runtime(), out_dir)
    types, how = [p.type for p in asked], tuple((one.metric, one.how) for one in measured)
    rows = tuple(row for one in measured for row in effects_of.compute_rows(one, types, plan.draws, plan.seed))
    found = design_effects.Outcome(plan.gold, tuple(asked), tuple(replies), rows, how, tuple(notes))
    page, figures, record = out_dir / "tables.md", out_dir / "tables.json", design_effects.record_effects(found)
    page.write_text(design_effects.render_effects_page(found), encoding="utf-8")
    figures.write_text(json.dumps(record, ensure_ascii=False, indent=2), "utf-8")
    lines = designs.write_sheet(sheet, asked, replies, plan.seed) if sheet else 0
    options.print_json(record) if as_json else options.print_text(design_effects.format_effects(found))
    options.print_message("written: " + ", ".join(map(str, (page, figures, *drawn))))
    if sheet:
        options.print_message(f"written: {sheet}, {lines:,} answers to judge; read it with --ratings {sheet}")


def train_model(
    data: Annotated[Path, Argument(metavar="DATA", help="Lines of JSON, as `tune data` writes them.")],
    model: Annotated[str, Option("--model", metavar="DIR", help="A folder with a model, or its name OWNER/MODEL.")],
    out_dir: OutDir,
    preset: Annotated[str, Option("--preset", metavar="NAME", help="graft (the paper's), lora, or full.")] = "graft",
    recipe: Annotated[
        Path | None, Option("--recipe", metavar="FILE.toml", help="Settings laid over the preset.")
    ] = None,
    settings: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="A setting of the recipe, as in --set rank=8.")
    ] = None,
    targets: Annotated[str, Option("--targets", metavar="A,B,…", help="Layers that get an adapter, or auto.")] = "",
    held_out: Annotated[
        Path | None, Option("--held-out", metavar="FILE", help="Examples to take the loss on while training.")
    ] = None,
    prompt: Annotated[
        Path | None, Option("--prompt", metavar="FILE", help="The template of the prompts, if it is your own.")
    ] = None,
    download: Annotated[bool, Option("--download", help="Fetch a model that is named and not there.")] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model on examples: checkpoints to resume from, losses as a picture, and what it was made of."""
    from sensegraph.lab.finetuning import pictures
    from sensegraph.lab.finetuning.training import training_run
    from sensegraph.lab.finetuning.training.training_recipes import read_recipe

    layers = {"targets": [t.strip() for t in targets.split(",") if t.strip()]} if targets else {}
    how = read_recipe(preset, recipe, options.read_flags(settings) | layers)
    job = training_run.Job(data, model, out_dir, held_out, prompt, download)
    with show_progress(quiet) as shown:
        done = training_run.run_training(job, how, lambda point, steps: shown("train", point.step, steps))
    scene = pictures.draw_losses(f"Loss of {done.out.name}", pictures.collect_losses(done.points))
    drawn = pictures.write_pictures(scene, done.out, "losses")
    if as_json:
        found = asdict(replace(done, points=done.points[-1:]))
        last = found.pop("points")[0]
        found |= {"out": str(done.out), "last": last, "recipe": asdict(how)}
        options.print_json(found | {"pictures": [str(p) for p in drawn]})
        return
    options.print_text(training_run.describe_training(done))
    options.print_message("written: " + ", ".join(map(str, (done.out, *drawn))))
    options.print_text(f"next: sensegraph tune eval FILE --model {model} --model {out_dir}")


def merge_model(
    tuned: Annotated[Path, Argument(metavar="DIR", help="What `tune train` wrote.")],
    out_dir: OutDir,
    as_json: options.Json = False,
) -> None:
    """Write a tuned model as one folder of weights, and say how to serve it."""
    from sensegraph.lab.finetuning.training import serving

    serving.merge_adapter(tuned, out_dir)
    options.print_message(f"written: {out_dir}")
    told = serving.list_serving_commands(out_dir)
    options.print_json({"out": str(out_dir), "serve": told}) if as_json else options.print_text(told)


def evaluate_models(
    file: Annotated[Path, Argument(metavar="FILE", help="As `tune data --form evaluation` writes it.")],
    model: Models,
    answers: Annotated[
        Path | None, Option("--answers", metavar="DIR", help="Write there what each model said.")
    ] = None,
    metrics: Annotated[
        str, Option("--metrics", metavar="A,B,…", help="Others besides exact match and F1: rouge-1, rouge-l, bleu.")
    ] = "",
    limit: Annotated[int, Option("--limit", min=0, metavar="N", help="Only the first N questions.")] = 0,
    most: Annotated[int, Option("--tokens", min=1, metavar="N", help="Tokens of an answer at most.")] = 64,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask models the questions of an evaluation file: exact match, F1, and how often a distractor misled them."""
    from sensegraph.engines.llm.trained_prompt import Layout
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
        options.print_json({"models": [model_trials.record_trial(n, t, found[0][1], names) for n, t in found]})
    else:
        options.print_text(model_trials.compare_trials(found, names))


def serve_model(
    model: Annotated[str, Argument(metavar="DIR", help="A folder with a model, tuned or not.")],
    port: Annotated[int, Option("--port", min=0, max=65535, metavar="N", help="0: a free one.")] = 8000,
    as_json: options.Json = False,
) -> None:
    """Serve a model in the form of an OpenAI-compatible endpoint, for this machine alone, until Ctrl-C."""
    from threading import Event

    from sensegraph.engines.local.local_model import LocalModel, LocalSettings
    from sensegraph.lab.finetuning.training.serving import serve_endpoint

    loaded = LocalModel(LocalSettings(model))
    loaded.context  # noqa: B018  a model that cannot be read is told before anybody calls
    with serve_endpoint(loaded, port) as address:
        told = f'set endpoint.base_url = "{address}" and endpoint.model = "{loaded.name}"'
        trained = str(Path(model).resolve()) if loaded.manifest.get("prompt") else None
        if as_json:
            options.print_json({"address": address, "model": loaded.name, "trained_prompt": trained})
        else:
            options.print_text(f"{address} serves {loaded.name}: {told}")
            if trained:
                said = f"set model.trained_prompt = {json.dumps(trained)}"
                options.print_text(f"to have answers asked as it was trained: {said}")
        Event().wait()


def write_world(
    out_dir: OutDir,
    examples: Annotated[int, Option("--examples", min=1, metavar="N", help="Examples to train on.")] = 16_000,
    distractors: Annotated[
        int, Option("--distractors", min=0, metavar="N", help="In an example to train on, 0 to N.")
    ] = 3,
    oracle_share: Annotated[
        float, Option("--oracle-share", min=0.0, max=1.0, metavar="P", help="Examples with oracle.")
    ] = 1.0,
    seed: Annotated[int, Option("--seed", min=0, metavar="N", help="Seed of names, scenes and weights.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Create a toy dataset and a tiny model of random weights, to try fine-tuning on a CPU."""
    from sensegraph.lab.finetuning.training.world import Plan, write_world_files

    made = write_world_files(out_dir, Plan(examples, distractors, oracle_share, seed=seed))
    if as_json:
        options.print_json({name: str(p) for name, p in asdict(made).items()})
        return
    options.print_message("written: " + ", ".join(str(p) for p in asdict(made).values()))
    options.print_text(
        f"next: sensegraph tune train {out_dir}/train.jsonl --held-out {out_dir}/held-out.jsonl --model {out_dir}/base "
        f"--out {out_dir}/tuned --preset full --recipe {out_dir}/recipe.toml --prompt {out_dir}/prompt.md"
    )
