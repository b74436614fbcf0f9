"""The graph in partitions: each is made of its slices of all runs, and made again only where what these say changed.

The result is the same, byte for byte, for any number of partitions. How many there are follows from the number of
chunks, and changes by doubling.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.index.extraction import Extracted
from sensegraph.index.graph.columns import HEADS
from sensegraph.index.graph.describing import context_of, summarise_crowded, summarise_descriptions
from sensegraph.index.graph.elements import entity_id
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merged_parts import (
    ENDS,
    ClaimPart,
    EntityPart,
    RelationPart,
    describe_entities,
    describe_relations,
    list_uses,
    merge_claim_slices,
    merge_entity_slices,
    merge_relation_slices,
    slice_runs,
)
from sensegraph.index.graph.merging import describe_graphs
from sensegraph.index.graph.part_inputs import (
    Cut,
    Degrees,
    EntityInput,
    PartInput,
    PartInputs,
    RelationInput,
    Runs,
    SummarisedInput,
    tell_names,
)
from sensegraph.index.graph.slicing import Told, name_apart, tell_ids
from sensegraph.index.graph.stored.chunk_texts import ChunkTexts, keep_texts
from sensegraph.index.graph.stored.packed_records import open_graph_rows
from sensegraph.index.graph.stored.slices import partition_of
from sensegraph.resolution.aliases import Aliases, Called, Name
from sensegraph.runtime.delegating import make_each, needs_own_process, work_on_worker
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Step, Table, list_record_fields, load_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Claim, Context, Entity, Graph, Relation

B = TypeVar("B")
T = TypeVar("T")
_CHUNKS, _FEW_CHUNKS = 128, 16  # of so many a partition holds what they say, up to twice as many
_MANY = 64  # partitions up to which they are of few chunks


def count_partitions(chunks: int) -> int:
    """How many partitions the graph of so many chunks has: a power of two."""
    large, small = (1 << max(0, (chunks - 1) // size).bit_length() for size in (_CHUNKS, _FEW_CHUNKS))
    return max(large, min(small, _MANY))


def knowledge_graph(extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases) -> Result[Graph]:
    """The graph of the corpus; merging and describing happen only where something changed."""

    def join() -> str:
        return _join_graph(extracted, rt, settings, aliases).key

    if needs_own_process(rt, "engine"):
        made = work_on_worker(rt, join, "engine")
        return Result(made, load_result(rt.store, describe_graphs, made))
    return _join_graph(extracted, rt, settings, aliases)


def _join_graph(extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases) -> Result[Graph]:
    parts = describe_crowded(merge_in_partitions(extracted, rt, settings, aliases), rt, settings)
    names = (*parts.entities, *parts.relations, *parts.claims, aliases.key)
    by = {"settings": settings, "describer": rt.engine.fingerprint("summarise")}
    known = rt.once(describe_graphs, lambda: join_parts(rt, parts), names=names, **by)
    for records, held in ((known.value.entities, parts.entities), (known.value.relations, parts.relations)):
        if isinstance(records, Table):
            records.kept[HEADS] = [part.columns for part in held.values()]  # which soon are asked for
    return known


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a graph by their keys, in the order of ids, without their records.

    `inputs` gives by its key what an entity or relation part is made of, `weighing` says how relations weigh, and
    `texts` are the keys of those of chunks.
    """

    entities: Mapping[str, EntityPart]
    relations: Mapping[str, RelationPart]
    claims: Mapping[str, ClaimPart]
    inputs: Mapping[str, PartInput]
    weighing: Mapping[str, Any]
    texts: tuple[str, ...] = ()


