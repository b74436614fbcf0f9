"""The things of a kind that a context names, each with the sentence that tells most of it, and when that is from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.features import stem_units
from sensegraph.engines.offline.answers.lists.dating import OPENING, Dated, find_asked_stretches, find_year, is_within
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.kinds import KIND_CUES, AskedKind, find_series
from sensegraph.language.dates.moments import find_atoms
from sensegraph.language.text import fold, name_stemmer

EVERYWHERE = 0.3  # share of the chunks from which a word of the question says nothing of one item
_NEAR = 12  # characters beside the date in the line that says of what kind a document is
HELD = 0.5  # share of the other words of the question that stand with an item


@dataclass(frozen=True, slots=True)
class Item:
    """A thing of the kind: its name as a text writes it, the sentence that presents it, and its date, if it has one.

    `enumerated` says that the sentence lists several.
    """

    name: str
    sentence: SourceSentence
    date: str
    enumerated: bool


class Gathering:
    """A question for things of a kind beside the sentences of its context."""

    def __init__(self, kind: AskedKind, asked: Asked) -> None:
        self.kind, self.asked, self.dated = kind, asked, Dated(asked.sentences)
        self.spoken = name_stemmer(asked.question)
        self.stretches = find_asked_stretches(asked.question)
        rest = " ".join((*kind.words[:-1], kind.rest))
        for atom in reversed(find_atoms(rest)):
            rest = f"{rest[: atom.start]} {rest[atom.end :]}"
        self.gains = KIND_CUES["gains asked"].search(rest) is not None
        self.loses = KIND_CUES["losses asked"].search(rest) is not None
        for cue in ("rest holds nothing", "gains asked", "losses asked"):
            rest = KIND_CUES[cue].sub(" ", rest)
        self.rest = self._weigh(stem_units(rest, self.spoken))

    def _weigh(self, stems: Sequence[str]) -> frozenset[str]:
        """The stems that may tell one item from another: those that stand in few of the chunks."""
        counted = self.asked.counted
        known = dict(counted.words) if counted else {}
        most = EVERYWHERE * counted.chunks if counted else 0
        return frozenset(t for t in stems if not (counted and known.get(t, 0) > most))

    def gather(self) -> list[Item]:
        """The items of the time that is asked about, in order of time, those without a date behind."""
        found: dict[str, list[tuple[str, SourceSentence, bool]]] = {}
        for s in self.asked.sentences:
            for name, several in self.kind.find_names(s.raw):
                found.setdefault(fold(name), []).append((name, s, several))
        self._add_series(found)
        self._add_documents(found)
        asked = fold(self.asked.question)
        found = {name: mentions for name, mentions in found.items() if name not in asked}
        for name in sorted(found, key=len):  # mentions of a name are put to those of the one longer name that holds it
            longer = [other for other in found if re.search(rf"(?:^|\W){re.escape(name)}(?:\W|$)", other)]
            if len(longer) == 2:
                found[next(other for other in longer if other != name)] += found.pop(name)
        items = [item for mentions in found.values() if (item := self._choose(mentions))]
        within = [one for one in items if is_within(one.date or find_year(one.sentence), self.stretches)]
        return sorted(within, key=lambda one: (not one.date, one.date, one.sentence.order))

    def _add_series(self, found: dict[str, list[tuple[str, SourceSentence, bool]]]) -> None:
        """What bears a name of the same series ("INC-014" beside "INC-021") is of the same kind."""
        series = dict.fromkeys(name for mentions in found.values() if (name := find_series(mentions[0][0])))
        for start in series:
            rule = re.compile(rf"(?<![\w-]){re.escape(start)}\d[\w]*(?:\.\d+)*")
            for s in self.asked.sentences:
                for match in rule.finditer(s.raw):
                    found.setdefault(fold(match[0]), []).append((match[0], s, False))

    def _add_documents(self, found: dict[str, list[tuple[str, SourceSentence, bool]]]) -> None:
        """Documents that a dated line at their beginning says to be of the kind: "Board meeting, 11 January 2024"."""
        rule = re.compile(
            rf"^\W*(?:[\w-]+\s+){{0,2}}?{self.kind.pattern}(?:\s+notes?)?(?:\s+of)?\W+(?P<rest>.+)$", re.IGNORECASE
        )
        for held in self.dated.held.values():
            for s in held[:OPENING]:
                match = rule.match(s.raw)
                atoms = find_atoms(match["rest"]) if match else ()
                if match and atoms and atoms[0].start < _NEAR and len(match["rest"]) - atoms[0].end < _NEAR:
                    name = s.document or s.raw.lstrip("# ")
                    found.setdefault(fold(name), []).append((name, s, False))
                    break

    def _choose(self, mentions: Sequence[tuple[str, SourceSentence, bool]]) -> Item | None:
        """The item with the mention that presents it; None where none fits what the question says of it."""
        fitting = [one for one in mentions if self.fits(one[1])]
        if not fitting:
            return None
        name = min((n for n, _, _ in mentions), key=lambda n: (-len(n), n))

        def rank(one: tuple[str, SourceSentence, bool]) -> tuple[bool, bool, bool, str, int]:
            written, s, several = one
            told = re.match(rf"\W*{re.escape(written)}:\s+\w", s.raw) is not None
            return (not told, several, is_heading(s.raw) and not told, self.dated.date(s) or "9", s.order)

        _, sentence, several = min(fitting, key=rank)
        date = self.dated.date(sentence)
        if not date and fold(sentence.document).startswith(fold(name)):
            date = self.dated.first_date(sentence.origin)
        return Item(name, sentence, date, several)

    def fits(self, one: SourceSentence) -> bool:
        """Whether a sentence, with what stands around it, holds what the question says of the things."""
        if (self.gains and not KIND_CUES["gains told"].search(one.raw)) or (
            self.loses and not KIND_CUES["losses told"].search(one.raw)
        ):
            return False
        return self.share(one, 1) >= HELD

    def share(self, one: SourceSentence, beside: int = 0) -> float:
        """The share of the other words of the question that a sentence holds with its title and so many beside it."""
        if not self.rest:
            return 1.0
        near = [s for s in self.dated.held[one.origin] if abs(s.order - one.order) <= beside]
        held = set(stem_units(" ".join([one.document, *(s.raw for s in near)]), self.spoken))
        return len(self.rest & held) / len(self.rest)
