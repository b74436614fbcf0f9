"""A name as it is compared: its words without what says little, and apart from them what tells things apart.

Numbers, codes, qualifiers and titles are taken out of the words, because they decide by themselves. Every script is
kept; accents and case are not.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import msgspec

from sensegraph.language import naming_words

# Vowel signs and accents that stand inside words but that `\w` leaves out: Latin, Hebrew, Arabic, Indian scripts.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+(?![^\W_])"  # 3.5, 1,000
    r"|(?:[^\W\d_]\.){2,}(?:[^\W\d_](?![^\W_]))?|[^\W\d_]\.[^\W\d_](?![^\W_])"  # U.S.A., U.S
    rf"|[^\W_](?:[^\W_]|[{_MARKS}])*(?:['’][^\W\d_]+)*"
    r"|[&+]"
)
_CODE = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[^\W\d_])[^\W_]+(?:[-/][^\W_]+)+")  # KX-TS208W, GPT-4
_DIGITS = re.compile(r"\d+(?:-\d+){2,}")  # 010-10702-00
_QUALIFIER = re.compile(r"\s*[(（\[]([^()（）\[\]]*)[)）\]]\s*")
_TIED = re.compile(r"([^\W\d_]+)-(?=[^\W_])")  # MS-DOS, A-J: no title, and no article of one letter
_POSSESSIVE = re.compile(r"['’](?:s|S)?(?![^\W_])")
_QUANTITY = re.compile(r"(\d+)([^\W\d_]+)")
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_VERSION = re.compile(
    r"\b(?:v|ver\.?|version|vol\.?|volume|part|no\.?|number)(?:(?<=[a-z.])(?=\d)|\s(?=\d|(?-i:[IVX]{1,5})\b))",
    re.IGNORECASE,
)
# Systems that something runs on are no versions of it: win 98/me/2000/xp, 10.3 or later.
_RUNS_ON = re.compile(
    r"\b(win(?:dows)?)\b(?:[\s/,&+-]*(?:\b(?:95|98(?:se)?|me|nt|2000|2k|xp|vista|7|8|10|11|and|or)\b)){2,}",
    re.IGNORECASE,
)
_OR_LATER = re.compile(r"\bv?\d+(?:\.\d+)*\+?\s(?:or|and)\s(?:later|higher|above|newer|up)\b", re.IGNORECASE)
_SPELLING = (
    (re.compile(r"is(e|es|ed|ing|er|ers|ation|ations)$"), r"iz\1"),
    (re.compile(r"our(s|ed|ing)?$"), r"or\1"),
    (re.compile(r"tre(s?)$"), r"ter\1"),
    (re.compile(r"logue(s?)$"), r"log\1"),
    (re.compile(r"yse(s|d|r|rs)?$"), r"yze\1"),
    (re.compile(r"ence$"), r"ense"),
)
_RESPELT = tuple(
    "ise ises ised ising iser isers isation isations our ours oured ouring tre tres logue logues "
    "yse yses ysed yser ysers ence".split()
)  # the endings that these patterns change
_MAY_SAY = re.compile(r" [IVX]|[wW][iI][nN]")  # in words of letters alone: a version, or a system
_RUN = re.compile(r"\d+")
_AFTER_COMMA = frozenset({*naming_words.GENERATIONS, *naming_words.HONORIFICS, *naming_words.AFTER})  # no given name
_TITLES = naming_words.HONORIFICS | naming_words.OFFICES  # of a person
_SHORT = 40  # letters of a name that may end with the code of a region, without a comma
_SHORTEST = 6  # letters from which a word is respelt: not wise, our, acre


class Name(msgspec.Struct, frozen=True):
    """A name, read.

    `words` are all its folded words in order, `core` those without articles, legal forms and titles, `plain` the core
    without small words; `key` joins the core: equal keys are one name. `numbers` are the numbers in it, however they
    are written, `codes` its words of letters and digits. `qualifier` stood in parenthesis or, of a place, after a
    comma. `kind` is the kind of place that a name without blanks ends with, `generation` jr, sr or a number, `woman`
    and `man` whether a title says so. `letters` are those of an acronym, empty where it has not the shape of one;
    `acronyms` those that the name may have.
    """

    raw: str
    words: tuple[str, ...]
    core: tuple[str, ...]
    key: str
    plain: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    qualifier: tuple[str, ...] = ()
    legal: tuple[str, ...] = ()
    kind: str = ""
    generation: str = ""
    woman: bool = False
    man: bool = False
    letters: str = ""
    acronyms: tuple[str, ...] = ()

    @property
    def joined(self) -> str:
        """The core without blanks."""
        return "".join(self.core).replace(".", "")

    @property
    def with_qualifier(self) -> str:
        """The words of the core, then those of the qualifier, parted by blanks."""
        return self.key if self.core and not self.qualifier else " ".join((*self.core, *self.qualifier))

    @property
    def says(self) -> int:
        """How much the name says: words, then what stands beside them, then letters."""
        beside = bool(self.qualifier) + bool(self.kind) + self.woman + self.man
        return (len(self.core) << 3 | beside) << 40 | sum(map(len, self.core))

    @property
    def digits(self) -> tuple[str, ...]:
        """The runs of digits of the core, in order."""
        return tuple(run for word in self.core for run in _RUN.findall(word))


def _list_plain(core: tuple[str, ...]) -> tuple[str, ...]:
    *inner, last = core or ("",)
    # not the first letter of e-mail, nor the last word of MS-DOS
    kept = [w for i, w in enumerate(inner) if w not in naming_words.SMALL or (not i and len(w) == 1)]
    return core if len(kept) == len(inner) else (*kept, last)


@lru_cache(maxsize=1 << 16)
def read_name(raw: str, person: bool = False) -> Name:
    """The name as it is compared, as that of a person if it is one. One that is only punctuation is its own key."""
    text = " ".join((raw if raw.isascii() else unicodedata.normalize("NFKC", raw)).split())
    plain = text.isascii() and text.replace(" ", "").isalpha()  # most names are words alone
    if len(text) > 2 and not (plain and not _MAY_SAY.search(text)):
        text = _VERSION.sub("", _OR_LATER.sub("", _RUNS_ON.sub(r"\1", text))).strip() or text
    parentheses, outside, qualifier = [] if plain else _QUALIFIER.findall(text), text, ""
    if parentheses and (bare := _QUALIFIER.sub(" ", text).strip()):
        outside, qualifier = bare, " ".join(parentheses).strip()
    regions: list[str] = []
    if person:
        outside = _turn_name(outside)
    else:
        outside, regions = _split_regions(outside)
    tails = naming_words.LEGAL_TAILS
    legal_tail = ""
    if outside.endswith(tails) or outside.startswith(tails):
        fits = (t for t in tails if len(outside) > len(t) and (outside.endswith(t) or outside.startswith(t)))
        legal_tail = next(fits, "")
    if legal_tail:
        cut = outside.removesuffix(legal_tail)
        outside = (cut if cut != outside else outside.removeprefix(legal_tail)).strip()
    tokens = _split_tokens(outside if plain else _POSSESSIVE.sub(" ", outside))
    words = tuple(_normalize_word(t, place, len(tokens)) for place, t in enumerate(tokens))
    titles = _TITLES if person else naming_words.HONORIFICS
    tied = frozenset(map(fold_word, _TIED.findall(outside) if "-" in outside else ()))
    core, legal = _strip_core(words, titles, tied)
    place_kind = ""
    if len(core) == 1 and naming_words.UNSPACED.match(core[0]):
        # written without blanks, with a kind of place at its end
        endings = ((tail, kind) for tail, kind in naming_words.CJK_KINDS.items() if core[0].endswith(tail))
        tail, place_kind = next(((t, kind) for t, kind in endings if len(core[0]) >= len(t) + 2), ("", ""))
        core = (core[0].removesuffix(tail),)
    generation = ""
    if len(core) > 1:
        last = core[-1]
        generation = naming_words.GENERATIONS.get(last, last if last.isdecimal() and int(last) < 30 else "")
    before = frozenset(words[:2]) - tied
    return Name(
        raw, words, core, " ".join(core) or text.casefold(), _list_plain(core), numbers=_read_numbers(core),
        codes=tuple(w for w in core if _is_code(w)),
        qualifier=(*regions, *(_read_beside(qualifier) if qualifier else ())),
        legal=legal or ((legal_tail,) if legal_tail else ()), kind=place_kind, generation=generation,
        woman=len(words) > 1 and bool(before & naming_words.WOMAN),
        man=len(words) > 1 and bool(before & naming_words.MAN),
        letters=_read_acronym(outside), acronyms=_list_acronyms(words, core),
    )  # fmt: skip


def _turn_name(name: str) -> str:
    """Of a person: Smith, John, Jr. is John Smith Jr."""
    if ", " not in name:
        return name
    family, *others = name.split(", ")
    plain = [part.replace(".", "") for part in others]
    after = [part for part in plain if fold_word(part) in _AFTER_COMMA]
    given = [part for part, bare in zip(others, plain, strict=True) if bare not in after]
    return " ".join((*given, family, *after)) if len(given) < 2 else name


def _split_regions(name: str) -> tuple[str, list[str]]:
    """A name without the regions and countries after its commas, and these; of several, countries do not count."""
    last = name[name.rfind(" ") + 1 :]
    if "," not in name and not (len(last) in (2, 3) and last.isupper()):
        return name, []
    regions: list[str] = []
    while True:
        head, comma, last = (part.strip() for part in name.rpartition(","))
        region = naming_words.list_regions().get(fold_word(last), "") if comma and head else ""
        if not region and not comma and len(name) < _SHORT and not name.isupper():
            head, _, last = name.rpartition(" ")
            coded = len(last) in (2, 3) and last.isupper()
            region = naming_words.list_regions().get(last.casefold(), "") if coded else ""
        if not region or (last.isupper() and last.casefold() in naming_words.LEGAL):
            break
        name = head
        regions.insert(0, region)
    return name, [r for r in regions if r not in naming_words.COUNTRY.values()] or regions[:1]


def fold_word(word: str) -> str:
    """A word without case and accents; letters that only carry marks in their own script keep them."""
    form = word.casefold().replace("’", "'")
    if form.isascii():
        return form
    letters = []
    for letter in form:
        parts = unicodedata.normalize("NFKD", letter)
        if len(parts) > 1 and ("LATIN" in unicodedata.name(letter, "") or "GREEK" in unicodedata.name(letter, "")):
            letters.append("".join(c for c in parts if not unicodedata.combining(c)))
        else:
            letters.append(_LIGATURES.get(letter, letter))
    return "".join(letters)


_LIGATURES = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "ё": "е"}


def _read_beside(text: str) -> tuple[str, ...]:
    """The words in parentheses that tell a thing, not what it comes as (DVD); the name of a region is one word."""
    if region := naming_words.list_regions().get(fold_word(text)):
        return (region,)
    words = (_normalize_word(t, 0, 1) for t in _split_tokens(text))
    return tuple(word for word in words if word not in naming_words.CARRIERS)


def _split_tokens(text: str) -> list[str]:
    if text.replace(" ", "").isalpha():
        return text.split()

    def join_code(match: re.Match[str]) -> str:
        """Parts with hyphens are one code where none of them is a word: each is short, or has a digit."""
        parts = re.split(r"[-/]", match[0])
        return "".join(parts) if all(len(p) <= 5 or any(c.isdigit() for c in p) for p in parts) else match[0]

    joined = _DIGITS.sub(lambda m: m[0].replace("-", ""), _CODE.sub(join_code, text))
    return _TOKEN.findall(joined)


def _normalize_word(token: str, place: int, count: int) -> str:
    form = fold_word(token.replace(".", "") if not token[0].isdigit() else token.replace(",", ""))
    if form.endswith(".0"):
        form = form[:-2]  # version 7.0 is version 7
    if token.isupper() and form in naming_words.ROMAN and (len(form) > 1 or (place and place == count - 1)) and place:
        return naming_words.ROMAN[form]
    form = naming_words.EXPANSIONS.get(form, naming_words.NUMBERS.get(form, form))
    for pattern, other in _SPELLING if len(form) >= _SHORTEST and form.endswith(_RESPELT) else ():
        form = pattern.sub(other, form)
    return form


def _strip_core(
    words: tuple[str, ...], titles: frozenset[str], tied: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words without articles and titles before them, and without legal forms behind them; and those forms.

    What a hyphen ties to the next word is no title; an article of one letter is none there, and none before a letter.
    """
    core = list(words)
    while len(core) > 1 and (core[0] in naming_words.ARTICLES or (core[0] in titles and core[0] not in tied)):
        if len(core[0]) == 1 and (core[0] in tied or len(core[1]) == 1):
            break
        core.pop(0)
    legal: list[str] = []
    while len(core) > 1 and (core[-1] in naming_words.LEGAL or (legal and core[-1] == "and")):
        legal.insert(0, core.pop())
    while len(core) > 2 and core[-1] in naming_words.AFTER:
        core.pop()
    return words if len(core) == len(words) else tuple(core), tuple(legal)


