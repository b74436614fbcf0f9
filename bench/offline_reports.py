"""What the offline engine's reports are worth, on the reports of a whole corpus: `python bench/offline_reports.py`.

Builds the corpus in a temporary folder (or reads one that is built: `--root`), writes all its reports again, and prints
their cost, some figures, and the strongest reports in full. The centroid that sentences are compared with is plain
tf-idf over the sentences of the report's context, apart from the engine's own weights.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.reports import community_reports
from sensegraph.engines.offline.reports.community import CORE, list_quotes, read_community, split_relation_title
from sensegraph.engines.offline.reports.report_parts import split_title
from sensegraph.engines.offline.reports.sentence_quality import (
    general_stems,
    introduces_person,
    is_repeat,
    stem_text,
    tidy_sentence,
)
from sensegraph.index.graph.describing import distinct_descriptions
from sensegraph.index.hierarchy.reports import ReportSettings, Writer
from sensegraph.language.speakers import split_spoken
from sensegraph.language.text import count_tokens
from sensegraph.types import Cluster, Context, Passage, Report

SAMPLE = 3  # sentences drawn at random from each context, to read the chosen ones beside


@dataclass(slots=True)
class Written:
    """Every context with its report, and the CPU seconds that the reports took."""

    pairs: list[tuple[Context, Report]] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, contexts: Sequence[Context]) -> list[Report]:
        begin = time.process_time()
        reports = community_reports.report_communities(contexts)
        self.seconds += time.process_time() - begin
        self.pairs += zip(contexts, reports, strict=True)
        return reports


# ── the corpus ───────────────────────────────────────────────────────────────────────────────────────────────────────


def opened(root: Path, source: Path) -> Any:
    """The corpus in `root`, built from `source` if it is not yet."""
    corpus = Corpus.open(root, settings={"engine": "offline"})
    if corpus.status().documents == 0:
        corpus.add(source)
        corpus.build()
    return corpus.index()


def write(index: Any) -> tuple[list[Cluster], Written]:
    """All reports again, in this process and without the store."""
    documents = {entry.id: entry.document for entry in index.catalogue.chunks}
    written = Written()
    tools: Any = SimpleNamespace(engine=SimpleNamespace(quotes=True))
    writer = Writer(tools, index.graph, documents, ReportSettings(), written)
    return writer.write(list(index.communities.groups)), written


def summarised(index: Any, above: int = 500) -> tuple[int, float]:
    """How many elements are described too often to join, and the CPU seconds of summarising them."""
    contexts = []
    for element in (*index.graph.entities, *index.graph.relations):
        said = distinct_descriptions(element.descriptions)
        if sum(count_tokens(d.text) for d in said) > above:
            passages = tuple(Passage("description", "", d.text, sources=(d.source,)) for d in said)
            contexts.append(Context(passages, getattr(element, "name", "")))
    begin = time.process_time()
    community_reports.summarise_contexts(contexts)
    return len(contexts), time.process_time() - begin


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Space:
    """tf-idf over the sentences of one context, and their centroid."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.bags = [bag(s) for s in dict.fromkeys(sentences)]
        counts = Counter(t for words in self.bags for t in words)
        self.idf = {t: math.log(1 + len(self.bags) / n) for t, n in counts.items()}
        self.centre: Counter[str] = Counter()
        for words in self.bags:
            for t, value in self.unit(words).items():
                self.centre[t] += value  # type: ignore[assignment]
        self.size = math.sqrt(sum(v * v for v in self.centre.values())) or 1.0

    def unit(self, words: Counter[str]) -> dict[str, float]:
        raw = {t: n * self.idf.get(t, 0.0) for t, n in words.items()}
        norm = math.sqrt(sum(v * v for v in raw.values())) or 1.0
        return {t: v / norm for t, v in raw.items()}

    def cosine(self, words: Counter[str]) -> float:
        return sum(v * self.centre.get(t, 0.0) for t, v in self.unit(words).items()) / self.size


def bag(sentence: str) -> Counter[str]:
    """The stems of a sentence that may name a topic."""
    return Counter(t for t in stem_text(sentence, "en") if t not in general_stems())


def bare(text: str) -> str:
    """A sentence as the engine shows it, without who says it."""
    return tidy_sentence(split_spoken(text.strip(), 0)[1]).strip("“” ")


