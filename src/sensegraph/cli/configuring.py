"""Commands on settings: those of the group `config`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sensegraph.cli import show
from sensegraph.cli.options import (
    CommandRun,
    Limit,
    limit_rows,
    parse_value,
    print_json,
    print_text,
    read_flags,
    with_options,
)
from sensegraph.corpus import views
from sensegraph.errors import SettingsError, Unapproved

_FILE, _VARIABLES, _FLAGS = "the settings file", "the environment", "--set"

Key = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as index.chunk_tokens.")]


def read_layers(run: CommandRun) -> dict[str, dict[str, Any]]:
    """The settings that are given, as nested tables, by where they stand; later ones lie over earlier ones."""
    from sensegraph.cli.variables import tables_of_variables
    from sensegraph.corpus.settings import FILE, read_environment, read_toml_tables

    file, variables = read_toml_tables(run.root / FILE), tables_of_variables(read_environment(), parse_value)
    return {_FILE: file, _VARIABLES: variables, _FLAGS: read_flags(run.settings)}


@with_options("* as_json root settings")
def show_settings(
    run: CommandRun,
    every: Annotated[bool, typer.Option("--all", help="Show all settings, with the defaults.")] = False,
    limit: Limit = 1000,
) -> None:
    """Show the settings that differ from the defaults, and where each is given."""
    from sensegraph.cli.template import flatten_tables, format_toml, list_defaults
    from sensegraph.models.endpoint.endpoint_settings import mask_urls

    _load_checked(run)
    defaults = list_defaults()
    found = {k: (v, "default") for k, v in defaults.items()} if every else {}
    for place, tables in read_layers(run).items():
        for k, v in flatten_tables(tables):
            found[k] = (v, place)
            if not every and k in defaults and format_toml(defaults[k]) == format_toml(v):
                del found[k]
    rows = [(k, "not set" if v is None else mask_urls(format_toml(v)), place) for k, (v, place) in found.items()]
    run.print_result(
        lambda: {"settings": {k: {"value": v, "from": place} for k, (v, place) in found.items()}},
        lambda: "\n".join(limit_rows([*show.pad_columns(rows)], limit)) or "every setting has its default",
    )


@with_options("* as_json root settings")
def get_setting(run: CommandRun, key: Key) -> None:
    """Print a setting as it holds, or the settings of a table."""
    from sensegraph.cli.template import flatten_tables, format_toml, list_defaults
    from sensegraph.corpus.settings import Settings, convert_settings

    _load_checked(run)
    values: dict[str, Any] = dict(list_defaults())
    for tables in read_layers(run).values():
        values |= dict(flatten_tables(tables))
    found = {k: v for k, v in values.items() if k == key or k.startswith(f"{key}.")}
    if not found:
        convert_settings(_nest(key, {}), Settings, "config get")  # for its error
        raise SettingsError(f"{key} is not set.")
    alone = next(iter(found.values())) if list(found) == [key] else None
    text = "\n".join(f"{k} = {'not set' if v is None else format_toml(v)}" for k, v in found.items())
    run.print_result(
        lambda: {"settings": found},
        lambda: alone if isinstance(alone, str) else text.partition(" = ")[2] if list(found) == [key] else text,
    )


@with_options("* as_json root")
def set_setting(
    run: CommandRun,
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="In TOML's syntax, or a text.")],
) -> None:
    """Write a setting into the settings file; comments and other settings stay as they are.

    An endpoint or a model that is written here has to be approved like any other that a settings file names.
    """
    from sensegraph.cli.template import settings_toml, write_setting
    from sensegraph.corpus.settings import FILE, Settings, convert_settings

    try:
        wanted = parse_value(value)
    except ValueError:
        wanted = value
    try:
        convert_settings(_nest(key, wanted), Settings, "config set")
    except SettingsError:
        if isinstance(wanted, str):
            raise
        convert_settings(_nest(key, value), Settings, "config set")  # a text that reads like a number
        wanted = value
    file = run.root / FILE
    text = file.read_text(encoding="utf-8") if file.is_file() else settings_toml()
    run.root.mkdir(parents=True, exist_ok=True)
    file.write_text(write_setting(text, key, wanted), encoding="utf-8")
    run.print_result(lambda: {"file": str(file), "key": key, "value": wanted}, lambda: f"wrote {key} to {file}")


@with_options("* as_json root settings")
def check_settings(run: CommandRun) -> None:
    """Check the settings of the file, the environment and --set: unknown names, wrong types, missing approvals.

    Every mistake is listed. Ends with status 1 where there is one.
    """
    problems, notes = find_problems(run)
    told = {"problems": problems, "notes": notes}
    lines = [*problems, *(f"- {note}" for note in notes)] or ["no mistake found"]
    run.print_result(lambda: told, lambda: "\n".join(lines))
    if problems:
        raise typer.Exit(1)


def find_problems(run: CommandRun) -> tuple[list[str], list[str]]:
    """What is wrong with the settings that are given, each in a sentence; and what has to be approved."""
    from sensegraph.cli.template import flatten_tables
    from sensegraph.corpus.settings import FILE, Settings, check_approved, convert_settings, load_settings
    from sensegraph.corpus.tools import needed_approvals

    problems, notes = list[str](), list[str]()
    try:
        layers = read_layers(run)
    except SettingsError as e:
        return [str(e)], []
    for place, tables in layers.items():
        where = str(run.root / FILE) if place == _FILE else place
        for key, value in flatten_tables(tables):
            try:
                convert_settings(_nest(key, value), Settings, where)
            except SettingsError as e:
                problems.append(str(e))
    if not problems:
        try:
            settings = load_settings(run.root, run.overrides())
            for name in needed_approvals(settings):
                try:
                    check_approved(settings, name)
                except Unapproved as e:
                    notes.append(str(e))
        except SettingsError as e:
            problems.append(str(e))
    return problems, notes


@with_options("* as_json")
def print_schema(run: CommandRun) -> None:
    """Print the JSON schema of the settings file, for editors and programs."""
    from json import dumps

    from sensegraph.cli.template import settings_schema

    schema = settings_schema()
    print_json({"settings": schema}) if run.as_json else print_text(dumps(schema, ensure_ascii=False, indent=2))


@with_options("* as_json")
def show_presets(
    run: CommandRun,
    name: Annotated[str, typer.Argument(metavar="PAPER", help="One preset; without, all of them are listed.")] = "",
    limit: Limit = 1000,
) -> None:
    """List the presets, or print the settings of one as its paper chose them, beside ours, each with its source."""
    from sensegraph.cli.template import format_toml
    from sensegraph.corpus.presets import find_preset, list_presets

    if not name:
        rows = [(p.name, p.paper, ", ".join(p.also)) for p in list_presets().values()]
        run.print_result(
            lambda: {"presets": views.view_presets(list_presets())},
            lambda: "\n".join(limit_rows([*show.pad_columns(rows)], limit)),
        )
        return
    found = find_preset(name)
    run.print_result(lambda: views.view_preset(found), lambda: show.format_preset(found, format_toml))


def _load_checked(run: CommandRun) -> None:
    """Raise SettingsError for the first mistake in the settings that are given."""
    from sensegraph.corpus.settings import Settings, convert_settings, load_settings

    given = run.overrides()
    convert_settings(given, Settings, "command line")
    load_settings(Path(run.root), given)


def _nest(key: str, value: Any) -> Mapping[str, Any]:
    """A value under a dotted name, as nested tables."""
    for name in reversed(key.split(".")):
        value = {name: value}
    return dict(value)
