"""Tools of one's own: the distribution of docs/plugins.md keeps the contracts, is installed, found, listed and used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from sensegraph_examples.counting import CountingStore
from sensegraph_examples.newest import Newest
from sensegraph_examples.one_by_one import OneByOne
from sensegraph_examples.paragraphs import Paragraphs
from sensegraph_examples.shared_words import SharedWords
from sensegraph_examples.terse import Terse
from sensegraph_examples.trigrams import Trigrams

import sensegraph
from sensegraph import Corpus, Document, plugins
from sensegraph.corpus.settings import load_settings
from sensegraph.errors import SettingsError, StepFailed
from sensegraph.methods import METHODS, method_class
from sensegraph.testing import (
    ChunkerContract,
    EmbedderContract,
    EngineContract,
    ExecutorContract,
    RerankerContract,
    StoreContract,
)

HERE = Path(__file__).parent
OFFLINE = {"engine": "offline", "embedder": "offline", "endpoint": {"model": "", "embedding_model": ""}}
TEXTS = [
    Document(
        "old", "The mill at Arden is run by Ada Marsh.\n\nIt grinds wheat for the whole valley.", time="2001-01-01"
    ),
    Document("new", "The mill at Arden is run by Ben Holt.\n\nAda Marsh has left the valley.", time="2020-01-01"),
]


# ── the examples keep the contracts ──


class TestTrigrams(EmbedderContract):
    def make(self) -> Trigrams:
        return Trigrams()

    def make_other(self) -> Trigrams:
        return Trigrams(dim=64)


class TestTerse(EngineContract):
    def make(self) -> Terse:
        return Terse()


class TestParagraphs(ChunkerContract):
    def make(self) -> Paragraphs:
        return Paragraphs()


class TestSharedWords(RerankerContract):
    def make(self) -> SharedWords:
        return SharedWords()


class TestCountingStore(StoreContract):
    def make(self, folder: Path) -> CountingStore:
        return CountingStore(folder)


class TestOneByOne(ExecutorContract):
    def make(self) -> OneByOne:
        return OneByOne()


# ── as values ──


def test_every_tool_can_be_given_as_a_value(tmp_path: Path):
    store = CountingStore(tmp_path / "elsewhere")
    tools = {"engine": Terse(), "embedder": Trigrams(), "reranker": SharedWords(), "chunker": Paragraphs()}
    with Corpus.open(tmp_path, settings=OFFLINE, store=store, executor=OneByOne(), method=Newest(), **tools) as corpus:
        corpus.add(TEXTS)
        corpus.build()
        assert (corpus.engine, corpus.embedder, corpus.reranker, corpus.workspace.chunker) == tuple(tools.values())
        assert isinstance(corpus.runtime().executor, OneByOne)
        assert store.written
        assert not (tmp_path / ".sensegraph").exists()
        assert corpus.status().embedder == "trigrams"
        answer = corpus.query("Who runs the mill at Arden?")
        assert (answer.method, answer.engine, len(answer.citations)) == ("newest", "terse", 1)
        assert [p.title for p in corpus.search("mill at Arden", top=1).passages] == [""]
        assert corpus.search("mill at Arden").documents[0] == "new"
        assert corpus.query("Who runs the mill at Arden?", method="bm25").method == "bm25"
        assert len(corpus.search("mill at Arden", top=9).passages) == 2


def test_a_given_method_takes_settings_for_one_question(tmp_path: Path):
    with Corpus.open(tmp_path, settings=OFFLINE, method=Newest()) as corpus:
        assert corpus.asker.method("newest", context_tokens=9) == (Newest(context_tokens=9), None)
        with pytest.raises(SettingsError, match="The method newest cannot take depth"):
            corpus.asker.method("auto", depth=1)


# ── chunkers ──


@dataclass(frozen=True)
class Spans:
    spans: tuple[tuple[int, int], ...]

    def fingerprint(self) -> str:
        return repr(self.spans)

    def chunk(self, documents: Sequence[Document]) -> list[list[tuple[int, int]]]:
        return [list(self.spans) for _ in documents]


def test_chunks_are_the_spans_of_the_chunker_with_exact_texts(tmp_path: Path):
    with Corpus.open(tmp_path, settings=OFFLINE, chunker=Paragraphs()) as corpus:
        corpus.add(TEXTS)
        built = corpus.build()
        assert built.counts["chunks"] == 4
        chunks = corpus.index().chunks([c.id for c in corpus.index().catalogue.chunks]).values()
        texts = {d.id: d.text for d in TEXTS}
        assert all(texts[c.document][c.start : c.end] == c.text for c in chunks)
        assert {c.text for c in chunks} == {p for text in texts.values() for p in text.split("\n\n")}
        assert corpus.build().computed == {}
        assert "chunks.chunk" not in corpus.collect(dry=True).by_step


def test_an_update_with_a_chunker_equals_a_rebuild(tmp_path: Path):
    manifests = []
    for name, order in (("a", TEXTS), ("b", TEXTS[::-1])):
        with Corpus.open(tmp_path / name, settings=OFFLINE, chunker=Paragraphs()) as corpus:
            for document in order:
                corpus.add(document)
                corpus.build(fresh=True)
            manifests.append(corpus.manifest())
    assert manifests[0] == manifests[1]


def test_the_keys_of_chunks_are_those_of_the_windows_without_a_chunker(tmp_path: Path):
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        corpus.add(TEXTS)
        corpus.build()
        windows = {c.key for c in corpus.index().catalogue.chunks}
        assert windows
    with Corpus.open(tmp_path, settings=OFFLINE, chunker=Paragraphs()) as corpus:
        corpus.build()
        assert windows.isdisjoint(c.key for c in corpus.index().catalogue.chunks)
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        assert "chunks.chunk" not in corpus.build().computed
        assert {c.key for c in corpus.index().catalogue.chunks} == windows


@pytest.mark.parametrize("spans", [((0, 0),), ((0, 999),), ((5, 9), (0, 3)), ((-1, 2),)])
def test_spans_that_are_none_of_their_document_are_an_error_that_names_them(spans: tuple, tmp_path: Path):
    with Corpus.open(tmp_path, settings=OFFLINE, chunker=Spans(spans)) as corpus:
        corpus.add(TEXTS[0])
        with pytest.raises(StepFailed, match="The chunker Spans gave the span"):
            corpus.build()


# ── by name ──


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[EntryPoint]]:
    """The entry points that are installed, by group."""
    found: dict[str, list[EntryPoint]] = {}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: found.get(group, []))
    monkeypatch.setattr(plugins, "installed_plugins", plugins.installed_plugins.__wrapped__)
    return found


def entry(name: str, place: str, kind: str) -> EntryPoint:
    return EntryPoint(name, place, f"sensegraph.{kind}")


def test_a_name_that_no_plug_in_has_is_refused_with_the_nearest(entries: dict, tmp_path: Path):
    with pytest.raises(SettingsError, match=r"chunker cannot be 'paragraph'; choose windows\."):
        load_settings(tmp_path, {"chunker": "paragraph"})
    entries["sensegraph.chunkers"] = [entry("paragraphs", "sensegraph_examples.paragraphs:Paragraphs", "chunkers")]
    with pytest.raises(SettingsError, match=r"choose windows or paragraphs\. Did you mean paragraphs\?"):
        load_settings(tmp_path, {"chunker": "paragraph"})
    assert load_settings(tmp_path, {"chunker": "paragraphs"}).chunker == "paragraphs"


@pytest.mark.parametrize("key", ["engine", "embedder", "chunker", "store.kind", "executor.kind", "rerank.by", "method"])
def test_a_settings_file_cannot_name_a_module(key: str, entries: dict, tmp_path: Path):
    table, _, last = key.rpartition(".")
    head = f"[{table}]\n" if table else ""
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')")
    (tmp_path / "sensegraph.toml").write_text(f'{head}{last} = "evil:Evil"\n')
    with pytest.raises(SettingsError, match="evil:Evil"), Corpus.open(tmp_path) as corpus:
        corpus.asker.method()


def test_a_plug_in_takes_the_name_of_none_of_ours(entries: dict):
    entries["sensegraph.methods"] = [entry("bm25", "sensegraph_examples.newest:Newest", "methods")]
    assert method_class("bm25").__name__ == "BM25"


@pytest.mark.parametrize("place", ["no_such_module:X", "sensegraph_examples.newest:Oldest"])
def test_a_plug_in_that_cannot_be_loaded_is_an_error_that_says_where_it_is_from(place: str, entries: dict):
    entries["sensegraph.methods"] = [entry("newest", place, "methods")]
    with pytest.raises(SettingsError, match=f"The plug-in 'newest' of .* cannot be loaded from {place}"):
        method_class("newest")


def test_a_name_that_two_distributions_register_is_refused(entries: dict):
    one = entry("newest", "sensegraph_examples.newest:Newest", "methods")
    entries["sensegraph.methods"] = [one, EntryPoint("newest", "sensegraph_examples.trigrams:Trigrams", one.group)]
    with pytest.raises(SettingsError, match="'newest' is registered for methods by"):
        method_class("newest")


# ── installed ──


def test_the_page_shows_the_distribution_as_it_is():
    page = (HERE.parent / "docs" / "plugins.md").read_text(encoding="utf-8")
    shown = {text.strip() for text in re.findall(r"^```(?:python|toml)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)}
    distribution = HERE / "plugins_distribution"
    files = [distribution / "pyproject.toml", *(distribution / "src" / "sensegraph_examples").glob("[!_]*.py")]
    assert len(files) == 8
    assert {file.read_text(encoding="utf-8").strip() for file in files} <= shown


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages into which the distribution of the page is installed."""
    place = tmp_path_factory.mktemp("scratch")
    source = place / "source"
    source.mkdir()
    for file in (HERE / "plugins_distribution").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            copy = source / file.relative_to(HERE / "plugins_distribution")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    plain = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *plain, "--target", str(place / "packages"), str(source)]
    subprocess.run(command, check=True)
    return place / "packages"


