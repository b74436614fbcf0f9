"""What patterns ask of every entity and relation, as arrays that are mapped: types, labels, weights, directions.

Relations are stored without a direction. What is known of it is how the texts put it: a text that names one end before
the other tells the relation that way ("Ann founded Acme"; "Acme was founded by Ann" tells another). Where texts that
hold the relation's label name both ends, they alone count. Some tell it both ways, some name only one end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensegraph.language.text import HAN, is_word_character
from sensegraph.runtime.results import step
from sensegraph.types import Graph, Relation

Ints = NDArray[np.int32]

FORTH, BACK = 1, 2  # texts name the source first, the target first; their sum for both, 0 where it is not known


@dataclass(frozen=True)
class Facets:
    """Positions are those of the graph's entities (n) and relations (m).

    `kinds` (n) number the entities' types, `labels` (m) the relations' labels, as `kinds_called` and `labels_called`
    (JSON) list them. `told` (m) are sums of FORTH and BACK.
    """

    kinds: Ints
    degrees: Ints
    frequencies: Ints
    labels: Ints
    weights: NDArray[np.float64]
    told: NDArray[np.uint8]
    kinds_called: NDArray[np.uint8]
    labels_called: NDArray[np.uint8]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of entities, in the alphabet's order."""
        return tuple(json.loads(self.kinds_called.tobytes()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels of relations, in the alphabet's order; the first is empty where some have none."""
        return tuple(json.loads(self.labels_called.tobytes()))


@step("facets.facets", version=1, form="arrays")
def collect_facets(graphs: Sequence[Graph]) -> list[Facets]:
    """The facets of graphs."""
    found = list[Facets]()
    for graph in graphs:  # each record is decoded once
        called, kinds, counts = dict[str, tuple[str, ...]](), list[str](), list[tuple[int, int]]()
        for e in graph.entities:
            called[e.id] = tuple(dict.fromkeys(form.lower() for form in (e.name, *e.aliases) if form.strip()))
            kinds.append(e.type)
            counts.append((e.degree, e.frequency))
        labels, weights, told = list[str](), list[float](), list[int]()
        for r in graph.relations:
            labels.append(r.label)
            weights.append(r.weight)
            told.append(read_direction(r, called))
        degrees, frequencies = np.asarray(counts, np.int32).reshape(-1, 2).T
        types, kind = _number_texts(kinds)
        names, label = _number_texts(labels)
        encoded = (np.frombuffer(json.dumps(texts).encode(), np.uint8) for texts in (types, names))
        measured = (np.asarray(weights, np.float64), np.asarray(told, np.uint8))
        found.append(Facets(kind, degrees.copy(), frequencies.copy(), label, *measured, *encoded))
    return found


def _number_texts(texts: Sequence[str]) -> tuple[list[str], Ints]:
    listed = sorted(set(texts))
    number = {text: i for i, text in enumerate(listed)}
    return listed, np.asarray([number[text] for text in texts], np.int32)


# ── direction ──


def read_direction(relation: Relation, called: Mapping[str, tuple[str, ...]]) -> int:
    """How the texts of a relation tell it: a sum of FORTH and BACK."""
    texts = dict.fromkeys(d.text.lower() for d in relation.descriptions)
    ways = [_compare_positions(text, called[relation.source], called[relation.target]) for text in texts]
    if relation.label:
        label = relation.label.replace("_", " ").lower()
        saying = [way for text, way in zip(texts, ways, strict=True) if label in text]
        ways = saying if any(saying) else ways
    return (FORTH if FORTH in ways else 0) + (BACK if BACK in ways else 0)


def _compare_positions(text: str, source: tuple[str, ...], target: tuple[str, ...]) -> int:
    """Which of two entities a text names first; 0 where it does not name both.

    A name within a longer one of the other ("Berg" in "Anna Berg") is not counted, and what both are called counts
    for the one whose name it is.
    """
    first = list(_find_names(text, _distinct_forms(source, target)))
    second = list(_find_names(text, _distinct_forms(target, source)))
    first, second = _drop_contained(first, second), _drop_contained(second, first)
    if not first or not second:
        return 0
    return FORTH if min(first) < min(second) else BACK


def _distinct_forms(forms: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """The names of one that are not another's; the first is what most texts call it."""
    return [f for f in forms if f not in others or (f == forms[0] and f != others[0])]


def _find_names(text: str, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a text has one of these names as whole words."""
    for form in forms:
        begin = text.find(form)
        while begin >= 0:
            end = begin + len(form)
            if not (_splits_word(text, begin) or _splits_word(text, end)):
                yield begin, end
            begin = text.find(form, end)


def _splits_word(text: str, border: int) -> bool:
    """Whether a word goes on across a border."""
    return 0 < border < len(text) and _is_spaced_letter(text[border - 1]) and _is_spaced_letter(text[border])


def _is_spaced_letter(c: str) -> bool:
    return is_word_character(c) and not HAN.match(c)


def _drop_contained(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [s for s in spans if not any(o[0] <= s[0] and s[1] <= o[1] for o in others)]
