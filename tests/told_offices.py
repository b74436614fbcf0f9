"""Little corpora on offices, and the answers to questions about them, as worked examples show them."""

from __future__ import annotations

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


def tell_first(question: str, given: Texts | str) -> str:
    """The lines that name holders, as one."""
    lines, _, _ = tell(question, given if isinstance(given, dict) else {"Minutes": given})
    shown = [line for line in lines if line and (not line.startswith("- ") or "known" in line)]
    shown = [": ".join(line.removeprefix("- ").split(": ")[:2]) if "known" in line else line for line in shown]
    return " / ".join(line for line in shown if line != "In order of time:")
