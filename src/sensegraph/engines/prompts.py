"""Prompts: templates filled from the settings, and contexts as numbered tables.

A template is the fixed part of a prompt (the system message); what is asked about follows in the user's message. So
providers can reuse the fixed part, and a template's text says everything that a key must know about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from sensegraph.engines.references import Records
from sensegraph.errors import SettingsError
from sensegraph.types import Chunk, Context, Inquiry, Passage

TEMPLATES = tuple(
    "extract extract-tuple claims glean-check glean-more references summarise report rate rate-answer answer".split()
)

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_TABLES = {  # kind: (title, columns); edge2024, app. E
    "report": ("Reports", "id,title,report"),
    "entity": ("Entities", "id,entity,description"),
    "relation": ("Relationships", "id,source,target,description"),
    "claim": ("Claims", "id,subject,description"),
    "point": ("Points", "id,score,point"),
    "chunk": ("Sources", "id,title,text"),
}
_OTHER = ("Records", "id,title,text")


# ── templates ──


@cache
def packaged(name: str) -> str:
    """The template that comes with the package."""
    return (files("sensegraph") / "papers" / "edge2024" / "prompts" / f"{name}.md").read_text("utf-8")


def template(name: str, directory: str = "") -> str:
    """The user's `name`.md in `directory` where there is one, else the packaged template."""
    own = Path(directory) / f"{name}.md"
    return own.read_text("utf-8") if directory and own.is_file() else packaged(name)


def check(directory: str) -> None:
    """Raise SettingsError for a folder of prompts that is missing or holds a file that would never be read."""
    if not directory:
        return
    if not Path(directory).is_dir():
        raise SettingsError(f"The folder of prompts {directory!r} does not exist: create it or clear the setting.")
    unknown = sorted(p.name for p in Path(directory).glob("*.md") if p.stem not in TEMPLATES)
    if unknown:
        raise SettingsError(f"No prompt is named {unknown[0]} (in {directory!r}); names: {', '.join(TEMPLATES)}.")


def filled(name: str, values: Mapping[str, str], directory: str = "") -> str:
    """The template with each `{{placeholder}}` replaced. Raises SettingsError for one that is not in `values`."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            known = ", ".join(sorted(values))
            raise SettingsError(f"The prompt {name}.md has an unknown placeholder {match[0]}; known are: {known}.")
        return values[match[1]]

    return re.sub(r"\n{3,}", "\n\n", _PLACEHOLDER.sub(value, template(name, directory))).strip()


# ── what is asked about ──


def of_chunk(chunk: Chunk) -> str:
    """The text to read, below the title of its document."""
    return (f"Title: {_line(chunk.title)}\n\n" if chunk.title else "") + f"Text:\n{chunk.text}"


def of_descriptions(title: str, texts: list[str], so_far: str = "") -> str:
    """Descriptions of one thing, to be made into one."""
    earlier = f"\n\nDescription so far:\n{so_far}" if so_far else ""
    return f"Name: {_line(title)}{earlier}\n\nDescriptions:\n" + "\n".join(f"- {_line(t)}" for t in texts)


def of_context(context: Context) -> tuple[str, Records]:
    """The tables of a context, and the records that their numbers stand for."""
    kinds = list(dict.fromkeys([*_TABLES, *sorted({p.kind for p in context.passages})]))
    ordered = sorted(context.passages, key=lambda p: kinds.index(p.kind))
    blocks: list[str] = []
    for number, passage in enumerate(ordered, 1):
        if number == 1 or passage.kind != ordered[number - 2].kind:
            title, columns = _TABLES.get(passage.kind, _OTHER)
            blocks.append(f"# {title}\n{columns}")
        blocks[-1] += f"\n{number},{_cells(passage)}"
    return "\n\n".join(blocks), Records(tuple(ordered))


def of_community(context: Context) -> tuple[str, Records]:
    """What a report is written from."""
    tables, records = of_context(context)
    return (f"Community: {_line(context.title)}\n\n" if context.title else "") + tables, records


def of_inquiry(inquiry: Inquiry) -> tuple[str, Records]:
    """A question, and what it is answered from."""
    tables, records = of_context(inquiry.context)
    about = f"\n\nAbout: {_line(inquiry.context.title)}" if inquiry.context.title else ""
    return f"Question: {_line(inquiry.question)}{about}\n\n{tables}", records


def _cells(passage: Passage) -> str:
    """The cells of a record after its number."""
    if passage.kind == "relation":
        source, _, target = passage.title.partition(" — ")
        return ",".join(map(_cell, (source, target, passage.text)))
    if passage.kind == "point":
        return f"{passage.score:.0f},{_cell(passage.text)}"
    return f"{_cell(passage.title)},{_cell(passage.text)}"


def _cell(text: str) -> str:
    text = _line(text)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _line(text: str) -> str:
    return " ".join(text.split())
