"""The word lists of the package, each read once from its file under `data/`; a file's first line says where it is from.

`data/languages/` holds a file for each language, with a section for each list. Its stop words are one list: those that
are left out wherever words are counted, and behind them those that only some leave out (`search`: the terms that texts
are found by, `reports`: what the offline engine counts, `names`: what a name never consists of). `data/words/` holds
single lists, `data/lexicons/` files of several lists with a section each.
The names of months and weekdays stand here: every pattern and list that needs them is derived from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "cs", "da", "sv", "ru")
"""The languages with a file of lists; English first, which wins a tie."""
ENGLISH = "english"
SNOWBALL: Mapping[str, str] = MappingProxyType(
    {"en": ENGLISH, "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese", "nl": "dutch"}
)
"""The languages with stop words, and what Snowball calls them."""


def read_lines(path: str) -> list[str]:
    """The lines of the file `data/<path>.txt` without its remarks, which begin with "#"."""
    text = files(__package__).joinpath(f"data/{path}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def read_words(path: str) -> frozenset[str]:
    """All words of the file `data/<path>.txt`."""
    return frozenset(" ".join(read_lines(path)).split())


def read_sections(path: str) -> dict[str, list[str]]:
    """The lines of each section of the file `data/<path>.txt`, in order: a section begins with its name in brackets."""
    found: dict[str, list[str]] = {}
    for line in read_lines(path):
        if line[:1] == "[" and re.fullmatch(r"\[[\w -]+\]", line):
            found[section := line.strip("[] ")] = []
        else:
            found[section].append(line)
    return found


def read_cues(name: str) -> str:
    """A section of `data/lexicons/questions.txt` as one verbose pattern; `{SECTION}` stands for another of them."""
    sections = read_sections("lexicons/questions")
    return re.sub(r"\{([A-Z]+)\}", lambda part: "\n".join(sections[part[1].lower()]), "\n".join(sections[name]))


def list_stop_words(language: str, use: str) -> frozenset[str]:
    """The stop words of a language, given as its code, for `search`, `reports` or `names`."""
    sections = read_sections(f"languages/{language}")
    named = [lines for name, lines in sections.items() if name == "stop-words" or f"-{use}" in name]
    return frozenset(" ".join(line for lines in named for line in lines).split())


def read_patterns(name: str, **parts: str) -> dict[str, list[str]]:
    """The lines of each section of `data/patterns/<name>.txt`; `<PART>` stands for a part, or a section before it."""
    found = {}
    for section, lines in read_sections(f"patterns/{name}").items():
        found[section] = [re.sub("<([A-Z]+)>", lambda part: parts[part[1]], line) for line in lines]
        parts[section] = "".join(found[section])
    return found


class Patterns(dict[str, re.Pattern[str]]):
    """The sections of `data/patterns/<name>.txt` as patterns, each compiled when it is first asked for."""

    def __init__(self, name: str, flags: int = 0, **parts: str) -> None:
        self._lines, self._flags = read_patterns(name, **parts), flags

    def __missing__(self, section: str) -> re.Pattern[str]:
        found = self[section] = re.compile("".join(self._lines[section]), self._flags)
        return found


def read_table(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Lines of the form "name: word word …"."""
    for line in lines:
        name, _, words = line.partition(": ")
        yield name, words.split()


def read_forms(lines: Iterable[str]) -> Mapping[str, str]:
    """The name that each form stands for, from lines such as "name: form, other form"."""
    named = (line.split(": ") for line in lines)
    return MappingProxyType({form: name for name, forms in named for form in forms.split(", ")})


def compile_lowered(pattern: str) -> re.Pattern[str]:
    """A pattern for which case does not count, to be tried on what `lower_case` returns: two to five times as fast."""
    return re.compile(lower_pattern(pattern))


def lower_pattern(pattern: str) -> str:
    """A pattern as `compile_lowered` makes it."""
    lower = re.sub(r"\\.|[A-Z]+", lambda part: part[0] if part[0][0] == "\\" else part[0].lower(), pattern)
    return lower.replace("(?i:", "(?:")


def lower_case(text: str) -> str:
    """`text` in lower case, as patterns for which case does not count see it."""
    for letter, plain in () if text.isascii() else (("ſ", "s"), ("ı", "i"), ("İ", "i")):
        text = text.replace(letter, plain)
    return text.lower()


# ── months and weekdays ──────────────────────────────────────────────────────────────────────────────────────────────

MONTHS = MappingProxyType({name: tuple(words) for name, words in read_table(read_lines("months"))})
"""The twelve months of each language, in lower case, from the first."""
ENGLISH_MONTHS = MONTHS["english"]
GERMAN_MONTHS = MONTHS["german"]
ENGLISH_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
"""In lower case, from Monday."""

SHORT_MONTHS = tuple(name[:3] for name in ENGLISH_MONTHS)
"""The English months by their first three letters: `jan` … `dec`."""
SHORT_FORMS = MappingProxyType(
    {name[:3]: number for number, name in enumerate(ENGLISH_MONTHS, 1) if len(name) > 3}
    | {"sept": 9, "okt": 10, "dez": 12, "mär": 3, "mrz": 3, "jän": 1, "jänner": 1}
)
"""The number of the month for each short or regional form, English and German: `sept` → 9."""
MONTH_BEGINNINGS = frozenset({*(name[:3] for name in (*ENGLISH_MONTHS, *GERMAN_MONTHS, *SHORT_FORMS))})
"""Three letters with one of which every English and German form begins."""

