"""All that is personal in a text: every finder's spans, without what is allowed, joined where they overlap.

Names of people stand behind a title, behind initials, behind a label. What a whole text tells about who is a person is
the offline engine's to say; these rules add what one line tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

from sensegraph.language.text import fold
from sensegraph.personal import contacts
from sensegraph.personal.contacts import find_phones, read_pattern
from sensegraph.personal.identities import IBAN_LENGTHS, check_card, check_iban, find_identity_numbers
from sensegraph.personal.normalising import TextView, join_lines, normalise_signs
from sensegraph.personal.people import find_people_by_names, is_no_persons_name
from sensegraph.personal.personal_settings import KINDS, PersonalSettings, Span, compile_patterns


@dataclass(frozen=True, slots=True)
class Named:
    """A person whom a text names: where, and the name by which all mentions of them are known."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class RepeatedNames:
    """Names of several words that a text has, to be found wherever they stand again: by their first word."""

    names: Mapping[str, Sequence[tuple[tuple[str, ...], str, str]]]

    @classmethod
    def of(cls, text: str, people: Sequence[Named]) -> RepeatedNames:
        """The names of these people, as the text writes them and as they are known."""
        made: dict[str, dict[tuple[tuple[str, ...], str, str], None]] = {}
        for p in people:
            for said in (text[p.start : p.end], p.name):
                words = tuple(w.casefold() for w in _PART.findall(said))
                if len(words) > 1:
                    made.setdefault(words[0], {})[words, " ".join(said.split()), p.name] = None
        return cls({first: tuple(listed) for first, listed in made.items()})

    def spans(self, text: str, *, loose: bool = False) -> list[Span]:
        """Where they stand: as they are written or, with `loose`, in any case with any signs between, as in ids."""
        words = [(m[0].casefold(), *m.span()) for m in _PART.finditer(text)] if self.names else []
        found = []
        for i, (first, start, _) in enumerate(words):
            for parts, said, name in self.names.get(first, ()):
                here = words[i : i + len(parts)]
                if tuple(w for w, _, _ in here) == parts:
                    written = text[start : here[-1][2]]
                    if loose or " ".join(written.split()) == said:
                        found.append(Span("person", start, here[-1][2], fold_name(name)))
        return found


def fold_name(name: str) -> str:
    """The form in which two names are compared."""
    return " ".join(name.casefold().split())


_PART = re.compile(r"[^\W_]+")
_TITLED, _INITIALS, _NO_NAME, _LABEL, _LISTED = (
    re.compile(read_pattern(name)) for name in ("titled", "initials", "no_name", "label", "listed")
)
_END = ".,’'"
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_APART = re.compile(r"[^\w\s.'’\-]")
_LONGEST = 4  # words of a name


def find_named_people(text: str) -> Iterator[Named]:
    """Persons whom a title, initials or a label tell; each by the name as it is written there."""
    for pattern in (_TITLED, _INITIALS):
        for match in pattern.finditer(text):
            if not _NO_NAME.match(match["name"]):
                yield _name_person(text, *match.span("name"))
    for label in _LABEL.finditer(text):
        listed = list(_LISTED.finditer(text, *label.span("list")))
        first = listed[:1] if listed and listed[0].start() == label.start("list") else []
        for match in first if label[0][0] in ".!?" else listed:  # a label inside a line says one name
            if not is_no_persons_name(match["name"]):
                yield _name_person(text, *match.span("name"))


def find_listed_people(view: TextView) -> Iterator[Named]:
    """Persons by the names that people have, placed in the original; a family name alone is known by the whole name."""
    whole, found = dict[str, str](), list(find_people_by_names(view.text))
    for start, end in found:
        if " " in (name := view.text[start:end]):
            whole.setdefault(name.rpartition(" ")[2].casefold(), name)
    for start, end in found:
        name = view.text[start:end]
        yield Named(*view.place(start, end), whole.get(name.casefold(), name))


def find_possible_names(text: str) -> Iterator[Named]:
    """Every run of up to four words that could be a name: of capitals, or in a text without any, of all words."""
    words = [m.span() for m in _WORD.finditer(text)]
    plain = text == text.lower()
    for size in range(1, _LONGEST + 1):
        for i in range(len(words) - size + 1):
            start, end = words[i][0], words[i + size - 1][1]
            if not _APART.search(text, start, end) and (
                plain or all(text[a].isupper() for a, _ in words[i : i + size])
            ):
                yield Named(start, end, text[start:end])


def merge_people(more: Iterator[Named], known: Sequence[Named]) -> list[Named]:
    """`known` people, and the others; of two at one place the one that is written longer, else the known one."""
    found = list(known)
    for one in more:
        near = [k for k in found if k.start < one.end and one.start < k.end]
        if all(one.start <= k.start and k.end <= one.end and k.end - k.start < one.end - one.start for k in near):
            found = [k for k in found if k not in near] + [one]
    return sorted(found, key=lambda n: n.start)


