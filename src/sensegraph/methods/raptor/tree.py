"""The part `tree` of an index: the leaves, the summaries above them, and what a search needs of both (RAPTOR)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.full_text import Bm25, Postings
from sensegraph.algorithms.graphs import Floats, Ints, Longs
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.errors import SettingsError
from sensegraph.language.collapsing import collapse_blanks
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens, list_stems
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step, take_records
from sensegraph.types import Chunk, Cluster, Hierarchy, Passage, Source

_CLAUSE = re.compile(r"[,;:](?=\s)|[，；：、]")
_SPACE = re.compile(r"\s+")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A stretch of a chunk: its text is `chunk.text[start:end]`.

    `id` comes from the document, the text, and how often the document said it before, so that it stays when the text
    moves.
    """

    id: str
    chunk: str
    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Leaves:
    """All leaves, in the order of documents and text."""

    leaves: Sequence[Leaf] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of one that is too long: characters of a document, and the chunk that holds it whole.

    Pieces of one `run` may stand in one leaf.
    """

    start: int
    end: int
    chunk: Chunk
    run: int


@step("leaves.leaves", version=4, form="tables")
def make_leaves(wholes: Sequence[Iterable[Chunk]], *, size: int) -> list[Leaves]:
    """The leaves of chunks, given document by document in order; at most `size` tokens each."""
    return [Leaves(tuple(_cut_leaves(chunks, size))) for chunks in wholes]


def leaf_texts(found: Leaves, chunks: Iterable[Chunk]) -> list[str]:
    """The texts of leaves, in their order; `chunks` are all that they were cut from."""
    text = {c.id: c.text for c in chunks}
    return [text[leaf.chunk][leaf.start : leaf.end] for leaf in found.leaves]


def leaf_passage(leaf: Leaf, chunk: Chunk, score: float = 0.0) -> Passage:
    """A leaf with its exact span."""
    source = Source(chunk.id, leaf.start, leaf.end)
    return Passage("chunk", leaf.id, chunk.text[leaf.start : leaf.end], score, chunk.title, (source,), documents=1)


def _cut_leaves(chunks: Iterable[Chunk], size: int) -> Iterator[Leaf]:
    for document, mine in groupby(chunks, key=lambda c: c.document):
        said = Counter[str]()
        for kept, count in _pack_pieces(_cut_sentences(list(mine), size), size):
            chunk, start, end = kept[-1].chunk, kept[0].start, kept[-1].end
            text = chunk.text[start - chunk.start : end - chunk.start]
            said[text] += 1
            name = key("leaf", document, text, said[text])[:24]
            yield Leaf(name, chunk.id, start - chunk.start, end - chunk.start, count)


def _pack_pieces(pieces: Iterable[_Piece], size: int) -> Iterator[tuple[list[_Piece], int]]:
    """Pieces in order, as many as `size` tokens and one chunk hold, and their tokens."""
    kept: list[_Piece] = []
    count = 0
    for piece in pieces:
        more = _tokens_between(kept[0] if kept else piece, piece)
        if kept and (more is None or more > size or piece.run != kept[0].run):
            yield kept, count
            kept, more = [], _tokens_between(piece, piece)
        kept.append(piece)
        count = more or 0
    if kept:
        yield kept, count


def _tokens_between(first: _Piece, last: _Piece) -> int | None:
    """The tokens from one piece to another; None where the chunk of the last does not hold both."""
    chunk = last.chunk
    if chunk.start > first.start:
        return None
    return _count(chunk.text[first.start - chunk.start : last.end - chunk.start])


def _count(text: str) -> int:
    """Tokens of a text, a run of blanks counted once: a wrapped text has as many as one that is not."""
    return count_tokens(collapse_blanks(text).text)


def _cut_sentences(chunks: Sequence[Chunk], size: int) -> Iterator[_Piece]:
    """The sentences of one document, each from the first chunk that holds it whole; long ones in pieces."""
    run = reached = 0
    for chunk, after in zip(chunks, [*chunks[1:], None], strict=True):
        base, begin = chunk.start, max(reached, chunk.start)
        spans = [(begin + a, begin + b) for a, b in split_sentences(chunk.text[begin - base :])]
        for n, (start, end) in enumerate(spans, 1):
            if n == len(spans) and after is not None and after.start <= start:
                continue  # the last of a chunk may go on: it is left to the next chunk, which begins before it
            reached = end
            if _count(chunk.text[start - base : end - base]) <= size:
                yield _Piece(start, end, chunk, run)
                continue
            for a, b in cut_pieces(chunk.text, size, start - base, end - base):
                yield _Piece(base + a, base + b, chunk, run + 1)
            run += 2


def cut_pieces(text: str, size: int, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """A long text in spans of at most `size` tokens: after , ; or : where that does, else between words, else hard."""
    for a, b in _spans_between_marks(text, start, len(text) if end is None else end, _CLAUSE):
        if count_tokens(text[a:b]) <= size:
            yield a, b
            continue
        for c, d in _spans_between_marks(text, a, b, _SPACE):
            place = c
            while place < d:  # a word that is too long: as many characters as `size` tokens hold, one at least
                length = d - place
                while length > 1 and count_tokens(text[place : place + length]) > size:
                    length //= 2
                yield place, place + length
                place += length


def _spans_between_marks(text: str, start: int, end: int, mark: re.Pattern[str]) -> Iterator[Span]:
    """The spans between marks, each with the mark that ends it, without white space around."""
    borders = [m.end() for m in mark.finditer(text, start, end)]
    for a, b in zip([start, *borders], [*borders, end], strict=True):
        inner = text[a:b]
        if bare := inner.strip():
            first = a + inner.index(bare)
            yield first, first + len(bare)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The leaves, in their order, and then the summaries in that of the tree: n nodes.

    `tokens` and `level` have shape (n,), `level` 0 for leaves and 1 or more for summaries; `promoted` (n,) marks
    those that only repeat their one child. The children of node i are `child[start[i]:start[i + 1]]`. `chunk` (leaves,)
    is the position of a leaf's chunk in the catalogue. `number` (n,) is the position in the whole index.
    """

    tokens: Ints
    level: Ints
    promoted: NDArray[np.int8]
    start: Longs
    child: Ints
    chunk: Ints
    number: Longs

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.chunk)

    def children(self, nodes: Sequence[int]) -> list[int]:
        """The children of nodes, each once, ascending."""
        places, _ = gather_entries(self.start, np.asarray(nodes, np.int64))
        return [int(i) for i in np.unique(np.asarray(self.child)[places])]

    def below(self, node: int) -> frozenset[int]:
        """The leaves below a node; of a leaf itself."""
        layer = [node]
        while layer and layer[0] >= self.leaves:
            layer = self.children(layer)
        return frozenset(layer)

    def tops(self) -> list[int]:
        """The nodes that no other is above, ascending."""
        return [int(i) for i in np.setdiff1d(np.arange(len(self)), self.child)]

    def within(self, places: Sequence[int]) -> Nodes:
        """What the chunks at these positions, ascending, make: their leaves, and summaries that rest on no other."""
        where = np.full(int(max(self.chunk.max(initial=-1), max(places, default=-1))) + 1, -1, np.int64)
        where[np.asarray(places, np.int64)] = np.arange(len(places))
        kept = self._raised(where[self.chunk] >= 0, np.logical_and)
        new = np.cumsum(kept) - 1
        rows, sizes = gather_entries(self.start, np.flatnonzero(kept))
        child = new[self.child[rows]].astype(np.int32)
        chunk = where[self.chunk[kept[: self.leaves]]].astype(np.int32)
        tokens, level, promoted = np.asarray(self.tokens), np.asarray(self.level), np.asarray(self.promoted)
        number, start = np.asarray(self.number)[kept], run_offsets(sizes)
        return Nodes(tokens[kept], level[kept], promoted[kept], start, child, chunk, number)

    def touching(self, places: Sequence[int]) -> int:
        """How many summaries rest on a chunk at these positions, whatever else they rest on."""
        inside = np.isin(self.chunk, np.asarray(places, np.int64))
        return int(self._raised(inside, np.logical_or)[self.leaves :].sum())

    def _raised(self, leaves: NDArray[np.bool_], join: np.ufunc) -> NDArray[np.bool_]:
        """What holds of every node, shape (n,): of a summary what `join` makes of its children."""
        kept = np.concatenate((leaves, np.zeros(len(self) - self.leaves, np.bool_)))
        for level in range(1, int(self.level.max(initial=0)) + 1):
            mine = np.flatnonzero(self.level == level)
            rows, sizes = gather_entries(self.start, mine)
            kept[mine] = join.reduceat(kept[self.child[rows]], run_offsets(sizes)[:-1])
        return kept


