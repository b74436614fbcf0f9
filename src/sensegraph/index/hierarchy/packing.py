"""What a report is written from, and what was written led back to it (edge2024 §3.1.5; N19–N22, D1, D2).

All relations with both ends inside are offered, and no other; a community that does not fit has the reports of its
children put in the place of their elements, largest first. References that lead nowhere go, spans are filled in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest
from zlib import crc32

from sensegraph.language.text import count_tokens
from sensegraph.protocols import LanguageEngine
from sensegraph.types import (
    Cluster,
    Context,
    Description,
    Entity,
    Finding,
    Graph,
    Passage,
    Relation,
    Report,
    Source,
    Statement,
)

SOURCES = 8  # spans kept for one statement: the first of each record that it refers to, in turn

Spans = Callable[[str], Iterable[Source]]


def resolve_references(statements: Sequence[Statement], known: Collection[str]) -> tuple[tuple[Statement, ...], int]:
    """Statements without references to what they were not written from, and how many of those there were."""
    kept, lost = [], 0
    for statement in statements:
        references = tuple(name for name in statement.references if name in known)
        gone = len(statement.references) - len(references)
        kept.append(replace(statement, references=references) if gone else statement)
        lost += gone
    return tuple(kept), lost


def resolve_report(found: Report, known: Collection[str]) -> tuple[Report, int]:
    """A report without references to what it was not written from, and how many of those there were.

    What an engine made up leads nowhere.
    """
    summary, lost = resolve_references(found.summary, known)
    findings = list[Finding]()
    for finding in found.findings:
        said, gone = resolve_references(finding.statements, known)
        findings.append(replace(finding, statements=said))
        lost += gone
    return replace(found, summary=summary, findings=tuple(findings)), lost + found.dangling


def ground_statement(statement: Statement, spans: Spans) -> Statement:
    """The statement with the spans behind its references, where the engine did not give them."""
    if statement.sources or not statement.references:
        return statement
    found: dict[Source, None] = {}
    for row in zip_longest(*map(spans, statement.references)):
        found.update((source, None) for source in row if source)
        if len(found) >= SOURCES:
            break
    return replace(statement, sources=tuple(found)[:SOURCES])


def ground_unless_quoted(engine: LanguageEngine, statement: Statement, spans: Spans) -> Statement:
    """The statement of `engine` with the spans behind it; of one that quotes only its quotations have any."""
    return statement if engine.quotes else ground_statement(statement, spans)


_LINE = 6  # tokens of a line besides its title and text: number and separators
_QUOTES = 20  # sentences per element that an engine which quotes is given
_SHORT, _LONG = 60, 240  # characters of a sentence that can stand alone
_KINDS = ("report", "entity", "relation", "claim")  # the order of a context


@dataclass(frozen=True, slots=True)
class Group:
    """A community before it has a report: ids of itself, its parent, its children, and all entities below.

    One that is `gathered` is held together by no relations (`gathering.py`).
    """

    id: str
    depth: int
    parent: str
    children: tuple[str, ...]
    entities: tuple[str, ...]
    gathered: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A passage with its tokens and what places it: for relations both ends, else the entity.

    `rank` is the degree of an entity, the combined degree of a relation.
    """

    passage: Passage
    tokens: int
    ends: tuple[str, ...]
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Elements:
    """The lines of a whole graph, found by entity."""

    entity: dict[str, Line] = field(default_factory=dict)
    claims: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    relations: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))  # by source entity
    known: dict[tuple[str, ...], tuple[list[Line], list[Line]]] = field(default_factory=dict)  # of communities
    sizes: dict[tuple[str, ...], int] = field(default_factory=dict)  # tokens of communities

    def inside(self, entities: Iterable[str]) -> tuple[list[Line], list[Line]]:
        """Entity lines and inner relation lines, relations by combined degree (ties by id)."""
        members = set(entities)
        nodes = [self.entity[e] for e in sorted(members)]
        links = [r for e in sorted(members) for r in self.relations.get(e, ()) if r.ends[1] in members]
        return nodes, sorted(links, key=lambda r: (-r.rank, r.passage.id))

    def inside_community(self, group: Group) -> tuple[list[Line], list[Line]]:
        """`inside` of a community, which those above it ask for again."""
        if group.entities not in self.known:
            self.known[group.entities] = self.inside(group.entities)
        return self.known[group.entities]

    def count_tokens(self, group: Group) -> int:
        """The tokens of all lines inside a community."""
        if group.entities not in self.sizes:
            nodes, links = self.inside_community(group)
            claims = (c for n in nodes for c in self.claims.get(n.passage.id, ()))
            self.sizes[group.entities] = sum(line.tokens for line in (*nodes, *links, *claims))
        return self.sizes[group.entities]


