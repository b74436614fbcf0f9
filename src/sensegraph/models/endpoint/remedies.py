"""What is done about each kind of outcome: one table, from a kind to the next attempt, or to none.

A remedy changes what is asked, never what is done with a reply; pace and broken connections are the business of
`calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sensegraph.errors import EndpointError, PromptTooLong, ReplyRefused
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.models.endpoint.profile import EFFORTS, FORMS, ChatRequest, Profile, write_chat

LEAST_ROOM = 256  # tokens that a reply gets at least, where it may have as many
THINKING_ROOM = 2000  # tokens that are given to thoughts at least, once they were found to take room
_MARGIN = 1.02  # by which two counts of a prompt may differ, beside their ratio
_ORDER = ("seed", "logit_bias", "stream_options", "temperature", "response_format", "stream")  # what is left out first


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request in the way that it is asked next: what is taken for known, and what holds for it alone.

    `guessed` is what was left out without being named. `freely` asks without the form and less cold; `varied` begins
    the prompt otherwise, so that nothing of it is cached; `again` counts askings of the same after a broken form. What
    is asked `at_once` waits in no batch.
    """

    request: ChatRequest
    known: Profile
    settings: EndpointSettings
    guessed: tuple[str, ...] = ()
    freely: bool = False
    varied: bool = False
    again: int = 0
    grown: int = 0
    last: Outcome | None = None
    first: Outcome | None = None
    at_once: bool = False

    @property
    def room(self) -> int:
        """The most tokens that the reply may have: what is asked for and thoughts take, within the known limits."""
        wanted = self.request.max_tokens + self.known.thinking
        wanted = min(wanted, self.known.most_out) if self.known.most_out else wanted
        if not self.known.window:
            return wanted
        return min(wanted, self.known.window - round(_MARGIN * self.known.count(self.request)) - 8)

    @property
    def fits(self) -> bool:
        """Whether the known window leaves room for a reply."""
        return self.room >= min(LEAST_ROOM, self.request.max_tokens)

    def write_body(self) -> dict[str, Any]:
        """The body of the request."""
        return write_chat(self.settings, self.known, self.request, self.room, self.freely, self.varied)


