"""What a model is asked when there is a question: points, answers, leads, refinements, verdicts and grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import Asker, Plan, Verdicts, begin_talk
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.answer_replies import (
    read_answer,
    read_grade,
    read_lead,
    read_points,
    read_refinement,
)
from sensegraph.engines.llm.replies.cited_records import AnswerStream
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.errors import Unreadable
from sensegraph.models.endpoint.client import Message, Reply
from sensegraph.protocols import Task
from sensegraph.types import Draft, Inquiry, Lead, Point, Refinement, Statement

T = TypeVar("T")

NOTICE = "machine-made: a model wrote this answer, and it may err; the citations lead to what it rests on"  # G52
TASKS: tuple[Task, ...] = ("rate", "answer", "ask", "refine", "test", "grade")
_WITHOUT_HISTORY = ("test",)  # the cheapest possible


class Inquirer:
    """Asks one model about inquiries; `plans` are the fixed parts of the tasks."""

    def __init__(self, asker: Asker, verdicts: Verdicts, plans: Mapping[Task, Plan], settings: LLMSettings) -> None:
        self._asker, self._verdicts, self._plans, self._settings = asker, verdicts, plans, settings

    def rate(self, inquiry: Inquiry) -> tuple[Point, ...]:
        """Rated partial answers; none without a call where there is nothing to answer from."""
        if not inquiry.context.passages:
            return ()
        cited = prompts.number_records(inquiry.context)
        return self._about("rate", inquiry, lambda r: read_points(r, cited))

    def answer(self, inquiry: Inquiry) -> Draft:
        """A final answer."""
        cited = prompts.number_records(inquiry.context)
        return self._noted(inquiry, self._about("answer", inquiry, lambda r: read_answer(r, cited)))

    def stream(self, inquiry: Inquiry, tell: Callable[[Statement], None]) -> Draft:
        """The draft that `answer` gives; each of its statements is told as soon as nothing can change it.

        A reply of another form than the one asked for is told when it is whole.
        """
        cited = prompts.number_records(inquiry.context)
        stream = AnswerStream(cited, tell)

        def say(plan: Plan, talk: Sequence[Message]) -> Reply:
            return self._asker.endpoint.chat_stream(
                talk, stream.hear, schema=plan.schema, name=plan.name, max_tokens=plan.max_tokens
            )

        draft = self._about("answer", inquiry, lambda r: read_answer(r, cited), say)
        stream.tell(draft.statements[stream.count :])
        return self._noted(inquiry, draft)

    def ask(self, inquiry: Inquiry) -> Lead:
        """A partial answer and questions to follow up (DRIFT); nothing where there is nothing to answer from."""
        if not inquiry.context.passages:
            return Lead()
        cited = prompts.number_records(inquiry.context)
        return self._about("ask", inquiry, lambda r: read_lead(r, cited))

    def refine(self, inquiry: Inquiry) -> Refinement:
        """The question made ready for search (LazyGraphRAG; the imagined answer is DRIFT's)."""
        most = self._settings.sub_questions
        return self._about("refine", inquiry, lambda r: read_refinement(r, inquiry.question, most))

    def test(self, inquiry: Inquiry) -> bool:
        """Whether the passages help; no, without a call, where there are none, and instead of what cannot be read."""
        if not (user := self.user("test", inquiry)):
            return False
        said = self._verdicts.decide(begin_talk(self._plans["test"], user))
        if said is None:
            raise Unreadable(
                f"test: a reply about the question {inquiry.question[:80]!r} is neither yes nor no.", False
            )
        return said

    def grade(self, inquiry: Inquiry) -> int:
        """How relevant the passages are, 0 to 5 (graphrag, dynamic selection); no passages are not relevant at all."""
        return self._about("grade", inquiry, read_grade) if inquiry.context.passages else 0

    def user(self, task: Task, inquiry: Inquiry) -> str:
        """The user's message of `task`; empty where no call is made."""
        if task not in ("answer", "refine") and not inquiry.context.passages:
            return ""
        room = 0 if task in _WITHOUT_HISTORY else self._settings.history_tokens
        form = {"refine": prompts.write_refinement, "test": prompts.write_passages, "grade": prompts.write_passages}
        return form.get(task, prompts.write_inquiry)(inquiry, room)

    def _about(
        self,
        task: Task,
        inquiry: Inquiry,
        read: Callable[[Reply], Reading[T]],
        say: Callable[[Plan, Sequence[Message]], Reply] | None = None,
    ) -> T:
        what = f"the question {inquiry.question[:80]!r}"
        return self._asker.ask(task, self._plans[task], self.user(task, inquiry), read, what, say=say)

    def _noted(self, inquiry: Inquiry, draft: Draft) -> Draft:
        _, left_out = prompts.fit_history(inquiry.history, self._settings.history_tokens)
        lost = (f"{left_out} earlier turns of the conversation did not fit and were left out",) if left_out else ()
        return replace(draft, notes=(NOTICE, *draft.notes, *lost))
