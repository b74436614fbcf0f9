"""All that is personal in a text: every finder's spans, without what is allowed, joined where they overlap."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

from sensegraph.language.text import fold
from sensegraph.personal import contacts, places
from sensegraph.personal.digits import IBAN_LENGTHS, check_card, check_iban
from sensegraph.personal.identities import find_identity_numbers
from sensegraph.personal.personal_settings import KINDS, PersonalSettings, Span, compile_patterns
from sensegraph.personal.phones import find_phones

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=((?:[ \-]?[A-Za-z0-9]){11,30}))")  # two may follow one another
_CARD = re.compile(
    r"(?<![\w.\-/])\d{4}[ \-]?(?:\d{4}[ \-]?\d{4}[ \-]?\d{1,7}|\d{6}[ \-]?\d{4,5}|\d{9})(?![\w/]|[.,\-]\d)"
)
MARK = re.compile(r"\[[A-Z]{2,20}\]|(?<![A-Z])[A-Z]{2,20}-[a-f][0-9a-f]{9}(?![\w])")
"""What stands where something was masked."""
_SUREST = ("url", "email", "iban", "card", "identity")
_ORDER = MappingProxyType({kind: n for n, kind in enumerate(dict.fromkeys((*_SUREST, *KINDS)))})


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds what the settings ask for. Make it with `finder`."""

    settings: PersonalSettings
    patterns: Mapping[str, re.Pattern[str]]
    allowed: tuple[str, ...]

    def find(self, text: str, more: Sequence[Span] = ()) -> list[Span]:
        """The spans in `text`, in order, none overlapping another; `more` are those that others found."""
        found = [
            s for s in (*self._own(text), *self._ruled(text), *more) if s.end > s.start and not self._stays(text, s)
        ]
        return _merge_overlaps(text, [s for s in found if not self._marked(text, s)])

    def _ruled(self, text: str) -> Iterator[Span]:
        for kind, find in _FINDERS.items():
            if kind in self.settings.kinds:
                yield from find(text)
        if "phone" in self.settings.kinds:
            yield from find_phones(text, self.settings.regions)

    def _own(self, text: str) -> Iterator[Span]:
        for kind, pattern in self.patterns.items():
            yield from (Span(kind, m.start(), m.end(), fold(m[0])) for m in pattern.finditer(text))

    def _stays(self, text: str, span: Span) -> bool:
        said = (fold(text[span.start : span.end]), fold(span.value))
        return any(fnmatchcase(s, pattern) for s in said for pattern in self.allowed)

    def _marked(self, text: str, span: Span) -> bool:
        """Whether a span touches what stands for something masked already: masking again changes nothing."""
        begin = max(0, span.start - 34)
        near = text[begin : span.end + 34]
        return "[" in near and any(
            m.start() + begin < span.end and span.start < m.end() + begin for m in MARK.finditer(near)
        )


def build_finder(settings: PersonalSettings) -> Finder:
    """The finder of these settings. Raises SettingsError for a wrong pattern."""
    return Finder(settings, compile_patterns(settings), tuple(map(fold, settings.allow)))


def find_ibans(text: str) -> Iterator[Span]:
    """International bank account numbers of the right length for their country, with right check digits (ISO 13616)."""
    for match in _IBAN.finditer(text):
        size = IBAN_LENGTHS.get(match[0][:2].upper(), 0)
        plain, end = "", match.start()
        while len(plain) < size and end < match.end(1):
            plain += text[end].upper() if text[end].isalnum() else ""
            end += 1
        *groups, _ = re.split(r"[ \-]", text[match.start() : end])
        if check_iban(plain) and not text[end : end + 1].isalnum() and all(len(g) == 4 for g in groups):
            yield Span("iban", match.start(), end, plain)


def find_cards(text: str) -> Iterator[Span]:
    """Numbers of payment cards, in groups or in one: of a known issuer, with the right check digit."""
    for match in _CARD.finditer(text):
        plain = re.sub(r"\D", "", match[0])
        if check_card(plain):
            yield Span("card", match.start(), match.end(), plain)


_FINDERS: Mapping[str, Callable[[str], Iterator[Span]]] = MappingProxyType(
    {
        "email": contacts.find_emails,
        "url": contacts.find_user_urls,
        "ip": contacts.find_ip_addresses,
        "iban": find_ibans,
        "card": find_cards,
        "identity": find_identity_numbers,
        "birthday": places.find_birthdays,
        "address": places.find_postal_addresses,
    }
)


def _merge_overlaps(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans that overlap as one, of the kind that is surest, so that nothing of either is left."""
    made: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end, _rank_span(s))):
        if not made or span.start >= made[-1].end:
            made.append(span)
            continue
        last = made.pop()
        surer, end = min((last, span), key=_rank_span), max(last.end, span.end)
        whole = (surer.start, surer.end) == (last.start, end)
        made.append(
            replace(surer, start=last.start, end=end, value=surer.value if whole else fold(text[last.start : end]))
        )
    return made


def _rank_span(span: Span) -> int:
    return _ORDER.get(span.kind, -1)
