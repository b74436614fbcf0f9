"""Settings as text: the file that `init` writes, and the tables of the documentation, both from the dataclasses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sensegraph.methods import METHODS, method_class
from sensegraph.settings import FIXED, Settings


def tables() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every table of the settings: its dotted name, the dataclass behind it, and its plain fields with defaults."""
    yield from _tables("", Settings())
    for name in METHODS:
        kind = method_class(name)
        yield f"methods.{name}", kind, {k: v for k, v in _plain(kind()).items() if k not in FIXED}


def _tables(name: str, value: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield name, type(value), _plain(value)
    for f in fields(value):
        inner = getattr(value, f.name)
        if is_dataclass(inner):
            yield from _tables(f"{name}.{f.name}".lstrip("."), inner)


def _plain(value: Any) -> dict[str, Any]:
    """The fields that hold no table."""
    found = {f.name: getattr(value, f.name) for f in fields(value)}
    return {name: v for name, v in found.items() if not is_dataclass(v) and not isinstance(v, dict)}


def settings_toml(prompts: str = "") -> str:
    """A settings file that says every setting and changes none; `prompts` is the folder of prompts to use."""
    parts = ["# Settings of this corpus. A line without # takes effect; what stands here with # is the default."]
    for name, kind, values in tables():
        lines = [f"# {line.strip()}" for line in _said(kind)]
        lines += [f"[{name}]"] if name else []
        lines += [_line(k, v, kind, prompts) for k, v in values.items()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _line(name: str, value: Any, kind: Any, prompts: str) -> str:
    if name == "prompts" and prompts:
        return f"prompts = {toml(prompts)}"
    if value is None:
        return f"# {name} =   # not set; {typed(kind, name)}"
    return f"# {name} = {toml(value)}"


def _said(kind: Any) -> list[str]:
    """The lines of a dataclass's docstring, without the blank ones."""
    return [line for line in (kind.__doc__ or "").splitlines() if line.strip()]


def toml(value: Any) -> str:
    """A plain value in TOML's syntax."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, frozenset):
        return toml(sorted(value))
    if isinstance(value, float) and not isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def typed(kind: Any, name: str) -> str:
    """The type of a field as a reader sees it."""
    hint = get_type_hints(kind)[name]
    if get_origin(hint) is Literal:
        return " or ".join(map(toml, get_args(hint)))
    found: str = getattr(hint, "__name__", "") if isinstance(hint, type) else str(hint)
    return found


def settings_markdown() -> str:
    """The tables of docs/settings.md."""
    parts = []
    for name, kind, values in tables():
        doc = " ".join(line.strip() for line in _said(kind))
        rows = [f"| `{k}` | {_cell(typed(kind, k))} | {_default(v)} |" for k, v in values.items()]
        head = [f"## `[{name}]`" if name else "## At the top of the file", "", doc, "", "| setting | type | default |"]
        parts.append("\n".join([*head, "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(value: Any) -> str:
    return "not set" if value is None else f"`{toml(value)}`"


def methods_markdown() -> str:
    """The body of docs/methods.md: the table, and each method's settings."""
    rows = ["| name | paper | good for | needs of the engine |", "|---|---|---|---|"]
    rows += [f"| `{n}` | {m.paper} | {m.good_for} | {m.tasks} |" for n, m in METHODS.items()]
    parts = ["\n".join(rows)]
    parts += [_method(name, kind, values) for name, kind, values in tables() if name.startswith("methods.")]
    return "\n\n".join(parts) + "\n"


def _method(name: str, kind: Any, values: dict[str, Any]) -> str:
    listed = ", ".join(f"`{k}` {_default(v)}" for k, v in values.items())
    source = import_module(kind.__module__).__doc__ or ""
    return f"## {name.removeprefix('methods.')}\n\n```\n{source.strip()}\n```\n\nSettings in `[{name}]`: {listed}."
