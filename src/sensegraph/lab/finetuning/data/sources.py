"""Where questions with gold passages come from: a test collection, or a file in the form of HotpotQA.

Personal data is taken out of a source before anything is made of it (R28).

source: Thakur et al. 2021, BEIR; Yang et al. 2018, HotpotQA. The paper trains on the latter, 112,779 questions (R13).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, overload

from sensegraph.errors import InputError
from sensegraph.index.manifest import DocumentEntry
from sensegraph.lab.finetuning.data.example_types import DroppedQuestion, Passage, SourceQuestion
from sensegraph.lab.retrieval import JudgedSet, Query, read_set
from sensegraph.lab.retrieval.test_collections import read_gold_answers
from sensegraph.lab.scores.standard import join_parts
from sensegraph.types import Document

Mask = Callable[[str], str]

_KEPT = 4096  # texts that stay in memory
_POOL = 20_000  # passages kept to draw from where a file holds more than memory should
_READ = 1 << 20  # characters read at once
_BETWEEN = re.compile(r"[\s,\[\]]*")  # two values, of an array or of lines


@dataclass(frozen=True, slots=True)
class Source:
    """Questions, read once and in order, and the passages that distractors are drawn from.

    `left_out` counts questions that were no candidates, by reason; `near` says where wrong passages come from; `masked`
    are the kinds of personal data that were replaced by placeholders. `topics` counts the pool's passages by topic,
    where that is known without reading them.
    """

    name: str
    questions: Iterable[SourceQuestion | DroppedQuestion]
    pool: Sequence[Passage]
    left_out: tuple[tuple[str, int], ...] = ()
    near: str = ""
    masked: tuple[str, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()


class LazyPassages(Sequence[Passage]):
    """So many passages, each read by its place when it is asked for."""

    def __init__(self, count: int, read: Callable[[int], Passage]) -> None:
        self._count, self._read = count, read

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Passage: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Passage]: ...

    def __getitem__(self, place: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(place, slice):
            return [self._read(i) for i in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        return self._read(place % self._count)


# ── a test collection ──


def read_judged_source(folder: Path, split: str = "", topic: str = "") -> tuple[JudgedSet, Source]:
    """A test collection in BEIR's layout as a source: gold passages are the documents judged relevant.

    Answers stand in the metadata of a question as `answer` or `parts`. `topic` names a field of the documents' metadata
    to count passages by; without it their title. Raises InputError as `read_set` does, and for a field that no document
    has.
    """
    found = read_set(folder, split)
    check_topic(topic, found.documents)
    passages = {d.id: convert_document(d, topic) for d in found.documents}
    rows = (json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8-sig") if line.strip())
    answers = {str(r.get("_id", r.get("id"))): read_answers(r) for r in rows}

    def read_query(query: Query) -> SourceQuestion | DroppedQuestion:
        if missing := [name for name in query.gold if name not in passages]:
            return DroppedQuestion(query.id, f"{len(missing)} of its gold passages are not in the corpus", query.type)
        oracles = tuple(replace(passages[name], oracle=True) for name in query.gold)
        right, parts = answers.get(query.id, ((), ()))
        return SourceQuestion(query.id, query.text, right, oracles, type=query.type, parts=parts)

    questions = tuple(map(read_query, found.queries))
    return found, Source(found.name, questions, tuple(passages.values()), found.left_out)


def check_topic(topic: str, documents: Iterable[Document | DocumentEntry]) -> None:
    """Raise InputError, naming those that there are, for a field that no document has."""
    known = sorted({name for d in documents for name, _ in d.metadata})
    if topic and topic not in known:
        raise InputError(f"No document has the field {topic!r} to count by; there are {', '.join(known) or 'none'}.")


def convert_document(document: Document, topic: str = "") -> Passage:
    """A document as one passage."""
    counted = str(dict(document.metadata).get(topic, "")) if topic else document.title
    return Passage(document.id, document.text, document.title, document=document.id, topic=counted)


def read_answers(record: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The answers of a question's record, in `answer` or `answers`; and the parts of one, which is all of them."""
    gold = read_gold_answers(record, ("answer", "answers"))
    return gold.answers or join_parts(gold.parts), tuple(forms[0] for forms in gold.parts)


def add_near_passages(source: Source, rankings: Mapping[str, Sequence[str]], name: str) -> Source:
    """`source` with the wrong passages of a retrieval, `rankings` by question: its errors, best ranked first.

    `name` says whose errors they are.
    """
    passages = {p.id: replace(p, kind="hard") for p in source.pool}

    def add_near(asked: SourceQuestion | DroppedQuestion) -> SourceQuestion | DroppedQuestion:
        if isinstance(asked, DroppedQuestion):
            return asked
        gold = {p.id for p in asked.oracles}
        wrong = (passages[d] for d in rankings.get(asked.id, ()) if d not in gold and d in passages)
        return replace(asked, near=tuple(wrong))

    return replace(source, questions=tuple(map(add_near, source.questions)), near=name)


