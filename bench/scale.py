"""What an index of many passages costs: CPU by step, memory, disk, an update, nothing to do, opening, questions.

    python bench/scale.py [--passages N] [--processes 1] [--root DIR] [--only build,update,…] [--parts graph,…]

A synthetic corpus: documents of one passage of about 300 bytes that names five entities of as many as there are
passages, with five relations; an engine in the process that reads them back and costs next to nothing. So what is
measured is the machine's own work. Each phase runs in a process of its own, as a command of its own would: `build`
from nothing, `update` after one document was changed, `more` after one was added that has a new name, `nothing`
without any change, `open` and `questions`, each of which is asked through `Corpus.query`; the method `none` answers at
once, so that its row is what is done before and after any.

CPU is that of the process and of its workers; a step's is without that of steps inside it, and of workers only that of
processes that do one thing each in a very large build. Memory is the anonymous memory of the largest process, looked at
ten times a second: mapped files are left out, but for those in memory.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.garbage import GarbageCollector
from sensegraph.protocols import Task
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Answer,
    Chunk,
    Context,
    Document,
    Draft,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    Inquiry,
    Question,
    Report,
    Statement,
    Usage,
)

PHASES = ("build", "update", "more", "nothing", "open", "questions")
METHODS = ("none", "bm25", "naive", "local", "walk")
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
WORDS = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in ("n", "s", "", "t")][:15_000]
ADDED = 20_000  # documents that are handed over at once
ASKED = 20
LISTED_S = 0.1  # CPU from which a step is listed
PER_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class Given:
    """How many passages, how many workers, and which parts (by default the usual ones)."""

    passages: int
    processes: int = 1
    parts: str | None = None


# ── the corpus ──


def name_of(entity: int) -> str:
    """The name of an entity: two words of syllables."""
    found, rest = "", entity + len(SYLLABLES) ** 3
    while rest:
        found += SYLLABLES[rest % len(SYLLABLES)]
        rest //= len(SYLLABLES)
    return f"{found[:4].capitalize()} {found[4:].capitalize()}"


def named_in(passage: int, passages: int) -> list[str]:
    """The names in a passage: its own, two of passages near it, two of which a few are named very often."""
    draw = random.Random(passage)
    near = [(passage + draw.randint(-50, 50)) % passages for _ in range(2)]
    often = [int(passages * draw.random() ** 3) for _ in range(2)]
    return [name_of(i) for i in (passage, *near, *often)]


def document_of(passage: int, passages: int, more: str = "") -> Document:
    """A document of one passage of about 300 bytes."""
    draw, names = random.Random(passage + 7), named_in(passage, passages)

    def some(count: int) -> str:
        return " ".join(WORDS[int(len(WORDS) * draw.random() ** 4)] for _ in range(count))

    text = f"{names[0]} {some(8)} {names[1]}. The {some(8)} {names[2]} {some(6)} {names[3]}. "
    return Document(f"d{passage:08}", f"{text}It {some(10)} {names[4]} {some(12)}.{more}", names[0])


@dataclass(frozen=True)
class Reader:
    """An engine that knows what stands in each passage."""

    passages: int
    name: str = "synthetic"
    tasks: frozenset[Task] = frozenset({"extract", "summarise", "report", "answer"})
    batch: int = 64
    waits: bool = False
    quotes: bool = False

    def fingerprint(self, task: Task) -> str:
        return f"synthetic {task} {self.passages}"

    def usage(self) -> Usage:
        return Usage()

    def notes(self) -> tuple[str, ...]:
        return ()

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        return [self._extracted(named_in(int(c.document[1:]), self.passages)) for c in chunks]

    def _extracted(self, names: Sequence[str]) -> Extraction:
        pairs = [(names[0], other) for other in dict.fromkeys(names[1:])] + [(names[1], names[2])]
        return Extraction(
            tuple(ExtractedEntity(name, "thing", f"{name} is beside {names[0]}.") for name in dict.fromkeys(names)),
            tuple(ExtractedRelation(a, b, f"{a} goes with {b}.") for a, b in pairs if a != b),
        )

    def summarise(self, contexts: Sequence[Context]) -> list[str]:
        return [c.passages[0].text for c in contexts]

    def report(self, contexts: Sequence[Context]) -> list[Report]:
        return [Report(c.passages[0].title, (Statement("It is seen.", (c.passages[0].id,)),)) for c in contexts]

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        return [Draft((Statement("It is seen.", tuple(p.id for p in i.context.passages[:1])),)) for i in inquiries]


@dataclass(frozen=True)
class Nothing:
    """A method that answers at once."""

    name: str = "none"
    requires: frozenset[Task] = frozenset()
    reads: frozenset[str] = frozenset()

    def answer(self, question: Question, index: object, rt: Runtime) -> Answer:
        return Answer("")


# ── what is measured ──


def cpu() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def anonymous_mb(process: str | int = "self") -> float:
    """Anonymous memory of a process, and files in memory that it maps; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(("RssAnon", "RssShmem")))


