"""Whether a text is read the same however it is wrapped: sentences at several widths, and what an index makes of it.

    python bench/invariance.py                        # manual pages of this machine in many languages, and HTML pages
    python bench/invariance.py --index                # builds too: relations, names and claims, wrapped and not
    python bench/invariance.py page.html man:de:dpkg  # documents of your own choice

Of each document its headings, paragraphs and items are taken, and written as plain text unwrapped, at 60, 72, 80 and
100 columns, with CRLF, indented; as Markdown unwrapped and at 72 and 100 columns; and as HTML. The figure is F1 of the
multisets of sentences of four words and more against those of the unwrapped text, words only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import textwrap
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from statistics import mean

from selectolax.lexbor import LexborHTMLParser

from sensegraph.corpus.corpus import Corpus
from sensegraph.documents.markup import parse_html
from sensegraph.language.blocks import read_blocks
from sensegraph.language.sentences import split_sentences
from sensegraph.types import Document

PAGES = (
    *(f"man:{language}:{page}" for language in ("de", "fr", "es", "ru", "pl", "it") for page in ("dpkg", "man", "ps")),
    *(f"man:en:{page}" for page in ("bash", "tar", "git-rebase", "rsync", "find")),
    "man:ja:man", "man:zh_CN:man",
    "/usr/share/doc/python3/python-policy.html", "/usr/share/doc/base-passwd/users-and-groups.html",
    "/usr/share/doc/zlib1g-dev/examples/zlib_how.html",
)  # fmt: skip
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
Part = tuple[str, str]
"""What a piece of a document is (`h`, `p` or `li`), and its text on one line."""


def load_parts(name: str) -> list[Part]:
    """The pieces of an HTML page, or of a manual page given as man:LANGUAGE:PAGE."""
    if name.startswith("man:"):
        _, language, page = name.split(":")
        env = os.environ | {"MANWIDTH": "9999", "LC_ALL": "C.UTF-8", "MANOPT": "--no-justification --no-hyphenation"}
        run = ["man", "-L", language, page] if language != "en" else ["man", page]
        told = subprocess.run(run, env=env, capture_output=True, text=True, check=False).stdout
        told = re.sub(r".\x08|\x1b\[[0-9;]*m", "", told)
        lines = [line for line in told.splitlines()[1:-1] if line.strip()]
        kinds = ("h" if not line.startswith(" ") else "p" for line in lines)
        return [(kind, " ".join(line.split())) for kind, line in zip(kinds, lines, strict=True)]
    page_tree = LexborHTMLParser(Path(name).read_text(encoding="utf-8", errors="replace"))
    found = []
    for node in page_tree.css("h1, h2, h3, h4, p, li"):
        text = " ".join(node.text().split())
        if text and not node.css("p, li"):
            tag = node.tag or "p"
            found.append((tag[0] if tag[0] == "h" else tag, text))
    return found


def wrap(text: str, width: int, first: str = "", rest: str = "") -> str:
    """A paragraph wrapped at a width, ideographs between any two; 0 leaves it on one line."""
    if not width:
        return first + text
    if not _WIDE.search(text):
        wrapper = textwrap.TextWrapper(width, first, rest, break_on_hyphens=False, break_long_words=False)
        return wrapper.fill(text)
    lines, line, size = [], first, len(first)
    for piece in re.findall(rf"{_WIDE.pattern}|[^\s\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]+|\s+", text):
        columns = sum(2 if _WIDE.match(c) else 1 for c in piece)
        if size + columns > width and line.strip() and not re.match(r"[。、，！？）」』”]", piece):
            lines.append(line.rstrip())
            line, size = rest, len(rest)
            piece = piece.lstrip()
        line, size = line + piece, size + columns
    return "\n".join([*lines, line])


def as_plain(parts: Sequence[Part], width: int = 0) -> str:
    """Plain text: paragraphs parted by blank lines, items with a star."""
    marks = {"li": ("* ", "  ")}
    return "\n\n".join(wrap(text, 0 if kind == "h" else width, *marks.get(kind, ("", ""))) for kind, text in parts)


def as_markdown(parts: Sequence[Part], width: int = 0) -> str:
    """Markdown: headings with ##, items with -; what would be a mark at a line's beginning is escaped."""
    written = []
    for kind, text in parts:
        text = re.sub(r"([*_`\[\]<>#|])", r"\\\1", text)
        first, rest = {"h": ("## ", ""), "li": ("- ", "  ")}.get(kind, ("", ""))
        lines = wrap(text, 0 if kind == "h" else width, first, rest).split("\n")
        written.append(
            "\n".join([lines[0], *(re.sub(r"^(\s*)([-+]|\d+[.)])(?=\s|$)", r"\1\\\2", x) for x in lines[1:])])
        )
    return "\n\n".join(written)


