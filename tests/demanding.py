"""Which tests demand that something was found: what the tests' own source says, read as a tree.

An assertion *demands* when it is false (or an error) where everything that was computed is empty: an equality with a
value that is written down, `assert found`, `in`, `any(...)`, `pytest.raises`, `len(x) == 3`. It does not when it holds
of nothing as well: `all(...)`, `not any(...)`, `[... for ...] == []`, `x == sorted(x)`, `set(a) <= set(b)`, and
whatever stands in a loop over what was found. A test demands when one of its assertions does; so does a helper.

A value is *filled* when the test itself says what is in it: literals, constants, parameters of the test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from assertions import (
    COMPARED,
    COMPREHENSIONS,
    HOLD_OF_NOTHING,
    Function,
    bindings,
    bound_in,
    called,
    calls,
    empty,
    is_truth,
    must_have,
    names_in,
    raises,
    returned,
)

TESTS = Path(__file__).resolve().parent
CONTRACTS = TESTS.parent / "src" / "sensegraph" / "testing"
SIZED = ("lists(", "text(", "sets(", "dictionaries(", "binary(", "tuples(", "frozensets(")


@dataclass(frozen=True)
class Place:
    """A test: its file, line and name."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"


@dataclass(frozen=True)
class Module:
    """One file: its functions by name (methods and inner functions too), and what its names are bound to."""

    path: Path
    tree: ast.Module

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {n.name: n for n in ast.walk(self.tree) if isinstance(n, Function)}

    @cached_property
    def bound(self) -> dict[str, list[ast.expr]]:
        return bindings([n for n in self.tree.body if not isinstance(n, Function | ast.ClassDef)])

    @cached_property
    def checks(self) -> list[Function]:
        classes = [n.body for n in self.tree.body if isinstance(n, ast.ClassDef)]
        found = [n for body in (self.tree.body, *classes) for n in body if isinstance(n, Function)]
        return [f for f in found if f.name.startswith("test_")]


