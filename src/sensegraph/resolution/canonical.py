"""What a group is called, and the table of aliases: which name is whose, who decided it, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sensegraph.resolution.comparison.names import read
from sensegraph.resolution.kinds import kind
from sensegraph.resolution.values import Alias, Group, Mentioned, Proposal


def grouped(members: Sequence[Mentioned], merges: Sequence[Proposal]) -> Group:
    """The group of these members, ascending by id, that `merges` made one."""
    name, type = canonical_name(members), canonical_type(members)
    group = members[0].id
    sure = _surest(members, name, merges)
    rows = [
        _row(alias, member, group, name, sure.get(member.id))
        for member in members
        for alias in dict.fromkeys((member.name, *member.aliases))
    ]
    return Group(group, name, type, tuple(m.id for m in members), tuple(rows))


def canonical_name(members: Sequence[Mentioned]) -> str:
    """The name most often mentioned, then the longest, then the first in order; of persons one of two words."""
    counts: Counter[str] = Counter()
    for member in members:
        counts[member.name] += member.count
    person = any(kind(m.type) == "person" for m in members)
    full = {name: not person or len(read(name, True).core) > 1 for name in counts}
    return min(counts, key=lambda name: (not full[name], -counts[name], -len(name), name))


def canonical_type(members: Sequence[Mentioned]) -> str:
    """The type most often given among those that say something, then the first in order."""
    counts: Counter[str] = Counter()
    for member in members:
        counts[member.type] += member.count
    return min(counts, key=lambda type: (not kind(type), -counts[type], type))


def _surest(members: Sequence[Mentioned], name: str, merges: Sequence[Proposal]) -> Mapping[str, Proposal]:
    """For each member the decision that ties it most surely to the group: if possible to the canonical name."""
    named = {m.id for m in members if m.name == name}
    found: dict[str, Proposal] = {}
    for merge in sorted(merges, key=lambda m: (not named & {m.one, m.other}, -m.score, m.one, m.other)):
        found.setdefault(merge.one, merge)
        found.setdefault(merge.other, merge)
    return found


def _row(alias: str, member: Mentioned, group: str, name: str, merge: Proposal | None) -> Alias:
    key = read(alias, kind(member.type) == "person").key
    if alias == name:
        return Alias(alias, key, member.id, group, 1.0, "names", "the canonical name")
    if alias != member.name:
        return Alias(alias, key, member.id, group, 1.0, "text", f"the texts call {member.name} so")
    if merge is None:  # a member that only others tie to the group cannot be: the group would not be one
        return Alias(alias, key, member.id, group, 1.0, "names", "its own name")
    score = 1.0 if merge.by == "user" else merge.score
    return Alias(alias, key, member.id, group, score, merge.by, merge.why)
