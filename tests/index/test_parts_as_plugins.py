"""A method with a part of the index of its own, both defined here: everything that an index does, it does for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from asked_in_time import DATA, FUNCTIONAL
from scripted import ScriptedServer
from sensegraph import plugins
from sensegraph.answering.asking import conclude_answer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.estimate import Foresight
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part, PartEstimate, find_part, parts_with_needs, sort_parts
from sensegraph.index.restricted.moment import TimedIndex, restrict_to_time
from sensegraph.index.restricted.scope import ScopedIndex, restrict_to_scope
from sensegraph.index.vectors import embed_records, nearest_to
from sensegraph.plugins import Plugin
from sensegraph.protocols import LanguageEngine, Task
from sensegraph.questions import Scope
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Chunk, Context, Evidence, Passage, Question, Source
from wired import settings, stories

# ── the part: one gist of every chunk, written by the engine, with a vector ──


@dataclass(frozen=True, slots=True)
class GistSettings:
    """How many words of a chunk its gist is written from."""

    words: int = 20

    def __post_init__(self) -> None:
        if self.words < 1:
            raise SettingsError(f"index.gists.words is {self.words}; it must be at least 1.")


@dataclass(frozen=True, slots=True)
class Gist:
    """What a chunk says in short."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Gists:
    """The gists in the order of the chunks."""

    listed: Sequence[Gist] = ()


@step("tests.gist", version=1, uses="engine", task="summarise")
def gist(contexts: Sequence[Context], *, engine: LanguageEngine) -> list[str]:
    return engine.summarise(contexts)


@step("tests.gists", version=1, form="tables")
def gists(wholes: Sequence[Gists]) -> list[Gists]:
    return list(wholes)


def context(chunk: Chunk, given: GistSettings) -> Context:
    words = chunk.text.split()[: given.words]
    halves = (" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :]))
    return Context(tuple(Passage("description", "", half) for half in halves), chunk.title)


class GistPart(Part[Gists, GistSettings]):
    name = "gists"
    reader = "glance"
    kinds = ("gist",)
    settings = GistSettings

    def build(self, building: Building, settings: GistSettings) -> MadePart:
        chunks, rt = list(building.chunks()), building.rt
        told = rt.each(gist, [context(c, settings) for c in chunks])
        made = rt.once(gists, lambda: Gists(tuple(map(Gist, (c.id for c in chunks), told))), names=told.keys)
        vectors = embed_records(lambda: list(told), rt, name=key("gists", made.key))
        return MadePart(PartEntry(made.key, {"gist": vectors.key}), {"gists": len(told)}, ("gists are short",))

    def estimate(self, foresight: Foresight, settings: GistSettings) -> PartEstimate:
        contexts = [context(c, settings) for c in foresight.chunks]
        missing = [contexts[i] for i in foresight.rt.missing(gist, contexts)]
        asked = foresight.step(gist.name, "summarise", missing, [settings.words] * len(missing))
        return PartEstimate((asked,), [" ".join(p.text for p in c.passages) for c in contexts])

    def read(self, index: Index) -> Gists:
        return recall_result(index.store, gists, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Gists, index: ScopedIndex) -> Gists:
        return Gists(tuple(value.listed[i] for i in index.places))

    def restrict_to_moment(self, value: Gists, index: TimedIndex) -> Gists:
        said = index.whole.chunks([g.id for g in value.listed])
        then = index.chunks([g.id for g in value.listed])
        return Gists(tuple(g for g in value.listed if then[g.id] == said[g.id]))

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        kept = {g.id for g in index.part(self).listed}
        return [i for i, g in enumerate(index.whole.part(self).listed) if g.id in kept]


GISTS = GistPart()


# ── the method that reads it ──


@dataclass(frozen=True)
class Glance:
    """Answers from the gists nearest to the question."""

    top: int = 3
    name: str = "glance"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[str] = frozenset({"gists"})
    brings: ClassVar[tuple[Part[Any, Any], ...]] = (GISTS,)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        query = np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float32)
        found = index.part(GISTS).listed
        places, scores = nearest_to(query, index, rt, self.top, "gist")
        kept = [(found[i], score) for i, score in zip(places.tolist(), scores.tolist(), strict=True)]
        passages = (Passage("chunk", g.id, g.text, s, sources=(Source(g.id, 0, len(g.text)),)) for g, s in kept)
        return Evidence(tuple(passages), tuple(index.documents_of([g.id for g, _ in kept]).values()))

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)


