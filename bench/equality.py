"""Whether the working tree builds and answers as an earlier commit does, byte for byte: a net under redesigns.

    python bench/equality.py --quick              # between commits: the book and 30 documents of podcast
    python bench/equality.py [--data DIR]         # the book, musique and 300 documents of podcast, 20 questions each
    python bench/equality.py --cpu --rounds 3     # CPU of builds and questions, both trees in turns

Two trees: the commit `--base` (default: the one in bench/equality-differences.toml), unpacked into a temporary folder,
and this working tree. Each builds an index with all parts of every corpus, offline and over the scripted server (the
base's program for both), asks every question by every method, exports in every format and runs commands that read the
index. Compared are the stores (objects, tables, arrays, refs, ledger, manifest: so all keys and all values), what the
build returned, answers with evidence, citations, notes and usage, exported and drawn files, and what commands print.
The two trees run with different hash seeds. Then the working tree opens a copy of the base's store and builds again:
0 steps computed, 0 requests, and an estimate of nothing.

Only the working tree runs where bench/out/equality holds what the base left. Deliberate differences are listed in
bench/equality-differences.toml. The status is 1 when anything else differs.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from equality_compare import STEPS, Listed, Section, compare_cases, read_lines, read_listed, sums

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
OUT = HERE / "out" / "equality"
RUNNER = HERE / "equality_runner.py"
LISTED = HERE / "equality-differences.toml"
ENGINES = ("offline", "server")
PARTS = "graph reports concepts relations names facts sentences aggregates layers tree".split()
THEMES = (
    "What are the main themes?",
    "Who is mentioned most often, and why?",
    "What happened between 1990 and 2005?",
)
OPTIONS = (
    ("--method", "auto"),
    ("--method", "graphrag", "--depth", "1", "--check"),
    ("--method", "hybrid", "--during", "1990/2005"),
    ("--method", "walk", "--set", "methods.walk.diversify=mmr"),
)
RERANKED = ("--method", "hybrid", "--set", "rerank.by=endpoint", "--set", "endpoint.rerank_model=scripted")
SHOWN = 3  # differences of a section that are printed


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts with questions; `subject` is an entity of it, `scope` a pattern of documents, `moment` a date inside."""

    name: str
    texts: str  # below the data folder; empty: the book that the package holds
    documents: int  # at most
    subject: str
    scope: str
    moment: str


CORPORA = (
    Corpus("carol", "", 10, "Scrooge", "stave-1*", "1843"),
    Corpus("musique", "musique", 10_000, "London", "m000*", "1990"),
    Corpus("podcast", "podcast", 300, "Microsoft", "k0*", "2018"),
)
QUICK = (CORPORA[0], Corpus("podcast30", "podcast", 30, "Jacob Collier", "k00-00*", "2018"))


@dataclass(frozen=True, slots=True)
class Case:
    """A corpus with an engine."""

    corpus: Corpus
    engine: str
    questions: int

    @property
    def name(self) -> str:
        return f"{self.corpus.name}-{self.engine}"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two trees: its files, and the hash seed that it runs with."""

    name: str
    files: Path
    seed: int


@dataclass(frozen=True, slots=True)
class Bench:
    """What all runs share; `book` is the text that the base's package holds."""

    data: Path
    book: Path
    server: str
    methods: tuple[str, ...]
    processes: int


def main() -> None:
    given = options()
    base, listed = read_listed(LISTED)
    commit = git("rev-parse", given.base or base)
    cases = [Case(c, e, 3 if given.quick else 20) for c in chosen(given) for e in given.engine or ENGINES]
    with tempfile.TemporaryDirectory() as folder:
        files = unpacked(commit, Path(folder) / "base")
        sides = Side("base", files, 1), Side("tree", TREE, 2)
        with serving(files) as server:
            bench = Bench(
                given.data,
                files / "src" / "sensegraph" / "data" / "carol",
                server,
                known_methods(files),
                given.processes,
            )
            if given.cpu:
                measure_cpu(cases, sides, bench, given.rounds, Path(folder) / "cpu")
                return
            compare_trees(cases, sides, bench, OUT / commit[:12], OUT / ("quick" if given.quick else "full"), listed)


