"""Names in one sentence: runs of capitalised words, repaired at their edges; and which of them stand for one person.

Whether a word that opens a sentence belongs to a name is left open here (`Candidate.first`): the corpus decides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from sensegraph.engines.offline.extraction.observations import Candidate
from sensegraph.engines.offline.extraction.sentence_words import Words
from sensegraph.language.text import known_word
from sensegraph.language.word_lists import english_words, name_connectors, read_lexicon, stop_words

_FILE = re.compile(r"\.(?:txt|pdf|docx?|html?|mp[34]|jpe?g|png|csv|xlsx?|pptx?|json|md|py)$", re.IGNORECASE)
_YEAR = re.compile(r"1\d{3}|20\d\d")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_DOTTED = frozenset("jr sr inc co ltd corp bros st d.c u.s u.k".split())
_AFTER_COMMA = frozenset("inc ltd llc jr sr d.c".split())
_INSTITUTIONS = frozenset("world cup harbor championship championships hospital".split())  # a name goes on before them
_POSSESSIVE = re.compile(r"['’]s?$")
_QUOTED = re.compile(r"[\"“„«]\s?([^\"“”„«»\n]{2,70}?)[\s,.!?]*[\"”“»]")
QUOTE = re.compile(r'["“„«]')
_OPENERS = frozenset('"“„«:([‘')
_SMALL = frozenset(
    "a an the of in on at to for from and or with without by as is as my your no not but & - , ' ! : ?".split()
)


class Run(msgspec.Struct, frozen=True, gc=False):
    """Words `first` to `last` of a sentence, both included."""

    first: int
    last: int


class Sentence(Words, frozen=True):
    """One sentence that is read: its words, and which of them cannot belong to a name (inside a time)."""

    text: str
    number: int
    barred: Collection[int]
    language: str

    def gap(self, left: int, right: int) -> str:
        """The text between two words."""
        return self.text[self.ends[left] : self.starts[right]]

    def adjoins(self, left: int, right: int) -> bool:
        """Whether no more than two blanks or marks of one line stand between two words."""
        gap = self.gap(left, right)
        return len(gap) <= 2 and "\n" not in gap

    def is_opening(self, i: int) -> bool:
        """Whether word `i` has its capital from its place: first in the sentence, in a quotation or after a colon."""
        if i < 3:
            return not any(w[0].isalnum() for w in self.texts[:i])
        return self.texts[i - 1] in _OPENERS

    def is_joining(self, i: int) -> bool:
        """Whether word `i` is a mark or a small word that may stand inside a name."""
        text = self.texts[i]
        return text in ".-" or text in english_words("connectors") or text == "the"

    def is_name_word(self, i: int) -> bool:
        """Whether word `i` can be part of a name by itself."""
        word, start, end = self.texts[i], self.starts[i], self.ends[i]
        if i in self.barred or not may_be_name_word(word, self.language):
            return False
        around = self.text[max(0, start - 1) : start] + self.text[end : end + 1]
        if "_" in around or ("." in word and _FILE.search(word)):  # the name of a file ("Episode_29_Transcript.txt")
            return False
        if not _is_stop(word, self.language):
            return True
        if i + 1 >= len(self.texts) or self.is_opening(i):
            return False
        after = self.texts[i + 1]
        return after[0].isupper() and self.lower[i + 1] not in stop_words(self.language) and self.gap(i, i + 1) == " "

    def next_in_run(self, i: int) -> int | None:
        """The word to which a run goes on from word `i`, if any: also behind a mark, a connector or before a number."""
        words, size = self.texts, len(self.texts)
        word, k = words[i], i + 1
        if k >= size or not self.adjoins(i, k):
            return None
        mark, name_follows = words[k], self.is_name_word(k)
        if _POSSESSIVE.search(word) and not (
            name_follows and mark.lower() in english_words("and-heads") | _INSTITUTIONS
        ):
            return None
        if mark == "." and (len(word) <= 3 or "." in word):
            return k + 1 if k + 1 < size and self.adjoins(k, k + 1) and self.is_name_word(k + 1) else None
        if mark == "," and k + 1 < size and words[k + 1].lower() in _AFTER_COMMA:
            return k + 1
        if name_follows:
            return k
        if mark.isdigit() and len(mark) <= 3 and k not in self.barred and self.gap(i, k) == " " and len(word) > 1:
            return k if k + 1 >= size or words[k + 1] in ',.;:)"”' or words[k + 1].islower() else None
        if k + 1 >= size:
            return None
        peoples = english_words("nationalities")  # "Japanese - American" are two
        joined = mark in "-–/" and (mark == "-" or self.gap(i, k) == self.gap(k, k + 1) == "")
        if joined and not (word.lower() in peoples and words[k + 1].lower() in peoples):
            return k + 1 if is_capitalised(words[k + 1]) and self.is_name_word(k + 1) else None
        if mark == "&":
            return k + 1 if self.is_name_word(k + 1) else None
        return self._next_behind_connectors(k)

    def _next_behind_connectors(self, k: int) -> int | None:
        """The capital behind one or two small words, from word `k`, that names may hold ("of the")."""
        known = name_connectors(self.language)
        small = self.texts[k]
        if self.language == "de" and self.texts[k - 1].lower() not in read_lexicon("people")["first"]:
            return None  # every noun has a capital: "Vorwort von Luther" is no name
        if small not in known and not (small[0].isupper() and small.lower() in english_words("stop") and small != "I"):
            return None
        for j in (k + 1, k + 2, k + 3):
            if j >= len(self.texts) or not self.adjoins(j - 1, j):
                return None
            if self.is_name_word(j):
                return j
            text = self.texts[j]
            if text not in known and text != "the" and not (text[0].isupper() and text != "I"):
                return None
        return None

    def quoted_titles(self) -> list[Run]:
        """Quoted titles of works: every word but the small ones has a capital."""
        if not self.texts:
            return []
        begin, end = self.starts[0], self.ends[-1]
        if not QUOTE.search(self.text, begin, end):
            return []
        found = []
        for match in _QUOTED.finditer(self.text, begin, end):
            inside = self.find_within(*match.span(1))
            texts = [self.texts[i] for i in inside]
            if not texts or len(texts) > 10 or (len(texts) == 1 and texts[0].lower() in stop_words(self.language)):
                continue
            edges = texts[0][0].isupper() and texts[-1][0].isalnum() and not texts[-1].islower()
            if edges and all(t[0].isupper() or not t[0].isalpha() or t in _SMALL for t in texts):
                found.append(Run(inside[0], inside[-1]))
        return found


@lru_cache(maxsize=1 << 14)
def may_be_name_word(word: str, language: str) -> bool:
    """Whether a word can be part of a name by itself: of stop words, one that names begin with, before another word."""
    if not is_capitalised(word):
        return False
    if not _is_stop(word, language):
        return len(word) > 1 or word.isalpha()
    lower = word.lower().replace("’", "'")
    return lower in read_lexicon("people")["first"] or lower in english_words("name-openers")


@lru_cache(maxsize=1 << 14)
def _is_stop(word: str, language: str) -> bool:
    stops = stop_words(language)
    return word.lower().replace("’", "'") in stops or strip_possessive(word) in stops


def find_name_candidates(
    words: Words,
    text: str,
    number: int,
    barred: Collection[int],
    language: str,
    subjects_at: Sequence[tuple[int, int]] = (),
) -> list[Candidate]:
    """What may be a name in the sentence of these words, in order, without overlaps.

    Words that are `barred` cannot belong to a name; `subjects_at` are the spans that mention the document's title.
    """
    sentence = Sentence(
        words.texts, words.lower, words.starts, words.ends, words.raised, text, number, barred, language
    )
    mentions = (words.find_begun(start, end) for start, end in subjects_at)
    subjects = [Run(inside[0], inside[-1]) for inside in mentions if inside]
    taken = {i for run in subjects for i in range(run.first, run.last + 1)}
    quoted = [r for r in sentence.quoted_titles() if not taken & set(range(r.first, r.last + 1))]
    taken |= {i for run in quoted for i in range(run.first, run.last + 1)}
    runs: list[Run] = []
    behind = 0
    for i in sentence.raised:
        if i < behind or i in taken or not sentence.is_name_word(i):
            continue
        last = i
        while (after := sentence.next_in_run(last)) is not None and after not in taken and after - i <= 12:
            last = after
        parts = (_strip_offices(sentence, part) for part in _split_at_rank(sentence, Run(i, last)))
        runs += [part for part in parts if part is not None]
        behind = last + 1
    if sentence.language != "de":
        runs = _join_runs(sentence, runs)
    whole = {r.first for r in (*subjects, *quoted)}
    ordered = sorted([*runs, *quoted, *subjects], key=lambda r: r.first) if whole else runs
    made = [_make_candidate(sentence, r, r.first in whole) for r in ordered]
    return [c for c in made if c is not None]


def _join_runs(s: Sentence, runs: Sequence[Run]) -> list[Run]:
    """Runs joined over "and" and "for" where they make one institution, and given their ordinal or year."""
    out: list[Run] = []
    for run in runs:
        before = run.first - 1
        if out and run.first - out[-1].last == 2 and not _POSSESSIVE.search(s.texts[out[-1].last]):
            last, head = out[-1], s.lower[run.last]
            joined = s.texts[before] == "for" and s.lower[last.last] in english_words("organisation-heads")
            if s.texts[before] == "and":
                joined = run.last > run.first and last.last - last.first < 2 and head in english_words("and-heads")
            if joined:
                out[-1] = Run(last.first, run.last)
                continue
        if before >= 0 and run.last != run.first and s.gap(before, run.first) == " ":
            number, held = s.texts[before], set(s.lower[run.first : run.last + 1])
            if (_YEAR.fullmatch(number) or _ORDINAL.fullmatch(number)) and held & english_words("ordinal-heads"):
                run = Run(before, run.last)
        out.append(run)
    return out


def is_capitalised(word: str) -> bool:
    """Whether a word is written like a name: a capital first, or inside (iPhone, 3D, al-Qaeda)."""
    if word[0].isupper():
        return True
    return len(word) > 2 and not word.islower() and word[0].isalnum() and any(c.isupper() for c in word)


def strip_possessive(word: str) -> str:
    """A word in lower case without possessive."""
    low = word.lower()
    return _POSSESSIVE.sub("", low) if "'" in low or "’" in low else low


def _split_at_rank(s: Sentence, run: Run) -> list[Run]:
    """A run cut where an office stands inside it: "Malaysian Prime Minister | Mahathir", "Sultan of | Damascus"."""
    if run.last < run.first + 2:
        return [run]
    ranks, offices = english_words("ranks"), english_words("offices")
    for i in range(run.first + 1, run.last):
        if s.lower[i].rstrip(".") in ranks:
            left = i - 1
            while left > run.first and s.lower[left] in offices:
                left -= 1
            if s.lower[left] in offices:
                return [Run(i, run.last)]
            return [Run(run.first, left), Run(i, run.last)]
    return [run]


def _strip_offices(s: Sentence, run: Run) -> Run | None:
    """The run without leading offices ("President", "Head Coach of"); None when nothing is left."""
    offices = english_words("offices")
    heads = (english_words(f"{kind}-heads") for kind in ("organisation", "place", "event", "other"))
    last = s.lower[run.last]
    if run.last > run.first and run.last - run.first < 3 and any(last in words for words in heads):
        return run
    first = run.first
    while first <= run.last and (s.lower[first] in offices or (first > run.first and s.is_joining(first))):
        first += 1
    if first > run.last:
        every = range(run.first, run.last + 1)
        empty = all(s.lower[i] in offices or s.is_joining(i) for i in every)
        return None if run.first == run.last or empty else run
    return Run(first, run.last)


def _make_candidate(s: Sentence, run: Run, whole: bool) -> Candidate | None:
    """The candidate of a run; `whole` says that it is the title of a work, which is not cut."""
    start, word, end = s.starts[run.first], s.texts[run.last], s.ends[run.last]
    # it ends without possessive, and with the dot of an abbreviation
    if cut := _POSSESSIVE.search(word):
        end = s.starts[run.last] + cut.start()
    elif s.text[end : end + 1] == "." and ("." in word or word.lower() in _DOTTED):
        end += 1
    surface = s.text[start:end]
    alone = not whole and surface.lower().rstrip(".") in english_words("never-alone")
    if alone or not any(map(str.isalpha, surface)):
        return None
    if len(surface) == 1 and surface.isascii():
        return None
    opening = not whole and s.is_opening(run.first) and not s.texts[run.first][0].isdigit()
    # what tells its type: the word before, the two words before, the word after, and the marks between
    *_, farther, left = "", "", *s.lower[max(0, run.first - 2) : run.first]
    right, next_right, *_ = *s.lower[run.last + 1 : run.last + 3], "", ""
    before, marks = f"{farther} {left}", ""
    if left and not left[0].isalnum():
        marks += "q" if left in '"“„«' else "," if left == "," else "."
        left = farther
    if right and right in ',("”':
        marks += {",": "c", "(": "b"}.get(right, "Q")
        right = next_right
    made = Candidate(s.number, start, end, surface, left=left, before=before, right=right, marks=marks)
    if not opening:
        return made
    inner = _strip_offices(s, Run(run.first + 1, run.last)) if run.last > run.first else None
    while inner is not None and not s.is_name_word(inner.first):
        inner = Run(inner.first + 1, inner.last) if inner.first < inner.last else None
    more = run.last > run.first and s.is_name_word(run.first + 1)
    inside = -1 if inner is None else s.starts[inner.first]
    return msgspec.structs.replace(made, inner=inside, first=s.lower[run.first], more=more)


def link_document_names(
    counts: Mapping[str, int], spoken: Collection[str], kinds: Mapping[str, str] | None
) -> dict[str, str]:
    """One-word keys of a document that stand for a longer name of a person: by last name, or by a first name.

    Only persons: "Northwind" is not short for "Northwind Research". A last name of several people is left alone
    unless one of them is mentioned more often than each other.
    """
    given = read_lexicon("people")["first"]

    def person(key: str) -> bool:
        first, last = key.split()[0], key.split()[-1]
        return first != last and (
            key in spoken or (kinds.get(key, "").lower() == "p" if kinds is not None else first in given)
        )

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

    def is_full_name(words: Sequence[str]) -> bool:
        """Whether they are such as "Ada Finch", not "poor Finch" or "Finch's Bank"; "PhD C" is a role."""
        given = words[0] in first_names or not known_word(words[0])
        parts = len(words) < 5 and len(words[-1].strip(".")) > 1 and words[0] != words[-1]
        return given and parts and not {"of", "&", "and", "the"} & set(words)

    first_names = read_lexicon("people")["first"]
    lasts, given = _group_by_part(k for k in counts if " " in k and kinds.get(k) == "p" and is_full_name(k.split()))
    if not lasts:
        return {}
    barred = (read_lexicon("places")["places"], *(() if firsts else (first_names,)))
    before_names = (english_words("titles"), english_words("epithets"))
    same = {}
    for k in sorted(counts):
        first, blank, last = k.partition(" ")
        # a last name behind a title or an epithet, or said twice: "Uncle Finch", "old Marsh"
        if blank and last in lasts and kinds.get(k, "m") in "plm":
            addressed = first == last or any(first in words for words in before_names)
            if addressed and (full := _find_only_person(lasts[last], counts)):
                same[k] = full
        if blank or (k not in lasts and k not in given) or kinds.get(k) != "p" or any(k in words for words in barred):
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
