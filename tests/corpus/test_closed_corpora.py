"""A corpus that was closed says so, whatever is asked of it and wherever it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from databases import corpus_url
from sensegraph import AsyncCorpus, Corpus, Document
from sensegraph.errors import StoreError

OFFLINE: dict[str, Any] = {"engine": "offline", "index": {"parts": []}}
LETTER = Document("letter", "Ada Finch wrote to the Harbour Council in May.")
CLOSED = r"was closed; open it again \(`Corpus.open`\)\.$"


def uses(corpus: Corpus) -> list[Callable[[], object]]:
    return [
        lambda: corpus.query("Who wrote?"),
        lambda: corpus.stream("Who wrote?").answer,
        lambda: corpus.search("Who wrote?"),
        lambda: corpus.add(LETTER),
        corpus.build,
        corpus.status,
    ]


@pytest.mark.parametrize("kept_in", ["file", "database"])
def test_a_corpus_that_was_closed_says_to_open_it_again(tmp_path: Path, kept_in: str) -> None:
    url = {"store": {"url": corpus_url(tmp_path)}} if kept_in == "database" else {}
    corpus = Corpus.open(tmp_path, settings=OFFLINE | url)
    corpus.add(LETTER)
    corpus.build()
    for again in range(2):  # after a question, what it read is at hand still
        corpus.close()
        for use in uses(corpus):
            with pytest.raises(StoreError, match=CLOSED):
                use()
        if not again:
            corpus = Corpus.open(tmp_path, settings=OFFLINE | url)
            assert corpus.query("Who wrote to the council?").text
    assert len(uses(corpus)) == 6


def test_an_awaited_corpus_that_was_left_says_to_open_it_again(tmp_path: Path) -> None:
    async def ask() -> None:
        async with AsyncCorpus.open(tmp_path, settings=OFFLINE) as corpus:
            await corpus.add(LETTER)
            await corpus.build()
        with pytest.raises(StoreError, match=CLOSED):
            await corpus.query("Who wrote?")

    asyncio.run(ask())
