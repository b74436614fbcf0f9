"""What a sentence tells of a name, by worked examples, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.definitions import answer_definition, rank_statements
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences
from sensegraph.language.defining import read_asked_name
from sensegraph.types import NameCounts, Passage, Source, WordCounts


def passages(texts: dict[str, str]) -> tuple[Passage, ...]:
    return tuple(
        Passage("chunk", f"p{i}", text, 1.0, title, (Source(f"{i:012}-0", 0, len(text)),), (), 1)
        for i, (title, text) in enumerate(texts.items())
    )


def rank(question: str, texts: dict[str, str], alone: tuple[str, ...] = ()) -> object:
    """Each sentence that tells something, best first, with the kind of what it tells, its weight and its score."""
    name = read_asked_name(question)
    assert name is not None
    told = rank_statements(name, read_source_sentences(passages(texts), "en"), alone)
    return [(one.sentence.raw, one.kind, round(one.weight, 3), round(one.score, 3)) for one in told]


def define(question: str, texts: dict[str, str], counts: NameCounts | None = None) -> str:
    chunks = passages(texts)
    sentences = tuple(read_source_sentences(chunks, choose_language(question, chunks)))
    written = answer_definition(Asked(question, chunks, sentences, WordCounts(0, (), counts) if counts else None))
    return "".join(s.text for s in written.statements) if written else ""


README = """<p align="center"><img src="https://qpress.example/qpress_logo.png" alt="Qpress is a logo. It is blue."></p>

__Quickpress__, or `qpress` as short version, is a fast lossless compression algorithm.

<a href="https://qpress.example"><img src="https://qpress.example/badge.svg" alt="qpress build status"></a>

| Name | Ratio |
| --- | --- |
| **qpress 1.5.7 -1** | 2.896 |

