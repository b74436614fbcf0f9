"""Tokens, words, sentences and budgets: the measures of text that everything else shares."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from sensegraph.language.calendar_words import ENGLISH_MONTHS, SHORT_MONTHS

T = TypeVar("T")

WORD = re.compile(r"\w+(?:[’'\-]\w+)*")
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_ABBREVIATIONS = frozenset(SHORT_MONTHS).difference(ENGLISH_MONTHS) | frozenset(
    "mr mrs ms dr prof st sr jr rev hon gen col lt sgt capt maj gov sen rep pres messrs mt ft "
    "inc ltd co corp bros dept est no nos vol vols pp p ed eds al etc vs viz cf e.g i.e a.m p.m "
    "sept fig figs approx u.s u.k u.n d.c ca bzw usw z.b d.h nr".split()
)
_END = re.compile(
    r"""((?<![.!?…])[.!?…]+["'”’»)\]]*)(\s+)(?=["'“‘«(\[]*[^\W_a-zß-öø-ÿ])|([。！？；]+[」』”’）]*)|((?<!\s)\s*\n\s*)"""
)

_JOINED = re.compile(  # two characters of one grapheme: line ends, joiners, modifiers, tags, conjoining Hangul
    "\r\n|\u200d.|.[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7fb]"
    "|[\u1100-\u115f\ua960-\ua97c][\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]",
    re.DOTALL,
)
_VIRAMA = 9  # its combining class
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")


@cache
def _load_tokenizer() -> Any:
    from rs_bpe.bpe import openai  # 40 MB of tables: loaded on first use

    return openai.cl100k_base()


def count_tokens(text: str) -> int:
    """The number of cl100k tokens of `text`."""
    return int(_load_tokenizer().count(text))


def encode_tokens(text: str) -> list[int]:
    """The cl100k token numbers of `text`."""
    return list(_load_tokenizer().encode(text))


def decode_tokens(numbers: list[int]) -> str | None:
    """The text of these tokens, or None when they begin or end inside a character."""
    text: str | None = _load_tokenizer().decode(numbers)
    return text


def inside_grapheme(text: str, place: int, start: int = 0) -> bool:
    """Whether a cut before the character at `place` parts what readers see as one character (after UAX #29).

    `start` is a place where a grapheme begins: nothing before it is looked at.
    """
    if not start < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    if unicodedata.category(after).startswith("M") or _JOINED.fullmatch(text, place - 1, place + 1):
        return True
    if unicodedata.combining(before) == _VIRAMA:  # a consonant without its vowel, joined to the next in Indic scripts
        return unicodedata.category(after) == "Lo"
    if not (_FLAG.match(before) and _FLAG.match(after)):
        return False
    first = place  # of the letters in a row, two and two of which are flags
    while first > start and _FLAG.match(text[first - 1]):
        first -= 1
    return (place - first) % 2 == 1


def fold(text: str) -> str:
    """The form in which names are compared: NFKC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def collect_terms(text: str) -> frozenset[str]:
    """The distinct folded words of `text`; of scripts written without spaces, the pairs of neighbouring characters."""
    found: set[str] = set()
    for match in WORD.finditer(text.casefold()):
        word = match[0]
        if HAN.search(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.add(word)
    return frozenset(found)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, without surrounding white space, in order.

    Splits after . ! ? before a capital or a digit, after 。！？； and at line ends; not after initials or common
    abbreviations.
    """
    spans, start = [], 0
    for match in _END.finditer(text):
        if match[1] is not None and match[1].startswith("."):  # behind an initial or an abbreviation no sentence ends
            dot = match.start(1)
            word = re.split(r"\s", text[max(0, dot - 12) : dot])[-1].lstrip("\"'“‘([")
            if (len(word) == 1 and word.isupper()) or word.casefold() in _ABBREVIATIONS:
                continue
        end = match.end(1) if match[1] is not None else match.end(3) if match[3] is not None else match.start(4)
        spans.append(_strip_span(text, start, end))
        start = match.end()
    spans.append(_strip_span(text, start, len(text)))
    return [s for s in spans if s[0] < s[1]]


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end].rstrip()
    return start + len(part) - len(part.lstrip()), start + len(part)


def take_within(items: Iterable[T], budget: int, size: Callable[[T], int]) -> tuple[list[T], int]:
    """The longest prefix of `items` whose sizes sum to at most `budget`, and how many items were left out."""
    kept: list[T] = []
    left = 0
    for item in items:
        if left or size(item) > budget:
            left += 1
            continue
        budget -= size(item)
        kept.append(item)
    return kept, left


def pack_batches(items: Iterable[T], budget: int, size: Callable[[T], int]) -> list[list[T]]:
    """`items` in order, in batches whose sizes sum to at most `budget`; a larger one is alone in its own."""
    batches: list[list[T]] = []
    room = -1
    for item in items:
        need = size(item)
        if need > room or not batches:
            batches.append([])
            room = budget
        batches[-1].append(item)
        room -= need
    return batches
