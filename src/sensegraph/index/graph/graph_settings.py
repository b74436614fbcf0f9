"""How extractions become a graph: the settings of merging and describing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sensegraph.errors import SettingsError

Weight = Literal["auto", "count", "normalised", "strength"]


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """How extractions become a graph.

    `weight` of a relation: count of its mentions, count ÷ largest count, or sum of strengths (X2); `auto` counts, but
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
