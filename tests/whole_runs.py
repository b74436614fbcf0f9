"""What whole runs come to, pinned: indexes of three small corpora, offline and over the scripted server, and what each
method answers from them.

Rules of one function are pinned in tests/data/rules. Here it is what they come to together: a place that no test of its
own reaches shows when it changes what is built or found. A row of tests/data/runs is one thing: its name, and what was
found. Where a run was meant to change, `python tests/whole_runs.py` writes all rows again, and the change shows in
them. Numbers are compared to four digits, as other machines add in another order.
"""

from __future__ import annotations

import atexit
import dataclasses
import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_type_hints

import msgspec
import numpy as np

import harbour
from laws.asking import PARTS, Asked
from laws.corpora import CORPORA, as_they_are
from scripted import Call
from sensegraph.built_in_parts import BUILT_IN
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError
from sensegraph.graphs.drawing.drawing import lay_out_drawing
from sensegraph.graphs.drawing.scene import compose_scene
from sensegraph.graphs.interchange.property_graphs import export_graph
from sensegraph.index.estimate import Estimate
from sensegraph.index.index import Index
from sensegraph.index.parts import find_part
from sensegraph.methods import METHODS, load_method, method_class
from sensegraph.questions import Condition, Scope
from sensegraph.types import Passage, Question, Usage

PINNED = Path(__file__).parent / "data" / "runs"
QUESTIONS: Mapping[str, Sequence[str]] = {
    "harbour-offline": (
        *(harbour.QUESTIONS[kind] for kind in ("multi-hop", "comparison", "global", "local")),
        "What happened in 2021?",
    ),
    "office-offline": (CORPORA["office"].question, "What are the main themes?", "What changed over time, and why?"),
    "rathaus-offline": (CORPORA["rathaus"].question, "Was sind die wichtigsten Themen?"),
    "harbour-scripted": tuple(harbour.QUESTIONS[kind] for kind in ("multi-hop", "comparison", "global", "local")),
}
"""The runs, each a corpus of the laws with an engine, and what is asked."""
SCOPES: Mapping[str, Sequence[Scope]] = {
    "harbour-offline": (
        Scope(documents=("letter-*", "report-*"), since="2019", until="2023-06-01"),
        Scope(as_of="2022"),
        Scope(where=(Condition("year", "<", 2022),), between=("2019", ""), unknown="exclude"),
    ),
    "harbour-scripted": (Scope(until="2022"),),
}
"""Filters and moments under which the first question of a run is asked again."""
TRIED = tuple(name for name in METHODS if name != "drift")  # whose searches take long; see tests/methods/test_drift.py
PATTERNS = (
    "(a)-[r]-(b) RETURN a.name, b.name, r.weight ORDER BY r.weight DESC, a.name, b.name LIMIT 9",
    "(a:person)-[]-(b)-[]-(c) WHERE c.degree > 1 RETURN a.name, count(DISTINCT c) AS n ORDER BY n DESC, a.name",
)
PRECISION = 1e-4
FRACTION = re.compile(r"\d+\.\d{5,}(?:e-?\d+)?")
KEY = re.compile(r"\b([0-9a-f]{6})[0-9a-f]{14,}\b")  # of which the beginning tells enough
SHOWN = 40  # characters of a long text, behind which its digest stands
LISTED = 64  # numbers of an array: of more a digest, or what they add up to


@dataclass(frozen=True, slots=True)
class Run:
    """A built corpus, what the build has asked of a server, and what one document more would take then."""

    corpus: Corpus
    calls: Sequence[Call]
    more: Estimate


@cache
def open_run(run: str) -> Run:
    """A run, made once and open until the end of the process."""
    name, _, engine = run.partition("-")
    folder = TemporaryDirectory(prefix="whole-runs-")
    asked = Asked(Path(folder.name), engine)
    atexit.register(folder.cleanup)
    atexit.register(asked.close)
    corpus = asked.built(name, as_they_are)
    calls = list(asked.server.calls) if asked.server else []
    return Run(corpus, calls, corpus.estimate([CORPORA[name].guest]))


def list_groups(run: str) -> list[str]:
    """What is pinned of a run: tables and parts of its index, what methods answer, what a model is asked."""
    tables = ("documents", "chunks", "entities", "relations", "claims", "communities", "clusters", "vectors", "notes")
    parts = [f"part {name}" for name in BUILT_IN if name in PARTS and name not in ("relations", "layers")]
    asked = ["requests"] if run.endswith("scripted") else ["views", "match", "exports", "scenes"]
    within = [*(f"inside {name}" for name in METHODS), *(f"settings {name}" for name in TRIED)] if run in SCOPES else []
    return [*tables, *parts, "estimate", *asked, *(f"answers {name}" for name in METHODS), *within]


