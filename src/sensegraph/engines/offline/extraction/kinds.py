"""Kinds of things: the types of names, and noun phrases and terms that are concepts.

Types come without labels: cues vote, then a naive Bayes classifier learns from its own sure cases. Every name (key) of
the corpus gets one type, because the graph merges entities by name and type. Typical accuracy is about 70 %: a hint,
never part of an identity. Concepts are what the corpus keeps coming back to: C-value after Frantzi, Ananiadou and Mima
(2000); residual idf after Church and Gale (1995).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, count
from operator import add

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.engines.offline.extraction.mentions import LONGEST_TERM, LONGEST_UNIT, stem_english
from sensegraph.engines.offline.extraction.observations import Candidate
from sensegraph.language.text import known_word
from sensegraph.language.word_lists import english_words, read_lexicon

CLASSES = "plom"
LETTERS = {
    "p": "person", "l": "place", "o": "organization", "m": "other", "e": "event", "w": "work", "c": "concept",
    "P": "other", "L": "other", "O": "other",
}  # fmt: skip
ROUNDS, _SURE, _SHARPNESS, _WEIGHT, _SMOOTHING, _DOUBT = 3, 0.7, 0.9, 0.5, 0.3, 0.4
OWN_TYPE = "="  # before a type that the user gave a name
_PROOF, _BOLD = 1.0, 4.0  # a type is told by evidence in the name itself and this margin, or by this one alone
_MOST = 12  # mentions of one name that speak, at most
_PLACE, _PERSON, _ORGANISATION, _OTHER = 1, 0, 2, 3
_HEADS = (  # lists of words that names end in, what they vote for, and how much
    ("place-heads", _PLACE, 3.0),
    ("organisation-heads", _ORGANISATION, 3.0),
    ("event-heads", _OTHER, 3.2),
    ("other-heads", _OTHER, 3.2),
)
_YEAR = re.compile(r"(?:1\d{3}|20\d\d|\d+(?:st|nd|rd|th))\b")


def kind_of_type(type: str) -> str:
    """How a type is kept: by its letter, or as the user wrote it."""
    return next((letter for letter, name in LETTERS.items() if name == type), OWN_TYPE + type)


def type_of_kind(kind: str) -> str:
    """The type that entities of a kind are told with."""
    return kind.removeprefix(OWN_TYPE) if kind.startswith(OWN_TYPE) else LETTERS[kind]


def guess_of_kind(kind: str) -> str:
    """The kind that a guess guesses; any other kind as it is."""
    return kind.lower() if kind in "PLO" else kind


class NameUses(msgspec.Struct, frozen=True, array_like=True):
    """The mentions of one name in one document: its key, how many, how the first is written, and what speaks.

    `votes` are those of what stands around them, in tenths; `titled` that a title stands before one, `work` that one
    is marked as a work; `features` count what stands around them.
    """

    key: str
    mentions: int
    surface: str
    votes: tuple[int, ...]
    titled: bool
    work: bool
    features: dict[str, int]


def count_uses(key: str, uses: Sequence[tuple[str, Candidate]]) -> NameUses:
    """The mentions of one name, each as it is written and with what stands around it."""
    features = defaultdict[str, int](int)
    for surface, c in uses:
        for feature in (f"< {c.left}", f"<< {c.before}", f"> {c.right}", f"m {c.marks}"):
            features[feature] += 1
        features["caps"] += surface.isupper()
    votes = [0.0] * 4
    for _, c in uses:
        votes = list(map(add, votes, _vote_by_context(key, c)))
    return NameUses(
        key,
        len(uses),
        uses[0][0],
        tuple(round(10 * vote) for vote in votes),
        any(has_title_before(key, c) for _, c in uses),
        any(c.left in english_words("work-nouns") or "q" in c.marks for _, c in uses),
        {feature: n for feature, n in features.items() if n},
    )


def learn_name_types(uses: Sequence[NameUses]) -> dict[str, str]:
    """The type of every key, as the letter of `LETTERS`; a capital is a guess, which is told as "other".

    What stands around names is enough for a guess: it links the short names of persons and finds whom to mask. A type
    is told where the name itself is evidence, because a corpus that is no encyclopedia confirms the wrong guesses.
    """
    if not uses:
        return {}
    keys = sorted({u.key for u in uses})
    number = {k: i for i, k in enumerate(keys)}
    of = np.array([number[u.key] for u in uses], dtype=np.int64)
    # the cues of a name itself count once, those around it per mention
    around = np.zeros((len(keys), 4), dtype=np.int64)
    np.add.at(around, of, np.array([u.votes for u in uses], dtype=np.int64))
    counts = np.bincount(of, weights=[u.mentions for u in uses], minlength=len(keys))[:, None]
    surfaces = {u.key: u.surface for u in reversed(uses)}
    own, proof = (np.array(x) for x in zip(*(_vote_by_name(k, surfaces[k]) for k in keys), strict=True))
    np.maximum.at(proof[:, _PERSON], of, [_PROOF * u.titled for u in uses])
    votes = own + proof + around / 10 * np.minimum(1.0, _MOST / np.maximum(counts, 1)) * 0.7
    total = train_classifier(votes, keys, of, uses)
    for made in (votes, total):
        made[:, _OTHER] += _DOUBT  # what little speaks for is "other", not the most frequent class
    guessed, best = np.argmax(total, axis=1), np.argmax(votes, axis=1)
    margin = np.ptp(np.sort(votes, axis=1)[:, -2:], axis=1)
    sure = (margin >= _BOLD) | ((margin >= _PROOF) & (proof[np.arange(len(keys)), best] >= _PROOF))
    finer = {u.key: "w" for u in uses if u.work}  # events and works among the other names
    events = english_words("event-heads")
    for key in keys:
        head = key.split(" of ")[0].split()[-1:] or [""]
        if key.split()[-1] in events or head[0] in events:
            finer[key] = "e"
    letters = [CLASSES[best[i]] if sure[i] else CLASSES[guessed[i]].upper() for i in range(len(keys))]
    return {k: finer.get(k, "m") if one in "mM" else one for k, one in zip(keys, letters, strict=True)}


def train_classifier(
    votes: NDArray[np.float64], keys: Sequence[str], of: NDArray[np.int64], uses: Sequence[NameUses]
) -> NDArray[np.float64]:
    """Votes, shape (keys, 4), plus what naive Bayes learns from the sure cases, in three rounds.

    `of` is the number of the key of each of `uses`.
    """
    mentions = np.bincount(of, weights=[u.mentions for u in uses], minlength=len(keys))
    own = list(map(_list_features, keys))
    features = list(chain(*own, *(use.features for use in uses)))
    known = dict(zip(dict.fromkeys(features), count(), strict=False))
    sizes = np.array([*map(len, own), *(len(use.features) for use in uses)])
    row = np.repeat(np.concatenate((np.arange(len(keys)), of)), sizes)
    column = np.fromiter(map(known.__getitem__, features), np.int64, len(features))
    often = (np.repeat(mentions, sizes[: len(keys)]), list(chain.from_iterable(use.features.values() for use in uses)))
    weight, size = np.concatenate(often, dtype=np.float64), len(known)
    total = votes
    for _ in range(ROUNDS):
        p = np.exp(_SHARPNESS * total - (_SHARPNESS * total).max(axis=1, keepdims=True))  # softmax
        p = p / p.sum(axis=1, keepdims=True)
        label = np.where(p.max(axis=1) > _SURE, p.argmax(axis=1), -1)
        said = label[row]
        told = np.flatnonzero(said >= 0)
        counts = np.bincount(4 * column[told] + said[told], weight[told], 4 * size).reshape(-1, 4) + _SMOOTHING
        logs = np.log(counts / counts.sum(axis=0, keepdims=True)).T.copy()  # by class, of a feature
        classes = np.bincount(label[label >= 0], weights=mentions[label >= 0], minlength=4) + 1.0
        scores = [np.bincount(row, weights=weight * own[column], minlength=len(keys)) for own in logs]
        mean = np.stack(scores, axis=1) / np.maximum(mentions, 1)[:, None] + np.log(classes)  # up to a constant
        total = votes + _WEIGHT * (mean - mean.max(axis=1, keepdims=True)) * 0.5
    return total


def _list_features(key: str) -> list[str]:
    """What of a name itself may tell its type."""
    words = key.split()
    first, last = words[0], words[-1]
    own = [f"f {first}", f"l {last}", f"s {last[-3:]}", f"p {first[:3]}", f"n {min(len(words), 5)}"]
    return own + [f"w {w}" for w in words]


@cache
def list_telling_words() -> frozenset[str]:
    """Names, and words that names begin or end with, that lists tell something of: most names have none of them."""
    places, english = read_lexicon("places"), read_lexicon("english")
    sections = [english[name] for name in ("titles", "place-firsts", "nationalities", *(name for name, *_ in _HEADS))]
    return read_lexicon("people")["first"].union(places["places"], places["organisations"], *sections)


def _vote_by_name(key: str, surface: str) -> tuple[list[float], list[float]]:
    """Votes of a name by the way it is written, and what its own words prove: lists, heads, first names, titles."""
    votes, proof = [0.0] * 4, [0.0] * 4
    words = key.replace(".", "").split() or [key]
    last, head = words[-1] if len(words) > 1 else "", key.split(" of ")[0].split()[-1] if " of " in key else ""
    if not list_telling_words().isdisjoint((key, words[0], last, head)):
        count_listed_words(key, surface, words, (last, head), votes, proof)
    if "&" in surface:
        votes[_ORGANISATION] += 1
    if "." in surface and any(re.fullmatch(r"[A-Z]\.", w) for w in surface.split()[:-1]):
        votes[_PERSON] += 1.5
    if _YEAR.match(surface):
        votes[_OTHER] += 1
    return votes, proof


def count_listed_words(
    key: str, surface: str, words: Sequence[str], endings: Sequence[str], votes: list[float], proof: list[float]
) -> None:
    """Add what lists tell of the words of a name to its votes, and to what proves its type."""
    places, english = read_lexicon("places"), read_lexicon("english")
    own = not all(map(known_word, words))
    for section, place, weight in _HEADS:
        for ending in endings:
            if ending in english[section]:
                (proof if own or ending not in english["weak-heads"] else votes)[place] += weight
    if key in places["places"]:
        proof[_PLACE] += 6
    if key in places["organisations"] and (len(key) > 3 or surface.isupper()):
        (votes if known_word(key) else proof)[_ORGANISATION] += 3
    if words[0] in read_lexicon("people")["first"] and key not in places["places"]:
        weight = 3 if 1 < len(words) < 5 else 1.5 if len(words) == 1 else 0.5
        (proof if own and " of " not in key else votes)[_PERSON] += weight
    if words[0] in english["titles"] and len(words) > 1:
        (proof if own else votes)[_PERSON] += 2
    if words[0] in english["place-firsts"] and len(words) > 1:
        proof[_PLACE] += 3 if words[0] in english["place-heads"] else 1.2
    if key in english["nationalities"]:
        proof[_PLACE] += 2.5


def has_title_before(key: str, one: Candidate) -> bool:
    """Whether a mention of a name stands behind a title of persons ("Mr. Dent")."""
    title = one.left.rstrip(".")
    doubtful = title in english_words("roles") and known_word(key.split()[0])  # "the general | public license"
    return title in english_words("titles") and not doubtful


def is_common_phrase(key: str) -> bool:
    """Whether all words of a name are common words of English."""
    return all(map(known_word, key.split()))


def _vote_by_context(key: str, c: Candidate) -> list[float]:
    """Votes of one mention of a name by what stands before and after it."""
    votes = [0.0] * 4
    english = read_lexicon("english")
    left, right, size = c.left, c.right, key.count(" ") + 1
    if "s" in c.marks and not is_common_phrase(key):
        votes[_PERSON] += 3
    if has_title_before(key, c):
        votes[_PERSON] += 3
    elif (left in english["roles"] and not is_common_phrase(key)) or (left == "by" and size < 4):
        votes[_PERSON] += 1.5
    if right in english["person-verbs"] and "c" not in c.marks:
        votes[_PERSON] += 1
    if "b" in c.marks and (right == "born" or _YEAR.match(right)):
        votes[_PERSON] += 2
    if left in english["strong-place-prepositions"] and size <= 3 and "q" not in c.marks:
        votes[_PLACE] += 1
    if "," in c.marks and "c" in c.marks:
        votes[_PLACE] += 0.6
    if left == "the" and size > 1:
        votes[_ORGANISATION] += 0.3
    if "q" in c.marks:
        votes[_OTHER] += 2.5
    if left in english["work-nouns"] and "." not in c.marks:
        votes[_OTHER] += 2
    if right in english["language-after"] and "c" not in c.marks and size < 4:
        votes[_OTHER] += 1
    return votes


# ── concepts ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_SHARE = 0.25  # of the chunks: what is in more is no topic
_RESIDUAL, _HEAD_SHARE, _ENTROPY, _PMI = 0.25, 0.6, 0.6, 3.0
_VALUE, _VALUE_ALONE = 2.0, 4.0


@dataclass(frozen=True, slots=True)
class Counts:
    """Frequency of every unit, the chunks that hold it, and its uses as the last word of a phrase."""

    all: Counter[str] = field(default_factory=Counter)
    chunks: Counter[str] = field(default_factory=Counter)
    heads: Counter[str] = field(default_factory=Counter)


def count_units(counts: Counts, phrases: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Counts the units of one document's phrases, given as (chunk, words)."""
    seen: dict[int, set[str]] = defaultdict(set)
    found: list[str] = []
    heads: list[str] = []
    for chunk, words in phrases:
        units = stems = list(map(stem_english, words))
        if len(stems) > 1:  # most are one word
            ends = range(1, len(stems) + 1)
            units = [" ".join(stems[a:b]) for b in ends for a in range(max(0, b - LONGEST_UNIT), b)]
        found += units
        heads.append(units[-1])
        seen[chunk].update(units)
    counts.all.update(found)
    counts.heads.update(heads)
    for units_seen in seen.values():
        counts.chunks.update(units_seen)


