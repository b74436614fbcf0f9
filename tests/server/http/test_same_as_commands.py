"""Every route gives the object that the command line prints with --json for the same question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from web_client import WebClient, serving

KEEPER = "Who keeps the lighthouse of Skerry Point?"
C = "/api/v1/harbour"
FINCH = f"{C}/entities/{quote('Ada Finch')}"

# a route and its body, and the words of the command
SAME: list[tuple[str, dict[str, Any] | None, list[str]]] = [
    (f"{C}/status", None, ["status"]),
    (f"{C}/status?documents=true", None, ["status", "--documents"]),
    (f"{C}/reports", None, ["show", "reports"]),
    (f"{C}/reports?depth=9", None, ["show", "reports", "--depth", "9"]),
    (f"{C}/reports/REPORT", None, ["show", "reports", "REPORT"]),
    (FINCH, None, ["show", "entity", "Ada Finch"]),
    (f"{FINCH}?type=person", None, ["show", "entity", "Ada Finch", "--type", "person"]),
    (f"{FINCH}/timeline", None, ["show", "timeline", "Ada Finch"]),
    (
        f"{FINCH}/timeline?since=2020&until=2023",
        None,
        ["show", "timeline", "Ada Finch", "--since", "2020", "--until", "2023"],
    ),
    (f"{C}/changes?from=2019&to=2023", None, ["show", "changes", "2019", "2023"]),
    ("/api/v1/methods", None, ["show", "methods"]),
    (f"{C}/query", {"question": KEEPER}, ["query", KEEPER]),
    (f"{C}/query", {"question": KEEPER, "method": "naive"}, ["query", KEEPER, "--method", "naive"]),
    (f"{C}/query", {"question": "What are the themes?", "depth": 0}, ["query", "What are the themes?", "--depth", "0"]),
    (f"{C}/query", {"question": KEEPER, "budget": 500}, ["query", KEEPER, "--budget", "500"]),
    (f"{C}/query", {"question": KEEPER, "check": True}, ["query", KEEPER, "--check"]),
    (
        f"{C}/query",
        {"question": KEEPER, "scope": {"documents": ["minutes-*"], "as_of": "2022"}},
        ["query", KEEPER, "--document", "minutes-*", "--as-of", "2022"],
    ),
    (
        f"{C}/query",
        {"question": "pier", "scope": {"where": [{"field": "year", "operator": ">=", "value": 2022}]}},
        ["query", "pier", "--where", "year>=2022"],
    ),
    (
        f"{C}/query",
        {"question": "pier", "scope": {"during": "2019/2021", "unknown": "exclude"}},
        ["query", "pier", "--during", "2019/2021", "--unknown", "exclude"],
    ),
    (f"{C}/search", {"question": "pier"}, ["search", "pier"]),
    (
        f"{C}/search",
        {"question": "pier", "top": 2, "scope": {"since": "2022", "until": "2024-12-31"}},
        ["search", "pier", "--limit", "2", "--since", "2022", "--until", "2024-12-31"],
    ),
    (f"{C}/match", {"pattern": "(a)-[r]-(b)", "limit": 5}, ["graph", "query", "(a)-[r]-(b)", "--limit", "5"]),
    (
        f"{C}/match",
        {"pattern": "(a)-[r]-(b)", "limit": 4, "skip": 1, "cite": True},
        ["graph", "query", "(a)-[r]-(b)", "--limit", "4", "--skip", "1", "--cite"],
    ),
    (
        f"{C}/match",
        {"pattern": "(a)", "where": "a.degree > $n", "returns": "a.name", "order": "a.name", "parameters": {"n": 3}},
        [
            "graph",
            "query",
            "(a)",
            "--where",
            "a.degree > $n",
            "--return",
            "a.name",
            "--order",
            "a.name",
            "--param",
            "n=3",
        ],
    ),
]


def named(row: tuple[str, dict[str, Any] | None, list[str]]) -> str:
    return " ".join(row[2][:4])


@pytest.mark.parametrize("row", SAME, ids=named)
def test_a_route_gives_what_the_command_line_prints(
    client: WebClient, corpus: Corpus, root: Path, row: tuple[str, dict[str, Any] | None, list[str]]
) -> None:
    report = corpus.reports()[0].id
    path, body, words = row
    path, words = path.replace("REPORT", report), [report if w == "REPORT" else w for w in words]
    answer = client.get(path) if body is None else client.post(path, body)
    at = [] if words == ["show", "methods"] else ["--root", str(root)]
    printed = CliRunner().invoke(app, [*words, "--json", *at])
    assert printed.exit_code == 0, printed.output
    found, wanted = answer.json, json.loads(printed.stdout)
    assert answer.status == 200
    if words != ["show", "methods"]:
        assert found.pop("index") == corpus.workspace.index_key()
    for told in (found, wanted):
        if isinstance(told, dict):
            told.get("usage", {}).pop("seconds", None)
            told.get("checks", {}).get("usage", {}).pop("seconds", None)
    assert wanted
    assert found == wanted


def test_the_plan_is_the_one_of_the_command_line(tmp_path: Path) -> None:

    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "pier.txt").write_text("Ada Finch asked Tom Reeve to build a pier in Port Ellery.")
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n')
    with Corpus.open(tmp_path) as opened, serving({"c": opened}) as client:
        found = client.post("/api/v1/c/plan", {}).json
    printed = CliRunner().invoke(app, ["index", "--sync", "--dry-run", "--json", "--root", str(tmp_path)])
    wanted = json.loads(printed.stdout)
    assert found.pop("index") == ""
    assert wanted["added"] == ["pier.txt"]
    assert found == wanted


def test_every_route_that_a_command_answers_too_is_compared(client: WebClient) -> None:
    compared = {(path.partition("?")[0].replace("harbour", "{corpus}"), body is not None) for path, body, _ in SAME}
    compared = {(path.replace(quote("Ada Finch"), "{entity}").replace("REPORT", "{report}"), b) for path, b in compared}
    kinds = ("documents", "entities", "map", "map/{community}", "map/places", "documents/{document}")
    own = {f"/api/v1/{{corpus}}/{kind}" for kind in kinds} | {"/api/v1/corpora", "/api/v1/session"}
    own |= {"/api/v1/openapi.json", "/api/v1/{corpus}/plan"}
    paths = client.get("/api/v1/openapi.json").json["paths"]
    read = {
        (path, method == "post")
        for path, asked in paths.items()
        for method, told in asked.items()
        if path.startswith("/api/") and told["security"] in ([], [{"token": ["read"]}]) and "jobs" not in path
    }
    assert len(compared) >= 10
    left = {path for path, _ in read - compared} - own
    assert left == set()
