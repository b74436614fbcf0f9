"""The project's budgets: what they bound, measured. `python bench/budgets.py` prints every figure beside its bound.

The functions are shared with tests/test_budgets.py, which fails where a budget is broken.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TypeGuard

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "sensegraph"
SETTINGS = "corpus/settings.py"
NEEDED = {  # what modules import that `make setup` does not install
    "sensegraph.integrations.langchain": "langchain_core",
    "sensegraph.integrations.llama_index": "llama_index",
    "sensegraph.integrations.haystack": "haystack",
    "sensegraph.runtime.executors.ray": "ray",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Found:
    """A place in the package: `file:line name`."""

    file: str
    line: int
    name: str
    size: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


# ── the source ──


@cache
def read_sources(package: Path) -> tuple[tuple[str, str, ast.Module], ...]:
    """Every module of a package: its path inside the package, its text, and what it says. It is parsed once."""
    texts = [(p.relative_to(package).as_posix(), p.read_text(encoding="utf-8")) for p in sorted(package.rglob("*.py"))]
    return tuple((name, text, ast.parse(text)) for name, text in texts)


@cache
def read_nodes(package: Path) -> tuple[tuple[str, ast.AST], ...]:
    """Every node of every module."""
    return tuple((name, node) for name, _, tree in read_sources(package) for node in ast.walk(tree))


def modules() -> tuple[tuple[str, str, ast.Module], ...]:
    """Every module of this package."""
    return read_sources(PACKAGE)


def importable_modules() -> list[str]:
    """The names of all modules of this package but the main program and those that need what is not installed."""
    missing = {name for name, package in NEEDED.items() if find_spec(package) is None}
    paths = [name.removesuffix(".py").removesuffix("/__init__") for name, *_ in modules()]
    names = ["sensegraph." + p.replace("/", ".") for p in paths if p not in ("__init__", "__main__")]
    return [name for name in names if name not in missing]


def nodes() -> tuple[tuple[str, ast.AST], ...]:
    """Every node of every module of this package."""
    return read_nodes(PACKAGE)


def functions() -> list[Found]:
    """Every function with its number of lines, without its docstring."""
    return [Found(f, n.lineno, n.name, _length(n)) for f, n in nodes() if isinstance(n, Function)]


def _length(function: Function) -> int:
    whole = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    return whole - ((first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0)


def files() -> list[Found]:
    """Every module with its number of lines."""
    return [Found(name, 1, name, len(text.splitlines())) for name, text, _ in modules()]


def dataclasses_not_frozen() -> list[Found]:
    """Dataclasses that can be changed after they are made."""
    found = []
    for file, node in nodes():
        if isinstance(node, ast.ClassDef):
            marks = [d for d in node.decorator_list if "dataclass" in ast.unparse(d)]
            found += [Found(file, node.lineno, node.name) for d in marks if "frozen=True" not in ast.unparse(d)]
    return found


def broad_excepts() -> list[Found]:
    """Handlers of everything: bare, `Exception` or `BaseException`, alone or in a tuple, that do not raise again."""
    found = []
    for file, node in nodes():
        if isinstance(node, ast.ExceptHandler):
            names = {"BaseException"} if node.type is None else set(re.findall(r"\w+", ast.unparse(node.type)))
            again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if names & {"Exception", "BaseException"} and not again:
                found.append(Found(file, node.lineno, "except"))
    return found


def calls_of(*names: str) -> list[Found]:
    """Calls of these built-in functions."""
    return [
        Found(file, node.lineno, node.func.id)
        for file, node in nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def mutable_defaults() -> list[Found]:
    """Functions with a list, dict or set as a default."""
    found = []
    for file, node in nodes():
        if isinstance(node, Function | ast.Lambda):
            defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            mutable = [d for d in defaults if _is_mutable(d)]
            found += [Found(file, d.lineno, getattr(node, "name", "lambda")) for d in mutable]
    return found


def _is_mutable(node: ast.expr) -> bool:
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "dict", "set")
    return made or isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def environment_reads() -> list[Found]:
    """Uses of the environment outside the settings."""
    return [
        Found(file, node.lineno, node.attr)
        for file, node in nodes()
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv") and file != SETTINGS
    ]


def public_without_docstring() -> list[Found]:
    """Public modules, classes and functions without a docstring (methods of private classes are private)."""
    found = []
    for file, _, tree in modules():
        if ast.get_docstring(tree) is None:
            found.append(Found(file, 1, file))
        found += [Found(file, n.lineno, n.name) for n in _public(tree) if ast.get_docstring(n) is None]
    return found


def _public(tree: ast.Module | ast.ClassDef) -> Iterator[Function | ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            overloads = [d for d in node.decorator_list if ast.unparse(d).endswith("overload")]
            if not overloads:
                yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node)


# ── names and rooms ──


def module_functions() -> list[Found]:
    """Every function that stands at the top of a module."""
    return [
        Found(file, node.lineno, node.name, _length(node))
        for file, _, tree in modules()
        for node in tree.body
        if isinstance(node, Function)
    ]


def repeated_names() -> list[Found]:
    """Functions at the top of a module whose name stands at the top of another module too."""
    found = module_functions()
    files_of: dict[str, set[str]] = {}
    for function in found:
        files_of.setdefault(function.name, set()).add(function.file)
    return [f for f in found if len(files_of[f.name]) > 1]


def one_word_names() -> list[Found]:
    """Functions at the top of a module whose name is one word."""
    return [f for f in module_functions() if "_" not in f.name.strip("_")]


def names_with_their_folder() -> list[Found]:
    """Functions whose name begins with the name of their folder or module: a prefix does not make a name."""
    found = []
    for function in module_functions():
        places = Path(function.file).with_suffix("").parts
        if any(function.name.strip("_").startswith(f"{place}_") for place in places):
            found.append(function)
    return found


def used_once() -> list[Found]:
    """Private functions at the top of a module that the module mentions once."""
    found = []
    for file, _, tree in modules():
        mentions = Counter(n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(tree) if _is_mention(n))
        private = (n for n in tree.body if isinstance(n, Function) and n.name.startswith("_"))
        found += [Found(file, n.lineno, n.name) for n in private if mentions[n.name] == 1]
    return found


def _is_mention(node: ast.AST) -> TypeGuard[ast.Name | ast.Attribute]:
    return isinstance(node, ast.Name | ast.Attribute)


def static_classes() -> list[Found]:
    """Classes that hold static functions alone: they hide names instead of giving them."""
    found = []
    for file, node in nodes():
        if isinstance(node, ast.ClassDef):
            own = [n for n in node.body if isinstance(n, Function)]
            if own and all(any(ast.unparse(d) == "staticmethod" for d in n.decorator_list) for n in own):
                found.append(Found(file, node.lineno, node.name))
    return found


def crowded_folders(most: int = 16) -> dict[str, int]:
    """Folders with more than `most` Python files; `algorithms` holds one file for each algorithm and may have more."""
    count = Counter(Path(name).parent.as_posix() for name, *_ in modules())
    return {folder: n for folder, n in count.items() if n > most and folder != "algorithms"}


def code_lines(text: str) -> int:
    """Lines of code: without blank lines, comments and docstrings."""
    tree, said = ast.parse(text), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            said |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and n not in said for n, line in lines)


# ── what it takes to start, and to install ──


def import_seconds(statement: str = "import sensegraph") -> float:
    """CPU seconds that `statement` takes in a fresh interpreter, the interpreter's own start left out: best of 3."""
    code = f"import time; a = time.process_time(); {statement}; print(time.process_time() - a)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))


