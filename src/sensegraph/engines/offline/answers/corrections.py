"""What a later document corrects: the later sentence stands first, the earlier one behind it, marked as replaced.

A correction is said, not guessed: a document says that it replaces another, or a sentence that a figure or a cause was
wrong. Two documents that only differ are left as they are; and what a correction says nothing of still stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sensegraph.engines.offline.answers.asked import list_shown, show_sentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, stem_content_words
from sensegraph.language.dates.moments import are_same_moment, find_atoms, find_written, first_instant
from sensegraph.language.text import WORD, detect_language, fold
from sensegraph.language.word_lists import Patterns
from sensegraph.types import Statement

_CUES = Patterns("corrections", re.IGNORECASE)
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HEAD, _SHORT = 6, 100  # sentences at the beginning of a document, and their characters, that may date it
_AROUND = 2  # sentences around a correction that may hold the right figure
_SHARED = 2  # stems that two sentences on the same matter share


@dataclass(frozen=True, slots=True)
class Preferred:
    """A sentence to show; `replaced` says that the one before it corrects it."""

    sentence: SourceSentence
    replaced: bool = False


def prefer_corrections(ranked: Sequence[SourceSentence], sentences: Sequence[SourceSentence]) -> list[Preferred]:
    """The sentences of `ranked` in their order, each that one of `sentences` corrects behind what corrects it."""
    documents = _Documents(sentences)
    mended = [(one, documents.find_correction(one)) for one in ranked]
    used = {s.source for _, better in mended for s in better}
    found: dict[object, Preferred] = {}
    for one, better in mended:
        for s in better:
            found.setdefault(s.source, Preferred(s))
        if better or one.source not in used:
            found.setdefault(one.source, Preferred(one, bool(better)))
    return list(found.values())


def list_preferred(chosen: Sequence[Preferred], lead: str = "") -> list[Statement]:
    """Sentences as an answer shows them, what was replaced as "Earlier: … (replaced)"."""
    texts = [show_sentence(one.sentence) for one in chosen]
    shown = [
        (one.sentence, f"Earlier: {text} (replaced)" if one.replaced else text)
        for one, text in zip(chosen, texts, strict=True)
    ]
    return list_shown(shown, lead)


class _Documents:
    """The sentences of a context by their documents, in order, and when those were written."""

    def __init__(self, sentences: Sequence[SourceSentence]) -> None:
        self.held: dict[str, list[SourceSentence]] = {}
        for s in sorted(sentences, key=lambda s: (s.source.chunk, s.source.start, s.source.end)):
            self.held.setdefault(s.origin, []).append(s)
        self.mending = {
            name: [i for i, s in enumerate(held) if _CUES["mends"].search(s.raw)] for name, held in self.held.items()
        }
        self.replacing = frozenset(
            n for n, held in self.held.items() if any(_CUES["replaces"].search(s.raw) for s in held)
        )

    @cached_property
    def written(self) -> Mapping[str, str]:
        """When each document that may correct another was written, and all others."""
        heads = {name: [s.raw for s in held[:_HEAD] if len(s.raw) <= _SHORT] for name, held in self.held.items()}
        return {name: find_written((held[0].document, *heads[name])) for name, held in self.held.items()}

    def find_correction(self, earlier: SourceSentence) -> list[SourceSentence]:
        """The sentences that correct an earlier one: none where no later document says that it was wrong."""
        able = [n for n in self.held if n != earlier.origin and (self.mending[n] or n in self.replacing)]
        for name in sorted(able, key=lambda n: (self.written[n], n), reverse=True):
            if not self._is_later(name, earlier.origin):
                continue
            replaced = name in self.replacing and self._replaces(name, earlier.origin)
            for i in range(len(self.held[name])) if replaced else self.mending[name]:
                one = self.held[name][i]
                near = self.held[name][max(0, i - _AROUND) : i + _AROUND + 1]
                if found := _correct(one, near, earlier, replaced):
                    return found
        return []

    def _is_later(self, name: str, other: str) -> bool:
        mine, theirs = self.written[name], self.written[other]
        return not (mine and theirs) or first_instant(mine) > first_instant(theirs)

    def _replaces(self, name: str, other: str) -> bool:
        """Whether a document says that it replaces another: one of the date that it names, or of the same subject."""
        subject = _list_numbered_words(self.held[other][0].document)
        for one in self.held[name]:
            if not _CUES["replaces"].search(one.raw):
                continue
            year, text = self.written[name][:4], one.raw
            if year:  # days and months that have none are of the same year: "that of 15 January"
                text = re.sub(r"(\b[0-3]?\d\.?\s+[^\W\d]{3,9})\b(?!\s+\d)", rf"\1 {year}", text)
            dates = [a.first for a in find_atoms(text) if a.first]
            if self.written[other] and any(are_same_moment(d, self.written[other]) for d in dates):
                return True
            if subject and subject & (_list_numbered_words(one.raw) | _list_numbered_words(one.document)):
                return True
        return False


def _correct(
    one: SourceSentence, near: Sequence[SourceSentence], earlier: SourceSentence, replaced: bool
) -> list[SourceSentence]:
    """What corrects an earlier sentence, where this one says that its figure is wrong, gives another, or denies it.

    That is the sentence with the right figure and this one, or this one and the one behind it: how it really is.
    """
    theirs, mine = _read_figures(earlier.raw), _read_figures(one.raw)
    pairs = [(n, m, units & others) for n, units in theirs for m, others in mine if units & others]
    same = {(n, u) for n, m, shared in pairs if n == m for u in shared}
    if same and _CUES["mends"].search(one.raw):
        for s in (one, *near):
            if any(units & {u for _, u in same} and n not in {v for v, _ in same} for n, units in _read_figures(s.raw)):
                return [s] if s is one else [s, one]
        return [one]
    if not replaced:
        return []
    if pairs and not same and len(set(one.terms) & set(earlier.terms)) >= _SHARED:
        return [one]
    cue = _CUES["denies"].search(one.raw)
    if cue is None:
        return []
    denied = re.split(r"[,;:.]", one.raw[cue.end() :])[0]
    if set(earlier.terms).isdisjoint(stem_content_words(denied, detect_language(one.raw))):
        return []
    behind = [s for s in near if s.source.start > one.source.start and not s.raw.startswith("#")]
    return [one, *behind[:1]]


def _list_numbered_words(text: str) -> frozenset[str]:
    """The words with digits of a title: numbers of reports, versions and editions, which tell documents apart."""
    found = re.findall(r"[\w-]*[^\W\d][\w-]*\d[\w.-]*|[\w-]*\d[\w-]*[^\W\d][\w-]*", text)
    return frozenset(fold(word).rstrip(".") for word in found)


@lru_cache(maxsize=1 << 12)
def _read_figures(text: str) -> list[tuple[str, frozenset[str]]]:
    """The numbers of a text with the one or two words behind each, in the singular."""
    found = []
    for atom in reversed(find_atoms(text) if any(c.isdigit() for c in text) else ()):  # a date is no figure
        text = f"{text[: atom.start]};{text[atom.end :]}"
    for match in _CUES["number"].finditer(text):
        number = match[1].lower()
        value = str(_WORDS.index(number) + 1) if number in _WORDS else number.replace(",", "")
        units = frozenset(fold(w).rstrip("s") for w in match.groups()[1:] if w and WORD.fullmatch(w))
        found.append((value, units))
    return found
