"""Files that are sent: where they are written, and which are refused."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import InputError
from sensegraph.server.http.access import Limits, ServeOptions
from sensegraph.server.jobs.uploads import InputFolder, check_begin, check_name
from web_client import Reply, WebClient, serving

C = "/api/v1/notes"


def form(files: dict[str, bytes]) -> tuple[bytes, dict[str, str]]:
    """Files as a form sends them."""
    parts = [
        f'--edge\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode() + data + b"\r\n"
        for name, data in files.items()
    ]
    return b"".join(parts) + b"--edge--\r\n", {"Content-Type": "multipart/form-data; boundary=edge"}


def send(client: WebClient, files: dict[str, bytes]) -> Reply:
    body, headers = form(files)
    return client.ask("POST", f"{C}/documents", body, headers)


def archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return out.getvalue()


def listed(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_file_is_written_and_written_again(notes: WebClient, folder: Path) -> None:
    first = notes.ask("PUT", f"{C}/documents/ada.txt", b"Ada keeps the light.")
    assert (first.status, first.json) == (201, {"name": "ada.txt", "bytes": 20, "new": True})
    again = notes.ask("PUT", f"{C}/documents/ada.txt", b"Ada left.")
    assert (again.status, again.json) == (200, {"name": "ada.txt", "bytes": 9, "new": False})
    below = notes.ask("PUT", f"{C}/documents/letters%2F2023%2Fnora.md", "# Nora ü".encode())
    assert below.json["name"] == "letters/2023/nora.md"
    assert listed(folder / "input") == {"ada.txt": b"Ada left.", "letters/2023/nora.md": "# Nora ü".encode()}


def test_a_file_is_taken_away_again(notes: WebClient, folder: Path) -> None:
    notes.ask("PUT", f"{C}/documents/ada.txt", b"Ada keeps the light.")
    assert notes.ask("DELETE", f"{C}/input/ada.txt").status == 204
    assert notes.ask("DELETE", f"{C}/input/ada.txt").status == 404
    assert listed(folder / "input") == {}


BAD = [
    "../x.txt", "a/../../x.txt", "/etc/x.txt", "a\\..\\x.txt", "C:\\x.txt", "c:x.txt", ".x.txt", "a/.x.txt", "a.exe",
    "x.txt/", "a//x.txt", "con.txt", "sub/NUL.md", "x.txt ", "x.txt.", "x\0.txt", "x\n.txt", "\u202ex.txt", "~/x.txt",
    "x" * 200 + ".txt", "/".join("abcdefghij") + ".txt", "a?.txt", "a*.txt", "a|b.txt", "-x.txt", "", ".", "..",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_names_that_are_not_safe_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        check_name(name)


@pytest.mark.parametrize("name", ["ada.txt", "Ada Finch (2019).md", "ä/ö ü.TXT", "日記/二月.txt", "a-b_c.d+e.pdf"])
def test_names_that_people_give_are_kept(name: str) -> None:
    assert check_name(name) == name


@given(st.text(max_size=60))
def test_no_name_leads_out_of_the_folder(text: str) -> None:
    try:
        name = check_name(text + ".txt")
    except InputError:
        return
    place = Path("/corpus/input") / name
    assert place.resolve().is_relative_to("/corpus/input")
    assert all(part not in ("", ".", "..") and not part.startswith(".") for part in name.split("/"))


@pytest.mark.parametrize(
    "name", ["..%2F..%2Fsensegraph.toml", "..%2Fx.txt", "%2Ftmp%2Fx.txt", "x.exe", "%00.txt", "a/../b.txt"]
)
def test_nothing_is_written_under_a_name_that_is_not_safe(notes: WebClient, folder: Path, name: str) -> None:
    before = listed(folder)
    reply = notes.ask("PUT", f"{C}/documents/{name}", b"x")
    assert (reply.status, reply.code) == (400, "InputError")
    assert {n: b for n, b in listed(folder).items() if ".sensegraph" not in n} == {
        n: b for n, b in before.items() if ".sensegraph" not in n
    }


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b"MZ\0\0program"),
        ("a.pdf", b"not one"),
        ("a.docx", b"%PDF-1.7"),
        ("a.html", b"\x7fELF\0"),
        ("a.rtf", b"x"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    notes: WebClient, folder: Path, name: str, data: bytes
) -> None:
    reply = notes.ask("PUT", f"{C}/documents/{name}", data)
    assert (reply.status, reply.code) == (400, "InputError")
    assert listed(folder / "input") == {}


def test_texts_in_utf_16_hold_what_they_should() -> None:
    check_begin("a.txt", "\ufeffAda".encode("utf-16-le"))
    with pytest.raises(InputError):
        check_begin("a.txt", "Ada".encode("utf-16-le"))


def test_nothing_is_written_through_a_link(notes: WebClient, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.txt").write_text("as it was")
    (folder / "input" / "x.txt").symlink_to(outside / "x.txt")
    (folder / "input" / "sub").symlink_to(outside)
    for name in ("x.txt", "sub%2Fx.txt", "sub%2Fnew.txt"):
        assert notes.ask("PUT", f"{C}/documents/{name}", b"changed").status == 400
        assert notes.ask("DELETE", f"{C}/input/{name}").status == 400
    assert listed(outside) == {"x.txt": b"as it was"}


def test_an_input_that_leads_out_of_the_corpus_is_left_alone(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "input").rmdir()
    (folder / "input").symlink_to(outside)
    with pytest.raises(InputError, match="link"):
        InputFolder(folder / "input", Limits()).remove("x.txt")


def test_a_file_stands_where_no_folder_can_be(notes: WebClient) -> None:
    notes.ask("PUT", f"{C}/documents/ada.txt", b"Ada keeps the light.")
    assert notes.ask("PUT", f"{C}/documents/ada.txt%2Fx.txt", b"x").status == 400
    notes.ask("PUT", f"{C}/documents/sub%2Fx.txt", b"x")
    assert notes.ask("PUT", f"{C}/documents/sub", b"x").status == 400


def test_files_of_a_form_are_written_and_the_others_named(notes: WebClient, folder: Path) -> None:
    files = {"ada.txt": b"Ada keeps the light.", "../../evil.txt": b"x", "x.exe": b"MZ", "nora.md": b"# Nora"}
    reply = send(notes, files)
    assert reply.status == 200
    assert [f["name"] for f in reply.json["files"]] == ["ada.txt", "nora.md"]
    assert [r["name"] for r in reply.json["refused"]] == ["../../evil.txt", "x.exe"]
    assert sorted(listed(folder / "input")) == ["ada.txt", "nora.md"]


def test_an_archive_is_unpacked_and_what_is_not_safe_in_it_named(notes: WebClient, folder: Path) -> None:
    inside = {
        "letters/ada.txt": b"Ada keeps the light.", "../evil.txt": b"x", "/etc/evil.txt": b"x", "a\\..\\b.txt": b"x",
        ".hidden.txt": b"x", "run.exe": b"x", "letters/nora.md": b"# Nora",
    }  # fmt: skip
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = 0o120777 << 16
    packed = io.BytesIO(archive(inside))
    with zipfile.ZipFile(packed, "a") as more:
        more.writestr(link, "/etc/passwd")
    reply = send(notes, {"all.zip": packed.getvalue()})
    assert [f["name"] for f in reply.json["files"]] == ["letters/ada.txt", "letters/nora.md"]
    assert len(reply.json["refused"]) == 6
    assert sorted(listed(folder / "input")) == ["letters/ada.txt", "letters/nora.md"]
    assert listed(folder.parent).keys() == {f"notes/{name}" for name in listed(folder)}


def test_what_unpacks_to_too_much_is_refused(folder: Path) -> None:
    store = InputFolder(folder / "input", Limits(unpacked=50_000, upload=30_000))
    packed = archive({"big.txt": b" " * 40_000, "one.txt": b"x" * 29_000, "two.txt": b"y" * 29_000, "small.txt": b"z"})
    stored, refused = store.unpack(io.BytesIO(packed))
    assert [s.name for s in stored] == ["one.txt", "small.txt"]
    assert [name for name, _ in refused] == ["big.txt", "two.txt"]
    assert sorted(listed(folder / "input")) == ["one.txt", "small.txt"]


def test_an_archive_holds_as_many_files_as_the_limit_says_and_none_more(folder: Path) -> None:
    store = InputFolder(folder / "input", Limits(files=2))
    stored, _ = store.unpack(io.BytesIO(archive({"one.txt": b"x", "two.txt": b"y"})))
    assert [s.name for s in stored] == ["one.txt", "two.txt"]
    with pytest.raises(InputError, match="more than 2 files"):
        store.unpack(io.BytesIO(archive({"a.txt": b"x", "b.txt": b"y", "c.txt": b"z"})))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no archive", b"x" * 1000])
def test_what_is_no_archive_is_named(notes: WebClient, data: bytes) -> None:
    reply = send(notes, {"all.zip": data})
    assert reply.json["files"] == []
    assert "damaged" in reply.json["refused"][0]["reason"]


def test_a_form_without_files_is_an_error(notes: WebClient) -> None:
    body = b'--edge\r\nContent-Disposition: form-data; name="files"\r\n\r\ntext\r\n--edge--\r\n'
    assert notes.ask("POST", f"{C}/documents", body, form({})[1]).status == 400
    assert notes.ask("POST", f"{C}/documents", *form({})).status == 400
    assert notes.ask("POST", f"{C}/documents", b"x", {"Content-Type": "multipart/form-data"}).status == 400


def test_the_folder_has_bounds(folder: Path) -> None:
    from sensegraph.corpus.corpus import Corpus

    limits = Limits(files=2, stored=100, upload=80)
    with Corpus.open(folder) as opened, serving({"notes": opened}, ServeOptions(port=0, limits=limits)) as client:
        put: Any = lambda name, size: client.ask("PUT", f"{C}/documents/{name}", b"x" * size).status  # noqa: E731
        assert put("big.txt", 81) == 413  # of one request
        assert put("one.txt", 60) == 201
        assert put("two.txt", 60) == 413  # of all together
        assert put("two.txt", 20) == 201
        assert put("three.txt", 1) == 413  # of their number
        assert sorted(listed(folder / "input")) == ["one.txt", "two.txt"]
        assert json.loads(client.get("/api/v1/corpora").body)["corpora"][0]["documents"] == 0
