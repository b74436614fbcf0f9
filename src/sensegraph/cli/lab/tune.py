"""The command that fits the prompts to a corpus: tune-prompts."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.corpus.build import Paths
from sensegraph.cli.options import (
    MaxCost,
    MaxTokens,
    Root,
    Set,
    Trust,
    chosen_paths,
    opened,
    out,
    overrides,
    root_flag,
    say,
    say_skipped,
)
from sensegraph.errors import EmptyCorpus, InputError, SettingsError

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.engines.llm.llm import LLMEngine
    from sensegraph.engines.llm.tuning import Tuned
    from sensegraph.types import Chunk, Document

_HERE = Path(".")
_FOLDER = "prompts"
_STEP = "tune-prompts"  # what the ledger calls it


def tune_prompts(
    paths: Paths = None,
    root: Root = _HERE,
    sample: Annotated[
        int, typer.Option("--sample", min=1, metavar="N", help="Passages that the model is shown, of many documents.")
    ] = 15,
    language: Annotated[
        str, typer.Option("--language", metavar="L", help="What everything is to be written in, such as German.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace prompts that were edited, too.")] = False,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Fit the prompts to a corpus: its domain, its kinds of things, examples from it. Read and edit what it writes."""
    with opened(root, overrides(settings, None, max_tokens, max_cost, trust=trust), create=True) as corpus:
        engine, folder = _engine(corpus, root), Path(corpus.settings.model.prompts or root / _FOLDER)
        kept = () if force else _edited(folder)
        shown = _sampled(_documents(corpus, chosen_paths(paths, root)), sample, corpus)
        from sensegraph.engines.llm.prompts import copied
        from sensegraph.engines.llm.tuning import tuned

        before = engine.usage()
        try:
            found = tuned(engine, shown, language)
        finally:
            corpus.store.spend(_STEP, engine.usage() - before)
        copied(folder)  # those that are not fitted
        written = _written(found, folder, kept)
        out(_told_of(found, written, kept, folder))
        _settings(found, root, folder, language)
        out(f"read the prompts, edit them, then: sensegraph index{root_flag(root)}")


def _engine(corpus: Corpus, root: Path) -> LLMEngine:
    """The model that the prompts are for. Raises SettingsError where the corpus is read offline."""
    from sensegraph.engines.llm.llm import LLMEngine

    if not isinstance(corpus.engine, LLMEngine):
        raise SettingsError(
            f"Prompts are for a model, and the offline engine {corpus.engine.name!r} uses none: set endpoint.model in "
            f"{root / 'sensegraph.toml'}, or for this run --set endpoint.model=NAME."
        )
    return corpus.engine


# ── what is shown to the model ──


def _documents(corpus: Corpus, chosen: Sequence[Path]) -> Sequence[Document]:
    """The documents of these paths, else those that the corpus holds. Raises EmptyCorpus where there is none."""
    read = corpus.sources.read(chosen)
    say_skipped(read.skipped)
    found = read.documents or ([] if chosen else corpus.sources.masked_documents())
    if not found:
        where = ", ".join(map(str, chosen)) or f"{corpus.root / 'input'}, and no document is indexed"
        raise EmptyCorpus(f"Nothing can be read from {where}: name files, or put documents into input/.")
    return found


def _sampled(documents: Sequence[Document], count: int, corpus: Corpus) -> list[Chunk]:
    """`count` chunks, spread over the documents: the same ones for the same documents, in whatever order they come."""
    from sensegraph.index.chunks import chunk, chunk_by
    from sensegraph.runtime.keys import key

    size, overlap = corpus.settings.index.chunk_tokens, corpus.settings.index.chunk_overlap
    places = {key(_STEP, d.id): n for n, d in enumerate(documents)}
    chunker = corpus.workspace.chunker
    cut = (
        chunk_by.fn([d], chunker=chunker)[0] if chunker else chunk.fn([d], size=size, overlap=overlap)[0]
        for d in (documents[places[k]] for k in sorted(places))
    )
    held = _first(count, (chunks for chunks in cut if chunks))
    mixed = (sorted(chunks, key=lambda c: key(_STEP, c.id)) for chunks in held)
    turns = (c for turn in zip_longest(*mixed) for c in turn if c is not None)
    found = _first(count, turns)
    if not found:
        raise EmptyCorpus("The documents hold no text: name others.")
    return found


