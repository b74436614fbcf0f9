"""Names that are compared, read and resolved: worked examples."""

from __future__ import annotations

import pytest
from msgspec.structs import asdict

from sensegraph.resolution import Mentioned, Resolving, judge_pair, resolve
from sensegraph.resolution.aliases import canonical_name, canonical_type
from sensegraph.resolution.comparison.name_reading import read_name


def judge(one: str, other: str, type: str) -> tuple[float, str, bool]:
    found = judge_pair(Mentioned("a", one, type), Mentioned("b", other, type))
    return round(found.score, 4), found.kind, found.veto


def judge_types(one: str, other: str) -> tuple[float, str, bool]:
    found = judge_pair(Mentioned("a", "Apple", one), Mentioned("b", "Apple", other))
    return round(found.score, 4), found.kind, found.veto


def judge_contexts(name: str, other: str, one: list[str], two: list[str]) -> tuple[float, bool]:
    """Two names with these neighbours."""
    found = judge_pair(
        Mentioned("a", name, "person", neighbours=tuple(one)), Mentioned("b", other, "person", neighbours=tuple(two))
    )
    return round(found.score, 4), found.veto


def read(raw: str, person: bool) -> dict[str, object]:
    """What is read in a name, without what is empty; the core without small words only where there are some."""
    found = asdict(read_name(raw, person))
    return {k: v for k, v in found.items() if v and not (k == "plain" and v == found["core"])}


def group(names: list[tuple[str, str, str]]) -> tuple[list[tuple[str, list[str], list[tuple[str, float]]]], list[str]]:
    """The groups that things with (name, type, list) make, and the pairs that are in question."""
    items = [Mentioned(f"t{i}", n, t, count=len(names) - i, listed=m) for i, (n, t, m) in enumerate(names)]
    found = resolve(items, settings=Resolving())
    groups = [(g.name, [*g.members], [(a.name, round(a.score, 3)) for a in g.aliases]) for g in found.groups]
    asked = [f"{p.names[0]} / {p.names[1]} {p.score:.3f} {p.decision}" for p in found.proposals]
    return [g for g in groups if len(g[1]) > 1], asked


def name_group(names: list[tuple[str, str, int]]) -> tuple[str, str]:
    members = [Mentioned(f"t{i}", n, t, count=c) for i, (n, t, c) in enumerate(names)]
    return canonical_name(members), canonical_type(members)


@pytest.mark.parametrize(
    ("one", "other", "type", "expected"),
    [
        ("PS 5", "PS5", "", (0.95, "joined", False)),
        ("Mercury", "Mercury (planet)", "", (0.8, "bare", False)),
        ("The Beatles", "Beatles", "", (0.97, "key", False)),
        ("IBM", "International Business Machines", "", (0.87, "acronym", False)),
        ("UN", "United Nations", "", (0.6, "acronym", False)),
        ("Oxford University", "University of Oxford", "", (0.9, "order", False)),
        ("knowledge graph", "knowledge graphs", "", (0.93, "form", False)),
        ("Panasonic KXTS208W", "Panasonic KXTS208B", "", (0.6, "nearly", False)),
        ("Ford", "Ford Prize", "", (0.05, "head", False)),
        ("Iron Lantern", "Lantern", "", (0.4, "last", False)),
        ("North Korea", "South Korea", "", (0.0, "veto", True)),
        ("World War 1", "World War I", "", (0.97, "key", False)),
        ("Boeing 747", "Boeing 737", "", (0.0, "veto", True)),
        ("Adminstration Office", "Administration Office", "", (0.87, "form", False)),
        ("北京", "北京市", "", (0.95, "bare", False)),
        ("Deutsche Bank AG", "Deutsche Bank", "", (0.97, "key", False)),
        ("AT&T", "ATT", "", (0.0009, "few", False)),
        ("Model X-5", "Model X5", "", (0.97, "key", False)),
        ("graph", "graphs", "", (0.93, "form", False)),
        ("Bank of England", "Bank of Ireland", "", (0.3, "few", False)),
        ("Café Noir", "Cafe Noir", "", (0.99, "same", False)),
        ("GPT-4", "GPT-4o", "", (0.0, "veto", True)),
        ("alpha gate", "beta gate", "", (0.0, "veto", True)),
        ("", "x", "", (0.2, "part", False)),
        ("John Smith", "J. Smith", "person", (0.8, "initial", False)),
        ("John Smith", "Jon Smith", "person", (0.0, "veto", True)),
        ("Dr. Watson", "Mr. Watson", "person", (0.96, "title", False)),
        ("Mrs. Watson", "Mr. Watson", "person", (0.0, "veto", True)),
        ("Smith, John", "John Smith", "person", (0.97, "key", False)),
        ("Queen Elizabeth", "Elizabeth II", "person", (0.7, "generation", False)),
        ("John", "John Smith", "person", (0.7, "given", False)),
        ("Bob", "Robert", "person", (0.05, "different", False)),
    ],
)
def test_two_names_are_one_so_surely(one: str, other: str, type: str, expected: tuple[object, ...]) -> None:
    assert judge(one, other, type) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "person", (0.99, "same", False)),
        ("person", "organization", (0.0, "types", True)),
    ],
)
def test_types_agree_or_not(one: str, other: str, expected: tuple[object, ...]) -> None:
    assert judge_types(one, other) == expected


