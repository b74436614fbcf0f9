"""Figures of the offline engine's reading: `python bench/offline_extraction.py [--data DIR] [--only SET]`.

redocred: documents at even positions served for tuning, those at odd positions give the figure; both halves are read
as one corpus, without labels. A mention counts when its span is exact, a leading "the" or "a" ignored. A document
entity counts when one of its spans is a span of a gold entity. Types (four classes; events, works and concepts are
"other") are scored on the gold spans that were found, and again with every missed span counted as wrong. Pairs are
those of the relations that `read` gives, after the corpus's pruning; the gold pairs that hold a time or a number
(6 %) cannot be found, because values have no relations. podcast: the graph merged by folded name.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sensegraph.engines.offline.extraction.corpus_reading import (
    VALUE_TYPES,
    observe_documents,
    read_documents,
    survey_documents,
)
from sensegraph.index.graph.graph_settings import GraphSettings, Weight
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.language.text import count_tokens, fold
from sensegraph.types import Chunk, Extraction

GOLD_TYPES = {"PER": "person", "LOC": "place", "ORG": "organization", "MISC": "other"}
OTHER = frozenset({"other", "event", "work", "concept"})
ARTICLES = ("the ", "a ", "an ")
BATCH = 32
VERDICTS = Path(__file__).with_name("attributions.tsv")
WEIGHTS: tuple[Weight, ...] = ("count", "strength")


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of a yes/no comparison."""

    right: int = 0
    found: int = 0
    gold: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.right + other.right, self.found + other.found, self.gold + other.gold)

    def __str__(self) -> str:
        p, r = self.right / max(self.found, 1), self.right / max(self.gold, 1)
        return f"P {100 * p:5.1f}  R {100 * r:5.1f}  F1 {200 * p * r / max(p + r, 1e-9):5.1f}"


@dataclass(frozen=True, slots=True)
class Half:
    """Everything that is counted on one half of redocred."""

    mentions: list[Score] = field(default_factory=list)
    entities: list[Score] = field(default_factory=list)
    covered: list[Score] = field(default_factory=list)
    pairs: list[Score] = field(default_factory=list)
    types: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[tuple[str, bool]] = field(default_factory=Counter)


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a .jsonl file."""
    with path.open(encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def whole(record: dict[str, Any]) -> tuple[Chunk, ...]:
    """A record as a document of one chunk."""
    name, text = record.get("_id") or record["id"], record["text"]
    return (Chunk(name, name, 0, len(text), 0, text, record.get("title", "")),)


def extracted(
    documents: Sequence[tuple[Chunk, ...]], values: bool = False, segmenter: str = "rules"
) -> tuple[list[Extraction], tuple[float, float, float], int]:
    """Extractions, the CPU seconds of the three passes, and the size of the lexicon."""
    marks, seen, found = [time.process_time()], [], []
    for i in range(0, len(documents), BATCH):
        seen += observe_documents(documents[i : i + BATCH], segmenter)
    marks.append(time.process_time())
    told, known = survey_documents(seen)
    marks.append(time.process_time())
    items = list(zip(documents, seen, told, strict=True))
    for i in range(0, len(items), BATCH):
        found += [x for xs in read_documents(items[i : i + BATCH], values=values) for x in xs]
    marks.append(time.process_time())
    return (
        found,
        (marks[1] - marks[0], marks[2] - marks[1], marks[3] - marks[2]),
        sum(len(t) + len(e) for t, e in known.items()),
    )


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without a leading article."""
    low = text[start:end].lower()
    return next(((start + len(a), end) for a in ARTICLES if low.startswith(a)), (start, end))


def gold_spans(record: dict[str, Any]) -> dict[tuple[int, int], tuple[str, str]]:
    """Span → entity id and type."""
    text = record["text"]
    return {
        trimmed(text, m["start"], m["end"]): (e["id"], e["type"]) for e in record["entities"] for m in e["mentions"]
    }


