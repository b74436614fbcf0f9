"""Settings as text: the file that `init` writes, and the tables of the documentation, both from the dataclasses."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.resources import files
from textwrap import wrap
from types import MappingProxyType
from typing import Any, get_type_hints

from sensegraph.corpus.settings import FIXED, Settings, find_allowed_words, table_types
from sensegraph.errors import SettingsError
from sensegraph.methods import METHODS, method_class

_UNSAID = ("trust", "part_settings", "part_objects")  # fields that no file says
_REFERENCE = re.compile(r" ?\((?:edge2024|X\d)[^)]*\)")
_NOTES = tomllib.loads(files("sensegraph.cli").joinpath("settings_notes.toml").read_text("utf-8"))
_TABLES: Mapping[str, str] = _NOTES["tables"]  # what stands above a table, where that is not its docstring
_HINTS: Mapping[str, str] = _NOTES["hints"]  # what stands behind a setting


def list_settings_tables() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every table of the settings: its dotted name, the dataclass behind it, and its plain fields with defaults."""
    yield from _walk_settings_tables("", Settings())
    for name in METHODS:
        kind = method_class(name)
        yield f"methods.{name}", kind, {k: v for k, v in _plain_fields(kind()).items() if k not in FIXED}


def _walk_settings_tables(name: str, value: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield name, type(value), _plain_fields(value)
    for inner, kind in table_types(type(value)).items():
        yield from _walk_settings_tables(f"{name}.{inner}".lstrip("."), getattr(value, inner, None) or kind())


def _plain_fields(value: Any) -> dict[str, Any]:
    """The fields that hold no table."""
    found = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in _UNSAID}
    return {name: v for name, v in found.items() if not is_dataclass(v) and not isinstance(v, dict)}


def settings_toml(given: Mapping[str, Any] = MappingProxyType({})) -> str:
    """A settings file that says every setting and changes those of the nested tables that are `given`.

    Raises SettingsError for a setting that has no line of its own there.
    """
    left = dict(_flatten_tables(given))
    parts = [
        "## Settings of this corpus. Lines with ## explain; a line with one # shows a default.\n"
        "## To change a setting, take its # away. A [table] ends where the next begins."
    ]
    for name, kind, values in list_settings_tables():
        # above a table stand its own words where it has some, else its docstring without references to papers
        text = _TABLES.get(name) or _REFERENCE.sub("", _join_docstring(kind))
        lines = [f"## {line}" for line in wrap(text.replace("`", ""), 110)]
        lines += [f"[{name}]"] if name else []
        for k, value in values.items():
            dotted = f"{name}.{k}".lstrip(".")
            said, own = _HINTS.get(dotted, ""), left.pop(dotted, None)
            if own is not None:
                lines.append(f"{k} = {format_toml(own)}" + (f"   # {said}" if said else ""))
                continue
            hint = "; ".join(part for part in (said, "not set" if value is None else "") if part)
            shown = f"# {k} =" if value is None else f"# {k} = {format_toml(value)}"
            lines.append(f"{shown}   # {hint}" if hint else shown)
        parts.append("\n".join(lines))
    if left:
        raise SettingsError(f"{min(left)} cannot be written by a flag; put it into the settings file by hand.")
    return "\n\n".join(parts) + "\n"


def _flatten_tables(given: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested tables under its dotted name."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _flatten_tables(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _join_docstring(kind: Any) -> str:
    return " ".join((kind.__doc__ or "").split())


def format_toml(value: Any) -> str:
    """A plain value in TOML's syntax."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(format_toml, value))}]"
    if isinstance(value, frozenset):
        return format_toml(sorted(value))
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def describe_field_type(kind: Any, name: str) -> str:
    """The type of a field as a reader sees it."""
    hint = get_type_hints(kind, include_extras=True)[name]
    if words := find_allowed_words(hint):
        return " or ".join([*map(format_toml, words.own), *(["the name of a plug-in"] if words.kind else [])])
    found: str = getattr(hint, "__name__", "") if isinstance(hint, type) else str(hint)
    return found


def settings_markdown() -> str:
    """The tables of docs/settings.md."""
    parts = []
    for name, kind, values in list_settings_tables():
        types = {k: describe_field_type(kind, k).replace("|", "\\|") for k in values}
        rows = [f"| `{k}` | {types[k]} | {_format_default(v)} |" for k, v in values.items()]
        title = f"## `[{name}]`" if name else "## At the top of the file"
        parts.append(
            "\n".join([f"{title}\n\n{_join_docstring(kind)}\n", "| setting | type | default |", "|---|---|---|", *rows])
        )
    return "\n\n".join(parts) + "\n"


def _format_default(value: Any) -> str:
    return "not set" if value is None else f"`{format_toml(value)}`"


def methods_markdown() -> str:
    """The body of docs/methods.md: the table, and each method's settings."""
    rows = ["| name | paper | good for | needs of the engine |", "|---|---|---|---|"]
    rows += [f"| `{n}` | {m.paper} | {m.good_for} | {m.tasks} |" for n, m in METHODS.items()]
    parts = ["\n".join(rows)]
    for name, kind, values in list_settings_tables():
        if name.startswith("methods."):
            listed = ", ".join(f"`{k}` {_format_default(v)}" for k, v in values.items())
            source = (import_module(kind.__module__).__doc__ or "").strip()
            method = name.removeprefix("methods.")
            parts.append(f"## {method}\n\n```\n{source}\n```\n\nSettings in `[{name}]`: {listed}.")
    return "\n\n".join(parts) + "\n"
