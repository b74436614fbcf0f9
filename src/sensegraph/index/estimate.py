"""What a build would compute and cost, before it does: the same steps over foreseen extractions (P01, N98).

What the store holds is taken from there. A chunk that has not been read is foreseen from its own text: names are runs
of capitalised words, relations join names that follow one another in a sentence. Merging, clustering and packing are
the real ones, so that the number and the size of the reports' contexts come from the corpus itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import ceil
from types import MappingProxyType

from sensegraph.extractions import Shortened
from sensegraph.index.build import earlier_build, iterate_chunks, made_part
from sensegraph.index.chunks import cut_documents
from sensegraph.index.extraction import Sections, extract_records, observe_documents
from sensegraph.index.graph.describing import crowded_elements, describe_elements, split_context, summarise_descriptions
from sensegraph.index.graph.duplicates import aliases_of
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.index.hierarchy.communities import Earlier, group_entities
from sensegraph.index.hierarchy.gathering import gather_components, order_small
from sensegraph.index.hierarchy.reports import Writer, report_on_contexts
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import REF, read_manifest
from sensegraph.index.parts import PartEstimate
from sensegraph.index.question_costs import QuestionEstimate, Readable, foresee_questions
from sensegraph.index.settings import IndexSettings
from sensegraph.index.vectors import chunk_texts, entity_texts, report_texts, unembedded
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens, fold
from sensegraph.protocols import Method, PricedEngine, Task
from sensegraph.resolution.aliases import Aliases, replay_operations
from sensegraph.resolution.log import read_operations
from sensegraph.runtime.results import Results
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Chunk,
    Cluster,
    Context,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    Graph,
    Hierarchy,
    Passage,
    Report,
    Source,
    Statement,
    Usage,
)  # fmt: skip

_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w’'-]*(?:\s+(?:of\s+)?[^\W\d_a-zß-öø-ÿ][\w’'-]*)*")
_OPENERS = frozenset(
    "a an the in on at it he she we they i but and this that there when if as for from to so what you my your his her "
    "our their is was are no yes not or by with of then now how why where who which well oh".split()
)
_DESCRIPTION = 40  # words of a foreseen description at most
_PER_ENTITY, _PER_RELATION = 22, 24  # tokens of a record besides its texts: field names, type, quotes
_REPORT = 450  # tokens of a report that nobody has written yet
_MARGIN = 1.5  # what cannot be foreseen: how much a model finds and writes, and what is asked for again
_ONE_CALL = 12_000  # a limit holds the most that a call may take before it starts, so the last one needs that room


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """Calls and tokens that one step would need; `items` are what it would compute, with or without a call."""

    step: str
    items: int
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Shortened):
    """The sum over the steps of a build; `cost_usd` is 0 where no price is set.

    `most_tokens` leaves room for what cannot be foreseen: a wordier model, and replies that are asked for again.
    `questions` says what a question will take then, by each of several methods; `readable` is what questions will read,
    None for an engine without calls.
    """

    documents: int
    chunks: int
    steps: tuple[StepEstimate, ...]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    embedding_tokens: int
    cost_usd: float
    most_tokens: int = 0
    questions: tuple[QuestionEstimate, ...] = ()
    readable: Readable | None = None

    @property
    def tokens(self) -> int:
        """All tokens together."""
        return self.prompt_tokens + self.completion_tokens + self.embedding_tokens

    @property
    def usage(self) -> Usage:
        """What a model and an embedder would be paid for."""
        tokens = self.prompt_tokens, self.completion_tokens
        return Usage(self.calls, *tokens, embedding_tokens=self.embedding_tokens, cost_usd=self.cost_usd)

    def with_step(self, name: str, used: Usage) -> Estimate:
        """With a step before the build, a call an item; the same where it would use nothing."""
        if not used.calls:
            return self
        prompt, completion = used.prompt_tokens, used.completion_tokens
        return replace(
            self,
            steps=(StepEstimate(name, used.calls, used.calls, prompt, completion), *self.steps),
            calls=self.calls + used.calls,
            prompt_tokens=self.prompt_tokens + prompt,
            completion_tokens=self.completion_tokens + completion,
            cost_usd=self.cost_usd + used.cost_usd,
            most_tokens=round_limit(self.tokens + prompt + completion),
        )


def round_limit(tokens: int) -> int:
    """What a limit should allow for so many tokens foreseen, to two figures: half as much again, and one large call."""
    limit = tokens * _MARGIN + _ONE_CALL
    figure: int = 10 ** (len(str(int(limit))) - 2)
    return ceil(limit / figure) * figure


def estimate_build(
    keys: Sequence[str], rt: Runtime, settings: IndexSettings, methods: Sequence[Method] = ()
) -> Estimate:
    """What `build` would compute for the documents with these keys, and what a question by these methods costs then.

    Nothing is paid; only chunks are stored.
    """
    documents = Results(rt.store, keep_documents, keys)
    chunks = cut_documents(documents, rt, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    every = list(iterate_chunks(chunks))
    texts, steps, questions = chunk_texts(every), list[StepEstimate](), tuple[QuestionEstimate, ...]()
    readable: Readable | None = None
    if isinstance(rt.engine, PricedEngine):
        foresight = Foresight(rt, rt.engine, settings, every)
        steps = foresight.steps()
        tokens = sum(c.tokens for c in every), sum(map(len, foresight.texts)) // 4
        readable = Readable(*tokens, foresight.reports, len(every))
        questions = foresee_questions(methods, readable, rt.engine, foresight.paid)
        texts += foresight.texts if rt.embedder.waits else []
    elif "graph" in settings.parts:
        sections = Sections.of(chunks)
        steps = [
            StepEstimate(observe_documents.name, len(rt.missing(observe_documents, sections, names=sections.keys)))
        ]
    vectors = [count_tokens(texts[i]) for i in unembedded(texts, rt)]
    steps.append(StepEstimate("vectors.embed", len(vectors)))
    embedding = sum(vectors) if rt.embedder.waits else 0
    prompt, completion = sum(s.prompt_tokens for s in steps), sum(s.completion_tokens for s in steps)
    cost = rt.engine.price(prompt, completion) if isinstance(rt.engine, PricedEngine) else 0.0
    calls = sum(s.calls for s in steps)
    most = round_limit(prompt + completion + embedding) if calls or embedding else 0
    totals = calls, prompt, completion, embedding, cost, most
    return Estimate(len(keys), len(every), tuple(steps), *totals, questions, readable)


class Foresight:
    """The steps of a build over what is stored and, for the rest, foreseen.

    `graph` is the graph as far as it can be foreseen, empty where none is built; `reports` are those on it.
    """

    def __init__(self, rt: Runtime, engine: PricedEngine, settings: IndexSettings, chunks: list[Chunk]) -> None:
        self.rt, self.engine, self.settings, self.chunks = rt, engine, settings, chunks
        self.paid = rt.store.ledger()
        self.graph = Graph()
        self.texts: list[str] = []  # of everything but chunks, to be embedded
        self.reports: tuple[Cluster, ...] = ()  # on the communities of the graph itself

    def steps(self) -> list[StepEstimate]:
        """Extraction, summaries and reports, then what the parts take: first of those that are made from the graph."""
        spine = self._read_chunks() if "graph" in self.settings.parts else []
        found: list[PartEstimate] = []
        for part in sorted(self.settings.own_parts, key=lambda part: "graph" not in part.needs):
            found.append(part.estimate(self, self.settings.settings_of(part)))
            self.texts += found[-1].texts
        reported = [graph for one in found for graph in one.reported]
        if "reports" in self.settings.parts:
            reported = [(self.graph, earlier_build(self.rt, self.settings.clusters)), *reported]
        reports = [self._reports(reported)] if reported else []
        return [*spine, *reports, *(step for one in found for step in one.steps)]

    def earlier(self, part: str) -> str:
        """The key of a part in the index as it is now; empty where it has none."""
        return made_part(self.rt, part)

    def _read_chunks(self) -> list[StepEstimate]:
        """Extraction and summaries, and the graph that comes of them."""
        missing = self.rt.missing(extract_records, self.chunks)
        pairs = self._pairs()
        written = []  # tokens of the replies that hold these records
        for _, found in (pairs[i] for i in missing):
            texts = [text for e in found.entities for text in (e.name, e.description)]
            texts += [text for r in found.relations for text in (r.source, r.target, r.description)]
            fields = _PER_ENTITY * len(found.entities) + _PER_RELATION * len(found.relations)
            written.append(sum(map(count_tokens, texts)) + fields + 10)
        extraction = self.step(extract_records.name, "extract", [self.chunks[i] for i in missing], written)
        merged = merge_extractions(pairs, self.settings.graph, self._aliases())
        summaries, self.graph = self._summaries(merged, self.settings.graph)
        self.texts += entity_texts(self.graph)
        return [extraction, summaries]

    def _pairs(self) -> list[tuple[Chunk, Extraction]]:
        """Every chunk with what was read in it, else foreseen; a name read elsewhere keeps its type."""
        keys = self.rt.keys(extract_records, self.chunks)
        stored = {k: extract_records.decode(data) for k, data in self.rt.store.read(keys).items()}
        types = {fold(e.name): e.type for k in keys if k in stored for e in stored[k].entities}
        return [
            (c, stored[k] if k in stored else foresee_extraction(c, types))
            for c, k in zip(self.chunks, keys, strict=True)
        ]

    def _aliases(self) -> Aliases:
        """The names that the last build took for one thing, where these hold all of the log; else those of the log."""
        log = replay_operations(read_operations(self.rt.store)).aliases
        made = read_manifest(self.rt.store).graph if self.rt.store.ref(REF) else ""
        if not made or not self.settings.resolve.automatic:
            return log
        last = aliases_of(self.rt, made)
        grouped = all(any(set(names) <= set(more) for more in last.groups) for names in log.groups)
        told = ((log.moved, last.moved), (log.made, last.made), (log.shown, last.shown), (log.apart, last.apart))
        return last if grouped and all(set(asked) <= set(held) for asked, held in told) else log

    def _summaries(self, merged: Graph, settings: GraphSettings) -> tuple[StepEstimate, Graph]:
        """Summaries of crowded elements, part by part; those that nobody wrote stand in by their first words."""
        done: dict[str, str] = {}
        asked: list[Context] = []
        replies: list[int] = []
        todo = dict(crowded_elements(merged, settings))
        while todo:
            parts = {name: split_context(context, settings.summary_input) for name, context in todo.items()}
            texts = self._texts([part for found in parts.values() for part in found], asked, replies)
            gathered = {
                n: [
                    Passage("description", "", next(texts), sources=tuple(s for p in part.passages for s in p.sources))
                    for part in found
                ]
                for n, found in parts.items()
            }
            done |= {name: ps[0].text for name, ps in gathered.items() if len(ps) == 1}
            todo = {name: Context(tuple(ps), todo[name].title) for name, ps in gathered.items() if len(ps) > 1}
        return self.step(summarise_descriptions.name, "summarise", asked, replies), describe_elements(merged, done)

    def _texts(self, parts: Sequence[Context], asked: list[Context], replies: list[int]) -> Iterator[str]:
        """Stored summaries; else a stand-in, and the part is `asked` for and the tokens of its reply are foreseen."""
        keys = self.rt.keys(summarise_descriptions, parts)
        stored = self.rt.store.read(keys)
        for part, k in zip(parts, keys, strict=True):
            if k in stored:
                text = summarise_descriptions.decode(stored[k])
            else:
                text = " ".join(" ".join(p.text for p in part.passages).split()[:200])
                asked.append(part)
                replies.append(count_tokens(text))
            yield text

    def _reports(self, graphs: Sequence[tuple[Graph, Earlier | None]]) -> StepEstimate:
        """The reports on the communities of graphs, each with those of the build before."""
        asked: list[Context] = []
        for graph, before in graphs:
            found = group_entities(graph, before, self.settings.clusters)
            if graph is self.graph:
                most = self.settings.clusters.max_cluster_size
                found = gather_components(found, order_small(graph, most), most)
            groups = found.groups
            stand_in = partial(self._report, asked)
            writer = Writer(self.rt, graph, {c.id: c.document for c in self.chunks}, self.settings.reports, stand_in)
            written = Hierarchy(tuple(writer.write(list(groups))))
            self.texts += report_texts(written)
            self.reports = tuple(written.clusters) if graph is self.graph else self.reports
        once = list(dict.fromkeys(asked))
        return self.step(report_on_contexts.name, "report", once, [_REPORT] * len(once))

    def _report(self, asked: list[Context], contexts: Sequence[Context]) -> list[Report]:
        """Stored reports where there are some; a text of the usual length where a call would be needed."""
        keys = self.rt.keys(report_on_contexts, contexts)
        stored = self.rt.store.read(keys)
        asked += [c for c, k in zip(contexts, keys, strict=True) if k not in stored]
        reports = []
        for c, k in zip(contexts, keys, strict=True):
            text = " ".join(" ".join(p.text for p in c.passages).split()[: _REPORT * 2 // 3])
            stand_in = Report(c.title, (Statement(text, (), (Source("", 0, 0),)),))
            reports.append(report_on_contexts.decode(stored[k]) if k in stored else stand_in)
        return reports

    def step(self, name: str, task: Task, items: Sequence[object], completion: Sequence[int]) -> StepEstimate:
        """What a step would take that asks the engine about these items, with the tokens of the replies foreseen."""
        prompt = sum(self.engine.prompt_tokens(task, item) for item in items)
        calls = sum(self.engine.calls(task, item) for item in items)
        return StepEstimate(name, len(items), calls, prompt, self._corrected(name, sum(completion), calls))

    def _corrected(self, name: str, completion: int, calls: int) -> int:
        """What earlier calls of this step took on average, where there were enough of them."""
        paid: Mapping[str, Usage] = self.paid
        spent = paid.get(name, Usage())
        return round(calls * spent.completion_tokens / spent.calls) if spent.calls >= 20 else completion


def foresee_extraction(chunk: Chunk, types: Mapping[str, str] = MappingProxyType({})) -> Extraction:
    """A guess at what a model would extract: names with their first sentence, and names that follow one another.

    `types` are those that are known, by folded name: an entity is its name and its type.
    """
    entities: dict[str, ExtractedEntity] = {}
    relations: list[ExtractedRelation] = []
    for start, end in split_sentences(chunk.text):
        said = " ".join(chunk.text[start:end].split()[:_DESCRIPTION])
        found = (m[0] for m in _NAME.finditer(chunk.text, start, end))
        names = [n for n in dict.fromkeys(found) if len(n) > 1 and n.casefold() not in _OPENERS]
        for name in names:
            entities.setdefault(name, ExtractedEntity(name, types.get(fold(name), "name"), said))
        relations += [ExtractedRelation(a, b, said) for a, b in pairwise(names)]
    return Extraction(tuple(entities.values()), tuple(relations))
