"""The offline engine's view of a sentence: its content words, its tidied form, how well it stands alone, what it says.

The English rules (fillers, discourse markers, the finite-verb test) apply to English text only; for other languages
a sentence is judged by its length and its end mark.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise

from sensegraph.engines.offline.reports.sentence_cues import Cues
from sensegraph.engines.offline.stemming import list_folded_words, remember_stems
from sensegraph.language.asking.sentence_cues import is_command
from sensegraph.language.sentences import balance_emphasis
from sensegraph.language.text import HAN, WORD, detect_language, known_form
from sensegraph.language.word_lists import compile_lowered, read_alternatives, read_list

CUES = read_alternatives("cues")
_STEMMERS = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "nl": "dutch",
    "pt": "portuguese", "ru": "russian",
}  # fmt: skip


# ── content words ────────────────────────────────────────────────────────────────────────────────────────────────────


def stem_text(text: str, code: str = "") -> list[str]:
    """Stems of the content words of `text`, in order, with repeats: Snowball by language, stop words removed.

    Han and kana give overlapping pairs of characters. `code` fixes the language (as `language` returns it); without
    it the text's own is found, which a name of one or two words is often too short for.
    """
    return list(recall_stems(text, code))


@lru_cache(maxsize=1 << 16)
def stem_word(word: str, code: str) -> tuple[str, ...]:
    """`stems` of one word, in the language `code`: words come back more often than texts."""
    return recall_stems(word, code)


@cache
def stem_word_lists(*names: str) -> frozenset[str]:
    """The stems of the words in some English word lists."""
    return frozenset(stem for name in names for word in read_list(name) for stem in stem_text(word, "en"))


def weigh_stems(sentences: Iterable[Iterable[str]], once: float = 0.7) -> dict[str, float]:
    """The weight of each stem: `once` plus the logarithm of how many sentences hold it.

    A quarter of that for words that name no topic. A stand-in, where the rest of the corpus is not at hand, for share
    here against share in the corpus.
    """
    counts = Counter(chain.from_iterable(map(dict.fromkeys, sentences)))
    often = {n: once + math.log(n) for n in set(counts.values())}
    weights = {t: often[n] for t, n in counts.items()}
    weights.update({t: weights[t] * 0.25 for t in general_stems() & counts.keys()})
    return weights


def general_stems() -> frozenset[str]:
    """Stems of English words that name no topic."""
    return stem_word_lists("general", "verbs")


@lru_cache(maxsize=1 << 15)
def recall_stems(text: str, code: str) -> tuple[str, ...]:
    """What `stem_text` finds, which is kept: the same texts come again."""
    code = code or detect_language(text)
    stop = read_list(code) if code in _STEMMERS and code != "ru" else read_list("en")
    han = not text.isascii() and HAN.search(text) is not None
    kept = [token for token in list_folded_words(text) if token not in stop]
    plain = not han and "".join(kept).isalpha()
    found = [token for token in kept if len(token) > 1] if plain else []
    for token in kept if not plain else ():
        if not han and token.isalpha():
            if len(token) > 1:
                found.append(token)
            continue
        for part in token.split("-"):
            if han and HAN.search(part):  # pairs of characters for Han and kana
                for run in filter(None, re.split(f"((?:{HAN.pattern})+)", part)):
                    pairs = [run[i : i + 2] for i in range(len(run) - 1)] if HAN.match(run) else []
                    found += pairs or [run]
                continue
            word = part.removesuffix("'s").strip("'_")
            if word not in stop and (len(word) > 1 or word.isdigit()):
                found.append(word)
    return tuple(map(remember_stems(_STEMMERS[code]), found) if code in _STEMMERS else found)


# ── the shown form ───────────────────────────────────────────────────────────────────────────────────────────────────

_SOUND = r"laugh(?:s|ter|ing)?|chuckl(?:es?|ing)|applau(?:se|ds?)|inaudible|cross-?talk|sigh(?:s|ing)?|unintelligible"
_NOISE = rf"{_SOUND}|musi[ck]|pauses?|noises?|overlap(?:ping)?|break|vocalsound|nonvocalsound|disfmarker|gap"
_AFTER = r"(?:\s(?:playing|plays|continues|fades|stops|ends|speech|talk))?[\s\d:.,-]*"
_MARKS = re.compile(  # and numbers in brackets, but for those of elements: x[0]
    rf"(?<!\S)\{{(?i:{_NOISE}){_AFTER}\}}|(?<!\b\w)\[(?:(?![^\W\d_])[^\[\]])*\]"
    rf"|\[(?i:(?:{_NOISE}){_AFTER})\]|\((?i:(?:{_SOUND}){_AFTER})\)"
)
_SPACED = re.compile(
    r"(?<!-\w)\s+(?=,(?!\w)|\.(?!\w|\.(?!\.)|\s[a-z]))|\s+(?=[;:!?](?:\s|$))"
)  # .xz is a name and no end, -u . says where
_CLITIC = re.compile(r"(?<=\w) +(?=(?:['’](?:s|re|ve|ll|d|m|t)|n['’]t)\b)", re.IGNORECASE)
_HESITATION = re.compile(  # "mm" within a sentence is a unit
    r"(?:(?<=\s)|^),? *\b(?:[Uu]h+m*|[Uu]mm*|[Ee]rm+|[Hh]mm+|[Mm]m+-?hmm*|[Mm]mm+)\b(?![-'’])(?: *,)?|^[Mm]m,"
)
_HESITANT = tuple(f"{before}{sound}" for sound in ("uh", "um", "erm", "hmm", "mm") for before in " ,")
_RAGGED = re.compile(  # stands where one of the three above does, of white space only blanks; few sentences have it
    r"[ ,][,.;:!?'’nuehm](?:(?<=[,.;:!?'’])|(?<=n)['’]|(?<=u)[hm]|(?<=e)rm|(?<=h)mm|(?<=m)m)", re.IGNORECASE
)
_LED = re.compile(r"^(?:[\s,;]|\.{2,}|—|[.–-]+(?=\s))+")  # "-5 °C" and ".xz" begin with their signs
_UNDERLINE = re.compile(
    r"(?<=[^\s|])\s+(?:={3,}|[~-]{4,})(?:(?:\s+[o*•])?\s+(?=\w)|\s*$)"
)  # of a heading, put behind it
_PROGRAM = re.compile(r"[^\W\d_A-Z](?:\w*(?=:\s|\s\(?v?\d+\.\d)|\w*[-_.\d][\w.-]*\w(?=[\s:]))")
_OPENING = re.compile(f"^(?:{CUES['opening-markers']})", re.IGNORECASE)


@lru_cache(maxsize=1 << 15)
def tidy_sentence(sentence: str) -> str:
    """`sentence` lightly trimmed for showing: transcript marks, hesitations and opening markers removed.

    No word between the first and the last that it shows is left out but "uh", "um" and the like. Never trimmed to
    nothing. Applying it again changes nothing. Text in other languages than English only loses marks and stray white
    space, a command nothing but that.
    """
    if is_command(sentence):
        return " ".join(sentence.split())
    shown = sentence
    for _ in range(8):  # a round may bring a label or another filler to the front; most need no pattern
        last = shown
        marked = "[" in last or "{" in last or "(" in last
        text = " ".join((_MARKS.sub(" ", last) if marked else last).split())
        if "===" in text or "----" in text or "~" in text:
            text = _UNDERLINE.sub(lambda m: ": " if m.end() < len(m.string) else "", text)
        if (trimmed := _trim_speech(text)) != text and detect_language(last) == "en":
            text = trimmed
        text = balance_emphasis(text)
        named = _PROGRAM.match(text)  # names of programs begin small: "gzip 1.2", "run-parts"
        parts = re.split("[-_.]", named[0]) if named else []
        unknown = [part for part in parts if not known_form(part) and (len(part) > 3 or part is parts[-1])]
        small = unknown or any(c.isdigit() for c in "".join(parts))  # but "co-founder"
        shown = (text if small else text[:1].upper() + text[1:]) or last.strip()
        if shown == last:
            break
    return shown


def _trim_speech(text: str) -> str:
    """Without hesitations, opening markers and blanks before marks (English)."""
    if _RAGGED.search(f" {text}"):
        text = _CLITIC.sub("", _SPACED.sub("", text))
        if any(map(f" {text.lower()}".__contains__, _HESITANT)):
            text = _SPACED.sub("", " ".join(_HESITATION.sub(" ", text).split()))
    if led := _LED.match(text):
        text = text[led.end() :]
    while (match := _OPENING.match(text)) and match.end() < len(text):
        text = text[match.end() :].lstrip(",; ")
    return text


def end_sentence(text: str) -> str:
    """`text` with an end mark; a command is left as it is to be typed."""
    if is_command(text):
        return text.strip()
    bare = text.rstrip(" ,;:-–—")
    closed = bare.rstrip("'\"’”)»」』").endswith((".", "!", "?", "…", "。", "！", "？"))
    return bare if closed else f"{bare}."


def quote_text(text: str) -> str:
    """`text` in quotation marks, those inside it made single."""
    inner = text.replace("“", "‘").replace("”", "’").replace('"', "'")
    return f"“{end_sentence(inner)}”"


_SMALL = "no one two three four five six seven eight nine ten eleven twelve".split()


def capitalise(text: str) -> str:
    """`text` with its first letter large."""
    return text[:1].upper() + text[1:]


def join_with_and(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def spell_number(n: int) -> str:
    """A number as it is written in a text: words up to twelve, figures with commas above."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


