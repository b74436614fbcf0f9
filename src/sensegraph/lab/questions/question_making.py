"""Making questions to measure with: of a described corpus by personas, of an index by a model or by templates.

    description ─▶ K personas ─▶ N tasks each ─▶ M questions each, that need the corpus as a whole
    grounds ─▶ twice as many questions as are wanted ─▶ kept: new, answered by their texts, and, where they join several
    texts, by no single one of them

papers: Edge et al. 2024, §3.1.1, Algorithm 1 (G30): K = N = M = 5 give 125 questions; the over-generation and the
checks of Edge et al. (2025); section 35 of the survey (N42)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from sensegraph.errors import InputError, UnsupportedTask
from sensegraph.index.estimate import StepEstimate
from sensegraph.index.index import Index
from sensegraph.lab.questions.grounded_questions import Grounds, GroundSettings, make_template_questions
from sensegraph.lab.questions.proposing import Foreseen, Proposer
from sensegraph.lab.questions.question_files import NEEDS, Kind, Outcome, Posed, sum_counts
from sensegraph.lab.retrieval.test_collections import ADVERSARIAL
from sensegraph.language.text import fold
from sensegraph.protocols import Task
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Check, Support, Wish

PERSONA_TASKS: frozenset[Task] = frozenset({"propose"})

MODEL_TASKS: frozenset[Task] = frozenset({"propose", "support"})
_NEAREST = 5  # chunks that are searched for an answer to a question that shall have none
_WHO = "Making questions"


@dataclass(frozen=True, slots=True)
class PersonaSettings:
    """How many `personas` (K), `tasks` of each (N), `questions` for each of these (M).

    Two questions are one from a cosine of `near` on; what was dropped is asked for again in at most `rounds` rounds.
    """

    personas: int = 5
    tasks: int = 5
    questions: int = 5
    near: float = 0.9
    rounds: int = 3

    def __post_init__(self) -> None:
        if min(self.personas, self.tasks, self.questions) < 1 or self.rounds < 0:
            raise InputError("There must be at least one persona, one task of each and one question for each of these.")
        if not 0 < self.near <= 1:
            raise InputError(f"Questions are one from a cosine above 0 and at most 1 on, not {self.near}.")


def make_persona_questions(about: str, by: Proposer, how: PersonaSettings | None = None) -> Outcome:
    """Up to K · N · M questions that personas would put to a corpus of which they know only the description `about`.

    Raises InputError for an empty description.
    """
    how = how or PersonaSettings()
    if not about.strip():
        raise InputError("Describe the corpus in a sentence or two: what it holds, and what it is for (--about).")
    # every persona at each of its tasks (Algorithm 1, lines 1 and 2)
    (personas,) = _fill_wishes([Wish("persona", how.personas, about)], by, how)
    tasks = _fill_wishes([Wish("task", how.tasks, about, persona) for persona in personas], by, how)
    askers = [(persona, task) for persona, listed in zip(personas, tasks, strict=True) for task in listed]
    # the questions of all askers, each new (line 3); an asker who lacks some is asked again
    made: list[list[str]] = [[] for _ in askers]
    refused: list[list[str]] = [[] for _ in askers]
    dropped: Counter[str] = Counter()
    for _ in range(1 + how.rounds):
        todo = [i for i in range(len(askers)) if len(made[i]) < how.questions]
        wishes = [
            Wish("question", how.questions - len(made[i]), about, *askers[i], known=(*made[i], *refused[i]))
            for i in todo
        ]
        lines = [(i, line) for i, found in zip(todo, by.lines(wishes), strict=True) for line in found]
        known = [q for questions in made for q in questions]
        new = set(by.fresh([line for _, line in lines], known, how.near)) if lines else set()
        for place, (i, line) in enumerate(lines):
            (made if place in new and len(made[i]) < how.questions else refused)[i].append(line)
        dropped["a duplicate"] += len(lines) - len(new)
        if not lines or all(len(questions) >= how.questions for questions in made):
            break
    asked = ((p, t, line) for (p, t), lines in zip(askers, made, strict=True) for line in lines)
    posed = tuple(Posed(line, "global", "persona", persona=persona, task=task) for persona, task, line in asked)
    lacking = how.personas * how.tasks * how.questions - len(posed)
    return Outcome(posed, sum_counts(dropped.items()), (("global", lacking),) if lacking else ())


def _fill_wishes(wishes: Sequence[Wish], by: Proposer, how: PersonaSettings) -> list[list[str]]:
    """As many different lines for each wish as it asks for; where some are missing, it is asked again."""
    found: list[dict[str, str]] = [{} for _ in wishes]
    for _ in range(1 + how.rounds):
        todo = [i for i, wish in enumerate(wishes) if len(found[i]) < wish.count]
        again = [
            replace(wishes[i], known=tuple(found[i].values()), count=wishes[i].count - len(found[i])) for i in todo
        ]
        for i, lines in zip(todo, by.lines(again) if again else (), strict=True):
            for line in lines:
                found[i].setdefault(fold(line), line)
    return [list(lines.values())[: wish.count] for wish, lines in zip(wishes, found, strict=True)]


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
    found = Grounds(index, how)
    outcome = Outcome((), notes=found.notes)
    for kind in found.kinds:
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


@dataclass(frozen=True, slots=True)
class Posing:
    """What questions are made of: a description of the corpus (`about`), its graph (`grounds`), or both.

    The description alone is read for `personas`; no text of the corpus is. With an engine that can propose and check,
    questions from the graph are a model's, else, or with `templates`, made by rule.
    """

    about: str = ""
    personas: PersonaSettings | None = None
    grounds: GroundSettings | None = None
    templates: bool = False

    def __post_init__(self) -> None:
        if not self.about.strip() and self.grounds is None:
            raise InputError("Describe the corpus (about), or ask for questions from its graph (grounds), or both.")


def make_question_set(posing: Posing, index: Index | None, rt: Runtime) -> Outcome:
    """The questions. What was paid for is stored: a run that was stopped goes on where it was.

    Raises UnsupportedTask, before any work, where personas are wanted of an engine that cannot propose.
    """
    _check_request(posing, index, rt)
    return _collect_questions(posing, index, rt, Proposer(rt))


def foresee_questions(posing: Posing, index: Index | None, rt: Runtime) -> tuple[StepEstimate, ...]:
    """What `pose` would ask for, by step, if nothing has to be asked for again: calls, tokens. Nothing is paid."""
    _check_request(posing, index, rt)
    by = Foreseen(rt)
    _collect_questions(posing, index, rt, by)
    return by.steps


def _check_request(posing: Posing, index: Index | None, rt: Runtime) -> None:
    if posing.about.strip() and (missing := PERSONA_TASKS - rt.engine.tasks):
        advice = "it needs a model (endpoint.model); questions from the graph need none (--from-graph)"
        raise UnsupportedTask(f"{_WHO} by personas (--about)", rt.engine.name, missing, advice)
    if posing.grounds is not None and index is None:
        raise InputError("Questions from the graph need an index; build one, or describe the corpus (about) instead.")


def uses_model(posing: Posing, rt: Runtime) -> bool:
    """Whether a model writes the questions from the graph."""
    return not posing.templates and rt.engine.tasks >= MODEL_TASKS


def _collect_questions(posing: Posing, index: Index | None, rt: Runtime, by: Proposer) -> Outcome:
    found = make_persona_questions(posing.about, by, posing.personas) if posing.about.strip() else Outcome(())
    if posing.grounds is None or index is None:
        return found
    make = make_model_questions if uses_model(posing, rt) else make_template_questions
    made = make(index, by, posing.grounds)
    known = [q.text for q in found.questions]
    if known and made.questions:
        kept = by.fresh([q.text for q in made.questions], known, posing.grounds.near)
        dropped = (*made.dropped, ("a duplicate", len(made.questions) - len(kept)))
        made = replace(made, questions=tuple(made.questions[i] for i in kept), dropped=dropped)
    return found + made
