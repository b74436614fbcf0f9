"""`eval questions`: make questions to measure with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from sensegraph.cli import options
from sensegraph.cli.progress import show_progress

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.index.estimate import StepEstimate
    from sensegraph.lab.questions.question_files import Kind, Outcome
    from sensegraph.types import Usage

_HERE = Path(".")
_GROUPS: Mapping[str, tuple[str, ...]] = {"linked": ("bridge", "comparison", "intersection", "temporal")}

About = Annotated[
    str, Option("--about", metavar="TEXT", help="What the corpus holds, and for whom: personas ask by it.")
]
FromGraph = Annotated[
    bool, Option("--from-graph", help="Questions on the index's own content; done where --about is not given.")
]
Personas = Annotated[int, Option("--personas", min=1, metavar="K", help="Personas.")]
Tasks = Annotated[int, Option("--tasks", min=1, metavar="N", help="Tasks of each persona.")]
Each = Annotated[int, Option("--questions", min=1, metavar="M", help="Questions for each persona at each task.")]
Classes = Annotated[
    str,
    Option(
        "--classes",
        metavar="A,B,…",
        help="Of the index's content: local, bridge, comparison, intersection, temporal (these four: linked), "
        "disambiguation, global, adversarial.",
        show_default="all but adversarial",
    ),
]
Out = Annotated[
    Path | None,
    Option("--out", metavar="FILE.jsonl|DIR", help="A file of questions, or a test collection with judgements."),
]
Seed = Annotated[int, Option("--seed", min=0, metavar="N", help="Seed of every draw.")]


def make_questions(
    root: options.Root = _HERE,
    about: About = "",
    from_graph: FromGraph = False,
    personas: Personas = 5,
    tasks: Tasks = 5,
    per_task: Each = 5,
    classes: Classes = "",
    each: Annotated[int, Option("--each", min=1, metavar="N", help="Questions of each class.")] = 10,
    templates: Annotated[bool, Option("--templates", help="Make them by rule, though there is a model.")] = False,
    target: Out = None,
    seed: Seed = 0,
    dry_run: Annotated[bool, Option("--dry-run", help="Estimate the cost; nothing is paid or written.")] = False,
    as_json: options.Json = False,
    engine: options.Engine = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    settings: options.Set = None,
    trust: options.Trust = False,
) -> None:
    """Make questions to measure with: by personas of a described corpus, or on what an index holds, with evidence."""
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.tools import estimate_only
    from sensegraph.lab.questions import question_files
    from sensegraph.lab.questions.grounded_questions import GroundSettings
    from sensegraph.lab.questions.question_making import PersonaSettings, Posing, foresee_questions, make_question_set

    if target is None and not dry_run and not as_json:
        raise BadParameter("--out names where the questions go: a file that ends in .jsonl, or a new folder.")
    if target is not None and _names_folder(target):
        question_files.check_folder_is_empty(target)
    grounds = GroundSettings(_parse_classes(classes), each, seed=seed) if from_graph or not about else None
    posing = Posing(about, PersonaSettings(personas, tasks, per_task), grounds, templates)
    given = options.read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    opening: Callable[..., AbstractContextManager[Corpus]] = partial(options.open_corpus, root, given)
    if grounds is None:  # where a description is enough, a new folder keeps what was paid for
        opening = partial(Corpus.open, root, settings=given)
    with show_progress() as report, opening(progress=report) as corpus:
        index = corpus.index() if grounds or _names_folder(target) else None
        if dry_run:
            with estimate_only():
                _show_question_costs(foresee_questions(posing, index, corpus.runtime()), corpus, as_json)
            return
        rt = corpus.runtime()
        before = rt.engine.usage() + rt.embedder.usage()
        found = make_question_set(posing, index, rt)
        usage = rt.engine.usage() + rt.embedder.usage() - before
        if target is not None and _names_folder(target):
            question_files.write_test_collections(target, found.questions, corpus.index())
        elif target is not None:
            question_files.write_questions(target, found.questions)
        notes = (*found.notes, *corpus.engine.notes())
    if as_json:
        options.print_json(record_questions(found, usage, notes, target))
    else:
        _show_questions(found, usage, notes, target)


def _parse_classes(text: str) -> tuple[Kind, ...]:
    """The classes of a list, all that have grounds where it is empty. Raises BadParameter for an unknown one."""
    from sensegraph.lab.questions.question_files import GROUNDED, KINDS

    named = [part.strip() for part in text.split(",") if part.strip()]
    wanted = [kind for part in named for kind in _GROUPS.get(part, (part,))]
    if unknown := [kind for kind in wanted if kind not in KINDS]:
        raise BadParameter(f"--classes names {unknown[0]!r}; there are {', '.join((*KINDS, *_GROUPS))}.")
    return tuple(kind for kind in KINDS if kind in wanted) or GROUNDED


def _names_folder(target: Path | None) -> bool:
    return target is not None and target.suffix.lower() != ".jsonl"


def _show_questions(found: Outcome, usage: Usage, notes: Sequence[str], target: Path | None) -> None:
    """What was made, for people."""
    from sensegraph.cli import show
    from sensegraph.lab.questions.grounded_questions import LACKING

    made = sorted({(q.made, q.kind) for q in found.questions})
    rows = [(kind, how, sum(q.kind == kind and q.made == how for q in found.questions)) for how, kind in made]
    lines = [f"{kind:<15} {n:>5}  by {how}" for kind, how, n in rows]
    lines.append(f"{'together':<15} {len(found.questions):>5}, to {target}")
    lines += [f"dropped: {n} × {reason}" for reason, n in found.dropped]
    by_rule = {q.made for q in found.questions} <= {"template"}
    lines += [
        f"missing: {n} × {kind}: {LACKING[kind] if by_rule else 'no more could be made'}" for kind, n in found.missing
    ]
    if found.missing and by_rule:
        lines.append("more come of a model (--set endpoint.model=…), or of more and longer texts; none is forced")
    lines += [f"cost: {show.format_usage(usage)}"] if usage.calls else []
    options.print_text("\n".join([*lines, *notes]))


def record_questions(found: Outcome, usage: Usage, notes: Sequence[str], target: Path | None) -> dict[str, Any]:
    """What was made, for programs."""
    from sensegraph.lab.questions.question_files import record_question

    made = {"out": str(target) if target else None, "counts": found.counts}
    lacking = {"dropped": dict(found.dropped), "missing": dict(found.missing)}
    questions = [record_question(q) for q in found.questions]
    return {**made, **lacking, "questions": questions, "usage": asdict(usage), "notes": list(notes)}


def _show_question_costs(steps: Sequence[StepEstimate], corpus: Corpus, as_json: bool) -> None:
    """What making questions would cost, if nothing has to be asked for again."""
    from sensegraph.protocols import PricedEngine

    engine, calls = corpus.engine, sum(s.calls for s in steps)
    prompt, completion = sum(s.prompt_tokens for s in steps), sum(s.completion_tokens for s in steps)
    cost = engine.price(prompt, completion) if isinstance(engine, PricedEngine) else 0.0
    if as_json:
        told = {"calls": calls, "prompt_tokens": prompt, "completion_tokens": completion, "cost_usd": cost}
        options.print_json({"steps": [asdict(s) for s in steps], **told})
        return
    lines = [f"{s.step:<20} {s.items:>6} items {s.calls:>6} calls {s.prompt_tokens:>10,} tokens" for s in steps]
    lines.append(f"{calls:,} calls, {prompt:,} tokens in, {completion:,} out, {cost:.4f} USD")
    options.print_text("\n".join(lines))
