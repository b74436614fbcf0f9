"""How well the offline engine tells passages that help from those that do not.

    python bench/offline_relevance.py [--data DIR] [--sets NAME…] [--questions N]

For each judged question the 30 passages nearest by BM25 are tested and graded. Printed per set: how many passages
there are and how many of them are judged relevant; for the engine's verdict, and for simpler rules beside it, how often
it says yes, its precision and its recall (of the relevant ones among the 30), in percent; CPU milliseconds for one
verdict of the engine; the mean grade of relevant and of other passages, and how often the relevant one of two to the
same question has the higher grade, equal grades counting half.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sensegraph.algorithms.full_text import Bm25
from sensegraph.engines.offline.answers import asking_tasks
from sensegraph.engines.offline.answers.questions import EMPTY, NAME, guess_language, read_wanted_words
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.types import Context, Inquiry, Passage

SETS = ("lihua-world", "2wiki", "hotpotqa", "musique", "xquad-en", "xquad-de", "xquad-zh")
NEAREST = 30


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with one passage near it, and whether that is judged relevant."""

    question: str
    passage: Passage
    relevant: bool


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def pairs(folder: Path, most: int) -> list[Pair]:
    """Every judged question, evenly thinned to `most`, with its 30 nearest passages."""
    judged: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            judged[query].add(document)
    corpus = lines(folder / "corpus.jsonl")
    passages = [Passage("chunk", d["_id"], d["text"], title=d.get("title", "")) for d in corpus]
    words = Bm25.build(stem_text(f"{p.title}\n{p.text}", guess_language(p.text)) for p in passages)
    queries = [q for q in lines(folder / "queries.jsonl") if q["_id"] in judged]
    queries = queries[:: max(1, len(queries) // most)][:most]
    found = []
    for query in queries:
        for at in words.top(stem_text(query["text"]), NEAREST)[0].tolist():
            relevant = passages[at].id in judged[query["_id"]]
            found.append(Pair(query["text"], passages[at], relevant))
    return found


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ours(pair: Pair) -> bool:
    return asking_tasks.test_passages([Inquiry(pair.question, Context((pair.passage,)))])[0]


def words_held(pair: Pair) -> list[float]:
    """The weights of the question's words that the passage holds anywhere."""
    code = guess_language(pair.passage.text)
    own = set(stem_text(f"{pair.passage.title}\n{pair.passage.text}", code))
    return [weight for stem, weight in read_wanted_words(pair.question, code).weights.items() if stem in own]


RULES: tuple[tuple[str, Callable[[Pair], bool]], ...] = (
    ("one content word", lambda pair: sum(w > EMPTY for w in words_held(pair)) >= 1),
    ("two, or one name", lambda pair: sum(w > EMPTY for w in words_held(pair)) >= 2 or NAME in words_held(pair)),
    ("two content words", lambda pair: sum(w > EMPTY for w in words_held(pair)) >= 2),
    ("three content words", lambda pair: sum(w > EMPTY for w in words_held(pair)) >= 3),
    ("the engine's", ours),
)


def verdicts(name: str, rule: Callable[[Pair], bool], found: Sequence[Pair]) -> str:
    said = [rule(pair) for pair in found]
    yes = sum(said)
    hits = sum(s and p.relevant for s, p in zip(said, found, strict=True))
    relevant = sum(p.relevant for p in found)
    shares = (100 * yes / len(found), 100 * hits / max(1, yes), 100 * hits / max(1, relevant))
    return f"  {name:<20} yes {shares[0]:>5.1f}  precision {shares[1]:>5.1f}  recall {shares[2]:>5.1f}"


def grades(found: Sequence[Pair]) -> str:
    """Mean grades, and the share of (relevant, other) pairs of the same question in the right order, ties half."""
    marks = [asking_tasks.grade_reports([Inquiry(p.question, Context((p.passage,)))])[0] for p in found]
    by_question: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for mark, pair in zip(marks, found, strict=True):
        by_question[pair.question][not pair.relevant].append(mark)
    better = [(a > b) + 0.5 * (a == b) for good, rest in by_question.values() for a in good for b in rest]
    good = [m for m, p in zip(marks, found, strict=True) if p.relevant]
    rest = [m for m, p in zip(marks, found, strict=True) if not p.relevant]
    return (
        f"  grade: relevant {sum(good) / max(1, len(good)):.2f}, others {sum(rest) / max(1, len(rest)):.2f}, "
        f"in the right order {100 * sum(better) / max(1, len(better)):.1f} %"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=400)
    args = parser.parse_args()
    for name in args.sets:
        found = pairs(args.data / name, args.questions)
        questions = len({p.question for p in found})
        print(f"{name}: {questions} questions, {len(found):,} passages, {sum(p.relevant for p in found)} relevant")
        for rule, call in RULES:
            begun = time.process_time()
            row = verdicts(rule, call, found)
            spent = 1000 * (time.process_time() - begun) / len(found)
            print(row + (f"  {spent:.2f} ms" if call is ours else ""))
        print(grades(found))


if __name__ == "__main__":
    main()
