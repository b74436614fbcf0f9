"""Pages of the site that are written from the code: the command line, and the public names of the package."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import typer

import sensegraph
from sensegraph.cli import app

COMMANDS = """# Commands

Every command with its options, as `--help` shows them. What they are for, and their JSON:
[command line](../command-line.md).

"""
NAMES = """# Python API

What `from sensegraph import …` gives. Everything else is internal, but for the protocols of [plug-ins](../plugins.md)
and the modules that other pages name ([what a version promises](../upgrading.md)).

"""
_MARKUP = re.compile(r"[\\`*_{}\[\]<>|]")


def write_commands() -> str:
    """The page of all commands."""
    group: Any = typer.main.get_command(app)
    return COMMANDS + "\n".join(_list_commands(group, "sensegraph", 2))


def _list_commands(group: Any, path: str, depth: int) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        called = f"{path} {name}"
        yield f"{'#' * depth} {called}\n"
        yield f"{_escape(inspect.cleandoc(command.help or ''))}\n"
        if hasattr(command, "commands"):
            yield from _list_commands(command, called, min(depth + 1, 4))
            continue
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        words = [p.metavar or p.name.upper() for p in shown if p.param_type_name == "argument"]
        yield "```text\n" + " ".join([called, "[OPTIONS]", *words]) + "\n```\n"
        rows = [_option_row(p) for p in shown if p.param_type_name == "option"]
        if rows:
            yield "\n".join(["| option | what it does |", "|---|---|", *rows]) + "\n"


def _option_row(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = f" `{option.metavar.replace('|', '&#124;')}`" if option.metavar and not option.is_flag else ""
    shown = option.show_default if isinstance(option.show_default, str) else option.default
    default = f" (default: {_escape(str(shown))})" if shown not in (None, False, (), [], "", "...") else ""
    return f"| {names}{value} | {_escape(option.help or '')}{default} |"


def write_names() -> str:
    """The page of all public names: classes with their methods and fields, functions with their arguments."""
    parts = [NAMES]
    for name in sensegraph.__all__:
        found = getattr(sensegraph, name)
        parts.append(f"## {name}\n")
        if not inspect.isclass(found):
            parts += _describe(name, found)
            continue
        parts.append(_escape(inspect.getdoc(found) or "") + "\n")
        if dataclasses.is_dataclass(found):
            rows = [f"| `{f.name}` | `{_shorten(f.type)}` |" for f in dataclasses.fields(found)]
            parts.append("\n".join(["| field | type |", "|---|---|", *rows]) + "\n")
        for own, member in vars(found).items():
            if own.startswith("_") or own in getattr(found, "__dataclass_fields__", {}):
                continue
            plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if inspect.isfunction(plain):
                parts.append(f"### {name}.{own}\n")
                parts += _describe(own, plain)
            elif isinstance(member, property) or hasattr(member, "func"):
                got = getattr(member, "fget", None) or member.func
                kind = _write_type(got.__annotations__.get("return", "Any"))
                parts.append(f"### {name}.{own}\n\n```python\n{own}: {kind}\n```\n")
                parts.append(_escape(inspect.getdoc(got) or "") + "\n")
    return "\n".join(parts)


def _describe(name: str, function: Any) -> list[str]:
    try:
        head = _write_head(name, function)
    except (TypeError, ValueError):
        head = f"{name}(...)"
    return [f"```python\n{head}\n```\n", _escape(inspect.getdoc(function) or "") + "\n"]


def _write_head(name: str, function: Any) -> str:
    """The first line of a function as Python has it; with one parameter a line where that is long."""
    found = inspect.signature(function)
    words, before = list[str](), ""
    for parameter in found.parameters.values():
        kind = parameter.kind.name
        if before == "POSITIONAL_ONLY" != kind:
            words.append("/")
        if kind == "KEYWORD_ONLY" and before not in ("KEYWORD_ONLY", "VAR_POSITIONAL"):
            words.append("*")
        stars = "*" if kind == "VAR_POSITIONAL" else "**" if kind == "VAR_KEYWORD" else ""
        typed = parameter.annotation is not inspect.Parameter.empty
        word = f"{stars}{parameter.name}" + (f": {_write_type(parameter.annotation)}" if typed else "")
        if parameter.default is not inspect.Parameter.empty:
            word += f"{' = ' if typed else '='}{_write_default(parameter.default)}"
        words.append(word)
        before = kind
    start = "async def" if inspect.iscoroutinefunction(function) else "def"
    end = "" if found.return_annotation is inspect.Signature.empty else f" -> {_write_type(found.return_annotation)}"
    line = f"{start} {name}({', '.join(words)}){end}: ..."
    return line if len(line) < 100 else f"{start} {name}(\n    " + ",\n    ".join(words) + f",\n){end}: ..."


def _write_type(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


def _write_default(value: Any) -> str:
    """A default as Python writes it: of a value only the fields that are not as usual, of a function nothing."""
    if dataclasses.is_dataclass(value):
        usual: Any = type(value)()  # type: ignore[misc]
        told = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
        kept = (f"{k}={_write_default(v)}" for k, v in told if v != getattr(usual, k))
        return f"{type(value).__name__}({', '.join(kept)})"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "..." if callable(value) else repr(value)


def _shorten(kind: Any) -> str:
    return (
        (kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind)))
        .replace("|", "&#124;")
        .replace("`", "")
    )


def _escape(text: str) -> str:
    """A text as Markdown that shows it: markup outside of backquotes is escaped."""
    parts = re.split(r"(`[^`\n]*`)", text)
    return "".join(
        p.replace("|", "&#124;") if i % 2 else _MARKUP.sub(lambda m: "\\" + m[0], p) for i, p in enumerate(parts)
    )
