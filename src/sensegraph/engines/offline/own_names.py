"""The user's own list of names and their types: a CSV file with the columns `name` and `type`, or a table in TOML."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sensegraph.errors import SettingsError
from sensegraph.language.text import fold


@dataclass(frozen=True, slots=True)
class OfflineSettings:
    """The engine that needs no model. `names_file` lists names with their types, which win over what it finds.

    Each line of a CSV file is `name,type`; a TOML file holds `"name" = "type"`. The path counts from the corpus's
    folder. A type is person, place, organization, event, work, other, or a word of your own. `chinese` says how names
    are found in Chinese: by rules, or by jieba too, which the extra `zh` brings.
    """

    names_file: str = ""
    chinese: Literal["rules", "jieba"] = "rules"


def read_own_names(path: Path) -> tuple[tuple[str, str], ...]:
    """The names of the file with their types, by name. Raises SettingsError for a file that holds none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise SettingsError(f"offline.names_file: {path} cannot be read: {e}.") from e
    if path.suffix.lower() == ".toml":
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as e:
            raise SettingsError(f"offline.names_file: {path} is not valid TOML: {e}.") from e
        return _check_rows(path, ((number, [*row]) for number, row in enumerate(tables.items(), 1)))
    rows = enumerate(csv.reader(text.splitlines()), 1)
    return _check_rows(path, ((n, row) for n, row in rows if row and [c.strip() for c in row] != ["name", "type"]))


def _check_rows(
    path: Path, rows: Iterable[tuple[int, list[object]] | tuple[int, list[str]]]
) -> tuple[tuple[str, str], ...]:
    found: dict[str, tuple[str, str]] = {}
    for number, row in rows:
        where = f"offline.names_file: {path}, line {number}"
        cells = [" ".join(cell.split()) if isinstance(cell, str) else "" for cell in row]
        if len(cells) != 2 or not all(cells):
            raise SettingsError(f"{where}: write a name and its type, as in Debian,product.")
        name, type = cells[0], cells[1].casefold()
        if found.setdefault(fold(name), (name, type))[1] != type:
            other = found[fold(name)][1]
            raise SettingsError(f"{where}: {name} is a {type} here and a {other} above; keep one of them.")
    return tuple(found[k] for k in sorted(found))
