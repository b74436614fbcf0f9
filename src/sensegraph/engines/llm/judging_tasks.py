"""What a model is asked about answers: which is better, how good one is, what it claims, and what bears it out.

It is shown answers, sentences and corpora, never who wrote them. Papers: Edge et al. 2024, app. F (judge, questions);
Zhang et al. 2025, app. D.4 (scores, judge without a tie); Metropolitansky and Larson 2025 (claims); Es et al. 2023
(questions from answers); Gao et al. 2023 (support).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sensegraph.engines.llm.asker import ROUGH_WORDS, ModelTasks, Plan, plan_task
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies import answer_replies
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.models.endpoint.client import Reply
from sensegraph.protocols import Task
from sensegraph.trials import Check, Contrast, Excerpt, Support, Trial, Verdict, Wish

_TAG = re.compile(r"<(?=\s*/?\s*(?:answer|text))", re.IGNORECASE)
_ABOUT = 60  # characters by which an item is named in errors


def write_item_message(item: Trial | Wish | Excerpt | Check) -> str:
    """The user's message about `item`."""
    if isinstance(item, Trial):
        return _write_trial(item)
    if isinstance(item, Wish):
        parts = [f"Wanted: {item.count}" + (f", of the class {item.kind}" if item.kind else "")]
        given = (("Collection", item.about), ("Person", item.persona), ("Task", item.task))
        parts += [f"{name}: {_single_spaced(text)}" for name, text in given if text.strip()]
        reverse = item.wanted == "reverse"
        parts += [_enclose_text("answer", "\n\n".join(item.texts))] if reverse else _enclose_texts(item.texts)
        parts += _bullet_list("Known", item.known)
    elif isinstance(item, Excerpt):
        parts = [f"Question: {_single_spaced(item.question)}"] if item.question.strip() else []
        parts += _bullet_list("Sentences before", item.before)
        parts += [f"Sentence: {_single_spaced(item.sentence)}"]
        parts += _bullet_list("Sentences after", item.after)
    else:
        statement, texts = _single_spaced(item.statement), [text for text in item.evidence if text.strip()]
        parts = [f"Statement: {statement}", "\n\n".join(_enclose_texts(texts)), f"The statement again: {statement}"]
    return "\n\n".join(parts)


def name_item(item: Trial | Wish | Excerpt | Check) -> str:
    """What errors call `item`."""
    if isinstance(item, Wish):
        return f"{item.count} × {item.wanted}"
    kinds = {Trial: "question", Excerpt: "sentence", Check: "statement"}
    line = _single_spaced(getattr(item, kinds[type(item)]))
    short = line if len(line) <= _ABOUT else line[: _ABOUT - 1] + "…"
    return f"answers to {short!r}" if isinstance(item, Trial) else repr(short)


def _write_trial(trial: Trial) -> str:
    """The criterion stands before and after the answers (edge2024, app. F.1); a contrast has none.

    What looks like the end of an answer is made harmless.
    """
    names = "AB" if trial.bands else "12"
    tags = [f"answer_{n}" for n in names] if len(trial.answers) > 1 else ["answer"]
    answers = "\n\n".join(_enclose_text(tag, text) for tag, text in zip(tags, trial.answers, strict=True))
    if not trial.criterion:
        return f"Question: {_single_spaced(trial.question)}\n\n{answers}"
    what = f"{trial.criterion}. {_single_spaced(trial.definition)}"
    scaled = bool(trial.bands) or len(trial.answers) == 1
    scale = f"\n\nScale: from {trial.low} to {trial.high}\n{trial.bands}".rstrip() if scaled else ""
    return (
        f"Question: {_single_spaced(trial.question)}\n\nCriterion: {what}{scale}\n\n{answers}\n\n"
        f"Once more the criterion, by which alone to judge: {what}"
    )


def _bullet_list(title: str, texts: Sequence[str]) -> list[str]:
    return [f"{title}:\n" + "\n".join(f"- {_single_spaced(t)}" for t in texts)] if texts else []


def _enclose_texts(texts: Sequence[str]) -> list[str]:
    return [_enclose_text("text", text) for text in texts]


def _enclose_text(tag: str, text: str) -> str:
    return f"<{tag}>\n{_TAG.sub('‹', text.strip())}\n</{tag}>"


def _single_spaced(text: str) -> str:
    return " ".join(text.split())


T = TypeVar("T")
Item = Trial | Wish | Excerpt | Check

ITEMS = (Trial, Wish, Excerpt, Check)
TASKS: tuple[Task, ...] = ("judge", "score", "contrast", "propose", "claim", "support")
_WISH_FORMS = {"persona": "personas", "task": "tasks", "question": "questions", "reverse": "reverse-questions"}
_VERSION = 1  # raise whenever the same item gives another message, or the same reply other values
_CONTRAST_TOKENS = 300  # of each of the three lists (evaluation by what is unique)


