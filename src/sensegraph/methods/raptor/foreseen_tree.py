"""What the tree of RAPTOR would cost: the same growth, with stand-ins for summaries that nobody has written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sensegraph.index.vectors import embed_texts
from sensegraph.methods.raptor.growing import Grower, condense_groups, summary_texts
from sensegraph.methods.raptor.leaves import leaf_texts, make_leaves
from sensegraph.methods.raptor.tree import TreeSettings
from sensegraph.protocols import Vectors
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Statement


def foresee_tree(chunks: Sequence[Chunk], rt: Runtime, settings: TreeSettings) -> tuple[list[Brief], list[str]]:
    """The groups whose summaries nobody has written, and the texts of all nodes, to be embedded.

    Without vectors nodes can only be grouped as they follow one another.
    """
    asked: list[Brief] = []

    def write(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        keys = rt.keys(condense_groups, briefs)
        stored = rt.store.read(keys)
        found: list[tuple[Statement, ...]] = []
        for brief, k in zip(briefs, keys, strict=True):
            if k in stored:
                found.append(condense_groups.decode(stored[k]))
                continue
            asked.append(brief)  # in its place as long a text as is asked for, from the first words of the group
            words = " ".join(p.text for p in brief.context.passages).split()
            found.append((Statement(" ".join(words[: brief.words]), (brief.context.passages[0].id,)),))
        return found

    cut = make_leaves.fn([chunks], size=settings.leaf_tokens)[0]
    texts = leaf_texts(cut, chunks)
    grower = Grower(rt, settings, chunks, write, lambda said: _free_vectors(said, rt))
    return asked, [*texts, *summary_texts(grower.grown(grower.leaves(cut), _free_vectors(texts, rt)))]


def _free_vectors(texts: Sequence[str], rt: Runtime) -> Vectors | None:
    """The vectors of texts where they cost nothing: all are stored, or made on this machine."""
    if not rt.embedder.waits:
        return np.asarray(rt.embedder.embed(texts, "document"))
    if rt.missing(embed_texts, texts):
        return None
    return np.stack([np.frombuffer(row, np.float32) for row in rt.each(embed_texts, texts)])
