"""Tests are compiled once, as pytest would compile them."""

from __future__ import annotations

from pathlib import Path

from _pytest.assertion import rewrite

from compiled import compile_tests, find_kept


def test_a_file_of_tests_is_compiled_where_it_changed_with_its_assertions_rewritten(tmp_path: Path) -> None:
    source = tmp_path / "test_one.py"
    (tmp_path / "helper.py").write_text("assert 1 + 1 == 2\n")
    for text in ("assert 1 + 1 == 2\n", "assert 2 + 2 == 4\n"):
        source.write_text(text)
        assert (compile_tests(tmp_path), compile_tests(tmp_path)) == (1, 0)
        code = rewrite._read_pyc(source, find_kept(source))
        assert code is not None
        assert "@pytest_ar" in code.co_names
    assert [p.name for p in find_kept(source).parent.iterdir()] == [find_kept(source).name]
