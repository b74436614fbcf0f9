"""Presets: the settings of a paper as published, each with where it is said, beside ours.

Each stands as data in the folder of its method (`preset.toml`). What cannot be set is listed with what is done instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from sensegraph.corpus.settings import Settings, convert_settings, lay_tables, table_types
from sensegraph.errors import SettingsError
from sensegraph.methods import METHODS, method_class

_FILE = "preset.toml"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a paper chose: its `value` of a `setting`, and our own; `why` says why there is no such setting.

    `source` is where the paper, or what its authors published beside it, says so.
    """

    what: str
    value: Any
    source: str
    setting: str = ""
    ours: Any = None
    why: str = ""

    @property
    def matches(self) -> bool:
        """Whether the paper's value is ours as well."""
        ours = list(self.ours) if isinstance(self.ours, tuple) else self.ours
        return bool(self.setting) and ours == self.value


@dataclass(frozen=True, slots=True)
class Preset:
    """The choices of a paper, by the name of its method; `also` are other names of it."""

    name: str
    paper: str
    source: str
    also: tuple[str, ...]
    choices: tuple[Choice, ...]

    def tables(self) -> dict[str, Any]:
        """The settings as nested tables."""
        found: dict[str, Any] = {}
        for choice in self.choices:
            if choice.setting:
                value = choice.value
                for part in reversed(choice.setting.split(".")):
                    value = {part: value}
                found = lay_tables(found, value)
        return found


@cache
def list_presets() -> Mapping[str, Preset]:
    """All presets by their names, in the order of the methods."""
    found = {}
    for name, listing in METHODS.items():
        module = listing.place.partition(":")[0]
        path = files(module.rpartition(".")[0]).joinpath(_FILE)
        if module.count(".") == 3 and path.is_file():
            data = tomllib.loads(path.read_text("utf-8"))
            first = data["value"][0]  # which of the methods of its folder it is for
            if (first["setting"], first["value"]) == ("method", name):
                choices = tuple(Choice(**row, ours=find_default(row.get("setting", ""))) for row in data["value"])
                found[name] = Preset(name, data["paper"], data["source"], tuple(data["also"]), choices)
    return found


def find_preset(name: str) -> Preset:
    """The preset of this name. Raises SettingsError for one that nobody knows, with the nearest."""
    presets = list_presets()
    known = {other: preset for preset in presets.values() for other in (preset.name, *preset.also)}
    if (found := known.get(name.casefold())) is not None:
        convert_settings(found.tables(), Settings, f"preset {found.name}")
        return found
    near = get_close_matches(name.casefold(), known)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(presets)}."
    raise SettingsError(f"No preset is called {name!r}; {hint}")


def find_default(setting: str) -> Any:
    """Our own value of a setting, given by its dotted name; None without a name."""
    if not setting:
        return None
    first, _, rest = setting.partition(".")
    if first == "methods":
        method, _, name = rest.partition(".")
        return getattr(method_class(method)(), name)
    value: Any = Settings()
    for part in setting.split("."):
        kind = table_types(type(value)).get(part)
        value = kind() if kind is not None else getattr(value, part, None)
    return value
