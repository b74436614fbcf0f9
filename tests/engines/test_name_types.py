"""Types of names: told where the name itself is evidence, or where the user lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph.corpus.settings import load_settings
from sensegraph.corpus.tools import make_tools
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.engines.offline.extraction.corpus_reading import read_together
from sensegraph.engines.offline.own_names import read_own_names
from sensegraph.errors import SettingsError
from sensegraph.types import Chunk


def types_in(text: str, given: dict[str, str] | None = None, *, guesses: bool = False) -> dict[str, str]:
    chunk = Chunk("c", "d", 0, len(text), 0, text)
    ((extraction,),) = read_together([(chunk,)], given or {}, guesses=guesses)
    return {e.name: e.type for e in extraction.entities if e.type != "concept"}


@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("The board met Martha Quillfeather twice.", "Martha Quillfeather", "person"),
        ("The board wrote to Mr. Quillfeather twice.", "Quillfeather", "person"),
        ("They left the Tarnwick Foundation early.", "Tarnwick Foundation", "organization"),
        ("They swam across Lake Tarnwick at night.", "Lake Tarnwick", "place"),
        ("They moved to Portugal at last.", "Portugal", "place"),
        ("They install it with Debian or by hand.", "Debian", "other"),
        ("They read the ELF header and the URL.", "ELF", "other"),
        ("They cite the General Commands Manual twice.", "Commands Manual", "other"),
        ("They use the Covered Software as it is.", "Covered Software", "other"),
        ("They copied the Grant Scope from it.", "Grant Scope", "other"),
    ],
)
def test_a_name_has_a_type_only_where_its_own_words_show_it(text: str, name: str, type: str) -> None:
    assert types_in(text)[name] == type


def test_what_stands_around_a_name_is_a_guess_that_masking_reads() -> None:
    text = "He asked Oswin Tarnwick, and then the actor Oswin Tarnwick said no."
    assert types_in(text)["Oswin Tarnwick"] == "other"
    assert types_in(text, guesses=True)["Oswin Tarnwick"] == "person"


def test_the_types_that_a_user_lists_win_also_with_words_of_their_own() -> None:
    text = "They moved to Portugal with Debian at last."
    assert types_in(text, {"debian": "product", "Portugal": "organization"}) == {
        "Portugal": "organization",
        "Debian": "product",
    }


def test_a_list_of_names_is_read_from_csv_and_from_toml(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text('name,type\n"Harbour, Board of",Organization\nDebian,product\n', "utf-8")
    (tmp_path / "names.toml").write_text('"Harbour, Board of" = "organization"\nDebian = "product"\n', "utf-8")
    listed = (("Debian", "product"), ("Harbour, Board of", "organization"))
    assert read_own_names(tmp_path / "names.csv") == read_own_names(tmp_path / "names.toml") == listed


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("names.csv", "name,type\nDebian\n", "line 2: write a name and its type"),
        ("names.csv", "Debian,product\ndebian,place\n", "line 2: debian is a place here and a product above"),
        ("names.toml", "Debian product", "is not valid TOML"),
        ("names.toml", "Debian = 3", "line 1: write a name and its type"),
        ("elsewhere.csv", None, "elsewhere.csv cannot be read"),
    ],
)
def test_a_list_of_names_that_cannot_be_read_says_where(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=said):
        read_own_names(tmp_path / name)


def test_the_settings_name_a_list_in_the_folder_of_the_corpus_and_its_names_stand_in_the_key(
    tmp_path: Path,
) -> None:
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n[offline]\nnames_file = "names.csv"\n', "utf-8")
    (tmp_path / "names.csv").write_text("Debian,product\n", "utf-8")
    engine, _ = make_tools(load_settings(tmp_path))
    assert isinstance(engine, ClassicalEngine)
    assert engine.named == (("Debian", "product"),)
    plain = ClassicalEngine()
    assert engine.fingerprint("survey") != plain.fingerprint("survey")
    assert engine.fingerprint("answer") == plain.fingerprint("answer")