def workers_of(process: str) -> list[str]:
    """The processes that a process has begun, and those that these have."""
    try:
        below = [pid for found in Path(f"/proc/{process}/task").glob("*/children") for pid in found.read_text().split()]
    except OSError:  # one has ended
        return []
    return [*below, *(pid for worker in below for pid in workers_of(worker))]


@dataclass(slots=True)
class Watch:
    """CPU seconds of every step, without that of steps inside it, and the most anonymous memory of a process.

    `memory` is the most of the process that is at a step, by steps.
    """

    by_step: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    memory: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    peak: float = 0.0
    _inner: list[float] = field(default_factory=list)
    _steps: list[str] = field(default_factory=lambda: [""])

    def look(self) -> None:
        """Note the memory of this process, of its workers, and of theirs."""
        own, step = anonymous_mb(), self._steps[-1]
        self.memory[step] = max(self.memory[step], own)
        self.peak = max(self.peak, own, *map(anonymous_mb, workers_of("self")))

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Count what happens meanwhile for this step."""
        began = time.process_time()
        self._inner.append(0.0)
        self._steps.append(step)
        try:
            yield
        finally:
            self._steps.pop()
            spent = time.process_time() - began
            self.by_step[step] += spent - self._inner.pop()
            if self._inner:
                self._inner[-1] += spent

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the steps of every runtime, and memory, meanwhile."""
        ended, plain = threading.Event(), {name: getattr(Runtime, name) for name in ("each", "once")}
        collect, apart = GarbageCollector.collect_grown, LocalExecutor.run_alone

        def look_often() -> None:
            while not ended.wait(PER_LOOK):
                self.look()

        def watched(run: Callable[..., Any]) -> Callable[..., Any]:
            def ran(rt: Runtime, step: Any, *values: Any, **settings: Any) -> Any:
                with self.timed(step.name):
                    return run(rt, step, *values, **settings)

            return ran

        def collected(garbage: GarbageCollector) -> None:
            with self.timed("collecting"):
                collect(garbage)

        def watched_apart(executor: LocalExecutor, work: Callable[[Any], Any], *given: Any) -> Any:
            found = apart(executor, partial(with_steps, work), *given)
            if isinstance(found, BaseException):
                return found
            for step, spent in found[1].items():
                self.by_step[step] += spent
            for step, most in found[2].items():
                self.memory[step] = max(self.memory[step], most)
            return found[0]

        for name, run in plain.items():
            setattr(Runtime, name, watched(run))
        GarbageCollector.collect_grown = collected  # type: ignore[method-assign]
        LocalExecutor.run_alone = watched_apart  # type: ignore[method-assign]
        looking = threading.Thread(target=look_often, daemon=True)
        looking.start()
        try:
            yield
        finally:
            ended.set()
            looking.join()
            self.look()
            for name, run in plain.items():
                setattr(Runtime, name, run)
            GarbageCollector.collect_grown = collect  # type: ignore[method-assign]
            LocalExecutor.run_alone = apart  # type: ignore[method-assign]


