"""Names in one sentence: runs of capitalised words, repaired at their edges.

Whether a word that opens a sentence belongs to a name is left open here (`Candidate.first`): the corpus decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec

from sensegraph.engines.offline.extraction.records import Candidate
from sensegraph.engines.offline.extraction.scan import Word
from sensegraph.language.word_lists import connectors, english, sections, stop_words

_FILE = re.compile(r"\.(?:txt|pdf|docx?|html?|mp[34]|jpe?g|png|csv|xlsx?|pptx?|json|md|py)$", re.IGNORECASE)
_YEAR = re.compile(r"1\d{3}|20\d\d")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_DOTTED = frozenset("jr sr inc co ltd corp bros st d.c u.s u.k".split())
_AFTER_COMMA = frozenset("inc ltd llc jr sr d.c".split())
_POSSESSIVE = re.compile(r"['’]s?$")
_QUOTED = re.compile(r"[\"“„«]\s?([^\"“”„«»\n]{2,70}?)[\s,.!?]*[\"”“»]")
_QUOTE = re.compile(r'["“„«]')
_OPENERS = frozenset('"“„«:([‘')
_SMALL = frozenset(
    "a an the of in on at to for from and or with without by as is as my your no not but & - , ' ! : ?".split()
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence under the eye: its words, and which of them cannot belong to a name (inside a time)."""

    text: str
    number: int
    words: Sequence[Word]
    barred: Collection[int]
    language: str
    subjects: Sequence[tuple[int, int]] = ()

    def gap(self, left: int, right: int) -> str:
        """The text between two words."""
        return self.text[self.words[left].end : self.words[right].start]


@dataclass(frozen=True, slots=True)
class Run:
    """Words `first` to `last` of a sentence, both included."""

    first: int
    last: int


def candidates(sentence: Sentence) -> list[Candidate]:
    """What may be a name in this sentence, in order, without overlaps."""
    subjects = _subjects(sentence)
    taken = {i for run in subjects for i in range(run.first, run.last + 1)}
    quoted = [r for r in _titles(sentence) if not taken & set(range(r.first, r.last + 1))]
    taken |= {i for run in quoted for i in range(run.first, run.last + 1)}
    runs = [r for r in _runs(sentence, taken) if r is not None]
    if sentence.language != "de":
        runs = _joined(sentence, runs)
    whole = {r.first for r in (*subjects, *quoted)}
    made = (
        _candidate(sentence, r, r.first in whole) for r in sorted([*runs, *quoted, *subjects], key=lambda r: r.first)
    )
    return [c for c in made if c is not None]


def capital(word: str) -> bool:
    """Whether a word is written like a name: a capital first, or inside (iPhone, 3D, al-Qaeda)."""
    if word[0].isupper():
        return True
    return len(word) > 2 and not word.islower() and word[0].isalnum() and any(c.isupper() for c in word)


def bare(word: str) -> str:
    """A word in lower case without possessive."""
    return _POSSESSIVE.sub("", word.lower())


def _named(s: Sentence, i: int) -> bool:
    """Whether word `i` can be part of a name by itself."""
    word = s.words[i].text
    if i in s.barred or not capital(word) or _file_name(s, i):
        return False
    lower = word.lower().replace("’", "'")
    if lower not in stop_words(s.language) and bare(word) not in stop_words(s.language):
        return len(word) > 1 or word.isalpha()
    starts = lower in sections("people")["first"] or lower in english("name-openers")
    return starts and _followed(s, i) and not _opens(s, i)


def _file_name(s: Sentence, i: int) -> bool:
    """Whether word `i` is part of the name of a file ("Episode_29_Transcript.txt")."""
    word = s.words[i]
    return "_" in s.text[max(0, word.start - 1) : word.start] + s.text[word.end : word.end + 1] or bool(
        _FILE.search(word.text)
    )


def _followed(s: Sentence, i: int) -> bool:
    if i + 1 >= len(s.words):
        return False
    word = s.words[i + 1].text
    return word[0].isupper() and word.lower() not in stop_words(s.language) and s.gap(i, i + 1) == " "


def _opens(s: Sentence, i: int) -> bool:
    """Whether word `i` has its capital from its place: first in the sentence, in a quotation or after a colon."""
    return all(not w.text[0].isalnum() for w in s.words[:i][-3:]) if i < 3 else s.words[i - 1].text in _OPENERS


def _runs(s: Sentence, taken: Collection[int]) -> list[Run | None]:
    runs: list[Run | None] = []
    behind = 0
    for i, word in enumerate(s.words):
        if word.text.islower() or i < behind or i in taken or not _named(s, i):  # most words are in lower case
            continue
        last = _last(s, i, taken)
        runs += [_stripped(s, part) for part in _parted(s, Run(i, last))]
        behind = last + 1
    return runs


