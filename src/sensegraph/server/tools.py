"""The tools that read a corpus: what each takes, and what it gives, as the command line prints it.

A result has at most `max_tokens` tokens. Its member `cut` says what was cut, `next` is the cursor of what follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from sensegraph.corpus import views
from sensegraph.errors import InputError
from sensegraph.language.text import count_tokens
from sensegraph.questions import Scope
from sensegraph.server.paging import NEXT, add_next, cut_page, read_cursor
from sensegraph.server.token_budget import JSON, LEAST, copy_plain, fit_result, fit_text

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus

Limit = Annotated[int, Meta(ge=1, le=200)]
Tokens = Annotated[int, Meta(ge=LEAST, le=20_000)]
Position = Annotated[int, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
_ABOUT = {"mentions": "descriptions", "relations": "neighbours", "claims": "claims"}  # the list of each topic
_LISTS: JSON = {f"{kind}s": {"type": "array", "items": {"type": kind}} for kind in ("object", "string")}
_KINDS: JSON = {kind: {"type": kind} for kind in ("object", "string", "integer", "array")} | _LISTS
PASSED = {"cut": "strings", "next": "string"}  # members that results have only where something was left out
_OWN_LIMIT = re.compile(r"\b(limit|skip)\b", re.IGNORECASE)


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool is given; a name that it has not, or a value of another type, is an error."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it takes, how it answers, and the members of its result, each with its kind.

    `reads` says that it changes nothing; `destroys` that it may take something away.
    """

    name: str
    description: str
    takes: type[Arguments]
    answer: Callable[[Corpus, Any], JSON]
    gives: Mapping[str, str]
    needs: tuple[str, ...] | None = None  # the members that every result has: those of `gives`, where nothing is said
    reads: bool = True
    destroys: bool = False

    def run(self, corpus: Corpus, given: Mapping[str, Any]) -> JSON:
        """The result as plain objects. Raises InputError for arguments that the tool cannot take."""
        try:
            arguments = msgspec.convert(dict(given), self.takes)
        except msgspec.ValidationError as e:
            raise InputError(f"{self.name}: {e}.") from e
        return self.answer(corpus, arguments)

    @property
    def input_schema(self) -> JSON:
        """The JSON schema of the arguments, without lower bounds and empty defaults, which need no words."""
        (_,), kinds = msgspec.json.schema_components([self.takes])
        schema = dict(kinds[self.takes.__name__])
        properties = {
            name: {n: x for n, x in kind.items() if n not in ("minimum", "minLength") and x not in ("", [])}
            for name, kind in schema["properties"].items()
        }
        required = {"required": schema["required"]} if schema.get("required") else {}
        return {"type": "object", "properties": properties, **required, "additionalProperties": False}

    @property
    def output_schema(self) -> JSON:
        """The JSON schema of the result."""
        return {
            "type": "object",
            "properties": {name: _KINDS[kind] for name, kind in {**self.gives, **PASSED}.items()},
            "required": list(self.gives if self.needs is None else self.needs),
        }


def write_address(document: str) -> str:
    """The address of a document as a resource."""
    return f"sensegraph://documents/{quote(document, safe='')}"


# ── what holds of the whole ──


class OverviewArguments(Arguments, frozen=True):
    """The reports of one depth."""

    depth: Position = 0
    limit: Limit = 20
    cursor: str = ""
    max_tokens: Tokens = 2000


def list_overview(corpus: Corpus, given: OverviewArguments) -> JSON:
    """The reports of a depth, best rating first."""
    rows, depths = corpus.reports(given.depth), corpus.index().depth
    found = copy_plain(views.view_reports(rows, min(given.depth, max(0, depths - 1)), depths))
    return cut_page(found, ["reports"], given.cursor, given.limit, given.max_tokens)


class ReportArguments(Arguments, frozen=True):
    """One report."""

    id: Text
    limit: Limit = 20
    cursor: str = ""
    max_tokens: Tokens = 2000


_BELOW = ("children", "entities", "relations", "claims", "chunks")  # the lists of a report


def read_report(corpus: Corpus, given: ReportArguments) -> JSON:
    """A report with its sources and all that is below it; later pages have the lists alone."""
    found = copy_plain(views.view_report(corpus.report(given.id)))
    if read_cursor(given.cursor):
        found |= {"findings": [], "citations": [], "summary": ""}
    after = ("citations", "findings")
    return cut_page(found, _BELOW, given.cursor, given.limit, given.max_tokens, after=after)


# ── questions ──


