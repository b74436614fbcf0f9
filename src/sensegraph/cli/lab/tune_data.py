"""Commands that fine-tune a model: the group `tune`, and tune data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from sensegraph.cli.options import (
    Engine,
    Json,
    Quiet,
    Set,
    Trust,
    print_json,
    print_message,
    print_text,
    read_overrides,
)
from sensegraph.cli.progress import show_progress

CorpusPath = Annotated[
    Path,
    typer.Argument(
        metavar="CORPUS",
        help="A test collection in BEIR's layout, an index's folder, or a file in the form of HotpotQA.",
    ),
]
OutFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the lines of JSON go.")]
Preset = Annotated[str, typer.Option("--preset", metavar="NAME", help="graft, or raft.")]
FormName = Annotated[str, typer.Option("--form", metavar="NAME", help="completion, chat, or evaluation.")]
Questions = Annotated[
    Path | None, typer.Option("--questions", metavar="FILE", help="Questions for an index, a line of JSON each.")
]
FromGraph = Annotated[
    int, typer.Option("--from-graph", min=0, metavar="N", help="Make N questions from the graph of an index.")
]
WriteAnswers = Annotated[
    bool, typer.Option("--write-answers", help="Have the engine answer, from gold passages, what has no answer.")
]
Mask = Annotated[bool, typer.Option("--mask", help="Replace personal data (settings `personal`).")]
Near = Annotated[
    str, typer.Option("--near", metavar="METHOD", help="Whose wrong passages are hard distractors; none for no such.")
]
Share = Annotated[
    float | None, typer.Option("--oracle-share", min=0.0, max=1.0, metavar="P", help="Examples with oracle.")
]
StyleName = Annotated[str | None, typer.Option("--style", metavar="NAME", help="plain, or cot.")]
Oracles = Annotated[
    int | None, typer.Option("--oracles", min=1, metavar="N", help="Gold passages of a question at most.")
]
Distractors = Annotated[
    str | None, typer.Option("--distractors", metavar="LEAST,MOST", help="Distractors before padding.")
]
Hard = Annotated[int | None, typer.Option("--hard", min=0, metavar="N", help="Hard ones at most.")]
Padding = Annotated[bool, typer.Option("--pad/--no-pad", help="Fill up with more distractors.")]
Length = Annotated[int | None, typer.Option("--length", min=1, metavar="TOKENS", help="Prompt and target together.")]
Answers = Annotated[
    str | None, typer.Option("--answers", metavar="first|all", help="Which of several gold answers is learnt.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of all that is drawn.")]
Split = Annotated[str, typer.Option("--split", metavar="NAME", help="Judgements: qrels/NAME.tsv.")]
Topic = Annotated[
    str, typer.Option("--topic", metavar="FIELD", help="Metadata that the audit counts by.", show_default="title")
]
HeldOut = Annotated[
    Path | None, typer.Option("--held-out", metavar="FILE", help="Where questions that are held out of training go.")
]
HeldShare = Annotated[
    float, typer.Option("--held-share", min=0.0, max=1.0, metavar="S", help="Gold passages that are held out.")
]
ReportFile = Annotated[Path | None, typer.Option("--report", metavar="FILE.md", help="Write the report there.")]

app = typer.Typer(no_args_is_help=True, help="Fine-tune a model: make training data, train, serve.")


@app.callback()
def _describe_tune() -> None:
    """Fine-tune a model to answer from passages of which only some bear on the question."""


@app.command("data", short_help="Make training data from a corpus with questions.")
def make_training_data(
    corpus: CorpusPath,
    out_file: OutFile,
    preset: Preset = "graft",
    form: FormName = "completion",
    questions: Questions = None,
    from_graph: FromGraph = 0,
    write_answers: WriteAnswers = False,
    mask: Mask = False,
    near: Near = "auto",
    oracle_share: Share = None,
    style: StyleName = None,
    oracles: Oracles = None,
    distractors: Distractors = None,
    hard: Hard = None,
    padding: Padding = True,
    length: Length = None,
    answers: Answers = None,
    seed: Seed = 0,
    split: Split = "",
    topic: Topic = "",
    held_out: HeldOut = None,
    held_share: HeldShare = 0.1,
    report: ReportFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
    engine: Engine = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Make training data: each question over its gold passages among distractors, and a report on what is in it."""
    from sensegraph.cli.lab.question_sources import SourceRequest, open_question_source
    from sensegraph.lab.finetuning.data import report as texts
    from sensegraph.lab.finetuning.data.example_files import HeldOutFile, write_examples
    from sensegraph.lab.finetuning.data.example_types import find_data_preset, parse_form

    wanted: dict[str, Any] = {"oracle_share": oracle_share, "style": style, "most_oracles": oracles, "hard": hard}
    wanted |= {"pad": padding, "distractors": _parse_distractors(distractors), "max_tokens": length, "answers": answers}
    how = replace(find_data_preset(preset), seed=seed, **{k: v for k, v in wanted.items() if v is not None})
    shape, given = parse_form(form), read_overrides(settings, engine, trust=trust)
    apart_file = HeldOutFile(held_out, held_share) if held_out else None
    request = SourceRequest(corpus, questions, from_graph, near, split, topic, given, write_answers, mask)
    with show_progress(quiet) as shown, open_question_source(request, seed, shown) as found:
        made, apart = write_examples(found, how, shape, out_file, apart_file)
    reports = [made, apart] if apart else [made]
    if failing := [c.name for r in reports for c in r.checks if not c.holds]:
        print_message(f"not all checks hold: {', '.join(failing)}; read the report before you train on these data")
    if report:
        report.write_text("\n".join(map(texts.render_data_page, reports)), encoding="utf-8")
    if as_json:
        held = texts.record_data_report(apart) if apart else None
        print_json(texts.record_data_report(made) | {"held_out": held, "file": str(out_file), "form": form})
        return
    shares = [texts.describe_held_out(made, apart, held_share)] if apart else []
    print_text("\n\n".join([*map(texts.format_data_report, reports), *shares]))
    print_message("written: " + ", ".join(str(file) for file in (out_file, held_out, report) if file))


def _parse_distractors(text: str | None) -> tuple[int, int] | None:
    """`3,4` or `3` as (least, most). Raises BadParameter for what is neither."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2 or not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"--distractors {text!r} is no number and no pair of numbers, such as 3,4.")
    return int(parts[0]), int(parts[-1])
