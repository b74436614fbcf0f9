"""What is forgotten of the log of operations when names and documents are gone."""

from __future__ import annotations

import pytest

from sensegraph.resolution.aliases import Operation
from sensegraph.resolution.log import Known, forget_names

LOGS = {
    "merge": [Operation("1", "merge", (("a", "x"), ("b", "x"), ("c", "x")))],
    "forbid": [Operation("1", "forbid", (("a", "x"), ("b", "x")))],
    "taken back": [Operation("1", "merge", (("a", "x"), ("b", "x"), ("c", "x")), reverted="2020")],
    "chain": [
        Operation("1", "merge", (("a", "x"), ("b", "x"))),
        Operation("2", "merge", (("b", "x"), ("c", "x"))),
        Operation("3", "forbid", (("a", "x"), ("d", "x"))),
    ],
    "split": [Operation("1", "split", (("a", "x"),), others=(("n", "x"),), documents=("d1", "d2"))],
    "split and merge": [
        Operation("1", "split", (("a", "x"),), others=(("n", "x"),), documents=("d1",)),
        Operation("2", "merge", (("n", "x"), ("b", "x"))),
    ],
}


def forget(log: str, names: str, documents: list[str]) -> list[tuple[str, str, list[str]] | None]:
    """The names, other names and documents that are left of each operation."""
    found = forget_names(LOGS[log], Known(frozenset(names), frozenset(documents)))
    return [
        ("".join(n for n, _ in o.names), "".join(n for n, _ in o.others), [*o.documents]) if o else None for o in found
    ]


@pytest.mark.parametrize(
    ("log", "names", "documents", "expected"),
    [
        ("merge", "abc", [], [("abc", "", [])]),
        ("merge", "ab", [], [("ab", "", [])]),
        ("merge", "a", [], [None]),
        ("merge", "", [], [None]),
        ("forbid", "ab", [], [("ab", "", [])]),
        ("forbid", "a", [], [None]),
        ("taken back", "abc", [], [("abc", "", [])]),
        ("taken back", "ab", [], [None]),
        ("chain", "abcd", [], [("ab", "", []), ("bc", "", []), ("ad", "", [])]),
        ("chain", "acd", [], [("ab", "", []), ("bc", "", []), ("ad", "", [])]),
        ("chain", "ac", [], [("ab", "", []), ("bc", "", []), None]),
        ("chain", "ab", [], [("ab", "", []), None, None]),
        ("chain", "cd", [], [None, None, None]),
        ("chain", "a", [], [None, None, None]),
        ("split", "an", ["d1", "d2"], [("a", "n", ["d1", "d2"])]),
        ("split", "an", ["d1"], [("a", "n", ["d1"])]),
        ("split", "an", [], [("an", "", [])]),  # kept apart as they were; nothing names a document that is gone
        ("split", "a", ["d1", "d2"], [("a", "n", ["d1", "d2"])]),
        ("split", "a", ["d1"], [("a", "n", ["d1"])]),
        ("split", "a", [], [None]),
        ("split", "n", ["d1", "d2"], [None]),
        ("split", "n", ["d1"], [None]),
        ("split", "n", [], [None]),
        ("split", "ab", ["d1", "d2"], [("a", "n", ["d1", "d2"])]),
        ("split", "ab", ["d1"], [("a", "n", ["d1"])]),
        ("split", "ab", [], [None]),
        ("split", "b", ["d1", "d2"], [None]),
        ("split", "b", ["d1"], [None]),
        ("split", "b", [], [None]),
        ("split", "anb", ["d1", "d2"], [("a", "n", ["d1", "d2"])]),
        ("split", "anb", ["d1"], [("a", "n", ["d1"])]),
        ("split and merge", "an", ["d1", "d2"], [("a", "n", ["d1"]), None]),
        ("split and merge", "an", ["d1"], [("a", "n", ["d1"]), None]),
        ("split and merge", "a", ["d1", "d2"], [("a", "n", ["d1"]), None]),
        ("split and merge", "a", ["d1"], [("a", "n", ["d1"]), None]),
        ("split and merge", "a", [], [None, None]),
        ("split and merge", "n", ["d1", "d2"], [None, None]),
        ("split and merge", "n", ["d1"], [None, None]),
        ("split and merge", "n", [], [None, None]),
        ("split and merge", "ab", ["d1", "d2"], [("a", "n", ["d1"]), ("nb", "", [])]),
        ("split and merge", "ab", ["d1"], [("a", "n", ["d1"]), ("nb", "", [])]),
        ("split and merge", "ab", [], [None, None]),
        ("split and merge", "b", [], [None, None]),
        ("split and merge", "anb", ["d1", "d2"], [("a", "n", ["d1"]), ("nb", "", [])]),
        ("split and merge", "anb", ["d1"], [("a", "n", ["d1"]), ("nb", "", [])]),
    ],
)
def test_what_is_gone_is_forgotten_but_for_what_others_rest_on(
    log: str,
    names: str,
    documents: list[str],
    expected: list[tuple[str, str, list[str]] | None],
) -> None:
    assert forget(log, names, documents) == expected
