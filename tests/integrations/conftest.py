"""The demo corpus, indexed once, for all frameworks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files

import pytest

from sensegraph.corpus.corpus import Corpus

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read when Haystack is imported: no test speaks to a network


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """The bundled documents of the demo, read by the offline engine."""
    with Corpus.open(tmp_path_factory.mktemp("demo"), settings={"engine": "offline"}) as corpus:
        corpus.add(str(files("sensegraph") / "data" / "demo"))
        corpus.build()
        yield corpus
