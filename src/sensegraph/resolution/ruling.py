"""Decisions that stand above the comparison, and which of them hold where they contradict one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sensegraph.resolution.values import Rule


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rules that hold, as pairs of positions (smaller first), and what is to be said of the others."""

    together: Mapping[tuple[int, int], Rule]
    apart: Mapping[tuple[int, int], Rule]
    notes: tuple[str, ...] = ()


def rulings(rules: Sequence[Rule], at: Mapping[str, int]) -> Rulings:
    """Which rules hold: the user's before others, later before earlier, and a rule that contradicts those is left out.

    Rules about ids that are not there (any more) are counted in the notes.
    """
    first = sorted(range(len(rules)), key=lambda i: (rules[i].by != "user", -i))
    together: dict[tuple[int, int], Rule] = {}
    apart: dict[tuple[int, int], Rule] = {}
    root: dict[int, int] = {}
    notes, missing = [], 0
    for rule in (rules[i] for i in first):
        if rule.one not in at or rule.other not in at:
            missing += 1
            continue
        a, b = at[rule.one], at[rule.other]
        if against := _contradiction(rule, a, b, apart, root):
            notes.append(f"{_said(rule)} is left out: {against}.")
        elif rule.kind == "merge":
            together[min(a, b), max(a, b)] = rule
            root[_root(root, max(a, b))] = _root(root, min(a, b))
        else:
            apart[min(a, b), max(a, b)] = rule
    if missing:
        notes.append(f"{missing} rules name what is not there; they count again when it is.")
    return Rulings(together, apart, tuple(notes))


def _contradiction(rule: Rule, a: int, b: int, apart: Mapping[tuple[int, int], Rule], root: Mapping[int, int]) -> str:
    one, other = _root(root, a), _root(root, b)
    if rule.kind == "apart":
        return "a rule that counts more makes them one" if one == other else ""
    for (x, y), held in apart.items():
        if {_root(root, x), _root(root, y)} == {one, other}:
            return f"{_said(held)} counts more"
    return ""


def _said(rule: Rule) -> str:
    return f"the rule that {rule.one} and {rule.other} are {'one' if rule.kind == 'merge' else 'two'}"


def _root(root: Mapping[int, int], row: int) -> int:
    while row in root and root[row] != row:
        row = root[row]
    return row
