"""The words of offices, of people and of dates, by worked examples."""

from __future__ import annotations

from typing import Any

from sensegraph.engines.offline.answers.offices.office_words import (
    add_years,
    compile_office,
    complete_names,
    date_documents,
    find_modifiers,
    find_people,
)
from sensegraph.language.dates.office_questions import OfficeQuestion
from sensegraph.types import Passage, Source

WORDS = [
    "president",
    "presidents",
    "president's",
    "presidente",
    "CEO",
    "ceo",
    "CEOs",
    "chief-executive",
    "chief executive officer",
    "chief fire officer",
    "CFO",
    "cfo",
    "chief-fire-officer",
    "vice mayor",
    "vice-mayor",
    "vicemayor",
    "chair",
    "chairs",
    "chairman",
    "chairmen",
    "chairwoman",
    "chairperson",
    "duty",
    "duties",
    "dutie",
    "Leiter",
    "Leiterin",
    "Leiterinnen",
    "MP",
    "MPS",
    "PS",
    "P",
    "boss",
    "bosses",
    "bos",
    "bu",
    "bus",
    "buses",
    "led",
    "leader",
    "heads",
    "coach",
    "coaches",
    "coached",
    "coaching",
    "manage",
    "manager",
    "managers",
    "manages",
    "trainierte",
    "trainier",
    "trainieren",
    "as",
    "a",
    "a chief executive",
    "chief technical officer",
    "Arzt",
    "Ärztin",
    "Lehrer",
    "Lehrerin",
    "Lehrerinnen",
    "abbess",
    "abbesses",
    "abbes",
    "non-president",
    "president-elect",
    "chief e",
    "chief economist",
]


def date_texts(*texts: tuple[str, str, str]) -> dict[str, str]:
    """When documents were written, each given by what its id begins with, its title and its text."""
    return date_documents([
        Passage("chunk", f"c{i}", text, title=title, sources=(Source(f"{name}-{i}", 0, len(text)),) if name else ())
        for i, (name, title, text) in enumerate(texts)
    ])  # fmt: skip


def modify(text: str, thing: str) -> tuple[int, str]:
    return find_modifiers(text, text.rindex("president"), OfficeQuestion("president", thing))


def find_forms(office: str, verb: bool) -> list[str]:
    """The words of the list above that name the office."""
    pattern = compile_office(OfficeQuestion(office, verb=verb))
    return [word for word in WORDS if pattern.fullmatch(word)]


# fmt: off
PEOPLE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (("Anna Berg met Tom von der Heide and Sam O'Neil.",),
     ((0, 9, 'Anna Berg'), (14, 31, 'Tom von der Heide'), (36, 46, "Sam O'Neil"))),
    (('Yesterday Anna Berg came.',), ((10, 19, 'Anna Berg'),)),
    (('The Mayor of Orl sang.',), ((4, 9, 'Mayor'), (13, 16, 'Orl'))),
    (('NATO came. BBC News came.',), ()),
    (('Dr. Lena Voss and Prof Tim Roe',), ((4, 13, 'Lena Voss'), (23, 30, 'Tim Roe'))),
    (('May Day came in May. June Carter sang.',), ((4, 7, 'Day'), (26, 32, 'Carter'))),
    (('J. R. Tolkien met E. Frost.',), ((0, 4, 'J. R'), (6, 13, 'Tolkien'), (18, 26, 'E. Frost'))),
    (("Anna Berg's cat and Anna’s dog",), ((0, 9, 'Anna Berg'), (20, 24, 'Anna'))),
    (('Tom Reeve. He sang.',), ((0, 9, 'Tom Reeve'),)),
    (('In March Anna Berg went.',), ((9, 18, 'Anna Berg'),)),
    (('Sam Orr Jr. came.',), ((0, 10, 'Sam Orr Jr'),)),
    (('Old Anna Berg came.',), ((4, 13, 'Anna Berg'),)),
    (('Ärztin Änne Öl kam.',), ((0, 14, 'Ärztin Änne Öl'),)),
    (('He met A.',), ()),
    (('Monday Anna Berg came, 3 May 2010.',), ((7, 16, 'Anna Berg'),)),
    (('Mrs Anna',), ((4, 8, 'Anna'),)),
    (('Then Old Tom Anna Berg came.',), ((9, 22, 'Tom Anna Berg'),)),
    (('Anna Maria BERG came',), ()),
    (('A Berg',), ((2, 6, 'Berg'),)),
    (('Tom and IBM Anna',), ((0, 3, 'Tom'),)),
    (('Will Smith and Mark came',), ((0, 10, 'Will Smith'), (15, 19, 'Mark'))),
    (('anna Berg',), ((5, 9, 'Berg'),)),
    (('de Anna',), ((3, 7, 'Anna'),)),
    (('Mr. May came',), ()),
]
# fmt: on


def test_names_of_people_are_found_without_titles_and_words_that_open_a_sentence() -> None:
    found = [(given, find_people(*given)) for given, _ in PEOPLE_EXAMPLES]
    assert found == PEOPLE_EXAMPLES