def list_views(corpus: Corpus) -> Iterator[tuple[str, Any]]:
    """What is shown of an index without a question, each thing with its name."""
    names = [e.name for e in corpus.entities()]
    yield "documents", corpus.browser.documents()
    yield "from the second", corpus.browser.documents("a", first=1, limit=2)
    yield "entities", names
    yield "from the third", corpus.browser.entity_rows("a", first=2, limit=2)
    yield "map", corpus.browser.map_depth(0)
    for document in corpus.documents():
        yield document.id, corpus.browser.document(document.id, start=3, end=90, mentions=True)
    for row in corpus.reports(0):
        yield row.title, corpus.report(row.id)
        yield row.title, corpus.browser.map_community(row.id)
    for entity in corpus.entities()[:5]:
        yield entity.name, corpus.entity(entity.id)
        yield entity.name, corpus.timeline(entity.id)
    yield "changes", corpus.changes("2019", "2022")
    yield "resolve", corpus.resolve(ask=False)


def list_exports(index: Index) -> list[Any]:
    """The files that an index is exported to, each with its size and its digest, numbers to six digits."""
    rows: list[Any] = []
    with TemporaryDirectory() as folder:
        for form in ("csv", "graphml", "cypher", "json"):
            export_graph(index, Path(folder) / form, form)
        for file in sorted(Path(folder).rglob("*.*")):
            text = FRACTION.sub(lambda m: f"{float(m[0]):.6g}", file.read_text(encoding="utf-8"))
            rows.append([file.relative_to(folder).as_posix(), len(text), show_value(text.encode())])
    return rows


def list_other_values(kind: Any, usual: Any) -> list[Any]:
    """Other values than the usual one that a setting of this kind may have: the options, few, or less and more."""
    if options := get_args(kind):
        return [one for one in options if one != usual and isinstance(one, str | int) and not isinstance(one, type)]
    if isinstance(usual, bool):
        return [not usual]
    if isinstance(usual, int):
        return sorted({1, 3} - {usual})
    return [usual / 4, (1 + usual) / 2] if isinstance(usual, float) else []


def list_settings(corpus: Corpus, name: str, question: str) -> Iterator[list[Any]]:
    """What a method finds with each of its settings changed by itself: passages, tokens, and what their scores are."""
    index, kind = corpus.index(), method_class(name)
    hints = get_type_hints(kind)
    for field in (f for f in dataclasses.fields(kind) if f.init):
        for value in list_other_values(hints[field.name], field.default):
            try:
                found = load_method(name, **{field.name: value}).retrieve(Question(question), index, corpus.runtime())
            except SensegraphError as e:
                yield [field.name, value, show_value(str(e))]
                continue
            ids = "".join(passage.id for passage in found.passages)
            scores = sum(passage.score / (1 + i) for i, passage in enumerate(found.passages))
            told = [len(found.passages), show_value(ids.encode()), found.tokens, found.omitted, float(scores)]
            yield [field.name, value, *told, show_value(found.notes)]


@cache
def find_rows(run: str, group: str) -> list[Any]:
    """What a run comes to in one group, as JSON has it."""
    made, (kind, _, name) = open_run(run), group.partition(" ")
    corpus = made.corpus
    index = corpus.index()
    match kind:
        case "answers":
            answers = [corpus.query(question, method=name) for question in QUESTIONS[run]]
            return [show_value(replace(a, usage=Usage())) for a in answers]  # it shrinks with what was asked before
        case "inside":
            asked = [corpus.query(QUESTIONS[run][0], method=name, scope=scope) for scope in SCOPES[run]]
            return [show_value(replace(a, usage=Usage())) for a in asked]
        case "settings":
            return [show_value(row) for row in list_settings(corpus, name, QUESTIONS[run][0])]
        case "estimate":
            return [show_value(made.more)]
        case "views":
            return [[told, show_value(found)] for told, found in list_views(corpus)]
        case "match":
            return [[text, show_value(corpus.match(text, cite=True))] for text in PATTERNS]
        case "exports":
            return list_exports(index)
        case "scenes":
            drawing = lay_out_drawing(index.graph, [index.clusters_at(d) for d in range(index.depth)], name=run)
            return [show_value(compose_scene(drawing, depth)) for depth in range(index.depth)]
        case "part":
            return [show_value(index.part(find_part(name)))]
        case "requests":
            shas: dict[str, list[str]] = defaultdict(list)
            for call in made.calls:
                shas[call.task].append(call.sha)
            return [[task, len(shas[task]), show_value("".join(sorted(shas[task])).encode())] for task in sorted(shas)]
        case "documents" | "chunks":
            return [show_value(row) for row in getattr(index.catalogue, group)]
        case "communities":
            return [show_value(row) for row in index.communities.groups]
        case "clusters":
            return [show_value(row) for row in index.hierarchy.clusters]
        case "vectors":
            return [show_value(np.asarray(index.vectors))]
        case "notes":
            return [show_value(index.notes())]
    return [show_value(row) for row in getattr(index.graph, group)]


