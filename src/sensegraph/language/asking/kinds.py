"""Questions for all things of a kind ("Which bridges …", "How many members …"), and names that texts put beside it.

The kind is the noun that the question names, whatever it is; no list of kinds is needed. English and a little German.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sensegraph.language.text import WORD, fold, list_stems, tag_words
from sensegraph.language.word_lists import Patterns, read_patterns, stop_words

_PATTERNS = {name: "".join(lines) for name, lines in read_patterns("kinds").items()}
KIND_CUES = Patterns("kinds", re.IGNORECASE)
NUMBER = _PATTERNS["NUMBER"]
_ASKS = {name: re.compile(rf"^\W*{_PATTERNS[name]}", re.IGNORECASE) for name in ("counts", "lists")}
_GERMAN = re.compile(r"w(?:elche|ie\s?viele)", re.IGNORECASE)
_PLACES = re.compile(_PATTERNS["kinds of places"], re.IGNORECASE)
_BEFORE = 3  # words before the noun of a kind
_GERMAN_NOUN, _PLAIN = re.compile(r"([A-ZÄÖÜ][a-zäöüß]+?)(?:e[nr]?|n)"), {"ä": "a", "ö": "o", "ü": "u"}
_PLURALS = {"people": "(?:people|persons?)", "men": "m[ae]n", "women": "wom[ae]n", "children": "child(?:ren)?"}
_NO_PLURALS = frozenset("is was has does as this his its us yes plus thus always perhaps news series means".split())
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'-]*(?:\.\w[\w.-]*\b)*"
_NAME = (
    r"(?:[A-Z]{2,}[-_]?\d[\w-]*(?:\.\d+)*|"
    rf"{_CAPITAL}(?:\s+(?:(?:of|the|de|la|von|van|der|du|di)\s+){{0,2}}(?:{_CAPITAL}|\d+(?:\.\d+)*\b(?!\s*%)))*"
    r"|[“\"‘`]\w[^“”\"`\s]{0,30}(?:\s[^“”\"`\s]{1,20}){0,2}[”\"’`]_?)"
)
_GAP = r"(?:[,;]\s*(?:(?:and|or|und|oder)\s+)?|\s+(?:and|or|und|oder)\s+)(?:the\s+)?"
_LIST = rf"(?>(?:the\s+|an?\s+)?{_NAME}(?:\s\([^()]*\))?(?:{_GAP}{_NAME}(?:\s\([^()]*\))?)*)"
_ONE = re.compile(_NAME)
_JOINED = re.compile(r"^\s*(?:(?:and|or|und|oder)\s+)?(?:the\s+)?")
_LISTED = re.compile(rf"{_NAME}(?:(?:\s+in\s+\d{{4}})?{_GAP}{_NAME})*")
_OPENING, _SHORT = 6, 80  # lines at the beginning of a document, and characters of one that names its kind
_ABBREVIATIONS = re.compile(r"([A-Z]{2,})s")
_SERIES = re.compile(r"([A-Z]{2,}[-_ ]?)\d[\w.]*")


@dataclass(frozen=True)
class AskedKind:
    """A kind of things that a question asks for: its noun with the `words` before it, and the `rest` of the question.

    `counts` says that it asks how many there are.
    """

    words: tuple[str, ...]
    rest: str
    counts: bool = False

    @property
    def noun(self) -> str:
        """The noun of the kind."""
        return self.words[-1]

    @cached_property
    def pattern(self) -> str:
        """The noun in the singular and the plural, as part of an expression."""
        return write_noun_pattern(self.noun)

    @property
    def series(self) -> str:
        """The abbreviation of which the noun is the plural ("CVEs"), if it is one: with it begin names of its kind."""
        match = _ABBREVIATIONS.fullmatch(self.noun)
        return match[1] if match else ""

    @cached_property
    def mention(self) -> re.Pattern[str]:
        """Where the noun stands in a text."""
        return re.compile(rf"\b{self.pattern}\b", re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Whether a text has the noun in any form and spelling."""
        return not set(list_stems(self.noun)).isdisjoint(list_stems(text))

    def find_names(self, text: str) -> Iterator[tuple[str, bool]]:
        """The names that a text puts beside the noun, and whether they stand in an enumeration of several."""
        if not self.mention.search(text):
            return
        if self.series:
            found = re.findall(rf"(?<![\w-]){self.series}[-_ ]?\d\w*(?:[-_.:/]\w+)*", text)
            yield from ((name, len(found) > 1) for name in found)
        for several, rule in _write_rules(self.noun.casefold(), self.pattern, _PLACES.fullmatch(self.noun) is not None):
            for match in rule.finditer(text):
                found = [m[0] for m in _ONE.finditer(match["list"])]
                if match.end("list") == match.end():  # "A, which …; B, which …; and C"
                    behind = text[match.end() :].split(".")[0].split(";")[1:]
                    found += [m[0] for part in behind if (m := _ONE.match(_JOINED.sub("", part)))]
                names = [n for name in found if (n := _trim_name(name)) and not self.mention.fullmatch(n)]
                if len(names) > several:
                    yield from ((name, len(names) > 1) for name in names)


