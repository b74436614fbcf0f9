"""Which thing a name is in which document: decided by what each document says beside it, not by the name alone.

A name is one thing in one document. Two documents mean two things where one uses it as a person and the other as a
place, or places it in two parts of one country. A short name that several full names claim belongs in a document to
the one that the document names in full, else to the one whose own words stand beside it there. What cannot be decided
stays under the name as it is, and is listed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain

from sensegraph.language.text import fold, list_stems
from sensegraph.language.word_lists import english_words, read_forms, read_lexicon, read_lines, stop_words
from sensegraph.resolution.aliases import Name

_CLEAR = 2.0  # what one kind must have spoken for it, and how many times as much as for the other
_NEAR = 0.12  # cosine of the words beside a name with those of a full name from which they are about one thing
_LEAD = 1.6  # how many times as near as any other
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_fold_word = lru_cache(1 << 14)(fold)


@dataclass(frozen=True, slots=True)
class Use:
    """A name in one document: the sentences there that name it."""

    document: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Owner:
    """A full name that a short name may be short for, and its sentences by document."""

    name: Name
    shown: str
    sentences: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Senses:
    """Where mentions of names are another thing: (name, document, new name), what new names are called, what is open.

    `open` names what could not be decided: the name, its document, and which names it may be.
    """

    moved: tuple[tuple[Name, str, Name], ...] = ()
    made: tuple[tuple[Name, str], ...] = ()
    open: tuple[tuple[Name, str, tuple[str, ...]], ...] = ()


NO_SENSES = Senses()


@cache
def _read_place_words() -> tuple[frozenset[str], frozenset[str]]:
    """The nouns that say what kind of place something is, and the prepositions that only places follow."""
    return (
        english_words("place-heads") | read_lexicon("senses")["place-nouns"],
        english_words("strong-place-prepositions") | {"throughout", "across", "outside"},
    )


def _read_folded_words(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(text.lower()) if text.isascii() else list(map(_fold_word, _WORD.findall(text)))


def read_kind(name: str, sentences: Sequence[str]) -> str:
    """Whether sentences use a name as a person or as a place; empty where they do not say, or say both."""
    person = place = 0.0
    cues, known, (named, inside) = read_lexicon("senses"), read_lexicon("places")["places"], _read_place_words()
    key = _read_folded_words(name)
    is_known = " ".join(key) in known
    for sentence in sentences:
        words = _read_folded_words(sentence)
        owns_any = "'" in sentence or "’" in sentence
        plain = [w.removesuffix("'s").removesuffix("’s") for w in words] if owns_any else words
        begin = key[:1] or plain  # what is no word stands everywhere
        for at in [at for at, word in enumerate(plain) if word in begin and plain[at : at + len(key)] == key]:
            left = words[at - 1] if at else ""
            before = words[at - 2] if at > 1 else ""
            right = words[at + len(key)] if at + len(key) < len(words) else ""
            after = words[at + len(key) + 1 : at + len(key) + 3]
            owns = words[at + len(key) - 1] != plain[at + len(key) - 1]
            person += 2 * (left.rstrip(".") in english_words("titles"))
            person += 2 * (not owns and right in cues["person-acts"])
            person += 2 * (owns and right in cues["person-nouns"])
            place += 2 * (left in inside)
            place += 2 * (left == "of" and before in cues["place-nouns"])
            place += 2 * ((owns and right in cues["place-nouns"]) or (not owns and right in cues["place-acts"]))
            place += 3 * (right in ("is", "was") and bool(after) and after[-1] in named)
            if at == 0:
                rest = words[len(key) :]
                person += 1.5 * any(w in cues["person-words"] for w in rest)
                place += "its" in rest
        states = min(2, sum(map(cues["place-nouns"].__contains__, words)))
        # "a treaty with Israel"
        among = states and is_known and any(w in known and w not in key for w in words)
        place += 0.5 * states + (1.5 if among else 0)
    if max(person, place) < _CLEAR or max(person, place) < _CLEAR * min(person, place):
        return ""
    return "person" if person > place else "place"


_recall_kind = lru_cache(1 << 9)(read_kind)  # of the uses of one name, which are asked about twice


@cache
def _countries() -> dict[str, str]:
    """The country of each region, folded."""
    return dict(read_forms(read_lines("regions")))


@cache
def _region_behind() -> re.Pattern[str]:
    """A region behind a name: `, Ohio`, ` (Ohio)`, ` in Ohio`, ` is the capital of Ohio`."""
    regions = "|".join(sorted(map(re.escape, _countries()), key=lambda r: (-len(r), r)))
    return re.compile(rf"(?:,\s+|\s+\(|[^.;]*?\b(?:of|in)\s+)({regions})\b", re.IGNORECASE)


def read_region(name: str, sentences: Sequence[str]) -> str:
    """The part of a country in which sentences place a name; empty where none does, or they disagree."""
    found = set()
    for said in sentences:
        at = said.find(name)
        while at >= 0:
            if m := _region_behind().match(said, at + len(name)):
                found.add(fold(m[1]))
            at = said.find(name, at + len(name))
    return found.pop() if len(found) == 1 else ""


def tell_senses_apart(name: Name, shown: str, uses: Sequence[Use], *, place: bool = True) -> Senses:
    """The senses of one name: a person and a place, or places in two parts of a country; none where it is one thing.

    A name of which nothing else says that it is a `place` is not told apart by the words beside it alone.
    """
    kinds = {use.document: _recall_kind(shown, use.sentences) for use in uses}
    if place and {"person", "place"} <= set(kinds.values()):
        new = {kind: (name[0], kind) for kind in ("person", "place")} | {"": (name[0], "other")}
        moved = tuple((name, d, new[kind]) for d, kind in kinds.items() if new[kind] != name)
        open_ = tuple((name, d, (f"{shown} (person)", f"{shown} (place)")) for d, kind in kinds.items() if not kind)
        return Senses(moved, tuple((to, shown) for to in sorted({to for _, _, to in moved})), open_)
    if "person" in kinds.values():
        return Senses()
    regions = {use.document: read_region(shown, use.sentences) for use in uses}
    told = sorted(set(regions.values()) - {""})
    countries = Counter(_countries()[region] for region in told)
    if len(told) < 2 or len(countries) > 1:
        return Senses()  # of two countries one may only say more than the other
    names = {region: f"{shown} ({region.title()})" for region in told}
    moved = tuple((name, d, (fold(names[r]), name[1])) for d, r in regions.items() if r)
    unplaced = tuple((name, d, tuple(names.values())) for d, r in regions.items() if not r)
    return Senses(moved, tuple(((fold(s), name[1]), s) for s in names.values()), unplaced)


def find_owners(name: Name, shown: str, uses: Sequence[Use], owners: Sequence[Owner]) -> Senses:
    """To which full name a short name belongs in each document."""
    moved, left, open_ = [], [], []
    for use in uses:
        here = [owner for owner in owners if use.document in owner.sentences]
        if _recall_kind(shown, use.sentences) == "place":
            continue
        if len(here) == 1:
            moved.append((name, use.document, here[0].name))
        elif here:
            open_.append((name, use.document, tuple(o.shown for o in here)))
        else:
            left.append(use)
    said: dict[Name, list[str]] = defaultdict(list)
    for owner in owners:
        said[owner.name] += [s for found in owner.sentences.values() for s in found]
    for use in uses:  # what a document says under the short name is said of the full one
        for _, document, to in moved:
            if document == use.document:
                said[to] += use.sentences
    full = _FullNames(said, shown, owners)
    for use in left:
        best = full.find_nearest(use)
        if best is None:
            open_.append((name, use.document, tuple(o.shown for o in owners)))
        else:
            moved.append((name, use.document, best))
    return Senses(tuple(moved), (), tuple(open_))


class _FullNames:
    """The full names that a short name may be short for, and their words."""

    def __init__(self, said: Mapping[Name, Sequence[str]], shown: str, owners: Sequence[Owner]) -> None:
        self.said, self.shown, self.owners = said, shown, owners
        self.own = {w for name in (shown, *(owner.shown for owner in owners)) for w in _read_folded_words(name)}

    @cached_property
    def roles(self) -> list[tuple[Name, list[set[str]]]]:
        """What the documents that name each call it, document by document."""
        return [(o.name, [_find_roles(o.shown, said) for said in o.sentences.values()]) for o in self.owners]

    @cached_property
    def bags(self) -> dict[Name, Counter[str]]:
        """The other words of the sentences of each."""
        return {name: _count_words(texts, self.own) for name, texts in self.said.items()}

    def find_nearest(self, use: Use) -> Name | None:
        """The full name whose words are near those of a use, and nearer by far than those of any other."""
        roles = _find_roles(self.shown, use.sentences)
        alike = [name for name, known in self.roles if any(roles & own for own in known)] if roles else []
        if len(alike) == 1:
            return alike[0]
        bags, asked = self.bags, _count_words(use.sentences, self.own)
        count = len(bags) + 1
        held = Counter(chain(asked, *bags.values()))
        weigh = {w: math.log(1 + count / n) for w, n in held.items()}

        def cosine(a: Counter[str], b: Counter[str]) -> float:
            dot = sum(weigh[w] ** 2 for w in sorted(a.keys() & b.keys()))
            size = math.sqrt(sum(weigh[w] ** 2 for w in sorted(a)) * sum(weigh[w] ** 2 for w in sorted(b)))
            return dot / size if size else 0.0

        near = sorted(((cosine(asked, bag), name) for name, bag in bags.items()), reverse=True)
        if not near or near[0][0] < _NEAR or (len(near) > 1 and near[0][0] < _LEAD * near[1][0]):
            return None
        return near[0][1]


def _find_roles(shown: str, sentences: Sequence[str]) -> set[str]:
    """The stems of what sentences call a name beside it: "Ann (sales)", "Ann, the mate", "his deputy, Ann"."""
    key, plain = re.escape(shown), [" ".join(said.split()) for said in sentences]
    ways = (
        ((f"{shown} (", f"{shown}("), rf"{key}\s*\(([^()]{{2,40}})\)"),
        ((f"{shown}, ",), rf"{key},\s+((?:[^\W\d_]+\s?){{1,4}})"),
        ((f", {shown}",), rf"((?:[a-z]+\s){{0,2}}[a-z]+),\s+{key}"),
    )
    told = [(way, [said for said in plain if any(sign in said for sign in signs)]) for signs, way in ways]
    return set(_count_words([role for way, some in told for said in some for role in re.findall(way, said)], set()))


def _count_words(sentences: Sequence[str], without: set[str]) -> Counter[str]:
    common = stop_words("en")
    words = (w for said in sentences for w in _read_folded_words(said))
    return Counter(s for w in words if w not in common and w not in without for s in list_stems(w))


def join_senses(found: Sequence[Senses]) -> Senses:
    """The senses of several names together."""
    made = {name: shown for senses in found for name, shown in senses.made}
    return Senses(
        tuple(move for senses in found for move in senses.moved),
        tuple(sorted(made.items())),
        tuple(one for senses in found for one in senses.open),
    )
