"""The documentation site: each page has a place in it, links follow pages, and references come from the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import reference
import sensegraph
import site_pages

ROOT = Path(__file__).resolve().parents[1]
CODES = re.compile(r"\b[NLGR]\d{2}\b")  # numbers of notes that no reader has


def listed(found: object) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(found, str):
        return [found]
    inner = found.values() if isinstance(found, dict) else found
    return [page for part in inner for page in listed(part)]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site_pages.assemble(folder)
    return folder


def test_every_page_but_decisions_stands_in_the_navigation_and_is_there(assembled: Path):
    nav = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    pages = {p.relative_to(assembled).as_posix() for p in assembled.rglob("*.md")}
    shown = {p for p in pages if not p.startswith("design/")}
    assert len(shown) > 60
    assert sorted(nav) == sorted(shown)


def test_every_link_of_the_assembled_pages_leads_to_a_page_of_the_site(assembled: Path):
    found, broken = 0, []
    for page in assembled.rglob("*.md"):
        text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in target:
                found += 1
                broken += [f"{page}: {target}"] * (not (page.parent / target).exists())
    assert found > 300
    assert broken == []


def test_links_follow_pages_that_stand_elsewhere_in_the_site():
    kept = {"docs/home.md", "docs/index.md", "docs/asking.md", "docs/design/001-a.md", "CHANGELOG.md"}
    text = "[a](../CHANGELOG.md#top) [b](design/001-a.md) [c](../src/x.py) [`x.py`](../src/x.py) [d](https://e.org)\n"
    moved = site_pages.move_links(text + "```\n[a](../CHANGELOG.md)\n```\n", "docs/index.md", kept)
    assert moved.splitlines()[0] == (
        "[a](project/changelog.md#top) [b](design/001-a.md) c (`src/x.py`) `x.py` [d](https://e.org)"
    )
    assert "[a](../CHANGELOG.md)" in moved
    assert site_pages.move_links("[a](docs/asking.md#a--b)", "CHANGELOG.md", kept) == "[a](../asking.md#a-b)"


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="there">B</h1><a href="../">home</a>', encoding="utf-8")
    links = "".join(f'<a href="{t}">x</a>' for t in ("b/", "b/#there", "b/#gone", "gone/", "https://e.org", "#here"))
    (tmp_path / "index.html").write_text(f'<p id="here">{links}</p><img src="gone.png">', encoding="utf-8")
    assert list(site_pages.find_broken_links(tmp_path)) == [
        "index.html: b/#gone leads to no anchor",
        "index.html: gone/ leads to no file",
        "index.html: gone.png leads to no file",
    ]


def test_every_page_that_the_overview_for_machines_names_lies_in_the_built_site(assembled: Path, tmp_path: Path):
    (tmp_path / "asking").mkdir()
    (tmp_path / "asking" / "index.html").write_text("<h1>Asking</h1>", encoding="utf-8")
    (tmp_path / "llms.txt").write_text((assembled / "llms.txt").read_text(encoding="utf-8"), encoding="utf-8")
    assert "llms.txt: asking.md leads to no file" in list(site_pages.find_broken_links(tmp_path))
    site_pages.copy_texts(assembled, tmp_path)
    assert list(site_pages.find_broken_links(tmp_path)) == []
    assert (tmp_path / "methods" / "walk.md").read_text(encoding="utf-8").startswith("# ")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    steps = [makefile.index(step) for step in ("zensical build", "site_pages.py texts", "site_pages.py check")]
    assert steps == sorted(steps)


def test_the_reference_of_names_is_python_with_what_is_used_where_nothing_is_given():
    page = reference.write_names()
    shown = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(shown) > 60
    for block in shown:
        compile(block, "api.md", "exec")
    for line in (
        "async def query(",
        ") -> AsyncAnswerStream: ...",
        ") -> AsyncCorpus: ...",
        '    method: str = "auto",',
        "    scope: Scope = Scope(),",
        '    root: str | Path = ".",',
    ):
        assert f"\n{line}" in page


def test_the_reference_of_commands_has_each_command_and_option():
    page = reference.write_commands()
    assert "## sensegraph query\n" in page
    assert "| `--method`, `-m` `NAME` |" in page
    assert page.count("\n## ") > 12


def test_the_reference_of_names_has_each_public_name_with_its_methods():
    page = reference.write_names()
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == list(sensegraph.__all__)
    assert "### Corpus.query\n" in page
    assert " at 0x" not in page
    assert "| `quote` | `str` |" in page


def test_the_overview_for_machines_lists_pages_with_what_they_say(assembled: Path):
    lines = (assembled / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert "- [Quick start](quickstart.md): Three minutes, offline" in lines
    assert len(lines) > 60
    assert not any("(design/" in line for line in lines)


def test_no_page_names_a_note_that_no_reader_has(assembled: Path):
    pages = [p for p in assembled.rglob("*.md") if "design" not in p.parts]
    assert len(pages) > 60
    assert [f"{p.name}: {found}" for p in pages if (found := CODES.findall(p.read_text(encoding="utf-8")))] == []
    assert CODES.findall("as N43 says") == ["N43"]
