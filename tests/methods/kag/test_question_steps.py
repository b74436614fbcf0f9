"""What rules make of questions, form by form, and what a sentence offers as an answer, sum by sum."""

from __future__ import annotations

import pytest

from named import named
from sensegraph.index.index import Index
from sensegraph.methods.kag import question_steps
from sensegraph.methods.kag.question_steps import Candidate, SaidSentence, find_values, sketch_plan

BRIDGES = {
    "Who is the mayor of the town in which Ada Finch was born?": [
        "Which town Ada Finch was born?",
        "Who is the mayor of #1?",
    ],
    "Who led the firm whose founder was Tom Reeve?": ["Which firm's founder was Tom Reeve?", "Who led #1?"],
    "Who wrote the book known as The Long Tide?": ["Which book known as The Long Tide?", "Who wrote #1?"],
    "Who was the teacher of the man whom Ada Finch married?": [
        "Which man Ada Finch married?",
        "Who was the teacher of #1?",
    ],
    "What is the area of the county where Skerry Point lies, and who runs it?": [
        "Which county Skerry Point lies?",
        "What is the area of #1, and who runs it?",
    ],
    "When was the school that Ada Finch attended, and left, built?": [
        "Which school Ada Finch attended?",
        "When was #1, and left, built?",
    ],
    "Where did the captain who sailed the Alba in 1899 die?": [
        "Which captain sailed the Alba in 1899?",
        "Where did #1 die?",
    ],
    "Where did a singer featuring Greta Moor live?": ["Which singer featuring Greta Moor?", "Where did #1 live?"],
    "Who owned the castle built in Oslo before it burned?": [
        "Which castle built in Oslo?",
        "Who owned #1 before it burned?",
    ],
    "What is the name of the wife of the composer of film Brand?": [
        "Who or what is the composer of Brand?",
        "What is the name of the wife of #1?",
    ],
    "Who is Tom Reeve's wife's father?": ["Who or what is the wife of Tom Reeve?", "Who is #1's father?"],
    "Who is the mother of the author for the novel Big Eyes?": [
        "Who or what is the author of Big Eyes?",
        "Who is the mother of #1?",
    ],
    "Who will the man named after Ada Finch support?": ["Which man named after Ada Finch?", "Who will #1 support?"],
    "What did a woman to whom Tom Reeve wrote, do?": ["Which woman Tom Reeve wrote?", "What did #1, do?"],
}
SINGLE = [
    "Where is the ship named after Nora Blythe?",  # nothing would be left to ask
    "The director of Brand?",
    "What is the spouse of Big Eyes?",
    "Who is the daughter of #1?",
    "What lies between Oslo and Rome?",
    "What birds of sea and also of cliffs?",
    "Which men who sailed and died in Oslo wrote letters?",
]
ALBA = "Deduce(op=choice, content=`{}: Brand | Alba`, inputs=#{} #{})"
COMPARISONS = {
    "Which is older, between Brand or Alba?": [
        "When was Brand born?",
        "When was Alba born?",
        ALBA.format("older", 1, 2),
    ],
    "Which one of films was longer, Brand, or Alba??": [
        "Brand: when or how much, of films was longer?",
        "Alba: when or how much, of films was longer?",
        ALBA.format("longer", 1, 2),
    ],
    "Who of Brand and Alba is older?": ["When was Brand born?", "When was Alba born?", ALBA.format("older", 1, 2)],
    "Which between Brand and Alba was founded earlier??": [
        "Brand: when or how much, was founded earlier?",
        "Alba: when or how much, was founded earlier?",
        ALBA.format("earlier", 1, 2),
    ],
    "Which film has the {composer} who is younger, Brand or Alba?": [
        "Brand >> composer",
        "Alba >> composer",
        "When was #1 born?",
        "When was #2 born?",
        ALBA.format("younger", 3, 4),
    ],
    "Which film has the {composer} with more songs, Brand or Alba?": [
        "Brand >> composer",
        "Alba >> composer",
        "#1: when or how much, film has the composer with more songs?",
        "#2: when or how much, film has the composer with more songs?",
        ALBA.format("more", 3, 4),
    ],
}
JUDGEMENTS = {
    "Are Brand and Alba both films?": ["What is the films of Brand?", "What is the films of Alba?", "films", 1],
    "Were Brand and Alba from the same town?": ["What is the town of Brand?", "What is the town of Alba?", "town", 1],
    "Are Brand and Alba the same?": ["What is the kind of Brand?", "What is the kind of Alba?", "kind", 1],
    "Do the bands Moor and Tide have the same singer?": [
        "What is the singer of Moor?",
        "What is the singer of Tide?",
        "singer",
        1,
    ],
    "Are the directors of films Brand and Alba from the same country?": [
        "Brand >> director",
        "Alba >> director",
        "What is the country of #1?",
        "What is the country of #2?",
        "country",
        3,
    ],
    "Are the director of Brand and the director of film Alba from the same country?": [
        "Brand >> director",
        "Alba >> director",
        "What is the country of #1?",
        "What is the country of #2?",
        "country",
        3,
    ],
    "Did both the singer of Brand and singers of Alba share the same town?": [
        "Brand >> singer",
        "Alba >> singer",
        "What is the town of #1?",
        "What is the town of #2?",
        "town",
        3,
    ],
    "Have Brand and Alba the same director?": [
        "What is the director of Brand?",
        "What is the director of Alba?",
        "director",
        1,
    ],
}
SHARED = {
    "Which towns have harbours and are led by women?": ["Which towns have harbours?", "Which towns are led by women?"],
    "Which towns have piers and also are old.": ["Which towns have piers?", "Which towns are old?"],
    "List the drugs that treat gout and that are cheap": [
        "Which drugs that treat gout?",
        "Which drugs that are cheap?",
    ],
}