@pytest.mark.slow
def test_an_installed_distribution_is_listed_and_used_by_name(scratch: Path, tmp_path: Path):
    paths = os.pathsep.join([str(scratch), str(Path(sensegraph.__file__).parents[1])])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SENSEGRAPH")} | {"PYTHONPATH": paths}

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "sensegraph", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = json.loads(run("show", "methods", "--plugins", "--json"))["plugins"]
    mine = {p["kind"]: p["name"] for p in listed if p["distribution"] == "sensegraph-examples"}
    assert mine == {
        "methods": "newest", "engines": "terse", "embedders": "trigrams", "rerankers": "shared-words",
        "chunkers": "paragraphs", "stores": "counting", "executors": "one-by-one",
    }  # fmt: skip
    assert "newest\n  from: sensegraph-examples 1.0 (sensegraph_examples.newest:Newest)" in run("show", "methods")
    assert "sensegraph-examples 1.0" in run("show", "methods", "--plugins")
    named = {kind: name for kind, name in mine.items() if kind in ("engines", "embedders", "chunkers")}
    names = "".join(f'{kind[:-1]} = "{name}"\n' for kind, name in named.items())
    more = '[rerank]\nby = "shared-words"\n[methods.newest]\ntop = 1\n'
    more += f'[store]\nkind = "{mine["stores"]}"\n[executor]\nkind = "{mine["executors"]}"\n'
    (tmp_path / "sensegraph.toml").write_text(names + more)
    (tmp_path / "input").mkdir()
    for document in TEXTS:
        (tmp_path / "input" / f"{document.id}.txt").write_text(document.text)
    assert json.loads(run("index", "--json", "-q"))["chunks"] == 4
    status = json.loads(run("status", "--json"))
    assert (status["engine"], status["embedder"]) == ("terse", "trigrams")
    answer = json.loads(run("query", "--method", "newest", "--json", "Who runs the mill at Arden?"))
    assert (answer["method"], answer["engine"], len(answer["evidence"])) == ("newest", "terse", 1)


def test_methods_list_plug_ins_with_their_origin_after_ours(entries: dict):
    from sensegraph.cli import show
    from sensegraph.corpus.views import view_methods

    entries["sensegraph.methods"] = [entry("newest", "sensegraph_examples.newest:Newest", "methods")]
    found = [replace(p, distribution="examples", version="2") for p in plugins.list_plugins("methods")]
    assert show.format_methods(METHODS, found).endswith(
        "\n\nnewest\n  from: examples 2 (sensegraph_examples.newest:Newest)"
    )
    assert view_methods(METHODS, found)[-1] == {
        "name": "newest", "from": "examples 2", "place": "sensegraph_examples.newest:Newest",
    }  # fmt: skip
    assert show.format_plugins([]) == "No plug-in is installed."
    entries["sensegraph.parts"] = [entry("b", "x:y", "parts"), entry("a", "x:y", "parts")]
    assert [p.name for p in plugins.list_plugins()] == ["newest", "a", "b"]
    assert plugins.plugin_names("parts") == ("a", "b")
