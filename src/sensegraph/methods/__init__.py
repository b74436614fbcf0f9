"""The table of methods, which `methods.toml` holds. A method is imported when it is first used."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from typing import Any

from sensegraph.errors import SettingsError
from sensegraph.plugins import load_plugin, plugin_names
from sensegraph.protocols import Method


@dataclass(frozen=True, slots=True)
class Listing:
    """What `sensegraph methods` shows of a method, and where its class is."""

    place: str
    paper: str
    tasks: str
    good_for: str


_TABLE = tomllib.loads(files(__package__).joinpath("methods.toml").read_text("utf-8"))
METHODS = {name: Listing(**row) for name, row in _TABLE.items()}


def method_class(name: str) -> type[Any]:
    """The class of the method `name`, of ours or of an installed plug-in, which takes the place of none of ours.

    Raises SettingsError for a name that nobody knows, with the nearest that somebody does.
    """
    if name not in METHODS:
        known = (*METHODS, *plugin_names("methods"))
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}."
            raise SettingsError(f"No method is called {name!r}; {hint}")
        loaded: type[Any] = load_plugin("methods", name)
        return loaded
    module, _, attribute = METHODS[name].place.partition(":")
    found: type[Any] = getattr(import_module(module), attribute)
    return found


def parts_needed(method: Method) -> frozenset[str]:
    """The parts of an index that a method cannot do without: those that it reads, less those that it `can_miss`."""
    spared: frozenset[str] = getattr(method, "can_miss", frozenset())
    return method.reads - spared


def load_method(name: str, **settings: Any) -> Method:
    """The method `name` with these settings."""
    made: Method = method_class(name)(**settings)
    return made