@pytest.mark.parametrize(("question", "lines"), BRIDGES.items())
def test_what_is_only_described_is_asked_for_first(question: str, lines: list[str]) -> None:
    assert (sketch_plan(question).rule, [*sketch_plan(question).lines]) == ("bridge", lines)


@pytest.mark.parametrize("question", SINGLE)
def test_what_leaves_nothing_to_ask_stays_whole(question: str) -> None:
    assert (sketch_plan(question).rule, [*sketch_plan(question).lines]) == ("single", [question])


@pytest.mark.parametrize(("question", "lines"), COMPARISONS.items())
def test_each_of_two_is_asked_for_what_is_compared(question: str, lines: list[str]) -> None:
    assert (sketch_plan(question).rule, [*sketch_plan(question).lines]) == ("comparison", lines)


@pytest.mark.parametrize(("question", "lines"), JUDGEMENTS.items())
def test_each_of_two_is_asked_for_what_is_judged(question: str, lines: list[str | int]) -> None:
    *asked, about, first = lines
    judged = f"Deduce(op=judgement, content=`the same {about}`, inputs=#{first} #{int(first) + 1})"
    assert (sketch_plan(question).rule, [*sketch_plan(question).lines]) == ("judgement", [*asked, judged])


@pytest.mark.parametrize(("question", "lines"), SHARED.items())
def test_each_of_two_conditions_is_a_step(question: str, lines: list[str]) -> None:
    assert [*sketch_plan(question).lines] == [*lines, "Math(content=`both(#1, #2)`)"]
    assert sketch_plan(question).rule == "intersection"


def test_at_most_four_things_are_described() -> None:
    mothers = "".join(" the mother of" for _ in range(6))
    assert len(sketch_plan(f"When did{mothers} Ada Finch die?").lines) == question_steps.MOST_PARTS + 1 == 5
    few = sketch_plan("When did the mother of the mother of Ada Finch die?").lines
    assert few[2] == "When did #2 die?"


