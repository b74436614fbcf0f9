"""The language tasks by a model of this machine: what `llm.py` asks an endpoint, answered in this process.

The seam is the wire: an endpoint whose calls never leave the process. Prompts, forms, budgets, counts and notes are
those of every other model. Only an answer may be asked otherwise: with the prompt that the model was trained on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.question_tasks import NOTICE
from sensegraph.engines.local.local_model import LocalModel, LocalSettings, TooLong
from sensegraph.errors import EndpointError, SettingsError
from sensegraph.language.text import fold
from sensegraph.models.endpoint import bodies
from sensegraph.models.endpoint.calls import Streaming
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.models.endpoint.profile import FORMS, Profile
from sensegraph.protocols import Task
from sensegraph.runtime.keys import key
from sensegraph.types import Draft, Inquiry, Passage, Statement

_PLACEHOLDER = re.compile(r"\{\{(question|passages)\}\}")
_NO_HISTORY = "The conversation was not shown: the prompt that the model was trained on has no place for it."
_NO_SOURCE = "The answer cites nothing: no passage holds its words."


@dataclass(frozen=True, slots=True)
class Layout:
    """The prompt that a model was trained on, with a place for the question and one for the passages."""

    template: str

    def prompt(self, question: str, passages: Sequence[str]) -> str:
        """The prompt for one question over the texts of its passages."""
        given = {"question": question, "passages": "\n\n".join(passages)}
        return _PLACEHOLDER.sub(lambda found: given[found[1]], self.template)


class LocalCalls:
    """Takes requests as an OpenAI-compatible endpoint does and answers them with the model of this process."""

    def __init__(self, model: LocalModel) -> None:
        self.model, self.journal, self.longest_first = model, None, 0.0

    def post(
        self,
        path: str,
        body: dict[str, Any],
        need: int = 0,
        retried: object = None,
        streaming: Streaming | None = None,
        at_once: bool = True,
    ) -> dict[str, Any]:
        """The reply to one request, always at once; who listens hears it when it is whole.

        Raises Refusal for what the model cannot do: another path, a form that replies must have, a prompt too long.
        """
        if path not in ("/chat/completions", "/completions"):
            raise Refusal(Outcome(Kind.DOWN, f"a model of this machine does not serve {path}", 404))
        if body.get("response_format"):
            raise Refusal(Outcome(Kind.SCHEMA, "response_format is not understood", 400))
        prompt = str(body["prompt"]) if path == "/completions" else self.model.prompt_of(body["messages"])
        most = int(body.get("max_tokens") or body.get("max_completion_tokens") or 256)
        try:
            made = self.model.continued(prompt, most, body.get("temperature"), body.get("seed"))
        except TooLong as e:
            raise Refusal(Outcome(Kind.WINDOW, str(e), 400)) from e
        if streaming and streaming.hear:
            streaming.hear(made.text)
        message = {"role": "assistant", "content": made.text}
        used = {"prompt_tokens": made.prompt_tokens, "completion_tokens": made.tokens}
        return {
            "choices": [{"index": 0, "message": message, "text": made.text, "finish_reason": made.finish}],
            "usage": used | {"total_tokens": made.prompt_tokens + made.tokens},
        }

    def error(self, e: Refusal) -> EndpointError:
        """The error that a refusal means for the caller."""
        return EndpointError(f"The local model {self.model.name} refused a request: {e}.", e.outcome.kind, str(e))


class LocalEndpoint(Endpoint):
    """An endpoint that is a model of this process: chat as everywhere, and texts to be continued."""

    def __init__(self, settings: LocalSettings, temperature: float | None = 0.0, seed: int | None = None) -> None:
        model = LocalModel(settings)
        named = EndpointSettings("http://localhost", model=model.name, temperature=temperature, seed=seed)
        super().__init__(named)
        self.local, self.model, self.address = settings, model, f"this machine ({model.name})"
        self.calls = LocalCalls(model)  # type: ignore[assignment]
        self.known = Profile(form=FORMS.index("none"))  # nothing here enforces a form: it is shown

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.local, self.settings.temperature, self.settings.seed)

    def complete(self, prompt: str, most: int) -> Reply:
        """What the model continues `prompt` with, counted as a call. Raises EndpointError where it is too long."""
        s = self.settings
        body = {"prompt": prompt, "max_tokens": most, "temperature": s.temperature, "seed": s.seed}
        try:
            data = self.calls.post("/completions", body, 0, lambda: None)
        except Refusal as e:
            raise self.calls.error(e) from None
        used = [bodies.read_usage(data, name) or 0 for name in ("prompt_tokens", "completion_tokens")]
        reply = Reply(bodies.read_content(data), used[0], used[1], str(data["choices"][0]["finish_reason"]))
        self._spend(reply)
        return reply


class LocalEngine(LLMEngine):
    """The language tasks by a model of this machine; a tuned one answers with the prompt of its training.

    Tuned models write plain text, so that what an answer cites is found afterwards: the passages that hold its words.
    """

    def __init__(self, endpoint: LocalEndpoint, settings: LLMSettings | None = None) -> None:
        super().__init__(endpoint, settings)
        self._local = endpoint
        wanted, prompt = endpoint.local.prompt, str(endpoint.model.manifest.get("prompt") or "")
        if wanted == "trained" and not prompt:
            raise SettingsError(
                f'local.prompt = "trained": {endpoint.local.model} does not say what it was trained on; take "tables".'
            )
        self._layout = Layout(prompt) if prompt and wanted != "tables" else None

    def fingerprint(self, task: Task) -> str:
        """As every model's, with what is in the folder and the prompt of the training."""
        layout = self._layout.template if self._layout and task == "answer" else ""
        return key("local", 1, super().fingerprint(task), self._local.model.content, self._local.local, layout)

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        """A final answer from each context."""
        return [self._trained(i) for i in inquiries] if self._layout else super().answer(inquiries)

    def stream(self, inquiry: Inquiry, tell: Callable[[Statement], None]) -> Draft:
        """The draft that `answer` gives, told when it is whole."""
        if not self._layout:
            return super().stream(inquiry, tell)
        draft = self._trained(inquiry)
        for statement in draft.statements:
            tell(statement)
        return draft

    def _trained(self, inquiry: Inquiry) -> Draft:
        """An answer to the prompt of the training. Raises EndpointError where that does not fit the context."""
        assert self._layout is not None
        passages = inquiry.context.passages
        prompt = self._layout.prompt(inquiry.question, [format_passage(p.title, p.text) for p in passages])
        reply = self._local.complete(prompt, self.settings.answer_tokens)
        cited = tuple(p.id for p in passages if rests_on(reply.text, p))
        lost = ((_NO_HISTORY, bool(inquiry.history)), (_NO_SOURCE, not cited))
        cut = ("The answer was cut off at the limit of its length.",) if reply.finish_reason == "length" else ()
        return Draft((Statement(reply.text, cited),), notes=(NOTICE, *cut, *(note for note, is_so in lost if is_so)))


def format_passage(title: str, text: str) -> str:
    """A passage as training data shows it."""
    return f"{title}\n{text}" if title else text


def rests_on(answer: str, passage: Passage) -> bool:
    """Whether the passage holds the answer's words, or the answer quotes it; both folded."""
    said, text = fold(answer).rstrip(" ."), fold(f"{passage.title} {passage.text}")
    return bool(said) and said in text
