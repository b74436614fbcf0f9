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

import msgspec

from sensegraph.corpus.settings import FIXED, Settings, find_allowed_words, lay_tables, table_types
from sensegraph.errors import SettingsError
from sensegraph.methods import METHODS, method_class

_UNSAID = ("trust", "part_settings", "part_objects")  # fields that no file says
_REFERENCE = re.compile(r" ?\((?:edge2024|X\d)[^)]*\)")
_NOTES = tomllib.loads(files("sensegraph.cli").joinpath("settings_notes.toml").read_text("utf-8"))
_TABLES: Mapping[str, str] = _NOTES["tables"]  # what stands above a table, where that is not its docstring
_HINTS: Mapping[str, str] = _NOTES["hints"]  # what stands behind a setting
COMMON: tuple[str, ...] = tuple(_NOTES["common"])  # the settings that a new file shows


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


def list_defaults() -> dict[str, Any]:
    """The default of every plain setting, by its dotted name."""
    tables = list_settings_tables()
    return {f"{name}.{k}".lstrip("."): value for name, _, values in tables for k, value in values.items()}


def settings_toml(given: Mapping[str, Any] = MappingProxyType({})) -> str:
    """A settings file that shows the settings that people change, and sets those that are `given` as nested tables.

    Raises SettingsError for a setting that has no line of its own.
    """
    left = dict(flatten_tables(given))
    parts = [
        "## Settings of this corpus. Lines with ## explain; a line with one # shows a default.\n"
        "## To change a setting, take its # away. A [table] ends where the next begins.\n"
        "## All other settings: sensegraph config show --all"
    ]
    for name, kind, values in list_settings_tables():
        shown = {k: v for k in values if (v := f"{name}.{k}".lstrip(".")) in COMMON or v in left}
        if not shown:
            continue
        # above a table stand its own words where it has some, else its docstring without references to papers
        text = _TABLES.get(name) or _REFERENCE.sub("", _join_docstring(kind))
        lines = [f"## {line}" for line in wrap(text.replace("`", ""), 110)]
        lines += [f"[{name}]"] if name else []
        for k, dotted in shown.items():
            said, own, value = _HINTS.get(dotted, ""), left.pop(dotted, None), values[k]
            if own is not None:
                lines.append(f"{k} = {format_toml(own)}" + (f"   # {said}" if said else ""))
                continue
            hint = "; ".join(part for part in (said, "not set" if value is None else "") if part)
            line = f"# {k} =" if value is None else f"# {k} = {format_toml(value)}"
            lines.append(f"{line}   # {hint}" if hint else line)
        parts.append("\n".join(lines))
    if left:
        raise SettingsError(f"{min(left)} cannot be written by a flag; put it into the settings file by hand.")
    return "\n\n".join(parts) + "\n"


def write_setting(text: str, key: str, value: Any) -> str:
    """The text of a settings file with one setting changed; all else of it stays as it is.

    The line goes in the place of the setting, else of the comment that shows its default, else below the head of its
    table, else to the end. Raises SettingsError where none of these gives the settings that are meant.
    """
    table, _, name = key.rpartition(".")
    inner: Any = {name: value}
    for part in reversed(table.split(".") if table else []):
        inner = {part: inner}
    wanted = json.loads(json.dumps(lay_tables(tomllib.loads(text), inner), default=str))
    line = f"{name} = {format_toml(value)}"
    head = re.search(rf"^\[{re.escape(table)}\][^\n]*$", text, re.MULTILINE) if table else None
    start = 0 if not table else head.end() if head else len(text)
    following = re.search(r"^\[", text[start:], re.MULTILINE)
    end = start + following.start() if following else len(text)
    before, section, after = text[:start], text[start:end], text[end:]
    made = []
    for pattern in (rf"^{re.escape(name)} *=.*$", rf"^# {re.escape(name)} =.*$"):
        changed, found = re.subn(pattern, lambda _: line, section, count=1, flags=re.MULTILINE)
        made += [before + changed + after] * found
    if head or not table:
        made.append(f"{before}\n{line}{section}{after}" if head else f"{line}\n{text}")
    made.append(f"{text.rstrip()}\n\n[{table}]\n{line}\n" if table else "")
    for candidate in made:
        try:
            if json.loads(json.dumps(tomllib.loads(candidate), default=str)) == wanted:
                return candidate
        except tomllib.TOMLDecodeError:
            continue
    raise SettingsError(f"{key} cannot be changed in this settings file by a command; write {line} into it by hand.")


def settings_schema() -> dict[str, Any]:
    """The JSON schema of a settings file: tables, types, defaults, and what each is for."""
    root: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "sensegraph.toml"}
    for name, kind, values in list_settings_tables():
        place = root
        for part in name.split(".") if name else []:
            place = place.setdefault("properties", {}).setdefault(part, {})
        place |= {"type": "object", "description": _TABLES.get(name) or _join_docstring(kind)}
        hints, own = get_type_hints(kind, include_extras=True), place.setdefault("properties", {})
        for k, value in values.items():
            dotted, words = f"{name}.{k}".lstrip("."), find_allowed_words(hints[k])
            own[k] = dict(msgspec.json.schema(hints[k]))
            if words:  # a plug-in may bring more of some
                own[k] = {"type": "string", "examples" if words.kind else "enum": list(words.own)}
            own[k] |= {"description": _HINTS[dotted]} if dotted in _HINTS else {}
            own[k] |= {"default": msgspec.to_builtins(value)} if value is not None else {}
        others = [f.name for f in fields(kind) if f.name not in (*values, *FIXED, *_UNSAID) and not own.get(f.name)]
        own |= {k: {"type": "object"} for k in others}
        place["additionalProperties"] = False
    root["properties"]["methods"]["type"] = "object"
    return root


def flatten_tables(given: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested tables under its dotted name."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from flatten_tables(value, f"{prefix}{name}.")
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
