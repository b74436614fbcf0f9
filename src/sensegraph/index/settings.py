"""How an index is built: the settings of what all methods share, and the tables of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, TypeVar, get_type_hints

import msgspec

from sensegraph.built_in_parts import USUAL
from sensegraph.errors import SettingsError
from sensegraph.index.graph.graph_settings import GraphSettings, ResolveSettings
from sensegraph.index.hierarchy.communities import ClusterSettings
from sensegraph.index.hierarchy.reports import ReportSettings
from sensegraph.index.parts import SPINE, Part, find_part, needs_of, settings_type, sort_parts
from sensegraph.index.restricted.dates import TemporalSettings
from sensegraph.protocols import Numbers
from sensegraph.runtime.keys import key

S = TypeVar("S")
EXACT_BELOW = 200_000  # measured: bench/neighbours.py


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How an index is built; the defaults are those of edge2024.

    `parts` says what is built besides chunks, their vectors and their words: the graph, the reports on its communities
    (which need the graph), and what single methods read besides (`sensegraph show methods` says which), some of which
    have a table of settings too.
    From `exact_below` vectors of a kind on searches are approximate, where the extra `ann` is; 0 keeps them exact.
    `vectors` are stored with two bytes a number, or with one (`int8`), which is less exact.
    `most_failed` is the share of the chunks that a model may fail to read, or of the texts that it may fail to write,
    for good (one in any case) before the build is called failed; 0 allows none. With `collect` a build removes what
    nothing needs any more, once the store has grown by half; what was paid for stays.
    """

    chunk_tokens: int = 600
    chunk_overlap: int = 100
    parts: tuple[str, ...] = USUAL
    graph: GraphSettings = field(default_factory=GraphSettings)
    resolve: ResolveSettings = field(default_factory=ResolveSettings)
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)
    temporal: TemporalSettings = field(default_factory=TemporalSettings)
    exact_below: int = EXACT_BELOW
    vectors: Numbers = "int16"
    most_failed: float = 0.25
    collect: bool = True
    part_settings: dict[str, Any] = field(default_factory=dict)  # by the part's name; see `settings_of`
    part_objects: tuple[Any, ...] = ()  # parts that are known by nobody but this program

    def __post_init__(self) -> None:
        if self.exact_below < 0:
            raise SettingsError(f"index.exact_below must be at least 0 (always exact), not {self.exact_below}.")
        if not 0 <= self.most_failed <= 1:
            raise SettingsError(f"index.most_failed must be a share from 0 to 1, not {self.most_failed}.")
        if not 0 <= self.chunk_overlap < self.chunk_tokens:
            raise SettingsError(
                f"index.chunk_overlap ({self.chunk_overlap}) must be at least 0 and below index.chunk_tokens "
                f"({self.chunk_tokens})."
            )
        for name in self.parts:
            if missing := [needed for needed in needs_of(name, self.part_objects) if needed not in self.parts]:
                raise SettingsError(f"index.parts has {name} without {missing[0]}: they are made from it, add it.")

    @property
    def key(self) -> str:
        """What stands for these settings."""
        without = ("part_objects", "most_failed", "collect")  # they change nothing that is stored
        return key({f.name: getattr(self, f.name) for f in fields(self) if f.name not in without})

    def settings_of(self, part: Part[Any, S]) -> S:
        """The settings of a part: those of its table, else its defaults."""
        found: S = self.part_settings.get(part.name) or part.settings()
        return found

    def part_called(self, name: str) -> Part[Any, Any]:
        """The part of this name. Raises SettingsError where nobody brings it."""
        return find_part(name, self.part_objects)

    @property
    def own_parts(self) -> list[Part[Any, Any]]:
        """The parts that are built besides graph and reports, in the order in which they are."""
        return [self.part_called(name) for name in sort_parts(self.parts, self.part_objects) if name not in SPINE]


def take_part_settings(table: Mapping[str, Any], parts: Sequence[Part[Any, Any]]) -> dict[str, Any]:
    """The tables of all settings, those of an index's parts taken out of `index` and read as settings of these parts.

    Raises msgspec.ValidationError for a value of the wrong type, with its place.
    """
    index = table.get("index", {})
    if not isinstance(index, Mapping):
        return dict(table)
    known = get_type_hints(IndexSettings)
    kinds = {name: kind for name in index if name not in known and (kind := settings_type(name, parts))}
    both = make_dataclass("Both", [("index", make_dataclass("PartTables", kinds.items()))])
    made: Any = msgspec.convert({"index": {name: index[name] for name in kinds}}, both).index
    own = {name: getattr(made, name) for name in kinds}
    changed = {name: settings for name, settings in own.items() if settings != kinds[name]()}
    rest = {name: value for name, value in index.items() if name not in kinds}
    return {**table, "index": {**rest, "part_settings": changed, "part_objects": tuple(parts)}}
