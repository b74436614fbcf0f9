"""From things that texts mention to groups that are one thing each: compare, settle rivals, cluster, name.

Everything is computed on the whole set in the order of ids: the result does not depend on the order of the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.linkage import cluster_by_linkage
from sensegraph.algorithms.similar import Candidates
from sensegraph.errors import InputError
from sensegraph.resolution.aliases import canonical_name, canonical_type
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import (
    Collection,
    PairComparer,
    compare_pairs,
    kind_of_type,
    prepare_collection,
)
from sensegraph.resolution.judged_pairs import JudgedPairs, Pair, block_pairs
from sensegraph.resolution.resolution_types import (
    Alias,
    Decision,
    Group,
    Judged,
    Mentioned,
    Origin,
    Proposal,
    Resolution,
    Resolving,
    Rule,
)


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


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """Which things are one: the rows of each that has several, and how the pairs were judged."""

    judged: JudgedPairs
    ruled: Rulings
    clusters: Sequence[Sequence[int]]
    passed_over: int = 0
    crowded: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was degraded, and which rules contradict one another."""
        large, most = self.judged.large, self.judged.found.settings.largest
        more = f"{large} sets of more than {most} likely names were compared in part only."
        return (*self.ruled.notes, more) if large else self.ruled.notes


def decide(
    found: Collection, rules: Sequence[Rule], compare: PairComparer = compare_pairs, near: Candidates | None = None
) -> Decided:
    """Which things of a collection are one, by these rules, their names and what else is known of them.

    Where it is known which are `near` each other, they are not looked for.
    """
    near, settings = near or block_pairs(found), found.settings
    ruled = apply_rules(rules, {name: row for row, name in enumerate(found.ids)} if rules else {})
    one, other = near.pairs.one, near.pairs.other
    judged = JudgedPairs(found, one, other, found.judge_each(one, other, compare))
    judged.settle(list(ruled.together))
    earlier = sorted(pair for pair, rule in ruled.together.items() if rule.by == "names")
    together = [pair for pair, rule in ruled.together.items() if rule.by != "names"]
    # what is two things keeps others apart where it is one with them by a rule
    apart = [*(p for p in judged.list_vetoes({row for p in together for row in p}) if p not in ruled.together)]
    edges, apart = judged.list_edges(), [*apart, *ruled.apart]
    limits = {"accept": settings.accept, "reject": settings.reject}
    rows = sorted({row for pair in (*together, *earlier, *apart, *((a, b) for a, b, _ in edges)) for row in pair})
    at = {row: place for place, row in enumerate(rows)}

    def place(pairs: Iterable[Pair]) -> list[Pair]:
        return [(at[a], at[b]) for a, b in pairs]

    clusters = cluster_by_linkage(
        len(rows),
        [(at[a], at[b], score) for a, b, score in edges],
        together=place(together),
        joined=place(earlier),
        apart=place(apart),
        **limits,
    )
    several = [[rows[i] for i in cluster] for cluster in clusters if len(cluster) > 1]
    return Decided(judged, ruled, several, near.passed_over, near.crowded)