def _name_person(text: str, start: int, end: int) -> Named:
    name = text[start:end].rstrip(_END)
    last, comma, first = name.partition(", ")
    return Named(start, start + len(name), f"{first} {last}" if comma else name)


_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=((?:[ \-]?[A-Za-z0-9]){11,30}))")  # two may follow one another
_CARD = re.compile(
    r"(?<![\w.\-/])\d{4}[ \-]?(?:\d{4}[ \-]?\d{4}[ \-]?\d{1,7}|\d{6}[ \-]?\d{4,5}|\d{9})(?![\w/]|[.,\-]\d)"
)
_BEFORE_PLUS = re.compile(r"\s(?=\+\d)")  # begins a number
MARK = re.compile(r"\[[A-Z]{2,20}\]|(?<![A-Z])[A-Z]{2,20}-[a-f][0-9a-f]{9}(?![\w])")
"""What stands where something was masked."""
_NUMBERS = frozenset({"phone", "card", "identity", "ip"})  # what columns of a table can look like
_WHOLE_ADDRESS = re.compile(r"\d .*(?<!,)(?<! Bad)(?<! Sankt)(?<! St\.)(?<! Neu)(?<! Alt)(?<! Markt)$")
_SUREST = ("url", "email", "iban", "card", "identity")
_ORDER = MappingProxyType({kind: n for n, kind in enumerate(dict.fromkeys((*_SUREST, *KINDS)))})


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds what the settings ask for. Make it with `build_finder`."""

    settings: PersonalSettings
    patterns: Mapping[str, re.Pattern[str]]
    allowed: tuple[str, ...]

    def find(self, text: str, more: Sequence[Span] = ()) -> list[Span]:
        """The spans in `text`, in order, none overlapping another; `more` are those that others found."""
        plain = normalise_signs(text)
        found = [_place_span(s, plain) for s in self._search(plain.text)]
        if (joined := join_lines(plain)) is not plain:
            found += self._across_lines(joined, found)
        kept = [
            s for s in (*found, *more) if s.end > s.start and not self._stays(text, s) and not self._marked(text, s)
        ]
        return _merge_overlaps(text, kept)

    def _search(self, text: str) -> list[Span]:
        """What stands in a text that is written as usual."""
        kinds, found = self.settings.kinds, list[Span]()
        for kind, pattern in self.patterns.items():
            found += [Span(kind, m.start(), m.end(), fold(m[0])) for m in pattern.finditer(text)]
        for find in (find for kind, find in _FINDERS.items() if kind in kinds):
            found += find(text)
        if "phone" in kinds:  # sought between other numbers too: beside them one is taken for a part of the other
            apart = list(text)
            for span in found:
                apart[span.start : span.end] = "\n" * (span.end - span.start)
            views = dict.fromkeys((text, _BEFORE_PLUS.sub("\n", "".join(apart))))
            found += [phone for view in views for phone in find_phones(view, self.settings.regions)]
        return found

    def _across_lines(self, joined: TextView, found: Sequence[Span]) -> Iterator[Span]:
        """What is found only where lines are joined: it stands in two, or the words before it stand in another."""
        for span in self._search(joined.text):
            placed = _place_span(span, joined)
            near = [s for s in found if s.start < placed.end and placed.start < s.end]
            if not joined.crosses(span.start, span.end):
                if not near:
                    yield placed
                continue
            number = span.kind in _NUMBERS and joined.text[span.start] != "+"
            if number and joined.stands_alone(span.start, span.end):
                continue  # numbers in a column
            if span.kind == "address" and any(s.kind == "address" for s in near):
                cut = max(b for b in joined.breaks if b < span.end)
                before, behind = joined.text[span.start : cut].rstrip(), joined.text[cut : span.end]
                if not re.search(r"\d", behind) and _WHOLE_ADDRESS.search(before):  # the last line only has a capital
                    value = " ".join(before.casefold().split())
                    placed = _place_span(replace(span, end=span.start + len(before), value=value), joined)
            yield placed

    def _stays(self, text: str, span: Span) -> bool:
        said = (fold(text[span.start : span.end]), fold(span.value))
        return any(fnmatchcase(s, pattern) for s in said for pattern in self.allowed)

    def _marked(self, text: str, span: Span) -> bool:
        """Whether a span touches what stands for something masked already: masking again changes nothing."""
        begin = max(0, span.start - 34)
        near = text[begin : span.end + 34]
        return ("[" in near or "-" in near) and any(
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
        "birthday": contacts.find_birthdays,
        "address": contacts.find_postal_addresses,
    }
)


def _place_span(span: Span, view: TextView) -> Span:
    """The span where it stands in the original."""
    start, end = view.place(span.start, span.end)
    return replace(span, start=start, end=end)


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
            replace(
                surer,
                start=last.start,
                end=end,
                value=surer.value if whole else fold(normalise_signs(text[last.start : end]).text),
            )
        )
    return made


def _rank_span(span: Span) -> int:
    return _ORDER.get(span.kind, -1)
