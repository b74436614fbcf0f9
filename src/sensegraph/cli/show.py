"""What commands print for people; what they print for programs is in `corpus.views`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from sensegraph.cli.options import explain_missing_index, format_root_flag
from sensegraph.corpus.views import CALL_SECONDS, HASH, list_passage_documents
from sensegraph.display import format_span
from sensegraph.language.sentences import balance_emphasis, split_sentences
from sensegraph.language.text import collect_terms
from sensegraph.language.word_lists import STOP
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.corpus.presets import Preset
    from sensegraph.corpus.sources import Added
    from sensegraph.corpus.workspace import Built, Status
    from sensegraph.index.browse.pages import Place
    from sensegraph.index.estimate import Estimate
    from sensegraph.index.index import Index
    from sensegraph.index.restricted.timeline import Event
    from sensegraph.methods import Listing
    from sensegraph.personal.personal_settings import Tally
    from sensegraph.plugins import Plugin
    from sensegraph.types import Answer, Citation, Evidence

_QUOTE = 160  # characters of a quote or passage that people are shown
_SENTENCE = 320  # characters of a sentence that matches a question
_SENTENCES = 2  # those of one passage that are shown
_SMALL = 0.05  # how much a function word counts: not nothing, since it may be a word of content in another language
_NEARLY = 0.6  # of the best sentence's weight, for a second one
_SHOWN = 40  # of the value of a setting
_TITLE = 60  # characters of the name of an entity or a report
NOTICE = "Written by a machine, which may err: check what matters against the sources."


def format_quantity(n: int, thing: str) -> str:
    """`1 document`, `2 documents`, `3 entities`, `4 leaves`."""
    endings = {"ty": "ies", "ry": "ies", "ly": "ies", "af": "ves"}
    many = thing[:-1] + endings[thing[-2:]] if thing[-2:] in endings else thing + "s"
    return f"{n:,} {thing if n == 1 else many}"


def shorten_line(text: str, most: int = _QUOTE) -> str:
    """`text` on one line, cut at a word after about `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"


def pad_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Rows in columns as wide as a terminal shows them; those in `right` end at the right; the last is not padded."""

    def width(text: str) -> int:
        return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)

    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        pads = [" " * (w - width(c)) for c, w in zip(row, widths, strict=True)]
        cells = [pad + c if i in right else c + pad for i, (c, pad) in enumerate(zip(row, pads, strict=True))]
        yield "  ".join(cells).rstrip()


# ── answers and evidence ──


def format_answer(found: Answer, files: Mapping[str, str] = MappingProxyType({})) -> str:
    """The answer, its citations, its notes, what it cost, and that a machine wrote it; `files` hold some documents."""
    parts = [format_cited(found, files)]
    if found.notes:
        parts.append("\n".join(["Notes", *(f"- {note}" for note in found.notes)]))
    parts.append(f"method {found.method}, engine {found.engine}: {format_usage(found.usage)}\n{NOTICE}")
    return "\n\n".join(parts)


def format_cited(found: Answer, files: Mapping[str, str] = MappingProxyType({})) -> str:
    """The answer and its citations alone."""
    cited = "\n".join(["Sources", *(format_citation(c, files) for c in found.citations)])
    return f"{found.text}\n\n{cited}" if found.citations else found.text


def format_citation(c: Citation, files: Mapping[str, str]) -> str:
    """A citation: its mark, where it leads, and what stands there."""
    return f"[{c.marker}] {format_place(c, files)} “{balance_emphasis(shorten_line(c.quote))}”"


def format_place(place: Citation | Event | Place, files: Mapping[str, str]) -> str:
    """A span of a document with its page, and the file that the document is a record of, where there are such.

    In place of a document whose name is a hash stands its title.
    """
    if HASH.fullmatch(place.document) and place.document in files:
        return format_span(files[place.document], place.start, place.end, place.page, place.figure)
    span = format_span(place.document, place.start, place.end, place.page, place.figure)
    return span + _name_record_file(place.document, files)


def _name_record_file(document: str, files: Mapping[str, str]) -> str:
    return f" in {files[document]}" if document in files else ""


def format_usage(usage: Usage) -> str:
    """What something cost, on one line."""
    parts = []
    if usage.calls or usage.embedding_calls:
        parts.append(format_quantity(usage.calls + usage.embedding_calls, "call"))
        parts.append(f"{usage.prompt_tokens + usage.completion_tokens + usage.embedding_tokens:,} tokens")
    else:
        parts.append("no calls to a model")
    if usage.cost_usd:
        parts.append(f"${usage.cost_usd:.4f}")
    if usage.retries:
        parts.append(format_quantity(usage.retries, "retry"))
    if usage.rejected:
        parts.append(f"{format_quantity(usage.rejected, 'reply')} asked for again")
    if usage.seconds:
        parts.append(f"{usage.seconds:.1f} s")
    return ", ".join(parts)


def format_evidence(
    found: Evidence, index: Index, question: str, files: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Passages with their rank, kind, score, title and documents, and what they say that bears on the question.

    A passage of which the time asked about leaves nothing is counted and not shown.
    """
    from sensegraph.index.browse.pages import place_span  # not when help is shown

    passages = [p for p in found.passages if p.text.strip()]
    places = list_passage_documents(passages, index)
    named = [[name + _name_record_file(name, files) for name in names] for names in places]
    # of text of a chunk the sentences that match best, each with its span in the document; of others the beginning;
    # texts are the passages' own: what a filter took out of them stands in the chunk still
    alone = [p.sources[0] if p.kind == "chunk" and len(p.sources) == 1 else None for p in passages]
    exact = [s if s and len(p.text) == s.end - s.start else None for p, s in zip(passages, alone, strict=True)]
    chunks = index.chunks(sorted({s.chunk for s in exact if s}))
    texts = [p.text if s and s.chunk in chunks else "" for p, s in zip(passages, exact, strict=True)]
    best = find_best_sentences(question, texts)
    lines = []
    for rank, (p, s, where, spans) in enumerate(zip(passages, exact, named, best, strict=True), 1):
        # the name of what is no text of a document: an entity, the ends of a relation, a report
        title = f"{shorten_line(p.title, _TITLE)}  " if p.title and p.kind != "chunk" else ""
        lines.append(f"{rank}. {p.kind} {p.score:.3f}  {title}{_name_some_documents(where)}")
        if s and spans:
            chunk = chunks[s.chunk]
            first = chunk.start + s.start
            for a, b in spans:
                place = place_span(index, chunk.document, first + a, first + b)
                lines.append(f"   {format_place(place, {})} “{shorten_line(p.text[a:b], _SENTENCE)}”")
        else:
            lines.append(f"   {shorten_line(p.text)}")
    if empty := len(found.passages) - len(passages):
        lines.append(f"- not shown: {format_quantity(empty, 'passage')} without anything that held then")
    lines += [f"- {note}" for note in found.notes]
    return "\n".join(lines) or "Nothing was found."


def find_best_sentences(question: str, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """For each text the spans of its one or two best sentences, in order; the first one where none shares a word.

    A word weighs more the fewer sentences of all `texts` hold it; function words weigh little.
    """
    asked = collect_terms(question)
    spans = [split_sentences(text) for text in texts]
    shared = [[collect_terms(text[a:b]) & asked for a, b in found] for text, found in zip(texts, spans, strict=True)]
    known = Counter(word for rows in shared for words in rows for word in words)
    every = sum(map(len, spans))
    small = frozenset[str]().union(*STOP.values())
    weight = {w: log(1 + every / known[w]) * (_SMALL if w in small else 1.0) for w in sorted(known)}
    best = []
    for found, rows in zip(spans, shared, strict=True):
        scores = [sum(weight[word] for word in sorted(words)) for words in rows]
        ranked = sorted(range(len(found)), key=scores.__getitem__, reverse=True)[:_SENTENCES]  # of equal ones the first
        kept = [i for i in ranked if scores[i] > 0 and scores[i] >= _NEARLY * scores[ranked[0]]]
        best.append([found[i] for i in sorted(kept or ranked[:1])])
    return best


def _name_some_documents(documents: Sequence[str]) -> str:
    return ", ".join(documents[:3]) + (f" and {len(documents) - 3} more" if len(documents) > 3 else "")


# ── builds ──


def format_build(found: Built, added: Added | None = None) -> str:
    """The counts of the index, what was computed for it, what it cost, and notes."""
    from sensegraph.index.hierarchy.communities import count_fates

    lines = [", ".join(format_quantity(n, _SINGULAR[k]) for k, n in found.counts.items())]
    if added is not None:
        lines[0] += f" ({len(added.new)} new, {len(added.changed)} changed, {len(added.skipped)} skipped)"
        lines += [format_tally(added.personal)] * bool(added.personal)
    # what became of the communities of the build before
    fates = ", ".join(f"{n:,} {kind}" for kind, n in count_fates(found.fates).items())
    lines.append(
        f"communities by depth: {_format_depths(found.clusters)}"
        + (f" (since the last build {fates})" if fates else "")
    )
    # what was done, in words; the small steps in between are left to `--json`
    did = [
        f"{done} {format_quantity(n, thing)}"
        for step, (_, done, thing) in _WORK.items()
        if (n := found.computed.get(step))
    ]
    idle = "this run put known parts together" if any(found.computed.values()) else "nothing to do: all of it was there"
    lines.append(f"this run {', '.join(did)}" if did else idle)
    lines.append(format_usage(found.usage))
    return "\n".join([*lines, *(f"- {note}" for note in found.notes)])


def format_tally(found: Tally) -> str:
    """What was found that is personal, and whether it was masked."""
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in found.counts.items())
    done = "masked" if found.masked else "found and not masked"
    documents = format_quantity(found.documents, "document")
    return f"personal data: {done} {sum(found.counts.values()):,} in {documents} ({kinds})"


# What a reader calls the steps that take time: to do, done, and of what.
_WORK: Mapping[str, tuple[str, str, str]] = {
    "figures.describe": ("describe", "described", "figure"),
    "extraction.extract": ("read", "read", "chunk"),
    "extraction.observe": ("survey", "surveyed", "text"),
    "extraction.read": ("read", "read", "text"),
    "vectors.embed": ("embed", "embedded", "text"),
    "graph.summarise": ("write", "wrote", "summary"),
    "reports.report": ("write", "wrote", "report"),
    "aggregates.aggregate": ("write", "wrote", "aggregate"),
    "aggregates.relate": ("relate", "related", "pair"),
    "layering.abstract": ("sum up", "summed up", "group"),
    "growing.condense": ("shorten", "shortened", "group"),
}


# What is counted, by its name in the counts of an index.
_COUNTED = "document chunk entity relation claim aggregate aggregate_relation summary_entity leaf summary".split()
_SINGULAR = {format_quantity(2, thing)[2:]: thing.replace("_", " ") for thing in _COUNTED}


def _format_depths(clusters: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in clusters) or "none"


# ── status and methods ──


def format_status(found: Status, root: Path) -> str:
    """The state of a corpus, one thing a line."""
    rows = [("folder", str(root.resolve())), ("documents", f"{found.documents:,} ({found.indexed:,} indexed)")]
    rows += [(name.replace("_", " "), f"{n:,}") for name, n in found.counts.items() if name != "documents"]
    if found.engine:
        rows += [("communities", f"{_format_depths(found.clusters)} (by depth, from the root)")]
        rows += [("engine", found.engine), ("embedder", found.embedder)]
    if not found.documents:
        rows += [("next", f"no documents yet; next: sensegraph index PATH{format_root_flag(root)}")]
    elif not found.engine:
        rows += [("next", explain_missing_index(found.documents, bool(found.ledger), root))]
    elif found.pending:
        waiting = format_quantity(len(found.pending), "document")
        rows += [("waiting", f"{waiting} for the next build: {_name_some_documents(found.pending)}")]
    for c in found.left_out:
        at = f"{c.document} {c.start}–{c.end}" if c.document else ""
        done = "cut off" if c.partial else "not read" if c.what == "chunk" else "not written"
        named = at if c.what == "chunk" else f"{c.what} of {shorten_line(c.name)}{f' ({at})' if at else ''}"
        rows += [(done, f"{named}: {shorten_line(c.why)}")]
    if found.left_out:
        rows += [("", f"sensegraph index --retry{format_root_flag(root)} asks again")]
    rows += [("on disk", f"{found.size_bytes / 1e6:,.1f} MB")]
    for step, usage in found.ledger.items():
        if usage != Usage():
            do, _, thing = _WORK.get(step, ("", "", ""))  # `to read chunks`; others by the last part of their names
            name = f"to {do} {format_quantity(2, thing)[2:]}" if do else step.rpartition(".")[2].replace("_", " ")
            rows += [("spent", f"{name}: {format_usage(usage)}")]
    if len(found.ledger) > 1:
        rows += [("in all", format_usage(sum(found.ledger.values(), Usage())))]
    wide = max(11, *(len(name) for name, _ in rows))
    return "\n".join(f"{name:<{wide}} {value}" for name, value in rows)


def format_methods(table: Mapping[str, Listing], plugins: Sequence[Plugin]) -> str:
    """The table of methods, those of plug-ins last."""
    own = (f"{n}\n  {m.paper}\n  needs: {m.tasks}\n  good for: {m.good_for}" for n, m in table.items())
    return "\n\n".join([*own, *(f"{p.name}\n  from: {p.origin} ({p.place})" for p in plugins)])


def format_plugins(plugins: Sequence[Plugin]) -> str:
    """The plug-ins that are installed, one a line: kind, name, where it comes from."""
    rows = [(p.kind, p.name, p.origin, p.place) for p in plugins]
    return "\n".join(pad_columns(rows)) or "No plug-in is installed."


def format_preset(found: Preset, write: Callable[[Any], str]) -> str:
    """The settings of a paper beside ours, and what of it cannot be set; `write` puts a value into words."""
    table = [("", "setting", "the paper's", "ours", "where the paper's is said")]
    for c in found.choices:
        its, ours = (shorten_line(write(value), _SHOWN) for value in (c.value, c.ours))
        table += [(c.what, c.setting, its, "the same" if c.matches else ours, c.source)] if c.setting else []
    left = [f"- {c.what}: {c.value} ({c.source}). Here: {c.why}." for c in found.choices if not c.setting]
    return "\n".join([f"{found.paper}: {found.source}", "", *pad_columns(table), "", "not set:", *left])


# ── estimates ──


def format_estimate(found: Estimate, seconds: float, batch_price: float) -> str:
    """What a build would compute; in batches it has that share of the price."""
    lines = [f"{format_quantity(found.documents, 'document')}, {format_quantity(found.chunks, 'chunk')}"]
    for s in (s for s in found.steps if s.items):
        calls = format_quantity(s.calls, "call")
        paid = f": {calls}, {s.prompt_tokens:,} tokens in, {s.completion_tokens:,} out" if s.calls else ""
        do, _, thing = _WORK.get(s.step, (s.step, "", "item"))
        lines.append(f"{do} {format_quantity(s.items, thing)}{paid}")
    asked = []
    for q in found.questions:
        usual, about = " (the usual method)" if q.usual else "", "at least" if q.at_least else "about"
        calls, money = format_quantity(q.calls, "call"), f", ${q.cost_usd:.4f}" if q.cost_usd else ""
        taken = f"{q.prompt_tokens:,} tokens in, {q.completion_tokens:,} out{money}"
        asked.append(f"then a question by {q.method}{usual}: {about} {calls}, {taken}")
    if not found.calls and not found.embedding_tokens:
        return "\n".join([*lines, "no calls to a model, no cost; the time is this machine's own", *asked])
    embedded = f" ({found.embedding_tokens:,} to embed)" if found.embedding_tokens else ""
    lines.append(f"in all about {format_quantity(found.calls, 'call')}, {found.tokens:,} tokens{embedded}")
    lines.append(f"a model may find and write more: a limit of --max-tokens {found.most_tokens} should be enough")
    unknown = "cost not known: no prices are set (endpoint.price_…)"
    lines.append(f"about ${found.cost_usd:.2f}" if found.cost_usd else unknown)
    if found.cost_usd:
        lines[-1] += f", or ${found.cost_usd * batch_price:.2f} with --batch where the endpoint offers batches"
    return "\n".join([*lines, f"about {seconds / 60:.1f} minutes, at {CALL_SECONDS:.0f} s a call", *asked])
