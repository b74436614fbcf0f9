"""Files of `input` are known by where they were read from: a corpus of a folder above is followed under its names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.server.inputs import find_base, find_file
from sensegraph.server.jobs.job_process import drop_files
from sensegraph.server.writing import AddArguments, RemoveArguments, add_document, follow_input, remove_document
from web_client import WebClient, serving

C = "/api/v1/notes"
ROWS = '{"id": "row", "text": "Ida Holt counts the oil."}\n{"text": "Otto Brandt sails."}\n'


@pytest.fixture
def above(folder: Path) -> Iterator[Path]:
    """A corpus that was read from its own folder, with a file beside `input`."""
    (folder / "input" / "a.txt").write_text("Ada Finch keeps the lighthouse of Skerry Point.")
    (folder / "input" / "rows.jsonl").write_text(ROWS)
    (folder / "beside.txt").write_text("Tom Reeve leads the fleet of Port Ellery.")
    index(folder, ".")
    return folder


def index(folder: Path, place: str, *words: str) -> None:
    done = CliRunner().invoke(app, ["index", str(folder / place), "--root", str(folder), *words])
    assert done.exit_code == 0, done.output


def test_the_library_finds_nothing_new_in_what_was_read_from_above(above: Path) -> None:
    with Corpus.open(above) as corpus, serving({"notes": corpus}) as client:
        before = set(corpus.document_keys())
        assert {"input/a.txt", "beside.txt", "row"} < before
        plan = client.post(f"{C}/plan", {}).json
        assert [plan[part] for part in ("added", "edited", "renamed", "removed", "withheld")] == [[]] * 5
        assert set(plan["same"]) == before - {"beside.txt"}
        assert client.get(f"{C}/documents/input%2Fa.txt").json["original"]
        assert not client.get(f"{C}/documents/beside.txt").json["original"]
        assert client.get(f"{C}/documents/input%2Fa.txt/original").body.startswith(b"Ada Finch")
        assert client.ask("DELETE", f"{C}/documents/input%2Fa.txt?plan=true").json["file"]


def test_what_is_sent_edited_and_taken_away_goes_by_the_names_from_above(above: Path) -> None:
    with Corpus.open(above) as corpus, serving({"notes": corpus}) as client:
        send(client, "new.txt", "Nora Blythe runs the Blythe Shipyard.")
        send(client, "a.txt", "Ada Finch keeps the lamp.")
        (above / "input" / "rows.jsonl").write_text(ROWS.split("\n")[0])
        plan = client.post(f"{C}/plan", {}).json
        assert (plan["added"], plan["edited"]) == (["input/new.txt"], ["input/a.txt"])
        assert [name.partition("#")[0] for name in plan["removed"]] == ["input/rows.jsonl"]
        follow_input(corpus)
        now = corpus.document_keys()
        assert set(now) == {"beside.txt", "input/a.txt", "input/new.txt", "row"}
    index(above, ".", "--sync")
    with Corpus.open(above) as corpus:
        assert corpus.document_keys() == now
        drop_files(corpus, ["input/new.txt"])
        assert not (above / "input" / "new.txt").exists()


def test_the_tools_name_a_document_as_the_library_does(above: Path) -> None:
    with Corpus.open(above) as corpus:
        add_document(corpus, AddArguments(name="note.txt", text="Greta Moll mended the lamp."))
        assert "input/note.txt" in corpus.document_keys()
        assert corpus.mirror.plan(above).added == ()
        told = remove_document(corpus, RemoveArguments(document="input/note.txt"))
        assert "the file input/note.txt stays: sync reads it again" in told["notes"]


def test_a_document_that_cannot_be_read_leaves_the_file_as_it_was_and_makes_none(above: Path) -> None:
    place, fresh = above / "input" / "a.txt", above / "input" / "b.txt"
    before = place.read_bytes()
    with Corpus.open(above) as corpus:
        for name in ("a.txt", "b.txt"):
            with pytest.raises(InputError, match=f"{name} cannot be used"):
                add_document(corpus, AddArguments(name=name, text="\0\1\2" * 20))
    assert place.read_bytes() == before
    assert not fresh.exists()


@pytest.mark.parametrize("place", ["input", "input/a.txt", "."])
@pytest.mark.parametrize("mask", [False, True])
def test_a_document_leads_to_the_file_that_it_was_read_from(folder: Path, place: str, mask: bool) -> None:
    settings = '[personal]\nmask = "mask"\nkinds = ["email"]\n' if mask else ""
    (folder / "sensegraph.toml").write_text(f'engine = "offline"\n{settings}')
    (folder / "input" / "a.txt").write_text("Ada Finch keeps the lighthouse of Skerry Point.")
    index(folder, place)
    with Corpus.open(folder) as corpus:
        (name,) = corpus.document_keys()
        assert name == ("input/a.txt" if place == "." else "a.txt")
        assert find_file(corpus, name) == (folder / "input" / "a.txt").resolve()
        assert find_base(corpus) == (folder if place == "." else folder / "input").resolve()


def test_a_document_from_elsewhere_is_no_file_of_input_though_one_has_its_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for place in (tmp_path / "other", folder / "input"):
        (place / "a.txt").write_text(f"Ada Finch wrote a letter from {place.name}.")
    index(folder, str(tmp_path / "other"))
    with Corpus.open(folder) as corpus:
        assert find_file(corpus, "a.txt") is None
        (folder / "input" / "b.txt").write_text("Tom Reeve leads the fleet.")
        corpus.add(folder / "input" / "b.txt")
        drop_files(corpus, ["a.txt"])
        assert (folder / "input" / "a.txt").exists()
        assert find_file(corpus, "b.txt") == (folder / "input" / "b.txt").resolve()


def send(client: WebClient, name: str, text: str) -> None:
    assert client.ask("PUT", f"{C}/documents/{name}", text.encode()).status in (200, 201)