@pytest.mark.parametrize(
    ("text", "inverted", "verbless", "clause"),
    [
        ("Ada lived and died", False, False, "Ada lived and"),
        ("Ada lived, and died", False, False, "Ada lived"),
        ("Ada lived, Tom", False, False, "Ada lived, Tom"),  # the comma is within a name
        ("1990 has; it is", False, False, "1990 has"),
        ("was, is", False, False, "was"),
        ("lived in Oslo win it?", True, False, "lived in Oslo"),
        ("lived in Oslo win it?", False, False, "lived in Oslo win it"),
        ("the longest bridge is open", False, True, "the longest bridge"),  # after `with` no verb comes
        ("the longest bridge is open", False, False, "the longest bridge is open"),
        ("was not closed is open", False, False, "was not closed"),
        ("Ada keeps the lamp is it", False, False, "Ada keeps the lamp"),
        ("keeps the lamp is it", False, False, "keeps the lamp"),
        ("is it . ?", False, False, "is it"),
        ("led a team", True, False, "led a team"),  # after an article stands no verb
        ("led a team in Oslo win?", True, False, "led a team in Oslo"),
        ("played for the team plan to visit?", True, False, "played for the team"),
        ("", False, False, ""),
    ],
)
def test_a_clause_ends_at_a_comma_or_at_the_verb_around_it(
    text: str, inverted: bool, verbless: bool, clause: str
) -> None:
    assert question_steps._read_clause(text, inverted=inverted, verbless=verbless) == clause


# ── values ──


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("directed Tim", 1.0), ("directed by Tim", 0.94), ("directed a b c d Tim", 0.76),
        ("directed a b c d e Tim", 0.7), ("directed a b c d e f Tim", 0.5),  # six words before a name are read
        ("Tim directed", 0.65), ("Tim a b directed", 0.65), ("Tim a b c directed", 0.5), ("Tim", 0.5),
        ("undirected Tim", 0.5), ("Directed Tim", 1.0), ("direct directed Tim", 1.0),
    ],
)  # fmt: skip
def test_a_name_near_a_telling_word_counts_more(text: str, weight: float) -> None:
    assert question_steps._weigh_cue_distance(text, "Tim", frozenset(["direct"])) == pytest.approx(weight)
    assert question_steps._weigh_cue_distance(text, "Tim", frozenset()) == 0.75


@pytest.mark.parametrize(
    ("name", "heads", "weight"),
    [
        ("April", ["county"], 0.15), ("Monday", [], 0.15), ("Italian", ["county"], 0.15), ("Danes", [], 1.0),
        ("Avery County", ["county"], 1.6), ("Avery County", ["lake"], 0.4), ("Avery County", [], 1.0),
        ("Avery County Lake", ["lake"], 1.6), ("Avery", ["lake"], 1.0), ("Avery", [], 1.0),
    ],
)  # fmt: skip
def test_a_name_that_says_what_it_is_counts_more(name: str, heads: list[str], weight: float) -> None:
    assert question_steps._weigh_name(name, frozenset(heads)) == weight


