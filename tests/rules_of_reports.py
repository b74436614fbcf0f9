"""Rules of offline reports that are given values of their own, in a form that stands in a line of JSON.

A passage is written as its kind, title, score, documents and the numbers of its sentences, then its type if it has
one; a sentence as its chunk and what it says, with a bar between. Words among the numbers are the label of a
relation, or without any number the text of a passage that has no quotes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.engines.offline.reports import community, community_reports, group_reports, source_lines
from sensegraph.types import Brief, Context, Description, Finding, Passage, Report, Source, Statement


def _make_passages(said: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[Passage, ...]:
    quotes = []
    for number, line in enumerate(said):
        chunk, _, text = line.partition("|")
        size = len(text.split(": “")[-1].removesuffix("”"))
        quotes.append(Description(text, Source(chunk, 400 * number, 400 * number + size)))
    passages = []
    for i, (kind, title, score, documents, held, *_) in enumerate(rows):
        texts, quoted = (
            [n for n in held if isinstance(n, str)],
            tuple(quotes[n] for n in held if not isinstance(n, str)),
        )
        text = f"{texts[0]}: {quoted[0].text}" if texts and quoted else "".join(texts)
        sources = (Source("z", 7, 7 + len(text)),) if text and not quoted else ()
        passages.append(Passage(kind, f"{kind[:1]}{i}", text, score, title, sources, quoted, documents))
    return tuple(passages)


def _make_brief(said: Sequence[str], rows: Sequence[Sequence[Any]], words: int = 0, omitted: int = 0) -> Brief:
    types = tuple(row[5] if len(row) > 5 else "" for row in rows)
    return Brief(Context(_make_passages(said, rows), "Some things", omitted), words, types)


def _show_statements(statements: Sequence[Statement]) -> list[str]:
    places = [" ".join(f"{s.chunk}:{s.start}-{s.end}" for s in one.sources) for one in statements]
    return [f"{s.text}| {' '.join(s.references)} | {place}" for s, place in zip(statements, places, strict=True)]


def _show_findings(findings: Sequence[Finding]) -> list[Any]:
    return [[one.summary, *_show_statements(one.statements)] for one in findings]


def _show_report(made: Report) -> list[Any]:
    return [
        made.title,
        made.rating,
        made.rating_explanation,
        _show_statements(made.summary),
        *_show_findings(made.findings),
    ]


def read_community(said: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
    """A community as a report sees it: its members with their strengths, its quotes, and what it weighs them by."""
    found = community.read_community(Context(_make_passages(said, rows), "Some things"))
    told = {id(quote) for quote in found.told()}
    return [
        found.code,
        [[m.name, m.strength] for m in found.members],
        [p.id for p in (*found.entities, *found.relations, *found.reports, *found.claims)],
        [
            [q.text, q.speaker, " ".join(q.owners), q.worth, q.candidate.worth,
             found.centre.closeness(q.candidate.terms), len(found.strong(q)), found.central(q), id(q) in told]
            for q in found.quotes
        ],
        sum(found.weights.values()), sum(found.centre.weights.values()),
    ]  # fmt: skip


def report_community(said: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The report on a community, with what each statement rests on."""
    return _show_report(community_reports.report_communities([Context(_make_passages(said, rows), "Some things")])[0])


def summarise(title: str, *texts: str) -> str:
    """One description from several; what somebody says is as long as what stands behind the first colon."""
    sizes = [len(text.partition(": ")[2] or text) for text in texts]
    passages = [
        Passage("entity", f"e{i}", text, sources=(Source("c", 7, 7 + size),) if i % 3 != 2 else ())
        for i, (text, size) in enumerate(zip(texts, sizes, strict=True))
    ]
    return community_reports.summarise_contexts([Context(tuple(passages), title)])[0]


def rate_specificity(name: str, texts: Sequence[str], size: int, people: Sequence[str], code: str = "en") -> float:
    """What the kind of a name makes of its strength, by the sentences that hold it."""
    return community.rate_specificity(name, texts, size, frozenset(people), code)


def gather_group(said: Sequence[str], rows: Sequence[Sequence[Any]], omitted: int = 0) -> list[Any]:
    """A group as it is written about: its members with their strengths, and its lines with their worths."""
    found = source_lines.gather_group(_make_brief(said, rows, 0, omitted))
    return [
        found.code, [[m.id, m.names, m.kind, m.weight, m.strength] for m in found.members],
        [[line.text, line.speaker, " ".join(line.owners), found.near[line.text], found.likely(line), found.worth(line)]
         for line in found.lines],
        [line.text[:20] for line in found.picked(3)], sorted(found.reports), found.omitted,
    ]  # fmt: skip


def aggregate(said: Sequence[str], rows: Sequence[Sequence[Any]], words: int = 0, omitted: int = 0) -> list[Any]:
    """The report on a group of similar things, with what each statement rests on."""
    return _show_report(group_reports.aggregate_groups([_make_brief(said, rows, words, omitted)])[0])


def abstract(said: Sequence[str], rows: Sequence[Sequence[Any]], words: int = 0) -> list[Any]:
    """What stands for a group: its name, its type, and how strongly each member belongs to it."""
    made = group_reports.abstract_groups([_make_brief(said, rows, words)])[0]
    return [[one.name, one.type, [[m.id, m.description, m.strength] for m in one.members]] for one in made]


def relate(said: Sequence[str], rows: Sequence[Sequence[Any]], words: int = 0, omitted: int = 0) -> list[str]:
    """What links the first two of some passages; the others are relations."""
    return _show_statements(group_reports.relate_groups([_make_brief(said, rows, words, omitted)])[0])


def condense(said: Sequence[str], texts: Sequence[Any], words: int) -> list[str]:
    """Texts said shorter: each is given as a text, or as the numbers of its sentences."""
    passages = [
        Passage("chunk", f"p{i}", text, sources=(Source(f"p{i}", 9, 9 + len(text) + i // 3),))
        if isinstance(text, str)
        else _make_passages(said, [["chunk", "", 0.0, 0, text]])[0]
        for i, text in enumerate(texts)
    ]
    return _show_statements(source_lines.condense_texts([Brief(Context(tuple(passages)), words)])[0])
