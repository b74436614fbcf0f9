"""Laws of what is read out of replies about groups, whatever they hold."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.engines.llm.replies.group_replies import (
    estimate_words,
    read_aggregate,
    read_condensed,
    read_link,
    read_summary_entities,
    shorten_statements,
)
from sensegraph.language.text import fold
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Brief, Context, Passage, Statement

MEMBERS = tuple(Passage("entity", f"e{i}", f"Thing {i}.", title=f"T{i}") for i in range(4))
TIES = (Passage("relation", "r0", "pays", title="T0 — T1"),)
CITED = Records((*MEMBERS, *TIES))
BRIEF = Brief(Context((*MEMBERS, *TIES)), types=("a", "b", "b", "a", ""))
KNOWN = {p.id for p in CITED.passages}

NAMES = st.sampled_from(["T0", "t1", "Lot", "", " ", "T2 (a)", "[Data: Entities (9)]", "T3 [Data: Entities (1)]"])
TEXTS = st.one_of(
    NAMES,
    st.text(max_size=30),
    st.sampled_from(["Good [Data: Entities (1, 7)].", "One. Two. " * 30, "word " * 90, "港口很大。" * 40, '{"', "\\u"]),
)
LEAVES: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JUNK = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
FINDINGS = st.lists(JUNK | st.fixed_dictionaries({"summary": TEXTS, "explanation": TEXTS}), max_size=6)
MEMBER = JUNK | st.fixed_dictionaries({"id": st.integers(-1, 7) | NAMES | JUNK, "strength": LEAVES})
KIND = JUNK | st.fixed_dictionaries(
    {"name": TEXTS, "type": TEXTS | st.none(), "description": TEXTS, "members": JUNK | st.lists(MEMBER, max_size=6)}
)
SAID = st.one_of(
    JUNK,
    st.fixed_dictionaries({"entity_name": TEXTS, "entity_description": TEXTS, "findings": FINDINGS}),
    st.fixed_dictionaries({"link": TEXTS}),
    st.fixed_dictionaries({"condensed": TEXTS}),
    st.fixed_dictionaries({"summary_entities": st.lists(KIND, max_size=4)}),
    st.lists(KIND, max_size=4),
)
FINISH = st.sampled_from(["stop", "length"])


@st.composite
def some_reply(draw: st.DrawFn) -> Reply:
    """JSON, JSON that breaks off, or no JSON at all."""
    text = draw(TEXTS) if draw(st.booleans()) and draw(st.booleans()) else json.dumps(draw(SAID))
    cut = draw(st.integers(0, len(text)))
    return Reply(text[:cut] if draw(st.booleans()) else text, 0, cut, draw(FINISH))


def sound(statements: tuple[Statement, ...]) -> bool:
    """Whether all references name records."""
    return all(set(s.references) <= KNOWN for s in statements)


@given(some_reply())
def test_an_aggregate_never_has_a_members_name_and_cites_what_is_there(reply: Reply) -> None:
    reading = read_aggregate(reply, CITED, BRIEF, 5)
    if reading.value is None:
        assert reading.problem
        return
    made = reading.value
    assert made.title.strip()
    assert fold(made.title) not in {fold(m.title) for m in MEMBERS}
    assert sound((*made.summary, *(s for f in made.findings for s in f.statements)))
    assert made.findings or reading.problem
    assert reading.problem or not reading.mended


@given(some_reply())
def test_every_member_is_in_a_summary_entity_and_nothing_else_is(reply: Reply) -> None:
    reading = read_summary_entities(reply, CITED)
    if reading.value is None:
        assert reading.problem
        return
    assert {m.id for e in reading.value for m in e.members} == {m.id for m in MEMBERS}
    for entity in reading.value:
        assert entity.name
        assert len({m.id for m in entity.members}) == len(entity.members) > 0
        assert all(0 <= m.strength <= 10 for m in entity.members)
        assert "".join(s.text for s in entity.description).strip()
        assert sound(entity.description)
    assert reading.problem or not reading.mended


@given(some_reply(), st.integers(1, 40))
def test_links_and_condensations_keep_their_length(reply: Reply, most: int) -> None:
    for read in (read_link, read_condensed):
        reading = read(reply, CITED, most)
        if reading.value is None:
            assert reading.problem
            continue
        assert reading.value
        assert sound(reading.value)
        assert estimate_words("".join(s.text for s in reading.value)) <= most


PIECES = st.lists(st.builds(Statement, TEXTS.filter(bool), st.just(("e0",))), max_size=5).map(tuple)


@given(PIECES, st.integers(1, 60))
def test_a_shortened_text_is_a_beginning_of_it(statements: tuple[Statement, ...], most: int) -> None:
    whole = "".join(s.text for s in statements)
    kept = "".join(s.text for s in shorten_statements(statements, most))
    assert estimate_words(kept) <= most
    assert kept == whole or whole.startswith(kept.removesuffix("…"))
    if estimate_words(whole) <= most:
        assert kept == whole


def test_a_text_is_cut_where_a_sentence_ends_and_inside_one_only_where_it_must() -> None:
    said = (Statement("Ships come. They go", ("e0",)), Statement(" again. Nobody counts them.", ("e1",)))
    assert shorten_statements(said, 6) == (Statement("Ships come. They go", ("e0",)), Statement(" again.", ("e1",)))
    assert shorten_statements(said, 4) == (Statement("Ships come.", ("e0",)),)
    assert shorten_statements(said, 1) == (Statement("Ships…", ("e0",)),)
    assert shorten_statements((Statement("Ships, boats, and barges come."),), 2) == (Statement("Ships, boats…"),)


def test_words_of_scripts_without_blanks_are_counted_by_two_characters() -> None:
    assert estimate_words("Two words") == 2
    assert estimate_words("") == 0
    assert estimate_words("港口很大的城市。") == 1 + 3
    assert shorten_statements((Statement("港口很大。船来了。船走了。"),), 5) == (Statement("港口很大。船来了。"),)
