"""The seam is small: what differs between engines, or between embedders, is decided in a few named places."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import budgets

TOOLS = ("engines/", "models/", "testing/")
DECIDED = {
    "quotes": {
        "answering/quoting.py": "what a method gives to an engine that quotes, and what to one that writes",
        "index/build.py": "whether the words of an index are its sources' own",
        "index/hierarchy/grounding.py": "whether spans are filled in behind what was written",
        "index/hierarchy/packing.py": "how passages are shown to an engine",
        "index/restricted/moment.py": "whether a date that became a filter is still looked for",
        "lab/experiments/rehearsal.py": "a stand-in is as the engine that it stands for",
    },
    "lexical": {
        "index/vectors.py": "whether vectors add anything to full text",
        "lab/experiments/rehearsal.py": "a stand-in is as the embedder that it stands for",
    },
}


def readers(name: str, package: Path = budgets.PACKAGE) -> dict[str, list[int]]:
    """The lines that read the attribute `name` of an engine or an embedder, by file, outside the tools."""
    found: dict[str, list[int]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        if place.startswith(TOOLS):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == name and _is_tool(node.value):
                found[place].append(node.lineno)
    return dict(found)


def _is_tool(value: ast.expr) -> bool:
    """Whether an expression is called an engine, an embedder, or `of` (what a stand-in stands for)."""
    called = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return called.strip("_") in ("engine", "embedder", "of")


def test_what_differs_between_engines_and_embedders_is_decided_in_a_few_named_places() -> None:
    for name, places in DECIDED.items():
        assert set(readers(name)) == set(places), name


def test_no_method_reads_what_stands_behind_the_seam() -> None:
    read = [
        f"{path.relative_to(budgets.PACKAGE)}:{node.lineno}"
        for path in sorted((budgets.PACKAGE / "methods").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("quotes", "lexical")
    ]
    assert read == []


def test_a_reader_is_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def f(rt):\n    return rt.engine.quotes or rt.embedder.lexical\n")
    assert readers("quotes", tmp_path) == readers("lexical", tmp_path) == {"one.py": [2]}
