"""How often the offline engine's answers hold the right answer, and the training of its sentence ranker.

    python bench/answers.py [--data DIR] [--cache DIR] [--set NAME …]     # the table
    python bench/answers.py --train                                       # train on all sets, and write the weights

For each question the passages are those that `search` finds. An answer is right where the text contains it: the
normalized gold answer, or three fifths of its stems in sets whose answers are free text. The figures in folds are of
five rankers, each trained on the questions of the passages that it is not asked about; "left out" of one that saw no
question of the set. Right is the first sentence, one of the first three, what an answer shows (with what leads to the
best one), or any sentence of the passages ("held"). Then how often it would be said that the sources hold no answer: of
the questions themselves, of those asked without the documents that answer ("removed"), and of those that nothing
answers ("null").
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import re
import string
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

import documentation
import training_questions
from client import options
from sensegraph.answering.asking import count_words
from sensegraph.answering.looked_up_chunks import place_rare_chunks, take_entries
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.answers import facts, features, ranking
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences
from sensegraph.index.index import Index
from sensegraph.lab.retrieval.test_collections import read_set
from sensegraph.language.text import list_stems
from sensegraph.types import Document, Question, WordCounts

Floats = NDArray[np.float64]
DOCUMENTATION = "documentation"  # of this machine: see documentation.py
SINGLE = ("xquad-en", "lihua-world", "carol", DOCUMENTATION)
BRIDGED = ("hotpotqa", "musique")
STEPS, COMPOSED = "musique steps", "hotpotqa composed"  # made by rule, and never measured: see training_questions.py
UNSEEN = ("xquad-de",)
REMOVED = ("xquad-en",)  # asked also without the documents that answer
LOOSE = ("lihua-world", "carol")  # their answers are free text
SHARE = 0.6
PART = 6  # words of evidence that a sentence must hold
FOLDS = 5
CHAINED = ("bridge gain", "title", "rank", "first", "typed new", "short", "new names", "chain", "typed chain")
LESS = 0.15  # weight of questions of one hop where the ranker for two hops is trained
TOP = 10
WEIGHTS = Path(ranking.__file__).with_name("weights.json")
DECIDED: tuple[list[str], ...] = ([], ["yes"], ["no"], ["ja"], ["nein"])
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its evidence, which of the sentences hold the answer, and the fold of its gold passage."""

    set: str
    text: str
    gold: tuple[str, ...]
    read: features.Read
    right: NDArray[np.bool_]
    fold: int
    held: bool = True  # whether the corpus, as it was read, holds an answer at all


def normalize(text: str) -> str:
    """As SQuAD compares answers: small letters, no marks, no articles, single blanks."""
    bare = "".join(c if c not in string.punctuation else " " for c in text.lower())
    return " ".join(_ARTICLES.sub(" ", bare).split())


def is_right(text: str, gold: Sequence[str], loose: bool) -> bool:
    """Whether a text contains an answer; `loose` where three fifths of its stems are enough."""
    said = normalize(text)
    if any(a and a in said for a in map(normalize, gold)):
        return True
    held = set(list_stems(text))
    stems = (set(list_stems(a)) for a in gold)
    return loose and any(s and len(s & held) >= SHARE * len(s) for s in stems)


def read_answers(folder: Path) -> dict[str, list[str]]:
    """The gold answers by question; none of those that ask for yes or no, or have no answer."""
    found = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        said = query["metadata"].get("answer") or []
        listed = [said] if isinstance(said, str) else [str(a) for a in said]
        if listed and not any(normalize(a).split()[:1] in DECIDED for a in listed):
            found[query["_id"]] = listed
    return found


def has_evidence(text: str, evidence: Sequence[str]) -> bool:
    """Whether a sentence holds evidence, a part of it of six words, or is a part of it itself."""
    said = normalize(text)
    for wanted in map(normalize, evidence):
        words = wanted.split()
        parts = [" ".join(words[:PART]), " ".join(words[-PART:])] if len(words) >= PART else [wanted]
        if any(part in said for part in parts) or (len(said.split()) >= 4 and said in wanted):
            return True
    return False


