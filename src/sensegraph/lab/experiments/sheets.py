"""A report as values, sections of paragraphs, lists, tables and texts side by side, and as Markdown or an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from xml.sax.saxutils import escape

_LOW, _EVEN, _HIGH = (179, 88, 6), (247, 247, 247), (33, 102, 172)  # told apart by colour-blind eyes, and in grey
_HALF = 0.5
_DARK = 0.18  # lightness below which white is the more legible ink
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # which a picture inside HTML does without
FIGURES = "figures"  # the folder of the charts, beside the report
_SOFT = 0.75  # of the way to the ends of the scale, so that numbers stay legible


Figure = float | str | None  # what a program reads of a cell
Figures = tuple[tuple[str, Figure], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table. `shade` colours it from 0 (low) over 0.5 (even) to 1 (high); `strong` marks what counts.

    `words` says that it holds words, which may be broken into lines, rather than a figure. `figures` are what a program
    reads in its place, each under a name of its own ("" for the column's): `mean`, `low`, `high`, `n`.
    """

    text: str
    shade: float | None = None
    strong: bool = False
    words: bool = False
    figures: Figures = ()


Cells = Sequence[Cell | str]  # a row: a cell that is no more than its text may be given as that


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first cell of a row names it. `note` says how it is to be read.

    `name` is what files and references call it; without one the first words of the caption.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Tables that are read together, with one note for all."""

    tables: tuple[Table, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short lines."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A text under a name, with its sources below it, a line each."""

    name: str
    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """Texts to be read side by side, below a title."""

    title: str
    texts: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Tables that are shown when somebody asks for them."""

    title: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as SVG; `name` is that of its file, without an ending."""

    name: str
    title: str
    svg: str


Part = str | Table | Grid | Items | Beside | Fold | Picture  # a string is a paragraph


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under its own heading."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole report."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]


def make_table(caption: str, head: Sequence[str], rows: Sequence[Cells], note: str = "", name: str = "") -> Table:
    """A table whose plain cells may be given as texts."""
    cells = tuple(tuple(c if isinstance(c, Cell) else Cell(c) for c in row) for row in rows)
    return Table(caption, tuple(head), cells, note, name)


def holds_words(given: Table, column: int) -> bool:
    """Whether a column holds words, as the first one does."""
    return not column or any(row[column].words for row in given.rows)


# ── how numbers are written ──


def format_count(count: int, thing: str) -> str:
    """A count with the word for what is counted: 1 question, 4 questions."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def format_number(value: float | None, digits: int = 2) -> str:
    """A figure with so many places; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}".replace("-", "−")


def format_signed(value: float, digits: int = 2) -> str:
    """A difference with its sign."""
    return f"{value:+,.{digits}f}".replace("-", "−")


def render_markdown(sheet: Sheet) -> str:
    """The whole report."""
    blocks = [f"# {sheet.title}", *sheet.lead]
    for section in sheet.sections:
        blocks += [f"## {section.title}", *(block for part in section.parts for block in _render_blocks(part))]
    return "\n\n".join(blocks) + "\n"


