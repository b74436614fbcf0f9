"""The tables of a report for other programs: CSV for figures, LaTeX for papers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from sensegraph.lab.experiments.sheets import Figure, Fold, Grid, Sheet, Table, holds_words, make_slug

_NUMBER = re.compile(r"[+−-]?\d[\d,]*(\.\d+)?")
_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "−": "$-$", "±": r"$\pm$", "√": r"$\surd$", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$", "–": "--",
    "…": r"\ldots{}",
}  # fmt: skip
_USAGE = (
    "% Needs \\usepackage{booktabs}, \\usepackage{adjustbox}, which makes wide tables as narrow as the text, and\n"
    "% \\usepackage[utf8]{inputenc} (the default since 2018).\n"
)
_ASCII = {"−": "-", "–": "-", "±": "+-", "√": "sqrt ", "×": "x", "…": "..."}  # in the heads of CSV


def list_tables(sheet: Sheet) -> Iterator[tuple[str, Table]]:
    """Every table of a report with a file name without ending, numbered in their order: `03-claims`."""
    number = 0
    for section in sheet.sections:
        for part in section.parts:
            inner = part.tables if isinstance(part, Grid | Fold) else (part,) if isinstance(part, Table) else ()
            for table in inner:
                number += 1
                words = table.name or "-".join(make_slug(table.caption).split("-")[:6])
                yield f"{number:02}-{words}", table


def render_csv(table: Table) -> str:
    """A table as CSV, figures as a program reads them, with all their digits.

    A cell of several figures (a mean with its interval) takes a column for each. There are no commas for thousands, a
    hyphen for minus, and nothing where there is no figure.
    """
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    named = [_list_figures(row[place].figures for row in table.rows) for place in range(len(table.head))]
    heads = zip(table.head, named, strict=True)
    head = [f"{text} {name}".strip() for text, names in heads for name in (names or [""])]
    writer.writerow(["".join(_ASCII.get(c, c) for c in text) for text in head])
    for row in table.rows:
        values: list[str] = []
        for cell, names in zip(row, named, strict=True):
            own = dict(cell.figures)
            values += [_write_figure(own.get(name)) for name in names] or [_plain_figure(cell.text)]
        writer.writerow(values)
    return out.getvalue()


def _list_figures(column: Iterable[Sequence[tuple[str, Figure]]]) -> list[str]:
    """The names of the figures of a column, in order; none where its cells are no more than their texts."""
    return list(dict.fromkeys(name for figures in column for name, _ in figures))


def _write_figure(value: Figure) -> str:
    return value if isinstance(value, str) else "" if value is None else f"{value:.12g}"


def _plain_figure(text: str) -> str:
    if text == "–":
        return ""
    return text.replace(",", "").replace("−", "-") if _NUMBER.fullmatch(text) else text


def render_latex(sheet: Sheet) -> str:
    """All tables of a report as LaTeX floats, to be read by \\input; labels are tab: and what the table is called."""
    shown, labels = list[str](), Counter[str]()
    for name, table in list_tables(sheet):
        label = name.partition("-")[2]  # without the number, which changes with what stands before it
        labels[label] += 1
        shown.append(_render_latex_table(f"{label}-{labels[label]}" if labels[label] > 1 else label, table))
    return _USAGE + "\n".join(shown)


def _render_latex_table(name: str, table: Table) -> str:
    columns = "".join("l" if holds_words(table, i) else "r" for i in range(len(table.head)))
    rows = [" & ".join(map(escape_latex, table.head)) + r" \\", r"\midrule"]
    for row in table.rows:
        cells = [rf"\textbf{{{escape_latex(c.text)}}}" if c.strong else escape_latex(c.text) for c in row]
        rows.append(" & ".join(cells) + r" \\")
    note = [rf"\par\smallskip\footnotesize {escape_latex(table.note)}"] if table.note else []
    lines = [
        r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(table.caption)}}}", rf"\label{{tab:{name}}}",
        r"\begin{adjustbox}{max width=\textwidth}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *rows,
        r"\bottomrule", r"\end{tabular}", r"\end{adjustbox}", *note, r"\end{table}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def escape_latex(text: str) -> str:
    """The text as LaTeX sets it."""
    return "".join(_SIGNS.get(c, c) for c in text.replace("\n", " "))
