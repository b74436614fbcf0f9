"""Pairs of names that are easy for a reader and hard for a ratio of letters (N61, N77–N79)."""

from __future__ import annotations

import pytest

from sensegraph.resolution import Mentioned, Resolving, judge_pair

ONE = [
    ("Apple", "Apple Inc.", "organization"),
    ("U.S.A.", "USA", "location"),
    ("United States of America", "U.S.A.", "location"),
    ("U.S", "U.S.", "location"),
    ("World War II", "World War 2", "event"),
    ("World War II", "Second World War", ""),
    ("World War II", "WWII", "event"),
    ("GPT-4", "GPT 4", ""),
    ("GPT-3.5", "GPT 3.5", ""),
    ("NASA", "National Aeronautics and Space Administration", "organization"),
    ("IBM", "International Business Machines Corp.", ""),
    ("AT&T", "AT and T", "organization"),
    ("knowledge graph", "knowledge graphs", "concept"),
    ("colour theory", "color theory", ""),
    ("Department of Defense", "Department of Defence", "organization"),
    ("University of Oxford", "Oxford University", "organization"),
    ("São Paulo", "Sao Paulo", "location"),
    ("e-mail", "email", ""),
    ("data base", "database", ""),
    ("Aeronautics Adminstration", "Aeronautics Administration", ""),
    ("The Beatles", "Beatles", "organization"),
    ("北京", "北京市", "place"),
    ("株式会社トヨタ", "トヨタ", "organization"),
    ("腾讯科技有限公司", "腾讯科技", ""),
    ("Москва", "москва", ""),
    ("ＡＢＣ", "ABC", ""),
    ("Müller GmbH", "Muller", "company"),
    ("Einstein", "Albert Einstein", "person"),
    ("Beethoven", "Ludwig van Beethoven", "person"),
    ("Dr. Watson", "Watson", "person"),
    ("Smith, John", "John Smith", "person"),
    ("Bill Clinton", "William Clinton", "person"),
    ("John Kennedy", "John F. Kennedy", "person"),
    ("JFK", "John F. Kennedy", "person"),
]
TWO = [
    ("New York", "New York City", "location", "location"),
    ("the theory", "theory of everything", "", ""),
    ("2019", "2018", "date", "date"),
    ("Alhandra", "Alhambra", "location", "location"),
    ("World War I", "World War II", "event", "event"),
    ("WW1", "WW2", "", ""),
    ("GPT-4", "GPT-4o", "product", "product"),
    ("GPT-3.5", "GPT-4", "", ""),
    ("Windows", "Windows 7", "", ""),
    ("5 km", "10 km", "", ""),
    ("$5 million", "$6 million", "", ""),
    ("Slovakia", "Slovenia", "", ""),
    ("Austria", "Australia", "", ""),
    ("Iran", "Iraq", "", ""),
    ("North Korea", "South Korea", "", ""),
    ("Vitamin A", "Vitamin B", "", ""),
    ("hypertension", "hypotension", "", ""),
    ("linear regression", "nonlinear regression", "", ""),
    ("smoker", "non smoker", "", ""),
    ("alpha particle", "beta particle", "", ""),
    ("Universe", "University", "", ""),
    ("University of California", "University of California, Berkeley", "", ""),
    ("Nobel", "Nobel Prize", "", ""),
    ("हिन्दी", "हन्द", "", ""),
    ("Ford", "Ford Motor Company", "", ""),
    ("MS-DOS", "MS", "", ""),
    ("Henry Ford", "Ford Motor Company", "person", "organization"),
    ("Jordan", "Jordan", "country", "person"),
    ("Jordan (river)", "Jordan (country)", "", ""),
    ("吉林省", "吉林市", "", ""),
    ("General Motors", "Motors", "", ""),
    ("John Smith", "Jon Smith", "person", "person"),
    ("John Smith", "Jane Smith", "person", "person"),
    ("Mr. Smith", "Mrs. Smith", "person", "person"),
    ("George Bush Jr.", "George Bush Sr.", "person", "person"),
    ("Henry VII", "Henry VIII", "person", "person"),
    ("Agent 7", "Agent 47", "person", "person"),
    ("John F. Kennedy", "John G. Kennedy", "person", "person"),
    ("Adam", "Adams", "person", "person"),
    ("Albert Einstein", "Alfred Einstein", "person", "person"),
]
OPEN = [
    ("J. Smith", "John Smith", "person"),
    ("Albert", "Albert Einstein", "person"),
    ("Martin Luther", "Martin Luther King", "person"),
    ("John Smith", "John Smith Jr.", "person"),
    ("Elizabeth", "Elizabeth II", "person"),
    ("Mercury", "Mercury (planet)", ""),
    ("Siemens AG", "Siemens Ltd", "organization"),
    ("Einstein", "Albert Einstein", ""),
    ("A-J", "J", ""),
    ("MS-DOS", "DoS", ""),
    ("e-mail", "mail", ""),
]


def score(one: str, other: str, types: tuple[str, str]) -> float:
    a, b = Mentioned("a", one, types[0]), Mentioned("b", other, types[1])
    found = judge_pair(a, b)
    assert found.why
    assert judge_pair(b, a).score == found.score  # whichever is named first
    assert judge_pair(Mentioned("z", one, types[0]), b).score == found.score  # whatever their ids
    return found.score


@pytest.mark.parametrize(("one", "other", "type"), ONE)
def test_two_names_of_one_thing_are_merged(one: str, other: str, type: str):
    assert score(one, other, (type, type)) >= Resolving().accept


@pytest.mark.parametrize(("one", "other", "type", "another"), TWO)
def test_names_of_two_things_are_kept_apart(one: str, other: str, type: str, another: str):
    assert score(one, other, (type, another)) < Resolving().reject


@pytest.mark.parametrize(("one", "other", "type"), OPEN)
def test_names_that_alone_decide_nothing_are_a_question(one: str, other: str, type: str):
    assert Resolving().reject <= score(one, other, (type, type)) < Resolving().accept


def test_what_the_texts_call_it_decides_where_letters_cannot():
    neo, nc = Mentioned("a", "NeoChip"), Mentioned("b", "NC")
    assert judge_pair(neo, nc).score < Resolving().reject
    assert judge_pair(Mentioned("a", "NeoChip", aliases=("NC",)), nc).score >= Resolving().accept
    apple = Mentioned("a", "Apple Inc.", aliases=("AAPL",))
    assert judge_pair(apple, Mentioned("b", "AAPL")).score >= Resolving().accept
