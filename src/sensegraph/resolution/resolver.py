"""From things that texts mention to groups that are one thing each: compare, settle rivals, cluster, name.

Everything is computed on the whole set in the order of ids: the result does not depend on the order of the input.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.linkage import cluster_by_linkage, connect_rows
from sensegraph.algorithms.minhash import hash_bands
from sensegraph.algorithms.similar import Candidates, Pairs, pair_by_shared_keys, similar_rows
from sensegraph.errors import InputError
from sensegraph.resolution.aliases import canonical_name, canonical_type
from sensegraph.resolution.comparison.likeness import SHORT, WEIGHED, Comparer
from sensegraph.resolution.comparison.name_reading import Name, read_name
from sensegraph.resolution.comparison.scoring import Collection, kind_of_type, prepare_collection, weigh_rival
from sensegraph.resolution.comparison.weighing import list_leads, weigh_leads
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


Pair = tuple[int, int]
_SURE, _TIED = 0.87, 0.8


def weigh_matches(found: Collection, scores: Mapping[Pair, Judged]) -> dict[Pair, Judged]:
    """The pairs that are judged anew by how far they are ahead of any other partner of either.

    These are names that were weighed, names of which only one has something beside it, and of two lists that name a
    thing once all that are not sure. Where a lead says nothing, the lack of one does.
    """
    items, least = found.items, found.settings.reject
    kept = {pair: judged.score for pair, judged in scores.items() if not judged.veto}
    equal = {pair for pair, judged in scores.items() if judged.kind not in WEIGHED and judged.score >= _SURE}
    changed = {}
    for (a, b), leads in list_leads(kept, equal).items():
        judged = scores[a, b]
        listed = bool(items[a].listed and items[b].listed)
        bare = judged.kind == "bare"  # only one says more beside it: a year, a region
        if judged.kind in WEIGHED or ((listed or bare) and least <= judged.score < _SURE):
            score = weigh_leads(judged.score, leads, listed)
            if (listed or bare) and min(leads) <= 0:  # another of its list is as likely
                score = min(score, judged.score, _TIED)
            if score > judged.score and found.tells_lead(a, b):
                changed[a, b] = replace(judged, score=score, why=f"{judged.why}; no other is likelier")
            elif score < judged.score and judged.kind in WEIGHED:
                changed[a, b] = replace(judged, score=score)
    return changed


_SAME, _CODE, _PAIR, _BAND, _ACRONYM = 50.0, 8.0, 3.0, 3.0, 20.0  # beside the idf of a word, 0.5 to about 14
_ENDING = re.compile(r"(.*\d)[^\W\d]*")


def block_pairs(found: Collection, vectors: NDArray[Any] | None = None) -> Candidates:
    """Pairs of positions to compare, each once, smaller first.

    Keys are the whole name, its words, neighbouring words, codes without their endings, first letters, and bands of
    trigrams; `vectors`, unit length, shape (n, dim), add the nearest of each. Of every thing the best
    `settings.near` are kept, and so many nearest.
    """
    settings = found.settings
    numbers: dict[str, int] = {}
    keys, rows, weight = [], [], []
    for row, names in enumerate(found.names):
        for name in names:
            for key, sure in _list_keys(name, found):
                keys.append(numbers.setdefault(key, len(numbers)))
                rows.append(row)
                weight.append(sure)
    # The bands of all names are keys too, numbered on from the others.
    made = hash_bands([name.joined for names in found.names for name in names])
    owner = np.array([row for row, names in enumerate(found.names) for _ in names], np.int64)
    tagged = made ^ (np.arange(made.shape[1], dtype=np.uint64) << np.uint64(58))
    _, number = np.unique(tagged.ravel(), return_inverse=True)
    lettered = number.reshape(-1).astype(np.int64) + len(numbers)
    count = len(found.items)
    every = np.concatenate((np.array(keys, np.int64), lettered))
    owners = np.concatenate((np.array(rows, np.int64), np.repeat(owner, made.shape[1])))
    weights = np.concatenate((np.array(weight, np.float64), np.full(len(lettered), _BAND)))
    paired = pair_by_shared_keys(every, owners, weights, count=count, most=settings.rare, near=settings.near)
    if vectors is None:
        return paired
    near = similar_rows(vectors, settings.least, settings.near)
    one = np.concatenate((paired.pairs.one, near.one)).astype(np.int64)
    other = np.concatenate((paired.pairs.other, near.other)).astype(np.int64)
    code = np.unique(one * max(count, 1) + other)
    ones, others = np.divmod(code, max(count, 1))
    pairs = Pairs(ones.astype(np.int32), others.astype(np.int32), np.ones(len(code)))
    return Candidates(pairs, paired.passed_over, paired.crowded)


def _list_keys(name: Name, found: Collection) -> Iterator[tuple[str, float]]:
    yield f"={name.joined or name.key}", _SAME
    if name.letters:
        yield f"a{name.letters}", _ACRONYM
    else:
        for letters in sorted(name.acronyms):
            yield f"a{letters}", _ACRONYM
    for word in sorted(set(name.core)):
        yield f"w{word}", found.words.weight(word)
        if word in name.codes and (ending := _ENDING.fullmatch(word)) and len(ending[1]) >= 4:
            yield f"c{ending[1]}", _CODE
    for x, y in pairwise(name.plain):
        yield f"p{min(x, y)} {max(x, y)}", _PAIR


def resolve(
    items: Sequence[Mentioned], *, rules: Sequence[Rule] = (), settings: Resolving | None = None,
    vectors: NDArray[Any] | None = None, compare: Comparer | None = None, least: int = 1,
) -> Resolution:  # fmt: skip
    """Which of `items` are one thing. `vectors` of their descriptions, unit length (or zero), shape (n, dim).

    `compare` says how alike names are, as `Comparison.judge` does: it may remember what it was asked before. Groups
    have at least `least` members.
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
    at = {item.id: row for row, item in enumerate(found.items)}
    ruled = apply_rules(rules, at)
    pairs = set(zip(near.pairs.one.tolist(), near.pairs.other.tolist(), strict=True))
    equal: dict[str, list[int]] = defaultdict(list)  # each with the next: however many they are, they are compared
    for row, names in enumerate(found.names):
        equal[names[0].joined or names[0].key].append(row)
    pairs.update(pair for rows in equal.values() for pair in pairwise(rows))
    ordered_pairs = sorted(pairs)
    named = found.compare_pairs(ordered_pairs, compare) if compare else {}
    judged = _Judged(found, {pair: found.judge(*pair, named.get(pair)) for pair in ordered_pairs})
    scores, large = judged.completed(ruled)
    edges = [(a, b, judged.score) for (a, b), judged in scores.items()]
    earlier = sorted(pair for pair, rule in ruled.together.items() if rule.by == "names")
    together = [pair for pair, rule in ruled.together.items() if rule.by != "names"]
    apart = [*(p for p, judged in scores.items() if judged.veto and p not in ruled.together), *ruled.apart]
    limits = {"accept": settings.accept, "reject": settings.reject}
    clusters = cluster_by_linkage(len(found.items), edges, together=together, joined=earlier, apart=apart, **limits)
    proposals = _make_proposals(found, scores, ruled, clusters)
    notes = [*ruled.notes]
    if large:
        notes.append(f"{large} sets of more than {settings.largest} likely names were compared in part only.")
    cluster_of = {row: number for number, rows in enumerate(clusters) for row in rows}
    merges: dict[int, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        if proposal.decision == "merge":
            merges[cluster_of[at[proposal.one]]].append(proposal)
    wanted = ((n, [found.items[row] for row in rows]) for n, rows in enumerate(clusters) if len(rows) >= least)
    groups = tuple(make_group(members, merges[n]) for n, members in wanted)
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
        scores |= weigh_matches(self.found, scores)
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
        # what makes two of a group one are surer pairs of it
        if pair in made or judged.score < found.settings.reject or judged.veto or (together and not sure):
            continue
        a, b = (found.items[row] for row in pair)
        why = judged.why if together or not sure else f"{judged.why}; but others of their groups are not alike"
        made[pair] = Proposal(a.id, b.id, (a.name, b.name), "merge" if together else "ask", judged.score, why)
    return tuple(made[pair] for pair in sorted(made))