ASKED = Question("Who sailed with Ada Harrow?")
PARTS = ["graph", "gists"]


def opened(folder: Path, server: ScriptedServer, **index: Any) -> Corpus:
    given = settings(server, index={"parts": PARTS, **index})
    return Corpus.open(folder, settings=given, method=Glance())


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Any:
    with opened(tmp_path / "corpus", server) as corpus:
        corpus.add(stories(4))
        corpus.build()
        server.reset()
        yield corpus


def test_it_is_built_counted_and_read(made: Corpus) -> None:
    index = made.index()
    assert index.manifest.part_names == {"graph", "gists"}
    assert [g.id for g in index.part(GISTS).listed] == [c.id for c in index.catalogue.chunks]
    assert made.status().counts["gists"] == len(index.catalogue.chunks)
    assert "gists are short" in index.manifest.notes
    assert Glance().retrieve(ASKED, index, made.runtime()).passages
    answer = made.query(ASKED.text)
    assert (answer.method, bool(answer.text)) == ("glance", True)


def test_an_estimate_foresees_its_calls_and_building_again_asks_for_nothing(
    tmp_path: Path, server: ScriptedServer
) -> None:
    with opened(tmp_path, server) as corpus:
        corpus.add(stories(3))
        foreseen = next(s for s in corpus.estimate().steps if s.step == gist.name)
        assert corpus.build().computed[gist.name] == foreseen.items == foreseen.calls > 0
        assert corpus.store.ledger()[gist.name].calls == foreseen.calls
        server.reset()
        assert {s.step: s.calls for s in corpus.estimate().steps}[gist.name] == 0
        corpus.build()
        assert server.done() == []


def test_an_update_equals_a_rebuild_and_pays_only_for_what_is_new(made: Corpus, server: ScriptedServer) -> None:
    made.add(stories(5))
    made.remove("story-01")
    first = made.build().computed[gist.name]
    with opened(made.root.parent / "fresh", server) as fresh:
        fresh.add([d for d in stories(5) if d.id != "story-01"])
        assert fresh.build().computed[gist.name] > first > 0
        assert fresh.index().manifest.parts == made.index().manifest.parts
        assert list(fresh.index().part(GISTS).listed) == list(made.index().part(GISTS).listed)


def test_a_filter_leaves_what_is_inside(made: Corpus) -> None:
    whole, embedder = made.index(), made.runtime().embedder
    inside = restrict_to_scope(whole, Scope(documents=("story-02",)))
    left = inside.part(GISTS).listed
    assert 0 < len(left) < len(whole.part(GISTS).listed)
    assert {g.id for g in left} == {c.id for c in inside.catalogue.chunks}
    places = [i for i, g in enumerate(whole.part(GISTS).listed) if g in left]
    assert np.array_equal(inside.vectors_of(embedder, "gist"), whole.vectors_of(embedder, "gist")[places])
    assert set(Glance().retrieve(ASKED, inside, made.runtime()).documents) == {"story-02"}


def test_a_moment_leaves_what_may_hold(tmp_path: Path) -> None:
    index = {"parts": PARTS, "chunk_tokens": 30, "chunk_overlap": 0, "temporal": {"functional": FUNCTIONAL}}
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": index}, parts=[GISTS]) as corpus:
        corpus.add(DATA)
        corpus.build()
        whole = corpus.index()
        then = restrict_to_time(whole, Scope(as_of="2015"))
        shown = whole.chunks([g.id for g in then.part(GISTS).listed])
        assert any(
            "Anna Berg became" in c.text for c in whole.chunks([g.id for g in whole.part(GISTS).listed]).values()
        )
        assert not any("Anna Berg became" in c.text for c in shown.values())
        assert 0 < len(shown) == len(then.vectors_of(corpus.runtime().embedder, "gist"))


