"""How many small changes of the code the tests notice: seeded mutants, each run against the tests that reach its line.

    python bench/mutants.py --seed 1 --count 400          # drawn evenly over the modules of the package
    python bench/mutants.py --near --minutes 4 --only language/blocks.py     # against the tests beside it, as CI does
    python bench/mutants.py --only models/endpoint --tests tests/models --count 20 --show   # few tests: quick

One mutant is one change of one expression or statement: a comparison, an operator, a constant, a condition turned
round, a call left out. Of constants, a whole number up to 3 becomes the next one, 0.0 becomes 1.0, and any other number
ten times as much (60 becomes 600, 0.2 becomes 2.0): 61 for 60 is no mistake that somebody makes. A mutant is noticed
when one of the tests that run its statement fails, of those for which there is time (--seconds), the nearest first; one
that no test runs is not noticed. bench/mutants_in_place.py finds out which tests run which mutant, and tries it. What
runs when its module is imported (a constant, a default) is tried from files, against the table of usual values
(tests/test_usual_values.py), which reads it, and the nearest tests that run the module. A module that imports what is
not installed is left out, and named: install its extra to try it. Mutants that change nothing
that can be seen stand in bench/mutants-equivalent.toml with the reason. --near runs only the tests that are named after
the modules or stand in the folders that mirror theirs; with --minutes only fast ones. --named tries the mutants of
bench/mutants-named.toml, each against the one test that it names. The status is 1 when the score is below --least.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as tests/conftest.py: before anything imports it

import sensegraph
from mutants_in_place import FAILED, FUNCTIONS, PASSED, UNTRIED, Change, Reached, try_in_place

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
SOURCE = TREE / "src" / "sensegraph"
EQUIVALENT, NAMED = HERE / "mutants-equivalent.toml", HERE / "mutants-named.toml"
USUAL = "tests/test_usual_values.py"  # what is pinned of constants and defaults, whatever test imports their module
LONGEST = 300.0  # seconds, after which what is tried from files is noticed

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
    span: tuple[int, int, int, int] = (0, 0, 0, 0)  # line and column of its beginning and its end

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

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

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
    span = (line, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    defines = not any(first <= span[:2] and span[2:] <= last for first, last in find_bodies(path))
    return Mutant(path.relative_to(SOURCE).as_posix(), line, before, now, after, defines, span)


@cache
def find_bodies(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where what runs when a function of a module is called begins and ends, lambdas too; defaults are left out."""
    bodies: list[tuple[ast.AST, ast.AST]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, FUNCTIONS):
            bodies.append((node.body[0], node.body[-1]))
        elif isinstance(node, ast.Lambda):
            bodies.append((node.body, node.body))
    return [((a.lineno, a.col_offset), (b.end_lineno, b.end_col_offset)) for a, b in bodies]  # type: ignore[attr-defined]


