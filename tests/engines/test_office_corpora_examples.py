"""Who held an office when, by worked examples: one sentence each, and little corpora."""

from __future__ import annotations

from typing import Any

from office_corpora import CLUB, COUNCIL, MUSEUM, Texts, passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.offices.office_answers import answer_office
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences

CLERK = {
    "a": "Nina Frost became president in 2001. Karl Beck (clerk) succeeded Nina Frost as president in 2003.",
    "b": "Karl Beck was a famous judge of Orl. Karl Beck became treasurer in 1999. Karl Beck (born 1950) spoke. "
    "Karl Beck (vice president) sang.",
}
RETURNS = {
    "a": "Jon Ode became chair in 2001. Lea Pin became chair in 2003. Jon Ode became chair again in 2005. Max "
    "Uhl became chair in 2007. Jon Ode became chair in 2009. Lea Pin became chair in 2011."
}
TOWNS = {
    "Orl": "Orl Post, 5 May 2010\n\nNina Frost is mayor of Orl. Mayor Nina Frost sang.",
    "Kessel": "Kessel Post, 6 May 2011\n\nKarl Beck is mayor of Kessel since 2010.",
    "Lund": "Ida Holt was mayor of Lund. The mayor, Ida Holt, sang.",
}
TWO_TOWNS = {
    "a": "Nina Frost is mayor of Orl Town. Karl Beck is mayor of Orl. Ida Holt is mayor of Kessel.",
    "b": "Orl and Kessel met. Omar Sy became mayor in 2001.",
    "c": "Kessel met. Lou Grant became mayor in 2002.",
}
SHARED_PEOPLE = {
    "a": "Nina Frost became mayor of Orlheim in 2001. Karl Beck sang.",
    "b": "Karl Beck became mayor in 2003.",
    "c": "Ida Holt became mayor of Kessel in 2002.",
    "d": "Omar Sy became mayor in 2004.",
    "e": "Karl Beck and Max Uhl met in 1999.",
    "f": "Kessel, 2 May 2005\n\nKarl Beck met Ida Holt. Ida Holt is mayor.",
}
LEADERS = {
    "a": "Nina Frost led the Tide Museum from 2001 to 2003. Karl Beck led the museum from 2003 to 2005. Ida "
    "Holt led the Orl Choir from 2001. Omar Sy has led the Tide Museum since 2005. Coach Lou Grant sang. "
    "Who led? In 2004 Max Uhl led."
}
COACHES = {
    "a": "Nina Frost coached the Rovers from 2001 to 2003. Coach Karl Beck led the Rovers in 2004. Ida Holt, "
    "coach of the Rovers since 2005, sang. Omar Sy then coached the Colts in 2002. Lou Grant managed the "
    "Rovers in 2007. Rovers manager Max Uhl sang in 2008."
}
FOUR_WAYS = {
    "a": "Nina Frost became chair in 2003. In 2003 the members of the old club chose Nina Frost as chair.",
    "b": "The post of chair went to Nina Frost in 2003.",
    "c": "Nina Frost has been chair of this sad and poor club since 2003, said the paper.",
}
SEEN_OFTEN = {
    "a": "Notes, 4 May 2004\n\nChair Nina Frost spoke.",
    "b": "Notes, 5 May 2005\n\nNina Frost, chair, sang a song.",
    "c": "Notes, 6 June 2006\n\nPresent: Nina Frost (chair), Bo Isk.",
    "d": "Notes, 7 July 2007\n\nKarl Beck is the chair.",
}
NEVER_DATED = {
    "a": "Nina Frost was chair. She sang.",
    "b": "Nina Frost was once the chair of the club.",
    "c": "The chair was Nina Frost, they say.",
    "d": "Years ago our dear chair was Nina Frost.",
}
THREE_CHAIRS = {"a": "Nina Frost became chair in 2003. Karl Beck became chair in 2003. Ida Holt became chair in 2005."}
BEEKEEPER = {
    "a": "Nina Frost became chair in 2001. Karl Beck succeeded Nina Frost as chair in 2003. In 2003 the members "
    "of the old club chose Karl Beck as chair.",
    "b": "The post of chair went to Karl Beck in 2003. Karl Beck (keeper of bees) sang. Karl Beck became clerk "
    "in 1999.",
    "c": "Karl Beck has been chair of this sad and poor club since 2003, said the paper.",
}


