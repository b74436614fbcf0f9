"""How values show themselves: an answer as text where it is printed, as HTML in a notebook; others shortened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import MISSING, fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensegraph.extractions import CitedFigure
    from sensegraph.types import Answer, Citation

_SHOWN = 5  # sources beyond which a notebook shows them folded
_LONGEST = 60  # characters of a text that a prompt of Python shows
_ITEMS = 3  # things of a collection that it shows


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


def shorten_value(value: Any) -> str:
    """A value as a prompt of Python shows it: of a record the fields that are not as usual, of what is long a part.

    Of a collection of records it gives the number alone, and nothing of fields that records do not show (passwords).
    """
    if is_dataclass(value) and not isinstance(value, type):
        told = []
        for f in (f for f in fields(value) if f.repr):
            own, usual = getattr(value, f.name), f.default if f.default_factory is MISSING else f.default_factory()
            if usual is MISSING or type(usual) is not type(own) or usual != own:
                told.append(f"{f.name}={shorten_value(own)}")
        return f"{type(value).__name__}({', '.join(told)})"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…")
    if isinstance(value, Mapping):
        rows = [f"{k!r}: {shorten_value(v)}" for k, v in list(value.items())[:_ITEMS]]
        return f"{{{', '.join([*rows, *_count_more(len(value))])}}}"
    if isinstance(value, list | tuple):
        if value and is_dataclass(value[0]):
            return f"<{len(value):,} {type(value[0]).__name__}>"
        rows = [*map(shorten_value, value[:_ITEMS]), *_count_more(len(value))]
        return f"[{', '.join(rows)}]" if isinstance(value, list) else f"({', '.join(rows)}{',' * (len(rows) == 1)})"
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes):  # maybe records that a store holds
        return f"<{type(value).__name__} of {len(value):,}>"
    return repr(value)


def _count_more(number: int) -> list[str]:
    return [f"… {number - _ITEMS:,} more"] if number > _ITEMS else []
