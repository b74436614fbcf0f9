"""What the offline engine writes of groups, its cost, and some of it in full: `python bench/offline_groups.py`.

Builds the corpus in a temporary folder (or reads one that is built: `--root`), clusters its entities by meaning once
for each seed until there are enough groups, and writes an aggregate for each; then what links the groups of the first
seed, and short forms of runs of small pieces. Every sentence that is shown is compared with its span.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sensegraph.algorithms.meaning import cluster_rows
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.reports.group_reports import aggregate_groups, relate_groups
from sensegraph.engines.offline.reports.source_lines import condense_texts, count_length
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens, pack_batches
from sensegraph.methods.leanrag.aggregated import (
    AggregateSettings,
    Level,
    aggregate_brief,
    described_texts,
    ground_level,
    node_of,
    part_links,
    relation_brief,
)
from sensegraph.models.embedders import HashedTerms
from sensegraph.types import Brief, Chunk, Cluster, Context, Passage, Report, Source, Statement

BUDGET = 12_000  # tokens of what one aggregate or link is written from
LINK = 80  # words of a link between groups of the first level
LEAF, LEAVES = 100, 7  # tokens of a leaf, and leaves that are condensed together
SHORT = 75  # words of what is made of them


def opened(root: Path, source: Path) -> Any:
    """The index in `root`, built from `source` if it is not yet."""
    corpus = Corpus.open(root, settings={"engine": "offline"})
    if corpus.status().documents == 0:
        corpus.add(source)
        corpus.build()
    return corpus.index()


# ── briefs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Groups:
    """The entities of an index in groups, once for each seed."""

    def __init__(self, index: Any, size: int) -> None:
        self.documents = {c.id: c.document for c in index.catalogue.chunks}
        self.level: Level = ground_level(index.graph, self.documents, quotes=True)
        texts = described_texts(index.graph, AggregateSettings())
        self.rows = reduce_dimensions(HashedTerms().embed(texts, "document"), 32, seed=0)
        self.size = size

    def labels(self, seed: int) -> list[int]:
        return [int(i) for i in cluster_rows(self.rows, self.size, seed=seed).labels]

    def briefs(self, seed: int) -> list[Brief]:
        labels = self.labels(seed)
        links = part_links(self.level, labels, max(labels) + 1)
        members: list[list[Any]] = [[] for _ in range(max(labels) + 1)]
        for node, label in zip(self.level.nodes, labels, strict=True):
            members[label].append(node)
        found = zip(members, links.inner, strict=True)
        return [aggregate_brief(m, [self.level.links[i] for i in k], BUDGET) for m, k in found if len(m) > 1]

    def every(self) -> Iterator[Brief]:
        seed = 0
        while True:
            yield from self.briefs(seed)
            seed += 1

    def links(self, reports: Sequence[Report]) -> list[Brief]:
        """Pairs of groups of the first seed that more than three relations link; lone members have no report."""
        labels = self.labels(0)
        several = [k for k in range(max(labels) + 1) if labels.count(k) > 1]
        made = {k: self.node(k, report) for k, report in zip(several, reports, strict=True)}
        between = part_links(self.level, labels, max(labels) + 1).between
        return [
            relation_brief(made[a], made[b], [self.level.links[i] for i in found], LINK, BUDGET)
            for (a, b), found in sorted(between.items())
            if len(found) > 3 and a in made and b in made
        ]

    def node(self, number: int, report: Report) -> Any:
        group = Cluster(f"g{number}", 0, 0, "", (), (), report.title, report.summary, report.findings)
        return node_of(group, 0, quotes=True)


def texts(chunks: Sequence[Chunk], count: int) -> list[Brief]:
    """The first leaves of chunks that are spread over the corpus."""
    return [Brief(Context(tuple(islice(leaves(chunk), LEAVES))), SHORT) for chunk in spread(chunks, count)]


def leaves(chunk: Chunk) -> Iterator[Passage]:
    """Whole sentences of a chunk, together at most LEAF tokens."""
    spans = split_sentences(chunk.text)
    for part in pack_batches(spans, LEAF, lambda span: count_tokens(chunk.text[slice(*span)])):
        start, end = part[0][0], part[-1][1]
        yield Passage("chunk", f"{chunk.id}-{start}", chunk.text[start:end], sources=(Source(chunk.id, start, end),))


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def timed(task: Callable[[Sequence[Brief]], list[Any]], briefs: Sequence[Brief]) -> tuple[list[Any], float]:
    begin = time.process_time()
    found = task(briefs)
    return found, time.process_time() - begin


def exact(statements: Sequence[Statement], chunks: dict[str, Chunk]) -> tuple[int, int]:
    """How many statements show the text at their span, white space aside, of those that have one."""
    told = [(s, x) for s in statements for x in s.sources]
    same = [" ".join(chunks[x.chunk].text[x.start : x.end].split()) in " ".join(s.text.split()) for s, x in told]
    return sum(same), len(told)


def written(report: Report) -> list[Statement]:
    return [*report.summary, *(s for f in report.findings for s in f.statements)]


def text_of(statements: Sequence[Statement]) -> str:
    return "".join(s.text for s in statements).strip()


def shown(report: Report) -> str:
    lines = [f"\n{report.title}", *(f"  {s.text.strip()}" for s in report.summary)]
    for finding in report.findings:
        lines += [f"  · {finding.summary}", *(f"      {s.text.strip()}" for s in finding.statements)]
    return "\n".join(lines)


def spread(items: Sequence[Any], count: int) -> list[Any]:
    return list(items[:: max(1, len(items) // max(count, 1))])[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--corpus", default="podcast", help="a folder of the data directory")
    parser.add_argument("--root", type=Path, help="keep the built corpus here, or read it if it is there")
    parser.add_argument(
        "--groups", type=int, default=1000, help="aggregates to write, at least those of one clustering"
    )
    parser.add_argument("--size", type=int, default=20, help="members of a group, about")
    parser.add_argument("--show", type=int, default=3, help="of each kind, printed in full")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = opened(given.root or Path(folder), given.data / given.corpus / "corpus.jsonl")
        groups = Groups(index, given.size)
        chunks = index.chunks([c.id for c in index.catalogue.chunks])
        first = len(groups.briefs(0))
        briefs = list(islice(groups.every(), max(first, given.groups)))
        new, cold = timed(aggregate_groups, briefs[:first])
        reports, rest = timed(aggregate_groups, briefs[first:])
        links, linking = timed(relate_groups, pairs := groups.links(new))
        short, condensing = timed(condense_texts, runs := texts(list(chunks.values()), 300))
    reports = new + reports
    members = sum(p.kind == "entity" for b in briefs for p in b.context.passages) / max(len(briefs), 1)
    print(f"{len(reports)} aggregates of {members:.1f} members in {cold + rest:.2f} CPU s;", end=" ")
    print(f"{1000 * cold / max(first, 1):.1f} ms each for the first {first}, whose sentences are new")
    print(f"{len(links)} links in {linking:.2f} CPU s ({1000 * linking / max(len(links), 1):.1f} ms each)")
    print(f"{len(short)} short forms of {LEAVES} leaves in {condensing:.2f} CPU s", end=" ")
    print(f"({1000 * condensing / max(len(short), 1):.1f} ms each)")
    said = [written(r) for r in reports] + [list(s) for s in (*links, *short)]
    same, told = map(sum, zip(*(exact(s, chunks) for s in said), strict=True))
    print(f"{same} of {told} sentences are the text at their span")
    print(f"{sum(len(r.findings) for r in reports) / max(len(reports), 1):.2f} findings an aggregate;", end=" ")
    print(f"{sum(len(r.findings) >= 5 for r in reports) / max(len(reports), 1):.0%} have five")
    print(f"{sum('most often' in s[0].text for s in links) / max(len(links), 1):.0%} of the links tell a verb")
    over = sum(count_length(text_of(s)) > b.words for s, b in zip((*links, *short), (*pairs, *runs), strict=True))
    print(f"{over} links and short forms have more words than asked for")
    print("\n".join(map(shown, spread(reports[:first], given.show))))
    print("\n" + "\n".join(f"— {text_of(s)}" for s in (*spread(links, given.show), *spread(short, given.show))))


if __name__ == "__main__":
    main()
