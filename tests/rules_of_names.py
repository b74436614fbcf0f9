"""Rules of names that are one thing, given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sensegraph.resolution import senses
from sensegraph.resolution.comparison import aligned, name_reading, scoring, weighing
from sensegraph.resolution.resolution_types import Judged, Mentioned, Resolving
from sensegraph.resolution.resolver import resolve


def read(raw: str, person: bool = False) -> list[Any]:
    """A name as it is compared: all that is read from it."""
    name = name_reading.read_name(raw, person)
    fields = [getattr(name, field) for field in name.__dataclass_fields__ if field != "raw"]
    return [*fields, name.joined, name.digits, name.plain]


def judge(kind: str, *names: str) -> list[Any]:
    """Which pairs of some names of one type are alike, how surely and why; and why others with a word in common not."""
    found = scoring.prepare_collection([Mentioned(f"{i:02}", name, kind) for i, name in enumerate(names)], Resolving())
    told = []
    for a, b in combinations(range(len(names)), 2):
        one = found.judge(a, b)
        if one.score > 0.1 or (one.veto and set(found.names(a)[0].core) & set(found.names(b)[0].core)):
            told.append([a, b, round(one.score, 6), one.kind, one.why, one.veto])
    return told


def weigh(names: Sequence[str], rows: Sequence[tuple[int, int]]) -> list[Any]:
    """What two names of several have in common and alone, as numbers, and how surely it makes them one."""
    read = [name_reading.read_name(name) for name in names]
    words = scoring.prepare_collection([Mentioned(n, n) for n in names], Resolving()).words
    told = []
    for a, b in ((read[i], read[j]) for i, j in rows):
        found, code = aligned.align_names(a, b, words), aligned.shared_code(a, b, words)
        features = weighing.describe_pair(a, b, found, code, words)
        told.append([found, code, features, weighing.weigh_pair(features), aligned.veto_words(a, b, found, code)])
    return told


def lead(scores: Sequence[tuple[int, int, float]], equal: Sequence[tuple[int, int]] = ()) -> list[Any]:
    """How far pairs are ahead of rivals, and how surely that makes each one thing in a heap, and in lists."""
    found = weighing.list_leads({(a, b): score for a, b, score in scores}, set(map(tuple, equal)))
    return [
        [*found[a, b], *(weighing.weigh_leads(s, found[a, b], listed) for listed in (False, True))]
        for a, b, s in scores
    ]


def weigh_rival(score: float, kind: str, rival: str, context: Any) -> Judged:
    """A judgement of a short name once rivals are known."""
    return scoring.weigh_rival(Judged(score, "w", kind), rival, context)


def resolve_all(*items: Sequence[Any]) -> list[Any]:
    """What is one thing, of things written as id, name, type, count, aliases, neighbours, places, list."""
    found = resolve([Mentioned(*(tuple(x) if isinstance(x, list) else x for x in item)) for item in items])
    groups = [[g.name, g.type, g.members] for g in found.groups if len(g.members) > 1]
    told = [[p.one, p.other, p.decision, round(p.score, 6), p.why] for p in found.proposals]
    return [groups, told, found.compared, found.passed_over, found.crowded, found.notes]


def part_senses(shown: str, uses: dict[str, Sequence[str]], place: bool = True) -> senses.Senses:
    """The senses of a name by what each document says with it."""
    given = [senses.Use(document, tuple(said)) for document, said in uses.items()]
    return senses.tell_senses_apart((shown.casefold(), "name"), shown, given, place=place)


def find_owners(shown: str, uses: dict[str, Sequence[str]], owners: dict[str, dict[str, Sequence[str]]]) -> Any:
    """To which full name a short one belongs in each document."""
    given = [senses.Use(document, tuple(said)) for document, said in uses.items()]
    full = [
        senses.Owner((name.casefold(), "name"), name, {d: tuple(said) for d, said in there.items()})
        for name, there in owners.items()
    ]
    return senses.find_owners((shown.casefold(), "name"), shown, given, full)
