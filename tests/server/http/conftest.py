"""A server over the corpus of the tests of serving."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from web_client import WebClient, serving


@pytest.fixture(scope="module")
def corpus(root: Path) -> Iterator[Corpus]:
    with Corpus.open(root) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(corpus: Corpus) -> Iterator[WebClient]:
    with serving({"harbour": corpus}) as opened:
        yield opened