![Speed of qpress](doc/qpress.png "qpress speed") | ![qpress](doc/other.png "qpress")
"""


def test_markup_of_a_page_and_rows_of_tables_do_not_hide_a_definition() -> None:
    told = "__Quickpress__, or `qpress` as short version, is a fast lossless compression algorithm."
    for asked in ("qpress", "Quickpress"):
        assert define(f"What is {asked}?", {"README": README}) == told


@pytest.mark.parametrize("name", ["*Tidebell*", "_Tidebell_", "**Tidebell**", "<b>Tidebell</b>", "***Tidebell***"])
def test_emphasis_around_a_name_does_not_hide_a_definition(name: str) -> None:
    said = f"{name} is a program that foretells the tides of the bay."
    assert define("What is Tidebell?", {"a": f"We met Tidebell. {said}"}).startswith(said)


MANY = {
    "a": "Bluefin is a program that plans tides. Bluefin was made by Ann Lee in 1999. Bluefin is the oldest "
    "tool of the yard. Bluefin is an aid for pilots in fog.",
    "b": "We saw Bluefin. Bluefin sank.",
}


# fmt: off
RANKED_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who is Dora Quill?',
      {'Dora Quill': 'Dora Quill keeps three locks on the canal. She came late. Dora Quill is a keeper of bees.'}),
     [('Dora Quill keeps three locks on the canal.', 'lead', 4.0, 17.29),
      ('Dora Quill is a keeper of bees.', 'is', 3.0, 10.374), ('She came late.', 'follows', 0.9, 0.252)]),
    (('Who is Dora Quill?', {'Dora Quill': 'She kept many bees. Dora Quill is late.'}),
     [('Dora Quill is late.', 'follows', 0.9, 0.328), ('She kept many bees.', 'follows', 0.9, 0.315)]),
    (('Who is Dora Quill?', {'Dora Quill': 'She kept bees for the town. Dora Quill is late.'}),
     [('She kept bees for the town.', 'lead', 2.0, 3.36), ('Dora Quill is late.', 'follows', 0.9, 0.328)]),
    (('Who is Dora Quill?',
      {'Dora Quill': 'In the long cold year of the great flood on the river, when all the boats of the town were '
                     'lost, we met Dora Quill, a keeper of locks.'}),
     [('In the long cold year of the great flood on the river, when all the boats of the town were lost, we met '
       'Dora Quill, a keeper of locks.',
       'lead', 5.0, 16.625)]),
    (('Who is Dora Quill?',
      {'a': 'It rained. Dora Quill was a keeper of locks.', 'b': 'It snowed. Dora Quill was a keeper of locks.'}),
     [('Dora Quill was a keeper of locks.', 'is', 3.0, 4.347),
      ('Dora Quill was a keeper of locks.', 'is', 3.0, 4.347)]),
    (('Who is Dora Quill?', {'a': 'We met Dora Quill at noon. Dora is a rower from Lund.'}),
     [('Dora is a rower from Lund.', 'is', 2.1, 2.225), ('We met Dora Quill at noon.', '', 0.4, 0.065)]),
    (('Who is Dora Quill?',
      {'a': 'We met Dora Quill. It rained. It snowed. It hailed. We ate. Dora is a rower from Lund.'}),
     [('We met Dora Quill.', '', 0.4, 0.065)]),
    (('Who is Dora Quill?', {'g': 'The keeper, Dora Quill, came. Keeper Dora Quill sang.'}),
     [('The keeper, Dora Quill, came.', 'apposition', 2.3, 3.158), ('Keeper Dora Quill sang.', 'role', 1.8, 1.802)]),
    (('What is Bluefin?', {'a': 'Bluefin\n\nis a program that plans tides.'}),
     [('Bluefin is a program that plans tides.', 'is', 3.0, 4.631)]),
    (('What is Bluefin?', {'a': 'Old Bluefin\n\nis a program that plans tides.'}), [('Old Bluefin', '', 0.4, 0.065)]),
    (('Who is Dora Quill?',
      {'a': 'We met Dora Quill. It rained. It snowed. It hailed. We ate. We sang. Dora is a rower from Lund.'},
      ('Dora',)),
     [('Dora is a rower from Lund.', 'is', 2.1, 2.225), ('We met Dora Quill.', '', 0.4, 0.065)]),
    (('Who is Dora Quill?', {'a': 'We met Dora Quill.', 'b': 'Dora is a rower.'}, ('Dora',)),
     [('We met Dora Quill.', '', 0.4, 0.065)]),
    (('What is Moor Gate (pub)?',
      {'Moor Gate (pub)': 'Moor Gate is a pub in Orl.', 'Moor Gate': 'Moor Gate is a gate in Orl.'}),
     [('Moor Gate is a pub in Orl.', 'lead', 5.0, 21.612), ('Moor Gate is a gate in Orl.', 'lead', 5.0, 10.806)]),
    (('Who is Dora Quill?',
      {'a': 'Dora Quill was a keeper of the long locks on the old canal in the wide and green valley of Orl.',
       'b': 'Dora Quill was a keeper of the long locks on the old canal in the wide and green valley of Kessel.'}),
     [('Dora Quill was a keeper of the long locks on the old canal in the wide and green valley of Kessel.', 'is',
       3.0, 5.72),
      ('Dora Quill was a keeper of the long locks on the old canal in the wide and green valley of Orl.', 'is', 3.0,
       5.72)]),
    (('Who is Dora Quill?',
      {'Dora Quill': 'In the long cold year of the great flood on the river when all the boats of the town were '
                     'lost we met Dora Quill in the rain.'}),
     [('In the long cold year of the great flood on the river when all the boats of the town were lost we met Dora '
       'Quill in the rain.',
       'lead', 2.0, 5.6)]),
    (('Who is Dora Quill?', {'Dora Quill': 'Dora Quill is late. It rained.'}),
     [('Dora Quill is late.', 'follows', 0.9, 0.41), ('It rained.', 'follows', 0.9, 0.252)]),
    (('Who is Dora Quill?',
      {'Dora Quill': 'Then one and two and three and four and five more came with Dora Quill too.'}),
     [('Then one and two and three and four and five more came with Dora Quill too.', 'lead', 4.0, 7.98)]),
]
# fmt: on


def test_sentences_are_ranked_by_what_they_tell_and_where_they_stand() -> None:
    found = [(given, rank(*given)) for given, _ in RANKED_EXAMPLES]
    assert found == RANKED_EXAMPLES


# fmt: off
DEFINED_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who is Dora Quill?',
      {'Dora Quill': 'Dora Quill keeps three locks on the canal. She came late. Dora Quill is a keeper of bees.'}),
     'Dora Quill keeps three locks on the canal.\n\n- Dora Quill is a keeper of bees.'),
    (('Who is Dora Quill?', {'t': 'DORA QUILL: I came late.\n\nBO ISK: You did.\n\nDORA QUILL: I did.'}), ''),
    (('Who is Dora Quill?',
      {'Dora Quill': '# Dora Quill\n\nBorn in Orl in 1950, she keeps three locks.', 'x': 'Dora Quill came.'}),
     'The texts never say outright who Dora Quill is; they show:\n'
     '\n'
     '- Born in Orl in 1950, she keeps three locks.\n'
     '- Dora Quill.'),
    (('What is Bluefin?', MANY),
     'Bluefin is a program that plans tides.\n'
     '\n'
     '- Bluefin is an aid for pilots in fog.\n'
     '- Bluefin is the oldest tool of the yard.'),
    (('What is Bluefin?',
      {'a': 'Bluefin is a program that plans tides. Bluefin is a very very very very very very very very very very '
            'very very very very very very very very very very very very very very very very very very very very '
            'very very very very very very very very very very very very very very very very very very very very '
            'very very very very very old tool.'}),
     'Bluefin is a program that plans tides.\n'
     '\n'
     '- Bluefin is a very very very very very very very very very very very very very very very very very very '
     'very very very very very very very very very very very very very very very very very very very very very '
     'very very very very very very very very very very very very very very very very old tool.'),
    (('What is Bluefin?',
      {'a': 'Bluefin is a program that plans tides. Bluefin is a very very very very very very very very very very '
            'very very very very very very very very very very very very very very very very very very very very '
            'very very very very very very very very very very very very very very very very very very very very '
            'very very very very very very old tool.'}),
     'Bluefin is a program that plans tides.'),
    (('What is Bluefin?',
      {'a': 'Everybody saw Bluefin at noon.',
       'b': 'Nobody likes to talk of Bluefin.',
       'c': 'Old men fear Bluefin in winter.',
       'd': 'Ships and Bluefin came to the pier in May.'}),
     'The texts never say outright what Bluefin is; they show:\n'
     '\n'
     '- Ships and Bluefin came to the pier in May.\n'
     '- Everybody saw Bluefin at noon.\n'
     '- Nobody likes to talk of Bluefin.'),
    (('What does FBO mean?',
      {'a': 'The Fleet Board of Orl (FBO) sets the rates for all ships. The Fleet Board of Orl is a court of nine '
            'judges.'}),
     'The Fleet Board of Orl is a court of nine judges.\n'
     '\n'
     '- The Fleet Board of Orl (FBO) sets the rates for all ships.\n'
     '\n'
     'Also called: Fleet Board of Orl.'),
    (('What is Otter?',
      {'a': 'The planner Bluefin, known inside the company as Otter, is quick.',
       'b': 'Bluefin is a program that plans tides. Bluefin was made in 1999.'}),
     'The planner Bluefin, known inside the company as Otter, is quick.\n'
     '\n'
     '- Bluefin is a program that plans tides.\n'
     '\n'
     'Also called: Bluefin.'),
    (('What is Bluefin?',
      {'a': 'Bluefin is a boat of Orl.',
       'b': 'Bluefin is a program of Kessel.',
       'c': 'Bluefin is a pub in Lund.',
       'd': 'Bluefin is a dog from Ulm.'}),
     'Several may bear the name Bluefin:\n'
     '\n'
     '- Bluefin is a boat of Orl.\n'
     '- Bluefin is a dog from Ulm.\n'
     '- Bluefin is a program of Kessel.'),
    (('Who is Sam Orr?',
      {'Sam Orr (painter)': 'Sam Orr (1901–1970) was a Welsh painter.',
       'Sam Orr (chemist)': 'Sam Orr is a chemist.',
       'Sam Orr': 'Sam Orr is a name of the north.',
       'Sam Orr (poet)': 'Sam Orr was a poet of Orl.'}),
     'Several may bear the name Sam Orr:\n'
     '\n'
     '- Sam Orr is a name of the north.\n'
     '- Sam Orr (1901–1970) was a Welsh painter.\n'
     '- Sam Orr is a chemist.'),
    (('Who is Sam Orr?',
      {'Sam Orr (painter)': 'Sam Orr (1901–1970) was a Welsh painter.', 'x': 'Sam Orr is a judge of Orl.'}),
     'Sam Orr (1901–1970) was a Welsh painter.\n\n- Sam Orr is a judge of Orl.'),
    (('Who is Kai?', {'a': 'Kai Lund is a cook. Kai Lund came late.'}), 'Kai Lund is a cook.'),
    (('What is the pier?', {'a': 'The old bridge, called the pier, ends at sea.'}),
     'The old bridge, called the pier, ends at sea.'),
    (('What is Bluefin?', MANY, NameCounts(chunks=1, documents=1, exact=True, alone=())),
     'Bluefin is a program that plans tides.\n'
     '\n'
     '- Bluefin is an aid for pilots in fog.\n'
     '- Bluefin is the oldest tool of the yard.'),
    (('What is the Bluefin?', {'a': 'Everybody saw the Bluefin at noon.'}),
     'The texts never say outright what the Bluefin is; they show:\n\n- Everybody saw the Bluefin at noon.'),
    (('What is Bluefin?',
      {'a': 'Bluefin, also known as Eel, is a program. Bluefin, also known as Pike, is old. Bluefin, also known as '
            'Carp, is big. Bluefin, also known as Trout, is red.'}),
     'Bluefin, also known as Eel, is a program.\n\nAlso called: Eel, Carp, Pike.'),
    (('What is Bluefin?',
      {'a': 'Bluefin, also known as Eel, is a program that plans tides. Bluefin, also known as Eel Two, is '
            'quick.'}),
     'Bluefin, also known as Eel, is a program that plans tides.\n\nAlso called: Eel.'),
    (('What is X?', {'a': 'The Xylo, known as X, is a tool. Xylo is a big tool of Orl.'}),
     'The Xylo, known as X, is a tool.\n\n- Xylo is a big tool of Orl.'),
]
# fmt: on


def test_what_tells_most_comes_first_then_what_else_is_told() -> None:
    found = [(given, define(*given)) for given, _ in DEFINED_EXAMPLES]
    assert found == DEFINED_EXAMPLES