def _parted(s: Sentence, run: Run) -> list[Run]:
    """A run cut where an office stands inside it: "Malaysian Prime Minister | Mahathir", "Sultan of | Damascus"."""
    ranks = english("ranks")
    for i in range(run.first + 1, run.last):
        if s.words[i].text.lower().rstrip(".") in ranks:
            left = i - 1
            while left > run.first and s.words[left].text.lower() in english("offices"):
                left -= 1
            if s.words[left].text.lower() in english("offices"):
                return [Run(i, run.last)]
            return [Run(run.first, left), Run(i, run.last)]
    return [run]


def _last(s: Sentence, first: int, taken: Collection[int]) -> int:
    """The last word of the run that begins at `first`."""
    last = first
    while True:
        after = _next(s, last)
        if after is None or after in taken or after - first > 12:
            return last
        last = after


def _next(s: Sentence, i: int) -> int | None:
    """The word to which a run goes on from word `i`, if any."""
    words, size = s.words, len(s.words)
    word, k = words[i].text, i + 1
    if k >= size or "\n" in s.gap(i, k) or len(s.gap(i, k)) > 2:
        return None
    if _POSSESSIVE.search(word) and not _institution_follows(s, k):
        return None
    mark = words[k].text
    if mark == "." and (len(word) == 1 or (len(word) <= 3 and "." not in word) or "." in word):
        return k + 1 if k + 1 < size and _adjoins(s, k, k + 1) and _named(s, k + 1) else None
    if mark == "," and k + 1 < size and words[k + 1].text.lower() in _AFTER_COMMA:
        return k + 1
    if _named(s, k):
        return k
    return _across(s, i, k)


def _across(s: Sentence, i: int, k: int) -> int | None:
    """Where a run goes on behind a connector, a hyphen, an ampersand or before a number."""
    words, size = s.words, len(s.words)
    mark = words[k].text
    if mark.isdigit() and len(mark) <= 3 and k not in s.barred and s.gap(i, k) == " " and len(words[i].text) > 1:
        return k if k + 1 >= size or words[k + 1].text in ',.;:)"”' or words[k + 1].text.islower() else None
    if k + 1 >= size:
        return None
    if mark in "-–/" and not _two_nations(s, i, k) and (s.gap(i, k) == s.gap(k, k + 1) == "" or mark == "-"):
        return k + 1 if capital(words[k + 1].text) and _named(s, k + 1) else None
    if mark == "&":
        return k + 1 if _named(s, k + 1) else None
    return _over(s, k)


def _two_nations(s: Sentence, i: int, k: int) -> bool:
    """Whether a hyphen stands between two peoples ("Japanese - American"), which are two names."""
    known = english("nationalities")
    return s.words[i].text.lower() in known and s.words[k + 1].text.lower() in known


def _over(s: Sentence, k: int) -> int | None:
    """The capital behind one or two small words that names may hold ("of the")."""
    known = connectors(s.language)
    small = s.words[k].text
    if s.language == "de" and s.words[k - 1].text.lower() not in sections("people")["first"]:
        return None  # every noun has a capital: "Vorwort von Luther" is no name
    if small not in known and not (small[0].isupper() and small.lower() in english("stop") and small != "I"):
        return None
    for j in (k + 1, k + 2, k + 3):
        if j >= len(s.words) or not _adjoins(s, j - 1, j):
            return None
        if _named(s, j):
            return j
        text = s.words[j].text
        if text not in known and text != "the" and not (text[0].isupper() and text != "I"):
            return None
    return None


def _adjoins(s: Sentence, i: int, j: int) -> bool:
    return len(s.gap(i, j)) <= 2 and "\n" not in s.gap(i, j)


def _institution_follows(s: Sentence, k: int) -> bool:
    heads = english("and-heads") | frozenset({"world", "cup", "harbor", "championship", "championships", "hospital"})
    return _named(s, k) and s.words[k].text.lower() in heads


def _stripped(s: Sentence, run: Run) -> Run | None:
    """The run without leading offices ("President", "Head Coach of"); None when nothing is left."""
    offices = english("offices")
    first = run.first
    if run.last > first and s.words[run.last].text.lower() in _heads() and run.last - first < 3:
        return run
    while first <= run.last and (s.words[first].text.lower() in offices or (first > run.first and _small(s, first))):
        first += 1
    if first > run.last:
        return None if run.first == run.last or _all_offices(s, run) else run
    return Run(first, run.last)


def _all_offices(s: Sentence, run: Run) -> bool:
    return all(s.words[i].text.lower() in english("offices") or _small(s, i) for i in range(run.first, run.last + 1))


def _small(s: Sentence, i: int) -> bool:
    return s.words[i].text in ".-" or s.words[i].text in english("connectors") or s.words[i].text == "the"


def _heads() -> frozenset[str]:
    return english("organisation-heads") | english("place-heads") | english("event-heads") | english("other-heads")


