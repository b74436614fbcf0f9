"""The words by which questions ask, those that find nothing, and whether a text gives what a question asks for.

What is asked for is read strictly: where it could be something else as well, nothing is told.
"""

from __future__ import annotations

import re
from functools import cache

from sensegraph.language.asking.answer_types import AnswerType, find_names
from sensegraph.language.dates.moments import find_atoms
from sensegraph.language.text import WORD, stem_run
from sensegraph.language.word_lists import ENGLISH, MONTHS, SNOWBALL, read_lexicon, read_sections

_SECTIONS = read_sections("lexicons/answered")
_WORDS = {name: frozenset(" ".join(lines).split()) for name, lines in _SECTIONS.items() if "asks for" not in name}
_ASKS = {
    name.removeprefix("asks for "): re.compile("|".join(lines), re.IGNORECASE)
    for name, lines in _SECTIONS.items()
    if "asks for" in name
}
_KINDS: tuple[AnswerType, ...] = ("date", "number", "person", "place")
_BEFORE = 3  # words before those by which a question asks: "In which year", "What is the number of"
_PERSON = re.compile(rf"\w{{2,}}(?:{'|'.join(_WORDS['endings of persons'])})", re.IGNORECASE)
_ORDINAL = re.compile(
    r"\w+(?:teenth|tieth|lfth|zehnten?|zigsten?|ième)|first|second|third|(?:four|fif|six|seven|eigh|nin|ten)th"
)
_WEEKDAY = re.compile(r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_MONTHS = frozenset(name for names in MONTHS.values() for name in names)


@cache
def stem_asking_words(spoken: str) -> frozenset[str]:
    """The stems of the words by which a question in this language asks, and of those of English."""
    own = (read_sections(f"languages/{code}").get("asking", []) for code, name in SNOWBALL.items() if name == spoken)
    words = " ".join(line for lines in own for line in lines).split()
    frame = read_lexicon("question-words")["frame"]
    return frozenset(s for listed, way in ((frame, ENGLISH), (words, spoken)) for w in listed for s in stem_run(w, way))


def asks_whether(question: str) -> bool:
    """Whether a question opens as those do that ask for yes or no."""
    first = WORD.search(question.casefold())
    return first is not None and first[0].replace("’", "'") in _WORDS["asks whether"]


def read_asked_type(question: str) -> tuple[AnswerType, str]:
    """The kind of thing that a question surely asks for, and the words that say so; else "thing" and nothing."""
    if not asks_whether(question):
        for kind in _KINDS:
            match = _ASKS[kind].search(question)
            before = WORD.findall(question[: match.start()].casefold()) if match else []
            opens = " " in match[0] or not _WORDS["question words"] & set(before) if match else False
            if match and opens and len(before) <= _BEFORE:
                return kind, match[0]
    return "thing", ""


def gives_type(kind: AnswerType, text: str, known: frozenset[str]) -> bool:
    """Whether a text may give a thing of this kind; names whose words are all `known`, in small letters, are none."""
    words = {w for whole in WORD.findall(text.casefold()) for w in (whole, *re.split(r"['’-]", whole))}
    if kind == "date":
        stated = any(c.isdigit() for c in text) or words & (_WORDS["times"] | _MONTHS) or _WEEKDAY.search(text)
        return bool(stated or any(map(_ORDINAL.fullmatch, words)) or find_atoms(text))
    if kind == "number":
        return any(c.isdigit() for c in text) or bool(words & _WORDS["amounts"])
    if kind in ("person", "place"):
        if text == text.lower() or known & _WORDS["or"] or words & _WORDS["persons" if kind == "person" else "places"]:
            return True
        new = (set(WORD.findall(n.text.casefold())) - known for n in find_names(text))
        return any(new) or (kind == "person" and any(map(_PERSON.fullmatch, words - known)))
    return True


def is_question_word(word: str) -> bool:
    """Whether questions ask by this word, or open with it."""
    return word.casefold() in _WORDS["question words"] | _WORDS["asks whether"]
