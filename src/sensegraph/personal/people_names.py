"""Names of people that stand where a name must stand: behind a title, behind initials, behind a label.

What a whole text tells about who is a person is the offline engine's to say; these rules add what one line tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sensegraph.personal.personal_settings import Span


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
_NAME = r"(?:[A-ZÀ-ÖØ-Þ]['’])?[A-ZÀ-ÖØ-Þ][\wß-öø-ÿ'’]+(?:-[A-ZÀ-ÖØ-Þ]?[\wß-öø-ÿ]+)*"
_JOINED = r"(?: (?:(?:van|von|de|der|den|del|da|di|la|le|bin|al|ten|ter) ){0,2}"
_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Herr|Frau|Monsieur|Madame|Mme|Mlle|Sr|Sra|Señor|Señora|Signor|Signora)\b\.? "
    rf"(?P<name>(?:(?:van|von|de|der|den|di|da) ){{0,2}}{_NAME}{_JOINED}{_NAME}){{0,2}})"
)
_INITIALS = re.compile(rf"(?<![\w.])(?P<name>(?:[A-ZÀ-ÖØ-Þ]\. ?){{1,3}}{_NAME})")
_NO_NAME = re.compile(r"(?:U\. ?[SKN]|[DB]\. ?C|A\. ?D|P\. ?[OS]|E\. ?U|L\. ?A|N\. ?Y|[AP]\. ?M)\.")
_LABEL = re.compile(
    r"(?:^|[\n;|]|[.!?] )[ \t]*(?:Author|Name|Full name|From|To|Cc|By|Attendee|Present|Contact|Patient|Customer|Client|"
    r"Employee|Applicant|Signed|Interviewer|Interviewee|Verfasser|Auteur|Autor)s?[ \t]*: *(?P<list>[^\n;|]{2,200})"
)
_TURNED = rf"{_NAME}, {_NAME}(?: {_NAME}| [A-Z]\.)?"
_LISTED = re.compile(rf"(?P<name>{_TURNED}|{_NAME}{_JOINED}(?:{_NAME}|[A-Z]\.)){{1,3}})")
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
            yield _name_person(text, *match.span("name"))


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
