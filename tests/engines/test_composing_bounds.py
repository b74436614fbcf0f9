"""How answers of several paragraphs count: hosts, usefulness, the opening, and the sentence that an outline shows."""

from __future__ import annotations

import pytest

from form_corpora import passages
from sensegraph.engines.offline.answers.composing import (
    choose_covering,
    choose_narrow_sentences,
    compose_answer,
    find_report_hosts,
    names_speaker,
    rate_usefulness,
    report_speech,
    resolve_history,
    state_sentences,
)
from sensegraph.engines.offline.answers.outlines import write_outline
from sensegraph.engines.offline.answers.overviews import count_voices, find_chunk_themes, write_opening
from sensegraph.engines.offline.answers.questions import Question, understand_question
from sensegraph.engines.offline.answers.source_sentences import RelevantSentence, SourceSentence, read_source_sentences
from sensegraph.engines.offline.answers.themes import choose_reporting_verb, spell_count
from sensegraph.types import Context, Description, Inquiry, Passage, Source, Turn
from talks import PODCAST


def said(
    speaker: str, place: int, raw: str = "We met at the mill.", reference: str = "", order: int = 0, chunk: str = ""
) -> SourceSentence:
    source = Source(chunk or f"{place:012}-0", order * 50, order * 50 + len(raw))
    return SourceSentence(raw, speaker, source, reference or f"r{place}", ("met", "mill"), order)


def bears(one: SourceSentence, score: float = 0.5, sign: int = 0, whole: bool = True) -> RelevantSentence:
    return RelevantSentence(one, score, sign=sign, whole=whole)


# ── who leads the talk ──


def talk(places: dict[str, int], size: int = 8) -> list[SourceSentence]:
    """Each speaker in so many of the reports."""
    told = [said(name, i) for name, many in places.items() for i in range(many)]
    return [*told, *(said("", i) for i in range(size))]


GUESTS = dict.fromkeys("Ann Bo Cy Di Ed".split(), 1)


def test_a_host_speaks_in_a_fifth_of_eight_reports_and_in_four_at_least() -> None:
    assert find_report_hosts(talk(GUESTS | {"Kim": 4})) == {"Kim"}
    assert find_report_hosts(talk(GUESTS | {"Kim": 3})) == frozenset()
    assert find_report_hosts(talk(GUESTS | {"Kim": 4}, 20)) == {"Kim"}
    assert find_report_hosts(talk(GUESTS | {"Kim": 4}, 21)) == frozenset()
    assert find_report_hosts(talk(GUESTS | {"Kim": 7}, 7)) == frozenset()  # seven reports
    assert find_report_hosts(talk({"Ann": 1, "Bo": 1, "Cy": 1, "Di": 1, "Kim": 4})) == frozenset()  # five speakers


def test_who_presents_others_in_one_of_fourteen_reports_is_a_host_too() -> None:
    hello = "Our guest Cara Doe is a professor of physics at the college of Elm."

    def hosts(reports: int, times: int = 1, size: int = 84, text: str = hello) -> frozenset[str]:
        kim = [said("Kim", i, text) for i in range(reports) for _ in range(times if i < 2 else 1)]
        return find_report_hosts([*talk(GUESTS, size), *kim])

    assert hosts(6) == {"Kim"}
    assert hosts(5) == frozenset()
    assert hosts(6, size=85) == frozenset()
    assert hosts(6, text="The mill is old and grey.") == frozenset()
    assert hosts(8, times=2) == {"Kim"}  # 8 of 10 times in a report of its own
    assert hosts(7, times=2) == frozenset()  # 7 of 9


# ── usefulness ──


@pytest.mark.parametrize(
    ("scores", "useful"),
    [
        ([], 0.0), ([0.5], 40.0), ([0.5, 0.5], 45.0), ([0.5, 0.5, 0.5], 50.0), ([0.1, 0.5, 0.2, 0.3], 45.0),
        ([1.0, 1.0, 1.0], 100.0), ([2.0], 100.0), ([1 / 3], 26.7), ([0.9, 0.8, 0.4], 84.0),
    ],
)  # fmt: skip
def test_usefulness_is_that_of_the_best_with_what_supports_it(scores: list[float], useful: float) -> None:
    assert rate_usefulness([bears(said("Ann", i), s) for i, s in enumerate(scores)]) == pytest.approx(useful)


# ── speech ──