def read_asked_kind(question: str) -> AskedKind | None:
    """The kind of things that a question asks for all of; None where it asks for something else."""
    text = " ".join(question.split()).strip(" ?？.!")
    for asks, rule in _ASKS.items():
        if not (match := rule.match(text)):
            continue
        words, stop = match["rest"].split(), stop_words("xx")
        for i, word in enumerate(words[: _BEFORE + 1]):
            bare = word.strip(",;:'’\"“”")
            if bare.casefold() in stop or not bare or (word != bare and i < len(words) - 1 and not is_plural(bare)):
                break
            if asks == "lists":
                letters = tag_words([w.strip(",;:'’\"“”").casefold() for w in words]) + "."
                if letters[i] == "v" and letters[i + 1] not in "vmoip":
                    break  # "which lake feeds the canal"
            if is_plural(bare) or (_GERMAN.match(text) and _GERMAN_NOUN.fullmatch(bare)):
                end = i
                while end + 1 < len(words) and is_plural(words[end + 1]) and words[end] == words[end].strip(",;:"):
                    end += 1
                kind = tuple(w.strip(",;:'’\"“”") for w in words[: end + 1])
                return AskedKind(kind, " ".join(words[end + 1 :]), asks == "counts")
        return None
    return None


def list_opening_lines(text: str) -> list[str]:
    """The short lines at the beginning of a document, of which one may say of what kind it is."""
    return [line for line in text.split("\n")[:_OPENING] if len(line) < _SHORT]


def read_document_kind(question: str) -> AskedKind | None:
    """The kind of documents that a question asks for ("Which documents are contracts?"); None for other questions."""
    match = KIND_CUES["documents of a kind"].match(" ".join(question.split()))
    words = (match["a"] or match["b"]).split() if match else []
    return AskedKind(tuple(words), "") if words and len(words) <= _BEFORE and is_plural(words[-1]) else None


def asks_for_several(question: str) -> bool:
    """Whether a question asks for things of a kind, for their number, or for what somebody agreed to or decided."""
    return read_asked_kind(question) is not None or KIND_CUES["promises"].search(question) is not None


def write_noun_pattern(noun: str) -> str:
    """An expression for a noun in the singular and the plural, from its plural."""
    word = noun.casefold()
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("ies") and len(word) > 4:
        return rf"{re.escape(word[:-3])}(?:y|ies)"
    if re.search(r"(?:ch|sh|ss|x|z)es$", word):
        return rf"{re.escape(word[:-2])}(?:es)?"
    if _GERMAN_NOUN.fullmatch(noun):
        stem = re.sub("[äöü]", lambda m: f"[{m[0]}{_PLAIN[m[0]]}]", _GERMAN_NOUN.fullmatch(noun)[1].casefold())  # type: ignore[index]
        return f"{stem}(?:e[nrs]?|n|s)?"
    return rf"{re.escape(word.removesuffix('s'))}s?"


def find_list(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The names in a text with where they begin and end, those that commas and "and" join as one."""
    for match in _LISTED.finditer(text):
        if names := tuple(filter(None, (_trim_name(m[0]) for m in _ONE.finditer(match[0])))):
            yield text.index(names[0], match.start()), match.end(), names


def find_series(name: str) -> str:
    """What names of the same series begin with: "INC-" for "INC-014"; empty where a name is of none."""
    match = _SERIES.fullmatch(name)
    return match[1] if match else ""


def is_plural(word: str) -> bool:
    """Whether a word is written as an English plural."""
    plain = word.casefold()
    if plain in _PLURALS:
        return True
    ends = plain.endswith("s") and not plain.endswith(("ss", "us", "is", "'s", "’s")) and len(plain) > 3
    return ends and plain not in _NO_PLURALS and plain not in stop_words("xx")


@lru_cache(maxsize=64)
def _write_rules(plural: str, noun: str, place: bool) -> tuple[tuple[bool, re.Pattern[str]], ...]:
    """The rules for names beside a noun, and whether they are sure of several names only."""
    rules = [(name.startswith("several"), lines) for name, lines in _PATTERNS.items() if "names " in name]
    if place:
        rules.append((False, r"\bNOUN\s+of\s+(?P<list>NAME)"))
    parts = {"NOUN": f"(?i:{noun})", "SMALL": noun, "PLURAL": f"(?i:{re.escape(plural)})", "LIST": _LIST, "NAME": _NAME}
    return tuple((several, re.compile(re.sub("[A-Z]{4,}", lambda m: parts.get(m[0], m[0]), r))) for several, r in rules)


def _trim_name(name: str) -> str:
    """A name without quotation marks, and without function words at its beginning; empty where nothing is left."""
    if name[0] in '“"‘`':
        return name.strip("“”\"‘’`_'")
    words = re.sub(r"['’]s$", "", name.strip("”’`_'.-")).split()
    stop = stop_words("xx")
    while words and (words[0].casefold() in stop or not WORD.match(words[0])):
        words.pop(0)
    return " ".join(words) if words and len(fold(" ".join(words))) > 1 else ""