def test_what_a_removed_document_left_is_collected_and_the_rest_stays(made: Corpus, server: ScriptedServer) -> None:
    before = list(made.index().part(GISTS).listed)
    made.remove("story-01")
    made.build()
    kept = list(made.index().part(GISTS).listed)
    assert made.collect(dry=True).by_step[gist.name].objects == len(before) - len(kept) > 0
    made.collect()
    server.reset()
    assert list(made.index().part(GISTS).listed) == kept
    assert made.build().computed.get(gist.name, 0) == 0
    assert server.done() == []


def test_its_table_of_settings_is_checked_and_used(tmp_path: Path, server: ScriptedServer) -> None:
    with opened(tmp_path / "few", server, gists={"words": 3}) as corpus:
        assert corpus.settings.index.settings_of(GISTS) == GistSettings(words=3)
    with pytest.raises(SettingsError, match=r"unknown setting index\.gists\.word; did you mean index\.gists\.words\?"):
        opened(tmp_path / "wrong", server, gists={"word": 3})
    with pytest.raises(SettingsError, match=r"index\.gists\.words is 0"):
        opened(tmp_path / "none", server, gists={"words": 0})
    with pytest.raises(SettingsError, match=r"Expected `int`.*setting `index\.gists\.words`"):
        opened(tmp_path / "text", server, gists={"words": "three"})
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "sensegraph.toml").write_text('[index]\nparts = ["gists"]\n[index.gists]\nwords = 7\n')
    with Corpus.open(tmp_path / "file", parts=[GISTS]) as corpus:
        assert corpus.settings.index.settings_of(GISTS).words == 7


def test_an_index_without_it_names_its_method(tmp_path: Path, server: ScriptedServer) -> None:
    with opened(tmp_path, server, parts=["graph"]) as corpus:
        corpus.add(stories(2))
        corpus.build()
        with pytest.raises(NotIndexed, match=r"'gists'.*`sensegraph index --method glance`"):
            corpus.index().part(GISTS)
        with pytest.raises(NotIndexed, match=r"'gists'.*`sensegraph index --method glance`"):
            corpus.index().vectors_of(corpus.runtime().embedder, "gist")
        corpus.build(parts=["gists"])
        assert corpus.index().manifest.part_names == {"graph", "gists"}


def test_where_nobody_brings_it_the_index_is_read_and_not_built(made: Corpus, server: ScriptedServer) -> None:
    with Corpus.open(made.root, settings=settings(server)) as other:
        assert other.query(ASKED.text, method="naive").text
        with pytest.raises(SettingsError, match="No index has a part 'gists'; there are graph, reports"):
            other.build()
        with pytest.raises(SettingsError, match="No index has a part 'gists'"):
            Corpus.open(made.root, settings=settings(server, index={"parts": ["gists"]}))


def test_an_installed_package_brings_it_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Plugin("parts", "gists", f"{__name__}:GISTS", "gists-for-sensegraph", "1")
    monkeypatch.setattr(plugins, "installed_plugins", lambda kind: (found,) if kind == "parts" else ())
    assert find_part("gists").kinds == ("gist",)
    assert sort_parts({"gists", "graph", "tree"}) == ("graph", "tree", "gists")


def test_parts_are_built_after_what_they_are_made_from() -> None:
    class Digest(GistPart):
        name = "digest"
        needs = ("gists", "reports")

    given = (Digest(), GISTS)
    assert parts_with_needs(["digest"], given) == ("graph", "reports", "gists", "digest")
    assert replace(Glance(), top=5).brings == (GISTS,)