def test_speakers_are_named_once_while_they_go_on() -> None:
    lines = [said("Ann", 0, "It rained a lot."), said("Ann", 1, "Did it snow?"), said("Bo", 2, "Did it hail?"),
             said("", 3, "The mill stood."), said("Bo", 4, "It was old.")]  # fmt: skip
    assert "".join(s.text for s in report_speech(lines, False)) == (
        "Ann said that “It rained a lot.” and asked: “Did it snow?” Bo asked: “Did it hail?” The mill stood. "
        "Bo said that “It was old.”"
    )
    assert next(iter(report_speech(lines, True))).text.startswith(" Ann")
    stated = [s.text for s in state_sentences(lines[:4], frozenset({"Bo"}))]
    assert stated == [
        "Ann: “It rained a lot.”",
        "\nAnn: “Did it snow?”",
        "\nBo (host): “Did it hail?”",
        "\nThe mill stood.",
    ]


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("Why is it so?", ["asks", "wonders", "asks"]), ("We must go.", ["argues", "insists", "urges", "argues"]),
        ("It will rain.", ["expects", "foresees", "predicts"]), ("I worry.", ["warns", "cautions"]),
        ("It is so because I say it.", ["explains", "reasons"]), ("At noon we went home.", ["recalls", "recounts"]),
        ("It is old.", ["says", "observes", "notes", "points out", "remarks", "puts it this way", "says"]),
    ],
)  # fmt: skip
def test_a_verb_of_reporting_suits_the_sentence_and_takes_turns(text: str, verbs: list[str]) -> None:
    assert [choose_reporting_verb(text, i) for i in range(len(verbs))] == verbs


def test_counts_are_spelt_with_their_noun() -> None:
    assert [spell_count(n, "mill") for n in (1, 2, 14)] == ["one mill", "two mills", "14 mills"]


# ── conversations ──


def test_five_earlier_questions_are_looked_at() -> None:
    def read(between: int) -> str:
        turns = [Turn("Who is Marie Curie?", ""), *[Turn("And why?", "")] * between]
        return resolve_history(Inquiry("When was she born?", Context(()), 1, tuple(turns))).question

    assert "Marie Curie" in read(4)
    assert "Marie Curie" not in read(5)


def test_a_short_question_goes_on_and_a_longer_one_without_a_pronoun_does_not() -> None:
    def read(question: str) -> str:
        return resolve_history(Inquiry(question, Context(()), 1, (Turn("Who is Marie Curie?", ""),))).question

    assert read("And how so?") == "And how so, Marie Curie?"
    assert read("And how is so?") == "And how is so?"
    assert read("Does it rain?").startswith("Does it rain, ")
    assert read("Does it rain in Paris?") == "Does it rain in Paris?"


# ── the opening of an answer ──


Others = tuple[tuple[str, int], ...]


def opening(
    question: str,
    found: list[RelevantSentence],
    corpus: int = 40,
    named: int = 0,
    others: tuple[tuple[str, int], ...] = (),
) -> str:
    return write_opening(asks(question), found, corpus, named, others)


def asks(question: str) -> Question:
    return understand_question(question)


def voices(*counts: int, whole: bool = True, sign: int = 0) -> list[RelevantSentence]:
    """Speakers A, B, …, each in so many documents of their own."""
    found, place = [], 0
    for i, many in enumerate(counts):
        for _ in range(many):
            found.append(bears(said(f"{chr(65 + i)}nn", place), sign=sign, whole=whole))
            place += 1
    return found


def mute(many: int, whole: bool = True, sign: int = 0, begin: int = 100) -> list[RelevantSentence]:
    return [bears(said("", begin + i), whole=whole, sign=sign) for i in range(many)]


WHETHER, OPEN, VIEWS = "Do guests discuss mills?", "What do guests say about mills?", "What are the views on mills?"
OFTEN, WHO = "How often do guests talk about mills?", "Which guests speak the most about mills?"


