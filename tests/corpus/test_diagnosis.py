"""What the lines of a diagnosis say of tools that were asked, and what to do where one is amiss."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sensegraph.corpus.diagnosis import ask_vectors
from sensegraph.corpus.settings import Settings


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
