"""Names as they are shown: their case, the longer name that they are part of, and several of them in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.language.text import HAN, is_word_character
from sensegraph.language.word_lists import read_list

_NO_NAME = re.compile(
    r"^-|^[\W\d_]*\d[\d\W_]*$|^(?:\w+ )?(?:(?:year|month|week|day|hour|minute|percent|decade|age)s?|"
    r"century|centuries)$",
    re.IGNORECASE,
)
_NEXT = re.compile(r" ([^\W\d_][\w’'-]*)")
_SMALL = "no one two three four five six seven eight nine ten eleven twelve".split()
_MOST = 0.55  # share of a name's uses with one and the same word after it that makes that word part of it
_USES = 4  # uses from which that share counts


def find_places(text: str, name: str) -> Iterator[int]:
    """Where `name` stands in `text` as whole words, in any case; a plural ending may follow."""
    low, sought = text.lower(), name.lower()
    at = low.find(sought) if sought and len(low) == len(text) else -1
    while at >= 0:
        end = at + len(sought)
        tail = low[end : end + 3]
        ending = 2 if tail.startswith("es") else 1 if tail.startswith("s") else 0
        after = low[end : end + 1]
        closed = not is_word_character(after) or (
            ending > 0 and not is_word_character(low[end + ending : end + ending + 1])
        )
        if closed and not (at and is_word_character(low[at - 1])):
            yield at
        at = low.find(sought, at + 1)


def mentions_name(text: str, name: str) -> bool:
    """Whether `text` holds `name` as whole words (or, in Han text, at all)."""
    if not name.isascii() and HAN.search(name):
        return name in text
    return next(find_places(text, name), -1) >= 0


def show_natural_case(name: str, texts: Sequence[str]) -> str:
    """`name` in the case it mostly has inside sentences: "School" → "school", "phd" → "PhD"."""
    inside: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for text in texts:
        for at in find_places(text, name):
            form = text[at : at + len(name)]
            opening = at < 2 or not (text[at - 1] == " " and (is_word_character(text[at - 2]) or text[at - 2] in ",;"))
            (first if opening else inside)[form] += 1
    seen = inside or first
    return max(seen, key=lambda form: (seen[form], form == name, form)) if seen else name


def extend_name(name: str, texts: Sequence[str]) -> str:
    """`name` with the word that mostly follows it: "machine" → "machine learning" where that is what is meant."""
    if " " in name or HAN.search(name):
        return name
    after: Counter[str] = Counter()
    uses = 0
    for text in texts:
        for at in find_places(text, name):
            uses += 1
            match = _NEXT.match(text, at + len(name))
            if match and match[1].casefold() not in read_list("en"):
                after[match[1].casefold().removesuffix("'s").removesuffix("’s")] += 1
    if uses < _USES or not after:
        return name
    word, count = max(after.items(), key=lambda pair: (pair[1], pair[0]))
    fits = count > _MOST * uses and word not in read_list("general") | read_list("verbs")
    return f"{name} {word}" if fits else name


def capitalise(text: str) -> str:
    """`text` with its first letter large."""
    return text[:1].upper() + text[1:]


def join_with_and(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def spell_number(n: int) -> str:
    """A number as it is written in a text: words up to twelve, figures with commas above."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


def choose_distinct_names(names: Iterable[str], count: int, code: str) -> list[str]:
    """The first `count` names of which no two share a stem and none is made of the first letters of another.

    Bare numbers and spans of time only if there is nothing else.
    """

    def abbreviates(one: str, other: str) -> bool:
        short, long = sorted((one.casefold(), other.casefold()), key=len)
        return short == "".join(word[0] for word in long.split())

    every = list(dict.fromkeys(names))
    taken: list[str] = []
    used: set[str] = set()
    for name in [n for n in every if not names_nothing(n)] or every:
        own = set(stem_text(name, code)) or {name.casefold()}
        if len(taken) < count and not own & used and not any(abbreviates(name, other) for other in taken):
            taken.append(name)
            used |= own
    return taken


def names_nothing(name: str) -> bool:
    """Whether `name` is a bare number or a span of time, which name nothing."""
    return _NO_NAME.match(name) is not None


def join_title_names(names: Sequence[str], code: str) -> str:
    """Names as one title: "A", "A and B", "A, B and C"; without words of English in other languages."""
    if code == "zh":
        return "、".join(names)
    if len(names) < 2 or code != "en":
        return capitalise(", ".join(names))
    return capitalise(f"{', '.join(names[:-1])} and {names[-1]}")


def split_title(title: str) -> list[str]:
    """The names of a title that `listing` made."""
    return [part.strip() for part in re.split(r"、|, | and ", title) if part.strip()]
