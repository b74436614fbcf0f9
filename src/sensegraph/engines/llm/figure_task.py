"""Figures described by a model that sees: one call an image, stored under what stands for the image, prompt and model.

It is asked when documents are read, so that what it tells is a part of their texts: an index is made of these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from operator import attrgetter

from sensegraph.documents.images import Figure
from sensegraph.engines.llm.asker import ROUGH_WORDS, Asker, plan_task
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.answer_replies import DECLINED
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    declines_in_words,
    decode_json,
    describe_cut,
    is_truncated,
    list_in,
)
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.limits import price_usage
from sensegraph.models.endpoint.profile import ShownImage
from sensegraph.protocols import Task
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

VERSION = 1  # raise whenever the same prompt and reply give another description
DECORATION = "decoration"
_ASKED = "Describe the figure."
_FORESEEN = 200  # tokens of a description that nobody has written yet
_STAND_IN = "A figure that no model has described yet. " * 20  # as long as a description usually is


class FigureDescriber:
    """Describes figures by the chat model of an endpoint; what it writes is `cleaned` before anybody keeps it."""

    tasks: frozenset[Task] = frozenset({"describe"})
    batch = 1
    waits = True
    quotes = False

    def __init__(
        self, endpoint: Endpoint, settings: LLMSettings, clean: Callable[[str], str] = str, cleaned: str = ""
    ) -> None:
        self.endpoint, self.name = endpoint, endpoint.settings.model
        most, language = settings.describe_tokens, settings.language
        said = f"Write in {language}." if language else "Write in the language of its words, or else in English."
        values = {"figure_words": str(round(most * ROUGH_WORDS / 3)), "figure_language": said}
        self._plan = plan_task("described", "describe", settings, values, most)
        self._asker, self._clean, self._cleaned = Asker(endpoint), clean, cleaned

    def fingerprint(self, task: Task) -> str:
        """Prompt, schema, limits and model, and by what its replies are cleaned."""
        s = self.endpoint.settings
        asked = [s.thoughts, dict(s.extra_body)] if s.extra_body or s.thoughts != "auto" else []
        return key("figures", VERSION, self._plan, s.model, s.temperature, s.seed, self._cleaned, *asked)

    def usage(self) -> Usage:
        """What the calls have cost."""
        return replace(self.endpoint.usage("chat"), rejected=self._asker.again)

    def notes(self) -> tuple[str, ...]:
        """What was degraded so far, each with how often."""
        return self.endpoint.notes() + self._asker.notes()

    def describe(self, figures: Sequence[Figure]) -> list[str]:
        """What each figure shows; nothing of decoration. Raises ItemFailed for a reply that cannot be used."""
        return [self._clean(self._describe(figure)) for figure in figures]

    def _describe(self, figure: Figure) -> str:
        talk = self._asker.begin(self._plan, _ASKED)
        shown, what = (ShownImage(figure.url, figure.tokens),), f"the image {figure.digest[:12]}"
        return self._asker.ask_in_talk("describe", self._plan, talk, read_description, what, images=shown)[0]

    def count_tokens(self, figure: Figure) -> int:
        """About the tokens of the prompt that a figure needs."""
        return self._plan.overhead + figure.tokens


def read_description(reply: Reply) -> Reading[str]:
    """The description of a figure with what can be read off it, a sentence a line, and its words."""
    data = decode_json(reply)
    if not isinstance(data, dict):
        return Reading(None, DECLINED if declines_in_words(reply) else describe_cut(reply) or "it is no JSON object")
    kind, said, words = (_single_line(data.get(name)) for name in ("kind", "description", "words"))
    if kind.casefold() == DECORATION:
        return Reading("")
    read = [line for item in list_in(data, "data") if (line := _single_line(item))]
    if not said and not read:
        return Reading(None, "it describes nothing")
    lines = [f"{kind[:1].upper()}{kind[1:]}." if kind else "", said, *read, f"Words in it: {words}" if words else ""]
    return Reading("\n".join(filter(None, lines)), describe_cut(reply), doubtful=is_truncated(reply))


def _single_line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


@step("figures.describe", version=1, uses="engine", task="describe", batch=1, sees=attrgetter("digest"))
def describe_figures(figures: Sequence[Figure], *, engine: FigureDescriber) -> list[str]:
    """What each figure shows."""
    return engine.describe(figures)


class FigureReader:
    """Describes the figures of documents while they are read: those that were described before come from the store.

    Where nothing is to be `paid`, a stand-in takes the place of what is missing, which is counted. `kept` is entered
    around what is paid: who keeps replies that come until they are stored.
    """

    def __init__(
        self,
        describer: FigureDescriber,
        rt: Runtime,
        *,
        paid: bool,
        kept: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._describer, self._paid, self._kept = describer, paid, kept
        self._rt = replace(rt, engine=describer, most_failed=1.0, aside=[])  # type: ignore[arg-type]
        self.missing: list[Figure] = []

    @property
    def name(self) -> str:
        """What descriptions are said to be by."""
        return self._describer.name

    def tell(self, figures: Sequence[Figure]) -> list[str | None]:
        """What each figure shows; None where the model gave no reply that can be used.

        Raises EndpointDown and BudgetExceeded, after what was paid for is stored.
        """
        missing = self._rt.missing(describe_figures, figures)
        self.missing += [figures[i] for i in missing]
        if not self._paid:
            lacking = {figures[i].digest for i in missing}
            known = [f for f in figures if f.digest not in lacking]
            told = iter(self._rt.each(describe_figures, known))
            return [_STAND_IN if f.digest in lacking else next(told) for f in figures]
        with self._kept() if missing else nullcontext():
            before = len(self._rt.aside)
            found = self._rt.each(describe_figures, figures, without=lambda _: "")[:]
        failed = {item.item.digest for item in self._rt.aside[before:] if not item.partial}
        return [None if f.digest in failed else text for f, text in zip(figures, found, strict=True)]

    def list_keys(self, digests: Sequence[str]) -> list[str]:
        """The keys that descriptions of these images are stored under."""
        return self._rt.keys(describe_figures, [], names=list(digests))

    def estimate(self) -> Usage:
        """What the calls that were missing take."""
        once = {figure.digest: figure for figure in self.missing}.values()
        prompt = sum(self._describer.count_tokens(figure) for figure in once)
        return price_usage(self._describer.endpoint.settings, Usage(len(once), prompt, _FORESEEN * len(once)))
