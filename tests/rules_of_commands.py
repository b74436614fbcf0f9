"""What commands print and what stores hold, given values that stand in a line of JSON."""

from __future__ import annotations

from typing import Any

import typer

from sensegraph.cli import options, show
from sensegraph.corpus import settings
from sensegraph.errors import SettingsError
from sensegraph.runtime.batches import count_reasons
from sensegraph.runtime.stores.sealing import Damaged, seal, unseal
from sensegraph.types import Usage


def cost(spent: dict[str, Any]) -> str:
    """What something cost, on one line."""
    return show.format_usage(Usage(**spent))


def override(pairs: list[str], *given: Any) -> Any:
    """The settings that flags give; None where one is no setting."""
    try:
        return options.read_overrides(pairs, *given)
    except typer.BadParameter:
        return None


def convert(table: dict[str, Any]) -> Any:
    """What the tables of a file of settings set, beside what is usual; where they cannot be used, what may be meant."""
    try:
        found, usual = (settings.convert_settings(t, settings.Settings, "here") for t in (table, {}))
    except SettingsError as e:
        return str(e).partition("did you mean")[2]
    return [name for name in found.__dataclass_fields__ if getattr(found, name) != getattr(usual, name)]


def reasons(*errors: list[str]) -> dict[str, int]:
    """How often each reason occurs."""
    kinds = {"V": ValueError, "O": OSError}
    return count_reasons([kinds[kind](text) for kind, text in errors])


def keep(name: str, content: str, times: int, broken: int = -1) -> Any:
    """Whether a content is stored in fewer bytes, and whether it comes back; not where a byte was changed."""
    stored = seal(name, content.encode() * times)
    changed = stored if broken < 0 else stored[:broken] + bytes([stored[broken] ^ 1]) + stored[broken + 1 :]
    try:
        return [len(stored) < len(content) * times, stored[4], unseal(name, changed) == content.encode() * times]
    except Damaged:
        return [len(stored) < len(content) * times, stored[4], None]