@step("nodes.nodes", version=1, form="arrays")
def make_nodes(wholes: Sequence[tuple[Leaves, Hierarchy, Sequence[str]]]) -> list[Nodes]:
    """The nodes of leaves and the tree above them; the ids of all chunks tell where each is in the catalogue."""
    results: list[Nodes] = []
    for leaves, tree, chunks in wholes:
        place = {name: i for i, name in enumerate(chunks)}
        cut, clusters = list(leaves.leaves), list(tree.clusters)
        node = {name: i for i, name in enumerate([*(leaf.id for leaf in cut), *(c.id for c in clusters)])}
        sizes = [0] * len(cut) + [len(c.members) for c in clusters]
        tokens = np.array([*(leaf.tokens for leaf in cut), *(c.tokens for c in clusters)], np.int32)
        level = np.array([0] * len(cut) + [c.level + 1 for c in clusters], np.int32)
        promoted = np.array([0] * len(cut) + [bool(c.promoted) for c in clusters], np.int8)
        child = np.fromiter(chain.from_iterable((node[m] for m in c.members) for c in clusters), np.int32)
        chunk = np.array([place[leaf.chunk] for leaf in cut], np.int32)
        results.append(Nodes(tokens, level, promoted, run_offsets(sizes), child, chunk, np.arange(len(node))))
    return results


