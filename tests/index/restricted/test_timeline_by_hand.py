"""What went on between two moments, over five facts that are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.errors import InputError
from sensegraph.index.restricted import timeline
from sensegraph.index.restricted.dates import Dates, Fact
from sensegraph.index.restricted.timeline import changes_between, entity_timeline
from sensegraph.types import Entity, Source


class Paged:
    """What a timeline needs of an index besides its dates: on which page a place is."""

    def page(self, name: str, place: int) -> int | None:
        return place - 90 if name == "d" else None

    def figure(self, name: str, place: int) -> None:
        return None


INDEX: Any = Paged()


def fact(name: str, starts: str, ends: str, text: str = "", chunk: str = "c", **more: Any) -> Fact:
    said = text or f"Fact  {name}."
    return Fact(name, "d", ord(name[0]), 200, said, starts, ends, starts, ends, (Source(chunk, 0, 9),), **more)


FACTS = (
    fact("a", "2010", "2015", type="head", superseded_by="b", disputed=True, reason="superseded"),
    fact("b", "2015", "", type="head"),
    fact("c", "2012", "2013"),
    fact("d", "2018", ""),
    fact("e", "", "2012"),
)


@pytest.fixture(autouse=True)
def dates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "dates_of", lambda index: Dates(FACTS))


@pytest.mark.parametrize(
    ("first", "last", "changes"),
    [
        ("2009", "2010", "began a"),
        ("2009", "2013", "began a, passed c, ended e"),
        ("2010", "2010", ""),
        ("2010", "2011", ""),
        ("2010", "2012", "began c, ended e"),
        ("2012", "2013", "ended c"),
        ("2011", "2014", "passed c, ended e"),
        ("2014", "2015", "changed a b"),
        ("2014", "2020", "changed a b, began d"),
        ("2009", "2016", "passed c, changed a b, ended e"),
        ("2017", "2018", "began d"),
        ("2018", "2030", ""),
    ],
)
def test_what_began_ended_passed_or_changed(first: str, last: str, changes: str) -> None:
    def said(change: Any) -> str:
        shown = dict.fromkeys(e.text[-2] for e in (change.before, change.after) if e)
        return f"{change.what} {' '.join(shown)}"

    found = sorted(map(said, changes_between(INDEX, first, last)))
    assert ", ".join(found) == ", ".join(sorted(changes.split(", ")))


def test_changes_come_in_the_order_of_beginnings_with_what_was_before() -> None:
    found = changes_between(INDEX, "2009", "2020")
    assert [c.what for c in found] == ["ended", "passed", "changed", "began"]
    changed = found[2]
    assert changed.before is not None
    assert changed.after is not None
    assert (changed.before.text, changed.before.ended_by, changed.before.disputed) == ("Fact a.", "Fact b.", True)
    assert (changed.before.starts, changed.before.ends, changed.before.reason) == ("2010", "2015", "superseded")
    assert (changed.after.text, changed.after.ended_by, changed.after.type) == ("Fact b.", "", "head")
    assert (changed.after.document, changed.after.start, changed.after.end) == ("d", ord("b"), 200)


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [("2020", "2019", "2019 is before"), ("soon", "2019", "'soon'"), ("2019", "x", "'x'")],
)
def test_moments_must_be_dates_in_order(first: str, last: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        changes_between(INDEX, first, last)
    ada = Entity("x", "Ada", "p", "", (), ("c",), 1, 0)
    with pytest.raises(InputError, match=said):
        entity_timeline(INDEX, ada, first, last)


@pytest.mark.parametrize(
    ("name", "aliases", "texts"),
    [
        ("Ada Finch", (), "ADA FINCH came.|Ada Finch's lamp."),
        ("Nobody", ("ada",), "ADA FINCH came.|Ada Finch's lamp.|Ada left."),
        ("Adam", (), ""),
        ("Bo (Lind)", (), "So Bo (Lind) sang."),
    ],
)
def test_an_entity_is_told_of_by_sentences_that_name_it_in_chunks_that_mention_it(
    name: str, aliases: tuple[str, ...], texts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = (
        fact("a", "2010", "", "ADA FINCH came."),
        fact("b", "2011", "", "Ada Finch's lamp."),
        fact("c", "2012", "", "Ada left."),
        fact("d", "2013", "", "Ada Finch elsewhere.", chunk="other"),
        fact("e", "2014", "", "So Bo (Lind) sang."),
    )
    monkeypatch.setattr(timeline, "dates_of", lambda index: Dates(listed))
    entity = Entity("x", name, "p", "", (), ("c", "e"), 1, 0, aliases)
    found = entity_timeline(INDEX, entity, "", "")
    assert "|".join(e.text for e in found) == texts
    later = entity_timeline(INDEX, entity, "2030", "")
    assert len(later) == len(found)  # they may hold still
    assert entity_timeline(INDEX, entity, "", "2009") == []


def test_an_entity_is_told_of_where_it_is_the_thing_or_the_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    held = fact("a", "2015", "2018", "He ran it.", chunk="other", type="head", thing="firm", holder="x")
    undated = fact("b", "", "", "She came.", chunk="other", thing="x")
    early = fact("c", "", "2011", "It ended.", chunk="other", holder="x", superseded_by="a")
    monkeypatch.setattr(timeline, "dates_of", lambda index: Dates((undated, held, early)))
    found = entity_timeline(INDEX, Entity("x", "Ada", "p", "", (), (), 1, 0), "", "")
    assert [e.text for e in found] == ["It ended.", "He ran it.", "She came."]
    assert [e.ended_by for e in found] == ["He ran it.", "", ""]
    assert [e.page for e in found] == [9, 7, 8]
    between = entity_timeline(INDEX, Entity("x", "Ada", "p", "", (), (), 1, 0), "2012", "2014")
    assert [e.text for e in between] == ["She came."]
