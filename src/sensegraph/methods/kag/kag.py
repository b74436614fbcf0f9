"""KAG: a question planned as a small program of retrievals and calculations, solved step by step, and checked.

paper: Liang et al. 2024, with the thresholds of the authors' implementation. No program is written or run
index: chunk → extract → merge: entities, their relations, and what ties both to the chunks, in both directions
query: plan → each step by the exact graph, the graph around, the chunks → solved? else one more question → one answer
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal

from sensegraph.algorithms.ranking import by_scores
from sensegraph.answering.asking import (
    conclude_answer,
    for_writing,
    make_inquiry,
    refine_questions,
    settle_asking,
)
from sensegraph.errors import SettingsError, StepFailed
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import fold, take_within
from sensegraph.methods.kag.calculation import Unknown
from sensegraph.methods.kag.forms import Output, Parsed, Plan, Retrieval, Term
from sensegraph.methods.kag.logical_forms import parse_plan
from sensegraph.methods.kag.question_steps import sketch_plan
from sensegraph.methods.kag.solving import Solved, Solver, Solving
from sensegraph.methods.kag.tasks import plan_questions
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import evidence_of
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Lead, Passage, Question

_STEPS = 2  # of a question that takes more than one, as a rule


@dataclass(frozen=True)
class KAG:
    """A plan, its steps solved in the graph and the chunks, and up to `rounds` rounds until the question is solved.

    `plan` = auto lets a model plan, and rules where the engine is none; `none` is one step. Entities are linked by
    names at least so alike as `exact` or `free`; a layer whose sub-answer is at least `enough` useful (0–100) ends a
    step. `share` is that of the graph in what the last layer reads, `rank_share` that in the evidence of a step,
    `whole` the weight of the user's own question beside the mean of all steps, `branches` how many values of a
    variable are followed. `step_tokens` bound what is read for a step, `context_tokens` what is read for the answer.
    """

    plan: Literal["auto", "rules", "model", "none"] = "auto"
    rounds: int = 3  # liang2024
    exact: float = 0.9  # the authors' implementation
    free: float = 0.8
    chunks: int = 20
    share: float = 0.5
    rank_share: float = 1.0  # ours: bench/kag.py
    enough: float = 50.0  # ours
    branches: int = 2  # ours: bench/kag.py
    whole: float = 0.25  # ours: bench/kag.py
    damping: float = 0.7  # as in hybrid retrieval
    step_tokens: int = 4_000
    context_tokens: int = 8_000
    k: int = 20
    name: str = "kag"
    requires: frozenset[Task] = frozenset({"ask", "answer"})
    reads: frozenset[PartName] = frozenset({"graph"})

    def __post_init__(self) -> None:
        for field in ("rounds", "chunks", "branches", "step_tokens", "context_tokens", "k"):
            if getattr(self, field) < 1:
                raise SettingsError(f"kag: {field} ({getattr(self, field)}) must be at least 1.")
        if not 0 < self.free <= self.exact <= 1:
            raise SettingsError(f"kag: free ({self.free}) must be above 0 and at most exact ({self.exact}), at most 1.")
        for field in ("share", "rank_share", "damping"):
            if not 0 <= getattr(self, field) <= 1:
                raise SettingsError(f"kag: {field} ({getattr(self, field)}) must lie in 0 to 1.")
        if self.damping == 1:
            raise SettingsError("kag: damping (1) must be below 1: a walk that never returns forgets the question.")
        if self.whole < 0 or not 0 <= self.enough <= 100:
            raise SettingsError(
                f"kag: whole ({self.whole}) must not be negative, enough ({self.enough}) lie in 0 to 100."
            )

    def usual_calls(self, chunks: int) -> Mapping[Task, tuple[int, int]]:
        """Calls besides the last one, by task, with the tokens that each reads, however many `chunks`.

        A plan, two steps that are asked for over the graph and over the chunks, and whether that is enough.
        """
        planned = int(self.plan in ("auto", "model"))
        return {"ask": (planned + 2 * _STEPS + 1, self.step_tokens)}

    def steps(self, question: Question, index: Index, rt: Runtime) -> tuple[Solved, ...]:
        """Every step that was solved, in order: what was asked, by which layer it was answered, and what it binds.

        After `retrieve` or `answer` this costs no call.
        """
        return tuple(self._searched(question, index, rt).memory)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The chunks behind the steps and the question itself, best first, within the context."""
        return self._searched(question, index, rt).evidence()

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from what the steps found, and the chunks behind it."""
        return conclude_answer(question, self._searched(question, index, rt).with_memory(), index, rt)

    def follow(
        self, question: Question, plan: Plan, index: Index, rt: Runtime, given: Mapping[str, str] | None = None
    ) -> tuple[Evidence, tuple[Solved, ...]]:
        """The evidence that a plan made elsewhere leads to, and its steps; `given` fixes values by alias."""
        rt.check(self.name, self.requires)
        search = _Search(self, question, index, rt)
        search.solve(plan, given)
        return search.evidence(), tuple(search.memory)

    def _searched(self, question: Question, index: Index, rt: Runtime) -> _Search:
        planned = settle_asking(self.plan, rt, model="model", rules="rules") == "model"
        rt.check(self.name, self.requires | ({_planning_task(rt)} if planned else frozenset()))
        search = _Search(self, question, index, rt)
        search.solve(search.planned(by_model=planned))
        search.reflect()
        return search


class _Search:
    """The search for one question: its plans, the memory of its steps, and what there is to say of it."""

    def __init__(self, settings: KAG, question: Question, index: Index, rt: Runtime) -> None:
        self.settings, self.question, self.index, self.rt = settings, question, index, rt
        named = [f.name for f in fields(Solving) if hasattr(settings, f.name)]
        self.solver = Solver(question, index, rt, Solving(**{n: getattr(settings, n) for n in named}))
        self.memory: list[Solved] = []
        self.notes: list[str] = []
        self.rounds = 1

    # ── the plan ──

    def planned(self, *, by_model: bool) -> Plan:
        """The plan of a model, else of rules, else the question as one step; the notes say which, and why."""
        if by_model and (plan := self._by_model()):
            return plan
        text = self.question.text
        if self.settings.plan != "none":
            sketch = sketch_plan(text)
            if plan := self._taken(parse_plan(sketch.lines), f"rules ({sketch.rule})"):
                return plan
        self.notes.append("the question was taken as one step")
        return _one_step(text)

    def _by_model(self) -> Plan | None:
        """The plan of a model, which is asked once more, with what is wrong, where its plan is none."""
        wrong: tuple[Passage, ...] = ()
        for last in (False, True):
            try:
                lines = self._lines(wrong)
            except StepFailed as e:
                self.solver.failures.update(e.reasons)
                self.notes.append("the model gave no plan that can be read")
                return None
            parsed = parse_plan(lines) if lines else None
            if parsed is None or parsed.plan or last or _planning_task(self.rt) != "plan":
                return self._taken(parsed, "the model") if parsed else None
            told = ("\n".join(lines), "; ".join(parsed.errors))
            wrong = tuple(Passage("plan", key(text)[:20], text) for text in told)
        return None

    def _lines(self, wrong: tuple[Passage, ...]) -> tuple[str, ...]:
        """The lines that a model writes; of one that has no task for plans the parts of the question."""
        self.solver.calls += 1
        asked = [make_inquiry(self.question, wrong, self.index)]
        if _planning_task(self.rt) == "plan":
            return self.rt.each(plan_questions, asked)[0]
        return self.rt.each(refine_questions, asked)[0].questions

    def _taken(self, parsed: Parsed, whose: str) -> Plan | None:
        """The plan, where it is one; what is wrong with it, or had to be put right, is noted."""
        if parsed.plan is None:
            self.notes.append(f"the plan of {whose} cannot be used: {'; '.join(parsed.errors)}")
            return None
        mended = [r for r in parsed.repairs if r != "there was no output"]
        self.notes.append(f"plan of {whose}: {len(parsed.plan.steps) - 1} steps")
        conditions = sum(len(s.where) for s in parsed.plan.steps if isinstance(s, Retrieval))
        self.notes += [f"conditions of the plan, sought by their words: {conditions}"] if conditions else []
        self.notes += [f"put right in the plan: {', '.join(mended)}"] if mended else []
        return parsed.plan

    def solve(self, plan: Plan, given: Mapping[str, str] | None = None) -> None:
        """Solve the steps of a plan, and remember them."""
        self.rt.progress("kag", self.rounds - 1, self.settings.rounds)
        self.memory += self.solver.solve(plan, given)

    # ── reflection ──

    def reflect(self) -> None:
        """Rounds of one supplementary question each, until the memory answers the question or nothing new is asked."""
        asked = {fold(s.question) for s in self.memory} | {fold(self.question.text)}
        while self.rounds < self.settings.rounds and (more := self._open()) and fold(more) not in asked:
            asked.add(fold(more))
            self.rounds += 1
            self.solve(_one_step(more))
        self.rt.progress("kag", self.settings.rounds, self.settings.rounds)

    def _open(self) -> str:
        """The question that would lead further; none where the memory is enough, or nothing was found."""
        points = for_writing(self.rt, self._points)  # an engine that quotes asks for words that it saw
        if not points:
            return ""
        known = self.solver.ask_lead(self.question, points) or Lead(score=100.0)
        return "" if known.score >= self.settings.enough else next(iter(known.questions), "")

    # ── the end ──

    def evidence(self) -> Evidence:
        """The chunks of all steps, merged."""
        # the mean of the steps' rankings, and beside it that of the question itself
        s, ranked = self.settings, [step.ranking for step in self.memory if len(step.ranking)]
        weights = [*(1 / len(ranked) for _ in ranked), s.whole or 1e-9]
        ranking = by_scores([*ranked, self.solver.around(self.question)], weights)
        return evidence_of(ranking, self.index, s.k, s.context_tokens, tuple(self._said()))

    def with_memory(self) -> Evidence:
        """The sub-answers, then the chunks, in one context."""
        chunks, budget = self.evidence(), self.settings.context_tokens
        points, left = take_within(for_writing(self.rt, self._points), budget // 2, passage_tokens)
        if not points:
            return chunks
        kept, cut = take_within(chunks.passages, budget - sum(map(passage_tokens, points)), passage_tokens)
        taken = sum(map(passage_tokens, [*points, *kept]))
        return replace(chunks, passages=(*points, *kept), tokens=taken, omitted=chunks.omitted + left + cut)

    def _points(self) -> list[Passage]:
        return [s.passage for s in self.memory if s.layer != "none" and s.passage.text]

    def _said(self) -> Iterator[str]:
        """How the steps were solved, what stayed open, and how often the engine was asked."""
        yield from self.notes
        layers = Counter(s.layer for s in self.memory)
        solved = ", ".join(f"{n} by {_LAYERS[name]}" for name, n in sorted(layers.items()) if name != "none")
        yield f"steps: {len(self.memory)} in {self.rounds} round{'s' * (self.rounds != 1)}; {solved or 'none solved'}"
        for step in self.memory:
            if step.layer == "none" and isinstance(step.value, Unknown):
                yield f"unknown: {step.question!r} ({step.value.reason})"
        if failures := self.solver.failures:
            reason, _ = min(failures.items(), key=lambda item: (-item[1], item[0]))
            yield f"steps that failed and were not asked again: {failures.total()} ({reason})"
        yield f"the engine was asked {self.solver.calls} times before the answer"


_LAYERS = {"exact": "the exact graph", "graph": "the graph around", "chunks": "the chunks", "worked out": "calculation"}


def _planning_task(rt: Runtime) -> Task:
    """The task by which the engine plans: its own, else that which splits a question."""
    return "plan" if "plan" in rt.engine.tasks else "refine"


def _one_step(question: str) -> Plan:
    """A question as a plan of one step, whatever it looks like."""
    return Plan((Retrieval(Term(), Term(), Term("1"), text=question), Output(("1",))))