# ── a file in the form of HotpotQA ──


def read_hotpot_source(path: Path, seed: int = 0) -> Source:
    """The questions of a file in the form of HotpotQA, a JSON array or a line for each, read one at a time.

    Gold passages are the paragraphs of the supporting facts; the question's other paragraphs are its own distractors,
    and the pool is a sample of all, drawn with `seed`. Raises InputError for a record that has not this form.
    """
    # `_POOL` of the passages, each text once, every one with the same chance; fewer where there are no more
    random, seen, kept = Random(f"pool {seed}"), set[int](), list[Passage]()
    for passage in (p for asked in _read_hotpot_questions(path) for p in (*asked.oracles, *asked.near)):
        if (mark := hash_text(passage.text)) in seen:
            continue
        seen.add(mark)
        free = replace(passage, oracle=False, kind="")
        if len(kept) < _POOL:
            kept.append(free)
        elif (place := random.randrange(len(seen))) < _POOL:
            kept[place] = free
    return Source(path.stem, _read_hotpot_questions(path), tuple(kept), near="the file")


def hash_text(text: str) -> int:
    """A number of 64 bits that stands for a text, the same in every run."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _read_hotpot_questions(path: Path) -> Iterator[SourceQuestion]:
    for number, record in enumerate(stream_records(path), 1):
        try:
            # the context comes as pairs (title, sentences) or as columns, as the two public forms have it
            name = str(record.get("_id", record.get("id", "")))
            context, facts = record["context"], record["supporting_facts"]
            if isinstance(context, dict):
                context = list(zip(context["title"], context["sentences"], strict=True))
            gold = set(facts["title"] if isinstance(facts, dict) else [title for title, _ in facts])
            if not name or not isinstance(record["question"], str):
                raise ValueError("no _id, or no question")
            shown = [Passage(f"{name}/{title}", "".join(said).strip(), title, topic=title) for title, said in context]
            oracles = tuple(replace(p, oracle=True) for p in shown if p.title in gold)
            near = tuple(replace(p, kind="own") for p in shown if p.title not in gold)
            kind = str(record.get("type") or "")
            right, parts = read_answers(record)
            yield SourceQuestion(name, record["question"], right, oracles, near, kind, parts=parts)
        except (KeyError, TypeError, ValueError, IndexError) as e:
            raise InputError(
                f"{path}, record {number}: not in the form of HotpotQA ({type(e).__name__}: {e}); it needs _id, "
                "question, answer, supporting_facts and context."
            ) from e


def stream_records(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON array or of lines of JSON, one at a time. Raises InputError where it is neither."""
    decoder, text, end = json.JSONDecoder(), "", False
    with path.open(encoding="utf-8-sig") as file:
        while not end:
            more = file.read(_READ)
            end, text, place = not more, text + more, 0
            while (place := _BETWEEN.match(text, place).end()) < len(text):  # type: ignore[union-attr]
                try:
                    value, place = decoder.raw_decode(text, place)
                except ValueError as e:
                    if end:
                        raise InputError(f"{path} is not valid JSON near {text[place : place + 60]!r}; fix it.") from e
                    break  # the rest of this value is not read yet
                if not isinstance(value, dict):
                    raise InputError(f"{path} holds {value!r:.60} where an object is due; give one for each question.")
                yield value
            text = text[place:]


# ── without what is personal ──


def mask_source(source: Source, mask: Mask, kinds: Sequence[str]) -> Source:
    """`source` with `mask` over questions, answers, reasoning and passages; `kinds` are those that it replaces."""
    kept = lru_cache(maxsize=_KEPT)(mask)

    def mask_question(asked: SourceQuestion | DroppedQuestion) -> SourceQuestion | DroppedQuestion:
        if isinstance(asked, DroppedQuestion):
            return asked
        return replace(
            asked,
            question=kept(asked.question),
            answers=tuple(dict.fromkeys(map(kept, asked.answers))),
            parts=tuple(map(kept, asked.parts)),
            oracles=tuple(mask_passage(p, kept) for p in asked.oracles),
            near=tuple(mask_passage(p, kept) for p in asked.near),
            reasoning=kept(asked.reasoning),
        )

    questions = map(mask_question, source.questions)
    pool = LazyPassages(len(source.pool), lambda place: mask_passage(source.pool[place], kept))
    topics = tuple((kept(topic), n) for topic, n in source.topics)
    return replace(source, questions=questions, pool=pool, masked=tuple(kinds), topics=topics)


def mask_passage(passage: Passage, mask: Mask) -> Passage:
    """A passage with everything personal replaced, in its title and topic too."""
    return replace(passage, text=mask(passage.text), title=mask(passage.title), topic=mask(passage.topic))
