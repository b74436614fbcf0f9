"""What a question asks for, how much of it a text holds, and the noun phrases that texts turn on, by lexical rules.

A question is *overview* when no content term is left after the words about asking and about the corpus itself are
taken away, else *focused* (classical-engine §5.1). The rules are English; a question in another language is focused on
all its terms. Where a text is judged alone, with no corpus at hand, what stands in for rarity is that names weigh most,
then numbers, then words that no list calls common (lazygraphrag §6); the weights and bounds were chosen by
`bench/offline_relevance.py`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal

from sensegraph.engines.offline.reports.sentence_quality import stem_text, stem_word, stem_word_lists
from sensegraph.language.asking.whole_collections import asks_about_collection
from sensegraph.language.text import HAN, WORD, detect_language, part_camel_case, tag_words
from sensegraph.language.word_lists import read_lexicon, read_list

_THEMES = re.compile(
    r"\b(?:\w*themen?|hauptpunkte|überblick|zusammenfassung|worum geht|thèmes?|résumé|temas?|resumen|temi)\b"
    "|主题|主要内容|概述|总结",
    re.IGNORECASE,
)
Shape = Literal["overview", "whether", "decide", "count", "who", "views", "lookup", "open"]

# Words that say how to answer or name the corpus and its people; they find nothing.
FRAME = read_lexicon("question-words")["frame"]
# Words that carry no subject of their own, but may stand in its wording ("the negative impacts of technology").
SOFT = read_lexicon("question-words")["soft"]
_FORMS = frozenset("meeting conversation episode podcast interview transcript chat article book".split())
_VERBS = r"(?:discuss|talk|mention|describe|share|speak|highlight|address|cover|raise|explore|focus|feature|appear|say)"
_RULES: tuple[tuple[Shape, str], ...] = (
    ("count", r"\bhow many (?:documents|episodes|chats|conversations)\b"),
    ("count", rf"\bhow (?:often|frequent\w*|many (?:guests|speakers|people))\b.*\b(?:{_VERBS}|come|came|occur|nam)"),
    ("who", r"^(?:which|what) (?!do |did |are )(?:\w+ ){0,2}(?:guests?|speakers?|people|leaders?|participants?)\b"),
    ("open", r"^(?:which|what) (?:\w+ ){0,2}(?:episodes?|documents?|chats?|conversations?|articles?|chapters?)\b"),
    ("who", r"^who (?:talks?|speaks?|mentions?|discuss\w*|describes?|argues?)\b"),
    (
        "views",
        r"\b(?:perspectives?|views?|opinions?|stances?|attitudes?|disagree\w*|differ(?!ently)\w*|compare|versus|vs)\b",
    ),
    ("views", r"\bor as\b|\bhow do \w+(?: \w+)? (?:perceive|view|see|feel|think)\b"),
    ("whether", r"^(?:are|is) there\b|^can you find\b|^can \S.* be found\b"),
    ("whether", rf"^(?:do|does|did|are|is|was|were|have|has|can)\b.{{0,120}}?\b{_VERBS}\w*\b"),
    ("decide", r"^(?:do|does|did|are|is|was|were|have|has|had|can|could|will|would|should|may|might)\b"),
    ("lookup", r"^(?:who|whom|whose|when|where|which|how (?:many|much|old|long|far|often|frequent\w*))\b"),
    ("lookup", r"^what (?:is|was|time|day|date|year|name|percentage|number|colou?r)\b"),
)
_NEGATIVE = r"\b(?:negative\w*|harm\w*|risks?|danger\w*|drawbacks?|downsides?|concerns?|fears?|threats?|pessimis\w+)\b"
_POSITIVE = r"\b(?:positive\w*|benefits?|beneficial|advantages?|upsides?|optimis\w+|hopes?|opportunit\w+|success\w*)\b"
_FIELD = re.compile(r"\b(?:tech|technology|industry|business) (?=(?:leader|guest|expert|executive)s?\b)", re.I)
_QUALIFIED = re.compile(r"\b(?:research|content|conversation|discussion) (?=(?:themes?|topics?|subjects?)\b)", re.I)
_PERIOD = re.compile(
    r"\b(?:of|in|over|during|from) (?:these|this|those|all|the (?:last|past)) (?:\w+ )?(?:years?|months?|weeks?)\b",
    re.I,
)
_AFTERTHOUGHT = re.compile(
    r"\s[-–—]\s|[,;:]?\s(?:and|or) (?:in what|how|why|what|where|when)\b|,\s(?:such as|including)\b"
)
_WORDS = re.compile(r"[^\W\d_][\w'’]+")
TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*|[^\w\s]")
SIGN_WORDS = re.compile(f"{_NEGATIVE}|{_POSITIVE}", re.I)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the rules read it.

    `terms` are the distinct content terms in order, `groups` the same by runs of adjoining words ("data privacy" is
    one), `subject` the words they stand in, as asked. `sign` is −1 where
    only the bad is asked for, +1 where only the good, 0 otherwise. `unit` is the word for a piece of the corpus,
    `names` are the terms written as names, `guests` says that the hosts' own words are not asked for,
    `minor` are the terms that only say where ("in their careers").
    """

    text: str
    shape: Shape
    terms: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    subject: str
    sign: int
    unit: str
    names: tuple[str, ...] = ()
    guests: bool = False
    minor: tuple[str, ...] = ()


