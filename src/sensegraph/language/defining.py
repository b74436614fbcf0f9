"""What questions ask for when they ask what somebody or something is, and how much a sentence tells of that.

A name is looked for in all its writings: with middle names, nicknames, a plural. For the patterns it is replaced by a
sign, so that they are the same for all names (`data/patterns/definitions.txt`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from sensegraph.language.naming_words import HONORIFICS
from sensegraph.language.text import HAN, fold
from sensegraph.language.word_lists import STOP, read_patterns, read_sections

_SECTIONS = read_sections("patterns/definitions")
_ASKS = [re.compile(rf"^\W*{line}\W*$", re.IGNORECASE) for line in _SECTIONS["asks what"]]
_BEFORE = re.compile(rf"^{_SECTIONS['asks before'][0]}(?=\S)", re.IGNORECASE)
_STANDS_FOR = frozenset(_SECTIONS["asks more"][0].split("|"))
_ELSE = [re.compile(line) for line in _SECTIONS["asks else"]]
_LOOSE = re.compile(_SECTIONS["asks loosely"][0])
_ALIAS = r"(?:[A-ZÀ-Þ][\w.&’'-]*\w(?:\s(?:(?:of|the|and|de|von)\s)?[A-ZÀ-Þ][\w.&’'-]*\w){0,4})"
CUE_WORDS = tuple(_SECTIONS["cue words"][0].split())
"""Words that stand in texts that present somebody or something."""

_MENTIONS = re.compile("".join(read_patterns("kinds")["mentions"]), re.IGNORECASE)

_ASKS_WHO = r"\W*(?:who|wer|qui|c['’]est\s+qui|¿?\s*qui[eé]n|(?:which|what)\s+(?:people|persons)\b)"
SIGN = "@"
_LONGEST = 8  # words of a name that is asked for
_QUALIFIED = re.compile(r"^(.*\S)\s*\(([^()]+)\)$|^([^,]+),\s+([^,]+)$")
_MIDDLE = r"(?:(?-i:[A-ZÀ-Þ][\w.’'-]*)|[\"“‘(][^\"”’()]{1,30}[\"”’)])"
_MARKS = re.compile(r"[^\w]+")
_LEADS = re.compile(r"^\W*(?:he|she|it|they|er|sie|es|il|elle|él|ella)\s*,\s+", re.IGNORECASE)
_OWNED = re.compile(rf"{SIGN}(['’]s?\b)")
_CIRCULAR = re.compile(rf"{SIGN}\W?\s(?:is|are|was|were)\s(?:an?|the)\s(?:\w+\s){{0,2}}{SIGN}")
_CLOSED = re.compile(r"[?？]\W*$")

BARE = 0.4
"""What a sentence tells of a name where it only names it."""
OUTRIGHT = 1.2
"""What a sentence tells from which it says something of what the name stands for."""


@dataclass(frozen=True)
class AskedName:
    """A name that a question asks about, without articles.

    `asked` has them; `qualifier` is what stands behind it in brackets or behind a comma; `person` says that the
    question asks who; `loose` that the words may be no name: they count as one only where a text says what they are.
    """

    text: str
    qualifier: str = ""
    person: bool = False
    loose: bool = False
    asked: str = ""

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The first and the last word of what may be a person's name, as they are written in one."""
        words = (self.text.title() if self.text.islower() else self.text).split()
        fit = len(words) in (2, 3) and all(w[:1].isupper() and w.isalpha() and len(w) > 2 for w in words)
        return (words[0], words[-1]) if fit else ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Where it stands in a text, in any writing."""
        words = re.split(r"[\s-]+", self.text)
        parts = [re.sub("['’]", "['’]", re.escape(w)) for w in words]
        if words[-1][-1:].isalpha() and not HAN.search(self.text):
            if re.search(r"(?:s|x|z|ch|sh)es$", words[-1]):  # the singular and the plural, whichever it is
                parts[-1] = f"{parts[-1][:-2]}(?:es)?"
            else:
                parts[-1] += "?" if words[-1].endswith("s") and not words[-1].endswith("ss") else "(?:e?s)?"
        between = r"[\"”’]?[\s-]+[\"“‘]?"
        if len(parts) == 2 and min(map(len, words)) > 1:
            between = rf"[\"”’]?(?:\s+{_MIDDLE}){{0,3}}[\s-]+[\"“‘]?"
        whole = between.join(parts)
        if HAN.search(self.text):
            return re.compile(whole)
        return re.compile(rf"(?<![\w-]){whole}(?![\w]|-\w)", re.IGNORECASE)

    def entitles(self, title: str) -> bool:
        """Whether a text with this title is about it."""
        if not title:
            return False
        whole = _plain(title)
        if self.qualifier and whole == _plain(f"{self.text} {self.qualifier}"):
            return True
        qualified = _QUALIFIED.match(title)
        base = _plain((qualified[1] or qualified[3]) if qualified else title)
        return _plain(self.text) in (whole, base)

    def choose_writing(self, mentions: Iterable[re.Match[str]]) -> Writing:
        """How it is written where it stands: other words may be written alike but for capitals."""
        seen = [(m[0], m.start()) for m in mentions]
        if self.text.isupper() and len(self.text) > 1 and any(found == self.text for found, _ in seen):
            return Writing(self, exact=True)
        inside = [found[:1].isupper() for found, start in seen if start > 2]
        large = self.text[:1].isupper() and any(found[:1].isupper() for found, _ in seen)
        return Writing(self, capital=large or (bool(inside) and 2 * sum(inside) > len(inside)))


@dataclass(frozen=True)
class Writing:
    """How a name is written in a corpus: with a `capital`, or `exact` as it was asked for; else in any way."""

    name: AskedName
    capital: bool = False
    exact: bool = False

    def admits(self, mention: str) -> bool:
        """Whether this is the name, and not a word that is written alike but for capitals."""
        return mention == self.name.text if self.exact else mention[:1].isupper() or not self.capital

    def mask(self, text: str) -> str:
        """`text` with the sign for the name; the same text where it does not stand there."""
        found = [m.span() for m in self.name.pattern.finditer(text) if self.admits(m[0])]
        return _replace_spans(text, found)

    def mask_parts(self, text: str, parts: Sequence[str]) -> str:
        """`text` with the sign for parts of the name that stand for it."""
        if not parts:
            return _replace_spans(text, [])
        parts = "|".join(map(re.escape, parts))
        found = re.finditer(rf"(?<![\w-])(?:{parts})(?![\w-]|\s+[A-ZÀ-Þ][a-z])", text)
        return _replace_spans(text, [m.span() for m in found])


def read_asked_name(question: str) -> AskedName | None:
    """The name that a question asks the meaning or nature of; None where it asks for something else."""
    question = " ".join(question.split())
    asked = _CLOSED.sub("", question).strip(" .!¡¿")
    match = next((match for rule in _ASKS if (match := rule.match(asked))), None)
    if match is None:
        return None
    asking = match.groupdict()
    found = _LEADS.sub("", next(g for g in match.groups() if g is not None)).strip(" .,:;")
    quoted = re.fullmatch(r"[\"“”‘'«»„](.+)[\"“”’'«»]", found)
    bare = quoted[1].strip() if quoted else found
    led = re.search(r"\bthe\s+" + re.escape(bare), question) is not None
    while match := _BEFORE.match(bare):
        if match[0][0].isupper() and match[0].split()[0] not in ("The", "A", "An"):  # "La Paz"
            break
        led = led or match[0].casefold().strip() in ("the", "der", "die", "das", "le", "la", "el")
        bare = bare[match.end() :]
    qualified = _QUALIFIED.match(bare)
    base, qualifier = bare, ""
    if qualified:
        base, qualifier = (qualified[1] or qualified[3]).strip(), (qualified[2] or qualified[4]).strip()
    base = base.strip(' .,:;"“”')
    if not base or len(base.split()) > _LONGEST or (fold(base) in _STANDS_FOR and not base.isupper()):
        return None
    if not quoted and any(rule.search(base) for rule in _ELSE):
        return None
    small = base[:1].islower()
    loose = not quoted and ((small and led) or (_LOOSE.search(base) is not None and (small or "s " in base)))
    loose = loose or "loosely" in asking
    whole = re.search(r"\b(?:an?|the)\s+" + re.escape(found), question, re.IGNORECASE)
    person = re.match(_ASKS_WHO, question, re.IGNORECASE) is not None
    return AskedName(base, qualifier, person or "是谁" in question, loose, whole[0] if whole else found)


def read_mentioned_name(question: str) -> AskedName | None:
    """The name of which a question asks which documents mention it, or how many; None for other questions."""
    match = _MENTIONS.search(" ".join(question.split()))
    name = re.sub(r"^(?:the|an?|der|die|das)\s+", "", match["name"].strip(' .,:;"“”')) if match else ""
    return AskedName(name, asked=name) if name and len(name.split()) <= _LONGEST else None


@cache
def _compile_rules(section: str) -> list[re.Pattern[str]]:
    """The patterns of a section; many, so that they are compiled when they are first asked for."""
    return [re.compile(line.replace("ALIAS", _ALIAS)) for line in _SECTIONS[section]]


def rate_statement(masked: str) -> tuple[float, str]:
    """How much a sentence tells of what the sign in it stands for, and by which kind of words; BARE for none."""
    if SIGN not in masked:
        return 0.0, ""
    masked = _OWNED.sub("\\1", masked)
    for section in _SECTIONS:
        if section.startswith("text ") and any(rule.search(masked) for rule in _compile_rules(section)):
            _, weight, kind = section.split()
            return int(weight) / 10, kind
    return BARE, ""


def rate_mention(name: AskedName, text: str) -> float:
    """How much a sentence tells of what a name stands for, less where it is no statement by itself."""
    masked = Writing(name).mask(text)
    weight, _ = rate_statement(masked)
    return weight * rate_fitness(masked)


def rate_fitness(masked: str, kind: str = "") -> float:
    """1, or less for a sentence that is no statement by itself; of a `kind` that needs no verb it may be short.

    It is too short or long, a question, unclear whose, or says a name by the name.
    """
    words = masked.split()
    value = 0.4 if len(words) < (2 if kind in _VERBLESS else 4) else 0.6 if len(words) > 60 else 1.0
    value *= 0.4 if _CIRCULAR.search(masked) else 1.0
    value *= 0.2 if masked.rstrip("\"'”’»)").endswith(("?", "？")) else 1.0
    return value * (0.6 if words and words[0].casefold().strip(",") in _UNCLEAR else 1.0)


_VERBLESS = ("entry", "apposition", "role")
_UNCLEAR = _STANDS_FOR | frozenset(_SECTIONS["unclear"][0].split())


def find_longer_names(name: AskedName, texts: Iterable[str]) -> list[str]:
    """The names of two words that a name is part of, or begins like, the commonest first; few at most.

    "Sam" is part of "Sam Orr" and "Sam Lund", and "Sam Orr" begins like "Samuel Orr" and "Samantha Orr".
    """
    words = name.text.split()
    if len(words) == 2 and len(words[0]) > 2 and name.text.replace(" ", "").isalpha():
        spelt = re.compile(rf"(?<![\w-])((?i:{words[0]})[a-zß-ÿ]+)\s+((?i:{words[1]}))(?![\w-])")
        full = Counter(f"{m[1]} {m[2]}".title() for text in texts for m in spelt.finditer(text) if m[0][0].isupper())
        return [longer for longer, _ in sorted(full.items(), key=lambda x: (-x[1], x[0]))][:_BEARERS]
    if len(words) > 1 or HAN.search(name.text):
        return []
    part = re.escape(name.text)
    behind, before = r"\s+([A-ZÀ-Þ][\w’-]+)", r"\b([A-ZÀ-Þ][\w’-]+)\s+"
    shape = re.compile(rf"(?<![\w-])(?i:{part}){behind}|{before}(?i:{part})(?![\w-]|\s+[A-ZÀ-Þ])")
    written = name.text.title() if name.text.islower() else name.text
    found: Counter[str] = Counter()
    for text in texts:
        for match in shape.finditer(text):
            other = re.sub(r"['’]s$", "", match[1] or match[2])
            if other.casefold() not in _COMMON and match[0][:1].isupper() and len(other) > 1:
                other = other.title() if other.isupper() and len(other) > 3 else other
                found[f"{written} {other}" if match[1] else f"{other} {written}"] += 1
    ranked = sorted(found.items(), key=lambda x: (-x[1], x[0]))
    return [longer for longer, times in ranked if times > 1][:_BEARERS]


_COMMON = frozenset(word for words in STOP.values() for word in words) | HONORIFICS
_BEARERS = 3


def is_borne_otherwise(part: str, first: bool, words: Sequence[str], text: str) -> bool:
    """Whether a part of a name stands in a text with another name behind it, or before it where it is the last."""
    own = {word.casefold() for word in words}
    for match in re.finditer(rf"\b{re.escape(part)}\b", text):
        before = text[max(0, match.start() - 30) : match.start()]
        other = _NEXT.match(text, match.end()) if first else _LAST.search(before)
        if other and other[1].casefold().removesuffix("'s").removesuffix("’s") not in own:
            return True
    return False


_NEXT, _LAST = re.compile(r"\s+([A-ZÀ-Þ][\w’'-]+)"), re.compile(r"\b([A-ZÀ-Þ][\w’'-]+)\s+$")


def find_other_names(masked: str, person: bool = False) -> Iterator[str]:
    """What a sentence says that the sign in it is also called; behind a `person` brackets hold an office."""
    for rule in [*_compile_rules("alias called"), *(() if person else _compile_rules("alias in brackets"))]:
        for match in rule.finditer(masked):
            if SIGN not in match["alias"]:
                yield re.sub(r"^(?:The|A|An)\s", "", match["alias"].strip(" .,'’"))


def _plain(text: str) -> str:
    """`text` in small letters without marks and articles at its beginning."""
    words = _MARKS.sub(" ", fold(text)).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words)


def _replace_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` with the sign in place of these spans, its own signs blanked."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start].replace(SIGN, " "), SIGN]
        at = end
    return "".join((*parts, text[at:].replace(SIGN, " ")))
