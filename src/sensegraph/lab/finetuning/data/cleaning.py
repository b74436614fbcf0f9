"""Personal data taken out of a source before anything is made of it (R28)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import overload

from sensegraph.lab.finetuning.data.example_types import DroppedQuestion, Passage, SourceQuestion
from sensegraph.lab.finetuning.data.sources import Source

_KEPT = 4096  # texts that stay in memory

Mask = Callable[[str], str]


class MaskedPassages(Sequence[Passage]):
    """Passages with everything personal replaced, each when it is asked for."""

    def __init__(self, passages: Sequence[Passage], mask: Mask) -> None:
        self._passages, self._mask = passages, mask

    def __len__(self) -> int:
        return len(self._passages)

    @overload
    def __getitem__(self, place: int) -> Passage: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Passage]: ...

    def __getitem__(self, place: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(place, slice):
            return [mask_passage(p, self._mask) for p in self._passages[place]]
        return mask_passage(self._passages[place], self._mask)


def mask_source(source: Source, mask: Mask, kinds: Sequence[str]) -> Source:
    """`source` with `mask` over questions, answers, reasoning and passages; `kinds` are those that it replaces."""
    kept = lru_cache(maxsize=_KEPT)(mask)

    def mask_question(asked: SourceQuestion | DroppedQuestion) -> SourceQuestion | DroppedQuestion:
        if isinstance(asked, DroppedQuestion):
            return asked
        return replace(
            asked,
            question=kept(asked.question),
            answers=tuple(dict.fromkeys(map(kept, asked.answers))),
            oracles=tuple(mask_passage(p, kept) for p in asked.oracles),
            near=tuple(mask_passage(p, kept) for p in asked.near),
            reasoning=kept(asked.reasoning),
        )

    questions = map(mask_question, source.questions)
    topics = tuple((kept(topic), n) for topic, n in source.topics)
    return replace(
        source, questions=questions, pool=MaskedPassages(source.pool, kept), masked=tuple(kinds), topics=topics
    )


def mask_passage(passage: Passage, mask: Mask) -> Passage:
    """A passage with everything personal replaced, in its title and topic too."""
    return replace(passage, text=mask(passage.text), title=mask(passage.title), topic=mask(passage.topic))
