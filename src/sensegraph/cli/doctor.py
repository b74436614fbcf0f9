"""The command that says what a corpus works with and, where it may, asks the endpoint what it takes."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph import __version__
from sensegraph.cli.options import CommandRun, with_options
from sensegraph.corpus import views

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.diagnosis import Diagnosis
    from sensegraph.corpus.settings import Settings
    from sensegraph.models.endpoint.probes import Finding

_WIDE = 28  # characters of a name of a line that are padded to at most
_FREE = 1_000_000_000  # bytes of a disk below which a build may run out of it
_EXTRA = re.compile(r"^([\w.-]+).*extra == [\"']([\w-]+)[\"']")
_LATE = 3600  # seconds by which a file may be newer than the clock says


@with_options("* as_json root engine settings trust")
def diagnose(
    run: CommandRun,
    online: Annotated[
        bool, typer.Option("--online", help="Ask the endpoint what it takes: a few small calls, under 2,500 tokens.")
    ] = False,
    window: Annotated[
        bool, typer.Option("--window", help="With --online, also try a prompt as large as the largest of ours.")
    ] = False,
) -> None:
    """Check this installation, the settings, the store and the files; with --online, what the endpoint takes.

    What is learned of an endpoint is remembered in the corpus's folder. Ends with status 1 where something fails. With
    --json for bug reports: it holds no texts, names of files or keys.
    """
    from sensegraph.cli.configuring import find_problems, read_layers
    from sensegraph.corpus.diagnosis import Diagnosis, ask_endpoints, describe_tools
    from sensegraph.corpus.settings import load_settings
    from sensegraph.models.endpoint.probes import Finding

    if window and not online:
        raise typer.BadParameter("--window needs --online: it asks the endpoint.")
    lines = list(check_installation())
    problems, _ = find_problems(run)
    if problems:
        advice = "`sensegraph config check` lists all mistakes"
        found = Diagnosis((*lines, *(Finding("settings", problem, advice, fails=True) for problem in problems)))
    else:
        from sensegraph.cli.template import flatten_tables

        given = {name for tables in read_layers(run).values() for name, _ in flatten_tables(tables)}
        told = f"{len(given)} given" if given else "all as they are by default"
        settings = load_settings(run.root, run.overrides())
        lines += [Finding("settings", told), *check_folder(run, settings)]
        found = ask_endpoints(run.root, settings, window=window) if online else describe_tools(settings)
        found = replace(found, findings=(*lines, *found.findings))
    run.print_result(lambda: views.view_diagnosis(found), lambda: format_diagnosis(found))
    if found.fails:
        raise typer.Exit(1)


def check_installation() -> Iterator[Finding]:
    """Versions, the encoding of texts, the clock, optional dependencies and plug-ins."""
    from importlib import metadata

    from sensegraph.models.endpoint.probes import Finding
    from sensegraph.plugins import list_plugins

    yield Finding("sensegraph", __version__)
    yield Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    encodings = {sys.getfilesystemencoding().lower(), (sys.stdout.encoding or "utf-8").lower()}
    advice = "" if encodings <= {"utf-8", "utf8"} else "set PYTHONUTF8=1, so that every character can be printed"
    yield Finding("encoding", ", ".join(sorted(encodings)), advice)
    yield Finding("clock", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))
    needed: dict[str, list[str]] = {}
    with suppress(metadata.PackageNotFoundError):
        for line in metadata.requires("sensegraph") or ():
            if (match := _EXTRA.match(line)) and match[2] != "dev":
                needed.setdefault(match[2], []).append(match[1])
    have = {re.sub(r"[-_.]+", "-", d.name).lower() for d in metadata.distributions()}
    there = {extra: all(re.sub(r"[-_.]+", "-", n).lower() in have for n in names) for extra, names in needed.items()}
    yield Finding("extras installed", ", ".join(extra for extra, whole in there.items() if whole) or "none")
    if missing := [extra for extra, whole in there.items() if not whole]:
        yield Finding(
            "extras missing", ", ".join(missing), f'only where needed: pip install "sensegraph[{missing[0]}]"'
        )
    for plugin in list_plugins():
        yield Finding(f"plug-in for {plugin.kind}", f"{plugin.name} from {plugin.origin}")


def check_folder(run: CommandRun, settings: Settings) -> Iterator[Finding]:
    """The store of the corpus, the disk, what waits for a build, and the files that wait in input/."""
    from sensegraph.corpus.settings import FOLDER
    from sensegraph.corpus.tools import has_store
    from sensegraph.documents.document_files import list_document_files
    from sensegraph.errors import SensegraphError
    from sensegraph.models.endpoint.probes import Finding

    place = run.root / FOLDER
    if has_store(settings, place):
        try:
            with run.corpus(silent=True) as corpus:
                yield from check_store(corpus)
        except SensegraphError as e:
            yield Finding("store", f"cannot be used: {e}", "`sensegraph index` builds it anew", fails=True)
        newest = max((f.stat().st_mtime for f in place.iterdir()), default=0.0)
        if newest > datetime.now(UTC).timestamp() + _LATE:
            yield Finding("files", "the store is newer than the clock of this machine", "set the clock")
    else:
        yield Finding("store", "none yet", "`sensegraph index PATH` makes one")
    if run.root.is_dir():
        free = shutil.disk_usage(run.root).free
        yield Finding("free disk", f"{free / 1e9:,.1f} GB", "" if free > _FREE else "a build may need more: make room")
    if (run.root / "input").is_dir():
        files, skipped = list_document_files(str(run.root / "input"), settings.documents)
        kinds = Counter(file.extension or "without an ending" for file in files)
        counted = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
        advice = "`sensegraph index --dry-run` names them" if skipped else ""
        yield Finding("files in input/", f"{counted or 'none'}; {len(skipped):,} not read", advice)


def check_store(corpus: Corpus) -> Iterator[Finding]:
    """Whether the store is whole, whether somebody builds, what waits, and what the index was built with."""
    from sensegraph.errors import Busy
    from sensegraph.models.endpoint.probes import Finding

    store, manifest, waiting = corpus.store, corpus.manifest(), len(corpus.workspace.pending())
    whole = getattr(store, "is_whole", lambda: True)()
    damage = "" if whole else "parts of it are damaged: `sensegraph index` computes them again"
    state = "whole" if whole else "damaged"
    yield Finding("store", f"{state}, {store.size() / 1e6:,.1f} MB", damage, fails=not whole)
    if not store.readonly:
        try:
            with store.exclusive():
                pass
        except Busy:
            yield Finding("build", "another process builds this corpus", "wait for its end: --wait SECONDS")
    if manifest is None:
        begun = "begun and not finished" if store.ledger() else "none yet"
        yield Finding("index", begun, "`sensegraph index` goes on" if waiting else "")
        return
    told = f"{manifest.counts['documents']:,} documents, by {manifest.engine} and {manifest.embedder}"
    yield Finding("index", told, f"{waiting:,} documents wait: `sensegraph index`" if waiting else "")
    if manifest.embedder != corpus.embedder.name:
        text = f"{corpus.embedder.name}, not {manifest.embedder} as in the index"
        yield Finding("embedder of questions", text, "`sensegraph index` embeds anew, or set the embedder of the index")


def format_diagnosis(found: Diagnosis) -> str:
    """A diagnosis as a table: what was asked, what was learned, and below it what to do."""
    wide = min(_WIDE, max(len(f.asked) for f in found.findings))
    lines = [f"endpoint  {found.address}  ({found.tokens:,} tokens used)"] if found.address else []
    for line in found.findings:
        lines.append(f"{line.asked:<{wide}}  {line.answer}")
        if line.advice:
            lines.append(f"{'':<{wide}}  → {line.advice}")
    if found.fails:
        lines.append("Something that is used by default does not work: see the lines with →.")
    return "\n".join(lines)
