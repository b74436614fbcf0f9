"""A corpus with the parts that papers bring, built over the scripted server, which keeps every request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripted import Call, Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from wired import corpus, stories

PARTS = {
    "parts": ["graph", "reports", "layers", "aggregates", "facts", "sentences"],
    "layers": {"cluster_size": 4},
    "aggregates": {"cluster_size": 3, "threshold": 2, "min_clusters": 2},
}


@pytest.fixture(scope="session")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(keep_bodies=True)) as started:
        yield started


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Iterator[tuple[Corpus, list[Call]]]:
    with corpus(tmp_path_factory.mktemp("references"), server, index=PARTS) as opened:
        opened.add(stories(6))
        opened.build()
        yield opened, list(server.done())


@pytest.fixture(scope="session")
def built(made: tuple[Corpus, list[Call]]) -> Corpus:
    return made[0]


@pytest.fixture(scope="session")
def calls(made: tuple[Corpus, list[Call]]) -> list[Call]:
    """The requests of the build, and none of a test."""
    return made[1]
