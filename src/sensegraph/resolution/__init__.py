"""Entity resolution: which different names mean the same entity, how surely, and why. Pure: values in, values out.

Applying the decisions, and taking them back, is done by others: nothing here changes a graph.
"""

from __future__ import annotations

from sensegraph.resolution.comparison.aligned import find_contrast
from sensegraph.resolution.comparison.likeness import Comparison
from sensegraph.resolution.comparison.name_reading import Name, read_name
from sensegraph.resolution.resolution_types import (
    Alias,
    Group,
    Judged,
    Mentioned,
    Proposal,
    Resolution,
    Resolving,
    Rule,
)
from sensegraph.resolution.resolver import judge_pair, resolve

__all__ = [
    "Alias",
    "Comparison",
    "Group",
    "Judged",
    "Mentioned",
    "Name",
    "Proposal",
    "Resolution",
    "Resolving",
    "Rule",
    "find_contrast",
    "judge_pair",
    "read_name",
    "resolve",
]
