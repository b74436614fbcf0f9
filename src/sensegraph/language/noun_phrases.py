"""Phrases that name things: noun phrases by cheap rules (lazygraphrag §2), the names of a document, and plurals.

No model and no tagger reads the text, so that an index costs no more than one of vectors. English is told best; of
other languages in Latin letters the runs between function words are taken (in German nouns show themselves), of other
scripts with blanks the pairs of long words, of Chinese and Japanese the runs between particles.

Letters of a word: P capital · Q capital that a sentence may account for · A the same, but names begin so too · N other
word of content · J adjective by its ending · g in -ing · p in -ed · d determiner or possessive · o of another script ·
, break · . break at a sentence's end
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Literal

from sensegraph.language import word_lists
from sensegraph.language.text import name_stemmer

OneWord = Literal["none", "proper"]

_TOKEN = re.compile(  # blanks and plain words are told at once: most of a text is those
    r"(?! )(?:[A-Za-z]++(?=[ ,.])|[^\W_]++(?:[-'’&](?!s\b)[^\W_]++)*+|['’]s\b|\n(?=\s{0,16}[^a-z\s])|[^\w\s]|_)"
)
_ENDING = frozenset('.!?:;\n"“”…•·')
_POSSESSIVE = ("'s", "’s")
_OTHER = re.compile(r"[^\u0000-\u024f\u1e00-\u1eff’]")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff]")
_MET = 1 << 16  # words whose letters are kept
_MOST = 4  # words of a phrase: what is longer is a list, a heading, or no phrase at all
_RUN = re.compile(r"[NJPgp](?:(?<=[NJP])|(?<=d[gp])(?=[NJP]))[NJP]*")  # one class first, as it is found soonest
_NAME = re.compile(r"P{2,}")
_OPENING = re.compile(r"(^|\.)(?:Q|A(?!P))")
_ALONE = re.compile(r"(?<=[^.NJPgp])P(?![NJPgp])")
_PAIR = re.compile(r"(?=oo)")
_GERMAN = re.compile(r"N?P+")
_DETERMINERS = frozenset("a an the this that these those my your his her its our their whose each every some".split())
_ADJECTIVE = re.compile(r"(?:ous|ful|less|able|ible|ive|ical|ish|est|ary)$")
_INFLECTED = re.compile(r"(?:e|en|er|es|em)$")
_COMPOUND = 10  # letters from which a German noun is taken to be made of two
# Particles, pronouns and the commonest verbs of Chinese, and the letters that Japanese writes its endings in.
_PARTICLE = re.compile(
    r"[\u3040-\u309f的了是在和与與及或也都就而但被把从從对對于於以为為等这這那有他她它们們我你您一不个個之其所并並由将將使让讓"
    r"到给給向很还還又再只没沒说說年月日后後前中上下着過过来來去如若因则則且即每各某该該此何谁誰什么麼吗嗎呢吧啊]"
)
_HAN = re.compile(r"[\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_HAN_LENGTHS = range(3, 9)  # characters: two are mostly one word


_LISTS = word_lists.read_lexicon("phrases")
_NOUNS_IN_ING = _LISTS["nouns-in-ing"]  # a phrase may end in one: machine learning
_NOUNS_IN_LY, _NOUNS_IN_ED = _LISTS["nouns-in-ly"], _LISTS["nouns-in-ed"]
_SAYING_LITTLE = _LISTS["saying-little"]  # they break a phrase unless they are part of a name: New York
_NAMING, _GERMAN_LITTLE = _LISTS["naming"], _LISTS["german-little"]
# They break a phrase with a capital too.
_NEVER = _LISTS["never"].union(word_lists.ENGLISH_MONTHS, word_lists.ENGLISH_WEEKDAYS)


_TO_IES = re.compile(r"[^aeou]y$")
_PRESENT_FORMS = frozenset(  # some of which do not exist: those do no harm
    form
    for verb in _LISTS["verbs"]
    for form in (verb, f"{verb[:-1]}ies" if _TO_IES.search(verb) else f"{verb}s", f"{verb}es")
)
_BREAKING = _LISTS["verb-forms"] | (_PRESENT_FORMS - _NOUNS_IN_ING)


class Reader:
    """Reads noun phrases, also those of `one_word`."""

    def __init__(self, one_word: OneWord = "none") -> None:
        self._proper = one_word == "proper"

    def phrases(self, text: str) -> tuple[str, ...]:
        """The distinct noun phrases of `text`, folded, in the order of their first places."""
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        words = _TOKEN.findall(plain)
        spoken = name_stemmer(plain)
        letters = "".join(map(_read_letters(spoken).__getitem__, words))
        found = list(self._read(words, _OPENING.sub(r"\1,", letters).replace("Q", "P").replace("A", "P"), spoken))
        if not plain.isascii() and _HAN.search(plain):  # runs between particles, as long as two words or three
            runs = (run for piece in _PARTICLE.split(plain) for run in _HAN.findall(piece))
            found += [run for run in runs if len(run) in _HAN_LENGTHS]
        return tuple(dict.fromkeys(phrase.casefold() for phrase in found))

    def _read(self, words: list[str], letters: str, spoken: str) -> Iterator[str]:
        """The phrases of runs of letters, then single proper nouns, then pairs of words of other scripts."""
        if spoken == "german":
            for match in _GERMAN.finditer(letters):
                begin, end = match.span()
                # A long noun is taken to be made of two, unless the sentence accounts for its capital.
                compound = len(words[begin]) >= _COMPOUND and begin > 0 and letters[begin - 1] != "."
                if compound if end - begin == 1 else end - begin <= _MOST:
                    yield " ".join(words[begin:end])
        else:
            for match in _RUN.finditer(letters):
                # Each name of a run, and what stands between names: two words at least, the last one a noun.
                first, last = match.span()
                if last - first < 2:
                    continue
                cuts = [place for name in _NAME.finditer(letters, first, last) for place in name.span()]
                for begin, end in pairwise([first, *cuts, last]) if cuts else ((first, last),):
                    if 2 <= end - begin <= _MOST and letters[end - 1] not in "Jgp":
                        yield " ".join(words[begin:end])
        if self._proper:
            yield from (words[m.start()] for m in _ALONE.finditer(letters))
        if "oo" in letters:
            yield from (" ".join(words[m.start() : m.start() + 2]) for m in _PAIR.finditer(letters))


class _Letters(dict[str, str]):
    """Word → letter, in one language; decided when a word is first met, and kept for a while."""

    def __init__(self, spoken: str) -> None:
        super().__init__()
        self._spoken, self._stop = spoken, word_lists.STOP[spoken]

    def __missing__(self, word: str) -> str:
        if len(self) >= _MET:
            self.clear()
        letter = self[word] = self._letter(word)
        return letter

    def _letter(self, word: str) -> str:
        lower = word.casefold()
        if not word[0].isalpha():
            if word in _POSSESSIVE:
                return "d"
            if word in _ENDING:
                return "."
            return "N" if word[0].isdigit() and word[1:].isupper() else ","
        if lower in self._stop or len(word) == 1:
            return "d" if lower in _DETERMINERS else ","
        if _OTHER.search(word):
            return "," if _SPACELESS.search(word) or len(word) < 4 else "o"
        if self._spoken == "german":
            if lower in _GERMAN_LITTLE:
                return ","
            return "P" if word[0].isupper() else "N" if _INFLECTED.search(word) else ","
        if self._spoken != word_lists.ENGLISH:
            return "P" if word[0].isupper() else "," if "'" in word or "’" in word else "N"
        if "'" in lower or "’" in lower or lower in _BREAKING or lower in _NEVER:
            return ","
        letter = self._by_ending(lower)
        if word.islower():
            return letter
        return "P" if letter in "NJ" else "A" if lower in _NAMING else "Q"

    def _by_ending(self, word: str) -> str:
        """The letter of a lower-case English word, by its ending where no list holds it."""
        if word in _SAYING_LITTLE or (word.endswith("ly") and word not in _NOUNS_IN_LY):
            return ","
        if "-" in word:
            return "N"
        if word.endswith("ing") and word not in _NOUNS_IN_ING:
            return "g"
        if word.endswith("ed") and word not in _NOUNS_IN_ED:
            return "p"
        return "J" if _ADJECTIVE.search(word) else "N"


_read_letters = cache(_Letters)


# ── the names that a document bears ───────────────────────────────────────────────────────────────────────────────────

# Its title, what stands over its parts, and what its first sentences call it: the owned names of the walk. A passage
# that mentions one leads to the document that bears it.

_MONTH = f"(?:{'|'.join(map(str.title, word_lists.ENGLISH_MONTHS))})"
_BORN, _KNOWN, _LEAD, _HASHES, _PLAIN, _PARTED = (
    re.compile("".join(lines)) for lines in word_lists.read_patterns("own_names", MONTH=_MONTH).values()
)
_MOST_WORDS = 8  # words of a heading or of a lead name


def list_title_names(title: str) -> list[str]:
    """The names in a title: without its parenthesis, and the part before a comma."""
    title = title.strip()
    begin = title.find("(", title.rfind(")", 0, len(title) - 1) + 1) if title.endswith(")") else -1
    whole = (title[:begin].rstrip() if begin >= 0 else title) or title
    part = whole.partition(",")[0].strip()
    return [name for name in dict.fromkeys((whole, part)) if name]


def find_lead_name(opening: str) -> str:
    """What a text without a title begins by speaking of: the subject of its first sentence; may be empty."""
    found = _LEAD.match(opening)
    if not found:
        return ""
    words = found[1].split()
    return found[1] if len(words) <= _MOST_WORDS and words[0].casefold() not in _LISTS["no-lead"] else ""


def find_aliases(opening: str) -> list[str]:
    """Other names that the first sentences give to what they speak of."""
    found: list[str] = []
    if born := _BORN.match(opening):  # the name before a date of birth, and its first and last word
        words = born[1].replace(",", " ").split()
        if len(words) <= _MOST_WORDS and "known" not in words:
            found += [born[1], f"{words[0]} {words[-1]}"] if len(words) > 2 else [born[1]]
    for known in _KNOWN.finditer(opening):
        before = opening[: known.start()].rsplit(None, 1)[-1:]
        if before and before[0].casefold().strip("(,") in _LISTS["also-named"]:
            name = re.split(r"\s(?:or|and|is|was|in|for|from)\s", known[1])[0].strip(" '\"`")
            if len(name.split()) <= _MOST_WORDS:
                found.append(name)
    return list(dict.fromkeys(found))


def find_headings(text: str) -> list[str]:
    """The headings in a text: lines marked with #, or short lines without a stop that stand over a paragraph."""
    found = list(_HASHES.finditer(text)) if "#" in text else []
    if "\n" in text:  # the text may begin with one, the others stand below an empty line
        found += [first] if (first := _PLAIN.match(text)) else []
        found += _PARTED.finditer(text, first.end() if first else 0)
    names = [name for _, name in sorted((m.start(1), m[1]) for m in found)]
    kept = [name.strip(" *_") for name in names if len(name.split()) <= _MOST_WORDS]
    return list(dict.fromkeys(n for name in kept for n in list_title_names(name)))


