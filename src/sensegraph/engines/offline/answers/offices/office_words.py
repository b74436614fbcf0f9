"""The words of an office, of people and of dates as sentences write them: what office claims are read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sensegraph.language.dates.moments import find_atoms, find_written, first_instant
from sensegraph.language.dates.office_questions import OFFICE_PATTERNS as CUES
from sensegraph.language.dates.office_questions import OfficeQuestion
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import ENGLISH_MONTH, GERMAN_MONTHS, MONTHS, read_lexicon, stop_words
from sensegraph.runtime.keys import document_part
from sensegraph.types import Passage

_NAME = re.compile(
    r"(?<![\w.])[^\W\d_a-zß-öø-ÿ][\w’'\-]*\.?(?:\s+(?:(?:von|van|de|der|den|du|da|di|la|le|af|bin|ibn)\s+)*[^\W\d_a-zß-öø-ÿ][\w’'\-]*)*"
)
_MONTH = rf"(?:{ENGLISH_MONTH}|{'|'.join(GERMAN_MONTHS)})"
_SHORT_DATE = re.compile(
    rf"\b(?:[0-3]?\d(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}|{_MONTH}\s+[0-3]?\d(?:st|nd|rd|th)?|"
    rf"(?:(?<=\b[a-z]{{2}} )|(?<=\b[a-z]{{4}} )|(?<=\b[a-z]{{5}} )){_MONTH})\b(?!\.?,?\s+(?:of\s+)?[12]?\d)",
    re.IGNORECASE,
)
_MONTH_NAMES = frozenset(name for names in MONTHS.values() for name in names)
_VERBS = ("begins", "appoints", "hands", "ends", "holds")
_HEADER = 100  # characters of a line that may be one of a document's first ones


def compile_office(question: OfficeQuestion) -> re.Pattern[str]:
    """The office as texts may write it: in the singular or plural, with a German ending, long or by its initials."""
    if question.verb:
        verb = question.office.lower()
        if re.match(r"le[ad]|head|r[au]n|leit|führ", verb):
            listed = (
                r"led|leads?|leading|headed|heads?|ran|runs|leaders?|chair(?:ed|s)?|chair(?:man|woman|person)|"
                r"direct(?:ed|s|ors?)|leite(?:t|te)|Leiter(?:in)?|führte?"
            )
        else:
            stem = re.sub(r"(?:ed|e?s|te?|t)$", "", verb)
            listed = rf"{re.escape(stem)}(?:|s|es|ed|e|er|ers|or|ors|man|woman|person|in|te|t)"
        return re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])", re.IGNORECASE)
    *words, last = question.office.split()
    bases = {last}
    if not last.isupper() and not last.endswith("ss"):
        bases |= {
            re.sub(ending, new, last)
            for ending, new in (
                (r"s$", ""),
                (r"es$", ""),
                (r"ies$", "y"),
                (r"men$", "man"),
                (r"innen$", ""),
                (r"(?<=[rt])in$", ""),
            )
        }
        bases = {b for b in bases if len(b) > 2} or {last}
    elif last.endswith("S") and len(last) > 3:
        bases.add(last[:-1])
    if re.fullmatch(r"[A-Z]{2,}s", last):
        bases = {last[:-1]}
    heads = {re.sub(r"(?<=chair)(?:man|woman|person)$", "", b, flags=re.IGNORECASE) for b in bases} | bases
    endings = r"(?:['’]?s|es|in|innen|n|r|en|man|woman|person)?"
    listed = r"[\s-]?".join(
        [
            *(re.escape(w) for w in words),
            "(?:" + "|".join(sorted(map(re.escape, heads), key=lambda b: (-len(b), b))) + ")",
        ]
    )
    patterns = [rf"{listed}{endings}"]
    short = min(bases, key=len)
    if not words and re.fullmatch(r"(?i:c[a-z]o)", short):
        patterns.append(rf"chief\s+{short[1]}\w+(?:\s+officer)?")
    if len(words) > 1:
        patterns.append(f"(?-i:{''.join(w[0] for w in question.office.split()).upper()})")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])", re.IGNORECASE)


def find_modifiers(text: str, start: int, question: OfficeQuestion) -> tuple[int, str]:
    """Where the office begins with the words that modify it, and what they make of it: other, temporary, past, …"""
    manner, thing = "", fold_content_words(question.thing)
    while match := re.search(r"([\w’'-]+)(\s+|-)$", text[:start]):
        word = match[1]
        bare = re.sub(r"['’]s?$", "", word)
        if CUES["stops"].fullmatch(word) or find_atoms(bare):
            break
        if CUES["different"].fullmatch(word):
            return start, "other"
        for kind in ("temporary", "past", "future"):
            if CUES[kind].fullmatch(word):
                manner = kind
                break
        else:
            if not (CUES["same"].fullmatch(word) or bare.casefold() in thing):
                opens = not text[: match.start()].strip(" -–•") or text[: match.start()].rstrip()[-1:] in ".:;"
                verb = word in stop_words("xx") or any(CUES[kind].fullmatch(word) for kind in _VERBS)
                if (word[:1].isupper() and not opens) or bare != word or verb:
                    break
                return start, "other"
        start = match.start()
    return start, manner


@lru_cache(maxsize=1 << 12)
def find_people(text: str) -> tuple[tuple[int, int, str], ...]:
    """The names in a text that may be people's: where, and without a title or the first word of a sentence."""
    found = []
    given = read_lexicon("people")["first"]
    stop = (stop_words("en") | stop_words("de")) - given
    for match in _NAME.finditer(text):
        words = [(w.start() + match.start(), w.end() + match.start(), w[0]) for w in re.finditer(r"\S+", match[0])]
        while words and (
            words[0][2].casefold() in stop
            or words[0][2].casefold().strip(".") in _MONTH_NAMES
            or CUES["person"].fullmatch(words[0][2])
        ):
            words.pop(0)
        # what stands before a given name and is none itself opens a sentence: "Yesterday Anna Berg"
        while len(words) > 2 and given.isdisjoint({words[0][2].casefold()}) and words[1][2].casefold() in given:
            words.pop(0)
        while words and (words[-1][2].isupper() and len(words[-1][2]) > 1 and len(words) == 1):
            words.pop()
        if not words or any(w.isupper() and len(w) > 1 and "." not in w for _, _, w in words):
            continue
        start, end = words[0][0], words[-1][1]
        name = re.sub(r"['’]s?$", "", text[start:end])
        if name.endswith(".") and not re.search(r"\b[A-Z]\.$", name):
            name = name[:-1]
        if len(name) > 1 and not find_atoms(name) and not (len(words) == 1 and name.casefold() in _MONTH_NAMES):
            found.append((start, start + len(name), " ".join(name.split())))
    return tuple(found)


