"""An evaluation gone through without asking anybody: what would be asked is counted, and stand-ins are answered.

The engine here looks to a store like the one that it stands for, so that what is stored already is found, and not
counted. What it says means nothing: it must never be stored where a run would find it.

Where a condition has answers already, those to come are taken to be like them: as long, citing as much, and saying
again what more than one of them says (`imitate_answers`). Elsewhere an answer tells two sentences of each passage that
it reads, with one mark, up to a length that the caller gives.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from sensegraph.answering.grounding.citations import remove_marks
from sensegraph.errors import ItemFailed, UnsupportedTask
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens
from sensegraph.protocols import Embedder, LanguageEngine, PricedEngine, Task, Vectors
from sensegraph.questions import SearchWords
from sensegraph.runtime.keys import key
from sensegraph.trials import Check, Contrast, Excerpt, Support, Trial, Verdict
from sensegraph.types import Answer, Citation, Draft, Inquiry, Lead, Point, Refinement, Statement, Usage

_SENTENCE = "Here stands one statement of about the length that an answer's sentences have, with {} in it."
USUAL = 18  # sentences of a model's answer, where nothing tells how long they are
_TOLD = 2  # sentences of an answer about each passage that it reads; the last of them cites it
_POINTS = 6  # partial answers to one context, at most
_SENTENCE_TOKENS = 25
_USEFUL = 50.0
_WORD = re.compile(r"[^\W\d_]{2,}")
_WRITTEN: Mapping[str, int] = MappingProxyType({
    "summarise": 200, "rate": 250, "answer": 450, "ask": 400, "refine": 150, "test": 1, "grade": 40, "judge": 130,
    "plan": 200, "keywords": 50, "concepts": 40, "filter": 12, "rank": 300,
    "score": 130, "contrast": 500, "propose": 200, "claim": 60, "support": 60,
})  # fmt: skip


def make_stand_in_text(seed: str, sentences: int = USUAL) -> str:
    """A text of the length of an answer, another for every `seed`."""
    return "\n".join(_SENTENCE.format(f"{seed} {i}") for i in range(sentences))


def make_stand_in_answer(seed: str, read: int, most: int) -> Answer:
    """An answer about `read` passages, another for every `seed`, in `most` sentences at most."""
    lines = make_stand_in_text(seed, max(1, min(most, _TOLD * read))).splitlines()
    marks = {end: i for i, end in enumerate(_find_ends(len(lines)), 1)}
    text = "\n".join(f"{line} [{marks[i]}]" if i in marks else line for i, line in enumerate(lines))
    return Answer(text, tuple(Citation(m, "", 0, 0, f"{seed} {m}") for m in marks.values()))


def _find_ends(lines: int) -> list[int]:
    """The lines behind which a mark stands: the last on each passage."""
    return sorted({*range(_TOLD - 1, lines, _TOLD), lines - 1})


class Rehearsed:
    """The language tasks as the engine `of` would be asked for them; `by_task` is what that would take.

    Answers are of at most `sentences` sentences. `dropped` is the share, 0 to 1, of sentences that a stage of finding
    claims lets go, by stage, and under `support` that of statements which their sources do not bear.
    """

    def __init__(
        self, of: LanguageEngine, sentences: int = USUAL, dropped: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._of, self._lock, self.sentences, self._dropped = of, threading.Lock(), sentences, dropped
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
            told = len(_stand_in_statements(item, self.sentences)) if task == "answer" else 0
            written = calls * (_SENTENCE_TOKENS * told or _WRITTEN[task])
            spent = Usage(calls, prompt, written, cost_usd=self._of.price(prompt, written))
            with self._lock:
                self.by_task[task] = self.by_task.get(task, Usage()) + spent
        if task == "answer":
            return Draft(_stand_in_statements(item, self.sentences))
        if isinstance(item, Excerpt) and self._drops(item.stage, item.sentence):
            return ()
        if isinstance(item, Check) and len(item.evidence) > 1 and self._drops(task, item.statement):
            return Support(False)
        return _REPLIES[task](item)

    def _drops(self, what: str, text: str) -> bool:
        """Whether this text is of the share that is let go: the same text always is, or never."""
        return int(key("dropped", what, text)[:8], 16) < self._dropped.get(what, 0.0) * 16**8

    def _size(self, engine: PricedEngine, task: Any, item: Any) -> int:
        """Tokens of the prompt; a trial is as long whatever its replicate and order."""
        if not isinstance(item, Trial):
            return engine.prompt_tokens(task, item)
        like = (task, item.question, item.criterion, *sorted(item.answers))
        if like not in self._sizes:
            self._sizes[like] = engine.prompt_tokens(task, item)
        return self._sizes[like]


class Unasked:
    """The engine `of` where it must not be asked: what is stored is found, and all else fails with ItemFailed."""

    def __init__(self, of: LanguageEngine) -> None:
        self.name, self.tasks, self.batch, self.waits, self.quotes = of.name, of.tasks, of.batch, of.waits, of.quotes
        self.fingerprint, self.usage, self.notes = of.fingerprint, of.usage, of.notes

    def __getattr__(self, task: str) -> Any:
        if task not in _REPLIES:
            raise AttributeError(task)

        def refuse(items: Sequence[Any]) -> Any:
            raise ItemFailed(f"{task}: {len(items)} items are not stored, and the engine must not be asked for them.")

        return refuse


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


def imitate_answers(known: Sequence[Answer], count: int) -> list[Answer]:
    """`count` answers like those that are `known`, taken evenly from the first to the last; none where none is known.

    A sentence that more than one of them says is said again as it is. Every other one is told in words of its own, so
    that what is asked about it is not taken to be stored.
    """
    if not known:
        return []
    said = Counter(s for a in known for s in {remove_marks(a.text[x:y]).strip() for x, y in split_sentences(a.text)})
    like = [known[(2 * i + 1) * len(known) // (2 * count)] for i in range(count)]
    return [replace(a, text=reword_sentences(a.text, said, key("anew", i)[:6])) for i, a in enumerate(like)]


def reword_sentences(text: str, said: Mapping[str, int], seed: str) -> str:
    """The text with `seed` behind a word of each sentence that was `said` once only."""
    parts, end = [], 0
    for a, b in split_sentences(text):
        once = said[remove_marks(text[a:b]).strip()] < 2
        parts += [text[end:a], _WORD.sub(rf"\g<0>x{seed}", text[a:b], count=1) if once else text[a:b]]
        end = b
    return "".join([*parts, text[end:]])


def _stand_in_statements(inquiry: Inquiry, most: int) -> tuple[Statement, ...]:
    """Statements on each passage in turn, as long as there are passages, `most` at most; where none is read, `most`."""
    read = [p.id for p in inquiry.context.passages]
    seed = key(inquiry.question, read)[:8]  # other contexts give other answers, which are judged apart
    lines = make_stand_in_text(seed, min(most, _TOLD * len(read)) if read else most).splitlines()
    closes = _find_ends(len(lines)) if read else []
    return tuple(Statement(f"{line} ", (read[i // _TOLD],) if i in closes else ()) for i, line in enumerate(lines))


def _stand_in_points(inquiry: Inquiry) -> tuple[Point, ...]:
    """A partial answer on each passage, up to so many."""
    told = _stand_in_statements(inquiry, _TOLD * _POINTS)
    return tuple(Point(told[i : i + _TOLD], _USEFUL) for i in range(0, len(told), _TOLD))


def _stand_in_contrast(trial: Trial) -> Contrast:
    """What only one answer says, another for every two answers: else trials on them would be taken for one."""
    one, other = trial.answers
    if one.strip() == other.strip():
        return Contrast((one,))
    return Contrast((), *((make_stand_in_text(key(side, trial.answers)[:8], 4),) for side in ("first", "second")))


_REPLIES: Mapping[str, Any] = MappingProxyType({
    "summarise": lambda item: make_stand_in_text(item.title, 8),
    "rate": _stand_in_points,
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
