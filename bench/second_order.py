"""The weights of the walk's second ordering: trained, and measured with the kind of set left out that they are for.

    python bench/second_order.py [--data DIR] [--keep DIR] [--kept FILE] [--set NAME …] [--train]

First where names lead nowhere: recall@5 of BM25; of the weights of the package; of weights trained on all other kinds
of sets (chats, meetings, news, a novel, an encyclopedia in three languages); of weights trained on all sets without the
fold of the question, of five; then of the left-out weights without one sign. `messages` is lihua-world cut into
messages: a question asks for the message of its chat that has most words of the answer. Of xquad 200 are asked.
Then where they lead somewhere: recall@5 of the walk for each weight of feedback, for the one that is best on the other
sets, and for the smallest one that is as good there but for a quarter of a point: sets are small. A line `multi` counts
the questions with several judged documents. `--keep` is a folder for indexes, `--kept` a file of signs, so that a
second run is quick. `--train` writes the weights.
"""

from __future__ import annotations

import pickle
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from client import options, table
from sensegraph.algorithms.ranking import select_best
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.lab.retrieval.test_collections import Query, read_set
from sensegraph.language.text import list_stems
from sensegraph.methods.walk import second_order, walk
from sensegraph.questions import Condition, Scope
from sensegraph.types import Document, Question

