"""Commands about documents and the index of them: index, documents remove, status."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli import options, show
from sensegraph.cli.options import (
    CommandRun,
    Paths,
    print_message,
    print_text,
    with_options,
)
from sensegraph.corpus import views
from sensegraph.errors import BatchPending, InputError, SensegraphError, Unapproved

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.sources import Added, Plan
    from sensegraph.documents.images import FiguresRead
    from sensegraph.models.batches.batch_box import BatchPlan

_NOTHING = "Nothing could be read from {}; the index is as it was."
_LISTED = 20  # documents of each kind that are named
_FEW = 5  # files with images that were not read that are named
_PATIENT = 60.0  # seconds that --watch waits for the end of another build


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How `index` asks a model in batches."""

    batch: Annotated[
        bool, typer.Option("--batch", help="Ask the model in batches, cheaper and within a day; run again to go on.")
    ] = False
    write_requests: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl", help="Write what a model has to be asked next into a file; nothing is sent."
        ),
    ] = None
    read_replies: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Take the replies to such requests from a file, and go on."),
    ] = None

    def plan(self) -> BatchPlan | None:
        """What a build is told; nothing where no flag was given."""
        if not (self.batch or self.write_requests or self.read_replies):
            return None
        from sensegraph.models.batches.batch_box import BatchPlan

        return BatchPlan(self.write_requests, self.read_replies)


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """How `index --watch` follows files."""

    watch: Annotated[
        bool, typer.Option("--watch", help="Go on indexing whenever files change, until Ctrl-C or SIGTERM.")
    ] = False
    every: Annotated[
        float, typer.Option("--every", min=0.05, metavar="SECONDS", help="With --watch: between two looks.")
    ] = 2.0
    settle: Annotated[
        float, typer.Option("--settle", min=0.0, metavar="SECONDS", help="With --watch: without a change before that.")
    ] = 2.0


@with_options("* dry_run max_tokens max_cost as_json quiet root engine wait settings trust")
def index_documents(
    run: CommandRun,
    batches: BatchOptions,
    following: FollowOptions,
    paths: Paths = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Recompute communities from scratch.")] = False,
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="NAME", help="Build only what this method reads (repeatable)."),
    ] = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Mirror PATH: also remove deleted files and follow renames.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Ask the model again for the chunks that it could not read before.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="End with status 1 if a chunk could not be read.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Estimate calls, tokens, money and time; nothing is paid or changed.",
                     rich_help_panel=options.COST),
    ] = False,
) -> None:  # fmt: skip
    """Add or update documents and build the index. What was computed before is not computed again.

    With --watch each round is a run of --sync of its own: a round that fails is reported and tried again after a while,
    what was paid for is kept, and limits hold for each round.
    """
    from sensegraph.methods import load_method

    if following.watch:
        if dry_run:
            raise typer.BadParameter("--dry-run says what one run would do, and --watch goes on: choose one.")
        watch_files(replace(run, wait=run.wait or _PATIENT), paths, following)
        return
    chosen = options.choose_paths(paths, run.root)
    with run.corpus(create=True) as corpus:
        if dry_run:
            (_print_plan if sync else _print_estimate)(run, corpus, chosen, paths)
            return
        added, gone = (
            _sync_documents(corpus, chosen, run.quiet or run.as_json)
            if sync
            else _add_documents(corpus, chosen, paths, run.root)
        )
        manifest = corpus.manifest()
        if manifest and corpus.store.ref(f"interchange/{manifest.chunks}"):
            print_message(
                "The index that was imported is replaced by one built from its documents; `sensegraph graph import` "
                "brings it back."
            )
        parts = sorted({part for name in methods for part in load_method(name).reads}) if methods else None
        try:
            built = corpus.builder.build(fresh=fresh, retry=retry, parts=parts, batch=batches.plan())
        except BatchPending as e:
            if not batches.write_requests:
                raise
            waiting = str(e)
            run.print_result(lambda: {"waiting": waiting}, lambda: waiting)  # that is what was asked for
            return
    run.print_result(lambda: views.view_built(built, added, gone), lambda: show.format_build(built, added))
    if strict and built.left_out:
        raise typer.Exit(1)


