"""The one place that speaks HTTP to a model: chat, embeddings and reranking over an OpenAI-compatible endpoint.

Calls are synchronous and thread-safe. What goes over the wire is paced, retried, counted, and held to a budget here;
what is asked and how a reply is read is the business of the engines.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args
from uuid import uuid4

import msgspec
import numpy as np

from sensegraph.errors import SettingsError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint import bodies, limits, readings
from sensegraph.models.endpoint.calls import CHAT, COMPLETIONS, SHARE, Calls, Streaming
from sensegraph.models.endpoint.endpoint_settings import (
    EndpointSettings,
    Purpose,
    address_of,
    check_endpoint,
    set_temperature,
)
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.models.endpoint.pages import Offer, read_offer
from sensegraph.models.endpoint.profile import (
    ChatRequest,
    Memory,
    Profile,
    ShownImage,
    write_completion,
    write_streaming,
)
from sensegraph.models.endpoint.readings import Reply
from sensegraph.models.endpoint.remedies import Attempt, explain_outcome, find_remedy, join_profiles, list_losses
from sensegraph.protocols import Vectors
from sensegraph.runtime.activity import Tally, take_lock
from sensegraph.types import Usage

__all__ = ["Endpoint", "Message", "Reply"]
Message = Mapping[str, str]
_ROOMY = 32_768  # tokens of a window in which all of our prompts have room
_IMPOSSIBLE_USAGE = "The endpoint reports usage that cannot be: tokens are our own estimate"
_NO_USAGE = "The endpoint reports no usage: tokens are our own estimate"


class Endpoint:
    """An OpenAI-compatible endpoint: `chat`, `embed` and `rerank`, safe to call from many threads.

    With `looks` it is asked what it tells for nothing, where nothing is remembered, before the first chat. `headers`
    are sent besides that of the key. What it spends counts against the budget of the one `beside` it, or of the `run`
    of that name where processes share limits. `known` is what is known of it and its models.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        journal: limits.Journal | None = None,
        api_key: str | None = "",
        memory: Memory | None = None,
        looks: bool = False,
        headers: Mapping[str, str] | None = None,
        beside: Endpoint | None = None,
        run: str = "",
    ) -> None:
        check_endpoint(settings, api_key or "")
        settings = replace(settings, temperature=set_temperature(settings))
        self.settings, self.address = settings, address_of(settings.base_url)
        self._api_key, self._headers, self._memory = api_key, headers, memory or Memory()
        self.known = self._memory.recall(settings)
        self._believed = self.known != Profile()
        self.known = replace(self.known, window=settings.window) if settings.window else self.known
        self._looks = looks and not self._believed and not settings.window
        self.calls = Calls(settings, self.address, journal, api_key, headers)
        self.calls.narrow(self.known.slots)
        self._measured = bool(settings.tokens_per_minute or settings.max_tokens_total or settings.max_cost_usd)
        self._lock = threading.Lock()
        self._contact = threading.Lock()
        self._guesses = Counter[str]()
        self._spent: dict[Purpose, Tally[Usage]] = {p: Tally(Usage()) for p in get_args(Purpose)}
        self._notes = limits.Notes()
        self._run: str = beside._run if beside else run or uuid4().hex
        own = limits.make_budget(settings, journal.limits if journal else None, self._run)
        self._budget: limits.Budget = beside._budget if beside else own

    def __reduce__(self) -> tuple[Any, ...]:
        journal = self.calls.journal
        limits.check_copied(self.settings, journal, repr(self))
        return type(self), (self.settings, journal, self._api_key, self._memory, False, self._headers, None, self._run)

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.settings.model!r})"

    def usage(self, kind: Purpose | None = None) -> Usage:
        """What the calls of this activity so far have cost, outside of one all calls: of one kind, or of all."""
        kinds = [kind] if kind else list(self._spent)
        return sum((self._spent[k].read() for k in kinds), Usage())

    def notes(self) -> tuple[str, ...]:
        """What was degraded in this activity, outside of one at all, each with how often."""
        return self._notes.read()

    # ── calls ──

    def chat(
        self,
        messages: Sequence[Message],
        *,
        schema: dict[str, Any] | None = None,
        name: str = "",
        max_tokens: int,
        extra: Mapping[str, Any] | None = None,
        hear: Callable[[str], None] | None = None,
        images: Sequence[ShownImage] = (),
    ) -> Reply:
        """One reply to `messages` and `images`, in the form of `schema` (named `name`) where the endpoint can do that.

        `extra` are further fields of the request, which the endpoint may refuse. `hear` is told the reply piece by
        piece as it is written; the pieces joined are its text.
        What the endpoint does not take is asked for in another way, and known from then on. Raises EndpointDown when no
        call can succeed, EndpointError for this call or when the reply breaks off after a piece was heard, ReplyRefused
        where its reply was refused by the model or a filter, PromptTooLong where the prompt leaves no room in the
        model's window, BudgetExceeded before it is made.
        """
        if not self.settings.model:
            raise SettingsError("endpoint.model is empty: name the chat model to use.")
        request = ChatRequest(messages, max_tokens, schema, name, extra or {}, images)
        first = not self._believed and take_lock(self._contact, self.calls.longest_first)
        if first and self._believed:  # what one call has learned meanwhile, others need not
            self._contact.release()
            first = False

        def let_others_go() -> None:
            nonlocal first
            if first:
                first = False
                self._contact.release()

        def count_retry() -> None:
            self._count("chat", Usage(retries=1))
            let_others_go()

        if first and self._looks:
            self.look()
        try:
            return self._chat(Attempt(request, self.known, self.settings, at_once=first), hear, count_retry)
        finally:
            let_others_go()

    def complete(self, prompt: str, max_tokens: int) -> Reply:
        """What the model continues `prompt` with, where the endpoint serves completions. Raises EndpointError."""
        request = ChatRequest([{"role": "user", "content": prompt}], max_tokens)
        most = self._bound(Attempt(request, self.known, self.settings))
        body, used = write_completion(self.settings, prompt, max_tokens), limits.Amount()
        held = self._budget.reserve(most)
        try:
            retried = partial(self._count, "chat", Usage(retries=1))
            reply = self._reply(self.calls.post(COMPLETIONS, body, most.tokens, retried), request)
            used = self._spend(reply)
        except Refusal as e:
            raise self.calls.error(e) from e
        finally:
            self._budget.settle(held, used)
        return reply

    @property
    def window(self) -> int:
        """The tokens of prompt and reply together that the model is known to take; 0 where that is not known."""
        return self.known.window

    def look(self) -> Offer:
        """Learn what the endpoint tells for nothing: its models, and their window."""
        self._looks, found = False, read_offer(self.settings, self.calls.headers)
        self.calls.narrow(found.slots)  # before it is known: calls that wait for what is known go at once then
        if (shown := found.add_to(self.known)) != self.known:
            self.learn(shown)
        return found

    def copy_with(self, **changes: Any) -> Endpoint:
        """The same with other settings, which knows what is known now, remembers nothing and counts for itself."""
        made = Endpoint(replace(self.settings, **changes), None, self._api_key, headers=self._headers, beside=self)
        made.known, made._believed = self.known, True
        return made

    def learn(self, shown: Profile) -> None:
        """Take what was found out without a chat for known, from now on and in later runs."""
        self._learn(Attempt(ChatRequest((), 0), shown, self.settings))

    def _chat(self, attempt: Attempt, hear: Callable[[str], None] | None, retried: Callable[[], None]) -> Reply:
        """The reply to a request, in whatever way the endpoint takes it."""
        heard = list[str]()

        def keep_and_hear(text: str) -> None:
            heard.append(text)
            if hear:
                hear(text)

        while True:
            if not attempt.fits:
                self._learn(replace(attempt, known=replace(self.known, window=attempt.known.window)))
                raise explain_outcome(attempt, attempt.last or Outcome(Kind.WINDOW, ""), self.calls.error)
            body = attempt.write_body()
            found = self._ask(attempt, body, keep_and_hear if hear else None, heard, retried)
            if isinstance(found, Reply):
                seen = found.thoughts and replace(attempt.known, thoughts=found.thoughts)
                self._learn(replace(attempt, known=seen or attempt.known))
                return found
            streaming = write_streaming(attempt.known)
            following = find_remedy(attempt, found, body | streaming)
            if following is None or (any(heard) and found.kind != Kind.THOUGHTS):
                raise explain_outcome(attempt, found, self.calls.error)
            attempt = following

    def _ask(
        self,
        attempt: Attempt,
        body: dict[str, Any],
        hear: Callable[[str], None] | None,
        heard: list[str],
        retried: Callable[[], None],
    ) -> Reply | Outcome:
        """One request within the budget: its reply, counted; or what it came to instead."""
        most, used, fields = self._bound(attempt), None, write_streaming(attempt.known)
        streaming = Streaming(fields, hear, "response_format" in body) if fields else None
        held = self._budget.reserve(most)
        try:
            data = self.calls.post(CHAT, body, most.tokens, retried, streaming, attempt.at_once)
            reply = self._reply(data, attempt.request)
            used = self._spend(reply, data.get(SHARE, 1.0))
            if found := bodies.classify_reply(data) or self._compare(attempt, data):
                return found
            if bodies.read_misplaced(data):
                self._notes.add("The endpoint put replies among the model's thoughts: taken from there")
            if hear and not streaming:
                hear(reply.text)
            return reply
        except Refusal as e:
            return e.outcome
        finally:
            if used is None and any(heard):
                self._notes.add("A streamed reply broke off: its tokens are our own estimate")
                used = self._spend(readings.estimate_reply("".join(heard), attempt.request, ""))
            self._budget.settle(held, used or limits.Amount())

    def _compare(self, attempt: Attempt, data: Mapping[str, Any]) -> Outcome | None:
        """What the endpoint's count of a prompt shows: that it was cut without a word, or nothing."""
        if attempt.request.images:  # what they count for is known of no model
            return None
        counts = [bodies.read_usage(data, name) or 0 for name in ("prompt_tokens", "completion_tokens")]
        known, own = self.known, attempt.request.tokens
        if known.doubts(counts[0], attempt.request.messages):
            words = f"the endpoint counted {counts[0]:,} tokens of a prompt of about {own:,}, and cut the rest"
            if attempt.varied:
                self._notes.add(
                    "The endpoint cuts prompts that are too long without a word: they are asked again shorter"
                )
            return Outcome(Kind.WINDOW, words, most=counts[0] if attempt.varied else -1)
        whole = sum(counts)
        if bodies.read_finish(data) == "length" and counts[1] < 0.98 * attempt.room and whole % 256 == 0 and counts[0]:
            return Outcome(Kind.WINDOW, f"the prompt and its reply filled a window of {whole:,} tokens", most=whole)
        with self._lock:
            skips = attempt.varied and not known.skips_known
            self.known = replace(self.known, skips_known=True) if skips else known.compared(counts[0], own)
        return None

    def _learn(self, attempt: Attempt) -> None:
        """Take what a reply showed for known, and say it once; what was only guessed, after two replies."""
        with self._lock:
            before = self.known
            now = join_profiles(before, attempt.known)
            lost = list_losses(before, now)
            unsure = [name for name in lost if name in (*attempt.guessed, "response_format")]
            self._guesses.update(unsure)
            if doubted := {name for name in unsure if self._guesses[name] < 2}:
                form = before.form if "response_format" in doubted else now.form
                now = replace(now, refused=tuple(n for n in now.refused if n not in doubted), form=form)
            self._notes.add(*(f"The endpoint refuses {said}" for name, said in lost.items() if name not in doubted))
            told = attempt.request.messages or now.window < _ROOMY
            if now.window and now.window != before.window and told:
                self._notes.add(f"The model's window is {now.window:,} tokens: prompts and replies are made to fit")
            if now.thinking > before.thinking:
                self._notes.add("The model's thoughts take room: replies may be longer than was asked for")
            self.known = now
            settled = all(count > 1 for count in self._guesses.values())
            news = replace(now, ratio=1.0, samples=0) != replace(before, ratio=1.0, samples=0) or not self._believed
            self._believed = settled
        if news:
            self._memory.keep(self.settings, now)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of `texts`, shape `(n, dim)` float32, as the endpoint gives them (not normalised).

        They are asked for in calls as large as the endpoint takes; of a text too long for the model, the mean of its
        parts. Raises as `chat` does, and EndpointError when the vectors are too few, of different length, or none.
        """
        if not self.settings.embedding_model:
            raise SettingsError("endpoint.embedding_model is empty: name the embedding model to use.")
        parts = [readings.split_long(text, self.known.input_tokens) for text in texts]
        rows = self._embed_all([part for of_text in parts for part in of_text])
        ends = np.cumsum([len(of_text) for of_text in parts])
        if len(rows) == len(texts):
            return rows
        return np.stack([part.mean(axis=0) for part in np.split(rows, ends[:-1])])

    def _embed_all(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, in batches; after a refusal, in smaller ones or smaller parts."""
        rows = list[Vectors]()
        for batch in readings.split_batches(texts, self.known, self.settings.embedding_batch):
            body = readings.write_embedding(self.settings, self.known, batch)
            try:
                data = self._read("embedding", "/embeddings", body, batch)
            except Refusal as e:
                learned = readings.learn_size(self.known, e.outcome, batch)
                if learned is None:
                    raise self.calls.error(e) from None
                self.learn(learned)
                rows.append(self.embed(batch))
            else:
                rows.append(readings.read_vectors(data, batch))
        return np.concatenate(rows)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each of `texts`, at least one, fits the question: higher is better, in their order.

        The request is the one of Cohere and Jina, or the one of TEI, to `/rerank` under the base address; a text that
        gets no score has the worst. Raises as `chat` does, and EndpointError for what is no score.
        """
        if not self.settings.rerank_model:
            raise SettingsError("endpoint.rerank_model is empty: name the reranking model to use.")
        body = readings.write_rerank(self.settings.rerank_model, self.known, question, texts)
        read = [part for text in texts for part in (question, text)]  # it reads the question with each text
        try:
            data = self._read("rerank", "/rerank", body, read)
        except Refusal as e:
            learned = readings.learn_ranking(self.known, e.outcome, body)
            if learned is None:
                raise self.calls.error(e) from None
            self.learn(learned)
            return self.rerank(question, texts)
        scores = readings.read_relevances(data, len(texts))
        worst = min((s for s in scores if s is not None), default=0.0)
        return [worst if s is None else s for s in scores]

    def _read(self, kind: Purpose, path: str, body: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
        """The reply to a call that reads `texts` and writes nothing, within the budget and counted."""
        need = sum(map(count_tokens, texts)) if self._measured else 0
        most = limits.Amount(need, limits.price_reading(self.settings, kind == "embedding", need).cost_usd)
        held = self._budget.reserve(most)
        used = limits.Amount()
        try:
            data = self.calls.post(path, body, need, partial(self._count, kind, Usage(retries=1)))
            named = [bodies.read_usage(data, name) for name in ("prompt_tokens", "total_tokens")]
            count = next((n for n in named if n is not None), None)
            if count is None:
                count = need or sum(map(count_tokens, texts))
                self._notes.add(_IMPOSSIBLE_USAGE if bodies.gives_impossible_usage(data) else _NO_USAGE)
            usage = limits.price_reading(self.settings, kind == "embedding", count)
            used = limits.Amount(count, usage.cost_usd)
            self._count(kind, usage)
        finally:
            self._budget.settle(held, used)
        return data

    # ── counting ──

    def _bound(self, attempt: Attempt) -> limits.Amount:
        """The most that a chat call can take; not measured where no limit asks for it."""
        if not self._measured:
            return limits.Amount()
        schema = attempt.request.schema
        form = count_tokens(msgspec.json.encode(schema).decode()) if schema else 0
        whole = Usage(1, attempt.request.tokens + form, attempt.room)
        return limits.Amount(whole.prompt_tokens + attempt.room, limits.price_usage(self.settings, whole).cost_usd)

    def _reply(self, data: dict[str, Any], request: ChatRequest) -> Reply:
        text = bodies.read_content(data)
        prompt, completion = bodies.read_usage(data, "prompt_tokens"), bodies.read_usage(data, "completion_tokens")
        reason = bodies.read_finish(data)
        if prompt is None or completion is None:
            self._notes.add(_IMPOSSIBLE_USAGE if bodies.gives_impossible_usage(data) else _NO_USAGE)
            return readings.estimate_reply(text, request, reason)
        prompt = prompt or request.tokens  # some leave out what they had in their cache
        return Reply(text, prompt, completion, reason, bodies.find_thoughts(data))

    def _spend(self, reply: Reply, share: float = 1.0) -> limits.Amount:
        """Count what a reply took, at a share of its price; one of no price was counted before."""
        usage = limits.price_usage(self.settings, Usage(1, reply.prompt_tokens, reply.completion_tokens))
        usage = replace(usage, cost_usd=usage.cost_usd * share) if share >= 0 else Usage()
        self._count("chat", usage)
        return limits.Amount(usage.prompt_tokens + usage.completion_tokens, usage.cost_usd)

    def _count(self, kind: Purpose, usage: Usage) -> None:
        self._spent[kind].add(usage)