STARTED = """
import atexit, sys
before = set(sys.modules)
atexit.register(lambda: print(*sorted(set(sys.modules) - before), file=sys.stderr))
"""
HELP = "import sys; sys.argv = ['sensegraph', '--help']; from sensegraph.cli import main; main()"


def modules_started(statement: str) -> frozenset[str]:
    """All modules, those of Python too, that `statement` loads in a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", STARTED + statement], capture_output=True, text=True, check=True)
    return frozenset(run.stderr.split())


def modules_of_others(names: Iterable[str]) -> set[str]:
    """The libraries among modules: neither the package nor Python's own."""
    return {name.partition(".")[0] for name in names} - {"sensegraph"} - sys.stdlib_module_names


LOADING = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    for loaded in [m for m in sys.modules if m.partition('.')[0] == 'sensegraph']:
        del sys.modules[loaded]
    import_module(name)
    print(name, *(m for m in sys.modules if m.partition('.')[0] == 'sensegraph'))
"""


def method_modules() -> list[str]:
    """The modules of the methods, each by its full name."""
    from sensegraph.methods import METHODS

    return sorted({listing.place.partition(":")[0] for listing in METHODS.values()})


def modules_loaded(names: Sequence[str]) -> dict[str, frozenset[str]]:
    """The modules of the package that importing each of these modules loads, itself included."""
    lines = subprocess.check_output([sys.executable, "-c", LOADING, *names], text=True).splitlines()
    return {name: frozenset(loaded) for name, *loaded in map(str.split, lines)}


def help_seconds() -> float:
    """CPU seconds of `sensegraph --help` in a fresh interpreter, its start included: best of 3."""
    code = f"import atexit, sys, time\natexit.register(lambda: print(time.process_time(), file=sys.stderr))\n{HELP}"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    return min(float(run.stderr.split()[-1]) for run in runs)


def core_distributions(name: str = "sensegraph") -> dict[str, Distribution]:
    """The installed distributions that the package needs without its extras, itself included, by name."""
    from packaging.requirements import Requirement

    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset[str]())]
    while waiting:
        wanted, extras = waiting.pop()
        plain = re.sub(r"[-_.]+", "-", wanted).lower()
        if plain in found and not extras:
            continue
        try:
            found[plain] = distribution(wanted)
        except PackageNotFoundError:
            continue  # its marker does not hold on this platform
        for line in found[plain].requires or ():
            need = Requirement(line)
            if not need.marker or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((need.name, frozenset(need.extras)))
    return found


def installed_bytes(found: Distribution, *, compiled: bool = False) -> int:
    """The size of a distribution's files; what Python compiles from them is counted with `compiled` only."""
    names = (str(f) for f in found.files or () if compiled or not str(f).endswith(".pyc"))
    paths = (Path(str(found.locate_file(name))) for name in names)
    return sum(p.stat().st_size for p in paths if p.is_file())