def score(half: Half, record: dict[str, Any], x: Extraction) -> None:
    """Counts one document."""
    text, gold = record["text"], gold_spans(record)
    ours = [e for e in x.entities if e.type != "concept"]
    spans = {trimmed(text, m.start, m.end): e for e in ours for m in e.mentions}
    half.mentions.append(Score(len(spans.keys() & gold.keys()), len(spans), len(gold)))
    right = [e for e in ours if any(trimmed(text, m.start, m.end) in gold for m in e.mentions)]
    covered = {gold[s][0] for s in spans if s in gold}
    half.entities.append(Score(len(right), len(ours), 0))
    half.covered.append(Score(len(covered), len(covered), len(record["entities"])))
    for span, (_, kind) in gold.items():
        half.kinds[kind, span in spans] += 1
        if kind in GOLD_TYPES and span in spans:
            ourtype = spans[span].type
            half.types[kind, "other" if ourtype in OTHER or ourtype in VALUE_TYPES else ourtype] += 1
    half.pairs.append(paired(record, x, gold))


def paired(record: dict[str, Any], x: Extraction, gold: dict[tuple[int, int], tuple[str, str]]) -> Score:
    """Gold pairs among the relations, and relations between two gold entities that are gold pairs."""
    text = record["text"]
    ids: dict[str, set[str]] = defaultdict(set)
    for e in x.entities:
        ids[fold(e.name)] |= {gold[s][0] for m in e.mentions if (s := trimmed(text, m.start, m.end)) in gold}
    wanted = {tuple(sorted((r["head"], r["tail"]))) for r in record["relations"] if r["head"] != r["tail"]}
    ours = {
        tuple(sorted((a, b))) for r in x.relations for a in ids[fold(r.source)] for b in ids[fold(r.target)] if a != b
    }
    return Score(len(ours & wanted), len(ours), len(wanted))


def summed(scores: Iterable[Score]) -> Score:
    """All counts together."""
    return sum(scores, Score())


def redocred(data: Path) -> None:
    """Mentions, entities, types and pairs on both halves."""
    records = lines(data / "redocred" / "docs.dev.jsonl")
    found, seconds, size = extracted([whole(r) for r in records], values=True)
    print(f"redocred: {sum(seconds):.1f} s of CPU, lexicon {size / 1e6:.2f} MB")
    for name, offset in (("tuning (even)", 0), ("held out (odd)", 1)):
        half = Half()
        for record, x in list(zip(records, found, strict=True))[offset::2]:
            score(half, record, x)
        show(name, half)


def show(name: str, half: Half) -> None:
    """Prints one half."""
    entities = summed(half.entities)
    p = entities.right / max(entities.found, 1)
    covered = summed(half.covered)
    r = covered.right / max(covered.gold, 1)
    print(f"  {name}")
    print(f"    mentions  {summed(half.mentions)}")
    print(f"    entities  P {100 * p:5.1f}  R {100 * r:5.1f}  F1 {200 * p * r / max(p + r, 1e-9):5.1f}")
    right = sum(n for (gold, ours), n in half.types.items() if GOLD_TYPES[gold] == ours)
    spans = sum(n for (kind, _), n in half.kinds.items() if kind in GOLD_TYPES)
    found = sum(half.types.values())
    shares = [100 * right / max(n, 1) for n in (found, spans)]
    print(f"    type accuracy {shares[0]:.1f} on found gold spans, {shares[1]:.1f} on all")
    for kind in ("PER", "LOC", "ORG", "MISC", "TIME", "NUM"):
        hit, missed = half.kinds[kind, True], half.kinds[kind, False]
        row = {t: half.types[kind, t] for t in GOLD_TYPES.values()} if kind in GOLD_TYPES else ""
        print(f"      {kind:5} recall {100 * hit / max(hit + missed, 1):5.1f}  read as {row}")
    pairs = summed(half.pairs)
    print(
        f"    gold pairs found {100 * pairs.right / max(pairs.gold, 1):.1f} %, "
        f"precision {100 * pairs.right / max(pairs.found, 1):.1f} %"
    )


