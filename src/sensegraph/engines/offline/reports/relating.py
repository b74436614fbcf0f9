"""What links two groups, with no model: how many relations, which verbs stand in them, and their best sentence.

LeanRAG, Eq. 5: the sentence speaks of the groups; of their members, only the quoted sentence does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from sensegraph.engines.offline.extraction.scan import TOKEN
from sensegraph.engines.offline.reports.community import Centre, centre
from sensegraph.engines.offline.reports.gathering import READABLE, Line, length, lines_of, odd, sound, statement
from sensegraph.engines.offline.reports.prose import stems
from sensegraph.engines.offline.reports.quotes import ends, introduces
from sensegraph.engines.offline.reports.shown_names import capital, number, places
from sensegraph.language.tagging import tags
from sensegraph.types import Brief, Passage, Statement

WORDS = 80  # at most, where the brief sets no limit: (1 + 1) · 40, the paper's for the first level
GAP = 80  # characters between two names in which a verb is looked for
READ = 4  # quotes of a relation in which it is
TWICE = 2  # relations from which a verb is one that they have in common
VERBS = 2  # verbs that are told
REFERENCES = 20  # relations that the count cites at most
CLOSE = 6  # sentences, the nearest to the centre, that are read closely
_LIGHT = frozenset(
    "be have do get go come make take let put keep want need like think know see look say mean try start happen become "
    "feel seem tend use call include thing got went came made took kept thought knew saw said meant began became felt "
    "gone done taken given known seen been gonna".split()
)
_JARGON = "community"


def relate(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
    """What links the two groups that come first in each brief; nothing where no relation does."""
    return [_relate(brief) for brief in briefs]


def _relate(brief: Brief) -> tuple[Statement, ...]:
    groups = brief.context.passages[:2]
    relations = sorted(brief.context.passages[2:], key=lambda p: (-p.score, p.id))
    if not relations:
        return ()
    lines, code = lines_of(relations)
    middle = centre([line.terms for line in lines], code)
    words = brief.words or WORDS
    count = len(relations) + brief.context.omitted
    counted = _fitting(_counted([g.title for g in groups], count, _verbs(relations, code), code), words)
    said = [Statement(f"{counted} ", tuple(r.id for r in relations[:REFERENCES]))]
    best = _best([line for line in lines if length(line.shown) <= words - length(counted)], relations, middle, code)
    return (*said, *(statement(line) for line in best))


def _counted(names: Sequence[str], count: int, verbs: Sequence[tuple[str, int]], code: str) -> Iterator[str]:
    """Ways to say how much links the groups, the longest first."""
    plain = any(_JARGON in name.casefold() for name in names)
    if code != "en":
        if not plain:
            yield f"{' — '.join(names)}: {count}"
        yield str(count)
        return
    link = capital(f"{number(count)} relation{' links' if count == 1 else 's link'}")
    often = " and ".join(f"“{verb}” ({n})" for verb, n in verbs)
    for ends_ in ([] if plain else [" with ".join(names)], ["the two groups"]):
        for end in ends_:
            if often:
                yield f"{link} {end}, most often {often}."
            yield f"{link} {end}."
    yield f"{count} relations."


def _fitting(texts: Iterator[str], words: int) -> str:
    """The first text of at most `words` words; the last cut to so many where there is none."""
    text = ""
    for text in texts:
        if length(text) <= words:
            return text
    return " ".join(text.split()[:words])


# ── verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _verbs(relations: Sequence[Passage], code: str) -> list[tuple[str, int]]:
    """The verbs that stand between the two names in the quotes of several relations, each with how many."""
    if code != "en":
        return []
    times: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for relation in relations:
        found = dict(_labelled(relation))
        found |= {stem: verb for quote in relation.quotes[:READ] for stem, verb in _between(quote.text, relation)}
        times.update(found.keys())
        for stem, verb in found.items():
            forms.setdefault(stem, Counter())[verb] += 1
    top = sorted((s for s in times if times[s] >= TWICE), key=lambda s: (-times[s], s))[:VERBS]
    return [(min(forms[s], key=lambda f: (-forms[s][f], f)), times[s]) for s in top]


def _between(text: str, relation: Passage) -> list[tuple[str, str]]:
    """The verbs that tell something between the first mentions of a relation's names: (stem, word)."""
    names = ends(relation)
    spots = sorted((at, at + len(name)) for name in names if name for at in [next(places(text, name), -1)] if at >= 0)
    if len(spots) < 2 or not 0 < spots[1][0] - spots[0][1] <= GAP:
        return []
    return _told(TOKEN.findall(text, spots[0][1], spots[1][0]))


def _labelled(relation: Passage) -> list[tuple[str, str]]:
    """The verbs of a relation's label, where its text begins with one: "founded: Ann founded Acme."."""
    label, _, rest = relation.text.partition(": ")
    return _told(TOKEN.findall(label)) if any(rest == quote.text for quote in relation.quotes) else []


def _told(words: Sequence[str]) -> list[tuple[str, str]]:
    """The verbs among words that tell something: (stem, word)."""
    folded = [word.casefold() for word in words]
    letters = tags(folded)
    return [(stems(w, "en")[0], w) for w, letter in zip(folded, letters, strict=True) if letter in "bvp" and _tells(w)]


def _tells(verb: str) -> bool:
    """Whether a verb says more than that something is or is done."""
    own = stems(verb, "en") if verb.isalpha() else []
    return bool(own) and not _light().intersection(own)


@cache
def _light() -> frozenset[str]:
    return frozenset(stem for verb in sorted(_LIGHT) for stem in stems(verb, "en"))


def _best(pool: Sequence[Line], relations: Sequence[Passage], middle: Centre, code: str) -> list[Line]:
    """The sentence that stands alone best of those nearest to the centre of all; first those that hold both ends."""
    names = {r.id: [set(stems(end, code)) for end in ends(r)] for r in relations}
    told = [line for line in pool if _JARGON not in line.shown.casefold()]
    near = {line: _near(line, names, middle) for line in told}
    close = sorted(told, key=lambda line: (-near[line], line.text, line.speaker))[:CLOSE]
    return sorted(close, key=lambda line: (-near[line] * sound(line.text, code), line.text, line.speaker))[:1]


def _near(line: Line, names: Mapping[str, Sequence[set[str]]], middle: Centre) -> float:
    """How near the centre a line is, more where several relations quote it, less where it leaves an end unnamed."""
    terms = set(line.terms)
    both = any(all(end <= terms for end in names[owner]) for owner in line.owners)
    value = middle.closeness(line.terms) * math.log1p(1 + len(line.owners)) * min(1.0, READABLE / length(line.text))
    return value * (1.0 if both else 0.3) * (0.5 if odd(line.text) or introduces(line.text) else 1.0)