# fmt: off
COMPLETE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    ((['Anna Berg', 'Anna', 'Berg', 'A. Berg', 'B. Berg'],),
     {'A. Berg': 'Anna Berg', 'Anna': 'Anna Berg', 'Berg': 'Anna Berg'}),
    ((['Anna Berg', 'Otto Berg', 'Berg', 'Anna', 'O. Berg'],), {'Anna': 'Anna Berg', 'O. Berg': 'Otto Berg'}),
    ((['Anna Maria Berg', 'Maria', 'Anna', 'Berg', 'A. Berg'],),
     {'A. Berg': 'Anna Maria Berg', 'Anna': 'Anna Maria Berg', 'Berg': 'Anna Maria Berg'}),
    ((['A. Berg', 'Berg'],), {}),
    ((['J. Anna Berg', 'Anna'],), {}),
    ((['Anna Berg', 'A. Lund', 'Anna B.'],), {}),
]
# fmt: on


def test_a_shorter_name_stands_for_the_one_longer_name_that_it_is_part_of() -> None:
    found = [(given, complete_names(*given)) for given, _ in COMPLETE_EXAMPLES]
    assert found == COMPLETE_EXAMPLES


# fmt: off
YEARS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('On 3 May she came.', '2012-06-05'), 'On 3 May 2012 she came.'),
    (('On 3 July she came.', '2012-06-05'), 'On 3 July 2012 she came.'),
    (('Since 3 July she came.', '2012-06-05'), 'Since 3 July 2011 she came.'),
    (('Since July she came.', '2012-06-05'), 'Since July 2011 she came.'),
    (('since about July she came', '2012-06-05'), 'since about July 2011 she came'),
    (('Since 3 July she came.', '2012'), 'Since 3 July 2012 she came.'),
    (('Since 3 July 2010 she came.', '2012-06-05'), 'Since 3 July 2010 she came.'),
    (('Since 5 June she came.', '2012-06-05'), 'Since 5 June 2012 she came.'),
    (('In May they came.', '2012-06-05'), 'In May 2012 they came.'),
    (('They may come in may 3 times.', '2012-06-05'), 'They may 2012 come in may 3 2012 times.'),
    (('On May 3 and June 4 they came.', '2012-06-05'), 'On May 3 2012 and June 4 2012 they came.'),
    (('On 3 May they', ''), 'On 3 May they'),
    (('Seit dem 3. Juli ist sie', '2012-06-05'), 'Seit dem 3. Juli 2011 ist sie'),
    (('Since 1 May and until 3 July she', '2012-06-05'), 'Since 1 May 2012 and until 3 July 2012 she'),
    (('On 31 February she came', '2012-06-05'), 'On 31 February she came'),
    (('since the old days of July it', '2012-06-05'), 'since the old days of July 2012 it'),
    (('since 2001. On July 3 she', '2012-06-05'), 'since 2001. On July 3 2012 she'),
]
# fmt: on


def test_a_date_without_a_year_has_that_of_its_document_and_what_began_none_that_is_later() -> None:
    found = [(given, add_years(*given)) for given, _ in YEARS_EXAMPLES]
    assert found == YEARS_EXAMPLES


# fmt: off
WRITTEN_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    ((('d', 'Notes', '5 May 2010\n\nWe met.'),), {'d-0': '2010-05-05'}),
    ((('d', 'Notes', 'We met on 5 May 2010.'),), {}),
    ((('d', 'Notes, 3 May 2010', 'Hello'),), {'d-0': '2010-05-03'}),
    ((('d', 'N', 'a\nb\nc\nd\ne\n5 May 2010\n'),), {'d-0': '2010-05-05'}),
    ((('d', 'N', 'a\nb\nc\nd\ne\nf\n5 May 2010\n'),), {}),
    ((('d', 'N', '---\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\n5 May 2010\n'),), {'d-0': '2010-05-05'}),
    ((('d', 'N', '---\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n5 May 2010\n'),), {}),
    ((('d', 'N', '+++\na\nb\nc\nd\ne\nf\n5 May 2010\n'),), {'d-0': '2010-05-05'}),
    ((('d', 'N',
       'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 5 May 2010'),),
     {'d-0': '2010-05-05'}),
    ((('d', 'N',
       'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 5 May 2010'),),
     {'d-0': '2010-05-05'}),
    ((('d', 'N',
       'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 5 May 2010'),),
     {}),
    ((('d', 'N',
       'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 5 May 2010'),),
     {}),
    ((('', 'N', '5 May 2010'),), {}),
    ((('d', 'N', 'May 2010'), ('d', 'N', '5 May 2010')), {'d-0': '2010-05', 'd-1': '2010-05-05'}),
    ((('d', 'N', '5 May 2010'), ('d', 'N', 'May 2010')), {'d-0': '2010-05-05', 'd-1': '2010-05'}),
    ((('d', 'N', '5 May 2010'), ('d', 'N', '6 May 2011')), {'d-0': '2010-05-05', 'd-1': '2011-05-06'}),
    ((('d', 'N', 'nothing'), ('d', 'N', '6 May 2011')), {'d-1': '2011-05-06'}),
    ((('d', 'N', 'nothing'),), {}),
]
# fmt: on


