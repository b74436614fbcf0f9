"""Documents that are dated, for a question about a time: which of them speak of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.features import Floats, Read
from sensegraph.engines.offline.answers.ranking import QUOTING, READ
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, group_by_reference
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.dates.moments import find_atoms
from sensegraph.language.dates.stated_dates import find_expressions
from sensegraph.types import Passage

OPENING = 4  # sentences of a chunk among which a heading may hold its date
MORE, AMONG = 3, 20  # chunks that are read beside the first, because they are dated near the time, and of how many
MONTHS = 4.0  # months in which what a document says becomes e times less likely to hold
LATER = 2.0  # how much more a month counts for a document that is from after the time
FLOOR, UNDATED = 0.05, 0.5  # the least that a date leaves of a chance, and what no date does
_END = re.compile(r"\b(?:end|close|ende|fin)\b", re.IGNORECASE)
_UNTIL = re.compile(r"^\W*(?:(?:un)?til\s+when|bis\s+wann|jusqu['’]à\s+quand|hasta\s+cu[áa]ndo)\b", re.IGNORECASE)
_NO_END = 0.02  # what is left of the chance of a sentence that says of no end, where one is asked for
_FIELD = re.compile(r"\W{0,3}\w[\w’'\-]*\W{0,3}:\s")


def find_document_date(title: str, opening: Sequence[SourceSentence]) -> str:
    """The day or month that a document is from, as ISO 8601: in its title, or in a heading or field above its text.

    Empty where none is stated there: dates in the text are those of events.
    """
    above = [s.raw for s in opening[:OPENING] if is_heading(s.raw) or _FIELD.match(s.raw)]
    for text in (title, *above):
        for atom in find_atoms(text):
            if atom.first == atom.last and len(atom.first) in (7, 10):
                return atom.first
    return ""


def find_asked_time(question: str) -> str:
    """The year or month that a question asks about, as ISO 8601; of the end of a year its last month.

    Empty where it names a day: what happened then is told later, and names the day itself.
    """
    atoms = [a for a in find_atoms(question) if a.first and a.first == a.last]
    if not atoms or len(atoms[-1].first) > len("2024-12"):
        return ""
    first = atoms[-1].first
    return f"{first}-12" if len(first) == 4 and _END.search(question[: atoms[-1].start]) else first


def choose_dated(asked: Asked) -> list[Passage]:
    """What to read: the first chunks and records, for a question about a time also chunks that are dated near it."""
    first, time = [*asked.chunks[:READ], *asked.quoting[:QUOTING]], find_asked_time(asked.question)
    if not time:
        return first
    dates = _date_chunks(asked)
    later = asked.chunks[READ:AMONG]
    near = [(-_weigh_distance(dates[p.id], time), i) for i, p in enumerate(later) if dates.get(p.id)]
    chosen = [later[i] for weight, i in sorted(near) if -weight > FLOOR]
    return first + chosen[:MORE]


def favour_dated(asked: Asked, read: Read, chances: Floats) -> Floats:
    """The chances of sentences for a question about a time, less where their document is from far away from it."""
    time = find_asked_time(asked.question)
    if not time:
        return chances
    dates = _date_chunks(asked)
    own = [dates.get(s.reference, "") for s in read.sentences]
    if len(set(filter(None, own))) < 2:
        return chances
    weighed = chances * np.array([_weigh_distance(date, time) if date else UNDATED for date in own])
    return np.asarray(weighed / weighed.sum())


def favour_ends(question: str, read: Read, chances: Floats) -> Floats:
    """The chances of sentences for a question until when something was, less where they state no end."""
    if not _UNTIL.match(question):
        return chances
    ends = [any(e.kind in ("until", "span") and e.last for e in find_expressions(s.raw)) for s in read.sentences]
    weighed = chances * np.where(ends, 1.0, _NO_END)
    return np.asarray(weighed / weighed.sum())


def _date_chunks(asked: Asked) -> dict[str, str]:
    by_chunk = group_by_reference(asked.sentences)
    return {p.id: find_document_date(p.title, by_chunk.get(p.id, ())) for p in asked.chunks[:AMONG]}


def _weigh_distance(date: str, time: str) -> float:
    """1 for a document from the time that is asked about, less for one from before it, and still less from after it."""
    months = _count_months(date) - _count_months(time)
    if len(time) == 4:  # a year: from its end, or from its beginning
        months = max(0, months - 11) + min(0, months)
    return float(max(FLOOR, np.exp(-abs(months) * (LATER if months > 0 else 1.0) / MONTHS)))


def _count_months(moment: str) -> int:
    return 12 * int(moment[:4]) + (int(moment[5:7]) - 1 if len(moment) > 4 else 0)