# ── how well a sentence stands alone ─────────────────────────────────────────────────────────────────────────────────

_SPEAKING = frozenset("i i'm i've i'd i'll you you're you've you'd you'll me my mine your myself yourself".split())
_BROKEN = re.compile(r"--|[—–]|\.\.\.|…|\s-\s")
_DASHES = ("-", "—", "–", "...", "…")  # one of which stands where `_BROKEN` does
_TURN = re.compile(r"[.!?…]\s[A-Z][\w’'.-]+(?: [A-Z][\w’'.-]+){1,3}:\s")
_CLITIC_VERB = re.compile(r"(?:['’](?:s|re|ve|m|ll|d)|n['’]t)$")
_SUBJECTLESS = frozenset("is are was were has does who whom which and or".split())  # in a statement, its first word
_SUBORDINATE = re.compile(r"^(?:if|when|because|while|although|since|whether|unless)\b[^,;:—–]*$", re.IGNORECASE)
_DETERMINERS = frozenset("the a an their its our his her".split())
_SUBJECT = frozenset("i you we they he she it who that there what this people".split())

_FEW = 8  # words of a line without an end mark up to which it is a heading
_LISTED = re.compile(r"[^\W\d_]\w{1,15}: (?:[A-Z][^,;:.]+[,;] (?:and )?)+[A-Z][^,;:]+\.?$")