KINDS = {
    "lihua-world": "chats", "messages": "chats", "qmsum": "meetings", "multihop-news": "news", "carol": "novel",
    "xquad-en": "encyclopedia", "xquad-de": "encyclopedia", "xquad-zh": "encyclopedia",
}  # fmt: skip
LINKED = ("2wiki", "musique", "hotpotqa")
FEEDBACK = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
WEIGHTS = Path(second_order.__file__).with_suffix(".json")
FOLDS = 5
MANY = 200
SURE = 0.25  # points: less is no reason to trust feedback more
TAUGHT, NEAR = 100, 40  # questions of a set in a form that weights are trained by, and chunks of each
FIRST = 5
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question of a set in a form, with the chunks that are ordered, their signs, and what each is a document of.

    `signs` has the columns of `SIGNS`; of a walk it has two, the walk's score and feedback.
    """

    set: str
    titles: bool
    fold: int
    gold: frozenset[str]
    documents: tuple[str, ...]
    signs: Floats
    bm25: float

    @property
    def right(self) -> NDArray[np.bool_]:
        return np.array([d in self.gold for d in self.documents], bool)

    def recall(self, weights: Sequence[float]) -> float:
        """Recall of the judged documents in the first five."""
        if not self.documents:
            return 0.0
        at, _ = select_best(self.signs @ np.array(weights), len(self.documents))
        return recall((self.documents[int(i)] for i in at), self.gold)


def recall(ranked: Iterable[str], gold: frozenset[str]) -> float:
    first = list(dict.fromkeys(ranked))[:FIRST]
    return len(gold.intersection(first)) / len(gold)


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────────


def read(data: Path, name: str, titles: bool) -> tuple[list[Document], list[Query], dict[str, str]]:
    """Documents, questions, and the meeting within which each is asked."""
    judged = read_set(data / ("lihua-world" if name == "messages" else name), titles=titles)
    documents, queries = list(judged.documents), list(judged.queries)
    rows = [json_line(line) for line in (data / judged.name / "queries.jsonl").open(encoding="utf-8")]
    if name == "messages":
        documents, queries = cut_messages(documents, queries, {r["_id"]: r["metadata"]["answer"] for r in rows})
    if len(queries) > 2 * MANY:
        queries = random.Random(5).sample(queries, MANY)
    return documents, queries, {r["_id"]: r["metadata"].get("meeting", "") for r in rows}


def json_line(line: str) -> Any:
    return msgspec.json.decode(line)


def cut_messages(
    documents: Sequence[Document], queries: Sequence[Query], answers: dict[str, list[Any]]
) -> tuple[list[Document], list[Query]]:
    """Every message as a document, and the questions of one chat whose answer one of its messages has half of."""
    messages: dict[str, list[Document]] = {}
    for d in documents:
        parts = re.split(r"\n(?=[\w .]{1,30}: )", d.text)
        parts = parts[1:] if parts[0].strip().startswith("Time") else parts
        messages[d.id] = [replace(d, id=f"{d.id}-{n:03}", text=part.strip()) for n, part in enumerate(parts)]
    found = []
    for q in queries:
        said, asked = set(list_stems(" ".join(map(str, answers[q.id])))), set(list_stems(q.text))
        chat = messages[next(iter(q.gold))]
        counted = [(len(said.intersection(s)), len(asked.intersection(s))) for s in (list_stems(m.text) for m in chat)]
        best = max(range(len(chat)), key=lambda n: counted[n])
        if len(q.gold) == 1 and counted[best][0] >= max(1, len(said) / 2):
            found.append(replace(q, gold={chat[best].id: 1}))
    return [m for chat in messages.values() for m in chat], found


def gather(data: Path, keep: Path, name: str, titles: bool) -> Iterator[Asked]:
    """All questions of a set in a form, as the walk sees them."""
    documents, queries, meetings = read(data, name, titles)
    place = keep / ("titled" if titles else "untitled") / name
    place.mkdir(parents=True, exist_ok=True)
    settings: Any = {"engine": "offline", "index": {"parts": ["names", "wording"]}}
    seen: list[tuple[Any, Floats]] = []

    def signs(*given: Any) -> Floats:
        found = second_order.measure_signs(*given)
        seen.append((given[1], found))
        return found

    def feedback(text: str, first: Any, chunks: Any, wording: Any) -> Floats:
        found = second_order.feed_back(text, first, chunks, wording)
        score = np.zeros(len(chunks))
        score[np.searchsorted(chunks, first[0])] = first[1] / first[1][0]
        seen.append((chunks, np.stack([score, found], axis=1)))
        return found

    vars(walk).update(measure_signs=signs, feed_back=feedback)
    with Corpus.open(place, settings=settings) as corpus:
        corpus.add(documents)
        corpus.build()
        whole, rt, method, scopes = corpus.index(), corpus.runtime(), walk.Walk(), dict[str, Any]()
        for n, q in enumerate(queries):
            field = meetings.get(q.id, "")
            if field not in scopes:
                scopes[field] = restrict_to_scope(whole, scope_of(field))
            index = scopes[field]
            seen.clear()
            method.rank(Question(q.text), index, rt)
            chunks, found = seen[-1] if seen else (np.zeros(0, np.int64), np.zeros((0, 1)))
            entries = index.catalogue.chunks
            words = select_best(index.scores_of_words(q.text), 100)[0]
            gold = frozenset(q.gold)
            named = tuple(entries[int(i)].document for i in chunks)
            by_words = recall((entries[int(i)].document for i in words), gold)
            yield Asked(name, titles, n % FOLDS, gold, named, found, by_words)


def scope_of(meeting: str) -> Scope:
    return Scope(where=(Condition("meeting", "=", meeting),)) if meeting else Scope()


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def train(asked: Sequence[Asked], used: Sequence[int], decay: float = 0.002, rounds: int = 200) -> tuple[float, ...]:
    """Weights of the signs `used`, none below 0, the first 1: by the likelihood of the judged chunks among the first.

    Every set in every form counts alike, by a hundred of its questions. The others are 0.
    """
    by_form: dict[tuple[str, bool], list[Asked]] = defaultdict(list)
    for a in asked:
        if a.right.any() and not a.right.all():
            by_form[a.set, a.titles].append(a)
    asked = [a for some in by_form.values() for a in some[:TAUGHT]]
    near = [np.flatnonzero(a.right | (rank(-a.signs.sum(1)) < NEAR)) for a in asked]
    rows = np.vstack([a.signs[at][:, used] for a, at in zip(asked, near, strict=True)])
    sizes = [len(at) for at in near]
    begin, owner = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(asked)), sizes)
    right = np.concatenate([a.right[at] for a, at in zip(asked, near, strict=True)])
    wanted = right / np.add.reduceat(right.astype(float), begin)[owner]
    many: dict[tuple[str, bool], int] = defaultdict(int)
    for a in asked:
        many[a.set, a.titles] += 1
    share = np.array([1 / many[a.set, a.titles] / len(many) for a in asked])[owner]
    weights, first, second = np.ones(len(used)), np.zeros(len(used)), np.zeros(len(used))
    for turn in range(1, rounds + 1):
        score = rows @ weights
        grown = np.exp(score - np.maximum.reduceat(score, begin)[owner])
        p = grown / np.add.reduceat(grown, begin)[owner]
        gradient = rows.T @ (share * (p - wanted)) + decay * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights = weights - 0.05 * (first / (1 - 0.9**turn)) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-8)
        weights = np.maximum(weights, 0)
    whole = np.zeros(len(second_order.SIGNS))
    whole[list(used)] = weights / max(weights[0], 1e-9)
    return tuple(round(float(w), 2) for w in whole)


def rank(values: Floats) -> NDArray[np.int64]:
    """The place of each value among all, from the smallest."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