def as_html(parts: Sequence[Part]) -> str:
    """A page as the reader of HTML files makes text of it."""
    tags = {"h": "h2", "li": "li"}
    body = "\n".join(f"<{tags.get(k, 'p')}>{escape(t)}</{tags.get(k, 'p')}>" for k, t in parts)
    return parse_html("page.html", f"<html><body>{body}</body></html>").text


def list_sentences(text: str) -> Counter[str]:
    """The sentences of a text with four words and more, words only."""
    read = read_blocks(text).text
    said = (re.sub(r"\\(.)", r"\1", read[a:b]) for a, b in split_sentences(read))
    return Counter(w for s in said if (w := " ".join(re.findall(r"\w+", s))).count(" ") > 2 or _WIDE.search(w))


def score(one: Counter[str], other: Counter[str]) -> float:
    """F1 of two multisets, in percent."""
    return 200 * sum((one & other).values()) / max(1, one.total() + other.total())


def list_forms(parts: Sequence[Part]) -> dict[str, str]:
    """The document in every form."""
    forms = {f"text {width}": as_plain(parts, width) for width in (60, 72, 80, 100)}
    forms["text 72 CRLF"] = forms["text 72"].replace("\n", "\r\n")
    forms["text 72 indented"] = textwrap.indent(forms["text 72"], "    ")
    forms |= {f"Markdown {width or 'unwrapped'}": as_markdown(parts, width) for width in (0, 72, 100)}
    return forms | {"HTML": as_html(parts)}


def count_index(texts: Sequence[tuple[str, str]]) -> tuple[int, int, int]:
    """The relations, names and claims that an offline index has of texts."""
    settings = {"engine": "offline", "index": {"parts": ["graph"]}}
    with tempfile.TemporaryDirectory() as folder, Corpus.open(Path(folder), settings=settings) as corpus:
        corpus.add([Document(name, text) for name, text in texts])
        corpus.build()
        graph = corpus.index().graph
        return len(graph.relations), len(graph.entities), len(graph.claims)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", default=PAGES)
    parser.add_argument("--index", action="store_true", help="build an index of the texts unwrapped and at 72 columns")
    parser.add_argument("--show", action="store_true", help="print what differs")
    given = parser.parse_args()
    table: dict[str, list[float]] = {}
    plain, wrapped = [], []
    for name in given.documents:
        if not name.startswith("man:") and not Path(name).exists():
            continue
        parts = load_parts(name)
        if len(parts) < 10:
            print(f"{name}: not here")
            continue
        whole = as_plain(parts)
        base = list_sentences(whole)
        plain.append((name, whole))
        wrapped.append((name, as_plain(parts, 72)))
        figures = []
        for form, text in list_forms(parts).items():
            found = list_sentences(text)
            table.setdefault(form, []).append(score(base, found))
            figures.append(table[form][-1])
            if given.show:
                for sentence in list(base - found)[:4]:
                    print(f"   {form} lacks: {sentence[:150]}")
                for sentence in list(found - base)[:4]:
                    print(f"   {form} adds:  {sentence[:150]}")
        print(f"{name:55} {base.total():5} sentences " + " ".join(f"{f:5.1f}" for f in figures), flush=True)
    print(f"\n| form | mean F1 of {len(plain)} documents | least |\n|---|---:|---:|")
    for form, values in table.items():
        print(f"| {form} | {mean(values):.1f} | {min(values):.1f} |")
    if given.index:
        before, after = count_index(plain), count_index(wrapped)
        for what, one, other in zip(("relations", "names", "claims"), before, after, strict=True):
            print(f"{what}: {one} unwrapped, {other} at 72 columns ({100 * (other / max(1, one) - 1):+.1f} %)")


if __name__ == "__main__":
    main()
