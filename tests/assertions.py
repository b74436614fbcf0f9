"""What the parts of an assertion are, as its source says: what is called, what is empty, what must have something."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

Function = ast.FunctionDef | ast.AsyncFunctionDef
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
COMPARED = {"allclose", "array_equal", "isclose", "approx"} | {
    f"assert_{n}" for n in ("array_equal", "allclose", "equal", "array_almost_equal")
}
HOLD_OF_NOTHING = {"issubset", "isdisjoint"}
MUST_HAVE = {"max", "min", "next", "index", "argmax"}


def called(node: ast.Call) -> str:
    """The last part of the name that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def empty(node: ast.expr) -> bool:
    """Whether this is nothing, written down: [], {}, "", 0, None, False, set()."""
    if isinstance(node, ast.Call):
        made = called(node) in {"set", "frozenset", "dict", "list", "tuple", "approx", "Counter"}
        return made and all(map(empty, node.args))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return not node.elts
    return (isinstance(node, ast.Constant) and not node.value) or (isinstance(node, ast.Dict) and not node.keys)


def is_truth(node: ast.expr | None) -> bool:
    """Whether this is written as something true or false."""
    named = isinstance(node, ast.Call) and called(node) in {"all", "any", *COMPARED, *HOLD_OF_NOTHING}
    return (
        named
        or isinstance(node, ast.Compare | ast.BoolOp)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
    )


def must_have(node: ast.expr) -> bool:
    """Whether of nothing this is an error: `max(x)`, `next(x)`, `x[0]`."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in MUST_HAVE or must_have(node.func.value)
        return called(node) in MUST_HAVE and len(node.args) == 1 and not node.keywords
    if isinstance(node, ast.Attribute):
        return must_have(node.value)
    if isinstance(node, ast.BinOp):
        return must_have(node.left) or must_have(node.right)
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)


def raises(node: ast.expr) -> bool:
    """Whether a block must end with an error or a warning."""
    return isinstance(node, ast.Call) and called(node) in {"raises", "warns"}


def returned(function: Function) -> ast.expr | None:
    """What a function of one `return` returns."""
    found = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
    return found[0] if len(found) == 1 else None


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls of a statement that are made in any case: not those inside comprehensions, lambdas and blocks."""
    if isinstance(node, ast.Call):
        yield node
    if not isinstance(node, (*COMPREHENSIONS, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from calls(child)


def names_in(node: ast.expr) -> set[str]:
    """The names of values, not of what is called."""
    functions = {n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - functions


def bindings(body: Iterable[ast.stmt]) -> dict[str, list[ast.expr]]:
    """What plain names are assigned in these statements, blocks inside them included; loops give nothing."""
    found: dict[str, list[ast.expr]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name, value in _pairs(target, node.value):
                        found.setdefault(name, []).append(value)
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name) and node.value:
                found.setdefault(node.target.id, []).append(node.value)
    return found


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        for one, its in zip(target.elts, values, strict=False):
            yield from _pairs(one, its)


@cache
def bound_in(function: Function) -> dict[str, list[ast.expr]]:
    """What plain names are assigned in a function."""
    return bindings(function.body)
