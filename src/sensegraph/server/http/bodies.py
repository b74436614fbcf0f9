"""What requests may hold: one struct for each body, of which an unknown name or another type is an error."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from sensegraph.errors import InputError
from sensegraph.questions import Condition, Scope, Turn

B = TypeVar("B")
Text = Annotated[str, Meta(min_length=1, max_length=20_000)]
Name = Annotated[str, Meta(max_length=1000)]
Moment = Annotated[str, Meta(max_length=40)]
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object that a request sends."""


class Filter(Body, frozen=True):
    """A test of one field of a document's metadata."""

    field: Name
    value: str | int | float | bool
    operator: Literal["=", "!=", "<", "<=", ">", ">="] = "="


class ScopeBody(Body, frozen=True):
    """Which documents may be read, and when facts must hold."""

    documents: Annotated[list[Name], Meta(max_length=1000)] = []
    where: Annotated[list[Filter], Meta(max_length=100)] = []
    since: Moment = ""
    until: Moment = ""
    as_of: Moment = ""
    during: Annotated[str, Meta(max_length=80, description="as in 2015/2018, 2015/ or /2018")] = ""
    known_at: Moment = ""
    unknown: Literal["include", "exclude"] = "include"

    def scope(self) -> Scope:
        """The filter. Raises InputError for what is no date, and for two times at once."""
        if self == ScopeBody():
            return Scope()
        from sensegraph.index.restricted.moment import ends_before_it_begins
        from sensegraph.language.dates.moments import is_readable

        for name in ("as_of", "known_at"):
            if (text := getattr(self, name)) and not is_readable(text):
                raise InputError(f"{name} {text!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
        for name in ("since", "until"):
            if (text := getattr(self, name)) and not _is_day(text):
                raise InputError(f"{name} {text!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
        first, slash, last = self.during.partition("/")
        readable = all(is_readable(x) for x in (first, last) if x)
        if self.during and not (slash and (first or last) and readable):
            raise InputError(f"during {self.during!r} is no stretch such as 2015/2018, 2015/ or /2018.")
        if ends_before_it_begins(first, last):
            raise InputError(f"during {self.during!r} ends before it begins: give the earlier moment first.")
        if self.as_of and self.during:
            raise InputError("as_of asks for one moment and during for a stretch: choose one.")
        conditions = tuple(Condition(f.field, f.operator, f.value) for f in self.where)
        between = (first, last)
        return Scope(
            tuple(self.documents), conditions, self.since, self.until, self.as_of, between, self.known_at, self.unknown
        )


def _is_day(text: str) -> bool:
    if not _DATE.fullmatch(text[:10]) or (len(text) > 10 and text[10] not in "T "):
        return False
    year, month, day = (*map(int, text[:10].split("-")), 1, 1)[:3]
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


class TurnBody(Body, frozen=True):
    """One exchange of the conversation before."""

    question: Annotated[str, Meta(max_length=20_000)]
    answer: Annotated[str, Meta(max_length=100_000)] = ""


class QueryBody(Body, frozen=True):
    """A question."""

    question: Text
    method: Name = "auto"
    depth: Annotated[int, Meta(ge=0)] | None = None
    budget: Annotated[int, Meta(ge=0, description="tokens of reports at most")] | None = None
    history: Annotated[list[TurnBody], Meta(max_length=200)] = []
    scope: ScopeBody = ScopeBody()
    check: bool = False
    stream: bool = False

    def turns(self) -> tuple[Turn, ...]:
        """The conversation before."""
        return tuple(Turn(t.question, t.answer) for t in self.history)


class SearchBody(Body, frozen=True):
    """What to search for."""

    question: Text
    method: Name = "auto"
    top: Annotated[int, Meta(ge=1, le=1000)] = 10
    scope: ScopeBody = ScopeBody()


class MatchBody(Body, frozen=True):
    """A pattern in the graph."""

    pattern: Text
    where: Annotated[str, Meta(max_length=20_000)] = ""
    returns: Annotated[str, Meta(max_length=20_000)] = ""
    order: Name = ""
    skip: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    parameters: dict[str, Any] = {}
    cite: bool = False
    scope: ScopeBody = ScopeBody()


class FigureBody(Body, frozen=True):
    """A figure that a model told of, as answers give it."""

    number: Annotated[int, Meta(ge=0)]
    described_by: Annotated[str, Meta(max_length=1000)]


class SpanBody(Body, frozen=True):
    """A span of a document, as answers give it; its page and its figure say nothing more."""

    document: Name
    start: Annotated[int, Meta(ge=0)]
    end: Annotated[int, Meta(ge=0)]
    page: int | None = None
    figure: FigureBody | None = None


class PlacesBody(Body, frozen=True):
    """Entities, and spans of documents whose entities are meant."""

    entities: Annotated[list[Name], Meta(max_length=10_000)] = []
    places: Annotated[list[SpanBody], Meta(max_length=2000)] = []


class SessionBody(Body, frozen=True):
    """A token to sign in with."""

    token: Annotated[str, Meta(min_length=1, max_length=1000)]


class JobBody(Body, frozen=True):
    """Work to be done; `names`, or ids, are those of entities that are one thing (`merge`), or are not (`forbid`)."""

    kind: Literal["sync", "build", "collect", "resolve", "merge", "forbid"]
    names: Annotated[list[Name], Meta(max_length=50)] = []


class NoBody(Body, frozen=True):
    """An empty object."""


class ChatMessage(Struct, frozen=True):
    """A message of a conversation; `content` may be in parts."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    def text(self) -> str:
        """What it says."""
        if isinstance(self.content, list):
            return "\n".join(str(part.get("text", "")) for part in self.content if part.get("type") == "text")
        return self.content or ""


class ChatBody(Struct, frozen=True):
    """A request of the OpenAI API; what is not here is passed over, as settings of a model that is not asked."""

    model: Name
    messages: Annotated[list[ChatMessage], Meta(min_length=1, max_length=1000)]
    stream: bool = False
    stream_options: dict[str, Any] | UnsetType | None = UNSET


def decode_body(raw: bytes, kind: type[B]) -> B:
    """The body of a request. Raises InputError for what is no such object, saying where."""
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except msgspec.MsgspecError as e:
        raise InputError(f"The body of the request is not as it must be: {e}.") from e
    except UnicodeDecodeError as e:
        raise InputError("The body of the request is no UTF-8.") from e
