"""Names that are several things, in whole corpora: told apart at a build, or left apart and listed (N44, N61, X1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph import Corpus
from sensegraph.types import Document


def names_of(folder: Path, texts: dict[str, str], **settings: object) -> dict[tuple[str, str], set[str]]:
    """The documents of each entity, by name and type, of a corpus with these texts."""
    with Corpus.open(folder, settings={"engine": "offline", **settings}) as corpus:
        corpus.add(Document(name, text) for name, text in texts.items())
        corpus.build(parts=["graph"])
        index = corpus.index()
        return {(e.name, e.type): set(index.documents_of(e.chunks).values()) for e in index.graph.entities}


JORDAN = {
    "treaty": "Jordan signed a treaty with Israel in 1994. Jordan agreed to open its border crossings.",
    "bulls": "Michael Jordan played for the Chicago Bulls. In April 1986 Jordan scored 63 points against the Boston "
    "Celtics. Jordan left the Bulls in 1993.",
    "game": "Jordan scored 63 points against the Boston Celtics in the first round. He was fouled by Larry Bird.",
}
SPRINGFIELD = {
    "one": "Springfield is the capital of Illinois. Abraham Lincoln lived in Springfield for many years.",
    "two": "Springfield lies on the Connecticut River in Massachusetts. James Naismith taught in Springfield.",
}


def test_a_country_and_a_player_of_one_name_are_two_entities(tmp_path: Path) -> None:
    found = names_of(tmp_path, JORDAN)
    assert found["Jordan", "place"] == {"treaty"}
    assert found["Michael Jordan", "person"] == {"bulls", "game"}


def test_names_are_one_thing_everywhere_where_the_settings_say_so(tmp_path: Path) -> None:
    found = names_of(tmp_path, JORDAN, index={"resolve": {"automatic": False}})
    assert found["Jordan", "place"] == {"treaty", "bulls", "game"}


def test_two_towns_of_one_name_are_two_entities(tmp_path: Path) -> None:
    places = {name for name, _ in names_of(tmp_path, SPRINGFIELD)}
    assert {"Springfield (Illinois)", "Springfield (Massachusetts)"} <= places
    assert "Springfield" not in places


def test_two_smiths_of_two_documents_stay_apart_and_are_listed(tmp_path: Path) -> None:
    texts = {
        "water": "J. Smith wrote the report on water in 2011. The council read the report.",
        "bakery": "John Smith sold his bakery in Leeds in 2015. Mary Smith bought it.",
    }
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add(Document(name, text) for name, text in texts.items())
        corpus.build(parts=["graph"])
        index = corpus.index()
        homes = {e.name: set(index.documents_of(e.chunks).values()) for e in index.graph.entities}
        assert homes["John Smith"] == homes["Mary Smith"] == {"bakery"}
        (note,) = [n for n in index.manifest.notes if n.startswith("it is open which of several is meant by")]
    assert "in water" in note
    assert "John Smith" in note
    assert "Mary Smith" in note


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Anna Holm married Peter Berg in 2010 and took his name. Anna Berg became a judge.",
            ("Anna Holm", "Anna Berg"),
        ),
        ("Clara Weiss (née Lindt) runs the museum. Clara Lindt studied in Basel.", ("Clara Weiss", "Clara Lindt")),
        ("Clara Lindt, now Clara Weiss, runs the museum. Clara Weiss left.", ("Clara Weiss", "Clara Lindt")),
    ],
)
def test_a_person_renamed_is_one(tmp_path: Path, text: str, names: tuple[str, str]) -> None:
    found = {name for name, _ in names_of(tmp_path, {"a": text})}
    assert len(found & set(names)) == 1


def test_two_persons_of_one_given_name_that_a_text_does_not_join_stay_two(tmp_path: Path) -> None:
    found = {name for name, _ in names_of(tmp_path, {"a": "Anna Holm met Anna Berg in 2010. Peter Berg married Ida."})}
    assert {"Anna Holm", "Anna Berg"} <= found


def test_a_firm_and_its_ticker_are_one(tmp_path: Path) -> None:
    text = "Apple Inc. (AAPL) reported its results on Tuesday. AAPL rose by four percent."
    found = {name for name, _ in names_of(tmp_path, {"a": text})}
    assert len(found & {"AAPL", "Apple Inc."}) == 1
