"""Chunks that name things of a kind, for a question that asks for all of them or for their number.

The first passages of a search hold a few of many; here every chunk with the noun is looked up, and read where they are
not too many.
"""

from __future__ import annotations

import re

import numpy as np

from sensegraph.answering.named_chunks import list_search_stems, positions_with, take_entries
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.language.asking.kinds import NUMBER, find_series, read_asked_kind
from sensegraph.language.text import split_runs
from sensegraph.types import Passage

READ = 60  # chunks that are read
KEPT = 24  # chunks that are given to the engine
SERIES = 2  # series of names that are looked up


def find_listed_chunks(question: str, index: Index) -> tuple[list[Passage], bool]:
    """The chunks that name things of the kind that is asked for, or their number, and whether all were read.

    Nothing where the question asks for something else.
    """
    kind = read_asked_kind(question)
    if kind is None:
        return [], True
    root = index.root
    held = positions_with([kind.noun], question, root)
    if not len(held):
        return [], True
    rough = root.words.score(list_search_stems(split_runs(question), question))
    best = held[np.lexsort((held, -rough[held]))]
    _, entries = take_entries(best[: READ + 1], index)
    telling = re.compile(rf"\b{NUMBER}\s+(?:[\w-]+\s+){{0,2}}?{kind.pattern}\b", re.IGNORECASE)
    chunks = index.chunks([e.id for e in entries[:READ]]).values()
    found, series = [], dict[str, None]()
    for chunk in chunks:
        numbered = telling.search(chunk.text)
        # block by block: no sentence goes on over a blank line
        split = [] if kind.counts and numbered else re.split(r"\n\s*\n", chunk.text)
        blocks = filter(kind.mention.search, split)
        names = [name for block in blocks for name, _ in kind.find_names(" ".join(block.split()))]
        series |= dict.fromkeys(filter(None, map(find_series, names)))
        if names or numbered:
            found.append(chunk)
    for start in list(series)[:SERIES]:  # others of the same series stand also where the noun does not
        _, entries = take_entries(positions_with([start.strip("-_ ")], question, root)[:KEPT], index)
        found += list(index.chunks([e.id for e in entries]).values())
    passages = {chunk.id: chunk_passage(chunk) for chunk in found}
    return list(passages.values())[:KEPT], len(best) <= READ and len(passages) <= KEPT
