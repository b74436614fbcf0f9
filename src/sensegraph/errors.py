"""Our exceptions, all of them. Every message says what went wrong, with which thing, and what to do next.

SensegraphError
├── SettingsError       a setting is unknown, of the wrong type, or contradicts another
│   └── Unapproved      a corpus's file names an endpoint or a model that the user has not approved
├── InputError          a document, file or argument cannot be used
│   └── EmptyCorpus     there is nothing to index
├── NotIndexed          the corpus has no index yet, or not the part that a method needs
├── UnsupportedTask     a method needs a task that the engine does not have; raised before any work
├── StepFailed          some items of a step failed; all others are stored, so running again resumes
├── ItemFailed          one item cannot be done (a reply that stays unusable); its step reports it
│   └── Unreadable      the same, where a run may go on with a value that is not stored as the result
├── EndpointError       a model endpoint answered with an error for one call
│   ├── EndpointDown    it cannot be reached, or refuses every call (address, key, model): the run stops
│   ├── ReplyRefused    the model or a content filter refused the reply to one call; what came of it is no reply
│   └── PromptTooLong   a prompt does not fit the model's window, or leaves no room for a reply
├── BudgetExceeded      the token or cost limit of this run is reached; what was paid for is stored
├── Stopped             somebody asked a question or a build to stop; what was computed until then is kept
├── BatchPending        calls to a model wait in a batch; running again goes on
└── StoreError          the store cannot be read or written (corrupt, read-only, from a newer version)
    ├── ResultGone      a stored result was removed meanwhile
    └── Busy            another process builds the same corpus
"""

from __future__ import annotations

from typing import Any

TABLE_GONE = (
    "A table of this index is gone from the store: the index was replaced and collected meanwhile. Ask again; if that "
    "fails too, run `sensegraph index`."
)


class SensegraphError(Exception):
    """Base class: catch this to catch everything that sensegraph raises on purpose."""


class SettingsError(SensegraphError):
    """A setting is unknown, of the wrong type, or contradicts another."""


class Unapproved(SettingsError):
    """A corpus's file names an endpoint or a model that the user has not approved; raised before anything is sent.

    `question` says what it names, and `wanted` is the approval that is missing, as the user's settings file holds it.
    """

    def __init__(self, question: str, wanted: str, ways: str) -> None:
        self.question, self.wanted, self.ways = question, wanted, ways
        super().__init__(f"{question} You have not approved that. {ways}")

    def __reduce__(self) -> tuple[type[Unapproved], tuple[str, str, str]]:
        return type(self), (self.question, self.wanted, self.ways)


class InputError(SensegraphError):
    """A document, file or argument cannot be used."""


class EmptyCorpus(InputError):
    """There is nothing to index."""


class NotIndexed(SensegraphError):
    """The corpus has no index yet, or not the part that a method needs."""


class UnsupportedTask(SensegraphError):
    """A method needs tasks that the engine does not have; raised before any work."""

    def __init__(
        self, method: str, engine: str, missing: frozenset[str], advice: str = "choose another of either"
    ) -> None:
        self.method, self.engine, self.missing = method, engine, missing
        tasks = ", ".join(sorted(missing))
        super().__init__(f"{method} needs {tasks}, which the engine {engine!r} does not do; {advice}.")


class StepFailed(SensegraphError):
    """Some items of a step failed; all others are stored, so running again resumes."""

    def __init__(self, step: str, failed: int, total: int, reasons: dict[str, int]) -> None:
        self.step, self.failed, self.total, self.reasons = step, failed, total, reasons
        why = "; ".join(f"{n} × {reason}" for reason, n in sorted(reasons.items(), key=lambda x: (-x[1], x[0]))[:3])
        super().__init__(
            f"{step}: {failed} of {total} items failed ({why}). "
            f"The other {total - failed} are stored: run the same command again to do only what is missing."
        )

    def __reduce__(self) -> tuple[type[StepFailed], tuple[str, int, int, dict[str, int]]]:
        return type(self), (self.step, self.failed, self.total, self.reasons)


class ItemFailed(SensegraphError):
    """One item cannot be done; its step goes on with the others and reports it.

    `kind` is the kind of reply that it failed by (`models.endpoint.outcomes.Kind`), `words` are those of the endpoint.
    """

    def __init__(self, message: str, kind: str = "", words: str = "") -> None:
        self.kind, self.words = kind, words
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.kind, self.words)


class Unreadable(ItemFailed):
    """No reply about one item could be read; a run may go on with `instead`, and the next run asks again."""

    def __init__(self, message: str, instead: Any, kind: str = "", words: str = "") -> None:
        self.instead = instead
        super().__init__(message, kind, words)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.instead, self.kind, self.words)


class EndpointError(SensegraphError):
    """A model endpoint answered with an error for one call, after all that could be done about it.

    `kind` says what it came to (`models.endpoint.outcomes.Kind`), `words` are the endpoint's own.
    """

    def __init__(self, message: str, kind: str = "", words: str = "") -> None:
        self.kind, self.words = kind, words
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.kind, self.words)


class EndpointDown(EndpointError):
    """The endpoint cannot be reached, or refuses every call (address, key, model): the run stops at once."""

    def __init__(self, message: str, kind: str = "down", words: str = "") -> None:
        super().__init__(message, kind, words)


class ReplyRefused(EndpointError):
    """The model, or a filter of its endpoint, refused the reply to one call; what came of it is no reply."""


class PromptTooLong(EndpointError):
    """A prompt does not fit the model's window, or leaves no room for a reply; `share` of it would."""

    def __init__(self, message: str, share: float = 0.5, words: str = "") -> None:
        self.share = share
        super().__init__(message, "window", words)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.share, self.words)


class BudgetExceeded(SensegraphError):
    """The token or cost limit of this run is reached; everything that was paid for is stored."""


class Stopped(SensegraphError):
    """Somebody asked a question or a build to stop; what was computed until then is kept."""


class BatchPending(SensegraphError):
    """Calls to a model wait in a batch, or in a file, to be answered; running again goes on."""


class StoreError(SensegraphError):
    """The store cannot be read or written: corrupt, read-only, or written by a newer version."""


class ResultGone(StoreError):
    """A stored result was removed meanwhile: another process replaced the index, or collected."""


class Busy(StoreError):
    """Another process builds the same corpus."""
