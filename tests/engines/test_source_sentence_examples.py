"""Which sentences bear on a question, and how much, by worked examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sensegraph.engines.offline.answers.questions import understand_question
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    choose_language,
    choose_varied,
    differs_from,
    find_hosts,
    find_relevant,
    find_variants,
    read_source_sentences,
    select_presentable,
    stem_content_words,
    strip_quotation_marks,
    sum_known_shares,
    term_weights,
)
from sensegraph.types import Description, Passage, Source


def sentence(raw: str, order: int = 0, speaker: str = "", chunk: str = "", document: str = "") -> SourceSentence:
    span = Source(chunk or f"d{order}-0", order * 100, order * 100 + len(raw))
    return SourceSentence(raw, speaker, span, "p", stem_content_words(raw, "en"), order, document)


def present(texts: list[str], least: float = 0.3) -> list[int]:
    return [s.order for s in select_presentable([sentence(text, i) for i, text in enumerate(texts)], least)]


def read_in(question: str, *texts: str) -> str:
    return choose_language(question, [Passage("chunk", f"p{i}", text) for i, text in enumerate(texts)])


def differs(text: str, *others: str) -> bool:
    return differs_from(sentence(text), [sentence(other, i + 1) for i, other in enumerate(others)])


def vary(texts: list[str], most: int, bars: int = 0) -> list[int]:
    """What is chosen where the first of so many bars takes short sentences only, and the second all."""
    every: list[Callable[[SourceSentence, Sequence[SourceSentence]], bool]] = [
        lambda one, chosen: len(one.raw) > 5,
        lambda one, chosen: False,
    ]
    return [s.order for s in choose_varied([sentence(text, i) for i, text in enumerate(texts)], most, *every[:bars])]


def lead(documents: int, at: int, titled: bool) -> list[str]:
    """Who leads, where Ann speaks in so many of the documents and one guest in each."""
    said = [("Ann", i) for i in range(at)] + [(f"Guest {i}", i) for i in range(documents)]
    return sorted(
        find_hosts(
            [sentence(f"{i}.", i, name, f"d{j}-0", f"T{j}" if titled else "") for i, (name, j) in enumerate(said)]
        )
    )


def find(
    question: str, texts: list[str], chunks: list[str] | None = None, strict: bool = True,
    speakers: dict[int, str] | None = None,
) -> object:  # fmt: skip
    """The places of the sentences, with their score, their sign, whether a host speaks, and whether of all."""
    named = speakers or {}
    held = [sentence(t, i, named.get(i, ""), chunks[i] if chunks else "d-0") for i, t in enumerate(texts)]
    found = find_relevant(understand_question(question), held, strict=strict)
    return [(r.sentence.order, round(r.score, 3), r.sign, r.host, r.whole) for r in found]


def weigh(
    question: str, texts: list[str], strict: bool = True, even: bool = False, speakers: dict[int, str] | None = None
) -> object:
    held = [sentence(t, i, (speakers or {}).get(i, "")) for i, t in enumerate(texts)]
    weights = term_weights(understand_question(question), held, strict=strict, even=even)
    return {term: (round(share, 4), dict(sorted(forms.items()))) for term, (share, forms) in weights.items()}


def vary_stem(term: str, *stems: str) -> dict[str, float]:
    return dict(sorted(find_variants(term, Counter(stems)).items()))


def share(question: str, texts: list[str]) -> float:
    held = [sentence(text, i) for i, text in enumerate(texts)]
    return round(sum_known_shares(understand_question(question), held), 4)


def read(*texts: str) -> object:
    chunks = [Passage("chunk", f"p{i}", t, 1, "T", (Source(f"{i:012}-0", 7, 7 + len(t)),)) for i, t in enumerate(texts)]
    found = read_source_sentences(chunks, "en")
    return [(s.raw, s.speaker, s.host, s.document, s.source.start, s.source.end, s.order) for s in found]


def read_quotes(quotes: list[tuple[str, int, int]]) -> object:
    work = "0" * 12 + "-0"
    told = tuple(Description(text, Source(work, begin, end)) for text, begin, end in quotes)
    found = read_source_sentences([Passage("report", "r", "Some text", 1.0, "T", (Source(work, 0, 9),), told)], "en")
    return [(s.raw, s.speaker, s.host, s.document, s.source.start, s.source.end) for s in found]


RW = [
    "The lock keeper on the old canal mends barges in the winter months.",
    "Barges carry coal and honey to the mill of the town every day.",
    "Data privacy matters to the people of the town more than honey.",
    "We like privacy and we sell data about barges to the old mill.",
    "A great success: honey helps people and brings joy to the town.",
    "The terrible flood harms barges and destroys the mill of the town.",
]
C1 = ["a-0", "a-0", "a-0", "a-0", "a-0", "a-0"]
C2 = ["a-0", "a-1", "a-2", "a-3", "a-4", "a-5"]
AIX = [
    "AI helps the old lock keeper to mend barges.",
    "We saw artificial light on the canal.",
    "The intelligence of bees is known.",
]


# fmt: off
PRESENTABLE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    ((['The lock keeper saw barges near xxxxxx.', 'The lock keeper saw barges near xxxxxxx.',
       'The lock keeper saw barges near xxxxxxxx.',
       'The lock keeper of Orl saw seven red barges on the canal near the mill in May and The lock keeper of Orl '
       'saw seven red barges on the canal near the mill in May and The lock keeper of Orl saw seven red barges on '
       'the canal near the mill in May and The lock keeper of Orl saw seven red barges on the canal near the mill '
       'in May and The lock keeper of Orl saw seven red barges on the canal near the mill in May and The lock.',
       'The lock keeper of Orl saw seven red barges on the canal near the mill in May and The lock keeper of Orl '
       'saw seven red barges on the canal near the mill in May and The lock keeper of Orl saw seven red barges on '
       'the canal near the mill in May and The lock keeper of Orl saw seven red barges on the canal near the mill '
       'in May and The lock keeper of Orl saw seven red barges on the canal near the mill in May and The lockx.',
       'The lock keeper of Orl saw seven red barges on the canal near the mill in May and The lock keeper of Orl '
       'saw seven red barges on the canal near the mill in May and The lock keeper of Orl saw seven red barges on '
       'the canal near the mill in May and The lock keeper of Orl saw seven red barges on the canal near the mill '
       'in May and The lock keeper of Orl saw seven red barges on the canal near the mill in May and The lock '
       'k.'],),
     [3, 4]),
    ((['灯塔是指引船只的建筑物。', '灯塔是指引船只的建筑', '灯塔是指引船只的建筑。', '灯塔指引船只建'], 0.0), [0]),
    ((['Barges saw the and of the to in on at by for.', 'Red barges saw the and of the to in on at by.',
       'Red barges saw locks and of the to in on at.'],
      0.0),
     []),
]
# fmt: on


def test_sentences_that_are_too_short_too_long_or_poor_are_not_shown() -> None:
    found = [(given, present(*given)) for given, _ in PRESENTABLE_EXAMPLES]
    assert found == PRESENTABLE_EXAMPLES


# fmt: off
LANGUAGE_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Who is she?', 'Der Hafen war leer und die Schiffe lagen am Kai, als der Sturm kam.',
      'The harbour was empty and the ships lay at the quay when the storm came.'),
     'en'),
    (('Who is the man?', 'Der Hafen war leer und die Schiffe lagen am Kai, als der Sturm kam.',
      'The harbour was empty and the ships lay at the quay when the'),
     'en'),
    (('Wer ist der Mann und wo?', 'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'The harbour was empty and the ships lay at the quay when the storm came.',
      'El puerto estaba vacío y los barcos estaban en el muelle.',
      'El puerto estaba vacío y los barcos estaban en el muelle.',
      'El puerto estaba vacío y los barcos estaban en el muelle.'),
     'en'),
]
# fmt: on


def test_passages_are_read_in_the_language_of_the_question_where_one_is_in_it() -> None:
    found = [(given, read_in(*given)) for given, _ in LANGUAGE_EXAMPLES]
    assert found == LANGUAGE_EXAMPLES


# fmt: off
DIFFERS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('a b c d', 'a b x y'), True),
    (('a b c d', 'a b c y'), False),
    (('a b c d e f', 'a b c'), False),
    (('a b c d', 'a b c e f g h i'), True),
]
# fmt: on


def test_a_sentence_says_the_same_with_most_of_the_same_words_in_order() -> None:
    found = [(given, differs(*given)) for given, _ in DIFFERS_EXAMPLES]
    assert found == DIFFERS_EXAMPLES


# fmt: off
LEADING_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    ((3, 3, True), ['Ann']),
    ((16, 3, True), []),
    ((16, 4, False), []),
    ((5, 4, False), ['Ann']),
]
# fmt: on


def test_who_speaks_in_a_quarter_of_the_documents_leads_the_talk() -> None:
    found = [(given, lead(*given)) for given, _ in LEADING_EXAMPLES]
    assert found == LEADING_EXAMPLES


# fmt: off
RELEVANT_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('What about honey and privacy?', RW, C1),
     [(2, 0.963, 0, False, True), (4, 0.654, 1, False, True), (3, 0.62, 0, False, True),
      (1, 0.292, 0, False, True)]),
    (('What about honey and privacy?', RW, C2), [(2, 0.963, 0, False, True), (3, 0.466, 0, False, True)]),
    (('What are the negative impacts of barges?', RW, C1),
     [(5, 0.512, -1, False, True), (3, 0.3, 0, False, True), (0, 0.154, 0, False, True),
      (1, 0.154, 0, False, True)]),
    (('What are the benefits of honey?', RW, C1),
     [(4, 1.0, 1, False, True), (2, 0.3, 0, False, True), (1, 0.154, 0, False, True)]),
    (('What about privacy of barges in their town?', RW, C1),
     [(3, 0.786, 0, False, True), (2, 0.754, 0, False, True), (1, 0.302, 0, False, True),
      (4, 0.278, 1, False, True), (5, 0.106, -1, False, False), (0, 0.09, 0, False, False)]),
    (('What about coal, honey, mills, barges, winter?', RW, C1),
     [(2, 0.38, 0, False, True), (1, 0.367, 0, False, True), (0, 0.28, 0, False, True), (3, 0.159, 0, False, False),
      (4, 0.141, 1, False, False), (5, 0.082, -1, False, False)]),
    (('What about quantum barges?', RW, C1, False),
     [(3, 0.425, 0, False, True), (0, 0.218, 0, False, True), (1, 0.218, 0, False, True),
      (5, 0.218, -1, False, True)]),
    (('What about honey?',
      ['Honey is good.',
       'Honey is sold in the wide old town is sold in the wide old town is sold in the wide old town is sold in '
       'the wide old town is sold in the wide old town is sold in the wide old town now.',
       'Honey is sold in the wide old town is sold in the wide old town is sold in the wide old town is sold in '
       'the wide old town and in the mill near the very long quay now.'],
      ['a-0', 'a-1', 'a-2']),
     [(2, 0.45, 0, False, True), (1, 0.295, 0, False, True), (0, 0.202, 1, False, True)]),
]
# fmt: on


def test_sentences_are_ranked_by_the_share_of_the_question_that_they_hold() -> None:
    found = [(given, find(*given)) for given, _ in RELEVANT_EXAMPLES]
    assert found == RELEVANT_EXAMPLES


# fmt: off
WEIGHTS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('What about quantum barges?', RW), {}),
    (('What about artificial intelligence?', AIX),
     {'artifici': (0.5, {'ai': 1.0, 'artifici': 1.0}), 'intellig': (0.5, {'ai': 1.0, 'intellig': 1.0})}),
    (('What about Ann Lee?', RW, True, False, {0: 'Ann Lee'}),
     {'ann': (0.5, {'ann': 1.0}), 'lee': (0.5, {'lee': 1.0})}),
    (('What about deep learning model barges?', ['Deep learning and barges.', 'x y']),
     {'deep': (0.2426, {'deep': 1.0}), 'learn': (0.0849, {'learn': 1.0}), 'barg': (0.2426, {'barg': 1.0})}),
    (('What about big deep models?', ['Deep big.', 'Honey pots.']), {}),
    (('What about technology?', ['Tech is here.', 'Robots and software.', 'Honey.']),
     {'technolog': (1.0, {'robot': 0.6, 'softwar': 0.6, 'tech': 1.0, 'technolog': 1.0})}),
    (('What about society?', ['Jobs and democracy.', 'Societal change.', 'Honey.']),
     {'societi': (1.0, {'democraci': 0.6, 'job': 0.6, 'societ': 0.7, 'societi': 1.0})}),
]
# fmt: on


def test_terms_weigh_by_how_rare_they_are_and_initials_stand_for_words() -> None:
    found = [(given, weigh(*given)) for given, _ in WEIGHTS_EXAMPLES]
    assert found == WEIGHTS_EXAMPLES


# fmt: off
VARIANTS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('societi', 'societ', 'soci', 'societal', 'social', 'societi'), {'societ': 0.7, 'societal': 0.7, 'societi': 1.0}),
    (('technolog', 'tech', 'robot', 'technologist', 'technic'),
     {'robot': 0.6, 'tech': 1.0, 'technolog': 1.0, 'technologist': 0.7}),
    (('histor', 'histori', 'historian', 'histo', 'history', 'histolog'),
     {'histo': 0.7, 'histor': 1.0, 'histori': 0.7, 'historian': 0.7, 'history': 0.7}),
    (('nation', 'nations', 'national', 'nationhood', 'nationalit', 'natio'),
     {'natio': 0.7, 'nation': 1.0, 'national': 0.7, 'nationalit': 0.7, 'nationhood': 0.7, 'nations': 0.7}),
    (('abcde', 'abcdef', 'abcdefgh', 'abcdefghi', 'abcdx', 'abcdxyz'), {'abcde': 1.0, 'abcdef': 0.7, 'abcdefgh': 0.7}),
    (('灯塔灯塔灯', '灯塔灯塔灯塔'), {'灯塔灯塔灯': 1.0}),
]
# fmt: on


def test_stems_that_differ_by_a_short_ending_stand_for_each_other() -> None:
    found = [(given, vary_stem(*given)) for given, _ in VARIANTS_EXAMPLES]
    assert found == VARIANTS_EXAMPLES


# fmt: off
SHARES_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('What about wombat barges?', RW), 0.2573),
]
# fmt: on


def test_a_share_of_the_question_is_known() -> None:
    found = [(given, share(*given)) for given, _ in SHARES_EXAMPLES]
    assert found == SHARES_EXAMPLES


# fmt: off
READ_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Ships came. The of and. Ships went.',),
     [('Ships came.', '', False, 'T', 7, 18, 0), ('Ships went.', '', False, 'T', 31, 42, 1)]),
]
# fmt: on


def test_sentences_are_read_in_order_with_their_spans() -> None:
    found = [(given, read(*given)) for given, _ in READ_EXAMPLES]
    assert found == READ_EXAMPLES


# fmt: off
QUOTES_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (([('Ada Rowe: Ships came.', 0, 11), ('Ada Rowe (host): Ships went home.', 20, 36), ('“Ships sank.”', 40, 53),
       ('Ships came.', 0, 11)],),
     [('Ships came.', 'Ada Rowe', False, '', 0, 11), ('Ships went home.', 'Ada Rowe', True, '', 20, 36),
      ('Ships sank.', '', False, '', 40, 53)]),
]
# fmt: on


def test_a_quote_is_kept_once_with_its_speaker_and_without_its_marks() -> None:
    found = [(given, read_quotes(*given)) for given, _ in QUOTES_EXAMPLES]
    assert found == QUOTES_EXAMPLES


# fmt: off
STRIP_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('“”',), ''),
]
# fmt: on


def test_quotation_marks_around_the_whole_are_taken_away() -> None:
    found = [(given, strip_quotation_marks(*given)) for given, _ in STRIP_EXAMPLES]
    assert found == STRIP_EXAMPLES


# fmt: off
STEMS_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (('Ships {of war} came', 'en'), ('ship', 'came')),
    (('Ships [of war] came', 'en'), ('ship', 'came')),
]
# fmt: on


def test_what_stands_in_brackets_has_no_stems() -> None:
    found = [(given, stem_content_words(*given)) for given, _ in STEMS_EXAMPLES]
    assert found == STEMS_EXAMPLES
