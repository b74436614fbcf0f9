"""Corpora over the scripted server, and texts to index: what tests of the whole path share."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.index.index import Index
from sensegraph.models.embedders import RemoteEmbedder
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.results import Table
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document

_FIRST = "Ada Bram Cora Dirk Elsa Finn Gwen Hugo Iris Joss Kara Lars Mona Nils Olga Piet".split()
_LAST = "Harrow Fenwick Stone Millar Quay".split()
_DID = ("wrote to", "sailed with", "argued with", "bought a boat from", "paid", "hired", "painted for")


def story(place: int, seed: int, sentences: int = 12) -> str:
    """Sentences about the people of one place, now and then with somebody of the next."""
    random = Random(f"{place} {seed}")
    people = [f"{first} {_LAST[place % 5]}" for first in _FIRST[place % 4 :: 2]]
    strangers = [f"{first} {_LAST[(place + 1) % 5]}" for first in _FIRST[:3]]
    lines = []
    for n in range(sentences):
        one, other = random.sample(people, 2)
        other = random.choice(strangers) if random.random() < 0.1 else other
        lines.append(f"{one} {random.choice(_DID)} {other} in the year {1800 + 7 * n + seed % 7}.")
    return " ".join(lines)


def stories(count: int = 6) -> list[Document]:
    """Documents of about two chunks each (at 120 tokens)."""
    return [Document(f"story-{i:02}", story(i, i), f"Story {i}") for i in range(count)]


def settings(server: ScriptedServer | str, **tables: Mapping[str, Any]) -> dict[str, Any]:
    """Settings for a small index with the scripted server as model and embedder, one call for each chunk."""
    url = server if isinstance(server, str) else server.base_url
    endpoint = {"base_url": url, "model": "scripted", "embedding_model": "hashed", "max_retries": 4, "timeout_s": 5.0}
    index = {"chunk_tokens": 120, "chunk_overlap": 20, "clusters": {"max_cluster_size": 6}}
    given = {"endpoint": endpoint, "index": index, "model": {"max_gleanings": 0}}
    return {n: {**given.get(n, {}), **tables.get(n, {})} for n in dict.fromkeys([*given, *tables])}


def corpus(folder: Path, server: ScriptedServer | str, **tables: Mapping[str, Any]) -> Corpus:
    """A corpus in `folder` over the scripted server."""
    return Corpus.open(folder, settings=settings(server, **tables))


_FINISHED: dict[str, Path] = {}


def finished_corpus(
    folder: Path, server: ScriptedServer, documents: Iterable[Document], **tables: Mapping[str, Any]
) -> Corpus:
    """A corpus of its own in `folder` that holds these documents, built: a copy of the first of its kind.

    The server has answered only where it was the first: tests that count the calls of a build make one themselves.
    """
    given = list(documents)
    made_of = f"{server.script} {given} {settings('', **tables)}"
    if made_of not in _FINISHED:
        assert server.script.reply is None, "what a function replies does not show in its name"
        with corpus(_kept() / str(len(_FINISHED)), server, **tables) as first:
            first.add(given)
            first.build()
        _FINISHED[made_of] = first.root
    shutil.copytree(_FINISHED[made_of], folder, dirs_exist_ok=True)
    return corpus(folder, server, **tables)


@cache
def _kept() -> Path:
    """A folder for what tests share, until the end of the process."""
    folder = TemporaryDirectory(prefix="finished-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def runtime(store: SqliteStore, server: ScriptedServer | None = None, **endpoint: Any) -> Runtime:
    """A runtime whose tools speak to the scripted server; without one they must not be used."""
    url = server.base_url if server else "http://127.0.0.1:9/v1"
    given = {"max_retries": 2, "timeout_s": 5.0} | endpoint
    made = Endpoint(EndpointSettings(base_url=url, model="scripted", embedding_model="hashed", **given))
    return Runtime(LLMEngine(made, LLMSettings(max_gleanings=0)), RemoteEmbedder(made), store, LocalExecutor(4, 1))


def content(corpus: Corpus) -> dict[str, Any]:
    """Everything that the index of a corpus holds, as `index_content` says. Nothing stays read."""
    return index_content(Index(corpus.store))


def index_content(index: Index) -> dict[str, Any]:
    """Everything that an index holds, by value: equal content is equal byte for byte."""
    tables: dict[str, Any] = {
        "documents": index.catalogue.documents,
        "chunks": index.catalogue.chunks,
        "entities": index.graph.entities,
        "relations": index.graph.relations,
        "claims": index.graph.claims,
        "communities": index.communities.groups,
        "clusters": index.hierarchy.clusters,
    }
    found: dict[str, Any] = {n: list(rows.raw() if isinstance(rows, Table) else rows) for n, rows in tables.items()}
    found["texts"] = [index.document(d.id) for d in index.catalogue.documents]
    found["vectors"] = np.asarray(index.vectors).tobytes()
    return found
