"""What the lines of a diagnosis say of tools that were asked, and what to do where one is amiss."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus.diagnosis import Diagnosis, ask_vectors, describe_tools
from sensegraph.corpus.settings import Settings, convert_settings
from sensegraph.models.endpoint.probes import Finding


def embedder(prefixes: tuple[str, str] = ("", ""), batch: int = 0, tokens: int = 0) -> Any:
    """One that takes everything; what its endpoint has told of itself is given."""
    known = SimpleNamespace(batch=batch, input_tokens=tokens)
    return SimpleNamespace(
        name="m", batch=64, dim=8, prefixes=prefixes, endpoint=SimpleNamespace(known=known), embed=lambda *_: None
    )


def test_the_line_of_vectors_says_what_is_put_before_questions_and_what_before_documents() -> None:
    found = ask_vectors(embedder(("query: ", "passage: ")), Settings())
    assert (found.asked, found.fails) == ("embedding m", False)
    assert found.answer == "8 numbers, 64 at once, texts of 600 tokens; prefixes 'query:' and 'passage:'"
    one_sided = ask_vectors(embedder(("search: ", "")), Settings())
    assert one_sided.answer.endswith("; prefixes 'search:' and ''")
    assert "prefixes" not in ask_vectors(embedder(), Settings()).answer


def test_an_endpoint_that_takes_less_than_is_sent_is_told_with_what_would_fit() -> None:
    found = ask_vectors(embedder(batch=16, tokens=512), Settings())
    assert found.answer == "8 numbers, 16 at once, texts in parts of 512 tokens"
    assert found.advice == "index.chunk_tokens of at most 512 would be read whole"


NONE = "endpoint: none: nothing leaves this machine"


@pytest.mark.parametrize(
    ("given", "own", "lines"),
    [
        ({"engine": "offline"}, False, ["engine: offline", "embedder: hashed-terms", NONE]),
        ({"engine": "offline"}, True, ["engine: offline", "embedder: hashed-terms", "reranker: own", NONE]),
        (
            {"endpoint": {"model": "one", "embedding_model": "two", "base_url": "http://127.0.0.1:9/v1"}},
            False,
            ["engine: one", "embedder: two", "endpoint: http://127.0.0.1:9/v1"],  # which both share
        ),
    ],
)
def test_a_diagnosis_names_the_tools_and_each_endpoint_once(
    given: dict[str, Any], own: bool, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = SimpleNamespace(name="own") if own else None  # one of this machine
    monkeypatch.setattr("sensegraph.corpus.diagnosis.make_reranker", lambda *_: reranker)
    found = describe_tools(convert_settings(given, Settings, "here")).findings
    assert [f"{f.asked}: {f.answer}" for f in found] == lines


def test_a_diagnosis_fails_where_one_of_its_lines_does() -> None:
    assert not Diagnosis((Finding("a", "b"), Finding("c", "d"))).fails
    assert Diagnosis((Finding("a", "b"), Finding("c", "d", fails=True))).fails
    assert not Diagnosis(()).fails
