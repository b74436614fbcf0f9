"""A report as one HTML page that needs nothing besides itself: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from xml.sax.saxutils import escape

from sensegraph.lab.experiments.sheets import Cell, Fold, Grid, Items, Part, Section, Sheet, Table, Words, holds_words

_LOW, _EVEN, _HIGH = (179, 88, 6), (247, 247, 247), (33, 102, 172)  # told apart by colour-blind eyes, and in grey
_HALF = 0.5
_DARK = 0.18  # lightness below which white is the more legible ink
_SOFT = 0.75  # of the way to the ends of the scale, so that numbers stay legible


def render_html(sheet: Sheet) -> str:
    """The whole report as a well-formed page."""
    style = (files("sensegraph.lab.experiments") / "page.css").read_text(encoding="utf-8")
    lines = [f"<header>\n<h1>{escape(sheet.title)}</h1>"]
    lines += [f"<p>{escape(line)}</p>" for line in sheet.lead]
    lines.append("</header>\n<nav><ul>")
    lines += [f'<li><a href="#{_make_anchor(s)}">{escape(s.title)}</a></li>' for s in sheet.sections]
    lines.append("</ul></nav>\n<main>")
    for section in sheet.sections:
        lines.append(f'<section id="{_make_anchor(section)}">\n<h2>{escape(section.title)}</h2>')
        lines += [_render_part(part) for part in section.parts]
        lines.append("</section>")
    lines.append("</main>")
    body = "\n".join(lines)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{escape(sheet.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _make_anchor(section: Section) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in section.title.lower()).split())


def _render_part(part: Part) -> str:
    if isinstance(part, Words):
        return f"<p>{escape(part.text)}</p>"
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
    texts = "".join(
        f"<div><h4>{escape(name)}</h4>{''.join(f'<p>{escape(p)}</p>' for p in text.split(chr(10)) if p.strip())}</div>"
        for name, text in part.texts
    )
    return f'<h3>{escape(part.title)}</h3>\n<div class="beside">{texts}</div>'


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
    shade = min(1.0, max(0.0, cell.shade))
    end, distance = (_HIGH, shade - _HALF) if shade >= _HALF else (_LOW, _HALF - shade)
    share = 2 * distance * _SOFT
    ground = [round(e + (t - e) * share) for e, t in zip(_EVEN, end, strict=True)]
    # relative lightness, 0 (black) to 1 (white)
    lightness = sum((w * (c / 255) ** 2.2 for w, c in zip((0.2126, 0.7152, 0.0722), ground, strict=True)), 0.0)
    ink = "#000" if lightness > _DARK else "#fff"
    return f' style="background:rgb({",".join(map(str, ground))});color:{ink}"'
