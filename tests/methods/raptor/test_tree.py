"""The tree of an index: nothing is lost on the way up, sources are exact, new groups alone are paid (raptor §7–9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.cli.show import format_build
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import EmptyCorpus, NotIndexed
from sensegraph.language.text import count_tokens
from sensegraph.methods.raptor.growing import _shorten_statements
from sensegraph.methods.raptor.tree import Nodes, Tree, make_leaves
from sensegraph.methods.raptor.tree_part import TREE as PART
from sensegraph.runtime.keys import key
from sensegraph.types import Chunk, Document, Statement
from wired import corpus, stories, story

TREE = {"leaf_tokens": 30, "children": 3}
PARTS: dict[str, Any] = {"parts": ["tree"], "chunk_tokens": 120, "chunk_overlap": 20, "tree": TREE}
OFFLINE = {"engine": "offline", "index": PARTS}


def offline(folder: Path, documents: list[Document], **tree: Any) -> Corpus:
    """A corpus with a tree, built."""
    index = PARTS | {"tree": TREE | tree}
    made = Corpus.open(folder, settings={"engine": "offline", "index": index})
    made.add(documents)
    made.build()
    return made


@pytest.fixture(scope="module", params=["offline", "scripted"])
def grown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("grown")
    with ScriptedServer() as server:
        made = corpus(folder, server, index=PARTS)
        if request.param == "offline":
            made = Corpus.open(folder, settings=OFFLINE)
        with made:
            made.add(stories())
            made.build()
            yield made


def shape(found: Tree) -> list[object]:
    return [list(found.leaves), list(found.summaries), np.asarray(found.nodes.child).tobytes()]


def test_every_leaf_can_be_reached_from_the_top(grown: Corpus) -> None:
    nodes = grown.index().part(PART).nodes
    assert len(nodes) > 5
    layer, seen = nodes.tops(), set[int]()
    while layer:
        seen |= set(layer)
        layer = nodes.children(layer)
    assert seen == set(range(len(nodes)))
    assert all(nodes.level[i] == nodes.level.max() for i in nodes.tops())


def test_a_summary_rests_on_the_chunks_of_its_children_and_no_other(grown: Corpus) -> None:
    tree = grown.index().part(PART)
    chunks = {leaf.id: {leaf.chunk} for leaf in tree.leaves} | {c.id: set(c.chunks) for c in tree.summaries}
    assert len(tree.summaries) > 3
    for c in tree.summaries:
        assert set(c.chunks) == set().union(*(chunks[m] for m in c.members))
        assert c.documents == len({name[:12] for name in c.chunks})
        assert {s.chunk for said in c.summary for s in said.sources} <= set(c.chunks)


def test_members_are_one_level_down_and_levels_end_at_the_root(grown: Corpus) -> None:
    found = list(grown.index().part(PART).summaries)
    level = {c.id: c.level for c in found}
    top = max(level.values())
    assert top >= 1
    assert all(level.get(m, -1) == c.level - 1 for c in found for m in c.members)
    assert all(c.depth == top - c.level for c in found)
    assert [(c.depth, c.id) for c in found] == sorted((c.depth, c.id) for c in found)
    assert all((c.parent in level) == (c.level < top) for c in found)
    assert all(any(c.id in p.members for p in found if p.id == c.parent) for c in found if c.parent)


def test_layers_shrink_down_to_eleven_nodes_at_most(grown: Corpus) -> None:
    counts = np.bincount(grown.index().part(PART).nodes.level)
    assert all(counts[i] < counts[i - 1] for i in range(1, len(counts)))
    assert counts[-1] <= 11 < counts[-2]


def test_a_summary_is_no_longer_than_asked_and_its_statements_lead_to_text(grown: Corpus) -> None:
    index = grown.index()
    assert any(c.summary for c in index.part(PART).summaries)
    for c in index.part(PART).summaries:
        assert c.tokens == count_tokens(c.text)
        assert 0 < c.tokens <= 100 + len(c.summary)  # tokens of pieces may be more than that of the whole
        chunks = index.chunks(sorted({s.chunk for said in c.summary for s in said.sources}))
        for said in c.summary:
            assert said.sources
            assert all(0 <= s.start < s.end <= len(chunks[s.chunk].text) for s in said.sources)
            assert set(said.references) <= set(c.members) or c.promoted


@pytest.mark.slow
def test_offline_a_statement_is_the_text_of_its_span(tmp_path: Path) -> None:
    with offline(tmp_path, stories()) as made:
        index = made.index()
        assert any(c.summary for c in index.part(PART).summaries)
        for c in index.part(PART).summaries:
            for said in c.summary:
                (source,) = said.sources
                text = index.chunks([source.chunk])[source.chunk].text[source.start : source.end]
                assert said.text.strip().rstrip("…").strip() in text


@pytest.mark.slow
def test_a_group_of_one_says_what_its_member_says_and_asks_nobody(tmp_path: Path) -> None:
    strange = Document("strange", "Qubits entangle cosmonauts; zeppelins hum; theremin players tune quarks.")
    with offline(tmp_path, [*stories(), strange]) as made:
        tree = made.index().part(PART)
        alone = [c for c in tree.summaries if c.promoted]
        texts = {leaf.id: leaf for leaf in tree.leaves}
        assert all(c.members == (c.promoted,) for c in alone)
        assert sum(c.level == 0 for c in alone) > 0
        for c in alone:
            if c.promoted in texts:
                leaf = texts[c.promoted]
                chunk = made.index().chunks([leaf.chunk])[leaf.chunk]
                assert c.text == chunk.text[leaf.start : leaf.end]
        assert tree.nodes.promoted.sum() == len(alone)


@pytest.mark.slow
def test_two_builds_give_the_same_tree(tmp_path: Path) -> None:
    documents = stories()
    with offline(tmp_path / "a", documents) as one, offline(tmp_path / "b", documents[::-1]) as other:
        assert shape(one.index().part(PART)) == shape(other.index().part(PART))


def test_the_counts_tell_of_leaves_and_summaries(grown: Corpus) -> None:
    tree, found = grown.index().part(PART), grown.status().counts
    assert (found["leaves"], found["summaries"]) == (len(tree.leaves), len(tree.summaries))
    shown = format_build(grown.build())
    assert f"{len(tree.leaves)} leaves, {len(tree.summaries)} summaries" in shown


def test_a_second_build_computes_nothing(grown: Corpus) -> None:
    assert sum(grown.build().computed.values()) == 0


def test_few_leaves_need_no_summaries(tmp_path: Path) -> None:
    with offline(tmp_path, [Document("one", story(0, 0, 4))]) as made:
        tree = made.index().part(PART)
        assert 0 < len(tree.leaves) <= 11
        assert len(tree.summaries) == 0
        assert tree.nodes.tops() == list(range(len(tree.leaves)))
        assert made.search("What was done in which year?", method="raptor").passages


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=OFFLINE) as made, pytest.raises(EmptyCorpus):
        made.build()


def test_equal_documents_keep_leaves_of_their_own(tmp_path: Path) -> None:
    with offline(tmp_path, [Document(name, story(0, 0)) for name in "abc"]) as made:
        tree = made.index().part(PART)
        assert len(tree.leaves) > 2
        below = {leaf for i in tree.nodes.tops() for leaf in tree.nodes.below(i)}
        assert below == set(range(len(tree.leaves)))
        assert len({leaf.id for leaf in tree.leaves}) == len(tree.leaves)


def test_an_index_without_a_tree_says_how_to_get_one(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add(stories(1))
        made.build()
        with pytest.raises(NotIndexed, match="'tree'"):
            made.search("Who?", method="raptor")


def test_the_number_of_layers_is_bounded(tmp_path: Path) -> None:
    with offline(tmp_path, stories(), layers=1, stop=2) as made:
        assert {c.level for c in made.index().part(PART).summaries} == {0}


# ── updates ──


@pytest.mark.slow
def test_an_update_pays_only_for_groups_that_are_new(tmp_path: Path) -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server, corpus(tmp_path, server, index=PARTS) as made:
        made.add(stories(8))
        made.build()
        first = len(server.done("condensed"))
        made.add(Document("zz-late", "Nobody had ever seen the wreck of the old ferry."))
        made.build()
        again = server.done("condensed")[first:]
        groups = sum(not c.promoted for c in made.index().part(PART).summaries)
        assert 0 < len(again) < groups
        assert len({c.sha for c in server.done("condensed")}) == len(server.done("condensed"))


@pytest.mark.slow
def test_text_that_moves_costs_no_summary_again(tmp_path: Path) -> None:
    """Chunks that begin elsewhere have other ids, their leaves have not."""
    told = [Document(d.id, "\n".join(d.text.split(". ")), d.title) for d in stories()]
    wide = {**PARTS, "chunk_tokens": 2000}
    with ScriptedServer() as server, corpus(tmp_path, server, index=wide) as made:
        made.add(told)
        made.build()
        before = list(made.index().part(PART).summaries)
        made.add(*(Document(d.id, "\n\n" + d.text, d.title) for d in told))
        built = made.build()
        assert built.computed.get("growing.condense", 0) == 0
        assert [c.id for c in before] == [c.id for c in made.index().part(PART).summaries]
        assert not {s for c in before for s in c.chunks} & {
            s for c in made.index().part(PART).summaries for s in c.chunks
        }


@pytest.mark.slow
def test_removing_a_document_gives_the_tree_that_never_had_it(tmp_path: Path) -> None:
    with offline(tmp_path / "a", stories()) as one, offline(tmp_path / "b", stories(5)) as other:
        one.remove("story-05")
        one.build()
        assert shape(one.index().part(PART)) == shape(other.index().part(PART))


# ── what an engine writes ──


def test_statements_that_name_nothing_rest_on_their_group_and_what_names_strangers_is_counted(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str | None:
        return '{"condensed": "They met. Strangers came [99]."}' if task_of(body) == "condensed" else None

    with ScriptedServer(Script(reply=reply)) as server, corpus(tmp_path, server, index=PARTS) as made:
        made.add(stories())
        notes = made.build().notes
        groups = [c for c in made.index().part(PART).summaries if not c.promoted]
        assert {c.text.replace(" [99]", "") for c in groups} == {"They met. Strangers came."}
        assert all(said.sources and not said.references for c in groups for said in c.summary)
        assert any("named no member and rest on their whole group" in note for note in notes)


def test_a_summary_that_is_too_long_is_cut_at_a_sentence_and_the_notes_say_so(tmp_path: Path) -> None:
    long = "Xyzzyplugh qwertzuiop frobnicates zyxwvutsrq. They met. " * 2

    def reply(body: dict[str, Any]) -> str | None:
        return json.dumps({"condensed": long}) if task_of(body) == "condensed" else None

    index = PARTS | {"tree": TREE | {"summary_tokens": 40}}
    with ScriptedServer(Script(reply=reply)) as server, corpus(tmp_path, server, index=index) as made:
        made.add(stories())
        notes = made.build().notes
        assert count_tokens(long) > 40
        groups = [c for c in made.index().part(PART).summaries if not c.promoted]
        assert {c.text for c in groups} == {long[: long.index("met.") + 4]}
        assert any("were longer than 40 tokens and were cut" in note for note in notes)


_SAID = st.lists(st.sampled_from("lamp pier, Boat storm; the 1897".split()), min_size=1, max_size=30)


@given(st.lists(_SAID, max_size=6))
def test_what_is_shortened_is_a_beginning_that_fits(said: list[list[str]]) -> None:
    whole = [Statement(" ".join(words) + ". ") for words in said]
    kept = list(_shorten_statements(whole, 25))
    text = "".join(s.text for s in kept)
    assert "".join(s.text for s in whole).startswith(text)
    assert bool(kept) == bool(whole)
    assert sum(count_tokens(s.text) for s in kept) <= 25
    if sum(count_tokens(s.text) for s in whole) <= 25:
        assert kept == whole


# ── inside a filter ──


def random_nodes(random: Random) -> Nodes:
    """Some leaves over six chunks, and two layers above them, with several parents."""
    leaves, low = random.randint(1, 8), random.randint(0, 4)
    high = random.randint(0, 2) if low else 0
    members = [sorted(random.sample(range(leaves), random.randint(1, leaves))) for _ in range(low)]
    members += [sorted(random.sample(range(leaves, leaves + low), random.randint(1, low))) for _ in range(high)]
    sizes = [0] * leaves + [len(m) for m in members]
    level = [0] * leaves + [1] * low + [2] * high
    return Nodes(
        np.full(len(sizes), 5, np.int32),
        np.array(level, np.int32),
        np.zeros(len(sizes), np.int8),
        np.concatenate(([0], np.cumsum(sizes))),
        np.array([i for m in members for i in m], np.int32),
        np.array(sorted(random.randrange(6) for _ in range(leaves)), np.int32),
        np.arange(len(sizes)),
    )


@given(st.integers(0, 10**6), st.sets(st.integers(0, 5)))
def test_a_filter_leaves_the_nodes_that_rest_on_nothing_outside(seed: int, inside: set[int]) -> None:
    nodes, places = random_nodes(Random(seed)), sorted(inside)
    found = nodes.within(places)
    kept = [i for i in range(len(nodes)) if all(int(nodes.chunk[leaf]) in inside for leaf in nodes.below(i))]
    touched = [i for i in range(len(nodes)) if any(int(nodes.chunk[leaf]) in inside for leaf in nodes.below(i))]
    assert found.number.tolist() == kept
    assert found.leaves == sum(i < nodes.leaves for i in kept)
    assert [places[c] for c in found.chunk] == [int(nodes.chunk[i]) for i in kept if i < nodes.leaves]
    for i in range(len(found)):
        assert [kept[c] for c in found.children([i])] == nodes.children([kept[i]])
    assert nodes.touching(places) == sum(i >= nodes.leaves for i in touched)


def test_a_leaf_is_named_by_its_document_its_text_and_how_often_it_was_said_there() -> None:
    text = "It rains today. It rains today. It is late."
    chunks = [Chunk(f"{d}-0", d, 0, len(text), 12, text) for d in ("a", "b")]
    (found,) = make_leaves.fn([chunks], size=count_tokens("It rains today."))
    names = [key("leaf", d, said, n)[:24] for d in "ab" for said, n in ((text[:15], 1), (text[:15], 2), (text[32:], 1))]
    assert [leaf.id for leaf in found.leaves] == names
    assert [(leaf.chunk, leaf.start, leaf.end) for leaf in found.leaves[:3]] == [
        ("a-0", 0, 15),
        ("a-0", 16, 31),
        ("a-0", 32, 43),
    ]
