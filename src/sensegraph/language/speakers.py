"""Speakers of a transcript: labels before a colon that come back, how to write them, and who says what."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sensegraph.language.speaker_labels import recase
from sensegraph.language.tagging import known_word
from sensegraph.language.text import fold
from sensegraph.language.word_files import connectors, english, sections, stop_words

_LINE = re.compile(
    r"^[ \t\ufeff]*([^\W\d_][^:\n\"“”?!;()]{0,38}?)[ \t]?(?:\([^:\n]{0,90}\)[ \t]?)?:(?=\s)", re.MULTILINE
)
_SHOUT = re.compile(r"(?<=[.!?…”’)\]\s])([A-ZÀ-Þ][A-ZÀ-Þ’'.\-]+(?:[ ][A-ZÀ-Þ][A-ZÀ-Þ’'.\-]*){1,3})[ \t]*:(?=\s)")
_CODE = re.compile(r"[^\W\d_][-_.]?\d")
_TIMES_SEEN = 3
_SHORT = 4  # words of a label, at most
_HONOURS = frozenset("hon hon. right am mp ms mla msp qc kc phd md".split())


@dataclass(frozen=True, slots=True)
class Label:
    """A label that a text may hold: `text[start:name_end]` names who, the colon ends at `end`, `key` is its fold."""

    start: int
    name_end: int
    end: int
    key: str
    shouted: bool
    likely: bool


def openings(text: str) -> list[Label]:
    """Everything that looks like a speaker's label, in order: at the start of a line, or in capitals after a stop."""
    if ":" not in text:
        return []
    found = {m.start(1): m for pattern in (_SHOUT, _LINE) for m in pattern.finditer(text)}
    made = (_label(found[at]) for at in sorted(found))
    return [label for label in made if 0 < len(label.key.split()) <= _SHORT]


def _label(match: re.Match[str]) -> Label:
    name = match[1].rstrip()
    words = name.split()
    shouted = name.isupper() and len(words) > 1
    likely = all(w[0].isupper() or w in connectors("en") for w in words)
    return Label(match.start(1), match.start(1) + len(name), match.end(), fold(name), shouted, likely)


def sure(found: Sequence[Label]) -> list[Label]:
    """The labels that a document shows to be speakers by itself: written three times, or several words in capitals."""
    counts = Counter(label.key for label in found)
    return [label for label in found if label.shouted or counts[label.key] >= _TIMES_SEEN]


def counted(found: Sequence[Label]) -> dict[str, int]:
    """How often each label is written that is sure or looks like a name, by key."""
    clear = {label.key for label in (*sure(found), *(one for one in found if one.likely))}
    return dict(sorted(Counter(label.key for label in found if label.key in clear).items()))


def speaks(key: str) -> bool:
    """Whether a label can name someone rather than open a sentence or a note."""
    words = key.split()
    if not words or words[0] in stop_words("en") - {"the", "right"} or words[-1] in english("general"):
        return False
    return words[-1] not in english("headings") and not _CODE.search(key)


def known(counts: Mapping[str, Mapping[str, int]]) -> frozenset[str]:
    """The labels of a corpus's speakers, from how often each work writes each: three times in one of them."""
    often = {k for held in counts.values() for k, n in held.items() if n >= _TIMES_SEEN}
    return frozenset(k for k in often if speaks(k))


def role(key: str) -> bool:
    """Whether a label names a role ("the chair", "professor e", "speaker 1") that many people may have."""
    words = [w for w in key.split() if len(w) > 1 and not w.isdigit() and w not in stop_words("en")]
    if not words:
        return True
    roles = english("speaker-roles")
    if len(words) < len(key.split()) and all(w in roles or known_word(w) for w in words):
        return words[0] not in sections("people")["first"] or len(words) == 1
    return words[-1] in roles or (len(words) == 1 and known_word(key) and key not in sections("people")["first"])


def person(text: str, label: Label) -> tuple[int, int]:
    """The span of a label's name without titles before it and honours behind it ("Hon. Bill Blair", "Ann Lee AM")."""
    words = [(m.start() + label.start, m[0]) for m in re.finditer(r"\S+", text[label.start : label.name_end])]
    titles = english("titles") | _HONOURS
    if role(label.key):
        return label.start, label.name_end
    while len(words) > 2 and words[0][1].lower() in titles:
        words = words[1:]
    while len(words) > 2 and words[-1][1].lower() in _HONOURS:
        words = words[:-1]
    return words[0][0], words[-1][0] + len(words[-1][1])


def spellings(text: str, names: Collection[str]) -> dict[str, int]:
    """How often a text writes the shouted names in another way than in capitals."""
    counts: Counter[str] = Counter()
    for name in names:
        counts.update(m[0] for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE))
    return {form: n for form, n in sorted(counts.items()) if not form.isupper()}


def written(label: str) -> str:
    """A label in all capitals as a name is written: "FEI-FEI LI" → "Fei-Fei Li"; other labels as they are."""
    return recase(label) if label.isupper() else label


def names(keys: Collection[str], labels: Mapping[str, str], forms: Mapping[str, int]) -> dict[str, str]:
    """How each speaker is written: as the corpus writes the name most often, else as the label, capitals undone."""
    best: dict[str, tuple[int, str]] = {}
    for form, n in sorted(forms.items()):
        key = fold(form)
        if n > best.get(key, (0, ""))[0]:
            best[key] = n, form
    return {k: best[k][1] if k in best else written(labels.get(k, k)) for k in sorted(keys)}


# ── who says what ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Turns:
    """Who speaks from where on in a text: rising starts, where the label ends, and the name ("" for nobody known)."""

    starts: Sequence[int]
    ends: Sequence[int]
    names: Sequence[str]

    def at(self, place: int) -> str:
        """Who speaks at this place; "" when no known label governs it."""
        turn = bisect_right(self.starts, place) - 1
        return self.names[turn] if turn >= 0 else ""

    def behind(self, place: int) -> int:
        """This place, moved behind the label that stands there."""
        turn = bisect_right(self.starts, place) - 1
        return max(place, self.ends[turn]) if turn >= 0 else place


def turns(text: str, speakers: Mapping[str, str], breaks: Sequence[int] = ()) -> Turns:
    """The turns of a text whose `speakers` are known (key → name); nobody is known to speak behind a break.

    A line that opens like a label of someone unknown ends the turn before it: what follows may be anyone's.
    """
    marks = [(at, at, "") for at in breaks]
    if speakers:
        for label in openings(text):
            name = speakers.get(label.key, "")
            if name or label.likely:
                marks.append((label.start, label.end if name else label.start, name))
    marks.sort()
    return Turns([a for a, _, _ in marks], [b for _, b, _ in marks], [n for _, _, n in marks])
