"""Which sentences bear on a question, and how much (classical-engine §5.3)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sensegraph.engines.offline.answers.question_rules import Question
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, find_hosts, stem_content_words
from sensegraph.engines.offline.reports.general_sentences import rate_generality
from sensegraph.engines.offline.reports.sentence_choice import general_stems
from sensegraph.engines.offline.reports.sentence_quality import introduces_person
from sensegraph.language.word_lists import read_alternatives

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
    "technolog": "tech", "applic": "app", "laboratori": "lab", "mathemat": "math", "advertis": "ad",
    "refriger": "fridg", "televis": "tv", "biotechnolog": "biotech",
}  # fmt: skip
_KINDS = {  # stem → stems of things of this kind, for words too wide to be said themselves
    "technolog": "ai internet softwar robot algorithm autom",
    "societi": "democraci job inequ communiti",
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")  # "WolfgangSchulz"


CUES = read_alternatives("cues")
_BAD = re.compile(rf"\b(?:{CUES['harm']})\b", re.IGNORECASE)
_GOOD = re.compile(rf"\b(?:{CUES['benefit']})\b", re.IGNORECASE)
_CAREER = re.compile(CUES["career"])  # what a host says of a guest
_ABOUT_SOMEONE = re.compile(
    r"(?:Dr\.|Prof\.|He|She|[A-Z][a-z]+(?: [A-Z][a-z]+)?) "
    r"(?:is|was|has|had|helped|led|spent|joined|started|also|briefly)\b"
)
_LIMPS = re.compile(rf"(?:{CUES['limping']})\b(?! (?:learning|systems?)\b)")
_COARSE = re.compile(r"\b(?:fuck|shit|crap|damn|rape)\w*\b", re.IGNORECASE)
_NOT = re.compile(r"(?:\bnot|n['’]t|\bnever|\bno|\bwithout|\bneither|\bnor|\bhardly|\bless)(?:\s+\w+){0,2}\s*$", re.I)


@dataclass(frozen=True, slots=True)
class RelevantSentence:
    """A sentence that bears on the question; `score` is 0–1, `sign` −1, 0 or +1 (see `sign`).

    `host` says that its speaker is a host, where guests were asked for; `whole` that it holds, with its neighbours,
    most of what is asked and not a part only.
    """

    sentence: SourceSentence
    score: float
    sign: int = 0
    host: bool = False
    whole: bool = True


def find_relevant(
    question: Question, sentences: Sequence[SourceSentence], *, strict: bool = True
) -> list[RelevantSentence]:
    """The sentences that bear on the question, best first; none where the context does not speak of it.

    Score = share of the terms' idf that the sentence holds, plus .4 of what its neighbours add, times its quality.
    It must hold a term itself, and the rarest term of the question within one sentence; where the question asks for
    the good or the bad only, a sentence of the other sign is left out. Where it asks for this "and" that, either will
    do. Not `strict`, for what has been found relevant before: any term will do.
    """
    weights = term_weights(question, sentences, strict=strict, even=not strict)
    if not weights:
        return []
    held = []  # the question's terms that each sentence holds, with the weight of the best form
    for own in (frozenset(s.terms) for s in sentences):
        best = {t: max((w for v, w in forms.items() if v in own), default=0.0) for t, (_, forms) in weights.items()}
        held.append({t: w for t, w in best.items() if w})
    either = re.search(r"\b(?:and|or)\b", question.subject) is not None
    rarest = frozenset(weights)
    if not (question.sign or either) and strict:  # the terms that the context has with nearly the rarest one's weight
        present = frozenset(t for h in held for t in h)
        most = max((weights[t][0] for t in present), default=0.0)
        rarest = frozenset(t for t in present if weights[t][0] >= NEARLY * most)
    least = SIGNED / 2 if question.sign else LEAST[min(len(question.terms), len(LEAST)) - 1]
    found = []
    for i, one in enumerate(sentences):
        # what the sentences before and after, in the same chunk, hold
        around = [j for j in (i - 1, i + 1) if held[i] and 0 <= j < len(sentences) and sentences[j].chunk == one.chunk]
        near = {t: w for j in around for t, w in held[j].items()}
        if not rarest & (held[i].keys() | near.keys()):
            continue
        reached = sum(max(held[i].get(t, 0.0), near.get(t, 0.0)) * w for t, (w, _) in weights.items())
        if reached >= least:
            share_of_all = SIGNED_WHOLE if question.sign else EITHER if either else WHOLE
            whole = reached >= share_of_all * sum(w for w, _ in weights.values())
            share = sum(max(held[i].get(t, 0.0), NEAR * near.get(t, 0.0)) * w for t, (w, _) in weights.items())
            found.append((one, share * (1.0 if rarest & held[i].keys() else 0.6), whole))
    return _judge_sentences(question, found, find_hosts(sentences) if question.guests else frozenset())


def _judge_sentences(
    question: Question, found: Sequence[tuple[SourceSentence, float, bool]], host: frozenset[str]
) -> list[RelevantSentence]:
    """Sentences with their quality and sign, those of the wrong sign left out, best first."""
    judged = []
    for one, share, whole in found:
        strength = balance_tone(one.raw)
        tone = (strength > 0) - (strength < 0)
        if question.sign and (tone == -question.sign or share + 0.15 * abs(strength) < SIGNED):
            continue
        score = share * (0.35 + 0.65 * one.quality)
        score *= min(1.0, 0.3 + 0.35 * abs(strength)) if question.sign else 1.0
        score *= (
            min(1.0, READABLE / max(1, len(one.text.split())))
            * rate_soundness(one.text)
            * (0.4 if one.speaker in host else 1.0)
        )
        score *= (1.0 if whole else PART) * (1.0 if question.sign else 0.4 + 0.5 * min(1.2, rate_generality(one.text)))
        judged.append(RelevantSentence(one, score, tone, one.speaker in host, whole))
    return sorted(judged, key=lambda r: (-r.score, r.sentence.order))


def term_weights(
    question: Question, sentences: Sequence[SourceSentence], *, strict: bool = True, even: bool = False
) -> Weights:
    """Term → (its share of the question's idf, the stems that stand for it with their weights).

    Empty where the context holds too little of the question to speak of it, or none of the names in it. `strict`
    wants each run of its words there: "quantum chromodynamics" is not found by "quantum" alone. `even` weighs all
    terms alike, for sentences that were chosen by them: there the rare are not rare.
    """
    counts = Counter(t for s in sentences for t in set(s.terms))
    names = [f"{name} {_CAMEL.sub(' ', name)}" for name in sorted({s.speaker for s in sentences})]
    counts.update(t for name in names for t in stem_content_words(name, "en"))
    forms = {t: find_variants(t, counts) for t in question.terms}
    # initials stand for the words that they abbreviate: "artificial intelligence" is also found as "AI"
    spelt: dict[str, dict[str, float]] = {}
    for a, b in (pair for group in question.groups for pair in pairwise(group)):
        short = (a[:1] + b[:1]).lower()
        initials = re.compile(rf"\b{short.upper()}\b")
        if a.isascii() and any(initials.search(s.raw) for s in sentences[:4000] if short in s.terms):
            spelt |= {a: forms[a] | {short: 1.0}, b: forms[b] | {short: 1.0}}
    forms |= spelt
    seen = {t: sum(counts[v] * w for v, w in vs.items()) for t, vs in forms.items()}
    # a word that names no subject by itself ("key", "deal"), or only says where, counts less
    vague = general_stems().union(question.minor)
    rare = {t: 1.0 if even else math.log(1 + (len(sentences) + 1) / (n + 0.5)) for t, n in seen.items()}
    idf = {t: weight * (VAGUE if t in vague else 1.0) for t, weight in rare.items()}
    alive: set[str] = set()  # of a run of words both of two must be there, more than half of more
    for group in question.groups:
        there = [t for t in group if seen[t]]
        if not strict or (len(there) == len(group) if len(group) < 3 else 2 * len(there) > len(group)):
            alive.update(there)
    total = sum(idf.values())
    known = sum(idf[t] for t in question.terms if t in alive)
    missing = sum(not seen[n] for n in question.names)
    if 2 * missing > len(question.names) or not known or known < (KNOWN if strict else KNOWN_LOOSELY) * total:
        return {}
    return {t: (idf[t] / total, forms[t]) for t in question.terms if seen[t]}


def find_variants(term: str, counts: Counter[str]) -> dict[str, float]:
    """The stems of the context that stand for `term`: itself, and longer or shorter ones of the same root."""
    found = {term: 1.0, **{kind: KIND for kind in _KINDS.get(term, "").split() if kind in counts}}
    if _SHORTENED.get(term) in counts:
        found[_SHORTENED[term]] = 1.0
    if len(term) < 5 or not term.isascii():
        return found
    for stem in counts:
        if stem == term or stem[:5] != term[:5]:
            continue
        short, long = sorted((len(stem), len(term)))
        shared = next((i for i, (x, y) in enumerate(zip(stem, term, strict=False)) if x != y), short)
        # of the same root are two stems that differ by a short ending only
        if long - shared <= 3 + (short == shared > 5) and short - shared <= (shared > 5):
            found[stem] = DERIVED
    return found


def rate_usefulness(found: Sequence[RelevantSentence]) -> float:
    """0–100 for a set of relevant sentences: the best one, and how well the next two support it."""
    if not found:
        return 0.0
    best = sorted((r.score for r in found), reverse=True)[:3]
    return round(min(100.0, 100 * (0.7 * best[0] + 0.3 * sum(best) / 3)), 1)


def rate_soundness(text: str) -> float:
    """1, or less for sentences that present someone, that limp behind another, or that are coarse (English)."""
    value = 0.2 if introduces_person(text) or _CAREER.search(text) else 1.0
    value *= 0.5 if _ABOUT_SOMEONE.match(text) or _LIMPS.match(text) else 1.0
    return value * (0.3 if _COARSE.search(text) else 1.0)


# ── the sign of a sentence: does it speak of the bad or the good of a thing? Plain lexical rules (English) ──────────


def balance_tone(text: str) -> int:
    """Words of good minus words of harm; a negation up to three words before turns a word round ("not a danger")."""
    bad, turned_bad = _count_hits(_BAD, text)
    good, turned_good = _count_hits(_GOOD, text)
    return good + turned_bad - bad - turned_good


def find_sign(text: str) -> int:
    """−1 where more words of harm than of good are said, +1 where it is the other way round, else 0."""
    found = balance_tone(text)
    return (found > 0) - (found < 0)


def _count_hits(words: re.Pattern[str], text: str) -> tuple[int, int]:
    """How many hits stand as they are, and how many are negated."""
    negated = [bool(_NOT.search(text[max(0, m.start() - 40) : m.start()])) for m in words.finditer(text)]
    return negated.count(False), negated.count(True)
