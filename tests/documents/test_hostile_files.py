"""Files of somebody who wishes harm: links out of the folder, pipes, devices, bombs, names that are none."""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.documents import DocumentSettings, Loaded, load, mails, nesting, record_files, tables
from sensegraph.documents import document_files as files
from sensegraph.documents.cells import read_cell, write_cell
from sensegraph.documents.nesting import check_nesting
from sensegraph.documents.office import check_packed
from sensegraph.errors import InputError, SettingsError

OPEN = DocumentSettings(follow_links=True)
needs_docs = pytest.mark.skipif(find_spec("kreuzberg") is None, reason="the extra `docs` is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.txt").write_text("A good text.")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("A secret text.")
    return folder


def ids(loaded: Loaded) -> list[str]:
    return [d.id for d in loaded.documents]


def left(loaded: Loaded) -> dict[str, str]:
    return {os.path.basename(s.path): s.reason for s in loaded.skipped}


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="no /proc")
@pytest.mark.parametrize("settings", [files.DEFAULTS, OPEN], ids=["as usual", "links allowed"])
def test_the_environment_of_the_process_is_never_read(root: Path, settings: DocumentSettings) -> None:
    (root / "environ.txt").symlink_to("/proc/self/environ")
    (root / "self").symlink_to("/proc/self")
    (root / "chain.txt").symlink_to(root / "environ.txt")
    loaded = load([root], settings=settings)
    assert ids(loaded) == ["a.txt"]
    assert set(left(loaded)) == {"environ.txt", "self", "chain.txt"}
    for path in (root / "environ.txt", root / "self", Path("/proc/self/environ"), Path("/proc/self")):
        named = load([path], settings=settings)
        assert not named.documents
        assert "never read" in named.skipped[0].reason


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="no /proc")
def test_no_secret_of_the_environment_comes_into_a_corpus(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SECRET", "swordfish-4711")
    (root / "environ.txt").symlink_to("/proc/self/environ")
    with Corpus.open(tmp_path / "corpus", create=True) as corpus:
        added = corpus.sources.add(root)
        assert added.new == ("a.txt",)
        assert [os.path.basename(s.path) for s in added.skipped] == ["environ.txt"]
    kept = [p for p in (tmp_path / "corpus").rglob("*") if p.is_file()]
    assert kept
    assert not any(b"swordfish" in p.read_bytes() for p in kept)


def test_links_that_lead_out_are_named_and_skipped_unless_they_are_allowed(root: Path) -> None:
    (root / "link.txt").symlink_to(root.parent / "outside" / "secret.txt")
    (root / "folder").symlink_to(root.parent / "outside")
    (root / "up").symlink_to(root.parent)
    (root / "inside.txt").symlink_to(root / "a.txt")
    loaded = load([root])
    assert ids(loaded) == ["a.txt"]
    assert {name for name, why in left(loaded).items() if "leads out" in why} == {"link.txt", "folder"}
    assert "follow_links" in left(loaded)["link.txt"]
    assert ids(load([root], settings=OPEN)) == ["a.txt", "folder/secret.txt"], "the other link leads to the same file"
    assert not load([root / "link.txt"]).documents, "a pattern of the shell names links too"
    assert ids(load([root / "link.txt"], settings=OPEN)) == ["link.txt"]


def test_a_file_of_settings_cannot_allow_links(root: Path) -> None:
    (root / "sensegraph.toml").write_text("[documents]\nfollow_links = true\n")
    with pytest.raises(SettingsError, match="follow_links"):
        Corpus.open(root)
    (root / "sensegraph.toml").write_text("[documents]\nfollow_links = false\n")
    with Corpus.open(root, settings={"documents": {"follow_links": True}}) as corpus:
        assert corpus.settings.documents.follow_links


def test_documents_that_may_stand_behind_a_link_are_not_removed(root: Path, tmp_path: Path) -> None:
    (root / "folder").symlink_to(tmp_path / "outside")
    with Corpus.open(tmp_path / "corpus", create=True, settings={"documents": {"follow_links": True}}) as corpus:
        assert corpus.mirror.sync(root).added == ("a.txt", "folder/secret.txt")
    with Corpus.open(tmp_path / "corpus") as corpus:
        plan = corpus.mirror.sync(root)
        assert (plan.removed, plan.withheld) == ((), ("folder/secret.txt",))


def test_pipes_sockets_and_devices_are_named_and_never_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe.txt")
    monkeypatch.chdir(root)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.txt")
        (root / "null.txt").symlink_to("/dev/null")
        (root / "zero.txt").symlink_to("/dev/zero")
        for settings in (files.DEFAULTS, OPEN):
            loaded = load([root], settings=settings)
            assert ids(loaded) == ["a.txt"]
            assert set(left(loaded)) == {"pipe.txt", "socket.txt", "null.txt", "zero.txt"}


def test_loops_of_links_end(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "loop").symlink_to(root)
    (root / "one").symlink_to(root / "two")
    (root / "two").symlink_to(root / "one")
    (root / "self.txt").symlink_to("self.txt")
    for settings in (files.DEFAULTS, OPEN):
        loaded = load([root], settings=settings)
        assert ids(loaded) == ["a.txt"]
        assert set(left(loaded)) == {"loop", "one", "two", "self.txt"}


def test_names_with_line_ends_are_skipped_and_those_with_marks_of_direction_are_read(root: Path) -> None:
    (root / "two\nlines.txt").write_text("Text.")
    (root / "bell\x07.txt").write_text("Text.")
    (root / "sub\nfolder").mkdir()
    (root / "turned\u202etxt.exe.txt").write_text("A turned name.")
    os.close(os.open(os.fsencode(root) + b"/caf\xe9.txt", os.O_CREAT | os.O_WRONLY))
    loaded = load([root])
    assert ids(loaded) == ["a.txt", "turned\u202etxt.exe.txt"]
    assert len(left(loaded)) == 4
    assert all("rename it" in why for why in left(loaded).values())
    assert not load([root / "two\nlines.txt"]).documents


def test_there_may_be_so_many_files_and_folders_in_one_another(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(10):
        (root / f"{n}.txt").write_text("Text.")
    loaded = load([root], settings=DocumentSettings(max_files=5))
    assert len(loaded.documents) == 5
    assert "more than 5 files" in left(loaded)["root"]
    monkeypatch.setattr(files, "_DEEPEST", 2)
    deep = root / "x" / "y" / "z"
    deep.mkdir(parents=True)
    (deep / "deep.txt").write_text("Deep.")
    (deep.parent / "high.txt").write_text("High.")
    loaded = load([root])
    assert "x/y/high.txt" in ids(loaded)
    assert list(left(loaded)) == ["z"]


# ── bombs ──


def make_archive(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_an_archive_that_unpacks_to_too_much_is_named_before_it_is_read(root: Path) -> None:
    bomb = make_archive({"word/document.xml": bytes(50_000_000)})
    with pytest.raises(InputError, match="as no honest file does"):
        check_packed(bomb, 200_000_000)
    with pytest.raises(InputError, match="unpacks to more than 1,000,000"):
        check_packed(bomb, 1_000_000)
    check_packed(make_archive({"a.xml": bytes(10_000_000)}), 200_000_000)
    for name in ("x.docx", "x.xlsx", "x.odt", "x.pptx"):
        (root / name).write_bytes(bomb)
    if find_spec("kreuzberg"):
        loaded = load([root])
        assert ids(loaded) == ["a.txt"]
        assert len(left(loaded)) == 4


def test_an_archive_that_lies_about_its_sizes_is_counted() -> None:
    bomb = make_archive({"a.xml": bytes(30_000_000)})
    size = (30_000_000).to_bytes(4, "little")
    assert bomb.count(size) == 2
    with pytest.raises(InputError, match="as no honest file does"):
        check_packed(bomb.replace(size, (10).to_bytes(4, "little")), 200_000_000)


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04", b"PK" + bytes(100), make_archive({"a": b"x" * 9999})[:-30]], ids=["begin", "rest", "end"]
)
def test_a_damaged_archive_is_named(data: bytes) -> None:
    with pytest.raises(InputError, match="damaged archive"):
        check_packed(data, 1_000)


_GIVE_UP = """
import os, sys
from sensegraph.documents import DocumentSettings, load
found = load([sys.argv[1]], settings=DocumentSettings(max_seconds=1))
print(*(d.id for d in found.documents))
print(*(s.reason for s in found.skipped), flush=True)
os._exit(0)
"""


@needs_docs
@pytest.mark.slow
def test_a_page_description_that_takes_too_long_is_given_up(root: Path) -> None:
    drawn = b"BT /F1 12 Tf 72 720 Td " + b"(Hello) Tj " * 3_000_000 + b" ET"
    stream = zlib.compress(drawn, 9)
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    pdf, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(pdf))
        pdf += b"%d 0 obj%sendobj\n" % (number, part)
    table = b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    (root / "x.pdf").write_bytes(pdf + table + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(pdf))
    # in a process of its own: what was given up is still worked on, and who reads the next PDF would wait for it
    done = subprocess.run([sys.executable, "-c", _GIVE_UP, root], capture_output=True, text=True, timeout=100)
    assert re.fullmatch(r"a\.txt\n.*documents\.max_seconds\.\n", done.stdout), done


@pytest.mark.parametrize(
    "page",
    ["<div>" * 5_000, "<table><tr><td>" * 5_000, "<x/>" * 5_000, "<b id=1>" * 900 + "<p>x" * 5_000, "<b></x>" * 5_000],
)
def test_a_page_that_nests_too_deeply_is_named(root: Path, page: str) -> None:
    (root / "x.html").write_text(page)
    assert "in one another" in left(load([root]))["x.html"]


@pytest.mark.parametrize(
    "page",
    ["<li>x" * 5_000, "<p>x<br>" * 5_000, "<div><b>x</b></div>" * 5_000, f"<svg>{'<path d=a />' * 5_000}</svg>",
     f"<script>{'<div>' * 5_000}</script>", f"<!--{'<div>' * 5_000}-->", "<td>x" * 5_000],
)  # fmt: skip
def test_a_page_of_many_elements_is_not_deep(page: str) -> None:
    check_nesting(page)
    with pytest.raises(InputError):
        check_nesting(page + "<div>" * 1_001)


def test_mails_and_records_in_one_another_are_read_or_named(root: Path) -> None:
    parts = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(3_000))
    (root / "a.eml").write_text(f"Subject: a\nFrom: {'(' * 900}\n{parts}")
    (root / "b.eml").write_text(f"Subject: a\nFrom: a\nContent-Disposition: a{'(' * 5_000}\n\nA text.\n")
    (root / "c.json").write_text('{"text": "x", "a": ' + "[" * 900 + "]" * 900 + "}")
    (root / "d.json").write_text('{"text": "x", "a": ' + "[" * 90_000 + "]" * 90_000 + "}")
    (root / "e.md").write_text(f"---\nkey: {'[' * 50_000}{']' * 50_000}\n---\nText.")
    loaded = load([root])
    assert {*ids(loaded), *left(loaded)} == {"a.txt", "a.eml", "b.eml", "c.json", "d.json", "e.md"}
    assert "d.json" in left(loaded)


