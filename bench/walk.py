"""The walk over names beside full text: recall of the judged documents, what was left out, and what it costs.

    python bench/walk.py [--data DIR] [--set NAME …] [--passages N]

Rows: BM25 of the index's words; the walk; the walk without bridges (PPR only); one step instead of all (MINI); the walk
with all titles deleted, beside BM25 there, and over the documents in another order. Columns: recall at 2, 5 and 10, the
share of questions with all judged passages in the first 5, the difference to BM25 in recall at 5 with the 95 % interval
of 2,000 paired resamplings, and CPU milliseconds for one question. Questions of qmsum are asked of their own meeting.
Then: `joined` sets, whose documents are ten passages under headings (a passage counts as found where half of it is in a
found chunk). Under each set: CPU seconds of the index of names for a megabyte, and whether two hash seeds agree.

2wiki and hotpotqa were made along Wikipedia's links, so that "mentions the title of" is nearly their rule of
construction: the rows without titles show what is left where pages have no names.

`--passages` measures a synthetic corpus of so many passages instead: opening, memory, and time for a question.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from client import options, table
from sensegraph.algorithms.full_text import Bm25, Postings
from sensegraph.algorithms.ranking import select_best
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.index import Index, index_words
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.walk.name_runs import count_mentions, name_run
from sensegraph.methods.walk.name_words import (
    MARK,
    NamedDocuments,
    Noted,
    Spelt,
    spell_documents,
)
from sensegraph.methods.walk.naming import NAMES, NameSettings, make_names
from sensegraph.methods.walk.shown_names import make_gazetteer
from sensegraph.methods.walk.walk import Walk
from sensegraph.questions import Condition, Scope
from sensegraph.runtime.results import recall_result, save_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document, Question

SETS = ("2wiki", "musique", "hotpotqa", "lihua-world", "qmsum", "multihop-news", "carol",
        "xquad-en", "xquad-de", "xquad-zh")  # fmt: skip
NAMED = ("2wiki", "musique", "hotpotqa")
CUTS = (2, 5, 10)
TOGETHER = 10
Ranks = Callable[[str, Index, Runtime], Any]
Gold = dict[str, tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    gold: frozenset[str]
    meeting: str


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--passages", type=int, default=0, help="measure a synthetic corpus of this size")
    parser.add_argument("--digest", help="print a hash of all rankings of a set instead")
    given = parser.parse_args()
    if given.digest:
        print(digest(Path(given.data) / given.digest))
    elif given.passages:
        synthetic(given.passages)
    else:
        for name in given.sets or SETS:
            shown(name, Path(given.data) / name)


# ── real sets ────────────────────────────────────────────────────────────────────────────────────────────────────────


def shown(name: str, data: Path) -> None:
    """Print the table of one set."""
    documents, asked = read(data), questions(data)
    whole = {d.id: (d.id, 0, len(d.text)) for d in documents}
    rows, first = measured("", documents, asked, whole, {"BM25": by_words, "walk": walk(), **VARIANTS})
    if name in NAMED:
        rows += measured("titles deleted: ", [replace(d, title="") for d in documents], asked, whole, SHORT)[0]
        together, where = joined(documents)
        rows += measured("joined: ", together, asked, where, SHORT)[0]
    order = [replace(d, id=f"{i:05} {d.id}") for i, d in enumerate(random.Random(0).sample(documents, len(documents)))]
    back = {d.id.partition(" ")[2]: (d.id, 0, len(d.text)) for d in order}
    rows += measured("shuffled: ", order, asked, back, {"walk": walk()}, first)[0]
    print(f"\n{name}: {len(asked)} questions, {len(documents)} documents")
    table(["", "R@2", "R@5", "R@10", "all@5", "R@5 − BM25", "CPU ms"], rows)
    each, once = costs(documents)
    same = seeded(data)
    print(f"index of names: {each:.2f} s/MB by document, {once:.2f} s/MB for the whole; hash seeds agree: {same}")


def by_words(text: str, index: Index, rt: Runtime) -> Any:
    return select_best(index.scores_of_words(text), 100)[0]


def walk(**settings: Any) -> Ranks:
    return lambda text, index, rt: Walk(**settings).rank(Question(text), index, rt).positions


VARIANTS: dict[str, Ranks] = {"PPR only": walk(bridge=0.0), "MINI": walk(steps=1)}
SHORT: dict[str, Ranks] = {"BM25": by_words, "walk": walk()}


def measured(
    prefix: str, documents: Sequence[Document], asked: Sequence[Asked], where: Gold, ranks: dict[str, Ranks],
    base: np.ndarray | None = None,
) -> tuple[list[list[str]], np.ndarray]:  # fmt: skip
    """Rows of the table for one form of the documents, and what they are compared with: `base`, or the first."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), documents) as corpus:
        index, rt = corpus.index(), corpus.runtime()
        inside = scopes(index, asked)
        held = holders(index, where)
        for row, rank in ranks.items():
            rank("warm", index, rt)
            before = time.process_time()
            found = [rank(a.text, inside[a.meeting], rt) for a in asked]
            spent = 1000 * (time.process_time() - before) / len(asked)
            shares = np.array([recalls(f, a, inside[a.meeting], held) for f, a in zip(found, asked, strict=True)])
            base = shares if base is None else base
            rows.append([prefix + row, *(f"{x:.1f}" for x in shares.mean(0)), versus(shares, base), f"{spent:.1f}"])
    return rows, base if base is not None else np.zeros(0)