def with_steps(work: Callable[[Any], Any], errand: Any) -> tuple[Any, dict[str, float], dict[str, float]]:
    """What comes of work in a process of its own, and the CPU seconds and the memory of each step there."""
    watch = Watch()
    with watch.watching(), watch.timed("beside steps"):
        found = work(errand)
    return found, dict(watch.by_step), dict(watch.memory)


def opened(root: Path, given: Given, **more: Any) -> Corpus:
    """The corpus in a folder, with the engine that knows it."""
    settings: dict[str, Any] = {"engine": "offline", "embedder": "offline", "processes": given.processes}
    if given.parts is not None:
        settings["index"] = {"parts": [name for name in given.parts.split(",") if name]}
    return Corpus.open(root, settings=settings, engine=Reader(given.passages), **more)


def measured(corpus: Corpus, work: Callable[[], Any]) -> dict[str, Any]:
    """CPU seconds of `work` in all and by step, and the peak of memory."""
    watch, began = Watch(), cpu()
    with watch.watching(), watch.timed("beside steps"):
        work()
    steps = {"steps": dict(watch.by_step), "memory": dict(watch.memory)}
    return {"cpu": cpu() - began, "peak": watch.peak, **steps, "store": sizes(corpus)}


def sizes(corpus: Corpus) -> dict[str, float]:
    """Bytes on disk, and those of the largest value, block, list and array."""
    root, select = corpus.store.root, corpus.store.select  # type: ignore[attr-defined]
    arrays = [f.stat().st_size for f in (root / "arrays").glob("*.npy")]
    found: dict[str, float] = {"all": corpus.store.settle(), "arrays": sum(arrays), "array": max(arrays, default=0)}
    for kind in ("pack", "block", "list"):
        found[kind] = select(f"SELECT max(length(value)) FROM {kind}")[0][0] or 0
    return found


def build(root: Path, given: Given) -> dict[str, Any]:
    """Make the index from nothing."""
    passages = given.passages
    with opened(root, given) as corpus:
        size = 0

        def add_and_build() -> None:
            nonlocal size
            for begin in range(0, passages, ADDED):
                some = [document_of(i, passages) for i in range(begin, min(passages, begin + ADDED))]
                size += sum(len(d.text.encode()) for d in some)
                corpus.add(some)
            corpus.build()

        found = measured(corpus, add_and_build)
        return found | {"text": size, "counts": dict(made.counts) if (made := corpus.manifest()) else {}}


