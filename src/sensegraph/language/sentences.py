"""Where sentences end: by marks, abbreviations of two classes, words that open sentences, and what the text shows.

A line end ends a sentence: `blocks.read_blocks` leaves one only where a block ends. Inside a line, ideographic marks
and `?` `!` `…` before no small letter end one; a point does unless it belongs to an abbreviation, an initial, a number
that goes on, or an ordinal. What may stand at the end too ("etc.", "U.S.", "12.") ends one where the word behind it
opens a sentence: a known opener, or a word that the same text also writes small. The lists are those of the language of
the text (`data/languages/`) and of English, whose abbreviations stand in all.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from functools import cache
from itertools import chain
from typing import NamedTuple

from sensegraph.language.text import detect_language, remember
from sensegraph.language.word_lists import LANGUAGES, MONTHS, read_sections

_END = re.compile(
    r"(?P<mark>[.!?…‥؟۔։।॥‼⁇⁉]++)"
    r"(?P<tail>(?:[\"'”’»«›)\]*_`“]|\[\d{1,3}(?:[,–-] ?\d{1,3})*\]|(?<=[^\W\d_][.!?])\d{1,2}(?=\s)"
    r"|[ \u00a0\u202f]»(?=\s|$))*)(?P<gap>[^\S\n]+)"
    r"|(?P<wide>[。！？｡]++[」』”’）】》\"]*+(?:\[\d{1,3}\])*+)"
    r"(?!(?<=。)[のはがを]|(?<=[」』])と|(?<=[”』」])[^\s，。！？]{0,3}[說问問道答説])"  # behind a quotation
)
# a line end with the blanks behind it, or a mark; no point before a letter or a line end, or between digits
_MAY_END = re.compile(r"[\n.!?…‥؟۔।։॥‼⁇⁉。！？｡](?:(?<=\n)\s*|(?!(?<=\.)(?:\n|[^\W\d_]|(?<=\d\.)\d)))")
_PLAIN_END = re.compile(r"\. ++(?=[A-Z])")  # as most sentences end
_MARKS = re.compile(r"[.!?…‥؟۔։।॥‼⁇⁉]+")
_BREAK = frozenset(' \t\n\r\xa0\u202f\u3000"“”‘«»„‚([{<>/—–|')
_NEXT = re.compile(r"[\"'“‘«»‹„‚(\[{¿¡*_`—–…\-•§\s]{0,200}([^\W_]+(?:[.'’-][^\W_]+)*)?")
_ENUMERATED = re.compile(r"(?:\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[^\W\d_]|[ivxlcIVXLC]{1,6})[.)]|§+ ?\d+[a-z]?\.)$")
_BRAND = re.compile(r"[a-z]{1,2}[A-Z][\w]{1,10}$")
_ELIDED = re.compile(r"['’][a-z]\s[^\W\d_a-z]")  # Dutch 's, 't
_VOWELLESS = re.compile(r"[bcdfghjklmnpqrstvwxz]{2,5}")
_REFERENCE = re.compile(r"\s\d+[.,;:)]")
_ROMAN = re.compile(r"[IVXL]{1,5}$")
_LEADING = re.compile(r"(?:\s|#{1,6}(?=\s)|[-*+•‣◦▪·–>](?=\s)|\|)+")
_BEFORE_SMALL = re.compile(r"\. {1,2}(?=[^\W\d_A-ZÀ-ÞА-Я])")
_CONTRACTED = re.compile(r"(?:n['’]t|['’]\w+)$")
_LOOKED_BACK = 40
_LONG = 400  # characters of texts whose spans are kept for a while
_LOOKED_AT = 100_000  # characters of a text in which its own writing of a word is looked for
_ALSO_WORDS = frozenset(
    "no art app def max min mar sec fig ex ed est id col tab prop reg stat ct cap ch op an al".split()
)
_ORDINAL = frozenset(("de", "da", "cs", "pl", "ru"))
_NAMED_BY_LETTER = frozenset("I Я И Ó Y".split())
_HOLDS = (
    "a|blockquote|center|dd|details|div|dl|dt|figcaption|figure|h[1-6]|li|ol|p|picture|pre|summary|table|tbody|td|th|thead|"
    "tr|ul|video"
)
_MARKUP = re.compile(  # what lays out a page and says nothing; of code nothing is taken
    r"(?P<code>```(?s:.*?)(?:```|\Z)|`[^`\n]*`)|<!--(?s:.{0,1000}?)-->|!\[[^\[\]\n]*\]\([^()\n]*\)"
    rf"|<(?:br|hr|img|source)\b[^<>]*>|<(?:{_HOLDS}|font|span)\s(?=[^<>=]{{0,300}}=)[^<>]*>|</(?:{_HOLDS}|font|span)>"
    rf"|<(?P<name>{_HOLDS})>(?=(?s:.{{0,300}}?)</(?P=name)>)",
    re.IGNORECASE,
)
_BEHIND = " .,:;!?…\"'”’)»"  # what may stand behind the end of what is emphasized


class Lists(NamedTuple):
    """What is known of a language.

    Abbreviations that never end a sentence, that may when a known opener comes next, and that do before any capital;
    words that open sentences; nouns that stand behind ordinals.
    """

    never: frozenset[str]
    at_end: frozenset[str]
    final: frozenset[str]
    openers: frozenset[str]
    counted: frozenset[str]


_NO_LISTS = Lists(*[frozenset[str]()] * 5)


@cache
def load_language(code: str) -> Lists:
    """The lists of one language, from `data/languages/<code>.txt`."""
    found = {
        name: frozenset(w for line in lines for w in line.split())
        for name, lines in read_sections(f"languages/{code}").items()
    }
    at_end, final = found["abbreviations-at-end"], found.get("abbreviations-final", frozenset())
    counted = found.get("after-ordinals", frozenset()).union(*MONTHS.values())
    return Lists(found["abbreviations"] - at_end - final, at_end - final, final, found["openers"], counted)


@cache
def load_lists(code: str) -> Lists:
    """The lists of a language, if it has any, and of English together."""
    parts = [load_language(one) for one in LANGUAGES if one in ("en", code)]
    never, at_end, final, openers, counted = (frozenset[str]().union(*lists) for lists in zip(*parts, strict=True))
    return Lists(never - at_end - final, at_end - final, final, openers, counted)


@cache
def _list_abbreviations() -> frozenset[str]:
    """The abbreviations of all languages: of other words it need not be known which one a text is in."""
    return frozenset(word for code in LANGUAGES for one in load_language(code)[:3] for word in one)


class _Shown:
    """What a text shows of its abbreviations and small words; looked for once, when first asked."""

    __slots__ = ("_abbreviations", "_language", "_lists", "_pointed", "_sample", "_small", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._language: str | None = None
        self._lists: Lists | None = None
        self._sample = text[:_LOOKED_AT]
        self._pointed: dict[str, int] | None = None
        self._abbreviations: dict[str, bool] = {}
        self._small: dict[str, bool] = {}

    @property
    def language(self) -> str:
        """The language of the text."""
        if self._language is None:
            self._language = detect_language(self.text)
        return self._language

    @property
    def lists(self) -> Lists:
        """The lists of the language of the text."""
        if self._lists is None:
            self._lists = load_lists(self.language)
        return self._lists

    def abbreviates(self, word: str) -> bool:
        """Whether the text writes a word with a point before a small letter, and hardly ever without a point."""
        if self._pointed is None:
            before = [m.start() for m in _BEFORE_SMALL.finditer(self.text)]
            self._pointed = Counter(_last_word(self.text, 0, point).lower() for point in before) if before else {}
        if word not in self._pointed:
            return False
        if word not in self._abbreviations:
            n = self._pointed[word]
            plain = n > 1 and len(word) < 12 and word.replace(".", "").isalpha()
            self._abbreviations[word] = plain and self._dots(word, n)
        return self._abbreviations[word]

    def _dots(self, word: str, small: int) -> bool:
        """Whether a word that stands `small` times before a small letter is nearly always written with a point."""
        every = re.compile(rf"(?<![\w.]){re.escape(word)}(\.(?= {{1,2}}\w))?(?!\w)", re.IGNORECASE)
        dotted = [bool(m[1]) for m in every.finditer(self._sample)]
        return small >= 0.2 * sum(dotted) and 2 * sum(dotted) >= len(dotted)

    def writes_small(self, word: str) -> bool:
        """Whether the text also writes a word, given in small letters, between blanks."""
        if word not in self._small:
            self._small[word] = len(word) > 2 and f" {word} " in self._sample
        return self._small[word]


def split_sentences(text: str, *, keep: bool = True, most: int | None = None) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, without surrounding white space and marks of lists and headings, in order.

    What holds no letter and no digit is no sentence; of Markdown, tags of HTML and pictures are white space. Spans of
    long texts are kept for a while, as each step of a build splits the same ones, unless `keep` is off. Where the
    first few are wanted, `most` at most, no others are looked for.
    """
    if len(text) < _LONG or not keep or most is not None:
        return _split_anew(text, most)
    ends = iter(_list_ends(text))
    return list(zip(ends, ends, strict=True))