def opened(folder: Path, documents: Sequence[Document]) -> Corpus:
    corpus = Corpus.open(folder, settings={"engine": "offline", "index": {"parts": ["names"]}})
    corpus.add(documents)
    corpus.build()
    return corpus


def scopes(index: Index, asked: Sequence[Asked]) -> dict[str, Index]:
    """The index as each question sees it, by meeting."""
    found: dict[str, Index] = {"": index}
    for meeting in sorted({a.meeting for a in asked if a.meeting}):
        found[meeting] = restrict_to_scope(index, Scope(where=(Condition("meeting", "=", meeting),)))
    return found


def holders(index: Index, where: Gold) -> dict[str, frozenset[str]]:
    """The chunks that hold at least half of each passage; where passages are documents, the documents."""
    if all(len(spot) == 3 and spot[1] == 0 for spot in where.values()):
        return {name: frozenset([spot[0]]) for name, spot in where.items()}
    chunks = index.chunks([entry.id for entry in index.catalogue.chunks])
    by_document = defaultdict(list)
    for c in chunks.values():
        by_document[c.document].append(c)
    return {
        name: frozenset(c.id for c in by_document[d] if min(c.end, end) - max(c.start, begin) >= (end - begin) / 2)
        for name, (d, begin, end) in where.items()
    }


def recalls(found: Any, asked: Asked, index: Index, held: dict[str, frozenset[str]]) -> list[float]:
    """Recall at each cut, and whether all judged passages are in the first five; ids are of documents or of chunks."""
    entries = [index.catalogue.chunks[int(i)] for i in found]
    by_chunk = any(e.id in held[g] for g in asked.gold for e in entries)
    ranked = [e.id for e in entries] if by_chunk else list(dict.fromkeys(e.document for e in entries))
    cut = [sum(not held[g].isdisjoint(ranked[:k]) for g in asked.gold) / len(asked.gold) for k in CUTS]
    return [*(100 * share for share in cut), 100.0 * (cut[1] == 1)]


def versus(one: np.ndarray, other: np.ndarray) -> str:
    """The difference of recall at 5 with the interval of a paired bootstrap."""
    if one is other:
        return ""
    difference = (one - other)[:, 1]
    draws = np.random.default_rng(0).integers(0, len(difference), (2000, len(difference)))
    low, high = np.percentile(difference[draws].mean(1), [2.5, 97.5])
    return f"{difference.mean():+.1f} [{low:+.1f}, {high:+.1f}]"


def read(data: Path) -> list[Document]:
    """The documents of a set; metadata that are lists are left out."""
    rows = [json.loads(line) for line in (data / "corpus.jsonl").open(encoding="utf-8")]
    return [Document(r["_id"], r["text"], r.get("title") or "", plain(r.get("metadata") or {})) for r in rows]


def plain(metadata: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in sorted(metadata.items()) if not isinstance(value, list | dict))


def questions(data: Path) -> list[Asked]:
    """The judged questions with their documents."""
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (data / "qrels" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            gold[query].add(document)
    rows = [json.loads(line) for line in (data / "queries.jsonl").open(encoding="utf-8")]
    kept = [q for q in rows if q["_id"] in gold and q["metadata"].get("type") != "adversarial"]
    return [Asked(q["text"], frozenset(gold[q["_id"]]), q["metadata"].get("meeting", "")) for q in kept]


def joined(documents: Sequence[Document]) -> tuple[list[Document], Gold]:
    """Ten passages at a time as one document, each under its title as a heading, and where each is."""
    made, where = [], {}
    for n in range(0, len(documents), TOGETHER):
        text = ""
        for d in documents[n : n + TOGETHER]:
            text += f"# {d.title}\n\n"
            where[d.id] = (f"bundle {n:05}", len(text), len(text) + len(d.text))
            text += f"{d.text}\n\n"
        made.append(Document(f"bundle {n:05}", text, f"Bundle {n // TOGETHER}"))
    return made, where


def costs(documents: Sequence[Document]) -> tuple[float, float]:
    """CPU seconds for a megabyte of text: of the step by document, and of that over the whole."""
    size = sum(len(d.text.encode()) for d in documents) / 1e6
    chunks = chunk_documents.fn(documents, size=600, overlap=100)
    began = time.process_time()
    noted = spell_documents.fn(chunks)
    between = time.process_time()
    make_names.fn([recognised(noted)], settings=NameSettings())
    return (between - began) / size, (time.process_time() - between) / size


def recognised(documents: Sequence[Noted]) -> NamedDocuments:
    """The names that documents mention, as they are found when an index is built."""
    known = make_gazetteer(documents)
    names, columns = name_run(documents, [count_mentions(d, known) for d in documents])
    return NamedDocuments([columns], [names], [len(documents)], known)


def digest(data: Path) -> str:
    """A hash of the ranking and the scores of every question."""
    seen = hashlib.blake2b(digest_size=16)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), read(data)) as corpus:
        index, rt = corpus.index(), corpus.runtime()
        for asked in questions(data):
            found = Walk().rank(Question(asked.text), index, rt)
            seen.update(found.positions.tobytes() + found.scores.tobytes())
    return seen.hexdigest()