def graph(found: Sequence[Extraction]) -> tuple[dict[str, str], dict[tuple[str, str], float]]:
    """Nodes (folded name → type) and the summed strength of each pair."""
    nodes: dict[str, str] = {}
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for x in found:
        for e in x.entities:
            nodes.setdefault(fold(e.name), e.type)
        for r in x.relations:
            a, b = sorted((fold(r.source), fold(r.target)))
            weights[a, b] += r.strength
    return nodes, weights


def leiden(nodes: Sequence[str], weights: dict[tuple[str, str], float]) -> tuple[float, Counter[int], list[int]]:
    """Modularity, sizes of the communities, and every node's community."""
    import graspologic_native as native
    import numpy as np
    from scipy.sparse import coo_array

    number = {n: i for i, n in enumerate(nodes)}
    rows = np.array([number[a] for a, _ in weights] + [number[b] for _, b in weights])
    cols = np.array([number[b] for _, b in weights] + [number[a] for a, _ in weights])
    data = np.array(list(weights.values()) * 2)
    m = coo_array((data, (rows, cols)), shape=(len(nodes), len(nodes))).tocsr()
    result = native.leiden_csr(
        m.indptr.astype(np.int64),
        m.indices.astype(np.int32),
        m.data.astype(np.float64),
        len(nodes),
        iterations=5,
        seed=0,
    )
    groups = [result[1][i] if i in result[1] else -1 - i for i in range(len(nodes))]
    return float(result[0]), Counter(groups), groups


def components(nodes: Sequence[str], weights: dict[tuple[str, str], float]) -> Counter[str]:
    """Sizes of the connected components."""
    parent = {n: n for n in nodes}

    def root(n: str) -> str:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    for a, b in weights:
        parent[root(a)] = root(b)
    return Counter(root(n) for n in nodes)


def checked(name: str, documents: Sequence[tuple[Chunk, ...]], found: Sequence[Extraction]) -> None:
    """Compares who is said to speak with a reader's verdicts (`attributions.tsv`: 50 drawn with a fixed seed).

    An attribution agrees when one that was right is still given, and one that was wrong no longer is.
    """
    rows = [line.split("\t") for line in VERDICTS.read_text("utf-8").splitlines()[1:]]
    mine = [row for row in rows if row[0] == name]
    if not mine:
        return
    said: dict[tuple[str, int, int], set[str]] = defaultdict(set)
    for c, x in zip((c for d in documents for c in d), found, strict=True):
        for e in (*x.entities, *x.relations):
            said[c.id, e.start, e.end].add(e.description.removesuffix(" ".join(c.text[e.start : e.end].split())))
    spoken = sum(text != {""} for text in said.values())
    agreed = sum(
        (said[document, int(start), int(end)] == {f"{speaker}: "}) == (verdict == "right")
        for _, document, start, end, speaker, verdict in mine
    )
    right = sum(row[5] == "right" for row in mine)
    print(
        f"  speakers: {spoken} of {len(said)} shown sentences have one; "
        f"reader's check: {right} of {len(mine)} were right when drawn, {agreed} agree with the verdict now"
    )


def piped(documents: Sequence[tuple[Chunk, ...]], found: Sequence[Extraction]) -> None:
    """Prints what the pipeline's own graph is like, with both weights of a relation."""
    pairs = list(zip((c for d in documents for c in d), found, strict=True))
    for weight in WEIGHTS:
        made = merge_extractions(pairs, GraphSettings(weight=weight))
        weights = {(r.source, r.target): r.weight for r in made.relations}
        names = [e.id for e in made.entities]
        q, sizes, _ = leiden(names, weights)
        degrees = sorted(e.degree for e in made.entities)
        part = 100 * max(components(names, weights).values()) / len(names)
        print(
            f"  pipeline, weight {weight}: nodes {len(names)}, edges {len(weights)}, Q {q:.3f}, largest community "
            f"{100 * max(sizes.values()) / len(names):.1f} %, largest component {part:.1f} %, "
            f"degree p90 {degrees[int(0.9 * len(degrees))]}, max {degrees[-1]}"
        )


