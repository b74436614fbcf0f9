"""What the tree of RAPTOR would cost: the same growth, with stand-ins for summaries that nobody has written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sensegraph.index.vectors import embed
from sensegraph.methods.raptor.growing import Grower, condense, summary_texts
from sensegraph.methods.raptor.leaves import leaf_texts, leaves
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
        keys = rt.keys(condense, briefs)
        stored = rt.store.read(keys)
        asked.extend(brief for brief, k in zip(briefs, keys, strict=True) if k not in stored)
        found = zip(briefs, keys, strict=True)
        return [condense.decode(stored[k]) if k in stored else _stand_in(brief) for brief, k in found]

    cut = leaves.fn([chunks], size=settings.leaf_tokens)[0]
    texts = leaf_texts(cut, chunks)
    grower = Grower(rt, settings, chunks, write, lambda said: _known(said, rt))
    return asked, [*texts, *summary_texts(grower.grown(grower.leaves(cut), _known(texts, rt)))]


def _known(texts: Sequence[str], rt: Runtime) -> Vectors | None:
    """The vectors of texts where they cost nothing: all are stored, or made on this machine."""
    if not rt.embedder.waits:
        return np.asarray(rt.embedder.embed(texts, "document"))
    if rt.missing(embed, texts):
        return None
    return np.stack([np.frombuffer(row, np.float32) for row in rt.each(embed, texts)])


def _stand_in(brief: Brief) -> tuple[Statement, ...]:
    """As long a text as is asked for, from the first words of the group."""
    words = " ".join(p.text for p in brief.context.passages).split()
    return (Statement(" ".join(words[: brief.words]), (brief.context.passages[0].id,)),)
