"""A server over the corpus of the tests of serving."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import Limits, ServeOptions
from web_client import WebClient, serving


@pytest.fixture(scope="module")
def corpus(root: Path) -> Iterator[Corpus]:
    with Corpus.open(root) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(corpus: Corpus) -> Iterator[WebClient]:
    # as fast as new examples are drawn: the usual hundred a second are a test of their own
    with serving({"harbour": corpus}, ServeOptions(port=0, limits=Limits(requests=0))) as opened:
        yield opened
