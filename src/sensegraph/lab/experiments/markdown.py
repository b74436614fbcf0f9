"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from sensegraph.lab.experiments.sheets import Fold, Grid, Items, Part, Sheet, Table, Words, holds_words


def render_markdown(sheet: Sheet) -> str:
    """The whole report."""
    blocks = [f"# {sheet.title}", *sheet.lead]
    for section in sheet.sections:
        blocks += [f"## {section.title}", *(block for part in section.parts for block in _render_blocks(part))]
    return "\n\n".join(blocks) + "\n"


def _render_blocks(part: Part) -> Iterator[str]:
    if isinstance(part, Words):
        yield part.text
    elif isinstance(part, Items):
        yield "\n".join(f"- {line}" for line in part.lines)
    elif isinstance(part, Table):
        yield f"**{part.caption}**"
        rows = [[_escape_cell(name) for name in part.head]]
        rows.append(["---" if holds_words(part, place) else "---:" for place in range(len(part.head))])
        for cells in part.rows:
            texts = [(_escape_cell(cell.text), cell.strong) for cell in cells]
            rows.append([f"**{text}**" if strong and text else text for text, strong in texts])
        yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
        if part.note:
            yield part.note
    elif isinstance(part, Grid):
        yield from (block for table in part.tables for block in _render_blocks(table))
        yield part.note
    elif isinstance(part, Fold):
        yield f"### {part.title}"
        yield from (block for table in part.tables for block in _render_blocks(table))
    else:
        yield f"### {part.title}"
        for name, text in part.texts:
            yield f"**{name}**"
            yield "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or ">"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