def gather_documentation(given: argparse.Namespace) -> list[Asked]:
    """The questions over documentation to train with; none of those whose evidence this machine does not have."""
    root = Path(given.cache) / DOCUMENTATION
    root.mkdir(parents=True, exist_ok=True)
    texts = {name: text for name, text in documentation.collect_documents(documentation.TRAINING).items() if text}
    found: list[Asked] = []
    with Corpus.open(root, settings={"engine": "offline", "index": {"parts": ["names"]}}) as corpus:
        corpus.add([Document(name, text, Path(name).stem) for name, text in texts.items()])
        corpus.build()
        for query in tomllib.loads(documentation.TRAINING.read_text(encoding="utf-8"))["questions"]:
            name = query["document"]
            if not documentation.find_evidence(texts.get(name, ""), query["evidence"]):
                continue
            if read := read_question(corpus, query["question"]):
                origin = corpus.index().documents_of([s.reference for s in read.sentences])
                right = np.array(
                    [origin[s.reference] == name and has_evidence(s.raw, query["evidence"]) for s in read.sentences]
                )
                fold = int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS
                found.append(Asked(DOCUMENTATION, query["question"], tuple(query["evidence"]), read, right, fold))
    print(f"{DOCUMENTATION}: {len(found)} questions over {len(texts)} documents", flush=True)
    return found


def gather(name: str, given: argparse.Namespace) -> list[Asked]:
    """All questions of a set with their evidence, and those that it, or what is left of it, cannot answer."""
    if name == DOCUMENTATION:
        return gather_documentation(given)
    if name in (STEPS, COMPOSED):
        return gather_made(name, given)
    folder, root = Path(given.data) / name, Path(given.cache) / name
    judged, golds = read_set(folder), read_answers(folder)
    root.mkdir(parents=True, exist_ok=True)
    found: list[Asked] = []
    with Corpus.open(root, settings={"engine": "offline", "index": {"parts": ["names"]}}) as corpus:
        corpus.add(judged.documents)
        corpus.build()
        before = time.process_time()
        for query in (q for q in judged.queries if q.id in golds):
            fold = int(hashlib.sha256(min(query.gold).encode()).hexdigest(), 16) % FOLDS
            gold = golds[query.id]
            if read := read_question(corpus, query.text):
                right = np.array([is_right(s.text, gold, name in LOOSE) for s in read.sentences])
                found.append(Asked(name, query.text, tuple(gold), read, right, fold))
            if name in REMOVED and (read := read_question(corpus, query.text, frozenset(query.gold))):
                void = np.zeros(len(read.sentences), bool)
                found.append(Asked(f"{name} removed", query.text, (), read, void, fold, held=False))
        took = time.process_time() - before
        for i, text in enumerate(read_unanswerable(folder)):
            if read := read_question(corpus, text):
                void = np.zeros(len(read.sentences), bool)
                found.append(Asked(f"{name} null", text, (), read, void, i % FOLDS, held=False))
    print(
        f"{name}: {len(found)} questions, {1000 * took / max(1, len(found)):.1f} ms of CPU with the search", flush=True
    )
    return found


def gather_made(name: str, given: argparse.Namespace) -> list[Asked]:
    """The questions that are made by rule of the texts of a set."""
    origin = name.split()[0]
    judged, root = read_set(Path(given.data) / origin), Path(given.cache) / origin
    places = {query.id: min(query.gold) for query in judged.queries}
    made = (
        training_questions.list_steps(Path(given.data) / origin, places)
        if name == STEPS
        else training_questions.compose_questions(judged.documents)
    )
    found: list[Asked] = []
    with Corpus.open(root, settings={"engine": "offline", "index": {"parts": ["names"]}}) as corpus:
        corpus.add(judged.documents)
        corpus.build()
        for one in {m.text: m for m in made}.values():
            if read := read_question(corpus, one.text):
                pages = corpus.index().documents_of([s.reference for s in read.sentences])
                right = np.array([
                    is_right(s.text, [one.answer], loose=False) and one.page in ("", pages[s.reference])
                    for s in read.sentences
                ])  # fmt: skip
                fold = int(hashlib.sha256(one.place.encode()).hexdigest(), 16) % FOLDS
                found.append(Asked(name, one.text, (one.answer,), read, right, fold))
    print(f"{name}: {len(found)} questions", flush=True)
    return found


