"""What a sentence is rated by for a question of fact, by worked examples: the words, the title, what leads to it."""

from __future__ import annotations

from typing import Any

import pytest

from fact_corpora import ALLT, Texts, asking, passages
from sensegraph.engines.offline.answers.features import FEATURES, GATE, rate_rarity, read_evidence
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences
from sensegraph.types import Description, Passage, Source, WordCounts

CHAINED = ("chain", "typed chain")  # which follow from the others: see the test at the end


def describe(
    question: str, texts: Texts = ALLT, scores: list[float] | None = None, kind: Any = None,
    counted: WordCounts | None = None,
) -> object:  # fmt: skip
    """The features that are not 0 for all sentences, the gate, and the rest of what is read."""
    asked = asking(question, texts, scores)
    read = read_evidence(question, asked.chunks, asked.sentences, counted, kind)
    if read is None:
        return None
    columns = {
        name: [round(float(x), 3) for x in column] for name, column in zip(FEATURES, read.features.T, strict=True)
    }
    gate = {name: round(float(x), 3) for name, x in zip(GATE, read.gate, strict=True)}
    return (
        {name: column for name, column in columns.items() if any(column) and name not in CHAINED},
        {name: value for name, value in gate.items() if value},
        [round(float(x), 3) for x in read.union],
        [i for i, heading in enumerate(read.headings) if heading],
        read.because, round(read.second, 3), read.missing,
    )  # fmt: skip


def score_records(score: float, chunks: bool) -> object:
    """The scores of sentences and the second score, where a record of this score is read before chunks or another."""
    first = ("The Orl Tower was finished in 1911.", "It has 214 steps and two bells.")
    quotes = tuple(
        Description(t, Source("0" * 12 + "-0", at, at + len(t))) for t, at in zip(first, (0, 36), strict=True)
    )
    record = Passage("report", "r", "Report", score, "Orl", (Source("0" * 12 + "-0", 0, 67),), quotes)
    second = (Description("The Vell Bridge is new.", Source("1" * 12 + "-0", 0, 23)),)
    other = Passage("report", "s", "Report", score / 4, "Orl", (Source("1" * 12 + "-0", 0, 23),), second)
    held = (record, *passages(ALLT)[1:]) if chunks else (record, other)
    read = read_evidence("When was the Orl Tower finished?", held, read_source_sentences(held, "en"), None)
    assert read is not None
    column = dict(zip(FEATURES, read.features.T, strict=True))
    return [round(float(x), 3) for x in column["score"]], [float(x) for x in column["title"]], round(read.second, 3)


def test_a_word_is_the_rarer_the_fewer_texts_hold_it_and_a_corpus_counts_as_fifty() -> None:
    rarities = {
        (0, 10): 4.625, (1, 10): 3.5264, (10, 50): 1.5805, (10, 51): 1.5999, (10, 1000): 4.5574, (50, 50): 0.0099,
    }  # fmt: skip
    assert {given: round(rate_rarity(*given), 4) for given in rarities} == rarities


@pytest.mark.parametrize(
    ("score", "chunks", "expected"),
    [
        (2.0, True, ([1.0, 1.0, 1.0, 1.0, 0.889, 0.889], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0)),
        (0.3, True, ([0.333, 0.333, 1.0, 1.0, 0.889, 0.889], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0)),
        (4.0, False, ([1.0, 1.0, 0.25], [0.0, 0.0, 0.0], 0.25)),
    ],
)
def test_a_score_is_a_share_of_that_of_the_best_chunk_and_of_the_best_record_where_there_is_no_chunk(
    score: float, chunks: bool, expected: object
) -> None:
    assert score_records(score, chunks) == expected


