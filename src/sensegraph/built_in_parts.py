"""The parts of an index that come with the package: where each one stands, in the order in which they are built.

A part is imported when it is first used. The package's graph and reports are no such parts: all others stand on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

USUAL = ("graph", "reports", "concepts", "names", "wording", "outline")  # what is built where nobody says anything else
_NONE: Mapping[str, str] = MappingProxyType({})
_GRAPH = ("graph",)


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """Where a part stands (`module:NAME`), and the parts that it `needs`.

    `old_fields` are the vectors that it brings, each by the name that its key had in manifests of before 2026-11,
    which had a field for every key.
    """

    place: str
    needs: tuple[str, ...] = ()
    old_fields: Mapping[str, str] = field(default_factory=lambda: _NONE)


BUILT_IN: Mapping[str, BuiltIn] = MappingProxyType(
    {
        "concepts": BuiltIn("sensegraph.methods.lazygraphrag.concepts:CONCEPTS"),
        "names": BuiltIn("sensegraph.methods.walk.naming:NAMES"),
        "wording": BuiltIn("sensegraph.methods.walk.wording:WORDING"),
        "outline": BuiltIn("sensegraph.retrieval.outline.part:OUTLINE"),
        "relations": BuiltIn("sensegraph.methods.lightrag.lightrag:RELATIONS", _GRAPH, {"relation": "relations"}),
        "triples": BuiltIn("sensegraph.methods.hipporag.triples:TRIPLES"),
        "facts": BuiltIn("sensegraph.methods.hipporag.facts:FACTS", _GRAPH, {"fact": "fact_vectors"}),
        "sentences": BuiltIn(
            "sensegraph.methods.linearrag.sentences:SENTENCES", _GRAPH, {"sentence": "sentence_vectors"}
        ),
        "tree": BuiltIn(
            "sensegraph.methods.raptor.tree_part:TREE", (), {"leaf": "leaf_vectors", "summary": "summary_vectors"}
        ),
        "aggregates": BuiltIn(
            "sensegraph.methods.leanrag.aggregates_part:AGGREGATES",
            _GRAPH,
            {"described": "described", "aggregate": "aggregate_vectors"},
        ),
        "layers": BuiltIn("sensegraph.methods.hirag.layers_part:LAYERS", _GRAPH),
    }
)
