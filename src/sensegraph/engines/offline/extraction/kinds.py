"""Types of names without labels: cues vote, then a naive Bayes classifier learns from its own sure cases.

Classes in order: person, place, organisation, other. Every name (key) of the corpus gets one type, because the graph
merges entities by name and type. Typical accuracy is about 70 %: a hint, never part of an identity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.engines.offline.extraction.records import Candidate
from sensegraph.language.word_lists import english, sections

CLASSES = "plom"
LETTERS = {
    "p": "person", "l": "place", "o": "organization", "m": "other", "e": "event", "w": "work", "c": "concept",
}  # fmt: skip
ROUNDS = 3
_SURE = 0.7
_SHARPNESS = 0.9
_WEIGHT = 0.5
_SMOOTHING = 0.3
_DOUBT = 0.4
_MOST = 12  # mentions of one name that speak, at most
_PLACE, _PERSON, _ORGANISATION, _OTHER = 1, 0, 2, 3
_YEAR = re.compile(r"(?:1\d{3}|20\d\d|\d+(?:st|nd|rd|th))\b")


@dataclass(frozen=True, slots=True)
class Use:
    """One mention of a name: its key, its own words and what stands around it."""

    key: str
    surface: str
    candidate: Candidate


def learned(uses: Sequence[Use]) -> dict[str, str]:
    """The type of every key, as the letter of `LETTERS`."""
    if not uses:
        return {}
    keys = sorted({u.key for u in uses})
    number = {k: i for i, k in enumerate(keys)}
    of = np.array([number[u.key] for u in uses], dtype=np.int64)
    votes = _votes(uses, keys, of)
    total = _trained(votes, of, uses)
    total[:, _OTHER] += _DOUBT  # what little speaks for is "other", not the most frequent class
    best = np.argmax(total, axis=1)
    finer = _finer(uses)
    return {k: finer.get(k, "m") if CLASSES[best[i]] == "m" else CLASSES[best[i]] for i, k in enumerate(keys)}


def _votes(uses: Sequence[Use], keys: Sequence[str], of: NDArray[np.int64]) -> NDArray[np.float64]:
    """Summed cues of every key, shape (keys, 4): those of the name itself once, those around it per mention."""
    around = np.zeros((len(keys), 4))
    np.add.at(around, of, np.array([_around(u) for u in uses]))
    counts = np.bincount(of, minlength=len(keys))[:, None]
    own = np.array([_own(k) for k in keys])
    surfaces = {u.key: u.surface for u in reversed(uses)}
    own += np.array([_written(surfaces[k]) for k in keys])
    return own + around * np.minimum(1.0, _MOST / np.maximum(counts, 1)) * 0.7


def _trained(votes: NDArray[np.float64], of: NDArray[np.int64], uses: Sequence[Use]) -> NDArray[np.float64]:
    """Votes plus what the classifier learns from the sure cases, in three rounds."""
    flat, offsets, size = _features(uses)
    lengths = np.diff(np.append(offsets, len(flat)))
    counts = np.maximum(np.bincount(of, minlength=len(votes)), 1)[:, None]
    total = votes
    for _ in range(ROUNDS):
        p = _softmax(_SHARPNESS * total)
        sure = p.max(axis=1) > _SURE
        label = np.where(sure, p.argmax(axis=1), -1)[of]
        logs = _logs(flat, np.repeat(label, lengths), size)
        scores = np.add.reduceat(logs[flat], offsets, axis=0) + _priors(label)
        mean = np.zeros_like(votes)
        np.add.at(mean, of, scores)
        mean /= counts
        total = votes + _WEIGHT * (mean - mean.max(axis=1, keepdims=True)) * 0.5
    return total


def _priors(label: NDArray[np.int64]) -> NDArray[np.float64]:
    counts = np.bincount(label[label >= 0], minlength=4) + 1.0
    priors: NDArray[np.float64] = np.log(counts / counts.sum())
    return priors


def _logs(flat: NDArray[np.int64], label: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Log-probability of every feature in every class, shape (features, 4)."""
    counts = np.stack([np.bincount(flat[label == c], minlength=size) for c in range(4)], axis=1) + _SMOOTHING
    logs: NDArray[np.float64] = np.log(counts / counts.sum(axis=0, keepdims=True))
    return logs


def _softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    out: NDArray[np.float64] = e / e.sum(axis=1, keepdims=True)
    return out


