"""A small corpus that tests change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from web_client import WebClient, serving


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    (place / "input").mkdir(parents=True)
    (place / "sensegraph.toml").write_text('engine = "offline"\n')
    return place


@pytest.fixture
def notes(folder: Path) -> Iterator[WebClient]:
    with Corpus.open(folder) as opened, serving({"notes": opened}) as client:
        yield client
