"""One person, one name: which last and first names stand for a person's full name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sensegraph.language.text import known_word
from sensegraph.language.word_lists import english_words, read_lexicon


def link_document_names(counts: Mapping[str, int], spoken: Collection[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """One-word keys of a document that stand for a longer name of a person: by last name, or by a first name.

    Only persons: "Microsoft" is not short for "Microsoft Research". A last name of several people is left alone
    unless one of them is mentioned more often than each other.
    """
    given = read_lexicon("people")["first"]

    def person(key: str) -> bool:
        first, last = key.split()[0], key.split()[-1]
        return first != last and (key in spoken or (kinds.get(key) == "p" if kinds else first in given))

    lasts, firsts = _group_by_part(k for k in counts if " " in k and person(k))
    same = {}
    for k in counts:
        if " " in k or k in read_lexicon("places")["places"]:
            continue
        full = sorted(lasts.get(k, ()), key=lambda f: (-counts[f], f))
        if full and (len(full) == 1 or counts[full[0]] != counts[full[1]]):
            same[k] = full[0]
        elif len(firsts.get(k, ())) == 1 and k in given:
            same[k] = firsts[k][0]
    return same


def _group_by_part(keys: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Full names by their last and by their first word."""
    lasts, firsts = defaultdict(list), defaultdict(list)
    for key in sorted(keys):
        parts = key.split()
        lasts[parts[-1]].append(key)
        firsts[parts[0]].append(key)
    return lasts, firsts


def link_corpus_names(works: Mapping[str, Counter[str]], kinds: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Short names of persons by work, and those of the whole corpus under "": only where exactly one person fits.

    `works` counts the names of the documents that share a title. A first name counts within its work alone.
    """
    everywhere: Counter[str] = Counter()
    same: dict[str, dict[str, str]] = {}
    for work in sorted(works):
        everywhere.update(works[work])
        if found := _find_short_names(works[work], kinds, firsts=True):
            same[work] = found
    if found := _find_short_names(everywhere, kinds, firsts=False):
        same[""] = found
    return same


def _find_short_names(counts: Mapping[str, int], kinds: Mapping[str, str], firsts: bool) -> dict[str, str]:

    def is_full_name(key: str) -> bool:  # "Ebenezer Scrooge", not "poor Scrooge" or "Scrooge's Bank"; "PhD C" is a role
        words = key.split()
        given = words[0] in read_lexicon("people")["first"] or not known_word(words[0])
        parts = len(words) < 5 and len(words[-1].strip(".")) > 1 and words[0] != words[-1]
        return " " in key and kinds.get(key) == "p" and given and parts and not {"of", "&", "and", "the"} & set(words)

    lasts, given = _group_by_part(k for k in counts if is_full_name(k))
    barred = read_lexicon("places")["places"] | (frozenset() if firsts else read_lexicon("people")["first"])
    before_names = english_words("titles") | english_words("epithets")
    same = {}
    for k in sorted(counts):
        words = k.split()
        # a last name behind a title or an epithet, or said twice: "Uncle Scrooge", "old Marley"
        addressed = (
            len(words) == 2 and kinds.get(k, "m") in "plm" and (words[0] in before_names or words[0] == words[1])
        )
        if addressed and (full := _find_only_person(lasts.get(words[-1], ()), counts)):
            same[k] = full
        if " " in k or kinds.get(k) != "p" or k in barred:
            continue
        one = _find_only_person(lasts.get(k, ()), counts) if firsts or k not in given else ""
        one = one or (_find_only_person(given.get(k, ()), counts) if firsts else "")
        if one:
            same[k] = one
    return same


def _find_only_person(full: Sequence[str], counts: Mapping[str, int]) -> str:
    """The person that these names belong to, if it is one: the same first and last name, in the usual writing."""
    if len({(f.split()[0], f.split()[-1]) for f in full}) != 1:
        return ""
    return min(full, key=lambda f: (-counts[f], f))
