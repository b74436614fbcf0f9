"""The files of the page: packed where that is wanted and shorter, known by their content, and none from elsewhere."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.server.http.failures import Refused
from sensegraph.server.http.pages import Page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("a secret")
    place = tmp_path / "page"
    place.mkdir()
    (place / "index.html").write_text("<p>all</p>" * 100)
    (place / "short.txt").write_text("a")
    (place / "tool.exe").write_text("a" * 100)
    (place / "inside.css").mkdir()
    return place


def ask(page: Page, name: str, **headers: str) -> Any:
    return page._answer(SimpleNamespace(headers={k.replace("_", "-"): v for k, v in headers.items()}), name)  # type: ignore[arg-type]


def test_a_file_is_packed_for_who_takes_it_so_and_only_where_that_is_shorter(folder: Path) -> None:
    page, raw = Page(folder), (folder / "index.html").read_bytes()
    plain, packed = ask(page, "index.html"), ask(page, "index.html", accept_encoding="br, gzip")
    assert (plain.body, packed.status_code) == (raw, 200)
    assert gzip.decompress(packed.body) == raw
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    for reply in (plain, packed):
        assert reply.headers["cache-control"] == "no-cache"
        assert reply.headers["vary"] == "Accept-Encoding"
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
    short = ask(page, "short.txt", accept_encoding="gzip")
    assert (short.body, "content-encoding" in short.headers) == (b"a", False)


def test_a_file_that_a_browser_has_is_not_sent_again_until_it_changes(folder: Path) -> None:
    page = Page(folder)
    tag = ask(page, "short.txt").headers["etag"]
    again = ask(page, "short.txt", if_none_match=tag)
    assert (again.status_code, again.body, again.headers["etag"]) == (304, b"", tag)
    assert ask(page, "short.txt", if_none_match='"other"').status_code == 200
    before = (folder / "short.txt").stat().st_mtime_ns
    (folder / "short.txt").write_text("b")
    os.utime(folder / "short.txt", ns=(before + 10**9, before + 10**9))
    changed = ask(page, "short.txt", if_none_match=tag)
    assert (changed.status_code, changed.body) == (200, b"b")
    os.utime(folder / "short.txt", ns=(before, before))
    (folder / "index.html").unlink()
    with pytest.raises(Refused):
        ask(page, "index.html")


@pytest.mark.parametrize("name", ["none.txt", "tool.exe", "../secret.txt", "inside.css", "short.txt\0", ""])
def test_nothing_else_is_a_file_of_the_page(folder: Path, name: str) -> None:
    with pytest.raises(Refused, match="The page has no file") as refused:
        ask(Page(folder), name)
    assert refused.value.status_code == 404
