"""What the package knows about languages stands in `language/`, once."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

import sensegraph
from sensegraph.language.word_lists import LANGUAGES, MONTHS, SNOWBALL, read_sections

PACKAGE = Path(sensegraph.__file__).parent
LANGUAGE = PACKAGE / "language"
DATA = LANGUAGE / "data"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LISTS = sorted(DATA.rglob("*.txt"))
TELLING = {name for names in MONTHS.values() for name in names if len(name) > 6}  # february, januar…: no other words
_ALL_WORDS = ("words/common.txt", "words/capitalised.txt", "background.txt")
ALPHABETICAL = {DATA / name for name in _ALL_WORDS}  # months among all other words


def modules_imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    found = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return found | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def names_months(path: Path) -> bool:
    text = path.read_text("utf-8").casefold()
    return sum(name in text for name in TELLING) > 1


def test_month_names_are_written_out_in_one_file_only() -> None:
    found = [path for path in (*SOURCES, *LISTS) if names_months(path) and path not in ALPHABETICAL]
    assert found == [DATA / "months.txt"]


def test_short_names_of_months_are_written_out_in_no_other_file() -> None:
    short = ("feb", "mar", "apr", "jun", "aug", "oct", "nov", "dec")
    assert len(SOURCES) > 300
    found = [
        path
        for path in SOURCES
        if sum(
            f"{a}{between}{b}" in path.read_text("utf-8").casefold()
            for a, b in pairwise(short)
            for between in (" ", "|", '", "')
        )
        > 1
    ]
    assert found == []


def test_stop_words_stand_in_the_one_file_of_their_language() -> None:
    assert not [path for path in PACKAGE.rglob("*") if "stop" in path.name and path.suffix != ".py"]
    found = {path for path in LISTS if "\n[stop-words" in path.read_text("utf-8")}
    assert found == {DATA / "languages" / f"{code}.txt" for code in SNOWBALL}
    assert {path.stem for path in (DATA / "languages").iterdir()} == set(LANGUAGES)


@pytest.mark.parametrize("code", SNOWBALL)
def test_a_stop_word_stands_once_in_the_file_of_its_language(code: str) -> None:
    sections = read_sections(f"languages/{code}")
    words = [w for name, lines in sections.items() if name.startswith("stop-words") for w in " ".join(lines).split()]
    assert len(words) > 100
    assert len(words) == len(set(words))


def test_no_other_module_writes_function_words_out() -> None:
    row = ("about", "above", "after", "again", "because", "before", "between", "through")

    assert len(SOURCES) > 300

    def lists_them(path: Path) -> bool:
        strings = [n.value for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Constant)]
        return any(set(row) <= set(text.split()) for text in strings if isinstance(text, str))

    assert [path for path in SOURCES if lists_them(path)] == []


def test_every_list_says_where_it_comes_from_before_its_first_word() -> None:
    assert LISTS
    for path in LISTS:
        lines = path.read_text("utf-8").splitlines()
        head = " ".join(lines[: next(i for i, line in enumerate(lines) if not line.startswith(("#", ";;;")))])
        assert "Written by hand for this package" in head or "From the file" in head or "Built by bench/" in head, path


def test_no_module_of_language_knows_engines_the_index_methods_or_the_runtime() -> None:
    above = (
        "engines",
        "index",
        "methods",
        "runtime",
        "models",
        "retrieval",
        "answering",
        "corpus",
        "resolution",
        "lab",
    )
    assert len(list(LANGUAGE.rglob("*.py"))) > 8
    for path in LANGUAGE.rglob("*.py"):
        for module in modules_imported(path):
            assert not module.startswith(tuple(f"sensegraph.{name}" for name in above)), (path, module)
