"""The command that runs a 2 × 2 design: tune factorial."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.lab.tune_data import app as app
from sensegraph.cli.options import Json, Quiet, Trust, print_json, print_message, print_text
from sensegraph.cli.progress import show_progress

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus

_ANSWERS = "answers.jsonl"


@app.command("factorial", short_help="Compare base and tuned model over chunks and summaries.")
def run_factorial(
    design: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What is compared, and on which questions.")],
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Answers, tables and pictures go there.")],
    sheet: Annotated[
        Path | None, typer.Option("--sheet", metavar="FILE.csv", help="Write a sheet for raters, who see no arm.")
    ] = None,
    ratings: Annotated[
        list[Path] | None, typer.Option("--ratings", metavar="FILE.csv", help="A sheet that was filled in; repeatable.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    trust: Trust = False,
) -> None:
    """Answer the questions of a design in all arms, and say what tuning and summaries do, alone and together."""
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import load_settings
    from sensegraph.lab.finetuning.factorial import design_effects, designs
    from sensegraph.lab.finetuning.pictures import write_answer_maps

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
            pictures = write_answer_maps(asked, replies, corpus.runtime(), out_dir)
    types, how = [p.type for p in asked], tuple((one.metric, one.how) for one in measured)
    rows = tuple(row for one in measured for row in design_effects.compute_rows(one, types, plan.draws, plan.seed))
    found = design_effects.Outcome(plan.gold, tuple(asked), tuple(replies), rows, how, tuple(notes))
    (out_dir / "tables.md").write_text(design_effects.render_effects_page(found), encoding="utf-8")
    (out_dir / "tables.json").write_text(
        json.dumps(design_effects.record_effects(found), ensure_ascii=False, indent=2), "utf-8"
    )
    lines = designs.write_sheet(sheet, asked, replies, plan.seed) if sheet else 0
    if as_json:
        print_json(design_effects.record_effects(found))
    else:
        print_text(design_effects.format_effects(found))
    print_message("written: " + ", ".join(map(str, (out_dir / "tables.md", out_dir / "tables.json", *pictures))))
    if sheet:
        print_message(f"written: {sheet}, {lines:,} answers to judge; read it with --ratings {sheet}")
