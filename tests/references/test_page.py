"""The page of references: every numbered equation has a test that computes it another way, and every test is there."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "references.md"
LIBRARIES = {"networkx": "networkx", "sklearn": "scikit-learn", "bm25s": "bm25s", "scipy": "scipy"}


def table(page: Path, heading: str) -> Iterator[list[str]]:
    """The rows of the table under a heading, cell by cell."""
    _, _, after = page.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    lines = [line for line in after.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    for line in lines[1:]:
        yield [cell.strip() for cell in line.strip("|").split(" | ")]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def named_tests(cell: str) -> list[tuple[Path, str]]:
    """The file and the name of each test in a cell."""
    pairs = [name.partition("::")[::2] for name in quoted(cell)]
    return [(ROOT / "tests" / ("" if "/" in path else "references") / path, name) for path, name in pairs]


def defined(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def rows() -> list[list[str]]:
    return [*table(PAGE, "Numbered equations"), *table(PAGE, "Other formulas")]


def test_every_numbered_equation_has_a_reference_and_no_other_is_there() -> None:
    """The list is generated from the docstrings: who writes down an equation must add a row here."""
    known = [(quoted(room)[0], number) for room, number, _ in table(ROOT / "docs" / "where-is-what.md", "Equations")]
    ours = [(quoted(room)[0], number) for room, number, *_ in table(PAGE, "Numbered equations")]
    assert len(known) > 10
    assert sorted(ours) == sorted(known)


def test_the_tests_of_an_equation_reach_the_functions_that_stand_for_it() -> None:
    """One of the functions of an equation is named in its tests; what is private is reached through its folder."""
    where = {(room, number): cell for room, number, cell in table(ROOT / "docs" / "where-is-what.md", "Equations")}
    assert len(where) > 10
    for room, number, _, tests in table(PAGE, "Numbered equations"):
        said = "\n".join(path.read_text(encoding="utf-8") for path, _ in named_tests(tests))
        functions = [name for name in quoted(where[room, number]) if not name.endswith(".py")]
        assert f"sensegraph.{quoted(room)[0].replace('/', '.')}" in said, (room, number)
        assert any(re.search(rf"\b{name.strip('_')}\b", said) for name in functions) or functions == ["_read"], (
            functions
        )


@pytest.mark.parametrize("row", rows(), ids=lambda row: " ".join(row[:2])[:60])
def test_every_row_names_tests_that_exist_and_places_that_exist(row: list[str]) -> None:
    found = named_tests(row[-1])
    assert found
    assert [name for path, name in found if name not in defined(path)] == []
    places = [quoted(row[0])[0]] if row[1][0].isdigit() else quoted(row[1])
    assert places
    assert [place for place in places if not (ROOT / "src" / "sensegraph" / place).exists()] == []


def test_every_file_of_references_is_on_the_page() -> None:
    named = {path for row in rows() for path, _ in named_tests(row[-1])}
    assert len(named) > 5
    files = {path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)}
    assert files == {path for path in named if path.parent == Path(__file__).parent}


def test_the_libraries_are_for_development_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for library in LIBRARIES.values():
        holders = [name for name, needed in extras.items() if any(re.match(rf"{library}\b", n) for n in needed)]
        assert "dev" in holders
        assert set(holders) <= {"dev", library}, library  # an extra of its own is asked for by name
        assert not any(re.match(rf"{library}\b", n) for n in project["dependencies"])
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"(?ms)^if TYPE_CHECKING:\n.*?(?=^\S)", "", text)
        assert not re.search(rf"^\s*(?:import|from) (?:{'|'.join(LIBRARIES)})\b", text, re.MULTILINE), path
