"""The claims of an answer by a model, in three stages; by rules where the engine has no model.

paper: Metropolitansky and Larson 2025 (Claimify), as Edge et al. 2024 use it (§3.2.2; G44). A sentence is reduced to
what can be verified, what it refers to is named, and it is parted into claims. Each stage sees some sentences before
and behind, asks for several completions, and takes the first where enough of them gave something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sensegraph.errors import UnsupportedTask
from sensegraph.lab.grounding import claims as rules
from sensegraph.lab.scores.standard import split_words
from sensegraph.lab.tasks import claim_excerpts
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Excerpt, Stage

_STAGES: tuple[Stage, ...] = ("select", "disambiguate", "decompose")


@dataclass(frozen=True, slots=True)
class Window:
    """How a stage asks: sentences it sees `before` and `after`, `completions` at a `temperature`, how many it needs."""

    before: int
    after: int
    completions: int
    needed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class ClaimSettings:
    """How claims are found; `by` is `model`, `rules`, or `auto`: a model where the engine is one."""

    by: Literal["auto", "model", "rules"] = "auto"
    select: Window = Window(5, 5, 3, 2, 0.2)
    disambiguate: Window = Window(5, 0, 3, 2, 0.2)
    decompose: Window = Window(5, 0, 1, 1, 0.0)

    def window(self, stage: Stage) -> Window:
        """The window of a stage."""
        return {"select": self.select, "disambiguate": self.disambiguate, "decompose": self.decompose}[stage]


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claims of one answer, none twice, and by whom they were found.

    `dropped` counts by stage the sentences that it let go (empty for rules, which know no stages), `repeated` the
    claims that the same answer had made before.
    """

    claims: tuple[str, ...]
    by: str
    sentences: int = 0
    dropped: tuple[tuple[str, int], ...] = ()
    repeated: int = 0


def find_claims(answers: Sequence[tuple[str, str]], how: ClaimSettings, rt: Runtime) -> list[Claimed]:
    """The claims of each answer, given as (question, text): by the engine where it can find claims, else by rules.

    Raises UnsupportedTask where a model is asked for and the engine has none.
    """
    able = "claim" in rt.engine.tasks
    if how.by == "model" and not able:
        raise UnsupportedTask("Finding claims by a model", rt.engine.name, frozenset({"claim"}))
    if how.by == "rules" or not able:
        return [Claimed(rules.extract_claims(text), rules.LABEL, len(rules.split_answer(text))) for _, text in answers]
    texts = [rules.split_answer(text) for _, text in answers]
    now = [_Sentence(a, i, s) for a, listed in enumerate(texts) for i, s in enumerate(listed)]
    dropped: list[dict[str, int]] = [dict.fromkeys(_STAGES, 0) for _ in answers]
    for stage in _STAGES[:2]:
        found = _complete_stage(stage, now, answers, texts, how.window(stage), rt)
        for sentence, made in zip(now, found, strict=True):
            dropped[sentence.answer][stage] += not made
        now = [replace(s, text=made[0]) for s, made in zip(now, found, strict=True) if made]
    parts = _complete_stage("decompose", now, answers, texts, how.decompose, rt)
    said: list[list[str]] = [[] for _ in answers]
    for sentence, made in zip(now, parts, strict=True):
        dropped[sentence.answer]["decompose"] += not made
        said[sentence.answer] += made
    claimed = []
    for listed, sentences, lost in zip(said, texts, dropped, strict=True):
        once: dict[str, str] = {}
        for one in listed:
            once.setdefault(" ".join(split_words(one)), one)
        unique, repeated = tuple(once.values()), len(listed) - len(once)
        by = f"claims by {rt.engine.name}"
        claimed.append(Claimed(unique, by, len(sentences), tuple(lost.items()), repeated))
    return claimed


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence on its way: in which answer, at which place, and what has become of it."""

    answer: int
    place: int
    text: str


def _complete_stage(
    stage: Stage,
    sentences: Sequence[_Sentence],
    answers: Sequence[tuple[str, str]],
    texts: Sequence[Sequence[str]],
    window: Window,
    rt: Runtime,
) -> list[tuple[str, ...]]:
    """The first completion of each sentence that gave something, or nothing where too few did.

    A completion is only asked for while it can still change whether there are enough.
    """
    asked, good = [0] * len(sentences), list[list[tuple[str, ...]]]([] for _ in sentences)
    for sample in range(window.completions):
        todo = [
            i
            for i, found in enumerate(good)
            if len(found) < window.needed <= len(found) + window.completions - asked[i]
        ]
        excerpts = []
        for sentence in (sentences[i] for i in todo):
            around, place = texts[sentence.answer], sentence.place
            before = tuple(around[max(0, place - window.before) : place])
            after = tuple(around[place + 1 : place + 1 + window.after])
            question = answers[sentence.answer][0]
            excerpts.append(Excerpt(stage, question, sentence.text, before, after, sample, window.temperature))
        for i, reply in zip(todo, rt.each(claim_excerpts, excerpts), strict=True):
            asked[i] += 1
            if completion := tuple(t.strip() for t in reply if t.strip()):
                good[i].append(completion)
    return [found[0] if found and len(found) >= window.needed else () for found in good]
