"""Questions to measure with: what they are, where they come from, and what evidence an answer needs; and their files.

    questions.jsonl              one question a line, in the layout of BEIR's queries.jsonl
    DIR/                         a test collection of the documents: corpus.jsonl, queries.jsonl, qrels/test.tsv
    DIR/chunks/                  the same questions over the chunks, each a document of its own

`evaluate retrieval` reads both collections. papers: Edge et al. 2024, §3.1.1 (G30); section 35 of the survey (N42)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sensegraph.errors import InputError
from sensegraph.index.index import Index
from sensegraph.lab.retrieval.test_collections import ADVERSARIAL
from sensegraph.runtime.keys import key

Kind = Literal["local", "bridge", "comparison", "intersection", "temporal", "global", "disambiguation", "adversarial"]
Made = Literal["persona", "model", "template", "given"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GROUNDED: tuple[Kind, ...] = tuple(k for k in KINDS if k != ADVERSARIAL)
NEEDS: Mapping[str, str] = {  # the three things that vector search alone does not do (N42)
    **dict.fromkeys(("bridge", "comparison", "intersection", "temporal"), "multi-hop"),
    "global": "global",
    "disambiguation": "disambiguation",
}
SPLIT = "test"
_BLOCK = 256  # chunks read at once


@dataclass(frozen=True, slots=True)
class Posed:
    """A question to measure with, of the class `kind`.

    `made` says who made it: a `persona` of a described corpus, a `model` from texts, a `template` by a rule over the
    graph; `given` by somebody. `chunks` and `documents` are the evidence that an answer needs, empty where that is the
    corpus as a whole or nothing at all. `answers` are right answers where they are known, any of which will do; `parts`
    are those of one right answer, which says each of them in one of its forms. `names` are the entities that it is
    about, `hops` the number of facts to be joined.
    """

    text: str
    kind: Kind
    made: Made = "given"
    chunks: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    hops: int = 1
    persona: str = ""
    task: str = ""
    parts: tuple[tuple[str, ...], ...] = ()

    @property
    def id(self) -> str:
        """A name that equal questions of one kind share."""
        return key("question", self.kind, self.text)[:16]

    @property
    def needs(self) -> str:
        """What it asks of a system: multi-hop, global, disambiguation, or nothing of the kind (N42)."""
        return NEEDS.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Questions, in order; how many candidates were `dropped`, by reason; how many are `missing`, by kind.

    `notes` say what was left out and why.
    """

    questions: tuple[Posed, ...]
    dropped: tuple[tuple[str, int], ...] = ()
    missing: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many questions there are of each kind that occurs."""
        listed = [q.kind for q in self.questions]
        return {kind: listed.count(kind) for kind in KINDS if kind in listed}

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.questions + other.questions,
            sum_counts((*self.dropped, *other.dropped)),
            sum_counts((*self.missing, *other.missing)),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
        )


def sum_counts(counted: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Counts by name, each name once, in order; without what was counted 0 times."""
    found: dict[str, int] = {}
    for name, n in counted:
        found[name] = found.get(name, 0) + n
    return tuple(sorted((name, n) for name, n in found.items() if n))


# ── files ──


def record_question(question: Posed) -> dict[str, Any]:
    """A question as a line of `queries.jsonl` holds it."""
    told: dict[str, Any] = {"type": question.kind, "made": question.made, "needs": question.needs}
    told |= {"hops": question.hops, "persona": question.persona, "task": question.task}
    told |= {
        "answer": list(question.answers),
        "parts": [list(forms) for forms in question.parts],
        "names": list(question.names),
    }
    told |= {"documents": list(question.documents), "chunks": list(question.chunks)}
    return {"_id": question.id, "text": question.text, "metadata": {k: v for k, v in told.items() if v}}


def write_questions(path: Path, questions: Sequence[Posed]) -> None:
    """Write questions, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_json_lines(path, map(record_question, questions))


def write_test_collections(folder: Path, questions: Sequence[Posed], index: Index) -> None:
    """Write the questions as two test collections: over the documents of `index` in `folder`, over its chunks below.

    Judgements are the evidence that each question needs. Raises InputError where `folder` holds something already.
    """
    check_folder_is_empty(folder)

    def documents() -> Iterator[dict[str, Any]]:
        for entry in index.catalogue.documents:
            document = index.document(entry.id)
            told = {"title": document.title, "text": document.text, "metadata": dict(document.metadata)}
            yield {"_id": document.id, **told, **({"time": document.time} if document.time else {})}

    def chunks() -> Iterator[dict[str, Any]]:
        entries = index.catalogue.chunks
        for begin in range(0, len(entries), _BLOCK):
            ids = [e.id for e in entries[begin : begin + _BLOCK]]
            found = index.chunks(ids)
            for name in ids:
                chunk = found[name]
                yield {"_id": name, "title": chunk.title, "text": chunk.text, "metadata": {"document": chunk.document}}

    _write_collection(folder, documents(), questions, {q.id: q.documents for q in questions})
    _write_collection(folder / "chunks", chunks(), questions, {q.id: q.chunks for q in questions})


def check_folder_is_empty(folder: Path) -> None:
    """Raise InputError where `folder` holds something already, before anything is paid for."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; name a folder that is, or that does not exist yet.")


def _write_collection(
    folder: Path, corpus: Iterable[Mapping[str, Any]], questions: Sequence[Posed], gold: Mapping[str, Sequence[str]]
) -> None:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    _write_json_lines(folder / "corpus.jsonl", corpus)
    write_questions(folder / "queries.jsonl", questions)
    rows = [f"{q.id}\t{name}\t1\n" for q in questions for name in gold[q.id]]
    (folder / "qrels" / f"{SPLIT}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")


def _write_json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for one in records:
            out.write(json.dumps(one, ensure_ascii=False) + "\n")