def select_concepts(counts: Counts, chunks: int, tagged: bool = True) -> frozenset[str]:
    """The units that are concepts of a corpus of so many chunks.

    Without a tagger the units are single words and names among them, so that two chunks are enough.
    """
    need = 3 if chunks >= 30 and tagged else 2 if chunks >= 8 else 1
    most = max(_SHARE * chunks, 8)
    often = [u for u, n in counts.chunks.items() if need <= n <= most and counts.all[u] >= max(2, need)]
    nested: Counter[str] = Counter()  # summed frequency of the longer units around each unit
    holders: Counter[str] = Counter()  # and their number
    for unit in often:
        words = unit.split()
        for size in range(1, len(words)):
            for at in range(len(words) - size + 1):
                part = " ".join(words[at : at + size])
                nested[part] += counts.all[unit]
                holders[part] += 1
    general = {stem_english(w) for w in english_words("general") | english_words("stop")}
    out = []
    for unit in often:
        words = unit.split()
        if words[0] in general or words[-1] in general:
            continue
        mean = nested[unit] / holders[unit] if holders[unit] else 0.0
        value = math.log2(len(words) + 0.6) * (counts.all[unit] - mean)
        if len(words) > 1:
            ok = value > (_VALUE if chunks >= 8 else 1.0)
        else:  # a single word is a topic if it is frequent, mostly a head, and bursty (residual idf)
            frequency, value = counts.all[unit], value if tagged else 2 * _VALUE_ALONE
            ok = len(unit) >= 3 and value > (_VALUE_ALONE if chunks >= 8 else 1.2)
            ok = ok and counts.heads[unit] >= _HEAD_SHARE * frequency
            if ok and chunks >= 8:
                expected = 1 - math.exp(-frequency / chunks)
                ok = -math.log2(counts.chunks[unit] / chunks) + math.log2(expected) > _RESIDUAL
        if ok:
            out.append(unit)
    return frozenset(out)


