"""Corpora with imported indexes, for tests that only read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import little_tables
from sensegraph.corpus.corpus import Corpus
from sensegraph.graphs.interchange.importing import Imported, import_tables
from sensegraph.graphs.interchange.table_files import read_tables
from unpacking import unpacked

ARCHIVE = Path(__file__).resolve().parents[2] / "data" / "carol-reference-index.tar.xz"


def imported(root: Path, folder: Path) -> tuple[Corpus, Imported]:
    """A corpus at `root` with the tables in `folder` imported."""
    corpus = Corpus.open(root)
    return corpus, import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)


@pytest.fixture(scope="session")
def carol_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of *A Christmas Carol* that the reference implementation made."""
    return unpacked(ARCHIVE, tmp_path_factory.mktemp("carol-tables"))


@pytest.fixture(scope="session")
def carol(tmp_path_factory: pytest.TempPathFactory, carol_tables: Path) -> Iterator[tuple[Corpus, Imported]]:
    """A corpus into which it was imported."""
    corpus, done = imported(tmp_path_factory.mktemp("carol"), carol_tables)
    yield corpus, done
    corpus.close()


@pytest.fixture(scope="session")
def little(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Corpus, Imported]]:
    """A corpus into which the small tables were imported."""
    folder = little_tables.write(little_tables.tables(), tmp_path_factory.mktemp("little-tables"))
    corpus, done = imported(tmp_path_factory.mktemp("little"), folder)
    yield corpus, done
    corpus.close()