def read_question(corpus: Corpus, text: str, without: frozenset[str] = frozenset()) -> features.Read | None:
    """A question with its evidence, as if the documents `without` were not there."""
    index = corpus.index()
    passages = corpus.search(text, top=TOP).passages
    if without:
        passages = tuple(p for p in passages if index.documents_of([p.id])[p.id] not in without)
    else:
        passages = tuple(place_rare_chunks(text, passages, index))
    code = choose_language(text, passages[: ranking.READ])
    sentences = read_source_sentences(passages[: ranking.READ], code)
    counted = count_words(Question(text), index, passages)
    if without:
        counted = discount_words(counted, index, without)
    return features.read_evidence(text, passages[: ranking.READ], sentences, counted)


def discount_words(counted: WordCounts, index: Index, without: frozenset[str]) -> WordCounts:
    """The counts of words as if the documents `without` were not there."""
    entries = take_entries(np.arange(len(index.words)), index)[1]
    origin = index.documents_of([e.id for e in entries])
    gone = np.array([origin[e.id] in without for e in entries])
    held = zip(counted.words, index.words.hits(stem for stem, _ in counted.words), strict=True)  # both are in order
    left = tuple((stem, n - int(gone[places].sum())) for (stem, n), (_, (places, _)) in held)
    return replace(counted, chunks=counted.chunks - int(gone.sum()), words=left)


def read_unanswerable(folder: Path) -> list[str]:
    """The questions that a set says its documents do not answer."""
    asked = (json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    return [query["text"] for query in asked if query["metadata"].get("type") == "Null"]


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def train_ranker(
    asked: Sequence[Asked], decay: float, used: Sequence[str], less: Sequence[str] = (), rounds: int = 200
) -> tuple[float, ...]:
    """Weights that put sentences with the answer first: a softmax over each question's sentences, by Adam.

    A set counts by the power of 0.65 of its number of questions: more where it has more, but not as much more; a set of
    `less` by `LESS` of that. Only the features `used` have a weight.
    """
    asked = [a for a in asked if a.right.any() and not a.right.all()]
    rows = np.vstack([a.read.features for a in asked])
    rows[:, [name not in used for name in features.FEATURES]] = 0.0
    spread = rows.std(0) + 1e-6
    rows = rows / spread
    sizes = [len(a.right) for a in asked]
    begin = np.cumsum([0, *sizes[:-1]])
    owner = np.repeat(np.arange(len(asked)), sizes)
    right = np.concatenate([a.right for a in asked])
    fall = np.concatenate([ranking.HEADING * a.read.headings for a in asked])
    many = Counter(a.set for a in asked)
    share = np.array([many[a.set] ** -0.35 * (LESS if a.set in less else 1.0) for a in asked])
    weight = (share / share.sum())[owner]
    weights, first, second = (np.zeros(rows.shape[1]) for _ in range(3))
    for turn in range(1, rounds + 1):
        score = rows @ weights - fall
        grown = np.exp(score - np.maximum.reduceat(score, begin)[owner])
        p = grown / np.add.reduceat(grown, begin)[owner]
        gold = grown * right
        wanted = gold / np.add.reduceat(gold, begin)[owner]
        gradient = decay * weights - ((wanted - p) * weight) @ rows
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights = weights - 0.1 * (first / (1 - 0.9**turn)) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-8)
    return tuple(round(float(w), 3) for w in weights / spread)


def tell_apart(rows: Floats, label: NDArray[np.bool_], sets: Sequence[str], decay: float) -> tuple[float, ...]:
    """Weights of a logistic regression, the bias first; the sets of a label count alike, and so do both labels."""
    spread = rows.std(0) + 1e-6
    spread[0] = 1.0
    rows = rows / spread
    many = Counter(sets)
    share = np.array([1 / many[name] for name in sets])
    share[label] /= share[label].sum()
    share[~label] /= share[~label].sum()
    weights, first, second = (np.zeros(rows.shape[1]) for _ in range(3))
    for turn in range(1, 401):
        p = 1 / (1 + np.exp(-rows @ weights))
        gradient = ((p - label) * share) @ rows + decay * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights = weights - 0.05 * (first / (1 - 0.9**turn)) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-8)
    return tuple(round(float(w), 3) for w in weights / spread)


