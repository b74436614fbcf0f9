"""Global questions from a description of the corpus, which is never read itself.

    description ─▶ K personas ─▶ N tasks each ─▶ M questions each, that need the corpus as a whole

paper: Edge et al. 2024, §3.1.1, Algorithm 1 (G30): K = N = M = 5 give 125 questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sensegraph.errors import InputError
from sensegraph.lab.questions.proposing import Proposer
from sensegraph.lab.questions.question_files import Outcome, Posed, sum_counts
from sensegraph.language.text import fold
from sensegraph.protocols import Task
from sensegraph.trials import Wish

REQUIRES: frozenset[Task] = frozenset({"propose"})


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
    posed = tuple(
        Posed(line, "global", "persona", persona=persona, task=task)
        for (persona, task), questions in zip(askers, made, strict=True)
        for line in questions
    )
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
