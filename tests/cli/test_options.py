"""What most commands share: a corpus that is opened and left as it was, its index, the paths that are read, lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph import Corpus, Document
from sensegraph.cli.options import choose_paths, explain_missing_index, limit_rows, open_corpus, require_index
from sensegraph.corpus.settings import FOLDER
from sensegraph.errors import InputError, NotIndexed

OFFLINE = {"engine": "offline", "embedder": "offline"}


def list_files(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.iterdir())


def test_a_folder_that_no_document_came_into_goes_again(tmp_path: Path) -> None:
    with open_corpus(tmp_path / "new", OFFLINE, create=True):
        assert list_files(tmp_path) == ["new"]
    assert list_files(tmp_path) == []
    with pytest.raises(InputError, match="nothing to do"), open_corpus(tmp_path / "new", OFFLINE, create=True):
        raise InputError("nothing to do")
    assert list_files(tmp_path) == []


def test_of_a_folder_that_was_there_only_what_was_made_in_it_goes(tmp_path: Path) -> None:
    with open_corpus(tmp_path, OFFLINE, create=True):
        assert list_files(tmp_path) == [FOLDER]
    assert list_files(tmp_path) == []
    root = tmp_path / "new"
    with open_corpus(root, OFFLINE, create=True):
        (root / "notes.txt").write_text("somebody wrote this meanwhile")
    assert list_files(root) == ["notes.txt"]


def test_a_corpus_that_was_there_stays_and_so_does_one_with_a_document(tmp_path: Path) -> None:
    Corpus.open(tmp_path / "old", settings=OFFLINE).close()
    for create in (False, True):
        with open_corpus(tmp_path / "old", OFFLINE, create=create):
            pass
        assert list_files(tmp_path / "old") == [FOLDER]
    with open_corpus(tmp_path / "new", OFFLINE, create=True) as corpus:
        corpus.add(Document("a", "Ada keeps the lamp."))
    assert list_files(tmp_path / "new") == [FOLDER]


def test_what_an_error_advises_is_said_for_the_folder_of_the_corpus(tmp_path: Path) -> None:
    with pytest.raises(NotIndexed) as said, open_corpus(tmp_path, OFFLINE, create=True):
        raise NotIndexed("Run `sensegraph index` or `sensegraph status`, not `other`.")
    assert str(said.value) == (
        f"Run `sensegraph index --root {tmp_path}` or `sensegraph status --root {tmp_path}`, not `other`."
    )


def test_documents_without_an_index_are_an_error_and_an_empty_corpus_is_none(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        require_index(corpus, tmp_path)
        corpus.add(Document("a", "Ada keeps the lamp."))
        with pytest.raises(
            NotIndexed, match=r"^1 document waits to be indexed: no build has finished; run: sensegraph"
        ):
            require_index(corpus, tmp_path)
        corpus.build()
        require_index(corpus, tmp_path)
    assert explain_missing_index(1_200, True, Path(".")) == (
        "1,200 documents wait to be indexed: a build was begun and has not finished; run: sensegraph index"
    )


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (5, ["a", "b", "c"]),
        (3, ["a", "b", "c"]),
        (2, ["a", "b", "… and 1 more (--limit, --json)"]),
        (0, ["… and 3 more (--limit, --json)"]),
    ],
)
def test_a_list_says_how_many_lines_it_does_not_show(limit: int, shown: list[str]) -> None:
    assert limit_rows(["a", "b", "c"], limit) == shown


def test_the_input_of_a_corpus_is_read_where_no_path_is_given_and_it_was_ever_used(tmp_path: Path) -> None:
    assert choose_paths([Path("x")], tmp_path) == [Path("x")]
    assert choose_paths(None, tmp_path) == []
    place, other = tmp_path / "input", tmp_path / "other.txt"
    place.mkdir()
    assert choose_paths([], tmp_path) == [place]  # there is no corpus yet
    other.write_text("Bo keeps bees.")
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        assert choose_paths(None, tmp_path) == [place]
        corpus.sync(other)
    assert choose_paths(None, tmp_path) == []  # all documents came from elsewhere, and it is empty
    (place / ".hidden").write_text("x")
    assert choose_paths(None, tmp_path) == []
    (place / "a.txt").write_text("Ada keeps the lamp.")
    assert choose_paths(None, tmp_path) == [place]
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        corpus.sync(place)
    (place / "a.txt").unlink()
    assert choose_paths(None, tmp_path) == [place]  # what came from it is gone


def test_an_input_that_leads_out_of_the_corpus_is_not_read(tmp_path: Path) -> None:
    root, away = tmp_path / "root", tmp_path / "away"
    (root / "within").mkdir(parents=True)
    away.mkdir()
    (root / "input").symlink_to(away)
    with pytest.raises(InputError, match=f"is a link that leads to {away}; name that as a path to read it"):
        choose_paths(None, root)
    (root / "input").unlink()
    (root / "input").symlink_to(root / "within")
    assert choose_paths(None, root) == [root / "input"]