def find_remedy(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """The next attempt after `outcome` of a request of the fields `sent`; None where nothing is left to try."""
    remedy = _REMEDIES.get(outcome.kind)
    found = remedy(attempt, outcome, sent) if remedy else None
    return replace(found, last=outcome, first=attempt.first or outcome) if found else None


def leave_out_field(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """Without the field that is named; where none is, without one more of those that are known to be refused."""
    known, name = attempt.known, outcome.field
    if name in ("max_tokens", "max_completion_tokens"):
        other = "max_completion_tokens" if name == "max_tokens" else "max_tokens"
        if known.limit != name or (attempt.last and attempt.last.field == other):
            return None
        return replace(attempt, known=replace(known, limit=other))
    if name == "reasoning_effort":
        later = EFFORTS[EFFORTS.index(asked) + 1 :] if (asked := sent.get(name)) in EFFORTS else ()
        without = replace(known.without(name), effort="")
        return replace(attempt, known=replace(known, effort=later[0]) if later else without)
    if name in attempt.settings.extra_body or name in known.refused:
        return None
    if name:
        return replace(attempt, known=known.without(name))
    left = next((n for n in _ORDER if n in sent and n not in known.refused and n not in attempt.guessed), "")
    left = "response_format" if "response_format" in sent and left == "stream" else left  # there are three forms
    if not left:
        return None
    guessed = (*attempt.guessed, left)
    if left == "response_format":
        return _fall(replace(attempt, guessed=guessed))
    if left == "stream":  # nothing else helped: it is the stream that is refused, and all else is as it was
        back = tuple(n for n in known.refused if n not in guessed)
        kept = replace(known, refused=back, form=0 if "response_format" in guessed else known.form)
        return replace(attempt, known=kept.without("stream"), guessed=guessed)
    return replace(attempt, known=known.without(left), guessed=guessed)


def _fall(attempt: Attempt) -> Attempt | None:
    """The next form in which a schema is demanded."""
    known = attempt.known
    return replace(attempt, known=replace(known, form=known.form + 1)) if known.form < len(FORMS) - 1 else None


def change_form(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """The next form; where it is what this schema holds, without a form for this task alone."""
    name = attempt.request.name
    if not outcome.own:
        return _fall(attempt) if "response_format" in sent else None
    known = attempt.known
    return None if name in known.plain else replace(attempt, known=replace(known, plain=(*known.plain, name)))


def repeat_request(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """The same once more, and then freely, for this request only."""
    return None if attempt.freely else replace(attempt, again=attempt.again + 1, freely=attempt.again > 0)


def ask_freely(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """Without the form and less cold, for this request only."""
    return None if attempt.freely else replace(attempt, freely=True)


def learn_window(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """The window that is named, else one that this prompt is too large for; of a doubt (-1), asked again otherwise."""
    if outcome.most < 0:
        return replace(attempt, varied=True)
    known, own = attempt.known, attempt.known.count(attempt.request)
    counted = outcome.need or max(0, outcome.total - attempt.room)
    prompt = counted or own
    window = outcome.most or (prompt - outcome.over if outcome.over else prompt * 3 // 4)
    if known.window and window >= known.window:  # what is known did not help: count more carefully
        window = known.window * 9 // 10
    ratio = max(known.ratio, round(prompt / max(1, own) * known.ratio, 3)) if counted else known.ratio
    samples = max(known.samples, 3) if ratio != known.ratio else known.samples
    learned = replace(known, window=window, ratio=ratio, samples=samples)
    return replace(attempt, known=learned, grown=attempt.grown + 1) if attempt.grown < 4 else None


def change_room(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """No more than is named; else more, as it was too little."""
    if outcome.most:
        within = outcome.most < attempt.room
        return replace(attempt, known=replace(attempt.known, most_out=outcome.most)) if within else None
    return give_thoughts_room(attempt, outcome, sent)


def give_thoughts_room(attempt: Attempt, outcome: Outcome, sent: Mapping[str, object]) -> Attempt | None:
    """Once more with four times the room, and what verdicts need at least."""
    more = max(3 * attempt.room, THINKING_ROOM)
    found = replace(
        attempt, known=replace(attempt.known, thinking=attempt.known.thinking + more), grown=attempt.grown + 1
    )
    return found if found.grown < 2 and found.room > attempt.room else None


_REMEDIES: dict[Kind, Callable[[Attempt, Outcome, Mapping[str, object]], Attempt | None]] = {
    Kind.FIELD: leave_out_field,
    Kind.SCHEMA: change_form,
    Kind.FORM: repeat_request,
    Kind.RUN_ON: ask_freely,
    Kind.WINDOW: learn_window,
    Kind.ROOM: change_room,
    Kind.THOUGHTS: give_thoughts_room,
}


def join_profiles(one: Profile, other: Profile) -> Profile:
    """What both have shown; `other` is the later one."""
    smaller = {
        name: min(filter(None, (getattr(one, name), getattr(other, name))), default=0)
        for name in ("window", "most_out", "batch", "batch_tokens", "input_tokens")
    }
    newer = other if other.samples > one.samples else one
    return Profile(
        limit=other.limit,
        refused=tuple(sorted({*one.refused, *other.refused})),
        form=max(one.form, other.form),
        plain=tuple(dict.fromkeys((*one.plain, *other.plain))),
        effort=other.effort or one.effort,
        thinking=max(one.thinking, other.thinking),
        ratio=newer.ratio,
        samples=newer.samples,
        skips_known=one.skips_known or other.skips_known,
        ranks=other.ranks,
        slots=other.slots or one.slots,
        thoughts=other.thoughts or one.thoughts,
        schema_enforced=one.schema_enforced if other.schema_enforced is None else other.schema_enforced,
        **smaller,
    )


def list_losses(before: Profile, now: Profile) -> dict[str, str]:
    """What `now` does without that `before` had, each with what is said of it."""
    lost = {
        "temperature": "temperature: the model's own is used",
        "seed": "seed: replies are not reproducible",
        "system": "the role system: instructions begin the question",
        "stream_options": "stream_options: the usage of streamed replies may be our own estimate",
        "stream": "streams: answers come whole",
        "reasoning_effort": "reasoning_effort: the model thinks as much as it likes",
    }
    found = {n: lost.get(n, f"{n}: asked without") for n in now.refused if n not in before.refused}
    if now.form > before.form:
        found["response_format"] = f"response_format {FORMS[before.form]}: using {FORMS[now.form]}"
    for name in now.plain:
        if name not in before.plain:
            found[f"schema {name}"] = f"the schema of {name}: it is asked for in words"
    return found


def explain_outcome(attempt: Attempt, found: Outcome, explain: Callable[[Refusal], EndpointError]) -> EndpointError:
    """The error that an outcome means for the caller, after all that could be done; `explain` is for what is refused.

    A prompt that does not fit the known window is too long, whatever was last.
    """
    model, known = attempt.settings.model, attempt.known
    found = attempt.first or found if found.kind == Kind.FIELD else found
    words = explain(Refusal(found)).words
    if found.kind == Kind.WINDOW or not attempt.fits:
        need, said = known.count(attempt.request), f" ({words})" if words else ""
        text = (
            f"A prompt of about {need:,} tokens leaves no room for a reply in the window of {known.window:,} tokens of "
            f"{model}{said}. Raise the window of the server, or set endpoint.window where it is known to be larger."
        )
        share = max(0.05, (known.window - 2 * LEAST_ROOM) / max(1, need)) if known.window else 0.5
        return PromptTooLong(text, min(0.9, share), words)
    if found.kind == Kind.CONTENT:
        text = f"The reply of {model} was refused ({words}). Leave the text out, or ask another model."
        return ReplyRefused(text, found.kind, words)
    if found.kind == Kind.THOUGHTS:
        text = (
            f"{model} wrote thoughts and no reply, in a room of {attempt.room:,} tokens: "
            'set endpoint.thoughts = "off", or raise the limit of the task (model.…_tokens).'
        )
        return EndpointError(text, found.kind, words)
    if found.kind in (Kind.RUN_ON, Kind.FORM):
        text = f"{model} wrote nothing that can be used, with and without a form: {words}."
        return EndpointError(text, found.kind, words)
    return explain(Refusal(found))
