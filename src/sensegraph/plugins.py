"""Plug-ins: what installed distributions register by entry point, under a name that settings and commands may say.

A name is all that a settings file can give: no path of a module is ever read from the folder of a corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, get_args

from sensegraph.errors import SettingsError

Kind = Literal["methods", "parts", "engines", "embedders", "rerankers", "chunkers", "stores", "executors"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Plugin:
    """Something that a distribution registers: under which name, and where it stands (`module:attribute`)."""

    kind: Kind
    name: str
    place: str
    distribution: str
    version: str

    @property
    def origin(self) -> str:
        """The distribution and its version."""
        return f"{self.distribution} {self.version}".strip()


def list_plugins(*kinds: Kind) -> list[Plugin]:
    """The plug-ins of these kinds (of all, without any), by kind and name. Nothing of them is imported."""
    return [plugin for kind in kinds or KINDS for plugin in installed_plugins(kind)]


@cache
def installed_plugins(kind: Kind) -> tuple[Plugin, ...]:
    """The plug-ins of a kind, as this process found them first, by name."""
    from importlib.metadata import entry_points  # costs as much as all else that settings need

    found = set[Plugin]()
    for entry in entry_points(group=f"sensegraph.{kind}"):
        dist = entry.dist
        found.add(Plugin(kind, entry.name, entry.value, dist.name if dist else "", dist.version if dist else ""))
    return tuple(sorted(found, key=lambda p: (p.name, p.distribution, p.place)))


def plugin_names(kind: Kind) -> tuple[str, ...]:
    """The names of the plug-ins of a kind."""
    return tuple(dict.fromkeys(p.name for p in list_plugins(kind)))


def load_plugin(kind: Kind, name: str) -> Any:
    """What is registered under `name`.

    Raises SettingsError where nothing is, where two distributions register the name, or where it cannot be imported.
    """
    found = [p for p in list_plugins(kind) if p.name == name]
    if not found:
        raise SettingsError(
            f"No plug-in for {kind} is called {name!r}; `sensegraph show methods --plugins` lists them."
        )
    if len(found) > 1:
        both = " and ".join(p.origin for p in found)
        raise SettingsError(f"{name!r} is registered for {kind} by {both}; uninstall all but one of them.")
    (plugin,) = found
    module, _, attribute = plugin.place.partition(":")
    try:
        made = import_module(module)
        for part in attribute.split("."):
            made = getattr(made, part)
    except (ImportError, AttributeError) as e:
        raise SettingsError(
            f"The plug-in {name!r} of {plugin.origin} cannot be loaded from {plugin.place} ({e}); install it anew."
        ) from e
    return made