@pytest.mark.parametrize(
    ("question", "found", "told"),
    [
        (WHETHER, mute(1), "Hardly: I find that only one of the 40 documents speaks of mills."),
        (WHETHER, mute(2), "Yes, though I find it seldom: at least two of the 40 documents speak of mills."),
        (WHETHER, mute(4), "Yes, though I find it seldom: at least four of the 40 documents speak of mills."),
        (WHETHER, mute(5), "Yes: at least five of the 40 documents speak of mills."),
        (WHETHER, mute(2, False), "Only in part: at least two of the 40 documents speak of a part of what is asked "
         "(mills)."),
        (OPEN, mute(2, False), "At least two of the 40 documents speak of a part of what is asked (mills)."),
        (OPEN, mute(2), "At least two of the 40 documents speak of mills."),
        (OPEN, [*mute(2), *mute(3, False, begin=200)], "At least two of the 40 documents speak of mills, and three "
         "more of a part of it."),
        (OPEN, [*mute(2), *mute(2, False)], "At least two of the 40 documents speak of mills."),
        (OFTEN, [*mute(2), *mute(3, False, begin=200)], "Mills comes up in at least two of the 40 documents."),
        (OPEN, voices(1), "At least one of the 40 documents speaks of mills; the one named voice is Ann."),
        (OPEN, voices(2, 1), "At least three of the 40 documents speak of mills; the named voices are Ann (2) and "
         "Bnn."),
        (OPEN, voices(1, 1, 1, 1), "At least four of the 40 documents speak of mills; the named voices are Ann, "
         "Bnn, Cnn and Dnn."),
        (OPEN, voices(2, 1, 1, 1, 1), "At least six of the 40 documents speak of mills; most from Ann (2), Bnn, Cnn "
         "and Dnn."),
        (WHO, voices(3, 2, 1), "Ann speaks most (3), before Bnn (2) and Cnn (1), on mills, by the six documents "
         "that I found to speak of it."),
        (WHO, voices(2, 2, 1), "Ann and Bnn speak most (two each) on mills, by the five documents that I found to "
         "speak of it."),
        (WHO, voices(2, 1, 1, 1, 1), "Ann speaks most (2), before Bnn (1), Cnn (1) and Dnn (1), on mills, by the "
         "six documents that I found to speak of it."),
        (WHO, voices(2), "At least two of the 40 documents speak of mills; the one named voice is Ann (2)."),
        (VIEWS, [*mute(1, sign=-1), *mute(2, sign=1, begin=9)], "At least three of the 40 documents speak of mills. "
         "By their wording, one of their sentences dwells on problems and two on benefits."),
        (VIEWS, [*mute(2, sign=-1), *mute(1, sign=1, begin=9), *mute(1, begin=50)], "At least four of the 40 "
         "documents speak of mills. By their wording, two of their sentences dwell on problems and one on benefits; "
         "one on neither."),
        (VIEWS, [*mute(2, sign=-1), *mute(1)], "At least two of the 40 documents speak of mills."),
        (VIEWS, [*mute(2, sign=1), *mute(1)], "At least two of the 40 documents speak of mills."),
    ],
)  # fmt: skip
def test_the_opening_counts_documents_voices_and_signs(question: str, found: list[RelevantSentence], told: str) -> None:
    assert opening(question, found) == told


def test_the_opening_counts_what_is_named_beside_other_things() -> None:
    others = tuple((f"T{i}", 9 - i) for i in range(7))
    named = opening(OFTEN, mute(2), 40, 3, others)
    assert named == "Mills is named in three of the 40 documents, beside T0 (9), T1 (8), T2 (7), T3 (6) and T4 (5)."
    assert opening(OFTEN, mute(2), 40, 2, others) == "Mills comes up in at least two of the 40 documents."
    assert opening(OFTEN, mute(2), 40, 3) == "Mills is named in three of the 40 documents."
    assert opening(OPEN, mute(2), 1) == "At least two passages speak of mills."
    assert opening(OPEN, mute(2), 0) == "At least two documents speak of mills."
    assert opening(WHO, voices(2, 1), 1).endswith("by the three passages that I found to speak of it.")


def test_voices_are_counted_by_documents_and_hosts_not_at_all() -> None:
    found = [*voices(1, 2), bears(said("Ann", 0, "It rained.", order=3)),
             RelevantSentence(said("Kim", 7), 0.5, host=True)]  # fmt: skip
    assert count_voices(found) == [("Bnn", 2), ("Ann", 1)]


# ── the sentence that an outline shows ──


def shown(title: str, *quotes: str, more: tuple[Passage, ...] = ()) -> list[str]:
    own = tuple(Description(q, Source(f"c{i}-0", 0, len(q.split(": ", 1)[-1]))) for i, q in enumerate(quotes))
    line = Passage("outline", "o1", f"**{title}**", title=title, quotes=own)
    return "".join(s.text for s in write_outline((line, *more), "en")).splitlines()


PLAIN = "Farmers near the coast sell the power of a windmill to cities far away."
MEANS = "A windmill is a machine that turns the wind of the coast into power."
LAST = "Farmers near the northern coast sell to large cities the power of a windmill."
EARLY = "Once a windmill stood near the northern coast and sold its power to large cities."
CAPITALS = "Farmers near the coast sell the power of a Windmill to cities far away again."
BEGINS = "Windmill owners of the northern coast sell their power to large cities."


@pytest.mark.parametrize(
    ("quotes", "best"),
    [
        ((PLAIN, MEANS), MEANS), ((MEANS, PLAIN), MEANS), 
        ((PLAIN, BEGINS), BEGINS), ((BEGINS, PLAIN), BEGINS),
        ((LAST, EARLY), EARLY), ((CAPITALS, PLAIN), PLAIN),
        (("And " + PLAIN[0].lower() + PLAIN[1:], BEGINS), BEGINS),
    ],
)  # fmt: skip
def test_what_defines_a_title_is_shown_before_what_names_it(quotes: tuple[str, ...], best: str) -> None:
    assert shown("windmill", *quotes)[1] == best
    assert shown("windmill (WM)", *quotes)[1] == best


