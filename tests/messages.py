"""What users are told when something is wrong or worth a note: every message of the package, as its source has it.

`python tests/messages.py` writes tests/data/messages.txt again, so that a changed message shows in one place. What is
put into a message stands in it as {}.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "sensegraph"
PINNED = ROOT / "tests" / "data" / "messages.txt"
KINDS = re.compile(
    r"[A-Z]\w*(Error|Exceeded|Refused|Corpus|Indexed|Task|Failed|Down|Unreadable|Unapproved|Parameter|Gone)$"
)
OTHER_KINDS = {"Refusal", "_Refused", "_Unusable", "error", "expected"}
TELLING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Call, ast.keyword, ast.FunctionDef)


def template(node: ast.expr) -> str:
    """The text of an expression, with {} for what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(template(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return template(left) + template(right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return re.sub(r"\{[^{}]*\}", "{}", text)
    return "{}"


def texts(node: ast.expr) -> Iterator[str]:
    """The sentences that an expression may be: those of both ways of an `if`, and each of a list."""
    match node:
        case ast.IfExp(body=body, orelse=other):
            yield from (*texts(body), *texts(other))
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            for element in elts:
                yield from texts(element)
        case ast.Starred(value=inner) | ast.BinOp(left=ast.List() | ast.Tuple() as inner):
            yield from texts(inner)
        case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
            yield from texts(inner)
        case _:
            if " " in (found := template(node)).strip("{} "):
                yield found


def kind_of(node: ast.Call) -> str:
    """The error that a call makes, by its name, or nothing."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name if KINDS.match(name) or name in OTHER_KINDS else ""


def named_values(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What the plain names of a module are bound to."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def is_notes(node: ast.expr) -> bool:
    """Whether a name is one of notes: `notes`, `self.notes`, `noted`."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("note", "notes", "noted")


def notes_in(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement or a call adds to notes."""
    match node:
        case ast.Assign(targets=[target], value=value) if is_notes(target):
            yield value
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            if is_notes(target):
                yield value
        case ast.Call(func=ast.Attribute(value=target, attr="append" | "extend" | "add"), args=[value]) if is_notes(
            target
        ):
            yield value
        case ast.Call(func=ast.Attribute(attr="note") | ast.Name(id="note"), args=args):
            yield from args
        case ast.keyword(arg="notes" | "note", value=value):
            yield value
        case ast.FunctionDef(name=name) if "note" in name:
            yield from (n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value)


def messages_of(tree: ast.AST) -> set[str]:
    """`Kind: text` of each error that the functions of a module make, and `note: text`."""
    found: set[str] = set()
    bound = named_values(tree)  # a message that has a name is often put together in another function
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(function):
            values = [("note", value) for value in notes_in(node)] if isinstance(node, TELLING) else []
            if isinstance(node, ast.Call) and (kind := kind_of(node)):
                values += [(kind, value) for value in (*node.args, *(k.value for k in node.keywords))]
            for kind, value in values:
                behind = bound.get(value.id, []) if isinstance(value, ast.Name) else [value]
                found |= {f"{kind}: {' '.join(text.split())}" for one in behind for text in texts(one)}
    return found


@cache
def all_messages() -> str:
    """Every message by its module, one a line."""
    lines: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if found := messages_of(ast.parse(path.read_text(encoding="utf-8"))):
            lines += [path.relative_to(PACKAGE).as_posix(), *(f"    {message}" for message in sorted(found))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PINNED.write_text(all_messages(), encoding="utf-8")
