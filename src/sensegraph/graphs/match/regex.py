"""Regular expressions that cannot run away: an automaton made state by state, one look-up a character (for `=~`).

What needs more than an automaton (references back, looking around) is no part of them. Matching takes time
proportional to the text whatever the expression is (Thompson 1968).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_LONGEST = 500  # characters of an expression
_STATES = 2_000  # of the automaton, after {m,n} is written out
_CACHED = 2_000  # sets of states that are remembered
_CLASSES = "dwsDWS"
_PAIR = re.compile(r"\\.|.", re.DOTALL)


class Unreadable(ValueError):
    """What is wrong with an expression, and where: `offset` counts its characters."""

    def __init__(self, problem: str, offset: int) -> None:
        self.offset = offset
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class _Chars:
    """A class of characters: ranges and named classes, or all but these."""

    ranges: tuple[tuple[str, str], ...] = ()
    classes: str = ""
    negated: bool = False

    def holds(self, c: str) -> bool:
        inside = any(a <= c <= b for a, b in self.ranges) or any(_named(k, c) for k in self.classes)
        return inside != self.negated


_ANY = _Chars(negated=True)


def _named(kind: str, c: str) -> bool:
    low = kind.lower()
    found = c.isdecimal() if low == "d" else c.isspace() if low == "s" else c.isalnum() or c == "_"
    return found != kind.isupper()


# a node of the syntax: characters, or a kind with its parts
@dataclass(frozen=True, slots=True)
class _Node:
    kind: str  # one, all, any, many
    chars: _Chars = _ANY
    parts: tuple[_Node, ...] = ()
    low: int = 0
    high: int | None = None


class _Reader:
    """An expression and a place in it."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.depth = text, 0, 0

    def whole(self) -> _Node:
        if self.text[self.place : self.place + 1] == "^":
            self.place += 1
        found = self.choice()
        if self.place < len(self.text):
            raise Unreadable("there is a ')' too many", self.place)
        return found

    def choice(self) -> _Node:
        parts = [self.row()]
        while self.next() == "|":
            self.place += 1
            parts.append(self.row())
        return parts[0] if len(parts) == 1 else _Node("any", parts=tuple(parts))

    def row(self) -> _Node:
        parts = list[_Node]()
        while self.next() not in ("", "|", ")"):
            if self.next() == "$" and self.place == len(self.text) - 1:
                self.place += 1
                break
            parts.append(self.repeated())
        return _Node("all", parts=tuple(parts))

    def next(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        found = self.next()
        if not found:
            raise Unreadable("it ends too early", self.place)
        self.place += 1
        return found

    def repeated(self) -> _Node:
        node = self.one()
        if not self.at_sign():
            return node
        low, high = self.bounds()
        if self.next() == "?":  # as few as possible: the same texts match
            self.place += 1
        if self.at_sign():
            raise Unreadable("one repetition of another needs a group between", self.place)
        return _Node("many", parts=(node,), low=low, high=high)

    def at_sign(self) -> bool:
        c = self.next()
        return bool(c) and c in "*+?{"

    def bounds(self) -> tuple[int, int | None]:
        begin, c = self.place, self.take()
        if c != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[c]
        end = self.text.find("}", begin)
        low, comma, high = self.text[begin + 1 : max(begin, end)].partition(",")
        if end < 0 or not low.isdecimal() or not (high.isdecimal() or not high):
            raise Unreadable("a repetition is written {2}, {2,} or {2,5}; a brace itself \\{", begin)
        self.place = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def one(self) -> _Node:
        begin, c = self.place, self.take()
        if c == "(":
            return self.group(begin)
        if c == "[":
            return _Node("one", self.set(begin))
        if c == ".":
            return _Node("one")
        if c == "\\":
            return _Node("one", self.escaped())
        if c in "*+?{^$":
            raise Unreadable(f"{c!r} has nothing before it to repeat, or stands where it means nothing", begin)
        return _Node("one", _Chars(((c, c),)))

    def group(self, begin: int) -> _Node:
        if self.next() == "?":
            if self.text[self.place : self.place + 2] != "?:":
                raise Unreadable("looking around and flags inside are not supported", begin)
            self.place += 2
        self.depth += 1
        if self.depth > 40:
            raise Unreadable("groups stand in one another too deep", begin)
        found = self.choice()
        if self.next() != ")":
            raise Unreadable("this group has no ')'", begin)
        self.place += 1
        self.depth -= 1
        return found

    def escaped(self) -> _Chars:
        c = self.take()
        if c in _CLASSES:
            return _Chars(classes=c)
        if c in "nt":
            c = {"n": "\n", "t": "\t"}[c]
        elif c.isalnum():
            raise Unreadable(f"\\{c} is not supported", self.place - 2)
        return _Chars(((c, c),))

    def set(self, begin: int) -> _Chars:
        negated = self.next() == "^"
        self.place += negated
        ranges, classes = list[tuple[str, str]](), ""
        while (c := self.take()) != "]" or (not ranges and not classes):
            if c == "\\" and self.next() and self.next() in _CLASSES:
                classes += self.take()
                continue
            first = self.escaped().ranges[0][0] if c == "\\" else c
            ranges.append((first, self.upto(first, begin)))
        return _Chars(tuple(ranges), classes, negated)

    def upto(self, first: str, begin: int) -> str:
        """The end of a range of characters, which is its beginning where there is only one."""
        if self.next() != "-" or self.text[self.place + 1 : self.place + 2] in ("]", ""):
            return first
        self.place += 1
        c = self.take()
        last = self.escaped().ranges[0][0] if c == "\\" and self.next() not in _CLASSES else c
        if last < first:
            raise Unreadable(f"the range {first}-{last} is upside down", begin)
        return last


class _Automaton:
    """States with steps by a character (`by`) or by nothing (`free`)."""

    def __init__(self) -> None:
        self.by: list[tuple[_Chars, int] | None] = []
        self.free: list[list[int]] = []

    def state(self) -> int:
        if len(self.by) >= _STATES:
            raise Unreadable("it is too large once its repetitions are written out", 0)
        self.by.append(None)
        self.free.append([])
        return len(self.by) - 1

    def add(self, node: _Node, begin: int) -> int:
        """States for a node from `begin` on; the state where it ends."""
        if node.kind == "one":
            end = self.state()
            self.by[begin] = (node.chars, end)
            return end
        if node.kind == "all":
            for part in node.parts:
                begin = self.link(self.add(part, begin))
            return begin
        return self.choose(node, begin) if node.kind == "any" else self.repeat(node, begin)

    def link(self, before: int) -> int:
        after = self.state()
        self.free[before].append(after)
        return after

    def choose(self, node: _Node, begin: int) -> int:
        ends = [self.add(part, self.link(begin)) for part in node.parts]
        last = self.state()
        for end in ends:
            self.free[end].append(last)
        return last

    def repeat(self, node: _Node, begin: int) -> int:
        (part,) = node.parts
        for _ in range(node.low):
            begin = self.link(self.add(part, begin))
        last = self.state()
        self.free[begin].append(last)
        if node.high is None:
            inner = self.link(begin)
            self.free[self.add(part, inner)].extend((inner, last))
        for _ in range((node.high or node.low) - node.low):
            begin = self.link(self.add(part, self.link(begin)))
            self.free[begin].append(last)
        return last


def matcher(expression: str) -> Callable[[str], bool]:
    """Whether a whole text is of this form; `(?i)` at the beginning ignores case. Raises Unreadable."""
    if len(expression) > _LONGEST:
        raise Unreadable(f"an expression may have {_LONGEST} characters", _LONGEST)
    blind = expression.startswith("(?i)")
    automaton = _Automaton()
    begin = automaton.state()
    body = _PAIR.sub(lambda m: m[0] if len(m[0]) > 1 else m[0].lower(), expression[4:]) if blind else expression
    try:
        last = automaton.add(_Reader(body).whole(), begin)
    except Unreadable as e:
        raise Unreadable(str(e), e.offset + 4 * blind) from None
    run = _Run(automaton, begin, last)
    return (lambda text: run.matches(text.lower())) if blind else run.matches


class _Run:
    """Sets of states, and where each character leads from them, made when they are first met."""

    def __init__(self, automaton: _Automaton, begin: int, last: int) -> None:
        self.automaton, self.last = automaton, last
        self.begin = self.closed([begin])
        self.known: dict[frozenset[int], dict[str, frozenset[int]]] = {}

    def matches(self, text: str) -> bool:
        states = self.begin
        for c in text:
            steps = self.known.get(states)
            if steps is None:
                if len(self.known) > _CACHED:
                    self.known.clear()
                steps = self.known.setdefault(states, {})
            after = steps.get(c)
            if after is None:
                after = steps[c] = self.after(states, c)
            if not after:
                return False
            states = after
        return self.last in states

    def after(self, states: frozenset[int], c: str) -> frozenset[int]:
        steps = (self.automaton.by[s] for s in states)
        return self.closed([end for step in steps if step for chars, end in [step] if chars.holds(c)])

    def closed(self, states: Sequence[int]) -> frozenset[int]:
        found, todo = set(states), list(states)
        while todo:
            for s in self.automaton.free[todo.pop()]:
                if s not in found:
                    found.add(s)
                    todo.append(s)
        return frozenset(found)


__all__ = ["Unreadable", "matcher"]
