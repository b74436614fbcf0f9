"""Corpora without common themes: collections of separate subjects, and stories, which have a cast and parts."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sensegraph.language.text import known_form
from sensegraph.language.word_lists import ENGLISH_MONTHS, ENGLISH_WEEKDAYS, english_words, never_names
from sensegraph.retrieval.outline.phrases import Gathered, Phrase, Spot
from sensegraph.retrieval.outline.themes import CANDIDATES, is_person, pick_sentences
from sensegraph.retrieval.outline.values import Theme

GROUPS, EACH, SHOWN = 8, 4, 12  # groups of subjects, subjects that make a group, titles that are shown
WORDS, ROUNDS = 3000, 12  # words that tell subjects apart; rounds of grouping
LONG, SPOKEN = 15_000, 0.15  # characters of a unit of a story on average, and the share of them in quotation marks
CAST, WITH, PARTS, LINES = 8, 3, 40, 8  # people, those beside them, parts, lines within which people appear together

SAYS = 0.02  # share of the places of a name beside a verb of saying


def group_subjects(gathered: Gathered) -> tuple[Theme, ...]:
    """The titles in groups of near subjects, largest first, each called by what sets it apart."""
    held: list[Counter[str]] = [Counter() for _ in gathered.titles]
    for phrase in gathered.phrases.values():
        if 1 < len(phrase.units) < max(3, 0.5 * len(held)):
            for document in phrase.documents:
                held[gathered.unit[document]][phrase.label] += 1
    often = Counter(word for own in held for word in own)
    shared = sorted((w for w, n in often.items() if n > 1), key=lambda w: (-often[w], w))[:WORDS]
    column = {word: i for i, word in enumerate(shared)}
    rows = np.zeros((len(held), len(shared) + 1), np.float32)
    for row, own in zip(rows, held, strict=True):
        for word, n in own.items():
            if word in column:
                row[column[word]] = (1 + math.log(n)) * math.log(len(held) / often[word])
    rows[:, -1] = 0.1  # a unit that shares nothing is as far from all
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    home = group_rows(rows, max(1, min(GROUPS, len(held) // EACH)))
    groups = []
    for group in sorted(set(home.tolist())):
        inside = np.flatnonzero(home == group).tolist()
        centre = rows[inside].mean(axis=0)[:-1]
        best = [shared[i] for i in np.argsort(-centre, kind="stable")[:3].tolist() if centre[i] > 0]
        order = sorted(inside, key=lambda i: (-float(rows[i, :-1] @ centre), gathered.titles[i]))
        titles = tuple(gathered.titles[i] for i in order)
        spots = [
            (gathered.line(s).worth / (1 + 0.2 * k), s) for i in order[:3] for k, s in enumerate(gathered.opening(i))
        ]
        label = ", ".join(w for i, w in enumerate(best) if not any(w.casefold() in o.casefold() for o in best[:i]))
        groups.append(Theme(label, len(inside), titles[:SHOWN], (), pick_sentences(gathered, spots, EACH)))
    return tuple(sorted(groups, key=lambda g: (-g.units, g.label)))


def group_rows(rows: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The group of each row: spherical k-means, begun with rows that are far from each other."""
    first = [int(np.argmin(rows @ rows.mean(axis=0)))]
    while len(first) < count:
        first.append(int(np.argmin((rows @ rows[first].T).max(axis=1))))
    centres = rows[first]
    for _ in range(ROUNDS):
        home = np.argmax(rows @ centres.T, axis=1)
        sums = np.stack([rows[home == i].sum(axis=0) if (home == i).any() else centres[i] for i in range(count)])
        centres = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(np.argmax(rows @ centres.T, axis=1), np.int64)


def is_story(gathered: Gathered) -> bool:
    """Whether the texts are few and long, and much of them is speech in quotation marks."""
    size = sum(note.size for note in gathered.notes)
    spoken = sum(note.spoken for note in gathered.notes)
    return gathered.english and size > LONG * len(gathered.titles) and spoken > SPOKEN * size and not gathered.talks


