"""Commands about documents and the index of them: index, estimate, remove, status."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import (
    Engine,
    Json,
    MaxCost,
    MaxTokens,
    Quiet,
    Root,
    Set,
    Trust,
    Wait,
    choose_paths,
    format_root_flag,
    open_corpus,
    print_json,
    print_message,
    print_text,
    read_overrides,
    report_skipped,
)  # fmt: skip
from sensegraph.cli.progress import show_progress
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.outcomes import Added

_HERE = Path(".")
_NOTHING = "Nothing could be read from {}; the index is as it was."

Paths = Annotated[
    list[Path] | None, typer.Argument(metavar="PATH", readable=False, help="Files and folders; without, input/.")
]  # one that may not be read is skipped by name, like one inside a folder


def index_documents(
    paths: Paths = None,
    root: Root = _HERE,
    engine: Engine = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Cluster without regard to the communities of the index before.")
    ] = False,
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", metavar="NAME", help="Build only what this method reads; may be given several times."),
    ] = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Also remove documents that came from PATH and are gone; know renamed ones.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="With --sync: say what it would do and cost; nothing is done.")
    ] = False,
    wait: Wait = 0.0,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    quiet: Quiet = False,
    as_json: Json = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Add or update documents and build the index. What was computed before is not computed again."""
    from sensegraph.cli import show
    from sensegraph.cli.corpus import sync as following
    from sensegraph.corpus import views
    from sensegraph.methods import load_method

    if plan and not sync:
        raise typer.BadParameter("--plan goes with --sync; what index alone would compute is said by: estimate.")
    chosen, given = choose_paths(paths, root), read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    with show_progress(quiet) as report, open_corpus(root, given, progress=report, create=True) as corpus:
        corpus.workspace.wait = wait
        if plan:
            following.print_plan(corpus, chosen, as_json)
            return
        added, gone = (
            following.sync_documents(corpus, chosen, quiet or as_json)
            if sync
            else _add_documents(corpus, chosen, paths, root)
        )
        manifest = corpus.manifest()
        if manifest and corpus.store.ref(f"interchange/{manifest.chunks}"):
            print_message(
                "The index that was imported is replaced by one built from its documents; `import` brings it back."
            )
        built = corpus.build(
            fresh=fresh,
            parts=sorted({part for name in methods for part in load_method(name).reads}) if methods else None,
        )
    if as_json:
        print_json(views.view_built(built, added, gone))
    elif not quiet:
        print_text(show.format_build(built, added))


def _add_documents(
    corpus: Corpus, chosen: Sequence[Path], paths: Sequence[Path] | None, root: Path
) -> tuple[Added, list[str]]:
    """What was added, and what came from the same paths before and is not there now."""
    added = corpus.add(*chosen)
    report_skipped(added.skipped)
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
            f"sensegraph remove {names}{format_root_flag(root)}"
        )
    return added, gone


def estimate_index(
    paths: Paths = None,
    root: Root = _HERE,
    engine: Engine = None,
    as_json: Json = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Say what `index` would compute: calls, tokens, money, time. Nothing is paid, and the corpus stays as it is."""
    from sensegraph.cli import show
    from sensegraph.corpus import views

    with (
        show_progress() as report,
        open_corpus(root, read_overrides(settings, engine, trust=trust), progress=report, create=True) as corpus,
    ):
        read = corpus.sources.read(choose_paths(paths, root))
        report_skipped(read.skipped)
        if paths and not read.documents:
            raise InputError(_NOTHING.format(", ".join(map(str, paths))))
        found = corpus.builder.estimate_with(read.documents)
        seconds = show.estimate_seconds(found, corpus.settings.endpoint)
    if as_json:
        print_json(views.view_estimate(found, seconds, read.skipped))
    else:
        print_text(show.format_estimate(found, seconds))


def remove_documents(
    documents: Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Ids, as `status --documents` lists.")],
    root: Root = _HERE,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Remove documents and bring the index up to date: as if they had never been there. Files are not touched."""
    from sensegraph.cli import show

    with (
        show_progress(quiet) as report,
        open_corpus(root, read_overrides(settings, trust=trust), progress=report) as corpus,
    ):
        corpus.workspace.wait = wait
        have = list(corpus.document_keys())
        for name in documents:
            if name not in have and (near := get_close_matches(name, have, 1)):
                raise InputError(f"Not in the corpus: {name!r}; did you mean {near[0]!r}?")
        corpus.remove(*documents)
        left = corpus.document_keys()
        built = corpus.build() if left else None
    if not quiet:
        print_text(f"removed {show.format_quantity(len(documents), 'document')}")
        print_text(show.format_build(built) if built else "no document is left, and no index")


def show_status(
    root: Root = _HERE,
    documents: Annotated[bool, typer.Option("--documents", help="List the ids of all documents.")] = False,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show what the corpus holds, what its index was built with, what it has cost, and what waits for a build."""
    from sensegraph.cli import show
    from sensegraph.corpus import views
    from sensegraph.corpus.outcomes import Status
    from sensegraph.corpus.settings import FILE, FOLDER, Settings, convert_settings, load_settings

    given = read_overrides(settings)
    if (root / FILE).is_file() and not (root / FOLDER).exists():  # a folder that was only prepared is an empty corpus
        convert_settings(given, Settings, "command line")
        load_settings(root, given)  # for its errors
        found, listed = Status(0, 0, {}, (), "", "", {}, (), 0), list[str]()
    else:
        with open_corpus(root, given) as corpus:
            found, listed = corpus.status(), list(corpus.document_keys())
    ids = listed if documents else None
    if as_json:
        print_json(views.view_status(found, ids))
    else:
        print_text("\n".join(ids) if ids is not None else show.format_status(found, root))
