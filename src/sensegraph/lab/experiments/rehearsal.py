"""An evaluation gone through without asking anybody: what would be asked is counted, and stand-ins are answered.

The engine here looks to a store like the one that it stands for, so that what is stored already is found, and not
counted. What it says is of the usual length and means nothing: it must never be stored where a run would find it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from sensegraph.errors import UnsupportedTask
from sensegraph.language.text import count_tokens
from sensegraph.protocols import Embedder, LanguageEngine, PricedEngine, Task, Vectors
from sensegraph.questions import SearchWords
from sensegraph.runtime.keys import key
from sensegraph.trials import Contrast, Support, Trial, Verdict
from sensegraph.types import Draft, Inquiry, Lead, Point, Refinement, Statement, Usage

_SENTENCE = "Here stands one statement of about the length that an answer's sentences have, with {} in it."
USUAL = 18  # sentences of a model's answer, where nothing tells how long they are
_SENTENCE_TOKENS = 25
_USEFUL = 50.0
_WRITTEN: Mapping[str, int] = MappingProxyType({
    "summarise": 200, "rate": 250, "answer": 450, "ask": 400, "refine": 150, "test": 1, "grade": 40, "judge": 130,
    "plan": 200, "keywords": 50, "concepts": 40, "filter": 12, "rank": 300,
    "score": 130, "contrast": 500, "propose": 200, "claim": 60, "support": 60,
})  # fmt: skip


def make_stand_in_text(seed: str, sentences: int = USUAL) -> str:
    """A text of the length of an answer, another for every `seed`."""
    return "\n".join(_SENTENCE.format(f"{seed} {i}") for i in range(sentences))


class Rehearsed:
    """The language tasks as the engine `of` would be asked for them; `by_task` is what that would take.

    Answers are of `sentences` sentences.
    """

    def __init__(self, of: LanguageEngine, sentences: int = USUAL) -> None:
        self._of, self._lock, self.sentences = of, threading.Lock(), sentences
        self.by_task: dict[str, Usage] = {}
        self._sizes: dict[Any, int] = {}
        self.name, self.tasks, self.batch, self.waits, self.quotes = of.name, of.tasks, of.batch, True, of.quotes

    def fingerprint(self, task: Task) -> str:
        """That of the engine that it stands for."""
        return self._of.fingerprint(task)

    def usage(self) -> Usage:
        """What would have been spent so far."""
        with self._lock:
            return sum(self.by_task.values(), Usage())

    def notes(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def __getattr__(self, task: str) -> Any:
        if task not in _REPLIES:
            raise AttributeError(task)
        if task not in self.tasks:
            raise UnsupportedTask("A rehearsal", self.name, frozenset({task}))
        return lambda items: [self._reply(task, item) for item in items]

    def _reply(self, task: Any, item: Any) -> Any:
        if isinstance(self._of, PricedEngine):
            calls, prompt = self._of.calls(task, item), self._size(self._of, task, item)
            written = calls * (_SENTENCE_TOKENS * self.sentences if task == "answer" else _WRITTEN[task])
            spent = Usage(calls, prompt, written, cost_usd=self._of.price(prompt, written))
            with self._lock:
                self.by_task[task] = self.by_task.get(task, Usage()) + spent
        if task == "answer":
            return Draft(_stand_in_statements(item, self.sentences))
        return _REPLIES[task](item)

    def _size(self, engine: PricedEngine, task: Any, item: Any) -> int:
        """Tokens of the prompt; a trial is as long whatever its replicate and order."""
        if not isinstance(item, Trial):
            return engine.prompt_tokens(task, item)
        like = (task, item.question, item.criterion, *sorted(item.answers))
        if like not in self._sizes:
            self._sizes[like] = engine.prompt_tokens(task, item)
        return self._sizes[like]


class RehearsedEmbedder:
    """Vectors that mean nothing, of the embedder's length: what they would take is counted."""

    def __init__(self, of: Embedder, dim: int) -> None:
        self._of, self.dim, self._tokens = of, of.dim or dim, 0
        self.name, self.batch, self.waits, self.lexical = of.name, of.batch, of.waits, of.lexical

    def fingerprint(self) -> str:
        """That of the embedder that it stands for."""
        return self._of.fingerprint()

    def embed(self, texts: Sequence[str], kind: Any) -> Vectors:
        """Unit vectors that depend on the texts' lengths only; an embedder of this machine works as ever."""
        if not self._of.waits:
            return self._of.embed(texts, kind)
        self._tokens += sum(map(count_tokens, texts))
        rows = np.stack([np.random.default_rng(len(t)).normal(size=self.dim) for t in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def usage(self) -> Usage:
        """The tokens that would have been embedded."""
        return Usage(embedding_tokens=self._tokens)


def _stand_in_statements(inquiry: Inquiry, sentences: int) -> tuple[Statement, ...]:
    read = [p.id for p in inquiry.context.passages]
    seed = key(inquiry.question, read)[:8]  # other contexts give other answers, which are judged apart
    return tuple(Statement(f"{s} ", tuple(read[:1])) for s in make_stand_in_text(seed, sentences).splitlines())


def _stand_in_contrast(trial: Trial) -> Contrast:
    """What only one answer says, another for every two answers: else trials on them would be taken for one."""
    one, other = trial.answers
    if one.strip() == other.strip():
        return Contrast((one,))
    return Contrast((), *((make_stand_in_text(key(side, trial.answers)[:8], 4),) for side in ("first", "second")))


_REPLIES: Mapping[str, Any] = MappingProxyType({
    "summarise": lambda item: make_stand_in_text(item.title, 8),
    "rate": lambda item: (Point(_stand_in_statements(item, 6), _USEFUL),),
    "answer": lambda item: Draft(_stand_in_statements(item, USUAL)),
    "ask": lambda item: Lead(_stand_in_statements(item, 8), _USEFUL, tuple(f"{item.question} ({i})" for i in range(3))),
    "refine": lambda item: Refinement(item.question, (item.question,)),
    "test": lambda item: True,
    "grade": lambda item: 3,
    "plan": lambda item: (f"Step1: {item.question}", "Output(#1)"),
    "keywords": lambda item: SearchWords((item.question,), (item.question,)),
    "concepts": lambda item: SearchWords((item.question,), (item.question,)),
    "filter": lambda item: tuple(p.id for p in item.context.passages[:4]),
    "rank": lambda item: tuple(10.0 for _ in item.context.passages),
    "judge": lambda item: Verdict(1),
    "score": lambda item: Verdict(scores=(float(item.high),)),
    "contrast": _stand_in_contrast,
    "propose": lambda item: tuple(f"line {i}" for i in range(item.count)),
    "claim": lambda item: (item.sentence,),
    "support": lambda item: Support(True),
})  # fmt: skip
