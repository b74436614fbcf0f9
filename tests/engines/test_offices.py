"""Who held what when: the holder at a time, all in order, who came before and after, and what nobody says."""

from __future__ import annotations

import random

import pytest

from office_corpora import CHOIR, CLUB, COUNCIL, MUSEUM, RIVALS, SHIP, TOWN, Texts, passages
from sensegraph.engines.offline.answers.asked import Asked, Written
from sensegraph.engines.offline.answers.offices.office_answers import answer_office
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences
from sensegraph.language.dates.office_questions import read_office_question
from sensegraph.types import Passage


def answer(question: str, chunks: tuple[Passage, ...]) -> Written | None:
    sentences = read_source_sentences(chunks, choose_language(question, chunks))
    return answer_office(Asked(question, chunks, tuple(sentences)))


def lines(question: str, texts: Texts) -> list[str]:
    """The lines of an answer, without blank ones; none where there is no answer of this form."""
    written = answer(question, passages(texts))
    return [line for line in "".join(s.text for s in written.statements).splitlines() if line] if written else []


FIRST_LINES = [
    (COUNCIL, "Who was mayor of Skerry in May 1999?", "**Anna Berg**, named on 4 May 1999."),
    (COUNCIL, "Who was mayor of Skerry in 2013?", "**Tom Reeve**, from 10 January 2004 until 30 June 2015."),
    (COUNCIL, "who was mayor of skerry in 2006", "**Tom Reeve**, from 10 January 2004 until 30 June 2015."),
    (COUNCIL, "Who was mayor of Skerry in August 2015?", "**Ida Holt** (interim), from 1 July 2015."),
    (COUNCIL, "Who has been mayor of Skerry since November 2015?", "**Pavel Dorn**, from 8 November 2015."),
    (COUNCIL, "Who is the mayor of Skerry?", "**Pavel Dorn**, from 8 November 2015."),
    (COUNCIL, "Who is mayor of Brindle?", "**Greta Moll**, named on 5 May 2010."),
    (COUNCIL, "Who is the deputy mayor of Skerry?", "**Ida Holt**, named on 3 March 2012."),
    (COUNCIL, "Who succeeded Tom Reeve as mayor of Skerry?", "**Ida Holt** (interim), from 1 July 2015."),
    (COUNCIL, "Who was mayor of Skerry before Pavel Dorn?", "**Ida Holt** (interim), from 1 July 2015."),
    (COUNCIL, "Who was mayor in 2010?", "Brindle: **Greta Moll**, named on 5 May 2010."),
    (CLUB, "Who was coach of the Rovers in 2017?", "**Helen Carr**, from July 2016 until 14 November 2019."),
    (CLUB, "Who was coach in December 2019?", "**Omar Sy** (interim), named on 14 November 2019."),
    (CLUB, "Who coached the Rovers in 2021?", "**Lars Winther**, from 7 January 2020."),
    (CLUB, "Who was the youth coach in August 2018?", "**Dan Pell**, named on 1 August 2018."),
    (MUSEUM, "Who was director of the Tide Museum in 1990?", "**Ruth Feld**, from 1987 until 1999."),
    (MUSEUM, "Who was the museum's director in 2003?", "**Carl Odin**, from 1999 until 2008."),
    (MUSEUM, "Who was director in July 2019?", "**Mina Sorel**, from 2008 until 31 August 2019."),
    (MUSEUM, "Who is the director of the Tide Museum?", "**Jan Aske**, from 1 September 2019."),
    (MUSEUM, "Who directed the Tide Museum before Mina Sorel?", "**Carl Odin**, from 1999 until 2008."),
    (SHIP, "Who was captain of the Alma in 1930?", "**Noor Haag**, from 1926."),
    (SHIP, "Who was captain in May 1938?", "**Peter Lund**, from 1934 until 1940."),
    (SHIP, "Who succeeded Elias Quint as captain?", "**Noor Haag**, from 1926."),
    (CHOIR, "Who was treasurer in March 2010?", "**Ella Wing**, named on 3 March 2010."),
    (CHOIR, "Who is treasurer?", "**Sam Oak**, named on 8 April 2016."),
    (
        TOWN,
        "Wer war Bürgermeister von Neuhaven im Jahr 2005?",
        "**Vera Lang**, from 1 February 2001 until 30 April 2009.",
    ),
    (TOWN, "Wer war 1995 Bürgermeister?", "**Kurt Ahl**, from 1990 until 2001."),
    (TOWN, "Wer folgte Vera Lang als Bürgermeister?", "**Emil Tann**, from 1 May 2009."),
]


@pytest.mark.parametrize(("texts", "question", "first"), FIRST_LINES)
def test_the_holder_stands_first(texts: Texts, question: str, first: str) -> None:
    assert lines(question, texts)[0] == first


def test_the_sentences_that_show_it_stand_below_and_are_cited() -> None:
    written = answer("Who was mayor of Skerry in 2013?", passages(COUNCIL))
    assert written is not None
    assert not written.abstained
    assert [s.text for s in written.statements[1:]] == [
        "\n\n- Tom Reeve was elected mayor of Skerry on 10 January 2004.",
        "\n- Tom Reeve resigned as mayor on 30 June 2015 for reasons of health.",
    ]
    assert all(s.sources for s in written.statements[1:])


