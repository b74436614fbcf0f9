"""The part `names` of an index: the names of the chunks and the paths between them, which the walk reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part
from sensegraph.methods.walk.naming import Names, NameSettings, make_names, name_graph
from sensegraph.runtime.results import recall_result

if TYPE_CHECKING:
    from sensegraph.index.restricted.scope import ScopedIndex


class NamesPart(Part[Names, NameSettings]):
    """Which chunk mentions, and which bears, which name."""

    name = "names"
    reader = "walk"
    stage = "beside"
    settings = NameSettings

    def build(self, building: Building, settings: NameSettings) -> MadePart:
        """The names of all chunks; no engine is asked."""
        return MadePart(PartEntry(name_graph(building.spine.by_document, building.rt, settings).key))

    def read(self, index: Index) -> Names:
        """The names, mapped."""
        return recall_result(index.store, make_names, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Names, index: ScopedIndex) -> Names:
        """The names of the chunks inside."""
        return value.within(np.asarray(index.places, np.int64))


NAMES = NamesPart()
