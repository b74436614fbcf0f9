"""How extractions become a graph: the settings of merging, describing, and of which names are one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sensegraph.errors import SettingsError
from sensegraph.resolution.resolution_types import Resolving

Weight = Literal["auto", "count", "normalised", "strength"]


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """How extractions become a graph.

    `weight` of a relation: count of its mentions, count ÷ largest count, or sum of strengths; `auto` counts, but
    adds up strengths where the engine that surveys the corpus tells how far two names go together beyond chance.
    `orphans`: a relation's end that no chunk describes is created with type `unknown`, or its relation is dropped.
    Descriptions of one element are joined while they stay within `describe_above` tokens, else summarised, in batches
    of `summary_input` tokens.
    """

    weight: Weight = "auto"
    orphans: Literal["create", "drop"] = "create"
    describe_above: int = 500
    summary_input: int = 4_000

    def __post_init__(self) -> None:
        if self.describe_above < 0 or self.summary_input < 1:
            raise SettingsError(
                f"index.graph.describe_above ({self.describe_above}) must be at least 0 and index.graph.summary_input "
                f"({self.summary_input}) at least 1."
            )


@dataclass(frozen=True, slots=True)
class ResolveSettings:
    """How different names of one thing, and one name of different things, are found.

    `automatic` decides at each build what the documents themselves make sure: pairs from the score `sure` on are one,
    and a name is another thing in documents that use it so; else `sensegraph entities duplicates` proposes, and no name
    is told apart. `engine` says whether that asks an engine that can (auto) about pairs with a score between `reject`
    and `accept`, or nobody (none); a build asks nobody. `cross_types` are pairs of types that may be the same entity.
    """

    automatic: bool = True
    sure: float = 0.9
    engine: Literal["auto", "none"] = "auto"
    accept: float = 0.85
    reject: float = 0.35
    cross_types: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        self.rules()  # for its errors
        if not self.reject <= self.sure <= 1:
            raise SettingsError(f"index.resolve.sure is {self.sure}; it must be from index.resolve.reject to 1.")

    def rules(self) -> Resolving:
        """The settings of the comparison of names."""
        return Resolving(accept=self.accept, reject=self.reject, cross_types=self.cross_types)
