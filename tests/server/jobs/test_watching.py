"""A folder that is followed: what changes in it becomes a job, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.sources import Pace
from sensegraph.server.http.access import ServeOptions
from web_client import WebClient, serving, until

C = "/api/v1/notes"
PACE = Pace(every=0.05, settle=0.05, again=0.05)


@contextmanager
def watching(folder: Path) -> Iterator[WebClient]:
    with Corpus.open(folder) as opened, serving({"notes": opened}, ServeOptions(port=0, watch=PACE)) as client:
        yield client


def ended(client: WebClient, count: int) -> list[dict[str, Any]]:
    """So many jobs, once all have ended; newest first."""

    def look() -> list[dict[str, Any]]:
        jobs: list[dict[str, Any]] = client.get(f"{C}/jobs").json["jobs"]
        return jobs if len(jobs) == count and all(job["state"] != "running" for job in jobs) else []

    found: list[dict[str, Any]] = until(look)
    return found


@pytest.mark.slow
def test_what_changes_in_the_folder_is_indexed_by_a_job(folder: Path) -> None:
    (folder / "input" / "ada.txt").write_text("Ada Finch keeps the lighthouse of Skerry Point.")
    with watching(folder) as client:
        assert [(j["kind"], j["state"], j["result"]["new"]) for j in ended(client, 1)] == [("sync", "done", 1)]
        (folder / "input" / "tom.txt").write_text("Tom Reeve leads the fishing fleet of Port Ellery.")
        assert [(j["state"], j["result"]["new"]) for j in ended(client, 2)] == [("done", 1), ("done", 1)]
        found = client.post(f"{C}/query", {"question": "Who leads the fishing fleet?"}).json
        assert found["citations"][0]["document"] == "tom.txt"


def test_an_empty_folder_of_an_empty_corpus_starts_no_job(folder: Path) -> None:
    with watching(folder) as client:
        until(lambda: client.get(f"{C}/documents").status == 200)
        assert client.get(f"{C}/jobs").json == {"jobs": []}


def test_a_server_that_is_not_told_to_follows_no_folder(folder: Path) -> None:
    (folder / "input" / "ada.txt").write_text("Ada Finch keeps the lighthouse of Skerry Point.")
    with Corpus.open(folder) as opened, serving({"notes": opened}) as client:
        assert client.get(f"{C}/jobs").json == {"jobs": []}