@cache
def find_missing_library(path: Path) -> str | None:
    """What a module imports, anywhere in it, and is not installed."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        for name in names:
            if find_spec(name.partition(".")[0]) is None:
                return name.partition(".")[0]
    return None


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


# ── which tests ──


def choose_tests(mutant: Mutant, tests: Iterable[str], seconds: Mapping[str, float], most: float) -> list[str]:
    """Of the tests that run a mutant those for which there is time: the nearest first, and of them the quickest."""
    chosen: list[str] = []
    for test in sorted(tests, key=lambda test: (rank_distance(test, mutant.file), seconds.get(test, 0.0), test)):
        took = seconds.get(test, 0.0) + 0.005
        if not chosen or took <= most:
            chosen.append(test)
            most -= took
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


# ── running ──


def judge_from_files(mutant: Mutant, tests: Sequence[str], folder: Path) -> Verdict:
    """Run the tests of a mutant against a copy of the tree that has it, which is made where it is not there yet."""
    if not (folder / "src").exists():
        for part in ("src", "tests", "bench", "docs", "examples"):
            shutil.copytree(TREE / part, folder / part, ignore=shutil.ignore_patterns("out", "__pycache__"))
        for path in [p for p in TREE.iterdir() if p.is_file()]:
            shutil.copy(path, folder / path.name)
    place = folder / "src" / "sensegraph" / mutant.file
    whole = place.read_text(encoding="utf-8")
    place.write_text(mutant.text, encoding="utf-8")
    started = time.monotonic()
    try:
        run = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
        env = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        status = subprocess.run(
            [*run, *tests], cwd=folder, env=env, capture_output=True, timeout=LONGEST, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        status = 1
    finally:
        place.write_text(whole, encoding="utf-8")
    return Verdict(mutant, "unnoticed" if status == 0 else "noticed", len(tests), time.monotonic() - started)


class Judging:
    """Mutants held against their tests: in place where they can be, else from files."""

    def __init__(self, given: argparse.Namespace, mutants: Sequence[Mutant], named: Sequence[str] = ()) -> None:
        """`named` is for each mutant the one test that it is held against."""
        listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
        equal = {entry["mutant"] for entry in listed.get("equivalent", [])}
        self.given, self.named = given, named
        self.verdicts = [Verdict(m, "equivalent", 0, 0.0) for m in mutants if m.name in equal]
        self.mutants = [m for m in mutants if m.name not in equal]
        self.chosen: dict[int, list[str]] = {}
        self.whole = True  # whether it is known which tests run what: not where there was no time for all of them
        self.waiting: list[int] = []  # those that cannot be tried in place
        self.ends = time.monotonic() + given.minutes * 60 if given.minutes else float("inf")

    def judge_all(self, tests: Sequence[str]) -> list[Verdict]:
        """The verdicts on all for which there is time."""
        marked = "not finetune and not slow" if self.given.quick or self.given.minutes else "not finetune"
        changes = [Change(SOURCE / m.file, m.text, None if m.defines else m.span) for m in self.mutants]
        if changes:
            try_in_place(tests, marked, changes, self.given.processes, self.ends, self.choose, self.hear)
        with tempfile.TemporaryDirectory() as scratch:
            for number in self.waiting:
                if time.monotonic() > self.ends:
                    break
                mutant, tests = self.mutants[number], self.chosen[number]
                if mutant.defines:
                    tests = [USUAL, *(t for t in tests if not t.startswith(USUAL))]
                self.note(judge_from_files(mutant, tests, Path(scratch)), "")
        return self.verdicts

    def choose(self, number: int, reached: Reached) -> list[str]:
        """The tests for a mutant; those of one that is tried from files take longer."""
        mutant = self.mutants[number]
        most, self.whole = self.given.seconds / (4 if mutant.defines else 1), reached.whole
        tests = reached.tests.get(number, ())
        if self.named:
            tests = [test for test in tests if test.partition("[")[0] == self.named[number]]
        self.chosen[number] = choose_tests(mutant, tests, reached.seconds, most)
        return self.chosen[number]

    def hear(self, number: int, fate: int, seconds: float, by: str) -> None:
        """Note what became of a mutant in place."""
        mutant, tests = self.mutants[number], self.chosen[number]
        if fate == UNTRIED and (mutant.defines or tests):
            self.waiting.append(number)
        elif tests or self.whole:
            fates = {FAILED: "noticed", PASSED: "unnoticed"}
            self.note(Verdict(mutant, fates.get(fate, "unreached"), len(tests), seconds), by)

    def note(self, verdict: Verdict, by: str) -> None:
        self.verdicts.append(verdict)
        if self.given.show or verdict.fate != "noticed":
            mutant = verdict.mutant
            print(f"{verdict.fate:10} {verdict.seconds:5.1f} s {verdict.tests:3} tests  {mutant.file}:{mutant.line}")
            print(f"           {mutant.before}  →  {mutant.after}", flush=True)
            if by and self.given.show:
                print(f"           by {by}", flush=True)


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


def try_named(given: argparse.Namespace) -> int:
    """Each mutant of bench/mutants-named.toml against the one test that it names: a table, and the status."""
    mutants, named = list[Mutant](), list[dict[str, str]]()
    for entry in tomllib.loads(NAMED.read_text(encoding="utf-8"))["named"]:
        path = SOURCE / entry["mutant"].partition(": ")[0]
        lines = path.read_text(encoding="utf-8").splitlines()
        every = (make_mutant(path, i) for i in range(len(find_places(path)[1])))
        own = [m for m in every if m.name == entry["mutant"] and entry.get("line", "") in lines[m.line - 1]]
        if not own:
            raise SystemExit(f"There is no mutant {entry['mutant']}: list it anew in {NAMED}.")
        mutants += own
        named += [entry] * len(own)
    files = sorted({entry["test"].partition("::")[0] for entry in named})
    verdicts = Judging(given, mutants, [entry["test"] for entry in named]).judge_all(files)
    fates = {(v.mutant.name, v.mutant.line): v.fate for v in verdicts}
    print("| what it breaks | mutant | test | |\n|---|---|---|---|")
    for entry, mutant in zip(named, mutants, strict=True):
        print(f"| {entry['breaks']} | `{mutant.name}` | `{entry['test']}` | {fates[mutant.name, mutant.line]} |")
    return 0 if set(fates.values()) == {"noticed"} else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--only", nargs="*", default=[], help="only these files or folders, below the package")
    parser.add_argument("--near", action="store_true", help="only the tests beside the modules")
    parser.add_argument("--tests", nargs="*", default=[], help="only these tests are run (default: all)")
    parser.add_argument("--quick", action="store_true", help="no tests that are marked as slow")
    parser.add_argument("--named", action="store_true", help="those of bench/mutants-named.toml, each by its own test")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long (0: when all are done)")
    parser.add_argument("--seconds", type=float, default=15.0, help="CPU seconds of tests for one mutant")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.0, help="percent below which the status is 1")
    parser.add_argument("--show", action="store_true", help="print every mutant, not only those that nobody noticed")
    given = parser.parse_args()
    if Path(sensegraph.__file__).resolve().parent != SOURCE:
        raise SystemExit(f"The tests would run {sensegraph.__file__}: set PYTHONPATH={TREE / 'src'}.")
    if given.named:
        sys.exit(try_named(given))
    files = sorted(SOURCE.rglob("*.py"))
    if given.only:
        below = [name.removeprefix("src/sensegraph/") for name in given.only]
        files = [f for f in files if any(f.relative_to(SOURCE).as_posix().startswith(name) for name in below)]
    for path in [f for f in files if find_missing_library(f)]:
        print(f"left out: {path.relative_to(SOURCE)} ({find_missing_library(path)} is not installed)")
        files.remove(path)
    drawn = draw_mutants(files, given.count, given.seed)
    print(f"seed {given.seed}: {len(drawn)} mutants of {len(files)} modules", flush=True)
    score = print_scores(Judging(given, drawn).judge_all(find_near_tests(files) if given.near else given.tests))
    sys.exit(1 if score * 100 < given.least else 0)


if __name__ == "__main__":
    main()
