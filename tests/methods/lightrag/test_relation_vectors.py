"""The part `relations` of an index: vectors of relations, built where they are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.index.settings import IndexSettings
from sensegraph.methods.lightrag.lightrag import relation_texts
from sensegraph.questions import Scope
from sensegraph.types import Entity, Graph, Relation
from wired import corpus, stories

PARTS = ["graph", "relations"]


def test_a_relation_is_embedded_as_its_label_its_ends_and_what_is_said_of_it() -> None:
    ends = tuple(Entity(i, name, "person", "", (), (), 1, 1) for i, name in (("a", "Ada"), ("b", "Bram")))
    pairs = (("paid", "Ada paid Bram."), ("", "Ada paid Bram."), ("", ""))
    links = tuple(Relation(f"r{i}", "a", "b", said, (), 1.0, (), label) for i, (label, said) in enumerate(pairs))
    assert relation_texts(Graph(ends, links)) == [
        "paid\nAda\nBram\nAda paid Bram.",
        "Ada\nBram\nAda paid Bram.",
        "Ada\nBram",
    ]


def test_an_index_has_the_vectors_of_its_relations_in_their_order(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index={"parts": PARTS}) as made:
        made.add(stories(4))
        made.build()
        index, embedder = made.index(), made.runtime().embedder
        found = index.vectors_of(embedder, "relation")
        assert len(found) == index.manifest.counts["relations"] > 0
        assert np.allclose(found[:], embedder.embed(relation_texts(index.graph), "document"), atol=1e-4)


def test_a_filter_leaves_the_vectors_of_the_relations_inside(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index={"parts": PARTS}) as made:
        made.add(stories(4))
        made.build()
        index, embedder = made.index(), made.runtime().embedder
        inside = restrict_to_scope(index, Scope(documents=("story-00", "story-01")))
        whole = dict(zip((r.id for r in index.graph.relations), index.vectors_of(embedder, "relation"), strict=True))
        kept = [r.id for r in inside.graph.relations]
        assert 0 < len(kept) < len(whole)
        assert np.array_equal(inside.vectors_of(embedder, "relation"), np.stack([whole[name] for name in kept]))


def test_an_index_without_them_says_how_to_build_them(built: Corpus) -> None:
    with pytest.raises(NotIndexed, match=r"'relations'.*index\.parts.*sensegraph index"):
        built.index().vectors_of(built.runtime().embedder, "relation")


def test_they_need_the_graph() -> None:
    with pytest.raises(SettingsError, match="relations without graph"):
        IndexSettings(parts=("relations",))


def test_an_estimate_counts_what_embedding_them_takes(tmp_path: Path, server: ScriptedServer) -> None:
    def tokens(name: str, parts: list[str]) -> int:
        with corpus(tmp_path / name, server, index={"parts": parts}) as made:
            return made.estimate(stories(2)).embedding_tokens

    assert tokens("with", PARTS) > tokens("without", ["graph"]) > 0
