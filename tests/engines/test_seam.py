"""The seam is small: what differs between engines, or between embedders, is decided in a few named places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import budgets
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.lab.tasks import JudgingEngine
from sensegraph.methods import METHODS, load_method
from sensegraph.methods.fastgraphrag.tasks import ConceptEngine
from sensegraph.methods.graphrag.global_search import GradingEngine
from sensegraph.methods.hipporag.tasks import RecognisingEngine, TriplesEngine
from sensegraph.methods.hirag.tasks import AbstractingEngine
from sensegraph.methods.kag.tasks import PlanningEngine
from sensegraph.methods.leanrag.tasks import AggregatingEngine
from sensegraph.methods.lightrag.tasks import KeywordEngine
from sensegraph.methods.raptor.tasks import CondensingEngine
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.rerankers import RankingEngine
from sensegraph.protocols import LanguageEngine, ResolvingEngine, StreamingEngine, SurveyingEngine

TOOLS = ("engines/", "models/", "testing/")
DECIDED = {
    "quotes": {
        "answering/asking.py": "what a method gives to an engine that quotes, and what to one that writes",
        "index/build.py": "whether the words of an index are its sources' own",
        "index/hierarchy/packing.py": "how passages are shown, and whether spans are filled in behind what was written",
        "index/restricted/moment.py": "whether a date that became a filter is still looked for",
        "lab/experiments/rehearsal.py": "a stand-in is as the engine that it stands for",
    },
    "lexical": {
        "index/vectors.py": "whether vectors add anything to full text",
        "lab/experiments/rehearsal.py": "a stand-in is as the embedder that it stands for",
    },
}


def readers(name: str, package: Path = budgets.PACKAGE) -> dict[str, list[int]]:
    """The lines that read the attribute `name` of an engine or an embedder, by file, outside the tools."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, node in budgets.read_nodes(package):
        used = isinstance(node, ast.Attribute) and node.attr == name and _is_tool(node.value)
        if used and not place.startswith(TOOLS):
            found[place].append(node.lineno)
    return dict(found)


def _is_tool(value: ast.expr) -> bool:
    """Whether an expression is called an engine, an embedder, or `of` (what a stand-in stands for)."""
    called = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return called.strip("_") in ("engine", "embedder", "of")


def test_what_differs_between_engines_and_embedders_is_decided_in_a_few_named_places() -> None:
    for name, places in DECIDED.items():
        assert set(readers(name)) == set(places), name


def test_no_method_reads_what_stands_behind_the_seam() -> None:
    inside = [(place, node) for place, node in budgets.nodes() if place.startswith("methods/")]
    assert len({place for place, _ in inside}) > 40
    read = [
        f"{place}:{node.lineno}"
        for place, node in inside
        if isinstance(node, ast.Attribute) and node.attr in ("quotes", "lexical")
    ]
    assert read == []


def test_a_reader_is_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def f(rt):\n    return rt.engine.quotes or rt.embedder.lexical\n")
    assert readers("quotes", tmp_path) == readers("lexical", tmp_path) == {"one.py": [2]}


# ── tasks ──

MODEL = LLMEngine(Endpoint(EndpointSettings("http://localhost", model="m")))  # nobody asks it
OFFLINE = ClassicalEngine()
DECLARED = {  # the tasks that each protocol declares
    LanguageEngine: {"extract", "summarise", "report", "rate", "answer", "ask", "refine", "test"},
    SurveyingEngine: {"survey"},
    ResolvingEngine: {"resolve"},
    AggregatingEngine: {"aggregate", "relate"},
    AbstractingEngine: {"abstract"},
    CondensingEngine: {"condense"},
    GradingEngine: {"grade"},
    PlanningEngine: {"plan"},
    KeywordEngine: {"keywords"},
    ConceptEngine: {"concepts"},
    RecognisingEngine: {"filter"},
    TriplesEngine: {"triples"},
    RankingEngine: {"rank"},
    JudgingEngine: {"judge", "score", "contrast", "propose", "claim", "support"},
}


def named_tasks() -> Iterator[str]:
    """The tasks that steps name."""
    for _, node in budgets.nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "step":
            yield from (k.value.value for k in node.keywords if k.arg == "task" and isinstance(k.value, ast.Constant))


def test_every_task_is_declared_by_one_protocol_and_done_by_an_engine() -> None:
    declared = [task for tasks in DECLARED.values() for task in tasks]
    assert len(declared) == len(set(declared))
    assert MODEL.tasks | OFFLINE.tasks == set(declared)
    named = set(named_tasks())
    # reading a chunk is its step whether or not the corpus was seen before; a reranker asks for scores; images are
    # described where documents are read, by no engine of a corpus
    assert named | {"survey", "rank"} == set(declared) | {"describe"}


@pytest.mark.parametrize("protocol", DECLARED, ids=lambda p: p.__name__)
def test_an_engine_with_the_tasks_of_a_protocol_has_its_methods(protocol: type) -> None:
    able = [e for e in (MODEL, OFFLINE) if e.tasks >= DECLARED[protocol]]
    assert able
    assert all(isinstance(e, protocol) for e in able)
    assert isinstance(MODEL, StreamingEngine)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_needs_only_tasks_that_are_declared(name: str) -> None:
    assert load_method(name).name == name
    assert load_method(name).requires <= {task for tasks in DECLARED.values() for task in tasks}