# ── types of things as plural nouns: "organizations", "people" ────────────────────────────────────────────────────────

_PLURALS = word_lists.read_sections("lexicons/plurals")
_NO_KIND, _SAME = (frozenset(" ".join(_PLURALS[section]).split()) for section in ("no-kind", "same"))
_IRREGULAR = word_lists.read_forms(_PLURALS["irregular"])
_OF = re.compile(r"(\w+)( (?:of|in|for|at|on|to|by|with) .+)")


def pluralize(kind: str) -> str:
    """The plural of an English type, in small letters; "" where it is none ("other") or no words of Latin script.

    Of several words the last is put in the plural, or the one before "of": "works of art".
    """
    words = " ".join(kind.casefold().replace("_", " ").split())
    if not words or words in _NO_KIND or not re.fullmatch(r"[a-z][a-z /&-]*", words):
        return ""
    if words in _IRREGULAR:
        return _IRREGULAR[words]
    if match := _OF.fullmatch(words):
        return pluralize(match[1]) + match[2]
    before, blank, last = words.rpartition(" ")
    return f"{before}{blank}{_noun(last)}"


@cache
def _noun(word: str) -> str:
    """The plural of one noun."""
    head, mark, last = word.rpartition("/") if "/" in word else word.rpartition("-")
    if mark:
        return f"{_noun(head) if mark == '/' else head}{mark}{_noun(last)}"
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _SAME or (word.endswith("s") and not word.endswith(("ss", "us", "is", "as", "os"))):
        return word
    if word.endswith("is"):
        return f"{word[:-2]}es"
    if word.endswith(("man", "men")) and word not in ("human", "german", "roman", "ottoman"):
        return f"{word[:-3]}men"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}{'es' if word.endswith(('s', 'x', 'z', 'ch', 'sh')) else 's'}"


def find_commonest_type(counts: Mapping[str, int]) -> str:
    """The commonest of some types, of equally common ones the first by name; "" where there is none."""
    return min(counts, key=lambda kind: (-counts[kind], kind), default="")
