"""Who says whether texts bear a statement: a model, the words alone, or a model of inference on this machine.

Every figure that rests on such judgements carries the name of who gave them, and they are never mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from sensegraph.answering.grounding.lexical import LABEL, find_missing_in_texts
from sensegraph.errors import SettingsError, UnsupportedTask
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Check, Support

By = Literal["auto", "model", "words"]


@runtime_checkable
class SupportingEngine(LanguageEngine, Protocol):
    """An engine that can judge whether texts bear a statement (task `support`)."""

    def support(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the texts of each check bear its statement."""
        ...


class Supporter(Protocol):
    """Says of each check whether its texts bear its statement, in order; `holds` is None where it gave no verdict.

    `wide` says that it reads, and so may be given what stands around a quoted span.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    @property
    def wide(self) -> bool:
        """Whether what stands around a span helps it."""
        ...

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the texts of each check bear its statement."""
        ...


@step("entailment.support", version=1, uses="engine", task="support")
def support_statements(checks: Sequence[Check], *, engine: SupportingEngine) -> list[Support]:
    """Whether texts bear statements, by a model."""
    return engine.support(checks)


@dataclass(frozen=True, slots=True)
class ByWords:
    """Lexical support: all content words, numbers, negations and the order of names agree (see `lexical`)."""

    name: str = LABEL
    wide: bool = False

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the words of the texts hold those of the statement; the reason says what is lacking."""
        found = []
        for check in checks:
            if texts := [t for t in check.evidence if t.strip()]:
                lacking = find_missing_in_texts(check.statement, texts)
                found.append(Support(not lacking, "; ".join(map(str, lacking))))
            else:
                found.append(_NOTHING)
        return found


@dataclass(frozen=True, slots=True)
class ByEngine:
    """Support by the engine of a runtime; every verdict is stored, so that none is paid for twice."""

    rt: Runtime
    wide: bool = True

    @property
    def name(self) -> str:
        """Support, and by which engine."""
        return f"support by {self.rt.engine.name}"

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the engine says so. Texts that are all empty bear nothing, without a call."""
        asked = [c for c in checks if any(t.strip() for t in c.evidence)]
        told = iter(self.rt.each(support_statements, asked))
        return [next(told) if any(t.strip() for t in c.evidence) else _NOTHING for c in checks]


@dataclass(frozen=True)
class ByInference:
    """Support by a cross-encoder for natural language inference in a local folder: entailment above all else.

    Raises SettingsError when the extra is not installed, or the folder holds no such model with a label "entailment".
    """

    folder: str
    wide: bool = False
    name: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if find_spec("sentence_transformers") is None:
            raise SettingsError("Support by inference needs an extra: pip install 'sensegraph[rerank]'.")
        if not Path(self.folder).is_dir():
            raise SettingsError(f"{self.folder!r} is no folder with a model; fetch one, and name its folder.")
        object.__setattr__(self, "name", f"support by {Path(self.folder).name}")

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether entailment is the likeliest of the labels, the texts joined being the premise."""
        if not checks:
            return []
        model, at = self._loaded
        scores = model.predict([("\n".join(c.evidence), c.statement) for c in checks], show_progress_bar=False)
        return [Support(int(row.argmax()) == at, "") for row in scores]

    @cached_property
    def _loaded(self) -> tuple[Any, int]:
        from sentence_transformers import CrossEncoder  # seconds to import: only where it is used

        model = CrossEncoder(self.folder, local_files_only=True)
        labels = {str(v).casefold(): int(k) for k, v in model.model.config.id2label.items()}
        if "entailment" not in labels:
            raise SettingsError(f"The model in {self.folder!r} has no label 'entailment'; name one for inference.")
        return model, labels["entailment"]


def choose_supporter(rt: Runtime, by: By = "auto") -> Supporter:
    """Who says it: the engine where it can (`auto`, `model`), else the words. Raises UnsupportedTask for `model`."""
    able = "support" in rt.engine.tasks
    if by == "model" and not able:
        raise UnsupportedTask("Support by a model", rt.engine.name, frozenset({"support"}))
    return ByEngine(rt) if able and by != "words" else ByWords()


_NOTHING = Support(False, "there is no text to bear it")