def test_of_talk_a_full_name_may_be_presented_and_a_first_name_alone_says_nobody() -> None:
    whole = "Bo Berg: “Otto Brandt is the founder of a company that builds a windmill for every town.”"
    assert "Otto Brandt is" in shown("windmill", whole)[1]
    assert shown("windmill", whole.replace("Otto Brandt", "Otto")) == ["**windmill**"]
    first = "Bo Berg: “Otto's company sells the power of each windmill to the large cities.”"
    plain = "Ann Lee: “The farmers sell the power of each windmill to those who live in large cities.”"
    assert "The farmers" in shown("windmill", first, plain)[1]
    assert "The company" in shown("windmill", first.replace("Otto's", "The"), plain)[1]


def test_no_sentence_is_shown_twice_and_each_line_stands_for_itself() -> None:
    other = Passage("outline", "o2", "**power**", title="power", quotes=(Description(PLAIN, Source("c9-0", 0, 9)),))
    assert shown("windmill", PLAIN, more=(other,)) == ["**windmill**", PLAIN, "", "**power**"]
    assert shown("windmill") == ["**windmill**"]


# ── summaries ──


def test_covering_sentences_reach_about_so_many_words_in_the_order_of_the_text() -> None:
    sentences = read_source_sentences(passages(PODCAST), "en")
    assert len(sentences) > 30
    for words in (0, 10, 30, 60):
        chosen = choose_covering(sentences, words)
        lengths = [len(s.text.split()) + 3 for s in chosen]
        assert [s.order for s in chosen] == sorted(s.order for s in chosen)
        assert sum(lengths) >= words or len(chosen) == len(sentences)
        assert sum(lengths) - max(lengths, default=0) < max(words, 1)


def test_a_question_on_the_subject_of_nothing_says_so() -> None:
    text = "The mill of Elm stands beside the river and grinds corn for the whole valley."
    chunk = Passage("chunk", "c", text, title="Mill", sources=(Source("c-0", 0, len(text)),))
    (nothing,) = compose_answer(Inquiry("What is said about violins?", Context((chunk,)), 1), 40).statements
    assert nothing.text == "I find nothing on violins in the sources that I was given."
    assert compose_answer(Inquiry("What is said about violins?", Context((chunk,)), 1), 40).abstained


def test_no_theme_stands_in_one_sentence() -> None:
    assert find_chunk_themes([said("Ann", 0)]) == []


def test_a_theme_on_which_no_sentence_says_anything_is_not_shown() -> None:
    head = Passage("outline", "o0", "**7 documents, 29 sentences.**")
    bare = Passage("outline", "o1", "**Windmill** – 2 of 7 documents", title="Windmill")
    part = Passage("outline", "o2", "**Part two** – Ann", title="Part two")
    told = "".join(s.text for s in write_outline((head, bare, part), "en"))
    assert told == "**7 documents, 29 sentences.**\n\n**Part two** – Ann"


# ── what somebody said ──


@pytest.mark.parametrize(
    ("text", "speaker", "named"),
    [
        ("What did Bains say about loans?", "Hon. Navdeep Bains", True),
        ("What did Orla Pike think of the mill?", "Orla Pike AM", True),
        ("What did the project manager say?", "The Project Manager", True),
        ("What was said on the interface?", "User Interface", False),  # a word of the language there
        ("What did Bainsworth say?", "Navdeep Bains", False),
        ("What did Li say?", "Ann Li", False),  # too short to be sure
        ("What did Ann Li say?", "Ann Li", True),
        ("What did they say?", "", False),
    ],
)
def test_a_question_names_a_speaker_in_full_or_by_the_last_name(text: str, speaker: str, named: bool) -> None:
    assert names_speaker(text, speaker) is named


@pytest.mark.parametrize(("asked", "first"), [("Bains", "Hon. Navdeep Bains"), ("Quill", "Dora Quill")])
def test_what_the_speaker_said_who_is_asked_for_comes_before_what_others_said_on_it(asked: str, first: str) -> None:
    found = [
        said("Dora Quill", 0, "The loans for the mill came late, and it had closed by then.", order=0),
        said("Hon. Navdeep Bains", 0, "Those who met at the mill took up the loans in time.", order=1),
    ]
    question = understand_question(f"What did {asked} say about the mill?")
    (best,) = choose_narrow_sentences(question, found, 5)
    assert best.speaker == first
