"""Which sentences bear on a question, and how much (classical-engine §5.3)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from sensegraph.engines.offline.answers.questions import Question
from sensegraph.engines.offline.answers.said import Said, hosts, terms
from sensegraph.engines.offline.answers.telling import soundness
from sensegraph.engines.offline.reports.general_sentences import generality
from sensegraph.engines.offline.reports.prose import stems
from sensegraph.engines.offline.reports.stance import balance
from sensegraph.language.word_lists import listed

KIND = 0.6  # weight of a thing of the kind that a term names
DERIVED = 0.7  # weight of a word derived from a term: society → societal
VAGUE = 0.35  # weight of a term that names no subject
NEAR = 0.4  # weight of what the neighbouring sentences of the same chunk hold
LEAST = (0.5, 0.5, 0.45, 0.34)  # share of the weight of 1, 2, 3, more terms that it must hold with its neighbours
SIGNED = 0.55  # the same where the good or the bad is asked for: each word of that sign counts .15
NEARLY = 0.6  # share of the rarest term's weight from which another is as good
READABLE = 36  # words from which a sentence counts for less
WHOLE = 0.7  # share of the weight from which a sentence speaks of all that is asked
SIGNED_WHOLE = 0.6  # the same where the good or the bad is asked for
EITHER = 0.4  # the same where it asks for this and that
PART = 0.5  # what a sentence on a part only counts for
KNOWN = 0.5  # share of the question's weight that the context must hold at all
KNOWN_LOOSELY = 0.25  # the same for a narrow question, which is often worded otherwise than its answer


Weights = dict[str, tuple[float, dict[str, float]]]
_SHORTENED = {  # stem → what it is often cut to
    "technolog": "tech",
    "applic": "app",
    "laboratori": "lab",
    "mathemat": "math",
    "advertis": "ad",
    "refriger": "fridg",
    "televis": "tv",
    "biotechnolog": "biotech",
}
_KINDS = {  # stem → stems of things of this kind, for words too wide to be said themselves
    "technolog": "ai internet softwar robot algorithm autom",
    "societi": "democraci job inequ communiti",
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")  # "WolfgangSchulz"


@dataclass(frozen=True, slots=True)
class Relevant:
    """A sentence that bears on the question; `score` is 0–1, `sign` −1, 0 or +1 (see stance).

    `host` says that its speaker is a host, where guests were asked for; `whole` that it holds, with its neighbours,
    most of what is asked and not a part only.
    """

    said: Said
    score: float
    sign: int = 0
    host: bool = False
    whole: bool = True


def relevant(question: Question, said: Sequence[Said], *, strict: bool = True) -> list[Relevant]:
    """The sentences that bear on the question, best first; none where the context does not speak of it.

    Score = share of the terms' idf that the sentence holds, plus .4 of what its neighbours add, times its quality.
    It must hold a term itself, and the rarest term of the question within one sentence; where the question asks for
    the good or the bad only, a sentence of the other sign is left out. Where it asks for this "and" that, either will
    do. Not `strict`, for what has been found relevant before: any term will do.
    """
    weights = term_weights(question, said, strict=strict, even=not strict)
    if not weights:
        return []
    held = [_held(weights, s) for s in said]
    either = re.search(r"\b(?:and|or)\b", question.subject) is not None
    rarest = frozenset(weights) if question.sign or either or not strict else _rarest(weights, held)
    least = SIGNED / 2 if question.sign else LEAST[min(len(question.terms), len(LEAST)) - 1]
    found = []
    for i, one in enumerate(said):
        near = _near(held, said, i) if held[i] else {}
        if not rarest & (held[i].keys() | near.keys()):
            continue
        reached = sum(max(held[i].get(t, 0.0), near.get(t, 0.0)) * w for t, (w, _) in weights.items())
        if reached >= least:
            share_of_all = SIGNED_WHOLE if question.sign else EITHER if either else WHOLE
            whole = reached >= share_of_all * sum(w for w, _ in weights.values())
            share = sum(max(held[i].get(t, 0.0), NEAR * near.get(t, 0.0)) * w for t, (w, _) in weights.items())
            found.append((one, share * (1.0 if rarest & held[i].keys() else 0.6), whole))
    return _judged(question, found, hosts(said) if question.guests else frozenset())


def _judged(question: Question, found: Sequence[tuple[Said, float, bool]], host: frozenset[str]) -> list[Relevant]:
    """Sentences with their quality and sign, those of the wrong sign left out, best first."""
    judged = []
    for one, share, whole in found:
        strength = balance(one.raw)
        tone = (strength > 0) - (strength < 0)
        if question.sign and (tone == -question.sign or share + 0.15 * abs(strength) < SIGNED):
            continue
        score = share * (0.35 + 0.65 * one.quality)
        score *= min(1.0, 0.3 + 0.35 * abs(strength)) if question.sign else 1.0
        score *= (
            min(1.0, READABLE / max(1, len(one.text.split())))
            * soundness(one.text)
            * (0.4 if one.speaker in host else 1.0)
        )
        score *= (1.0 if whole else PART) * (1.0 if question.sign else 0.4 + 0.5 * min(1.2, generality(one.text)))
        judged.append(Relevant(one, score, tone, one.speaker in host, whole))
    return sorted(judged, key=lambda r: (-r.score, r.said.order))


def term_weights(question: Question, said: Sequence[Said], *, strict: bool = True, even: bool = False) -> Weights:
    """Term → (its share of the question's idf, the stems that stand for it with their weights).

    Empty where the context holds too little of the question to speak of it, or none of the names in it. `strict`
    wants each run of its words there: "quantum chromodynamics" is not found by "quantum" alone. `even` weighs all
    terms alike, for sentences that were chosen by them: there the rare are not rare.
    """
    counts = Counter(t for s in said for t in set(s.terms))
    names = [f"{name} {_CAMEL.sub(' ', name)}" for name in sorted({s.speaker for s in said})]
    counts.update(t for name in names for t in terms(name, "en"))
    forms = {t: variants(t, counts) for t in question.terms}
    forms.update(_spelled(question, forms, said))
    seen = {t: sum(counts[v] * w for v, w in vs.items()) for t, vs in forms.items()}
    idf = {t: (1.0 if even else _idf(n, len(said))) * _specific(t, question) for t, n in seen.items()}
    alive = {t for group in question.groups if not strict or _alive(group, seen) for t in group if seen[t]}
    total = sum(idf.values())
    known = sum(idf[t] for t in question.terms if t in alive)
    missing = sum(not seen[n] for n in question.names)
    if 2 * missing > len(question.names) or not known or known < (KNOWN if strict else KNOWN_LOOSELY) * total:
        return {}
    return {t: (idf[t] / total, forms[t]) for t in question.terms if seen[t]}


def _idf(n: float, size: int) -> float:
    return math.log(1 + (size + 1) / (n + 0.5))


def _specific(term: str, question: Question) -> float:
    """1, or less for a word that names no subject by itself ("key", "deal"), or only says where."""
    return VAGUE if term in question.minor or term in _vague() else 1.0


@cache
def _vague() -> frozenset[str]:
    return frozenset(stem for word in listed("general") | listed("verbs") for stem in stems(word, "en"))


def _alive(group: tuple[str, ...], seen: dict[str, float]) -> bool:
    """Whether the context has enough of a run of words to be about it: both of two, more than half of more."""
    there = sum(bool(seen[t]) for t in group)
    return there == len(group) if len(group) < 3 else 2 * there > len(group)


def variants(term: str, counts: Counter[str]) -> dict[str, float]:
    """The stems of the context that stand for `term`: itself, and longer or shorter ones of the same root."""
    found = {term: 1.0, **{kind: KIND for kind in _KINDS.get(term, "").split() if kind in counts}}
    if _SHORTENED.get(term) in counts:
        found[_SHORTENED[term]] = 1.0
    if len(term) < 5 or not term.isascii():
        return found
    for stem in counts:
        if stem != term and stem[:5] == term[:5] and _same_root(stem, term):
            found[stem] = DERIVED
    return found


def _same_root(a: str, b: str) -> bool:
    """Whether two stems differ by a short ending only."""
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    short, long = sorted((len(a), len(b)))
    return long - shared <= 3 + (short == shared > 5) and short - shared <= (shared > 5)


def _spelled(
    question: Question, forms: dict[str, dict[str, float]], said: Sequence[Said]
) -> dict[str, dict[str, float]]:
    """Initials stand for the words that they abbreviate: "artificial intelligence" is also found as "AI"."""
    found: dict[str, dict[str, float]] = {}
    for a, b in (pair for group in question.groups for pair in pairwise(group)):
        initials = (a[:1] + b[:1]).upper()
        if a.isascii() and any(
            re.search(rf"\b{initials}\b", s.raw) for s in said[:4000] if initials.lower() in s.terms
        ):
            found |= {a: forms[a] | {initials.lower(): 1.0}, b: forms[b] | {initials.lower(): 1.0}}
    return found


def _held(weights: Weights, said: Said) -> dict[str, float]:
    """The question's terms that a sentence holds, with the weight of the best form."""
    own = frozenset(said.terms)
    found = {t: max((w for v, w in forms.items() if v in own), default=0.0) for t, (_, forms) in weights.items()}
    return {t: w for t, w in found.items() if w}


def _near(held: Sequence[dict[str, float]], said: Sequence[Said], at: int) -> dict[str, float]:
    """What the sentences before and after, in the same chunk, hold."""
    around = [i for i in (at - 1, at + 1) if 0 <= i < len(said) and said[i].chunk == said[at].chunk]
    return {t: w for i in around for t, w in held[i].items()}


def _rarest(
    weights: Weights,
    held: Sequence[dict[str, float]],
) -> frozenset[str]:
    """The rarest terms that the context has: those with nearly the rarest one's weight."""
    present = frozenset(t for h in held for t in h)
    most = max((weights[t][0] for t in present), default=0.0)
    return frozenset(t for t in present if weights[t][0] >= NEARLY * most)


def usefulness(found: Sequence[Relevant]) -> float:
    """0–100 for a set of relevant sentences: the best one, and how well the next two bear it out."""
    if not found:
        return 0.0
    best = sorted((r.score for r in found), reverse=True)[:3]
    return round(min(100.0, 100 * (0.7 * best[0] + 0.3 * sum(best) / 3)), 1)
