"""The offline engine's view of a sentence: its content words, its tidied form, how well it stands alone, who says it.

The English rules (fillers, discourse markers, the finite-verb test) apply to English text only; for other languages
a sentence is judged by its length and its end mark.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from operator import eq

from sensegraph.engines.offline.stemming import load_stemmer
from sensegraph.language.speakers import find_opening_label
from sensegraph.language.text import HAN, WORD, detect_by_stop_words
from sensegraph.language.word_lists import read_list

_STEMMERS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
}


# ── content words ────────────────────────────────────────────────────────────────────────────────────────────────────


def stem_text(text: str, code: str = "") -> list[str]:
    """Stems of the content words of `text`, in order, with repeats: Snowball by language, stop words removed.

    Han and kana give overlapping pairs of characters. `code` fixes the language (as `language` returns it); without
    it the text's own is found, which a name of one or two words is often too short for.
    """
    return list(_find_stems(text, code))


@lru_cache(maxsize=1 << 16)
def stem_word(word: str, code: str) -> tuple[str, ...]:
    """`stems` of one word, in the language `code`: words come back more often than texts."""
    return _find_stems(word, code)


@cache
def stem_word_lists(*names: str) -> frozenset[str]:
    """The stems of the words in some English word lists."""
    return frozenset(stem for name in names for word in read_list(name) for stem in stem_text(word, "en"))


@lru_cache(maxsize=1 << 15)
def _find_stems(text: str, code: str) -> tuple[str, ...]:
    code = code or detect_by_stop_words(text)
    stop = read_list(code) if code in _STEMMERS and code != "ru" else read_list("en")
    tokens = (t for t in WORD.findall(text.casefold().replace("’", "'")) if t not in stop)
    found: list[str] = []
    for part in (part for token in tokens for part in token.split("-")):
        if HAN.search(part):  # pairs of characters for Han and kana
            for run in filter(None, re.split(f"((?:{HAN.pattern})+)", part)):
                pairs = [run[i : i + 2] for i in range(len(run) - 1)] if HAN.match(run) else []
                found += pairs or [run]
            continue
        word = part.removesuffix("'s").strip("'_")
        if word not in stop and (len(word) > 1 or word.isdigit()):
            found.append(word)
    return tuple(load_stemmer(_STEMMERS[code]).stemWords(found) if code in _STEMMERS else found)


# ── the shown form ───────────────────────────────────────────────────────────────────────────────────────────────────

_NOISE = r"laugh|chuckl|applau|inaudib|cross-?talk|music|paus|sigh|noise|unintell|overlap|break"
_MARKS = re.compile(rf"\{{[^{{}}]*\}}|\[(?:[^\[\]a-z]*|(?i:{_NOISE})[^\[\]]*)\]|\((?i:{_NOISE})[^()]*\)")
_SPACED = re.compile(r"\s+(?=[,.])|\s+(?=[;:!?](?:\s|$))")
_CLITIC = re.compile(r"(?<=\w) +(?=(?:['’](?:s|re|ve|ll|d|m|t)|n['’]t)\b)", re.IGNORECASE)
_HESITATION = re.compile(
    r"(?:(?<=\s)|^),? *\b(?:[Uu]h+m*|[Uu]mm*|[Ee]rm+|[Hh]mm+|[Mm]m+(?:-?hmm*)?)\b(?![-'’])(?: *,)?"
)
_ASIDE = re.compile(r",\s*(?:you know|I mean|like|sort of|kind of|right|okay)(?:\s*,)+\s*", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:I|you|we|they|he|she|it|there|the|this|that|these|who|how|what|just|because|if)\b")
_TAG = re.compile(r",\s*(?:right|okay|you know|you see)\s*\?$", re.IGNORECASE)
_HEDGE = re.compile(
    r"(?<=\b)(I|you|we|they|he|she|it|is|are|was|were|am|be|been|being|just|really|actually|and|but|to|have|has|had|"
    r"do|did|can|could|would|will|should|might|(?:it|that|there|he|she)['’]s|(?:I|you|we|they)['’](?:ve|re|d|ll)|I['’]m)"
    r"((?: +not)?) +(?:kind|sort) of +(?!things?\b|stuff\b|guys?\b|people\b)",
    re.IGNORECASE,
)
_TWICE = re.compile(r"\b((?:\w+(?:['’]\w+)? +)?\w+(?:['’]\w+)?)((?:(?: *,)? +\1)+)(?![-'’\w])", re.IGNORECASE)
_MEANT_TWICE = frozenset("that had very really much far so long many more no not never don't can't bye ha".split())
_OPENING = re.compile(
    r"^(?:(?:and|but|yeah|yep|yup|oh|ah|okay|ok|alright)\b(?:\s*,+|\s+|\s*[.!]\s+)"
    r"|so\b(?:\s*,+\s*|\s+(?!(?:many|much|far|long|that|is|are|was|were|called|too|few|little|be|good|hard)\b))"
    r"|well\b(?:\s*,+\s*|\s+(?=(?:I|you|we|they|he|she|it|the|that|this|there|yeah|so|and|but|if)\b))"
    r"|(?:right|now|like|look|see|actually|anyway|basically|honestly|i mean|you know|yes)\s*,+\s*"
    r"|(?:i mean|you know)\s+(?=(?:I|you|we|they|he|she|it|the|this|there|if|it['’]s|that['’]s)\b)"
    r"|like\s+(?=(?:I|you|we|they|he|she|it|if|when|there)\b(?!,))"
    r"|i (?:think|guess)\b(?:\s*,+\s*|\s+(?:that\s+)?"
    r"(?!so\b|not\b|of\b|about\b|through\b|in\b|to\b|like\b|a lot\b|it through\b))"
    r")",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 15)
def tidy_sentence(sentence: str) -> str:
    """`sentence` lightly trimmed for showing: transcript marks, fillers, repeats and opening markers removed.

    Never trims a negation or a modal verb, and never to nothing. Applying it again changes nothing. A speaker's label
    stays, written as a name. Text in other languages than English only loses marks and stray white space.
    """
    shown = sentence
    for _ in range(8):  # a round may bring a label or another filler to the front
        last = shown
        label = find_opening_label(last)
        said = last[label.end :] if label else last
        text = " ".join(_MARKS.sub(" ", said).split())
        if detect_by_stop_words(said) == "en":
            text = _trim_speech(_CLITIC.sub("", _SPACED.sub("", text)))
        text = text[:1].upper() + text[1:] or said.strip()
        shown = f"{label.name}: {text}" if label else text
        if shown == last:
            break
    return shown


def _trim_speech(text: str) -> str:
    """Without fillers, repeats and opening markers (English)."""

    def replace_aside(match: re.Match[str]) -> str:
        return ", " if _CLAUSE.match(match.string, match.end()) else " "  # a comma where a new clause begins

    def say_once(match: re.Match[str]) -> str:
        words = match[1].casefold().replace("’", "'").split()
        kept = any(w in _MEANT_TWICE or w.endswith("n't") or w.isdigit() for w in words)
        return match[0] if kept else match[1]

    text = _HESITATION.sub(" ", text)
    text = _ASIDE.sub(replace_aside, text)
    text = _TAG.sub(".", text)
    if " of " in text:  # spares the two slow patterns most sentences
        text = _HEDGE.sub(r"\1\2 ", text)
    words = text.casefold().replace(",", " ").split()
    if any(map(eq, words, words[1:])) or any(map(eq, words, words[2:])):
        text = _TWICE.sub(say_once, text)
    text = _SPACED.sub("", " ".join(text.split())).lstrip(",;. -–—")
    while (match := _OPENING.match(text)) and match.end() < len(text):
        text = text[match.end() :].lstrip(",; ")
    return text


# ── how well a sentence stands alone ─────────────────────────────────────────────────────────────────────────────────

_SPEAKING = frozenset("i i'm i've i'd i'll you you're you've you'd you'll me my mine your myself yourself".split())
_NOTES = re.compile(
    r"\b(?:welcome (?:back )?to|thank you|thanks (?:for|so|to|very)|(?:our|next) (?:guests?|show|episode)|"
    r"stick around|(?:I['’]m|I am) your host|this (?:podcast|episode|show)|the (?:podcast|show notes)|tune in|"
    r"subscribe|behind the (?:tech|scenes)|transcript(?:ion)?s?\b|until next time|stay tuned|"
    r"(?:nice|great) to (?:be|have|meet|see)|today['’]s (?:guest|show|episode)|(?:good|happy) to (?:be|have you) here|"
    r"good (?:morning|afternoon|evening)|e-?mail us|check out|join us|take care|see you (?:next|all)|"
    r"come back (?:to|on)|on the (?:show|program|podcast)|so excited to|let['’]s (?:get|dive|jump|go|chat|bring|move)|"
    r"copyright|all rights reserved|table of contents|produced by|project gutenberg|co-?hosts?|joining us|"
    r"(?:exciting|awesome|amazing|incredible|special) guests?)|"
    r"https?:|www\.|\.(?:com|org|txt)\b|\.\./",
    re.IGNORECASE,
)
_BROKEN = re.compile(r"--|[—–]|\.\.\.|…|\s-\s")
_TURN = re.compile(r"[.!?…]\s[A-Z][\w’'.-]+(?: [A-Z][\w’'.-]+){1,3}:\s")
_CLITIC_VERB = re.compile(r"(?:['’](?:s|re|ve|m|ll|d)|n['’]t)$")
_SUBJECTLESS = frozenset("is are was were has does who whom which and or".split())  # in a statement, its first word
_SUBORDINATE = re.compile(r"^(?:if|when|because|while|although|since|whether|unless)\b[^,;:—–]*$", re.IGNORECASE)
_DETERMINERS = frozenset("the a an their its our his her".split())
_SUBJECT = frozenset("i you we they he she it who that there what this people".split())


@lru_cache(maxsize=1 << 15)
def rate_quality(sentence: str) -> float:
    """How well a tidied sentence stands alone, in (0, 1]: a product of penalties; below 0.3 it should not be shown.

    Short or long sentences, questions, unended ones, pronouns without antecedent, first and second person, dashes,
    greetings and show notes, and fragments without a finite verb score lower.
    """
    code = detect_by_stop_words(sentence)
    if code != "en":  # Han text counts two characters as a word
        return _rate_form(sentence, len(HAN.findall(sentence)) // 2 if code == "zh" else len(WORD.findall(sentence)))
    words = [w.replace("’", "'") for w in WORD.findall(sentence.casefold())]
    value = _rate_form(sentence, len(words))
    value *= 0.8 ** sum(w in read_list("pointing") for w in words[:4]) * 0.93 ** sum(w in _SPEAKING for w in words)
    value *= 0.6 if _BROKEN.search(sentence) else 1.0
    value *= 0.15 if _NOTES.search(sentence) or _TURN.search(sentence) else 1.0
    whole = _has_finite_verb(words) and not _SUBORDINATE.match(sentence)
    return max(value * (1.0 if whole else 0.25), 1e-6)


def _rate_form(sentence: str, words: int) -> float:
    """The rules that hold in every language: length, question, end mark."""
    value = 0.1 if words < 8 else 0.6 if words < 11 or words > 42 else 1.0
    closed = sentence.rstrip("\"'”’»)]」』")
    if closed.endswith(("?", "？")):
        return value * 0.25
    return value if closed.endswith((".", "!", "。", "！", "…", "؟", "।")) else value * 0.4


def _has_finite_verb(words: list[str]) -> bool:
    """Whether an English sentence has a finite verb near its start and does not open like a fragment."""
    if not words or words[0] in _SUBJECTLESS:
        return False
    verbs = read_list("verbs")
    if words[0] in read_list("fragments"):  # "In the end, …" needs a subject and a verb behind it
        spoken = any(a in _SUBJECT and _looks_finite(a, b) for a, b in pairwise(words[1:20]))
        if not spoken and verbs.isdisjoint(words[3:12]):
            return False
    if words[0].endswith("ing") and len(words[0]) > 5 and verbs.isdisjoint(words[1:12]):
        return False
    head = words[:17]
    if any(_looks_finite(head[i - 1] if i else "", w) for i, w in enumerate(head[:16])):
        return True
    return any(is_third_person(*three) for three in zip(head, head[1:], head[2:], strict=False))


def is_third_person(before: str, word: str, after: str) -> bool:
    """Whether `word` looks like an unlisted verb after a noun: "protein binds to", not "the costs of"."""
    stop = read_list("en")
    if before in stop or before.endswith("ly"):
        return False
    if before.endswith("s"):  # "computers predict the …"
        return after in _DETERMINERS and word not in stop and not word.endswith(("s", "ly"))
    return word.endswith("s") and not word.endswith(("ss", "us", "'s")) and after in stop and after != "of"


def _looks_finite(before: str, word: str) -> bool:
    """Whether `word` looks like a finite verb after the word `before`."""
    if word in read_list("verbs") or _CLITIC_VERB.search(word):
        return True
    if word.endswith("ed") and len(word) > 4:
        return before not in ("the", "a", "an", "of", "and") and before != ""
    return before in _SUBJECT and not word.endswith("ly") and word not in read_list("pointing") and len(word) > 2