def holds(terms: set[str], names: Iterable[Iterable[str]]) -> int:
    return sum(bool(name) and set(name) <= terms for name in names)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def inner(context: Context) -> list[list[str]]:
    """The stems of the eight names with most weight inside, apart from the engine's own measure of strength."""
    weight: Counter[str] = Counter()
    for passage in context.passages:
        for name in split_relation_title(passage) if passage.kind == "relation" else ():
            weight[name] += passage.score  # type: ignore[assignment]
        for name in split_title(passage.title) if passage.kind == "report" else ():
            weight[name] += passage.score  # type: ignore[assignment]
    return [stem_text(n, "en") for n, _ in sorted(weight.items(), key=lambda pair: (-pair[1], pair[0]))[:CORE]]


def figures(pairs: Sequence[tuple[Context, Report]]) -> dict[str, float]:
    """The figures over all reports whose context has three relations at least."""
    chance = random.Random(7)
    rows: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value)

    for context, report in pairs:
        if sum(p.kind == "relation" for p in context.passages) < 3:
            continue
        said = [bare(q.text) for p in context.passages for q in list_quotes(p)]
        space = Space(said)
        strong = [m.stems for m in read_community(context).members[:CORE]]
        summary = [bare(s.text.partition(": “")[2] or s.text) for s in report.summary]
        shown = list(summary)
        for sentence in summary:
            terms = set(stem_text(sentence, "en"))
            note("summary sentences with two of the eight strongest members", holds(terms, strong) >= 2)
            note("summary sentences with two of the eight heaviest names", holds(terms, inner(context)) >= 2)
            note("centroid cosine of summary sentences", space.cosine(bag(sentence)))
            note("summary sentences that present a person", introduces_person(sentence))
        for words in chance.sample(space.bags, min(SAMPLE, len(space.bags))):
            note("centroid cosine of random sentences of the same contexts", space.cosine(words))
        note("summary sentences per report", len(summary))
        note("findings per report", len(report.findings))
        for finding in report.findings:
            wanted = set(stem_text(finding.summary, "en"))
            for statement in finding.statements:
                sentence = bare(statement.text.partition(": “")[2] or statement.text)
                held = wanted & set(stem_text(sentence, "en"))
                note("finding sentences with half of their headline's terms", 2 * len(held) >= len(wanted))
                note("finding sentences with all of their headline's terms", held == wanted)
                shown.append(sentence)
        bags = [stem_text(s, "en") for s in shown]
        note(
            "pairs in a report that repeat each other",
            sum(is_repeat(a, b) for i, a in enumerate(bags) for b in bags[:i]),
        )
    return {"reports looked at": len(rows["findings per report"])} | {
        name: mean(values) for name, values in rows.items()
    }


# ── in full ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def shown(cluster: Cluster) -> str:
    head = f"\n[{cluster.rating}] {cluster.title} ({cluster.documents} documents; {cluster.rating_explanation})"
    lines = [head, *(f"  {s.text.strip()}" for s in cluster.summary)]
    for finding in cluster.findings:
        lines += [f"  · {finding.summary}", *(f"      {s.text.strip()}" for s in finding.statements)]
    return "\n".join(lines)


def quantiles(clusters: Sequence[Cluster]) -> str:
    ratings = sorted(c.rating for c in clusters if len(c.entities) > 1)
    parts = [ratings[min(len(ratings) - 1, int(q * len(ratings)))] for q in (0, 0.25, 0.5, 0.75, 0.95, 1)]
    return " / ".join(f"{p:.1f}" for p in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--corpus", default="podcast", help="a folder of the data directory")
    parser.add_argument("--root", type=Path, help="keep the built corpus here, or read it if it is there")
    parser.add_argument("--show", type=int, default=5, help="reports printed in full at depths 0 and 2")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = opened(given.root or Path(folder), given.data / given.corpus / "corpus.jsonl")
        clusters, written = write(index)
        count, seconds = summarised(index)
    print(f"{len(clusters)} communities, {len(written.pairs)} reports written in {written.seconds:.2f} CPU s")
    print(f"{count} elements summarised in {seconds:.2f} CPU s")
    print(f"ratings, least / 25 % / 50 % / 75 % / 95 % / most: {quantiles(clusters)}")
    for name, value in figures(written.pairs).items():
        print(f"{value:8.3f}  {name}")
    for depth in (0, 2) if given.show else ():
        print(f"\n══ the strongest at depth {depth}")
        ranked = sorted((c for c in clusters if c.depth == depth), key=lambda c: (-c.rating, c.id))
        print("\n".join(map(shown, ranked[: given.show])))


if __name__ == "__main__":
    main()
