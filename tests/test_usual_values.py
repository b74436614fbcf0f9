"""What holds where nothing is said is what users, and other modules, count on: a change is made on purpose."""

from __future__ import annotations

import ast

import usual_values


def test_every_default_is_the_one_that_is_pinned() -> None:
    """Where one was meant to change: `python tests/usual_values.py` writes the file again."""
    found, pinned = usual_values.all_values().splitlines(), usual_values.PINNED.read_text("utf-8").splitlines()
    assert len(pinned) > 700
    assert found == pinned


def test_defaults_are_seen_wherever_they_are_given() -> None:
    text = """
MOST, LEAST = 3, 0.5
_OWN = 7
NAME = "a text"
FLAG: bool = -1 < 0
@dataclass(frozen=True, slots=True, eq=False)
@final
class Settings:
    size: int = 10
    name: str = "x"
    def read(self, text, most=4, *, whole=True, other=None): ...
class _Hidden:
    size: int = 11
def run(a, b=2, /, c="c", *, d=(1, 2)): ...
def _help(a=1): ...
"""
    assert "_OWN = 7" in list(usual_values.values_of(ast.parse(text).body, private=True))
    assert list(usual_values.values_of(ast.parse(text).body)) == [
        "(MOST, LEAST) = (3, 0.5)",
        "FLAG = -1 < 0",
        "Settings(eq) = False",
        "Settings.size = 10",
        "Settings.read(most) = 4",
        "Settings.read(whole) = True",
        "run(b) = 2",
        "run(d) = (1, 2)",
    ]
    assert not usual_values.is_usual(ast.parse(f"x = [{'1, ' * 99}]").body[0].value)  # type: ignore[attr-defined]
