"""Little corpora on who held what when: a council, a club, a museum, a ship, a choir and a German town."""

from __future__ import annotations

from sensegraph.types import Passage, Source

Texts = dict[str, str]

COUNCIL: Texts = {
    "Council of Skerry, 4 May 1999": (
        "# Council of Skerry, 4 May 1999\n\nPresent: Anna Berg (mayor), Tom Reeve (deputy mayor), Ida Holt (clerk).\n\n"
        "The council bought a new fire engine."
    ),
    "A new mayor": (
        "# A new mayor\n\nSkerry Herald, 12 January 2004\n\nTom Reeve was elected mayor of Skerry on 10 January 2004. "
        "He follows Anna Berg, who steps down after twelve years."
    ),
    "Election": (
        "Skerry Herald, 3 March 2012\n\nMayor Tom Reeve was re-elected on Sunday. "
        "The votes were counted by Deputy Mayor Ida Holt."
    ),
    "Farewell": (
        "Skerry Herald, 2 July 2015\n\nTom Reeve resigned as mayor on 30 June 2015 for reasons of health. "
        "Ida Holt takes over on 1 July as acting mayor.\n\nThe former mayor Anna Berg thanked him."
    ),
    "Minutes": (
        "Council of Skerry\nMinutes of 9 November 2015\n\nOn 8 November 2015 Pavel Dorn became mayor. "
        "Ida Holt was thanked for four months as acting mayor."
    ),
    "Brindle": "Brindle Post, 5 May 2010\n\nGreta Moll is mayor of Brindle. She opened the fair.",
}
CLUB: Texts = {
    "Season": (
        "Rovers newsletter, 1 August 2018\n\nHelen Carr took over as head coach of the Rovers in July 2016. "
        "Youth coach Dan Pell leaves the club."
    ),
    "Change": (
        "Rovers newsletter, 14 November 2019\n\nThe board dismissed Helen Carr today. "
        "Assistant coach Omar Sy is interim coach until the winter break."
    ),
    "New coach": (
        "Rovers newsletter, 6 January 2020\n\nThe Rovers have a coach again: Lars Winther has signed.\n\n"
        "Lars Winther becomes coach on 7 January. Omar Sy goes back to his post as assistant coach."
    ),
    "Report": "Match report, 3 October 2021\n\n“We were better,” said coach Lars Winther. Ben Tate disagreed.",
}
MUSEUM: Texts = {
    "History": (
        "Directors of the Tide Museum\n\n- Ruth Feld, 1987–1999\n- Carl Odin, 1999-2008\n- Mina Sorel, since 2008\n\n"
        "The museum stands on the quay."
    ),
    "Re: opening": (
        "From: Mina Sorel\nTo: Jan Aske\nDate: 5 June 2011\nSubject: Re: opening\n\nDear Jan,\n\n"
        "the opening is on Friday.\n\nMina Sorel, director, Tide Museum"
    ),
    "Minutes": (
        "Minutes of 7 March 2019\n\nPresent: Mina Sorel (director), Jan Aske (treasurer)\n\n"
        "Mina Sorel will retire on 31 August 2019. Jan Aske follows her as director on 1 September 2019."
    ),
}
SHIP: Texts = {
    "The Alma": (
        "The Alma was launched in 1921. Her first captain was Elias Quint. In 1926 he was succeeded by Noor Haag. "
        "Haag commanded the ship until 1934, when she handed over to Peter Lund. "
        "Lund was captain of the Alma from 1934 to 1940."
    ),
    "Log": "Log of the Alma, 3 May 1938\n\nCaptain Peter Lund came aboard at noon.",
}
CHOIR: Texts = {
    "Meeting of March": "Choir meeting, 3 March 2010\n\nPresent: Ella Wing (treasurer), Tim Roe.",
    "Meeting of April": "Choir meeting, 8 April 2016\n\nTreasurer: Sam Oak. The account is in order.",
}
TOWN: Texts = {
    "Amt": (
        "Stadtblatt, 3. Februar 2001\n\nSeit dem 1. Februar 2001 ist Vera Lang Bürgermeisterin von Neuhaven. "
        "Ihr Vorgänger Kurt Ahl war von 1990 bis 2001 Bürgermeister."
    ),
    "Wahl": (
        "Stadtblatt, 4. Mai 2009\n\nAm 1. Mai 2009 wurde Emil Tann Bürgermeister von Neuhaven. "
        "Vera Lang trat am 30. April 2009 zurück. Stellvertretende Bürgermeisterin ist Ute Korn."
    ),
}
RIVALS: Texts = {
    "The Courier": "Courier, 2 May 2014\n\nIn 2014 Gerda Ivers became head of the library.",
    "The Gazette": "Gazette, 3 May 2014\n\nIn 2014 Hugo Jahn became head of the library.",
}


def passages(texts: Texts) -> tuple[Passage, ...]:
    """The documents as chunks, one each, under ids that do not depend on their order."""
    return tuple(
        Passage("chunk", f"c-{title}", text, title=title, sources=(Source(f"{title}-0", 0, len(text)),))
        for title, text in texts.items()
    )