def _report_images(found: FiguresRead) -> None:
    """Say on stderr how many images in which files were not read, and why."""
    for reason in dict.fromkeys(item.reason for item in found.unread):
        files = [item for item in found.unread if item.reason == reason]
        shown = ", ".join(f"{item.path} ({item.images:,})" for item in files[:_FEW])
        more = f" and {len(files) - _FEW:,} more files" if len(files) > _FEW else ""
        count = sum(item.images for item in files)
        one = "1 image was not read" if count == 1 else f"{count:,} images were not read"
        print_message(f"{one}: {shown}{more}; {reason}".replace("\n", "\\n"))


def _add_documents(
    corpus: Corpus, chosen: Sequence[Path], paths: Sequence[Path] | None, root: Path
) -> tuple[Added, list[str]]:
    """What was added, and what came from the same paths before and is not there now."""
    added = corpus.add(*chosen)
    options.report_skipped(added.skipped)
    _report_images(added.figures)
    read = [*added.new, *added.changed, *added.same]
    if paths and not read:
        raise InputError(_NOTHING.format(", ".join(map(str, paths))))
    gone = corpus.mirror.find_missing(chosen, read)
    corpus.mirror.record_origin(chosen, read)
    if gone:
        names = " ".join(shlex.quote(name) for name in gone[:3]) + (" …" if len(gone) > 3 else "")
        one = len(gone) == 1
        many = "1 document that was read" if one else f"{len(gone)} documents that were read"
        places, stay = ", ".join(map(str, chosen)), "stays" if one else "stay"
        print_message(
            f"{many} from {places} can no longer be read there, and {stay} indexed until: "
            f"sensegraph documents remove {names}{options.format_root_flag(root)}"
        )
    return added, gone


def _print_estimate(run: CommandRun, corpus: Corpus, chosen: Sequence[Path], paths: Sequence[Path] | None) -> None:
    """Print what `index` would compute: calls, tokens, money, time."""
    from sensegraph.corpus.tools import estimate_only

    with estimate_only():
        read = corpus.sources.read(chosen, looking="foreseen")
    options.report_skipped(read.skipped)
    _report_images(read.figures)
    if paths and not read.documents:
        raise InputError(_NOTHING.format(", ".join(map(str, paths))))
    found = corpus.builder.estimate_with(read)
    seconds, share = views.estimate_seconds(found, corpus.settings.endpoint), corpus.settings.endpoint.batch_price
    run.print_result(
        lambda: views.view_estimate(found, seconds, read.skipped, share),
        lambda: show.format_estimate(found, seconds, share),
    )


@with_options("* as_json quiet root wait settings trust")
def remove_documents(
    run: CommandRun,
    documents: Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Ids, as `documents list` shows them.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Name what would be removed; nothing is changed.")] = False,
) -> None:
    """Remove documents and bring the index up to date: as if they had never been there.

    Files are not touched: indexing their folder again reads them again. Move them away, or exclude them.
    """
    from sensegraph.corpus.sources import Added
    from sensegraph.corpus.workspace import ORIGIN

    with run.corpus() as corpus:
        have = list(corpus.document_keys())
        for name in documents:
            if name not in have:
                near = get_close_matches(name, have)
                meant = f"did you mean {near[0]!r}?" if near else "`sensegraph documents list` shows what is."
                raise InputError(f"Not in the corpus: {name!r}; {meant}")
        if dry_run:
            told = f"would remove {show.format_quantity(len(documents), 'document')}: {', '.join(documents)}"
            run.print_result(lambda: {"removed": documents, "dry_run": True}, lambda: told)
            return
        came = corpus.store.refs(ORIGIN)
        places = {place for name in documents for place in came.get(ORIGIN + name, "").split("\n")}
        corpus.remove(*documents)
        left = corpus.document_keys()
        built = corpus.build() if left else None
    if there := sorted(place for place in places if os.path.exists(place)):
        print_message(
            f"Files stay where they are, and `sensegraph index {shlex.join(there)}` reads them again: move them away, "
            "or name them in documents.exclude."
        )
    done = f"removed {show.format_quantity(len(documents), 'document')}\n"
    run.print_result(
        lambda: {"removed": documents, **(views.view_built(built, Added(), []) if built else {})},
        lambda: done + (show.format_build(built) if built else "no document is left, and no index"),
    )


