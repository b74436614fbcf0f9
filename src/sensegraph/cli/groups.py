"""Groups of commands and how help lists their options: with a heading for each kind, in a few lines."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

_LAST = ("Filters", "Time", "Cost", "Output", "Corpus and settings")  # headings, after the options of the command


class SectionedCommand(TyperCommand):
    """A command whose help lists options under the headings that they name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options of the command alone, then those of each heading."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], **{name: [] for name in _LAST}}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[getattr(parameter, "rich_help_panel", None) or usual].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class ListingGroup(TyperGroup):
    """A group that runs its command `usual` where none is named."""

    usual = "list"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the usual command where the words begin with none and ask for no help, unless a shell completes them."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)


class ShowGroup(ListingGroup):
    """The group `show`, which lists the reports where nothing is named."""

    usual = "reports"


class ConfigGroup(ListingGroup):
    """The group `config`, which shows the settings where no command is named."""

    usual = "show"
