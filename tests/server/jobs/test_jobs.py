"""Jobs: followed from the start to the end, stopped, killed, and gone on with; one at a time for a corpus."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from harbour import TWO_NAMES
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import ServeOptions
from sensegraph.server.jobs.job_process import run_job
from sensegraph.server.jobs.job_request import JobRequest, Kind
from web_client import Event, WebClient, serving, until
from wired import settings, stories

C = "/api/v1/notes"
ADA = b"Ada Finch keeps the lighthouse of Skerry Point. Tom Reeve leads the fishing fleet of Port Ellery."


def follow(client: WebClient, job: dict[str, Any], after: str = "") -> list[Event]:
    headers = {"Last-Event-ID": after} if after else {}
    return client.events("GET", f"{C}/jobs/{job['id']}/events", headers=headers)


def start(client: WebClient, kind: str) -> dict[str, Any]:
    reply = client.post(f"{C}/jobs", {"kind": kind})
    assert reply.status == 202
    assert reply.headers["location"] == f"{C}/jobs/{reply.json['id']}"
    found: dict[str, Any] = reply.json
    return found


@pytest.mark.slow
def test_a_file_is_sent_planned_indexed_asked_about_and_removed(notes: WebClient) -> None:
    assert notes.post(f"{C}/query", {"question": "Who keeps the lighthouse?"}).code == "NotIndexed"
    assert notes.post(f"{C}/plan", {}).status == 400  # nothing to read yet
    notes.ask("PUT", f"{C}/documents/ada.txt", ADA)
    plan = notes.post(f"{C}/plan", {}).json
    assert (plan["added"], plan["estimate"]["documents"], plan["seconds"]) == (["ada.txt"], 1, 0.0)
    rows = notes.get(f"{C}/documents").json
    assert (rows["documents"], rows["found"]) == ([], 0)  # a plan makes no document part of the corpus
    tag = notes.get(f"{C}/documents").headers["etag"]

    events = follow(notes, start(notes, "sync"))
    assert {e.name for e in events[:-1]} == {"progress"}
    ended = events[-1].data
    assert (events[-1].name, ended["state"], ended["error"]) == ("end", "done", None)
    assert (ended["result"]["new"], ended["result"]["documents"]) == (1, 1)
    answer = notes.post(f"{C}/query", {"question": "Who keeps the lighthouse?"}).json
    assert answer["citations"][0]["document"] == "ada.txt"
    again = notes.get(f"{C}/documents", **{"If-None-Match": tag})
    assert (again.status, again.json["documents"][0]["state"]) == (200, "indexed")
    assert again.json["documents"][0]["entities"] > 1
    kept = notes.get(f"{C}/documents", **{"If-None-Match": again.headers["etag"]})
    assert (kept.status, kept.body) == (304, b"")

    look = notes.ask("DELETE", f"{C}/documents/ada.txt?plan=true").json
    assert (look["document"], look["file"], look["entities"]) == (
        "ada.txt",
        True,
        again.json["documents"][0]["entities"],
    )
    gone = follow(notes, notes.ask("DELETE", f"{C}/documents/ada.txt").json)[-1].data
    assert (gone["kind"], gone["documents"], gone["result"]["documents"]) == ("remove", ["ada.txt"], 0)
    assert notes.get(f"{C}/documents/ada.txt/original").status == 404
    assert notes.post(f"{C}/query", {"question": "Who keeps the lighthouse?"}).code == "NotIndexed"
    assert [job["state"] for job in notes.get(f"{C}/jobs").json["jobs"]] == ["done", "done"]
    assert 'sensegraph_jobs_total{state="done"} 2' in notes.get("/metrics").body.decode()


@pytest.mark.slow
def test_a_job_says_why_it_failed(notes: WebClient) -> None:
    ended = follow(notes, start(notes, "build"))[-1].data
    assert (ended["state"], ended["error"]["code"], ended["error"]["next"]) == ("failed", "EmptyCorpus", "change")
    assert notes.get(f"{C}/jobs/{ended['id']}").json == ended


@pytest.mark.slow
def test_who_comes_late_or_again_is_told_what_was_missed(notes: WebClient, folder: Path) -> None:
    (folder / "input" / "ada.txt").write_bytes(ADA)
    job = start(notes, "sync")
    events = follow(notes, job)
    numbers = [int(e.number) for e in events]
    assert numbers == list(range(1, len(events) + 1))
    assert follow(notes, job) == events
    assert follow(notes, job, str(numbers[-2])) == events[-1:]
    assert follow(notes, job, str(numbers[-1])) == []


def test_jobs_and_corpora_that_are_not_there(notes: WebClient) -> None:
    for method, path in (("GET", "jobs/x"), ("GET", "jobs/x/events"), ("DELETE", "jobs/x"), ("DELETE", "documents/x")):
        assert notes.ask(method, f"{C}/{path}").status == 404
    assert notes.post("/api/v1/others/jobs", {"kind": "build"}).status == 404


# ── jobs over a model, which takes its time ──


@contextmanager
def waiting(folder: Path, server: ScriptedServer) -> Iterator[WebClient]:
    """A server over a corpus of stories in `input`, whose model is asked."""
    for d in stories():
        (folder / "input" / f"{d.id}.txt").write_text(d.text)
    (folder / "sensegraph.toml").unlink()
    given = settings(server, endpoint={**settings(server)["endpoint"], "concurrency": 1})
    options = ServeOptions(port=0, settings=given)
    with Corpus.open(folder, settings=given) as opened, serving({"notes": opened}, options) as client:
        yield client


@pytest.mark.slow
def test_a_job_that_is_stopped_keeps_what_it_paid_for(folder: Path, server: ScriptedServer) -> None:
    server.script = replace(server.script, latency_s=0.1)
    with waiting(folder, server) as client:
        job = start(client, "sync")
        until(lambda: len(server.done("extraction")) >= 3)
        assert client.post(f"{C}/jobs", {"kind": "build"}).status == 409
        assert client.ask("DELETE", f"{C}/documents/none").status == 404
        assert client.ask("DELETE", f"{C}/jobs/{job['id']}").status == 202
        ended = follow(client, job)[-1].data
        assert ended["state"] == "stopped"
        server.script = replace(server.script, latency_s=0.0)
        assert follow(client, start(client, "sync"))[-1].data["state"] == "done"
    assert server.stats()["repeated"] <= 1  # what was under way, at most


@pytest.mark.slow
def test_a_job_that_is_killed_says_so_and_the_next_goes_on(folder: Path, server: ScriptedServer) -> None:
    server.script = replace(server.script, latency_s=0.1)
    with waiting(folder, server) as client:
        job = start(client, "sync")
        until(lambda: len(server.done("extraction")) >= 3)
        (child,) = _jobs_of(os.getpid())
        os.kill(child, signal.SIGKILL)
        ended = follow(client, job)[-1].data
        assert (ended["state"], ended["error"]["code"]) == ("failed", "Internal")
        server.script = replace(server.script, latency_s=0.0)
        assert follow(client, start(client, "sync"))[-1].data["state"] == "done"
        assert client.post(f"{C}/query", {"question": "Who paid Ada Harrow?", "method": "naive"}).status == 200
    assert server.stats()["repeated"] <= 8  # of a batch that was not stored yet
    assert _jobs_of(os.getpid()) == []


def _jobs_of(parent: int) -> list[int]:
    return [int(pid) for pid in _children_of(parent) if b"job_process" in _words_of(int(pid))]


def _children_of(parent: int) -> list[str]:
    return [
        place.name
        for place in Path("/proc").iterdir()
        if place.name.isdigit() and (place / "stat").exists() and _parent_of(place) == parent
    ]


def _parent_of(place: Path) -> int:
    try:
        return int((place / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _words_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
def test_a_server_that_has_gone_leaves_no_job_behind(folder: Path, server: ScriptedServer) -> None:
    for d in stories():
        (folder / "input" / f"{d.id}.txt").write_text(d.text)
    (folder / "sensegraph.toml").unlink()
    server.script = replace(server.script, latency_s=0.2)
    request = msgspec.json.encode(JobRequest("sync", str(folder), settings(server)))
    words = [sys.executable, "-m", "sensegraph.server.jobs.job_process"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        child.stdin.write(request + b"\n")
        child.stdin.flush()
        until(lambda: len(server.done("extraction")) >= 2)
        child.stdin.close()
        last = msgspec.json.decode(child.stdout.read().splitlines()[-1])
        assert child.wait(60) == 0
    assert (last["event"], last["state"]) == ("end", "stopped")


def test_every_kind_of_job_ends_with_what_the_command_prints(folder: Path) -> None:
    (folder / "input" / "ada.txt").write_bytes(ADA)
    ends, steps = list[dict[str, Any]](), list[dict[str, Any]]()

    def tell(event: str, data: dict[str, Any]) -> None:
        ends.extend([data] if event == "end" else [])
        steps.extend([data] if event == "progress" else [])

    for kind in ("sync", "build", "collect"):
        run_job(JobRequest(kind, str(folder)), tell)  # type: ignore[arg-type]
    run_job(JobRequest("remove", str(folder), {}, ("none.txt",)), tell)
    run_job(JobRequest("remove", str(folder), {}, ("ada.txt",)), tell)
    assert [end["state"] for end in ends] == ["done", "done", "done", "failed", "done"]
    assert {"chunks.chunk", "reports.report"} <= {s["step"] for s in steps if s["done"] == s["total"]}
    assert ends[0]["result"]["new"] == 1
    assert ends[1]["result"]["computed"] == {}
    assert "bytes_after" in ends[2]["result"]
    assert ends[3]["error"]["code"] == "InputError"
    assert not (folder / "input" / "ada.txt").exists()


def test_what_is_one_thing_is_found_and_decided_as_by_the_commands(folder: Path) -> None:
    (folder / "sensegraph.toml").write_text('engine = "offline"\n[index.resolve]\nautomatic = false\n')
    (folder / "input" / "space.txt").write_text(TWO_NAMES)
    with Corpus.open(folder) as corpus:
        corpus.sync(folder / "input")
        corpus.build()
    printed = CliRunner().invoke(app, ["entities", "duplicates", "--no-ask", "--json", "--root", str(folder)])
    ends = list[dict[str, Any]]()

    def do(kind: Kind, *names: str) -> dict[str, Any]:
        run_job(JobRequest(kind, str(folder), names=names), lambda event, data: ends.append(data))
        assert ends[-1]["state"] == "done"
        found: dict[str, Any] = ends[-1]["result"]
        return found

    assert {"schema": 1, **do("resolve")} == json.loads(printed.stdout)
    first, second = (p["ids"] for p in ends[-1]["result"]["proposals"] if p["decision"] == "merge")
    assert [o["kind"] for o in do("merge", *first)["operations"]] == ["merge"]
    assert [o["kind"] for o in do("forbid", *second)["operations"]] == ["forbid"]
    assert [p for p in do("resolve")["proposals"] if p["decision"] != "keep"] == []


@pytest.mark.parametrize(
    "body", [{"kind": "merge"}, {"kind": "forbid", "names": ["a"]}, {"kind": "sync", "names": ["a", "b"]}]
)
def test_only_decisions_take_names_and_they_take_two(notes: WebClient, body: dict[str, Any]) -> None:
    reply = notes.post(f"{C}/jobs", body)
    assert (reply.status, reply.code) == (400, "InputError")
