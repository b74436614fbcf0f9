"""Questions that a model writes from texts, each checked against them.

    grounds ─▶ twice as many questions as are wanted ─▶ kept: new, answered by their texts, and, where they join several
    texts, by no single one of them

papers: the over-generation and the checks of Edge et al. (2025); section 35 of the survey (N42)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sensegraph.index.index import Index
from sensegraph.lab.questions.grounded_questions import Grounds, GroundSettings
from sensegraph.lab.questions.proposing import Proposer
from sensegraph.lab.questions.question_files import NEEDS, Kind, Outcome, Posed, sum_counts
from sensegraph.lab.retrieval.test_collections import ADVERSARIAL
from sensegraph.protocols import Task
from sensegraph.trials import Check, Support, Wish

REQUIRES: frozenset[Task] = frozenset({"propose", "support"})
_NEAREST = 5  # chunks that are searched for an answer to a question that shall have none


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question with the texts that it was written from; `place` is that of the line in its reply."""

    question: Posed
    texts: tuple[str, ...]
    place: int

    @property
    def joins(self) -> bool:
        """Whether it shall need more than one of its texts."""
        return NEEDS.get(self.question.kind) == "multi-hop" and len(self.texts) > 1


def make_model_questions(index: Index, by: Proposer, how: GroundSettings | None = None) -> Outcome:
    """Questions of each class that a model writes from texts; `dropped` says why candidates were not kept.

    Kept is what is new, what its texts answer, and for a class that joins texts, what no single one of them answers;
    of the class adversarial, what neither its text nor those nearest to it answer.
    """
    how = how or GroundSettings()
    found, outcome = Grounds(index, how), Outcome(())
    for kind in how.classes:
        outcome = outcome + _make_questions_of_kind(kind, found, by, outcome.questions)
    return outcome


def _make_questions_of_kind(kind: Kind, found: Grounds, by: Proposer, before: Sequence[Posed]) -> Outcome:
    """Questions of one class, in rounds: as many grounds as questions are wanted still, each for several lines."""
    how, made, dropped = found.how, list[Posed](), Counter[str]()
    left = iter(found.sampled(kind) if kind in ("local", ADVERSARIAL) else found.of(kind))
    for _ in range(how.rounds):
        batch = list(islice(left, how.each - len(made)))
        if not batch:
            break
        texts = [found.texts(g) for g in batch]
        wishes = [Wish("question", how.over, kind=g.kind, texts=t) for g, t in zip(batch, texts, strict=True)]
        candidates = []
        for ground, read, lines in zip(batch, texts, by.lines(wishes), strict=True):
            evidence = () if kind == ADVERSARIAL else ground.chunks
            documents = tuple(dict.fromkeys(found.documents(ground))) if evidence and lines else ()
            names = tuple(e.name for e in ground.entities)
            hops = len(ground.chunks) if kind in ("bridge", "intersection") else 1
            for place, line in enumerate(lines):
                question = Posed(line, kind, "model", evidence, documents, (), names, hops)
                candidates.append(_Candidate(question, read, place))
        if not candidates:
            break
        known = [q.text for q in (*before, *made)]
        new = by.fresh([c.question.text for c in candidates], known, how.near)
        dropped["a duplicate"] += len(candidates) - len(new)
        sound = _keep_sound([candidates[i] for i in new], found.index, by, dropped)
        made += [c.question for c in sorted(sound, key=lambda c: c.place)[: how.each - len(made)]]
    return Outcome(tuple(made), sum_counts(dropped.items()), sum_counts([(kind, how.each - len(made))]))


def _keep_sound(
    candidates: Sequence[_Candidate], index: Index, by: Proposer, dropped: Counter[str]
) -> list[_Candidate]:
    """The candidates that hold against their texts; the others are counted by reason."""
    real = [c for c in candidates if c.question.kind != ADVERSARIAL]
    void = [c for c in candidates if c.question.kind == ADVERSARIAL]
    answered = _filter_by_support(real, [c.texts for c in real], by, True, "its texts do not answer it", dropped)
    alone = [(c, text) for c in answered if c.joins for text in c.texts]
    said = by.supports([_make_support_check(c.question.text, (text,)) for c, text in alone], False)
    single = {id(c) for (c, _), s in zip(alone, said, strict=True) if s.holds is not False}
    dropped["one text alone answers it"] += len(single)
    near = []
    for c in void:  # with the chunks that full text finds for the question
        scores = np.asarray(index.scores_of_words(c.question.text))
        best = [int(i) for i in np.argsort(-scores, kind="stable")[:_NEAREST] if scores[i] > 0]
        names = [index.catalogue.chunks[i].id for i in best]
        chunks = index.chunks(names)
        near.append((*c.texts, *(chunks[name].text for name in names)))
    unanswered = _filter_by_support(void, near, by, False, "the corpus may answer it", dropped)
    return [c for c in answered if id(c) not in single] + unanswered


def _filter_by_support(
    candidates: Sequence[_Candidate],
    texts: Sequence[Sequence[str]],
    by: Proposer,
    wanted: bool,
    reason: str,
    dropped: Counter[str],
) -> list[_Candidate]:
    """The candidates of which it is known that their texts answer them, or that they do not, as is `wanted`."""
    checks = [_make_support_check(c.question.text, tuple(t)) for c, t in zip(candidates, texts, strict=True)]
    said: Sequence[Support] = by.supports(checks, wanted)
    dropped["no verdict on it"] += sum(s.holds is None for s in said)
    dropped[reason] += sum(s.holds is (not wanted) for s in said)
    return [c for c, s in zip(candidates, said, strict=True) if s.holds is wanted]


def _make_support_check(question: str, texts: tuple[str, ...]) -> Check:
    return Check(f"The texts answer the question: {question}", texts)
