"""A report of what is personal in documents: counts, and examples of which only the shape is shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from sensegraph.personal.masking import Masker
from sensegraph.personal.people_names import Named
from sensegraph.personal.personal_settings import KINDS, PersonalSettings, seeks_people
from sensegraph.types import Document

_NAMES = (
    "names of people: `person` is not among personal.kinds",
    "of the names of people nicknames, single names in passing, and names in languages without capitals",
)  # where they are not looked for, and where they are
_UNFOUND = (
    "numbers without check digits and without a word before them that says what they are (driving licences, customers, "
    "plates); give a pattern of your own",
    "telephone numbers without + from countries that are not in personal.regions; local numbers without an area code",
    "postal addresses without a street and its number, or written in other orders than those of English, German, "
    "French, Spanish, Italian, Portuguese and Dutch",
    "what tells who somebody is without naming them: a post, a place, an illness, a date",
    "what is in pictures and scans",
)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts by kind, and by document and kind; examples by kind, as shapes; what was `unfound` by design."""

    counts: Mapping[str, int]
    documents: Mapping[str, Mapping[str, int]]
    examples: Mapping[str, tuple[str, ...]]
    read: int
    unfound: tuple[str, ...]


def survey_personal_data(
    read: Iterable[tuple[Document, Sequence[Named], Sequence[Named]]], settings: PersonalSettings
) -> Survey:
    """What is personal in documents, each with the persons whom its text and its title name. Their ids are masked."""
    from sensegraph.personal.finding import build_finder

    masker = Masker(build_finder(settings))
    total: Counter[str] = Counter()
    documents: dict[str, Mapping[str, int]] = {}
    shapes: dict[str, dict[str, None]] = {}
    number = 0
    for number, (d, people, titled) in enumerate(read, start=1):  # noqa: B007
        masked, counts = masker.document(d, people, titled)
        total.update(counts)
        if counts:
            same = (f"{masked.id} ({n})" for n in count(2))  # names may differ only in what is hidden
            documents[masked.id if masked.id not in documents else next(n for n in same if n not in documents)] = (
                _order_kinds(counts)
            )
        for span in masker.found(d.text, people):
            shapes.setdefault(span.kind, {}).setdefault(mask_shape(d.text[span.start : span.end]))
    examples = {kind: tuple(shapes[kind])[:_SHOWN] for kind in _order_kinds(Counter(shapes.keys()))}
    return Survey(_order_kinds(total), documents, examples, number, (_NAMES[seeks_people(settings)], *_UNFOUND))


def mask_shape(text: str) -> str:
    """How a text is written, and nothing of what it says: letters as `a` and `A`, digits as `9`."""
    text = re.sub(r"\d", "9", text)
    text = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", text)
    return re.sub(r"\s+", " ", text)[:60]


def _order_kinds(counts: Counter[str]) -> dict[str, int]:
    order = [*KINDS, *sorted(counts.keys() - set(KINDS))]
    return {kind: counts[kind] for kind in order if counts[kind]}
