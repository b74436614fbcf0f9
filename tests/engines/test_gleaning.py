"""Which chunks are asked about again, and what they are asked: names that a list lacks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_engine import engine, says
from scripted_replies import talk_in
from sensegraph.engines.llm.gleaning import LEAST, can_find_names, find_missing_names
from sensegraph.errors import ItemFailed
from sensegraph.types import Chunk

Body = dict[str, Any]
NAMES = ("Edda Kroll", "Tove Brandt", "Sund Shipping", "Lindholm", "Aksel Roth", "Marlene")
TEXT = (
    "Edda Kroll has been harbour master of Lindholm since 2019. Before her, Tove Brandt held the post. The owner of "
    "the ferry Marlene, Sund Shipping, objected to what Kroll had said, and so did Aksel Roth, the director."
)
CHUNK = Chunk("chunk-key", "doc-1", 0, len(TEXT), 60, TEXT, "Minutes")


def reply_of(*names: str, relations: tuple[tuple[str, str], ...] = ()) -> Body:
    linked = [{"source": a, "target": b, "description": "linked", "strength": 5} for a, b in relations]
    listed = [{"name": n, "type": "person", "description": f"{n} is told of."} for n in names]
    return {"entities": listed, "relations": linked}


# ── what is asked ──


def test_a_chunk_is_asked_about_the_names_that_its_list_lacks_without_the_first_reply() -> None:
    first, more = reply_of(*NAMES[:2]), reply_of(*NAMES[2:], relations=(("Edda Kroll", "Lindholm"),))
    with says(first, more) as server:
        (x,) = engine(server, max_gleanings=1).extract([CHUNK])
    assert [e.name for e in x.entities] == [*NAMES]
    assert [(r.source, r.target) for r in x.relations] == [("Edda Kroll", "Lindholm")]
    assert x.rounds == (4,)
    assert [c.task for c in server.calls] == ["extraction", "extraction"]
    before, asked = (talk_in(c.body) for c in server.calls)
    assert [m["role"] for m in asked] == ["system", "user"]
    assert asked[0] == before[0]
    assert "holds: Edda Kroll; Tove Brandt\n" in asked[1]["content"]
    assert "lacks: Lindholm; Marlene; Sund Shipping; Aksel Roth\n" in asked[1]["content"]
    assert TEXT in asked[1]["content"]
    assert "is told of" not in asked[1]["content"]


def test_a_whole_list_costs_no_further_call_and_neither_does_one_that_lacks_little() -> None:
    for names in (NAMES, NAMES[: len(NAMES) - LEAST + 1]):
        with says(reply_of(*names)) as server:
            (x,) = engine(server, max_gleanings=1).extract([CHUNK])
        assert [e.name for e in x.entities] == [*names]
        assert (x.rounds, len(server.calls)) == ((), 1)


def test_names_are_asked_about_once_however_many_rounds_are_allowed_and_never_where_none_is() -> None:
    for most, calls in ((3, 2), (0, 1)):
        with says(reply_of(NAMES[0]), reply_of()) as server:
            (x,) = engine(server, max_gleanings=most).extract([CHUNK])
        assert [e.name for e in x.entities] == [NAMES[0]]
        assert len(server.calls) == calls


def test_a_list_of_names_that_stays_unreadable_fails_its_chunk() -> None:
    with (
        says(reply_of(NAMES[0]), "I cannot.") as server,
        pytest.raises(ItemFailed, match="what was missed of chunk"),
    ):
        engine(server, max_gleanings=1).extract([CHUNK])
    assert len(server.calls) == 3


def test_the_language_of_the_passage_is_named_although_the_request_is_english() -> None:
    text = (
        "Die Fähre Marlene liegt im Hafen von Lindholm. Der Reeder Aksel Roth und die Hafenmeisterin Edda Kroll haben "
        "darüber gesprochen, ob sie am Montag auslaufen darf, und sie sind sich nicht einig geworden."
    )
    chunk = Chunk("k", "d", 0, len(text), 60, text)
    with says(reply_of("Die Reederei"), reply_of("Edda Kroll")) as server:
        engine(server, max_gleanings=1).extract([chunk])
    assert len(server.calls) == 2
    assert all("Write in German." in c.body["messages"][-1]["content"] for c in server.calls)


def test_where_names_cannot_be_found_the_model_is_asked_whether_it_missed_anything() -> None:
    text = "أعلنت مديرة الميناء أن السفينة لن تبحر قبل فحصها. واعترض المالك على القرار."
    assert not can_find_names(text)
    with says(reply_of("السفينة"), "no") as server:
        made = engine(server, max_gleanings=1)
        chunk = Chunk("k", "d", 0, len(text), 40, text)
        made.extract([chunk])
        assert made.calls("extract", chunk) == len(server.calls) == 2
    assert [c.task for c in server.calls] == ["extraction", "check"]


def test_only_what_gleaning_does_is_in_the_key_of_an_extraction() -> None:
    with says("") as server:
        made = {
            (way, most): engine(server, gleaning=way, max_gleanings=most).fingerprint("extract")
            for way in ("names", "check")
            for most in (0, 1)
        }
    assert made["names", 0] == made["check", 0]
    assert len({made["names", 1], made["check", 1], made["names", 0]}) == 3


# ── which names a list lacks ──


def test_a_name_is_listed_by_a_longer_or_shorter_form_its_plural_its_possessive_or_its_initials() -> None:
    text = (
        "Bob Cratchit's wages were paid by the Cratchits' landlord. The FBI asked Mr. Scrooge and Ebenezer Scrooge. "
        "Federal agents of the FBI left, and Bob was glad of it."
    )
    listed = ("Bob Cratchit", "Scrooge", "Federal Bureau of Investigation")
    assert find_missing_names(text, listed) == ()
    assert find_missing_names(f"{text} {TEXT}", listed) == (
        "Edda Kroll",
        "Lindholm",
        "Tove Brandt",
        "Marlene",
        "Sund Shipping",
        "Aksel Roth",
    )


@pytest.mark.parametrize(
    "said",
    [
        "The German and the French met a Dutch and a Swedish man, and so did an Italian. They liked it.",
        "It rained. Nobody came. Then the Spirit left with the Ghost, the Phantom and the Church.",
        "WINGS OF THE WIND\n\nTHE END OF IT\n\nFIRST CHAPTER HERE\n\nSECOND CHAPTER HERE\n\nand so it went on.",
        "On Monday, on 3 May 2021, in June and at Easter 2020 we met again, and on Tuesday as well.",
    ],
)
def test_nationalities_common_words_headings_and_dates_are_no_reason_to_ask(said: str) -> None:
    assert find_missing_names(said, ()) == ()
    assert find_missing_names(f"{said} {TEXT}", ()) == ("Edda Kroll", *find_missing_names(TEXT, ())[1:])


def test_three_names_among_very_many_are_too_few() -> None:
    many = [
        f"{a}{b}"
        for a in ("Bra", "Kel", "Mor", "Tav", "Ves", "Zan")
        for b in ("dis", "gor", "lum", "nex", "rik", "tov")
    ]
    text = " ".join(f"We saw {name} there." for name in many)
    assert find_missing_names(text, many[3:]) == ()
    assert find_missing_names(text, many[4:]) == tuple(many[:4])


def test_chinese_names_are_found_and_german_nouns_are_none() -> None:
    german = (
        "Der Hafen, die Fähre, das Schiff und der Reeder waren da, als Edda Kroll mit Aksel Roth nach Lindholm kam."
    )
    assert set(find_missing_names(german, ())) == {"Edda Kroll", "Aksel Roth", "Lindholm"}
    chinese = "张伟和王芳在北京大学学习。李娜去了上海，后来到了广州市。"
    assert can_find_names(chinese)
    found = find_missing_names(chinese, ())
    assert len(found) >= LEAST
    assert find_missing_names(chinese, found) == ()


@given(st.permutations(NAMES), st.integers(0, len(NAMES)))
def test_what_is_listed_as_it_is_found_is_never_missed(names: list[str], kept: int) -> None:
    missing = find_missing_names(TEXT, names[:kept])
    assert not set(missing) & set(names[:kept])
    assert bool(missing) == (len(NAMES) - kept >= LEAST)
    assert find_missing_names(TEXT, [*names[:kept], *missing]) == () or missing == ()
