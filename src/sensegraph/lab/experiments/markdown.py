"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from sensegraph.lab.experiments.sheets import Beside, Cell, Fold, Grid, Items, Part, Sheet, Table, Words, wordy


def markdown(sheet: Sheet) -> str:
    """The whole report."""
    blocks = [f"# {sheet.title}", *sheet.lead]
    for section in sheet.sections:
        blocks += [f"## {section.title}", *(block for part in section.parts for block in _part(part))]
    return "\n\n".join(blocks) + "\n"


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, Words):
        yield part.text
    elif isinstance(part, Items):
        yield "\n".join(f"- {line}" for line in part.lines)
    elif isinstance(part, Table):
        yield f"**{part.caption}**"
        yield _table(part)
        if part.note:
            yield part.note
    elif isinstance(part, Grid):
        yield from (block for table in part.tables for block in _part(table))
        yield part.note
    elif isinstance(part, Fold):
        yield f"### {part.title}"
        yield from (block for table in part.tables for block in _part(table))
    else:
        yield from _beside(part)


def _table(table: Table) -> str:
    rule = ["---" if wordy(table, place) else "---:" for place in range(len(table.head))]
    rows = [list(map(_plain, table.head)), rule, *(list(map(_cell, row)) for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    text = _plain(cell.text)
    return f"**{text}**" if cell.strong and text else text


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _beside(part: Beside) -> Iterator[str]:
    yield f"### {part.title}"
    for name, text in part.texts:
        yield f"**{name}**"
        yield "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or ">"
