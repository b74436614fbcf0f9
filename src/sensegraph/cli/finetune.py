"""Commands that fine-tune a model: the group `tune`, and tune data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from sensegraph.cli.options import Engine, Json, Quiet, Set, out, out_json, overrides, say
from sensegraph.cli.progress import progress

app = typer.Typer(no_args_is_help=True, help="Fine-tune a model: make training data, train, serve.")


@app.callback()
def _group() -> None:
    """Fine-tune a model to answer from passages of which only some bear on the question."""


@app.command(short_help="Make training data from a corpus with questions.")
def data(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="A test collection in BEIR's layout, the folder of an index, or a file in the form of HotpotQA.",
        ),
    ],
    out_file: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the lines of JSON go.")],
    preset: Annotated[str, typer.Option("--preset", metavar="NAME", help="graft, or raft.")] = "graft",
    form: Annotated[
        str, typer.Option("--form", metavar="NAME", help="completion, chat, or evaluation.")
    ] = "completion",
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="Questions for an index, a line of JSON each.")
    ] = None,
    from_graph: Annotated[
        int, typer.Option("--from-graph", min=0, metavar="N", help="Make N questions from the graph of an index.")
    ] = 0,
    write_answers: Annotated[
        bool, typer.Option("--write-answers", help="Have the engine answer, from gold passages, what has no answer.")
    ] = False,
    mask: Annotated[bool, typer.Option("--mask", help="Replace personal data (settings `personal`).")] = False,
    near: Annotated[
        str,
        typer.Option("--near", metavar="METHOD", help="Whose wrong passages are hard distractors; none for no such."),
    ] = "auto",
    oracle_share: Annotated[
        float | None, typer.Option("--oracle-share", min=0.0, max=1.0, metavar="P", help="Examples with oracle.")
    ] = None,
    style: Annotated[str | None, typer.Option("--style", metavar="NAME", help="plain, or cot.")] = None,
    oracles: Annotated[
        int | None, typer.Option("--oracles", min=1, metavar="N", help="Gold passages of a question at most.")
    ] = None,
    distractors: Annotated[
        str | None, typer.Option("--distractors", metavar="LEAST,MOST", help="Distractors before padding.")
    ] = None,
    hard: Annotated[int | None, typer.Option("--hard", min=0, metavar="N", help="Hard ones at most.")] = None,
    padding: Annotated[bool, typer.Option("--pad/--no-pad", help="Fill up with more distractors.")] = True,
    length: Annotated[
        int | None, typer.Option("--length", min=1, metavar="TOKENS", help="Prompt and target together.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", metavar="first|all", help="Which of several gold answers is learnt.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of all that is drawn.")] = 0,
    split: Annotated[str, typer.Option("--split", metavar="NAME", help="Judgements: qrels/NAME.tsv.")] = "",
    topic: Annotated[
        str, typer.Option("--topic", metavar="FIELD", help="Metadata that the audit counts by.", show_default="title")
    ] = "",
    report: Annotated[Path | None, typer.Option("--report", metavar="FILE.md", help="Write the report there.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    engine: Engine = None,
    settings: Set = None,
) -> None:
    """Make training data: each question over its gold passages among distractors, and a report on what is in it."""
    from sensegraph.cli import gathering
    from sensegraph.finetuning import telling, writing
    from sensegraph.finetuning.values import preset as preset_of

    drawn: dict[str, Any] = {
        "oracle_share": oracle_share,
        "style": style,
        "most_oracles": oracles,
        "hard": hard,
        "pad": padding,
    }
    drawn |= {"distractors": _pair(distractors), "max_tokens": length, "answers": answers, "seed": seed}
    how = replace(preset_of(preset), **{k: v for k, v in drawn.items() if v is not None})
    place = gathering.Place(
        corpus, questions, from_graph, near, split, topic, overrides(settings, engine), write_answers, mask
    )
    with progress(quiet) as shown, gathering.source(place, seed, shown) as found:
        made = gathering.written(found, how, writing.form_of(form), out_file)
    if report:
        report.write_text(telling.markdown(made), encoding="utf-8")
    if as_json:
        out_json(telling.plain(made) | {"file": str(out_file), "form": form})
        return
    out(telling.text(made))
    say(f"written: {out_file}" + (f", {report}" if report else ""))


def _pair(text: str | None) -> tuple[int, int] | None:
    """`3,4` or `3` as (least, most). Raises BadParameter for what is neither."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2 or not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"--distractors {text!r} is no number and no pair of numbers, such as 3,4.")
    return int(parts[0]), int(parts[-1])
