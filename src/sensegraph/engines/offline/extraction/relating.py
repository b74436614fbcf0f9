"""Which things the corpus holds to be related.

The weight of a pair is the sentences that hold both, plus half of the neighbouring sentences that hold one each; its
strength is max(0, NPMI) · ln(1 + weight), with normalised pointwise mutual information after Bouma (2009). Counts alone
make a hairball; the union of every thing's five strongest pairs gives communities that read as themes.

What counts sentences of the whole corpus, of one thing, or of one pair is rounded before it is used: else every
sentence that is added would change many strengths, and so the reading of many documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import number_distinct
from sensegraph.algorithms.rounding import round_count
from sensegraph.engines.offline.extraction.document_reader import group_spots, list_neighbours
from sensegraph.engines.offline.extraction.mentions import Scene, resolve_mentions
from sensegraph.engines.offline.extraction.observations import CROWD, Entry, Lexicon, Mentioned

TOP = 5
LEAST_NPMI = 0.1
NAMES_NPMI = 0.3  # two names of one sentence stay beyond the top
LEAST_WEIGHT = 1.0
_BITS = 32
_EXACT, _DIGITS = 8, 2  # sentences of a thing, or weight of a pair, up to which all count; binary digits used of more


class PairCount(msgspec.Struct, frozen=True, array_like=True):
    """The pairs of one document: `keys` are its things, `named` which of them are names, `seen` how many sentences.

    `low` and `high` number the ends of each pair, `doubled` is twice its weight: arrays of unsigned numbers of 32 bits.
    """

    sentences: int
    keys: tuple[str, ...]
    named: bytes
    seen: tuple[int, ...]
    low: bytes
    high: bytes
    doubled: bytes


def count_pairs(one: Mentioned, lexicon: Lexicon) -> tuple[set[str], PairCount]:
    """The pairs of one document, and what its reading may ask of them."""
    scene = resolve_mentions(one, lexicon)
    sentences = list_sentence_keys(one, scene, lexicon)
    seen, weights = weigh_pairs(sentences)
    number = {k: i for i, k in enumerate(seen)}
    columns = ([number[a] for a, _ in weights], [number[b] for _, b in weights], list(weights.values()))
    terms = {Entry.PAIR + "\t".join(pair) for pair in weights}
    if any(len(keys) > CROWD for keys in sentences):  # a chunk may hold others of them than the first
        for begin, end in zip(one.bounds[::2], one.bounds[1::2], strict=True):
            here = group_spots([s for s in scene.spots if begin <= s.start and s.end <= end], lambda s: s.sentence)
            ends = ((a.key, b.key) for a, b, _ in list_neighbours(here))
            terms.update(f"{Entry.PAIR}{min(pair)}\t{max(pair)}" for pair in ends)
    return terms, PairCount(
        len(sentences),
        tuple(seen),
        bytes(scene.things[k].kind != "c" for k in seen),
        tuple(seen.values()),
        *(np.array(column, dtype="<u4").tobytes() for column in columns),
    )


def list_sentence_keys(one: Mentioned, scene: Scene, lexicon: Lexicon) -> list[list[str]]:
    """The distinct keys of each sentence in order of place; roles are left out, because they are anyone."""
    keys: list[list[str]] = [[] for _ in range(len(one.sentences) // 2)]
    for spot in scene.spots:
        if spot.key not in lexicon.roles and spot.key not in keys[spot.sentence]:
            keys[spot.sentence].append(spot.key)
    return keys


def weigh_pairs(sentences: Sequence[Sequence[str]]) -> tuple[Counter[str], dict[tuple[str, str], int]]:
    """The sentences of each thing, and twice the weight of each pair (keys in rising order).

    A document is given as the distinct keys of each of its sentences (empty where it holds none).
    """
    crowds = [keys[:CROWD] for keys in sentences]
    seen = Counter(chain.from_iterable(crowds))
    weights = defaultdict[tuple[str, str], int](int)
    for here in crowds:
        if len(here) > 1:
            for i, a in enumerate(here):
                for b in here[i + 1 :]:
                    weights[(a, b) if a < b else (b, a)] += 2
    for here, there in pairwise(crowds):
        if here and there:
            only = [b for b in there if b not in here]
            for a in here:
                if a not in there:
                    for b in only:
                        weights[(a, b) if a < b else (b, a)] += 1
    return seen, weights


def learn_pairs(counts: Iterable[bytes]) -> dict[str, str]:
    """The pairs that stay, each with the strength of one unit of weight."""
    held = [msgspec.msgpack.decode(data, type=PairCount) for data in counts]
    keys = sorted({k for one in held for k in one.keys})
    number = {k: i for i, k in enumerate(keys)}
    seen = np.zeros(len(keys), dtype=np.int64)
    named = np.zeros(len(keys), dtype=bool)
    codes, doubled = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for one in held:
        places = np.array([number[k] for k in one.keys], dtype=np.int64)
        seen[places] += np.array(one.seen, dtype=np.int64)
        named[places] |= np.frombuffer(one.named, dtype=bool)
        low, high = (places[np.frombuffer(column, dtype="<u4")] for column in (one.low, one.high))
        codes.append(low << _BITS | high)  # keys rise, and so do their numbers
        doubled.append(np.frombuffer(one.doubled, dtype="<u4").astype(np.int64))
    pairs, _, of = number_distinct(np.concatenate(codes))
    weight = np.bincount(of, weights=np.concatenate(doubled), minlength=len(pairs)) / 2
    places, units = select_pairs(pairs, weight, seen, named, sum(one.sentences for one in held))
    strengths, _, which = number_distinct(units)  # few of them differ
    written = [f"{unit:.8g}" for unit in strengths.tolist()]
    low, high = pairs[places] >> _BITS, pairs[places] & ((1 << _BITS) - 1)
    return {
        f"{Entry.PAIR}{keys[a]}\t{keys[b]}": written[unit]
        for a, b, unit in zip(low.tolist(), high.tolist(), which.tolist(), strict=True)
    }


def select_pairs(
    pairs: NDArray[np.int64],
    weight: NDArray[np.float64],
    seen: NDArray[np.int64],
    named: NDArray[np.bool_],
    sentences: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The places of the pairs that stay, and for each the strength of one unit of weight.

    `pairs` are rising `low << 32 | high` of numbered things, `seen` the sentences of each thing, `sentences` those of
    the corpus; `weight` counts halves. Pairs of things that are `named` stay beyond the top: a sentence says that the
    two have to do.
    """
    if not len(pairs):
        return np.zeros(0, np.int64), np.zeros(0)
    low, high = pairs >> _BITS, pairs & ((1 << _BITS) - 1)
    often = np.where(seen > _EXACT, round_count(seen, _DIGITS), seen).astype(np.float64)
    weight = np.where(weight > _EXACT, round_count((2 * weight).astype(np.int64), _DIGITS) / 2, weight)
    total = float(round_count(max(sentences, 2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(weight * total / (often[low] * often[high])) / -np.log(np.minimum(weight / total, 0.999999))
    npmi = np.minimum(npmi, 1.0)
    strength = np.maximum(npmi, 0.0) * np.log1p(weight)
    likely = (npmi > LEAST_NPMI) & (weight >= LEAST_WEIGHT)
    sure = named[low] & named[high] & (npmi > NAMES_NPMI)
    # the strongest `TOP` pairs of either end (ties by position: those of which a thing is the high end come first)
    places = np.flatnonzero(likely)
    both = np.concatenate([high[places], low[places]])
    order = np.lexsort((-np.tile(strength[places], 2), both))
    rank = np.arange(len(both)) - np.searchsorted(both[order], both[order])
    top = np.zeros(len(places), dtype=bool)
    top[order[rank < TOP] % len(places)] = True
    places = places[top | sure[places]]
    return places, strength[places] / weight[places]
