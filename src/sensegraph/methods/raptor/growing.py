"""The summaries of RAPTOR's tree: of groups of leaves, then of groups of summaries (Sarthi et al. 2024, §3).

Groups and their members are told by id, never by equal vectors or texts; a summary is paid for only where its group is
new. A node may be a member of several groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.meaning import cluster_rows
from sensegraph.algorithms.mixtures import assign_softly, choose_k, fit_mixture
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.index.hierarchy.packing import ground_statement, report_passage, shown_to
from sensegraph.index.hierarchy.stand_ins import first_words, foresee_results
from sensegraph.index.left_out import quote_passages
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, PartEstimate
from sensegraph.index.vectors import embed_all, embed_here, embed_records, embed_texts, read_vectors
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, count_tokens, pack_batches
from sensegraph.methods.raptor.tasks import CondensingEngine
from sensegraph.methods.raptor.tree import (
    Leaves,
    TreeKeys,
    TreeSettings,
    cut_pieces,
    index_node_words,
    keep_summaries,
    keep_tree_keys,
    leaf_passage,
    leaf_texts,
    make_leaves,
    make_nodes,
)
from sensegraph.protocols import Vectors
from sensegraph.runtime.keys import document_part, key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Cluster, Context, Hierarchy, Passage, Source, Statement

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight

Group = tuple[int, ...]

_FEW = 3  # nodes that are one group without further ado
_WIDE = 4  # times `dims` columns are kept of a layer's vectors, for what is reduced again inside clusters


def group_nodes(vectors: Vectors, sizes: Sequence[int], settings: TreeSettings) -> list[Group]:
    """The groups of the nodes with these vectors, shape (n, d), and tokens: every node in at least one.

    No group has more than `input_tokens`, unless it is one node; none is there twice; all ascend, in the order of their
    members.
    """
    if not sizes:
        return []
    wide = reduce_dimensions(vectors, _WIDE * settings.dims, seed=settings.seed)
    parts = _part_by_clusters(tuple(range(len(sizes))), wide, settings)
    found = (g for part in parts for g in _fit_groups(part, wide, sizes, settings, settings.depth))
    return sorted(dict.fromkeys(found))


def group_in_order(sizes: Sequence[int], settings: TreeSettings) -> list[Group]:
    """Groups of about `children` nodes as they follow one another, for an estimate where there are no vectors."""
    found = pack_batches(range(len(sizes)), settings.input_tokens, lambda i: sizes[i])
    step = settings.children or len(sizes)
    return [tuple(run[i : i + step]) for run in found for i in range(0, len(run), step)]


def _fit_groups(nodes: Group, x: Floats, sizes: Sequence[int], settings: TreeSettings, depth: int) -> Iterable[Group]:
    """`nodes` as they are where one summary can tell of them, else in parts."""
    long = sum(sizes[i] for i in nodes) > settings.input_tokens
    many = 0 < 2 * settings.children < len(nodes)
    if not long and not many:
        return [nodes]
    if many:  # clusters of about `children`, each node in one, whether they lie apart or not
        labels = cluster_rows(x[list(nodes)], settings.children, seed=settings.seed).labels
        parts = [tuple(nodes[i] for i in np.flatnonzero(labels == k)) for k in range(int(labels.max()) + 1)]
    else:
        parts = _part_by_clusters(nodes, x, settings) if depth else [nodes]
    if parts == [nodes]:
        return [tuple(part) for part in pack_batches(nodes, settings.input_tokens, lambda i: sizes[i])]
    return [g for part in parts for g in _fit_groups(part, x, sizes, settings, depth - 1)]


def _part_by_clusters(nodes: Group, x: Floats, settings: TreeSettings) -> list[Group]:
    """The local clusters inside the global clusters of `nodes`."""
    mine = x[list(nodes)]
    found: list[Group] = []
    for outer in _mixture_clusters(mine, settings):
        small = len(outer) <= settings.stop  # such a global cluster is a single local one
        inner = [tuple(range(len(outer)))] if small else _mixture_clusters(mine[list(outer)], settings)
        found += [tuple(nodes[outer[i]] for i in part) for part in inner]
    return found


def _mixture_clusters(x: Floats, settings: TreeSettings) -> list[Group]:
    """The clusters of a mixture whose number of components is that of the least BIC (§3)."""
    if (n := len(x)) <= _FEW:
        return [tuple(range(n))]
    y = reduce_dimensions(x, min(settings.dims, n - 2), seed=settings.seed)
    mixture = fit_mixture(y, choose_k(y, seed=settings.seed), seed=settings.seed)
    if settings.membership == "soft":
        return [tuple(map(int, rows)) for rows in assign_softly(mixture, y, settings.threshold)]
    labels = mixture.assign(y)
    return sorted(tuple(map(int, np.flatnonzero(labels == k))) for k in np.unique(labels))


_SPARE = 0.9  # of the room is asked for: summaries have more names and numbers than what they are written from
_TITLES = 3  # documents that a summary is called by


Writing = Callable[[Sequence[Brief]], Sequence[tuple[Statement, ...]]]
Near = Callable[[Sequence[str]], Vectors | None]


@step("growing.condense", version=1, uses="engine", task="condense")
def condense_groups(briefs: Sequence[Brief], *, engine: CondensingEngine) -> list[tuple[Statement, ...]]:
    """The text of each group said shorter."""
    return engine.condense(briefs)


def plant_tree(building: Building, settings: TreeSettings) -> MadePart:
    """The tree over the chunks; what is there is kept. Raises UnsupportedTask where the engine does not condense."""
    rt, chunks = building.rt, building.chunks
    rt.check("the tree of raptor", frozenset({"condense"}))
    cut = rt.once(make_leaves, chunks, names=[building.chunks_key], size=settings.leaf_tokens)
    said = embed_records(lambda: leaf_texts(cut.value, chunks()), rt, name=key("leaves", cut.key))

    def grow() -> Hierarchy:
        def near(texts: Sequence[str]) -> Vectors:  # those of an embedder that works here are made again, not stored
            return np.asarray(embed_all(texts, rt).value) if rt.embedder.waits else embed_here(texts, rt)

        grower = Grower(rt, settings, chunks(), partial(rt.each, condense_groups, without=quote_passages), near)
        return grower.grown(grower.leaves(cut.value), np.asarray(said.value))

    writer = rt.engine.fingerprint("condense")
    grown = rt.once(keep_summaries, grow, names=(cut.key, said.key), settings=settings, writer=writer)
    summed = embed_records(lambda: [c.text for c in grown.value.clusters], rt, name=key("summaries", grown.key))
    names, ids = (cut.key, grown.key, building.chunks_key), [c.id for c in building.spine.catalogue.value.chunks]
    shape = rt.once(make_nodes, lambda: (cut.value, grown.value, ids), names=names)
    words = rt.once(index_node_words, lambda: (cut.value, grown.value, chunks()), names=names)
    made = rt.once(keep_tree_keys, TreeKeys(cut.key, grown.key, shape.key, words.key))
    counts = {"leaves": len(cut.value.leaves), "summaries": len(grown.value.clusters)}
    return MadePart(PartEntry(made.key, {"leaf": said.key, "summary": summed.key}), counts, grown.value.notes)


@dataclass(frozen=True, slots=True)
class Node:
    """A leaf or a summary as the next layer sees it: what it says, what of, and how an engine may cite it."""

    id: str
    said: tuple[Statement, ...]
    tokens: int
    chunks: tuple[str, ...]
    passage: Passage

    @property
    def sources(self) -> Iterator[Source]:
        """The spans that it rests on."""
        return (source for statement in self.said for source in statement.sources)


class Grower:
    """Writes the summaries of one tree, layer by layer.

    `write` is asked for summaries, `near` for the vectors of a layer's texts, shape (n, d); where it has none, nodes
    are grouped as they follow one another.
    """

    def __init__(
        self, rt: Runtime, settings: TreeSettings, chunks: Iterable[Chunk], write: Writing, near: Near
    ) -> None:
        self.engine, self.settings, self.write, self.near = rt.engine, settings, write, near
        self.chunks = {c.id: c for c in chunks}
        self.lost: Counter[str] = Counter()

    def leaves(self, found: Leaves) -> list[Node]:
        """The leaves as nodes."""
        nodes = list[Node]()
        for leaf in found.leaves:
            passage = leaf_passage(leaf, self.chunks[leaf.chunk])
            said = (Statement(passage.text, (leaf.id,), passage.sources),)
            nodes.append(Node(leaf.id, said, leaf.tokens, (leaf.chunk,), shown_to(self.engine, passage)))
        return nodes

    def grown(self, layer: list[Node], vectors: Vectors | None) -> Hierarchy:
        """The summaries above leaves; the last layer has few nodes, or one above it would not be smaller.

        Level 0 is made of leaves, and each other of the level below. A cluster whose one member is `promoted` says what
        that says. `parent` is the first of several.
        """
        grown: list[list[Cluster]] = []
        s = self.settings
        while len(layer) > s.stop and len(grown) < s.layers:
            sizes = [n.tokens for n in layer]
            found = group_in_order(sizes, s) if vectors is None else group_nodes(vectors, sizes, s)
            if len(found) >= len(layer):
                break
            grown.append(self._clusters(layer, found, len(grown)))
            shown = [shown_to(self.engine, report_passage(c)) for c in grown[-1]]
            layer = [Node(c.id, c.summary, c.tokens, c.chunks, p) for c, p in zip(grown[-1], shown, strict=True)]
            vectors = self.near([c.text for c in grown[-1]])
        # by depth, then id, each with its depth and its first parent
        ordered: list[Cluster] = []
        for depth, made in enumerate(reversed(grown)):
            above = grown[len(grown) - depth] if depth else ()
            parents = {name: c.id for c in sorted(above, key=lambda c: c.id, reverse=True) for name in c.members}
            ordered += [replace(c, depth=depth, parent=parents.get(c.id, "")) for c in sorted(made, key=lambda c: c.id)]
        return Hierarchy(tuple(ordered), notes=self._notes())

    def _clusters(self, layer: Sequence[Node], found: Sequence[Group], level: int) -> list[Cluster]:
        """The clusters of a layer, each with its summary."""
        members = [[layer[i] for i in group] for group in found]
        asked = [m for m in members if len(m) > 1]
        written = iter(self.write([self._brief(m) for m in asked]))
        return [self._cluster(m, m[0].said if len(m) == 1 else self._summary(m, next(written)), level) for m in members]

    def _brief(self, members: Sequence[Node]) -> Brief:
        context = Context(tuple(m.passage for m in members), self._title(members))
        # words as engines count them: two characters of a script without blanks are one
        words = sum(len(m.passage.text.split()) + len(HAN.findall(m.passage.text)) // 2 for m in members)
        words_per_token = words / max(1, sum(m.tokens for m in members))
        return Brief(context, max(1, int(_SPARE * words_per_token * self.settings.summary_tokens)))

    def _title(self, members: Sequence[Node]) -> str:
        """The titles of the documents that are here most often."""
        titles = Counter(title for m in members for c in m.chunks if (title := self.chunks[c].title))
        return ", ".join(title for title, _ in titles.most_common(_TITLES))

    def _cluster(self, members: Sequence[Node], said: tuple[Statement, ...], level: int) -> Cluster:
        chunks = tuple(dict.fromkeys(c for m in members for c in m.chunks))
        made = Cluster(
            key("summary", [m.id for m in members])[:24], level, 0, "", tuple(m.id for m in members), (),
            title=self._title(members), summary=said, documents=len(set(map(document_part, chunks))), chunks=chunks,
            promoted=members[0].id if len(members) == 1 else "",
        )  # fmt: skip
        return replace(made, tokens=count_tokens(made.text))

    # ── what an engine wrote ──

    def _summary(self, members: Sequence[Node], written: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """What was written of a group, no longer than asked, every statement with the spans that it rests on."""
        known = {m.id: m for m in members}
        kept = tuple(_shorten_statements(written, self.settings.summary_tokens))
        self.lost["cut"] += kept != written
        self.lost["empty"] += not kept
        return tuple(self._grounded(s, known) for s in kept)

    def _grounded(self, statement: Statement, known: dict[str, Node]) -> Statement:
        """The statement with its spans: those of the members that it names, or of all where it names none."""
        references = tuple(name for name in statement.references if name in known)
        self.lost["references"] += len(statement.references) - len(references)
        self.lost["unnamed"] += not references and not statement.sources
        named = replace(statement, references=references or tuple(known))
        return replace(ground_statement(named, lambda name: known[name].sources), references=references)

    def _notes(self) -> tuple[str, ...]:
        most = f"longer than {self.settings.summary_tokens} tokens and"
        told = {
            "cut": (f"summary was {most} was cut", f"summaries were {most} were cut"),
            "empty": ("group of the tree has an empty summary", "groups of the tree have an empty summary"),
            "references": (
                "reference in summaries named no member and was removed",
                "references in summaries named no member and were removed",
            ),
            "unnamed": (
                "statement of summaries named no member and rests on its whole group",
                "statements of summaries named no member and rest on their whole group",
            ),
        }
        return tuple(f"{n} {told[what][n > 1]}" for what, n in self.lost.items() if n)


def _shorten_statements(statements: Sequence[Statement], most: int) -> Iterator[Statement]:
    """Statements as far as `most` tokens go; the first that does not fit by its whole sentences, or its beginning."""
    room = most
    for statement in statements:
        if (size := count_tokens(statement.text)) <= room:
            room -= size
            yield statement
            continue
        ends = [end for _, end in split_sentences(statement.text) if count_tokens(statement.text[:end]) <= room]
        if not ends and room == most:
            ends = [end for _, end in cut_pieces(statement.text, room)][:1]
        if ends:
            yield replace(statement, text=statement.text[: ends[-1]])
        return


def foresee_tree(foresight: Foresight, settings: TreeSettings) -> PartEstimate:
    """The summaries that nobody has written, and the texts of all nodes, to be embedded.

    Without vectors nodes can only be grouped as they follow one another.
    """
    rt, asked = foresight.rt, list[Brief]()

    def stand_in(brief: Brief) -> tuple[Statement, ...]:  # as long a text as is asked for
        passages = brief.context.passages
        return (Statement(first_words(passages, brief.words), (passages[0].id,)),)

    def write(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        found, missing = foresee_results(rt, condense_groups, briefs, stand_in)
        asked.extend(missing)
        return found

    cut = make_leaves.fn([foresight.chunks], size=settings.leaf_tokens)[0]
    texts = leaf_texts(cut, foresight.chunks)
    grower = Grower(rt, settings, foresight.chunks, write, lambda said: _free_vectors(said, rt))
    tree = grower.grown(grower.leaves(cut), _free_vectors(texts, rt))
    foreseen = foresight.step(condense_groups.name, "condense", asked, [settings.summary_tokens] * len(asked))
    return PartEstimate((foreseen,), [*texts, *(c.text for c in tree.clusters)])


def _free_vectors(texts: Sequence[str], rt: Runtime) -> Vectors | None:
    """The vectors of texts where they cost nothing: all are stored, or made on this machine."""
    if not rt.embedder.waits:
        return embed_here(texts, rt)
    if rt.missing(embed_texts, texts):
        return None
    return read_vectors(rt.each(embed_texts, texts))