@dataclass(frozen=True)
class Reader:
    """One function being read: its module, the helpers in reach, and which of its names are filled."""

    module: Module
    helpers: Mapping[str, tuple[Module, Function]]
    bound: Mapping[str, list[ast.expr]] = field(default_factory=dict)
    filled_names: frozenset[str] = frozenset()
    drawn: frozenset[str] = frozenset()
    depth: int = 0

    # ── values ──

    def filled(self, node: ast.expr | None, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the test itself says that this value holds something."""
        match node:
            case ast.Constant(value=value):
                return bool(value)
            case ast.UnaryOp(op=ast.USub(), operand=inner) | ast.Starred(value=inner) | ast.Attribute(value=inner):
                return (isinstance(node, ast.Attribute) and node.attr.isupper()) or self.filled(inner, seen)
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                return any(not isinstance(e, ast.Starred) or self.filled(e, seen) for e in elts)
            case ast.Dict(keys=keys, values=values):
                return any(k is not None or self.filled(v, seen) for k, v in zip(keys, values, strict=True))
            case ast.JoinedStr(values=parts):
                return any(self.filled(p, seen) for p in parts)
            case ast.FormattedValue(value=inner) | ast.Subscript(value=inner) | ast.NamedExpr(value=inner):
                return self.filled(inner, seen)
            case ast.Name(id=name):
                values = self.bound.get(name) or self.module.bound.get(name, [])
                inner = name not in seen and bool(values) and all(self.filled(v, seen | {name}) for v in values)
                return name.isupper() or name in self.filled_names or inner
            case ast.BinOp(left=left, op=op, right=right):
                either = isinstance(op, ast.Add | ast.BitOr)
                return self.filled(left, seen) or self.filled(right, seen) if either else self.filled(left, seen)
            case ast.IfExp(body=body, orelse=other):
                return self.filled(body, seen) or self.filled(other, seen)
            case ast.ListComp(generators=over) | ast.SetComp(generators=over) | ast.GeneratorExp(generators=over):
                return all(self.filled(g.iter, seen) and not g.ifs for g in over)
            case ast.DictComp(generators=over):
                return all(self.filled(g.iter, seen) and not g.ifs for g in over)
            case ast.Call():
                return self._filled_call(node, seen)
        return False

    def _filled_call(self, node: ast.Call, seen: frozenset[str]) -> bool:
        """Of `sorted(LITERAL)`, `LITERAL.split()`, `Document("a", "b")` the test says what is in it."""
        given = [*node.args, *(k.value for k in node.keywords if k.arg != "strict")]
        if isinstance(node.func, ast.Attribute) and node.func.attr in OF_VALUES and self.filled(node.func.value, seen):
            return True
        name = called(node)
        return (name[:1].isupper() or name in FROM_VALUES) and any(self.filled(a, seen) for a in given)

    # ── assertions ──

    def demands(self, node: ast.expr) -> bool:
        """Whether the expression is false, or an error, where what was computed is empty."""
        match node:
            case ast.BoolOp(op=op, values=values):
                if isinstance(op, ast.And):
                    return any(map(self.demands, values))
                return all(self.demands(v) and not isinstance(v, ast.UnaryOp) for v in values)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._denial(inner)
            case ast.Constant():
                return False
            case ast.Compare(left=left, ops=ops, comparators=others):
                ends = [left, *others]
                pairs = zip(ends, ops, others, strict=False)
                return any(map(must_have, ends)) or any(self._pair(a, op, b) for a, op, b in pairs)
            case ast.Name(id=name) if len(values := self.bound.get(name, [])) == 1 and is_truth(values[0]):
                return self.demands(values[0])
            case ast.Call():
                return self._demanding_call(node)
        return True

    def _denial(self, inner: ast.expr) -> bool:
        """Of `not f(x)` the claim is the emptiness; but of nothing nothing is so, and nobody may loop over it."""
        if isinstance(inner, ast.Call) and called(inner) in ("any", "all"):
            return called(inner) == "all"
        return not self._laws(inner)

    def _laws(self, node: ast.expr) -> bool:
        """Whether this is a list of what breaks a law: those `for` which it does not hold, those in both sets."""
        if isinstance(node, ast.Name) and len(values := self.bound.get(node.id, [])) == 1:
            return self._laws(values[0])
        if isinstance(node, ast.Call) and called(node) in ("sum", "len", "list", "set", "sorted"):
            return any(map(self._laws, node.args))
        both = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.Sub)
        return both or (isinstance(node, COMPREHENSIONS) and not self.filled(node))

    def _collects(self, node: ast.expr) -> bool:
        """Whether a value is put together from what was found: of nothing it is as empty as it ought to be."""
        match node:
            case ast.Name(id=name) if len(values := self.bound.get(name, [])) == 1:
                return self._collects(values[0])
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in COLLECTING_METHODS:
                return not self.filled(node)
            case ast.Call():
                return called(node) in COLLECTING and not self.filled(node)
            case ast.BinOp(op=ast.BitAnd() | ast.Sub()):
                return True
            case ast.Tuple(elts=[_, *_] as elts) | ast.List(elts=[_, *_] as elts):
                return all(map(self._collects, elts))
        return isinstance(node, COMPREHENSIONS) and not self.filled(node)

    def _demanding_call(self, node: ast.Call) -> bool:
        name, args = called(node), node.args
        if name == "all" and isinstance(node.func, ast.Attribute) and not args:
            return self.demands(node.func.value) if is_truth(node.func.value) else False
        if name == "all" and args:
            return self._all(args[0])
        if name in COMPARED:
            return self._alike(node)
        if name in self.helpers and is_truth(value := returned(self.helpers[name][1])):
            return self.inside(node).demands(value)
        return name not in HOLD_OF_NOTHING

    def _alike(self, node: ast.Call) -> bool:
        """Whether numpy compares something with what the test says, or with what follows from what was drawn."""
        one, other = node.args[:2]
        return self.filled(one) or self.filled(other) or (self.drawn and not self._says_itself(one, other))

    def _all(self, over: ast.expr) -> bool:
        if isinstance(over, COMPREHENSIONS):
            names = frozenset(n.id for g in over.generators for n in ast.walk(g.target) if isinstance(n, ast.Name))
            inner = replace(self, filled_names=self.filled_names | names)
            return self.filled(over) and not isinstance(over, ast.DictComp) and inner.demands(over.elt)
        if isinstance(over, ast.Call) and called(over) == "map":
            return self.filled(over.args[1])
        return isinstance(over, ast.List | ast.Tuple) and any(map(self.demands, over.elts))

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        match op:
            case ast.Eq() if isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple):
                if len(left.elts) == len(right.elts):
                    return any(self._pair(a, op, b) for a, b in zip(left.elts, right.elts, strict=True))
                return True
            case ast.Eq():
                return self._equal(left, right)
            case ast.NotEq():
                return empty(left) or empty(right) or not (self.filled(left) or self.filled(right))
            case ast.Lt() | ast.LtE():
                return self._less(left, right, strictly=isinstance(op, ast.Lt))
            case ast.Gt() | ast.GtE():
                return self._less(right, left, strictly=isinstance(op, ast.Gt))
            case ast.In():
                elements = right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else []
                return not any(map(empty, elements))
            case ast.NotIn():
                return isinstance(right, ast.List | ast.Tuple | ast.Set) and any(map(empty, right.elts))
            case ast.Is():
                return True
        return True

    def _equal(self, left: ast.expr, right: ast.expr) -> bool:
        if empty(left) or empty(right):
            return not (self._laws(left) or self._laws(right))
        if self.filled(left) or self.filled(right):
            return True
        if self.drawn and not self._says_itself(left, right):
            return True  # what was drawn says how much there must be
        return not (self._collects(left) or self._collects(right))

    def _says_itself(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether both sides are made of one value that was computed: `x == sorted(x)`, `len(x) == len(set(x))`."""
        both = names_in(left) & names_in(right)
        return bool(
            {n for n in both if n not in self.filled_names and self.bound.get(n) and not self.filled(ast.Name(n))}
        )

    def _less(self, small: ast.expr, big: ast.expr, *, strictly: bool) -> bool:
        if isinstance(small, ast.Call) and called(small) == "abs":
            return True
        if isinstance(big, ast.Call) and called(big) == "len" and self.filled(small):
            return True
        return not self.filled(big) and (strictly or self.filled(small) or self._given(small))

    def _given(self, node: ast.expr) -> bool:
        """Whether this is made of what hypothesis draws: how much that is was decided before anything was computed."""
        calls = {called(n) for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        inner = {
            n.id
            for g in ast.walk(node)
            if isinstance(g, ast.comprehension)
            for n in ast.walk(g.target)
            if isinstance(n, ast.Name)
        }
        names = {n for n in names_in(node) - inner if n in self.drawn or not self.filled(ast.Name(n))}
        return bool(names) and names <= self.drawn and calls <= {*FROM_VALUES, "sum", "bool", "any", "all"}

    # ── statements ──

    def block(self, body: Sequence[ast.stmt]) -> bool:
        """Whether some assertion of these statements demands."""
        return any(map(self.statement, body))

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assert(test=test):
                return self.demands(test) or self._helped(node)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                return any(raises(i.context_expr) for i in items) or self.block(body)
            case ast.For(target=target, iter=over, body=body) | ast.AsyncFor(target=target, iter=over, body=body):
                names = frozenset(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
                inside = replace(self, filled_names=self.filled_names | names)
                return (self.filled(over) or self._given(over)) and inside.block(body)
            case ast.While(body=body):
                return self.block(body)
            case ast.If(body=body, orelse=other):
                able = self.module.path.parent == CONTRACTS  # what an engine has no task for is not asked of it
                return self.block(body) and (able or self.block(other))
            case ast.Try(body=body, finalbody=final):
                return self.block(body) or self.block(final)
            case ast.Assign(targets=[ast.Tuple(elts=[_]) | ast.List()]):
                return True  # of nothing, there is not one
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return False
        return self._helped(node)

    def _helped(self, node: ast.stmt) -> bool:
        """Whether a call in this statement demands: a helper with assertions of its own, or one of numpy's."""
        for call in calls(node):
            name = called(call)
            if name in COMPARED and name.startswith("assert") and self._alike(call):
                return True
            if name.startswith("assert_") and name not in COMPARED:
                return True
            if name in self.helpers and self.depth < 4 and self.inside(call).block(self.helpers[name][1].body):
                return True
        return False

    def inside(self, call: ast.Call) -> Reader:
        """The helper that is called, with those of its parameters filled that are given filled values."""
        module, function = self.helpers[called(call)]
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
        given = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
        filled = frozenset(n for n, value in given.items() if self.filled(value))
        return Reader(module, self.helpers, bound_in(function), filled, self.drawn, self.depth + 1)


COLLECTING = "sorted set frozenset list tuple dict sum len Counter filter map".split()
COLLECTING_METHODS = "keys values items intersection union difference".split()
OF_VALUES = (
    "items values keys copy split splitlines encode decode lower upper casefold title strip replace format join index "
    "removesuffix removeprefix tolist fromkeys partition rpartition union elements most_common astype reshape read_text"
).split()
FROM_VALUES = (
    "sorted list tuple set frozenset dict reversed enumerate zip range len str max min approx array product "
    "permutations combinations chain repr bytes int float abs asarray dumps fromkeys cycle islice batched round "
    "arange full ones"
).split()


def drawn_names(function: Function) -> frozenset[str]:
    """The parameters of a test whose examples hypothesis draws; none of any other test."""
    given = any(isinstance(mark, ast.Call) and called(mark) == "given" for mark in function.decorator_list)
    return frozenset(a.arg for a in function.args.args if given)


def guards(module: Module) -> list[Function]:
    """Fixtures of a file that each of its tests uses."""
    return [f for f in module.functions.values() if any("autouse" in ast.unparse(m) for m in f.decorator_list)]


def drawn(function: Function, module: Module) -> frozenset[str]:
    """The parameters of a test that hold something in each case: parametrised, or drawn with a least size."""
    names = [a.arg for a in function.args.args]
    found: set[str] = set()
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and called(mark) == "parametrize" and isinstance(mark.args[0], ast.Constant):
            found |= {n.strip() for n in str(mark.args[0].value).split(",")}
        elif isinstance(mark, ast.Call) and called(mark) == "parametrize":
            found |= {str(n.value) for n in ast.walk(mark.args[0]) if isinstance(n, ast.Constant)}
        elif isinstance(mark, ast.Call) and called(mark) == "given":
            given = dict(zip(names[len(names) - len(mark.args) :], mark.args, strict=True))
            given |= {k.arg: k.value for k in mark.keywords if k.arg}
            found |= {n for n, strategy in given.items() if never_empty(strategy, module)}
    return frozenset(found)


def never_empty(strategy: ast.expr, module: Module) -> bool:
    """Whether a strategy draws no empty collection, as far as its text says."""
    if isinstance(strategy, ast.Name) and len(values := module.bound.get(strategy.id, [])) == 1:
        return never_empty(values[0], module)
    text = ast.unparse(strategy)
    return "min_size" in text or ("st." in text and not any(word in text for word in SIZED))


def read_module(path: Path) -> Module:
    return Module(path, ast.parse(path.read_text(encoding="utf-8")))


def helpers_in_reach(
    module: Module, shared: Mapping[str, tuple[Module, Function]]
) -> dict[str, tuple[Module, Function]]:
    """Functions that a file may call: its own, and those of shared modules that it imports by name."""
    imported = {a.asname or a.name for n in module.tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    return {n: f for n, f in shared.items() if n in imported} | {n: (module, f) for n, f in module.functions.items()}


def every_test(root: Path = TESTS, contracts: Path = CONTRACTS) -> Iterator[tuple[Place, Reader, Function]]:
    """Every test under `root` and in the contracts, with what reads it."""
    modules = [read_module(p) for folder in (root, contracts) for p in sorted(folder.rglob("*.py"))]
    shared = {n: (m, f) for m in modules if not m.path.name.startswith("test_") for n, f in m.functions.items()}
    for module in modules:
        reach = helpers_in_reach(module, shared)
        for test in module.checks:
            place = Place(module.path.relative_to(root.parent).as_posix(), test.lineno, test.name)
            yield place, Reader(module, reach, bound_in(test), drawn(test, module), drawn_names(test)), test


def undemanding(tests: Iterable[tuple[Place, Reader, Function]]) -> list[Place]:
    """The tests none of whose assertions demands that something was found."""
    found: list[Place] = []
    for place, reader, test in tests:
        if not (
            reader.block(test.body)
            or any(replace(reader, bound=bound_in(f)).block(f.body) for f in guards(reader.module))
        ):
            found.append(place)
    return found