@remember(1 << 13)  # some 3 MB
def _list_ends(text: str) -> array[int]:
    return array("I", chain.from_iterable(_split_anew(text)))


def _split_anew(text: str, most: int | None = None) -> list[tuple[int, int]]:
    if "<" in text or "![" in text:
        text = _MARKUP.sub(lambda m: m[0] if m["code"] else " " * len(m[0]), text)
    spans: list[tuple[int, int]] = []
    shown = _Shown(text)
    start = place = 0
    for candidate in _MAY_END.finditer(text):
        point, end = candidate.span()
        if point < place:
            continue
        if len(spans) == most:
            return spans
        if text[point] == "\n":
            _add_span(spans, text, start, point)
            start = place = end
        elif (plain := _PLAIN_END.match(text, point)) and _ends_word(text, start, point, shown):
            _add_span(spans, text, start, point + 1)
            start = place = plain.end()
        elif match := _END.match(text, point):
            place = match.end()
            wide = match.lastgroup == "wide"
            if wide or _ends_sentence(text, match, start, shown):
                _add_span(spans, text, start, place if wide else match.end("tail"))
                start = place
        elif run := _MARKS.match(text, point):  # what no blank follows ends nothing, from whichever mark of it
            place = run.end()
    if len(spans) != most:
        _add_span(spans, text, start, len(text))
    return spans


