"""What each option of each command holds where nobody gives it, one command a line.

They are pinned in tests/data/command-defaults.txt. Where one was meant to change: `python tests/command_defaults.py`
writes the file again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from sensegraph.cli import app

PINNED = Path(__file__).resolve().parent / "data" / "command-defaults.txt"


def walk_commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command below this one by its words."""
    if not hasattr(command, "commands"):
        yield " ".join(words), command
        return
    for name, inner in command.commands.items():
        yield from walk_commands(inner, (*words, name))


def list_defaults() -> str:
    """Every command with what its options hold."""
    lines = []
    for words, command in walk_commands(typer.main.get_command(app)):
        held = {p.name: str(p.default) if isinstance(p.default, Path) else p.default for p in command.params}
        told = [f"{name}={v!r}" for name, v in held.items() if v is not None and v is not False and v != ""]
        lines.append(f"{words}: {', '.join(told)}".strip(": "))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PINNED.write_text(list_defaults(), encoding="utf-8")
