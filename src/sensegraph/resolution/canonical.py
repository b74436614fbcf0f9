"""What a group is called, and the table of aliases: which name is whose, who decided it, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import kind_of_type
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


_BETWEEN = re.compile(
    r"\s*(?:,\s*)?(?P<word>and|or|nor|&|versus|vs\.?|than|unlike|but not|not|from|und|oder|et|ou|y|e|o|och|og|и|или|"
    r"和|与|與|跟|及|、|と|や|및|와|과)\s*(?:(?:the|a|an|its|his|her|in|die|der|das|le|la|les|el|los)\s+)?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W_]")


def find_contrast(text: str, one: tuple[int, int], other: tuple[int, int]) -> str:
    """The word by which `text` sets two names, given as half-open spans, side by side; or nothing.

    Only what stands between them is looked at. Spans that overlap set nothing apart.
    """
    first, second = sorted((one, other))
    between = text[first[1] : second[0]]
    found = _BETWEEN.fullmatch(between) if first[1] < second[0] else None
    if found is None:
        return ""
    word = found["word"]
    glued = _LETTER.match(word) and word.isascii() and (not between[0].isspace() and between[0] != ",")
    return "" if glued else word.casefold().rstrip(".")
