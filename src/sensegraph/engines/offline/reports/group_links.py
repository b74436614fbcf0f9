"""What links two groups, with no model: how many relations, which verbs stand in them, and their best sentence.

LeanRAG, Eq. 5: the sentence speaks of the groups; of their members, only the quoted sentence does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from sensegraph.engines.offline.extraction.page_text import TOKEN
from sensegraph.engines.offline.reports.community import Centre, find_centre
from sensegraph.engines.offline.reports.group_lines import (
    READABLE,
    Line,
    collect_lines,
    count_length,
    is_odd,
    rate_line,
    state_line,
)
from sensegraph.engines.offline.reports.quotes import introduces_person, split_relation_title
from sensegraph.engines.offline.reports.sentence_quality import stem_text, stem_word
from sensegraph.engines.offline.reports.shown_names import capitalise, find_places, spell_number
from sensegraph.language.text import tag_words
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


def relate_groups(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
    """What links the two groups that come first in each brief; nothing where no relation does."""
    related: list[tuple[Statement, ...]] = []
    for brief in briefs:
        groups = brief.context.passages[:2]
        relations = sorted(brief.context.passages[2:], key=lambda p: (-p.score, p.id))
        if not relations:
            related.append(())
            continue
        lines, code = collect_lines(relations)
        middle = find_centre([line.terms for line in lines], code)
        words = brief.words or WORDS
        count = len(relations) + brief.context.omitted
        # ways to say how much links the groups, the longest first: the first that fits, or the last cut
        plain = any(_JARGON in g.title.casefold() for g in groups)
        texts = [*([] if plain else [f"{' — '.join(g.title for g in groups)}: {count}"]), str(count)]
        if code == "en":
            link = capitalise(f"{spell_number(count)} relation{' links' if count == 1 else 's link'}")
            often = " and ".join(f"“{verb}” ({n})" for verb, n in _count_verbs(relations))
            texts = []
            for end in [*([] if plain else [" with ".join(g.title for g in groups)]), "the two groups"]:
                texts += [f"{link} {end}, most often {often}."] if often else []
                texts.append(f"{link} {end}.")
            texts.append(f"{count} relations.")
        counted = next((text for text in texts if count_length(text) <= words), "") or " ".join(
            texts[-1].split()[:words]
        )
        said = Statement(f"{counted} ", tuple(r.id for r in relations[:REFERENCES]))
        pool = [line for line in lines if count_length(line.shown) <= words - count_length(counted)]
        related.append((said, *(state_line(line) for line in _choose_best(pool, relations, middle, code))))
    return related


# ── verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _count_verbs(relations: Sequence[Passage]) -> list[tuple[str, int]]:
    """The verbs that stand between the two names in the quotes of several relations, each with how many.

    They stand between the first mentions of the names, or in the label that the relation's text begins with
    ("founded: Ann founded Acme.").
    """
    times: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for relation in relations:
        found: dict[str, str] = {}
        label, _, rest = relation.text.partition(": ")
        if any(rest == quote.text for quote in relation.quotes):
            found.update(_find_telling_verbs(TOKEN.findall(label)))
        names = [name for name in split_relation_title(relation) if name]
        for text in (quote.text for quote in relation.quotes[:READ]):
            firsts = ((next(find_places(text, name), -1), len(name)) for name in names)
            spots = sorted((at, at + size) for at, size in firsts if at >= 0)
            if len(spots) == 2 and 0 < spots[1][0] - spots[0][1] <= GAP:
                found.update(_find_telling_verbs(TOKEN.findall(text, spots[0][1], spots[1][0])))
        times.update(found.keys())
        for stem, verb in found.items():
            forms.setdefault(stem, Counter())[verb] += 1
    top = sorted((s for s in times if times[s] >= TWICE), key=lambda s: (-times[s], s))[:VERBS]
    return [(min(forms[s], key=lambda f: (-forms[s][f], f)), times[s]) for s in top]


def _find_telling_verbs(words: Sequence[str]) -> list[tuple[str, str]]:
    """The verbs among words that say more than that something is or is done: (stem, word)."""
    folded = [word.casefold() for word in words]
    light = {stem for verb in _LIGHT for stem in stem_word(verb, "en")}
    found = []
    for word, letter in zip(folded, tag_words(folded), strict=True):
        own = stem_word(word, "en") if letter in "bvp" and word.isalpha() else ()
        if own and light.isdisjoint(own):
            found.append((own[0], word))
    return found


def _choose_best(pool: Sequence[Line], relations: Sequence[Passage], middle: Centre, code: str) -> list[Line]:
    """The sentence that stands alone best of those nearest to the centre of all; first those that hold both ends."""
    names = {r.id: [set(stem_text(end, code)) for end in split_relation_title(r)] for r in relations}
    near: dict[Line, float] = {}  # more where several relations quote it, less where it leaves an end unnamed
    for line in (line for line in pool if _JARGON not in line.shown.casefold()):
        terms = set(line.terms)
        both = any(all(end <= terms for end in names[owner]) for owner in line.owners)
        value = (
            middle.closeness(line.terms)
            * math.log1p(1 + len(line.owners))
            * min(1.0, READABLE / count_length(line.text))
        )
        near[line] = (
            value * (1.0 if both else 0.3) * (0.5 if is_odd(line.text) or introduces_person(line.text) else 1.0)
        )
    close = sorted(near, key=lambda line: (-near[line], line.text, line.speaker))[:CLOSE]
    return sorted(close, key=lambda line: (-near[line] * rate_line(line.text, code), line.text, line.speaker))[:1]
