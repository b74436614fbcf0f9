"""Test collections in BEIR's layout: documents, questions, and which documents were judged relevant to which.

    corpus.jsonl     one document a line: _id, title, text, metadata
    queries.jsonl    one question a line: _id, text, metadata (`type` tells kinds of question apart)
    qrels/NAME.tsv   query-id, corpus-id, score: tab-separated, graded, below a header

source: Thakur et al. 2021, BEIR
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sensegraph.documents import load
from sensegraph.documents.document_files import Skipped
from sensegraph.errors import InputError
from sensegraph.types import Document, Scalar

ADVERSARIAL = "adversarial"  # the type of questions that no document answers
GOLD_FIELDS = ("answer", "answers", "reference", "references", "aliases")  # in which gold answers stand
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
class Gold:
    """The right answers of a question: `answers`, any of which will do; or `parts`, each of which must be said.

    A part has the forms that it may have, the first of which is shown.
    """

    answers: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()


def read_gold_answers(record: Mapping[str, Any], fields: Iterable[str] = GOLD_FIELDS) -> Gold:
    """The right answers of a question's record, at its top or in its metadata: a text or a list in one of `fields`.

    In `parts` stands one answer of several parts: a list of texts, or of lists, where a part has several forms.
    """
    inner = record.get("metadata")
    merged = {**(inner if isinstance(inner, dict) else {}), **record}
    answers = [text for name in fields for text in _list_texts(merged.get(name))]
    listed = merged.get("parts")
    parts = [_list_texts(part) for part in (listed if isinstance(listed, list) else [])]
    return Gold(tuple(dict.fromkeys(answers)), tuple(tuple(forms) for forms in parts if forms))


def _list_texts(given: object) -> list[str]:
    """The texts and numbers in a field that holds one or a list of them; without those that are empty."""
    listed = given if isinstance(given, list) else [given]
    texts = (str(one).strip() for one in listed if isinstance(one, str | int | float) and not isinstance(one, bool))
    return [text for text in texts if text]


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
    judgements = _choose_judgements(folder, split)
    loaded = load([_require_file(folder / "corpus.jsonl")])
    if not loaded.documents:
        first = loaded.skipped[0].reason if loaded.skipped else "it is empty."
        raise InputError(f"{folder / 'corpus.jsonl'} holds no document: {first}")
    documents = loaded.documents if titles else tuple(replace(d, title="") for d in loaded.documents)
    gold = _read_judgements(judgements)
    queries = _read_queries(_require_file(folder / "queries.jsonl"), gold)
    kept = [q for q in queries if q.gold and q.type != ADVERSARIAL]
    void = [q.type == ADVERSARIAL for q in queries if q.type == ADVERSARIAL or not q.gold]
    left_out = Counter("adversarial" if adversarial else "not judged" for adversarial in void)
    if not kept:
        raise InputError(
            f"None of the {len(queries)} questions of {folder} is judged in {judgements.name}; name another."
        )
    ids, questions = {d.id for d in documents}, {q.id for q in queries}
    dangling: list[str] = []
    for name, grades in gold.items():
        if name in questions:
            dangling += (f"document {d} of question {name}" for d in grades if d not in ids)
        else:
            dangling.append(f"question {name}")
    left, name = tuple(sorted(left_out.items())), folder.resolve().name
    return JudgedSet(name, judgements.stem, documents, tuple(kept), left, tuple(dangling), loaded.skipped)


def _require_file(path: Path) -> Path:
    if not path.is_file():
        raise InputError(
            f"There is no {path}; a test collection has corpus.jsonl, queries.jsonl and qrels/NAME.tsv (BEIR's layout)."
        )
    return path


def _choose_judgements(folder: Path, split: str) -> Path:
    """The file of judgements. Raises InputError where there is none, or where one must be named."""
    found = {f.stem: f for f in sorted((folder / "qrels").glob("*.tsv"))}
    if not found:
        raise InputError(f"{folder} has no judgements (qrels/*.tsv): retrieval cannot be measured with it.")
    wanted = split or (next(iter(found)) if len(found) == 1 else next((s for s in _SPLITS if s in found), ""))
    if wanted not in found:
        problem = f"no judgements {split!r}" if split else "several files of judgements"
        raise InputError(f"{folder} has {problem}; name one of {', '.join(found)} by --split.")
    return found[wanted]


def _read_judgements(path: Path) -> dict[str, dict[str, int]]:
    """The grades above 0 by question and document. Raises InputError for a line that is no judgement."""
    gold: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        cells = line.split("\t")
        try:
            grade = int(cells[2]) if len(cells) == 3 else None
        except ValueError:
            grade = None
        if grade is None and line.strip() and not (number == 1 and len(cells) == 3):  # a header has no grade
            raise InputError(f"{path}, line {number}: {line[:80]!r} is not query-id, corpus-id, score, by tabs.")
        if grade is not None and grade > 0:
            gold.setdefault(cells[0], {})[cells[1]] = grade
    return gold


def read_json_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file of JSON with their places; what is no object is an empty one. InputError names a bad line."""
    for number, line in enumerate(path.open(encoding="utf-8-sig"), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except ValueError as e:
                raise InputError(f"{path}, line {number}: not valid JSON ({e}); fix or remove the line.") from e
            yield f"{path}, line {number}", record if isinstance(record, dict) else {}


def _read_queries(path: Path, gold: Mapping[str, Mapping[str, int]]) -> list[Query]:
    """All questions, in the order of the file. Raises InputError for a line that is none, or an id given twice."""
    found: dict[str, Query] = {}
    for where, fields in read_json_objects(path):
        given, text = fields.get("_id", fields.get("id")), fields.get("text")
        if given is None or not isinstance(text, str) or not text.strip():
            raise InputError(f'{where}: not a question; give an object with "_id" and "text".')
        name, metadata = str(given), fields.get("metadata")
        if not isinstance(metadata, dict):
            metadata = {}
        if name in found:
            raise InputError(f"{where}: the id {name!r} was given before; each needs its own.")
        scalars = tuple((k, v) for k, v in metadata.items() if isinstance(v, Scalar) and v is not None)
        found[name] = Query(name, text, gold.get(name, {}), str(metadata.get("type") or ""), scalars)
    return list(found.values())
