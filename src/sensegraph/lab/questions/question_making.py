"""Making questions to measure with: of a described corpus by personas, of an index by a model or by templates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sensegraph.errors import InputError
from sensegraph.index.estimate import StepEstimate
from sensegraph.index.index import Index
from sensegraph.lab.questions import model_questions
from sensegraph.lab.questions.grounded_questions import GroundSettings, make_template_questions
from sensegraph.lab.questions.model_questions import make_model_questions
from sensegraph.lab.questions.personas import REQUIRES, PersonaSettings, make_persona_questions
from sensegraph.lab.questions.proposing import Foreseen, Paid, Proposer
from sensegraph.lab.questions.question_files import Outcome
from sensegraph.runtime.runtime import Runtime

_WHO = "Making questions"


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
    return _collect_questions(posing, index, rt, Paid(rt))


def foresee_questions(posing: Posing, index: Index | None, rt: Runtime) -> tuple[StepEstimate, ...]:
    """What `pose` would ask for, by step, if nothing has to be asked for again: calls, tokens. Nothing is paid."""
    _check_request(posing, index, rt)
    by = Foreseen(rt)
    _collect_questions(posing, index, rt, by)
    return by.steps


def _check_request(posing: Posing, index: Index | None, rt: Runtime) -> None:
    if posing.about.strip():
        rt.check(f"{_WHO} by personas", REQUIRES)
    if posing.grounds is not None and index is None:
        raise InputError("Questions from the graph need an index; build one, or describe the corpus (about) instead.")


def uses_model(posing: Posing, rt: Runtime) -> bool:
    """Whether a model writes the questions from the graph."""
    return not posing.templates and rt.engine.tasks >= model_questions.REQUIRES


def _collect_questions(posing: Posing, index: Index | None, rt: Runtime, by: Proposer) -> Outcome:
    found = make_persona_questions(posing.about, by, posing.personas) if posing.about.strip() else Outcome(())
    if posing.grounds is None or index is None:
        return found
    make = make_model_questions if uses_model(posing, rt) else make_template_questions
    made = make(index, by, posing.grounds)
    known = [q.text for q in found.questions]
    kept = by.fresh([q.text for q in made.questions], known, posing.grounds.near) if known and made.questions else None
    if kept is None:
        return found + made
    again = len(made.questions) - len(kept)
    return found + replace(
        made, questions=tuple(made.questions[i] for i in kept), dropped=(*made.dropped, ("a duplicate", again))
    )
