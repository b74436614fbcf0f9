"""Answers of fact by worked examples: what sentences are rated by, which are shown, and how far dates weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fact_corpora import ALLT, Texts, asking, passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.dated import choose_dated, favour_dated, find_document_date
from sensegraph.engines.offline.answers.facts import answer_fact, choose_fact_sentences
from sensegraph.engines.offline.answers.features import Read, read_evidence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, read_source_sentences
from sensegraph.types import Passage, Source


def weigh_dates(question: str, titles: list[str]) -> list[float]:
    """What the date in each title leaves of an even chance, as a share of the best; they add up to 1."""
    asked = asking(question, [(t, f"The harbour has boats numbered {i}.") for i, t in enumerate(titles)])
    read = read_evidence(question, asked.chunks, asked.sentences, None)
    assert read is not None
    chances = favour_dated(asked, read, np.ones(len(titles)) / len(titles))
    assert chances.sum() == pytest.approx(1)
    return [round(float(x / chances.max()), 3) for x in chances]


def choose_chunks(question: str, dates: list[str]) -> list[str]:
    """The chunks that are read, where each has a date in its title or none."""
    texts = [(f"Report of {date}" if date else "Notes", "The harbour has boats.") for date in dates]
    return [p.id for p in choose_dated(asking(question, texts, [1.0] * len(texts)))]


def show(
    chances: list[float], sizes: list[int], gate: float = 0.0, because: list[int] | None = None, most: int = 3,
    order: list[int] | None = None,
) -> list[int]:  # fmt: skip
    """The places of the sentences that are shown: of so many words each, none of which two share."""
    texts = [" ".join(f"{'abcdefghijkl'[i]}w{j}x" for j in range(size)) for i, size in enumerate(sizes)]
    held = tuple(SourceSentence(t, "", Source(f"d{i}-0", 0, 9), f"p{i}", (), i) for i, t in enumerate(texts))
    none, leads = np.zeros(len(held)), tuple(because or [-1] * len(held))
    read = Read("thing", held, none, none, none, none > 0, leads, frozenset(), 0.0, ())
    return [s.order for s in choose_fact_sentences(read, order or range(len(held)), np.array(chances), gate, most)]


def show_in(order: list[int], chances: list[float], gate: float, because: list[int]) -> list[int]:
    """The same, where the best sentence is not the first one."""
    return show(chances, [5] * len(chances), gate, because, order=order)


def answer(question: str, texts: Texts = ALLT) -> tuple[str, bool]:
    written = answer_fact(asking(question, texts))
    assert written is not None
    return "".join(s.text for s in written.statements), written.abstained


def date_of(title: str, text: str) -> str:
    return find_document_date(title, read_source_sentences(passages([(title, text)]), "en"))


def test_records_that_quote_are_read_up_to_thirty() -> None:
    records = tuple(Passage("report", f"r{i}", "Report") for i in range(31))
    assert len(choose_dated(Asked("How many boats?", (), (), quoting=records[:29]))) == 29
    assert len(choose_dated(Asked("How many boats?", (), (), quoting=records))) == 30


# fmt: off
FAVOURED_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('How many boats in May 2019?',
      ['May 2019', 'April 2019', 'June 2019', 'January 2018', 'Notes', '3 May 2019', 'June 2025']),
     [1.0, 0.779, 0.607, 0.05, 0.5, 1.0, 0.05]),
    (('How many boats in 2019?',
      ['May 2019', 'December 2018', 'January 2020', 'February 2020', 'November 2018', 'December 2019', 'March 2020',
       'Notes']),
     [1.0, 0.779, 0.607, 0.368, 0.607, 1.0, 0.223, 0.5]),
    (('How many boats in 2019?', ['May 2019', 'Notes', 'May 2001']), [1.0, 0.5, 0.05]),
]
# fmt: on


def test_what_was_written_far_from_the_time_weighs_less_and_later_ones_lose_twice_as_fast() -> None:
    found = [(given, weigh_dates(*given)) for given, _ in FAVOURED_EXAMPLES]
    assert found == FAVOURED_EXAMPLES


# fmt: off
CHOSEN_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('How many boats in May 2019?',
      ['', '', '', '', '', 'May 2018', 'May 2019', '', 'April 2019', 'June 2019', '3 May 2019', 'May 2001', '', '',
       '', '', '', '', '', '', 'May 2019']),
     ['p0', 'p1', 'p2', 'p3', 'p4', 'p6', 'p10', 'p8']),
    (('How many boats in May 2019?', ['', '', '', '', '', 'May 2018', '', 'June 2020']),
     ['p0', 'p1', 'p2', 'p3', 'p4']),
]
# fmt: on


def test_at_most_three_chunks_that_are_dated_near_the_time_are_read_too_the_nearest_first() -> None:
    found = [(given, choose_chunks(*given)) for given, _ in CHOSEN_EXAMPLES]
    assert found == CHOSEN_EXAMPLES


# fmt: off
FACT_SHOWN_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (([0.4, 0.2, 0.1, 0.08, 0.05, 0.04], [5, 5, 5, 5, 5, 5], 0.0, None, 9), [0, 1, 2, 3, 4]),
    (([0.9, 0.03, 0.03], [5, 5, 5]), [0]),
    (([0.92, 0.05, 0.03], [5, 5, 5]), [0, 1]),
    (([0.4, 0.2, 0.1, 0.08, 0.05, 0.04], [60, 50, 5, 5, 5, 5]), [0, 1]),
    (([0.4, 0.2, 0.1, 0.08, 0.05, 0.04], [5, 5, 5, 5, 5, 5], 0.6, [0, -1, -1, -1, -1, -1]), [0, 1, 2, 3]),
    (([0.4, 0.2, 0.1, 0.08, 0.05, 0.04], [5, 5, 5, 5, 5, 5], 0.5, [3, -1, -1, -1, -1, -1]), [0, 3, 1, 2]),
]
# fmt: on


def test_sentences_are_shown_until_they_are_enough_too_many_or_too_long() -> None:
    found = [(given, show(*given)) for given, _ in FACT_SHOWN_EXAMPLES]
    assert found == FACT_SHOWN_EXAMPLES


# fmt: off
FACT_ORDER_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (([1, 2, 3, 4, 0], [0.1, 0.4, 0.2, 0.15, 0.1], 0.6, [-1, 0, -1, -1, -1]), [1, 0, 2, 3]),
]
# fmt: on


def test_what_leads_to_the_best_sentence_is_shown_wherever_it_stands() -> None:
    found = [(given, show_in(*given)) for given, _ in FACT_ORDER_EXAMPLES]
    assert found == FACT_ORDER_EXAMPLES


# fmt: off
FACT_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('When was the Orl Tower finished and who entangled qubits?',),
     ('The Orl Tower was finished in 1911.\n\nThe sources do not say: who entangled qubits.', False)),
    (('Who entangled qubits and when did cosmonauts dance?',),
     ('The sources do not answer this. “entangled” and “qubits” stand nowhere in them.', True)),
    (('When was the Orl Tower finished, and why?',),
     ('The Orl Tower was finished in 1911.\n\n- Ada Rowe designed it, because the old tower had burnt down.', False)),
    (('How many steps has the Orl Tower and where was Tom Hale born?',),
     ('It has 214 steps and two bells.\n\n- Tom Hale was born in Kessel in 1870.\n'
      '- It was built by Tom Hale, who later lived in Orl.', False)),
    (('How many bells has the Orl Tower?',), ('**two**: It has 214 steps and two bells.', False)),
    (('Which qubits, cosmonauts, wombats and zebras entangled?',),
     ('The sources do not answer this. “qubits”, “cosmonauts” and “wombats” stand nowhere in them.', True)),
    (('Which qubits of the tower?',),
     ('The sources do not answer this. “qubits” stands nowhere in them.', True)),
    (('Who kept bees and who designed the Orl Tower and where is Sund and when was Tom Hale born?',),
     ('Tom Hale was born in Kessel in 1870.\n'
      '\n'
      '- He kept bees.\n'
      '- Ada Rowe designed it, because the old tower had burnt down.\n'
      '- The Vell Bridge crosses the Mere at Sund.',
      False)),
    (('How many steps has the Orl Tower?', [('Orl Tower', 'The Orl Tower has 214 wide old steps.')]),
     ('The Orl Tower has 214 wide old steps.', False)),
]
# fmt: on


def test_the_answer_says_what_is_held_part_by_part_and_how_sure_it_is() -> None:
    found = [(given, answer(*given)) for given, _ in FACT_EXAMPLES]
    assert found == FACT_EXAMPLES


def test_until_when_something_was_is_answered_with_its_end() -> None:
    texts = [
        (
            "Harbour notes",
            "Ida Noor has been pilot of Quay Harbour since May 2014. Her contract runs until at least 2019.",
        ),
        (
            "Later notes",
            "Bo Isk took over as pilot of Quay Harbour on 2 April 2020. Ida Noor had been pilot until March 2020.",
        ),
    ]
    ended, begun = "Ida Noor had been pilot until March 2020.", "**May 2014**: Ida Noor has been pilot"
    for asked, first in (("Until when", f"Most likely: {ended}"), ("Bis wann", ended), ("Since when", begun)):
        written = answer_fact(asking(f"{asked} was Ida Noor pilot of Quay Harbour?", texts))
        assert written is not None
        assert first in written.statements[0].text