# ── scripts without blanks ───────────────────────────────────────────────────────────────────────────────────────────


def find_terms(runs: Sequence[str]) -> frozenset[str]:
    """N-grams of 2–6 characters that behave like words: repeated, freely combined, strongly held together.

    Counts grow level by level (an n-gram can only repeat if its parts do), so memory stays near the repeated ones.
    """
    counts = dict(Counter(c for run in runs for c in run))
    level = {c for c, n in counts.items() if n > 1}
    for size in range(2, LONGEST_TERM + 1):
        found = Counter(
            run[i : i + size]
            for run in runs
            for i in range(len(run) - size + 1)
            if run[i : i + size - 1] in level and run[i + 1 : i + size] in level
        )
        level = {g for g, n in found.items() if n > 1}
        counts.update((g, found[g]) for g in level)
    total = sum(n for gram, n in counts.items() if len(gram) == 1) or 1
    first, last = read_lexicon("chinese")["first"], read_lexicon("chinese")["last"]
    good = []
    for gram, n in counts.items():
        if len(gram) > 1 and gram[0] not in first and gram[-1] not in last:
            cuts = ((gram[:i], gram[i:]) for i in range(1, len(gram)))
            pmi = min(math.log2(n * total / (counts.get(a, 1) * counts.get(b, 1))) for a, b in cuts)
            if pmi > _PMI:
                good.append(gram)
    free = _find_free_grams(runs, frozenset(good))
    dropped = set()  # parts of a longer term that has at least 80 % of their frequency
    for gram in free:
        for size in range(2, len(gram)):
            for i in range(len(gram) - size + 1):
                part = gram[i : i + size]
                if counts[gram] >= 0.8 * counts[part]:
                    dropped.add(part)
    return free - dropped


def _find_free_grams(runs: Sequence[str], good: frozenset[str]) -> frozenset[str]:
    """The grams whose neighbours vary on both sides (entropy above 0.6 bits; each edge of a run counts as new)."""
    left: dict[str, Counter[str]] = defaultdict(Counter)
    right: dict[str, Counter[str]] = defaultdict(Counter)
    for number, run in enumerate(runs):
        for i in range(len(run)):
            for size in range(2, min(LONGEST_TERM, len(run) - i) + 1):
                gram = run[i : i + size]
                if gram in good:
                    left[gram][run[i - 1] if i else f"^{number}"] += 1
                    right[gram][run[i + size] if i + size < len(run) else f"${number}"] += 1
    return frozenset(g for g in left if _measure_entropy(left[g]) > _ENTROPY and _measure_entropy(right[g]) > _ENTROPY)


def _measure_entropy(counts: Mapping[str, int]) -> float:
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())