def merge_in_partitions(
    extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases, parts: int = 0
) -> Parts:
    """The parts of the graph of extractions; of so many partitions, or as many as its size asks for."""
    parts, names = parts or count_partitions(extracted.size), extracted.run_names
    every = range(len(names))
    told, called = _tell_all(extracted, rt, settings, aliases)
    names_of = [(names[i], key(told[i])) for i in every]
    sliced = make_each(rt, slice_runs, partial(Runs, extracted, told=told), names_of, parts=parts)
    stored_texts = ChunkTexts(rt.store, make_each(rt, keep_texts, partial(Runs, extracted), [(n,) for n in names]))
    extracted.kept.clear()  # no later step reads runs of extractions
    runs = Runs(extracted, every, told)
    packed = (rt.once(slice_runs, partial(runs.__getitem__, i), names=names_of[i], parts=parts).value for i in every)
    cut, limit, weight, most = Cut(sliced, packed, parts, stored_texts), settings.describe_above, settings.weight, 1
    linked = [RelationInput(slices) for slices in cut.list_wanted(1)]
    if weight == "normalised":
        counted = make_parts(merge_relation_slices, linked, rt, limit=limit, weight="count", most=1)
        most = int(_join_ends(counted.values())["weight"].max(initial=1))
    relations = make_parts(merge_relation_slices, linked, rt, limit=limit, weight=weight, most=most)
    degrees = Degrees(_join_ends(relations.values()), parts)
    named: dict[int, dict[Name, Called]] = defaultdict(dict)
    for whose, by in called.items():
        named[partition_of(entity_id(by.name), parts)][whose] = by
    mentioned = [EntityInput(slices, degrees, named[slices.part]) for slices in cut.list_wanted(0)]
    entities = make_parts(merge_entity_slices, mentioned, rt, limit=limit)
    claims = make_parts(merge_claim_slices, cut.list_wanted(2), rt)
    made_of: list[PartInput] = [*linked, *mentioned]
    inputs = dict(zip((*relations, *entities), made_of, strict=True))
    return Parts(entities, relations, claims, inputs, {"weight": weight, "most": most}, stored_texts.keys)


def _tell_all(
    extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases
) -> tuple[list[Told], dict[Name, Called]]:
    """What each run is told, and what the entities are called that have several names or another than their own."""
    names, told = extracted.run_names, tell_names(extracted, rt, settings, aliases)
    concerned = [i for i, run in enumerate(told) if run.apart]
    runs = Runs(extracted, concerned, told)
    used = rt.each(list_uses, runs, names=[key(names[i], told[i]) for i in concerned])
    called = name_apart((uses for found in used for uses in found), aliases)
    return [tell_ids(run, called) for run in told], called


def make_parts(step: Step[Any, B], wanted: Sequence[PartInput], rt: Runtime, **settings: Any) -> dict[str, B]:
    """Parts by their keys, each given as its input, which is read where the part is missing."""
    keys = _complete_parts(step, wanted, rt, **settings)
    found = rt.store.read(keys)
    return {k: step.decode(found[k]) for k in keys}


def _complete_parts(step: Step[Any, Any], wanted: Sequence[PartInput], rt: Runtime, **settings: Any) -> list[str]:
    """The keys of parts; those that are missing are made."""
    keys = rt.keys(step, wanted, [key(*part.names) for part in wanted], **settings)
    held = [(k, *(f"{k}.{name}" for name in list_record_fields(step.result))) for k in keys]
    there = rt.store.has([name for names in held for name in names])
    # a damaged table is removed without the rest of its result
    missing = [part for part, names in zip(wanted, held, strict=True) if not there.issuperset(names)]
    rt.once_each(step, PartInputs(missing), [part.names for part in missing], **settings)
    rt.rely_on(keys)
    return keys


def describe_crowded(parts: Parts, rt: Runtime, settings: GraphSettings) -> Parts:
    """The parts with summaries of what has too many descriptions to join."""
    entities = {k: part.crowded for k, part in parts.entities.items() if part.crowded}
    relations = {k: part.crowded for k, part in parts.relations.items() if part.crowded}
    if not entities and not relations:
        return parts
    summaries = _summarise_parts(parts, entities, relations, rt, settings)

    def described(step: Step[Any, Any], crowded: Mapping[str, Sequence[str]], **settings: Any) -> dict[str, str]:
        """The keys of parts with these summaries, by those without."""
        wanted = []
        for k, ids in crowded.items():
            told = {name: summaries[name] for name in ids}
            wanted.append(SummarisedInput(k, parts.inputs[k], told))
        return dict(zip(crowded, _complete_parts(step, wanted, rt, **settings), strict=True))

    entity_keys = described(describe_entities, entities)
    relation_keys = described(describe_relations, relations, **parts.weighing)
    return replace(
        parts,
        entities={entity_keys.get(k, k): part for k, part in parts.entities.items()},
        relations={relation_keys.get(k, k): part for k, part in parts.relations.items()},
    )


@step("graph.ends", version=1)
def list_ends(parts: Sequence[Sequence[Relation]]) -> list[tuple[tuple[str, str, str], ...]]:
    """The ids of the crowded relations of a part, and of the entities at their ends."""
    return [tuple((r.id, r.source, r.target) for r in relations) for relations in parts]