def _read_numbers(core: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for word in core:
        if word.isalpha() or _is_code(word):
            continue
        if _DECIMAL.fullmatch(word):
            found.append(word.lstrip("0") or "0")
        elif (m := _QUANTITY.fullmatch(word)) and m[2] in naming_words.UNITS:
            found.append(m[1].lstrip("0") or "0")
    return tuple(sorted(found))


def _is_code(word: str) -> bool:
    digits = 0 if word.isalpha() else sum(c.isdigit() for c in word)
    if not digits or ("." in word and _DECIMAL.fullmatch(word)):
        return False
    if digits == len(word):
        return digits >= 6
    quantity = _QUANTITY.fullmatch(word)
    return quantity is None or quantity[2] not in naming_words.UNITS


def _read_acronym(text: str) -> str:
    """The letters of NASA, U.S.A., AT&T, WWII: two to seven, capitals, with or without dots."""
    if " " in text.replace(". ", ".").replace(" & ", "&"):
        return ""
    bare = re.sub(r"[.\s&]", "", text) if re.fullmatch(r"(?:\w\.?[\s&]?){2,8}", text) else ""
    if not 2 <= len(bare) <= 7:
        return ""
    capitals = sum(c.isupper() for c in bare)
    return fold_word(bare) if capitals >= 2 and capitals >= len(bare) - 1 else ""


def _list_acronyms(words: tuple[str, ...], core: tuple[str, ...]) -> tuple[str, ...]:
    """Of two words or more: the first letters, with and without small words; numbers also as Roman ones."""
    if len(words) < 2:
        return ()
    found, whole = set(), {words, core}
    if not naming_words.SMALL.isdisjoint(words):
        whole |= {tuple(w for w in one if w not in naming_words.SMALL) for one in whole}
    for kept in whole:
        if 2 <= len(kept) <= 8:
            found.add("".join(w if w.isdecimal() else w[0] for w in kept))
            if any(map(str.isdecimal, kept)):
                found.add("".join(_ROMANS.get(w, w) if w.isdecimal() else w[0] for w in kept))
    return tuple(sorted(found))


_ROMANS = {number: roman for roman, number in naming_words.ROMAN.items()}
