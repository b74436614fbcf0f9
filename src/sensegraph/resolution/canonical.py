"""What a group is called, and the table of aliases: which name is whose, who decided it, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.entity_kinds import kind_of_type
from sensegraph.resolution.resolution_types import Alias, Group, Mentioned, Origin, Proposal


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


def canonical_name(members: Sequence[Mentioned]) -> str:
    """The name most often mentioned, then the longest, then the first in order; of persons one of two words."""
    counts: Counter[str] = Counter()
    for member in members:
        counts[member.name] += member.count
    person = any(kind_of_type(m.type) == "person" for m in members)
    full = {name: not person or len(read_name(name, True).core) > 1 for name in counts}
    return min(counts, key=lambda name: (not full[name], -counts[name], -len(name), name))


def canonical_type(members: Sequence[Mentioned]) -> str:
    """The type most often given among those that say something, then the first in order."""
    counts: Counter[str] = Counter()
    for member in members:
        counts[member.type] += member.count
    return min(counts, key=lambda type: (not kind_of_type(type), -counts[type], type))