@pytest.mark.parametrize(
    ("texts", "question", "listed"),
    [
        (
            COUNCIL,
            "Who were the mayors of Skerry, in order?",
            [
                "1. **Anna Berg**, named on 4 May 1999",
                "2. **Tom Reeve**, from 10 January 2004 until 30 June 2015",
                "3. **Ida Holt** (interim), from 1 July 2015",
                "4. **Pavel Dorn**, from 8 November 2015",
            ],
        ),
        (
            MUSEUM,
            "List the directors of the Tide Museum in order",
            [
                "1. **Ruth Feld**, from 1987 until 1999",
                "2. **Carl Odin**, from 1999 until 2008",
                "3. **Mina Sorel**, from 2008 until 31 August 2019",
                "4. **Jan Aske**, from 1 September 2019",
            ],
        ),
        (
            SHIP,
            "Who were the captains of the Alma?",
            [
                "1. **Elias Quint**, until 1926",
                "2. **Noor Haag**, from 1926",
                "3. **Peter Lund**, from 1934 until 1940",
            ],
        ),
    ],
)
def test_all_holders_are_listed_in_the_order_of_time(texts: Texts, question: str, listed: list[str]) -> None:
    assert lines(question, texts) == ["In order of time:", *listed]
    written = answer(question, passages(texts))
    assert written is not None
    assert all(s.sources for s in written.statements[1:])


def test_what_the_holder_was_before_is_told_with_the_sentence_that_says_so() -> None:
    found = lines("Who succeeded Mina Sorel as director, and what was he before?", MUSEUM)
    assert found[0] == "**Jan Aske**, from 1 September 2019; before that treasurer."
    assert found[-1] == "- Present: Mina Sorel (director), Jan Aske (treasurer)."


@pytest.mark.parametrize(
    ("texts", "question", "told"),
    [
        (CHOIR, "Who was treasurer in 2013?", ("Last known before: **Ella Wing**", "First known after: **Sam Oak**")),
        (CHOIR, "Who was treasurer before 2010?", ("First known after: **Ella Wing**",)),
        (SHIP, "Who was captain of the Alma in 1950?", ("Last known before: **Peter Lund**",)),
        (COUNCIL, "Who was mayor of Skerry in 1950?", ("First known after: **Anna Berg**",)),
    ],
)
def test_a_time_of_which_nobody_is_told_is_said_to_be_unknown(
    texts: Texts, question: str, told: tuple[str, ...]
) -> None:
    written = answer(question, passages(texts))
    assert written is not None
    assert written.abstained
    found = lines(question, texts)
    assert found[0].startswith("The sources do not say")
    assert [line.removeprefix("- ").split("**,")[0] + "**" for line in found[1:]] == list(told)


@pytest.mark.parametrize(
    "question",
    [
        "Who was chairman in 2013?",
        "Who is Ella Wing?",
        "Who is Ella?",
        "How many singers came?",
        "Who wrote to the treasurer?",
        "Who was ill?",
    ],
)
def test_other_questions_and_offices_that_nobody_speaks_of_are_left_to_other_forms(question: str) -> None:
    assert answer(question, passages(CHOIR)) is None


def test_two_sources_that_disagree_are_both_shown_and_said_to() -> None:
    found = lines("Who was head of the library in 2015?", RIVALS)
    assert found[0].startswith("This is disputed, the sources disagree: **Gerda Ivers**")
    assert "**Hugo Jahn**" in found[0]
    assert len(found) == 3


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_the_chunks_does_not_change_the_answer(seed: int) -> None:
    for texts, question, _ in FIRST_LINES[::2]:
        mixed = list(texts.items())
        random.Random(seed).shuffle(mixed)
        assert lines(question, dict(mixed)) == lines(question, texts), question


def test_the_order_of_the_sentences_does_not_change_the_answer() -> None:
    """Passages that quote give the sentences of a chunk in another order."""
    chunks = passages(SHIP)
    sentences = tuple(reversed(read_source_sentences(chunks, "en")))
    written = answer_office(Asked("Who succeeded Elias Quint as captain?", chunks, sentences))
    assert written is not None
    assert written.statements[0].text == "**Noor Haag**, from 1926."


def test_who_returns_to_an_office_has_two_terms() -> None:
    texts = {
        "Chairs": "Jon Ode became chair in 2001. Lea Pin became chair in 2003. Jon Ode became chair again in 2005."
    }
    assert lines("Who were the chairs, in order?", texts)[1:] == [
        "1. **Jon Ode**, from 2001",
        "2. **Lea Pin**, from 2003",
        "3. **Jon Ode**, from 2005",
    ]
    assert lines("Who was chair in 2004?", texts)[0] == "**Lea Pin**, from 2003."


