"""The tools of a corpus as programs call them, one by one: what a page of a result holds."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.corpus import views
from sensegraph.server.tools import ReportArguments, read_report


def test_what_is_told_of_a_report_stands_on_its_first_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"id": "r", "summary": "All of it.", "findings": [{"summary": "One."}], "citations": [{"marker": 1}]}
    lists = {name: [] for name in ("entities", "relations", "claims", "chunks")}
    whole = {**told, "children": [{"id": str(n)} for n in range(5)], **lists}
    monkeypatch.setattr(views, "view_report", lambda page: whole)
    corpus: Any = type("One", (), {"report": lambda self, name: name})()
    pages, cursor = list[Any](), ""
    while not pages or cursor:
        pages.append(read_report(corpus, ReportArguments(id="r", limit=2, cursor=cursor)))
        cursor = pages[-1].get("next", "")
    assert [[row["id"] for row in page["children"]] for page in pages] == [["0", "1"], ["2", "3"], ["4"]]
    assert {name: pages[0][name] for name in told} == told
    for page in pages[1:]:
        assert (page["id"], page["summary"], page["findings"], page["citations"]) == ("r", "", [], [])
