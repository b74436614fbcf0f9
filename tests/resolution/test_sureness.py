"""How sure each relation of two names is, and what it is called: pairs on both sides of each bound."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sensegraph.language import naming_words
from sensegraph.resolution import Mentioned, Resolving, judge_pair, resolve
from sensegraph.resolution.comparison.aligned import (
    Lexis,
    align_names,
    compare_words,
    is_plural,
    shared_code,
    stem_word,
)
from sensegraph.resolution.comparison.likeness import compare_names
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import compare_types, kind_of_type, weigh_rival
from sensegraph.resolution.resolution_types import Judged

NAMES = [
    ("IBM  Research", "IBM Research", 0.99, "same"),
    ("e-mail", "email", 0.95, "joined"),
    ("abcd e", "abc de", 0.95, "joined"),  # five letters are not one by accident, four may be
    ("abc d", "ab cd", 0.7, "joined"),
    ("PS 5", "PS5", 0.95, "joined"),
    ("Mercury", "Mercury (planet)", 0.8, "bare"),
    ("Royal Navy Ship", "Royal Navy Ship (1900)", 0.8, "bare"),  # of more than three words the rest tells it
    ("Royal Navy Old Ship", "Royal Navy Old Ship (training)", 0.87, "bare"),
    ("Siemens AG", "Siemens Ltd", 0.7, "legal"),
    ("Siemens Inc", "Siemens Ltd", 0.97, "key"),  # both are forms of one law
    ("Siemens AG", "Siemens", 0.97, "key"),
    ("北京", "北京市", 0.95, "bare"),
    ("Dr. Watson", "Mr. Watson", 0.96, "title"),
    ("Mrs. Watson", "Watson", 0.96, "title"),
    ("The Beatles", "Beatles", 0.97, "key"),
    ("IBM", "International Business Machines", 0.87, "acronym"),
    ("UN", "United Nations", 0.6, "acronym"),  # two letters say little
    ("Oxford University", "University of Oxford", 0.9, "order"),
    ("knowledge graph", "knowledge graphs", 0.93, "form"),
    ("Graph", "graphs", 0.93, "form"),
    ("Graph", "Graphs", 0.6, "form"),  # a name of one word may have an s
    ("bridges gate", "bridge gates", 0.93, "form"),
    ("computing science", "computer science", 0.9, "form"),
    ("computing", "computer", 0.6, "nearly"),
    ("Aeronautics Adminstration", "Aeronautics Administration", 0.87, "form"),
    ("Adminstration", "Administration", 0.6, "nearly"),
    ("comp board", "company board", 0.5, "nearly"),
    ("administrat boards", "administration board", 0.5, "nearly"),  # the worse of two likenesses counts
    ("Micro Soft Oak", "Oak MicroSoft", 0.93, "form"),
    ("The Graph", "Graphs", 0.6, "form"),
    ("The the Graph", "Graphs", 0.6, "form"),
    ("Panasonic KXTS208W", "Panasonic KXTS208B", 0.6, "nearly"),
    ("University", "University of Oxford", 0.05, "head"),
    ("General Motors", "Motors", 0.05, "head"),
    ("Ford", "Ford Prize", 0.05, "head"),
    ("Iron Lantern", "Lantern", 0.4, "last"),
    ("Old Iron Lantern", "Lantern", 0.4, "last"),  # of four words it may be anything
    ("Very Old Iron Lantern", "Lantern", 0.2, "part"),
    ("Iron Lantern", "Iron", 0.2, "part"),
    ("Old Iron Lantern", "Iron Lantern", 0.2, "within"),
    ("Old Lamp Oil Works", "Old Lamp Oil Works 7", 0.0, "veto"),
    ("Lamp X12", "Lamp X13", 0.0, "veto"),
    ("Lamp X12", "Lamp", 0.0, "veto"),
    ("Iron Lamp X12", "Iron Lamp", 0.0, "veto"),
    ("Red Lantern", "Lantern Blue", 0.0, "veto"),
    ("alpha ray", "beta ray", 0.0, "veto"),
    ("Lamp A", "Lamp B", 0.0, "veto"),
    ("smoker house", "house nonsmoker", 0.0, "veto"),
    ("not smoker", "smoker", 0.0, "veto"),
    ("Paris (Texas)", "Paris (France)", 0.0, "veto"),
]
PERSONS = [
    ("George Bush Jr.", "George Bush Sr.", 0.0, "veto"),
    ("George Bush Jr.", "George Bush", 0.7, "generation"),
    ("George Bush Jr.", "Barbara Bush", 0.0, "generation"),
    ("George Bush Jr.", "Bush", 0.7, "generation"),
    ("George Jr.", "George", 0.7, "generation"),
    ("Albert Einstein Jr.", "Einstein Marie", 0.0, "generation"),
    ("Thomas Jr.", "Albert Thomas Einstein", 0.5, "generation"),
    ("Agent 7", "Agent 47", 0.0, "veto"),
    ("Einstein", "Albert Einstein", 0.87, "surname"),
    ("Gogh", "Vincent van Gogh", 0.87, "surname"),
    ("Albert", "Albert Einstein", 0.7, "given"),
    ("Thomas", "Albert Thomas Einstein", 0.5, "middle"),
    ("Bill", "William Clinton", 0.6, "nickname"),
    ("Mary", "William Clinton", 0.05, "different"),
    ("Bill Clinton", "William Clinton", 0.9, "nickname"),
    ("Bill Clinton", "Willy Clinton", 0.7, "nickname"),
    ("J. Smith", "John Smith", 0.8, "initial"),
    ("Jo Smith", "Joan Smith", 0.0, "veto"),
    ("J. Smith", "Mary Smith", 0.0, "veto"),
    ("John Smith", "John Adam Smith", 0.93, "middle names"),
    ("John A. Smith", "John Adam Smith", 0.93, "middle names"),
    ("John Bill Smith", "John Bob Smith", 0.0, "veto"),
    ("J. Bill Smith", "John Bob Smith", 0.0, "veto"),
    ("Smith John Paul", "Paul John Smith", 0.7, "order"),
    ("Martin Luther", "Martin Luther King", 0.6, "further"),
    ("Martin Luther King", "Martin Luther", 0.6, "further"),
    ("Martin Luther", "Martin King", 0.0, "veto"),
    ("Luther Martin", "Martin Luther King", 0.0, "veto"),
    ("Adam", "Adams", 0.05, "different"),
    ("John McDonald", "John Mc Donald", 0.95, "joined"),
    ("Ada van der Berg", "Adam vander Berg", 0.0, "veto"),
    ("Ann-Marie Lee", "Ann Marie Lee", 0.97, "key"),
    ("Mr. John Smith", "Mrs. John Smith", 0.0, "veto"),
]


@pytest.mark.parametrize(("one", "other", "sure", "kind"), NAMES)
def test_a_relation_of_two_names_has_its_sureness(one: str, other: str, sure: float, kind: str) -> None:
    a, b = Mentioned("a", one), Mentioned("b", other)
    for found in (judge_pair(a, b), judge_pair(replace(a, id="c"), b)):
        assert (found.score, found.kind, found.veto) == (sure, kind, kind == "veto")


@pytest.mark.parametrize(("one", "other", "sure", "kind"), PERSONS)
def test_a_relation_of_two_names_of_persons_has_its_sureness(one: str, other: str, sure: float, kind: str) -> None:
    a, b = Mentioned("a", one, "person"), Mentioned("b", other, "person")
    for found in (judge_pair(a, b), judge_pair(replace(a, id="c"), b)):
        assert (found.score, found.kind, found.veto) == (sure, kind, kind == "veto")


def test_where_each_says_something_else_a_weighed_score_is_bounded_up_to_five_words() -> None:
    same = "Amber Birch Cedar Dogwood"
    of_five = judge_pair(Mentioned("a", f"{same} Iowa"), Mentioned("b", f"{same} Ohio"))
    of_six = judge_pair(Mentioned("a", f"{same} Elder Iowa"), Mentioned("b", f"{same} Elder Ohio"))
    assert of_five.score == 0.8 < of_six.score
    one_more = judge_pair(Mentioned("a", f"{same} Elder Iowa"), Mentioned("b", f"{same} Elder of the"))
    assert one_more.score > 0.8  # small words say nothing
    within = [judge_pair(Mentioned("a", words), Mentioned("b", f"{words} Iowa")) for words in (same, f"{same} Elder")]
    assert within[0].score == 0.8 < within[1].score  # a name that is a part of the other needs a word more than this


def test_two_words_are_hardly_one_by_weight_alone() -> None:
    found = judge_pair(Mentioned("a", "Amber Birch"), Mentioned("b", "Amber Cedar"))
    assert (round(found.score, 2), found.kind) == (0.18, "few")
    found = judge_pair(Mentioned("a", "Amber Birch"), Mentioned("b", "Birch of Amber and Cedar"))
    assert (found.score, found.kind) == (0.2, "within")
    rare = Lexis(10**9, {})
    assert compare_names(read_name("Amber"), read_name("Amber Birch Cedar"), rare).score <= 0.3


@pytest.mark.parametrize(
    ("x", "y", "quality"),
    [
        ("graph", "graphs", 0.95),
        ("computing", "computer", 0.9),
        ("dep", "depot", 0.5),  # three letters at least, and two more
        ("de", "depot", 0.0),
        ("depo", "depot", 0.0),
        ("rivers", "rivres", 0.0),  # six letters have no slips, seven one, eleven two
        ("riverso", "rivreso", 0.85),
        ("riverso", "rivresa", 0.0),
        ("riversotna", "rivresonta", 0.0),
        ("riversotnak", "rivresontak", 0.85),
        ("riversotnak", "rivresontka", 0.0),
        ("lantrn", "lantern", 0.0),
        ("riversotna", "rivresotnak", 0.0),
        ("abc12d", "abc12e", 0.8),  # the letters at the end of a code are its colour
        ("ab12d", "ab12e", 0.0),
        ("abc12d", "abc12", 0.8),
        ("abc12d", "abc13d", 0.0),
        ("12345a", "12345b", 0.0),
        ("12345", "12345a", 0.0),
        ("abc12d", "abcd", 0.0),
    ],
)
def test_how_well_a_word_stands_for_another(x: str, y: str, quality: float) -> None:
    assert compare_words(x, y) == compare_words(y, x) == quality


def test_two_words_that_are_both_known_are_no_slip_of_one_another() -> None:
    assert compare_words("riverso", "rivreso", known=True) == 0.0
    assert compare_words("graph", "graphs", known=True) == 0.95
    assert [Lexis(5, {"a": n}).known("a") for n in (0, 1, 2)] == [False, False, True]


@pytest.mark.parametrize(
    ("x", "y", "plural"),
    [
        ("gas", "gass", False),
        ("box", "boxes", True),
        ("city", "cities", True),
        ("cit", "cities", False),
        ("as", "ass", False),
        ("is", "ises", False),
        ("ton", "tons", True),
        ("tons", "tonss", False),
        ("graph", "graph", False),
        ("ab", "abs", False),
        ("city", "citybus", False),
    ],
)
def test_a_plural_has_an_s_or_ies_for_y(x: str, y: str, plural: bool) -> None:
    assert is_plural(x, y) == is_plural(y, x) == plural


def test_words_weigh_by_how_few_names_have_them() -> None:
    small, large = Lexis(10, {"oak": 4}), Lexis(5000, {"oak": 4})
    assert small.weight("oak") == pytest.approx(math.log1p(250))  # as in a collection of a thousand
    assert large.weight("oak") == pytest.approx(math.log1p(1250))
    assert small.weight("elm") == pytest.approx(math.log1p(1000))
    assert small.weight("the") == small.weight("x") == 0.5


def test_a_code_tells_a_thing_where_it_is_long_has_two_digits_and_is_rare() -> None:
    def code(name: str, count: int = 1) -> str:
        a, b = read_name(f"{name} lamp"), read_name(f"Oak {name}")
        return shared_code(a, b, Lexis(9, dict.fromkeys(name.lower().split(), count)))

    assert [code(name) for name in ("ABC12", "AB12", "ABCD1", "ABC12 XYZ345")] == ["abc12", "", "", "xyz345"]
    assert [code("ABC12", count) for count in (4, 5)] == ["abc12", ""]
    assert shared_code(read_name("ABC12"), read_name("Oak"), Lexis(9, {})) == ""


def test_a_number_that_one_alone_has_counts_up_to_four_words() -> None:
    four, five = "Old Lamp Oil Works", "Old Good Lamp Oil Works"
    assert judge_pair(Mentioned("a", four), Mentioned("b", f"{four} 7")).why == "only one has the number 7"
    assert judge_pair(Mentioned("a", "Lamp X12"), Mentioned("b", "Lamp")).why == "different codes: none and x12"
    assert judge_pair(Mentioned("a", "Lamp X12"), Mentioned("b", "Lamp X13")).why == "different codes: x12 and x13"
    assert judge_pair(Mentioned("a", five), Mentioned("b", f"{five} 7")).score > 0.9
    assert judge_pair(Mentioned("a", f"{five} 8"), Mentioned("b", f"{five} 7")).veto


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("other", ""),
        ("", ""),
        ("Unknown", ""),
        ("Person", "person"),
        ("car company", "organization"),
        ("company_person", "person"),
        ("half-company", "organization"),
        ("Gadget", "gadget"),
    ],
)
def test_the_last_word_of_a_type_tells_its_kind(said: str, kind: str) -> None:
    found = kind_of_type(said)
    assert found == (kind_of_type(kind) if kind else "")
    assert (found == "gadget") == (said == "Gadget")


def test_types_agree_differ_or_conflict() -> None:
    def types(one: str, other: str, *paired: tuple[str, str]) -> str:
        found = compare_types(Mentioned("a", "X", one), Mentioned("b", "X", other), Resolving(cross_types=paired))
        assert found == compare_types(Mentioned("a", "X", other), Mentioned("b", "X", one), Resolving()) or paired
        return found

    assert types("person", "city") == "conflict"
    assert types("person", "city", ("City", "person")) == "agree"
    assert types("person", "city", ("city", "city")) == "conflict"
    assert types("person", "gadget") == types("widget", "gadget") == "differ"
    assert types("person", "other") == types("", "gadget") == types("organization", "company") == "agree"


def test_what_speaks_against_one_thing_bounds_its_score() -> None:
    one, other = Mentioned("a", "GPT-4", "gadget"), Mentioned("b", "GPT-4", "widget")
    found = judge_pair(one, other)
    assert (found.score, found.why) == (0.8, "the same name; types differ: gadget, widget")
    strange = judge_pair(replace(one, neighbours=tuple("12345")), replace(other, neighbours=tuple("vwxyz")))
    assert strange.score == 0.6
    weak = judge_pair(Mentioned("a", "Lantern", "gadget"), Mentioned("b", "Iron Lantern", "widget"))
    assert weak.score == 0.4


def test_the_last_word_of_a_name_is_likelier_it_where_they_have_things_in_common() -> None:
    one, other = Mentioned("a", "Lantern", neighbours=("x",)), Mentioned("b", "Iron Lantern", neighbours=("x",))
    found = judge_pair(one, other)
    assert (found.score, found.why) == (0.7, "Lantern is the last word of Iron Lantern, and they have things in common")


def test_a_kind_of_thing_is_not_offered_for_a_name_that_ends_with_it() -> None:
    kind = Mentioned("a", "meeting", "concept", neighbours=("x",))
    board = Mentioned("b", "Board meeting", neighbours=("x",))
    found = judge_pair(kind, board)
    assert found.score < Resolving().reject
    assert found.why.endswith("which is a kind of thing and no name")
    assert judge_pair(replace(kind, type="other"), board).score == 0.7


@pytest.mark.parametrize(
    ("kind", "score", "rival", "context", "sure"),
    [
        ("acronym", 0.8, "", "unknown", 0.87),
        ("surname", 0.8, "", "unknown", 0.87),
        ("acronym", 0.79, "", "unknown", 0.79),
        ("given", 0.8, "", "unknown", 0.8),
        ("given", 0.6, "", "shared", 0.9),
        ("given", 0.59, "", "shared", 0.59),
        ("given", 0.95, "", "shared", 0.95),
        ("acronym", 0.95, "", "unknown", 0.95),
        ("surname", 0.8, "", "none", 0.8),
        ("surname", 0.8, "", "strange", 0.8),
        ("surname", 0.87, "Mary Smith", "shared", 0.8),
        ("surname", 0.7, "Mary Smith", "shared", 0.7),
        ("form", 0.93, "Mary Smith", "shared", 0.93),
    ],
)
def test_a_short_name_is_as_sure_as_its_rivals_and_contexts_let_it(
    kind: str, score: float, rival: str, context: str, sure: float
) -> None:
    found = weigh_rival(Judged(score, "why", kind), rival, context)  # type: ignore[arg-type]
    assert found.score == sure
    assert found.why.startswith("why")
    assert ("Mary Smith" in found.why) == (bool(rival) and kind != "form")


def test_an_alias_is_what_the_texts_call_it_and_no_surer_than_that() -> None:
    neo = Mentioned("a", "Zebra Corp", aliases=("Lantern House",))
    called = judge_pair(neo, Mentioned("b", "Lantern House"))
    assert (called.score, called.kind) == (0.95, "alias")
    assert called.why == "the texts call one the other: Zebra Corp, Lantern House"
    through = judge_pair(neo, Mentioned("b", "Oak Yard", aliases=("Lantern  House",)))
    assert (through.score, through.kind) == (0.95, "alias")
    assert through.why.startswith("Lantern House, Lantern  House: ")
    less = judge_pair(neo, Mentioned("b", "Oak Yard", aliases=("Lantern",)))
    assert (less.score, less.kind) == (0.05, "head")
    less = judge_pair(replace(neo, aliases=("Old Lamp Oil",)), Mentioned("b", "Oak Yard", aliases=("Oil Lamp Old",)))
    assert (less.score, less.kind) == (0.9, "order")


def test_a_name_of_two_lists_needs_a_lead_over_every_other() -> None:
    left = Mentioned("1", "Lantern", listed="left")
    right = [Mentioned("2", "Iron Lantern", listed="right"), Mentioned("3", "Iron Bridge of the Moor", listed="right")]
    first = next(p for p in resolve([left, *right]).proposals if {p.one, p.other} == {"1", "2"})
    assert (first.score > 0.9, first.decision) == (True, "merge")
    assert first.why == "Lantern is the last word of Iron Lantern; no other is likelier"
    rival = Mentioned("4", "Oak Lantern", listed="right")
    told = resolve([left, *right, rival]).proposals
    assert {(p.one, p.other, p.score) for p in told} == {("1", "2", 0.4), ("1", "4", 0.4)}


def test_each_word_is_matched_once_and_weighs_as_the_lighter_of_the_two() -> None:
    words = Lexis(10, {"lamp": 9})
    found = align_names(read_name("Old Lamps"), read_name("Old Lamp"), words)
    assert found.near == (("lamps", "lamp", 0.95),)
    assert found.weight == pytest.approx(words.weight("old") + 0.95 * words.weight("lamp"))
    twice = align_names(read_name("Ab Cd Ef"), read_name("Abcd Cdef"), words)
    assert (twice.near, twice.one, twice.other) == ((("ab cd", "abcd", 0.98),), ("ef",), ("cdef",))
    other = align_names(read_name("Abcd Cdef"), read_name("Ab Cd Ef"), words)
    assert (other.near, other.one, other.other) == ((("abcd", "ab cd", 0.98),), ("cdef",), ("ef",))


def test_only_latin_words_of_more_than_three_letters_have_a_stem() -> None:
    assert [stem_word(word) for word in ("its", "lamps", "naïveness")] == ["its", "lamp", "naïveness"]


def test_a_letter_is_no_opposite_of_a_word() -> None:
    opposites = [word for words in naming_words.CONTRASTS for word in sorted(words)]
    assert len(opposites) > 20
    for word in opposites:
        assert "is not" not in judge_pair(Mentioned("a", "Oak Elm Q"), Mentioned("b", f"Oak Elm {word}")).why


def test_two_of_one_list_and_two_of_kinds_that_conflict_are_never_one() -> None:
    listed = judge_pair(Mentioned("a", "Oak", listed="left"), Mentioned("b", "Oak", listed="left"))
    assert (listed.score, listed.kind, listed.veto) == (0.0, "listed", True)
    assert judge_pair(Mentioned("a", "Oak", listed="left"), Mentioned("b", "Oak", listed="right")).score == 0.99
    types = judge_pair(Mentioned("a", "Oak", "person"), Mentioned("b", "Oak", "city"))
    assert (types.score, types.kind, types.veto) == (0.0, "types", True)


def test_types_that_differ_are_told_only_where_they_lower_a_score() -> None:
    found = judge_pair(Mentioned("a", "Mercury", "gadget"), Mentioned("b", "Mercury (planet)", "widget"))
    assert (found.score, found.why) == (0.8, "only one is planet")


def test_a_veto_between_the_names_holds_against_any_alias_and_the_first_of_equal_pairs_is_told() -> None:
    one, other = (Mentioned(i, f"Lamp {i}", aliases=("Zebra",)) for i in "ab")
    assert judge_pair(one, other).kind == "veto"
    both = Mentioned("a", "Zebra", aliases=("Old Lamp Oil", "Lamp Old Oil", "Yak"))
    found = judge_pair(both, Mentioned("b", "Oak Yard", aliases=("Oil Lamp Old",)))
    assert (found.score, found.why) == (0.9, "Old Lamp Oil, Oil Lamp Old: the same words in another order")
    same = judge_pair(both, Mentioned("b", "zebra", aliases=("Old Lamp Oil",)))
    assert (same.score, same.kind) == (0.99, "same")