NOTED = Cues({"show-notes": rf"\b(?:{CUES['show-notes']})|https?:|www\.|\.(?:com|org|txt)\b|\.\./"})


@lru_cache(maxsize=1 << 15)
def rate_quality(sentence: str) -> float:
    """How well a tidied sentence stands alone, in (0, 1]: a product of penalties; below 0.3 it should not be shown.

    Short or long sentences, questions, unended ones, pronouns without antecedent, first and second person, dashes,
    greetings and show notes, and fragments without a finite verb score lower.
    """
    code = detect_language(sentence)
    if code != "en":  # Han text counts two characters as a word
        return _rate_form(sentence, len(HAN.findall(sentence)) // 2 if code == "zh" else len(WORD.findall(sentence)))
    words = list_folded_words(sentence)
    value = _rate_form(sentence, len(words))
    pointing, speaking = map(read_list("pointing").__contains__, words[:4]), map(_SPEAKING.__contains__, words)
    value *= 0.8 ** sum(pointing) * 0.93 ** sum(speaking)
    value *= 0.6 if any(map(sentence.__contains__, _DASHES)) and _BROKEN.search(sentence) else 1.0
    value *= 0.15 if NOTED.read(sentence).has("show-notes") or (":" in sentence and _TURN.search(sentence)) else 1.0
    whole = _has_finite_verb(words) and not _SUBORDINATE.match(sentence)
    return max(value * (1.0 if whole else 0.25), 1e-6)


def _rate_form(sentence: str, words: int) -> float:
    """The rules that hold in every language: length, question, end mark."""
    value = 0.1 if words < 8 else 0.6 if words < 11 or words > 42 else 1.0
    closed = sentence.rstrip("\"'”’»)]」』")
    if closed.endswith(("?", "？")):
        return value * 0.25
    return value if closed.endswith((".", "!", "。", "！", "…", "؟", "।")) else value * 0.4


def is_heading(sentence: str) -> bool:
    """Whether a text only names something: it has no end mark, and few words or, in English, no finite verb.

    So does a field that lists names ("Present: Ann Lee, Bob Ray").
    """
    bare = sentence.rstrip("\"'”’»)]」』*_")
    if bare.endswith((".", "!", "?", "。", "！", "？", "…", "؟", "।")) and not _LISTED.match(sentence):
        return False
    words = list_folded_words(sentence)
    return len(words) < _FEW or not _has_finite_verb(words)


def _has_finite_verb(words: Sequence[str]) -> bool:
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
    if not verbs.isdisjoint(head[:16]) or any(map(_looks_finite, ("", *head), head[:16])):
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


_INTRODUCES = re.compile(
    r"\b(?:(?:is|was|are|['’]s|became|serve[sd]? as|works? as|named)\s+(?:[\w’'-]+,?\s+){0,7}"
    rf"(?i:{CUES['offices']})s?\b|{CUES['introducing']})|[Aa]ward[- ]winn"
)
_HANGING = frozenset("like because then or also which even besides they he she it this that these those".split())
FIRST_PERSON = re.compile(r"[Im](?<!\w[Im])(?:(?<=I)|(?<=m)(?:e|y|ine|yself))\b")  # also "I'm"


def is_hanging(text: str) -> bool:
    """Whether a sentence leans on the one before it, or is speech within a story."""
    return text.partition(" ")[0].casefold() in _HANGING or text.startswith(("'", "‘", "“", '"'))


@lru_cache(maxsize=1 << 15)
def introduces_person(sentence: str) -> bool:
    """Whether an English sentence presents someone by office or career ("Ann Lee is a professor of …")."""
    return STATED.read(sentence).has("introducing") and _INTRODUCES.search(sentence) is not None


# ── how far it states something that holds, or presents someone ──────────────────────────────────────────────────────
_TOLD = compile_lowered(
    rf"\b(?:I|we|he|she|they|you)\s+(?:\w+ly\s+|just\s+|also\s+|never\s+|first\s+)?(?:{CUES['past-verbs']}|\w+[^e\W]ed)\b"
)
_THIRD = compile_lowered(r"^(?:he|she|they|his|her|their|it|this|that|these|those|one of (?:them|these|those))\b")
_LEANING = compile_lowered(CUES["leaning"])
STATED = Cues(
    {name: CUES[name] for name in ("remembered", "restarted", "loose", "reasons")}
    | {
        "happened": r"\b(?:was|were|had|did|said|\w{3,}ed)\b",
        "here": rf"^(?:{CUES['openings-of-talk']})\b|\b(?:{CUES['talk']})\b",  # said of the talk
        "holding": rf"\b(?:{CUES['holding']})\b",
        "introducing": _INTRODUCES.pattern,
    },
    {"introducing": rf"\b(?:(?:{CUES['offices']})s?\b|{CUES['introducing']})|award[- ]winn"},
)
_NAMED = re.compile(r"[A-Z](?<=[\w,] [A-Z])[a-z]\w+")
_FREE_NAMES = 2  # capitalised words inside a sentence before it counts as a list of names


@lru_cache(maxsize=1 << 15)
def rate_generality(sentence: str, code: str = "en") -> float:
    """How general and assertive a tidied sentence is, from 0.02 (a personal anecdote) to about 1.5 (a reasoned claim).

    A product of factors: present statements, comparisons, reasons and needs raise it; stories in the first person and
    the past, talk within the conversation, dates, open pronouns, loose speech and strings of names lower it. 1 in other
    languages than English, whose cues these are.
    """
    if code != "en":
        return 1.0
    cues = STATED.read(sentence)
    has, low = cues.has, cues.low
    value = 1.15 if has("holding") else 0.55 if has("happened") else 0.9
    value *= 1.25 if has("reasons") else 1.0
    value *= 0.35 if _TOLD.search(low) else 1.0
    value *= 0.45 if has("remembered") else 1.0
    value *= 0.3 if has("here") else 1.0
    value *= 0.5 if FIRST_PERSON.search(sentence) else 1.0
    value *= 0.6 if _THIRD.search(low) else 1.0
    value *= 0.6 if _LEANING.search(low) else 1.0
    value *= 0.5 if has("restarted") else 1.0
    value *= 0.7 if has("loose") else 1.0
    spare = len(_NAMED.findall(sentence)) - _FREE_NAMES
    return max(0.02, value * 0.85 ** max(0, spare))


_CAREER = re.compile(CUES["career"])  # what a host says of a guest
_ABOUT_SOMEONE = re.compile(
    r"(?:Dr\.|Prof\.|He|She|[A-Z][a-z]+(?: [A-Z][a-z]+)?) "
    r"(?:is|was|has|had|helped|led|spent|joined|started|also|briefly)\b"
)
_LIMPS = re.compile(rf"(?:{CUES['limping']})\b(?! (?:learning|systems?)\b)")
_COARSE = re.compile(r"\b(?:fuck|shit|crap|damn|rape)\w*\b", re.IGNORECASE)


def rate_soundness(text: str) -> float:
    """1, or less for sentences that present someone, that limp behind another, or that are coarse (English)."""
    value = 0.2 if introduces_person(text) or _CAREER.search(text) else 1.0
    value *= 0.5 if _ABOUT_SOMEONE.match(text) or _LIMPS.match(text) else 1.0
    return value * (0.3 if _COARSE.search(text) else 1.0)