def _add_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    if start < end and text[start].isalnum() and not text[end - 1].isspace():  # as most are
        spans.append((start, end))
        return
    part = text[start:end].rstrip()
    lead = _LEADING.match(part)
    first = lead.end() if lead else 0
    if part[first : first + 1].isalnum() or any(map(str.isalnum, part[first:])):
        spans.append((start + first, start + len(part)))


def _ends_sentence(text: str, match: re.Match[str], start: int, shown: _Shown) -> bool:
    """Whether a sentence that began at `start` ends at these marks."""
    mark, behind = match["mark"], _NEXT.match(text, match.end())
    word = (behind[1] or "") if behind else ""
    point = match.start()
    if word[:1].islower() and not _ELIDED.match(text, match.end()):  # product names begin small too
        return _BRAND.match(word) is not None and _last_word(text, start, point).lower() not in shown.lists.never
    if not word:
        return text[match.end() : match.end() + 1] not in "&,;:)/»”’"
    if mark != ".":
        if mark[0] == "." or (low := word.lower()) not in _list_abbreviations():
            return True
        return low not in shown.lists.at_end
    before = _last_word(text, start, point)
    if not before:
        return True
    if _ends_at_point(text, before, word, start, point, shown):
        return True
    return len(before) == 1 and not {'"', "”", "’", "»", "“"}.isdisjoint(match["tail"])


def _ends_word(text: str, start: int, point: int, shown: _Shown) -> bool:
    """Whether a point stands behind a plain word that nobody abbreviates: so it ends a sentence before any capital."""
    if point - start < 12:
        return False
    word = _last_word(text, start, point)
    if len(word) < 2 or not (len(word) > 5 or word.islower()):
        return False
    low = word.lower()
    if not low.isalpha() or low in _list_abbreviations():
        return False
    return not (len(low) < 6 and _VOWELLESS.fullmatch(low)) and not shown.abbreviates(low)


