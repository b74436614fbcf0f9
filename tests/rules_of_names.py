"""Rules of names that are one thing, given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from sensegraph.algorithms.similar import GRID
from sensegraph.resolution import aliases, senses
from sensegraph.resolution import log as log_of_names
from sensegraph.resolution.aliases import Operation
from sensegraph.resolution.comparison import aligned, name_columns, name_reading, scoring, weighing
from sensegraph.resolution.resolution_types import Judged, Mentioned, Resolving
from sensegraph.resolution.resolver import resolve


def read(raw: str, person: bool = False) -> list[Any]:
    """A name as it is compared: all that is read from it."""
    name = name_reading.read_name(raw, person)
    fields = [getattr(name, field) for field in name.__struct_fields__ if field != "raw"]
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
        why = aligned.veto_beside(a, b) or next(aligned.list_reasons(a, b, found, code), "")
        told.append([found, code, features, weighing.weigh_pair(features), why])
    return told


def list_keys(raw: str, person: bool = False) -> list[Any]:
    """What brings a name together with others, and how much each says."""
    return list(name_columns._list_keys(name_reading.read_name(raw, person)))


def sign(names: Sequence[str], count: int) -> list[Any]:
    """Which names have the sign of the first, alone and with so many other names, and what is counted of those."""
    others = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}x filler" for i in range(count)]
    few = name_columns.read_columns(((name,), False) for name in names)
    many = name_columns.read_columns(((name,), False) for name in [*names, *others])
    alone, among = few.sign(few.count_words()).tolist(), many.sign(many.count_words()).tolist()
    return [
        [one == alone[0] for one in alone], [one == among[0] for one in among[: len(names)]],
        [one == other for one, other in zip(alone, among, strict=False)], many.count_words().names,
        many.count_words().frequency.get("filler", 0), "filler" in many.count_words().frequency,
    ]  # fmt: skip


def count_names(count: int) -> list[Any]:
    """For how many names words are weighed, how much their keys weigh, and how often their words stand."""
    columns = name_columns.read_columns(((f"Zone {i}",), False) for i in range(count))
    words = columns.count_words()
    weighed = sorted(set((columns.list_keys(words)[2] / GRID).round(6).tolist()))
    return [words.names, weighed[:9], len(words.frequency), words.frequency.get("zone"), 7 in words.frequency]


def bring_together(names: Sequence[str]) -> list[list[int]]:
    """How many keys each name has in common with each other."""
    columns = name_columns.read_columns(((name,), False) for name in names)
    keys, owner, _ = columns.list_keys(columns.count_words())
    held = [set(keys[owner == row].tolist()) for row in range(len(names))]
    return [[len(one & other) for other in held] for one in held]


def find_equal_wholes(names: Sequence[str]) -> list[int]:
    """Which names are the same but for blanks: each as the place of the first."""
    whole = name_columns.read_columns(((name,), False) for name in names).whole.tolist()
    return [whole.index(one) for one in whole]


def compare_in_rows(items: Sequence[Sequence[Any]], pairs: Sequence[tuple[int, int]]) -> list[Any]:
    """What things are compared with, and all that decides how alike their names are."""
    found = scoring.prepare_collection([Mentioned(*item[:4]) for item in items], Resolving())
    told = scoring.Comparisons(found, *np.array(pairs).T)
    return [[c.one, c.others, c.distinct, c.frequency] for c in told]


def agree(types: Sequence[str], cross_types: Sequence[Sequence[str]]) -> list[Any]:
    """Whether each pair of types may be one thing's."""
    settings = Resolving(cross_types=tuple((one, other) for one, other in cross_types))
    things = [Mentioned(kind, kind, kind) for kind in types]
    return [[a.type, b.type, scoring.compare_types(a, b, settings)] for a, b in combinations(things, 2)]


def meet(items: Sequence[Sequence[Any]], vectors: Any = None) -> list[Any]:
    """What pairs of things have in common, and how surely each is one by itself and as one of many."""
    things = [Mentioned(*(tuple(x) if isinstance(x, list) else x for x in item)) for item in items]
    found = scoring.prepare_collection(things, Resolving(), None if vectors is None else np.array(vectors))
    pairs = list(combinations(range(len(things)), 2))
    one, other = np.array(pairs).T
    each = found.judge_each(one, other, scoring.compare_pairs)
    judged = [found.judge(a, b) for a, b in pairs]
    return [
        [a, b, found.context(a, b), found.tells_lead(a, b), round(j.score, 6), j.kind, j.why, j.veto,
         round(float(score), 6), kind]
        for (a, b), j, score, kind in zip(pairs, judged, each.score, each.kind.tolist(), strict=True)
    ]  # fmt: skip


def meet_among(items: Sequence[Sequence[Any]], count: int) -> list[Any]:
    """What some things have in common, and how surely each pair is one, among so many things in all."""
    others = [[f"z{i:03}", f"Zone {i}"] for i in range(count - len(items))]
    return [row for row in meet([*items, *others]) if row[1] < len(items)]


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


def read_log(log: Sequence[Sequence[Any]]) -> list[Operation]:
    """Operations from what names them: kind, names, others, documents, and more fields by their names."""
    found = []
    for number, (kind, names, *rest) in enumerate(log, 1):
        others, documents, more = [*rest, *([], [], {})[len(rest) :]]
        typed = [tuple((name, "t") for name in side) for side in (names, others)]
        found.append(Operation(str(number), kind, *typed, tuple(documents), **more))
    return found


def replay(log: Sequence[Sequence[Any]]) -> Any:
    """What a log makes: groups, moves, new names, names that are shown, what is kept apart, and notes."""
    found = aliases.replay_operations(read_log(log))
    return [
        [[name for name, _ in group] for group in found.aliases.groups],
        [[old[0], document, new[0]] for old, document, new in found.aliases.moved],
        [[name[0], said] for name, said in found.aliases.made],
        [[name[0], said] for name, said in found.aliases.shown],
        [[a[0], b[0]] for a, b in found.aliases.apart],
        found.notes, bool(found.aliases.key),
    ]  # fmt: skip


def forget(log: Sequence[Sequence[Any]], names: Sequence[str], documents: Sequence[str]) -> Any:
    """What is left of each operation of a log where only these names and documents are there."""
    left = log_of_names.forget_names(read_log(log), log_of_names.Known(set(names), set(documents)))
    return [
        o and [o.kind, [n for n, _ in o.names], [n for n, _ in o.others], o.documents, o.output, o.evidence]
        for o in left
    ]


def call_roles(shown: str, *sentences: str) -> list[str]:
    """The stems of what sentences call a name beside it."""
    return sorted(senses._find_roles(shown, sentences))
