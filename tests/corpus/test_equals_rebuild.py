"""Whatever is done to a corpus, its index equals one that is built afresh of what it holds (N92; DESIGN §1)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.hierarchy import report_runs
from sensegraph.resolution.aliases import Operation
from sensegraph.resolution.log import record_operations
from sensegraph.runtime import batches
from sensegraph.runtime.keys import key
from sensegraph.types import Document
from wired import content

EXACT = ("documents", "chunks", "texts", "entities", "relations", "claims", "vectors")  # without --fresh too
OFFLINE: Mapping[str, Any] = {
    "engine": "offline",
    "processes": 1,
    "index": {
        "parts": ["graph", "reports"],
        "chunk_tokens": 40,
        "chunk_overlap": 8,
        "clusters": {"max_cluster_size": 4},
    },
}
TEXTS = (
    "Ada Harrow paid Bram Fenwick in Delft. Bram Fenwick wrote to Cora Stone. Cora Stone hired Ada Harrow.",
    "Dirk Millar sailed with Elsa Quay. Elsa Quay argued with Finn Stone in Gouda. Dirk Millar paid Finn Stone.",
    "Cora Stone painted for Dirk Millar. Dirk Millar wrote to Ada Harrow. Gwen Quay hired Hugo Harrow in Leiden.",
    "Iris Fenwick lives in Delft.",
    "Nobody came.",
)
NAMES = ("a", "b", "c/d", "ä e.txt")
PEOPLE = tuple(("ada harrow|bram fenwick|cora stone|dirk millar|elsa quay|iris fenwick").split("|"))


def opened(folder: Path) -> Corpus:
    return Corpus.open(folder, settings=OFFLINE)


class Life(RuleBasedStateMachine):
    """A corpus with documents that come, change, move and go, and decisions about names that are made and undone."""

    known: ClassVar[dict[str, dict[str, Any]]] = {}  # what was built afresh before, by what it was built of
    begun: ClassVar[dict[str, tempfile.TemporaryDirectory[str]]] = {}  # a first build of each first text
    compared: ClassVar[list[int]] = []  # how many things each index held that was compared with a fresh one

    @initialize(text=st.sampled_from(TEXTS[:3]))
    def begin(self, text: str) -> None:
        self.held = {"a": Document("a", text)}
        if text not in self.begun:
            kept = tempfile.TemporaryDirectory(prefix="begun")
            with opened(Path(kept.name)) as corpus:
                corpus.add(self.held["a"])
                corpus.build()
            self.begun[text] = kept
        self.folder = Path(tempfile.mkdtemp(prefix="life"))
        shutil.copytree(self.begun[text].name, self.folder, dirs_exist_ok=True)
        self.corpus = opened(self.folder)

    @rule(name=st.sampled_from(NAMES), text=st.sampled_from(TEXTS))
    def add_or_edit(self, name: str, text: str) -> None:
        self.put(Document(name, text))

    @rule(data=st.data(), title=st.sampled_from(["", "Letters"]), time=st.sampled_from(["", "1843-12-19"]))
    def describe(self, data: st.DataObject, title: str, time: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.held)))
        self.put(replace(self.held[name], title=title, time=time))

    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def rename(self, data: st.DataObject, name: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.held)))
        if name not in self.held:
            self.corpus.remove(old)
            self.put(replace(self.held.pop(old), id=name))

    @precondition(lambda self: len(self.held) > 1)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.held)))
        others = [d for n, d in self.held.items() if n != name]
        if any(d.text in TEXTS[:3] for d in others):  # else no text is left that names anything
            del self.held[name]
            self.corpus.remove(name)
            self.build()

    @rule(pair=st.lists(st.sampled_from(PEOPLE), min_size=2, max_size=2, unique=True))
    def merge(self, pair: Sequence[str]) -> None:
        """Hook: decisions of other kinds belong here too."""
        record_operations(self.corpus.store, [Operation("", "merge", tuple((n, "person") for n in pair))], "2024-01-01")
        self.build()

    @precondition(lambda self: any(not o.reverted for o in self.corpus.names.operations()))
    @rule()
    def undo(self) -> None:
        self.corpus.undo()

    @rule()
    def cluster_afresh(self) -> None:
        self.corpus.build(fresh=True)
        assert content(self.corpus) == self.afresh()

    @rule()
    def collect(self) -> None:
        before = content(self.corpus)
        self.corpus.collect()
        assert content(self.corpus) == before
        assert self.corpus.build().computed == {}

    @rule()
    def build_again(self) -> None:
        """A build that ends at once ends where one that looks at everything does, and there was nothing to do."""
        store, index = self.corpus.store, self.corpus.store.ref("index")
        assert self.corpus.build().computed == {}
        assert store.ref("settled")
        store.set_refs({"settled": None})
        assert self.corpus.build().computed == {}
        assert store.ref("index") == index

    @invariant()
    def the_index_equals_one_built_afresh(self) -> None:
        if not hasattr(self, "corpus"):
            return
        found, expected = content(self.corpus), self.afresh()
        assert [name for name in EXACT if found[name] != expected[name]] == []
        self.compared.append(len(found["entities"]))

    def teardown(self) -> None:
        if hasattr(self, "corpus"):
            self.cluster_afresh()
            self.corpus.close()
            shutil.rmtree(self.folder)

    # ── how ──

    def put(self, document: Document) -> None:
        after = {**self.held, document.id: document}
        if any(d.text in TEXTS[:3] for d in after.values()):
            self.held = after
            self.corpus.add(document)
        self.corpus.add(*self.held.values())
        self.build()

    def build(self) -> None:
        self.corpus.build()

    def afresh(self) -> dict[str, Any]:
        documents = [self.held[name] for name in sorted(self.held)]
        log = [replace(o, id="") for o in self.corpus.names.operations() if not o.reverted]
        of = key(documents, log)
        if of not in self.known:
            with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as other:
                other.add(documents)
                record_operations(other.store, log, "2024-01-01")
                other.build()
                self.known[of] = content(other)
        return self.known[of]


def live(sequences: int, part: int) -> None:
    """Run so many histories: the name of the class is what hypothesis draws them by, so each part has its own."""
    how = settings(
        max_examples=sequences,
        stateful_step_count=8,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    Life.compared.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_MANY", 2)  # runs of the few documents are remembered too
        patch.setattr(report_runs, "_CLUSTERS", 2)
        run_state_machine_as_test(type(f"Life{part}", (Life,), {}), settings=how)
    assert len(Life.compared) > sequences
    assert min(Life.compared) > 0


@pytest.mark.drawn
def test_a_few_lives_of_a_corpus() -> None:
    live(3 if settings.default.derandomize else 60, 0)


@pytest.mark.slow
@pytest.mark.uncounted
@pytest.mark.parametrize("part", range(1, 9))
def test_twenty_five_of_two_hundred_lives_of_a_corpus(part: int) -> None:
    live(25, part)