def package_bytes() -> int:
    """The size of the package's own files: an editable installation does not list them."""
    return sum(p.stat().st_size for p in PACKAGE.rglob("*") if p.is_file() and p.suffix != ".pyc")


def core_megabytes() -> float:
    """Megabytes that the core puts into site-packages."""
    core = core_distributions()
    own = core.pop("sensegraph")
    return (sum(map(installed_bytes, core.values())) + max(installed_bytes(own), package_bytes())) / 1e6


# ── the table ──


def rows() -> Iterator[tuple[str, str, str]]:
    """What is bounded, the figure, the bound."""
    sizes = sorted(f.size for f in functions())
    yield "functions", f"{len(sizes)}", ""
    yield "function length, median", f"{median(sizes):.0f} lines", ""
    yield "function length, 95th percentile", f"{sizes[len(sizes) * 95 // 100]} lines", "≤ 40"
    yield "function length, longest", f"{sizes[-1]} lines", "≤ 60"
    yield "longest file", f"{max(f.size for f in files())} lines", "≤ 400"
    names, lines = len(module_functions()), sum(f.size for f in files())
    yield "lines, and lines of code", f"{lines}, {sum(code_lines(text) for _, text, _ in modules())}", "code ≤ 45000"
    yield "function names in several files", f"{len(repeated_names()) / names:.1%} of {names}", "≤ 15 %"
    yield "function names of one word", f"{len(one_word_names()) / names:.1%}", "≤ 50 %"
    yield "function names with their folder's", f"{len(names_with_their_folder()) / names:.1%}", "≤ 2 %"
    yield "private functions used once", f"{len(used_once())}, {1000 * len(used_once()) / lines:.1f} in 1000", "≤ 5"
    yield "classes of static functions", f"{len(static_classes())}", "0"
    yield "folders with more than 16 files", f"{len(crowded_folders())}", "0"
    yield "dataclasses that are not frozen", f"{len(dataclasses_not_frozen())}", "0"
    yield "broad excepts", f"{len(broad_excepts())}", "1"
    yield "print, eval, exec", f"{len(calls_of('print', 'eval', 'exec'))}", "0"
    yield "mutable defaults", f"{len(mutable_defaults())}", "0"
    yield "environment reads outside settings", f"{len(environment_reads())}", "0"
    yield "public names without docstring", f"{len(public_without_docstring())}", "0"
    loaded = {name: len(found) for name, found in modules_loaded(method_modules()).items()}
    most = max(loaded, key=lambda name: loaded[name])
    yield "modules loaded by importing a method", f"{loaded[most]} ({most.rpartition('.')[2]})", "≤ 60"
    starts = {"import sensegraph": 60, "from sensegraph import Corpus": 100, "sensegraph --help": 260}
    for what, most_started in starts.items():
        started = modules_started(HELP if what.endswith("--help") else what)
        yield f"modules loaded by {what}", f"{len(started)}", f"≤ {most_started}"
    yield "import sensegraph", f"{import_seconds():.3f} s of CPU", "< 0.1"
    statement = "from sensegraph import Corpus"
    yield statement, f"{import_seconds(statement):.3f} s of CPU", "≤ 0.3"
    yield "sensegraph --help", f"{help_seconds():.3f} s of CPU", "< 0.3"
    yield "core install", f"{core_megabytes():.0f} MB in {len(core_distributions())} distributions", "≤ 300"
    compiled = sum(installed_bytes(d, compiled=True) for d in core_distributions().values()) / 1e6
    yield "core install with compiled caches", f"{compiled:.0f} MB", ""


def main() -> None:
    for what, figure, bound in rows():
        print(f"{what:<38}{figure:<36}{bound}")


if __name__ == "__main__":
    main()
