"""The tables of a report for other programs: CSV for figures, LaTeX for papers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import StringIO

from sensegraph.lab.experiments.sheets import Fold, Grid, Sheet, Table, holds_words

_NUMBER = re.compile(r"[+−-]?\d[\d,]*(\.\d+)?")
_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "−": "$-$", "±": r"$\pm$", "√": r"$\surd$", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$", "–": "--",
    "…": r"\ldots{}",
}  # fmt: skip
_USAGE = "% Needs \\usepackage{booktabs} and \\usepackage[utf8]{inputenc} (the latter is the default since 2018).\n"


def list_tables(sheet: Sheet) -> Iterator[tuple[str, Table]]:
    """Every table of a report with a file name without ending, numbered in their order: `03-claims`."""
    number = 0
    for section in sheet.sections:
        for part in section.parts:
            inner = part.tables if isinstance(part, Grid | Fold) else (part,) if isinstance(part, Table) else ()
            for table in inner:
                number += 1
                words = "-".join("".join(c if c.isalnum() else " " for c in table.caption.lower()).split()[:6])
                yield f"{number:02}-{words}", table


def render_csv(table: Table) -> str:
    """A table as CSV, figures as a program reads them: no commas for thousands, a hyphen for minus, empty for none."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.head)
    for row in table.rows:
        writer.writerow([_plain_figure(cell.text) for cell in row])
    return out.getvalue()


def _plain_figure(text: str) -> str:
    if text == "–":
        return ""
    return text.replace(",", "").replace("−", "-") if _NUMBER.fullmatch(text) else text


def render_latex(sheet: Sheet) -> str:
    """All tables of a report as LaTeX floats, to be read by \\input."""
    return _USAGE + "\n".join(_render_latex_table(name, table) for name, table in list_tables(sheet))


def _render_latex_table(name: str, table: Table) -> str:
    columns = "".join("l" if holds_words(table, i) else "r" for i in range(len(table.head)))
    rows = [" & ".join(map(escape_latex, table.head)) + r" \\", r"\midrule"]
    for row in table.rows:
        cells = [rf"\textbf{{{escape_latex(c.text)}}}" if c.strong else escape_latex(c.text) for c in row]
        rows.append(" & ".join(cells) + r" \\")
    note = [rf"\par\smallskip\footnotesize {escape_latex(table.note)}"] if table.note else []
    lines = [
        r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(table.caption)}}}", rf"\label{{tab:{name}}}",
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *rows, r"\bottomrule", r"\end{tabular}", *note,
        r"\end{table}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def escape_latex(text: str) -> str:
    """The text as LaTeX sets it."""
    return "".join(_SIGNS.get(c, c) for c in text.replace("\n", " "))
