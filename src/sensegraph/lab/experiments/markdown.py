"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from sensegraph.lab.experiments.sheets import Fold, Grid, Items, Part, Sheet, Table, Words, wordy


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
        rows = [[_plain(name) for name in part.head]]
        rows.append(["---" if wordy(part, place) else "---:" for place in range(len(part.head))])
        for cells in part.rows:
            texts = [(_plain(cell.text), cell.strong) for cell in cells]
            rows.append([f"**{text}**" if strong and text else text for text, strong in texts])
        yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
        if part.note:
            yield part.note
    elif isinstance(part, Grid):
        yield from (block for table in part.tables for block in _part(table))
        yield part.note
    elif isinstance(part, Fold):
        yield f"### {part.title}"
        yield from (block for table in part.tables for block in _part(table))
    else:
        yield f"### {part.title}"
        for name, text in part.texts:
            yield f"**{name}**"
            yield "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or ">"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