def describe_graph(name: str, documents: Sequence[tuple[Chunk, ...]]) -> None:
    """Reads a corpus and prints what its graph is like."""
    found, seconds, size = extracted(documents)
    nodes, weights = graph(found)
    degree = Counter(end for pair in weights for end in pair)
    degrees = sorted(degree[n] for n in nodes)
    parts = components(list(nodes), weights)
    megabytes = sum(len(c.text.encode()) for d in documents for c in d) / 1e6
    print(
        f"{name}: {megabytes:.2f} MB; CPU s: observe %.1f, learn %.1f, read %.1f; lexicon {size / 1e6:.2f} MB" % seconds
    )
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    print(f"  nodes {len(nodes)}: {dict(sorted(Counter(nodes.values()).items()))}")
    if not weights:
        print("  no relations")
        return
    print(
        f"  edges {len(weights)}; degree median {degrees[len(degrees) // 2]}, "
        f"p90 {degrees[int(0.9 * len(degrees))]}, max {degrees[-1]}"
    )
    print(f"  isolated {degrees.count(0)}; largest component {100 * max(parts.values()) / len(nodes):.1f} %")
    q, sizes, groups = leiden(list(nodes), weights)
    big = [c for c, n in sizes.most_common() if n > 1]
    print(f"  Leiden Q {q:.3f}; communities > 1: {len(big)}, largest {100 * sizes[big[0]] / len(nodes):.1f} %")
    strength: Counter[str] = Counter()
    for (a, b), w in weights.items():
        strength[a] += w
        strength[b] += w
    for c in big[:12]:
        members = sorted((n for n, g in zip(nodes, groups, strict=True) if g == c), key=lambda n: (-strength[n], n))
        print(f"    {sizes[c]:4}  {', '.join(members[:9])}")
    piped(documents, found)
    checked(name, documents, found)
    labels = sum(bool(r.label) for x in found for r in x.relations)
    claims = sum(len(x.claims) for x in found)
    print(
        f"  relations with label {labels}; claims {claims}; "
        f"extractions without entity {sum(not x.entities for x in found)}"
    )


@dataclass(frozen=True, slots=True)
class Kept(Sequence[bytes]):
    """Observations in files, read when they are asked for, as the pipeline does."""

    folder: Path
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < self.size:
            raise IndexError(index)
        return (self.folder / str(index)).read_bytes()


def large(data: Path) -> None:
    """Time and peak memory of one long document in sections of 256 chunks; run it alone: the peak is the process's."""
    text = "\n".join(r["text"] for r in lines(data / "podcast" / "corpus.jsonl"))
    for size in (1_250_000, 2_500_000, 5_000_000):
        long = (text + text)[:size]
        cuts = [
            Chunk(f"c{i}", "d", i, min(i + 2400, size), 0, long[i : i + 2400], "Long") for i in range(0, size, 2400)
        ]
        sections = [tuple(cuts[i : i + 256]) for i in range(0, len(cuts), 256)]
        with tempfile.TemporaryDirectory() as folder:
            begin, kept = time.process_time(), Kept(Path(folder), len(sections))
            for i, section in enumerate(sections):
                (kept.folder / str(i)).write_bytes(observe_documents([section])[0])
            told, _ = survey_documents(kept)
            items = ((s, kept[i], told[i]) for i, s in enumerate(sections))
            entities = sum(len(x.entities) for item in items for x in read_documents([item])[0])
            seconds = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"one document of {size / 1e6:.2f} M characters, {len(sections)} sections: {seconds:.1f} s of CPU, "
            f"peak {peak} MB, {entities} entities"
        )


def main() -> None:
    """Parses the arguments and prints the figures of every set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument(
        "--only", default="", help="one of redocred, podcast, carol, xquad-de, xquad-zh, xquad-en, qmsum, large"
    )
    chosen = parser.parse_args()
    count_tokens("")
    if chosen.only in ("", "redocred"):
        redocred(chosen.data)
    if chosen.only == "large":
        large(chosen.data)
    for name in ("podcast", "carol", "xquad-de", "xquad-zh", "xquad-en", "qmsum"):
        if chosen.only == name or (not chosen.only and name != "xquad-en"):
            describe_graph(name, [whole(r) for r in lines(chosen.data / name / "corpus.jsonl")])


if __name__ == "__main__":
    main()