def list_elements(
    graph: Graph, documents: Mapping[str, str], *, quotes: bool, beside: Mapping[str, tuple[str, int]] | None = None
) -> Elements:
    """All lines of `graph`; `documents` tells of each chunk what tells its document from others.

    Names and degrees of entities that are not in it but at the ends of its relations are given as what is `beside` it.

    An engine that quotes is given the quotes, and scores and numbers of documents to choose among them. Any other sees
    titles and texts alone, so that its report is asked for again only when one of those has changed.
    """
    found, homes = Elements(), documents if quotes else None
    count_once = cache(count_tokens)  # one sentence is all that is said of several elements
    names = {name: shown for name, (shown, _) in beside.items()} if beside else {}
    degree = {name: count for name, (_, count) in beside.items()} if beside else {}
    for e in graph.entities:
        names[e.id], degree[e.id] = e.name, e.degree
        passage = _show_element("entity", e, e.description, e.name, float(e.degree), homes)
        found.entity[e.id] = _make_line(passage, (e.id,), e.degree, count_once)
    for r in graph.relations:
        title = f"{names[r.source]} — {names[r.target]}"
        rank = degree[r.source] + degree[r.target]
        text = f"{r.label}: {r.description}" if r.label and not quotes else r.description
        passage = _show_element("relation", r, text, title, r.weight, homes)
        found.relations[r.source].append(_make_line(passage, (r.source, r.target), rank, count_once))
    for c in graph.claims:
        dates = " to ".join(d for d in (c.starts, c.ends) if d)
        text = " | ".join(part for part in (c.object, c.type, c.status, dates, c.description) if part)
        kept = (Description(c.description, c.source),) if quotes else ()
        found.claims[c.subject].append(
            _make_line(Passage("claim", c.id, text, title=names[c.subject], quotes=kept), (c.subject,))
        )
    return found


def elements_for(
    engine: LanguageEngine,
    graph: Graph,
    documents: Mapping[str, str],
    beside: Mapping[str, tuple[str, int]] | None = None,
) -> Elements:
    """All lines of `graph` as `engine` is shown them."""
    return list_elements(graph, documents, quotes=engine.quotes, beside=beside)


def shown_to(engine: LanguageEngine, passage: Passage) -> Passage:
    """The passage as `engine` is shown it: whole where it quotes, else its title and text alone (see `elements`)."""
    return passage if engine.quotes else Passage(passage.kind, passage.id, passage.text, title=passage.title)


def pack_community(
    group: Group, all_elements: Elements, children: Sequence[tuple[Group, Cluster | None]], budget: int
) -> Context | None:
    """The context for the report of `group`, or None when it needs children whose reports are not there yet."""
    nodes, links = all_elements.inside_community(group)
    claims = [c for n in nodes for c in all_elements.claims.get(n.passage.id, ())]
    title = _name_community(group, nodes)
    total = all_elements.count_tokens(group)
    if total <= budget or not children:
        # source, target, relation, claims by falling combined degree; then what has no inner relation
        entity = {n.passage.id: n for n in nodes}
        packer = _Packer(budget)
        for link in links:
            about = [c for e in link.ends for c in all_elements.claims.get(e, ())]
            packer.add([entity[e] for e in link.ends], link, about)
        for node in nodes:
            packer.add([node], None, all_elements.claims.get(node.passage.id, ()))
        return packer.context(title, len(nodes) + len(links) + len(claims))
    written = [(child, cluster) for child, cluster in children if cluster is not None]
    if len(written) < len(children):
        return None
    sizes = {child.id: all_elements.count_tokens(child) for child, _ in written}
    reports, chosen = _choose_reports(written, sizes, total, budget)
    home = {e: child.id for child, _ in written if child.id in chosen for e in child.entities}
    kept = [n for n in nodes if n.passage.id not in home]
    crossing = [r for r in links if len({home.get(end, end) for end in r.ends}) > 1]
    return _pack_beside_reports(title, reports, kept, crossing, all_elements, budget)


