"""Speakers of a transcript: who speaks, from labels before a colon such as "KEVIN SCOTT:", and how to write them.

Two readers of labels stand side by side, because results depend on each. `openings` serves the reading of whole
documents: a label may carry a note in parenthesis, and what it names is settled by the corpus. `labels` serves the
sentences of reports and answers: it decides from one text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sensegraph.language.text import HAN, fold, known_word
from sensegraph.language.word_lists import english_words, name_connectors, read_lexicon, read_patterns, stop_words

_MARKS = {name: re.compile("".join(lines)) for name, lines in read_patterns("speakers", HAN=HAN.pattern[1:-1]).items()}
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


def find_label_candidates(text: str) -> list[Label]:
    """Everything that looks like a speaker's label, in order: at the start of a line, or in capitals after a stop."""
    if ":" not in text:
        return []
    found = {m.start(1): m for pattern in (_MARKS["shout"], _MARKS["line"]) for m in pattern.finditer(text)}
    read: list[Label] = []
    for _, match in sorted(found.items()):
        name = match[1].rstrip()
        words, key, start = name.split(), fold(name), match.start(1)
        if 0 < len(key.split()) <= _SHORT:
            shouted = name.isupper() and len(words) > 1
            likely = all(w[0].isupper() or w in name_connectors("en") for w in words)
            read.append(Label(start, start + len(name), match.end(), key, shouted, likely))
    return read


def select_sure_labels(found: Sequence[Label]) -> list[Label]:
    """The labels that a document shows to be speakers by itself: written three times, or several words in capitals."""
    counts = Counter(label.key for label in found)
    return [label for label in found if label.shouted or counts[label.key] >= _TIMES_SEEN]


def count_labels(found: Sequence[Label]) -> dict[str, int]:
    """How often each label is written that is sure or looks like a name, by key."""
    clear = {label.key for label in (*select_sure_labels(found), *(one for one in found if one.likely))}
    return dict(sorted(Counter(label.key for label in found if label.key in clear).items()))


def can_name_speaker(key: str) -> bool:
    """Whether a label can name someone rather than open a sentence or a note."""
    words = key.split()
    if not words or words[0] in stop_words("en") - {"the", "right"} or words[-1] in english_words("general"):
        return False
    return words[-1] not in english_words("headings") and not _MARKS["code"].search(key)


def find_known_speakers(counts: Mapping[str, Mapping[str, int]]) -> frozenset[str]:
    """The labels of a corpus's speakers, from how often each work writes each: three times in one of them."""
    often = {k for held in counts.values() for k, n in held.items() if n >= _TIMES_SEEN}
    return frozenset(k for k in often if can_name_speaker(k))


def names_role(key: str) -> bool:
    """Whether a label names a role ("the chair", "professor e", "speaker 1") that many people may have."""
    words = [w for w in key.split() if len(w) > 1 and not w.isdigit() and w not in stop_words("en")]
    if not words:
        return True
    roles = english_words("speaker-roles")
    if len(words) < len(key.split()) and all(w in roles or known_word(w) for w in words):
        return words[0] not in read_lexicon("people")["first"] or len(words) == 1
    return words[-1] in roles or (len(words) == 1 and known_word(key) and key not in read_lexicon("people")["first"])


def find_name_span(text: str, label: Label) -> tuple[int, int]:
    """The span of a label's name without titles before it and honours behind it ("Hon. Bill Blair", "Ann Lee AM")."""
    words = [(m.start() + label.start, m[0]) for m in re.finditer(r"\S+", text[label.start : label.name_end])]
    titles = english_words("titles") | _HONOURS
    if names_role(label.key):
        return label.start, label.name_end
    while len(words) > 2 and words[0][1].lower() in titles:
        words = words[1:]
    while len(words) > 2 and words[-1][1].lower() in _HONOURS:
        words = words[:-1]
    return words[0][0], words[-1][0] + len(words[-1][1])


def count_spellings(text: str, names: Collection[str]) -> dict[str, int]:
    """How often a text writes the shouted names in another way than in capitals."""
    counts: Counter[str] = Counter()
    for name in names:
        counts.update(m[0] for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE))
    return {form: n for form, n in sorted(counts.items()) if not form.isupper()}


def write_label(label: str) -> str:
    """A label in all capitals as a name is written: "FEI-FEI LI" → "Fei-Fei Li"; other labels as they are."""
    return recase_label(label) if label.isupper() else label


