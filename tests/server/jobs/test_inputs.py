"""Files of `input` are known by where they were read from: a corpus of a folder above is followed under its names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import ORIGIN
from sensegraph.errors import InputError
from sensegraph.server.http.access import ServeOptions
from sensegraph.server.http.corpora import ServedCorpus
from sensegraph.server.inputs import find_base, find_file, find_origin, list_origins
from sensegraph.server.jobs.job_process import drop_files
from sensegraph.server.writing import AddArguments, RemoveArguments, add_document, follow_input, remove_document
from sensegraph.types import Document
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
        assert not client.ask("DELETE", f"{C}/documents/beside.txt?plan=true").json["file"]
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


# ── documents that were read from elsewhere ──


@pytest.fixture
def papers(tmp_path: Path) -> Iterator[tuple[Path, Corpus]]:
    """A folder of papers, and a corpus in another folder that was read from it."""
    folder, root = tmp_path / "papers", tmp_path / "lib"
    (folder / "sub").mkdir(parents=True)
    (root / "input").mkdir(parents=True)
    (folder / "a.txt").write_text("Ada Finch keeps the lighthouse of Skerry Point.")
    (folder / "sub" / "b.txt").write_text("Tom Reeve leads the fleet of Port Ellery.")
    done = CliRunner().invoke(app, ["index", str(folder), "--root", str(root)])
    assert done.exit_code == 0, done.output
    with Corpus.open(root) as corpus:
        yield folder, corpus


def test_the_file_that_a_document_was_read_from_is_given_while_it_gives_the_same_text(
    papers: tuple[Path, Corpus],
) -> None:
    folder, corpus = papers
    with serving({"notes": corpus}) as client:
        assert client.get(f"{C}/documents/a.txt").json["original"]
        assert client.get(f"{C}/documents/a.txt/original").body.startswith(b"Ada Finch")
        assert client.get(f"{C}/documents/sub%2Fb.txt/original").body.startswith(b"Tom Reeve")
        (folder / "a.txt").write_text("Ada Finch has left.")
        (folder / "sub" / "b.txt").unlink()
        for name in ("a.txt", "sub%2Fb.txt"):
            refused = client.get(f"{C}/documents/{name}/original")
            assert (refused.status, "gone or changed" in refused.json["error"]["message"]) == (404, True)


def test_files_from_elsewhere_are_given_on_this_machine_alone_and_never_through_a_link_or_where_masked(
    papers: tuple[Path, Corpus], tmp_path: Path
) -> None:
    folder, corpus = papers
    with serving({"notes": corpus}, ServeOptions(port=0, hosts=("notes.example",))) as client:
        assert not client.get(f"{C}/documents/a.txt").json["original"]
        refused = client.get(f"{C}/documents/a.txt/original")
        assert (refused.status, str(folder) in refused.json["error"]["message"]) == (404, False)
    (tmp_path / "a.txt").write_bytes((folder / "a.txt").read_bytes())
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(tmp_path / "a.txt")
    with serving({"notes": corpus}) as client:
        assert client.get(f"{C}/documents/a.txt/original").status == 404
    with Corpus.open(corpus.root, settings={"personal": {"mask": "mask"}}) as masked:
        assert ServedCorpus("notes", masked).origin("sub/b.txt") is None
        assert not ServedCorpus("notes", masked).may_lie_elsewhere("sub/b.txt")


def test_a_corpus_that_says_it_came_from_any_file_leads_to_no_text_that_it_does_not_hold(
    papers: tuple[Path, Corpus], tmp_path: Path
) -> None:
    _, corpus = papers
    (tmp_path / "secret.txt").write_text("the key is 4711")
    corpus.add(Document("secret.txt", "What a stranger wrote."), Document("../secret.txt", "What a stranger wrote."))
    corpus.mirror.record_origin([tmp_path], ["secret.txt", "../secret.txt"])
    assert find_origin(corpus, "secret.txt") is None
    corpus.mirror.record_origin([tmp_path / "papers"], ["../secret.txt"])
    assert list_origins(corpus, "../secret.txt") == []


def test_a_corpus_read_from_elsewhere_says_how_it_is_compared_with_its_files(papers: tuple[Path, Corpus]) -> None:
    folder, corpus = papers
    with serving({"notes": corpus}) as client:
        refused = client.post(f"{C}/plan", {})
        command = f"sensegraph index {folder} --root {corpus.root} --sync --dry-run"
        assert (refused.status, command in refused.json["error"]["message"]) == (400, True)
    with serving({"notes": corpus}, ServeOptions(port=0, hosts=("notes.example",))) as client:
        assert str(folder) not in client.post(f"{C}/plan", {}).json["error"]["message"]
    with pytest.raises(InputError, match="read from elsewhere"):
        follow_input(corpus)
    (corpus.root / "input" / "c.txt").write_text("Nora Blythe runs the Blythe Shipyard.")
    assert follow_input(corpus)["new"] == 1
    assert len(corpus.document_keys()) == 3


def test_removing_a_document_says_that_its_file_brings_it_back(papers: tuple[Path, Corpus]) -> None:
    folder, corpus = papers
    assert "the file stays where it was read from" in str(drop_files(corpus, ["a.txt"])["notes"])
    done = CliRunner().invoke(app, ["documents", "remove", "sub/b.txt", "--root", str(corpus.root)])
    assert f"`sensegraph index {folder}` reads them again" in done.stderr
    index(corpus.root, "../papers", "--sync")
    assert set(corpus.document_keys()) == {"a.txt", "sub/b.txt"}


@pytest.mark.parametrize(
    ("came", "base"),
    [
        ({}, "notes/input"),
        ({"a.txt": "notes/input"}, "notes/input"),
        ({"input/a.txt": "notes"}, "notes"),
        ({"notes/input/a.txt": "."}, "."),
        ({"a.txt": "notes/input", "input/a.txt": "notes"}, "notes/input"),  # the nearest
        ({"input/a.txt": "notes", "notes/input/a.txt": "."}, "notes"),
        ({"other.txt": "notes", "elsewhere/b.txt": "."}, "notes/input"),  # none of them was in input
        ({"a.txt": "elsewhere"}, "notes/input"),
    ],
)
def test_names_are_relative_to_input_or_to_the_next_folder_above_that_files_of_it_were_read_from(
    tmp_path: Path, came: dict[str, str], base: str
) -> None:
    for folder in ("notes/input", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    with Corpus.open(tmp_path / "notes", settings={"engine": "offline"}) as corpus:
        places = {ORIGIN + name: str((tmp_path / folder).resolve()) for name, folder in came.items()}
        corpus.store.set_refs(places)
        assert find_base(corpus) == (tmp_path / base).resolve()
