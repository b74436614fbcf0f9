"""Sentences as evidence: who says what, where; which bear on a question, and how much (classical-engine §5.3)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from sensegraph.engines.offline.answers.questions import Question
from sensegraph.engines.offline.reports import sentence_quality
from sensegraph.engines.offline.reports.tone import balance_tone
from sensegraph.language.asking.identifiers import find_identifiers
from sensegraph.language.sentences import split_sentences
from sensegraph.language.speakers import find_labels, read_turns, split_spoken, write_label
from sensegraph.language.text import HAN, WORD, detect_language, part_camel_case
from sensegraph.language.transcripts import Talk, add_talks, find_corpus_speakers, observe_talk
from sensegraph.language.word_lists import SAID_FOR
from sensegraph.runtime.keys import document_part
from sensegraph.types import Passage, Source, Statement

ALIKE = 0.5  # LCS similarity from which two sentences are not shown together (classical-engine §5.3)
LEAST_QUALITY = 0.3  # below this a sentence is not shown (classical-engine §4.1)
_ASIDES = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|\w{1,2}_")
HOST = " (host)"  # how a point marks the name of a speaker who leads the talk
_BEGINNING, _TELLING, _FIRST = 400, 60, 10  # characters of a passage, and the least; passages that stand for all
_CREDIT = re.compile(
    r"\W*(?:(?:reported|found|discovered|noticed|spotted|identified|detected|diagnosed|suggested|requested|contributed|patch(?:ed)?)"
    r"(?: and \w+ed)?(?: \w+)? by|credits?(?: go(?:es)?)? to|thanks to)\s+[A-ZÀ-Þ@]",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(?:[\[(][^\[\]()]*[\])][\s.,;]*)+")
_PAIRS = ("“”", '""', "„“", "«»", "»«", "「」")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """One sentence: `raw` is the text of the span `source`; `order` is its place in the context.

    `reference` is the passage that holds it, `document` the title of its document, if known; `host` says that the
    speaker leads the talk.
    """

    raw: str
    speaker: str
    source: Source
    reference: str
    terms: tuple[str, ...]
    order: int
    document: str = ""
    host: bool = False

    @property
    def chunk(self) -> str:
        """The chunk that it stands in."""
        return self.source.chunk

    @property
    def origin(self) -> str:
        """What tells its document from others."""
        return document_part(self.source.chunk)

    @property
    def text(self) -> str:
        """The sentence as it is shown: lightly trimmed."""
        return sentence_quality.tidy_sentence(self.raw)

    @property
    def quality(self) -> float:
        """How well it stands alone, in (0, 1]."""
        return sentence_quality.rate_quality(self.text)

    def cite(self, text: str) -> Statement:
        """`text` as a statement that rests on the sentence: with its passage and its exact span."""
        return Statement(text, (self.reference,), (self.source,))


def select_presentable(sentences: Sequence[SourceSentence], least: float = LEAST_QUALITY) -> list[SourceSentence]:
    """The sentences that can be shown: of quality `least` or more, and 40 to 420 characters, Han ones from 12."""

    def fits(text: str) -> bool:
        return len(text) <= 420 and (len(text) >= 40 or (len(text) >= 12 and bool(HAN.search(text))))

    return [s for s in sentences if len(s.terms) > 3 and fits(s.raw) and s.quality >= least]


def choose_language(question: str, passages: Sequence[Passage]) -> str:
    """The language to read passages in: that of the question, where one of them is in it, else that of the first ones.

    So what is said beside it in other languages takes no answer away.
    """
    texts, own = [p.text[:_BEGINNING] for p in passages], detect_language(question)
    if any(len(text) >= _TELLING and detect_language(text) == own for text in texts):
        return own
    return detect_language(" ".join(texts[:_FIRST]))


def read_source_sentences(passages: Sequence[Passage], code: str) -> list[SourceSentence]:
    """The sentences of all passages in order; a span that several passages quote is kept once."""
    known, talks = find_talking_speakers(passages)
    found: list[SourceSentence] = []
    seen: set[Source] = set()
    for passage in passages:
        for name, text, source in _read_passage(passage, known, talks):
            content = stem_content_words(text, code) or find_identifiers(text)  # as in "[INC-12]"
            if source in seen or not content:
                continue
            seen.add(source)
            title = passage.title if passage.kind == "chunk" else ""
            bare, host = name.removesuffix(HOST), name.endswith(HOST)
            found.append(SourceSentence(text, bare, source, passage.id, content, len(found), title, host))
    return found


def _read_passage(
    passage: Passage, known: Mapping[str, str], talks: Collection[str]
) -> Iterator[tuple[str, str, Source]]:
    """What a report or a point quotes, else the sentences of a chunk: (speaker, what is said, where).

    A quote may open with its speaker's name and a colon; a label in a chunk governs the sentences behind it.
    """
    for quote in passage.quotes:
        name, speech = split_spoken(quote.text.strip(), quote.source.end - quote.source.start)
        yield name, strip_quotation_marks(speech), quote.source
    if passage.quotes or len(passage.sources) != 1:
        return
    base = passage.sources[0]
    turns = read_turns(passage.text, known if document_part(base.chunk) in talks else {})
    for start, end in _join_credits(passage.text, split_sentences(passage.text)):
        start = min(turns.behind(start), end)
        if speech := passage.text[start:end].lstrip():
            begin = end - len(speech)
            yield turns.at(begin), speech, Source(base.chunk, base.start + begin, base.start + end)


def _join_credits(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans of sentences, each with what stands right behind it: who reported or suggested it, its identifiers."""
    held: tuple[int, int] | None = None
    for start, end in spans:
        behind = _CREDIT.match(text, start) or (
            _BRACKETS.fullmatch(text, start, end) and find_identifiers(text[start:end])
        )
        if held and behind and "\n\n" not in text[held[1] : start]:
            held = (held[0], end)
            continue
        if held:
            yield held
        held = start, end
    if held:
        yield held


