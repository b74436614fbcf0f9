"""A difference holds as long as what we would write is what it was; whatever changed is written as it is now."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.graphs.interchange.extras import Extra, Extras, find_differences, merge_row, store_extras
from sensegraph.runtime.keys import encode_canonical
from sensegraph.runtime.stores.sqlite import SqliteStore

TEXT = st.text("ab", max_size=8)
VALUE = st.recursive(
    st.none() | st.integers(0, 3) | st.floats(0, 3) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=6,
)
ROW = st.fixed_dictionaries({"id": TEXT, "title": VALUE, "type": VALUE})


def nothing(row: dict[str, Any]) -> dict[str, Any]:
    return {}


def extra(original: dict[str, Any], derived: dict[str, Any]) -> Extra:
    return Extra("i", differences=find_differences("entities", original, derived, nothing))


@given(ROW, ROW, st.dictionaries(st.sampled_from(["more", "other"]), VALUE))
def test_a_row_comes_back_with_columns_that_we_do_not_know(derived: Any, original: Any, more: Any):
    given = {**original, **more}
    assert encode_canonical(merge_row(derived, extra(given, derived), nothing)) == encode_canonical(given)


@given(ROW, ROW, TEXT)
def test_a_column_that_changed_since_is_written_as_it_is_now(derived: Any, original: Any, title: str):
    kept = extra({**original, "title": "before"}, {**derived, "title": "then"})
    now = {**derived, "title": f"{title} now"}
    assert merge_row(now, kept, nothing)["title"] == f"{title} now"
    assert encode_canonical(merge_row(now, kept, nothing)["type"]) == encode_canonical(original["type"])


def test_of_a_text_only_what_differs_is_kept():
    told = "A long account of everything. " * 20
    (found,) = find_differences("entities", {"title": f"{told}+more{told}"}, {"title": told + told}, nothing)
    assert found.value == "+more"


def test_of_a_list_only_the_elements_that_differ_are_kept():
    original = {"findings": [{"summary": "a", "explanation": "b"}, {"summary": "c", "explanation": "d"}]}
    derived = {"findings": [{"summary": "a", "explanation": "b"}, {"summary": "c", "explanation": "dd"}]}
    (found,) = find_differences("community_reports", original, derived, nothing)
    assert found.path == ("findings", 1, "explanation")


def test_columns_made_of_others_follow_a_change_of_those():
    def shout(row: dict[str, Any]) -> dict[str, Any]:
        return {"full_content": f"{row['title']}!"}

    original = {"title": "a", "full_content": "a!"}
    kept = Extra("i", differences=find_differences("community_reports", original, {"title": "a"}, shout))
    assert kept.differences == ()
    assert merge_row({"title": "b"}, kept, shout)["full_content"] == "b!"


def test_columns_that_had_another_name_in_an_earlier_release_are_not_kept():
    assert find_differences("text_units", {"document_ids": ["d"], "odd": 1}, {"document_id": "d"}, nothing)[0].path == (
        "odd",
    )
    assert len(find_differences("text_units", {"document_ids": ["d"]}, {"document_id": "d"}, nothing)) == 0


def test_extras_belong_to_the_chunks_of_their_import(store: SqliteStore):
    store_extras(store, "key", "chunks", {"entities": [Extra("a", 4), Extra("b", whole={"id": "b"})]})
    found = Extras(store, "chunks")
    assert found.find("entities", ["a", "z"]) == {"a": Extra("a", 4)}
    assert [e.id for e in found.scan("entities")] == ["a", "b"]
    assert list(found.scan("covariates")) == []
    assert list(Extras(store, "other chunks").scan("entities")) == []
    assert Extras(store, "other chunks").find("entities", ["a"]) == {}
