"""What a model is asked when there is a question: points, answers, leads, refinements, verdicts and grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import ModelTasks, begin_talk
from sensegraph.engines.llm.replies.answer_replies import (
    read_answer,
    read_grade,
    read_lead,
    read_points,
    read_refinement,
)
from sensegraph.engines.llm.replies.cited_records import AnswerStream, Records
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.engines.llm.trained_prompt import Layout, answer_as_trained
from sensegraph.errors import PromptTooLong, Unreadable
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.protocols import Task
from sensegraph.types import Context, Draft, Inquiry, Lead, Point, Refinement, Statement

T = TypeVar("T")

NOTICE = "machine-made: a model wrote this answer, and it may err; the citations lead to what it rests on"  # G52
TASKS: tuple[Task, ...] = ("rate", "answer", "ask", "refine", "test", "grade")
_WITHOUT_HISTORY = ("test",)  # the cheapest possible


class QuestionTasks(ModelTasks):
    """The tasks about questions; where there is nothing to answer from, most need no call.

    With a `layout` a tuned model is asked for answers as it was trained to be.
    """

    endpoint: Endpoint
    layout: Layout | None

    def rate(self, inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
        """Partial answers from each context, each with its usefulness 0–100; none where there is no passage."""
        return [self._rate(i) for i in inquiries]

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        """A final answer from each context; with the prompt of its training, where a tuned model is asked so."""
        return [self._answer_as_trained(i) if self.layout else self._answer(i) for i in inquiries]

    def stream(self, inquiry: Inquiry, tell: Callable[[Statement], None]) -> Draft:
        """The draft that `answer` gives; each of its statements is told, in order, as soon as nothing can change it.

        A reply of another form than the one asked for is told when it is whole. Raises EndpointError when the reply
        breaks off after something was heard of it.
        """
        if self.layout:
            draft = self._answer_as_trained(inquiry)
            for statement in draft.statements:
                tell(statement)
            return draft
        stream = AnswerStream(prompts.number_records(inquiry.context), tell)
        try:
            draft = self._answer(inquiry, hear=stream.hear)
        except Unreadable as e:
            stream.tell(e.instead.statements[stream.count :])
            raise
        stream.tell(draft.statements[stream.count :])
        return draft

    def ask(self, inquiries: Sequence[Inquiry]) -> list[Lead]:
        """A partial answer from each context with its usefulness 0–100, and questions to follow up (DRIFT)."""
        return [self._ask_citing("ask", i, read_lead) if i.context.passages else Lead() for i in inquiries]

    def refine(self, inquiries: Sequence[Inquiry]) -> list[Refinement]:
        """Each question expanded, in parts, and with an answer imagined in the outline of the example report.

        That makes it ready for search (LazyGraphRAG; the imagined answer is DRIFT's).
        """
        read = partial(read_refinement, most=self.settings.sub_questions)
        return [self._ask_about("refine", i, partial(read, question=i.question)) for i in inquiries]

    def test(self, inquiries: Sequence[Inquiry]) -> list[bool]:
        """Whether the passages of each inquiry help to answer its question; no, without a call, where there are none.

        Raises Unreadable, with no instead.
        """
        return [self._is_helpful(i) for i in inquiries]

    def grade(self, inquiries: Sequence[Inquiry]) -> list[int]:
        """How relevant the passages of each inquiry are, 0 to 5 (graphrag, dynamic selection); none are 0.

        Raises Unreadable, with 1 instead.
        """
        return [self._ask_about("grade", i, read_grade) if i.context.passages else 0 for i in inquiries]

    def write_question_message(self, task: Task, inquiry: Inquiry) -> str:
        """The user's message of `task`; empty where no call is made."""
        if task not in ("answer", "refine") and not inquiry.context.passages:
            return ""
        room = 0 if task in _WITHOUT_HISTORY else self.settings.history_tokens
        form = {"refine": prompts.write_refinement, "test": prompts.write_passages, "grade": prompts.write_passages}
        return form.get(task, prompts.write_inquiry)(inquiry, room)

    def _is_helpful(self, inquiry: Inquiry) -> bool:
        if not (user := self.write_question_message("test", inquiry)):
            return False
        said = self._verdicts.decide(begin_talk(self._plans["test"], user, inquiry.question))
        if said is None:
            raise Unreadable(
                f"test: a reply about the question {inquiry.question[:80]!r} is neither yes nor no.", False
            )
        return said

    def _rate(self, inquiry: Inquiry) -> tuple[Point, ...]:
        """Points from a context; where the model's window is too small for it, from its halves."""
        passages = inquiry.context.passages
        if len(passages) < 2:
            return self._ask_citing("rate", inquiry, read_points) if passages else ()
        try:
            return self._ask_about_context("rate", inquiry, read_points, inquiry.context)
        except PromptTooLong:
            half = len(passages) // 2
            parts = [replace(inquiry.context, passages=part) for part in (passages[:half], passages[half:])]
            return tuple(point for part in parts for point in self._rate(replace(inquiry, context=part)))

    def _answer_as_trained(self, inquiry: Inquiry) -> Draft:
        """An answer to the prompt of the training. Raises EndpointError where that does not fit the context."""
        assert self.layout is not None
        complete = partial(self.endpoint.complete, max_tokens=self.settings.answer_tokens)
        return answer_as_trained(self.layout, inquiry, complete, NOTICE)

    def _answer(self, inquiry: Inquiry, **how: Any) -> Draft:
        """An answer with its notes; one that was cut off is Unreadable, so that it is shown and not stored."""
        try:
            draft, out = self._ask_fitting("answer", inquiry, read_answer, **how)
        except Unreadable as e:
            raise Unreadable(str(e), self._add_notes(inquiry, e.instead), e.kind, e.words) from e
        return self._add_notes(inquiry, draft, out)

    def _ask_citing(self, task: Task, inquiry: Inquiry, read: Callable[[Reply, Records], Reading[T]], **how: Any) -> T:
        """What is read of a reply that cites the records of the context."""
        return self._ask_fitting(task, inquiry, read, **how)[0]

    def _ask_fitting(
        self, task: Task, inquiry: Inquiry, read: Callable[[Reply, Records], Reading[T]], **how: Any
    ) -> tuple[T, int]:
        """The same, of as many records as the model's window takes, and how many were left out."""
        ask = partial(self._ask_about_context, task, inquiry, read, **how)
        return self._asker.fit_context(inquiry.context, ask)

    def _ask_about_context(
        self, task: Task, inquiry: Inquiry, read: Callable[[Reply, Records], Reading[T]], context: Context, **how: Any
    ) -> T:
        cited = prompts.number_records(context)
        user = self.write_question_message(task, replace(inquiry, context=context))
        what = f"the question {inquiry.question[:80]!r}"
        return self._asker.ask(
            task, self._plans[task], user, lambda reply: read(reply, cited), what, inquiry.question, **how
        )

    def _ask_about(self, task: Task, inquiry: Inquiry, read: Callable[[Reply], Reading[T]]) -> T:
        return self._ask_fitting(task, inquiry, lambda reply, _: read(reply))[0]

    def _add_notes(self, inquiry: Inquiry, draft: Draft, out: int = 0) -> Draft:
        _, left_out = prompts.fit_history(inquiry.history, self.settings.history_tokens)
        lost = [f"{left_out} earlier turns of the conversation did not fit and were left out"] if left_out else []
        if out:
            lost.append(
                f"{out} of {len(inquiry.context.passages)} records were left out: the model's window of "
                f"{self._asker.endpoint.window:,} tokens has no room for them"
            )
        return replace(draft, notes=(NOTICE, *draft.notes, *lost))