def compare_trees(
    cases: Sequence[Case], sides: Sequence[Side], bench: Bench, kept: Path, new: Path, listed: Sequence[Listed]
) -> None:
    """Run what was not run before, compare, and print; ends the program with 1 where anything differs unlisted."""
    started = time.perf_counter()
    shutil.rmtree(new, ignore_errors=True)
    before = {case: kept / f"{case.name}-{fingerprint(case)}" for case in cases}
    jobs = [(sides[0], case, place) for case, place in before.items() if not (place / "done").exists()]
    for _, _, unfinished in jobs:
        shutil.rmtree(unfinished, ignore_errors=True)
    jobs += [(sides[1], case, new / case.name) for case in cases]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: run_case(*job, bench), jobs))
    again = [check_store(sides[1], case, before[case], new / f"{case.name}-again", bench) for case in cases]
    sections = [s for case in cases for s in compare_cases(case.name, before[case], new / case.name, listed)]
    print_table(cases, sections)
    print("\nthe base's store in the working tree:", *again, sep="\n")
    for entry in listed:
        if not any(entry in s.used for s in sections):
            print(f"listed, and not met: {entry.pattern}")
    print(f"\n{time.perf_counter() - started:.0f} s; results of the base under {kept}, of the working tree under {new}")
    failed = sums(sections)["differ"] or any(line.endswith("FAILED") for line in again)
    print("DIFFERENT" if failed else "equal")
    sys.exit(1 if failed else 0)


def fingerprint(case: Case) -> str:
    """What a kept result of the base rests on besides the commit: the runner and what it is given."""
    asked = repr((case, THEMES, PARTS, OPTIONS, RERANKED)).encode()
    return hashlib.sha256(RUNNER.read_bytes() + asked).hexdigest()[:8]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="a commit (default: that of equality-differences.toml)")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--quick", action="store_true", help="small corpora and 3 questions each")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="only this; repeatable")
    parser.add_argument("--corpus", action="append", help="only this; repeatable")
    parser.add_argument("--cpu", action="store_true", help="measure CPU, both trees in turns, instead of comparing")
    parser.add_argument("--rounds", type=int, default=1, help="of --cpu")
    parser.add_argument("--processes", type=int, default=1, help="workers of an offline build; CPU is exact with 1")
    return parser.parse_args()


def chosen(given: argparse.Namespace) -> list[Corpus]:
    """The corpora that the arguments name."""
    all_of_them = QUICK if given.quick else CORPORA
    found = [c for c in all_of_them if c.name in (given.corpus or [c.name])]
    if not found:
        sys.exit(f"--corpus is one of {', '.join(c.name for c in all_of_them)}")
    return found


# ── the two trees and the server ──


