"""Test collections in BEIR's layout: documents, questions, and which documents were judged relevant to which.

    corpus.jsonl     one document a line: _id, title, text, metadata
    queries.jsonl    one question a line: _id, text, metadata (`type` tells kinds of question apart)
    qrels/NAME.tsv   query-id, corpus-id, score: tab-separated, graded, below a header

source: Thakur et al. 2021, BEIR
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sensegraph.documents import load
from sensegraph.documents.document_settings import Skipped
from sensegraph.errors import InputError
from sensegraph.types import Document, Scalar

ADVERSARIAL = "adversarial"  # the type of questions that no document answers
_SPLITS = ("dev", "test")  # in the order in which one is taken where several are there


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its judgements: the grade of every relevant document, each above 0."""

    id: str
    text: str
    gold: Mapping[str, int]
    type: str = ""
    metadata: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A test collection as it is measured: its documents, and the questions that were judged.

    `left_out` counts, by reason, questions that are not measured; `dangling` names judgements of a document or a
    question that is not there; `skipped` documents that could not be read.
    """

    name: str
    split: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    dangling: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def megabytes(self) -> float:
        """The size of the documents' texts in MB of UTF-8."""
        return sum(len(d.text.encode()) for d in self.documents) / 1e6


def read_set(folder: Path, split: str = "", *, titles: bool = True) -> JudgedSet:
    """The test collection in `folder`, judged by `qrels/SPLIT.tsv`: the only one there is, else dev, else test.

    A judgement of a document that is not there still counts as one that was not found. `titles=False` takes the titles
    away, to see what a method owes to them. Raises InputError for a file that is missing or cannot be read, naming the
    line, and where no question was judged.
    """
    judgements = _qrels_file(folder, split)
    loaded = load([_existing(folder / "corpus.jsonl")])
    if not loaded.documents:
        raise InputError(f"{folder / 'corpus.jsonl'} holds no document: {_first(loaded.skipped)}")
    documents = loaded.documents if titles else tuple(replace(d, title="") for d in loaded.documents)
    gold = _gold(judgements)
    asked = _queries(_existing(folder / "queries.jsonl"), gold)
    kept, left_out = _judged(asked)
    if not kept:
        raise InputError(
            f"None of the {len(asked)} questions of {folder} is judged in {judgements.name}; name another."
        )
    dangling = tuple(_dangling(gold, {d.id for d in documents}, {q.id for q in asked}))
    name = folder.resolve().name
    return JudgedSet(name, judgements.stem, documents, kept, left_out, dangling, loaded.skipped)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise InputError(
            f"There is no {path}; a test collection has corpus.jsonl, queries.jsonl and qrels/NAME.tsv (BEIR's layout)."
        )
    return path


def _first(skipped: tuple[Skipped, ...]) -> str:
    return skipped[0].reason if skipped else "it is empty."


def _qrels_file(folder: Path, split: str) -> Path:
    """The file of judgements. Raises InputError where there is none, or where one must be named."""
    found = {f.stem: f for f in sorted((folder / "qrels").glob("*.tsv"))}
    if not found:
        raise InputError(f"{folder} has no judgements (qrels/*.tsv): retrieval cannot be measured with it.")
    wanted = split or (next(iter(found)) if len(found) == 1 else next((s for s in _SPLITS if s in found), ""))
    if wanted not in found:
        problem = f"no judgements {split!r}" if split else "several files of judgements"
        raise InputError(f"{folder} has {problem}; name one of {', '.join(found)} by --split.")
    return found[wanted]


def _gold(path: Path) -> dict[str, dict[str, int]]:
    """The grades above 0 by question and document. Raises InputError for a line that is no judgement."""
    gold: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        cells = line.split("\t")
        grade = _grade(cells[2]) if len(cells) == 3 else None
        if grade is None and line.strip() and not (number == 1 and len(cells) == 3):  # a header has no grade
            raise InputError(f"{path}, line {number}: {line[:80]!r} is not query-id, corpus-id, score, by tabs.")
        if grade is not None and grade > 0:
            gold.setdefault(cells[0], {})[cells[1]] = grade
    return gold


def _grade(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _queries(path: Path, gold: Mapping[str, Mapping[str, int]]) -> list[Query]:
    """All questions, in the order of the file. Raises InputError for a line that is none, or an id given twice."""
    found: dict[str, Query] = {}
    for number, line in enumerate(path.open(encoding="utf-8-sig"), 1):
        if not line.strip():
            continue
        query = _query(line, gold, f"{path}, line {number}")
        if query.id in found:
            raise InputError(f"{path}, line {number}: the id {query.id!r} was given before; each needs its own.")
        found[query.id] = query
    return list(found.values())


def _query(line: str, gold: Mapping[str, Mapping[str, int]], where: str) -> Query:
    try:
        record = json.loads(line)
    except ValueError as e:
        raise InputError(f"{where}: not valid JSON ({e}); mend or delete it.") from e
    fields: dict[str, Any] = record if isinstance(record, dict) else {}
    name, text = fields.get("_id", fields.get("id")), fields.get("text")
    if name is None or not isinstance(text, str) or not text.strip():
        raise InputError(f'{where}: not a question; give an object with "_id" and "text".')
    given = fields.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    scalars = tuple((k, v) for k, v in metadata.items() if isinstance(v, Scalar) and v is not None)
    return Query(str(name), text, gold.get(str(name), {}), str(metadata.get("type") or ""), scalars)


def _judged(asked: Sequence[Query]) -> tuple[tuple[Query, ...], tuple[tuple[str, int], ...]]:
    """The questions that are measured, and how many are not, by reason."""
    reasons = ["adversarial" if q.type == ADVERSARIAL else "" if q.gold else "not judged" for q in asked]
    left = Counter(r for r in reasons if r)
    kept = tuple(q for q, reason in zip(asked, reasons, strict=True) if not reason)
    return kept, tuple(sorted(left.items()))


def _dangling(gold: Mapping[str, Mapping[str, int]], documents: set[str], asked: set[str]) -> Iterator[str]:
    """The judgements that name a document or a question that is not there."""
    for query, grades in gold.items():
        if query not in asked:
            yield f"question {query}"
        yield from (f"document {d} of question {query}" for d in grades if query in asked and d not in documents)
