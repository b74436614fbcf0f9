"""Looking back: what the texts say of an entity by time, and what changed between two moments (N90)."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from sensegraph.errors import InputError
from sensegraph.index.browse.elements import find_entities
from sensegraph.index.restricted.timeline import Change, Event, changes, timeline

if TYPE_CHECKING:
    from sensegraph.index.index import Index


class Remembering:
    """The part of a corpus that tells facts by their time. Raises NotIndexed for an index without dates."""

    @abstractmethod
    def index(self) -> Index:
        """The index as the last build left it."""

    def timeline(self, entity: str, *, since: str = "", until: str = "", type: str = "") -> list[Event]:
        """The dated statements that name `entity` and may hold between two moments (ISO 8601), in order of time.

        Raises InputError for a name that is unknown, or that several entities have: give its `type` or its id.
        """
        found = find_entities(self.index(), entity, type)
        if len(found) > 1:
            kinds = ", ".join(f"{e.type} ({e.id[:10]})" for e in found)
            raise InputError(
                f"{entity!r} is the name of {len(found)} entities: {kinds}; give the type or the id of one."
            )
        return timeline(self.index(), found[0], since, until)

    def changes(self, first: str, last: str) -> list[Change]:
        """What began, ended or changed after the moment `first` and through `last` (ISO 8601)."""
        return changes(self.index(), first, last)
