"""From things that texts mention to groups that are one thing each: compare, settle rivals, cluster, name.

Everything is computed on the whole set in the order of ids: the result does not depend on the order of the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.linkage import cluster_by_linkage, connect_rows
from sensegraph.errors import InputError
from sensegraph.resolution.blocking import block_pairs
from sensegraph.resolution.canonical import make_group
from sensegraph.resolution.comparison.likeness import SHORT
from sensegraph.resolution.comparison.name_reading import Name
from sensegraph.resolution.comparison.scoring import Collection, map_positions, prepare_collection, weigh_rival
from sensegraph.resolution.lists import raise_matches
from sensegraph.resolution.resolution_types import Decision, Judged, Mentioned, Proposal, Resolution, Resolving, Rule
from sensegraph.resolution.ruling import Rulings, apply_rules

Pair = tuple[int, int]


def resolve(
    items: Sequence[Mentioned],
    *,
    rules: Sequence[Rule] = (),
    settings: Resolving | None = None,
    vectors: NDArray[Any] | None = None,
) -> Resolution:
    """Which of `items` are one thing. `vectors` of their descriptions, unit length (or zero), shape (n, dim).

    Raises InputError for two items of one id, or vectors of another number.
    """
    settings = settings or Resolving()
    order = sorted(range(len(items)), key=lambda i: items[i].id)
    twice = next((items[a].id for a, b in pairwise(order) if items[a].id == items[b].id), None)
    if twice is not None:
        raise InputError(f"Two things to resolve have the id {twice!r}; give each its own.")
    if vectors is not None and len(vectors) != len(items):
        raise InputError(f"There are {len(vectors)} vectors for {len(items)} things to resolve; give one for each.")
    ordered = None if vectors is None else np.asarray(vectors)[order]
    found = prepare_collection([items[i] for i in order], settings, ordered)
    if not found.items:
        return Resolution((), ())
    near = block_pairs(found, ordered)
    at = map_positions(found.items)
    ruled = apply_rules(rules, at)
    pairs = set(zip(near.pairs.one.tolist(), near.pairs.other.tolist(), strict=True))
    equal: dict[str, list[int]] = defaultdict(list)  # each with the next: however many they are, they are compared
    for row, names in enumerate(found.names):
        equal[names[0].joined or names[0].key].append(row)
    pairs.update(pair for rows in equal.values() for pair in pairwise(rows))
    judged = _Judged(found, {pair: found.judge(*pair) for pair in sorted(pairs)})
    scores, large = judged.completed(ruled)
    earlier = {pair for pair, rule in ruled.together.items() if rule.by == "names"}
    clusters = cluster_by_linkage(
        len(found.items),
        [(a, b, judged.score) for (a, b), judged in scores.items()],
        accept=settings.accept,
        reject=settings.reject,
        together=[pair for pair in ruled.together if pair not in earlier],
        joined=sorted(earlier),
        apart=[*(p for p, judged in scores.items() if judged.veto and p not in ruled.together), *ruled.apart],
    )
    proposals = _make_proposals(found, scores, ruled, clusters)
    notes = [*ruled.notes]
    if large:
        notes.append(f"{large} sets of more than {settings.largest} likely names were compared in part only.")
    cluster_of = {row: number for number, rows in enumerate(clusters) for row in rows}
    merges: dict[int, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        if proposal.decision == "merge":
            merges[cluster_of[at[proposal.one]]].append(proposal)
    groups = tuple(make_group([found.items[row] for row in rows], merges[n]) for n, rows in enumerate(clusters))
    return Resolution(groups, proposals, len(scores), near.passed_over, near.crowded, tuple(notes))


def judge_pair(one: Mentioned, other: Mentioned, settings: Resolving | None = None) -> Judged:
    """How surely two things are one if there were no others. Symmetric."""
    pair = sorted((one, other), key=lambda item: item.id)
    alone = _Judged(found := prepare_collection(pair, settings or Resolving()), {(0, 1): found.judge(0, 1)})
    return alone.final((0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The pairs that were compared, and those that are when they are asked for."""

    found: Collection
    pairs: dict[Pair, Judged]

    def of(self, a: int, b: int) -> Judged:
        """The judgement of a pair before rivals are looked at."""
        pair = (a, b) if a < b else (b, a)
        if pair not in self.pairs:
            self.pairs[pair] = self.found.judge(*pair)
        return self.pairs[pair]

    def final(self, pair: Pair, long: dict[int, list[int]] | None = None) -> Judged:
        """The judgement of a pair, where `long` are the longer names that each may be short for."""
        judged = self.of(*pair)
        if judged.kind not in SHORT:
            return judged
        short, other = self._shorter(pair)
        context = self.found.context(*pair)
        rival = self._rival(short, other, (long or {}).get(short, ()), context == "shared")
        return weigh_rival(judged, rival, context)

    def completed(self, ruled: Rulings) -> tuple[dict[Pair, Judged], int]:
        """All pairs with their final judgements, those within likely groups included; how many of these are large."""
        long = self._long()
        scores = {pair: self.final(pair, long) for pair in list(self.pairs)}
        scores |= raise_matches(self.found.items, scores, self.found.settings.reject)
        sure = [pair for pair, judged in scores.items() if judged.score >= self.found.settings.accept]
        large = 0
        for rows in connect_rows(len(self.found.items), [*sure, *ruled.together]):
            if len(rows) > self.found.settings.largest:
                large += 1
                continue
            for pair in combinations(rows, 2):
                if pair not in scores:
                    scores[pair] = self.final(pair, long)
        return scores, large

    def _long(self) -> dict[int, list[int]]:
        long: dict[int, list[int]] = defaultdict(list)
        for pair in sorted(self.pairs):
            judged = self.pairs[pair]
            if judged.kind in SHORT and judged.score >= 0.5:
                short, other = self._shorter(pair)
                long[short].append(other)
        return long

    def _shorter(self, pair: Pair) -> Pair:
        """The one whose name says less, and the other."""
        a, b = pair
        one, other = self.found.names[a][0], self.found.names[b][0]
        return (a, b) if _measure_name(one) <= _measure_name(other) else (b, a)

    def _rival(self, short: int, other: int, long: Iterable[int], shared: bool) -> str:
        """Another thing that a name may be short for, and that is not the one that it is compared with."""
        for third in long:
            if third == other or (shared and self.found.context(short, third) != "shared"):
                continue
            between = self.of(other, third)
            if between.veto or between.score < self.found.settings.reject:
                return self.found.items[third].name
        return ""


