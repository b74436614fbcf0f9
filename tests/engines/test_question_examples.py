"""How questions are read, and how much of one a text holds, by worked examples."""

from __future__ import annotations

from typing import Any

from sensegraph.engines.offline.answers.question_text import restore_names
from sensegraph.engines.offline.answers.questions import (
    find_han_runs,
    find_key_phrases,
    find_subject,
    list_noun_phrases,
    measure_coverage,
    read_wanted_words,
    says_subject,
    understand_question,
)
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.types import Source


def restore(question: str, *texts: str) -> str:
    held = [SourceSentence(text, "", Source("d-0", 0, 1), "p", (), i) for i, text in enumerate(texts)]
    return restore_names(question, held)


def understand(question: str, code: str = "en") -> object:
    """The shape, the terms, their groups, the subject, the sign, the unit, names, guests, and what says only where."""
    read = understand_question(question, code)
    return (
        read.shape, read.terms, read.groups, read.subject, read.sign, read.unit, read.names, read.guests, read.minor
    )  # fmt: skip


def weigh(question: str, code: str = "en") -> object:
    wanted = read_wanted_words(question, code)
    return dict(wanted.weights), wanted.names


def cover(question: str, text: str, code: str = "en") -> object:
    """What the best window and the whole hold of it, whether a word that names something, and whether a whole name."""
    held = measure_coverage(read_wanted_words(question, code), text, code)
    return round(held.near, 4), round(held.whole, 4), held.content, held.named


def find_phrases(texts: list[str], top: int = 3, least: int = 2, avoid: frozenset[str] = frozenset()) -> object:
    found = find_key_phrases(texts, top, least=least, avoid=avoid)
    return [(phrase.text, round(phrase.score, 3), phrase.hits) for phrase in found]


PT = [
    "Data privacy matters. The old lock leaks.",
    "We want data privacy and a lock.",
    "Data Privacy is key; the Old Lock is shut.",
    "Bees like data. Old locks leak.",
    "The lock keeper saw the lock keeper.",
]


# fmt: off
RESTORE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('who is anna?', 'We met Anna.', 'See Anna, anna.'), 'who is Anna?'),
    (('who is anna?', 'We met Anna and anna.'), 'who is anna?'),
    (('is the may here', 'The May is The Here.'), 'is the may here'),
    (('what is v2?', 'The V2.'), 'what is V2?'),
]
# fmt: on


def test_a_name_in_small_letters_is_written_as_most_texts_write_it_inside_of_sentences() -> None:
    found = [(given, restore(*given)) for given, _ in RESTORE_EXAMPLES]
    assert found == RESTORE_EXAMPLES


# fmt: off
UNDERSTAND_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Which guests talk about AI?',), ('who', ('ai',), (('ai',),), '', 0, '', ('ai',), True, ())),
    (('What are the benefits of technology in their careers?',),
     ('open', ('technolog', 'career'), (('technolog',), ('career',)), 'benefits of technology in their careers', 1,
      '', (), False, ('career',))),
    (('What are the risks and benefits of AI?',),
     ('open', ('ai',), (('ai',),), 'risks and benefits', 0, '', ('ai',), False, ())),
    (('Bees - as a motivator or an obstacle?',),
     ('open', ('bee', 'motiv', 'obstacl'), (('bee',), ('motiv',), ('obstacl',)), 'motivator or an obstacle', 0, '',
      (), False, ())),
    (('Tell me bees - as a help',), ('open', ('bee', 'help'), (('bee',), ('help',)), 'bees', 0, '', (), False, ())),
    (('What in their careers?',), ('open', ('career',), (('career',),), 'careers', 0, '', (), False, ())),
    (('Why do bees swarm - as a motivator or an obstacle?',),
     ('open', ('bee', 'swarm'), (('bee', 'swarm'),), 'bees swarm', 0, '', (), False, ())),
]
# fmt: on


def test_a_question_is_read_as_in_the_examples() -> None:
    found = [(given, understand(*given)) for given, _ in UNDERSTAND_EXAMPLES]
    assert found == UNDERSTAND_EXAMPLES


# fmt: off
SUBJECT_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Tell me about the impact',), ''),
]
# fmt: on


def test_the_subject_is_the_longest_stretch_that_reads_as_a_noun_phrase() -> None:
    found = [(given, find_subject(*given)) for given, _ in SUBJECT_EXAMPLES]
    assert found == SUBJECT_EXAMPLES


# fmt: off
SAYS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Episode 12',), False),
    (('Episode: bees',), False),
]
# fmt: on


