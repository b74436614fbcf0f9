"""What duplicates cost, and what resolution gives back: entities written under a second name (N77, N82).

    python bench/duplicates.py [--data DIR] [--share PERCENT …] [--seeds N] [--reports] [--picture FILE.svg]

The graph is that of the triples that GPT-3.5 extracted from the passages of musique. Of the entities in two passages or
more a share is drawn; in half of its passages each is written in another way: with an article or a legal form, turned
round, misspelt, or by its first letters. Rows: the graph so spoilt, and after `resolve --apply` by names and contexts,
without a model. Columns: entities; injected pairs that were merged; merges of two that were written differently in the
unspoilt texts (some of these are right: see the row of share 0); recall at 5 of `hipporag`, which reads entities, with
the 95 % interval of its difference to the unspoilt graph; communities (depth 0), and how well they agree with those of
the unspoilt graph on who stands with whom: mutual information over mentions, normalised (NMI) and adjusted for chance
(AMI). Leiden's own variability stands below: NMI and AMI between two seeds. `walk` reads no entities, so its row is
the same for all. With `--reports` every triple is told by the sentence of its passage that holds most of its words,
reports are written offline, and the last columns count the heuristic claims of an answer and its words: the mean over
eight questions about the whole (graphrag, depth 0); below the same of vector RAG, which reads no entities. `--picture`
draws AMI, recall and claims over the share, before and after resolution.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from client import options, source, table
from hipporag import Given, folded, given_triples
from hybrid import questions, recall, versus
from line_plots import Line, Plot, draw_line_plots
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.graphs.drawing.rendering import render_svg
from sensegraph.index.graph.duplicates import aliases_of, names_by_id
from sensegraph.index.graph.elements import entity_id
from sensegraph.index.hierarchy.communities import ClusterSettings, group_entities
from sensegraph.lab.grounding.claims import extract_claims
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import collect_terms, fold
from sensegraph.methods.hipporag.hipporag import HippoRAG
from sensegraph.methods.walk.walk import Walk
from sensegraph.protocols import Task
from sensegraph.types import Chunk, Context, Draft, Extraction, Graph, Inquiry, Point, Question, Report

ASKED = (
    "What are the main themes?",
    "Which people and organizations matter most, and why?",
    "How are places and events of the collection connected?",
    "What kinds of events recur across the documents?",
    "Which topics do the documents cover?",
    "What are the most important organizations about?",
    "Summarize the collection.",
    "What trends run through the documents?",
)
Mentions = dict[tuple[str, str], str]  # (document, name in the unspoilt texts): entity
FORMS = ("the", "inc", "turned", "slip", "letters")


def variant(name: str, draw: random.Random) -> str:
    """Another way to write a name."""
    words = name.split()
    form = draw.choice([f for f in FORMS if len(words) > 2 or f != "letters"])
    if form == "letters":
        return "".join(w[0] for w in words)
    if form == "turned" and len(words) > 1:
        return " ".join([words[-1], *words[:-1]])
    long = max(words, key=len)
    if form == "slip" and len(long) > 5:
        at = draw.randrange(1, len(long) - 1)
        return name.replace(long, long[:at] + long[at + 1 :], 1)
    return f"{name} inc" if form == "inc" else f"the {name}"


class Spoilt:
    """Triples in which a share of the entities has a second name; `second` gives it, `where` in which documents."""

    def __init__(self, triples: Mapping[str, Sequence[Sequence[str]]], share: float, seed: int) -> None:
        clean = {d: [list(map(folded, t)) for t in ts if len(t) == 3] for d, ts in triples.items()}
        clean = {d: [t for t in ts if all(t)] for d, ts in clean.items()}
        homes: dict[str, dict[str, None]] = {}
        for document, found in clean.items():
            for a, _, b in found:
                homes.setdefault(a, {})[document] = None
                homes.setdefault(b, {})[document] = None
        draw = random.Random(f"duplicates {seed}")
        several = sorted(name for name, where in homes.items() if len(where) > 1)
        chosen = draw.sample(several, round(share * len(several)))
        self.second: dict[str, str] = {}
        self.where: dict[str, set[str]] = {}
        for name in chosen:
            if (other := variant(name, draw)) not in homes:
                self.second[name] = other
                self.where[name] = set(draw.sample(sorted(homes[name]), len(homes[name]) // 2))
        self.said = {d: {n: self.written(n, d) for t in ts for n in (t[0], t[2])} for d, ts in clean.items()}
        self.triples = {d: [[self.written(a, d), v, self.written(b, d)] for a, v, b in ts] for d, ts in clean.items()}

    def written(self, name: str, document: str) -> str:
        return self.second[name] if document in self.where.get(name, ()) else name


def mentions(corpus: Corpus, spoilt: Spoilt) -> Mentions:
    """The entity of every mention."""
    index = corpus.index()
    known = names_by_id(aliases_of(corpus.runtime(), index.manifest.graph))
    ids = {e.id for e in index.graph.entities}
    names = {w for said in spoilt.said.values() for w in said.values()}
    of = {}
    for name in sorted(names):
        own = (fold(name), "phrase")
        every = [entity_id(n) for n in known.get(entity_id(own), (own,))]
        of[name] = next((i for i in every if i in ids), "")
    here = corpus.document_keys()
    return {(d, plain): of[now] for d, said in spoilt.said.items() if d in here for plain, now in said.items()}


def parts(graph: Graph, seed: int = 0) -> dict[str, str]:
    """The community of each entity at depth 0."""
    found = group_entities(graph, None, ClusterSettings(seed=seed)).groups
    return {e: g.id for g in found if g.depth == 0 for e in g.entities}


def nmi(one: Sequence[str], other: Sequence[str]) -> float:
    """Mutual information of two labellings over the mean of their entropies, 0 to 1."""
    n, a, b = len(one), Counter(one), Counter(other)
    both = Counter(zip(one, other, strict=True))
    shared = sum(c / n * log(c * n / (a[x] * b[y])) for (x, y), c in both.items())
    entropy = sum(-c / n * log(c / n) for counts in (a, b) for c in counts.values()) / 2
    return shared / entropy if entropy else 1.0


def ami(one: Sequence[str], other: Sequence[str]) -> float:
    """Mutual information of two labellings above that of chance, over the most it can be above it; 1 for equal ones.

    source: Vinh, Epps and Bailey 2010: chance draws labels of the same sizes; the norm is the mean of the entropies.
    """
    n, a, b = len(one), Counter(one), Counter(other)
    both = Counter(zip(one, other, strict=True))
    shared = sum(c / n * log(c * n / (a[x] * b[y])) for (x, y), c in both.items())
    chance = expected(Counter(a.values()), Counter(b.values()), n)
    entropy = sum(-c / n * log(c / n) for counts in (a, b) for c in counts.values()) / 2
    return (shared - chance) / (entropy - chance) if abs(entropy - chance) > 1e-12 else 1.0


def expected(a: Mapping[int, int], b: Mapping[int, int], n: int) -> float:
    """The mutual information of labellings drawn by chance; `a` and `b` count their labels by size."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])  # of factorials
    total = 0.0
    for x, times in a.items():
        for y, others in b.items():
            k = np.arange(max(1, x + y - n), min(x, y) + 1)
            chance = logs[x] + logs[y] + logs[n - x] + logs[n - y] - logs[n]
            chance = chance - logs[k] - logs[x - k] - logs[y - k] - logs[n - x - y + k]
            total += times * others * float((k / n * np.log(n * k / (x * y)) * np.exp(chance)).sum())
    return total