def _joined(s: Sentence, runs: Sequence[Run]) -> list[Run]:
    """Runs joined over "and" and "for" where they make one institution, and given their ordinal or year."""
    out: list[Run] = []
    for run in runs:
        if out and _one_name(s, out[-1], run):
            out[-1] = Run(out[-1].first, run.last)
        else:
            out.append(_numbered(s, run))
    return out


def _one_name(s: Sentence, a: Run, b: Run) -> bool:
    if b.first - a.last != 2 or _POSSESSIVE.search(s.words[a.last].text):
        return False
    between, head = s.words[a.last + 1].text, s.words[b.last].text.lower()
    if between == "and":
        return b.last > b.first and a.last - a.first < 2 and head in english("and-heads")
    return between == "for" and s.words[a.last].text.lower() in english("organisation-heads")


def _numbered(s: Sentence, run: Run) -> Run:
    before = run.first - 1
    if before < 0 or run.last == run.first or s.gap(before, run.first) != " ":
        return run
    if not (_YEAR.fullmatch(s.words[before].text) or _ORDINAL.fullmatch(s.words[before].text)):
        return run
    held = {w.text.lower() for w in s.words[run.first : run.last + 1]}
    return Run(before, run.last) if held & english("ordinal-heads") else run


def _subjects(s: Sentence) -> list[Run]:
    """Mentions of the document's title, word for word."""
    found = []
    for start, end in s.subjects:
        inside = [i for i, w in enumerate(s.words) if start <= w.start and w.start < end]
        if inside:
            found.append(Run(inside[0], inside[-1]))
    return found


def _titles(s: Sentence) -> list[Run]:
    """Quoted titles of works: every word but the small ones has a capital."""
    if not s.words:
        return []
    begin, end = s.words[0].start, s.words[-1].end
    if not _QUOTE.search(s.text, begin, end):
        return []
    found = []
    for match in _QUOTED.finditer(s.text, begin, end):
        inside = [i for i, w in enumerate(s.words) if match.start(1) <= w.start and w.end <= match.end(1)]
        if inside and _titled(s, inside):
            found.append(Run(inside[0], inside[-1]))
    return found


def _titled(s: Sentence, inside: Sequence[int]) -> bool:
    texts = [s.words[i].text for i in inside]
    if len(texts) > 10 or not texts[0][0].isupper() or not texts[-1][0].isalnum() or texts[-1].islower():
        return False
    if len(texts) == 1 and texts[0].lower() in stop_words(s.language):
        return False
    return all(t[0].isupper() or not t[0].isalpha() or t in _SMALL for t in texts)


def _candidate(s: Sentence, run: Run, whole: bool) -> Candidate | None:
    start, end = s.words[run.first].start, _end(s, run.last)
    surface = s.text[start:end]
    if not any(c.isalpha() for c in surface) or (not whole and surface.lower().rstrip(".") in english("never-alone")):
        return None
    if len(surface) == 1 and surface.isascii():
        return None
    opening = not whole and _opens(s, run.first) and not s.words[run.first].text[0].isdigit()
    left, before, right, marks = _context(s, run)
    made = Candidate(s.number, start, end, surface, left=left, before=before, right=right, marks=marks)
    if not opening:
        return made
    inner = _stripped(s, Run(run.first + 1, run.last)) if run.last > run.first else None
    while inner is not None and not _named(s, inner.first):
        inner = Run(inner.first + 1, inner.last) if inner.first < inner.last else None
    more = run.last > run.first and _named(s, run.first + 1)
    inside = -1 if inner is None else s.words[inner.first].start
    return msgspec.structs.replace(made, inner=inside, first=s.words[run.first].text.lower(), more=more)


def _end(s: Sentence, last: int) -> int:
    """Where the run ends: without possessive, with the dot of an abbreviation."""
    word = s.words[last]
    cut = _POSSESSIVE.search(word.text)
    if cut:
        return word.start + cut.start()
    dotted = "." in word.text or word.text.lower() in _DOTTED
    return word.end + 1 if dotted and s.text[word.end : word.end + 1] == "." else word.end


def _context(s: Sentence, run: Run) -> tuple[str, str, str, str]:
    """What tells a run's type: the word before, the two words before, the word after, and the marks between."""
    words, size = s.words, len(s.words)
    around = [words[i].text.lower() if 0 <= i < size else "" for i in (run.first - 2, run.first - 1, run.last + 1)]
    after = words[run.last + 2].text.lower() if run.last + 2 < size else ""
    left, right = around[1], around[2]
    marks = ""
    if left and not left[0].isalnum():
        marks += "q" if left in '"“„«' else "," if left == "," else "."
        left = around[0]
    if right and right in ',("”':
        marks += {",": "c", "(": "b"}.get(right, "Q")
        right = after
    return left, f"{around[0]} {around[1]}", right, marks