def _measure_name(name: Name) -> tuple[int, int, int]:
    """How much a name says: words, what stands beside them, letters."""
    beside = bool(name.qualifier) + bool(name.kind) + name.woman + name.man
    return (len(name.core), beside, sum(map(len, name.core)))


def _make_proposals(
    found: Collection, scores: dict[Pair, Judged], ruled: Rulings, clusters: Sequence[Sequence[int]]
) -> tuple[Proposal, ...]:
    """What rules and judgements decided, of the pairs that were merged or are in question, in their order."""
    group = {row: number for number, rows in enumerate(clusters) for row in rows}
    made: dict[Pair, Proposal] = {}
    for pair, rule in (*ruled.together.items(), *ruled.apart.items()):
        a, b = (found.items[row] for row in pair)
        one = rule.kind == "merge"
        decided: Decision = "merge" if one else "keep"
        made[pair] = Proposal(a.id, b.id, (a.name, b.name), decided, float(one), rule.why or "a rule", rule.by)
    for pair, judged in scores.items():
        together = group[pair[0]] == group[pair[1]]
        sure = judged.score >= found.settings.accept
        if pair in made or judged.score < found.settings.reject or judged.veto:
            continue
        if together and not sure:
            continue  # what makes them one are surer pairs of their group
        a, b = (found.items[row] for row in pair)
        why = judged.why if together or not sure else f"{judged.why}; but others of their groups are not alike"
        made[pair] = Proposal(a.id, b.id, (a.name, b.name), "merge" if together else "ask", judged.score, why)
    return tuple(made[pair] for pair in sorted(made))