def main() -> None:
    parser = options(__doc__, "musique")
    parser.add_argument("--share", type=int, action="append", dest="shares", help="percent of the entities")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--reports", action="store_true")
    parser.add_argument("--picture", default="", help="a file that ends in .svg")
    given = parser.parse_args()
    data = Path(given.data)
    data = data if (data / "queries.jsonl").exists() else data / "musique"
    shares = given.shares or [0, 10, 20, 30, 50]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(data, Path(folder), reports=given.reports)
        bench.run(shares, given.seeds)
    if given.picture:
        Path(given.picture).write_text(bench.drawn(), encoding="utf-8")


class Spoken(Given):
    """The given triples, each told by the sentence of its passage that holds most of its words; the rest offline."""

    name = "given triples in sentences"
    tasks: frozenset[Task] = frozenset({"extract", "summarise", "report", "rate", "answer"})

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        return [self._told(chunk, found) for chunk, found in zip(chunks, super().extract(chunks), strict=True)]

    def _told(self, chunk: Chunk, found: Extraction) -> Extraction:
        spans = [(a, b, collect_terms(chunk.text[a:b])) for a, b in split_sentences(chunk.text)]
        relations = []
        for r in found.relations:
            wanted = collect_terms(r.description)
            start, end, _ = max(spans, key=lambda s: (len(wanted & s[2]), -s[0]))
            relations.append(replace(r, description=chunk.text[start:end], start=start, end=end))
        return replace(found, relations=tuple(relations))

    def report(self, contexts: Sequence[Context]) -> list[Report]:
        return ClassicalEngine().report(contexts)

    def rate(self, inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
        return ClassicalEngine().rate(inquiries)

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        return ClassicalEngine().answer(inquiries)


class Bench:
    """The rows of the table, each measured beside the unspoilt graph."""

    def __init__(self, data: Path, root: Path, *, reports: bool) -> None:
        self.data, self.root, self.reports = data, root, reports
        self.judged = questions(data)
        self.triples = given_triples(data).triples
        self.base: dict[str, Any] = {}
        self.points: dict[str, dict[str, list[tuple[float, float]]]] = {}

    def run(self, shares: Sequence[int], seeds: int) -> None:
        rows: list[list[object]] = []
        for share in [0, *(s for s in shares if s)]:
            for seed in range(seeds if share else 1):
                rows += self.rows(share, seed)
        head = ["share %", "graph", "entities", "injected", "merged of them", "merges beside", "hipporag R@5"]
        head += ["− unspoilt", "communities", "NMI", "AMI", *(["claims", "words"] if self.reports else [])]
        print(f"{len(self.judged)} questions, {self.base['mentions']} mentions")
        table(head, rows)
        print("two seeds of Leiden on the unspoilt graph: NMI {:.3f}, AMI {:.3f}".format(*self.base["own"]))
        print(f"walk, which reads no entities: R@5 {self.base['walk']:.1f} in every row")
        if self.reports:
            print(
                "naive, which reads no entities: {:.1f} claims in {:.0f} words in every row".format(*self.base["naive"])
            )

    def rows(self, share: int, seed: int) -> list[list[object]]:
        spoilt = Spoilt(self.triples, share / 100, seed)
        wanted = ["graph", "facts", *(["reports"] if self.reports else []), *([] if share else ["names"])]
        settings = {"engine": "offline", "index": {"parts": wanted}}
        with Corpus.open(self.root / f"{share}-{seed}", settings=settings) as corpus:
            corpus.workspace.use_tools((Spoken if self.reports else Given)(spoilt.triples), corpus.embedder)  # type: ignore[arg-type]
            corpus.add(source(self.data))
            corpus.build()
            before = self.row(share, "spoilt" if share else "as it is", corpus, spoilt)
            corpus.resolve(apply=True)
            return [before, self.row(share, "resolved", corpus, spoilt)]

    def row(self, share: int, kind: str, corpus: Corpus, spoilt: Spoilt) -> list[object]:
        index = corpus.index()
        where, found = mentions(corpus, spoilt), np.array(self.recalls(HippoRAG(), corpus))
        at = parts(index.graph)
        if not self.base:
            walk = np.mean([r[1] for r in self.recalls(Walk(), corpus)])
            own = parts(index.graph, 1)
            kept = list(where)
            self.base = {
                "at": {m: at[i] for m, i in where.items()},
                "found": found,
                "walk": walk,
                "mentions": len(kept),
            }
            labels = [at[where[m]] for m in kept], [own[where[m]] for m in kept]
            self.base["own"] = nmi(*labels), ami(*labels)
            self.base["naive"] = claimed(corpus, "naive") if self.reports else ()
        both = list(self.base["at"])
        labels = [self.base["at"][m] for m in both], [at[where[m]] for m in both]
        agree, adjusted = nmi(*labels), ami(*labels)
        merged, beside = joined(corpus, spoilt)
        row = [share, kind, len(index.graph.entities), len(spoilt.second), merged, beside, f"{found[:, 1].mean():.1f}"]
        row += [versus(found, self.base["found"]), len(set(at.values())), f"{agree:.3f}", f"{adjusted:.3f}"]
        self.point("AMI of communities with those of the unspoilt graph", share, kind, adjusted)
        self.point("recall at 5 of hipporag, percent", share, kind, float(found[:, 1].mean()))
        if self.reports:
            many, words = claimed(corpus, "graphrag", depth=0)
            row += [f"{many:.1f}", f"{words:.0f}"]
            self.point("heuristic claims of an answer about the whole", share, kind, many)
        return row

    def point(self, title: str, share: int, kind: str, value: float) -> None:
        """Keep a figure for the picture; the unspoilt graph begins both lines."""
        lines = self.points.setdefault(title, {"spoilt": [], "resolved": []})
        lines["resolved" if kind == "resolved" else "spoilt"].append((share, value))

    def drawn(self) -> str:
        """The figures over the share of entities with a second name, as SVG."""
        panels = [
            Plot(title, tuple(Line(name, tuple(points)) for name, points in lines.items()))
            for title, lines in self.points.items()
        ]
        return render_svg(
            draw_line_plots("What duplicates cost, over the percent of entities with a second name", panels)
        )

    def recalls(self, method: Any, corpus: Corpus) -> list[list[float]]:
        index, rt = corpus.index(), corpus.runtime()
        found = [method.retrieve(Question(text), index, rt).documents for text, _ in self.judged]
        return [[0.0, recall(d, gold, 5)] for d, (_, gold) in zip(found, self.judged, strict=True)]


def claimed(corpus: Corpus, method: str, **settings: Any) -> tuple[float, float]:
    """The mean number of heuristic claims of an answer to a question about the whole, and of its words."""
    told = [corpus.query(q, method=method, **settings).text for q in ASKED]
    return float(np.mean([len(extract_claims(t)) for t in told])), float(np.mean([len(t.split()) for t in told]))


def joined(corpus: Corpus, spoilt: Spoilt) -> tuple[int, int]:
    """How many injected pairs are one entity, and how many other names were merged beside."""
    aliases = aliases_of(corpus.runtime(), corpus.index().manifest.graph)
    plain = {other: name for name, other in spoilt.second.items()}
    pairs = [((fold(name), "phrase"), (fold(other), "phrase")) for name, other in spoilt.second.items()]
    right = sum(other in aliases.group(name) for name, other in pairs)
    beside = sum(len({plain.get(n, n) for n, _ in names}) - 1 for names in aliases.groups)
    return right, beside


if __name__ == "__main__":
    main()
