"""Patterns drawn over a graph, each as our `match` reads it and as LadybugDB does: what stands in both means the same.

What differs between the two is written out in the second text, and docs/interchange.md lists it: types and labels are
properties there, texts are compared with case, an arrow sees only the direction in which a relation is stored, and one
relation may stand for two edges of a pattern. Each edge is a MATCH of its own, behind a WITH: version 0.22 of LadybugDB
finds too much where one MATCH has several edges and a condition joins two of its variables by OR.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from sensegraph.types import Graph

NODE = "replace(replace(lower({0}.type), '_', ' '), '-', ' ')"
EDGE = "replace(replace(lower({0}.label), '_', ' '), '-', ' ')"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A query in both languages; `ordered` says that the order of the rows counts."""

    ours: str
    theirs: str
    ordered: bool = False


@dataclass(slots=True)
class Drawing:
    """A pattern while it is drawn: its parts, and what LadybugDB has to be told besides."""

    random: Random
    graph: Graph
    ours: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    wheres: list[tuple[str, str]] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)

    def name(self) -> str:
        """The name of an entity that has neighbours, better known ones more often."""
        entities = self.graph.entities
        chosen = self.random.choices(range(len(entities)), [e.degree**2 for e in entities])[0]
        return entities[chosen].name

    def node(self, *, named: bool = False) -> tuple[str, str]:
        """An entity: of any kind, of a type, or of a name."""
        variable = "abcd"[len(self.nodes)]
        self.nodes.append(variable)
        kind = "name" if named else self.random.choice(["any", "any", "type", "types"])
        theirs = f"({variable}:Entity)"
        if kind == "name":
            name = self.name()
            self.told.append(f"lower({variable}.name) = lower({quote(name)})")
            spelt = self.random.choice([name, name.upper()])
            return f"({variable} {{name: {quote(spelt)}}})", theirs
        if kind == "any":
            return f"({variable})", theirs
        types = sorted({e.type for e in self.graph.entities if e.type})
        chosen = self.random.sample(types, min(len(types), 2 if kind == "types" else 1))
        told = " OR ".join(f"{NODE.format(variable)} = {quote(fold(t))}" for t in chosen)
        self.told.append(f"({told})")
        return f"({variable}:{'|'.join(f'`{t}`' for t in chosen)})", theirs

    def edge(self) -> tuple[str, str]:
        """A relation between the last node and the next: with a label or any, with an arrow or none."""
        variable = f"r{len(self.edges)}"
        left, right = self.nodes[-1], "abcd"[len(self.nodes)]
        self.told += [f"{other}.id <> {variable}.id" for other in self.edges]
        self.edges.append(variable)
        labels = sorted({r.label for r in self.graph.relations if r.label})
        label = ""
        if labels and self.random.random() < 0.25:
            chosen = self.random.choice(labels)
            label = f":`{chosen}`"
            self.told.append(f"{EDGE.format(variable)} = {quote(fold(chosen))}")
        arrow = self.random.choice(["-", "-", "->", "<-"])
        if arrow != "-":
            first = left if arrow == "->" else right
            self.told.append(f"(NOT {variable}.directed OR {variable}.source = {first}.id)")
        begin, end = ("<-" if arrow == "<-" else "-"), ("->" if arrow == "->" else "-")
        return f"{begin}[{variable}{label}]{end}", f"-[{variable}:RELATED]-"

    def chain(self, length: int, *, anchored: bool) -> None:
        """A chain of so many relations."""
        ours, theirs = self.node(named=anchored)
        self.match(theirs)
        for _ in range(length):
            (mine, other), left = self.edge(), self.nodes[-1]
            node, target = self.node()
            ours += mine + node
            self.match(f"({left}){other}{target}")
        self.ours.append(ours)

    def match(self, theirs: str) -> None:
        """One more MATCH of LadybugDB, with what was told so far."""
        told = f" WHERE {' AND '.join(self.told)}" if self.told else ""
        carried = ", ".join([*self.nodes, *self.edges])
        self.theirs.append(f"MATCH {theirs}{told} WITH {carried}")
        self.told.clear()

    def condition(self, depth: int = 0) -> tuple[str, str]:
        """A test of a node or an edge, or two of them joined, or one denied."""
        draw = self.random.random()
        if depth < 2 and draw < 0.3:
            (a, x), (b, y) = self.condition(depth + 1), self.condition(depth + 1)
            word = self.random.choice(["AND", "OR"])
            return f"({a} {word} {b})", f"({x} {word} {y})"
        if depth < 2 and draw < 0.4:
            a, x = self.condition(depth + 1)
            return f"NOT ({a})", f"NOT ({x})"
        if self.edges and draw < 0.6:
            return self.edge_test(self.random.choice(self.edges))
        return self.node_test(self.random.choice(self.nodes))

    def edge_test(self, r: str) -> tuple[str, str]:
        """A test of a relation."""
        some = self.random.choice(self.graph.relations)
        piece = quote(some.description[3:7])
        return self.random.choice(
            [
                same(f"{r}.weight >= {some.weight!r}"),
                same(f"{r}.label IS NULL"),
                same(f"{r}.directed"),
                (f"{r}.description CONTAINS {piece}", f"lower({r}.description) CONTAINS lower({piece})"),
                (f"{r}.starts IS NULL", f"{r}.`starts` IS NULL"),
                same(f"size({r}.documents) > 1"),
            ]
        )

    def node_test(self, a: str) -> tuple[str, str]:
        """A test of an entity."""
        some = self.random.choice(self.graph.entities)
        number, piece = self.random.randint(0, 9), quote(some.name[:3].strip())
        chosen = [quote(self.name()), quote(some.name)]
        names, lower = ", ".join(chosen), ", ".join(f"lower({n})" for n in chosen)
        test = self.random.choice(["CONTAINS", "STARTS WITH", "ENDS WITH"])
        called = (
            f"(lower({a}.name) {test} lower({piece}) OR any(x IN {a}.aliases WHERE lower(x) {test} lower({piece})))"
        )
        return self.random.choice(
            [
                same(f"{a}.degree > {number}"),
                same(f"{a}.frequency % 2 = {number % 2}"),
                same(f"{a}.degree + {a}.frequency * 2 <= {number * 3}"),
                same(f"size({a}.aliases) > 0"),
                same(f"{a}.description IS NOT NULL"),
                (f"{a}.name {test} {piece}", called),
                (f"{a}.name IN [{names}]", f"lower({a}.name) IN [{lower}]"),
                (f"{a}.name = {quote(some.name)}", f"lower({a}.name) = lower({quote(some.name)})"),
                (f"{a}.type <> {quote(some.type)}", f"lower({a}.type) <> lower({quote(some.type)})"),
            ]
        )

    def neighbourhood(self) -> tuple[str, str]:
        """Whether an entity has a neighbour of a type, or has none."""
        a, kinds = self.random.choice(self.nodes), sorted({e.type for e in self.graph.entities if e.type})
        kind = self.random.choice(kinds)
        word = self.random.choice(["EXISTS", "NOT EXISTS"])
        inner = f"{NODE.format('z')} = {quote(fold(kind))}"
        return f"{word} {{ ({a})--(z:`{kind}`) }}", f"{word} {{ MATCH ({a})-[:RELATED]-(z:Entity) WHERE {inner} }}"

    def finish(self, returned: str, rest: str = "", *, ordered: bool = False) -> Pattern:
        """The whole query."""
        mine = " AND ".join(a for a, _ in self.wheres)
        told = " AND ".join(x for _, x in self.wheres)
        ours = f"MATCH {', '.join(self.ours)}{' WHERE ' + mine if mine else ''} RETURN {returned}{rest}"
        other = f"{' '.join(self.theirs)}{' WHERE ' + told if told else ''} RETURN {returned}{rest}"
        return Pattern(ours, other, ordered)