def show_value(value: Any) -> Any:
    """A value as JSON has it, without empty fields; of long texts, keys and arrays what tells them from others."""
    match value:
        case bool() | int() | None:
            return value
        case float() | np.floating():
            return float(f"{value:.5g}")
        case complex():
            return [show_value(value.real), show_value(value.imag)]
        case str():
            digest = hashlib.sha256(value.encode()).hexdigest()[:8]
            short = KEY.sub(r"\1", value)
            return short if len(value) <= SHOWN else f"{short[:SHOWN]}… {digest}"
        case bytes():
            return hashlib.sha256(value).hexdigest()[:8]
        case np.ndarray():
            return show_array(value)
        case np.generic():
            return show_value(value.item())
        case Mapping():
            return [[show_value(k), show_value(v)] for k, v in value.items()]
        case set() | frozenset():
            return sorted((show_value(one) for one in value), key=repr)
        case msgspec.Struct():
            return show_value(msgspec.structs.asdict(value))
    if isinstance(value, Passage):
        behind = hashlib.sha256(repr((value.sources, value.quotes)).encode()).hexdigest()[:8]
        return [value.kind, *map(show_value, (value.id, value.title, value.text, value.score)), value.documents, behind]
    if hasattr(value, "__dataclass_fields__"):
        fields = {name: getattr(value, name) for name in value.__dataclass_fields__ if name[0] != "_"}
        return {n: show_value(v) for n, v in fields.items() if not (isinstance(v, str | int | tuple | None) and not v)}
    return [show_value(one) for one in value]


def show_array(array: Any) -> Any:
    """The numbers of a small array; of a large one its shape, and what its numbers and their squares add up to."""
    if array.dtype.names:
        return {name: show_array(array[name]) for name in array.dtype.names}
    if array.size <= LISTED or array.dtype.kind not in "fiu":
        return show_value(array.tolist())
    places = np.arange(1, array.size + 1) / array.size
    plain = array.astype(float).ravel()
    return [list(array.shape), show_value(float(plain.sum())), show_value(float(places @ plain**2))]


def is_same(found: Any, pinned: Any) -> bool:
    """Whether two rows are the same but for the last digits of numbers."""
    if isinstance(found, float) or isinstance(pinned, float):
        numbers = isinstance(found, int | float) and isinstance(pinned, int | float)
        return numbers and math.isclose(found, pinned, rel_tol=PRECISION, abs_tol=PRECISION**2)
    if isinstance(found, dict) and isinstance(pinned, dict):
        return found.keys() == pinned.keys() and all(is_same(found[name], pinned[name]) for name in found)
    if isinstance(found, list) and isinstance(pinned, list):
        return len(found) == len(pinned) and all(map(is_same, found, pinned))
    return bool(found == pinned)


@cache
def read_pinned(run: str) -> dict[str, list[Any]]:
    """The rows of a run that are pinned, by their group."""
    rows: dict[str, list[Any]] = defaultdict(list)
    for line in (PINNED / f"{run}.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        group, row = json.loads(line)
        rows[group].append(row)
    return dict(rows)


def name_differences(run: str, *groups: str) -> list[str]:
    """The rows of these groups that differ from those that are pinned, each as found and as pinned."""
    told: list[str] = []
    for group in groups:
        found, pinned = find_rows(run, group), read_pinned(run).get(group, [])
        if len(found) != len(pinned):
            told.append(f"{group}: {len(found)} rows are found, {len(pinned)} are pinned")
        else:
            pairs = zip(found, pinned, strict=True)
            told += [f"{group}: found {one}\npinned {other}" for one, other in pairs if not is_same(one, other)]
    return told


def write_run(run: str) -> None:
    """Write what a run comes to now; a group whose numbers differ in their last digits alone stays as it was."""
    before = read_pinned(run) if (PINNED / f"{run}.jsonl").exists() else {}
    lines: list[str] = []
    for group in list_groups(run):
        rows, old = find_rows(run, group), before.get(group, [])
        rows = old if is_same(rows, old) else rows
        lines += [json.dumps([group, row], ensure_ascii=False, separators=(",", ":")) for row in rows]
    (PINNED / f"{run}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    PINNED.mkdir(exist_ok=True)
    for each in QUESTIONS:
        write_run(each)
