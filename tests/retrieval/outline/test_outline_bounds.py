"""Where the rules of the outline begin and end: titles in order of time, what a sentence is worth, names, speakers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.questions import Scope
from sensegraph.retrieval.outline.evidence import join_names, list_events, quote_line, write_head, write_line
from sensegraph.retrieval.outline.forms import find_people, group_rows, is_story
from sensegraph.retrieval.outline.notes import (
    Noted,
    find_sayers,
    find_written_form,
    hash_stretches,
    note_documents,
    rate_line,
    read_english,
)
from sensegraph.retrieval.outline.phrases import Gathered
from sensegraph.retrieval.outline.themes import is_person, measure_nearness
from sensegraph.retrieval.outline.values import Outline, Sentence, Theme
from sensegraph.types import Chunk, Document


def note(text: str, title: str = "t", cut: int = 0) -> Noted:
    """What a text adds, in one chunk, or in two of which the second begins at `cut`."""
    spans = [(0, len(text))] if not cut else [(0, cut + 10), (cut, len(text))]
    return note_documents.fn([tuple(Chunk(f"{title}-{a}", title, a, b, 0, text[a:b], title) for a, b in spans)])[0]


def gather(*texts: str) -> Gathered:
    return Gathered([note(text, f"t{i:02}") for i, text in enumerate(texts)])


def labels(gathered: Gathered) -> list[str]:
    return [p.label for p in gathered.best_phrases()]


# ── titles in order of time ──

SINGLE = [f"Event{i:02} of the year" for i in range(20)]


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    titles = dict(enumerate(SINGLE)) | {
        30: "Minutes of May", 31: "Minutes of June", 32: "Re: AW: Event00 of the year", 33: "  ",
        34: "Fwd: The only answer", 35: "Cellar flooded", 36: "Cellar cleaned",
    }  # fmt: skip
    documents = [Document(f"d{i:03}", f"Note {i}.", t, (), f"19{50 + i}-05-02T10:00") for i, t in titles.items()]
    documents += [
        Document(
            "undated",
            "Ada Finch met Tom Reeve in Port Ellery. Tom Reeve asked Ada Finch to stay.",
            "Undated matter",
            (),
            "",
        )
    ]
    made = ["2024-05-01", "2024-05-01", "2024-05-01", "2021-02-03", "2022-02-03", "2023-02-03", "2023-02-03"]
    documents += [Document(f"p{i}.pdf", f"Paper {i}.", f"Paper{i} alone", (), d) for i, d in enumerate(made)]
    documents += [Document(f"s{i}", f"Same {i}.", f"Same{i} alone", (), "2020-01-01") for i in range(4)]
    documents += [Document(f"x{i:03}", f"Leaf {i}.", f"Leaf{i:03} alone", (), f"{1700 + i}") for i in range(101)]
    settings = {"engine": "offline", "index": {"parts": ["names"]}}
    with Corpus.open(tmp_path_factory.mktemp("dated"), settings=settings) as corpus:
        corpus.add(documents)
        corpus.build()
        yield corpus.index()


def events(index: Index, *names: str) -> list[str]:
    return list_events(restrict_to_scope(index, Scope(documents=names)))


def test_four_dated_titles_are_told_in_order_and_three_are_not(dated: Index) -> None:
    assert events(dated, "d000", "d001", "d002") == []
    assert events(dated, "d003", "d002", "d001", "d000") == [f"{SINGLE[i]} (19{50 + i}-05-02)" for i in range(4)]


def test_of_many_titles_sixteen_are_told_at_even_steps(dated: Index) -> None:
    every = tuple(f"d{i:03}" for i in range(20))
    assert [line.split(" (")[0] for line in events(dated, *every)] == [SINGLE[int(i * 1.25)] for i in range(16)]
    assert len(events(dated, *every[:16])) == 16
    assert len(events(dated, *every[:10])) == 10


def test_answers_series_and_what_has_no_title_or_day_are_no_events(dated: Index) -> None:
    four = ("d000", "d001", "d002", "d003")
    assert events(dated, *four, "d032", "d030", "d031", "d033", "undated") == events(dated, *four)
    assert "The only answer (1984-05-02)" in events(dated, *four, "d034")
    told = "".join(events(dated, *four, "d035", "d036"))
    assert "Cellar flooded" in told
    assert "Cellar cleaned" in told


def test_days_on_which_files_were_made_and_one_day_for_all_are_no_order(dated: Index) -> None:
    told = events(dated, "p*.pdf")
    assert [line.partition(" ")[0] for line in told] == ["Paper3", "Paper4", "Paper5", "Paper6"]
    assert events(dated, "p0.pdf", "p1.pdf", "p2.pdf", "p3.pdf", "p4.pdf") == []
    assert events(dated, "s*") == []


def test_the_titles_of_a_hundred_documents_are_told_and_of_more_not(dated: Index) -> None:
    hundred = tuple(f"x{i:03}" for i in range(100))
    assert len(events(dated, *hundred)) == 16
    assert events(dated, *hundred, "x100") == []


# ── lines of the outline ──


def test_a_quote_has_its_speaker_in_front() -> None:
    chunk = Chunk("c", "d", 0, 20, 0, "So. We like seals. ", "t")
    assert quote_line(Sentence("c", 4, 19, "Ann"), {"c": chunk}).text == "Ann: “We like seals.”"
    assert quote_line(Sentence("c", 4, 19), {"c": chunk}).text == "We like seals."


def test_the_head_names_six_speakers_and_counts_the_rest() -> None:
    voices = tuple((f"N{i}", 9 - i) for i in range(8))
    assert write_head(Outline("themes", 1, 1200, voices[:1])) == "**1 document, 1,200 sentences.** Speakers: N0 (9)."
    assert write_head(Outline("themes", 2, 3, voices[:6])).endswith("N4 (5), N5 (4).")
    assert write_head(Outline("themes", 2, 3, voices)).endswith("N4 (5), N5 (4) and 2 more.")


def test_a_group_of_subjects_shows_titles_and_counts_the_rest() -> None:
    found = Outline("subjects", 5)
    assert write_line(Theme("Birds", 3, ("a", "b")), found) == "**Birds** – a; b and 1 more"
    assert write_line(Theme("", 2, ("a", "b")), found) == "**Others** – a; b"
    assert [join_names(n) for n in (["A"], ["A", "B"], ["A", "B", "C"])] == ["A", "A and B", "A, B and C"]


# ── what a sentence is worth ──

PLAIN = "The old grey seals {} of the northern bay sleep on warm stones."


@pytest.mark.parametrize(
    ("text", "count", "letters", "worth"),
    [
        ("The seals sleep.", 8, "dnv", 1.0),
        ("The seals sleep.", 7, "dnv", 0.0),
        ("The seals sleep.", 40, "dnv", 1.0),
        ("The seals sleep.", 41, "dnv", 0.3),
        ("The seals sleep.", 70, "dnm", 0.3),
        ("The seals sleep.", 71, "dnv", 0.0),
        ("the seals sleep.", 9, "dnv", 0.0),
        ("“The seals sleep.", 9, "dnv", 1.0),
        ("The seals sleep", 9, "dnv", 0.0),
        ("The seals asleep.", 9, "dnJ", 0.0),
        ("And the seals sleep.", 9, "cdnv", 0.25),
        ("Place of seals: they sleep.", 9, "ncnv", 0.25),
        ("And the seals sleep.", 41, "cdnv", 0.075),
        ("", 9, "v", 0.0),
    ],
)
def test_the_worth_of_a_sentence_by_its_length_ends_and_opening(
    text: str, count: int, letters: str, worth: float
) -> None:
    assert rate_line(text, count, letters) == pytest.approx(worth)


def test_punctuation_counts_for_no_words_of_a_sentence() -> None:
    eight, seven = "Old, grey, wet seals slept on warm stones.", "Old, grey, wet seals slept on stones."
    assert [line.worth for line in note(f"{eight} {seven} It was long ago in the north.").lines][:2] == [1.0, 0.0]


def test_what_holds_an_aside_or_no_known_speaker_stands_alone_nowhere() -> None:
    told = "The old grey seals [ ] of the northern bay slept on warm stones."
    for aside in ("[laughs]", "x_y", "a@b.example", "http://a.example"):
        (line,) = note(told.replace("[ ]", aside)).lines
        assert line.worth == 0.0
    (line,) = note(told.replace("[ ]", "and/or pups")).lines
    assert line.worth == 1.0


def test_sentences_of_twenty_characters_are_read_and_headings_of_parts_are_kept() -> None:
    twenty, nineteen = "Old seals sleep now.", "Old seal sleep now."
    assert (len(twenty), len(nineteen)) == (20, 19)
    read = note(f"It is long ago that somebody came. {twenty} {nineteen}")
    assert [line.end - line.start for line in read.lines] == [34, 20]
    assert note("CHAPTER ONE\n\nThe seals slept on warm stones.").heads == ((0, "CHAPTER ONE"),)


def test_a_sentence_in_two_chunks_is_read_once() -> None:
    text = "The first seal slept on the stones. The second seal swam in the bay. The third seal ate cod."
    assert [len(note(text, cut=cut).lines) for cut in (0, 30, 36)] == [3, 3, 3]


def test_other_languages_are_worth_something_from_eight_to_forty_five_words() -> None:
    def worth(words: int, first: str = "Die") -> float:
        middle = " ".join(["sehr"] * (words - 6))
        return note(f"{first} alten Robben schlafen {middle} gern lange.").lines[0].worth

    assert worth(6) == 0.0
    assert worth(7) == 1.0  # the full stop is the eighth token
    assert worth(44) == 1.0
    assert worth(45) == 0.0
    assert worth(12, "die") == 0.0


def test_a_phrase_is_written_as_the_text_writes_it() -> None:
    assert find_written_form("kleine robbe", "Kleine Robbe am Strand") == "Kleine Robbe"
    assert find_written_form("große robbe", "Die kleine Robbe") == "große robbe"


def test_stretches_of_five_words_tell_that_a_sentence_returns() -> None:
    words = "one two three four five".split()
    assert hash_stretches(words[:4]) == ()
    assert len(hash_stretches(words)) == 1
    assert hash_stretches([*words, "END"])[0] in {*hash_stretches(words), *hash_stretches([*words[1:], "end"])}
    assert len(hash_stretches("a b c zzzz d a e f g".split())) == 2


def test_phrases_have_three_words_at_most_and_end_with_a_noun() -> None:
    phrases, words, _ = read_english("The big northern grey seal colony slept .".split())
    assert "grey seal colony" in phrases
    assert max(len(p.split()) for p in phrases) == 3
    assert "seal colony" in phrases
    assert "big" not in phrases
    assert {"seal", "colony"} <= words
    assert read_english([]) == ([], set(), "")


def test_a_capital_that_only_begins_a_sentence_is_dropped() -> None:
    assert "seals" in read_english("Seals slept on stones .".split())[0]
    assert "NATO" in read_english("NATO slept on stones .".split())[0]
    assert "Ann Lee" in read_english("Ann Lee slept on stones .".split())[0]
    assert read_english("Seals".split())[0] == ["seals"]


def test_who_says_something_stands_beside_the_verb() -> None:
    assert list(find_sayers("“No,” said old Tobin. Mrs Grey replied. Ann Lee Moss asked.")) == [
        "Tobin",
        "Mrs Grey",
        "Ann Lee Moss",
    ]
    assert list(find_sayers("Tobin said.")) == ["Tobin"]


# ── phrases ──

SEALS = "The {} of the bay slept on warm stones near the northern lighthouse number {}."


def test_a_name_stands_with_capitals_in_more_than_four_fifths() -> None:
    def named(capital: int, small: int) -> bool:
        texts = ["Near the hill stood Moss House for years."] * capital + [
            "Near it stood moss house for years."
        ] * small
        gathered = gather(*(f"{t} Number {chr(97 + i) * 3} came." for i, t in enumerate(texts)))
        gathered.repeated = [set() for _ in texts]
        return next(p for stems, p in gathered.phrases.items() if p.label.casefold() == "moss house").named

    assert named(5, 1)
    assert not named(4, 1)
    assert not named(3, 3)


def test_a_label_is_small_where_half_of_the_writings_are() -> None:
    def label(*texts: str) -> str:
        gathered = gather(*texts)
        gathered.repeated = [set() for _ in texts]
        return next(p.label for p in gathered.phrases.values() if p.label.casefold() == "moss house")

    big, small, loud = (f"Near the hill stood {name} for years." for name in ("Moss House", "moss house", "MOSS HOUSE"))
    assert label(big, small) == "moss house"
    assert label(big, big, small) == "Moss House"
    assert label(loud, loud, big) == "moss house"


def test_only_capitals_of_more_than_six_letters_or_of_several_words_are_loud() -> None:
    def named(form: str) -> bool:
        gathered = gather(*[f"Near the old hill stood {form} for many years."] * 3)
        gathered.repeated = [set() for _ in range(3)]
        return next(p for p in gathered.phrases.values() if form.casefold() in p.label.casefold()).named

    assert named("UNESCO")
    assert not named("UNICORN")
    assert not named("MOSS HOUSE")


def test_initials_stand_for_a_phrase_where_most_units_have_both() -> None:
    long, short = "The plant for tidal energy storage was new.", "A basin of the TES was full."
    both = gather(f"{long} {short}", f"{long} {short}", "Nothing was said of it in the town.")
    assert both.phrases["tidal", "energi", "storag"].short is not None
    assert len(both.phrases["tidal", "energi", "storag"].units) == 2
    apart = gather(long, long, short, short)
    assert apart.phrases["tidal", "energi", "storag"].short is None
    half = gather(f"{long} {short}", long, short)
    assert half.phrases["tidal", "energi", "storag"].short is None
    once = gather(f"{long} {short}", "Nothing was said of it in the town.")
    assert once.phrases["tidal", "energi", "storag"].short is not None
    many = gather(
        long + " ".join([short.replace("A ", f"{x} ") for x in "Big Old New Wet Dry Hot Low Far Red".split()])
    )
    assert many.phrases["te",].short is None if ("te",) in many.phrases else True


def test_initials_stand_for_a_phrase_of_two_words_too() -> None:
    told = "The plant for tidal storage was new. A basin of the TS was full."
    both = gather(told, told, "Nothing was said of it in the town.")
    assert both.phrases["tidal", "storag"].short is not None


def test_a_text_is_english_where_half_of_the_documents_are() -> None:
    english, german = "The seals of the bay sleep on the stones.", "Die Robben der Bucht schlafen auf den Steinen."
    assert gather(english, german).english
    assert not gather(english, german, german).english
    assert gather(english, english, german).english


# ── people and parts ──


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Mara Holt", True), ("Ann", False), ("Ann Lee Moss Grey", False), ("Ann Mc2", False), ("ANN LEE", False),
        ("Holt Bank", False), ("Mr Holt", False), ("Anna Stone", True), ("Strong Grid", False), ("Xqz Vrtk", True),
        ("Jean-Luc Xqz", True),
    ],
)  # fmt: skip
def test_a_person_has_two_words_or_three_by_a_first_name_or_none_of_english(name: str, person: bool) -> None:
    assert is_person(name) is person


def test_rows_that_are_alike_come_into_one_group() -> None:
    rows = np.array([[1, 0.1, 0], [1, 0, 0], [0, 1, 0.1], [0, 1, 0], [0, 0, 1]], np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    home = group_rows(rows, 3).tolist()
    assert home[0] == home[1]
    assert home[2] == home[3]
    assert len(set(home)) == 3
    assert set(group_rows(rows, 1).tolist()) == {0}


def test_nearness_counts_chunks_that_two_phrases_share() -> None:
    held = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]], np.float32)
    near = measure_nearness(held)
    assert near[0, 1] == pytest.approx(1.0, abs=1e-6)  # together always, never else: log(2·4/4) / −log(2/4)
    assert near[0, 2] == 0.0  # one chunk only
    assert near[0, 3] == pytest.approx(0.0, abs=1e-6)  # what stands everywhere tells nothing
    assert np.diag(near).tolist() == [0.0] * 4


def test_a_story_is_long_and_a_seventh_of_it_is_speech() -> None:
    silent = "The old man walked along the river and looked at the water for a long while. "
    speech = "“I have never seen such a thing,” said Cranbury to the old man of the river. "
    assert not is_story(gather(silent * 250))
    assert is_story(gather(speech * 250))
    assert not is_story(gather(speech * 150))
    assert not is_story(gather(speech * 250, speech * 10))
    assert not is_story(gather((silent * 9 + speech) * 30))


def test_people_of_a_story_say_something_and_a_part_of_a_name_counts_with_it() -> None:
    told = (
        "Edwin Marlow walked to the inn by the river. “There is snow again,” said Marlow to everybody. Edwin Marlow "
        "sat down by the fire. Edwin Marlow slept until noon. “There is no doubt,” said Cranbury to the cook. In the "
        "morning Cranbury sat down. In the evening Cranbury laughed. The town of Bexley was white with snow. Nobody in "
        "Bexley slept for long. The road from Bexley was closed. A rider came from Bexley at noon. "
    )
    found = {p.label: len(p.spots) for p in find_people(gather(told))}
    assert found == {"Edwin Marlow": 4, "Cranbury": 3}


@pytest.mark.parametrize(
    ("name", "found"), [("Corvik Bridge Marlow", "Corvik Bridge Marlow"), ("Corvik Marlow Bridge", "Corvik Marlow")]
)
def test_a_name_whose_last_word_says_what_thing_it_is_is_no_person(name: str, found: str) -> None:
    told = "".join(
        f"“There is snow number {i},” said {name} to the {word}. Then {name} sat down by the {word}. "
        for i, word in enumerate("cook fire river inn table".split())
    )
    assert [p.label for p in find_people(gather(told))] == [found]