def pack_in_part(
    group: Group,
    lines: Elements,
    children: Sequence[tuple[Group, Cluster]],
    sizes: Mapping[str, int],
    load: Callable[[Collection[str]], Elements],
    budget: int,
) -> Context:
    """What `pack_community` gives of a community with more inside its children than `budget`.

    `sizes` are the tokens inside each child. `lines` are those between children, and the best-linked entities; `load`
    gives those inside some children.
    """
    home = {e: child.id for child, _ in children for e in child.entities}
    between = [r for e in home for r in lines.relations.get(e, ()) if home.get(r.ends[1], home[e]) != home[e]]
    lines.sizes[group.entities] = total = sum(sizes.values()) + sum(r.tokens for r in between)
    reports, chosen = _choose_reports(children, sizes, total, budget)
    more = load(sizes.keys() - chosen)
    inner = (r for links in more.relations.values() for r in links if r.ends[0] != r.ends[1])
    crossing = sorted((*between, *inner), key=lambda r: (-r.rank, r.passage.id))
    title = _name_community(group, [lines.entity[e] for e in home if e in lines.entity])
    return _pack_beside_reports(title, reports, [more.entity[e] for e in sorted(more.entity)], crossing, more, budget)


def _name_community(group: Group, nodes: Sequence[Line]) -> str:
    """What messages and prompts call a community that has no title yet: its three best-linked entities."""
    ranked = sorted(nodes, key=lambda n: (-n.rank, n.passage.title, n.passage.id))
    title = ", ".join(n.passage.title for n in ranked[:3])
    if group.gathered:
        more = f" and {len(ranked) - 3} more" if len(ranked) > 3 else ""
        title = f"{title}{more}, gathered though little or nothing links them"
    return title


def _choose_reports(
    children: Sequence[tuple[Group, Cluster]], sizes: Mapping[str, int], total: int, budget: int
) -> tuple[list[Line], set[str]]:
    """Children's reports to stand in the place of their elements, largest first, until the whole fits; and whose.

    `sizes` are the tokens of all lines inside each child, `total` those of all lines inside their parent.
    """
    given = {child.id: cluster for child, cluster in children}
    reports, chosen = list[Line](), set[str]()
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        line = report_line(given[name])
        if total > budget and line.tokens < sizes[name]:
            total += line.tokens - sizes[name]
            reports.append(line)
            chosen.add(name)
    return reports, chosen


def _pack_beside_reports(
    title: str, reports: Sequence[Line], kept: Sequence[Line], crossing: Sequence[Line], lines: Elements, budget: int
) -> Context:
    """Reports, then what still fits of relations that no report stands for, and of the entities that are kept."""
    packer = _Packer(budget)
    for line in reports:  # where one does not fit its first paragraph, and else nothing
        brief = _make_line(replace(line.passage, text=line.passage.text.partition("\n")[0]), line.ends)
        if fitting := [version for version in (line, brief) if version.tokens <= packer.room]:
            packer.put(fitting[0])
    entity = {n.passage.id: n for n in kept}
    for link in crossing:
        ends = [entity[e] for e in link.ends if e in entity]
        packer.add(ends, link, [c for n in ends for c in lines.claims.get(n.passage.id, ())])
    for node in kept:
        packer.add([node], None, lines.claims.get(node.passage.id, ()))
    told = sum(len(lines.claims.get(n.passage.id, ())) for n in kept)
    return packer.context(title, len(reports) + len(kept) + len(crossing) + told)