def _ends_at_point(text: str, before: str, word: str, start: int, point: int, shown: _Shown) -> bool:
    """Whether the point behind the word `before` ends a sentence when `word` comes next."""
    low = before.lower()

    def opens() -> bool:
        return _opens_sentence(text, word, point, shown)

    base = low[1 + max(map(low.rfind, "-'’")) :]
    known = not _list_abbreviations().isdisjoint((low, base))  # else it need not be known which language it is
    never, at_end, final, *_ = shown.lists if known else _NO_LISTS
    plain = len(before) > 5 or (len(before) > 1 and before.islower())
    plain = plain and point - start > 11 and low.isalpha()  # a word, no number, initial or mark of a list
    if plain and not (low in never or low in at_end or low in final):
        return not (_VOWELLESS.fullmatch(low) or shown.abbreviates(low)) or opens()
    if point - start < 12 and _ENUMERATED.match(text[start : point + 1].strip(" \t#*>-")):
        return False
    if len(before) == 1 and before.isalpha():
        if before.islower():
            whole = f"{_last_word(text, start, point - 2).lower()}{low}" if text[point - 2] == " " else low
            lists = shown.lists
            if low in lists.final or whole in lists.final:
                return not word[0].isdigit()
            return opens() and word.lower() not in lists.never and (whole in lists.at_end or low not in lists.never)
        if before in _NAMED_BY_LETTER:
            return opens()
        return (
            opens() and word.lower() not in shown.lists.never and not _is_initial(text, start, point, word, shown.lists)
        )
    if low in final:
        return not word[0].isdigit()
    if (
        low in at_end
        or _VOWELLESS.fullmatch(low)
        or (low.count(".") and low not in never and len(low.replace(".", "")) <= 4 and not any(map(str.isdigit, low)))
    ):
        return opens() and text[point + 2 : point + 3] not in "(["
    if low in never or (base in never and len(base) > 1):
        if low in _ALSO_WORDS and not word[0].isdigit():
            return opens() and (before[0].islower() or low == "no")
        return False
    if shown.abbreviates(low) or (_VOWELLESS.fullmatch(low) and before[1:].islower()):
        return opens()
    if before[0].isupper() and len(before) < 6 and _REFERENCE.match(text, point + 1):
        return False
    if before.isdigit() and len(before) <= 2:
        ordinal = word.lower() in shown.lists.counted or shown.language in _ORDINAL  # may be one, if short
        return not word[0].isdigit() and (opens() or not ordinal)
    if _ROMAN.match(before):
        return opens() or word.lower() not in shown.lists.counted
    return True


def _last_word(text: str, start: int, end: int) -> str:
    """The word that ends at `end`, without what opens it."""
    at, low = end, max(start, end - _LOOKED_BACK)
    if (blank := text.rfind(" ", low, end)) >= 0 and (word := text[blank + 1 : end]).isascii() and word.isalpha():
        return word
    latin = end > 0 and text[end - 1] < "\u2e80"
    while at > low and text[at - 1] not in _BREAK and not (latin and text[at - 1] >= "\u2e80"):
        at -= 1
    return text[at:end].lstrip("'’*_`§")


def _opens_sentence(text: str, word: str, point: int, shown: _Shown) -> bool:
    """Whether a capitalised word is known to open sentences, or is a title or reference with a point of its own."""
    if not word[0].isupper():
        return False
    lower = word.lower()
    if lower in load_language("en").openers or lower in shown.lists.openers:
        return not (len(word) == 1 and text.startswith(f"{word}.", text.find(word, point)))
    stem = _CONTRACTED.sub("", lower)
    if (stem != lower and stem in shown.lists.openers) or shown.writes_small(lower):
        return True
    return len(word) > 1 and lower in shown.lists.never and text.startswith(f"{word}.", text.find(word, point))


def _is_initial(text: str, start: int, point: int, word: str, lists: Lists) -> bool:
    """Whether the capital before the point is a letter of a name: a capitalised name stands around it."""
    if text[point + 1 : point + 2] and re.match(r"\s*[^\W\d_]\.", text[point + 1 : point + 5]):  # "J. R. Tolkien"
        return True
    before = text[max(start, point - 24) : point - 1].rstrip()
    last = re.search(r"([^\W\d_]+)$", before)
    return last is not None and last[1][0].isupper() and word.lower() not in lists.openers


def balance_emphasis(text: str) -> str:
    """A piece of a text without a mark of emphasis (`**`, `__`, `*`) whose other end the piece does not hold."""
    for mark in ("**", "__", "*"):
        if mark not in text or text.count(mark) % 2 == 0:
            continue
        body = text.rstrip(_BEHIND)
        if body.endswith(mark):
            text = body.removesuffix(mark).rstrip() + text[len(body) :]
        elif text.startswith(mark) and text.count(mark) == 1 and mark != "__":  # names of programs begin with these
            text = text.removeprefix(mark).lstrip()
        elif mark == "**":
            place = text.rfind(mark)
            text = text[:place] + text[place + len(mark) :]
    return text
