"""Nested tables, as settings files hold them: read, laid over each other, looked into."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sensegraph.errors import SettingsError


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, none where it does not exist. Raises SettingsError for a file that is no TOML."""
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise SettingsError(f"{path} is not valid TOML: {e}.") from e


def lay_tables(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both as one; where both hold a value, the one of `above`."""
    both = dict(below)
    for name, value in above.items():
        old = both.get(name)
        both[name] = lay_tables(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both


def holds_name(tables: Mapping[str, Any], name: str) -> bool:
    """Whether there is a value under a dotted name."""
    first, _, rest = name.partition(".")
    inner = tables.get(first)
    return first in tables if not rest else isinstance(inner, Mapping) and holds_name(inner, rest)
