"""What a model is asked about answers: which is better, how good one is, what it claims, and what bears it out.

papers: Edge et al. 2024, app. F (judge, questions); Zhang et al. 2025, app. D.4 (scores, judge without a tie);
Metropolitansky and Larson 2025 (claims); Es et al. 2023 (questions from answers); Gao et al. 2023 (support).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import ROUGH_WORDS, Asker, Plan
from sensegraph.engines.llm.judging_messages import name_item, write_item_message
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies import judge_replies
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.engines.llm.schemas import reply_schema
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.client import Reply
from sensegraph.protocols import Task
from sensegraph.trials import Check, Contrast, Excerpt, Support, Trial, Verdict, Wish

T = TypeVar("T")
Item = Trial | Wish | Excerpt | Check

ITEMS = (Trial, Wish, Excerpt, Check)
TASKS: tuple[Task, ...] = ("judge", "score", "contrast", "propose", "claim", "support")
_WISH_FORMS = {"persona": "personas", "task": "tasks", "question": "questions", "reverse": "reverse-questions"}
_VERSION = 1  # raise whenever the same item gives another message, or the same reply other values
_CONTRAST_TOKENS = 300  # of each of the three lists (evaluation by what is unique)


class Judge:
    """Asks one model about answers; `forms` are the fixed parts of all its questions, by the name of the template.

    What stays unusable after a second asking is Unreadable, and counted: a run goes on with no verdict, nothing, or an
    empty contrast, and the next run asks again. Failures of the endpoint are errors as everywhere.
    """

    def __init__(self, asker: Asker, forms: Mapping[str, Plan], settings: LLMSettings) -> None:
        self._asker, self._forms, self._settings = asker, forms, settings

    def judge(self, trial: Trial) -> Verdict:
        """The better of two answers, in the form that the trial asks for."""
        drawn = self._draw(self._settings.judge_temperature, trial.replicate)
        return self._ask("judge", trial, partial(judge_replies.read_preference, trial=trial), drawn)

    def score(self, trial: Trial) -> Verdict:
        """A score for one answer."""
        drawn = self._draw(self._settings.judge_temperature, trial.replicate)
        return self._ask("score", trial, partial(judge_replies.read_answer_score, trial=trial), drawn)

    def contrast(self, trial: Trial) -> Contrast:
        """What two answers share, and what only one says; equal answers need no call."""
        if not self.calls("contrast", trial):
            return Contrast(common=(trial.answers[0].strip(),))
        return self._ask("contrast", trial, partial(judge_replies.read_contrast, most=_CONTRAST_TOKENS))

    def propose(self, wish: Wish) -> tuple[str, ...]:
        """At most so many lines, none of them known; none are wished for without a call."""
        if not self.calls("propose", wish):
            return ()
        return self._ask("propose", wish, partial(judge_replies.read_proposed_lines, wish=wish))

    def claim(self, excerpt: Excerpt) -> tuple[str, ...]:
        """What one stage makes of a sentence."""
        read = (
            judge_replies.read_claim_statements if excerpt.stage == "decompose" else judge_replies.read_claim_sentence
        )
        return self._ask("claim", excerpt, read, self._draw(excerpt.temperature, excerpt.sample))

    def support(self, check: Check) -> Support:
        """Whether texts bear a statement; where there is no text they do not, without a call."""
        if not self.calls("support", check):
            return Support(False, "There is no text to bear it.")
        return self._ask("support", check, judge_replies.read_support)

    def prompt_tokens(self, task: Task, item: Item) -> int:
        """Tokens of the prompt that `item` needs."""
        read = self._forms[choose_form(task, item)].overhead + count_tokens(write_item_message(item))
        return read * self.calls(task, item)

    def calls(self, task: Task, item: Item) -> int:
        """1, or 0 where the result is known without asking."""
        if isinstance(item, Trial):
            return int(task != "contrast" or item.answers[0].strip() != item.answers[1].strip())
        if isinstance(item, Wish):
            return int(item.count > 0)
        return int(isinstance(item, Excerpt) or any(text.strip() for text in item.evidence))

    def _ask(self, task: Task, item: Item, read: Callable[[Reply], Reading[T]], extra: Any = None) -> T:
        plan = self._forms[choose_form(task, item)]
        return self._asker.ask(task, plan, write_item_message(item), read, name_item(item), extra)

    def _draw(self, temperature: float, sample: int) -> dict[str, Any]:
        """How a reply is drawn: repetitions differ by their seed where the endpoint has one, never by their text."""
        s = self._asker.endpoint.settings
        seed = {} if s.seed is None else {"seed": s.seed + sample}
        return seed if s.temperature is None else seed | {"temperature": temperature}


def choose_form(task: Task, item: Item) -> str:
    """The name of the template by which `item` is asked about."""
    if isinstance(item, Excerpt):
        return f"claim-{item.stage}"
    if isinstance(item, Wish):
        return "grounded-questions" if item.wanted == "question" and item.kind else _WISH_FORMS[item.wanted]
    if task == "judge" and isinstance(item, Trial):
        return "judge-scored" if item.bands else "judge" if item.tie else "judge-decided"
    return task


def plan_forms(s: LLMSettings, values: Mapping[str, str]) -> dict[str, Plan]:
    """The fixed part of every question, by the name of its template."""
    limits = {"contrast": s.contrast_tokens, "score": s.judge_tokens, "support": s.judge_tokens}
    limits |= dict.fromkeys(judge_replies.PREFERENCES, s.judge_tokens)
    limits |= dict.fromkeys((*_WISH_FORMS.values(), "grounded-questions"), s.propose_tokens)
    limits |= dict.fromkeys(("claim-select", "claim-disambiguate", "claim-decompose"), s.claim_tokens)
    return {
        name: Plan(name, prompts.fill_template(name, values, s.prompts), reply_schema(name), most, (_VERSION,))
        for name, most in limits.items()
    }


def plan_judging_tasks(s: LLMSettings, made: Mapping[str, Plan]) -> dict[Task, Plan]:
    """What stands for each task in keys: one of its forms, with the others and what they are drawn at."""
    heat = s.judge_temperature

    def plan(first: str, *others: str, matters: tuple[Any, ...] = ()) -> Plan:
        one = made[first]
        return Plan(one.name, one.system, one.schema, one.max_tokens, (_VERSION, *matters, *(made[o] for o in others)))

    return {
        "judge": plan(*judge_replies.PREFERENCES, matters=(heat,)),
        "score": plan("score", matters=(heat,)),
        "contrast": plan("contrast", matters=(_CONTRAST_TOKENS,)),
        "propose": plan(*_WISH_FORMS.values(), "grounded-questions"),
        "claim": plan("claim-select", "claim-disambiguate", "claim-decompose"),
        "support": plan("support"),
    }


def contrast_placeholders() -> dict[str, str]:
    """What the placeholders about answers stand for."""
    return {"contrast_words": str(round(_CONTRAST_TOKENS * ROUGH_WORDS))}