def test_a_document_is_dated_by_its_title_or_a_short_line_among_its_first_six() -> None:
    found = [(given, date_texts(*given)) for given, _ in WRITTEN_EXAMPLES]
    assert found == WRITTEN_EXAMPLES


# fmt: off
MODIFIERS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('the acting president', ''), (0, 'temporary')),
    (('the acting president', 'bank of Orl'), (0, 'temporary')),
    (('our deputy president', ''), (11, 'other')),
    (('our deputy president', 'bank of Orl'), (11, 'other')),
    (('the former president', ''), (0, 'past')),
    (('the former president', 'bank of Orl'), (0, 'past')),
    (('the first president', ''), (0, '')),
    (('the first president', 'bank of Orl'), (0, '')),
    (('Orl president', ''), (4, 'other')),
    (('Orl president', 'bank of Orl'), (0, '')),
    (('The bank president', ''), (9, 'other')),
    (('The bank president', 'bank of Orl'), (0, '')),
    (('she, president', ''), (5, '')),
    (('she, president', 'bank of Orl'), (5, '')),
    (('his old friend president', ''), (15, 'other')),
    (('his old friend president', 'bank of Orl'), (15, 'other')),
    (('the society’s president', ''), (14, '')),
    (('the society’s president', 'bank of Orl'), (14, '')),
    (('new interim president', ''), (0, 'temporary')),
    (('new interim president', 'bank of Orl'), (0, 'temporary')),
    (('next president', ''), (0, 'future')),
    (('next president', 'bank of Orl'), (0, 'future')),
    (('vice-president', ''), (5, 'other')),
    (('vice-president', 'bank of Orl'), (5, 'other')),
    (('elected president', ''), (8, '')),
    (('elected president', 'bank of Orl'), (8, '')),
    (('In 2003 president', ''), (8, '')),
    (('In 2003 president', 'bank of Orl'), (8, '')),
    (('It rained. Bank president', ''), (16, 'other')),
    (('It rained. Bank president', 'bank of Orl'), (11, '')),
    (('then president', ''), (5, '')),
    (('then president', 'bank of Orl'), (5, '')),
    (('– Bank president', ''), (7, 'other')),
    (('– Bank president', 'bank of Orl'), (2, '')),
    (('named president', ''), (6, '')),
    (('named president', 'bank of Orl'), (6, '')),
    (('Bank’s president', ''), (7, '')),
    (('Bank’s president', 'bank of Orl'), (0, '')),
    (('past acting president', ''), (0, 'past')),
    (('past acting president', 'bank of Orl'), (0, 'past')),
    (('said president', ''), (5, 'other')),
    (('said president', 'bank of Orl'), (5, 'other')),
    (('- bank president', ''), (7, 'other')),
    (('- bank president', 'bank of Orl'), (2, 'other')),
]
# fmt: on


def test_words_before_an_office_change_it() -> None:
    found = [(given, modify(*given)) for given, _ in MODIFIERS_EXAMPLES]
    assert found == MODIFIERS_EXAMPLES


# fmt: off
WRITTEN_AS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('president', False), ['president', 'presidents', "president's"]),
    (('CEO', False), ['CEO', 'ceo', 'CEOs', 'chief executive officer', 'chief economist']),
    (('ceos', False), ['CEO', 'ceo', 'CEOs', 'chief executive officer', 'chief economist']),
    (('CEOs', False), ['CEO', 'ceo', 'CEOs', 'chief executive officer', 'chief economist']),
    (('chief fire officer', False), ['chief fire officer', 'CFO', 'chief-fire-officer']),
    (('chairmen', False), ['chair', 'chairs', 'chairman', 'chairmen', 'chairwoman', 'chairperson']),
    (('chairman', False), ['chair', 'chairs', 'chairman', 'chairwoman', 'chairperson']),
    (('duties', False), ['duty', 'duties', 'dutie']),
    (('Leiterin', False), ['Leiter', 'Leiterin', 'Leiterinnen']),
    (('MPS', False), ['MPS']),
    (('PS', False), ['PS']),
    (('boss', False), ['boss', 'bosses']),
    (('bus', False), ['bus', 'buses']),
    (('led', True),
     ['chair', 'chairs', 'chairman', 'chairwoman', 'chairperson', 'Leiter', 'Leiterin', 'led', 'leader', 'heads']),
    (('coached', True), ['coach', 'coaches', 'coached']),
    (('manages', True), ['manage', 'manager', 'managers', 'manages']),
    (('trainierte', True), ['trainierte', 'trainier']),
    (('as', False), ['as']),
    (('vice mayors', False), ['vice mayor', 'vice-mayor', 'vicemayor']),
    (('Ärztinnen', False), ['Ärztin']),
    (('Lehrerinnen', False), ['Lehrer', 'Lehrerin', 'Lehrerinnen']),
    (('abbess', False), ['abbess', 'abbesses']),
]
# fmt: on


def test_an_office_is_named_in_many_forms() -> None:
    found = [(given, find_forms(*given)) for given, _ in WRITTEN_AS_EXAMPLES]
    assert found == WRITTEN_AS_EXAMPLES
