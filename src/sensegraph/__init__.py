"""sensegraph: ask questions about a collection of documents, with answers that cite the exact sentence."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensegraph import errors
    from sensegraph.async_corpus import AsyncAnswerStream, AsyncCorpus
    from sensegraph.corpus.asker import AnswerStream
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import Settings
    from sensegraph.documents import load
    from sensegraph.errors import SensegraphError
    from sensegraph.graphs.frames import DataTable, GraphTables
    from sensegraph.protocols import Chunker, Embedder, Executor, LanguageEngine, Method, Reranker
    from sensegraph.questions import Condition, Scope
    from sensegraph.runtime.activity import StopToken, begin_activity
    from sensegraph.types import Answer, Citation, Document, Entity, Evidence, Passage, Relation, Turn, Usage

__version__ = "0.1.0"
__all__ = [
    "Answer", "AnswerStream", "AsyncAnswerStream", "AsyncCorpus", "Chunker", "Citation", "Condition", "Corpus",
    "DataTable", "Document", "Embedder", "Entity", "Evidence", "Executor", "GraphTables", "LanguageEngine", "Method",
    "Passage", "Relation", "Reranker", "Scope", "SensegraphError", "Settings", "StopToken", "Turn", "Usage",
    "begin_activity", "errors", "load",
]  # fmt: skip
_NAMES = {
    "async_corpus": "AsyncAnswerStream AsyncCorpus",
    "corpus.asker": "AnswerStream",
    "corpus.corpus": "Corpus",
    "corpus.settings": "Settings",
    "documents": "load",
    "errors": "SensegraphError errors",
    "graphs.frames": "DataTable GraphTables",
    "protocols": "Chunker Embedder Executor LanguageEngine Method Reranker",
    "questions": "Condition Scope",
    "runtime.activity": "StopToken begin_activity",
}
_PLACES = {name: place for place, names in _NAMES.items() for name in names.split()}  # others are in `types`


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used, so that `import sensegraph` costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'sensegraph' has no attribute {name!r}")
    module = import_module(f"sensegraph.{_PLACES.get(name, 'types')}")
    return module if name == _PLACES.get(name) else getattr(module, name)


def __dir__() -> list[str]:
    """The public names, those that are not imported yet too."""
    return sorted({*globals(), *__all__})