def _first(count: int, items: Iterable[Any]) -> list[Any]:
    return [item for item, _ in zip(items, range(count), strict=False)]


# ── what is written ──


def _edited(folder: Path) -> tuple[str, ...]:
    """The prompts in `folder` that are not the packaged ones. Raises InputError, before any call, when all differ."""
    from sensegraph.engines.llm.prompts import packaged
    from sensegraph.engines.llm.tuning import names

    files = ((name, folder / f"{name}.md") for name in names())
    edited = tuple(name for name, file in files if file.is_file() and file.read_text("utf-8") != packaged(name))
    if len(edited) == len(names()):
        raise InputError(f"Every prompt in {folder} was edited, by hand or by an earlier run: --force replaces them.")
    return edited


def _written(found: Tuned, folder: Path, kept: Sequence[str]) -> list[str]:
    templates = {name: text for name, text in found.templates if name not in kept}
    for name, text in templates.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return list(templates)


def _told_of(found: Tuned, written: Sequence[str], kept: Sequence[str], folder: Path) -> str:
    from sensegraph.cli import show

    p = found.profile
    lines = [
        f"domain        {p.domain}",
        f"persona       {p.persona}",
        f"language      {p.language or 'not said'}",
        f"entity types  {', '.join(p.entity_types)}",
        f"examples      {show.counted(len(found.examples), 'passage')}",
        f"cost          {show.spent(found.usage)}",
        f"wrote {show.counted(len(written), 'prompt')} to {folder}",
    ]
    if kept:
        lines.append(f"left as they were edited (--force replaces them): {', '.join(kept)}")
    return "\n".join([*lines, *found.notes])


def _settings(found: Tuned, root: Path, folder: Path, language: str) -> None:
    """Set what the settings file does not say; what it says otherwise is left, and told."""
    from sensegraph.cli.template import settings_toml, toml
    from sensegraph.corpus.settings import FILE

    path = root / FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else settings_toml()
    wanted: dict[str, Any] = {
        "entity_types": list(found.profile.entity_types),
        "prompts": os.path.relpath(folder, root),
    }
    wanted |= {"language": language} if language else {}
    changes = []
    for name, value in wanted.items():
        line = f"{name} = {toml(value)}"
        added = with_line(text, name, value, line)
        changes += [] if added is not None else [line]
        text = text if added is None else added
    path.write_text(text, encoding="utf-8")
    if changes:
        say(f"{path} says otherwise; to use what was found, change in [model]:\n" + "\n".join(changes))


def with_line(text: str, name: str, value: Any, line: str) -> str | None:
    """Settings with `line` in the table [model], in the place of its comment; None where they say something else."""
    said = tomllib.loads(text)
    if name in (model := said.get("model", {})):
        return text if model[name] == value else None
    wanted = {**said, "model": {**model, name: value}}
    return next((made for made in _placed(text, name, line) if _says(made, wanted)), None)


def _placed(text: str, name: str, line: str) -> Iterator[str]:
    """The ways to put a line into [model]: for the comment that shows the default, below the head, at the end."""
    head, table, rest = _split(text)
    comment = re.compile(rf"^# {name} =.*$", re.MULTILINE)
    if comment.search(rest):
        yield head + table + comment.sub(lambda _: line, rest, count=1)
    if table:
        yield f"{head}{table}\n{line}{rest}"
    yield f"{text.rstrip()}\n\n[model]\n{line}\n"


def _split(text: str) -> tuple[str, str, str]:
    """What stands before the head of the table [model], the head, and what follows."""
    head = re.search(r"^\[model\][^\n]*$", text, re.MULTILINE)
    return (text[: head.start()], head[0], text[head.end() :]) if head else (text, "", "")


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False