@step("graph.summaries", version=1)
def keep_summaries(parts: Sequence[dict[str, str]], *, budget: int, describer: str) -> list[dict[str, str]]:
    """The summaries of the crowded elements of a part, by their ids."""
    return list(parts)


def _summarise_parts(
    parts: Parts,
    entities: Mapping[str, Sequence[str]],
    relations: Mapping[str, Sequence[str]],
    rt: Runtime,
    settings: GraphSettings,
) -> dict[str, str]:
    """Summaries, by id, of the crowded elements of these parts; what is said of them is read where it changed."""

    @cache  # within this build, of the parts that changed: read once for all
    def gather(k: str) -> list[Any]:
        """The crowded elements of a part."""
        made = parts.inputs[k].read()
        if k in entities:
            return [e for e in made.entities if e.id in entities[k]]
        return [r for r in made.gather(**parts.weighing) if r.id in relations[k]]

    def read_contexts(k: str) -> dict[str, Context]:
        return {x.id: context_of(x, x.name if k in entities else titles[x.id]) for x in gather(k)}

    rests, asked = dict[str, list[str]](), defaultdict[str, dict[str, str]](dict)

    def summarise(k: str) -> dict[str, str]:
        """The summaries of a part: those that were asked for with others, else those of a part that cannot be read."""
        texts = asked.get(k)
        if texts is None:
            texts = summarise_crowded(read_contexts(k), replace(rt, aside=[], begun=Counter()), settings, rests)
        rt.rely_on([made for name in texts for made in rests[name]])
        return texts

    ends = {k: rt.once(list_ends, partial(gather, k), names=(k,)).value for k in relations}
    names = _name_entities(rt, parts, {end for of in ends.values() for _, *both in of for end in both})
    titles = {name: f"{names[a]} — {names[b]}" for of in ends.values() for name, a, b in of}
    told = {k: key(k) for k in entities} | {k: key(k, [titles[name] for name, *_ in ends[k]]) for k in relations}
    by = {"budget": settings.summary_input, "describer": rt.engine.fingerprint("summarise")}
    keys = dict(
        zip(told, rt.keys(keep_summaries, list(told), [key(name) for name in told.values()], **by), strict=True)
    )
    there, known, found = rt.store.has(list(keys.values())), len(rt.lacking), dict[str, str]()
    missing = [k for k in told if keys[k] not in there]
    if missing:  # all at once
        contexts = {k: read_contexts(k) for k in missing}
        home = {name: k for k, of in contexts.items() for name in of}
        found = summarise_crowded({n: c for of in contexts.values() for n, c in of.items()}, rt, settings, rests)
        for name, text in found.items():
            asked[home[name]][name] = text
    lacking = known < len(rt.lacking)  # then nothing is kept of what was made now: it is made again in the next run
    for k in told:
        if not (lacking and k in missing):
            found |= rt.once(keep_summaries, partial(summarise, k), names=(told[k],), **by).value
    kept = {**entities, **relations}
    rt.begun[summarise_descriptions.name] += sum(len(ids) for k, ids in kept.items() if k not in missing)
    return found


def _name_entities(rt: Runtime, parts: Parts, ids: set[str]) -> dict[str, str]:
    """The names of these entities, by their ids."""
    found = {name: shown for part in parts.entities.values() for name, shown in part.names if name in ids}
    if rest := sorted(ids - found.keys()):
        whole = {k: part for k, part in parts.entities.items() if not part.crowded}
        found |= {e.id: e.name for e in _join_tables(rt, parts, "entities", Entity, whole).find(rest).values()}
    return found


def join_parts(rt: Runtime, parts: Parts) -> Graph:
    """The graph that parts make: tables over theirs."""
    return Graph(
        _join_tables(rt, parts, "entities", Entity, parts.entities),
        _join_tables(rt, parts, "relations", Relation, parts.relations),
        _join_tables(rt, parts, "claims", Claim, parts.claims),
    )


def _join_tables(rt: Runtime, parts: Parts, name: str, kind: type[T], held: Mapping[str, Any]) -> Table[T]:
    joints = [(f"{k}.{name}", part.count, part.first) for k, part in held.items()]
    return Table(open_graph_rows(rt.store, parts.texts)(kind, joints), kind)


def _join_ends(parts: Iterable[RelationPart]) -> NDArray[Any]:
    return np.frombuffer(b"".join(part.ends for part in parts), ENDS)