def understand_question(text: str, code: str = "en") -> Question:
    """Read a question in the language `code`: its shape, its content terms, the sign that it asks for."""
    plain = " ".join(text.split())
    # without an afterthought (" - as a motivator or an obstacle?", "and in what context?")
    text = _PERIOD.sub("", _QUALIFIED.sub("", _FIELD.sub("", plain)))
    core = _AFTERTHOUGHT.split(text)[0]
    core = core if len(core.split()) > 3 else text
    # a question to texts in another language may ask for their themes, in that language or in English
    foreign = code != "en" and (_THEMES.search(plain) or not _group_terms(core, "en"))
    whole = foreign or asks_about_collection(plain)
    groups = () if whole else _group_terms(core, code)
    terms = tuple(dict.fromkeys(t for group in groups for t in group))
    folded = plain.casefold()
    shape: Shape = next((shape for shape, rule in _RULES if re.search(rule, folded)), "open") if terms else "overview"
    bad, good = (re.search(pattern, plain, re.I) is not None for pattern in (_NEGATIVE, _POSITIVE))
    units = (word.rstrip("s") for word in re.findall(r"[a-z]+", folded))
    unit = next((unit for unit in units if unit in _FORMS), "")
    guests = bool(re.search(r"\b(?:guests?|leaders?|interviewees?|experts?)\b", plain, re.I))
    # names have a capital inside the question (not in German, where all nouns have)
    inner = re.findall(r"(?<=[\w,] )[^\W\d_a-z][\w’'\-]+", plain) if code != "de" else []
    capitalised = {t for w in inner for t in stem_text(w, code)}
    # the terms after "in their …" say where, and need not be said
    before, *places = re.split(r"\b(?:in|within|during|throughout) (?:their|his|her|its|our|your)\b", core, maxsplit=1)
    main = set(stem_text(before, code))
    minor = {t for part in places for t in stem_text(part, code)} - main if main & set(terms) else set()
    names, where = (tuple(t for t in terms if t in some) for some in (capitalised, minor))
    return Question(plain, shape, terms, groups, find_subject(core), good - bad, unit, names, guests, where)


def _group_terms(text: str, code: str) -> tuple[tuple[str, ...], ...]:
    """The content terms by runs of adjoining content words."""
    groups: list[tuple[str, ...]] = [()]
    for word in TOKEN.findall(text):
        empty = word.casefold() in FRAME | SOFT or SIGN_WORDS.fullmatch(word)
        found = () if empty else tuple(stem_text(word, code))
        groups = [*groups[:-1], groups[-1] + found] if found else [*groups, ()]
    return tuple(g for g in groups if g)


def find_subject(text: str) -> str:
    """The longest stretch of the question that reads as a noun phrase, without words of asking; "" if there is none.

    It is longest by the words that name something; stop words at its end are left out.
    """
    stop = read_list("en")
    words = TOKEN.findall(text)
    cased = [w.casefold() if w[1:].islower() and i == 0 else w for i, w in enumerate(words)]
    letters = tag_words(cased) if words else ""
    best: list[str] = []
    most = 0
    run: list[str] = []
    for word, letter in zip([*words, "?"], [*letters, "."], strict=True):
        if word.casefold() in FRAME - SOFT or letter in "vbmow.p" or word in '?,;:"':
            while run and run[-1].casefold() in stop:
                run = run[:-1]
            weight = sum(w.casefold() not in stop | SOFT for w in run)
            if weight > most:
                best, most = run, weight
            run = []
        elif run or word.casefold() not in stop:
            run.append(word)
    return " ".join(best)


def says_subject(title: str) -> bool:
    """Whether a title says more than that it is a document of the corpus ("Episode 12")."""
    words = [w for w in _WORDS.findall(title) if w.casefold() not in FRAME]
    return bool(words) and title.casefold().partition(":")[0].strip() not in FRAME


NAME, NUMBER, RARE, USUAL, EMPTY = 2.0, 1.5, 1.0, 0.6, 0.3  # what a word of the question weighs
SPEAKER = 0.3  # share of a name's weight where it labels who speaks: it says nothing of what is spoken about
WINDOW = 60  # words within which what a text holds counts together: two sentences or three