HOLDERS = [  # the first and last day on which each is known to be in office
    ("Tom Reeve", "10 January 2004", "30 June 2015"),
    ("Ida Holt", "1 July 2015", "7 November 2015"),
    ("Pavel Dorn", "8 November 2015", "31 December 2030"),
]


@pytest.mark.parametrize(("holder", "first", "last"), HOLDERS)
def test_the_first_and_the_last_day_of_a_term_give_its_holder_and_nobody_else(
    holder: str, first: str, last: str
) -> None:
    for day in (first, last):
        shown = lines(f"Who was mayor of Skerry on {day}?", COUNCIL)[0]
        assert shown.startswith(f"**{holder}**")
        assert not [name for name, _, _ in HOLDERS if name != holder and name in shown]


SENTENCES = [
    ("The board elected Nina Frost president on 3 May 2011.", "**Nina Frost**, from 3 May 2011."),
    ("In 2011 the members chose Nina Frost as their president.", "**Nina Frost**, from 2011."),
    ("Nina Frost, president since 2011, opened the meeting.", "**Nina Frost**, from 2011."),
    ("Nina Frost, who was president from 2011 to 2015, said so.", "**Nina Frost**, from 2011 until 2015."),
    ("Since 2011 the president of the society has been Nina Frost.", "**Nina Frost**, from 2011."),
    ("In 2011, Nina Frost took over from Karl Beck as president.", "**Nina Frost**, from 2011."),
    ("Karl Beck was succeeded as president by Nina Frost in 2011.", "**Nina Frost**, from 2011."),
    ("Karl Beck handed the post of president to Nina Frost in 2011.", "**Nina Frost**, from 2011."),
    ("Nina Frost became the society's fifth president on 2 May 2011.", "**Nina Frost**, from 2 May 2011."),
    ("The presidents: Karl Beck (2001–2011), Nina Frost (2011–2015).", "**Nina Frost**, from 2011 until 2015."),
    (
        "On 2 May 2011 Omar Bell became clerk, and Nina Frost follows Karl Beck as president.",
        "**Nina Frost**, from 2 May 2011.",
    ),
    ("PRESIDENT: Nina Frost", "**Nina Frost**, named on 5 June 2012."),
    ("Vice president Lou Grant thanked the guests.", ""),
    ("Nina Frost did not become president in 2011.", ""),
    ("Nina Frost ran for president in 2010.", ""),
    ("Nina Frost wrote to the president of the society.", ""),
    ("Nina Frost, president-elect, spoke in 2012.", ""),
]


@pytest.mark.parametrize(("sentence", "first"), SENTENCES)
def test_a_sentence_tells_who_holds_an_office_in_many_ways(sentence: str, first: str) -> None:
    texts = {"Minutes, 5 June 2012": sentence}
    assert (lines("Who was president in June 2012?", texts) or [""])[0] == first


@pytest.mark.parametrize(
    ("question", "office", "kind", "relation"),
    [
        ("Who was CFO in May 2023?", "CFO", "at", "holder"),
        ("Who has been treasurer since 2019?", "treasurer", "since", "holder"),
        ("Who is the abbot of Holm now?", "abbot", "now", "holder"),
        ("Who led the choir before Tom Reeve?", "led", "order", "predecessor"),
        ("Who was Anna Berg's successor as mayor?", "mayor", "order", "successor"),
        ("Wer war nach Anna Berg Leiterin des Amts?", "Leiterin", "order", "successor"),
    ],
)
def test_a_question_tells_the_office_and_the_time(question: str, office: str, kind: str, relation: str) -> None:
    read = read_office_question(question)
    assert read is not None
    assert (read.office, read.kind, read.relation) == (office, kind, relation)


@pytest.mark.parametrize(
    "question", ["Who was Anna Berg?", "Who won the cup in 2019?", "Who was at the meeting?", "When did it end?"]
)
def test_a_question_for_no_office_is_none(question: str) -> None:
    assert read_office_question(question) is None


@pytest.mark.parametrize("question", ["Who was vp in 2019?", "Who was it?", "Who is up to date?"])
def test_words_too_short_for_an_office_end_in_no_error(question: str) -> None:
    assert lines(question, COUNCIL) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Karl Beck succeeded Nina Frost as president in 2003.",
            ["In order of time:", "1. **Nina Frost**, until 2003", "2. **Karl Beck**, from 2003"],
        ),
        (
            "Nina Frost became president in 2001. In 2003 she was replaced by Karl Beck.",
            ["In order of time:", "1. **Nina Frost**, from 2001 until 2003", "2. **Karl Beck**, from 2003"],
        ),
        (
            "Nina Frost was re-elected president in 2003.",
            ["**Nina Frost**, from 2003.", "- Nina Frost was re-elected president in 2003."],
        ),
        (
            "Nina Frost, Head of Sales, was president in 2003.",
            ["**Nina Frost**, named in 2003.", "- Nina Frost, Head of Sales, was president in 2003."],
        ),
    ],
)
def test_who_ends_comes_before_who_begins_and_what_stands_between_commas_is_no_person(
    text: str, told: list[str]
) -> None:
    assert lines("Who were the presidents, in order?", {"Minutes": text}) == told
