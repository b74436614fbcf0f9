"""Every test demands that something was found: a law over what was found holds of nothing as well."""

from __future__ import annotations

from pathlib import Path

import pytest

import demanding

ALLOWED: dict[str, str] = {}
"""Tests whose claim an empty result may satisfy, each with the reason; better is a second assertion."""


def test_every_test_demands_that_something_was_found():
    tests = list(demanding.every_test())
    assert len(tests) > 3000
    found = {str(place): place for place in demanding.undemanding(tests)}
    assert sorted(found.keys() - ALLOWED.keys()) == []
    assert sorted(ALLOWED.keys() - found.keys()) == []


def read(folder: Path, body: str, above: str = "") -> bool:
    """Whether a test of this body is found out."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    (folder / "test_one.py").write_text(f"{above}\ndef test_one(tmp_path):\n{lines}\n", encoding="utf-8")
    return bool(demanding.undemanding(demanding.every_test(folder, folder / "none")))


@pytest.mark.parametrize(
    "body",
    [
        "assert all(x > 1 for x in f())",
        "assert not any(x > 1 for x in f())",
        "assert [x for x in f() if x > 1] == []",
        "wrong = [x for x in f() if x > 1]\nassert not wrong",
        "for x in f():\n    assert x == 1",
        "x = f()\nassert x == sorted(x)",
        "x = f()\nassert len(set(x)) == len(x)",
        "assert set(f()) <= {1, 2}",
        "assert set(f()) <= set(g())",
        "assert not set(f()) & set(g())",
        'assert "x" not in f()',
        "assert len(f()) <= 3",
        "assert {a.id for a in f()} == {b.id for b in g()}",
        "if f():\n    assert f() == 1",
        "f()",
        "holds(f())",
        "assert good(f())",
        "assert not f() or f()[0] == 1",
    ],
)
def test_what_holds_of_nothing_is_found_out(body: str, tmp_path: Path):
    helpers = "def holds(x):\n    for y in x:\n        assert y\ndef good(x):\n    return all(y for y in x)\n"
    assert read(tmp_path, body, helpers)


@pytest.mark.parametrize(
    "body",
    [
        "assert f()",
        "assert f() == [1]",
        "wanted = {'a': 1}\nassert f() == wanted",
        "assert len(f()) == 3",
        "assert len(f()) > 3",
        "assert 0 < len(f()) <= 3",
        'assert "x" in f()',
        "assert any(x > 1 for x in f())",
        "for x in (1, 2):\n    assert f(x) == x + 1",
        "assert all(f(x) for x in (1, 2))",
        "(x,) = f()\nassert not x.wrong",
        "assert f()[0] <= 3",
        "assert max(f()) <= 3",
        "assert f([]) == []",
        "with pytest.raises(ValueError):\n    f()",
        "assert all(x > 1 for x in f())\nassert f()",
        "finds(f())",
        "same(f(), [1])",
    ],
)
def test_what_nothing_breaks_is_let_through(body: str, tmp_path: Path):
    helpers = (
        "def finds(x):\n    assert x\n    for y in x:\n        assert y\ndef same(x, wanted):\n    assert x == wanted\n"
    )
    assert not read(tmp_path, body, helpers)


@pytest.mark.parametrize(
    ("law", "found_out"),
    [
        ("assert f(xs) == g(xs)", False),  # how much there must be follows from what was drawn
        ("for x in xs:\n        assert f(x) == 1", False),
        ("found = f(xs)\n    assert found == sorted(found)", True),
        ("assert set(f(xs)) <= {1, 2}", True),
        ("assert set(xs) <= set(f(xs))", False),
    ],
)
def test_what_hypothesis_draws_says_how_much_there_must_be(law: str, found_out: bool, tmp_path: Path):
    text = f"@given(st.lists(st.integers()))\ndef test_one(xs):\n    {law}\n"
    (tmp_path / "test_one.py").write_text(text, encoding="utf-8")
    assert bool(demanding.undemanding(demanding.every_test(tmp_path, tmp_path / "none"))) == found_out


def test_a_fixture_of_the_whole_file_may_demand_for_its_tests(tmp_path: Path):
    fixture = "@pytest.fixture(autouse=True)\ndef pages():\n    assert len(PAGES) > 3\n"
    assert not read(tmp_path, "assert all(x for x in f())", fixture)
    assert read(tmp_path, "assert all(x for x in f())", fixture.replace("autouse=True", ""))
