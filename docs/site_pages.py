"""The documentation site: what it is made of, and whether every link in it leads somewhere.

    python docs/site_pages.py assemble      writes build/site: the pages as the site has them, with those from the code
    python docs/site_pages.py texts         copies the pages as they were written beside those of site/, for llms.txt
    python docs/site_pages.py check         follows every link and anchor of site/ and prints those that lead nowhere
    python docs/site_pages.py requirements  prints what builds it: the extra `site`

Pages link to each other as they lie in the repository. Here they are put where the site has them, and links follow;
a link to a file that the site does not have becomes its name.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reference import write_commands, write_names

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SOURCE, BUILT = ROOT / "build" / "site", ROOT / "site"
MOVED = {  # where pages of the repository stand in the site
    "docs/home.md": "index.md", "docs/index.md": "pages.md", "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md", "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
}  # fmt: skip
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\))?)\)")
_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)


def place_of(page: str) -> str:
    """Where a file of the repository stands in the site."""
    return MOVED.get(page, page.removeprefix("docs/"))


def list_sources() -> list[Path]:
    """The pages and pictures of the repository that the site has."""
    pages = [*(DOCS.rglob("*.md")), *(DOCS / "pictures").iterdir()]
    return sorted([*pages, *(ROOT / name for name in MOVED if not name.startswith("docs/"))])


def assemble(into: Path = SOURCE) -> None:
    """Write the pages as the site has them."""
    shutil.rmtree(into, ignore_errors=True)
    kept = {path.relative_to(ROOT).as_posix() for path in list_sources()}
    texts = {"reference/commands.md": write_commands(), "reference/api.md": write_names()}
    for path in list_sources():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix == ".md":
            texts[place_of(name)] = move_links(path.read_text(encoding="utf-8"), name, kept)
        else:
            (into / place_of(name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, into / place_of(name))
    for place, text in texts.items():
        (into / place).parent.mkdir(parents=True, exist_ok=True)
        (into / place).write_text(text, encoding="utf-8")
    (into / "llms.txt").write_text(write_overview(texts), encoding="utf-8")


def copy_texts(source: Path = SOURCE, into: Path = BUILT) -> None:
    """Put the pages as they were written beside those that were built of them: llms.txt names these."""
    for path in sorted(source.rglob("*.md")):
        place = into / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def move_links(text: str, name: str, kept: set[str]) -> str:
    """The text of a page with its links as they are from where it stands in the site."""
    here, there = Path(name).parent, Path(place_of(name)).parent

    def move(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith(("#", "mailto:")):
            return found[0]
        wanted = _normal((here / unquote(path)).as_posix())
        if wanted not in kept:
            return words if wanted.rpartition("/")[2] in words else f"{words} (`{wanted}`)"
        ups = "../" * len(there.parts)
        called = re.sub("-+", "-", anchor)  # what a heading is called here has no two hyphens in a row
        return f"{mark}[{words}]({ups}{place_of(wanted)}{'#' + called if called else ''})"

    parts = re.split(r"(^ *```.*?^ *```)", text, flags=re.MULTILINE | re.DOTALL)  # nothing in a block is a link
    return "".join(part if i % 2 else _LINK.sub(move, part) for i, part in enumerate(parts))


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def write_overview(texts: dict[str, str]) -> str:
    """The pages with their titles and first sentences, for machines (llms.txt); decisions are left out."""
    lines = ["# sensegraph", "", "> Ask questions about documents, and get answers that cite the exact sentence.", ""]
    for place, text in sorted(texts.items()):
        if place.startswith("design/"):
            continue
        title = _TITLE.search(text)
        prose = [p for p in text.split("\n\n")[1:] if p.strip() and not p.lstrip().startswith(tuple("#|`=-"))]
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(prose[0].split())) if prose else ""
        lines.append(f"- [{title[1] if title else place}]({place}): {plain.split('. ')[0].rstrip('.:')}")
    return "\n".join(lines) + "\n"


# ── whether links lead somewhere ──


class PageReader(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep where a tag leads, and what it can be reached by."""
        own = dict(attrs)
        self.anchors |= {v for k in ("id", "name") if (v := own.get(k))}
        self.links += [v for k in ("href", "src") if (v := own.get(k))]


def find_broken_links(site: Path) -> Iterator[str]:
    """Each link of a page of the site, and of its llms.txt, to a file or an anchor that is not there."""
    overview = site / "llms.txt"
    named = _LINK.findall(overview.read_text(encoding="utf-8")) if overview.exists() else []
    yield from (f"llms.txt: {link} leads to no file" for _, _, link in named if not (site / link).exists())
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = PageReader()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} leads to no file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(site)}: {link} leads to no anchor"


def main(task: str) -> int:
    """Do one of the four tasks."""
    if task == "assemble":
        assemble()
    elif task == "texts":
        copy_texts()
    elif task == "check":
        broken = list(find_broken_links(BUILT))
        sys.stdout.write("".join(f"{line}\n" for line in broken))
        count = len(list(BUILT.rglob("*.html")))
        sys.stdout.write(f"{count} pages, {len(broken)} links that lead nowhere\n")
        return 1 if broken or not count else 0
    elif task == "requirements":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        sys.stdout.write("\n".join(project["optional-dependencies"]["site"]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
