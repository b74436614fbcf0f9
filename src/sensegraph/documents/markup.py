"""Markdown and HTML: their titles, times and metadata; and HTML as readable text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from sensegraph.documents.images import MOST_LINKS, Illustrated, ImageLink, list_markdown_images
from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.documents.nesting import check_nesting
from sensegraph.documents.page_tables import PLACED, tell_page_table
from sensegraph.errors import InputError
from sensegraph.language.tables import tell_row
from sensegraph.types import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_YAML = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*+$", re.S | re.M)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*+$", re.S | re.M)
_FIELD = re.compile(r"([A-Za-z_][\w .-]*+)[ \t]*+:(?:[ \t]+(.*))?$")
_REMARK = re.compile(r"(?<=\s)#")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ATX = re.compile(r" {0,3}#{1,6}[ \t](.*)$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_INLINE = re.compile(r"!?\[([^\]]{0,500}+)\]\([^)]{0,2000}+\)|[*`]+|(?<!\w)_+|_+(?!\w)")
_MAX_HEADER = 100_000  # characters in which front matter and the first heading are looked for
_MAX_TOML = 20_000  # the library of Python takes the square of a key's length
_MAX_DOTS = 200  # of a line there, as parts of a key take its square too, in memory
_MAX_HEADING = 500  # of a title
_PROSE = 12  # words of a line of prose, below which a heading of the second level names a part of the text
_MAX_LISTS = 20  # lists in one another in front matter

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_DROPPED = (
    "script, style, noscript, template, svg, nav, footer, aside, iframe, object, button, select, textarea, dialog, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=banner], [role=contentinfo], [role=search]"
)
_BLOCKS = frozenset(
    "address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tbody td tfoot th thead tr ul br".split()
)
_TIMES = (
    "meta[property='article:published_time']",
    "meta[itemprop=datePublished]",
    "meta[name=date i]",
    "meta[name='dc.date' i]",
    "meta[name='dcterms.created' i]",
)
_PARTED = f"table, {PLACED}"  # what stands in a cell on lines of its own
_SPACE = "\0"  # a blank that is kept; no text that comes here holds NULs
_WORD = re.compile(r"^(?!\{?\\)(?=.*[^\W\d_]{3})", re.DOTALL)  # in what is no formula and no emoji
_META = ("author", "description", "keywords")


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_markdown(name: str, text: str) -> Document:
    """A Markdown document: title and time from its front matter, else the first heading. The text stays whole.

    The images that it shows come with it.
    """
    front, body = split_front_matter(text)
    title = next((str(front[k]) for k in front if k.casefold() == "title" and front[k]), "") or _find_heading(body)
    times = (read_iso_date(front[k]) for k in front if k.casefold() in {"date", "time", "published"})
    time = next(filter(None, times), "")
    rest = {k: v for k, v in front.items() if k.casefold() not in {"title", "date"}}
    links = tuple(islice(list_markdown_images(body), MOST_LINKS)) if "![" in body else ()
    plain = (name, text, title, flatten_fields(rest), time)
    return Illustrated(*plain, links=links) if links else Document(*plain)


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """The fields of a YAML or TOML header, and the text after it; nothing where there is none or it cannot be read.

    Of YAML: `key: value` with plain or quoted values, `[a, b]`, and lists of `- item`; nested maps are left out.
    """
    head = text[:_MAX_HEADER]
    if (match := _TOML.match(head)) and len(match[1]) <= _MAX_TOML:
        import tomllib

        if max(line.count(".") for line in match[1].split("\n")) > _MAX_DOTS:
            return {}, text

        try:
            return dict(tomllib.loads(match[1])), text[match.end() :]
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}, text
    match = _YAML.match(head)
    if not match:
        return {}, text
    fields: dict[str, object] = {}
    items: list[object] = []
    for line in match[1].split("\n"):
        if field := _FIELD.match(line):
            value = (field[2] or "").strip()
            items = []
            fields[field[1].rstrip()] = _parse_yaml_value(value) if value else items
        elif line.lstrip().startswith("- "):
            items.append(_parse_yaml_value(line.lstrip()[2:].strip()))
    return {k: v for k, v in fields.items() if v != []}, text[match.end() :]


def _parse_yaml_value(text: str, depth: int = 0) -> object:
    """A plain YAML value: quoted or not, a list in brackets, a number, true or false."""
    if text[:1] in {'"', "'"} and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1].replace(text[0] * 2 if text[0] == "'" else '\\"', text[0])
    if text.startswith("[") and text.endswith("]") and depth < _MAX_LISTS:
        return [_parse_yaml_value(t.strip(), depth + 1) for t in text[1:-1].split(",") if t.strip()]
    if remark := _REMARK.search(text):
        text = text[: remark.start()].rstrip()
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float | bool) else text


def _find_heading(text: str) -> str:
    """The first heading outside of code, without its marks: of the first level, or of another above all prose."""
    fence, before, prose = "", "", False
    for line in text[:_MAX_HEADER].split("\n"):
        if mark := _FENCE.match(line):
            fence = mark[1] if not fence else "" if mark[1].startswith(fence) else fence
        elif not fence:
            match = _ATX.match(line)
            if match and not (prose and line.lstrip().startswith("##")):
                heading = match[1].strip(" \t")
                bare = heading.rstrip("#")  # the marks that may close a heading stand apart
                return _strip_inline_marks(bare if bare[-1:].isspace() else heading)
            if before.strip() and (mark := _UNDERLINE.match(line)) and not (prose and "-" in mark[0]):
                return _strip_inline_marks(before)
            prose = prose or len(before.split()) >= _PROSE
        before = line
    return ""


def _strip_inline_marks(heading: str) -> str:
    return _INLINE.sub(lambda m: m[1] or "", heading[:_MAX_HEADING]).strip()


# ── HTML ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def declared_encoding(data: bytes) -> str:
    """The encoding that an HTML or XML file names for itself in its first 4096 bytes, or nothing."""
    match = _CHARSET.search(data[:4096])
    return match[1].decode("ascii", "ignore") if match else ""


def parse_html(name: str, text: str) -> Document:
    """An HTML page as readable text: a paragraph for each heading, paragraph, list item and row of a table.

    Blank lines part paragraphs. A row is told with the names of its columns; where a table only places text, ` | `
    parts its cells.

    Navigation, footers, asides, scripts and forms' controls are dropped; where the page marks its main part, that is
    the text. An image is its alternative text, and comes with the page. Raises InputError when nothing is left to read.
    """
    from selectolax.lexbor import LexborHTMLParser

    check_nesting(text)
    page = LexborHTMLParser(text)
    title = _first_text(page, "head > title") or _first_text(page, "h1")
    times = (read_iso_date(node.attributes.get("content")) for css in _TIMES for node in page.css(css))
    time = next(filter(None, times), "")
    found = {key: page.css_first(f"meta[name={key} i]") for key in _META}
    fields = {key: (node.attributes.get("content") or "").strip() for key, node in found.items() if node}
    metadata = flatten_fields({key: value for key, value in fields.items() if value})
    for node in page.css(_DROPPED):
        node.decompose()
    for node in page.css("body > header, body > div > header"):
        if node.css_first("h1") is None:
            node.decompose()
    articles = page.css("article")
    parts = page.css("main") or page.css("[role=main]") or (articles if len(articles) == 1 else [])
    root = parts[0] if parts else page.body
    body = _render_lines(root) if root is not None else ""
    if not body and page.body is not None:
        root, body = page.body, _render_lines(page.body)
    if not body:
        raise InputError("holds no text to read (it may be built by a script); save the page as shown.")
    links = tuple(list_page_images(root)) if root is not None else ()
    plain = (name, body, title, metadata, time)
    return Illustrated(*plain, links=links) if links else Document(*plain)


def list_page_images(root: LexborNode) -> Iterator[ImageLink]:
    """The images of a page, each with its caption, else with its alternative text."""
    captions: dict[int, str] = {}
    for figure in root.css("figure:has(img)")[:MOST_LINKS]:
        if (caption := figure.css_first("figcaption")) is not None:
            said = " ".join(caption.text().split())
            captions |= {image.mem_id: said for image in figure.css("img[src]")[:MOST_LINKS]}
    for image in root.css("img[src]")[:MOST_LINKS]:
        said = captions.get(image.mem_id) or " ".join((image.attributes.get("alt") or "").split())
        yield ImageLink(image.attributes.get("src") or "", said)


def _first_text(page: LexborHTMLParser, css: str) -> str:
    node = page.css_first(css)
    return " ".join(node.text().split()) if node else ""


def _render_lines(root: LexborNode) -> str:
    """The text below `root`, white space collapsed as a browser shows it, one line a block.

    A blank line stands between two but for those of a table and those that begin with white space.
    """
    lines = (re.sub(" +", " ", line).strip(" ") for line in "".join(_walk_text(root)).split("\n"))
    shown = [li.replace(_SPACE, " ").rstrip() for li in lines if li.strip(f" |{_SPACE}")]
    close = ((" | " in b and " | " in a) or b.startswith(" ") or a.startswith(" ") for a, b in pairwise(shown))
    return "".join([*shown[:1], *(("\n" if near else "\n\n") + b for near, b in zip(close, shown[1:], strict=True))])


def _read_cell(node: LexborNode) -> str:
    return " ".join("".join(_walk_text(node)).replace(_SPACE, " ").split())


def _walk_text(root: LexborNode) -> Iterator[str]:
    """The text in order, with a line end before and after blocks; without recursion, however deep the page is."""
    stack: list[tuple[LexborNode, bool]] = [(root, False)]
    while stack:
        node, closing = stack.pop()
        tag = node.tag or ""
        if not closing and node.mem_id != root.mem_id and node.next is not None:
            stack.append((node.next, False))
        if tag == "-text":
            text, parent = node.text_content or "", node.parent
            if parent is not None and parent.tag == "pre":  # white space is kept, its blanks marked
                yield text.expandtabs(4).replace(" ", _SPACE)
            else:
                yield re.sub(r"[ \t\n\r\f]+", " ", text)
        elif tag == "table" and not closing and (told := tell_page_table(node, _read_cell)) is not None:
            yield "\n".join(["", *told, ""])
            continue
        elif tag == "tr" and not closing and node.css_first(_PARTED) is None:
            cells = [_read_cell(cell) for cell in node.css("td, th")]
            named = len(cells) == 2 and cells[0].endswith(":")
            yield f"\n{tell_row(cells[:1], cells[1:]) if named else ' | '.join(cells).strip(' |')}\n"
            continue
        elif tag == "img" and not closing and _WORD.search(alt := node.attributes.get("alt") or ""):
            yield f" [Image: {' '.join(alt.split())}] "
        elif tag in _BLOCKS:
            yield "\n"
        if not closing and node.child is not None:
            stack += [(node, True), (node.child, False)]
