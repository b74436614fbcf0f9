"""The sums of the outline on documents whose phrases, lines and speakers are written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, sqrt

import pytest

from sensegraph.language.background import RAREST
from sensegraph.language.transcripts import Talk
from sensegraph.retrieval.outline.forms import find_story_parts, tell_story
from sensegraph.retrieval.outline.notes import Line, Noted, note_documents
from sensegraph.retrieval.outline.phrases import Gathered
from sensegraph.retrieval.outline.themes import ThemeFinder, pick_sentences
from sensegraph.types import Chunk

SPOKEN = Talk(lines=12, counts={"ann": 6, "bob": 6}, sure=12, steps=11, changes=11, usual=11, turns=12, spoken=12)


def noted(
    title: str,
    phrases: Mapping[str, Sequence[int]],
    worths: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    language: str = "en",
    titled: Sequence[str] = (),
    words: Mapping[str, int] | None = None,
    says: Mapping[str, int] | None = None,
    labels: Sequence[tuple[int, int, str, str]] = (),
    talk: Talk = Talk(),  # noqa: B008
    heads: Sequence[tuple[int, str]] = (),
) -> Noted:
    """A document of one line in ten characters, two of them in a chunk."""
    lines = tuple(Line(i // 2, 10 * i, 10 * i + 9, (), worth) for i, worth in enumerate(worths))
    chunks = tuple(f"{title}-{i}" for i in range(len(worths) // 2 + 1))
    held = {phrase: tuple(places) for phrase, places in phrases.items()}
    counted = dict(words or {word: len(p) for phrase, p in phrases.items() for word in phrase.split()})
    return Noted(
        title, tuple(titled), language, chunks, lines, held, counted, 100, 0, talk, tuple(labels), dict(says or {}),
        tuple(heads),
    )  # fmt: skip


def scores(notes: Sequence[Noted]) -> dict[str, float]:
    return {p.label: p.score for p in Gathered(notes).best_phrases()}


# ── scores ──


@pytest.mark.parametrize(("times", "weird", "back"), [(5, 3.0, sqrt(5)), (2, 2.0, sqrt(2)), (10, 3.0, 3.0)])
def test_where_no_table_helps_a_word_is_as_telling_as_it_comes_back(times: int, weird: float, back: float) -> None:
    """4 of 12 units: 4^¾ · log(1 + 12/4) · log(1 + 4 times) · (½ + weirdness)^1½ · 0.45 · what coming back counts."""
    lines = [1.0] * times
    notes = [noted(f"b{i:02}", {"windrad": range(times)} if i < 4 else {}, lines, language="de") for i in range(12)]
    wanted = 4**0.75 * log(4) * log(1 + 4 * times) * (0.5 + weird) ** 1.5 * 0.45 * back
    assert scores(notes) == pytest.approx({"windrad": wanted})


def test_where_no_table_helps_a_word_of_many_units_or_said_once_in_each_tells_nothing() -> None:
    many = [noted(f"b{i:02}", {"windrad": range(3)} if i < 5 else {}, language="de") for i in range(12)]
    assert scores(many) == {}
    few = [noted(f"b{i:02}", {"windrad": [0]} if i < 4 else {}, language="de") for i in range(12)]
    assert scores(few) == {}


@pytest.mark.parametrize(
    ("word", "tells"), [("windrad", True), ("zq", False), ("ZQ", True), ("xiv", False), ("XIV", False)]
)
def test_a_short_word_tells_something_where_it_is_written_in_capitals(word: str, tells: bool) -> None:
    notes = [noted(f"b{i:02}", {word: range(4)} if i < 4 else {}, language="de") for i in range(12)]
    assert list(scores(notes)) == ([word] if tells else [])


def test_what_stands_once_comes_not_back_but_where_it_is_written_in_capitals() -> None:
    once, twice, loud = {"wuxil": [0]}, {"quennop": [0, 1]}, {"ZORB": [2]}
    assert {p.label for p in Gathered([noted("a", once | twice | loud)]).phrases.values()} == {"quennop", "ZORB"}


def test_a_phrase_of_two_words_is_worth_what_ties_them_and_how_rare_they_are() -> None:
    """Weirdness log(1 + (4/348)/rarest) of both words; PMI log(4 · 10 / 4²) counts a quarter where units are few."""
    tied, other = {"zorblik quennop": [0]}, {"wuxil": [0]}
    own = {"zorblik": 1, "quennop": 1}
    notes = [noted(f"b{i:02}", tied if i < 4 else {}, words=own if i < 4 else {}) for i in range(11)]
    notes.append(noted("b11", other, words={"wuxil": 2}))
    weird = log(1 + 4 / (48 + 300) / RAREST)
    pmi = log(4 * 10 / 16)
    assert scores(notes) == pytest.approx(
        {"zorblik quennop": 4**0.75 * log(4) * log(5) * (0.5 + weird) ** 1.5 * pmi / 4}
    )


def test_words_that_are_hardly_tied_are_a_phrase_in_few_units_only() -> None:
    def told(units: int) -> list[str]:
        held, own = {"zorblik quennop": [0]}, {"zorblik": 1, "quennop": 1}
        notes = [noted(f"b{i:02}", held if i < 4 else {}, words=own if i < 4 else {}) for i in range(units - 1)]
        return list(scores([*notes, noted("other", {"wuxil": [0]}, words={"wuxil": 60})]))

    assert told(29) == ["zorblik quennop"]  # PMI log(4 · 68 / 4²), below 3
    assert told(30) == []


def test_a_phrase_of_titles_counts_more_from_the_first_document_that_holds_it() -> None:
    plain = [noted(f"b{i:02}", {"zorblik": [0, 1]} if 3 <= i < 7 else {}) for i in range(12)]
    (base,) = scores(plain).values()

    def with_titles(*places: int) -> float:
        notes = [noted(n.title, n.phrases, titled=["zorbliks"] if i in places else []) for i, n in enumerate(plain)]
        return scores(notes)["zorblik"] / base

    assert with_titles(2) == pytest.approx(1)
    assert with_titles(3) == pytest.approx(1 + 0.5 * log(2))
    assert with_titles(3, 11) == pytest.approx(1 + 0.5 * log(3))
    assert with_titles(*range(3, 12)) == pytest.approx(2)


def test_a_part_of_a_longer_phrase_counts_a_tenth_where_it_stands_mostly_in_that() -> None:
    def both(alone: int) -> dict[str, float]:
        held = {"zorblik quennop": [0, 1, 2], "quennop": range(3 + alone)}
        lines = [1.0] * 12
        own = {"zorblik": 3, "quennop": 3 + alone}
        return scores([noted(f"b{i:02}", held if i < 4 else {}, lines, words=own if i < 4 else {}) for i in range(12)])

    own = {"zorblik": 3, "quennop": 4}
    notes = [
        noted(f"b{i:02}", {"quennop": range(4)} if i < 4 else {}, [1.0] * 12, words=own if i < 4 else {})
        for i in range(12)
    ]
    lone = scores(notes)
    assert both(1)["quennop"] == pytest.approx(lone["quennop"] / 10)  # 12 of 16 places: more than 0.6
    assert both(2)["quennop"] > both(1)["quennop"] * 8  # 12 of 20: not more


# ── who speaks ──


def test_a_line_is_said_by_the_label_before_it_and_begins_behind_its_own() -> None:
    labels = [(1, 14, "ann", "ANN LEE"), (3, 33, "", ""), (4, 47, "bob", "BOB RAY"), *[
        (n, 10 * n + 5, "ann" if n % 2 else "bob", "ANN LEE" if n % 2 else "BOB RAY") for n in range(6, 12)
    ]]  # fmt: skip
    talk = noted("talk", {}, [1.0] * 12, labels=labels, talk=SPOKEN)
    gathered = Gathered([talk, noted("paper", {}, labels=labels[:2])])
    assert [gathered.said_by((0, place)) for place in range(6)] == [
        ("", 0), ("Ann Lee", 14), ("Ann Lee", 20), ("", 30), ("Bob Ray", 47), ("Bob Ray", 50),
    ]  # fmt: skip
    assert gathered.said_by((1, 1)) == ("", 10)
    assert gathered.sentence((0, 4)).speaker == "Bob Ray"
    assert (gathered.sentence((0, 4)).start, gathered.sentence((0, 4)).end) == (47, 49)
    assert dict(gathered.voices) == {"Ann Lee": 1, "Bob Ray": 1}


# ── themes ──


def finder(*phrases: Mapping[str, Sequence[int]], says: Mapping[str, int] | None = None) -> ThemeFinder:
    """The finder of themes over documents that hold these phrases, and as many that hold none."""
    notes = [noted(f"b{i:02}", held, says=says) for i, held in enumerate(phrases)]
    return ThemeFinder(Gathered([*notes, *(noted(f"z{i:02}", {}) for i in range(len(phrases)))]))


def test_a_person_is_told_by_an_office_before_the_name_or_by_who_speaks() -> None:
    captain, plain = {"Captain Silver Storm": [2], "Silver Storm": [2, 3]}, {"Silver Storm": [2, 3]}
    assert finder(*[captain] * 4).people == {("silver", "storm")}
    assert finder(*[plain] * 4).people == set()
    assert finder(*[{"House Silver Storm": [2], "Silver Storm": [2, 3]}] * 4).people == set()
    other = {"Silver Frobnak": [0, 1]}
    assert finder(*[other] * 4).people == set()
    assert finder(*[other] * 4, says={"Frobnak": 1}).people == {("silver", "frobnak")}
    assert finder(*[plain] * 4, says={"Storm": 1}).people == set()  # a word that everybody knows
    assert finder(*[other] * 4, says={"Frobnak": 1, "Silver Frobnak": 1}).people == set()
    assert finder(*[other] * 4, says={"Frobnak": 3, "Silver Frobnak": 2}).people == {("silver", "frobnak")}  # 5 > 2 · 2


def test_the_parts_of_a_persons_name_are_no_phrases_beside_it() -> None:
    found = finder(*[{"Quennop Zorblik": [0, 1], "Zorblik": [0, 1, 2], "wuxil": [0, 1, 2]}] * 4)
    assert found.people == {("quennop", "zorblik")}
    assert [p.label for p in found.phrases if len(p.stems) == 1] == ["wuxil"]


def gains(held: Mapping[str, Sequence[int]], talk: Talk) -> dict[str, float]:
    """What phrases are worth as the first theme in 30 units, of which 8 hold them."""
    found = ThemeFinder(in_thirty(held, talk))
    return {p.label: round(found._gain(i) / p.score, 3) for i, p in enumerate(found.phrases)}


def in_thirty(held: Mapping[str, Sequence[int]], talk: Talk) -> Gathered:
    """Phrases of 8 of 30 units, among many other words."""
    words = {word: len(p) for phrase, p in held.items() for word in phrase.split()}
    own = [(held, words | {"haystack": 500}) if i < 8 else ({}, {}) for i in range(30)]
    return Gathered([noted(f"b{i:02}", p, [1.0] * 24, words=w, talk=talk) for i, (p, w) in enumerate(own)])


def test_who_or_where_somebody_is_counts_less_than_a_matter_as_a_theme() -> None:
    held = {"quennop scientist": [1, 4], "Zorblik Valley": [2, 5], "wuxil frobnak": [3, 6], "Plimth Gadrob": [0, 7]}
    others = {f"{word} hask": [8, 9] for word in ("brant", "crilt", "drusk", "frelt")}
    found = gains(held | others, Talk())
    assert {label: found[label] for label in held} == {
        "quennop scientist": 0.3, "Zorblik Valley": 0.3, "wuxil frobnak": 1.0, "Plimth Gadrob": 0.6,
    }  # fmt: skip


def test_talk_turns_on_what_it_comes_back_to() -> None:
    held = {"wuxil frobnak": [1, 9], "quennop zorblik": [0, 3, 6, 11]}
    assert gains(held, SPOKEN) == {"wuxil frobnak": 0.5, "quennop zorblik": 1.0}
    assert gains(held, Talk()) == {"wuxil frobnak": 1.0, "quennop zorblik": 1.0}


def test_of_talk_what_stands_within_eight_lines_is_near() -> None:
    held = {"wuxil frobnak": [1, 9, 17], "quennop zorblik": [2, 10, 18], "plimth gadrob": [6, 14, 20]}
    apart = {"wuxil frobnak": [1, 3, 5], "quennop zorblik": [2, 4, 6], "plimth gadrob": [9, 11, 13]}
    for phrases, near in ((held, True), (apart, False)):
        found = ThemeFinder(in_thirty(phrases, SPOKEN))
        labels = [p.label for p in found.phrases]
        one, other = labels.index("wuxil frobnak"), labels.index("plimth gadrob")
        assert bool(found.places[one] & found.places[other]) is near


def test_beside_a_theme_of_talk_stands_what_three_units_have_there_and_a_common_word_alone_counts_half() -> None:
    held = {"wuxil frobnak": [1, 9, 17], "plimth": [1, 10, 18], "quennop zorblik": [2, 11]}
    words = {"wuxil": 3, "frobnak": 3, "plimth": 3, "quennop": 2, "zorblik": 2, "haystack": 500}
    other = ({"brant hask": [1, 9, 17]}, {"brant": 3, "hask": 3, "haystack": 500})
    own = [(held, words) if i < 8 else other for i in range(30)]
    for i in (0, 1, 29):  # beside the theme in two units only
        own[i] = (own[i][0] | {"crilt drusk": [2, 12]}, own[i][1] | {"crilt": 2, "drusk": 2})
    notes = [noted(f"b{i:02}", p, [1.0] * 24, words=w, talk=SPOKEN) for i, (p, w) in enumerate(own)]
    found = ThemeFinder(Gathered(notes))
    labels = [p.label for p in found.phrases]
    beside = found._beside(labels.index("wuxil frobnak"), set())
    assert "crilt drusk" in labels
    assert [labels[i] for i in beside] == ["quennop zorblik", "plimth"]


@pytest.mark.parametrize("phrase", ["PM", "Saturday evening", "Mar", "late September"])
def test_times_are_no_phrases_that_a_corpus_turns_on(phrase: str) -> None:
    notes = [noted(f"b{i:02}", {phrase: [0, 1], "wuxil frobnak": [2, 3]}) for i in range(4)]
    assert {p.label for p in Gathered(notes).best_phrases()} == {"wuxil frobnak"}


def test_sentences_come_from_every_unit_before_a_second_of_one_and_the_best_first() -> None:
    gathered = Gathered([noted("a", {}, (0.5, 0.9, 0.0, 0.7)), noted("b", {}, (0.6, 0.6, 0.2, 0.0))])
    scored = [(gathered.line((d, i)).worth, (d, i)) for d in (0, 1) for i in range(4)]

    def picked(most: int) -> list[tuple[str, int]]:
        return [(s.chunk, s.start) for s in pick_sentences(gathered, scored, most)]

    assert picked(9) == [("a-0", 10), ("b-0", 0), ("a-1", 30), ("b-0", 10), ("a-0", 0), ("b-1", 20)]
    assert picked(3) == picked(9)[:3]


def test_sentences_of_a_theme_count_more_with_what_goes_with_it() -> None:
    held = {"zorblik": [0, 1, 2, 3], "wuxil": [1, 2], "quennop": [2]}
    gathered = Gathered([noted("a", held, (1.0, 0.7, 0.5, 0.9)), noted("b", {"quennop": [0], "zorblik": [0]})])
    found = ThemeFinder(gathered)
    head, *others = (gathered.phrase((stem,)) for stem in ("zorblik", "wuxil", "quennop"))
    told = [(s.chunk, s.start) for s in found.sentences(head, others)]  # 1.0, 0.7 · 1.6, 0.5 · 2.2, 0.9; and 1.6
    assert told == [("b-0", 0), ("a-0", 10), ("a-1", 20), ("a-0", 0), ("a-1", 30)]


# ── stories ──


def test_lines_of_a_part_are_ranked_by_who_is_in_them_and_what_is_told() -> None:
    """1.0 · (1 + 1) against 0.7 · (1 + 2) and 0.8 · (1 + 1 + ½): people count 1 each, a phrase half."""
    held = {"Frobnak": [0, 1, 2], "Quennop": [1], "wuxil": [2, 3, 5]}
    notes = [
        noted("one", held, (1.0, 0.7, 0.8, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5), says={"Frobnak": 9, "Quennop": 9}),
        *(noted(f"t{i}", {"Frobnak": [0], "Quennop": [0], "wuxil": [1]}, [0.1] * 9) for i in range(3)),
    ]
    cast, parts = tell_story(Gathered(notes))
    assert [(p.label, p.units, p.people) for p in cast] == [("Frobnak", 6, ("Quennop",)), ("Quennop", 4, ("Frobnak",))]
    assert [(p.label, p.units) for p in parts] == [("one", 9), ("t0", 9), ("t1", 9), ("t2", 9)]
    assert [s.start for s in parts[0].sentences] == [10, 0, 20]
    assert parts[0].people == ("Frobnak",)


def test_a_part_of_a_story_has_eight_lines_and_chapters_count_in_one_unit_only() -> None:
    heads = [(0, "ONE"), (8, "TWO"), (15, "THREE")]
    alone = Gathered([noted("book", {}, [1.0] * 24, heads=heads)])
    assert [(head, len(spots)) for head, spots in find_story_parts(alone)] == [("ONE", 8), ("THREE", 9)]
    late = Gathered([noted("book", {}, [1.0] * 20, heads=[(9, "TWO")])])
    assert [(head, len(spots)) for head, spots in find_story_parts(late)] == [("book", 9), ("TWO", 11)]
    several = Gathered([noted("book", {}, [1.0] * 16, heads=heads), noted("more", {}, [1.0] * 8)])
    assert [(head, len(spots)) for head, spots in find_story_parts(several)] == [("book", 16), ("more", 8)]


def test_the_worth_of_a_line_is_kept_to_hundredths() -> None:
    words = " ".join(["old grey seals of the bay"] * 7)
    text = f"And {words} slept on the warm stones near the northern lighthouse."
    (note,) = note_documents.fn([(Chunk("c", "d", 0, len(text), 0, text, "t"),)])
    assert [line.worth for line in note.lines] == [0.07]  # 0.25 · 0.3