@with_options("* as_json root settings")
def show_status(
    run: CommandRun,
    documents: Annotated[bool, typer.Option("--documents", help="List the ids of all documents.")] = False,
    limit: options.Limit = 1000,
) -> None:
    """Show what the corpus holds, what its index was built with, what it has cost, and what waits for a build."""
    from sensegraph.corpus.settings import FILE, FOLDER, Settings, convert_settings, load_settings
    from sensegraph.corpus.workspace import Status

    root, given = run.root, run.overrides()
    prepared = (root / FILE).is_file() and not (root / FOLDER).exists()
    if prepared:
        convert_settings(given, Settings, "command line")
    if prepared and not load_settings(root, given).store.url:  # a folder that was only prepared is an empty corpus
        found, listed = Status(0, 0, {}, (), "", "", {}, (), 0), list[str]()
    else:
        with run.corpus(silent=True) as corpus:
            found, listed = corpus.status(), list(corpus.document_keys())
    run.print_result(
        lambda: views.view_status(found, listed if documents else None),
        lambda: "\n".join(options.limit_rows(listed, limit)) if documents else show.format_status(found, root),
    )


# ── index --sync ──


def _print_plan(run: CommandRun, corpus: Corpus, chosen: Sequence[Path], paths: Sequence[Path] | None) -> None:
    """Print what would be done with the documents of these paths, and what the build after that would cost."""
    plan = corpus.plan(*chosen, estimate=True)
    options.report_skipped(plan.skipped)
    _report_images(plan.figures)
    if plan.estimate is None:
        return
    seconds, share = (
        views.estimate_seconds(plan.estimate, corpus.settings.endpoint),
        corpus.settings.endpoint.batch_price,
    )
    told = show.format_estimate(plan.estimate, seconds, share)
    run.print_result(lambda: views.view_plan(plan, seconds), lambda: f"{_format_plan(plan)}\n{told}")


def _sync_documents(corpus: Corpus, paths: Sequence[Path], quiet: bool) -> tuple[Added, list[str]]:
    """Make the corpus hold what the paths hold, saying the plan first; what came of it, and what could not be found."""
    plan = corpus.plan(*paths)
    options.report_skipped(plan.skipped)
    if not quiet:
        print_text(_format_plan(plan))
    elif plan.withheld:
        print_message(_describe_withheld(plan))
    done = corpus.sync(*paths)
    _report_images(done.figures)
    return done.as_added(), list(done.withheld)


def _format_plan(plan: Plan) -> str:
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
        "fix that, or use: sensegraph documents remove"
    )


# ── watch ──


def watch_files(run: CommandRun, paths: Sequence[Path] | None, following: FollowOptions) -> None:
    """Index the files, and again whenever they change, as `index --sync` does; Ctrl-C or SIGTERM ends it.

    A path must exist at first; one that goes later is waited for.
    """
    from sensegraph.corpus.settings import load_settings
    from sensegraph.corpus.sources import Pace, follow_changes
    from sensegraph.documents.document_files import take_snapshot

    places, given = options.choose_paths(paths, run.root) or [run.root / "input"], run.overrides()
    if missing := [place for place in places if not place.exists()]:  # nobody is to wait in vain
        raise InputError(f"{missing[0]} does not exist; check the spelling and the current folder, or make it first.")
    reading = load_settings(run.root, given).documents
    with _stop_on_signal():
        follow_changes(
            lambda: take_snapshot(places, reading),
            lambda: _run_round(places, run),
            Pace(following.every, following.settle),
            pause=time.sleep,
            now=time.monotonic,
        )


def _run_round(paths: Sequence[Path], run: CommandRun) -> bool:
    """Bring the index up to date once; whether that succeeded. What went wrong is told on stderr."""
    try:
        with run.corpus(create=True) as corpus:
            added, _ = _sync_documents(corpus, paths, True)
            if corpus.status().pending:
                built = corpus.builder.build()
                run.print_result(
                    lambda: views.view_built(built, added, []),
                    lambda: f"{time.strftime('%H:%M:%S')} {show.format_build(built, added)}",
                )
    except Unapproved:
        raise  # waiting does not help
    except (SensegraphError, OSError) as e:
        print_message(f"{e} The index is as it was; this is tried again after a while, or when a file changes.")
        return False
    return True


@contextmanager
def _stop_on_signal() -> Iterator[None]:
    """End well when this process is told to: a build that runs is stopped, and what it has paid for is kept."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        print_message("stopped; the index is as the last round left it, and the next one resumes")
    finally:
        signal.signal(signal.SIGTERM, before)
