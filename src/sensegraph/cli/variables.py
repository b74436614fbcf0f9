"""Settings that environment variables give: `SENSEGRAPH_ENDPOINT__MODEL` is `endpoint.model`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from sensegraph.corpus.settings import Settings, convert_settings

_PREFIX, _BETWEEN = "SENSEGRAPH_", "__"


def tables_of_variables(environment: Mapping[str, str], parse: Callable[[str], Any]) -> dict[str, Any]:
    """The settings that an environment gives, as nested tables.

    Of a variable's name, what follows `SENSEGRAPH_` names the setting, in any case, with two underscores between
    tables. `parse` reads a value; what it raises ValueError for is a text. Other variables of this prefix, such as
    `SENSEGRAPH_ROOT`, are left alone unless two underscores are in them. Raises SettingsError for an unknown setting.
    """
    types = get_type_hints(Settings)
    single = {f.name for f in fields(Settings) if not is_dataclass(types[f.name])} - {"methods", "trust", "foreign"}
    found: dict[str, Any] = {}
    for variable in sorted(environment):
        name = variable.removeprefix(_PREFIX).lower()
        if not variable.startswith(_PREFIX) or not (_BETWEEN in name or name in single):
            continue
        *tables, last = name.split(_BETWEEN)
        place = found
        for table in tables:
            place = place.setdefault(table, {})
        try:
            place[last] = parse(environment[variable])
        except ValueError:
            place[last] = environment[variable]
    convert_settings(found, Settings, "environment")
    return found
