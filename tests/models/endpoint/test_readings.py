"""Vectors and scores: the sizes that are asked for, and the shapes that are read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from sensegraph.errors import EndpointError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.outcomes import Kind, Outcome
from sensegraph.models.endpoint.profile import Profile
from sensegraph.models.endpoint.readings import learn_size, read_relevances, read_vectors, split_batches, split_long

# ── scores and vectors ──


@pytest.mark.parametrize("field", ["results", "data"])
def test_scores_come_in_the_order_of_the_documents(field: str) -> None:
    rows = [
        {"index": 2, "relevance_score": 0.5},
        {"index": "0", "relevance_score": 1},
        {"index": 1, "relevance_score": 0},
    ]
    assert read_relevances({field: rows}, 3) == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(0, 0.5), (0, 0.4)], 2),
        ([(0, 0.5), (1, 0.4), (2, 0.4)], 2),
        ([(0, 0.5), (1, math.nan)], 2),
        ([(1, 0.5), (2, 0.4)], 2),
        ([(0, "high")], 1),
        ([(0, None)], 1),
        ([(None, 0.5)], 1),
    ],
)
def test_what_is_no_score_is_an_error(rows: list[tuple[Any, Any]], count: int) -> None:
    found = {"results": [{"index": i, "relevance_score": score} for i, score in rows]}
    with pytest.raises(EndpointError, match=r"rerank reply without|Asked for \d relevance scores"):
        read_relevances(found, count)


def reply(*rows: tuple[int, list[float]]) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": vector} for i, vector in rows]}


def test_vectors_come_in_the_order_asked_for_whatever_the_order_of_the_reply() -> None:
    found = read_vectors(reply((1, [0.0, 1.0]), (0, [1.0, 0.0])), ["a", "b"])
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(0, [1.0])], 2),
        ([(0, [1.0]), (1, [2.0]), (2, [3.0])], 2),
        ([(0, [1.0]), (1, [2.0, 3.0])], 2),
    ],
)
def test_too_few_too_many_or_uneven_vectors_are_an_error_that_says_what_came(
    rows: list[tuple[int, list[float]]], count: int
) -> None:
    with pytest.raises(EndpointError, match=f"Asked for {count} vectors of one length, got {len(rows)}"):
        read_vectors(reply(*rows), ["a", "b"])


@pytest.mark.parametrize(("came", "read"), [(12, 12), (13, 3), (5000, 3)])
def test_of_far_too_many_vectors_one_more_than_asked_for_is_read(came: int, read: int) -> None:
    rows = [(i, [1.0] if i < read else []) for i in range(came)]  # an empty one is an error where it is read
    with pytest.raises(EndpointError, match=f"Asked for 2 vectors of one length, got {read}"):
        read_vectors(reply(*rows), ["a", "b"])


def test_an_index_that_is_left_out_is_nought() -> None:
    found = read_vectors({"data": [{"index": 1, "embedding": [2.0]}, {"embedding": [1.0]}]}, ["a", "b"])
    assert found.tolist() == [[1.0], [2.0]]


def test_a_document_without_a_score_has_none() -> None:
    assert read_relevances({"results": [{"index": 1, "score": 0.5}]}, 3) == [None, 0.5, None]


@pytest.mark.parametrize("row", [[math.nan, 1.0], [0.0, 0.0], [[1.0], [2.0]], ["high"], "no base64", None, [None]])
def test_what_is_no_vector_is_an_error_that_names_the_text(row: Any) -> None:
    with pytest.raises(EndpointError, match="'the quay'"):
        read_vectors({"data": [{"index": 0, "embedding": row}]}, ["the quay"])


def test_texts_are_sent_in_calls_of_known_sizes() -> None:
    texts = ["one two three four"] * 10
    assert [len(b) for b in split_batches(texts, Profile(), 4)] == [4, 4, 2]
    assert [len(b) for b in split_batches(texts, Profile(batch=3), 4)] == [3, 3, 3, 1]
    bound = 4 * count_tokens(texts[0])
    assert [len(b) for b in split_batches(texts, Profile(batch_tokens=bound), 64)] == [3, 3, 3, 1]
    assert list(split_batches([], Profile(), 4)) == []


def test_a_long_text_is_cut_between_words_and_nothing_of_it_is_lost() -> None:
    text = " ".join(f"word{i}" for i in range(50))
    parts = split_long(text, 20)
    assert " ".join(parts) == text
    assert max(map(count_tokens, parts)) <= 20
    assert split_long(text, 0) == [text]
    assert "".join(split_long("x" * 400, 20)) == "x" * 400


LEARNED = [
    (Outcome(Kind.BATCH, "", 422, "inputs", most=2), Profile(batch=2)),
    (Outcome(Kind.BATCH, "", 422, "inputs"), Profile(batch=2)),
    (Outcome(Kind.REFUSED, "", 413), Profile(batch=2)),
    (Outcome(Kind.BATCH, "", 400, "tokens", most=12), Profile(batch_tokens=12)),
    (Outcome(Kind.FIELD, "", 400, "encoding_format"), Profile(refused=("encoding_format",))),
    (Outcome(Kind.FIELD, "", 400), None),
    (Outcome(Kind.WINDOW, "", 400, most=8), None),
]


@pytest.mark.parametrize(("outcome", "known"), LEARNED)
def test_a_refusal_says_what_to_send_less_of(outcome: Outcome, known: Profile | None) -> None:
    assert learn_size(Profile(), outcome, ["one two three four"] * 4) == known


def test_the_window_of_a_text_only_gets_smaller() -> None:
    long = " ".join(["word"] * 100)
    first = learn_size(Profile(), Outcome(Kind.WINDOW, "", 400), [long])
    assert first == Profile(input_tokens=75)
    second = learn_size(replace(first, batch=1), Outcome(Kind.WINDOW, "", 400, most=512), [" ".join(["word"] * 60)])
    assert second == Profile(input_tokens=45, batch=1)
    assert learn_size(Profile(batch=1), Outcome(Kind.BATCH, "", 422, "inputs"), ["one"]) is None


@pytest.mark.parametrize(("most", "batch"), [(0, 3), (1, 1), (5, 5), (6, 3), (9, 3)])
def test_a_batch_that_is_too_large_is_halved_unless_it_is_said_how_many_are_taken(most: int, batch: int) -> None:
    learned = learn_size(Profile(), Outcome(Kind.BATCH, "too many", 400, most=most), ["a"] * 6)
    assert learned == Profile(batch=batch)
    assert learn_size(Profile(), Outcome(Kind.BATCH, "too many", 400), ["a"]) is None
