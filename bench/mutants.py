"""How many small changes of the code the tests notice: seeded mutants, each run against the tests that reach its line.

    python bench/mutants.py --seed 1 --count 400          # drawn evenly over the modules of the package
    python bench/mutants.py --near --minutes 4 --only language/blocks.py     # against the tests beside it, as CI does
    python bench/mutants.py --only models/endpoint --tests tests/models --count 20 --show   # few tests: quick

One mutant is one change of one expression or statement: a comparison, an operator, a constant, a condition turned
round, a call left out. Of constants, a whole number up to 3 becomes the next one, 0.0 becomes 1.0, and any other number
ten times as much (60 becomes 600, 0.2 becomes 2.0): 61 for 60 is no mistake that somebody makes. A mutant is noticed
when one of the tests that run its line fails; a line that no test runs is not noticed. A line that is run when its
module is imported (a constant, a default) is tested by the table of usual values (tests/test_usual_values.py), which
reads it and runs no line, and by those tests that together run most of the module. Which tests run which line, and how
long each takes, is measured first, by all tests under coverage (kept under bench/out/mutants until the code or the
tests change; --map takes an older one as it is). Mutants that change nothing that can be seen stand in
bench/mutants-equivalent.toml with the reason. --near maps only the tests that are named after the modules or stand in
the folders that mirror theirs; with --minutes only fast ones. The status
is 1 when the score is below --least.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
SOURCE = TREE / "src" / "sensegraph"
OUT = HERE / "out" / "mutants"
EQUIVALENT = HERE / "mutants-equivalent.toml"
MOST_TESTS, MOST_SECONDS = 400, 15.0  # that one mutant is run against, the nearest first
USUAL = "tests/test_usual_values.py"  # what is pinned of constants and defaults, whatever test imports their module
PATIENCE = 4.0  # a mutant that makes the tests run longer than so many times what they usually take is noticed

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NEARLY = 3  # up to which a whole number becomes the next one; a larger one or a fraction becomes ten times as much
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the file below the package, the line, what stood there and what stands there now."""

    file: str
    line: int
    before: str
    after: str
    text: str = ""  # the whole changed file
    defines: bool = False  # whether it runs when the module is imported, and in no function

    @property
    def name(self) -> str:
        """What it is listed under: it outlives changes of other lines."""
        return f"{self.file}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: `noticed`, `unnoticed`, `unreached` (no test runs the line) or `equivalent`."""

    mutant: Mutant
    fate: str
    tests: int
    seconds: float


# ── mutants ──


