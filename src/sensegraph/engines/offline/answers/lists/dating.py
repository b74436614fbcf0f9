"""When sentences and documents of a context are from, and whether that is within the time that a question names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from sensegraph.engines.offline.answers.dated import find_document_date
from sensegraph.engines.offline.answers.lists.weighing import list_by_document
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.moments import Instant, find_atoms, first_instant, instant_after

Stretch = tuple[Instant, Instant]
OPENING, _SHORT = 5, 120  # sentences at the beginning of a document, and their characters, that may say when it is from
_ISSUED = re.compile(
    r"\b(?:printed|dated|published|issued|written|edition|newsletter|updated|as\s+of|gedruckt|veröffentlicht|ausgabe|stand)\b",
    re.IGNORECASE,
)
_EXACT = (7, 10)  # characters of a month and of a day


class Dated:
    """The sentences of a context by their documents, in order, and what dates them."""

    def __init__(self, sentences: Sequence[SourceSentence]) -> None:
        self.held = list_by_document(sentences)

    @cached_property
    def written(self) -> Mapping[str, str]:
        """When each document is from, as its title or opening states it; empty where they do not."""
        found = {}
        for name, held in self.held.items():
            issued = (find_exact_date(s.raw) for s in held[:OPENING] if len(s.raw) <= _SHORT and _ISSUED.search(s.raw))
            found[name] = find_document_date(held[0].document, held) or next(filter(None, issued), "")
        return found

    def date(self, sentence: SourceSentence) -> str:
        """When what a sentence says is from: the day or month that it names, else that of its document, or empty."""
        return find_exact_date(sentence.raw) or self.written[sentence.origin]

    def first_date(self, origin: str) -> str:
        """When a document is from, or the first day or month that its text names."""
        texts = (find_exact_date(s.raw) for s in self.held[origin])
        return self.written[origin] or next(filter(None, texts), "")


def find_exact_date(text: str) -> str:
    """The first day or month that a text names, as ISO 8601."""
    if not any(c.isdigit() for c in text):
        return ""
    return next((a.first for a in find_atoms(text) if a.first == a.last and len(a.first) in _EXACT), "")


def find_asked_stretches(question: str) -> list[Stretch]:
    """The stretches of time that a question names: years, months, days."""
    return [(first_instant(a.first), instant_after(a.last)) for a in find_atoms(question) if a.first and a.last]


def is_within(date: str, stretches: Sequence[Stretch]) -> bool:
    """Whether a moment begins within one of these stretches; any does where there is none."""
    return not stretches or (bool(date) and any(a <= first_instant(date) < b for a, b in stretches))


def find_year(one: SourceSentence) -> str:
    """The one year that a sentence names, or the title of its document; empty where there is none, or several."""
    for text in (one.raw, one.document):
        years = {a.first for a in find_atoms(text) if len(a.first) == 4 and a.first == a.last}
        if years:
            return years.pop() if len(years) == 1 else ""
    return ""
