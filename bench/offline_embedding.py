"""Passages found by the offline embedder and by plain BM25, and the embedder's speed.

    python bench/offline_embedding.py [--data DIR] [--dims 512 1024 2048] [--sets carol musique …]

Prints recall in the first five passages, in percent, for each set, the paired difference to BM25 with its 95 % interval
(bootstrap over questions), and megabytes of text a CPU second.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import time
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sensegraph.language.word_lists import STOP
from sensegraph.models import embedders as local
from sensegraph.models.embedders import HashedTerms

SETS = ("carol", "2wiki", "musique", "hotpotqa", "lihua-world", "xquad-de", "xquad-zh")
TOP = 5
HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")


class Judged(NamedTuple):
    """A corpus, questions over it, and the positions of the passages judged relevant for each."""

    passages: list[str]
    questions: list[str]
    relevant: list[set[int]]


def judged(folder: Path) -> Judged:
    """A BEIR folder; questions without judgements and adversarial ones are left out."""
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").open()]
    place = {record["_id"]: i for i, record in enumerate(corpus)}
    relevant: dict[str, set[int]] = defaultdict(set)
    for line in (folder / "qrels" / "dev.tsv").read_text().splitlines()[1:]:
        question, passage, score = line.split("\t") if line else ("", "", "0")
        if int(score) > 0 and passage in place:
            relevant[question].add(place[passage])
    asked = [q for q in map(json.loads, (folder / "queries.jsonl").open()) if _asked(q, relevant)]
    passages = [f"{record.get('title', '')}\n{record['text']}".strip() for record in corpus]
    return Judged(passages, [q["text"] for q in asked], [relevant[q["_id"]] for q in asked])


def _asked(question: dict[str, Any], relevant: dict[str, set[int]]) -> bool:
    return question["_id"] in relevant and question.get("metadata", {}).get("type") != "adversarial"


@cache
def _term(word: str, language: str) -> str:
    from Stemmer import Stemmer

    folded = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    stop = STOP[language]
    return "" if word.casefold() in stop or folded in stop else Stemmer(language).stemWord(folded)


def terms(text: str, language: str) -> list[str]:
    """Stems without function words; overlapping pairs of characters in Han and Kana."""
    found: list[str] = []
    for word in WORD.findall(text):
        if re.match(f"[{HAN}]", word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            found.append(_term(word, language))
    return [term for term in found if term]


def bm25(data: Judged, language: str, k1: float = 1.5, b: float = 0.75) -> np.ndarray:
    """Scores, shape (questions, passages): BM25 with Lucene's inverse document frequency."""
    counts = [Counter(terms(passage, language)) for passage in data.passages]
    lengths = np.array([c.total() for c in counts])
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for i, passage in enumerate(counts):
        for term, n in passage.items():
            postings[term].append((i, n))
    scores = np.zeros((len(data.questions), len(counts)))
    for row, question in zip(scores, data.questions, strict=True):
        for term in terms(question, language):
            places, n = np.array(postings.get(term) or np.zeros((0, 2), int)).T
            idf = math.log(1 + (len(counts) - len(n) + 0.5) / (len(n) + 0.5))
            row[places] += idf * n / (n + k1 * (1 - b + b * lengths[places] / lengths.mean()))
    return scores


def recalls(scores: np.ndarray, data: Judged) -> np.ndarray:
    """For each question, the percentage of its judged passages among the first five; ties go to the earlier passage."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
    pairs = zip(best, data.relevant, strict=True)
    return np.array([100 * len(relevant.intersection(row.tolist())) / len(relevant) for row, relevant in pairs])


def hashed(data: Judged, dim: int) -> np.ndarray:
    """Cosines, shape (questions, passages)."""
    embedder = HashedTerms(dim)
    return embedder.embed(data.questions, "query") @ embedder.embed(data.passages, "document").T


def interval(differences: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the mean by 2,000 bootstrap draws."""
    draws = np.random.default_rng(0).integers(len(differences), size=(2000, len(differences)))
    low, high = np.percentile(differences[draws].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def speed(passages: list[str]) -> tuple[float, float]:
    """Megabytes of UTF-8 a CPU second: while every word is new, and when words were seen before."""
    size = sum(len(p.encode()) for p in passages) / 1e6
    local._word_codes.cache_clear()
    begun = time.process_time()
    HashedTerms().embed(passages, "document")
    between = time.process_time()
    HashedTerms().embed(passages, "document")
    return size / (between - begun), size / (time.process_time() - between)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--dims", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--sets", nargs="+", default=SETS)
    options = parser.parse_args()
    print(f"recall@{TOP}, percent; difference to BM25 at {HashedTerms().dim} dimensions")
    print(f"{'set':<12}{'n':>5}{'BM25':>8}" + "".join(f"{dim:>8}" for dim in options.dims) + "   difference")
    means: list[list[float]] = []
    for name in options.sets:
        data = judged(options.data / name)
        lexical = recalls(bm25(data, "german" if name.endswith("-de") else "english"), data)
        ours = [recalls(hashed(data, dim), data) for dim in options.dims]
        means.append([float(r.mean()) for r in (lexical, *ours)])
        low, high = interval(recalls(hashed(data, HashedTerms().dim), data) - lexical)
        figures = "".join(f"{mean:>8.1f}" for mean in means[-1])
        print(f"{name:<12}{len(data.questions):>5}{figures}   [{low:+.1f}, {high:+.1f}]", flush=True)
    print(f"{'mean':<17}" + "".join(f"{mean:>8.1f}" for mean in np.mean(means, axis=0)))
    fast = {name: speed(judged(options.data / name).passages) for name in options.sets if name in ("2wiki", "xquad-zh")}
    rates = (f"{name} {cold:.1f}, again {warm:.1f}" for name, (cold, warm) in fast.items())
    print("MB of text a CPU second: " + "; ".join(rates))


if __name__ == "__main__":
    main()
