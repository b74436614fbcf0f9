"""The whole table of retrieval: every method that names documents × every judged set, with titles and without.

    python bench/all_retrieval.py [--data DIR] [--cache DIR] [--set NAME …] [--methods A,B] [--form NAME …]
                                  [--minutes N] [--again] [--json FILE]

All methods of `sensegraph show methods` take part, each with its defaults, offline, over one index a set and form.
Questions of qmsum are asked within their meeting; `a+b` is a set of the documents and questions of both. What a method
found on a set is kept in `--cache`, so that the command goes on where it was stopped and a new method costs only its
own cells. A cell is kept for as long as the set, the method's settings, the engine and the embedder are the same.
Cells that other code of the method measured are counted under the table, and `--again` measures them anew.

Where the questions of a set would take more than `--minutes` of CPU, a sample of them is asked, whose size the table
tells: the first so many of one seeded order; a run with a higher limit replaces it. It ends with the tables as text,
then as Markdown; `--json` writes all. Beside them stand published figures (bench/published.toml).
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from client import options
from retrieval_table import TITLED, UNTITLED, Cell, Column, as_object, markdown, text
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError
from sensegraph.index.index import Index
from sensegraph.index.parts import sort_parts
from sensegraph.lab.retrieval.retrieval_tables import list_method_settings
from sensegraph.lab.retrieval.runs import Found, Named, ask_methods, cpu_seconds, group_queries
from sensegraph.lab.retrieval.test_collections import JudgedSet, Query, read_set
from sensegraph.methods import METHODS, load_method
from sensegraph.protocols import PartName, Task
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.keys import key
from sensegraph.runtime.stores.sqlite import SqliteStore

SETS = ("2wiki", "musique", "hotpotqa", "lihua-world", "qmsum", "multihop-news", "carol")
WITHIN = {"qmsum": "meeting"}
DEPTH = 10  # documents that a ranking should hold
SAMPLES = (200, 100, 50, 20, 10)  # questions of a sample
PROBE = 3  # questions that tell how long all would take
GRAPH: frozenset[PartName] = frozenset({"graph"})
REPORTS: frozenset[PartName] = frozenset({"reports"})  # local reads them where there are some
_INDEXING: frozenset[Task] = frozenset({"extract", "survey", "summarise", "report"})


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--cache", default="bench/out/retrieval", help="folder for indexes and what was found")
    parser.add_argument("--set", action="append", dest="sets", help="a set, or several as one: a+b; repeatable")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--form", action="append", dest="forms", choices=[TITLED, UNTITLED])
    parser.add_argument("--minutes", type=float, default=10, help="of CPU for a method on a set, else a sample")
    parser.add_argument("--again", action="store_true", help="measure anew what other code has measured")
    parser.add_argument("--json", help="write everything there")
    given = parser.parse_args()
    columns = list(measured(given))
    print(text(columns))
    print("\n" + markdown(columns))
    if given.json:
        Path(given.json).write_text(json.dumps(as_object(columns), indent=1, ensure_ascii=False), encoding="utf-8")


def measured(given: Namespace) -> Iterator[Column]:
    """Every set in every form, with the cells of all methods."""
    methods = [Named(name, load_method(name)) for name in given.methods.split(",")]
    for form in given.forms or (TITLED, UNTITLED):
        for name in given.sets or SETS:
            judged = judged_set(Path(given.data), name, titles=form == TITLED)
            titles = any(d.title for d in judged_set(Path(given.data), name).documents)
            place = Place(Path(given.cache), name, form if titles else TITLED)
            cells = tuple(place.cells(judged, methods, given))
            yield Column(name, form, judged.queries, cells, len(judged.documents), titles)


@cache
def judged_set(data: Path, name: str, *, titles: bool = True) -> JudgedSet:
    """A set, or several as one: ids then begin with the name of their own set, which is the type of the question."""
    parts = {part: read_set(data / part, titles=titles) for part in name.split("+")}
    return parts[name] if name in parts else union(name, parts)


def union(name: str, parts: dict[str, JudgedSet]) -> JudgedSet:
    documents = [replace(d, id=f"{part}/{d.id}") for part, one in parts.items() for d in one.documents]
    queries = [
        replace(q, id=f"{part}/{q.id}", type=part, gold={f"{part}/{d}": grade for d, grade in q.gold.items()})
        for part, one in parts.items()
        for q in one.queries
    ]
    return JudgedSet(name, "dev", tuple(documents), tuple(queries))


@dataclass(frozen=True, slots=True)
class Limit:
    """`count` questions, and the CPU seconds that they may take."""

    count: int
    seconds: float

    def sample(self, pace: float) -> int:
        """How many are asked at `pace` seconds each: all, or the largest sample in that time."""
        if self.count * pace <= self.seconds:
            return self.count
        fitting = (n for n in SAMPLES if n < self.count and n * pace <= self.seconds)
        return next(fitting, min(SAMPLES[-1], self.count))


@dataclass(frozen=True, slots=True)
class Kept:
    """A cell as it is kept: what it depends on, the code that measured it, and what was found.

    `pace` is the CPU seconds of a question by which the size of a sample was chosen.
    """

    key: str
    code: str
    failed: str
    found: tuple[Found, ...]
    pace: float = 0.0


class Place:
    """Where a set in one form is kept: its index, and a file for each method."""

    def __init__(self, cache_folder: Path, name: str, form: str) -> None:
        self.name, self.form = name, form
        self.root, self.folder = (cache_folder / kind / form / name for kind in ("index", "cells"))

    def cells(self, judged: JudgedSet, methods: Sequence[Named], given: Namespace) -> Iterator[Cell]:
        """What every method found, from its file or measured now."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        with Corpus.open(self.root, settings={"engine": "offline", "index": {"parts": parts_of(methods)}}) as corpus:
            ground = key(judged.documents, judged.queries, WITHIN.get(self.name, ""))
            asking: Asking | None = None
            for one in methods:
                wanted = key(ground, tools(one, corpus), one.method.name, list_method_settings(one))
                limit = Limit(len(judged.queries), 60 * given.minutes)
                cell = self._kept(one, wanted, given.again, limit)
                if cell is None:
                    asking = asking or Asking(corpus, self._built(corpus, judged), WITHIN.get(self.name, ""))
                    cell = self._made(one, wanted, judged.queries, asking, limit)
                yield cell

    def _kept(self, one: Named, wanted: str, again: bool, limit: Limit) -> Cell | None:
        """The cell of the file; none where that is of something else, or where there is time for a larger sample."""
        path = self.folder / f"{one.name}.json"
        if not path.is_file():
            return None
        told = msgspec.json.decode(path.read_bytes(), type=Kept)
        stale = told.code != code_of(one)
        larger = told.pace and limit.sample(told.pace) > len(told.found)
        gone = told.key != wanted or (stale and again) or larger
        return None if gone else Cell(one.name, told.found, told.failed, stale)

    def _built(self, corpus: Corpus, judged: JudgedSet) -> Index:
        """The index of exactly these documents."""
        before, size = cpu_seconds(), judged.megabytes
        if gone := sorted(corpus.document_keys().keys() - {d.id for d in judged.documents}):
            corpus.remove(*gone)
        corpus.add(judged.documents)
        computed = sum(corpus.build().computed.values())
        say(f"{self.form} {self.name}: {computed:,} results, {cpu_seconds() - before:.0f} CPU s for {size:.2f} MB")
        return corpus.index()

    def _made(self, one: Named, wanted: str, queries: Sequence[Query], asking: Asking, limit: Limit) -> Cell:
        """Ask all questions or a sample of them, and keep what was found."""
        began, failed, found, pace = time.monotonic(), "", tuple[Found, ...](), 0.0
        try:
            pace = asking.pace(one, queries)
            found = asking.ask(one, sample(queries, limit.sample(pace)))
        except SensegraphError as e:
            failed = f"{type(e).__name__}: {e}"
        path = self.folder / f"{one.name}.json"
        path.with_suffix(".part").write_bytes(msgspec.json.encode(Kept(wanted, code_of(one), failed, found, pace)))
        path.with_suffix(".part").replace(path)
        took = time.monotonic() - began
        say(f"{self.form} {self.name}: {one.name}, {len(found)} of {len(queries)} questions, {took:.1f} s {failed}")
        return Cell(one.name, found, failed)


