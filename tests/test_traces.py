"""No list, pattern or rule of the package is made for the texts that it is measured on, or for its demonstration."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("sensegraph")))
TEXTS = PACKAGE / "data"  # the demonstration and the book themselves
COUNTED = (
    "background.txt",
    "capitalised.txt",
    "brill.txt",
    "people.txt",
)  # counted from texts at large, or their source

# who speaks and what is spoken of in podcasts, chats, minutes, news and novels that answers are measured on
NAMES = """
Kevin Scott; Christina Warren; Behind the Tech; Danny Hillis; Neha Narkhede; Fei-Fei Li; Oren Etzioni; Charlie Stross
Li Hua; LiHua; Wolfgang Schulz; Chae Song-hwa; Yuriko Yamamoto; Adam Smith; Hong Kong; Witcher
Bill Blair; Lynne Neagle; Kirsty Williams; Suzy Davies; Project Manager; Industrial Designer; Marketing Expert
Sam Bankman-Fried; Caroline Ellison; Alameda; FTX
Scrooge; Cratchit; Fezziwig; Jacob Marley; Tiny Tim
Broncos; Panthers; Super Bowl; Kawann Short; Fachhochschule; Merrimack
"""
_NAME = re.compile(r"[A-Z][a-zé]+(?: [A-Z][a-zé]+)+")


def read_package() -> dict[str, str]:
    """The text of every file of code, lists and patterns, by its path."""
    kept = (p for p in sorted(PACKAGE.rglob("*")) if p.suffix in {".py", ".txt", ".toml", ".md", ".html"})
    shown = [p for p in kept if not p.is_relative_to(TEXTS) and p.name not in COUNTED]
    assert len(shown) > 400
    return {p.relative_to(PACKAGE).as_posix(): p.read_text(encoding="utf-8") for p in shown}


def find_traces(names: set[str]) -> list[tuple[str, str]]:
    """(File, name) wherever a name stands as words of their own, in any case."""
    wanted = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)", re.IGNORECASE)
    return [(path, match[0]) for path, text in read_package().items() for match in wanted.finditer(text)]


def test_no_name_of_a_measuring_set_stands_in_the_package() -> None:
    names = {name.strip() for name in re.split(r"[;\n]", NAMES) if name.strip()}
    assert len(names) > 30
    assert find_traces(names) == []


def test_no_name_of_the_demonstration_stands_in_the_code() -> None:
    text = "\n".join(p.read_text(encoding="utf-8") for p in sorted((TEXTS / "demo").rglob("*")) if p.is_file())
    names = {name for name in _NAME.findall(text) if not name.startswith(("In ", "By ", "Dear ", "The ", "Between "))}
    assert {"Mara Voss", "Brackwater Labs"} <= names
    asking = "cli/maintenance.py"  # the command asks of the demonstration what its texts answer
    assert [trace for trace in find_traces(names) if trace[0] != asking] == []


def test_a_name_in_the_package_is_found() -> None:
    assert find_traces({"sensegraph"})
