"""Whether a build has anything to do: what stands for all that its result depends on, beside the documents."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sensegraph
from sensegraph.resolution.log import read_operations
from sensegraph.runtime.batches import WholeRuns
from sensegraph.runtime.keys import key
from sensegraph.runtime.stores.corpus_store import LOST

if TYPE_CHECKING:
    from sensegraph.corpus.workspace import Workspace
    from sensegraph.index.settings import IndexSettings

SETTLED = "settled"  # ref: what stood for the last build, where the next one would find nothing to do

WHOLE = "whole"  # ref: the index, what was lost before it was built, and the runs of results that its build found whole


def fingerprint_build(space: Workspace, settings: IndexSettings, lost: str) -> str:
    """What stands for the documents, the index that was built of them, and all that another build would look at.

    Besides documents and index these are the settings, the tools, the decisions about names, the program itself, what
    was lost of the store (`lost`), and which arrays and large results of the index there are. Empty where that cannot
    be told: where the index is not of the documents as they are, or has a part that another package brings.
    """
    store, built = space.store, space.built_state()
    foreign = [p for p in settings.own_parts if type(p).__module__.partition(".")[0] != "sensegraph"]
    if not built or foreign:
        return ""
    engine, embedder = space.tools
    tools = (
        (engine.name, [(task, engine.fingerprint(task)) for task in sorted(engine.tasks)]),
        (embedder.name, embedder.fingerprint()),
        space.chunker.fingerprint() if space.chunker else "",
    )
    made = space.manifest()
    held = sorted(store.has([made.documents, made.graph, made.communities, made.hierarchy])) if made else []
    arrays = store.array_names()
    return key(built, settings.key, tools, read_operations(store), _describe_program(), lost, arrays, held)


def lost_until_now(space: Workspace) -> str:
    """What changes whenever something in the store was found damaged."""
    return space.store.ref(LOST) or ""


@contextmanager
def remember_whole_runs(space: Workspace) -> Iterator[WholeRuns]:
    """What the build of the index of now found whole; what another finds is remembered once that has ended well."""
    given, lost = (space.store.ref(WHOLE) or " ").split(" "), lost_until_now(space)
    space.store.set_refs({WHOLE: None})
    runs = WholeRuns(frozenset(given[2:] if given[:2] == [space.index_key(), lost] else ()))
    yield runs
    space.store.set_refs({WHOLE: " ".join([space.index_key(), lost, *sorted(runs.now)])})


@cache
def _describe_program() -> list[tuple[str, int, int]]:
    """The files of the package, their sizes, and when they were written: another version has other steps."""
    root, found = str(Path(sensegraph.__file__).parent), list[tuple[str, int, int]]()
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if name != "__pycache__"]
        for path in [os.path.join(folder, name) for name in names if not name.endswith(".pyc")]:
            told = os.stat(path)
            found.append((path[len(root) + 1 :], told.st_size, told.st_mtime_ns))
    return sorted(found)