_ABBREVIATIONS = tuple("sept?" if short == "sep" else short for short in SHORT_MONTHS)
ABBREVIATED_MONTHS = tuple(short for short in _ABBREVIATIONS if short not in ENGLISH_MONTHS)
"""Patterns of the English abbreviations without their point: `jan` … `sept?` … `dec`; May has none."""
ENGLISH_MONTH = "|".join(
    f"{short}(?:{name[len(short.rstrip('?')) :]})?" for short, name in zip(_ABBREVIATIONS, ENGLISH_MONTHS, strict=True)
)
"""The pattern of an English month, in full or abbreviated, without a group: `jan(?:uary)?|…`."""


# ── what search leaves out ───────────────────────────────────────────────────────────────────────────────────────────

STOP: Mapping[str, frozenset[str]] = MappingProxyType(
    {name: list_stop_words(code, "search") for code, name in SNOWBALL.items()}
)
"""Function words by language, as Snowball calls it; English first, which wins a tie."""
# The next two are texts, as the file holds them: they stand in the key of the embedder that uses them.
VERY_COMMON = "\n".join(["", *read_lines("words/very_common"), ""])
"""The commonest English words of content: a stand-in for document frequencies where one text is seen at a time."""
COMMON = "\n".join(["", *read_lines("words/common"), ""])
"""Common English words of content; the line between common and very common is a judgement."""


SAID_FOR: Mapping[str, Mapping[str, bool]] = {
    # stem → stems that stand for it: what it is often cut to (true), or things of its kind where it is too wide to be
    # said itself
    "technolog": {"tech": True, **dict.fromkeys("ai internet softwar robot algorithm autom".split(), False)},
    "societi": dict.fromkeys("democraci job inequ communiti".split(), False),
    "applic": {"app": True}, "laboratori": {"lab": True}, "mathemat": {"math": True}, "advertis": {"ad": True},
    "refriger": {"fridg": True}, "televis": {"tv": True}, "biotechnolog": {"biotech": True},
}  # fmt: skip


# ── what the offline engine knows ────────────────────────────────────────────────────────────────────────────────────


@cache
def read_list(name: str) -> frozenset[str]:
    """The stop words for reports of a language, given as its code, or a list of `data/words/`: `general`, `verbs`, …"""
    return list_stop_words(name, "reports") if name in SNOWBALL else read_words(f"words/{name}")


@cache
def read_lexicon(name: str) -> Mapping[str, frozenset[str]]:
    """The lists of the lexicon `name`: section → words, "_" read as a blank; `stop` are its stop words of names."""
    lists = {
        section: frozenset(word.replace("_", " ") for line in lines for word in line.split())
        for section, lines in read_sections(f"lexicons/{name}").items()
    }
    if name == "english":
        lists["stop"] = list_stop_words("en", "names")
    if name == "german":
        lists["stop"] = list_stop_words("de", "names") | frozenset(GERMAN_MONTHS)
    return MappingProxyType(lists)


@cache
def read_alternatives(name: str) -> Mapping[str, str]:
    """The patterns of the lexicon `name`: section → its lines as the alternatives of one regular expression."""
    return MappingProxyType({section: "|".join(lines) for section, lines in read_sections(f"lexicons/{name}").items()})


def english_words(section: str) -> frozenset[str]:
    """One list of the English lexicon."""
    return read_lexicon("english")[section]


@cache
def never_names() -> frozenset[str]:
    """Words that neither begin, end nor make up a name in English text, whatever their capitals."""
    lists = read_lexicon("english")
    return lists["stop"] | lists["discourse"] | lists["discourse-more"]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a document's language; of a language without a list, those of English, German and what opens
    sentences in the others.
    """
    if language == "en":
        return never_names()
    if language == "de":
        return read_lexicon("german")["stop"]
    openers = " ".join(line for code in LANGUAGES[2:] for line in read_sections(f"languages/{code}")["openers"])
    return never_names() | read_lexicon("german")["stop"] | frozenset(openers.split())


@cache
def small_words() -> frozenset[str]:
    """Short stop words of every language with a list, behind which no line ends but a wrapped one."""
    return frozenset(w for code in SNOWBALL for w in (*read_list(code), *stop_words(code)) if len(w) < 6)


@cache
def languages_by_word() -> Mapping[str, tuple[str, ...]]:
    """The languages in which a word opens sentences or is a stop word or a determiner; by word."""
    found: dict[str, list[str]] = {}
    for code in LANGUAGES:
        sections = read_sections(f"languages/{code}")
        lists = (name for name in sections if name.startswith(("openers", "determiners", "stop-words")))
        lines = (line for name in lists if name != "stop-words-search" for line in sections[name])
        for word in dict.fromkeys(" ".join(lines).split()):
            found.setdefault(word, []).append(code)
    return MappingProxyType({word: tuple(codes) for word, codes in found.items()})


@cache
def words_of_english() -> frozenset[str]:
    """Those of `languages_by_word` that English alone has."""
    return frozenset(word for word, codes in languages_by_word().items() if codes == ("en",))


@cache
def words_of_others() -> frozenset[str]:
    """Those of `languages_by_word` that English has not."""
    return frozenset(word for word, codes in languages_by_word().items() if "en" not in codes)


@cache
def name_connectors(language: str) -> frozenset[str]:
    """Lower-case words that may stand inside a name."""
    if language == "de":
        return read_lexicon("german")["connectors"]
    return english_words("connectors") | (english_words("connectors-elsewhere") if language == "xx" else frozenset())
