"""What `index --sync` says: the plan, before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.cli.options import print_json, print_message, print_text, report_skipped
from sensegraph.corpus.outcomes import Added
from sensegraph.corpus.views import view_plan

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.outcomes import Plan

_LISTED = 20  # documents of each kind that are named


def print_plan(corpus: Corpus, paths: Sequence[Path], as_json: bool) -> None:
    """Print what would be done with the documents of these paths, and what the build after that would cost."""
    from sensegraph.cli import show

    plan = corpus.plan(*paths, estimate=True)
    report_skipped(plan.skipped)
    if plan.estimate is None:
        return
    seconds = show.estimate_seconds(plan.estimate, corpus.settings.endpoint)
    if as_json:
        print_json(view_plan(plan, seconds))
    else:
        print_text(f"{format_plan(plan)}\n{show.format_estimate(plan.estimate, seconds)}")


def sync_documents(corpus: Corpus, paths: Sequence[Path], quiet: bool) -> tuple[Added, list[str]]:
    """Make the corpus hold what the paths hold, saying the plan first; what came of it, and what could not be found."""
    plan = corpus.plan(*paths)
    report_skipped(plan.skipped)
    if not quiet:
        print_text(format_plan(plan))
    elif plan.withheld:
        print_message(_describe_withheld(plan))
    done = corpus.sync(*paths)
    new = (*done.added, *(name for _, name in done.renamed))
    return Added(new, done.edited, done.same, done.skipped, done.personal), list(done.withheld)


def format_plan(plan: Plan) -> str:
    """A plan for people: how many documents of each kind, and which."""
    kinds = {
        "added": [f"+ {name}" for name in plan.added],
        "edited": [f"~ {name}" for name in plan.edited],
        "renamed": [f"> {old} → {new}" for old, new in plan.renamed],
        "removed": [f"- {name}" for name in plan.removed],
    }
    counted = ", ".join(f"{len(lines):,} {kind}" for kind, lines in kinds.items())
    lines = [f"{counted}, {len(plan.same):,} as they were"]
    for kind, found in kinds.items():
        lines += found[:_LISTED]
        lines += [f"  and {len(found) - _LISTED:,} more {kind}"] * (len(found) > _LISTED)
    lines += [_describe_withheld(plan)] * bool(plan.withheld)
    return "\n".join([*lines, *(f"- {note}" for note in plan.notes)])


def _describe_withheld(plan: Plan) -> str:
    many = "1 document" if len(plan.withheld) == 1 else f"{len(plan.withheld):,} documents"
    return (
        f"{many} cannot be found and may be in what could not be read ({', '.join(plan.unread[:3])}): not removed; "
        "mend that, or use: sensegraph remove"
    )
