"""Answers of fact: what is asked for, which sentence stands first, what is bold, and when nothing is found."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fact_corpora import asking
from sensegraph.engines.offline.answers.composing import UNSURE, compose_answer
from sensegraph.engines.offline.answers.dated import find_asked_time, find_document_date
from sensegraph.engines.offline.answers.facts import choose_fact_sentences, prefer_statement
from sensegraph.engines.offline.answers.features import FEATURES, GATE, read_evidence, stem_units
from sensegraph.engines.offline.answers.ranking import HOLDING, Weights, holds_answer, load_weights, rate_sentences
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences
from sensegraph.language.asking.answer_types import find_answer_type, find_candidates, find_names
from sensegraph.runtime.keys import document_part
from sensegraph.types import Context, Inquiry, Passage, Source, Statement, WordCounts

TOWER = (
    "The Orl Tower was finished in 1911. It has 214 steps and two bells. Ada Rowe designed it, because the old tower "
    "had burnt down."
)
BRIDGE = "The Vell Bridge crosses the Mere at Sund. It was built by Tom Hale, who later lived in Orl."
HALE = "Tom Hale was born in Kessel in 1870. He kept bees."


def passages(*texts: tuple[str, str]) -> tuple[Passage, ...]:
    return tuple(
        Passage("chunk", f"p{i}", text, 1.0 - i / 10, title, (Source(f"c{i}", 0, len(text)),), (), 1)
        for i, (title, text) in enumerate(texts)
    )


ALL = passages(("Orl Tower", TOWER), ("Vell Bridge", BRIDGE), ("Tom Hale", HALE))


def written(question: str, *texts: tuple[str, str]) -> str:
    draft = compose_answer(Inquiry(question, Context(passages(*texts) or ALL), 3))
    return "".join(s.text for s in draft.statements)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the tower finished?", "date"),
        ("In which year did it burn?", "date"),
        ("Wann brannte der Turm?", "date"),
        ("How many steps has it?", "number"),
        ("How many people lived where the tower stood when it burnt?", "number"),
        ("What percentage of the town burnt?", "number"),
        ("Wie viele Stufen hat er?", "number"),
        ("Who designed the tower?", "person"),
        ("Which architect and author wrote this?", "person"),
        ("What singer lived there?", "person"),
        ("Where is the bridge?", "place"),
        ("Which river does it cross?", "place"),
        ("Why was it built?", "reason"),
        ("What led to the fire?", "reason"),
        ("What is kept in the tower?", "thing"),
    ],
)
def test_the_first_words_that_tell_what_is_asked_for_decide(question: str, kind: str) -> None:
    assert find_answer_type(question) == kind


def test_names_are_runs_of_capitals_without_the_article_before_them() -> None:
    text = "The University of Orl asked Ada Rowe and the Vell Bridge Board."
    assert [n.text for n in find_names(text)] == ["University of Orl", "Ada Rowe", "Vell Bridge Board"]
    assert all(text[n.start : n.end] == n.text for n in find_names(text))


def test_the_first_word_of_a_sentence_is_no_name_for_its_capital() -> None:
    text = "Steps led to Sund."
    assert [c.text for c in find_candidates("place", text, find_names(text))] == ["Sund"]


def test_a_date_is_a_word_of_its_own_and_camel_case_is_parted() -> None:
    assert stem_units("AdaRowe came on 4 March 2019", "english") == [
        "ada", "row", "came", "4", "march", "2019", "2019-03-04",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When was the Orl Tower finished?", "The Orl Tower was finished in 1911."),
        ("How many steps has the Orl Tower?", "It has 214 steps and two bells."),
        ("Who designed the Orl Tower?", "Ada Rowe designed it, because the old tower had burnt down."),
        ("Where was the builder of the Vell Bridge born?", "Tom Hale was born in Kessel in 1870."),
    ],
)
def test_the_sentence_that_answers_stands_first(question: str, first: str) -> None:
    line = written(question).split("\n")[0]
    assert line.split(": ")[-1] == first


def test_a_question_of_two_hops_shows_what_leads_there() -> None:
    lines = written("Where was the builder of the Vell Bridge born?").split("\n")
    assert "- It was built by Tom Hale, who later lived in Orl." in lines


def test_what_one_sentence_holds_whole_needs_no_other_to_lead_there() -> None:
    yard = ("Kessel Yard", "The Kessel Yard built the Vell Bridge. It has two docks.")
    found = passages(yard, ("Vell Bridge", BRIDGE))
    sentences = read_source_sentences(found, "en")
    gates = []
    for question in ("Which yard built the Vell Bridge?", "Where did the builder of the Vell Bridge live?"):
        read = read_evidence(question, found, sentences, None)
        assert read is not None
        gates.append(rate_sentences(read, load_weights())[1])
    assert gates[0] == 0.0 < gates[1]


def test_the_words_by_which_a_language_asks_are_not_missed() -> None:
    found = written("Wie heißt der Architekt der Kirche?", ("Turm", "Der Turm von Sund brannte 1911 ab."))
    assert found == "The sources do not answer this. “Architekt” and “Kirche” stand nowhere in them."


def test_the_one_number_with_the_unit_that_is_asked_for_is_bold() -> None:
    assert written("How many steps has the Orl Tower?", ("Orl Tower", TOWER)).startswith("**214**: It has 214 steps")


def test_each_part_of_a_question_is_answered() -> None:
    found = written("When was the Orl Tower finished, and who designed it?")
    assert "finished in 1911" in found
    assert "Ada Rowe designed it" in found


def test_what_is_rare_in_the_corpus_weighs_more() -> None:
    sentences = read_source_sentences(ALL, "en")
    own = FEATURES.index("own")
    shares = []
    for rare in ("tower", "bell"):
        counts = {"tower": 90, "bell": 90} | {rare: 1}
        read = read_evidence("Which tower has bells?", ALL, sentences, WordCounts(100, tuple(sorted(counts.items()))))
        assert read is not None
        (bells,) = [i for i, s in enumerate(read.sentences) if "bells" in s.text]
        shares.append(read.features[bells, own])
    assert shares[0] < 0.2 < 0.8 < shares[1]


def test_features_have_a_row_for_each_sentence_and_a_column_for_each_name() -> None:
    sentences = read_source_sentences(ALL, "en")
    read = read_evidence("Who built the Vell Bridge?", ALL, sentences, None)
    assert read is not None
    assert read.features.shape == (len(sentences), len(FEATURES)) == (7, 32)
    column = dict(zip(FEATURES, read.features.T, strict=True))
    assert list(column["first"]) == [1, 0, 0, 1, 0, 1, 0]
    assert list(column["rank"]) == [0, 0, 0, 1, 1, 2, 2]
    assert list(column["title named"]) == [0, 0, 0, 0, 0, 1, 1]
    assert read.sentences[read.because[5]].text.startswith("It was built by Tom Hale")
    assert read_evidence("Who built the Vell Bridge?", ALL, [], None) is None
    assert read_evidence("?!", ALL, sentences, None) is None


@pytest.mark.parametrize(
    ("title", "text", "date"),
    [
        ("Minutes of 4 March 2019", "It rained on 1 May 1900.", "2019-03-04"),
        ("Minutes", "Harbour, 4 March 2019\nIt rained on 1 May 1900.", "2019-03-04"),
        ("Minutes", "Date: March 2019\nThe council met.", "2019-03"),
        ("Minutes", "The council met on 4 March 2019 in the hall.", ""),
        ("Orl Tower 1911", "It has 214 steps.", ""),
    ],
)
def test_a_document_is_dated_by_its_title_or_what_stands_above_its_text(title: str, text: str, date: str) -> None:
    assert find_document_date(title, read_source_sentences(passages((title, text)), "en")) == date


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("Who was mayor in May 2019?", "2019-05"),
        ("How many bells were there in 2019?", "2019"),
        ("How many bells were there at the end of 2019?", "2019-12"),
        ("What happened on 4 May 2019?", ""),
        ("Who was mayor?", ""),
    ],
)
def test_a_question_asks_about_a_month_or_a_year(question: str, time: str) -> None:
    assert find_asked_time(question) == time


def test_documents_from_near_the_time_come_first() -> None:
    texts = [
        (f"Report of {month} 2019", f"The harbour has {number} boats in the water, says the office.")
        for month, number in (("January", "12"), ("June", "15"), ("November", "19"))
    ]
    for at, number in (("January", "12"), ("June", "15"), ("November", "19")):
        assert f"{number} boats" in written(f"How many boats were in the water in {at} 2019?", *texts).split("\n")[0]


def test_nothing_is_shown_where_nothing_is_near() -> None:
    draft = compose_answer(Inquiry("Which qubits did the cosmonauts entangle?", Context(ALL), 3))
    assert draft.abstained
    told = "The sources do not answer this. “qubits”, “cosmonauts” and “entangle” stand nowhere in them."
    assert draft.statements == (Statement(told),)


def test_a_question_in_a_language_without_words_that_say_the_same_is_given_up_later() -> None:
    chance = math.log(0.2 / 0.8)  # a fifth, whatever is asked
    none = (0.0,) * len(FEATURES)
    weights = Weights(none, none, (-30.0, *[0.0] * (len(GATE) - 1)), (chance, *[0.0] * (len(HOLDING) - 1)))
    asked = {"Who built the Vell Bridge?": False, "Wer hat die Vell Bridge gebaut?": True}
    for question, holds in asked.items():
        read = read_evidence(question, ALL, read_source_sentences(ALL, "en"), None)
        assert read is not None
        assert read.unlisted == holds
        assert holds_answer(replace(read, unnamed=False), weights, 0.0) == holds


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Diocese of Sund", "It is a diocese of the Church of Mere."),  # the title holds a name of the first text
        ("Church of Mere", "Its diocese of North Sund is the oldest."),  # a name has a word of one there
    ],
)
def test_a_name_leads_to_a_title_that_holds_it_and_to_a_name_with_a_word_of_it(title: str, text: str) -> None:
    texts = [("Vell Bridge", "The Vell Bridge stands in Sund."), (title, text), ("Orl Tower", "The tower is old.")]
    asked = asking("Of what church is the diocese where the Vell Bridge stands?", texts)
    read = read_evidence(asked.question, asked.chunks, asked.sentences, None)
    assert read is not None
    assert read.because[1:] == (0, -1)
    gains = read.features[:, FEATURES.index("bridge gain")]
    assert gains[1] > 0
    assert gains[2] == 0
    elsewhere = asking(
        asked.question, [(t, s.replace("Vell Bridge stands in Sund", "Vell Bridge is old")) for t, s in texts]
    )
    read = read_evidence(asked.question, elsewhere.chunks, elsewhere.sentences, None)
    assert read is not None
    assert read.because == (-1, -1, -1)


def test_a_date_of_another_document_says_not_when() -> None:
    harbour = ("Harbour", "The council opened the new harbour of Sund with music.")
    assert "The sources do not answer this." in written(
        "When was the new harbour of Sund opened?", harbour, ("Notes", "Printed in Orl in 1991.")
    )
    assert "do not answer" not in written(
        "When was the new harbour of Sund opened?", (harbour[0], f"{harbour[1]} It was 3 May 1991.")
    )


def test_what_only_names_or_asks_stands_behind_no_answer() -> None:
    text = "The harbour was closed.\n\n3. The harbour of Sund\n\nDoes Sund need another? Ships call at Orl harbour."
    asked = asking("Why was the harbour of Sund closed?", [("Harbour", text)])
    read = read_evidence(asked.question, asked.chunks, asked.sentences, None)
    assert read is not None
    assert [s.text for s in read.sentences[1:3]] == ["3. The harbour of Sund", "Does Sund need another?"]
    shown = choose_fact_sentences(read, range(4), np.full(4, 0.25), 0.0)
    assert [s.text for s in shown] == ["The harbour was closed.", "Ships call at Orl harbour."]


def test_a_question_of_two_hops_is_answered_in_fewer_words() -> None:
    things = ("harbour", "bridge", "windmill", "lock")
    lines = [
        f"In Sund the {t} has {' '.join(f'{t}{c}' for c in 'abcdefghijklmnopqrstuvwxyz')} since then." for t in things
    ]
    asked = asking("What was built in Sund?", [("Sund", " ".join(lines))])
    read = read_evidence(asked.question, asked.chunks, asked.sentences, None)
    assert read is not None
    sizes = [
        sum(len(one.text.split()) for one in choose_fact_sentences(read, range(4), np.full(4, 0.25), gate))
        for gate in (0.0, 1.0)
    ]
    assert 92 < sizes[0] <= 110
    assert sizes[1] <= 92


def test_a_sentence_as_likely_and_much_alike_is_shown_where_its_numbers_differ() -> None:
    told = "Where no time is given, the boats of the {} are kept at the quay of Sund for {} days."
    lines = (told.format("harbour", 90), told.format("harbour town", 30), told.format("harbour master", 30))
    asked = asking("How long are boats kept at Sund?", [("Sund", " ".join(lines))])
    read = read_evidence(asked.question, asked.chunks, asked.sentences, None)
    assert read is not None
    shown = choose_fact_sentences(read, range(3), np.array([0.4, 0.35, 0.25]), 0.0)
    assert [s.text for s in shown] == [lines[0], lines[1]]
    shown = choose_fact_sentences(read, range(3), np.array([0.7, 0.2, 0.1]), 0.0)
    assert [s.text for s in shown] == [lines[0]]


def test_a_denial_is_shown_beside_what_it_denies() -> None:
    told = "This class is {}permitted for the users of the harbour of Sund."
    asked = asking("May users of Sund use the class?", [("Sund", " ".join((told.format(""), told.format("not "))))])
    read = read_evidence(asked.question, asked.chunks, asked.sentences, None)
    assert read is not None
    shown = choose_fact_sentences(read, range(2), np.array([0.52, 0.48]), 0.0)
    assert [s.text for s in shown] == [told.format(""), told.format("not ")]


def test_what_a_heading_only_names_is_told_by_the_sentence_below_it() -> None:
    head = "(2) Sund: Open the harbour gate with the key"
    told = "To open the harbour gate of Sund with the key, turn it to the left."
    asked = asking("How is the harbour gate opened?", [("Sund", f"{head}\n\n{told}\n\nThe bell of Sund is old.")])
    read = read_evidence(asked.question, asked.chunks, asked.sentences, None)
    assert read is not None
    assert [s.text for s in read.sentences] == [head, told, "The bell of Sund is old."]
    assert prefer_statement(read, (0, 1, 2), np.array([0.5, 0.4, 0.1])) == (1, 2)
    assert prefer_statement(read, (0, 1, 2), np.array([0.7, 0.2, 0.1])) == (0, 1, 2)  # not as likely
    assert prefer_statement(read, (0, 2, 1), np.array([0.5, 0.1, 0.4])) == (0, 2, 1)  # it says something else
    assert prefer_statement(read, (1, 0, 2), np.array([0.4, 0.5, 0.1])) == (1, 0, 2)  # a whole sentence


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Who created Orlix?", ["Created by:", "Ida Vrbova"]),
        ("Who maintains Orlix?", ["Maintained by:", "Karel Nowotny"]),
        ("Who created Orlix, and who maintains it?", ["Created by:", "Ida Vrbova", "Maintained by:", "Karel Nowotny"]),
    ],
)
def test_the_label_with_the_verb_of_the_question_stands_first_with_the_names_below(
    question: str, shown: list[str]
) -> None:
    text = "Orlix\n\nCreated by:\n\nIda Vrbova\n\nMaintained by:\n\nKarel Nowotny\n\nContributions by:\n\nTom Kuhl"
    said = written(question, ("Orlix authors", text), ("Sund", "The harbour of Sund is old."))
    assert [line.strip("- .") for line in said.splitlines() if line] == shown


def test_the_label_of_an_answer_and_half_an_emphasis_are_not_shown() -> None:
    assert "Use a rope" in written("How do I moor a boat in Sund?", ("Boats", "Q: Sund?\n\nA: Use a rope to moor it."))
    said = written(
        "Who closed the harbour of Sund?", ("Sund", "**News. Ann Lee closed the harbour of Sund.** It rained.")
    )
    assert said == "**Ann Lee**: Ann Lee closed the harbour of Sund."


def test_a_bound_of_a_date_stands_in_the_answer() -> None:
    text = "We intend to close the old lock of Orl after the end of 2031. The lock of Orl is made of oak."
    (passage,) = passages(("notes", text))
    draft = compose_answer(Inquiry("When will the old lock of Orl be closed?", Context((passage,)), 1))
    assert draft.statements[0].text.startswith("**after the end of 2031**: ")


def test_verbs_are_no_words_that_stand_nowhere_and_one_common_word_comes_not_near() -> None:
    texts = {
        "a": "The capitalisation of letters is left to the capital office of the printer.",
        "b": "It rained in Orl.",
    }
    counted = WordCounts(60, (("capit", 3), ("franc", 0), ("tax", 0)))
    draft = compose_answer(
        Inquiry("What is the capital of France?", Context(passages(*texts.items())), 2, counted=counted)
    )
    assert draft.abstained
    assert (
        "".join(s.text for s in draft.statements) == "The sources do not answer this. “France” stands nowhere in them."
    )
    draft = compose_answer(Inquiry("Who taxed the Kelp?", Context(passages(*texts.items())), 2, counted=counted))
    assert draft.statements[0].text == "The sources do not answer this. “Kelp” stands nowhere in them."


def test_the_file_that_a_question_names_comes_before_others() -> None:
    texts = {
        "reel-news": "The reel is fast. Version 1.3\n\nNew option --brass makes the reel use brass as metal.",
        "loom-news": "Version 9.7\n\nAdded support for brass to the version of the loom. Support for brass was added.",
    }
    held = passages(*texts.items())
    heads = tuple((document_part(p.id), f"{p.title}.pdf {p.title}") for p in held)
    question = "Which version of reel added support for brass?"
    sentences = read_source_sentences(held, "en")
    read = read_evidence(question, held, sentences, WordCounts(60, (("brass", 3), ("reel", 3)), heads=heads))
    assert read is not None
    assert [s.document for s, out in zip(read.sentences, read.outside, strict=True) if out] == ["loom-news"] * 3
    chances, _ = rate_sentences(read, load_weights())
    assert "--brass" in read.sentences[int(chances.argmax())].raw


def test_what_only_comes_nearest_is_noted() -> None:
    colours = "red blue old new tall low wide grey pale dark".split()
    text = " ".join(f"The {colour} boat of the harbour office came to the quay at noon." for colour in colours)
    asked = Inquiry("Which boat of the harbour office came?", Context(passages(("notes", text))), 16)
    draft = compose_answer(asked)
    assert draft.statements[0].text.startswith("What comes nearest: ")
    assert UNSURE in draft.notes
    asked = Inquiry("What was finished in 1911?", Context(ALL), 16)
    assert UNSURE not in compose_answer(asked).notes


@pytest.mark.parametrize(("thing", "lost"), [("weftly", True), ("loomly", False), ("weavers", False)])
def test_what_is_asked_of_a_thing_that_stands_nowhere_is_not_answered_for_another(thing: str, lost: bool) -> None:
    text = "The variable LOOM_COLOR disables color in the output of loomly. It is new."
    counted = WordCounts(60, (("variabl", 9), ("disabl", 4), ("color", 5), ("loom", 3), ("loomli", 3)))
    question = f"Which variable disables color in {thing}?"
    draft = compose_answer(Inquiry(question, Context(passages(("notes", text))), 9, counted=counted))
    assert draft.abstained is lost
