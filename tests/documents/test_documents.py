"""Files to documents: every format, every encoding, every kind of file that cannot be read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanging import not_hanging
from office_files import docx, needs_docs, pdf
from sensegraph.documents import DocumentSettings, Loaded, load, stream
from sensegraph.documents.decoding import clean_text, decode_text
from sensegraph.documents.markup import split_front_matter
from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.documents.office import strip_page_edges
from sensegraph.errors import InputError
from sensegraph.runtime.keys import encode_canonical
from sensegraph.types import Document

FRENCH = "Le café était fermé à Noël. Où êtes-vous allés après la fête ? L’été, peut-être…\n"
GERMAN = "Die Straße führt über die Brücke nach Köln. Müller fährt früh.\n"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
CHINESE = "今天天气很好,我们去公园散步。北京是中国的首都。\n"
RUSSIAN = "Москва - столица России. Здесь живут люди.\n"
KOREAN = "서울은 대한민국의 수도이다. 사람이 많이 산다.\n"
POLISH = "Polska leży w środku Europy. Największe miasta to Kraków, Łódź i Gdańsk, a stolicą jest Warszawa.\n"


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def one(path: Path, **settings: object) -> Document:
    loaded = load([path], settings=DocumentSettings(**settings))  # type: ignore[arg-type]
    assert not loaded.skipped, loaded.skipped
    (document,) = loaded.documents
    return document


def why(path: Path, **settings: object) -> str:
    """The one reason why `path` gives no document."""
    loaded = load([path], settings=DocumentSettings(**settings))  # type: ignore[arg-type]
    assert not loaded.documents
    (skipped,) = loaded.skipped
    assert skipped.path == str(path)
    assert skipped.reason.endswith(".")
    return skipped.reason


def reasons(loaded: Loaded) -> list[str]:
    return [s.reason for s in loaded.skipped]


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_documents_of_a_folder_are_named_by_their_relative_posix_paths_and_sorted(tmp_path):
    for name in ("b/x.txt", "a/x.txt", "Z.txt", "a.txt", "ä.txt"):
        put(tmp_path, name, name)
    loaded = load([tmp_path])
    assert [d.id for d in loaded.documents] == ["Z.txt", "a.txt", "a/x.txt", "b/x.txt", "ä.txt"]
    assert [d.text for d in loaded.documents] == ["Z.txt", "a.txt", "a/x.txt", "b/x.txt", "ä.txt"]
    assert not loaded.skipped


def test_a_single_file_is_named_by_its_name_alone(tmp_path):
    assert one(put(tmp_path, "deep/down/x.txt", "hi")).id == "x.txt"


def test_an_empty_folder_is_named(tmp_path):
    assert "no document" in why(tmp_path)


def test_a_path_that_does_not_exist_is_an_error_before_anything_is_read(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.txt does not exist"):
        load([put(tmp_path, "x.txt", "hi"), tmp_path / "nowhere.txt"])
    with pytest.raises(InputError):
        stream(tmp_path / "nowhere.txt")


def test_a_folder_named_like_a_file_is_read_as_a_folder(tmp_path):
    put(tmp_path, "x.txt/y.txt", "hi")
    assert [d.id for d in load([tmp_path]).documents] == ["x.txt/y.txt"]
    assert one(tmp_path / "x.txt").id == "y.txt"


def test_hidden_files_and_folders_are_no_candidates(tmp_path):
    for name in (".x.txt", ".git/y.txt", "z.txt"):
        put(tmp_path, name, "hi")
    assert load([tmp_path]) == Loaded((Document("z.txt", "hi"),))


def test_other_extensions_are_counted_in_one_line_each(tmp_path):
    for name in ("a.png", "b/c.PNG", "d.zip", "Makefile", "x.txt"):
        put(tmp_path, name, "hi")
    loaded = load([tmp_path])
    assert [d.id for d in loaded.documents] == ["x.txt"]
    assert reasons(loaded) == [
        "1 file without an extension is no text document (Makefile); name one as a path, or in an include pattern, "
        "to read it as text.",
        "2 .png files are not text documents (a.png, b/c.PNG); name one as a path, or in an include pattern, "
        "to read it as text.",
        "1 .zip file is no text document (d.zip); name one as a path, or in an include pattern, to read it as text.",
    ]


def test_a_file_with_an_unknown_extension_is_read_as_text_when_it_is_named(tmp_path):
    assert one(put(tmp_path, "notes.log", "hi")).text == "hi"
    assert one(put(tmp_path, "README", "hi")).id == "README"


def test_include_and_exclude_choose_by_the_relative_path(tmp_path):
    for name in ("a.md", "b.log", "c.txt", "drafts/d.md"):
        put(tmp_path, name, "hi")
    chosen = load([tmp_path], settings=DocumentSettings(include=("*.md", "*.log"), exclude=("drafts/*",)))
    assert [d.id for d in chosen.documents] == ["a.md", "b.log"]
    assert not chosen.skipped


def test_a_broken_link_is_named_and_the_others_go_on(tmp_path):
    put(tmp_path, "x.txt", "hi")
    (tmp_path / "broken.txt").symlink_to(tmp_path / "gone")
    loaded = load([tmp_path])
    assert [d.id for d in loaded.documents] == ["x.txt"]
    assert "leads nowhere" in reasons(loaded)[0]
    with pytest.raises(InputError, match="leads nowhere"):
        load([tmp_path / "broken.txt"])


def test_links_that_loop_end(tmp_path):
    put(tmp_path, "a/x.txt", "hi")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "above").symlink_to(tmp_path.parent, target_is_directory=True)
    (tmp_path / "self.txt").symlink_to(tmp_path / "self.txt")
    loaded = load([tmp_path])
    assert [d.id for d in loaded.documents] == ["a/x.txt"]
    assert sorted(Path(s.path).name for s in loaded.skipped) == ["above", "self.txt", "up"]


def test_a_link_to_a_folder_outside_is_followed_once(tmp_path):
    put(tmp_path, "outside/x.txt", "hi")
    (tmp_path / "root").mkdir()
    for name in ("a", "b"):
        (tmp_path / "root" / name).symlink_to(tmp_path / "outside", target_is_directory=True)
    loaded = load([tmp_path / "root"], settings=DocumentSettings(follow_links=True))
    assert [d.id for d in loaded.documents] == ["a/x.txt"]
    assert [Path(s.path).name for s in loaded.skipped] == ["b"]


def test_a_file_that_is_reached_twice_is_read_once_and_named(tmp_path):
    path = put(tmp_path, "x.txt", "hi")
    loaded = load([tmp_path, path])
    assert [d.id for d in loaded.documents] == ["x.txt"]
    assert "is the same file" in reasons(loaded)[0]


def test_two_roots_with_files_of_one_name_keep_the_first_and_name_the_second(tmp_path):
    a, b = put(tmp_path, "a/x.txt", "first"), put(tmp_path, "b/x.txt", "second")
    loaded = load([a, b])
    assert [d.text for d in loaded.documents] == ["first"]
    assert loaded.skipped[0].path == str(b)
    assert str(a) in loaded.skipped[0].reason


def test_a_pipe_is_named_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    assert "not a regular file" in reasons(load([tmp_path]))[0]
    assert "not a regular file" in why(tmp_path / "pipe.txt")


def test_a_name_that_is_no_utf8_is_named(tmp_path):
    os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9.txt", os.O_CREAT | os.O_WRONLY))
    loaded = load([tmp_path])
    assert loaded.skipped[0].path.endswith("caf\\xe9.txt")
    assert "rename it" in loaded.skipped[0].reason


def test_documents_come_one_by_one_and_a_file_that_vanishes_meanwhile_is_named(tmp_path):
    put(tmp_path, "a.txt", "hi")
    gone = put(tmp_path, "b.txt", "hi")
    put(tmp_path, "c.txt", "hi")
    items = stream(tmp_path)
    assert next(items) == Document("a.txt", "hi")
    gone.unlink()
    rest = list(items)
    assert rest[1] == Document("c.txt", "hi")
    assert "cannot be read" in rest[0].reason  # type: ignore[union-attr]
    assert rest[0].path == str(gone)  # type: ignore[union-attr]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    path = put(tmp_path, "x.txt", "hi")
    path.chmod(0)
    assert "Permission denied" in why(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_a_folder_that_may_not_be_listed_is_named(tmp_path):
    put(tmp_path, "x/y.txt", "hi")
    (tmp_path / "x").chmod(0)
    assert "cannot be listed" in reasons(load([tmp_path]))[0]
    (tmp_path / "x").chmod(0o700)


def test_a_file_over_the_limit_is_named_with_its_size(tmp_path):
    assert "has 1,001 bytes, more than the limit of 1,000" in why(put(tmp_path, "x.txt", "x" * 1001), max_bytes=1000)
    assert one(put(tmp_path, "y.txt", "x" * 1000), max_bytes=1000).text == "x" * 1000


@pytest.mark.slow
def test_fifty_megabytes_in_one_line_are_read_in_linear_time(tmp_path):
    for name, text in (("a.txt", "word " * 10_000_000), ("b.txt", "été " * 10_000_000)):
        with not_hanging():
            assert one(put(tmp_path, name, text.encode("cp1252")), max_characters=50_000_000).text == text


def test_equal_folders_give_equal_documents_for_any_hash_seed(tmp_path):
    put(tmp_path, "a.jsonl", '{"text": "hi", "z": 1, "y": {"b": 1, "a": [2]}}\n{"text": "ho", "metadata": {"k": null}}')
    put(tmp_path, "b.html", "<title>T</title><meta name=author content=A><p>Hi</p>")
    put(tmp_path, "c.md", "---\ntags: [b, a]\ntitle: T\n---\n# H")
    program = "import sys; from sensegraph.documents import load; print(load([sys.argv[1]]))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


# ── encodings ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "utf-8-sig"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
        (FRENCH, "utf-32"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        (JAPANESE, "utf-16-be"),
        (FRENCH, "cp1252"),
        (GERMAN, "latin-1"),
        (POLISH, "cp1250"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (CHINESE, "gb18030"),
        (KOREAN, "cp949"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
    ],
)
@pytest.mark.parametrize("times", [1, 30])
def test_an_encoding_that_can_be_told_is_told(tmp_path, text, encoding, times):
    assert one(put(tmp_path, "x.txt", (text * times).encode(encoding))).text == text * times


@pytest.mark.parametrize(("text", "encoding"), [("東京", "shift_jis"), ("你好，世界", "gb18030"), ("你好", "gb18030")])
def test_a_text_too_short_to_tell_its_encoding_is_named(tmp_path, text, encoding):
    assert "no encoding that can be told" in why(put(tmp_path, "x.txt", text.encode(encoding)))


@pytest.mark.parametrize(("text", "encoding"), [("naïve", "latin-1"), ("Hi", "utf-16-le"), ("L’été", "cp1252")])
def test_a_short_western_text_is_told(tmp_path, text, encoding):
    assert one(put(tmp_path, "x.txt", text.encode(encoding))).text == text


def test_an_accent_far_into_a_long_ascii_file_is_seen(tmp_path):
    text = "plain words only\n" * 20_000 + FRENCH + "plain words only\n"
    assert one(put(tmp_path, "x.txt", text.encode("cp1252"))).text == text


def test_a_text_is_changed_in_nothing_but_mark_line_ends_and_nuls(tmp_path):
    path = put(tmp_path, "x.txt", b"\xef\xbb\xbf  one\r\ntwo\rthree\x00 four\n\n\tfive \x0c six  ")
    assert one(path).text == "  one\ntwo\rthree four\n\n\tfive \x0c six  "


def test_a_text_with_a_damaged_byte_is_read_and_the_damage_is_reported(tmp_path):
    path = put(tmp_path, "x.txt", ("é" * 50 + "\n").encode() * 100 + b"\xff" + ("é" * 50).encode())
    loaded = load([path])
    assert loaded.documents[0].text == ("é" * 50 + "\n") * 100 + "\ufffd" + "é" * 50
    assert reasons(loaded) == ["1 damaged place is no UTF-8 (first in line 101), read as U+FFFD; all else was read."]


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\0\0\0\0"])
def test_a_file_without_text_is_named_as_empty(tmp_path, content):
    assert "is empty" in why(put(tmp_path, "x.txt", content))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n%plain enough to decode", "a PDF file"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00\x8d\xe5", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01", "a JPEG image"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00", "a program"),
        (b"SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20", "a SQLite file"),
        (bytes(range(256)) * 8, "binary"),
        (b"\x01\x02\x03\x00\x00\x00\x04\x05 some words \x00\x00\x06\x07\x08", "binary"),
    ],
)
def test_a_binary_file_named_txt_is_named_as_what_it_is(tmp_path, content, kind):
    assert kind in why(put(tmp_path, "x.txt", content))


def test_words_that_begin_like_a_binary_format_are_text(tmp_path):
    assert one(put(tmp_path, "x.txt", "GIF89a is a format; RIFF another; MZ a third")).text.startswith("GIF89a")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1).filter(str.strip))
def test_every_utf8_text_is_read_as_itself(text):
    assert decode_text(text.encode()) == (clean_text(text), "")


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_a_reason(data):
    with suppress(InputError):
        text, _ = decode_text(data)
        assert text.encode()
        assert "\0" not in text


# ── Markdown and reStructuredText ────────────────────────────────────────────────────────────────────────────────────


def test_front_matter_gives_title_time_and_metadata_and_the_text_stays_whole(tmp_path):
    head = 'title: "A: tale"\ndate: 5 March 2024\ntags: [a, b]\nlist:\n  - x\n  - 2\ndraft: false\nn: 3\n'
    text = f"---\n{head}---\n# Head\nHi"
    document = one(put(tmp_path, "x.md", text))
    assert (document.title, document.time, document.text) == ("A: tale", "2024-03-05", text)
    assert document.metadata == (("draft", False), ("list", '["x",2]'), ("n", 3), ("tags", '["a","b"]'))


def test_toml_front_matter_is_read_too(tmp_path):
    document = one(put(tmp_path, "x.md", '+++\ntitle = "T"\ndate = 2024-03-05\nn = 1\n+++\nHi'))
    assert (document.title, document.time, document.metadata) == ("T", "2024-03-05", (("n", 1),))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n# Two", "One"),
        ("words\n\n## *Two* words ##\n", "Two words"),
        ("```\n# code\n```\n# Head", "Head"),
        ("~~~~\n# code\n~~~\n# code\n~~~~\n# Head", "Head"),
        ("Under `line`\n====\n", "Under line"),
        ("# [Link](http://x) to snake_case", "Link to snake_case"),
        ("#hashtag\nwords", ""),
        ("no heading", ""),
        ("# " + "*_`[" * 200_000, "[" * 125),
        ("---\nnot: closed\n# Head", "Head"),
        ("+++\nnot = [toml\n+++\n# Head", "Head"),
    ],
)
def test_the_title_of_markdown_is_its_first_heading(tmp_path, text, title):
    assert one(put(tmp_path, "x.md", text)).title == title


def test_front_matter_that_is_none_gives_nothing():
    assert split_front_matter("--- x\ntitle: no\n---\n") == ({}, "--- x\ntitle: no\n---\n")


def test_a_heading_of_the_second_level_behind_prose_is_no_title(tmp_path):
    prose = "A tool that packs files, and unpacks them again, on every system that there is.\n\n"
    assert one(put(tmp_path, "x.md", f"{prose}## Speed\n\nHigh.\n")).title == ""
    assert one(put(tmp_path, "y.md", f"{prose}Speed\n-----\n\nHigh.\n")).title == ""
    assert one(put(tmp_path, "z.md", f"{prose}# Packer\n\n## Speed\n")).title == "Packer"
    assert one(put(tmp_path, "u.md", "![logo](logo.png)\n\n## Packer\n\nIt packs.\n")).title == "Packer"


def test_the_title_of_restructured_text_is_its_underlined_line(tmp_path):
    assert one(put(tmp_path, "x.rst", "=====\nTitle\n=====\n\nText\n")).title == "Title"
    assert one(put(tmp_path, "y.rst", "Text alone\n")).title == ""


def test_plain_text_has_no_title(tmp_path):
    assert one(put(tmp_path, "x.txt", "# Not a heading\n")).title == ""


# ── HTML ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = """<!doctype html><html><head><title> A  page </title>
<meta property="article:published_time" content="2024-03-05T06:07:08Z"><meta name="Author" content="Ann">
<style>p { color: red }</style></head><body><header><a href="/">Home</a></header><nav><ul><li>Menu</li></ul></nav>
<h1>Head</h1><p>First <b>bold</b>
 words.<br>Second&nbsp;line &amp; more</p><script>alert("x")</script><aside>Advert</aside>