def same(text: str) -> tuple[str, str]:
    """What both read alike."""
    return text, text


def fold(text: str) -> str:
    """How types and labels are compared."""
    return text.replace("_", " ").replace("-", " ").lower()


def quote(text: str) -> str:
    """A text in quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def draw_pattern(random: Random, graph: Graph) -> Pattern:
    """One pattern: a chain, a path of several lengths, or a claim; with conditions; rows, groups or an order."""
    d = Drawing(random, graph)
    kind = random.choice(["chain"] * 5 + ["path"] + ["claim"] * 2) if graph.claims else random.choice(["chain", "path"])
    if kind == "path":
        d.ours.append(f"p = (a {{name: {quote(name := d.name())}}})-[*1..2]-(b)")
        told = f"lower(a.name) = lower({quote(name)})"
        d.theirs.append(f"MATCH p = (a:Entity)-[e:RELATED* TRAIL 1..2]-(b:Entity) WHERE {told}")
        return d.finish("b.name, b.degree, length(p)")
    if kind == "claim":
        tie, (ours, theirs) = random.choice(["ABOUT", "OBJECT"]), d.node()
        d.ours.append(f"(k:Claim)-[:{tie}]->{ours}")
        d.theirs.append(
            f"MATCH (k:Claim)-[:{tie}]->{theirs}{' WHERE ' + ' AND '.join(d.told) if d.told else ''} WITH a, k"
        )
        extra = ("k.status IS NULL", "k.object IS NOT NULL", "k.description CONTAINS 'a'")
        test = random.choice(extra)
        d.wheres.append((test, test.replace("k.description", "lower(k.description)")))
    else:
        d.chain(length := random.choice([0, 1, 1, 1, 2, 2, 3]), anchored=length > 1 or random.random() < 0.3)
    d.wheres += [d.condition() for _ in range(random.choice([0, 1, 1, 2]))]
    if random.random() < 0.2:
        d.wheres.append(d.neighbourhood())
    last, edge = d.nodes[-1], d.edges[-1] if d.edges else ""
    match random.choice(["rows", "rows", "distinct", "all", "groups", "ordered"]):
        case "rows":
            return d.finish(", ".join([*(f"{v}.name" for v in d.nodes), *([f"{edge}.weight"] if edge else [])]))
        case "distinct":
            return d.finish(f"DISTINCT {last}.type, {last}.degree")
        case "all":
            return d.finish(
                f"count(*), count(DISTINCT {last}.id), min({last}.degree), max(lower({last}.name)), avg({last}.degree)"
            )
        case "groups":
            return d.finish(f"{last}.type, count(*), sum({last}.frequency), count({last}.description)")
        case _:
            limit = f" ORDER BY n DESC SKIP {random.randint(0, 2)} LIMIT {random.randint(1, 9)}"
            return d.finish(f"{last}.degree AS n", limit, ordered=True)
