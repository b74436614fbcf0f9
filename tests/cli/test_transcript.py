"""Commands print over a small corpus what they printed: tests/cli_transcript.py says how to write it again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli_transcript import GROUPS, make_corpus, read_groups, run_group

PINNED = read_groups("cli")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("built").resolve()
    make_corpus(root)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(GROUPS)), ids=lambda n: GROUPS[n].split()[0])
def test_commands_print_what_they_printed(number: int, built: Path, tmp_path: Path) -> None:
    assert len(PINNED) == len(GROUPS)
    shutil.copytree(built, tmp_path / "root")
    assert run_group(GROUPS[number], (tmp_path / "root").resolve()) == PINNED[number]
