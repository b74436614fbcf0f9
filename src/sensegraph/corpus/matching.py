"""Asking the graph of an index by patterns (N87)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sensegraph.filters import Scope
from sensegraph.graphs.match.facets import Facets, facets
from sensegraph.graphs.match.matches import MOST, SECONDS, Matches, Parameter, Request, matched
from sensegraph.graphs.match.shelf import Shelf
from sensegraph.index.restricted.moment import timed
from sensegraph.index.restricted.scope import notes_of

if TYPE_CHECKING:
    from sensegraph.index.index import Index
    from sensegraph.runtime.runtime import Runtime

_EVERYTHING = Scope()


class Matching:
    """The part of a corpus that matches patterns. Raises InputError for a query that cannot be read or is too much."""

    @abstractmethod
    def index(self) -> Index:
        """The index as the last build left it."""

    @abstractmethod
    def runtime(self) -> Runtime:
        """A runtime over this corpus's tools and store."""

    def match(
        self,
        query: str,
        *,
        where: str = "",
        returned: str = "",
        order: str = "",
        skip: int | None = None,
        limit: int | None = None,
        parameters: Mapping[str, Parameter] | None = None,
        scope: Scope = _EVERYTHING,
        cite: bool = False,
        most: int = MOST,
        seconds: float = SECONDS,
    ) -> Matches:
        """The rows that match a pattern, or a whole query, of the part of openCypher that docs/match.md describes.

        `where`, `returned` (RETURN) and `order` (ORDER BY) are clauses beside the pattern, `parameters` the values of
        its `$names`. Only documents inside `scope` are read. With `cite` each row has citations. Any step may find
        `most` combinations and all together take `seconds`, else InputError says which step was too much.
        """
        request = Request(query, where, returned, order, skip, limit, parameters, most, seconds)
        whole = self.index()
        index = timed(whole, scope)
        every = self._facets(whole)
        part = every if index is whole else facets.fn([index.graph])[0]
        found = matched(request, Shelf(index, part, every), citing=cite)
        return replace(found, notes=(*notes_of(index), *found.notes))

    def _facets(self, index: Index) -> Facets:
        """The facets of the whole graph: made by the first query over it, mapped by all others."""
        graph = index.graph
        if getattr(self.runtime().store, "readonly", False):
            return facets.fn([graph])[0]
        return self.runtime().once(facets, lambda: graph, names=(index.manifest.graph,)).value
