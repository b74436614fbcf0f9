"""The graph in partitions is the graph that is merged as a whole, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drawn import drawn_aliases, drawn_extractions
from scripted import Script, ScriptedServer
from sensegraph.errors import StoreError
from sensegraph.index.graph import part_inputs
from sensegraph.index.graph.columns import HEADS, columns_of, ends_beside, forget_columns
from sensegraph.index.graph.describing import crowded_elements, describe_elements, summarise_crowded
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merged_parts import merge_entity_slices, merge_relation_slices, slice_runs
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.index.graph.partitions import count_partitions, describe_crowded, join_parts, merge_in_partitions
from sensegraph.index.graph.seen_names import see_graph
from sensegraph.resolution.aliases import NO_ALIASES, Aliases
from sensegraph.runtime.joined_rows import JoinedRows
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import load_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, ExtractedEntity, ExtractedRelation, Extraction, Graph
from wired import runtime

Said = list[tuple[Chunk, Extraction]]


class InRuns:
    """Extractions in runs of two chunks, or of as many."""

    def __init__(self, said: Said, length: int = 2) -> None:
        self.kept: dict[int, Said] = {}
        self.runs = [said[at : at + length] for at in range(0, len(said), length)]
        self.run_names = [key(run) for run in self.runs]
        self.size = len(said)

    def read_run(self, run: int) -> Iterator[tuple[Chunk, Extraction]]:
        return iter(self.runs[run])


@pytest.fixture(scope="module")
def rt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    store = SqliteStore(tmp_path_factory.mktemp("partitions"))
    yield runtime(store)
    store.close()


def partitioned(said: Said, rt: Runtime, how: GraphSettings, aliases: Aliases, parts: int, length: int = 2) -> Graph:
    extracted: Any = InRuns(said, length)
    return join_parts(rt, merge_in_partitions(extracted, rt, how, aliases, parts))


@settings(max_examples=12)
@given(drawn_extractions(), drawn_aliases(), st.sampled_from(("count", "strength", "normalised")), st.booleans())
def test_any_number_of_partitions_gives_the_graph_that_is_merged_as_a_whole(
    rt: Runtime, said: Said, aliases: Aliases, weight: Any, create: bool
):
    how = GraphSettings(weight=weight, orphans="create" if create else "drop")
    whole = describe_elements(merge_extractions(said, how, aliases), {})
    assume(whole.entities)
    for parts in (1, 2, 7, 64):
        made = partitioned(said, rt, how, aliases, parts)
        assert tuple(made.entities) == whole.entities
        assert tuple(made.relations) == whole.relations
        assert tuple(made.claims) == whole.claims


@settings(max_examples=12)
@given(drawn_extractions(), drawn_aliases(), st.booleans())
def test_runs_of_names_make_the_graph_that_is_merged_as_a_whole_without_its_texts(
    rt: Runtime, said: Said, aliases: Aliases, create: bool
):
    how = GraphSettings(orphans="create" if create else "drop")
    whole, extracted = merge_extractions(said, how, aliases), InRuns(said)
    found = see_graph(extracted, rt, how, aliases).graph  # type: ignore[arg-type]
    bare = [replace(e, descriptions=(), aliases=()) for e in whole.entities]
    assert [found.entity(row) for row in range(len(found))] == bare
    pairs = {(a, b) for r in whole.relations for a, b in ((r.source, r.target), (r.target, r.source))}
    near = [(found.ids[row], other) for row in range(len(found)) for other in found.mentioned(row).neighbours]
    assert near == sorted(pairs)


def test_places_of_chunks_stand_for_their_ids_where_names_are_asked_about(rt: Runtime):
    extracted: Any = InRuns([story(i) for i in range(20)])
    seen = see_graph(extracted, rt, GraphSettings(), NO_ALIASES)
    numbered = seen.numbered.chunks
    assert (len(numbered), list(numbered)) == (20, [*map(str, range(20))])
    assert numbered[3:6] == ["3", "4", "5"]
    assert numbered[-1] == "19"
    with pytest.raises(IndexError):
        numbered[20]
    rows = range(len(seen.graph))
    assert [[seen.chunks[int(c)] for c in seen.numbered.places_of(row)] for row in rows] == [
        seen.graph.places_of(row) for row in rows
    ]


def test_what_several_runs_write_is_in_memory_once(rt: Runtime):
    extracted: Any = InRuns([story(i) for i in range(20)])
    types = see_graph(extracted, rt, GraphSettings(), NO_ALIASES).graph.types
    assert len({id(text) for text in types}) == len(set(types)) < len(types)


def story(number: int, more: str = "") -> tuple[Chunk, Extraction]:
    """A chunk that tells of two names of its own and of one that every tenth chunk names."""
    names = [f"Ann {number}", f"Bob {number}", f"Cay {number % 10}"]
    entities = tuple(ExtractedEntity(name, "person", f"{name} is seen{more}.") for name in names)
    links = (ExtractedRelation(names[0], names[1], "They meet."), ExtractedRelation(names[0], names[2], "They part."))
    return Chunk(f"c{number:03}", f"d{number:03}", 0, 9, 2, "x" * 9), Extraction(entities, links)


def test_one_chunk_more_makes_only_the_partitions_anew_that_it_concerns(tmp_path: Path):
    store = SqliteStore(tmp_path)
    rt, said, how = runtime(store), [story(i) for i in range(60)], GraphSettings()
    before = partitioned(said, rt, how, NO_ALIASES, 64)
    rt.computed.clear()
    after = partitioned([*said, story(60)], rt, how, NO_ALIASES, 64)
    assert len(after.entities) == len(before.entities) + 2
    assert 0 < rt.computed[merge_entity_slices.name] <= 3
    assert 0 < rt.computed[merge_relation_slices.name] <= 2
    rt.computed.clear()
    partitioned([*said, story(60)], rt, how, NO_ALIASES, 64)
    assert not rt.computed


@pytest.mark.parametrize("length", [1, 3, 7, 60])
def test_no_partition_is_made_anew_where_documents_are_cut_into_other_runs_alone(tmp_path: Path, length: int):
    store = SqliteStore(tmp_path)
    rt, said, how = runtime(store), [story(i) for i in range(60)], GraphSettings()
    before = partitioned(said, rt, how, NO_ALIASES, 64)
    rt.computed.clear()
    after = partitioned(said, rt, how, NO_ALIASES, 64, length)
    assert list(after.entities) == list(before.entities)
    assert list(after.relations) == list(before.relations)
    assert rt.computed[slice_runs.name] == -(-60 // length)
    assert not {merge_entity_slices.name, merge_relation_slices.name} & rt.computed.keys()


def test_partitions_are_made_anew_where_the_same_is_said_in_another_order(tmp_path: Path):
    store = SqliteStore(tmp_path)
    rt, said, how = runtime(store), [story(i) for i in range(60)], GraphSettings()
    partitioned(said, rt, how, NO_ALIASES, 1, 60)
    rt.computed.clear()
    other = partitioned([said[1], said[0], *said[2:]], rt, how, NO_ALIASES, 1, 60)
    assert rt.computed[merge_entity_slices.name] == 1
    (tmp_path / "afresh").mkdir()
    fresh = partitioned([said[1], said[0], *said[2:]], runtime(SqliteStore(tmp_path / "afresh")), how, NO_ALIASES, 1)
    assert list(other.entities) == list(fresh.entities)


def test_partitions_are_made_anew_where_two_names_of_a_chunk_change_places_throughout(tmp_path: Path):
    rt, how = runtime(SqliteStore(tmp_path)), GraphSettings()
    swapped = [i.bit_count() % 2 for i in range(1024)]  # the orders of which polynomials tell least (Thue and Morse)
    for first in (0, 1):
        names = [ExtractedEntity(("Ann", "Bo")[i ^ first], "person", ("she", "he")[i ^ first]) for i in swapped]
        rt.computed.clear()
        partitioned([(Chunk("c", "d", 0, 10, 3, "Ann and Bo"), Extraction(tuple(names)))], rt, how, NO_ALIASES, 1)
        assert rt.computed[merge_entity_slices.name] == 1


def test_records_of_joined_tables_are_found_by_place_and_by_id(rt: Runtime):
    said: Sequence[Any] = [story(i) for i in range(20)]
    made: Any = partitioned(list(said), rt, GraphSettings(), NO_ALIASES, 7).entities
    every = list(made)
    assert len(every) == len(made) == 50
    assert made.ids() == [e.id for e in every] == sorted(e.id for e in every)
    assert made[3:9] == every[3:9]
    assert made.at([40, 0, 40]) == [every[40], every[0], every[40]]
    wanted = [every[41].id, every[2].id]
    assert made.find([*wanted, "0" * 20, "f" * 20]) == {e.id: e for e in (every[41], every[2])}


def test_the_number_of_partitions_follows_from_the_size_and_doubles():
    counts = [count_partitions(chunks) for chunks in range(1, 9000)]
    assert counts[:17] == [1] * 16 + [2]
    assert max(counts[:2048]) == counts[600] == 64
    assert counts == sorted(counts)
    assert {b / a for a, b in pairwise(counts)} == {1.0, 2.0}
    assert count_partitions(40_000) == 512


def test_the_columns_of_parts_are_those_of_their_records(rt: Runtime):
    stored = partitioned([story(i) for i in range(40)], rt, GraphSettings(), NO_ALIASES, 7)
    whole = Graph(tuple(stored.entities), tuple(stored.relations), tuple(stored.claims))
    found, made = columns_of(stored), columns_of(whole)
    assert found.source.tolist() == [[e.id for e in whole.entities].index(r.source) for r in whole.relations]
    for kind in ("entities", "relations", "claims"):
        one, other = getattr(found, kind), getattr(made, kind)
        for name in type(one).__slots__:
            assert np.array_equal(getattr(one, name), getattr(other, name))
    assert found.structure() == made.structure() != columns_of(Graph(whole.entities)).structure()
    assert len(found.relations.weight) == 80


def test_columns_that_were_let_go_are_read_again(rt: Runtime):
    stored = partitioned([story(i) for i in range(40)], rt, GraphSettings(), NO_ALIASES, 7)
    before = columns_of(stored)
    assert columns_of(stored) is before
    forget_columns(stored)
    again = columns_of(stored)
    assert again is not before
    assert (again.structure(), again.digest()) == (before.structure(), before.digest())
    forget_columns(Graph(tuple(stored.entities)))  # of a graph in memory none are kept


def test_the_ends_of_a_graph_are_read_of_the_parts_that_another_has_not(rt: Runtime, monkeypatch: pytest.MonkeyPatch):
    stored = partitioned([story(i) for i in range(40)], rt, GraphSettings(), NO_ALIASES, 7)
    more = partitioned([story(i) for i in range(41)], rt, GraphSettings(), NO_ALIASES, 7)
    fewer = partitioned([story(i) for i in range(40)], rt, GraphSettings(), NO_ALIASES, 3)
    whole = Graph(tuple(stored.entities), tuple(stored.relations), tuple(stored.claims))
    found, read, heads = columns_of(whole), list[list[int]](), JoinedRows.heads
    wanted = [found.entities.ids, found.relations.source, found.relations.target, found.relations.weight]

    def noting(rows: JoinedRows, places: Sequence[int] | None = None) -> list[bytes]:
        read[-1].append(len(rows.parts) if places is None else len(places))
        return heads(rows, places)

    monkeypatch.setattr(JoinedRows, "heads", noting)
    for other in (more, fewer, whole):
        read.append([])
        columns_of(other), columns_of(stored)
        read.append([])
        ends = ends_beside(stored, other) if other is not whole else ends_beside(whole, stored)
        for made, of in zip((ends.ids, ends.source, ends.target, ends.weight), wanted, strict=True):
            assert made.tolist() == of.tolist()
    (entities, relations), *others = read[1::2]
    assert 0 < entities + relations < 10
    assert others == [[7, 7], []]


def test_columns_that_are_not_at_hand_are_read_of_their_parts_alone(rt: Runtime, monkeypatch: pytest.MonkeyPatch):
    extracted: Any = InRuns([story(i) for i in range(40)])
    made = merge_in_partitions(extracted, rt, GraphSettings(), NO_ALIASES, 7)
    known, some, read, heads = join_parts(rt, made), join_parts(rt, made), list[list[int]](), JoinedRows.heads

    def noting(rows: JoinedRows, places: Sequence[int] | None = None) -> list[bytes]:
        read.append(list(places or ()))
        return heads(rows, places)

    monkeypatch.setattr(JoinedRows, "heads", noting)
    entities: Any = some.entities
    entities.kept[HEADS] = [part.columns if i % 3 else b"" for i, part in enumerate(made.entities.values())]
    assert np.array_equal(columns_of(some).entities.records, columns_of(known).entities.records)
    assert read[0] == [0, 3, 6]


@pytest.mark.parametrize(("most", "of_more", "kept"), [(1 << 23, 0, 12), (0, 0, 0), (0, 1 << 23, 12), (0, 2_000, 5)])
def test_opened_partitions_stay_open_where_all_fit_and_else_the_first_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, of_more: int, kept: int
):
    monkeypatch.setattr(part_inputs, "_KEPT", most)
    monkeypatch.setattr(part_inputs, "_KEPT_OF_MORE", of_more)
    extracted: Any = InRuns([story(i) for i in range(40)])
    made = merge_in_partitions(extracted, runtime(SqliteStore(tmp_path)), GraphSettings(), NO_ALIASES, 12)
    inputs: list[Any] = [made.inputs[k] for k in made.relations]
    again = [one.read() is one.read() for one in inputs]
    assert (len(again), again) == (12, [True] * kept + [False] * (12 - kept))


def test_a_table_that_is_gone_is_said_to_be(tmp_path: Path):
    store = SqliteStore(tmp_path)
    made: Any = partitioned([story(0)], runtime(store), GraphSettings(), NO_ALIASES, 1).entities
    store.forget([made.joined[0][0]])
    with pytest.raises(StoreError, match="is gone from the store"):
        made.at([0])
    with pytest.raises(StoreError, match="is gone from the store"):
        made.heads()


def test_what_has_too_many_descriptions_is_summarised_in_its_partition_alone(tmp_path: Path, server: ScriptedServer):
    server.script = Script(reply=lambda body: f"About {body['messages'][1]['content'][:60]!r}")
    rt, how = runtime(SqliteStore(tmp_path), server), GraphSettings(describe_above=60, summary_input=300)
    said = [story(i, f" in the year {1800 + i}") for i in range(60)]
    merged = merge_extractions(said, how)
    summaries = summarise_crowded(dict(crowded_elements(merged, how)), rt, how)
    assert {e.name for e in merged.entities if e.id in summaries} == {f"Cay {i}" for i in range(10)}
    extracted: Any = InRuns(said)
    parts = merge_in_partitions(extracted, rt, how, NO_ALIASES, 16)
    found = describe_crowded(parts, rt, how)
    assert tuple(join_parts(rt, found).entities) == describe_elements(merged, summaries).entities
    assert 0 < len(found.entities.keys() - parts.entities.keys()) <= 10
    assert found.relations == parts.relations
    calls = len(server.calls)
    assert describe_crowded(parts, rt, how) == found
    assert len(server.calls) == calls


def test_a_part_with_summaries_is_stored_once_and_names_both_ends_of_a_relation(tmp_path: Path, server: ScriptedServer):
    server.script = Script(reply=lambda body: f"About {body['messages'][1]['content'][:60]!r}")
    rt, how = runtime(SqliteStore(tmp_path), server), GraphSettings(describe_above=60, summary_input=300)
    said = [story(i) for i in range(20)]
    for number in range(20):  # Ann 3 and Bob 3 meet often, and little is said of each of them alone
        met = ExtractedRelation("Ann 3", "Bob 3", f"They meet in the year {1800 + number}.")
        said.append((Chunk(f"e{number:03}", f"e{number:03}", 0, 9, 2, "x" * 9), Extraction((), (met,))))
    extracted: Any = InRuns(said)
    parts = merge_in_partitions(extracted, rt, how, NO_ALIASES, 4)
    (key_of,) = [k for k, part in parts.relations.items() if part.crowded]
    assert len(load_result(rt.store, merge_relation_slices, key_of).relations) == 0
    described = describe_crowded(parts, rt, how)
    found = join_parts(rt, described)
    merged = merge_extractions(said, how)
    summaries = summarise_crowded(dict(crowded_elements(merged, how)), rt, how)
    (summary,) = summaries.values()
    assert "Ann 3 — Bob 3" in summary
    whole = describe_elements(merged, summaries)
    assert (tuple(found.entities), tuple(found.relations)) == (whole.entities, whole.relations)
    one, other = columns_of(found).relations.records, columns_of(whole).relations.records
    assert np.array_equal(one, other)
    unread: dict[str, Any] = dict.fromkeys(parts.inputs)  # nothing that could be read again
    calls = len(server.calls)
    assert describe_crowded(replace(parts, inputs=unread), rt, how) == replace(described, inputs=unread)
    assert len(server.calls) == calls
