"""The language tasks by a local model: what `llm.py` asks an endpoint, answered in this process.

The seam is the wire: an endpoint whose calls never leave the process. Prompts, forms, budgets, counts and notes are
those of every other model. Only an answer may be asked otherwise: with the prompt that the model was trained on.
"""

from __future__ import annotations

from typing import Any, Protocol

from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.trained_prompt import Layout
from sensegraph.engines.local.local_model import LocalModel, LocalSettings, TooLong
from sensegraph.errors import EndpointError, SettingsError
from sensegraph.models.endpoint.calls import Streaming
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.models.endpoint.profile import FORMS, Profile
from sensegraph.protocols import Task
from sensegraph.runtime.keys import key


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
            raise Refusal(Outcome(Kind.DOWN, f"a local model does not serve {path}", 404))
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


class ModelPool(Protocol):
    """Copies of a model elsewhere, each of which takes one request at a time."""

    def call(self, request: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        """The reply of a copy that is free to a path and a body. Raises Refusal."""
        ...


class HeldModel:
    """A model as a worker holds it, loaded when it is first asked."""

    def __init__(self, settings: LocalSettings) -> None:
        self._calls = LocalCalls(LocalModel(settings))

    def __call__(self, request: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        """The reply to a path and a body."""
        return self._calls.post(*request)


class PooledCalls(LocalCalls):
    """Answers requests with the copies of a pool; the model is not loaded here."""

    def __init__(self, model: LocalModel, pool: ModelPool) -> None:
        super().__init__(model)
        self._pool = pool

    def post(
        self,
        path: str,
        body: dict[str, Any],
        need: int = 0,
        retried: object = None,
        streaming: Streaming | None = None,
        at_once: bool = True,
    ) -> dict[str, Any]:
        """The reply to one request; who listens hears it when it is whole. Raises Refusal."""
        reply = self._pool.call((path, body))
        if streaming and streaming.hear:
            streaming.hear(str(reply["choices"][0]["text"]))
        return reply


class LocalEndpoint(Endpoint):
    """An endpoint that is a model of this process: chat as everywhere, and texts to be continued.

    With a `pool` its copies answer instead.
    """

    def __init__(
        self,
        settings: LocalSettings,
        temperature: float | None = 0.0,
        seed: int | None = None,
        pool: ModelPool | None = None,
    ) -> None:
        model = LocalModel(settings)
        named = EndpointSettings("http://localhost", model=model.name, temperature=temperature, seed=seed)
        super().__init__(named)
        self.local, self.model, self.address = settings, model, f"this machine ({model.name})"
        self.calls = PooledCalls(model, pool) if pool else LocalCalls(model)  # type: ignore[assignment]
        self.known = Profile(form=FORMS.index("none"))  # nothing here enforces a form: it is shown

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.local, self.settings.temperature, self.settings.seed)


class LocalEngine(LLMEngine):
    """The language tasks by a local model; a tuned one answers with the prompt of its training."""

    def __init__(self, endpoint: LocalEndpoint, settings: LLMSettings | None = None) -> None:
        super().__init__(endpoint, settings)
        self._local = endpoint
        wanted, prompt = endpoint.local.prompt, str(endpoint.model.manifest.get("prompt") or "")
        if wanted == "trained" and not prompt:
            raise SettingsError(
                f'local.prompt = "trained": {endpoint.local.model} does not say what it was trained on; take "tables".'
            )
        if prompt and wanted != "tables":
            self.layout = Layout(prompt)

    def fingerprint(self, task: Task) -> str:
        """As every model's, with what is in the folder and the prompt of the training."""
        layout = self.layout.template if self.layout and task == "answer" else ""
        return key("local", 1, super().fingerprint(task), self._local.model.content, self._local.local, layout)
