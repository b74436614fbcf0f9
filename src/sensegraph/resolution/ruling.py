"""Decisions that stand above the comparison, and which of them hold where they contradict one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sensegraph.resolution.resolution_types import Rule


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rules that hold, as pairs of positions (smaller first), and what is to be said of the others."""

    together: Mapping[tuple[int, int], Rule]
    apart: Mapping[tuple[int, int], Rule]
    notes: tuple[str, ...] = ()


def apply_rules(rules: Sequence[Rule], at: Mapping[str, int]) -> Rulings:
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
        one, other = _follow_root(root, a), _follow_root(root, b)
        against = ""
        if rule.kind == "apart":
            against = "a rule that counts more makes them one" if one == other else ""
        else:
            held = (r for (x, y), r in apart.items() if {_follow_root(root, x), _follow_root(root, y)} == {one, other})
            against = next((f"{_describe_rule(rule)} counts more" for rule in held), "")
        if against:
            notes.append(f"{_describe_rule(rule)} is left out: {against}.")
        elif rule.kind == "merge":
            together[min(a, b), max(a, b)] = rule
            root[max(one, other)] = min(one, other)
        else:
            apart[min(a, b), max(a, b)] = rule
    if missing:
        notes.append(f"{missing} rules name what is not there; they count again when it is.")
    return Rulings(together, apart, tuple(notes))


def _describe_rule(rule: Rule) -> str:
    return f"the rule that {rule.one} and {rule.other} are {'one' if rule.kind == 'merge' else 'two'}"


def _follow_root(root: Mapping[int, int], row: int) -> int:
    while row in root and root[row] != row:
        row = root[row]
    return row