_LABEL = re.compile(r"^([^\W\d_][\w .’'\-]{1,40}):\s", re.MULTILINE)
_JOINS = frozenset("of the to in and de von van der la le al".split())
_PARTICLES = frozenset(
    "的了是在什么吗呢谁哪何怎为多少几个有和与及或等被把对从到于其之以而则但不也都就很最更这那他她它我你您请问关说会能可要让使给向"
)
_SAMPLE = 400  # characters that tell the language of a text


@dataclass(frozen=True, slots=True)
class WantedWords:
    """What a question asks for: stem → weight, and the names of two words or more, as their stems."""

    weights: Mapping[str, float]
    names: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.weights)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a text holds of a question: a share of its weight, 0–1, in the best window and in all of the text.

    `content` says that it holds a word that names something; `named` that it holds a whole name of two words or more,
    other than a speaker's.
    """

    near: float
    whole: float
    content: bool
    named: bool


@lru_cache(maxsize=1 << 10)
def read_wanted_words(question: str, code: str) -> WantedWords:
    """The words of `question`, read in the language `code`, that can find something; none in an overview question."""
    text = part_camel_case(question)
    weights: dict[str, float] = {}
    for i, word in enumerate(WORD.findall(text)):
        if word.casefold() in FRAME:
            continue
        for stem in stem_word(word, code):
            weight = weigh_rarity(stem, code)
            if HAN.search(stem):  # a pair of characters that only joins words finds nothing
                weight = 0.0 if stem[0] in _PARTICLES or stem[-1] in _PARTICLES else RARE
            elif stem.isdigit():
                weight = NUMBER
            elif word[0].isupper() and i and code != "de":  # German writes every noun so
                weight = NAME
            elif word.casefold() in SOFT:
                weight = EMPTY
            if weight:
                weights[stem] = max(weight, weights.get(stem, 0.0))
    # names: runs of two or more capitalised words inside the question, small words between them left out
    names: list[tuple[str, ...]] = []
    run: list[str] = []
    for i, word in enumerate([*(TOKEN.findall(text) if code != "de" else []), "?"]):
        if word[0].isupper() and i and word.casefold() not in FRAME:
            run += stem_word(word, code)
        elif not run or word not in _JOINS:
            if len(run) > 1:
                names.append(tuple(run))
            run = []
    return WantedWords(MappingProxyType(weights), tuple(names))


def find_han_runs(question: str) -> list[str]:
    """The stretches of a Han question that name something: all but the characters that only ask or join."""
    wanted = read_wanted_words(question, "zh").weights
    covered = [False] * len(question)
    for i in range(len(question) - 1):
        if question[i : i + 2] in wanted:
            covered[i] = covered[i + 1] = True
    runs = "".join(c if keep else " " for c, keep in zip(question, covered, strict=True)).split()
    return list(dict.fromkeys(runs))


def guess_language(text: str) -> str:
    """The language of a text, told from its beginning."""
    return detect_language(text[:_SAMPLE])


def weigh_rarity(stem: str, code: str) -> float:
    """RARE, or less for the stem of a common word of English; other languages have no list of theirs."""
    if code != "en":
        return RARE
    return EMPTY if stem in stem_word_lists("very_common") else USUAL if stem in stem_word_lists("common") else RARE


def measure_coverage(wanted: WantedWords, text: str, code: str) -> Coverage:
    """What `text` holds of what is wanted.

    Speakers, who stand before a colon at the beginning of a line, count less.
    """
    plain = part_camel_case(text)
    places = _locate_stems(wanted.weights, plain, code)
    names = set(_LABEL.findall(plain)) if places else ()
    labels = {t for name in names for w in WORD.findall(name) for t in stem_word(w, code)} & places.keys()
    weights = {t: w * (SPEAKER if t in labels else 1.0) for t, w in wanted.weights.items()}
    total = sum(weights.values())
    if not total:
        return Coverage(0.0, 0.0, False, False)
    content = any(wanted.weights[t] > EMPTY and t not in labels for t in places)
    named = any(all(t in places for t in name) and labels.isdisjoint(name) for name in wanted.names)
    # the largest weight of distinct stems that stand within one window
    spots = sorted((at, stem) for stem, where in places.items() for at in where)
    inside: Counter[str] = Counter()
    best = near = 0.0
    first = 0
    for at, stem in spots:
        near += 0.0 if inside[stem] else weights[stem]
        inside[stem] += 1
        while spots[first][0] < at - WINDOW:
            out = spots[first][1]
            inside[out] -= 1
            near -= 0.0 if inside[out] else weights[out]
            first += 1
        best = max(best, near)
    return Coverage(best / total, sum(weights[t] for t in places) / total, content, named)


def _locate_stems(wanted: Mapping[str, float], text: str, code: str) -> dict[str, list[int]]:
    """Where each wanted stem stands, in words from the beginning; two characters of Han text count as a word."""
    found: dict[str, list[int]] = defaultdict(list)
    at = 0
    for word in WORD.findall(text.casefold()):
        if HAN.search(word):
            for i in range(max(1, len(word) - 1)):
                if word[i : i + 2] in wanted:
                    found[word[i : i + 2]].append(at + i // 2)
            at += len(word) // 2
        for stem in stem_word(word, code) if len(word) < _SAMPLE and not HAN.match(word) else ():
            if stem in wanted and at not in found[stem][-1:]:
                found[stem].append(at)
        at += 1
    return {stem: where for stem, where in found.items() if where}


# ── key phrases (classical-engine §5.2) ───────────────────────────────────────────────────────────────────────────────

LONGEST = 3
_RUN = re.compile("[JnNX]+g?")
# Too general to name a subject.
_GENERAL = read_lexicon("question-words")["no-subject"]


# Nouns that name a subject only together with another word ("computer science", "machine learning").
WEAK = read_lexicon("question-words")["weak-subject"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase as it is mostly written, its stems, its score, and the positions of the texts that hold it."""

    text: str
    stems: tuple[str, ...]
    score: float
    hits: tuple[int, ...]