@dataclass(frozen=True, slots=True)
class Asking:
    """Where questions are asked: an index that is open, and the field that a question shares with its documents."""

    corpus: Corpus
    index: Index
    within: str

    def pace(self, one: Named, queries: Sequence[Query]) -> float:
        """CPU seconds that a question takes, once the index is loaded."""
        self.ask(one, sample(queries, 1))
        began = time.process_time()
        self.ask(one, sample(queries, PROBE))
        return (time.process_time() - began) / PROBE

    def ask(self, one: Named, queries: Sequence[Query]) -> tuple[Found, ...]:
        """What a method finds for these questions, in their order; nothing that it computes is remembered."""
        groups, _ = group_queries(queries, self.within, self.index)
        with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(folder)) as upper:
            store: Any = Over(self.corpus.store, upper)
            rt = replace(self.corpus.runtime(), store=store, executor=SerialExecutor())
            (run,) = ask_methods([one], groups, self.index, rt, DEPTH)
        by_query = {f.query: f for f in run.found}
        return tuple(by_query[q.id] for q in queries if q.id in by_query)


class Over:
    """A store over another that is only read: what questions compute is forgotten, so that a rerun costs the same."""

    def __init__(self, base: SqliteStore, upper: SqliteStore) -> None:
        self.base, self.upper = base, upper

    def __getattr__(self, name: str) -> Any:
        return getattr(self.upper, name)  # write, write_rows, write_array, set_refs, spend, ledger

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        return self.base.read(keys) | self.upper.read(keys)

    def has(self, keys: Sequence[str]) -> set[str]:
        return self.base.has(keys) | self.upper.has(keys)

    def rows(self, k: str) -> Any:
        found = self.base.rows(k)
        return self.upper.rows(k) if found is None else found

    def array(self, k: str) -> Any:
        found = self.base.array(k)
        return self.upper.array(k) if found is None else found

    def ref(self, name: str) -> str | None:
        return self.base.ref(name)

    def refs(self, prefix: str = "") -> dict[str, str]:
        return self.base.refs(prefix)


