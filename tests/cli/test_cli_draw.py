"""`sensegraph graph draw`, as its users meet it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus

Run = Callable[..., Result]


@pytest.fixture
def run(built: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["graph", "draw", "--root", str(built.root), *map(str, words)])


def test_draw_writes_depths_0_and_1_as_svg_and_prints_their_names_g53(run: Run, built: Corpus):
    result = run()
    assert result.exit_code == 0, result.stderr
    files = result.stdout.split()
    assert files == ["communities-depth-0.svg", "communities-depth-1.svg"]
    entities = built.index().manifest.counts["entities"]
    for depth, name in enumerate(files):
        text = Path(name).read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert f"{entities} entities" in text
        assert f"at depth {depth}" in text
    assert built.index().clusters_at(0)[0].title in Path(files[0]).read_text(encoding="utf-8").replace("&amp;", "&")


def test_one_depth_goes_to_the_very_file_that_was_named(run: Run):
    assert run("--depth", 1, "--out", "one.svg").stdout == "one.svg\n"
    assert "communities at depth 1" in Path("one.svg").read_text(encoding="utf-8")


def test_the_first_depth_that_is_not_there_is_an_error_that_names_those_that_are(run: Run, built: Corpus):
    depths = built.index().depth
    result = run("--depth", depths)
    assert result.exit_code == 1
    assert f"Depth {depths} not found: this index has depths 0 to {depths - 1}." in " ".join(result.stderr.split())


def test_a_depth_looks_the_same_alone_and_beside_another(run: Run):
    run("--out", "both.svg")
    run("--depth", 0, "--out", "alone.svg")
    assert Path("alone.svg").read_bytes() == Path("both-depth-0.svg").read_bytes()


def test_the_ending_of_the_file_says_the_format(run: Run):
    assert run("--out", "page.html", "--title", "My <notes>").stdout == "page.html\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>My &lt;notes&gt;</title>" in page


def test_a_png_is_written(run: Run):
    pytest.importorskip("PIL")
    result = run("--format", "png", "--depth", 0)
    assert result.stdout == "communities.png\n"
    assert Path("communities.png").read_bytes().startswith(b"\x89PNG")


def test_letters_that_the_font_lacks_are_said(run: Run):
    pytest.importorskip("PIL")
    result = run("--out", "sign.png", "--depth", 0, "--title", "sign \U0001f9ff")
    assert result.exit_code == 0
    assert "1 character is not in the font (\U0001f9ff)" in result.stderr


def test_a_format_that_nobody_knows_is_refused_with_the_nearest(run: Run):
    result = run("--format", "sgv")
    assert result.exit_code == 2
    assert "Did you mean svg?" in result.stderr


def test_a_file_that_does_not_end_as_the_format_says_is_refused(run: Run):
    result = run("--format", "png", "--out", "a.svg")
    assert result.exit_code == 2
    assert "does not end in .png" in result.stderr


def test_a_depth_that_the_index_does_not_have_is_refused(run: Run, built: Corpus):
    result = run("--depth", 99)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"this index has depths 0 to {built.index().depth - 1}" in result.stderr


def test_a_folder_that_does_not_exist_is_refused_by_name(run: Run):
    result = run("--out", "none/such.svg")
    assert result.exit_code == 1
    assert "none/such" in result.stderr


def test_nothing_is_drawn_without_an_index(tmp_path: Path, run: Run):
    result = CliRunner().invoke(app, ["graph", "draw", "--root", str(tmp_path / "empty")])
    assert result.exit_code == 1
    assert "There is no index" in result.stderr
