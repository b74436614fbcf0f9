"""Haystack: a retriever component over a corpus (the extra `haystack`).

pipeline.add_component("retriever", SensegraphRetriever("notes", top_k=5))
"""

from __future__ import annotations

import asyncio
from typing import Any

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.integrations.located import search_passages
from sensegraph.questions import Condition, Scope

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as e:
    raise ImportError(
        f"sensegraph.integrations.haystack needs haystack-ai ({e}): pip install 'sensegraph[haystack]'."
    ) from e

_OPERATORS = {"==": "=", "!=": "!=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}


@component
class SensegraphRetriever:
    """Finds passages of a corpus: `top_k` documents of Haystack, best first.

    `corpus` is one that is open, or its folder, which is opened when the pipeline warms up. `method` is a retrieval
    method of sensegraph and `options` its settings. The `meta` of a document lead to its source: `source` is the id of
    a document of the corpus, `start` and `end` a span of its text in characters, `page` its page, and `spans` lists
    all spans that the passage rests on. A pipeline that is saved holds the folder of the corpus;
    Haystack loads it with `allowed_modules=["sensegraph.integrations.haystack"]`.
    """

    def __init__(
        self, corpus: Corpus | str, method: str = "auto", top_k: int = 10, options: dict[str, Any] | None = None
    ) -> None:
        self.root = corpus if isinstance(corpus, str) else str(corpus.root)
        self.corpus = None if isinstance(corpus, str) else corpus
        self.method, self.top_k, self.options = method, top_k, options

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values."""
        values = {"method": self.method, "top_k": self.top_k, "options": self.options}
        saved: dict[str, Any] = default_to_dict(self, corpus=self.root, **values)
        return saved

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SensegraphRetriever:
        """The component that `to_dict` wrote."""
        made: SensegraphRetriever = default_from_dict(cls, data)
        return made

    def warm_up(self) -> None:
        """Open the corpus where it is not open. Raises NotIndexed where the folder has no index."""
        if self.corpus is None:
            self.corpus = Corpus.open(self.root, create=False)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """The passages for a query, under `documents`.

        `filters` are tests of the documents' metadata in Haystack's form, which must all hold. Raises InputError for
        a filter that says more than that, and what `Corpus.search` raises.
        """
        self.warm_up()
        assert self.corpus is not None
        found = search_passages(
            self.corpus,
            query,
            method=self.method,
            top=self.top_k if top_k is None else top_k,
            scope=Scope(where=read_filters(filters)),
            options=self.options,
        )
        documents = [
            Document(id=f.passage.id, content=f.passage.text, meta=f.metadata(), score=f.passage.score) for f in found
        ]
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.run, query, filters, top_k)


def read_filters(filters: dict[str, Any] | None) -> tuple[Condition, ...]:
    """The conditions that Haystack's filters state: comparisons of fields, joined by AND.

    A field may begin with `meta.`. Raises InputError for any other filter.
    """
    if not filters:
        return ()
    if filters.get("operator") == "AND":
        return tuple(c for part in filters.get("conditions", ()) for c in read_filters(part))
    field, operator, value = str(filters.get("field", "")), str(filters.get("operator", "")), filters.get("value")
    if not field or operator not in _OPERATORS or not isinstance(value, str | int | float):
        raise InputError(
            f"The filter {filters!r} cannot be read; give a field, one of {', '.join(_OPERATORS)}, and a text or a "
            "number, or several of these joined by AND."
        )
    return (Condition(field.removeprefix("meta."), _OPERATORS[operator], value),)