def _render_blocks(part: Part) -> Iterator[str]:
    if isinstance(part, str):
        yield part
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
    elif isinstance(part, Picture):
        yield f"![{part.title}]({FIGURES}/{part.name}.svg)"
    elif isinstance(part, Fold):
        yield f"### {part.title}"
        yield from (block for table in part.tables for block in _render_blocks(table))
    else:
        yield f"### {part.title}"
        for one in part.texts:
            yield f"**{one.name}**"
            sources = ["", "Sources:", "", *(f"- {' '.join(s.split())}" for s in one.sources)] if one.sources else []
            yield "\n".join(f"> {line}".rstrip() for line in (*one.text.splitlines(), *sources)) or ">"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def render_html(sheet: Sheet) -> str:
    """The whole report as a well-formed page."""
    style = (files("sensegraph.lab.experiments") / "page.css").read_text(encoding="utf-8")
    lines = [f"<header>\n<h1>{escape(sheet.title)}</h1>"]
    lines += [f"<p>{escape(line)}</p>" for line in sheet.lead]
    lines.append("</header>\n<nav><ul>")
    lines += [f'<li><a href="#{make_slug(s.title)}">{escape(s.title)}</a></li>' for s in sheet.sections]
    lines.append("</ul></nav>\n<main>")
    for section in sheet.sections:
        lines.append(f'<section id="{make_slug(section.title)}">\n<h2>{escape(section.title)}</h2>')
        lines += [_render_part(part) for part in section.parts]
        lines.append("</section>")
    lines.append("</main>")
    body = "\n".join(lines)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{escape(sheet.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def make_slug(title: str) -> str:
    """A title as part of an address or of a file's name: its letters and digits in lower case, hyphens between."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def _render_part(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, Items):
        return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in part.lines) + "</ul>"
    if isinstance(part, Grid):
        tables = "".join(f"<div>{_render_table(table)}</div>" for table in part.tables)
        return f'<div class="grid">{tables}</div><p class="note">{escape(part.note)}</p>'
    if isinstance(part, Fold):
        inner = "\n".join(map(_render_table, part.tables))
        return f"<details><summary>{escape(part.title)}</summary>\n{inner}\n</details>"
    if isinstance(part, Table):
        return _render_table(part)
    if isinstance(part, Picture):
        return f'<figure class="chart">{part.svg.replace(_NAMESPACE, "", 1)}</figure>'
    shown = []
    for one in part.texts:
        text = "".join(f"<p>{escape(p)}</p>" for p in one.text.splitlines() if p.strip())
        rows = "".join(f"<li>{escape(source)}</li>" for source in one.sources)
        sources = f'<h5>Sources</h5><ul class="sources">{rows}</ul>' if rows else ""
        shown.append(f"<div><h4>{escape(one.name)}</h4>{text}{sources}</div>")
    return f'<h3>{escape(part.title)}</h3>\n<div class="beside">{"".join(shown)}</div>'


def _render_table(table: Table) -> str:
    worded = [holds_words(table, i) for i in range(len(table.head))]
    kinds = [' class="words"' if i and words else "" for i, words in enumerate(worded)]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, table.head, strict=True))
    rows = []
    for row in table.rows:
        cells = []
        for place, cell in enumerate(row):
            text = f"<strong>{escape(cell.text)}</strong>" if cell.strong else escape(cell.text)
            kind = ' class="words"' if cell.words else ""
            cells.append(f"<td{kind}{_shade_style(cell)}>{text}</td>" if place else f'<th scope="row">{text}</th>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    shaded = any(c.shade is not None for row in table.rows for c in row)
    table_class = ' class="heat"' if shaded else ' class="said"' if all(worded) else ""
    return (
        f'<div class="scroll" tabindex="0"><table{table_class}>'
        f"<caption><span>{escape(table.caption)}</span></caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        f"</div>{note}"
    )


def _shade_style(cell: Cell) -> str:
    """The colours of a shaded cell: its own ground and ink, so that they do in light and in dark surroundings."""
    if cell.shade is None:
        return ""
    ground, ink = shade_colours(cell.shade)
    return f' style="background:{ground};color:{ink}"'


def shade_colours(shade: float) -> tuple[str, str]:
    """Ground and ink of a shade from 0 (low) over 0.5 (even) to 1 (high)."""
    shade = min(1.0, max(0.0, shade))
    end, distance = (_HIGH, shade - _HALF) if shade >= _HALF else (_LOW, _HALF - shade)
    share = 2 * distance * _SOFT
    ground = [round(e + (t - e) * share) for e, t in zip(_EVEN, end, strict=True)]
    # relative lightness, 0 (black) to 1 (white)
    lightness = sum((w * (c / 255) ** 2.2 for w, c in zip((0.2126, 0.7152, 0.0722), ground, strict=True)), 0.0)
    return f"rgb({','.join(map(str, ground))})", "#000" if lightness > _DARK else "#fff"