def tell(question: str, texts: Texts) -> tuple[list[str], list[int], bool]:
    """The lines of an answer, how many spans each statement rests on, and whether it abstains."""
    chunks = passages(texts)
    sentences = tuple(read_source_sentences(chunks, choose_language(question, chunks)))
    written = answer_office(Asked(question, chunks, sentences))
    if written is None:
        return [], [], False
    lines = "".join(s.text for s in written.statements).split("\n")
    return lines, [len(s.sources) for s in written.statements], written.abstained


def name_presidents(title: str, text: str) -> list[str]:
    """The lines that name the holders, in order, without the sentences that show it."""
    lines, _, _ = tell("Who were the presidents, in order?", {title: text})
    return [line for line in lines if line and not line.startswith("- ") and line != "In order of time:"]


# fmt: off
TOLD_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who was president in 2005?', {'Minutes': 'Nina Frost is president.'}),
     (['The sources do not say who it was at that time (president, 2005).', '',
       '- Without a date: Nina Frost is president.'],
      [0, 1], True)),
    (('Who was president in 2002?', {'Minutes': 'Nina Frost became president in 2003.'}),
     (['The sources do not say who it was at that time (president, 2002).', '',
       '- First known after: **Nina Frost**, from 2003: Nina Frost became president in 2003.'],
      [0, 1], True)),
    (('Who succeeded Nina Frost as president?', {'Minutes': 'Nina Frost became president in 2003.'}),
     (['The sources name nobody after **Nina Frost**.', '', '- Nina Frost became president in 2003.'], [0, 1],
      True)),
    (('Who has been president since 2003?',
      {'Minutes': 'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'}),
     (['**Nina Frost**, from 2003 until 2005.', '', '- Nina Frost was president from 2003 to 2005.'], [0, 1],
      False)),
    (('Who was president after 2003?',
      {'Minutes': 'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'}),
     (['**Nina Frost**, from 2003 until 2005.', '', '- Nina Frost was president from 2003 to 2005.'], [0, 1],
      False)),
    (('Who is president?',
      {'Minutes': 'Nina Frost was president from 2003 to 2005. Karl Beck was president from 2004 to 2006.'}),
     (['The sources name nobody after **Karl Beck**, from 2004 until 2006.', '',
       '- Karl Beck was president from 2004 to 2006.'],
      [0, 1], True)),
    (('Who was president in 2004?',
      {'Minutes': 'Nina Frost became president in 2003. Karl Beck became president in 2003.'}),
     (['This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003.', '',
       '- Karl Beck became president in 2003.', '- Nina Frost became president in 2003.'],
      [0, 1, 1], False)),
    (('Who was president in 2004?',
      {'Minutes': 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'}),
     (['The sources do not say who it was at that time (president, 2004).', '',
       '- Last known before: **Nina Frost**, named in 2003: In 2003 Nina Frost was president.'],
      [0, 1], True)),
    (('Who has been president since 2003?',
      {'Minutes': 'In 2003 Nina Frost was president. In 2003 Karl Beck was president.'}),
     (['The sources do not say who it was at that time (president, from 2003).'], [0], True)),
    (('Who was president before 2003?',
      {'Minutes': 'Nina Frost became president in 2001. Karl Beck was president in 2005.'}),
     (['**Nina Frost**, from 2001.', '', '- Nina Frost became president in 2001.'], [0, 1], False)),
    (('Who was president from 2001 to 2005?',
      {'Minutes': 'Nina Frost became president in 2001. Karl Beck was president in 2005.'}),
     (['**Nina Frost**, from 2001, then **Karl Beck**, named in 2005.', '',
       '- Nina Frost became president in 2001.', '- Karl Beck was president in 2005.'],
      [0, 1, 1], False)),
    (('Who has been president since 2003?',
      {'Minutes': 'Nina Frost became president in 2001. Nina Frost became president on 4 May 2001. Nina Frost was '
                  're-elected president in 2003.'}),
     (['**Nina Frost**, from 4 May 2001.', '', '- Nina Frost became president in 2001.'], [0, 1], False)),
    (('Who was president before 2003?',
      {'Minutes': 'Nina Frost was president in May 2001. Nina Frost became president in June 2001.'}),
     (['**Nina Frost**, from June 2001.', '', '- Nina Frost became president in June 2001.'], [0, 1], False)),
    (('Who was president in 2004?',
      {'Minutes': 'Nina Frost was president in May 2001. Nina Frost became president in July 2001.'}),
     (['The sources do not say who it was at that time (president, 2004).', '',
       '- Last known before: **Nina Frost**, named in May 2001: Nina Frost became president in July 2001.'],
      [0, 1], True)),
    (('Who succeeded Nina Frost as president?',
      {'Minutes': 'Nina Frost became president in 2001. Nina Frost resigned as president in 2003. Nina Frost was '
                  'president in 2005.'}),
     (['The sources name nobody after **Nina Frost**.', '', '- Nina Frost was president in 2005.'], [0, 1], True)),
    (('Who succeeded Nina Frost as president, and what was he before?', CLERK),
     (['**Karl Beck**, from 2003; before that treasurer.', '',
       '- Karl Beck (clerk) succeeded Nina Frost as president in 2003.', '- Karl Beck became treasurer in 1999.'],
      [0, 1, 1], False)),
    (('Who succeeded Nina Frost as president, and what was he before?',
      {'a': 'Nina Frost became president in 2001. Karl Beck (clerk) succeeded Nina Frost as president in 2003.',
       'b': 'We met Karl Beck (the old clerk).'}),
     (['**Karl Beck**, from 2003; before that the old clerk.', '',
       '- Karl Beck (clerk) succeeded Nina Frost as president in 2003.', '- We met Karl Beck (the old clerk).'],
      [0, 1, 1], False)),
    (('Who were the chairs from 2002 to 2006, in order?', RETURNS),
     (['In order of time:', '', '1. **Jon Ode**, from 2001', '2. **Lea Pin**, from 2003',
       '3. **Jon Ode**, from 2005'],
      [0, 1, 1, 1], False)),
    (('Who is mayor?', TOWNS),
     (['Kessel: **Karl Beck**, from 2010.', '', '- Karl Beck is mayor of Kessel since 2010.', '',
       'Lund: **Ida Holt**.', '', '- Ida Holt was mayor of Lund.', '- The mayor, Ida Holt, sang.', '',
       'Orl: **Nina Frost**, named on 5 May 2010.', '', '- Mayor Nina Frost sang.',
       '- Nina Frost is mayor of Orl.'],
      [0, 1, 0, 1, 1, 0, 1, 1], False)),
    (('Who was mayor in 1980?', TOWNS),
     (['The sources do not say who it was at that time (mayor, 1980).', '',
       '- First known after: **Karl Beck**, from 2010: Karl Beck is mayor of Kessel since 2010.'],
      [0, 1], True)),
    (('Who is mayor?', TWO_TOWNS),
     (['**Omar Sy**, from 2001.', '', '- Omar Sy became mayor in 2001.', '', 'Kessel: **Lou Grant**, from 2002.',
       '', '- Lou Grant became mayor in 2002.', '', 'Orl: This is disputed: **Nina Frost** or **Karl Beck**.', '',
       '- Karl Beck is mayor of Orl.'],
      [0, 1, 0, 1, 0, 1], False)),
    (('Who is mayor of Orl?', TWO_TOWNS),
     (['**Omar Sy**, from 2001.', '', '- Omar Sy became mayor in 2001.'], [0, 1], False)),
    (('Who were the mayors of Orlheims, in order?', SHARED_PEOPLE),
     (['In order of time:', '', '1. **Nina Frost**, from 2001', '2. **Karl Beck**, from 2003'], [0, 1, 1], False)),
    (('Who led the Tide Museum in 2002?', LEADERS),
     (['**Nina Frost**, from 2001 until 2003.', '', '- Nina Frost led the Tide Museum from 2001 to 2003.'], [0, 1],
      False)),
    (('Who leads the Tide Museum?', LEADERS),
     (['**Omar Sy**, from 2005.', '', '- Omar Sy has led the Tide Museum since 2005.'], [0, 1], False)),
    (('Who coached the Colts in 2002?', COACHES),
     (['**Omar Sy**, named in 2002.', '', '- Omar Sy then coached the Colts in 2002.'], [0, 1], False)),
    (('Who were the CFOS in 2004?', {'a': 'Nina Frost became CFO in 2003.'}),
     (['**Nina Frost**, from 2003.', '', '- Nina Frost became CFO in 2003.'], [0, 1], False)),
    (('Who was mayor in 2004?', COUNCIL),
     (['**Anna Berg**, named on 4 May 1999, then **Tom Reeve**, from 10 January 2004 until 30 June 2015.', '',
       '- Present: Anna Berg (mayor), Tom Reeve (deputy mayor), Ida Holt (clerk).',
       '- Tom Reeve was elected mayor of Skerry on 10 January 2004.'],
      [0, 1, 1], False)),
    (('Who was director from 2000 to 2014?', MUSEUM),
     (['**Carl Odin**, from 1999 until 2008, then **Mina Sorel**, from 2008 until 31 August 2019.', '',
       '- Carl Odin, 1999-2008.', '- Mina Sorel, since 2008.'],
      [0, 1, 1], False)),
    (('Who was assistant coach of the Rovers?', CLUB),
     (['**Omar Sy**, named on 14 November 2019.', '',
       '- Assistant coach Omar Sy is interim coach until the winter break.'],
      [0, 1], False)),
    (('Who is president?',
      {'Minutes, 5 June 2012': 'Nina Frost is president since 2003. Nina Frost became president.'}),
     (['**Nina Frost**, from 2003.', '', '- Nina Frost is president since 2003.'], [0, 1], False)),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president.',
       'b': 'Nina Frost became president on 3 May 2005.'}),
     (['**Nina Frost**, named on 5 June 2003.', '', '- Nina Frost became president on 3 May 2005.',
       '- Nina Frost becomes president.'],
      [0, 1, 1], False)),
    (('Who was coach of the club in 2004?', {'a': 'Nina Frost became coach of the clubs in 2003.'}), ([], [], False)),
    (('Who was coach of the Rovers in 2004?', {'a': 'Nina Frost became coach of the club in 2003.'}),
     (['**Nina Frost**, from 2003.', '', '- Nina Frost became coach of the club in 2003.'], [0, 1], False)),
    (('Who was coach of the Tide Museum in 2004?', {'a': 'Nina Frost became coach of 2003.'}),
     (['**Nina Frost**, from 2003.', '', '- Nina Frost became coach of 2003.'], [0, 1], False)),
    (('Who led the club in 2003?', {'a': 'Club led Nina Frost in 2003.'}), ([], [], False)),
    (('Who coached the Rovers in 2003?', {'a': 'Coach Nina Frost won for the Rovers in 2003.'}),
     (['The sources do not say who it was at that time (coached Rovers, 2003).', '',
       '- Without a date: Coach Nina Frost won for the Rovers in 2003.'],
      [0, 1], True)),
    (('Who is chair?', FOUR_WAYS),
     (['**Nina Frost**, from 2003.', '', '- In 2003 the members of the old club chose Nina Frost as chair.',
       '- Nina Frost became chair in 2003.', '- The post of chair went to Nina Frost in 2003.'],
      [0, 1, 1, 1], False)),
    (('Who is chair?', SEEN_OFTEN),
     (['**Karl Beck**, named on 7 July 2007.', '', '- Karl Beck is the chair.'], [0, 1], False)),
    (('Who is chair?', NEVER_DATED),
     (['**Nina Frost**.', '', '- Nina Frost was chair.', '- The chair was Nina Frost, they say.'], [0, 1, 1],
      False)),
    (('Who is chair?', THREE_CHAIRS),
     (['**Ida Holt**, from 2005.', '', '- Ida Holt became chair in 2005.'], [0, 1], False)),
    (('Who was chair in 2004?', FOUR_WAYS),
     (['**Nina Frost**, from 2003.', '', '- In 2003 the members of the old club chose Nina Frost as chair.',
       '- Nina Frost became chair in 2003.', '- The post of chair went to Nina Frost in 2003.'],
      [0, 1, 1, 1], False)),
    (('Who was chair in 2004?', SEEN_OFTEN),
     (['**Nina Frost**, named on 4 May 2004 and 6 June 2006.', '', '- Chair Nina Frost spoke.',
       '- Nina Frost, chair, sang a song.'],
      [0, 1, 1], False)),
    (('Who was chair in 2004?', NEVER_DATED),
     (['The sources do not say who it was at that time (chair, 2004).', '',
       '- Without a date: Nina Frost was chair.', '- Without a date: The chair was Nina Frost, they say.'],
      [0, 1, 1], True)),
    (('Who was chair in 2004?', THREE_CHAIRS),
     (['This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003.', '',
       '- Karl Beck became chair in 2003.', '- Nina Frost became chair in 2003.'],
      [0, 1, 1], False)),
    (('Who were the chairs, in order?', FOUR_WAYS),
     (['**Nina Frost**, from 2003.', '', '- In 2003 the members of the old club chose Nina Frost as chair.',
       '- Nina Frost became chair in 2003.', '- The post of chair went to Nina Frost in 2003.'],
      [0, 1, 1, 1], False)),
    (('Who were the chairs, in order?', SEEN_OFTEN),
     (['In order of time:', '', '1. **Nina Frost**, named on 4 May 2004 and 6 June 2006',
       '2. **Karl Beck**, named on 7 July 2007'],
      [0, 2, 1], False)),
    (('Who were the chairs, in order?', NEVER_DATED),
     (['**Nina Frost**.', '', '- Nina Frost was chair.', '- The chair was Nina Frost, they say.'], [0, 1, 1],
      False)),
    (('Who were the chairs, in order?', THREE_CHAIRS),
     (['In order of time:', '', '1. **Karl Beck**, from 2003', '2. **Nina Frost**, from 2003',
       '3. **Ida Holt**, from 2005'],
      [0, 1, 1, 1], False)),
    (('Who was chair in 1950?', FOUR_WAYS),
     (['The sources do not say who it was at that time (chair, 1950).', '',
       '- First known after: **Nina Frost**, from 2003: In 2003 the members of the old club chose Nina Frost as '
       'chair.'],
      [0, 1], True)),
    (('Who was chair in 1950?', SEEN_OFTEN),
     (['The sources do not say who it was at that time (chair, 1950).', '',
       '- First known after: **Nina Frost**, named on 4 May 2004 and 6 June 2006: Chair Nina Frost spoke.'],
      [0, 1], True)),
    (('Who was chair in 1950?', NEVER_DATED),
     (['The sources do not say who it was at that time (chair, 1950).', '',
       '- Without a date: Nina Frost was chair.', '- Without a date: The chair was Nina Frost, they say.'],
      [0, 1, 1], True)),
    (('Who was chair in 1950?', THREE_CHAIRS),
     (['The sources do not say who it was at that time (chair, 1950).', '',
       '- First known after: **Karl Beck**, from 2003: Karl Beck became chair in 2003.'],
      [0, 1], True)),
    (('Who was chair in 2050?', FOUR_WAYS),
     (['**Nina Frost**, from 2003.', '', '- In 2003 the members of the old club chose Nina Frost as chair.',
       '- Nina Frost became chair in 2003.', '- The post of chair went to Nina Frost in 2003.'],
      [0, 1, 1, 1], False)),
    (('Who was chair in 2050?', SEEN_OFTEN),
     (['The sources do not say who it was at that time (chair, 2050).', '',
       '- Last known before: **Karl Beck**, named on 7 July 2007: Karl Beck is the chair.'],
      [0, 1], True)),
    (('Who was chair in 2050?', NEVER_DATED),
     (['The sources do not say who it was at that time (chair, 2050).', '',
       '- Without a date: Nina Frost was chair.', '- Without a date: The chair was Nina Frost, they say.'],
      [0, 1, 1], True)),
    (('Who was chair in 2050?', THREE_CHAIRS),
     (['**Ida Holt**, from 2005.', '', '- Ida Holt became chair in 2005.'], [0, 1], False)),
    (('Who was chair from 2001 to 2008?', THREE_CHAIRS),
     (['This is disputed, the sources disagree: **Karl Beck**, from 2003, or **Nina Frost**, from 2003, or **Ida '
       'Holt**, from 2005.',
       '', '- Karl Beck became chair in 2003.', '- Nina Frost became chair in 2003.',
       '- Ida Holt became chair in 2005.'],
      [0, 1, 1, 1], False)),
    (('Who succeeded Nina Frost as chair, and what was he before?', BEEKEEPER),
     (['**Karl Beck**, from 2003; before that clerk.', '',
       '- In 2003 the members of the old club chose Karl Beck as chair.',
       '- Karl Beck succeeded Nina Frost as chair in 2003.', '- Karl Beck became clerk in 1999.'],
      [0, 1, 1, 1], False)),
]
# fmt: on


def test_the_answer_to_a_corpus_is_that_of_the_examples() -> None:
    found = [(given, tell(*given)) for given, _ in TOLD_EXAMPLES]
    assert found == TOLD_EXAMPLES
