"""What holds where nothing is said: numbers and switches that stand as defaults and constants under public names, and
how public classes are shown and compared where that is said (`repr=False`).

They are pinned in tests/data/usual-values.txt. Of algorithms, the index and retrieval the constants under private
names are pinned too: figures of time, memory and rounding, which change hardly a result, and which nobody changes
without measuring what they cost then. Where one was meant to change: `python tests/usual_values.py` writes
the file again. Of the engines only defaults of fields and parameters are pinned: their constants are figures of many
rules, and are tested by what the rules do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sensegraph

PACKAGE = Path(sensegraph.__file__).resolve().parent
PINNED = Path(__file__).resolve().parent / "data" / "usual-values.txt"
MEASURED = ("algorithms/", "index/", "retrieval/")  # whose private constants are pinned
_LONGEST = 200  # characters of a value: a longer one is a table of data, whose parts are not defaults


def is_usual(value: ast.expr | None) -> bool:
    """Whether a value is written with a number or a switch, and is short."""
    if value is None:
        return False
    plain = any(isinstance(n, ast.Constant) and isinstance(n.value, bool | int | float) for n in ast.walk(value))
    return plain and len(ast.unparse(value)) <= _LONGEST


def values_of(body: list[ast.stmt], of: str = "", *, private: bool = False) -> Iterator[str]:
    """`name = value` of the constants, fields and parameters that a module or a class gives such a value.

    Of `private` names only constants.
    """
    for node in body:
        match node:
            case ast.ClassDef(name=name, body=inner, decorator_list=made) if not name.startswith("_"):
                given = [k for call in made if isinstance(call, ast.Call) for k in call.keywords]
                rules = [k for k in given if k.arg not in ("frozen", "slots") and is_usual(k.value)]
                yield from (f"{of}{name}({k.arg}) = {ast.unparse(k.value)}" for k in rules)
                yield from values_of(inner, f"{name}.")
            case ast.FunctionDef(name=name, args=args) if not name.startswith("_"):
                named = [*args.posonlyargs, *args.args]
                pairs = [*zip(named[len(named) - len(args.defaults) :], args.defaults, strict=True)]
                pairs += [(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value]
                yield from (f"{of}{name}({arg.arg}) = {ast.unparse(value)}" for arg, value in pairs if is_usual(value))
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if is_usual(value) and (private or not ast.unparse(target).lstrip("(").startswith("_")):
                    yield f"{of}{ast.unparse(target)} = {ast.unparse(value)}"


@cache
def all_values() -> str:
    """Every such value by its module, one a line."""
    lines: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        body = ast.parse(path.read_text(encoding="utf-8")).body
        found = list(values_of(body, private=name.startswith(MEASURED)))
        if name.startswith("engines/"):
            found = [value for value in found if not value.partition(" = ")[0].isupper()]
        if found:
            lines += [name, *(f"    {value}" for value in found)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PINNED.write_text(all_values(), encoding="utf-8")