def parts_of(methods: Sequence[Named]) -> list[PartName]:
    """The parts of an index that these methods read, or can."""
    wanted = GRAPH.union(*(m.method.reads for m in methods))
    wanted = wanted | REPORTS if any(m.method.name == "local" for m in methods) else wanted
    return list(sort_parts(wanted))


def tools(one: Named, corpus: Corpus) -> list[str]:
    """The fingerprints of the embedder, and of the engine for what an index takes and what the method asks of it."""
    engine, embedder = corpus.workspace.tools
    tasks = sorted(engine.tasks & (_INDEXING | one.method.requires))
    return [embedder.fingerprint(), *(engine.fingerprint(task) for task in tasks)]


def sample(queries: Sequence[Query], size: int) -> list[Query]:
    """The first `size` questions of a seeded order, in their own order; smaller samples are parts of larger ones."""
    order = list(range(len(queries)))
    Random(0).shuffle(order)
    return [queries[i] for i in sorted(order[:size])]


def code_of(one: Named) -> str:
    """A key of the source of a method, and of everything of the package that it imports."""
    seen: dict[str, str] = {}
    read_source(type(one.method).__module__, seen)
    return key(sorted(seen.items()))


def read_source(module: str, seen: dict[str, str]) -> None:
    """Add the keys of the sources of a module, and of all that it imports of the package, to `seen`."""
    if module in seen or not module.startswith("sensegraph"):
        return
    source, imported = _source(module)
    if source:
        seen[module] = key(source)
        for name in imported:
            read_source(name, seen)


@cache
def _source(module: str) -> tuple[str, tuple[str, ...]]:
    """The source of a module, and all names in it that may be modules; nothing for what is none."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # a name in a module, not a module
        return "", ()
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return "", ()
    source = Path(spec.origin).read_text(encoding="utf-8")
    froms = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom) and n.module]
    return source, tuple(name for n in froms for name in (n.module or "", *(f"{n.module}.{a.name}" for a in n.names)))


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