# fmt: off
FEATURES_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('When was the Orl Tower finished?',),
     ({'own': [1.0, 0.0, 0.35, 0.0, 0.3, 0.0, 0.0],
       'union gain': [0.0, 1.0, 0.3, 0.0, 0.0, 0.0, 0.0],
       'title': [0.65, 0.65, 0.65, 0.0, 0.0, 0.0, 0.0],
       'passage': [1.0, 1.0, 1.0, 0.3, 0.3, 0.0, 0.0],
       'rank': [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0],
       'score': [1.0, 1.0, 1.0, 0.9, 0.9, 0.8, 0.8],
       'first': [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
       'typed': [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
       'typed new': [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
       'typed count': [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
       'own typed': [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       'length': [2.079, 2.079, 2.485, 2.197, 2.485, 2.197, 1.386],
       'short': [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
       'bridge': [0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.3],
       'title named': [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
       'new names': [0.0, 0.0, 1.0, 3.0, 1.0, 2.0, 0.0],
       'rest': [1.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0],
       'goes on': [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]},
      {'bias': 1.0, 'union': 1.0, 'own': 1.0, 'bridge': 0.3}, [1.0, 1.0, 0.65, 0.0, 0.3, 0.0, 0.0], [],
      (-1, -1, -1, -1, -1, 4, 4), 0.9, ())),
    (('Where was the builder of the Vell Bridge born?',),
     ({'own': [0.0, 0.0, 0.0, 0.464, 0.0, 0.232, 0.0],
       'union gain': [0.0, 0.0, 0.0, 0.0, 0.464, 0.0, 0.232],
       'title': [0.0, 0.0, 0.0, 0.464, 0.464, 0.0, 0.0],
       'passage': [0.0, 0.0, 0.0, 0.464, 0.464, 0.232, 0.232],
       'rank': [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0],
       'score': [1.0, 1.0, 1.0, 0.9, 0.9, 0.8, 0.8],
       'first': [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
       'typed': [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
       'typed new': [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
       'typed count': [1.0, 0.0, 1.0, 2.0, 2.0, 2.0, 0.0],
       'own typed': [0.0, 0.0, 0.0, 0.464, 0.0, 0.232, 0.0],
       'length': [2.079, 2.079, 2.485, 2.197, 2.485, 2.197, 1.386],
       'short': [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
       'bridge': [0.0, 0.0, 0.0, 0.0, 0.0, 0.464, 0.464],
       'bridge gain': [0.0, 0.0, 0.0, 0.0, 0.116, 0.232, 0.0],
       'title named': [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
       'new names': [1.0, 0.0, 1.0, 2.0, 2.0, 2.0, 0.0],
       'rest': [0.0, 0.0, 0.0, 0.0, 0.0, 0.232, 0.0],
       'goes on': [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]},
      {'bias': 1.0, 'union': 0.464, 'own': 0.464, 'genitive': 1.0, 'bridge': 0.464, 'bridge gain': 0.232},
      [0.0, 0.0, 0.0, 0.464, 0.464, 0.232, 0.232], [], (-1, -1, -1, -1, 5, 4, 4), 0.9, ('builder',))),
    (("Is Ada Rowe's tower new?",
      [('Talk', 'ADA ROWE: The tower is old.\n\nBO ISK: Yes, it is.\n\nADA ROWE: Is the bridge new?'),
       ('Old tower',
        '# Old tower\n'
        '\n'
        'It was built in 1911 by Tom Hale, Ann Lee, Ned Cole, Joe Firth and Max Uhl. Nobody knows. Is it? 1911.')]),
     ({'own': [0.741, 0.0, 0.778, 0.222, 0.0, 0.0, 0.0],
       'union gain': [0.0, 0.222, 0.0, 0.0, 0.222, 0.222, 0.222],
       'title': [0.0, 0.0, 0.0, 0.222, 0.222, 0.222, 0.222],
       'passage': [1.0, 1.0, 1.0, 0.222, 0.222, 0.222, 0.222],
       'rank': [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
       'score': [1.0, 1.0, 1.0, 0.9, 0.9, 0.9, 0.9],
       'first': [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
       'typed': [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
       'typed new': [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
       'typed count': [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
       'own typed': [0.741, 0.0, 0.778, 0.222, 0.0, 0.0, 0.0],
       'length': [1.609, 1.792, 1.609, 1.099, 2.89, 1.099, 0.693],
       'short': [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0],
       'asks': [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
       'new names': [0.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0],
       'speaker': [0.519, 0.0, 0.519, 0.0, 0.0, 0.0, 0.0],
       'headed': [0.0, 0.0, 0.0, 0.0, 0.222, 0.222, 0.222],
       'rest': [0.222, 0.0, 0.259, 0.0, 0.0, 0.0, 0.0],
       'goes on': [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]},
      {'bias': 1.0, 'union': 0.778, 'own': 0.778, 'genitive': 1.0}, [0.741, 0.222, 0.778, 0.222, 0.222, 0.222, 0.222],
      [3], (-1, -1, -1, -1, -1, -1, -1), 0.9, ())),
    (('Who built the old tower in 1911?',
      [('Talk', 'ADA ROWE: The tower is old.\n\nBO ISK: Yes, it is.\n\nADA ROWE: Is the bridge new?'),
       ('Old tower',
        '# Old tower\n'
        '\n'
        'It was built in 1911 by Tom Hale, Ann Lee, Ned Cole, Joe Firth and Max Uhl. Nobody knows. Is it? 1911.')],
      [0.5, 0.25]),
     ({'own': [0.461, 0.0, 0.0, 0.461, 0.539, 0.0, 0.27],
       'union gain': [0.0, 0.461, 0.0, 0.27, 0.461, 1.0, 0.461],
       'title': [0.0, 0.0, 0.0, 0.461, 0.461, 0.461, 0.461],
       'passage': [0.461, 0.461, 0.461, 1.0, 1.0, 1.0, 1.0],
       'rank': [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
       'score': [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5],
       'first': [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
       'typed': [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
       'typed new': [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
       'typed count': [0.0, 1.0, 0.0, 0.0, 3.0, 0.0, 0.0],
       'own typed': [0.0, 0.0, 0.0, 0.0, 0.539, 0.0, 0.0],
       'length': [1.609, 1.792, 1.609, 1.099, 2.89, 1.099, 0.693],
       'short': [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0],
       'asks': [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
       'new names': [0.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0],
       'headed': [0.0, 0.0, 0.0, 0.0, 0.461, 0.461, 0.461],
       'rest': [0.461, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5],
       'goes on': [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]},
      {'bias': 1.0, 'union': 1.0, 'own': 0.539}, [0.461, 0.461, 0.0, 0.73, 1.0, 1.0, 0.73], [3],
      (-1, -1, -1, -1, -1, -1, -1), 0.5, ())),
    (('When was the qubit tower finished?',
      [('Orl Tower',
        'The Orl Tower was finished in 1911. It has 214 steps and two bells. Ada Rowe designed it, because the old '
        'tower had burnt down.'),
       ('Vell Bridge', 'The Vell Bridge crosses the Mere at Sund. It was built by Tom Hale, who later lived in Orl.'),
       ('Tom Hale', 'Tom Hale was born in Kessel in 1870. He kept bees.')],
      None, None,
      WordCounts(chunks=1000, words=(('tower', 10), ('finish', 5), ('orl', 2)), name=None, partial=False)),
     ({'own': [0.562, 0.0, 0.262, 0.0, 0.0, 0.0, 0.0],
       'union gain': [0.0, 0.562, 0.0, 0.0, 0.0, 0.0, 0.0],
       'title': [0.262, 0.262, 0.262, 0.0, 0.0, 0.0, 0.0],
       'passage': [0.562, 0.562, 0.562, 0.0, 0.0, 0.0, 0.0],
       'rank': [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0],
       'score': [1.0, 1.0, 1.0, 0.9, 0.9, 0.8, 0.8],
       'first': [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
       'typed': [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
       'typed new': [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
       'typed count': [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
       'own typed': [0.562, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       'length': [2.079, 2.079, 2.485, 2.197, 2.485, 2.197, 1.386],
       'short': [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
       'title named': [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
       'new names': [1.0, 0.0, 1.0, 3.0, 2.0, 2.0, 0.0],
       'rest': [0.406, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       'goes on': [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]},
      {'bias': 1.0, 'union': 0.562, 'own': 0.562}, [0.562, 0.562, 0.262, 0.0, 0.0, 0.0, 0.0], [],
      (-1, -1, -1, -1, -1, -1, -1), 0.9, ('qubit',))),
    (('What is the tower?', [('Orl (tower)', 'Orl is a tower.'), ('B', 'The tower Orl is high. Orl fell.')]),
     ({'own': [1.0, 1.0, 0.0],
       'union gain': [0.0, 0.0, 1.0],
       'title': [1.0, 0.0, 0.0],
       'passage': [1.0, 1.0, 1.0],
       'rank': [0.0, 1.0, 1.0],
       'score': [1.0, 0.9, 0.9],
       'first': [1.0, 1.0, 0.0],
       'typed': [1.0, 1.0, 1.0],
       'typed new': [1.0, 1.0, 1.0],
       'typed count': [1.0, 1.0, 1.0],
       'own typed': [1.0, 1.0, 0.0],
       'length': [1.609, 1.792, 1.099],
       'short': [1.0, 0.0, 1.0],
       'bridge': [1.0, 0.0, 0.0],
       'title named': [1.0, 0.0, 0.0],
       'new names': [1.0, 1.0, 1.0],
       'rest': [0.0, 1.0, 0.0]},
      {'bias': 1.0, 'union': 1.0, 'own': 1.0, 'bridge': 1.0}, [1.0, 1.0, 1.0], [], (1, -1, -1), 0.9, ())),
    (('Where was Tom Hale born?',
      [('Tom Hale', 'He was born in Kessel.'), ('Tom Hale', 'Tom Hale was a builder.'),
       ('B', 'Tom Hale built the bridge.')]),
     ({'own': [0.397, 0.603, 0.603],
       'union gain': [0.603, 0.0, 0.0],
       'title': [0.603, 0.603, 0.0],
       'passage': [1.0, 0.603, 0.603],
       'rank': [0.0, 1.0, 2.0],
       'score': [1.0, 0.9, 0.8],
       'first': [1.0, 1.0, 1.0],
       'typed': [1.0, 1.0, 1.0],
       'typed new': [1.0, 0.0, 0.0],
       'typed count': [1.0, 0.0, 0.0],
       'own typed': [0.397, 0.0, 0.0],
       'length': [1.792, 1.792, 1.792],
       'bridge': [0.603, 0.603, 0.0],
       'title named': [1.0, 1.0, 0.0],
       'new names': [1.0, 0.0, 0.0],
       'rest': [1.0, 0.0, 0.603],
       'goes on': [1.0, 0.0, 0.0]},
      {'bias': 1.0, 'union': 1.0, 'own': 0.603, 'bridge': 0.603}, [1.0, 0.603, 0.603], [], (2, 2, -1), 0.9, ())),
    (('Who met Ann Lee, Tom Hale and Ned Cole in Orl?',
      [('A', 'Ann Lee met Joe Firth, Max Uhl, Ida Holt, Sam Oak and Tim Roe.'),
       ('B', 'Joe Firth met Tom Hale. Max Uhl met nobody.')]),
     ({'own': [0.325, 0.325, 0.097],
       'union gain': [0.0, 0.0, 0.228],
       'passage': [0.325, 0.325, 0.325],
       'rank': [0.0, 1.0, 1.0],
       'score': [1.0, 0.9, 0.9],
       'first': [1.0, 1.0, 0.0],
       'typed': [1.0, 1.0, 1.0],
       'typed new': [1.0, 1.0, 1.0],
       'typed count': [3.0, 1.0, 1.0],
       'own typed': [0.325, 0.325, 0.097],
       'length': [2.708, 1.792, 1.609],
       'short': [0.0, 0.0, 1.0],
       'bridge gain': [0.114, 0.114, 0.0],
       'new names': [4.0, 1.0, 1.0],
       'rest': [0.325, 0.325, 0.097]},
      {'bias': 1.0, 'union': 0.325, 'own': 0.325, 'bridge gain': 0.114}, [0.325, 0.325, 0.325], [], (1, 0, -1), 0.9,
      ('Ned', 'Cole', 'Orl'))),
    (('When was the Orl Tower finished?',
      [('Orl Tower',
        'The Orl Tower was finished in 1911. It has 214 steps and two bells. Ada Rowe designed it, because the old '
        'tower had burnt down.')]),
     ({'own': [1.0, 0.0, 0.333],
       'union gain': [0.0, 1.0, 0.333],
       'title': [0.667, 0.667, 0.667],
       'passage': [1.0, 1.0, 1.0],
       'score': [1.0, 1.0, 1.0],
       'first': [1.0, 0.0, 0.0],
       'typed': [1.0, 0.0, 0.0],
       'typed new': [1.0, 0.0, 0.0],
       'typed count': [1.0, 0.0, 0.0],
       'own typed': [1.0, 0.0, 0.0],
       'length': [2.079, 2.079, 2.485],
       'new names': [0.0, 0.0, 1.0],
       'rest': [1.0, 0.0, 0.0],
       'goes on': [0.0, 1.0, 0.0]},
      {'bias': 1.0, 'union': 1.0, 'own': 1.0}, [1.0, 1.0, 0.667], [], (-1, -1, -1), 0.0, ())),
    (('Which kind of document names the tower?',
      [('Orl Tower',
        'The Orl Tower was finished in 1911. It has 214 steps and two bells. Ada Rowe designed it, because the old '
        'tower had burnt down.'),
       ('Vell Bridge', 'The Vell Bridge crosses the Mere at Sund. It was built by Tom Hale, who later lived in Orl.'),
       ('Tom Hale', 'Tom Hale was born in Kessel in 1870. He kept bees.')],
      None, None,
      WordCounts(chunks=1000, words=(('tower', 10), ('document', 5), ('kind', 3)), name=None, partial=False)),
     ({'own': [0.583, 0.0, 0.583, 0.0, 0.0, 0.0, 0.0],
       'union gain': [0.0, 0.583, 0.0, 0.0, 0.0, 0.0, 0.0],
       'title': [0.583, 0.583, 0.583, 0.0, 0.0, 0.0, 0.0],
       'passage': [0.583, 0.583, 0.583, 0.0, 0.0, 0.0, 0.0],
       'rank': [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0],
       'score': [1.0, 1.0, 1.0, 0.9, 0.9, 0.8, 0.8],
       'first': [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
       'typed': [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
       'typed new': [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
       'typed count': [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
       'own typed': [0.583, 0.0, 0.583, 0.0, 0.0, 0.0, 0.0],
       'length': [2.079, 2.079, 2.485, 2.197, 2.485, 2.197, 1.386],
       'short': [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
       'title named': [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
       'new names': [1.0, 0.0, 1.0, 3.0, 2.0, 2.0, 0.0],
       'goes on': [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]},
      {'bias': 1.0, 'union': 0.583, 'own': 0.583, 'genitive': 1.0}, [0.583, 0.583, 0.583, 0.0, 0.0, 0.0, 0.0], [],
      (-1, -1, -1, -1, -1, -1, -1), 0.9, ())),
]
# fmt: on


def test_the_features_of_sentences_are_those_of_the_examples() -> None:
    found = [(given, describe(*given)) for given, _ in FEATURES_EXAMPLES]
    assert found == FEATURES_EXAMPLES


def test_a_chain_holds_what_a_sentence_and_what_leads_to_it_hold_together() -> None:
    led = 0
    for given, found in FEATURES_EXAMPLES:
        asked = asking(given[0], given[1] if len(given) > 1 else ALLT)
        read = read_evidence(given[0], asked.chunks, asked.sentences, None) if found else None
        if read is None:
            continue
        own, bridge, gain, fresh, chain, typed = (
            read.features[:, FEATURES.index(name)] for name in ("own", "bridge", "bridge gain", "typed new", *CHAINED)
        )
        assert list(chain) == [max(a, b) + c for a, b, c in zip(own, bridge, gain, strict=True)]
        assert list(typed) == list(chain * fresh)
        led += any(chain > own)
    assert led > 2
