"""One person, one name: which last and first names stand for a person's full name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sensegraph.language.tagging import known_word
from sensegraph.language.word_lists import english, sections


def in_document(counts: Mapping[str, int], spoken: Collection[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """One-word keys of a document that stand for a longer name of a person: by last name, or by a first name.

    Only persons: "Microsoft" is not short for "Microsoft Research". A last name of several people is left alone
    unless one of them is mentioned more often than each other.
    """
    lasts, firsts = _by_part(k for k in counts if " " in k and _person(k, spoken, kinds))
    same = {}
    for k in counts:
        if " " in k or k in sections("places")["places"]:
            continue
        full = _dominant(lasts.get(k, ()), counts)
        if not full and len(firsts.get(k, ())) == 1 and k in sections("people")["first"]:
            full = firsts[k][0]
        if full:
            same[k] = full
    return same


def _by_part(keys: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Full names by their last and by their first word."""
    lasts, firsts = defaultdict(list), defaultdict(list)
    for key in sorted(keys):
        parts = key.split()
        lasts[parts[-1]].append(key)
        firsts[parts[0]].append(key)
    return lasts, firsts


def _dominant(full: Sequence[str], counts: Mapping[str, int]) -> str:
    ordered = sorted(full, key=lambda f: (-counts[f], f))
    if not ordered or (len(ordered) > 1 and counts[ordered[0]] == counts[ordered[1]]):
        return ""
    return ordered[0]


def _person(key: str, spoken: Collection[str], kinds: Mapping[str, str]) -> bool:
    if key.split()[0] == key.split()[-1]:
        return False
    if key in spoken:
        return True
    if kinds:
        return kinds.get(key) == "p"
    return key.split()[0] in sections("people")["first"]


def in_corpus(works: Mapping[str, Counter[str]], kinds: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Short names of persons by work, and those of the whole corpus under "": only where exactly one person fits.

    `works` counts the names of the documents that share a title. A first name counts within its work alone.
    """
    everywhere: Counter[str] = Counter()
    same: dict[str, dict[str, str]] = {}
    for work in sorted(works):
        everywhere.update(works[work])
        if found := _short(works[work], kinds, firsts=True):
            same[work] = found
    if found := _short(everywhere, kinds, firsts=False):
        same[""] = found
    return same


def _short(counts: Mapping[str, int], kinds: Mapping[str, str], firsts: bool) -> dict[str, str]:
    lasts, given = _by_part(k for k in counts if " " in k and _full(k, kinds))
    barred = sections("places")["places"] | (frozenset() if firsts else sections("people")["first"])
    same = {}
    for k in sorted(counts):
        if _addressed(k, kinds) and (full := _one(lasts.get(k.split()[-1], ()), counts)):
            same[k] = full
        if " " in k or kinds.get(k) != "p" or k in barred:
            continue
        one = _one(lasts.get(k, ()), counts) if firsts or k not in given else ""
        one = one or (_one(given.get(k, ()), counts) if firsts else "")
        if one:
            same[k] = one
    return same


def _addressed(key: str, kinds: Mapping[str, str]) -> bool:
    """Whether a key is a last name behind a title or an epithet, or said twice: "Uncle Scrooge", "old Marley"."""
    words = key.split()
    if len(words) != 2 or kinds.get(key, "m") not in "plm":
        return False
    return words[0] in english("titles") or words[0] in english("epithets") or words[0] == words[1]


def _full(key: str, kinds: Mapping[str, str]) -> bool:
    """Whether a key is a person's first and last name: "Ebenezer Scrooge", not "poor Scrooge" or "Scrooge's Bank"."""
    words = key.split()
    given = words[0] in sections("people")["first"] or not known_word(words[0])
    if len(words[-1].strip(".")) < 2 or words[0] == words[-1]:  # "PhD C" is a role
        return False
    return kinds.get(key) == "p" and given and len(words) < 5 and not {"of", "&", "and", "the"} & set(words)


def _one(full: Sequence[str], counts: Mapping[str, int]) -> str:
    """The person that these names belong to, if it is one: the same first and last name, in the usual writing."""
    if len({(f.split()[0], f.split()[-1]) for f in full}) != 1:
        return ""
    return min(full, key=lambda f: (-counts[f], f))