def tell_story(gathered: Gathered) -> tuple[tuple[Theme, ...], tuple[Theme, ...]]:
    """(the cast, most present first, with who appears beside whom; the parts in order, each with who is in it)."""
    people = find_people(gathered)
    parts = find_story_parts(gathered)
    where = {spot: i for i, (_, spots) in enumerate(parts) for spot in spots}
    present = {p.label: Counter(where[s] for s in p.spots if s in where) for p in people}
    windows = {p.label: {(d, place // LINES) for d, place in p.spots} for p in people}
    beside: dict[str, Counter[str]] = {p.label: Counter() for p in people}
    for one, other in combinations(sorted(windows), 2):
        if together := len(windows[one] & windows[other]):
            beside[one][other], beside[other][one] = together, together
    cast = []
    for p in people[:CAST]:
        near = sorted(beside[p.label].items(), key=lambda x: (-x[1], x[0]))[:WITH]
        cast.append(Theme(p.label, len(p.spots), (), tuple(name for name, _ in near)))
    names = Counter(spot for p in people for spot in set(p.spots))
    told = Counter(spot for p in gathered.best_phrases() for spot in set(p.spots))
    shown = []
    for i, (head, spots) in enumerate(parts[:PARTS]):
        inside = [n for n in sorted(present, key=lambda n: (-present[n][i], n)) if present[n][i] > 1][:5]
        scored = [(gathered.line(s).worth * (1 + names[s] + 0.5 * told[s]), s) for s in spots if names[s]]
        ranked = sorted(scored, key=lambda pair: (-pair[0], *gathered.place(pair[1])))[:CANDIDATES]
        shown.append(Theme(head, len(spots), (), tuple(inside), tuple(gathered.sentence(s) for _, s in ranked)))
    return tuple(cast), tuple(shown)


def find_people(gathered: Gathered) -> list[Phrase]:
    """Who a story is about: names of those who say something, by how often they stand.

    A part of a longer name counts with it, if that is not a title with it.
    """
    barred = {*ENGLISH_MONTHS, *ENGLISH_WEEKDAYS, *never_names()}
    titles, things = english_words("titles"), english_words("event-heads") | english_words("place-heads")
    found: list[Phrase] = []
    named = (p for p in gathered.phrases.values() if len(p.documents) > 2 and p.named)
    for phrase in sorted(named, key=lambda p: (-len(p.stems), -len(p.spots), p.stems)):
        words = [w.casefold().strip(".") for w in phrase.label.split()]
        says = max(gathered.says[(s,)] for s in phrase.stems)
        silent = says < SAYS * len(phrase.spots) and not is_person(phrase.label)
        if words[0] in titles or not barred.isdisjoint(words) or silent:
            continue
        if len(words) > 1 and words[-1] in things:  # Christmas Day
            continue
        longer = [f for f in found if set(phrase.stems) < set(f.stems)]
        if longer:
            best = max(longer, key=lambda f: (len(f.spots), f.stems))
            best.spots = sorted({*best.spots, *phrase.spots})
        elif not all(known_form(w) for w in words) or gathered.says[phrase.stems] > 2:
            phrase.spots = sorted({*phrase.spots})
            found.append(phrase)
    return sorted(found, key=lambda p: (-len(p.spots), p.stems))


def find_story_parts(gathered: Gathered) -> list[tuple[str, list[Spot]]]:
    """The parts of a story in order: its chapters by their headings, else its units, with their lines."""
    parts: list[tuple[str, list[Spot]]] = []
    several = len(gathered.titles) > 1
    for document, note in enumerate(gathered.notes):
        heads = dict(note.heads)
        for place in range(len(note.lines)):
            if place in heads and not several:
                parts.append((heads[place], []))
            elif not parts or (several and parts[-1][0] != note.title):
                parts.append((note.title, []))
            parts[-1][1].append((document, place))
    return [(head, spots) for head, spots in parts if len(spots) >= LINES]
