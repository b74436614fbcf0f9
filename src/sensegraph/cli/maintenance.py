"""Commands around the index: demo, init, documents pii, documents purge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli import options, show
from sensegraph.cli.options import CommandRun, print_message, print_text, read_flags, with_options
from sensegraph.cli.progress import label_step, show_progress
from sensegraph.corpus import views
from sensegraph.errors import EmptyCorpus, Unapproved

if TYPE_CHECKING:
    from sensegraph.corpus.presets import Preset
    from sensegraph.personal.masking import Survey
    from sensegraph.runtime.stores.corpus_store import Freed

_DEMO = Path("sensegraph-demo")
_LISTED = 20  # documents that are named
_SMALL = 100_000  # bytes below which a size is told in kB
QUESTIONS = (
    "Who voted for the offer of Ardent Marine?",
    "What is Project Lantern?",
    "Who were the CTOs of Brackwater Labs, in order?",
    "What caused the false alarm at Norderhaven, and which release corrected it?",
    "What was the revenue of Brackwater Labs in 2021?",
    "What are the main themes of these two years?",
)
"""A fact, a definition, who held what when, two steps, what the documents do not say, and the whole."""


def run_demo(
    root: Annotated[Path, typer.Option("--root", "-C", metavar="DIR", help="Where the demonstration is put.")] = _DEMO,
    as_json: options.Json = False,
) -> None:
    """Index 40 documents of an invented company offline, ask six questions, and say where to go next."""
    folder, texts = root / "input", list[Path]()
    folder.mkdir(parents=True, exist_ok=True)
    for item in sorted(files("sensegraph").joinpath("data", "demo").iterdir(), key=lambda item: item.name):
        texts.append(folder / item.name)
        if not texts[-1].exists():
            texts[-1].write_bytes(item.read_bytes())
    given = {"engine": "offline", "embedder": "offline"}
    with show_progress() as report, options.open_corpus(root, given, progress=report, create=True) as corpus:
        corpus.add(*texts)
        built = corpus.build()
        if as_json:
            answers = [views.view_answer(corpus.query(q), corpus.index()) for q in QUESTIONS]
            told = [{"question": q, **answer} for q, answer in zip(QUESTIONS, answers, strict=True)]
            options.print_json({"root": str(root), "answers": told})
            return
        print_text(f"Two years of Brackwater Labs, an invented company, indexed in {root} without a model.\n")
        print_text(show.format_build(built))
        for question in QUESTIONS:
            answer = corpus.query(question)
            print_text(f"\n{'─' * len(question)}\n{question}\n\n{show.format_cited(answer)}")
    where = options.format_root_flag(root)
    print_text(
        "\nEvery statement is a sentence of a document; [n] says where it stands.\n\nWhere to go next:\n"
        f'  sensegraph query{where} "How many buoys had drifting sensors?"   a question of your own\n'
        f'  sensegraph show entity{where} "Jonas Weil"                       what is said of a person\n'
        f"  sensegraph graph draw{where}                                     a picture of the communities\n"
        "  sensegraph index PATH --root mine      your own documents; then: sensegraph query --root mine QUESTION"
    )


@with_options("* as_json root settings")
def set_up_folder(
    run: CommandRun,
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The folder, in place of --root.", show_default=False)
    ] = None,
    preset: Annotated[
        str,
        typer.Option("--preset", metavar="PAPER", help="Settings as a paper chose them: `sensegraph config presets`."),
    ] = "",
    demo: Annotated[bool, typer.Option("--demo", help="Put the demonstration there, and run it.")] = False,
) -> None:
    """Prepare a folder: sensegraph.toml with the settings that people change, prompts/ to edit, input/ for documents.

    What --preset and --set say is written there, --set last; an endpoint or a model among it counts as approved. An
    Ollama or a llama-server that runs on this machine is named, with what to write to use it; it is not used by itself.
    """
    root, given = folder or run.root, read_flags(run.settings)
    if demo:
        run_demo(root if folder or root != options.HERE else _DEMO, run.as_json)
        return
    from sensegraph.corpus import settings as own
    from sensegraph.engines.llm.prompts import copy_templates

    told, text, chosen = list[str](), *_choose_settings(preset, given)
    (root / "input").mkdir(parents=True, exist_ok=True)
    copy_templates(root / "prompts")
    written, new = root / own.FILE, not (root / own.FILE).exists()
    if not new:
        said = "--preset" if preset else "--set"
        lost = f", without what {said} says" if given or preset else ""
        print_message(f"{written} exists and was left as it is{lost}")
    else:
        written.write_text(text, encoding="utf-8")
        told.append(f"wrote {written}")
        if chosen:
            left = sum(not choice.setting for choice in chosen.choices)
            told.append(
                f"with the settings of {chosen.paper}; {left} of its choices cannot be set: "
                f"sensegraph config presets {chosen.name}"
            )
        told += _approve_settings(root)
    next_line = f"put documents into {root / 'input'}, then: sensegraph index{options.format_root_flag(root)}"
    run.print_result(
        lambda: {"root": str(root), "file": str(written), "new": new, "told": told},
        lambda: "\n".join([*told, next_line]),
    )


def _choose_settings(preset: str, given: Mapping[str, Any]) -> tuple[str, Preset | None]:
    """The text of a new settings file: with a preset, where one is named, and with what was given."""
    from sensegraph.cli.template import settings_toml
    from sensegraph.corpus import settings as own

    own.convert_settings(given, own.Settings, "command line")
    chosen = None
    if preset:
        from sensegraph.corpus.presets import find_preset

        chosen = find_preset(preset)
        given = own.lay_tables(chosen.tables(), given)
    return settings_toml(own.lay_tables({"model": {"prompts": "prompts"}}, given)), chosen


def _approve_settings(root: Path) -> Iterator[str]:
    """Approve what a new settings file names, and say so; name servers on this machine that it could name."""
    from sensegraph.corpus import settings as own
    from sensegraph.corpus.tools import needed_approvals
    from sensegraph.models.endpoint.endpoint_settings import record_approval

    settings, kept = own.load_settings(root), own.locate_user_file()
    for name in needed_approvals(settings):
        try:
            own.check_approved(settings, name)
        except Unapproved as e:
            record_approval(kept, e.wanted)
            yield f"approved {e.wanted} in {kept}"
    if not settings.endpoint.model and settings.engine == "auto":
        yield from offer_servers(root / own.FILE)


def offer_servers(file: Path) -> Iterator[str]:
    """Name the servers with models that run on this machine, and the settings that use them."""
    from sensegraph.cli.template import format_toml
    from sensegraph.models.endpoint.local_servers import find_local_servers

    for server in find_local_servers():
        models = ", ".join((*server.models, *server.embedding_models)) or "no model yet"
        more = f", window {server.window:,} tokens" if server.window else ""
        more += "" if server.ready else ", still loading"
        yield f"{server.kind} runs on this machine ({models}{more}). It is not used unless {file} says, under"
        yield "  [endpoint]"
        yield from (f"  {name} = {format_toml(value)}" for name, value in server.suggest_settings().items())


@with_options("* as_json root settings")
def report_personal_data(
    run: CommandRun,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files and folders (default: the corpus, else input/).")
    ] = None,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="Only show how this text would stand in the corpus.")
    ] = "",
    limit: options.Limit = _LISTED,
) -> None:
    """Report personal data in files, or in the corpus as it is: counts by kind and document. Nothing is written.

    Examples show the shape of what was found, never the thing itself. What is masked, and how, is set in [personal].
    """
    if text:
        with run.corpus(silent=True) as corpus:
            rules, masked = corpus.settings.personal, corpus.masked(text)
        run.print_result(lambda: {"text": masked}, lambda: masked)
        if rules.mask != "mask":
            print_message(f"personal.mask is {rules.mask}: texts stand as they are")
        elif masked == text:
            print_message(f"nothing of the kinds {', '.join((*rules.kinds, *rules.patterns))} is found in it")
        return
    found = _survey_paths(paths, run)
    total = sum(found.counts.values())
    lines = [f"{total:,} found in {len(found.documents):,} of {show.format_quantity(found.read, 'document')}"]
    for kind, n in found.counts.items():
        shapes = "  ".join(found.examples.get(kind, ()))
        lines.append(f"{kind:<10} {n:>7,}  {shapes}".rstrip())
    worst = sorted(found.documents.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    wide = max((len(name) for name, _ in worst[:limit]), default=0)
    for name, counts in worst[:limit]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in counts.items())
        lines.append(f"{name:<{wide}}  {kinds}")
    lines += [f"… and {len(worst) - limit:,} more documents (--limit, --json)"] * (len(worst) > limit)
    lines += ["not found by design:", *(f"- {what}" for what in found.unfound)]
    run.print_result(lambda: views.view_survey(found), lambda: "\n".join(lines))


def _survey_paths(paths: Sequence[Path] | None, run: CommandRun) -> Survey:
    from sensegraph.corpus.privacy import survey_documents
    from sensegraph.corpus.settings import FOLDER, load_settings
    from sensegraph.documents import load

    settings = load_settings(run.root, run.overrides())
    if not paths and (settings.store.url or (run.root / FOLDER).exists()):
        with run.corpus(silent=True) as corpus:
            if corpus.document_keys():
                return survey_documents(corpus.documents(), settings.personal)
    chosen = options.choose_paths(paths, run.root)
    loaded = load(chosen, settings=settings.documents)
    options.report_skipped(loaded.skipped)
    if not loaded.documents:
        raise EmptyCorpus(f"Nothing can be read from {', '.join(map(str, chosen)) or run.root / 'input'}: name files.")
    return survey_documents(loaded.documents, settings.personal)


@with_options("* as_json quiet root engine wait settings trust")
def collect_garbage(
    run: CommandRun,
    dry: Annotated[bool, typer.Option("--dry-run", help="Count what would be deleted; nothing is changed.")] = False,
) -> None:
    """Delete unreferenced data from the store: earlier indexes, kept answers, all of removed documents.

    What was paid for the documents as they are stays. Removed documents are erased from disk.
    """
    with run.corpus() as corpus:
        found = corpus.collect(dry=dry)
    verb = "would remove" if found.dry else "removed"
    lines = [f"{verb} {_format_freed(found.total)}"]
    if found.dry:
        rows = [(label_step(step) or "others", freed) for step, freed in found.by_step.items()]
        rows.sort(key=lambda row: (-row[1].bytes, row[0]))
        wide = max((len(name) for name, _ in rows), default=0)
        lines += [f"  {name:<{wide}}  {_format_freed(freed)}" for name, freed in rows]
    if found.operations:
        lines.append(f"{verb} names that no document holds from {show.format_quantity(found.operations, 'operation')}")
    if not found.dry:
        lines.append(f"on disk {_format_size(found.before)} before, {_format_size(found.after)} now")
    lines += [f"- {note}" for note in found.notes]
    run.print_result(lambda: views.view_collected(found), lambda: "\n".join(lines))


def _format_freed(freed: Freed) -> str:
    things = (("object", freed.objects), ("table", freed.tables), ("array", freed.arrays))
    told = ", ".join(show.format_quantity(n, thing) for thing, n in things if n)
    return f"{told or 'nothing'}; {_format_size(freed.bytes)}"


def _format_size(size: int) -> str:
    """A size for people: in kB where it is below 0.1 MB."""
    return f"{size / 1e6:,.1f} MB" if size >= _SMALL else f"{size / 1e3:,.1f} kB"
