"""Rerankers: a question and texts to how well each fits, by a cross-encoder here, by an endpoint, or by an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sensegraph.errors import SettingsError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.keys import hash_files, key
from sensegraph.types import Context, Inquiry, Passage, Usage


@dataclass(frozen=True)
class CrossEncoderReranker:
    """A model that reads question and text together (Nogueira and Cho 2019), by the folder or the name of it.

    A name is fetched by the library when it is not there yet. Raises SettingsError when the extra is not installed,
    before any work, or when there is no such model.
    """

    model: str
    top: int = 50
    waits: bool = False
    name: str = field(default="cross-encoder", init=False)

    def __post_init__(self) -> None:
        if not self.model:
            raise SettingsError("rerank.by = cross-encoder needs rerank.model: a folder, or a name to be fetched.")
        if find_spec("sentence_transformers") is None:
            raise SettingsError("rerank.by = cross-encoder needs an extra: pip install 'sensegraph[rerank]'.")

    def fingerprint(self) -> str:
        """The model's name or, where it is a folder, what is in it."""
        return key("cross-encoder", 1, self._content)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits, as the model says it: of most models 0–1."""
        if not texts:
            return []
        return [float(s) for s in self._loaded.predict([(question, t) for t in texts], show_progress_bar=False)]

    def usage(self) -> Usage:
        """Nothing: it calls no one."""
        return Usage()

    @cached_property
    def _content(self) -> str:
        folder = Path(self.model)
        return hash_files(folder, "**/*") if folder.is_dir() else self.model

    @cached_property
    def _loaded(self) -> Any:
        from sentence_transformers import CrossEncoder  # seconds to import: only where it is used

        try:
            return CrossEncoder(self.model)
        except (OSError, ValueError) as e:
            why = " ".join(str(e).split())[:200]
            raise SettingsError(
                f"rerank.model {self.model!r} cannot be loaded: {why}. Name another or fetch it."
            ) from e


@dataclass(frozen=True)
class EndpointReranker:
    """A reranking model behind `endpoint`: all texts of a question go in one call.

    Scores are those of the model, of most 0–1; an empty text is not sent, and scores as the worst of the others.
    """

    endpoint: Endpoint
    top: int = 50
    waits: bool = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.settings.rerank_model

    def fingerprint(self) -> str:
        """The model's name; where it runs and whose key pays for it change no score."""
        return key("endpoint reranker", 1, self.name)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits. Raises as `Endpoint.rerank` does."""
        asked = [i for i, text in enumerate(texts) if text.strip()]
        found = self.endpoint.rerank(question, [texts[i] for i in asked]) if asked else []
        given = dict(zip(asked, found, strict=True))
        return [given.get(i, min(found, default=0.0)) for i in range(len(texts))]

    def usage(self) -> Usage:
        """What the rerank calls of the endpoint have cost."""
        return self.endpoint.usage("rerank")


@runtime_checkable
class RankingEngine(LanguageEngine, Protocol):
    """An engine that can score passages (task `rank`)."""

    def rank(self, inquiries: Sequence[Inquiry]) -> list[tuple[float, ...]]:
        """How much each passage of an inquiry helps to answer its question, 0 to 10, in the order of the passages."""
        ...


@dataclass(frozen=True)
class EngineReranker:
    """The chat model that answers, asked for a score from 0 to 10 of each text, several texts in a call.

    Raises SettingsError where the engine cannot do that, before any work.
    """

    engine: LanguageEngine
    top: int = 50
    waits: bool = True
    name: str = field(default="the engine", init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.engine, RankingEngine) or "rank" not in self.engine.tasks:
            raise SettingsError(
                f"rerank.by = engine needs a model that scores passages, and the engine {self.engine.name} cannot: "
                "set endpoint.model, or choose another rerank.by."
            )

    def fingerprint(self) -> str:
        """That of the engine's task."""
        return key("engine reranker", 1, self.engine.fingerprint("rank"))

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How much each text helps, 0 to 10; an empty one is not sent, and scores 0. Raises as the engine does."""
        assert isinstance(self.engine, RankingEngine)
        asked = [i for i, text in enumerate(texts) if text.strip()]
        passages = tuple(Passage("chunk", str(i), texts[i]) for i in asked)
        found = self.engine.rank([Inquiry(question, Context(passages))])[0] if asked else ()
        given = dict(zip(asked, found, strict=True))
        return [given.get(i, 0.0) for i in range(len(texts))]

    def usage(self) -> Usage:
        """What the engine has spent: it is the same calls that both count."""
        return self.engine.usage()