# ── the tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def mean(found: Iterable[float]) -> str:
    values = list(found)
    return f"{100 * sum(values) / len(values):.1f}" if values else ""


def show_plain(asked: Sequence[Asked]) -> None:
    """The table of the sets whose names lead nowhere."""
    every = tuple(range(len(second_order.SIGNS)))
    own = second_order.read_weights().plain
    folds = [train([a for a in asked if a.fold != fold], every) for fold in range(FOLDS)]
    without = [tuple(i for i in every if i != left) for left in every[1:]]
    others = {kind: [a for a in asked if KINDS[a.set] != kind] for kind in sorted({KINDS[a.set] for a in asked})}
    trained = {kind: [train(some, used) for used in (every, *without)] for kind, some in others.items()}
    rows = []
    for name, titles in dict.fromkeys((a.set, a.titles) for a in asked):
        held = trained[KINDS[name]]
        here = [a for a in asked if (a.set, a.titles) == (name, titles)]
        several = [a for a in here if len(a.gold) > 1]
        for label, some in ((name, here), (f"{name}, multi", several)):
            if some and (label == name or len(some) < len(here)):
                found = [mean(a.recall(weights) for a in some) for weights in (own, held[0])]
                found += [mean(a.recall(folds[a.fold]) for a in some)]
                found += [mean(a.recall(weights) for a in some) for weights in held[1:]]
                form = "" if titles else " untitled"
                rows.append([label + form, str(len(some)), mean(a.bm25 for a in some), *found])
    head = ["set", "questions", "bm25", "package", "left out", "folds"]
    table([*head, *(f"no {sign}" for sign in second_order.SIGNS[1:])], rows)
    for kind, (weights, *_) in trained.items():
        print(f"without {kind}:", ", ".join(f"{s} {w}" for s, w in zip(second_order.SIGNS, weights, strict=True)))


def show_linked(asked: Sequence[Asked]) -> float:
    """The table of the sets whose names lead to others; gives the weight of feedback that is chosen on all."""
    forms = dict.fromkeys((a.set, a.titles) for a in asked)
    scores = {
        form: {
            w: 100 * float(np.mean([a.recall((1.0, w)) for a in asked if (a.set, a.titles) == form])) for w in FEEDBACK
        }
        for form in forms
    }
    rows = []
    for name, titles in forms:
        others = [found for form, found in scores.items() if form[0] != name]
        here, best, careful = scores[name, titles], choose(others, 0.0), choose(others, SURE)
        found = [f"{here[w]:.1f}" for w in (*FEEDBACK, best, careful)]
        rows.append([name + ("" if titles else " untitled"), *found, str(careful)])
    table(["set", *map(str, FEEDBACK), "best of others", "left out", "weight"], rows)
    return choose(list(scores.values()), SURE)


def choose(scores: Sequence[dict[float, float]], sure: float) -> float:
    """The smallest weight that loses at most `sure` points in the mean against the best one."""
    means = {w: sum(found[w] for found in scores) / max(len(scores), 1) for w in FEEDBACK}
    return next(w for w in FEEDBACK if means[w] >= max(means.values()) - sure)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", default="")
    parser.add_argument("--kept", default="")
    parser.add_argument("--set", action="append", dest="sets", choices=[*KINDS, *LINKED])
    parser.add_argument("--train", action="store_true")
    given = parser.parse_args()
    kept = Path(given.kept) if given.kept else None
    asked: list[Asked] = pickle.loads(kept.read_bytes()) if kept and kept.is_file() else []
    done = {a.set for a in asked}
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or [*KINDS, *LINKED]:
            for titles in (
                (True, False) if name != "qmsum" and name not in done else (True,) if name not in done else ()
            ):
                asked += gather(Path(given.data), Path(given.keep or folder), name, titles)
                if kept:
                    kept.write_bytes(pickle.dumps(asked))
    plain, linked = ([a for a in asked if (a.set in KINDS) == wanted] for wanted in (True, False))
    if plain:
        show_plain(plain)
    feedback = show_linked(linked) if linked else second_order.read_weights().linked
    if given.train:
        weights = second_order.Weights(train(plain, range(len(second_order.SIGNS))), feedback)
        WEIGHTS.write_bytes(msgspec.json.encode(weights) + b"\n")
        print(f"weights written to {WEIGHTS.name}: {weights}")


if __name__ == "__main__":
    main()
