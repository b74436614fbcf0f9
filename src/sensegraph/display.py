"""How an answer shows itself: as text where it is printed, as HTML in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sensegraph.extractions import CitedFigure
    from sensegraph.types import Answer, Citation

_SHOWN = 5  # sources beyond which a notebook shows them folded


def format_span(document: str, start: int, end: int, page: int | None, figure: CitedFigure | None = None) -> str:
    """Where a span of a document stands: `notes.txt:40-97`, or `report.pdf, p. 3, 40-97`.

    Of what a model told of a figure: `report.pdf, p. 3, figure 2 (described by MODEL), 40-97`.
    """
    inside = [f"p. {page}"] if page else []
    inside += [f"figure {figure.number} (described by {figure.described_by})"] if figure else []
    return ", ".join([document, *inside, f"{start}-{end}"]) if inside else f"{document}:{start}-{end}"


def format_source(cited: Citation) -> str:
    """A source of an answer: its number, document, span and quote."""
    place = format_span(cited.document, cited.start, cited.end, cited.page, cited.figure)
    return f"[{cited.marker}] {place} “{cited.quote}”"


def show_text(found: Answer) -> str:
    """The text of an answer, then each source with its quote."""
    rows = [format_source(c) for c in found.citations]
    return "\n".join([found.text, "", "Sources", *rows]) if rows else found.text


def show_html(found: Answer) -> str:
    """The same as HTML, with the sources and notes to unfold; all text is escaped."""
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in found.text.split("\n\n") if part.strip())
    rows = "".join(
        f'<li value="{c.marker}"><q>{escape(c.quote)}</q> '
        f"<code>{escape(format_span(c.document, c.start, c.end, c.page, c.figure))}</code></li>"
        for c in found.citations
    )
    state = " open" if len(found.citations) <= _SHOWN else ""
    count = f"{len(found.citations)} source{'s' if len(found.citations) != 1 else ''}"
    sources = f"<details{state}><summary>{count}</summary><ol>{rows}</ol></details>" if rows else ""
    listed = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    notes = f"<details><summary>notes</summary><ul>{listed}</ul></details>" if listed else ""
    return f'<div class="sensegraph-answer">{paragraphs}{sources}{notes}</div>'
