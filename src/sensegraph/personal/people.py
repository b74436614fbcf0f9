"""Names of people that stand where a name must stand: behind a title, behind initials, behind a label.

What a whole text tells about who is a person is the offline engine's to say; these rules add what one line tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """A person whom a text names: where, and the name by which all mentions of them are known."""

    start: int
    end: int
    name: str


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


def people_told(text: str) -> Iterator[Named]:
    """Persons whom a title, initials or a label tell; each by the name as it is written there."""
    for pattern in (_TITLED, _INITIALS):
        for match in pattern.finditer(text):
            if not _NO_NAME.match(match["name"]):
                yield _named(text, *match.span("name"))
    for label in _LABEL.finditer(text):
        listed = list(_LISTED.finditer(text, *label.span("list")))
        first = listed[:1] if listed and listed[0].start() == label.start("list") else []
        for match in first if label[0][0] in ".!?" else listed:  # a label inside a line says one name
            yield _named(text, *match.span("name"))


def names_like(text: str) -> Iterator[Named]:
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


def besides(more: Iterator[Named], known: Sequence[Named]) -> list[Named]:
    """`known` people, and the others; of two at one place the one that is written longer, else the known one."""
    found = list(known)
    for one in more:
        near = [k for k in found if k.start < one.end and one.start < k.end]
        if all(one.start <= k.start and k.end <= one.end and k.end - k.start < one.end - one.start for k in near):
            found = [k for k in found if k not in near] + [one]
    return sorted(found, key=lambda n: n.start)


def _named(text: str, start: int, end: int) -> Named:
    name = text[start:end].rstrip(_END)
    last, comma, first = name.partition(", ")
    return Named(start, start + len(name), f"{first} {last}" if comma else name)