class _Packer:
    """Adds whole lines while the budget holds; the first that does not fit ends it."""

    def __init__(self, budget: int) -> None:
        self.room, self.full = budget, False
        self.lines: dict[str, Line] = {}

    def add(self, nodes: Sequence[Line], link: Line | None, claims: Sequence[Line]) -> None:
        """Add what is not in yet, in the order entities, relation, claims."""
        for line in (*nodes, *([link] if link else []), *claims):
            if self.full or line.passage.id in self.lines:
                continue
            if line.tokens > self.room:
                self.full = True
            else:
                self.put(line)

    def put(self, line: Line) -> None:
        """Add a line that fits."""
        self.room -= line.tokens
        self.lines[line.passage.id] = line

    def context(self, title: str, offered: int) -> Context:
        """What was added, by kind; the rest is counted as omitted."""
        passages = sorted((line.passage for line in self.lines.values()), key=lambda p: _KINDS.index(p.kind))
        return Context(tuple(passages), title, max(0, offered - len(passages)))


# ── lines ──


def _make_line(
    passage: Passage, ends: tuple[str, ...], rank: int = 0, count: Callable[[str], int] = count_tokens
) -> Line:
    return Line(passage, count_tokens(passage.title) + count(passage.text) + _LINE, ends, rank)


def _show_element(
    kind: str,
    element: Entity | Relation,
    text: str,
    title: str,
    score: float,
    documents: Mapping[str, str] | None,
) -> Passage:
    """The passage of an element; with its quotes, its score and the number of its documents where these are given."""
    if documents is None:
        return Passage(kind, element.id, text, title=title)
    count = len({documents[c] for c in element.chunks if c in documents})
    return Passage(
        kind, element.id, text, score, title, quotes=_choose_quotes(element.descriptions, documents), documents=count
    )


def _choose_quotes(said: Sequence[Description], documents: Mapping[str, str]) -> tuple[Description, ...]:
    """The sentences to quote of an element: whole ones first, each text once, spread over its documents.

    Of a long list the hash of its text decides, so that no document is preferred for its place.
    """
    if len(said) <= _QUOTES:
        return tuple(said)
    turns: dict[str, int] = defaultdict(int)
    texts: dict[str, int] = defaultdict(int)
    order: list[tuple[bool, int, int, int]] = []
    marked: list[tuple[bool, int, int]] = []
    for i, d in enumerate(said):  # a fragment, a question, or what is too long to show, is only part of a statement
        ended = d.text.rstrip("\"'”’»)").endswith((".", "!", "。", "！"))
        marked.append((not _SHORT <= len(d.text) <= _LONG or not ended, crc32(d.text.encode()), i))
    for partial, mark, i in sorted(marked):
        document = documents.get(said[i].source.chunk, "")
        order.append((partial, max(turns[document], len(said) * texts[said[i].text]), mark, i))
        turns[document] += 1
        texts[said[i].text] += 1
    return tuple(said[i] for *_, i in sorted(sorted(order)[:_QUOTES], key=lambda turn: turn[-1]))


def report_line(cluster: Cluster) -> Line:
    """A cluster's report as a line that can stand for its elements, or be read by a question."""
    return Line(report_passage(cluster), cluster.tokens + _LINE, (cluster.id,))


def report_passage(cluster: Cluster, details: Sequence[Description] = ()) -> Passage:
    """A cluster's report as a passage, with a quote for each source of each of its statements, then `details`."""
    quotes = tuple(Description(s.text.strip(), source) for s in report_statements(cluster) for source in s.sources)
    shown = {q.source for q in quotes}
    quotes += tuple(d for d in details if d.source not in shown)
    return Passage(
        "report", cluster.id, cluster.text, cluster.rating, cluster.title, quotes=quotes, documents=cluster.documents
    )


def report_statements(cluster: Cluster) -> list[Statement]:
    """All statements of a report, in order."""
    return [*cluster.summary, *(s for f in cluster.findings for s in f.statements)]
