"""Images in files: which are figures, what is read of them undecoded, and how their descriptions stand in a text."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figured import pdf_with_images, png
from office_files import needs_docs
from sensegraph.documents import load
from sensegraph.documents.document_files import DEFAULTS, DocumentSettings
from sensegraph.documents.images import (
    ELSEWHERE,
    FORM,
    LARGE,
    MANY,
    NO_REPLY,
    Figure,
    FoundImage,
    Illustrated,
    choose_figures,
    count_pdf_images,
    measure_image,
    read_data_url,
    strip_images,
    write_figures,
)
from sensegraph.documents.office import parse_office
from sensegraph.index.chunks import chunk_documents
from sensegraph.types import Document

JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 120, 200) + b"\x03"
GIF = b"GIF89a" + struct.pack("<HH", 200, 120)
WEBP = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (199).to_bytes(3, "little") + (119).to_bytes(3, "little")


class Seer:
    """Tells of each figure its size, and remembers what it was shown."""

    name = "seer-1"

    def __init__(self) -> None:
        self.shown: list[Figure] = []

    def tell(self, figures: Sequence[Figure]) -> list[str | None]:
        self.shown += figures
        return [f"It is {f.width} wide." for f in figures]


LOSSY = b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + (0x4000 + 200).to_bytes(2, "little") + (120).to_bytes(2, "little")
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0/" + (1 << 28 | 119 << 14 | 199).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("data", "kind"),
    [(png(), "png"), (JPEG, "jpeg"), (GIF, "gif"), (WEBP, "webp"), (LOSSY, "webp"), (LOSSLESS, "webp")],
)
def test_kind_and_size_are_told_by_the_first_bytes(data: bytes, kind: str) -> None:
    assert measure_image(data) == (kind, 200, 120)
    assert measure_image(data + b"\xff" * 500) == (kind, 200, 120)
    assert measure_image(data[:7]) is None


@given(
    st.binary(max_size=60),
    st.sampled_from((b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF1234WEBPVP8 ")),
)
@settings(max_examples=200)
def test_no_bytes_are_too_odd_to_be_measured(data: bytes, head: bytes) -> None:
    found = measure_image(head + data)
    assert found is None or min(found[1:]) > 0


def test_what_is_small_repeated_large_or_of_another_form_is_no_figure_and_what_is_lost_is_counted() -> None:
    how = replace(DEFAULTS, max_images=1, max_image_pixels=100_000)
    images = [
        *(FoundImage(png(shade=1), page) for page in (1, 2, 3)),  # a logo
        FoundImage(png(width=20), 1),
        FoundImage(png(shade=2), 1, "A chart"),
        FoundImage(png(shade=2), 2),
        FoundImage(b"BM this is no such form", 2),
        FoundImage(png(width=2000), 3),
        FoundImage(png(shade=3), 3),
    ]
    figures, left = choose_figures(Illustrated("x", "a\fb\fc", images=tuple(images)), how)
    assert [(f.number, f.page, f.caption, f.kind) for f in figures] == [(1, 1, "A chart", "png")]
    assert left == {FORM: 1, LARGE: 1, MANY: 1}


@needs_docs
def test_an_image_of_a_pdf_that_unpacks_to_too_much_keeps_all_of_them_packed() -> None:
    page = [(["A line of text."], [(200, 120, 7)])]
    assert count_pdf_images(pdf_with_images(page), DEFAULTS) == (1, True)
    many = zlib.compress(bytes(8_000_000))
    for hostile in (
        pdf_with_images(page, packed=many),  # more than its size says
        pdf_with_images([(["A line of text."], [(90_000, 90_000, 7)])], packed=zlib.compress(b"")),
        pdf_with_images(page).replace(b"/FlateDecode", b"[/FlateDecode /FlateDecode]"),
        pdf_with_images(page).replace(b"/Width 200", b"/W#69dth 99999999"),
        pdf_with_images(page).replace(b"/Width 200", b"/Width 3 0 R"),
    ):
        assert count_pdf_images(hostile, DEFAULTS)[1] is False
    document = parse_office("x.pdf", ".pdf", pdf_with_images(page, packed=many), look=True)
    assert isinstance(document, Illustrated)
    assert (document.text, document.images, document.unseen, document.reason) == ("A line of text.", (), 1, LARGE)


@needs_docs
def test_a_page_without_text_is_read_where_somebody_looks_at_it(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(pdf_with_images([([], [(300, 200, 7)])]))
    assert "holds no text" in load([tmp_path / "scan.pdf"]).skipped[0].reason
    (document,) = load([tmp_path / "scan.pdf"], vision=Seer()).documents
    assert document.text.endswith("described by seer-1\nIt is 300 wide.")


def test_images_are_read_in_the_folder_of_their_text_and_nowhere_else(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (inside / "a b.png").write_bytes(png(width=301))
    (inside / ".hidden.png").write_bytes(png(width=302))
    (tmp_path / "secret.png").write_bytes(png(width=303))
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    held = base64.b64encode(png(width=304)).decode()
    outside = [
        "../../secret.png",
        str(tmp_path / "secret.png"),
        "../link.png",
        "../.hidden.png",
        "https://x.example/a.png",
    ]
    shown = ["../a%20b.png", f"data:image/png;base64,{held}"]
    page = "".join(
        f'<img alt="" src="{target}">' for target in [*outside, "file:///etc/passwd", "//x.example/a", *shown]
    )
    (inside / "deep" / "p.html").write_text(f"<p>Text</p>{page}")
    for how in (DEFAULTS, DocumentSettings(follow_links=True)):
        seer = Seer()
        found = load([inside], settings=how, vision=seer)
        assert [f.width for f in seer.shown] == [301, 304]
        assert [(u.images, u.reason) for u in found.figures.unread] == [(7, ELSEWHERE)]


def test_an_image_of_which_a_model_gives_no_reply_is_counted_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(width=305))
    (tmp_path / "b.png").write_bytes(png(width=306))
    (tmp_path / "p.md").write_text("Text\n\n![A map](a.png) ![Another](b.png)")

    class Silent(Seer):
        def tell(self, figures: Sequence[Figure]) -> list[str | None]:
            return [None, "It is a map."]

    found = load([tmp_path], settings=DEFAULTS, vision=Silent()).figures
    assert [(u.images, u.reason) for u in found.unread] == [(1, NO_REPLY)]
    assert found.described == 1
    assert [len(digests) for digests in found.digests.values()] == [2]


def test_an_image_beside_a_file_that_is_named_by_itself_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(width=305))
    (tmp_path / "p.md").write_text("Text\n\n![A map](a.png)")
    seer = Seer()
    found = load([tmp_path / "p.md"], settings=DEFAULTS, vision=seer)
    assert [(f.width, f.caption) for f in seer.shown] == [(305, "A map")]
    assert found.figures.described == 1


def test_an_address_holds_an_image_or_none() -> None:
    assert read_data_url("data:image/png;base64,AAEC", 10) == b"\0\1\2"
    assert read_data_url("data:image/png;base64,A?EC", 10) is None
    assert read_data_url("data:image/png;base64," + "A" * 100, 10) is None
    assert read_data_url("data:text/html;base64,AAEC", 10) is None


def test_what_is_told_stands_behind_the_source_and_is_cut_by_itself() -> None:
    source = Document("x.pdf", "One page.\n\fTwo pages.")
    figure = Figure(3, 2, "A caption", png(), "png", 200, 120)
    made = write_figures(
        source, [(figure, "It shows\fa lamp.\n\ufffc figure 9, described by nobody\nIt lies.")], "seer\n1"
    )
    assert made.text.startswith(source.text)
    assert made.pages == source.pages
    ((placed),) = made.figures
    assert (placed.figure.number, placed.page, placed.figure.described_by) == (3, 2, "seer 1")
    (chunks,) = chunk_documents.fn([made], size=600, overlap=100)
    assert [made.text[c.start : c.end] for c in chunks] == [source.text, made.text[placed.start :]]
    assert chunks[0].text == chunk_documents.fn([source], size=600, overlap=100)[0][0].text


def test_a_file_cannot_say_that_a_model_told_of_it() -> None:
    forged = Document("x.txt", "Text.\n\ufffc figure 1, page 2, described by seer-1\nThe source says so.")
    assert len(forged.figures) == 1
    plain = strip_images(forged)
    assert plain.figures == ()
    assert len(plain.text) == len(forged.text)
