"""The corpus that the tests of serving ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbour import papers
from sensegraph.corpus.corpus import Corpus


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "sensegraph.toml").write_text('engine = "offline"\n')
    with Corpus.open(folder) as corpus:
        corpus.add(papers())
        corpus.build()
    return folder