def name_speakers(keys: Collection[str], labels: Mapping[str, str], forms: Mapping[str, int]) -> dict[str, str]:
    """How each speaker is written: as the corpus writes the name most often, else as the label, capitals undone."""
    best: dict[str, tuple[int, str]] = {}
    for form, n in sorted(forms.items()):
        key = fold(form)
        if n > best.get(key, (0, ""))[0]:
            best[key] = n, form
    return {k: best[k][1] if k in best else write_label(labels.get(k, k)) for k in sorted(keys)}


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


def read_turns(text: str, speakers: Mapping[str, str], breaks: Sequence[int] = ()) -> Turns:
    """The turns of a text whose `speakers` are known (key → name); nobody is known to speak behind a break.

    A line that opens like a label of someone unknown ends the turn before it: what follows may be anyone's.
    """
    marks = [(at, at, "") for at in breaks]
    if speakers:
        for label in find_label_candidates(text):
            name = speakers.get(label.key, "")
            if name or label.likely:
                marks.append((label.start, label.end if name else label.start, name))
    marks.sort()
    return Turns([a for a, _, _ in marks], [b for _, b, _ in marks], [n for _, _, n in marks])


# ── labels of sentences ──────────────────────────────────────────────────────────────────────────────────────────────

_PARTICLES = frozenset("de del della der den di da dos du el al la le van von zu bin ibn ben y e".split())
_KEPT = frozenset("II III IV AM MP PhD MD CEO CTO TV".split())


@dataclass(frozen=True, slots=True)
class SpeakerLabel:
    """A speaker's label in a text: `text[start:end]` is the label with its colon; `sure` unless it may be a heading."""

    name: str
    start: int
    end: int
    sure: bool


def find_labels(text: str) -> list[SpeakerLabel]:
    """What looks like a speaker's label in `text`, in order.

    Sure are two or more words in capitals, and line openings that recur in the text.
    """
    if ":" not in text and "：" not in text:
        return []
    matches = {m.start(1): m for pattern in (_MARKS["capitals"], _MARKS["named_line"]) for m in pattern.finditer(text)}
    found = []
    for _, match in sorted(matches.items()):
        words = match[1].split()
        # Of more than three words, two in small letters begin a sentence rather than name someone.
        if len(words) <= 3 or sum(w[0].islower() and w not in _PARTICLES for w in words) <= 1:
            found.append(match)
    often = Counter(fold(m[1]) for m in found)
    read = []
    for match in found:
        label = match[1]
        shouted = label.upper() == label and len(label.split()) >= 2 and not HAN.search(label)
        sure = often[fold(label)] >= 2 or shouted
        read.append(SpeakerLabel(recase_label(label), match.start(1), match.end(), sure))
    return read


@lru_cache(maxsize=1 << 14)
def find_opening_label(sentence: str) -> SpeakerLabel | None:
    """The label that a sentence opens with, sure or not."""
    if ":" not in sentence[:60] and "：" not in sentence[:20]:
        return None
    first = next(iter(find_labels(sentence)), None)
    return first if first and not sentence[: first.start].strip() else None


def split_label(sentence: str) -> tuple[str, str]:
    """(speaker, what is said) of a sentence that opens with a label; ("", sentence) where none is sure."""
    label = find_opening_label(sentence)
    return (label.name, sentence[label.end :].strip()) if label and label.sure else ("", sentence)


@lru_cache(maxsize=1 << 12)
def recase_label(label: str) -> str:
    """A label as a name is written: words in capitals become capitalised ("FEI-FEI LI" → "Fei-Fei Li").

    Initials, numerals and two consonants in front ("JJ", "TJ") stay as they are.
    """

    def capitalise(match: re.Match[str]) -> str:
        part = match[0]
        if match.start() > 0 and len(part) == 1:  # "KEVIN'S"
            return part.casefold()
        return f"Mc{part[2:].capitalize()}" if part.startswith("MC") and len(part) > 3 else part.capitalize()

    words = _MARKS["mark"].sub("", label.strip()).split()
    last = len(words) - 1
    for place, word in enumerate(words):
        letters = word.replace(".", "").replace("'", "").replace("’", "")
        if word in _KEPT or len(letters) < 2 or letters.upper() != letters or "." in word[:-1]:
            continue
        if 0 < place < last and word.casefold() in _PARTICLES:
            words[place] = word.casefold()
        elif len(letters) > 2 or place == last or set(letters) & set("AEIOUY"):
            words[place] = re.sub(r"[^\W_]+", capitalise, word)
    return " ".join(words)