def git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(TREE), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def unpacked(commit: str, folder: Path) -> Path:
    """The files of a commit, in a folder of their own."""
    packed = subprocess.run(["git", "-C", str(TREE), "archive", commit], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


@contextmanager
def serving(files: Path) -> Iterator[str]:
    """The address of the scripted server, whose replies depend on the request alone."""
    command = [sys.executable, str(files / "bench" / "scripted_server.py")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(files, 0))
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def environment(files: Path, seed: int) -> dict[str, str]:
    """The environment of a process that runs a tree: its package first, one thread of linear algebra, a hash seed."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(files / "src"), "PYTHONHASHSEED": str(seed)}


def known_methods(files: Path) -> tuple[str, ...]:
    """The methods of a tree, by name, in the order of the alphabet: a table may come in another order."""
    command = [sys.executable, "-m", "sensegraph", "methods", "--json"]
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=environment(files, 0)).stdout
    return tuple(sorted(method["name"] for method in json.loads(found)))


# ── one run ──


def run_case(side: Side, case: Case, folder: Path, bench: Bench, steps: Sequence[str] = STEPS) -> None:
    """Run one tree on one case in a folder, where a corpus may stand already. Ends the program when the run fails."""
    if not (folder / "corpus").is_dir():
        (folder / "corpus").mkdir(parents=True)
        put_documents(case, folder, bench)
    (folder / "corpus" / "sensegraph.toml").write_text(settings(case, bench), encoding="utf-8")
    job = {
        "documents": "documents" if not case.corpus.texts else "documents/corpus.jsonl",
        "questions": questions(case, bench.data),
        "methods": bench.methods,
        "subject": case.corpus.subject,
        "options": OPTIONS if case.engine == "offline" else (*OPTIONS, RERANKED),
        "scope": case.corpus.scope,
        "moment": case.corpus.moment,
        "steps": steps,
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    started = time.perf_counter()
    command = [sys.executable, str(RUNNER), "job.json"]
    done = subprocess.run(command, cwd=folder, env=environment(side.files, side.seed), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{side.name}, {case.name}: the run ended with {done.returncode}\n{done.stderr[-4000:]}")
    (folder / "done").touch()
    spent = json.loads((folder / "spent.json").read_text(encoding="utf-8"))
    cpu = ", ".join(f"{name} {seconds:.1f}" for name, seconds in spent.items())
    print(f"{side.name} {case.name}: {time.perf_counter() - started:.1f} s; CPU {cpu}", flush=True)


def settings(case: Case, bench: Bench) -> str:
    lines = [f'engine = "{"model" if case.engine == "server" else "offline"}"', f"processes = {bench.processes}"]
    lines += ["[index]", f"parts = {json.dumps(PARTS)}"]
    if case.engine == "server":
        lines += ["[model]", f"claims = {json.dumps(case.corpus.name == 'carol')}"]
        lines += ["[endpoint]", f'base_url = "{bench.server}"', 'model = "scripted"', 'embedding_model = "hashed"']
    return "\n".join([*lines, ""])


def put_documents(case: Case, folder: Path, bench: Bench) -> None:
    """The case's documents, copied below the folder, so that both trees read the same relative paths."""
    place = folder / "documents"
    if not case.corpus.texts:
        shutil.copytree(bench.book, place)
        return
    place.mkdir()
    lines = (bench.data / case.corpus.texts / "corpus.jsonl").read_text(encoding="utf-8").split("\n")
    (place / "corpus.jsonl").write_text("\n".join(lines[: case.corpus.documents]) + "\n", encoding="utf-8")


def questions(case: Case, data: Path) -> list[str]:
    """Questions of the whole, and the first ones of the data set."""
    themes = THEMES[: case.questions // 2]
    path = data / (case.corpus.texts or case.corpus.name) / "queries.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n")[: case.questions - len(themes)]
    return [*themes, *(json.loads(line)["text"] for line in lines)]


def check_store(side: Side, case: Case, kept: Path, folder: Path, bench: Bench) -> str:
    """Build again on a copy of the base's store; a line that says what was computed and asked."""
    for part in ("corpus", "documents"):
        shutil.copytree(kept / part, folder / part)
    run_case(side, case, folder, bench, ["build"])
    built = {name: json.loads(value) for name, value in read_lines(folder / "build.jsonl").items()}
    estimate = next(value for name, value in built.items() if name.startswith("estimate "))
    computed = {step: n for step, n in built["computed"].items() if n}
    asked = built["usage"]["calls"] + built["usage"]["embedding_calls"]
    foreseen = estimate["printed"]["calls"] + estimate["printed"]["tokens"]
    state = "ok" if not (computed or asked or foreseen) else "FAILED"
    return f"{case.name}: computed {computed or 0}, requests {asked}, foreseen calls and tokens {foreseen}: {state}"


# ── what is printed ──


def print_table(cases: Sequence[Case], sections: Sequence[Section]) -> None:
    print(f"\n{'case / section':40}{'equal':>9}{'listed':>9}{'differ':>9}")
    for section in sections:
        row = sums([section])
        print(f"{section.name:40}{row['equal']:9,}{row['listed']:9,}{row['differ']:9,}")
    row = sums(sections)
    print(f"{f'all {len(cases)} cases':40}{row['equal']:9,}{row['listed']:9,}{row['differ']:9,}")
    for section in sections:
        for difference in section.unlisted[:SHOWN]:
            print(f"\n{section.name}/{difference.name}\n  {difference.first}")


# ── CPU ──


def measure_cpu(cases: Sequence[Case], sides: Sequence[Side], bench: Bench, rounds: int, folder: Path) -> None:
    """CPU seconds of the runner's process by case, the two trees in turns, one process at a time."""
    spent: Counter[tuple[str, str, str]] = Counter()
    kinds = ("build", "questions")
    for number in range(rounds):
        for case in cases:
            for side in sides:
                place = folder / f"{case.name}-{side.name}-{number}"
                run_case(Side(side.name, side.files, 0), case, place, bench, kinds)
                found = json.loads((place / "spent.json").read_text(encoding="utf-8"))
                for kind in kinds:
                    for name in (case.name, "all"):
                        spent[name, kind, side.name] += found[kind] / rounds
    print(f"\nCPU seconds, user and system, mean of {rounds} rounds\n{'case':24}{'':12}", end="")
    print(f"{'base':>9}{'tree':>9}{'ratio':>9}")
    for name in (*(case.name for case in cases), "all"):
        for kind in kinds:
            before, after = (spent[name, kind, side.name] for side in sides)
            print(f"{name:24}{kind:12}{before:9.2f}{after:9.2f}{after / before:9.3f}")


if __name__ == "__main__":
    main()
