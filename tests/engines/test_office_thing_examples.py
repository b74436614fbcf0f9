"""Who held an office when, by worked examples: one sentence each, and little corpora."""

from __future__ import annotations

from typing import Any

from office_corpora import Texts, passages
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
ONE_CHAIR = {
    "# Chairs": "# Chair: Nina Frost",
    "b": "Nina Frost became chair in 2003.",
    "c": "Chair Nina Frost spoke on 3 May 2004.",
    "d": "Notes, 4 May 2004\n\nChair Nina Frost spoke.",
    "e": "Notes, 5 May 2005\n\nNina Frost, chair, sang a song.",
    "f": "Nina Frost became the chair in 2003.",
}
SEEN_CHAIR = {
    "c": "Chair Nina Frost spoke on 3 May 2004.",
    "d": "Notes, 4 May 2004\n\nChair Nina Frost spoke.",
    "e": "Notes, 5 May 2005\n\nNina Frost, chair, sang a song.",
}
UNDATED = {
    "a": "Nina Frost was chair. She sang.",
    "b": "Nina Frost was once the chair of the club.",
    "c": "The chair was Nina Frost, they say.",
    "d": "Karl Beck was chair.",
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


def tell_first(question: str, given: Texts | str) -> str:
    """The lines that name holders, as one."""
    lines, _, _ = tell(question, given if isinstance(given, dict) else {"Minutes": given})
    shown = [line for line in lines if line and (not line.startswith("- ") or "known" in line)]
    shown = [": ".join(line.removeprefix("- ").split(": ")[:2]) if "known" in line else line for line in shown]
    return " / ".join(line for line in shown if line != "In order of time:")


# fmt: off
MULTI_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who succeeded Nina Frost as president, and what was he before?',
      {'a': 'Nina Frost became president in 2001. Karl Beck (clerk) succeeded Nina Frost as president in 2003.',
       'b': 'Karl Beck has been a keeper of bees. Karl Beck is Bo Isk.'}),
     '**Karl Beck**, from 2003; before that keeper.'),
    (('Who succeeded Nina Frost as president, and what was he before?',
      {'a': 'Nina Frost became president in 2001. Karl Beck succeeded Nina Frost as president in 2003.'}),
     '**Karl Beck**, from 2003.'),
    (('Who succeeded Karl Beck as president?', CLERK), 'The sources name nobody after **Karl Beck**.'),
    (('Who preceded Nina Frost as president?', CLERK), 'The sources name nobody before **Nina Frost**.'),
    (('Who preceded Karl Beck as president?', CLERK), '**Nina Frost**, from 2001 until 2003.'),
    (('Who preceded Beck as president?', CLERK), '**Nina Frost**, from 2001 until 2003.'),
    (('Who succeeded Ida Holt as president?', CLERK), ''),
    (('Who succeeded Jon Ode as chair?', RETURNS), '**Lea Pin**, from 2003; **Max Uhl**, from 2007.'),
    (('Who preceded Jon Ode as chair?', RETURNS), '**Lea Pin**, from 2003; **Max Uhl**, from 2007.'),
    (('Who was chair from 2004 to 2008?', RETURNS),
     '**Lea Pin**, from 2003, then **Jon Ode**, from 2005, then **Max Uhl**, from 2007.'),
    (('Who were the chairs in 1950, in order?', RETURNS),
     '1. **Jon Ode**, from 2001 / 2. **Lea Pin**, from 2003 / 3. **Jon Ode**, from 2005 / 4. **Max Uhl**, from '
     '2007 / 5. **Jon Ode**, from 2009 / 6. **Lea Pin**, from 2011'),
    (('Who has been chair since 2005?', RETURNS), '**Jon Ode**, from 2005.'),
    (('Who is chair?', RETURNS), '**Lea Pin**, from 2011.'),
    (('Who was chair after 2005?', RETURNS), '**Jon Ode**, from 2005.'),
    (('Who was chair before 2005?', RETURNS), '**Lea Pin**, from 2003.'),
    (('Who was chair before May 2005?', RETURNS), '**Jon Ode**, from 2005.'),
    (('Who was mayor in May 2010?', TOWNS),
     'Kessel: **Karl Beck**, from 2010. / Orl: **Nina Frost**, named on 5 May 2010.'),
    (('Who were the mayors, in order?', TOWNS),
     'Kessel: **Karl Beck**, from 2010. / Lund: **Ida Holt**. / Orl: **Nina Frost**, named on 5 May 2010.'),
    (('Who is mayor of Orl?', TOWNS), '**Nina Frost**, named on 5 May 2010.'),
    (('Who is the mayor of Kessel?', TOWNS), '**Karl Beck**, from 2010.'),
    (('Who is mayor of Lund?', TOWNS), '**Ida Holt**.'),
    (('Who was mayor in 2011?', TOWNS), '**Karl Beck**, from 2010.'),
    (('Who were the mayors, in order?', TWO_TOWNS),
     '**Omar Sy**, from 2001. / Kessel: **Lou Grant**, from 2002. / Orl: This is disputed: **Nina Frost** or '
     '**Karl Beck**.'),
    (('Who is mayor of Kessel?', TWO_TOWNS), '**Lou Grant**, from 2002.'),
    (('Who was mayor in 2003?', TWO_TOWNS), '**Omar Sy**, from 2001. / Kessel: **Lou Grant**, from 2002.'),
    (('Who is mayor of Orlheim?', SHARED_PEOPLE), '**Karl Beck**, from 2003.'),
    (('Who were the mayors of Orlheim, in order?', SHARED_PEOPLE),
     '1. **Nina Frost**, from 2001 / 2. **Karl Beck**, from 2003'),
    (('Who were the mayors of Kessel, in order?', SHARED_PEOPLE),
     '1. **Ida Holt**, from 2002 / 2. **Karl Beck**, from 2003 / 3. **Ida Holt**, named on 2 May 2005'),
    (('Who was mayor of Kessel in 2005?', SHARED_PEOPLE),
     '**Karl Beck**, from 2003, then **Ida Holt**, named on 2 May 2005.'),
    (('Who led the Tide Museum in 2004?', LEADERS), '**Karl Beck**, from 2003 until 2005.'),
    (('Who led the museum in 2002?', LEADERS), '**Nina Frost**, from 2001 until 2003.'),
    (('Who headed the Tide Museum before Omar Sy?', LEADERS), '**Karl Beck**, from 2003 until 2005.'),
    (('Who led the choir in 2002?', LEADERS), '**Ida Holt**, from 2001.'),
    (('Who led the Orl Choir in 2002?', LEADERS), '**Ida Holt**, from 2001.'),
    (('Who ran the Tide Museum in 2006?', LEADERS), '**Omar Sy**, from 2005.'),
    (('Who led the old museum in 2002?', LEADERS), ''),
    (('Who coached the Rovers in 2002?', COACHES), '**Nina Frost**, from 2001 until 2003.'),
    (('Who coached the Rovers in 2004?', COACHES),
     'The sources do not say who it was at that time (coached Rovers, 2004). / Last known before: **Nina Frost**, '
     'from 2001 until 2003 / First known after: **Ida Holt**, from 2005'),
    (('Who coaches the Rovers?', COACHES), '1. **Nina Frost**, from 2001 until 2003 / 2. **Ida Holt**, from 2005'),
    (('Who managed the Rovers in 2007?', COACHES), '**Lou Grant**, named in 2007.'),
    (('Who managed the Rovers in 2008?', COACHES),
     'The sources do not say who it was at that time (managed Rovers, 2008). / Last known before: **Lou Grant**, '
     'named in 2007'),
    (('Who was coach in 2002?', COACHES),
     'The sources do not say who it was at that time (coach, 2002). / First known after: **Ida Holt**, from 2005'),
    (('Who was the coach of the Rovers in 2006?', COACHES), '**Ida Holt**, from 2005.'),
    (('Who has chaired the Rovers?', COACHES), ''),
    (('Who captained the Rovers?', COACHES), ''),
    (('Who were the secretaries, in order?', {'a': 'Nina Frost became secretary in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who were the chief firemen, in order?', {'a': 'Nina Frost became chief fireman in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was the boss in 2003?', {'a': 'Nina Frost became boss in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was CEO in 2004?', {'a': 'Nina Frost became chief executive officer in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was CEO in 2004?', {'a': 'Nina Frost became chief executive in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who were the CEOs, in order?', {'a': 'Nina Frost became CEO in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was CEO in 2004?', {'a': 'Nina Frost became chief technical officer in 2003.'}), ''),
    (('Who was editor in chief in 2004?', {'a': 'Nina Frost became EIC in 2003.'}), ''),
    (('Who was chief fire officer in 2004?', {'a': 'Nina Frost became CFO in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was chief fire officer in 2004?', {'a': 'Nina Frost became cfo in 2003.'}), ''),
    (('Who was chairman in 2004?', {'a': 'Nina Frost became chairwoman in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was chairman in 2004?', {'a': 'Nina Frost became chair in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was chairperson in 2004?', {'a': 'Nina Frost became chairman in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was chair in 2004?', {'a': 'Nina Frost became chairwoman in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Wer war Bürgermeisterin im Jahr 2004?', {'a': 'Im Jahr 2003 wurde Nina Frost Bürgermeister von Orl.'}),
     '**Nina Frost**, from 2003.'),
    (('Wer waren die Leiterinnen, der Reihe nach?', {'a': 'Im Jahr 2003 wurde Nina Frost Leiterin.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was vice principal in 2004?', {'a': 'Nina Frost became vice-principal in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was bus in 2004?', {'a': 'Nina Frost became bus in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who were the heads of school, in order?', {'a': 'Nina Frost became head of school in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who were the MPS, in order?', {'a': 'Nina Frost became MP in 2003.'}), ''),
    (('Who was abbess in 2004?', {'a': 'Nina Frost became abbess in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who was abbess in 2004?', {'a': 'Nina Frost became abbes in 2003.'}), ''),
    (('Who were the PMs, in order?', {'a': 'Nina Frost became PM in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Who were the duchesses, in order?', {'a': 'Nina Frost became duchess in 2003.'}), '**Nina Frost**, from 2003.'),
    (('Wer war Stadträtin im Jahr 2004?', {'a': 'Im Jahr 2003 wurde Nina Frost Stadtrat von Orl.'}), ''),
    (('Who is Abbot?', {'a': 'The abbot is Nina Frost.'}), '**Nina Frost**.'),
    (('Who is Abbot?', {'a': 'Abbot Nina Frost.'}), ''),
    (('Who was Abbot in 2003?', {'a': 'Abbot Nina Frost spoke in 2003.'}),
     'The sources do not say who it was at that time (Abbot, 2003).'),
    (('Who is Abbot of Orl?', {'a': 'Nina Frost is Abbot of Orl.'}), '**Nina Frost**.'),
    (('Who is Abt?', {'a': 'Nina Frost ist Abt und wohnt im Kloster bei den Bergen.'}), '**Nina Frost**.'),
    (('Who is ABBOT?', {'a': 'Abbot Nina Frost.'}), '**Nina Frost**.'),
    (('Who is chair?', ONE_CHAIR), '**Nina Frost**, from 2003.'),
    (('Who was chair in 2004?', ONE_CHAIR), '**Nina Frost**, from 2003.'),
    (('Who were the chairs, in order?', ONE_CHAIR), '**Nina Frost**, from 2003.'),
    (('Who was chair in 2001?', ONE_CHAIR),
     'The sources do not say who it was at that time (chair, 2001). / First known after: **Nina Frost**, from 2003'),
    (('Who was chair in 2000?', ONE_CHAIR),
     'The sources do not say who it was at that time (chair, 2000). / First known after: **Nina Frost**, from 2003'),
    (('Who is chair?', SEEN_CHAIR), '**Nina Frost**, named on 4 May 2004 and 5 May 2005.'),
    (('Who was chair in 2004?', SEEN_CHAIR), '**Nina Frost**, named on 4 May 2004 and 5 May 2005.'),
    (('Who were the chairs, in order?', SEEN_CHAIR), '**Nina Frost**, named on 4 May 2004 and 5 May 2005.'),
    (('Who was chair in 2000?', SEEN_CHAIR),
     'The sources do not say who it was at that time (chair, 2000). / First known after: **Nina Frost**, named on '
     '4 May 2004 and 5 May 2005'),
    (('Who was chair in 2010?', SEEN_CHAIR),
     'The sources do not say who it was at that time (chair, 2010). / Last known before: **Nina Frost**, named on '
     '4 May 2004 and 5 May 2005'),
    (('Who was chair from 1999 to 2000?', SEEN_CHAIR),
     'The sources do not say who it was at that time (chair, from 1999 until 2000). / First known after: **Nina '
     'Frost**, named on 4 May 2004 and 5 May 2005'),
    (('Who is chair?', UNDATED), 'This is disputed: **Nina Frost** or **Karl Beck**.'),
    (('Who is chair?', {'a': 'Nina Frost was chair. She sang.'}), '**Nina Frost**.'),
    (('Who was chair in 2004?', UNDATED), 'The sources do not say who it was at that time (chair, 2004).'),
    (('Who was chair in 2004?', {'a': 'Nina Frost was chair. She sang.'}),
     'The sources do not say who it was at that time (chair, 2004).'),
    (('Who were the chairs, in order?', UNDATED), 'This is disputed: **Nina Frost** or **Karl Beck**.'),
    (('Who were the chairs, in order?', {'a': 'Nina Frost was chair. She sang.'}), '**Nina Frost**.'),
    (('Who was chair of the club in 2004?', UNDATED), 'The sources do not say who it was at that time (chair, 2004).'),
    (('Who was chair from May 2004 to June 2005?', UNDATED),
     'The sources do not say who it was at that time (chair, from May 2004 until June 2005).'),
    (('Who was chair since May 2004?', UNDATED),
     'The sources do not say who it was at that time (chair, from May 2004).'),
    (('Who was chair until June 2005?', UNDATED),
     'The sources do not say who it was at that time (chair, until June 2005).'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost became president.',
       'b': 'Nina Frost became president on 3 May 2003.'}),
     '**Nina Frost**, from 3 May 2003.'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president.',
       'b': 'Nina Frost became president on 3 May 2004.'}),
     '**Nina Frost**, from 3 May 2004.'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president.',
       'b': 'Nina Frost became president on 3 May 2002.'}),
     '**Nina Frost**, from 3 May 2002.'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president.',
       'b': 'Karl Beck became president on 3 May 2004.'}),
     '1. **Nina Frost**, named on 5 June 2003 / 2. **Karl Beck**, from 3 May 2004'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president.',
       'b': 'Nina Frost resigned as president on 3 May 2004.'}),
     '**Nina Frost**, until 3 May 2004.'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president. On 3 May 2009 Nina Frost became president.',
       'b': 'It rained.'}),
     '**Nina Frost**, from 3 May 2009.'),
    (('Who were the presidents, in order?',
      {'a': 'Notes, 5 June 2003\n\nNina Frost becomes president.',
       'b': 'Notes, 5 June 2004\n\nNina Frost becomes president.'}),
     '**Nina Frost**, named on 5 June 2003 and 5 June 2004.'),
    (('Who was coach of the Rover in 2004?', {'a': 'Nina Frost became coach of the Rovers in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was coach of the Rovers in 2004?', {'a': 'Nina Frost became coach of the Rover in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was coach of the clubs in 2004?', {'a': 'Nina Frost became coach of the club in 2003.'}), ''),
    (('Who was coach of the Rovers in 2004?', {'a': 'Nina Frost became coach of the Club in 2003.'}), ''),
    (('Who was coach of the club in 2004?', {'a': 'Nina Frost became coach of the team in 2003.'}), ''),
    (('Who was coach of the Tide museum in 2004?',
      {'a': 'Nina Frost became coach of the Sea Hall in 2003. Karl Beck became coach in 2005.'}),
     'The sources do not say who it was at that time (coach, 2004). / First known after: **Karl Beck**, from 2005'),
    (('Who was coach of the Orl Tide in 2004?', {'a': 'Nina Frost became coach at Orl in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who was coach of the tide museum in 2004?', {'a': 'Nina Frost became coach for the tide in 2003.'}),
     '**Nina Frost**, from 2003.'),
    (('Who coached the Rovers in 2003?', {'a': 'Nina Frost, coach Rovers, won in 2003.'}),
     '**Nina Frost**, named in 2003.'),
    (('Who coached the Rovers in 2003?', {'a': 'Nina Frost coached Rovers in 2003.'}),
     '**Nina Frost**, named in 2003.'),
    (('Who coached the Rovers in 2003?', {'a': 'Nina Frost had also coached the Rovers in 2003.'}),
     '**Nina Frost**, named in 2003.'),
    (('Who coached the Rovers in 2003?', {'a': 'Nina Frost never coached the Rovers in 2003.'}), ''),
    (('Who led the club of Orl in 2003?', {'a': 'Nina Frost led the club in 2003.'}), '**Nina Frost**, named in 2003.'),
    (('Who led the club of Orl in 2003?', {'a': 'Nina Frost led the team in 2003.'}), ''),
    (('Who led the Rovers in 2003?', {'a': 'Nina Frost led at the front in 2003.'}), '**Nina Frost**, named in 2003.'),
    (('Who chaired the club in 2003?', {'a': 'Nina Frost chaired it in 2003. The club sang.'}), ''),
    (('Who led the Rovers in 2003?', {'a': 'The Rovers were led by Nina Frost in 2003.'}),
     '**Nina Frost**, from 2003.'),
]
# fmt: on


def test_an_office_is_that_of_a_thing_and_written_in_many_forms() -> None:
    found = [(given, tell_first(*given)) for given, _ in MULTI_EXAMPLES]
    assert found == MULTI_EXAMPLES