@lru_cache(maxsize=1 << 14)
def list_noun_phrases(text: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The noun phrases of up to three words in an English `text`: (stems, words as written).

    They end in a noun, and neither begin nor end with a general word.
    """
    words = TOKEN.findall(text)
    if not words:
        return ()
    letters = tag_words([words[0].casefold() if words[0][1:].islower() else words[0], *words[1:]])
    found: list[tuple[tuple[str, ...], str]] = []
    for start, stop in (match.span() for match in _RUN.finditer(letters)):
        for end in range(start + 1, stop + 1):
            for begin in range(max(start, end - LONGEST), end):
                headed = letters[end - 1] in "nNX" or (letters[end - 1] == "g" and end - begin > 1)
                phrase = words[begin:end]
                if headed and letters[begin] != "g" and not _is_general(phrase[0]) and not _is_general(phrase[-1]):
                    found.append((tuple(s for w in phrase for s in stem_word(w, "en")), " ".join(phrase)))
    return tuple(found)


@cache
def _is_general(word: str) -> bool:
    """Whether a word names no subject by itself: a stop word, a number, a word about the corpus or the talk."""
    folded = word.casefold()
    forms = (folded, folded.removesuffix("s"), folded.removesuffix("es"))
    if len(word) < 2 or not word[0].isalpha() or folded in read_list("en") or not {"'", "’", "_"}.isdisjoint(word):
        return True
    return any(f in _GENERAL or f in FRAME or f in SOFT or f in read_list("general") for f in forms)


def find_key_phrases(
    texts: Sequence[str], top: int, *, avoid: frozenset[str] = frozenset(), least: int = 2
) -> list[Phrase]:
    """The `top` phrases of `texts`, best first, no two of which share a stem and none with a stem of `avoid`.

    Score = f^.7 · (Σ tf·idf of the words)^.8 over phrases that occur `least` times or more. A phrase is written in the
    commonest way, with capitals only where they prevail.
    """
    spots: dict[tuple[str, ...], list[int]] = {}
    forms: dict[tuple[str, ...], Counter[str]] = {}
    for i, text in enumerate(texts):
        for own, words in list_noun_phrases(text):
            spots.setdefault(own, []).append(i)
            forms.setdefault(own, Counter())[words] += 1
    places: dict[str, list[int]] = {}  # of each stem
    for own, where in spots.items():
        for stem in own:
            places.setdefault(stem, []).extend(where)
    worth = {s: (1 + math.log(len(w))) * math.log(1 + len(texts) / len(set(w))) for s, w in places.items()}
    scored = []
    for own, where in spots.items():
        if len(set(where)) >= least and own and not avoid.intersection(own):
            best = max(sorted(forms[own]), key=lambda f: forms[own][f])
            lower = sum(n for form, n in forms[own].items() if form == form.casefold())
            shown = best.casefold() if 2 * lower >= sum(forms[own].values()) else best
            score = float(len(where) ** 0.7 * sum(worth[s] for s in own) ** 0.8)
            scored.append(Phrase(shown, own, score, tuple(dict.fromkeys(where))))
    taken: list[Phrase] = []
    used: set[str] = set()
    for phrase in sorted(scored, key=lambda p: (-p.score, p.stems)):
        if len(taken) == top:
            break
        if not used.intersection(phrase.stems):
            taken.append(phrase)
            used.update(phrase.stems)
    return taken
