"""What a build finds to be one thing by itself: merged and told, found once, and not where it is not asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.extractions import Mention
from sensegraph.index.graph import duplicates
from sensegraph.index.graph.duplicates import aliases_of, resolved_graph
from sensegraph.index.graph.graph_settings import GraphSettings, ResolveSettings
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.models.embedders import HashedTerms
from sensegraph.resolution.aliases import NO_ALIASES, Aliases
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, ExtractedEntity, ExtractedRelation, Extraction

TEXT = "The Apple Trust (AT) paid. AT left. The Harbour Board (HB) met."
CHUNK = Chunk("c", "d", 0, len(TEXT), 9, TEXT)
FOUND = Extraction(
    tuple(ExtractedEntity(name, "organization", "So.") for name in ("Apple Trust", "AT", "Harbour Board", "HB", "Ada"))
)


class Extracted:
    keys = ("stands for it",)
    runs = ((range(1), range(1)),)
    run_names = ("stands for it",)
    size = 1
    kept: Mapping[int, Any] = {}

    def read_run(self, run: int) -> Iterator[tuple[Chunk, Extraction]]:
        return iter(self)

    def __iter__(self) -> Iterator[tuple[Chunk, Extraction]]:
        return iter([(CHUNK, FOUND)])


def texts(ids: Any) -> dict[str, Chunk]:
    return {i: CHUNK for i in ids if i == "c"}


@pytest.fixture
def rt(tmp_path: Path) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), SqliteStore(tmp_path), LocalExecutor(1, 1))


def built(rt: Runtime, aliases: Aliases = NO_ALIASES, **settings: Any) -> tuple[list[str], tuple[str, ...], Aliases]:
    extracted: Any = Extracted()
    graph, notes = resolved_graph(extracted, rt, GraphSettings(), ResolveSettings(**settings), aliases, texts)
    return sorted(e.name for e in graph.value.entities), notes, aliases_of(rt, graph.key)


def test_names_are_merged_where_that_is_set_and_it_is_told_how_many(rt: Runtime) -> None:
    names, notes, aliases = built(rt, automatic=True)
    assert names == ["Ada", "Apple Trust", "Harbour Board"]
    assert notes == ("2 entities were merged into others of another name (index.resolve.automatic)",)
    groups = sorted(sorted(n for n, _ in group) for group in aliases.groups)
    assert groups == [["apple trust", "at"], ["harbour board", "hb"]]
    plain, notes, aliases = built(rt, automatic=False)
    assert (plain, notes, aliases) == (["AT", "Ada", "Apple Trust", "HB", "Harbour Board"], (), NO_ALIASES)


def test_what_was_found_once_is_not_looked_for_again_but_for_other_settings(
    rt: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = built(rt, automatic=True)
    monkeypatch.setattr(duplicates, "decide", lambda *_, **__: pytest.fail("looked for again"))
    assert built(rt, automatic=True) == first
    absent = Aliases(apart=((("at", "x"), ("ada", "x")),))  # which says nothing of what is there
    assert built(rt, absent, automatic=True) == first
    apart = Aliases(apart=((("at", "organization"), ("ada", "organization")),))
    for other in ({"accept": 0.95}, {"aliases": apart}):
        with pytest.raises(pytest.fail.Exception, match="looked for again"):
            built(rt, automatic=True, **other)  # type: ignore[arg-type]


def test_what_is_kept_apart_is_not_merged(rt: Runtime) -> None:
    apart = Aliases(apart=((("apple trust", "organization"), ("at", "organization")),))
    names, notes, _ = built(rt, apart, automatic=True)
    assert names == ["AT", "Ada", "Apple Trust", "Harbour Board"]
    assert notes[0].startswith("1 entities were merged")
    assert any("is left out" in note for note in notes)  # what the text says, and the user does not want
    assert not any("uncertain" in note for note in notes)


# ── what is gathered of names ──


def test_forms_of_mentions_are_other_names_and_ends_without_an_entity_are_made_or_dropped() -> None:
    mentions = (Mention("Mrs Finch", 0, 9), Mention("Mrs Finch", 9, 18), Mention("she", 20, 23))
    said = Extraction(
        (ExtractedEntity("Ada Finch", "person", "So.", mentions=mentions), ExtractedEntity("Bo", "person", "So.")),
        (ExtractedRelation("Ada Finch", "Bo", "met"), ExtractedRelation("Bo", "Lowmouth", "left")),
    )
    graph = merge_extractions([(CHUNK, said)], GraphSettings())
    by_name = {e.name: e for e in graph.entities}
    assert by_name["Ada Finch"].aliases == ("Mrs Finch",)
    assert set(by_name) >= {"Ada Finch", "Bo"}
    assert len(graph.relations) == len(by_name) - 1
    assert {e.name: e.degree for e in graph.entities}["Ada Finch"] == 1
