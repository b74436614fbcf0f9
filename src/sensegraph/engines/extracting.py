"""Extraction by a model: what a chunk says, and further rounds for what was missed (edge2024, §3.1.2)."""

from __future__ import annotations

from collections.abc import Callable

from sensegraph.endpoint import Reply
from sensegraph.engines import prompts, records, replies
from sensegraph.engines.asking import Asker, Plan, messages, said_by
from sensegraph.engines.llm_settings import LLMSettings
from sensegraph.engines.replies import Reading
from sensegraph.types import Chunk, Extraction

_VERDICT_TOKENS = 4  # room for yes or no


class Extractor:
    """Entities, relations and claims of chunks, by one model; `plan` is the fixed part of the task."""

    def __init__(self, asker: Asker, plan: Plan, settings: LLMSettings, values: dict[str, str]) -> None:
        self.asker, self.plan, self.settings = asker, plan, settings
        self._check, self._more = gleaning(settings, values)

    def extract(self, chunk: Chunk) -> Extraction:
        """What one chunk says."""

        def read(reply: Reply) -> Reading[Extraction]:
            return replies.extraction(reply, chunk)

        what = f"chunk {chunk.id} of document {chunk.document!r}"
        found, reply = self.asker.asked("extract", self.plan, prompts.of_chunk(chunk), read, what)
        return self._gleaned(chunk, found, reply, read) if self.settings.max_gleanings else found

    def _gleaned(
        self, chunk: Chunk, found: Extraction, reply: Reply, read: Callable[[Reply], Reading[Extraction]]
    ) -> Extraction:
        """`found` with what further rounds bring: first ask whether anything was missed, go on only after a yes."""
        talk = [*messages(self.plan, prompts.of_chunk(chunk)), said_by("assistant", reply.text)]
        for _ in range(self.settings.max_gleanings):
            verdict = self.asker.endpoint.chat([*talk, said_by("user", self._check)], max_tokens=_VERDICT_TOKENS)
            if not replies.agrees(verdict):
                break
            talk.append(said_by("user", self._more))
            reply = self.asker.said(self.plan, talk)
            talk.append(said_by("assistant", reply.text))
            reading = read(reply)
            found = records.added(found, self.asker.kept("extract", reading, reading.value or Extraction()))
        return found


def gleaning(s: LLMSettings, values: dict[str, str]) -> tuple[str, str]:
    """What is said to ask whether anything was missed, and to ask for it."""
    return prompts.filled("glean-check", values, s.prompts), prompts.filled("glean-more", values, s.prompts)
