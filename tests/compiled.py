"""Compiles the package and the tests once, so that processes that start together do not each compile all of them.

pytest rewrites the assertions of files named like tests, and keeps what it compiled of them under a name of its own.
"""

from __future__ import annotations

import compileall
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from _pytest.assertion import rewrite

ROOT = Path(__file__).resolve().parents[1]
REWRITTEN = ("test_*.py", "conftest.py")


def find_kept(source: Path) -> Path:
    """Where pytest keeps what it compiled of a file of tests."""
    return rewrite.get_cache_dir(source) / (source.stem + rewrite.PYC_TAIL)


def compile_tests(folder: Path) -> int:
    """How many files of tests below a folder were compiled; those that did not change are not."""
    count, state, no_config = 0, SimpleNamespace(trace=lambda said: None), None
    functions: Any = rewrite
    for source in sorted(found for pattern in REWRITTEN for found in folder.rglob(pattern)):
        kept = find_kept(source)
        if functions._read_pyc(source, kept) is None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            stamp, code = functions._rewrite_test(source, no_config)
            count += functions._write_pyc(state, code, stamp, kept)
    return count


if __name__ == "__main__":
    for each in ("src", "tests", "bench", "docs"):
        compileall.compile_dir(ROOT / each, quiet=1)
        compile_tests(ROOT / each)