KNOWN = [
    ("Tim Burton", "person"), ("Helena Carter", "person"), ("London", "place"), ("Novair", "organization"),
    ("lamp", "concept"), ("Big Eyes", "work"), ("Skerry", "other"), ("Jefferson County", "place"), ("Iowa", "place"),
    ("North", "place"),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return named(tmp_path_factory.mktemp("values"), KNOWN)


def offered(question: str, text: str, index: Index, *, weight: float = 1.0, most: int = 9) -> dict[str, float]:
    """Values of a sentence that is an answer, as shares of the best."""
    found = find_values(question, [SaidSentence(text, weight)], index, told=True, most=most)
    assert sum(c.score for c in found) == pytest.approx(1.0 if found else 0.0)
    return {c.value: c.score / found[0].score for c in found}


@pytest.mark.parametrize(
    ("question", "text", "shares"),
    [
        # what fits the kind counts 1, what may stand for it or is of no kind 0.4, all else 0.15, a noun 0.05;
        # the later a name stands in the sentence, the less it counts: 1 / (1 + 0.1 i)
        ("Who fell?", "Tim Burton and Helena Carter left.", {"Tim Burton": 1.0, "Helena Carter": 1 / 1.1}),
        # a word of the question that stands right behind a name: 0.65 in place of 0.5
        ("Who left?", "Tim Burton and Helena Carter left.", {"Helena Carter": 1.0, "Tim Burton": 5 * 1.1 / 6.5}),
        ("Who left?", "Tim Burton, Novair.", {"Tim Burton": 1.0, "Novair": 0.4 / 1.1}),
        ("Who left?", "Tim Burton, Skerry, London.", {"Tim Burton": 1, "Skerry": 0.4 / 1.1, "London": 0.15 / 1.2}),
        ("Who left?", "Tim Burton, lamp.", {"Tim Burton": 1.0, "lamp": 0.05 / 1.1}),
        ("What left?", "Tim Burton, London, lamp.", {"Tim Burton": 1.0, "London": 1 / 1.1, "lamp": 0.1 / 1.2}),
        ("Where is it?", "London, Novair.", {"London": 1.0, "Novair": 0.4 / 1.1}),
        ("Which company is it?", "Novair, London.", {"Novair": 1.0, "London": 0.4 / 1.1}),
        ("Which company is it?", "Novair, Big Eyes.", {"Novair": 1.0, "Big Eyes": 0.15 / 1.1}),
        ("Is it Tim Burton?", "Tim Burton, London.", {"London": 1.0}),
        # of a country, a state or a continent the last place is the likeliest: (1 + i) / n
        ("Which state is it?", "Tim Burton, London, Iowa", {"Iowa": 1, "London": 0.5, "Tim Burton": 0.15}),
        ("Which state is it?", "London, Tim Burton.", {"London": 1.0, "Tim Burton": 0.15 / 1.1}),
        ("Which state is it?", "London, North.", {"London": 1.0, "North": 0.15 / 1.1}),
        ("Which county is it?", "London, Jefferson County.", {"Jefferson County": 1.0, "London": 1.1 / 1.6}),
        ("When was it?", "Tim Burton left on 3 May 1852.", {"1852-05-03": 1.0}),
        ("When was it?", "Tim Burton left.", {}),
        ("How many?", "Tim Burton and 40 men.", {"40 men": 1.0}),
    ],
)  # fmt: skip
def test_what_a_sentence_offers_is_weighed(question: str, text: str, shares: dict[str, float], index: Index) -> None:
    assert offered(question, text, index) == pytest.approx(shares)


def test_the_best_five_of_equal_ones_by_their_names(index: Index) -> None:
    said = [SaidSentence(f"{name}.", 1.0) for name, _ in KNOWN if name not in ("lamp", "North")]
    assert [c.value for c in find_values("What?", said, index, told=True)] == [
        "Big Eyes", "Helena Carter", "Iowa", "Jefferson County", "London",
    ]  # fmt: skip
    assert [c.score for c in find_values("What?", said, index, told=True)] == pytest.approx([0.2] * 5)
    assert len(find_values("What?", said, index, told=True, most=2)) == 2


def test_a_sentence_counts_as_far_as_it_holds_the_rare_words_of_the_question(index: Index) -> None:
    idf = index.words.idf
    door, oar = idf("door"), idf("oar")  # the one is in the text of the index, the other is not
    assert 0 < door < oar
    said = [SaidSentence("Tim Burton, door.", 0.5), SaidSentence("Novair, oar.", 0.5), SaidSentence("Iowa.", 1.0)]
    found = find_values("Oar, door?", said, index)
    assert [c.value for c in found] == ["Novair", "Tim Burton"]
    assert [c.score for c in found] == pytest.approx([oar / (oar + door), door / (oar + door)])
    titled = [SaidSentence("Tim Burton, door.", 0.5), SaidSentence("Novair, door.", 0.5, "Oar (boat)")]
    of_title = find_values("Oar, door?", titled, index)  # twice as much, and its words count with those of the text
    assert [c.score for c in of_title] == pytest.approx(
        [2 * (oar + door) / (2 * oar + 3 * door), door / (2 * oar + 3 * door)]
    )
    assert find_values("Oar, door?", [SaidSentence("Iowa, oar.", 0.0)], index) == []
    assert find_values("Oar?", [SaidSentence("Iowa, oar.", -1.0)], index, told=True) == []
    twice = [SaidSentence("Iowa.", 0.2), SaidSentence("Iowa.", 0.6), SaidSentence("Novair.", 0.4)]
    assert find_values("What?", twice, index, told=True) == [
        Candidate("Iowa", pytest.approx(0.6)), Candidate("Novair", pytest.approx(0.4)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "cue", "tells"),
    [("directed", "dire", True), ("directed", "direct", True), ("wonder", "won", False), ("won", "won", True)],
)
def test_a_word_tells_a_relation_by_its_beginning_where_that_has_four_letters(word: str, cue: str, tells: bool) -> None:
    assert question_steps._tells_relation(word, frozenset([cue])) is tells