def seeded(data: Path) -> bool:
    told = [
        subprocess.run([sys.executable, __file__, "--data", str(data.parent), "--digest", data.name], check=True,
                       capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    return told[0] == told[1]


# ── a synthetic corpus ───────────────────────────────────────────────────────────────────────────────────────────────


def synthetic(count: int) -> None:
    """Print what an index of so many passages takes to open, and a question to answer."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder))
        began = time.process_time()
        mentions = recognised(list(noted(count)))
        save_result(store, make_names, "names", make_names.fn([mentions], settings=NameSettings())[0])
        between = time.process_time()
        save_result(store, index_words, "words", Postings.build(said(i, count) for i in range(count)).pack())
        print(f"\n{count} passages: names {between - began:.0f} s, words {time.process_time() - between:.0f} s of CPU")
        store.close()
        done = subprocess.run([sys.executable, "-c", OPENING, folder, str(count)], check=True, capture_output=True,
                              text=True, cwd=Path(__file__).parent)  # fmt: skip
        print(done.stdout.strip())


OPENING = "import sys, walk; walk.opening(sys.argv[1], int(sys.argv[2]))"


@dataclass
class Bare:
    """As much of an index as the walk reads."""

    names: Any
    words: Any


def opening(folder: str, count: int) -> None:
    """Open the stored arrays, ask 40 questions, and print what that takes."""
    from types import SimpleNamespace

    store = SqliteStore(Path(folder))
    rt: Any = SimpleNamespace(embedder=SimpleNamespace(name="hashed-terms", lexical=True))
    before, began = anonymous(), time.perf_counter()
    words = Postings.unpack(np.asarray(recall_result(store, index_words, "words")))
    index: Any = Bare(recall_result(store, make_names, "names"), Bm25((words,)))
    print(f"opened in {1000 * (time.perf_counter() - began):.0f} ms, {len(index.part(NAMES))} names, "
          f"{len(index.part(NAMES).to)} ways, {len(words.documents)} postings")  # fmt: skip
    asked = [question(i, count) for i in range(40)]
    Walk().rank(Question(asked[0]), index, rt)
    spent = []
    for text in asked:
        began = time.process_time()
        Walk().rank(Question(text), index, rt)
        spent.append(1000 * (time.process_time() - began))
    print(f"a question: {np.median(spent):.0f} ms of CPU, 95th percentile {np.percentile(spent, 95):.0f} ms; "
          f"memory beyond mapped files {anonymous() - before:.0f} MB, "
          f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB with them")  # fmt: skip


def anonymous() -> float:
    """Megabytes of memory that no file backs."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def title(i: int) -> list[str]:
    return [f"n{i % 9973:x}", f"q{i // 3:x}"]


def mentioned(i: int, count: int) -> Iterator[list[str]]:
    """Four names that a passage mentions: titles of others, some of them of very many passages."""
    rng = random.Random(i)
    for _ in range(4):
        yield title(int(count * rng.random() ** 4))


def said(i: int, count: int) -> list[str]:
    """The stems of a passage: 40 words by Zipf's law, and its names."""
    rng = np.random.default_rng(i)
    plain = [f"w{int(z)}" for z in np.minimum(rng.zipf(1.2, 40), 10**6)]
    return plain + title(i) + [w for name in mentioned(i, count) for w in name]


def noted(count: int) -> Iterator[Noted]:
    for i in range(count):
        lines = [" ".join(f"{MARK}{w}" for w in name) for name in mentioned(i, count)]
        runs = tuple(x for n in range(4) for x in (n, 0, 2))
        yield Noted((Spelt("\n".join(f"it {line} was" for line in lines), tuple(
            x + (k % 3 > 0) for k, x in enumerate(runs))),), (" ".join(title(i)),))  # fmt: skip


def question(i: int, count: int) -> str:
    """A question that names a passage and has eight words of another that it mentions."""
    named = " ".join(word.upper() for word in title(i * 7919 % count))
    return f"Which {' '.join(said(i * 7919 % count, count)[:8])} has {named}?"


if __name__ == "__main__":
    main()
