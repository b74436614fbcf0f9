"""Asking every question of every method: the rankings, what they cost, and how much text would go to a model.

Context tokens and CPU are those of a method as it is set. Where such a retrieval names fewer documents than the
deepest measure looks at, the question is asked again with a context that cuts nothing (`widen_context`), and that
ranking counts: a budget for text must not look like a bad ranking.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sensegraph.answering.asking import rerank_evidence
from sensegraph.errors import InputError
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import restrict_to_scope, scope_holds
from sensegraph.lab.retrieval.test_collections import Query
from sensegraph.protocols import Method
from sensegraph.questions import Condition, Scope
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question

_PROCESSES = Path("/proc")

_ROOM = 1_000_000  # tokens: a context that cuts nothing
_CHUNKS = 10  # for each document that is looked at, as many chunks may be needed
_LISTS = ("top", "k")  # how methods call the number of chunks that they take


@dataclass(frozen=True, slots=True)
class Cost:
    """What an index took: CPU seconds of all processes, MB of text, the results computed (0: all were there)."""

    cpu_s: float
    megabytes: float
    computed: int

    @property
    def s_per_mb(self) -> float:
        """CPU seconds for one MB of text."""
        return self.cpu_s / self.megabytes if self.megabytes else 0.0


def cpu_seconds() -> float:
    """CPU of this process, its finished children, and, where /proc tells, of those that still run."""
    own = os.times()
    spent = own.user + own.system + own.children_user + own.children_system
    below: dict[int, list[tuple[int, float]]] = {}  # processes by their parent, with their CPU seconds
    for place in _PROCESSES.glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile, and its parent has counted it
        ticks = sum(int(n) for n in fields[11:15])  # its own, user and system, and those of its finished children
        below.setdefault(int(fields[1]), []).append((int(place.parent.name), ticks / os.sysconf("SC_CLK_TCK")))
    parents = [os.getpid()]
    while parents:
        for process, seconds in below.get(parents.pop(), []):
            parents.append(process)
            spent += seconds
    return spent


@dataclass(frozen=True, slots=True)
class Named:
    """A method under the name by which results list it: one method may run with several settings."""

    name: str
    method: Method


@dataclass(frozen=True, slots=True)
class Found:
    """What a method found for one question: documents, best first; CPU in seconds; `wide` where it was asked again."""

    query: str
    documents: tuple[str, ...]
    tokens: int
    cpu_s: float
    wide: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """What one method found for all questions, in their order."""

    method: str
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that are asked of the same part of the index."""

    scope: Scope
    queries: tuple[Query, ...]


def group_queries(queries: Sequence[Query], within: str, index: Index) -> tuple[list[Group], int]:
    """The questions by the value of their field `within`, and how many have no document to be asked of.

    Each is asked of the documents with the same value. Without a field all are asked of the whole index. Raises
    InputError where no question has a document.
    """
    if not within:
        return [Group(Scope(), tuple(queries))], 0
    found: dict[Any, list[Query]] = {}
    for query in queries:
        found.setdefault(dict(query.metadata).get(within), []).append(query)
    groups = [Group(Scope(where=(Condition(within, "=", v),)), tuple(q)) for v, q in found.items() if v is not None]
    groups = [g for g in groups if any(scope_holds(g.scope, d) for d in index.catalogue.documents)]
    if not groups:
        raise InputError(f"No question and document have the same {within!r} in their metadata; name another field.")
    return groups, len(queries) - sum(len(g.queries) for g in groups)


def ask_methods(
    methods: Sequence[Named], groups: Sequence[Group], index: Index, rt: Runtime, depth: int
) -> tuple[Run, ...]:
    """Every question asked of every method, for rankings at least `depth` documents deep where there are so many."""
    found: dict[str, list[Found]] = {m.name: [] for m in methods}
    total = len(methods) * sum(len(g.queries) for g in groups)
    for group in groups:
        inside = restrict_to_scope(index, group.scope)
        for one in methods:
            one.method.retrieve(Question(group.queries[0].text), inside, rt)  # loading is no query's cost
            for query in group.queries:
                found[one.name].append(_ask_method(one.method, query, inside, rt, depth))
                rt.progress("questions", sum(map(len, found.values())), total)
    return tuple(Run(name, tuple(each)) for name, each in found.items())


def _ask_method(method: Method, query: Query, index: Index, rt: Runtime, depth: int) -> Found:
    rt = replace(rt, noted=Counter())
    begun = time.process_time()
    evidence = _retrieve_evidence(method, query, index, rt)
    spent = time.process_time() - begun
    found = Found(query.id, _unique_documents(evidence), evidence.tokens, spent, notes=(*evidence.notes, *rt.noted))
    more = widen_context(method, depth)
    if len(found.documents) >= min(depth, len(index.catalogue.documents)) or more == method:
        return found
    ranked = _unique_documents(_retrieve_evidence(more, query, index, rt))
    return replace(found, documents=ranked, wide=True) if len(ranked) > len(found.documents) else found


def _retrieve_evidence(method: Method, query: Query, index: Index, rt: Runtime) -> Evidence:
    """What a search finds: in the order of the runtime's reranker, where it has one."""
    question = Question(query.text)
    return rerank_evidence(question, method.retrieve(question, index, rt), index, rt)


def _unique_documents(evidence: Evidence) -> tuple[str, ...]:
    return tuple(dict.fromkeys(evidence.documents))


def widen_context(method: Method, depth: int) -> Method:
    """`method` with room for rankings of `depth` documents, by its fields `context_tokens`, `top` and `k`."""
    own: dict[str, Any] = {f.name: getattr(method, f.name) for f in fields(method)}  # type: ignore[arg-type]
    more = {name: max(own[name], depth * _CHUNKS) for name in _LISTS if own.get(name)}  # 0 stands for all
    if "context_tokens" in own:
        more["context_tokens"] = max(own["context_tokens"], _ROOM)
    changed: Method = replace(method, **more)  # type: ignore[type-var]
    return changed


def write_runs(runs: Sequence[Run], folder: Path, name: str) -> list[Path]:
    """Write each run as `NAME.METHOD.trec`: query, Q0, document, rank, score (1 / rank), method; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for run in runs:
        tag = "".join(c if c.isalnum() or c in "-_.=" else "-" for c in run.method)
        ranked = ((f.query, rank, document) for f in run.found for rank, document in enumerate(f.documents, 1))
        lines = [f"{query} Q0 {document} {rank} {1 / rank:.6f} {tag}\n" for query, rank, document in ranked]
        path = folder / f"{name}.{tag}.trec"
        path.write_text("".join(lines), encoding="utf-8")
        written.append(path)
    return written
