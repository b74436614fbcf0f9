"""What a query means in this graph, found out before anything is read: variables, properties, types, functions.

Whatever is unknown is an error that points at its place in the query and names what is nearest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sensegraph.errors import InputError
from sensegraph.graphs.match import syntax
from sensegraph.graphs.match.query_values import Kind, compile_matcher, fold_type
from sensegraph.graphs.match.shelf import PROPERTIES, GraphReader, Readable
from sensegraph.language.text import fold

AGGREGATES = frozenset({"count", "collect", "min", "max", "avg", "sum"})
_OF_ONE = "lower tolower upper toupper size length type id abs nodes relations relationships"  # take one value
FUNCTIONS = dict.fromkeys(_OF_ONE.split(), (1, 1)) | {"coalesce": (1, 20), "round": (1, 2)}
TIES = ("about", "object")
_KIND_NAMES: Mapping[Kind, str] = {
    "entity": "an entity", "relation": "a relation", "claim": "a claim", "tie": "the tie of a claim",
    "chain": "a chain of relations", "path": "a path",
}  # fmt: skip
NodeTypes = Mapping[str, tuple[syntax.Word, ...]]
_SUGGESTED = 5  # names that are offered for one that is unknown
_ALL_LISTED = 12  # as many are all offered
_ALIKE = 70  # of 100, how like a name must be to be offered before all others


@dataclass(frozen=True, slots=True)
class Checked:
    """A query whose every name is known: the kinds of its variables, and the conditions that must all hold.

    `nodes` hold each variable once, with the types that are left of all places where it stands. `matchers` are the
    regular expressions by their text, `inner` the patterns inside conditions.
    """

    query: syntax.Query
    kinds: Mapping[str, Kind]
    nodes: NodeTypes
    edges: tuple[tuple[str, syntax.EdgePattern, str], ...]
    tests: tuple[syntax.Expression, ...]
    items: tuple[syntax.Item, ...]
    matchers: Mapping[str, Callable[[str], bool]]
    inner: Mapping[syntax.Exists, Checked]

    @property
    def grouped(self) -> bool:
        """Whether rows are put together: something is counted or collected."""
        return any(has_aggregate(i.expression) for i in self.items)


def has_aggregate(expression: syntax.Expression) -> bool:
    """Whether an expression counts or collects."""
    return any(isinstance(e, syntax.Call) and e.name in AGGREGATES for e in syntax.walk_expression(expression))


def check_query(query: syntax.Query, shelf: GraphReader, outer: Mapping[str, Kind]) -> Checked:
    """The query as it is understood, around it `outer`. Raises InputError at the first thing that is not."""
    kinds = _find_kinds(query, outer)
    nodes = _collect_types(query, kinds, shelf)
    edges = tuple(e for path in query.paths for e in path.hops)
    for near, edge, far in edges:
        _check_edge(edge, (kinds[near], kinds[far]), shelf)
    tests = [t for path in query.paths for part in path.parts for t in part.tests]
    tests += syntax.split_conjuncts(query.where)
    items = query.items or _list_all_elements(query, kinds, nodes)
    looking = _ExpressionChecker(kinds, shelf)
    for test in tests:
        looking.plain(test, "WHERE")
    for item in items:
        looking.item(item.expression)
    for name, times in Counter(i.name for i in items).items():
        if times > 1:
            raise InputError(f"Two columns are called {name!r}; give one another name with AS.")
    columns = {i.name: i.expression for i in items}
    order = tuple(replace(s, expression=syntax.replace_variables(s.expression, columns)) for s in query.order)
    for sort in order:
        looking.item(sort.expression)
    # rows that are put together can be ordered only by what they are put together by
    if query.distinct or any(has_aggregate(i.expression) for i in items):
        for expression in (s.expression for s in order):
            if expression not in [i.expression for i in items] and not has_aggregate(expression):
                problem = "ORDER BY can name columns of RETURN only, where rows are counted, collected or distinct."
                raise expression.at.error(problem)
    found = replace(query, order=order)
    return Checked(found, kinds, nodes, edges, tuple(tests), items, looking.matchers, looking.inner)


# ── variables ──


def _find_kinds(query: syntax.Query, outer: Mapping[str, Kind]) -> dict[str, Kind]:
    kinds = dict(outer)
    for node in (n for path in query.paths for n in path.nodes):
        claim = any(fold_type(w.text) == "claim" for w in node.types)
        around = outer.get(node.variable)
        if around not in (None, "claim", "entity") or (claim and around == "entity"):
            _declare_variable(kinds, node.variable, "claim", node.at)  # raises: the name is taken
        if kinds.get(node.variable) != "claim":
            kinds[node.variable] = "claim" if claim else "entity"
    for path in query.paths:
        for near, edge, far in path.hops:
            kind: Kind = "chain" if edge.long else "relation" if kinds[near] == kinds[far] == "entity" else "tie"
            _declare_variable(kinds, edge.variable, kind, edge.at)
        if path.variable:
            _declare_variable(kinds, path.variable, "path", path.nodes[0].at)
    return kinds


def _declare_variable(kinds: dict[str, Kind], variable: str, kind: Kind, at: syntax.Spot) -> None:
    if variable in kinds:
        raise at.error(f"{variable!r} is the name of {_KIND_NAMES[kinds[variable]]} already; choose another.")
    kinds[variable] = kind


def _collect_types(
    query: syntax.Query, kinds: Mapping[str, Kind], shelf: GraphReader
) -> dict[str, tuple[syntax.Word, ...]]:
    """The types of every node; where a variable stands twice, those that both places allow."""
    found = dict[str, tuple[syntax.Word, ...]]()
    for node in (n for path in query.paths for n in path.nodes):
        types = tuple(w for w in node.types if fold_type(w.text) != "claim")
        if types and kinds[node.variable] == "claim":
            raise types[0].at.error("Claim stands alone: a claim has no type of an entity; test its type in WHERE.")
        for word in types:
            _check_known(word, shelf.whole.types, "entity has the type", "type")
        earlier = found.get(node.variable, ())
        common = tuple(w for w in earlier if fold_type(w.text) in [fold_type(t.text) for t in types])
        if earlier and types and not common:
            raise node.at.error(f"{node.variable!r} has other types elsewhere; nothing is of both.")
        found[node.variable] = common if earlier and types else earlier or types
    return found


def _check_edge(edge: syntax.EdgePattern, ends: tuple[Kind, Kind], shelf: GraphReader) -> None:
    if ends == ("claim", "claim"):
        raise edge.at.error("no relation links two claims; link each to an entity, as in (k:Claim)-[:ABOUT]->(a).")
    if "claim" in ends and edge.long:
        raise edge.at.error("a chain links entities, not claims.")
    for word in edge.types:
        if "claim" not in ends:
            _check_known(word, shelf.whole.names, "relation has the label", "label")
        elif fold_type(word.text) not in TIES:
            raise word.at.error("a claim is linked by :ABOUT to its subject and by :OBJECT to what it names besides.")


def _check_known(word: syntax.Word, names: Sequence[str], said: str, what: str) -> None:
    if fold_type(word.text) in map(fold_type, names):
        return
    listed = [n for n in names if n]
    hint = " A label is free text here; to look inside: WHERE r.label CONTAINS '…'." if what == "label" else ""
    raise word.at.error(f"no {said} {word.text!r}{suggest_names(word.text, listed, what)}.{hint}")


def suggest_names(text: str, names: Sequence[str], what: str) -> str:
    """`; the nearest: …`; where there are few, all of them by the alphabet; where there is nothing at all, that."""
    from rapidfuzz import fuzz, process

    ranked = process.extract(fold_type(text), list(names), scorer=fuzz.ratio, processor=fold_type, limit=_ALL_LISTED)
    if not ranked:
        return f": there is no {what} at all"
    if len(names) > _ALL_LISTED:
        return f"; the nearest: {_quote_names(n for n, _, _ in ranked[:_SUGGESTED])}"
    near = [n for n, ratio, _ in ranked[:1] if ratio >= _ALIKE and len(ranked) > 1]
    told = f"; the nearest: {_quote_names(near)}" if near else ""
    return f"{told}; there are: {_quote_names(sorted(names))}"


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _list_all_elements(query: syntax.Query, kinds: Mapping[str, Kind], nodes: NodeTypes) -> tuple[syntax.Item, ...]:
    """All elements of the patterns in their order, under their names or what they are."""
    words = {e.variable: e.types for path in query.paths for e in path.edges} | dict(nodes)
    found = dict[str, None]()
    for path in query.paths:
        found |= dict.fromkeys([path.variable] if path.variable else [])
        found |= {path.nodes[0].variable: None}
        for _, edge, far in path.hops:
            found |= {edge.variable: None, far: None}
    seen, items = Counter[str](), list[syntax.Item]()
    for variable in found:
        types = words.get(variable, ())
        name = variable if not variable.startswith(" ") else fold(types[0].text) if len(types) == 1 else kinds[variable]
        seen[name] += 1
        items.append(syntax.Item(syntax.Variable(variable), name if seen[name] == 1 else f"{name} {seen[name]}"))
    return tuple(items)


# ── expressions ──


class _ExpressionChecker:
    """Looks through expressions; keeps the regular expressions that it meets."""

    def __init__(self, kinds: Mapping[str, Kind], shelf: GraphReader) -> None:
        self.kinds, self.shelf = kinds, shelf
        self.inner = dict[syntax.Exists, Checked]()
        self.matchers = dict[str, Callable[[str], bool]]()

    def plain(self, expression: syntax.Expression, where: str) -> None:
        """Check what may not count or collect."""
        for part in syntax.walk_expression(expression):
            if isinstance(part, syntax.Call) and part.name in AGGREGATES:
                raise part.at.error(f"{part.name} puts rows together, which {where} cannot; use it in RETURN.")
            self.one(part)

    def item(self, expression: syntax.Expression) -> None:
        """Check what may. Beside an aggregate no variable may stand: it would have many values."""
        if not has_aggregate(expression):
            self.plain(expression, "RETURN")
        elif isinstance(expression, syntax.Call) and expression.name in AGGREGATES:
            self.one(expression)
            for argument in expression.arguments:
                self.plain(argument, expression.name)
                if expression.name in ("sum", "avg") and isinstance(argument, syntax.Property):
                    kind, named = self.property(argument).kind, f"{argument.variable}.{argument.name}"
                    if kind != "number":
                        raise argument.at.error(f"{expression.name} adds up numbers; {named} is a {kind}.")
        else:
            self.one(expression)
            for part in syntax.child_expressions(expression):
                if not has_aggregate(part) and syntax.read_variables(part):
                    raise part.at.error("this has many values beside a count; return it by itself.")
                self.item(part)

    def one(self, part: syntax.Expression) -> None:
        match part:
            case syntax.Variable(name):
                self.kind(name, part.at)
            case syntax.Property():
                self.property(part)
            case syntax.Call(name, arguments) if name in AGGREGATES:
                if len(arguments) != (0 if part.star else 1):
                    raise part.at.error(f"{name} takes one value.")
            case syntax.Call(name, arguments):
                if name not in FUNCTIONS:
                    near = suggest_names(name, sorted({*FUNCTIONS, *AGGREGATES}), "function")
                    raise part.at.error(f"there is no function {name!r}{near}.")
                low, high = FUNCTIONS[name]
                if part.distinct or not low <= len(arguments) <= high:
                    count = low if low == high else f"{low} to {high}"
                    raise part.at.error(f"{name} takes {count} value{'s' * (high > 1)}.")
            case syntax.Exists(paths, where):
                for name in part.shared:
                    if self.kinds[name] in ("path", "chain"):
                        called = _KIND_NAMES[self.kinds[name]]
                        raise part.at.error(f"{name!r} is {called}, which EXISTS cannot look into.")
                self.inner[part] = check_query(syntax.Query(paths, where), self.shelf, self.kinds)
            case syntax.Binary(operator, left, right):
                self.comparison(operator, left, right, part.at)
            case _:
                pass

    def kind(self, name: str, at: syntax.Spot) -> Kind:
        if name not in self.kinds:
            listed = [n for n in self.kinds if not n.startswith(" ")]
            hint = "" if listed else "; name what is meant in the pattern, as in (a:Person)"
            raise at.error(f"the pattern has no variable {name!r}{suggest_names(name, listed, 'variable')}{hint}.")
        return self.kinds[name]

    def property(self, part: syntax.Property) -> Readable:
        kind, name = self.kind(part.variable, part.at), part.name
        called, known = _KIND_NAMES[kind], PROPERTIES.get(kind)
        if known is None:
            use = "use length, nodes or relations"
            raise part.named.error(f"{part.variable!r} is {called} and has no properties; {use}.")
        if name.lower() not in known:
            near = suggest_names(name, list(known), "property")
            raise part.named.error(f"{called} has no property {name!r}{near}.")
        return known[name.lower()]

    def comparison(self, operator: str, left: syntax.Expression, right: syntax.Expression, at: syntax.Spot) -> None:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, syntax.Property):
                self.operand(operator, one, other, is_left=one is left)
        if operator != "=~":
            return
        if not isinstance(right, syntax.Fixed) or not isinstance(right.value, str):
            raise at.error("the right side of =~ must be a text in quotes or a parameter.")
        try:
            self.matchers[right.value] = compile_matcher(right.value)
        except InputError as e:
            raise right.at.error(str(e)) from e

    def operand(self, operator: str, one: syntax.Property, other: syntax.Expression, *, is_left: bool) -> None:
        """Raise InputError where a property is compared with a value of another kind: that is true of nothing."""
        kind, name = self.property(one).kind, f"{one.variable}.{one.name}".strip()
        if operator in ("contains", "starts with", "ends with", "=~") and is_left and kind != "text":
            hint = f"it is a list: write value IN {name}" if kind == "list" else f"it is a {kind}"
            raise one.at.error(f"{name} cannot be searched like a text: {hint}.")
        constants = [other] if operator != "in" else other.items if isinstance(other, syntax.Listed) and is_left else ()
        given = [c.value for c in constants if isinstance(c, syntax.Fixed) and c.value is not None]
        wanted: Mapping[str, Any] = {"text": str, "number": (int, float), "truth": bool}
        wrong = [
            v
            for v in given
            if not isinstance(v, wanted.get(kind, object)) or (kind == "number" and isinstance(v, bool))
        ]
        if operator in ("=", "<>", "<", "<=", ">", ">=", "in") and wrong:
            how = {"text": "a text: put the value into quotes", "number": "a number: write it without quotes"}
            raise one.at.error(f"{name} is {how.get(kind, 'true or false')}, not {wrong[0]!r}.")
