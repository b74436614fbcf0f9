"""The command that keeps an index up to date with its files: watch."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sensegraph.cli.options import (
    Engine,
    MaxCost,
    MaxTokens,
    Quiet,
    Root,
    Set,
    Trust,
    Wait,
    choose_paths,
    open_corpus,
    print_message,
    print_text,
    read_overrides,
)
from sensegraph.cli.progress import show_progress
from sensegraph.errors import InputError

_HERE = Path(".")


def watch_files(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files and folders; without, input/.")
    ] = None,
    root: Root = _HERE,
    engine: Engine = None,
    every: Annotated[float, typer.Option("--every", min=0.05, metavar="SECONDS", help="Between two looks.")] = 2.0,
    settle: Annotated[
        float, typer.Option("--settle", min=0.0, metavar="SECONDS", help="Without a change before files are read.")
    ] = 2.0,
    wait: Wait = 60.0,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    quiet: Quiet = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Index the files, and again whenever they change, as `index --sync` does; Ctrl-C or SIGTERM ends it.

    A round that fails is told and tried again after a while; what was paid for is kept. Limits hold for each round.
    A path must exist at first; one that goes later is waited for.
    """
    from sensegraph.corpus.settings import load_settings
    from sensegraph.corpus.watching import Pace, follow_changes, take_snapshot

    places, given = (
        choose_paths(paths, root) or [root / "input"],
        read_overrides(settings, engine, max_tokens, max_cost, trust=trust),
    )
    if missing := [place for place in places if not place.exists()]:  # nobody is to wait in vain
        raise InputError(f"{missing[0]} does not exist; check the spelling and the current folder, or make it first.")
    reading = load_settings(root, given).documents
    with _stop_on_signal():
        follow_changes(
            lambda: take_snapshot(places, reading),
            lambda: _run_round(places, root, given, wait, quiet),
            Pace(every, settle),
            pause=time.sleep,
            now=time.monotonic,
        )


def _run_round(paths: Sequence[Path], root: Path, given: Mapping[str, Any], wait: float, quiet: bool) -> bool:
    """Bring the index up to date once; whether that succeeded. What went wrong is told on stderr."""
    from sensegraph.cli import show
    from sensegraph.cli.corpus import sync
    from sensegraph.errors import SensegraphError, Unapproved

    try:
        with show_progress(quiet) as report, open_corpus(root, given, progress=report, create=True) as corpus:
            corpus.workspace.wait = wait
            added, _ = sync.sync_documents(corpus, paths, True)
            if corpus.status().pending:
                built = corpus.build()
                if not quiet:
                    print_text(f"{time.strftime('%H:%M:%S')} {show.format_build(built, added)}")
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
