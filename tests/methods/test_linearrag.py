"""LinearRAG: activation through sentences as a plain loop gives it, and what it is for (linearrag §4, §7, §8)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.methods.linearrag.linearrag import LinearRAG, spread_activation
from sensegraph.methods.linearrag.sentences import SENTENCES, Sentences, sentence_graph
from sensegraph.retrieval.arms import rank_by_words
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Chunk, Document, Entity, Graph, Question
from wired import corpus

PARTS = {"parts": ["graph", "sentences"]}
QUESTION = Question("Where was the founder of the Blythe Shipyard born?")
PAGES = {
    "shipyard": "The Blythe Shipyard was set up by Nora Tarrant. The Blythe Shipyard lies on the east quay.",
    "bridge": "Nora Tarrant grew up in Lowmouth.",
    "words": "The founder of a shipyard was born rich. Where a founder is born, shipyards follow.",
    "other": "Ada Finch keeps the lighthouse of Skerry Point.",
}
NAMES = "Ada Bram Cora Dirk Elsa".split()


class TestLinearRAGContract(MethodContract):
    def make(self) -> LinearRAG:
        return LinearRAG()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index=PARTS)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": PARTS}
    with Corpus.open(tmp_path_factory.mktemp("pages"), settings=settings) as made:
        made.add([Document(name, text) for name, text in PAGES.items()])
        made.build()
        yield made


def graph_of(sentences: list[set[int]]) -> Sentences:
    """A graph of sentences that name these entities."""
    entities = tuple(Entity(f"e{i}", name, "x", "", (), (), 1, 0) for i, name in enumerate(NAMES))
    texts = [" and ".join(NAMES[e] for e in sorted(s)) + f" met {i} times." for i, s in enumerate(sentences)]
    chunks = [Chunk(f"c{i}", f"c{i}", 0, len(t), 1, t) for i, t in enumerate(texts)]
    return sentence_graph.fn([(Graph(entities), chunks)])[0]


def looped(
    sentences: list[set[int]], sigma: list[float], seeds: list[float], iterations: int, delta: float, kappa: int
) -> tuple[list[float], list[int]]:
    weight, value, hop = list(seeds), list(seeds), [int(s > 0) for s in seeds]
    used: set[int] = set()
    for t in range(1, iterations):
        taken, gifts = set[int](), list[tuple[int, float]]()
        for e, mine in enumerate(value):
            if mine < delta or mine <= 0:
                continue
            holding = [s for s, named in enumerate(sentences) if e in named and s not in used]
            for s in sorted(holding, key=lambda s: (-sigma[s], s))[:kappa]:
                taken.add(s)
                gifts += [(o, mine * sigma[s]) for o in sentences[s] if o != e and 0 < mine * sigma[s] >= delta]
        value = [0.0] * len(seeds)
        for other, gift in gifts:
            weight[other] += gift
            value[other] = max(value[other], gift)
            hop[other] = hop[other] or t + 1
        used |= taken
    return weight, hop


_SHARE = st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.8, 1.0])


@given(
    st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=8),
    st.lists(_SHARE, min_size=8, max_size=8),
    st.lists(_SHARE, min_size=5, max_size=5),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.integers(1, 3),
)
def test_activation_by_arrays_is_that_of_a_plain_loop(
    sentences: list[set[int]], sigma: list[float], seeds: list[float], iterations: int, delta: float, kappa: int
) -> None:
    known, near = graph_of(sentences), np.array(sigma)
    found = spread_activation(known, lambda rows: near[rows], np.array(seeds), iterations, delta, kappa)
    weight, hop = looped(sentences, sigma, seeds, iterations, delta, kappa)
    assert found.weight.tolist() == pytest.approx(weight)
    assert found.hop.tolist() == hop


def test_one_iteration_leaves_the_seeds_as_they_are() -> None:
    seeds = np.array([1.0, 0.0, 0.5, 0.0, 0.0])
    found = spread_activation(graph_of([{0, 1}, {2, 3}]), lambda rows: np.ones(len(rows)), seeds, 1, 0.4, 3)
    assert found.weight.tolist() == seeds.tolist()
    assert found.hop.tolist() == [1, 0, 1, 0, 0]


def test_a_seed_that_is_reached_again_grows_and_stays_of_the_first_hop() -> None:
    seeds = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    found = spread_activation(graph_of([{0, 1}]), lambda rows: np.full(len(rows), 0.5), seeds, 2, 0.4, 3)
    assert found.weight.tolist() == [1.5, 1.5, 0, 0, 0]
    assert found.hop.tolist() == [1, 1, 0, 0, 0]


def test_a_bridge_that_shares_no_word_with_the_question_is_found(pages: Corpus) -> None:
    index, rt = pages.index(), pages.runtime()
    ids = [c.document for c in index.catalogue.chunks]
    words = [ids[i] for i in rank_by_words(QUESTION, index, 10).positions]
    found, notes = LinearRAG().rank(QUESTION, index, rt)
    assert "bridge" not in words
    assert [ids[i] for i in found.positions].index("bridge") < 3
    assert notes == ()


def test_without_an_entity_in_the_question_the_text_alone_ranks_and_the_notes_say_so(pages: Corpus) -> None:
    found = pages.search("who keeps what?", method="linearrag")
    assert found.documents[0] == "other"
    assert [n for n in found.notes if "ranked by bm25" in n]
    assert pages.search("?", method="linearrag").passages == ()


def test_an_entity_that_is_meant_but_not_named_is_a_seed_by_its_cosine(tmp_path: Path) -> None:
    with ScriptedServer() as server, corpus(tmp_path, server, index=PARTS) as made:
        made.add(*SAMPLE)
        made.build()
        index, rt = made.index(), made.runtime()
        asked = Question("zzz unheard of")
        assert not LinearRAG(seed_floor=1.0)._seeds(asked, index, rt).any()
        seeds = LinearRAG(seed_floor=0.0)._seeds(asked, index, rt)
        assert 0 < np.count_nonzero(seeds) <= 5
        assert seeds.max() <= 1


def test_chunks_weigh_names_near_the_start_more(pages: Corpus) -> None:
    """I(p) of the paper by hand, for a chunk with one seed (hop 1) and one entity of hop 2."""
    from sensegraph.methods.linearrag.linearrag import Activation

    index, rt = pages.index(), pages.runtime()
    known = index.part(SENTENCES)
    place = [c.document for c in index.catalogue.chunks].index("bridge")
    weight, hop = np.zeros(known.entities), np.zeros(known.entities, np.int32)
    owner = np.repeat(np.arange(known.entities), np.diff(known.first))
    here = {int(e): int(n) for e, c, n in zip(owner, known.chunks, known.times, strict=True) if c == place}
    for i, e in enumerate(here):
        weight[e], hop[e] = 0.8, i + 1
    found = LinearRAG(dense_words=0.0)._passages(QUESTION, Activation(weight, hop), index, rt)
    wanted = 0.05 * np.log1p(sum(0.8 * np.log1p(n) / (i + 1) for i, n in enumerate(here.values())))
    assert len(here) > 1
    assert found[place] == pytest.approx(wanted)


def test_two_runs_agree_to_the_bit(pages: Corpus) -> None:
    first, again = (LinearRAG().rank(QUESTION, pages.index(), pages.runtime())[0] for _ in range(2))
    assert first.positions.tobytes() == again.positions.tobytes()
    assert first.scores.tobytes() == again.scores.tobytes()


@pytest.mark.parametrize(
    "bad",
    [{"iterations": 0}, {"kappa": 0}, {"damping": 1.0}, {"tolerance": 1.0}, {"delta": 2.0}, {"quantile": -0.1},
     {"dense": -1.0}, {"passages": float("inf")}],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        LinearRAG(**bad)