def update(root: Path, given: Given) -> dict[str, Any]:
    """Change one document and build."""
    with opened(root, given) as corpus:
        corpus.add(document_of(given.passages // 2, given.passages, f" Changed at {time.time()}."))
        return measured(corpus, corpus.build)


def more(root: Path, given: Given) -> dict[str, Any]:
    """Add one document, with a name that none of the others has, and build."""
    with opened(root, given) as corpus:
        corpus.add(document_of(given.passages, given.passages))
        return measured(corpus, corpus.build)


def nothing(root: Path, given: Given) -> dict[str, Any]:
    """Build though nothing was changed."""
    with opened(root, given) as corpus:
        return measured(corpus, corpus.build)


def open_(root: Path, given: Given) -> dict[str, Any]:
    """Open the corpus and its index."""
    spent = []
    for _ in range(2):  # the first time the package is imported
        began = cpu()
        with opened(root, given, create=False) as corpus:
            corpus.index()
            middle = cpu()
            corpus.status()
            spent = [middle - began, cpu() - middle]
    return {"cpu": spent[0], "status": spent[1], "peak": anonymous_mb()}


def questions(root: Path, given: Given) -> dict[str, Any]:
    """Ask of each method the first question and more."""
    found: dict[str, Any] = {}
    for method in METHODS:
        if method in ("local", "walk") and given.parts == "":
            continue
        own = {"method": Nothing()} if method == "none" else {}

        def asked(number: int, corpus: Corpus, method: str = method) -> float:
            began = time.process_time()
            corpus.query(f"What is {name_of((7919 * number) % given.passages)}?", method=method)
            return 1000 * (time.process_time() - began)

        with opened(root, given, create=False, **own) as corpus:
            asked(0, corpus)  # the package is imported
        with opened(root, given, create=False, **own) as corpus:
            first, *spent = [asked(i + 1, corpus) for i in range(ASKED + 1)]
        found[method] = {"first": first, "next": float(np.median(spent)), "most": max(spent)}
    return {"methods": found, "peak": anonymous_mb()}


RUN: dict[str, Callable[[Path, Given], dict[str, Any]]] = {
    "build": build, "update": update, "more": more, "nothing": nothing, "open": open_, "questions": questions,
}  # fmt: skip


def in_own_process(phase: str, root: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The figures of a phase."""
    program = [sys.executable, __file__, "--passages", str(given.passages), "--processes", str(given.processes)]
    program += ["--parts", given.parts] if given.parts is not None else []
    done = subprocess.run([*program, "--root", str(root), "--phase", phase], stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# ── what is printed ──


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a head as a Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(row)} |")


def _step_figures(of: dict[str, Any], step: str) -> str:
    return f"{of['steps'].get(step, 0.0):.2f}, {of['memory'].get(step, 0.0):,.0f}"


def print_tables(found: dict[str, dict[str, Any]], passages: int) -> None:
    """The figures as Markdown."""
    if "build" in found:
        counts, text = found["build"]["counts"], found["build"]["text"]
        said = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        print(f"\n{passages:,} passages ({text / 1e6:.1f} MB): {said}\n")
    built = {name: found[name] for name in PHASES[:4] if name in found}
    rows = []
    for name, of in built.items():
        store = of["store"]
        kinds = ("pack", "block", "list", "array")
        largest = max(kinds, key=lambda kind: store[kind])
        figures = (f"{of['cpu']:,.1f}", f"{of['peak']:,.0f}", megabytes(store["all"]), megabytes(store["arrays"]))
        rows.append([name, *figures, f"{megabytes(store[largest])} ({largest})", megabytes(store["pack"])])
    if rows:
        table("what,CPU s,peak MB,disk MB,arrays MB,largest MB,largest object MB".split(","), rows)
    steps = {step for of in built.values() for step, spent in of["steps"].items() if spent >= LISTED_S}
    first = next(iter(built.values()), {"steps": {}})["steps"]
    if steps:
        print("\nCPU s by step, and the most MB of a process that was at it:\n")
        ordered = sorted(steps, key=lambda step: -first.get(step, 0.0))
        rows = [[step, *(_step_figures(of, step) for of in built.values())] for step in ordered]
        table(["step", *built], rows)
    if "open" in found:
        of = found["open"]
        print(f"\nOpening: {1000 * of['cpu']:.1f} ms of CPU; status: {1000 * of['status']:.1f} ms.")
    if "questions" in found:
        of = found["questions"]
        print(f"\nQuestions, ms of CPU, each method in turn in one process ({of['peak']:,.0f} MB at the end):\n")
        rows = [[m, *(f"{s[k]:.1f}" for k in ("first", "next", "most"))] for m, s in of["methods"].items()]
        table(["method", "first", f"median of {ASKED}", "most"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=1, help="workers (0: one a core)")
    parser.add_argument("--parts", help="parts of the index (default: the usual ones; empty: none)")
    parser.add_argument("--root", type=Path, help="folder of the corpus, which is kept (default: a temporary one)")
    parser.add_argument("--only", default=",".join(PHASES), help="phases; without build there must be an index")
    parser.add_argument("--phase", choices=PHASES, help="run one phase here and print its figures as JSON")
    given = parser.parse_args()
    if given.phase:
        print(json.dumps(RUN[given.phase](given.root, Given(given.passages, given.processes, given.parts))))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for phase in given.only.split(","):
            found[phase] = in_own_process(phase, given.root or Path(folder), given)
            print(f"{phase} is done", file=sys.stderr)
        print_tables(found, given.passages)


if __name__ == "__main__":
    main()
