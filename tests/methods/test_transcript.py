"""Methods find over a small corpus what they found: tests/cli_transcript.py says how to write it again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli_transcript import METHOD_GROUPS, METHODS, make_corpus, read_groups, run_group

PINNED = read_groups("method")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("built").resolve()
    make_corpus(root)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(METHOD_GROUPS)), ids=lambda n: list(METHODS)[n])
def test_a_method_finds_what_it_found(number: int, built: Path, tmp_path: Path) -> None:
    assert len(PINNED) == len(METHOD_GROUPS)
    shutil.copytree(built, tmp_path / "root")
    assert run_group(METHOD_GROUPS[number], (tmp_path / "root").resolve()) == PINNED[number]
