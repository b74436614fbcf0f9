"""How much of some words sentences hold: words weigh by how rare they are in the corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.features import rate_rarity, stem_units
from sensegraph.engines.offline.answers.questions import FRAME
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.text import WORD, name_stemmer
from sensegraph.language.word_lists import ENGLISH_MONTHS, read_list

_ASKING = re.compile(r"^\W*(?:how\s+\w+|what|when|where|who|which)\b", re.IGNORECASE)
_MONTHS = re.compile(rf"\b(?:{'|'.join(ENGLISH_MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


class Weigher:
    """The words of a question, or of a part of one, beside the sentences of its context."""

    def __init__(self, asked: Asked, text: str) -> None:
        self.spoken = name_stemmer(asked.question)
        self.sentences = asked.sentences
        stop = FRAME | read_list("en")
        plain = " ".join(w for w in WORD.findall(_ASKING.sub("", text)) if w.casefold() not in stop)
        if _MONTHS.search(plain):  # texts seldom repeat the year of a day
            plain = _YEAR.sub("", plain)
        counted = asked.counted
        known, size = (dict(counted.words), counted.chunks) if counted else ({}, len(asked.chunks))
        self.weights = {
            stem: rate_rarity(known.get(stem, 0), size) for stem in dict.fromkeys(stem_units(plain, self.spoken))
        }
        self.total = sum(self.weights.values())
        self._held: dict[str, frozenset[str]] = {}

    def share(self, *texts: str) -> float:
        """The share of the words that these texts hold together, by weight."""
        held = frozenset[str]().union(*map(self._stem, texts))
        return sum(w for stem, w in self.weights.items() if stem in held) / self.total if self.total else 0.0

    def find_held(self, text: str) -> frozenset[str]:
        """The stems that a text holds."""
        return self._stem(text) & self.weights.keys()

    def share_of_document(self, origin: str) -> float:
        """The share that a document holds as far as the context shows it."""
        return self.share(*(f"{s.document} {s.raw}" for s in self.sentences if s.origin == origin))

    def _stem(self, text: str) -> frozenset[str]:
        if text not in self._held:
            self._held[text] = frozenset(stem_units(text, self.spoken))
        return self._held[text]


def list_by_document(sentences: Iterable[SourceSentence]) -> dict[str, list[SourceSentence]]:
    """The sentences of each document in their order."""
    found: dict[str, list[SourceSentence]] = {}
    for s in sorted(sentences, key=lambda s: (s.source.chunk, s.source.start, s.source.end)):
        found.setdefault(s.origin, []).append(s)
    return found
