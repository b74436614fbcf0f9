"""sensegraph: make sense of a whole body of text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.errors import SensegraphError
    from sensegraph.questions import Condition, Scope
    from sensegraph.runtime.activity import StopToken, begin_activity
    from sensegraph.types import Answer, Citation, Document, Evidence, Passage, Turn, Usage

__version__ = "0.1.0"
__all__ = [
    "Answer", "Citation", "Condition", "Corpus", "Document", "Evidence", "Passage", "Scope", "SensegraphError",
    "StopToken", "Turn", "Usage", "begin_activity",
]  # fmt: skip
_PLACES = {
    "Condition": "questions", "Corpus": "corpus.corpus", "Scope": "questions", "SensegraphError": "errors",
    "StopToken": "runtime.activity", "begin_activity": "runtime.activity",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used, so that `import sensegraph` costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'sensegraph' has no attribute {name!r}")
    return getattr(import_module(f"sensegraph.{_PLACES.get(name, 'types')}"), name)