def complete_names(names: Sequence[str]) -> dict[str, str]:
    """Each shorter name with the one longer name that it stands for: its first or last word, or its initial."""
    full = sorted({n for n in names if " " in n and not re.match(r"[A-Z]\.", n)})
    found = {}
    for name in sorted(set(names)):
        parts = name.split()
        if len(parts) == 1:
            longer = [f for f in full if name in (f.split()[0], f.split()[-1])]
        elif re.fullmatch(r"[A-Z]\.", parts[0]):
            longer = [f for f in full if f.split()[-1] == parts[-1] and f[0] == name[0]]
        else:
            longer = []
        if len(longer) == 1:
            found[name] = longer[0]
    return found


def date_documents(chunks: Sequence[Passage]) -> dict[str, str]:
    """When each document was written, as far as its title, a header or its first lines say it."""
    found: dict[str, str] = {}
    for chunk in sorted(chunks, key=lambda c: c.id):
        lines = [line.strip() for line in chunk.text.splitlines() if line.strip()]
        head = lines[:12] if lines[:1] in (["---"], ["+++"]) else lines[:6]
        short = [line for line in head if len(line) <= _HEADER and not line.endswith(".")]
        written = find_written((chunk.title, *short))
        if written and chunk.sources:
            origin = document_part(chunk.sources[0].chunk)
            found[origin] = max(found.get(origin, ""), written, key=lambda d: (bool(d), d.count("-")))
    return found


def add_years(text: str, written: str) -> str:
    """The text with the year of its document behind dates that have none; of what began already, never a later one."""
    if not written:
        return text
    year = int(written[:4])

    def complete(match: re.Match[str]) -> str:
        dated = find_atoms(f"{match[0]} {year}")
        said = next((a for a in dated if a.first), None)
        if said is None:
            return match[0]
        ahead = text[max(0, match.start() - 12) : match.start()].lower()
        late = (
            "-" in written
            and first_instant(said.first) > first_instant(written)
            and re.search(r"\b(?:since|seit)\s+(?:\w+\s+)?$", ahead)
        )
        return f"{match[0]} {year - bool(late)}"

    return _SHORT_DATE.sub(complete, text)


def fold_content_words(text: str) -> frozenset[str]:
    """The words of a text, folded, without function words."""
    return frozenset(fold(w) for w in WORD.findall(text)) - stop_words("xx")