@step("nodes.node_words", version=3, form="arrays")
def index_node_words(wholes: Sequence[tuple[Leaves, Hierarchy, Iterable[Chunk]]]) -> list[Postings]:
    """The word index of the nodes, in their order; the title of its document counts as words of every leaf."""
    found: list[Postings] = []
    for cut, tree, chunks in wholes:
        known = {c.id: c for c in chunks}
        said = [f"{(c := known[leaf.chunk]).heading}\n{c.text[leaf.start : leaf.end]}" for leaf in cut.leaves]
        found.append(Postings.build(list_stems(text) for text in chain(said, (c.text for c in tree.clusters))))
    return found


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How the tree of RAPTOR grows; the defaults are those of sarthi2024 or of its authors' code.

    `leaf_tokens` bounds a leaf, `summary_tokens` a summary, `input_tokens` what a summary is written from: a group of
    more is parted again, `depth` times at most, as is one of more than twice `children` nodes (0: of any number).
    Vectors are reduced to `dims` columns. A node belongs to every cluster whose posterior is above `threshold`, with
    `membership` = argmax to one alone. A layer of at most `stop` nodes is the last, as is number `layers`; so many
    nodes are not parted inside a cluster either.
    """

    leaf_tokens: int = 100
    summary_tokens: int = 100
    input_tokens: int = 3_500
    children: int = 7  # on average 6.7 in the paper
    depth: int = 5
    layers: int = 5
    stop: int = 11
    dims: int = 16
    membership: Literal["soft", "argmax"] = "soft"
    threshold: float = 0.1
    seed: int = 224

    def __post_init__(self) -> None:
        least = dict.fromkeys(("leaf_tokens", "summary_tokens", "input_tokens", "layers", "stop", "dims"), 1)
        for name, bound in (least | {"children": 0, "depth": 0}).items():
            if getattr(self, name) < bound:
                raise SettingsError(f"index.tree.{name} is {getattr(self, name)}; it must be at least {bound}.")
        if not 0 < self.threshold < 1:
            raise SettingsError(f"index.tree.threshold is {self.threshold}; it must lie between 0 and 1.")


@dataclass(frozen=True, slots=True)
class TreeKeys:
    """The keys of what a tree is made of."""

    leaves: str
    summaries: str
    nodes: str
    words: str


@dataclass(frozen=True, slots=True)
class Tree:
    """Leaves and summaries, each in its order; `nodes` numbers the leaves first.

    `words` is the word index of the nodes of the whole index. `hidden` counts the summaries above these leaves that a
    filter left out, because they rest on what is outside.
    """

    leaves: Sequence[Leaf]
    summaries: Sequence[Cluster]
    nodes: Nodes
    words: Bm25
    hidden: int = 0

    def score(self, text: str) -> Floats:
        """The BM25 score of every node for `text`, shape (n,)."""
        return np.asarray(self.words.score(list_stems(text))[self.nodes.number])

    def within(self, places: Sequence[int]) -> Tree:
        """The leaves of the chunks at these positions, ascending, and the summaries that rest on no other chunk."""
        found = self.nodes.within(places)
        kept, summed = split_positions(found, self.nodes.leaves)
        hidden = self.nodes.touching(places) - len(summed)
        leaves, summaries = take_records(self.leaves, kept), take_records(self.summaries, summed)
        return Tree(tuple(leaves), tuple(summaries), found, self.words, hidden)


@step("growing.summaries", version=2, form="tables")
def keep_summaries(wholes: Sequence[Hierarchy], *, settings: TreeSettings, writer: str) -> list[Hierarchy]:
    """The finished summaries; `writer` is who wrote them."""
    return list(wholes)


@step("tree.planted", version=1)
def keep_tree_keys(wholes: Sequence[TreeKeys]) -> list[TreeKeys]:
    """What a tree is made of."""
    return list(wholes)


def split_positions(found: Nodes, leaves: int) -> tuple[list[int], list[int]]:
    """The positions of nodes among the leaves, of which the whole index has so many, and among its summaries."""
    number = [int(i) for i in found.number]
    return [i for i in number if i < leaves], [i - leaves for i in number if i >= leaves]