# ── what is written ──


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@a", "\ta", "\ra", "\na", "＝1", "'=a", "''+a", "=HYPERLINK(1)"])
def test_a_cell_that_begins_a_formula_stands_behind_an_apostrophe_and_is_read_back(text: str) -> None:
    assert write_cell(text) == f"'{text}"
    assert read_cell(f"'{text}") == text


@pytest.mark.parametrize("value", ["a=b", "", "'a'", "-5", "+1.5e3", "-1,000.5", 7, -2.5, None])
def test_any_other_cell_stays_as_it_is(value: object) -> None:
    assert write_cell(value) == value
    assert read_cell(str(value)) == str(value)


def test_a_table_with_escaped_cells_is_read_as_it_was(root: Path) -> None:
    (root / "t.csv").write_text("Name,Said\nAda,'=1+1\nBob,'-x\n")
    (root / "u.csv").write_text("id,text\nu,'=SUM(A1)\n")
    texts = {d.id: d.text for d in load([root]).documents}
    assert texts["u"] == "=SUM(A1)"
    assert "Said: =1+1" in texts["t.csv"]
    assert "Said: -x" in texts["t.csv"]


# ── little that becomes much ──


def test_a_text_that_is_too_long_is_named_with_its_setting_and_the_rest_is_read(root: Path) -> None:
    """Told from its size where the file is one text, else from the text that was read."""
    (root / "long.txt").write_text("word " * 10_000)
    (root / "long.json").write_text('{"text": "' + "word " * 10_000 + '"}')
    (root / "records.jsonl").write_text('{"text": "A text of this length."}\n{"text": "And another one."}\n')
    (root / "wide.txt").write_text("ä" * 100, encoding="utf-32")
    loaded = load([root], settings=DocumentSettings(max_characters=100))
    assert len(ids(loaded)) == 4
    assert {"a.txt", "wide.txt"} < set(ids(loaded))
    assert left(loaded)["long.txt"].startswith("has 50,000 bytes, more than the limit of 404;")
    assert left(loaded)["long.json"].startswith("has 50,000 characters, more than the limit of 100;")
    assert all("documents.max_characters" in why for why in left(loaded).values())
    assert len(load([root], settings=DocumentSettings(max_characters=50_000)).documents) == 6


