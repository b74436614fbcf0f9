"""What heads a document: its title, else the name of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph import Corpus
from sensegraph.types import Chunk


@pytest.mark.parametrize(
    ("document", "title", "heading"),
    [
        ("gpl-3.txt", "", "gpl-3"),
        ("zlib/read_me.md", "", "zlib/read me"),
        ("gpl-3.txt", "The licence", "The licence"),
        ("NOTES.TXT", "", "NOTES"),
        ("c12", "", ""),
        ("v1.2", "", ""),
        ("doc.123", "", ""),
        (".txt", "", ""),
        ("folder/.txt", "", ""),
        ("a.longending", "", ""),
    ],
)
def test_an_untitled_document_is_headed_by_the_name_of_its_file(document: str, title: str, heading: str) -> None:
    assert Chunk("c", document, 0, 1, 1, "x", title).heading == heading


def test_words_of_the_name_of_a_file_find_what_is_in_it(tmp_path: Path) -> None:
    for name in ("marram", "thrift", "samphire"):
        (tmp_path / f"{name}-care.txt").write_text(
            "Water it once a week, and keep it out of the wind.", encoding="utf-8"
        )
    with Corpus.open(tmp_path / "index", settings={"engine": "offline"}) as corpus:
        corpus.add(tmp_path)
        corpus.build()
        found = corpus.search("How often do I water thrift?", method="bm25", top=1).passages
        assert [p.title for p in found] == ["thrift-care"]
        assert corpus.query("How often do I water the samphire?").citations[0].document == "samphire-care.txt"
