"""Who held an office when, by worked examples: one sentence each, and little corpora."""

from __future__ import annotations

from typing import Any

from office_corpora import Texts, passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.offices.office_answers import answer_office
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences


def tell(question: str, texts: Texts) -> tuple[list[str], list[int], bool]:
    """The lines of an answer, how many spans each statement rests on, and whether it abstains."""
    chunks = passages(texts)
    sentences = tuple(read_source_sentences(chunks, choose_language(question, chunks)))
    written = answer_office(Asked(question, chunks, sentences))
    if written is None:
        return [], [], False
    lines = "".join(s.text for s in written.statements).split("\n")
    return lines, [len(s.sources) for s in written.statements], written.abstained


def tell_first(question: str, given: Texts | str) -> str:
    """The lines that name holders, as one."""
    lines, _, _ = tell(question, given if isinstance(given, dict) else {"Minutes": given})
    shown = [line for line in lines if line and (not line.startswith("- ") or "known" in line)]
    shown = [": ".join(line.removeprefix("- ").split(": ")[:2]) if "known" in line else line for line in shown]
    return " / ".join(line for line in shown if line != "In order of time:")


# fmt: off
SINGLE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who is president?', 'The president is Nina Frost. The president is Karl Beck.'),
     'This is disputed: **Nina Frost** or **Karl Beck**.'),
    (('Who was president in 2005?', 'The president is Nina Frost. The president is Karl Beck.'),
     'The sources do not say who it was at that time (president, 2005).'),
    (('Who was president in 2004?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     'This is disputed, the sources disagree: **Nina Frost**, from 2003 until 2005, or **Karl Beck**, from 2004 '
     'until 2006.'),
    (('Who has been president since 2003?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who was president after 2003?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     'This is disputed, the sources disagree: **Nina Frost**, from 2003 until 2005, or **Karl Beck**, from 2004 '
     'until 2006.'),
    (('Who is president?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     'The sources name nobody after **Karl Beck**, from 2004 until 2006.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     '**Karl Beck**, from 2004 until 2006.'),
    (('Who was president before Karl Beck?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who was president in 2004?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who has been president since 2003?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who was president after 2003?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     '**Nina Frost**, from 2003 until 2005, then **Karl Beck**, from 2005 until 2006.'),
    (('Who is president?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     'The sources name nobody after **Karl Beck**, from 2005 until 2006.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     '**Karl Beck**, from 2005 until 2006.'),
    (('Who was president before Karl Beck?',
      'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2005 to 2006.'),
     '**Nina Frost**, from 2003 until 2005.'),
    (('Who was president in 2004?', 'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     'This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003.'),
    (('Who has been president since 2003?',
      'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     'This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003.'),
    (('Who was president after 2003?', 'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     '**Karl Beck**, from 2003.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     'This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003.'),
    (('Who is president?', 'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     'This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became president in 2003. Karl Beck became president in 2003.'),
     'The sources name nobody before **Karl Beck**.'),
    (('Who was president in 2004?', 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'The sources do not say who it was at that time (president, 2004). / Last known before: **Nina Frost**, named '
     'in 2003'),
    (('Who has been president since 2003?', 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'The sources do not say who it was at that time (president, from 2003).'),
    (('Who was president after 2003?', 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'The sources do not say who it was at that time (president, from 2004). / Last known before: **Nina Frost**, '
     'named in 2003'),
    (('Who was president from 2001 to 2005?', 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'This is disputed, the sources disagree: **Karl Beck**, named in 2003, or **Nina Frost**, named in 2003.'),
    (('Who is president?', 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'This is disputed, the sources disagree: **Karl Beck**, named in 2003, or **Nina Frost**, named in 2003.'),
    (('Who succeeded Nina Frost as president?',
      'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?', 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'),
     'The sources name nobody before **Karl Beck**.'),
    (('Who was president in 2004?', 'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     'The sources do not say who it was at that time (president, 2004). / Last known before: **Nina Frost**, named '
     'in 2001 / First known after: **Karl Beck**, named in 2005'),
    (('Who has been president since 2003?', 'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     'The sources do not say who it was at that time (president, from 2003). / Last known before: **Nina Frost**, '
     'named in 2001'),
    (('Who was president after 2003?', 'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     'The sources do not say who it was at that time (president, from 2004). / Last known before: **Nina Frost**, '
     'named in 2001'),
    (('Who was president from 2001 to 2005?', 'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     '**Nina Frost**, named in 2001, then **Karl Beck**, named in 2005.'),
    (('Who is president?', 'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     '**Karl Beck**, named in 2005.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     '**Karl Beck**, named in 2005.'),
    (('Who was president before Karl Beck?', 'Nina Frost was president in 2001. Karl Beck was president in 2005.'),
     '**Nina Frost**, named in 2001.'),
    (('Who was president in 2004?', 'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     '**Nina Frost**, from 2001.'),
    (('Who has been president since 2003?',
      'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     'The sources do not say who it was at that time (president, from 2003). / Last known before: **Nina Frost**, '
     'from 2001'),
    (('Who was president after 2003?', 'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     '**Nina Frost**, from 2001.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     '**Nina Frost**, from 2001, then **Karl Beck**, named in 2005.'),
    (('Who is president?', 'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     '**Karl Beck**, named in 2005.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     '**Karl Beck**, named in 2005.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became president in 2001. Karl Beck was president in 2005.'),
     '**Nina Frost**, from 2001.'),
    (('Who was president in 2004?', 'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     '**Nina Frost**, named in 2001.'),
    (('Who has been president since 2003?',
      'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     'The sources do not say who it was at that time (president, from 2003). / Last known before: **Nina Frost**, '
     'named in 2001'),
    (('Who was president after 2003?', 'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     '**Nina Frost**, named in 2001.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     '**Nina Frost**, named in 2001, then **Karl Beck**, from 2005.'),
    (('Who is president?', 'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     '**Karl Beck**, from 2005.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     '**Karl Beck**, from 2005.'),
    (('Who was president before Karl Beck?',
      'Nina Frost was president in 2001. Karl Beck became president in 2005.'),
     '**Nina Frost**, named in 2001.'),
    (('Who was president in 2004?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Omar Sy**, from 2004.'),
    (('Who has been president since 2003?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Ida Holt**, from 2003.'),
    (('Who was president after 2003?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Omar Sy**, from 2004.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Nina Frost**, from 2001, then **Karl Beck**, from 2002, then **Ida Holt**, from 2003, then **Omar Sy**, '
     'from 2004.'),
    (('Who is president?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Omar Sy**, from 2004.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Karl Beck**, from 2002.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became president in 2001. Karl Beck became president in 2002. Ida Holt became president in 2003. '
      'Omar Sy became president in 2004.'),
     '**Nina Frost**, from 2001.'),
    (('Who was president in 2004?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     '**Nina Frost**, from 4 May 2001.'),
    (('Who has been president since 2003?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     '**Nina Frost**, from 4 May 2001.'),
    (('Who was president after 2003?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     '**Nina Frost**, from 4 May 2001.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     '**Nina Frost**, from 4 May 2001.'),
    (('Who is president?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     '**Nina Frost**, from 4 May 2001.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was re-elected '
      'president in 2003.'),
     ''),
    (('Who was president in 2004?',
      'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     '**Nina Frost** (interim), from 2001.'),
    (('Who has been president since 2003?',
      'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     '**Nina Frost**, from 2003.'),
    (('Who was president after 2003?',
      'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     '**Nina Frost** (interim), from 2001.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     '**Nina Frost** (interim), from 2001.'),
    (('Who is president?', 'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     '**Nina Frost**, from 2003.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became interim president in 2001. Nina Frost became president in 2003.'),
     ''),
    (('Who was president in 2004?',
      'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     '**Nina Frost**, from June 2001.'),
    (('Who has been president since 2003?',
      'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     '**Nina Frost**, from June 2001.'),
    (('Who was president after 2003?',
      'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     '**Nina Frost**, from June 2001.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     '**Nina Frost**, from June 2001.'),
    (('Who is president?', 'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     '**Nina Frost**, from June 2001.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'),
     ''),
    (('Who was president in 2004?',
      'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     'The sources do not say who it was at that time (president, 2004). / Last known before: **Nina Frost**, named '
     'in May 2001'),
    (('Who has been president since 2003?',
      'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     'The sources do not say who it was at that time (president, from 2003). / Last known before: **Nina Frost**, '
     'named in May 2001'),
    (('Who was president after 2003?',
      'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     'The sources do not say who it was at that time (president, from 2004). / Last known before: **Nina Frost**, '
     'named in May 2001'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     '**Nina Frost**, named in May 2001.'),
    (('Who is president?', 'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     '**Nina Frost**, named in May 2001.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'),
     ''),
    (('Who was president in 2004?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     'The sources do not say who it was at that time (president, 2004). / Last known before: **Karl Beck**, named '
     'in 2003 / First known after: **Nina Frost**, named in 2005'),
    (('Who has been president since 2003?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     'The sources do not say who it was at that time (president, from 2003). / Last known before: **Nina Frost**, '
     'named in 2001'),
    (('Who was president after 2003?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     'The sources do not say who it was at that time (president, from 2004). / Last known before: **Karl Beck**, '
     'named in 2003'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     '**Nina Frost**, named in 2001, then **Karl Beck**, named in 2003, then **Nina Frost**, named in 2005.'),
    (('Who is president?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     '**Nina Frost**, named in 2005.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     '**Karl Beck**, named in 2003.'),
    (('Who was president before Karl Beck?',
      'Nina Frost was president in 2001. Karl Beck was president in 2003. Nina Frost was president in 2005.'),
     '**Nina Frost**, named in 2001.'),
    (('Who was president in 2004?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     'The sources do not say who it was at that time (president, 2004). / Last known before: **Nina Frost**, from '
     '2001 until 2003 / First known after: **Nina Frost**, named in 2005'),
    (('Who has been president since 2003?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     'The sources do not say who it was at that time (president, from 2003).'),
    (('Who was president after 2003?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     'The sources do not say who it was at that time (president, from 2004). / Last known before: **Nina Frost**, '
     'from 2001 until 2003'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     '**Nina Frost**, from 2001 until 2003.'),
    (('Who is president?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     '**Nina Frost**, named in 2005.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was president in '
      '2005.'),
     ''),
    (('Who was president in 2004?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     '**Nina Frost**, from 2001 until 3 May 2004.'),
    (('Who has been president since 2003?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     'The sources do not say who it was at that time (president, from 2003).'),
    (('Who was president after 2003?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     '**Nina Frost**, from 2001 until 3 May 2004.'),
    (('Who was president from 2001 to 2005?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     '**Nina Frost**, from 2001 until 3 May 2004.'),
    (('Who is president?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     'The sources name nobody after **Nina Frost**, from 2001 until 3 May 2004.'),
    (('Who succeeded Nina Frost as president?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     'The sources name nobody after **Nina Frost**.'),
    (('Who was president before Karl Beck?',
      'Nina Frost became president in 2001. Nina Frost was president in 2003. Nina Frost resigned as president on '
      '3 May 2004. Nina Frost resigned as president in 2004.'),
     ''),
]
# fmt: on


def test_who_held_it_at_a_time_and_who_came_before_and_after() -> None:
    found = [(given, tell_first(*given)) for given, _ in SINGLE_EXAMPLES]
    assert found == SINGLE_EXAMPLES