def test_a_sparse_file_is_not_read(root: Path) -> None:
    with (root / "sparse.txt").open("wb") as file:
        file.truncate(90_000_000)
    assert "documents.max_characters" in left(load([root]))["sparse.txt"]


@pytest.mark.parametrize(
    ("module", "limit", "name", "text", "good"),
    [
        (record_files, "_MOST_VALUES", "a.json", "[" + "[]," * 50 + "[]]", '{"text": "A text."}'),
        (record_files, "_MOST_VALUES", "a.jsonl", '{"text": "x", "a": [' + "{}," * 50 + "{}]}", '{"text": "A text."}'),
        (tables, "_MOST_FIELDS", "a.csv", "a,b\n1,2\n" + "," * 50, "a,b\n" + "1,2\n" * 50),
        (tables, "_MOST_FIELDS", "b.csv", "a,text\n1,2\n" + '"\n",' * 50, "a,text\n" + "1,2\n" * 50),
        (nesting, "_MOST_TAGS", "a.html", "<p>x" * 50, "<p>x" * 10),
        (nesting, "_LONGEST", "a.html", "<p " + "a " * 50 + ">x", "<p>x"),
        (mails, "_MOST_FIELDS", "a.eml", "From: a\n" + "A: b\n" * 50 + "\nx", "From: a\n\nx"),
        (mails, "_MOST_PARTS", "a.eml", "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n" * 50, "A: a\n\nx"),
        (mails, "_MOST_MAILS", "a.mbox", "From a\nA: a\n\nx\n\n" * 50, "From a\nA: a\n\nx\n\n"),
    ],
)  # fmt: skip
def test_what_would_become_very_many_values_is_counted_before_it_is_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, limit: str, name: str, text: str, good: str
) -> None:
    monkeypatch.setattr(module, limit, 40)
    (root / name).write_text(text)
    assert re.search(r"more than .*\b40\b", left(load([root]))[name])
    (root / name).write_text(good)
    assert len(load([root]).documents) > 1