def _features(uses: Sequence[Use]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Feature numbers of all uses in a row, where each use begins, and how many features there are."""
    known: dict[str, int] = {}
    flat: list[int] = []
    offsets = []
    for use in uses:
        offsets.append(len(flat))
        flat += [known.setdefault(f, len(known)) for f in _described(use)]
    return np.array(flat, dtype=np.int64), np.array(offsets, dtype=np.int64), len(known)


def _described(use: Use) -> list[str]:
    words, c = use.key.split(), use.candidate
    first, last = words[0], words[-1]
    out = [f"f {first}", f"l {last}", f"s {last[-3:]}", f"p {first[:3]}", f"n {min(len(words), 5)}"]
    out += [f"w {w}" for w in words]
    out += [f"< {c.left}", f"<< {c.before}", f"> {c.right}", f"m {c.marks}"]
    if use.surface.isupper():
        out.append("caps")
    return out


@cache
def _cue_lists() -> Mapping[str, Mapping[str, Any]]:
    """Word → votes, for last words, first words, words before and words after."""
    lasts: dict[str, list[float]] = {}
    for section, place, weight in (
        ("place-heads", _PLACE, 3.0),
        ("organisation-heads", _ORGANISATION, 3.0),
        ("event-heads", _OTHER, 3.2),
        ("other-heads", _OTHER, 3.2),
    ):
        for word in english(section):
            lasts.setdefault(word, [0.0] * 4)[place] += weight
    return {"lasts": lasts}


def _own(key: str) -> list[float]:
    """Votes of a name by its own words."""
    votes = [0.0] * 4
    words = key.replace(".", "").split() or [key]
    for i, w in enumerate(_cue_lists()["lasts"].get(words[-1], ()) if len(words) > 1 else ()):
        votes[i] += w
    _own_by_lists(key, words, votes)
    if " of " in key:
        head = _cue_lists()["lasts"].get(key.split(" of ")[0].split()[-1])
        for i, w in enumerate(head or ()):
            votes[i] += w
    return votes


def _own_by_lists(key: str, words: Sequence[str], votes: list[float]) -> None:
    places = sections("places")
    if key in places["places"]:
        votes[_PLACE] += 6
    if key in places["organisations"]:
        votes[_ORGANISATION] += 3
    if words[0] in sections("people")["first"] and key not in places["places"]:
        votes[_PERSON] += 3 if 1 < len(words) < 5 else 1.5 if len(words) == 1 else 0.5
    if words[0] in english("titles") and len(words) > 1:
        votes[_PERSON] += 2
    if words[0] in english("place-firsts") and len(words) > 1:
        votes[_PLACE] += 1.2
    if key in english("nationalities") or (len(words) == 1 and len(key) > 5 and key.endswith(("ian", "ish", "ese"))):
        votes[_PLACE] += 2.5


def _written(surface: str) -> list[float]:
    """Votes of a name by the way it is written."""
    votes = [0.0] * 4
    words = surface.split()
    if len(words) == 1 and 2 <= len(surface) <= 6 and surface.isupper() and surface.isalpha():
        votes[_ORGANISATION] += 2
    if "&" in surface:
        votes[_ORGANISATION] += 1
    if any(re.fullmatch(r"[A-Z]\.", w) for w in words[:-1]):
        votes[_PERSON] += 1.5
    if _YEAR.match(surface):
        votes[_OTHER] += 1
    return votes


def _around(use: Use) -> list[float]:
    """Votes of one mention by what stands before and after it."""
    votes, c = [0.0] * 4, use.candidate
    left, right, size = c.left, c.right, use.key.count(" ") + 1
    if "s" in c.marks:
        votes[_PERSON] += 3
    if left.rstrip(".") in english("titles"):
        votes[_PERSON] += 3
    elif left in english("roles") or (left == "by" and size < 4):
        votes[_PERSON] += 1.5
    if right in english("person-verbs") and "c" not in c.marks:
        votes[_PERSON] += 1
    if "b" in c.marks and (right == "born" or _YEAR.match(right)):
        votes[_PERSON] += 2
    _around_places(c, size, votes)
    _around_others(c, size, votes)
    return votes


def _around_places(c: Candidate, size: int, votes: list[float]) -> None:
    if c.left in english("strong-place-prepositions") and size <= 3 and "q" not in c.marks:
        votes[_PLACE] += 1
    if "," in c.marks and "c" in c.marks:
        votes[_PLACE] += 0.6
    if c.left == "the" and size > 1:
        votes[_ORGANISATION] += 0.3


def _around_others(c: Candidate, size: int, votes: list[float]) -> None:
    if "q" in c.marks:
        votes[_OTHER] += 2.5
    if c.left in english("work-nouns") and "." not in c.marks:
        votes[_OTHER] += 2
    if c.right in english("language-after") and "c" not in c.marks and size < 4:
        votes[_OTHER] += 1


def _finer(uses: Sequence[Use]) -> dict[str, str]:
    """Events and works among the other names, by head word, quotation marks and work nouns."""
    found: dict[str, str] = {}
    for use in uses:
        head = use.key.split(" of ")[0].split()[-1:] or [""]
        if use.key.split()[-1] in english("event-heads") or head[0] in english("event-heads"):
            found[use.key] = "e"
        elif use.candidate.left in english("work-nouns") or "q" in use.candidate.marks:
            found.setdefault(use.key, "w")
    return found