def resolve(
    items: Sequence[Mentioned], *, rules: Sequence[Rule] = (), settings: Resolving | None = None,
    vectors: NDArray[Any] | None = None, compare: PairComparer | None = None, least: int = 1,
) -> Resolution:  # fmt: skip
    """Which of `items` are one thing. `vectors` of their descriptions, unit length (or zero), shape (n, dim).

    `compare` says how alike names are, as `compare_pairs` does: it may remember what it was asked before. Groups have
    at least `least` members.
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
    return explain(decide(found, rules, compare or compare_pairs), least) if items else Resolution((), ())


def explain(made: Decided, least: int = 1) -> Resolution:
    """What was decided, with the reasons: groups of at least `least` members, and the pairs that speak for them."""
    found, clusters = made.judged.found, list(map(list, made.clusters))
    if least < 2:
        several = {row for rows in clusters for row in rows}
        clusters = sorted([*clusters, *([row] for row in range(len(found.items)) if row not in several)])
    proposals = _make_proposals(made)
    cluster_of = {found.items[row].id: number for number, rows in enumerate(clusters) for row in rows}
    merges: dict[int, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        if proposal.decision == "merge":
            merges[cluster_of[proposal.one]].append(proposal)
    wanted = ((n, [found.items[row] for row in rows]) for n, rows in enumerate(clusters) if len(rows) >= least)
    groups = tuple(make_group(members, merges[n]) for n, members in wanted)
    return Resolution(groups, proposals, made.judged.compared, made.passed_over, made.crowded, made.notes)


def judge_pair(one: Mentioned, other: Mentioned, settings: Resolving | None = None) -> Judged:
    """How surely two things are one if there were no others. Symmetric."""
    pair = sorted((one, other), key=lambda item: item.id)
    found = prepare_collection(pair, settings or Resolving())
    one_, other_ = np.zeros(1, np.int32), np.ones(1, np.int32)
    return JudgedPairs(found, one_, other_, found.judge_each(one_, other_, compare_pairs)).weigh_rivals((0, 1))


def make_group(members: Sequence[Mentioned], merges: Sequence[Proposal]) -> Group:
    """The group of these members, ascending by id, that `merges` made one."""
    name, type = canonical_name(members), canonical_type(members)
    group = members[0].id
    # What ties each member most surely to the group: if possible to the canonical name.
    named = {m.id for m in members if m.name == name}
    surest: dict[str, Proposal] = {}
    for merge in sorted(merges, key=lambda m: (not named & {m.one, m.other}, -m.score, m.one, m.other)):
        surest.setdefault(merge.one, merge)
        surest.setdefault(merge.other, merge)
    rows = []
    for member in members:
        for alias in dict.fromkeys((member.name, *member.aliases)):
            tie = surest.get(member.id)
            score, why = 1.0, "the canonical name"
            by: Origin = "names"
            if alias == name:
                pass
            elif alias != member.name:
                by, why = "text", f"the texts call {member.name} so"
            elif tie is None:  # one that only others tie to the group cannot be: the group would not be one
                why = "its own name"
            else:
                score, by, why = (1.0 if tie.by == "user" else tie.score), tie.by, tie.why
            key = read_name(alias, kind_of_type(member.type) == "person").key
            rows.append(Alias(alias, key, member.id, group, score, by, why))
    return Group(group, name, type, tuple(m.id for m in members), tuple(rows))


def _make_proposals(made: Decided) -> tuple[Proposal, ...]:
    """What rules and judgements decided, of the pairs that were merged or are in question, in their order."""
    judged, found = made.judged, made.judged.found
    group = {row: number for number, rows in enumerate(made.clusters) for row in rows}
    proposed: dict[Pair, Proposal] = {}
    for pair, rule in (*made.ruled.together.items(), *made.ruled.apart.items()):
        a, b = (found.items[row] for row in pair)
        one = rule.kind == "merge"
        decided: Decision = "merge" if one else "keep"
        proposed[pair] = Proposal(a.id, b.id, (a.name, b.name), decided, float(one), rule.why or "a rule", rule.by)
    for *ends, score in judged.list_edges():
        pair = (ends[0], ends[1])
        together = pair[0] in group and group[pair[0]] == group.get(pair[1])
        sure = score >= found.settings.accept
        # what makes two of a group one are surer pairs of it
        if pair in proposed or score < found.settings.reject or (together and not sure):
            continue
        a, b = (found.items[row] for row in pair)
        said = judged.explain(pair)
        why = said if together or not sure else f"{said}; but others of their groups are not alike"
        proposed[pair] = Proposal(a.id, b.id, (a.name, b.name), "merge" if together else "ask", score, why)
    return tuple(proposed[pair] for pair in sorted(proposed))