@pytest.mark.parametrize(
    ("limit", "name", "text"),
    [
        ("_MOST_FIELDS", "a.eml", "From: a\n" + "A: b\n" * 39 + "\nx"),
        ("_MOST_PARTS", "a.eml", "Content-Type: text/plain\n\nx\n" + "--b\n" * 40),
        ("_MOST_MAILS", "a.mbox", "".join(f"From a\nA: a\n\nx{i}\n\n" for i in range(40))),
    ],
)
def test_as_many_lines_and_mails_as_may_be_are_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, limit: str, name: str, text: str
) -> None:
    monkeypatch.setattr(mails, limit, 40)
    (root / name).write_text(text)
    loaded = load([root])
    assert name not in left(loaded)
    assert any(found.startswith(name) for found in ids(loaded))


def test_keys_of_many_parts_in_a_header_are_text(root: Path) -> None:
    for number, header in enumerate(("a" + ".a" * 5_000 + " = 1", "a = " + "[" * 9_000 + "]" * 9_000)):
        (root / f"{number}.md").write_text(f"+++\n{header}\n+++\n# A title\n\nText.")
    loaded = load([root])
    assert ids(loaded) == ["0.md", "1.md", "a.txt"]
    assert not loaded.skipped


def test_a_number_of_very_many_digits_is_no_time(root: Path) -> None:
    (root / "t.csv").write_text(f"Name,time\nAda,{'9' * 5_000}\n")
    (root / "u.jsonl").write_text('{"text": "x", "time": ' + "9" * 4_000 + "}\n")
    (root / "v.csv").write_text(f"id,text,time\nv,Text.,{'9' * 5_000}\n")
    assert len(load([root]).documents) == 4
