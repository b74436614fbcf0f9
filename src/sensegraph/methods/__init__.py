"""The table of methods, which `methods.toml` holds, and the check of their settings. A method is imported when used."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from math import inf
from types import MappingProxyType
from typing import Any

from sensegraph.errors import SettingsError
from sensegraph.plugins import load_plugin, plugin_names
from sensegraph.protocols import Method


@dataclass(frozen=True, slots=True)
class Listing:
    """What `sensegraph show methods` shows of a method, where its class is, and how well it serves which questions.

    `fits` are marks by kinds of question where a model answers, `alone` where none does; `most_tokens` bounds the
    corpora that it is chosen for by itself (0: none).
    """

    place: str
    paper: str
    tasks: str
    good_for: str
    fits: Mapping[str, int] = field(default_factory=dict)
    alone: Mapping[str, int] = field(default_factory=dict)
    most_tokens: int = 0


_TABLE = tomllib.loads(files(__package__).joinpath("methods.toml").read_text("utf-8"))
METHODS = {name: Listing(**row) for name, row in _TABLE.items()}
ALIASES: Mapping[str, str] = MappingProxyType({"global": "graphrag"})  # other names of methods, as elsewhere

IT_MUST = "{of}: {field} is {value}; it must {bound}."
_WRONG: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "be at least 1": lambda n: n < 1,
        "not be negative": lambda n: n < 0,
        "be 0 or more": lambda n: not 0 <= n < inf,
        "be above 0": lambda n: not 0 < n < inf,
        "be from 0 to 1": lambda n: not 0 <= n <= 1,
        "lie in 0 to 1": lambda n: not 0 <= n <= 1,
        "lie between 0 and 1": lambda n: not 0 < n < 1,
    }
)


def method_class(name: str) -> type[Any]:
    """The class of the method `name`, of ours or of an installed plug-in, which takes the place of none of ours.

    Raises SettingsError for a name that nobody knows, with the nearest that somebody does.
    """
    name = ALIASES.get(name, name)
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


def check_fields(
    settings: Any, fields: str, bound: str, message: str = "{of}: {field} ({value}) must {bound}."
) -> None:
    """Raise SettingsError for the first of these fields, parted by blanks, whose value is not as `bound` says.

    `settings` are those of the method that the `message` calls {of}.
    """
    for name in fields.split():
        if _WRONG[bound](value := getattr(settings, name)):
            of = getattr(settings, "name", "")
            raise SettingsError(message.format(of=of, field=name, value=value, bound=bound))
