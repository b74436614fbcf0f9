"""The command that fits the prompts to a corpus: `tune prompts`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from sensegraph.cli import options
from sensegraph.cli.options import (
    Paths,
)
from sensegraph.errors import EmptyCorpus, InputError, SettingsError

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.engines.llm.prompt_tuning import Tuned
    from sensegraph.types import Chunk

_HERE = Path(".")
_FOLDER = "prompts"
_STEP = "tune-prompts"  # what the ledger calls it


def tune_prompts(
    paths: Paths = None,
    root: options.Root = _HERE,
    sample: Annotated[
        int, Option("--sample", min=1, metavar="N", help="Passages that the model is shown, of many documents.")
    ] = 15,
    language: Annotated[
        str, Option("--language", metavar="L", help="What everything is to be written in, such as German.")
    ] = "",
    force: Annotated[bool, Option("--force", help="Replace prompts that were edited, too.")] = False,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    as_json: options.Json = False,
    settings: options.Set = None,
    trust: options.Trust = False,
) -> None:
    """Fit the prompts to a corpus: its domain, its kinds of things, examples from it. Read and edit what it writes."""
    from sensegraph.engines.llm.llm import LLMEngine
    from sensegraph.engines.llm.prompt_tuning import fit_prompts
    from sensegraph.engines.llm.prompts import copy_templates

    given = options.read_overrides(settings, None, max_tokens, max_cost, trust=trust)
    with options.open_corpus(root, given, create=True) as corpus:
        if not isinstance(corpus.engine, LLMEngine):
            raise SettingsError(
                f"Prompts are for a model, and the offline engine {corpus.engine.name!r} uses none: set endpoint.model "
                f"in {root / 'sensegraph.toml'}, or for this run --set endpoint.model=NAME."
            )
        engine, folder = corpus.engine, Path(corpus.settings.model.prompts or root / _FOLDER)
        kept = () if force else _find_edited_prompts(folder)
        shown = _sample_passages(corpus, options.choose_paths(paths, root), sample)
        before = engine.usage()
        try:
            found = fit_prompts(engine, shown, language)
        finally:
            corpus.store.spend(_STEP, engine.usage() - before)
        copy_templates(folder)  # those that are not fitted
        templates = {name: text for name, text in found.templates if name not in kept}
        for name, text in templates.items():
            (folder / f"{name}.md").write_text(text, encoding="utf-8")
        if as_json:
            spent = {"prompt_tokens": found.usage.prompt_tokens, "completion_tokens": found.usage.completion_tokens}
            told = asdict(found.profile) | {"written": list(templates), "kept": list(kept), "folder": str(folder)}
            options.print_json(told | {"calls": found.usage.calls, **spent, "notes": list(found.notes)})
        else:
            options.print_text(_describe_tuned(found, list(templates), kept, folder))
        _update_settings(found, root, folder, language)
        if not as_json:
            options.print_text(f"read the prompts, edit them, then: sensegraph index{options.format_root_flag(root)}")


# ── what is shown to the model ──


def _sample_passages(corpus: Corpus, chosen: Sequence[Path], count: int) -> list[Chunk]:
    """`count` chunks, spread over the documents of these paths, else over those that the corpus holds.

    They are the same ones for the same documents, in whatever order they come. Raises EmptyCorpus where there is none.
    """
    from sensegraph.index.chunks import chunk_by, chunk_documents
    from sensegraph.runtime.keys import key

    read = corpus.sources.read(chosen)
    options.report_skipped(read.skipped)
    documents = read.documents or ([] if chosen else corpus.sources.masked_documents())
    if not documents:
        where = ", ".join(map(str, chosen)) or f"{corpus.root / 'input'}, and no document is indexed"
        raise EmptyCorpus(f"Nothing can be read from {where}: name files, or put documents into input/.")
    how = {"size": corpus.settings.index.chunk_tokens, "overlap": corpus.settings.index.chunk_overlap}
    places = {key(_STEP, d.id): n for n, d in enumerate(documents)}
    chunker = corpus.workspace.chunker
    listed = (documents[places[k]] for k in sorted(places))
    cut = (chunk_by.fn([d], chunker=chunker)[0] if chunker else chunk_documents.fn([d], **how)[0] for d in listed)
    held = list(islice(filter(None, cut), count))
    mixed = (sorted(chunks, key=lambda c: key(_STEP, c.id)) for chunks in held)
    turns = (c for turn in zip_longest(*mixed) for c in turn if c is not None)
    found = list(islice(turns, count))
    if not found:
        raise EmptyCorpus("The documents hold no text: name others.")
    return found


# ── what is written ──


def _find_edited_prompts(folder: Path) -> tuple[str, ...]:
    """The prompts in `folder` that are not the packaged ones. Raises InputError, before any call, when all differ."""
    from sensegraph.engines.llm.prompt_tuning import list_fitted_templates
    from sensegraph.engines.llm.prompts import read_packaged_template
    from sensegraph.engines.llm.templates import is_earlier_edition

    files = ((name, folder / f"{name}.md") for name in list_fitted_templates())
    there = ((name, file.read_text("utf-8")) for name, file in files if file.is_file())
    changed = ((name, text) for name, text in there if text != read_packaged_template(name))
    edited = tuple(name for name, text in changed if not is_earlier_edition(name, text))
    if len(edited) == len(list_fitted_templates()):
        raise InputError(f"Every prompt in {folder} was edited, by hand or by an earlier run: --force replaces them.")
    return edited


def _describe_tuned(found: Tuned, written: Sequence[str], kept: Sequence[str], folder: Path) -> str:
    from sensegraph.cli import show

    p = found.profile
    lines = [
        f"domain        {p.domain}",
        f"persona       {p.persona}",
        f"language      {p.language or 'not said'}",
        f"entity types  {', '.join(p.entity_types)}",
        f"examples      {show.format_quantity(len(found.examples), 'passage')}",
        f"cost          {show.format_usage(found.usage)}",
        f"wrote {show.format_quantity(len(written), 'prompt')} to {folder}",
    ]
    if kept:
        lines.append(f"left as they were edited (--force replaces them): {', '.join(kept)}")
    return "\n".join([*lines, *found.notes])


def _update_settings(found: Tuned, root: Path, folder: Path, language: str) -> None:
    """Set what the settings file does not say; what it says otherwise is left, and told."""
    from sensegraph.cli.template import format_toml, settings_toml
    from sensegraph.corpus.settings import FILE

    path = root / FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else settings_toml()
    types, prompts = list(found.profile.entity_types), os.path.relpath(folder, root)
    wanted: dict[str, Any] = {"entity_types": types, "prompts": prompts}
    wanted |= {"language": language} if language else {}
    changes = []
    for name, value in wanted.items():
        line = f"{name} = {format_toml(value)}"
        added = set_model_line(text, name, value, line)
        changes += [] if added is not None else [line]
        text = text if added is None else added
    path.write_text(text, encoding="utf-8")
    if changes:
        told = "\n".join(changes)
        options.print_message(f"{path} says otherwise; to use what was found, change in [model]:\n{told}")


def set_model_line(text: str, name: str, value: Any, line: str) -> str | None:
    """Settings with `line` in the table [model], in the place of its comment; None where they say something else."""
    said = tomllib.loads(text)
    if name in (model := said.get("model", {})):
        return text if model[name] == value else None
    wanted = {**said, "model": {**model, name: value}}
    # the line goes for the comment that shows the default, else below the head, else to the end
    head = re.search(r"^\[model\][^\n]*$", text, re.MULTILINE)
    before, table, rest = (text[: head.start()], head[0], text[head.end() :]) if head else (text, "", "")
    comment = re.compile(rf"^# {name} =.*$", re.MULTILINE)
    made = [before + table + comment.sub(lambda _: line, rest, count=1)] if comment.search(rest) else []
    made += [f"{before}{table}\n{line}{rest}"] if table else []
    for candidate in (*made, f"{text.rstrip()}\n\n[model]\n{line}\n"):
        try:
            if tomllib.loads(candidate) == wanted:
                return candidate
        except tomllib.TOMLDecodeError:
            continue
    return None