class AskArguments(Arguments, frozen=True):
    """A question."""

    question: Text
    method: str = "auto"
    as_of: Annotated[str, Meta(description="answer from what held at this ISO date")] = ""
    documents: Annotated[list[str], Meta(description="read only these ids; * and ? are wildcards")] = []
    max_tokens: Tokens = 2000


def answer_question(corpus: Corpus, given: AskArguments) -> JSON:
    """An answer with citations; the evidence is cut first, the answer last."""
    from sensegraph.language.dates.moments import is_readable

    if given.as_of and not is_readable(given.as_of):
        raise InputError(f"as_of {given.as_of!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
    scope = Scope(tuple(given.documents), as_of=given.as_of)
    found = copy_plain(
        views.view_answer(corpus.query(given.question, method=given.method, scope=scope), corpus.index())
    )
    return fit_result(found, given.max_tokens, [("evidence",), ("citations",), ("notes",)])


class SearchArguments(Arguments, frozen=True):
    """What to search for."""

    query: Text
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: str = ""
    documents: list[str] = []
    since: Annotated[str, Meta(description="ISO date of documents")] = ""
    until: str = ""
    max_tokens: Tokens = 2000


def search_passages(corpus: Corpus, given: SearchArguments) -> JSON:
    """Evidence, best first, and in `results` the documents behind it in the form that connectors read."""
    first = read_cursor(given.cursor)
    scope = Scope(tuple(given.documents), since=given.since, until=given.until)
    found = corpus.search(given.query, top=first + given.limit, scope=scope)
    more = found.omitted > 0 and len(found.passages) == first + given.limit
    shown = found.passages[first:]
    if first:
        documents = views.list_passage_documents(shown, corpus.index())
        names = tuple(dict.fromkeys(name for row in documents for name in row))
        found = replace(found, documents=names, tokens=sum(count_tokens(p.text) for p in shown))
    plain = copy_plain(views.view_evidence(replace(found, passages=shown), corpus.index()))
    titles = {name: corpus.index().document(name).title or name for name in plain["documents"]}
    plain["results"] = [{"id": name, "title": t, "url": write_address(name)} for name, t in titles.items()]
    fitted = fit_result(plain, given.max_tokens - NEXT, [("evidence", "results", "documents")])
    return add_next(fitted, first, {"evidence": first + len(shown) + more})


# ── documents ──


class ReadArguments(Arguments, frozen=True):
    """A part of a document."""

    document: Text
    start: Position = 0
    length: Annotated[int, Meta(ge=1, le=100_000, description="characters")] = 4000
    max_tokens: Tokens = 2000


def read_document(corpus: Corpus, given: ReadArguments) -> JSON:
    """The text of a document from a character on, with its page, and the place where to go on."""
    found = corpus.index().document(given.document)
    text = found.text[given.start : given.start + given.length]
    page: JSON = {
        "document": found.id,
        "title": found.title,
        "start": given.start,
        "length": len(found.text),
        "text": text,
    }
    page = fit_text(page, "text", given.max_tokens - NEXT)
    end, place = given.start + len(page["text"]), (found.id, given.start)
    number, figure = corpus.index().page(*place), corpus.index().figure(*place)
    page |= {"end": end} | ({"page": number} if number else {}) | ({"figure": asdict(figure)} if figure else {})
    return page | ({"next": str(end)} if end < len(found.text) else {})


class FetchArguments(Arguments, frozen=True):
    """A document as connectors fetch it."""

    id: Text
    max_tokens: Tokens = 2000


def fetch_document(corpus: Corpus, given: FetchArguments) -> JSON:
    """A document from its beginning, in the form that connectors read."""
    found = corpus.index().document(given.id)
    metadata = {name: str(value) for name, value in found.metadata} | ({"time": found.time} if found.time else {})
    whole = {"id": found.id, "title": found.title or found.id, "text": found.text, "url": write_address(found.id)}
    page = fit_text(whole | {"metadata": metadata}, "text", given.max_tokens)
    end = len(page["text"])
    cut = {"cut": [f"text: {end} of {len(found.text)} characters; read goes on from there"]}
    return page | (cut if end < len(found.text) else {})


# ── the graph ──


class EntityArguments(Arguments, frozen=True):
    """An entity."""

    name: Text
    type: str = ""
    about: Literal["all", "summary", "mentions", "relations", "claims", "timeline"] = "all"
    limit: Limit = 20
    cursor: str = ""
    max_tokens: Tokens = 2000


def describe_entity(corpus: Corpus, given: EntityArguments) -> JSON:
    """All that is known of the entities of a name; or of the one entity of a name a list, page by page."""
    if given.about == "timeline":
        events = copy_plain(views.view_timeline(given.name, corpus.timeline(given.name, type=given.type)))
        return cut_page(events, ["events"], given.cursor, given.limit, given.max_tokens)
    if given.about in ("all", "summary"):
        names = [e.id for e in corpus.entities(given.name, type=given.type)]
        found = copy_plain(views.view_entities([corpus.entity(name) for name in names]))
        if given.about == "summary":
            kept = ("entity", "frequency", "communities")
            found["entities"] = [{name: page[name] for name in kept} for page in found["entities"]]
        return cut_page(found, ["entities"], given.cursor, given.limit, given.max_tokens)
    part, page = _ABOUT[given.about], copy_plain(views.view_entities([corpus.entity(given.name, type=given.type)]))
    whole = page["entities"][0]
    listed = {"entity": whole["entity"], part: whole[part]}
    return cut_page(listed, [part], given.cursor, given.limit, given.max_tokens, beside="entity")


class MatchArguments(Arguments, frozen=True):
    """A pattern in the graph."""

    pattern: Annotated[str, Meta(min_length=1, description="openCypher, as (a:Person)-[r]-(b {name: 'Ada'})")]
    where: str = ""
    returns: Annotated[str, Meta(description="as a.name, count(*) AS n")] = ""
    order: str = ""
    cite: bool = False
    limit: Limit = 20
    cursor: str = ""
    max_tokens: Tokens = 2000


def match_pattern(corpus: Corpus, given: MatchArguments) -> JSON:
    """The rows that match; a whole query with a LIMIT or SKIP of its own is paged after it was answered."""
    first, own = read_cursor(given.cursor), _OWN_LIMIT.search(given.pattern)
    asked = {"where": given.where, "returned": given.returns, "order": given.order, "cite": given.cite}
    if own:
        rows = copy_plain(views.view_matches(corpus.match(given.pattern, **asked)))  # type: ignore[arg-type]
        lists = ["rows", *(["marks"] if "marks" in rows else [])]
        return cut_page(rows, lists, given.cursor, given.limit, given.max_tokens)
    skip = first or None
    found = corpus.match(given.pattern, skip=skip, limit=given.limit, **asked)  # type: ignore[arg-type]
    page = fit_result(
        copy_plain(views.view_matches(found)), given.max_tokens - NEXT, [("citations",), ("rows", "marks")]
    )
    return add_next(page, first, {"rows": found.found})


_READ = {"document": "string", "start": "integer", "end": "integer", "length": "integer", "text": "string"}
_REPORT = {"report": "object", "summary": "string", "findings": "objects", "citations": "objects"}

READING = (
    Tool(
        "overview",
        "What the whole corpus is about: titles and ratings of its community reports. depth 0 is the coarsest.",
        OverviewArguments,
        list_overview,
        {"depth": "integer", "depths": "integer", "reports": "objects"},
    ),
    Tool(
        "ask",
        "Answer a question from the documents. Numbers in brackets are markers of citations, each an exact span.",
        AskArguments,
        answer_question,
        {"answer": "string", "method": "string", "citations": "objects", "evidence": "objects", "notes": "strings"},
    ),
    Tool(
        "search",
        "Find passages, entities and relations that bear on a query, without writing an answer.",
        SearchArguments,
        search_passages,
        {"results": "objects", "documents": "strings", "evidence": "objects"},
    ),
    Tool(
        "read",
        "Read a document from a character on; next is where to go on.",
        ReadArguments,
        read_document,
        {**_READ, "page": "integer", "figure": "object"},
        tuple(_READ),
    ),
    Tool(
        "entity",
        "What is known of a person, place or thing: mentions, relations, claims, dated statements.",
        EntityArguments,
        describe_entity,
        dict.fromkeys(("entities", "events", *_ABOUT.values()), "objects"),
        (),
    ),
    Tool(
        "report",
        "A community report by id or title: summary, findings with sources, entities and reports below it.",
        ReportArguments,
        read_report,
        {**_REPORT, **dict.fromkeys(_BELOW, "array")},
    ),
    Tool(
        "match",
        "Match a pattern in the graph of entities and relations.",
        MatchArguments,
        match_pattern,
        {"columns": "strings", "rows": "objects", "found": "integer", "notes": "strings"},
    ),
    Tool(
        "fetch",
        "Fetch a document by the id of a search result.",
        FetchArguments,
        fetch_document,
        {"id": "string", "title": "string", "text": "string", "url": "string", "metadata": "object"},
    ),
)
"""The tools that read."""