def train(asked: Sequence[Asked]) -> ranking.Weights:
    """All weights from these questions."""
    made = [a for a in asked if a.set in (STEPS, COMPOSED)]
    seen = [a for a in asked if a.set.split()[0] not in UNSEEN and a.set not in (STEPS, COMPOSED)]
    single = [a for a in seen if a.set in SINGLE]
    bridged = [a for a in seen if a.set in BRIDGED]
    names = [a.set for a in seen]
    gate = tell_apart(np.array([a.read.gate for a in seen]), np.array([a.set in BRIDGED for a in seen]), names, 0.02)
    plain = features.FEATURES[: features.FEATURES.index("chain")]
    rankers = train_ranker(single or bridged, 0.002, plain), train_ranker([*bridged, *made], 0.04, CHAINED, [STEPS])
    weights = ranking.Weights(*rankers, gate, ())
    rows = np.array([ranking.describe_holding(a.read, weights) for a in seen])
    return msgspec.structs.replace(weights, holding=tell_apart(rows, np.array([a.held for a in seen]), names, 0.002))


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def measure(asked: Iterable[Asked], weights: Callable[[Asked], ranking.Weights]) -> dict[str, float]:
    """The share of questions whose answer stands in the first sentence, in the first three, and in what is shown.

    Beside it the words shown, the share whose sentences hold an answer at all, and how many are taken for two hops.
    """
    first = three = shown = held = words = 0
    gates: list[float] = []
    listed = list(asked)
    for one in listed:
        scores, gate = ranking.rate_sentences(one.read, weights(one))
        order = [int(i) for i in np.argsort(-scores, kind="stable")]
        texts = [one.read.sentences[i].text for i in order[:3]]
        said = " ".join(s.text for s in facts.choose_fact_sentences(one.read, order, scores, gate))
        loose = one.set in LOOSE
        judged = has_evidence if one.set == DOCUMENTATION else partial(is_right, loose=loose)
        first += judged(texts[0], one.gold)
        three += any(judged(t, one.gold) for t in texts) or judged(" ".join(texts), one.gold)
        shown += judged(said, one.gold)
        held += bool(one.right.any())
        words += len(said.split())
        gates.append(gate)
    n = max(1, len(listed))
    shares = {"first": first, "three": three, "shown": shown, "held": held}
    return {"n": n, **{k: 100 * v / n for k, v in shares.items()}, "words": words / n, "two hops": 100 * sum(gates) / n}


def report_abstentions(asked: Sequence[Asked], weights: Callable[[Asked], ranking.Weights]) -> None:
    """How often it would be said that nothing is found, by set; in folds."""
    told: dict[str, list[bool]] = {}
    for one in asked:
        own = weights(one)
        gate = ranking.rate_sentences(one.read, own)[1]
        told.setdefault(one.set, []).append(not ranking.holds_answer(one.read, own, gate))
    print("abstained:", ", ".join(f"{s} {100 * np.mean(t):.1f}" for s, t in told.items()))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--cache", default="bench/out/answers")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--kept", default="", help="a file that keeps the evidence between runs")
    given = parser.parse_args()
    sets = given.set or [*SINGLE, *BRIDGED, *UNSEEN]
    made = [] if given.set else [STEPS, COMPOSED]
    kept = Path(given.kept) if given.kept else None
    if kept and kept.is_file():
        asked = pickle.loads(kept.read_bytes())
    else:
        asked = [a for name in (*sets, *made) for a in gather(name, given)]
        if kept:
            kept.write_bytes(pickle.dumps(asked))
    rankers = [train([a for a in asked if a.fold != fold]) for fold in range(FOLDS)]
    for name in sets:
        own = [a for a in asked if a.set == name]
        left = [a for a in asked if a.set.split()[0] != name]
        rows = [("folds", measure(own, lambda a: rankers[a.fold]))]
        others = train(left)
        rows.append(("left out", measure(own, lambda a: others)))  # noqa: B023
        for label, row in rows:
            print(f"{name:12} {label:9}", "  ".join(f"{k} {v:.1f}" for k, v in row.items()), flush=True)
    report_abstentions(asked, lambda a: rankers[a.fold])
    if given.train:
        WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(train(asked)), indent=1) + b"\n")
        print(f"weights written to {WEIGHTS.name}")


if __name__ == "__main__":
    main()