class Places(ast.NodeVisitor):
    """The changes that can be made in a module, each as the node and what it becomes."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.AST, ast.AST]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """`frozen` and `slots` are rules of writing, the former checked by tests/test_budgets.py."""
        for decorator in node.decorator_list:
            for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
                if keyword.arg not in ("frozen", "slots"):
                    self.visit(keyword.value)
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What an error says is no behaviour that a mutant should change."""

    def visit_If(self, node: ast.If) -> None:
        if any(name in ast.unparse(node.test) for name in ("TYPE_CHECKING", "__main__")):
            return
        self.found.append((node.test, ast.UnaryOp(ast.Not(), node.test)))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.found.append((node, ast.IfExp(node.test, node.orelse, node.body)))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
            self.found.append((node, ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in COMPUTED and not any(isinstance(n, ast.JoinedStr) for n in (node.left, node.right)):
            self.found.append((node, ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.found.append((node, ast.BoolOp(other, node.values)))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.found.append((node, node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.found.append((node, ast.Constant(not node.value)))
        elif isinstance(node.value, int | float):
            near = isinstance(node.value, int) and abs(node.value) <= NEARLY
            self.found.append((node, ast.Constant(node.value + 1 if near or not node.value else node.value * 10)))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
            self.found.append((node.func, ast.Name(SWAPPED[node.func.id], ast.Load())))
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.keyword) and is_check_of_lengths(node, child)):
                self.visit(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.found.append((node, ast.Pass()))
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in COMPUTED:
            self.found.append((node, ast.AugAssign(node.target, COMPUTED[type(node.op)](), node.value)))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and not isinstance(node.value, ast.Constant):
            self.generic_visit(node)


def is_check_of_lengths(call: ast.Call, given: ast.keyword) -> bool:
    """Whether it is `strict=True` of a zip: like `frozen` a rule of writing (ruff B905), and no behaviour."""
    zipped = isinstance(call.func, ast.Name) and call.func.id == "zip" and given.arg == "strict"
    return zipped and isinstance(given.value, ast.Constant) and given.value.value is True


@cache
def find_places(path: Path) -> tuple[str, list[tuple[ast.AST, ast.AST]]]:
    """The text of a module, and the changes that can be made in it."""
    text, places = path.read_text(encoding="utf-8"), Places()
    places.visit(ast.parse(text))
    return text, places.found


def make_mutant(path: Path, place: int) -> Mutant:
    """The mutant of one place of a module."""
    text, found = find_places(path)
    node, other = found[place]
    raw, starts = text.encode(), [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
    end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    changed = ast.unparse(ast.fix_missing_locations(ast.copy_location(other, node)))
    written = changed if isinstance(node, ast.stmt | ast.Name) else f"({changed})"
    after = (raw[:begin] + written.encode() + raw[end:]).decode()
    before, now = (" ".join(code.split())[:120] for code in (ast.unparse(node), changed))
    line = node.lineno  # type: ignore[attr-defined]
    return Mutant(path.relative_to(SOURCE).as_posix(), line, before, now, after, not is_in_function(path, line))


@cache
def lines_of_functions(path: Path) -> frozenset[int]:
    """The lines of the bodies of functions in a module, its defaults left out."""
    functions = (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.FunctionDef))
    bodies = ((f.body[0].lineno, f.body[-1].end_lineno or 0) for f in functions)
    return frozenset(line for first, last in bodies for line in range(first, last + 1))


def is_in_function(path: Path, line: int) -> bool:
    """Whether a line of a module runs when a function is called."""
    return line in lines_of_functions(path)


def room_of(file: str) -> str:
    """The package of a file; `.` for those at the top."""
    return file.partition("/")[0] if "/" in file else "."


def draw_mutants(files: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """`count` mutants: as many of every package, and of its modules in proportion to their places."""
    lot = random.Random(seed)
    rooms: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path in files:
        rooms[room_of(path.relative_to(SOURCE).as_posix())] += [(path, i) for i in range(len(find_places(path)[1]))]
    for places in rooms.values():
        lot.shuffle(places)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(rooms.values()):
        for room in sorted(rooms):
            if rooms[room] and len(drawn) < count:
                drawn.append(make_mutant(*rooms[room].pop()))
    return drawn


# ── which tests run which line ──


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests run what: by file and line, by file alone, and the seconds that each test takes."""

    lines: dict[str, dict[int, list[str]]]
    files: dict[str, list[str]]
    seconds: dict[str, float]
    broad: list[str]  # for what no test runs, as only definitions stand there: those that together run most files

    def choose(self, mutant: Mutant) -> list[str]:
        """The tests for a mutant: the nearest first, and of them those that run the fewest lines."""
        every = self.files.get(mutant.file, self.broad)
        tests = [USUAL, *every] if mutant.defines else self.lines.get(mutant.file, {}).get(mutant.line) or every
        chosen: list[str] = []
        left = MOST_SECONDS
        for test in sorted(tests, key=lambda test: rank_distance(test, mutant.file)):
            if chosen and self.seconds.get(test, 0.1) > left:
                continue
            chosen.append(test)
            left -= self.seconds.get(test, 0.1) + 0.01
            if left <= 0 or len(chosen) == MOST_TESTS:
                break
        return chosen


@cache
def find_mirror(file: str) -> Path:
    """The folder of tests that mirrors the one of a module, or the nearest above that there is."""
    folder = Path("tests", file).parent
    while not (TREE / folder).exists():
        folder = folder.parent
    return folder


def rank_distance(test: str, file: str) -> int:
    """How far a test stands from a module: 0 if its file bears the module's name, 1 in the mirroring folder, else 2."""
    folder, name = find_mirror(file), Path(test.partition("::")[0])
    if test.startswith(USUAL) or name.stem == f"test_{Path(file).stem}":
        return 0
    beside = folder in name.parents if folder.name != "tests" else folder == name.parent
    return 1 if beside else 2


def measure_reach(processes: int, tests: Sequence[str], kept: Path | None, minutes: float) -> Reach:
    """Run the tests under coverage, or read what an earlier run left; of a run over `minutes` nothing is known."""
    if kept is None:
        digest = hashlib.blake2b(" ".join(tests).encode(), digest_size=8)
        for path in sorted([*SOURCE.rglob("*.py"), *(TREE / "tests").rglob("*.py")]):
            digest.update(path.read_bytes())
        kept = OUT / f"{digest.hexdigest()}.coverage"
    if not kept.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        run = [sys.executable, "-m", "pytest", "-q", "-n", str(processes), "--durations=0", "--durations-min=0"]
        run += [
            "-m",
            "not finetune" if not minutes else "not finetune and not slow",
            "--cov",
            "--cov-context=test",
            "--cov-report=",
            *tests,
        ]
        env = os.environ | {"COVERAGE_FILE": str(kept)}
        try:
            limit = 60 * minutes if minutes else None
            told = subprocess.run(run, cwd=TREE, env=env, check=False, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            print(f"The tests took more than {minutes:.1f} minutes: which lines they run is not known.")
            return Reach({}, {}, {}, [])
        kept.with_suffix(".durations").write_text(told.stdout, encoding="utf-8")
    return read_reach(kept)


def read_reach(kept: Path) -> Reach:
    """The tests by file and line in a file of coverage with contexts, and their durations beside it."""
    from coverage.numbits import numbits_to_nums

    connection = sqlite3.connect(kept)
    contexts = dict(connection.execute("SELECT id, context FROM context"))
    files = dict(connection.execute("SELECT id, path FROM file"))
    by_test: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for file, context, bits in connection.execute("SELECT file_id, context_id, numbits FROM line_bits"):
        test, _, phase = contexts[context].rpartition("|")
        if test and phase != "teardown":
            by_test[test][files[file].rpartition("/sensegraph/")[2]] |= set(numbits_to_nums(bits))
    size = {test: sum(len(lines) for lines in reached.values()) for test, reached in by_test.items()}
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    reaching: dict[str, list[str]] = defaultdict(list)
    for test in sorted(by_test, key=lambda t: (size[t], t)):
        for name, lines in by_test[test].items():
            reaching[name].append(test)
            for line in lines:
                found[name][line].append(test)
    spread = {name: spread_over({t: by_test[t][name] for t in tests}) for name, tests in reaching.items()}
    broad = spread_over({t: by_test[t].keys() for t in sorted(by_test, key=lambda t: (-len(by_test[t]), size[t], t))})
    return Reach(found, spread, read_durations(kept.with_suffix(".durations")), broad)


def spread_over(reached: Mapping[str, Collection[object]]) -> list[str]:
    """The tests, those first that each reach something that none before them reached."""
    seen: set[object] = set()
    first: dict[str, None] = {}
    for test, things in reached.items():
        if not seen.issuperset(things):
            first[test] = None
            seen.update(things)
    return [*first, *(t for t in reached if t not in first)]


def read_durations(path: Path) -> dict[str, float]:
    """Seconds of each test, set-up included."""
    seconds: dict[str, float] = defaultdict(float)
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if found := re.match(r"([0-9.]+)s (?:call|setup) +(.+)$", line):
            seconds[found[2]] += float(found[1])
    return dict(seconds)


# ── running ──


def judge(mutant: Mutant, tests: Sequence[str], usual: float, folder: Path) -> Verdict:
    """Run the tests that reach a mutant against it."""
    if not tests:
        return Verdict(mutant, "unreached", 0, 0.0)
    place = folder / "src" / "sensegraph" / mutant.file
    whole = place.read_text(encoding="utf-8")
    place.write_text(mutant.text, encoding="utf-8")
    started = time.monotonic()
    try:
        run = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
        env = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        status = subprocess.run(
            [*run, *tests], cwd=folder, env=env, capture_output=True, timeout=60 + PATIENCE * usual, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        status = 1
    finally:
        place.write_text(whole, encoding="utf-8")
    return Verdict(mutant, "unnoticed" if status == 0 else "noticed", len(tests), time.monotonic() - started)


def judge_all(mutants: Sequence[Mutant], reach: Reach, processes: int, minutes: float, show: bool) -> list[Verdict]:
    """The verdicts on mutants, as many as there is time for."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
    equal = {entry["mutant"] for entry in listed.get("equivalent", [])}
    ends = time.monotonic() + minutes * 60 if minutes else float("inf")
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / str(i) for i in range(processes)]
        for folder in folders:
            for part in ("src", "tests", "bench", "docs", "examples"):
                shutil.copytree(TREE / part, folder / part, ignore=shutil.ignore_patterns("out", "__pycache__"))
            for path in [p for p in TREE.iterdir() if p.is_file()]:
                shutil.copy(path, folder / path.name)
        free = list(folders)

        def run(mutant: Mutant) -> Verdict | None:
            if mutant.name in equal:
                return Verdict(mutant, "equivalent", 0, 0.0)
            if time.monotonic() > ends:
                return None
            folder = free.pop()
            try:
                tests = reach.choose(mutant)
                verdict = judge(mutant, tests, sum(reach.seconds.get(t, 0.1) for t in tests), folder)
            finally:
                free.append(folder)
            if show or verdict.fate != "noticed":
                print(
                    f"{verdict.fate:10} {verdict.seconds:5.1f} s {verdict.tests:3} tests  {mutant.file}:{mutant.line}"
                )
                print(f"           {mutant.before}  →  {mutant.after}", flush=True)
            return verdict

        with ThreadPoolExecutor(processes) as pool:
            return [v for v in pool.map(run, mutants) if v]


def find_near_tests(files: Sequence[Path]) -> list[str]:
    """The files of tests that are named after the modules; for others the folders of `tests/` that mirror theirs."""
    found: dict[str, None] = {}
    for path in files:
        folder = TREE / "tests" / path.parent.relative_to(SOURCE)
        names = [folder / f"test_{path.stem}.py"]
        if not names[0].exists():
            folder = TREE / find_mirror(path.relative_to(SOURCE).as_posix())
            names = [folder] if folder != TREE / "tests" else sorted(folder.glob("test_*.py"))
        found |= dict.fromkeys(name.relative_to(TREE).as_posix() for name in names)
    return list(found)


def print_scores(verdicts: Sequence[Verdict]) -> float:
    """A table by package, and the share of the mutants that are no equivalents which was noticed."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for v in verdicts:
        if v.fate != "equivalent":
            rooms[room_of(v.mutant.file)].append(v.fate)
    print("\n| package | mutants | noticed | score |\n|---|---:|---:|---:|")
    for room, fates in sorted(rooms.items()):
        noticed = fates.count("noticed")
        print(f"| `{room}` | {len(fates)} | {noticed} | {100 * noticed / len(fates):.0f} % |")
    every = [fate for fates in rooms.values() for fate in fates]
    score = every.count("noticed") / len(every) if every else 1.0
    equal = sum(v.fate == "equivalent" for v in verdicts)
    print(f"| together | {len(every)} | {every.count('noticed')} | {100 * score:.1f} % |  ({equal} equivalent besides)")
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--only", nargs="*", default=[], help="only these files or folders, below the package")
    parser.add_argument(
        "--near", action="store_true", help="only tests in the folders that mirror those of the modules"
    )
    parser.add_argument("--tests", nargs="*", default=[], help="only these tests are run (default: all)")
    parser.add_argument("--map", type=Path, help="which tests run which line, as an earlier run left it")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long (0: when all are done)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.0, help="percent below which the status is 1")
    parser.add_argument("--show", action="store_true", help="print every mutant, not only those that nobody noticed")
    given = parser.parse_args()
    files = sorted(SOURCE.rglob("*.py"))
    if given.only:
        below = [name.removeprefix("src/sensegraph/") for name in given.only]
        files = [f for f in files if any(f.relative_to(SOURCE).as_posix().startswith(name) for name in below)]
    drawn = draw_mutants(files, given.count, given.seed)
    print(f"seed {given.seed}: {len(drawn)} mutants of {len(files)} modules", flush=True)
    tests = find_near_tests(files) if given.near else given.tests
    started = time.monotonic()
    reach = measure_reach(given.processes, tests, given.map, 0.6 * given.minutes)
    if not reach.broad:
        return
    left = max(0.1, given.minutes - (time.monotonic() - started) / 60) if given.minutes else 0.0
    score = print_scores(judge_all(drawn, reach, given.processes, left, given.show))
    sys.exit(1 if score * 100 < given.least else 0)


if __name__ == "__main__":
    main()