@pytest.mark.parametrize(
    ("name", "other", "one", "two", "expected"),
    [
        ("Smith", "John Smith", [], ["x"], (0.87, False)),
    ],
)
def test_neighbours_speak_for_and_against(
    name: str, other: str, one: list[object], two: list[str], expected: tuple[object, ...]
) -> None:
    assert judge_contexts(name, other, one, two) == expected


@pytest.mark.parametrize(
    ("raw", "person", "expected"),
    [
        (
            "Dr. John A. Smith Jr.",
            False,
            {
                "raw": "Dr. John A. Smith Jr.",
                "words": ("dr", "john", "a", "smith", "jr"),
                "core": ("john", "a", "smith", "jr"),
                "key": "john a smith jr",
                "generation": "jr",
                "plain": ("john", "smith", "jr"),
                "acronyms": ("djasj", "djsj", "jasj", "jsj"),
            },
        ),
        (
            "Mr. and Mrs. Smith",
            False,
            {
                "raw": "Mr. and Mrs. Smith",
                "words": ("mr", "and", "mrs", "smith"),
                "core": ("and", "mrs", "smith"),
                "key": "and mrs smith",
                "man": True,
                "plain": ("mrs", "smith"),
                "acronyms": ("ams", "mams", "mms", "ms"),
            },
        ),
        (
            "Lord Byron",
            True,
            {
                "raw": "Lord Byron",
                "words": ("lord", "byron"),
                "core": ("byron",),
                "key": "byron",
                "man": True,
                "acronyms": ("lb",),
            },
        ),
        ("3D", False, {"raw": "3D", "words": ("3d",), "core": ("3d",), "key": "3d", "codes": ("3d",)}),
    ],
)
def test_a_name_is_read(raw: str, person: bool, expected: dict[str, object]) -> None:
    assert read(raw, person) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            [
                ("John Smith", "person", ""),
                ("J. Smith", "person", ""),
                ("Jane Smith", "person", ""),
                ("Smith", "person", ""),
            ],
            (
                [("J. Smith", ["t1", "t3"], [("J. Smith", 1.0), ("Smith", 0.87)])],
                [
                    "John Smith / J. Smith 0.800 ask",
                    "John Smith / Smith 0.800 ask",
                    "J. Smith / Jane Smith 0.800 ask",
                    "J. Smith / Smith 0.870 merge",
                    "Jane Smith / Smith 0.800 ask",
                ],
            ),
        ),
        (
            [
                ("IBM", "organization", ""),
                ("International Business Machines", "organization", ""),
                ("I.B.M.", "organization", ""),
            ],
            (
                [
                    (
                        "IBM",
                        ["t0", "t1", "t2"],
                        [("IBM", 1.0), ("International Business Machines", 0.87), ("I.B.M.", 0.97)],
                    )
                ],
                [
                    "IBM / International Business Machines 0.870 merge",
                    "IBM / I.B.M. 0.970 merge",
                    "International Business Machines / I.B.M. 0.870 merge",
                ],
            ),
        ),
        (
            [
                ("Robert Smith", "person", ""),
                ("Bob Smith", "person", ""),
                ("Rob Smith", "person", ""),
                ("Robert J. Smith", "person", ""),
                ("Robert K. Smith", "person", ""),
            ],
            (
                [
                    (
                        "Robert Smith",
                        ["t0", "t1", "t3"],
                        [("Robert Smith", 1.0), ("Bob Smith", 0.9), ("Robert J. Smith", 0.93)],
                    ),
                ],
                [
                    "Robert Smith / Bob Smith 0.900 merge",
                    "Robert Smith / Rob Smith 0.900 ask",
                    "Robert Smith / Robert J. Smith 0.930 merge",
                    "Robert Smith / Robert K. Smith 0.930 ask",
                    "Bob Smith / Rob Smith 0.700 ask",
                    "Bob Smith / Robert K. Smith 0.800 ask",
                    "Rob Smith / Robert J. Smith 0.800 ask",
                    "Rob Smith / Robert K. Smith 0.800 ask",
                ],
            ),
        ),
        (
            [
                ("Siemens AG", "organization", "a"),
                ("Siemens Ltd", "organization", "b"),
                ("Siemens", "organization", "b"),
            ],
            (
                [("Siemens AG", ["t0", "t2"], [("Siemens AG", 1.0), ("Siemens", 0.97)])],
                ["Siemens AG / Siemens Ltd 0.700 ask", "Siemens AG / Siemens 0.970 merge"],
            ),
        ),
    ],
)
def test_things_are_grouped(names: list[tuple[object, ...]], expected: tuple[object, ...]) -> None:
    assert group(names) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([("a", "other", 9), ("b", "person", 1)], ("a", "person")),
        ([("graphs", "x", 2), ("Graph", "x", 2), ("graph", "y", 1)], ("graphs", "x")),
    ],
)
def test_a_group_is_called_by_its_best_name(names: list[tuple[object, ...]], expected: tuple[object, ...]) -> None:
    assert name_group(names) == expected