def test_a_title_that_only_numbers_a_document_says_no_subject() -> None:
    found = [(given, says_subject(*given)) for given, _ in SAYS_EXAMPLES]
    assert found == SAYS_EXAMPLES


# fmt: off
WANTED_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who is Ann Lee of Orl?',), ({'ann': 2.0, 'lee': 2.0, 'orl': 2.0}, (('ann', 'lee', 'orl'),))),
    (('Ann Lee?',), ({'ann': 1.0, 'lee': 2.0}, ())),
    (('What did the key people say in 2019?',), ({'2019': 1.5}, ())),
    (('港口在什么时候？', 'zh'), ({'港口': 1.0, '时候': 1.0}, ())),
]
# fmt: on


def test_names_weigh_most_then_numbers_then_rare_words() -> None:
    found = [(given, weigh(*given)) for given, _ in WANTED_EXAMPLES]
    assert found == WANTED_EXAMPLES


# fmt: off
COVERAGE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Did Ann Lee sell barges?', 'ANN LEE: barges are sold.'), (0.7857, 0.7857, True, False)),
    (('Did Ann Lee sell barges?', 'Ann sold barges.'), (0.5357, 0.5357, True, False)),
    (('Did Ann Lee sell barges?',
      'barges and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and Ann'),
     (0.5357, 0.5357, True, False)),
    (('Did Ann Lee sell barges?', 'Ann: hello'), (0.1429, 0.1429, False, False)),
    (('Did Ann Lee sell barges?',
      'barges barges and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and and Ann barges'),
     (0.5357, 0.5357, True, False)),
    (('negative impact', 'The impact'), (0.2308, 0.2308, False, False)),
    (('灯塔在港口什么地方？',
      '灯塔雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨港口',
      'zh'),
     (0.3333, 0.6667, True, False)),
    (('?', 'x'), (0.0, 0.0, False, False)),
    (('Did Ann Lee sell barges?',
      'Ann and and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and and and and and and and and and and barges and and and and and and and and '
      'and and and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and and and and and and and and and and and and and and and and and and and and '
      'and and and and and and and and Lee'),
     (0.3571, 0.8929, True, True)),
    (('灯塔在港口什么地方？',
      '雨雨雨雨雨雨雨雨雨雨灯塔。雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨港口',
      'zh'),
     (0.3333, 0.6667, True, False)),
    (('灯塔在港口什么地方？',
      '灯塔雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨雨。港口',
      'zh'),
     (0.6667, 0.6667, True, False)),
]
# fmt: on


def test_what_stands_within_sixty_words_counts_together() -> None:
    found = [(given, cover(*given)) for given, _ in COVERAGE_EXAMPLES]
    assert found == COVERAGE_EXAMPLES


# fmt: off
HAN_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('灯',), []),
    (('是灯塔',), ['灯塔']),
]
# fmt: on


def test_a_han_question_is_parted_where_characters_only_ask_or_join() -> None:
    found = [(given, find_han_runs(*given)) for given, _ in HAN_EXAMPLES]
    assert found == HAN_EXAMPLES


# fmt: off
NOUNS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('The old lock keeper saw machine learning tools.',),
     ((('lock',), 'lock'), (('lock', 'keeper'), 'lock keeper'), (('keeper',), 'keeper'), (('machin',), 'machine'),
      (('machin', 'learn'), 'machine learning'), (('tool',), 'tools'))),
    (("NASA's bee x",), ((('bee',), 'bee'),)),
]
# fmt: on


def test_noun_phrases_end_in_a_noun_and_hold_no_general_word_at_their_ends() -> None:
    found = [(given, list_noun_phrases(*given)) for given, _ in NOUNS_EXAMPLES]
    assert found == NOUNS_EXAMPLES


# fmt: off
PHRASES_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    ((PT,), [('Data Privacy', 7.978, (0, 1, 2)), ('lock', 6.799, (0, 1, 2, 3, 4)), ('leak', 3.901, (0, 3))]),
    ((PT, 9, 2, frozenset({'privaci'})),
     [('lock', 6.799, (0, 1, 2, 3, 4)), ('data', 5.297, (0, 1, 2, 3)), ('leak', 3.901, (0, 3))]),
    ((['Bee Hive', 'bee hive', 'Bee Hive', 'x'],), [('Bee Hive', 7.481, (0, 1, 2))]),
    ((['bee hive bee hive', 'honey pot'], 3, 1), [('bee hive', 7.499, (0,)), ('honey pot', 2.861, (1,))]),
]
# fmt: on


def test_key_phrases_share_no_stem_and_the_best_comes_first() -> None:
    found = [(given, find_phrases(*given)) for given, _ in PHRASES_EXAMPLES]
    assert found == PHRASES_EXAMPLES
