"""reStructuredText as readable text: fields are metadata, roles and links are their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.types import Document

_UNDERLINE = re.compile(r"([=\-~^\"'#*+:.`_])\1+[ \t]*$")
_FIELD = re.compile(r":([A-Za-z][\w .-]{0,40}):(?:[ \t]+(.*))?$")
_MARKUP = re.compile(r"( *)\.\.(?:[ \t]+(?:\|[^|]+\| )?([\w-]+)::[ \t]*(.*)|[ \t]+.*|)$")
_TELLING = frozenset(
    "note warning tip hint important attention caution danger error admonition seealso topic sidebar versionadded "
    "versionchanged deprecated epigraph highlights pull-quote rubric centered compound container".split()
)
_CODE = frozenset("code code-block sourcecode parsed-literal math literalinclude".split())
_INLINE = re.compile(
    r"``(?P<literal>.+?)``"
    r"|(?::[\w.:+-]{1,80}:)?`[~!]?(?P<words>[^`<>]*+)(?:<[^<>`]*+>)?`(?::[\w.:+-]{1,80}:)?_{0,2}"
    r"|(?<![\w*])\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?P<weak>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"
    r"|(?<!\w)(?P<link>[A-Za-z][A-Za-z0-9]*)_{1,2}(?!\w)"
)
_MAX_HEADER = 100_000


def parse_restructured_text(name: str, text: str) -> Document:
    """A reStructuredText document: its title is the first underlined line, its first list of fields its metadata.

    Comments, link targets, pictures and lists of pages are left out, notes keep their words, code stays as it is.
    """
    pairs = ((a, b.rstrip()) for a, b in pairwise(text[:_MAX_HEADER].split("\n")) if a.strip())
    title = next((a for a, b in pairs if _UNDERLINE.match(b) and len(b) >= len(a.rstrip())), "")
    title = title.strip() if not _UNDERLINE.match(title) else ""
    stated: dict[str, list[str]] = {}
    read = "\n".join(_read_lines(text.split("\n"), stated))
    fields = {name: " ".join(parts).strip() for name, parts in stated.items()}
    time = read_iso_date(fields.get("date", ""))
    rest = {key: value for key, value in fields.items() if key not in ("title", "date") or (key == "date" and not time)}
    read = re.sub(r"\n{3,}", "\n\n", read).strip("\n")
    return Document(name, read if read.strip() else text, fields.get("title") or title, flatten_fields(rest), time)


def _read_lines(lines: list[str], fields: dict[str, list[str]]) -> Iterator[str]:
    """The lines as they are read; what the first list of fields states is put into `fields`."""
    # what the lines beyond the column `held` are: the options or words of a note, code, or left out
    mode, held, open_fields, last = "", 0, True, ""
    for line, behind in pairwise([*lines, ""]):
        body = line.strip()
        indent = len(line) - len(line.lstrip())
        if mode and (not body or indent > held):
            option = mode != "literal" and bool(_FIELD.match(body))
            if mode == "code" and not body:
                mode = "literal"
            if mode in ("code", "literal") and not option:
                yield line
                continue
            if mode != "note" or option or not body:
                if not body:
                    yield ""
                continue
        mode = ""
        if markup := _MARKUP.match(line):
            directive, words, held = (markup[2] or "").lower(), markup[3] or "", len(markup[1])
            mode = "note" if directive in _TELLING else "code" if directive in _CODE else "out"
            if mode == "note" and words:
                yield markup[1] + _INLINE.sub(_plain, words)
            continue
        if open_fields and (field := _FIELD.match(line)):
            last = field[1].casefold()
            fields[last] = [_INLINE.sub(_plain, field[2] or "")]
            continue
        if open_fields and last and body and indent:
            fields[last].append(body)
            continue
        if body and not _UNDERLINE.match(body) and not _UNDERLINE.match(behind):
            open_fields = False  # only the title stands before the fields of a document
        if field := _FIELD.match(body):
            line = f"{line[:indent]}{field[1]}: {field[2] or ''}".rstrip()
        if body.endswith("::"):
            mode, held = "literal", indent
            line = line.rstrip()[:-1] if body != "::" else ""
        yield _INLINE.sub(_plain, line)


def _plain(match: re.Match[str]) -> str:
    words = next((words for words in match.groups() if words is not None), "")
    return (words.rstrip() if match["words"] and "<" in match[0] else words) or match[0]