<ul><li>one</li><li><p>two</p></li></ul><pre>a
  b</pre><table><tr><th>Name</th><th>Age</th></tr><tr><td><p>Bob</p></td><td>7</td></tr></table>
<div role="navigation">More</div><p hidden>Secret</p><footer>Imprint</footer></body></html>"""


def test_html_becomes_readable_lines_without_boilerplate(tmp_path):
    document = one(put(tmp_path, "x.html", PAGE))
    assert document.text.split("\n\n") == [
        "Head",
        "First bold words.",
        "Second\xa0line & more",
        "one",
        "two",
        "a\n  b\nName: Bob; Age: 7.",
    ]
    assert document.title == "A page"
    assert document.time == "2024-03-05T06:07:08+00:00"
    assert document.metadata == (("author", "Ann"),)


def test_the_main_part_of_a_page_is_its_text_where_it_is_marked(tmp_path):
    page = "<body><div>Cookies?</div><main><h1>Head</h1><p>Hi</p></main><div>Related</div></body>"
    document = one(put(tmp_path, "x.html", page))
    assert (document.title, document.text) == ("Head", "Head\n\nHi")
    assert one(put(tmp_path, "y.html", "<main></main><p>Hi</p>")).text == "Hi"


def test_tables_within_tables_keep_all_their_text(tmp_path):
    page = "<table><tr><td>Left</td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>"
    assert one(put(tmp_path, "x.html", page)).text == "Left\n\na | b"


def test_a_page_declares_its_encoding(tmp_path):
    page = '<meta charset="iso-8859-2"><p>Łódź</p>'
    assert one(put(tmp_path, "x.html", page.encode("iso-8859-2"))).text == "Łódź"
    wrong = '<meta charset="no-such-thing"><p>' + RUSSIAN * 3
    assert RUSSIAN.strip() in one(put(tmp_path, "y.html", wrong.encode("cp1251"))).text


def test_a_page_without_text_is_named(tmp_path):
    assert "no text to read" in why(put(tmp_path, "x.html", "<title>T</title><script>build()</script>"))


def test_a_deeply_nested_page_is_read(tmp_path):
    assert one(put(tmp_path, "x.html", "<div>" * 900 + "deep")).text == "deep"


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_of_jsonl_are_documents(tmp_path):
    lines = [
        {"_id": "a", "id": "other", "title": "A", "text": "one\r\ntwo", "metadata": {"z": 1, "y": {"b": [1, None]}}},
        {"id": 7, "text": "x\u2028y", "time": "March 5, 2024", "lang": "en"},
        {"ID": "c", "Text": "caps", "time": "some day"},
    ]
    loaded = load([put(tmp_path, "x.jsonl", "\n".join(json.dumps(x, ensure_ascii=False) for x in lines))])
    assert loaded.documents == (
        Document("a", "one\ntwo", "A", (("id", "other"), ("y", '{"b":[1,null]}'), ("z", 1))),
        Document("7", "x\u2028y", "", (("lang", "en"),), "2024-03-05"),
        Document("c", "caps", "", (("time", "some day"),)),
    )
    assert not loaded.skipped


def test_a_malformed_line_is_named_with_its_number_and_the_others_go_on(tmp_path):
    lines = ['{"id": "a", "text": "x"}', "", '{"id": "b", "text": ', "[1]", '{"id": "c"}', '{"id": "d", "text": " "}']
    lines += ['{"id": [], "text": "x"}', '{"id": "e", "text": 1}', '{"id": "f", "text": "y"}']
    loaded = load([put(tmp_path, "x.jsonl", "\n".join(lines))])
    assert [d.id for d in loaded.documents] == ["a", "f"]
    starts = ["line 3 is not valid JSON", "line 4 is list", "line 5 has no 'text' (it has: id)", "line 6 has an empty"]
    starts += ["line 7 has a 'id' that is list", "line 8 has a 'text' that is int"]
    assert [r[: len(s)] for r, s in zip(reasons(loaded), starts, strict=True)] == starts


def test_an_id_that_is_there_already_is_named_and_the_first_kept(tmp_path):
    loaded = load([put(tmp_path, "x.jsonl", '{"id": "a", "text": "first"}\n{"id": "a", "text": "second"}')])
    assert [d.text for d in loaded.documents] == ["first"]
    assert reasons(loaded)[0].startswith("line 2 has the id 'a', which was given earlier in this file")


def test_a_record_without_an_id_is_named_by_its_content(tmp_path):
    both = load([put(tmp_path, "x.jsonl", '{"text": "a"}\n{"text": "b", "id": null}')]).documents
    later = load([put(tmp_path, "x.jsonl", '{"text": "b"}')]).documents
    assert both[1].id == later[0].id
    assert both[0].id.startswith("x.jsonl#")
    assert both[0].id != both[1].id


def test_many_bad_lines_are_counted_after_the_first_twenty(tmp_path):
    loaded = load([put(tmp_path, "x.jsonl", "no json\n" * 100)])
    assert len(loaded.skipped) == 21
    assert loaded.skipped[-1].reason.startswith("holds 80 more")


def test_numbers_and_escapes_that_nothing_can_store_are_made_storable(tmp_path):
    line = '{"id": "a", "text": "cut \\ud83d off", "n": 1e999, "m": NaN, "big": 123456789012345678901234567890}'
    document = one(put(tmp_path, "x.jsonl", line))
    assert document.text == "cut \ufffd off"
    assert document.metadata == (("big", "123456789012345678901234567890"), ("m", None), ("n", None))
    encode_canonical(document)


def test_json_that_is_too_deep_is_named(tmp_path):
    assert "not valid JSON" in why(put(tmp_path, "y.json", "[" * 10))
    reason = why(put(tmp_path, "x.json", "[" * 100_000 + "]" * 100_000))
    assert "too deep" in reason


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]',
        '{"documents": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}], "version": 1}',
    ],
)
def test_json_holds_an_array_of_records_or_an_object_with_documents(tmp_path, text):
    assert load([put(tmp_path, "x.json", text)]).documents == (Document("a", "x"), Document("b", "y"))


def test_a_json_object_is_one_document_named_by_its_file(tmp_path):
    assert one(put(tmp_path, "x.json", '{"text": "hi", "title": "T"}')) == Document("x.json", "hi", "T")


def test_json_of_another_shape_is_named(tmp_path):
    assert "no records" in why(put(tmp_path, "x.json", '"text"'))
    assert "not valid JSON (Expecting" in why(put(tmp_path, "y.json", '{"text": "x",\n oops}'))
    assert "line 2, column 2" in why(tmp_path / "y.json")
    assert reasons(load([put(tmp_path, "z.json", '[1, {"text": "x"}]')]))[0].startswith("record 1 is int")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows_of_csv_are_documents_in_any_dialect(tmp_path, delimiter, quote, mark):
    rows = [["id", "text", "title", "n"], ["a", f"one{delimiter} two\r\nthree", "T", "1"], ["b", "four", "", ""]]
    text = mark + "\r\n".join(delimiter.join(f"{quote}{c}{quote}" for c in row) for row in rows)
    assert load([put(tmp_path, "x.csv", text)]).documents == (
        Document("a", f"one{delimiter} two\nthree", "T", (("n", "1"),)),
        Document("b", "four", "", (("n", ""),)),
    )


def test_bad_rows_are_named_with_the_line_on_which_they_begin(tmp_path):
    text = 'id,text\na,"x\ny"\nb,one,two\n\nc\nd,ok\nd,again\n'
    loaded = load([put(tmp_path, "x.csv", text)])
    assert [d.id for d in loaded.documents] == ["a", "d"]
    starts = ["line 4 has 3 fields where the header has 2", "line 6 has no 'text'", "line 8 has the id 'd'"]
    assert [r[: len(s)] for r, s in zip(reasons(loaded), starts, strict=True)] == starts


def test_the_line_that_names_the_delimiter_is_no_header(tmp_path):
    assert one(put(tmp_path, "x.csv", "sep=;\nid;text\na;x")) == Document("a", "x")


def test_blank_lines_before_the_header_and_old_line_ends_are_read(tmp_path):
    assert one(put(tmp_path, "x.csv", "\n\nid,text\na,x")) == Document("a", "x")
    assert one(put(tmp_path, "y.csv", "id,text\ra,x\r")) == Document("a", "x")


@pytest.mark.parametrize(("name", "text"), [("x.json", "[]"), ("x.csv", "id,text\n")])
def test_a_file_without_records_is_named(tmp_path, name, text):
    assert "no records" in why(put(tmp_path, name, text))


def test_a_field_of_any_length_is_read(tmp_path):
    assert one(put(tmp_path, "x.csv", f"id,text\na,{'x' * 300_000}")).text == "x" * 300_000


def test_a_table_without_the_text_column_that_is_asked_for_is_named_and_the_columns_can_be_named(tmp_path):
    path = put(tmp_path, "x.csv", "key,body,head,when\na,Hi,T,5.3.2024\n")
    assert "has no column 'words' in its first line (key,body,head,when)" in why(path, text_column="words")
    columns = {"text_column": "body", "id_column": "key", "title_column": "head", "time_column": "when"}
    assert one(path, **columns) == Document("a", "Hi", "T", (), "2024-03-05")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(st.dictionaries(st.text(max_size=5), SCALARS | st.lists(SCALARS, max_size=3), max_size=5))
def test_any_metadata_is_sorted_and_has_a_canonical_form(fields):
    pairs = flatten_fields(fields)
    assert [k for k, _ in pairs] == sorted(clean_text(k) for k in fields)
    encode_canonical(pairs)


FRAGMENTS = st.sampled_from([*"\n\r\t,;|'\"{}[]:#-=<>/ &", "text", "id", "1", "---\n", "+++\n", "<p>", "<tr>", "sep="])


@pytest.mark.parametrize(
    "extension", ["txt", "md", "rst", "html", "csv", "tsv", "json", "jsonl", "srt", "vtt", "eml", "mbox"]
)
@given(content=st.lists(FRAGMENTS | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_in_any_format_gives_documents_or_reasons(extension, content):
    with TemporaryDirectory() as folder:
        loaded = load([put(Path(folder), f"x.{extension}", content.encode())])
        assert loaded.documents or loaded.skipped
        assert all(d.id and d.text for d in loaded.documents)


# ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024", "2024"),
        ("2024-03", "2024-03"),
        ("2024-13", ""),
        ("20240305", "2024-03-05"),
        ("2024-03-05T06:07", "2024-03-05T06:07:00"),
        ("2024-03-05 06:07:08+02:00", "2024-03-05T06:07:08+02:00"),
        ("2024/3/5", "2024-03-05"),
        ("5.3.2024", "2024-03-05"),
        ("5th of March, 2024", "2024-03-05"),
        ("Sept. 5, 2024", "2024-09-05"),
        ("March 32, 2024", ""),
        ("Tue, 05 Mar 2024 06:07:08 +0000", "2024-03-05T06:07:08+00:00"),
        ("3/5/2024", ""),
        ("yesterday", ""),
        ("", ""),
        (1709618828, "2024-03-05T06:07:08+00:00"),
        (1709618828000, "2024-03-05T06:07:08+00:00"),
        (5, ""),
        (float("nan"), ""),
        (True, ""),
        (None, ""),
    ],
)
def test_times_become_iso_8601_or_nothing(value, expected):
    assert read_iso_date(value) == expected


@given(st.text(max_size=30) | st.floats() | st.integers())
def test_no_value_makes_reading_a_time_fail(value):
    assert isinstance(read_iso_date(value), str)


# ── PDF and office files ─────────────────────────────────────────────────────────────────────────────────────────────


@needs_docs
def test_a_pdf_is_read_without_its_running_headers_and_footers(tmp_path):
    bodies = [[f"{word} swim.", f"{word} are many."] for word in ("Whales", "Seals", "Otters")]
    pages = [["ACME Report", *body, f"Page {n} of 3"] for n, body in enumerate(bodies, 1)]
    document = one(put(tmp_path, "x.pdf", pdf(pages, "Microsoft Word - Whales")))
    assert document.text == "\n\f".join("\n".join(body) for body in bodies)
    assert (document.title, document.time) == ("Whales", "2024-03-05T06:07:08+00:00")
    assert ("pages", 3) in document.metadata


@needs_docs
def test_a_docx_is_read_by_paragraphs(tmp_path):
    document = one(put(tmp_path, "x.docx", docx(["Hello world.", "Two *stars* here."])))
    assert document.text == "Hello world.\n\nTwo *stars* here."


@needs_docs
def test_words_that_a_pdf_parts_at_a_line_end_are_whole_without_control_characters(tmp_path):
    lines = ["A long line of this page is about the manip-", "ulation of trees, and of a well-", "known tree."]
    document = one(put(tmp_path, "x.pdf", pdf([[*lines, "It is well-known."]])))
    assert "manipulation of trees" in document.text
    assert document.text.count("well-known") == 2
    assert not [c for c in document.text if c < " " and c != "\n"]


def test_no_text_holds_what_only_a_terminal_acts_on(tmp_path):
    steered = b"\x1b[1;31merror\x1b[0m in N\x08Na\x08am\x08me\x07, a\x1fb, \x7fand\x02 more "
    path = put(tmp_path, "log.txt", steered + b"\t\xc2\x9fend." * 200)
    assert one(path).text == "error in Name, a b, and more " + "\tend." * 200


@needs_docs
def test_the_time_of_a_template_is_not_that_of_the_document(tmp_path):
    template = "2013-12-23T23:15:00Z"
    for created, modified, time in (
        ("2024-03-05T06:07:08Z", "", "2024-03-05T06:07:08+00:00"),
        (template, "", ""),
        (template, "2024-03-05T06:07:08Z", "2024-03-05T06:07:08+00:00"),
    ):
        document = one(put(tmp_path, "x.docx", docx(["Hello world."], created, modified)))
        assert (document.time, document.metadata) == (time, ())


@needs_docs
def test_a_damaged_or_textless_pdf_is_named(tmp_path):
    assert "cannot be read as .pdf" in why(put(tmp_path, "x.pdf", b"%PDF-1.4 garbage"))
    assert "cannot be read as .docx" in why(put(tmp_path, "x.docx", b"not a zip"))
    assert "holds no text" in why(put(tmp_path, "y.pdf", pdf([[], []])))
    assert "is empty" in why(put(tmp_path, "z.pdf", b""))


def test_without_the_extra_a_pdf_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kreuzberg", None)
    assert 'pip install "sensegraph[docs]"' in why(put(tmp_path, "x.pdf", pdf([["Hi"]])))


def test_running_lines_are_left_out_from_three_pages_on():
    pages = [f"Head {n}\nOnly {word} here\n- {n} -" for n, word in enumerate(("whales", "ships", "storms"))]
    assert strip_page_edges(pages) == ["Only whales here", "Only ships here", "Only storms here"]
    assert strip_page_edges(pages[:2]) == pages[:2]
    assert strip_page_edges(["Same"] * 4) == ["Same"] * 4
