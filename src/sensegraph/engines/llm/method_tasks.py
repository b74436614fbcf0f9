"""What a model is asked for single papers: a plan (liang2024), keywords (guo2024), concepts (fast-graphrag), facts that
help, and triples (gutierrez2025); and scores of passages, by which answers of any method may be reranked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import Plan, plan_task
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.question_tasks import QuestionTasks
from sensegraph.engines.llm.replies.method_replies import (
    read_chosen,
    read_names,
    read_plan_lines,
    read_scores,
    read_search_words,
    read_triples,
)
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.errors import PromptTooLong
from sensegraph.extractions import Chunk, Triple
from sensegraph.language.text import count_tokens, pack_batches
from sensegraph.models.endpoint.client import Reply
from sensegraph.protocols import Task
from sensegraph.questions import SearchWords
from sensegraph.types import Context, Inquiry, Passage

T = TypeVar("T")

ABOUT_QUESTIONS: tuple[Task, ...] = ("plan", "keywords", "concepts", "filter", "rank")
TASKS: tuple[Task, ...] = (*ABOUT_QUESTIONS, "triples")
MOST_FACTS = 4  # gutierrez2025, recognition memory
_VERSION = 1  # raise whenever the same inquiry gives another message, or the same reply other values
_ROOM: Mapping[Task, int] = {"plan": 1_200, "keywords": 300, "concepts": 300, "filter": 100, "rank": 500}
_RANKED_TOKENS = 3_000  # of passages that are ranked in one call, so that a window of 4,096 takes them
_MOST_RANKED = 20  # passages of one call
_NAMES = "triple-names"  # the first call of the task `triples`


class MethodTasks(QuestionTasks):
    """The tasks that one paper needs; a reply that cannot be read is asked for once more, and fails then."""

    def plan(self, inquiries: Sequence[Inquiry]) -> list[tuple[str, ...]]:
        """The lines of a plan for each question; the passages of an inquiry are an earlier plan and what is wrong."""
        return [self._ask_taught("plan", i, read_plan_lines) for i in inquiries]

    def keywords(self, inquiries: Sequence[Inquiry]) -> list[SearchWords]:
        """The keywords of each question: names and details (low level), and themes (high level)."""
        return [
            self._ask_taught("keywords", i, partial(read_search_words, names="low_level", themes="high_level"))
            for i in inquiries
        ]

    def concepts(self, inquiries: Sequence[Inquiry]) -> list[SearchWords]:
        """The entities that each question names, and the general concepts that its answer has to do with."""
        return [
            self._ask_taught("concepts", i, partial(read_search_words, names="named", themes="general"))
            for i in inquiries
        ]

    def filter(self, inquiries: Sequence[Inquiry]) -> list[tuple[str, ...]]:
        """The ids of the facts that lead to the answer, four at most, chosen in one call for each question."""
        return [self._filter(i) if i.context.passages else () for i in inquiries]

    def rank(self, inquiries: Sequence[Inquiry]) -> list[tuple[float, ...]]:
        """A score from 0 to 10 for each passage of an inquiry, in their order."""
        return [tuple(score for part in self._batches(i) for score in self._rank(part)) for i in inquiries]

    def triples(self, chunks: Sequence[Chunk]) -> list[tuple[Triple, ...]]:
        """What each chunk says in triples: a call for the entities in it, and one for the triples of these."""
        return [self._triples(c) for c in chunks]

    def count_triple_tokens(self, chunk: Chunk) -> int:
        """Tokens of the prompts of both calls; the entities are taken to be a tenth of the chunk."""
        user = count_tokens(prompts.write_chunk(chunk))
        return self._plans[_NAMES].overhead + self._plans["triples"].overhead + 2 * user + chunk.tokens // 10

    def write_question_message(self, task: Task, inquiry: Inquiry) -> str:
        """The user's message of `task`; empty where no call is made."""
        if task not in ABOUT_QUESTIONS:
            return super().write_question_message(task, inquiry)
        shown = inquiry.context.passages
        if task in ("filter", "rank") and not shown:
            return ""
        asked = prompts.write_refinement(replace(inquiry, context=Context(())), self.settings.history_tokens)
        if not shown:
            return asked
        if task == "filter":
            return f"{asked}\n\nFacts:\n" + "\n".join(
                f"{n}: {' '.join(p.text.split())}" for n, p in enumerate(shown, 1)
            )
        if task == "rank":
            texts = (f"{p.title}\n{p.text}" if p.title else p.text for p in shown)
            return "\n\n".join([asked, *(f"{n}: {text}" for n, text in enumerate(texts, 1))])
        before, wrong = (p.text for p in shown[:2])
        return f"{asked}\n\nAn earlier plan for it:\n{before}\n\nIt cannot be used: {wrong}. Write one that can."

    def _triples(self, chunk: Chunk) -> tuple[Triple, ...]:
        text, what = prompts.write_chunk(chunk), f"chunk {chunk.id} of document {chunk.document!r}"
        names = self._asker.ask(_NAMES, self._plans[_NAMES], text, read_names, f"names in {what}")
        if not names:
            return ()
        user = f"{text}\n\nNamed entities: {'; '.join(names)}"
        return self._asker.ask("triples", self._plans["triples"], user, partial(read_triples, text=text), what)

    def _filter(self, inquiry: Inquiry) -> tuple[str, ...]:
        facts = inquiry.context.passages
        read = partial(read_chosen, texts=[p.text for p in facts], most=MOST_FACTS)
        return tuple(facts[place].id for place in self._ask_taught("filter", inquiry, read))

    def _batches(self, inquiry: Inquiry) -> list[Inquiry]:
        """The inquiry in parts of as many passages as one call takes."""

        def size(passage: Passage) -> int:
            return max(count_tokens(passage.text), _RANKED_TOKENS // _MOST_RANKED)

        parts = pack_batches(inquiry.context.passages, _RANKED_TOKENS, size)
        return [replace(inquiry, context=Context(tuple(part))) for part in parts]

    def _rank(self, inquiry: Inquiry) -> tuple[float, ...]:
        """The scores of the passages of one call; where the model's window is too small for them, of its halves."""
        passages = inquiry.context.passages
        read = partial(read_scores, count=len(passages))
        try:
            return self._ask_taught("rank", inquiry, read)
        except PromptTooLong:
            half = len(passages) // 2
            if not half:
                raise
            parts = (passages[:half], passages[half:])
            return tuple(s for part in parts for s in self._rank(replace(inquiry, context=Context(part))))

    def _ask_taught(self, task: Task, inquiry: Inquiry, read: Callable[[Reply], Reading[T]]) -> T:
        user, what = self.write_question_message(task, inquiry), f"the question {inquiry.question[:80]!r}"
        return self._asker.ask(task, self._plans[task], user, read, what, inquiry.question)


def plan_method_tasks(s: LLMSettings, values: Mapping[str, str]) -> dict[Task, Plan]:
    """The fixed part of each task."""
    known = f" Relations of the graph: {', '.join(s.relation_types)}; take one of them for p where it fits."
    values = {**values, "relation_words": known if s.relation_types else ""}
    matters = (_VERSION, s.history_tokens)
    plans: dict[Task, Plan] = {t: plan_task(t, t, s, values, _ROOM[t], *matters) for t in ABOUT_QUESTIONS}
    names, triples = (plan_task(t, t, s, values, s.extract_tokens, *matters) for t in (_NAMES, "triples"))
    return {**plans, _NAMES: names, "triples": replace(triples, matters=(_VERSION, names))}
