"""What newcomers met: words behind options, what was not read, copies, names that were meant, values at a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import messages
from harbour import papers
from sensegraph import Corpus, Document
from sensegraph.cli import app
from sensegraph.cli.options import limit_rows
from sensegraph.display import shorten_value
from sensegraph.engines.offline.extraction.kinds import Counts, count_units, select_concepts
from sensegraph.errors import InputError, NotIndexed, SettingsError
from sensegraph.extractions import Shortened
from sensegraph.index.browse.copies import group_copies, hash_texts, keep_hashes, note_copies
from sensegraph.index.browse.elements import suggest_names
from sensegraph.language.asking.whole_collections import asks_about_collection
from sensegraph.retrieval.signals import wholeness_signs
from sensegraph.types import Cluster, Entity, Hierarchy

ADA = "Ada Lovelace wrote the first program. She met Charles Babbage in London."
LISTS = (
    "show reports", "show timeline", "show changes", "show methods", "entities list", "entities log",
    "entities duplicates", "documents list", "documents pii", "config show", "config presets", "status",
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """A folder with a text, a copy of it, and files that are not read."""
    folder = tmp_path_factory.mktemp("newcomer")
    texts = folder / "input"
    texts.mkdir()
    for name in ("ada.txt", "copy.txt"):
        (texts / name).write_text(ADA, encoding="utf-8")
    for name in ("NOTICE", "table.xyz"):
        (texts / name).write_text("nothing", encoding="utf-8")
    with Corpus.open(folder) as opened:
        opened.add(texts)
        assert opened.document_keys()
        yield opened


@pytest.fixture(scope="module")
def built(corpus: Corpus) -> tuple[str, ...]:
    """The notes of the first build."""
    return corpus.build().notes


def run(corpus: Corpus, line: str) -> tuple[int, str]:
    words = [word.replace("ROOT", str(corpus.root)) for word in line.split()]
    done = CliRunner().invoke(app, words, terminal_width=100)
    return done.exit_code, done.output


# ── words of the command line ──


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("documents --root ROOT purge --dry-run", "would remove"),
        ("documents --root=ROOT purge --dry-run", "would remove"),
        ("--root ROOT documents list", "2 documents"),
        ("-C ROOT status", "documents"),
        ("graph -C ROOT query (p) --limit 1", "rows, 1 shown"),
        ("entities -n 1 -C ROOT", "more (--limit, --json)"),
    ],
)
def test_a_command_may_stand_behind_its_options(corpus: Corpus, built: object, line: str, shown: str):
    status, printed = run(corpus, line)
    assert status == 0, printed
    assert shown in printed


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("documents --root ROOT purg", "Did you mean 'purge'?"),
        ("show --root ROOT entty Ada", "Did you mean 'entity'?"),
        ("query --root ROOT --metod local Who?", "--method"),
        ("query --root ROOT --method lokal Who?", "did you mean 'local'?"),
        ("config get --root ROOT index.chunk_tokns", "did you mean index.chunk_tokens?"),
        ("show entity --root ROOT Lundon", "did you mean 'London'?"),
        ("entities --root ROOT --type persn", "did you mean person?"),
        ("documents show --root ROOT copi.txt", "did you mean 'copy.txt'?"),
        ("documents remove --root ROOT copi.txt", "did you mean 'copy.txt'?"),
        ("graph export --root ROOT --format graphmll out", "Did you mean graphml?"),
    ],
)
def test_what_was_meant_is_said(corpus: Corpus, built: object, line: str, shown: str):
    _, printed = run(corpus, line)
    assert shown in " ".join(printed.split()), printed


@pytest.mark.parametrize("line", LISTS)
def test_every_list_has_a_limit(line: str):
    printed = CliRunner().invoke(app, [*line.split(), "--help"], terminal_width=100).output
    assert "--limit" in printed


def test_what_a_limit_leaves_out_is_counted():
    assert limit_rows(["a", "b", "c"], 1) == ["a", "… and 2 more (--limit, --json)"]
    assert limit_rows(["a", "b"], 2) == ["a", "b"]


def test_where_a_picture_is_written_is_said(corpus: Corpus, built: object, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, printed = run(corpus, "graph draw --root ROOT --depth 0")
    assert status == 0, printed
    assert f"written into the current folder, {tmp_path}; --out FILE names another place" in printed
    _, printed = run(corpus, "graph draw --root ROOT --depth 0 --out there.svg")
    assert printed == "there.svg\n"


# ── what was not read, and what was read twice ──


def test_notes_of_a_build_name_what_was_not_read_and_what_was_read_twice(corpus: Corpus, built: tuple[str, ...]):
    said = "\n".join(built)
    assert "1 file without an extension is no text document (NOTICE)" in said
    assert "1 .xyz file is no text document (table.xyz)" in said
    assert "2 documents hold the same text as another: ada.txt = copy.txt" in said
    again = "\n".join(corpus.build().notes)
    assert "NOTICE" not in again
    assert "ada.txt = copy.txt" in again


def test_the_list_of_documents_marks_copies(corpus: Corpus, built: object):
    rows, _ = corpus.browser.documents()
    assert [(row.id, row.same_as) for row in rows] == [("ada.txt", ""), ("copy.txt", "ada.txt")]
    assert "(the text of ada.txt)" in run(corpus, "documents --root ROOT")[1]


def test_texts_that_differ_or_are_empty_are_no_copies():
    documents = [
        Document("a", "one"),
        Document("b", "two"),
        Document("c", "one"),
        Document("d", " "),
        Document("e", ""),
    ]
    (hashed,) = keep_hashes.fn([hash_texts.fn(documents)])
    assert [name for name, _ in hashed] == ["a", "b", "c"]
    assert group_copies.fn([hashed]) == [(("a", "c"),)]
    assert note_copies(()) == ()
    (said,) = note_copies(tuple((f"a{i}", f"b{i}", f"c{i}", f"d{i}") for i in range(7)))
    assert "28 documents" in said
    assert "a0 = b0 = c0 and 1 more" in said
    assert "and 2 more groups" in said


# ── errors in Python ──


def test_errors_about_an_index_name_the_call_of_python_too():
    told = [line for line in messages.all_messages().splitlines() if "NotIndexed: " in line and "`sensegraph " in line]
    told = [line for line in told if "needs a part that this index lacks" not in line]  # of the command line alone
    assert len(told) > 6
    assert [line for line in told if "in Python: " not in line] == []


def test_a_misspelt_name_leads_to_the_one_that_was_meant(corpus: Corpus, built: object):
    assert suggest_names("Tomas Lindqvst", ["Tomas", "Tomas Lindqvist", "Christmas"]).startswith(
        "; did you mean 'Tomas Lindqvist'? Others that are near: 'Tomas'"
    )
    assert suggest_names("x", []) == ": the index holds none."
    with pytest.raises(InputError, match=r"did you mean 'copy\.txt'"):
        corpus.remove("copi.txt")
    with pytest.raises(NotIndexed, match=r"did you mean 'copy\.txt'"):
        corpus.browser.document("copi.txt")
    with pytest.raises(SettingsError, match="did you mean 'graph'"):
        corpus.build(parts=["graf"])


# ── the environment ──


def test_settings_of_the_environment_are_those_of_commands_and_not_of_programs(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SENSEGRAPH_INDEX__CHUNK_TOKENS", "123")
    assert run(corpus, "config get --root ROOT index.chunk_tokens") == (0, "123\n")
    with Corpus.open(corpus.root) as opened:
        assert opened.settings.index.chunk_tokens != 123
    page = (Path(__file__).resolve().parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")
    told = page.partition("## The environment")[2].partition("\n## ")[0]
    read = ("api_key_env", "STORE_PASSWORD", "SENSEGRAPH_TRUST", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    assert [name for name in (*read, "SENSEGRAPH_ROOT", "headers", "HTTPS_PROXY") if name not in told] == []


# ── values at a prompt ──


def test_values_show_themselves_in_few_characters(corpus: Corpus, built: object):
    entity = corpus.entities()[0]
    values = [
        entity,
        corpus.entity(entity.id),
        corpus.report(corpus.reports()[0].id),
        corpus.search("Who met Babbage?"),
    ]
    values += [
        corpus.query("Who met Babbage?"),
        corpus.settings,
        corpus.status(),
        corpus.graph(),
        corpus.documents()[0],
    ]
    assert [v for v in map(repr, values) if len(v) > 1200] == []
    assert repr(corpus.entity(entity.id)).startswith("EntityPage(entity=EntityRow(id=")


def test_long_texts_and_collections_are_shortened_and_usual_fields_left_out():
    assert shorten_value(Document("a", "x" * 100)) == f"Document(id='a', text='{'x' * 59}…')"
    assert shorten_value((1, 2, 3, 4, 5)) == "(1, 2, 3, … 2 more)"
    assert (shorten_value((1,)), shorten_value((1, 2)), shorten_value([1])) == ("(1,)", "(1, 2)", "[1]")
    assert shorten_value([Document("a", "b")] * 1200) == "<1,200 Document>"
    assert shorten_value({"a": [1], "b": ()}) == "{'a': [1], 'b': ()}"
    assert shorten_value(frozenset("ab")) == "<frozenset of 2>"
    assert "descriptions=()" in repr(Entity("1", "Ada", "person", "", (), (), 1, 0))
    assert repr(Hierarchy(tuple(Cluster(str(i), 0, 0, "", (), (), "t") for i in range(1200)))) == (
        "Hierarchy(clusters=<1,200 Cluster>)"
    )
    assert {kind.__name__ for kind in Shortened.__subclasses__() if kind.__repr__ is not Shortened.__repr__} == set()
    assert shorten_value(SimpleNamespace(a=1)) == "namespace(a=1)"


# ── questions about all ──


@pytest.mark.parametrize(
    "question",
    [
        "What is this collection about?",
        "What are these documents about?",
        "Summarize this folder",
        "Please summarise all of the files.",
        "What's in this directory?",
        "What do these documents say?",
        "Give me an overview",
        "Tell me what this corpus is about.",
        "Worum geht es in dieser Sammlung?",
        "Worum geht es hier?",
        "Wovon handeln diese Dokumente?",
        "Fasse diesen Ordner zusammen.",
        "Was steht in diesen Dokumenten?",
        "Gib mir einen Überblick über alle Dateien",
    ],
)
def test_a_question_about_a_collection_is_one_about_all(question: str):
    assert asks_about_collection(question)
    assert wholeness_signs(question)[0] > 100


@pytest.mark.parametrize(
    "question",
    [
        "What is the report about?",
        "What do these documents say about prices?",
        "Summarize the meeting of 12 January",
        "What is the collection of taxes?",
        "Which files does gzip read?",
        "Worum geht es in Undertow?",
        "Fasse die Sitzung vom Januar zusammen",
        "How many documents are there?",
    ],
)
def test_a_question_about_one_thing_is_none_about_a_collection(question: str):
    assert not asks_about_collection(question)


@pytest.fixture(scope="module")
def harbour_papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("harbour")) as opened:
        opened.add(*papers())
        opened.build()
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("question", ["What is this collection about?", "Fasse diese Dokumente zusammen"])
def test_such_a_question_is_answered_from_all_documents(harbour_papers: Corpus, question: str):
    answer = harbour_papers.query(question)
    assert answer.method == "graphrag"
    assert len({c.document for c in answer.citations}) > 1
    themes = harbour_papers.query("What are the main themes?", method="graphrag")
    assert answer.text == themes.text


def test_the_page_and_the_quick_start_say_which_files_are_read_and_what_is_installed_for_them():
    root = Path(__file__).resolve().parents[1]
    label = (root / "src/sensegraph/server/page/library.js").read_text(encoding="utf-8")
    assert "Texts, Markdown, PDF, Word and other office files, tables, mail, web pages, .zip." in label
    start = (root / "docs/quickstart.md").read_text(encoding="utf-8")
    assert "sensegraph index PAPERS --root notes" in start
    assert "pip install 'sensegraph[server,docs]'" in start


def test_the_page_tells_at_how_many_chunks_more_is_asked_of_a_concept():
    page = (Path(__file__).resolve().parents[1] / "docs/offline-engine.md").read_text(encoding="utf-8")
    assert "In fewer than 8 chunks that is what stands there twice; from 8 chunks on" in page
    counts = Counts()
    for chunk in (0, 0, 1):
        count_units(counts, [(chunk, ["pier"])])
    assert select_concepts(counts, 7) == {"pier"}
    assert select_concepts(counts, 8) == frozenset()
    twice = Counts()
    count_units(twice, [(0, ["harbour", "council"])] * 4)
    assert "harbour council" in select_concepts(twice, 7)
    assert "harbour council" not in select_concepts(twice, 8)