def group_by_reference(sentences: Sequence[SourceSentence]) -> dict[str, list[SourceSentence]]:
    """The sentences of each passage, by its id."""
    found: dict[str, list[SourceSentence]] = {}
    for s in sentences:
        found.setdefault(s.reference, []).append(s)
    return found


def find_hosts(sentences: Sequence[SourceSentence]) -> frozenset[str]:
    """Speakers who lead the talk: those marked so, and those who are everywhere where four or more people speak.

    Everywhere is a quarter of the documents, three at least; where documents are not known, two fifths of the chunks,
    which count as eight at least.
    """
    titled = len({s.document for s in sentences}) > 1
    places: dict[str, set[str]] = {}
    for s in sentences:
        if s.speaker:
            places.setdefault(s.speaker, set()).add(s.document if titled else s.chunk)
    size = len({s.document if titled else s.chunk for s in sentences})
    least = max(3.0, size / 4) if titled else 0.4 * max(size, 8)
    everywhere = {name for name, at in places.items() if len(places) >= 4 and len(at) >= least}
    return frozenset(everywhere | {s.speaker for s in sentences if s.host})


def stem_content_words(text: str, code: str) -> tuple[str, ...]:
    """The stems of the content words of `text`, in order; none of what stands in brackets."""
    bare = _ASIDES.sub(" ", text) if "{" in text or "[" in text or "_" in text else text
    return tuple(t for word in WORD.findall(bare) for t in sentence_quality.stem_word(word, code))


def find_talking_speakers(passages: Sequence[Passage]) -> tuple[dict[str, str], frozenset[str]]:
    """Who speaks in the chunks of transcripts (key → name), and which documents those are.

    A context shows little of each document: what all its chunks show together counts too.
    """
    talks: dict[str, list[Talk]] = {}
    labels: dict[str, str] = {}
    for passage in passages:
        if not passage.quotes and len(passage.sources) == 1:
            labelled = find_labels(passage.text)
            talks.setdefault(document_part(passage.sources[0].chunk), []).append(observe_talk(passage.text))
            labels.update((label.key, passage.text[label.start : label.name_end]) for label in labelled)
    works = {work: add_talks(held) for work, held in talks.items()}
    known, found_in = find_corpus_speakers(works | {"": add_talks(works.values())})
    return {key: write_label(labels[key]) for key in sorted(known)}, found_in


def strip_quotation_marks(text: str) -> str:
    """`text` without the quotation marks that stand around the whole of it."""
    bare = text.strip()
    return bare[1:-1].strip() if len(bare) > 1 and bare[0] + bare[-1] in _PAIRS else bare


@lru_cache(maxsize=1 << 14)
def _fold_words(text: str) -> tuple[str, ...]:
    folded = text.casefold()
    return tuple(HAN.findall(folded)) if HAN.search(folded) else tuple(WORD.findall(folded))


def differs_from(sentence: SourceSentence, chosen: Sequence[SourceSentence]) -> bool:
    """Whether a sentence says something else than each of `chosen`: not nearly the same words, nor most of another."""
    a = _fold_words(sentence.text)
    for b in (_fold_words(c.text) for c in chosen):
        shared = LCSseq.similarity(a, b)
        if shared > ALIKE * max(len(a), len(b)) or shared > 0.75 * min(len(a), len(b)):
            return False
    return True


def choose_varied(
    ranked: Iterable[SourceSentence], most: int, *bars: Callable[[SourceSentence, Sequence[SourceSentence]], bool]
) -> list[SourceSentence]:
    """The first `most` that are not alike; a round for each of `bars`, which says what is too near to what is chosen.

    What `ranked` gives only once is for one round.
    """
    chosen: list[SourceSentence] = []
    for bar in bars or (lambda one, others: False,):
        for one in ranked:
            if len(chosen) == most:
                return chosen
            if not bar(one, chosen) and one not in chosen and differs_from(one, chosen):
                chosen.append(one)
    return chosen


# ── which of them bear on a question ──────────────────────────────────────────────────────────────────────────────────

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
        fit = min(1.0, READABLE / max(1, len(one.text.split())))
        score *= fit * sentence_quality.rate_soundness(one.text) * (0.4 if one.speaker in host else 1.0)
        general = min(1.2, sentence_quality.rate_generality(one.text))
        score *= (1.0 if whole else PART) * (1.0 if question.sign else 0.4 + 0.5 * general)
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
    names = [f"{name} {part_camel_case(name)}" for name in sorted({s.speaker for s in sentences})]
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
    vague = sentence_quality.general_stems().union(question.minor)
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


def sum_known_shares(question: Question, sentences: Sequence[SourceSentence]) -> float:
    """The share of a narrow question's weight that the context holds at all."""
    return sum(share for share, _ in term_weights(question, sentences, strict=False).values())


def find_variants(term: str, counts: Counter[str]) -> dict[str, float]:
    """The stems of the context that stand for `term`: itself, and longer or shorter ones of the same root."""
    said_for = SAID_FOR.get(term, {})
    found = {term: 1.0, **{stem: 1.0 if same else KIND for stem, same in said_for.items() if stem in counts}}
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