class JudgingTasks(ModelTasks):
    """The tasks of judging; `_forms` are the fixed parts of all their questions, by the name of the template.

    What stays unusable after a second asking is Unreadable, and counted: a run goes on with no verdict, nothing, or an
    empty contrast, and the next run asks again. Failures of the endpoint are errors as everywhere.
    """

    _forms: Mapping[str, Plan]

    def judge(self, trials: Sequence[Trial]) -> list[Verdict]:
        """The better of the two answers of each trial. Raises Unreadable, with no verdict instead."""
        return [self._judge_drawn("judge", t, answer_replies.read_preference) for t in trials]

    def score(self, trials: Sequence[Trial]) -> list[Verdict]:
        """A score for the one answer of each trial. Raises Unreadable, with no verdict instead."""
        return [self._judge_drawn("score", t, answer_replies.read_answer_score) for t in trials]

    def contrast(self, trials: Sequence[Trial]) -> list[Contrast]:
        """What the two answers of each trial share, and what only one says; equal answers need no call.

        Raises Unreadable, with nothing instead.
        """
        read = partial(answer_replies.read_contrast, most=_CONTRAST_TOKENS)
        return [self._ask_about_item("contrast", t, read, Contrast(common=(t.answers[0].strip(),))) for t in trials]

    def propose(self, wishes: Sequence[Wish]) -> list[tuple[str, ...]]:
        """At most `count` lines for each wish, none of them known. Raises Unreadable, with none instead."""
        return [
            self._ask_about_item("propose", w, partial(answer_replies.read_proposed_lines, wish=w), ()) for w in wishes
        ]

    def claim(self, excerpts: Sequence[Excerpt]) -> list[tuple[str, ...]]:
        """What the stage makes of each sentence. Raises Unreadable, with nothing instead."""
        return [
            self._ask_about_item("claim", e, answer_replies.CLAIMS[e.stage], (), self._draw(e.temperature, e.sample))
            for e in excerpts
        ]

    def support(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the texts of each check bear its statement; without a text they do not, and no call is made.

        Raises Unreadable, with neither instead.
        """
        nothing = Support(False, "There is no text to bear it.")
        return [self._ask_about_item("support", c, answer_replies.read_support, nothing) for c in checks]

    def _judge_drawn(self, task: Task, trial: Trial, read: Callable[[Reply, Trial], Reading[Verdict]]) -> Verdict:
        drawn = self._draw(self.settings.judge_temperature, trial.replicate)
        return self._ask_about_item(task, trial, lambda reply: read(reply, trial), Verdict(None), drawn)

    def _ask_about_item(
        self, task: Task, item: Item, read: Callable[[Reply], Reading[T]], known: T, extra: Any = None
    ) -> T:
        """What is read of the reply about `item`; `known` where the result is known without asking."""
        if not is_asked_about(task, item):
            return known
        plan = self._forms[choose_form(task, item)]
        return self._asker.ask(task, plan, write_item_message(item), read, name_item(item), extra=extra)

    def _draw(self, temperature: float, sample: int) -> dict[str, Any]:
        """How a reply is drawn: repetitions differ by their seed where the endpoint has one, never by their text."""
        s = self._asker.endpoint.settings
        seed = {} if s.seed is None else {"seed": s.seed + sample}
        return seed if s.temperature is None else seed | {"temperature": temperature}


def is_asked_about(task: Task, item: Item) -> bool:
    """Whether a call is made; there is none where the result is known without asking."""
    if isinstance(item, Trial):
        return task != "contrast" or item.answers[0].strip() != item.answers[1].strip()
    if isinstance(item, Wish):
        return item.count > 0
    return isinstance(item, Excerpt) or any(text.strip() for text in item.evidence)


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
    limits |= dict.fromkeys(answer_replies.PREFERENCES, s.judge_tokens)
    limits |= dict.fromkeys((*_WISH_FORMS.values(), "grounded-questions"), s.propose_tokens)
    limits |= dict.fromkeys(("claim-select", "claim-disambiguate", "claim-decompose"), s.claim_tokens)
    return {name: plan_task(name, name, s, values, most, _VERSION) for name, most in limits.items()}


def plan_judging_tasks(s: LLMSettings, made: Mapping[str, Plan]) -> dict[Task, Plan]:
    """What stands for each task in keys: one of its forms, with the others and what they are drawn at."""
    heat = s.judge_temperature

    def plan(first: str, *others: str, matters: tuple[Any, ...] = ()) -> Plan:
        return replace(made[first], matters=(_VERSION, *matters, *(made[o] for o in others)))

    return {
        "judge": plan(*answer_replies.PREFERENCES, matters=(heat,)),
        "score": plan("score", matters=(heat,)),
        "contrast": plan("contrast", matters=(_CONTRAST_TOKENS,)),
        "propose": plan(*_WISH_FORMS.values(), "grounded-questions"),
        "claim": plan("claim-select", "claim-disambiguate", "claim-decompose"),
        "support": plan("support"),
    }


def contrast_placeholders() -> dict[str, str]:
    """What the placeholders about answers stand for."""
    return {"contrast_words": str(round(_CONTRAST_TOKENS * ROUGH_WORDS))}
