"""The table of methods: one line each. A method is imported when it is first used."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from sensegraph.errors import SettingsError
from sensegraph.plugins import load_plugin, plugin_names
from sensegraph.protocols import Method


@dataclass(frozen=True, slots=True)
class Listing:
    """What `sensegraph methods` shows of a method, and where its class is."""

    place: str
    paper: str
    tasks: str
    good_for: str


METHODS = {
    "graphrag": Listing(
        "sensegraph.methods.graphrag.global_search:GraphRAG",
        "Edge et al. 2024",
        "extract, summarise, report, rate, answer",
        "questions about the whole corpus: themes, positions, trends",
    ),
    "local": Listing(
        "sensegraph.methods.graphrag.local_search:Local",
        "Edge et al. 2024, local search of the authors' implementation",
        "answer",
        "questions about somebody or something: what it is, what it has to do with what",
    ),
    "drift": Listing(
        "sensegraph.methods.graphrag.drift:Drift",
        "DRIFT search of the implementation by the authors of Edge et al. 2024",
        "ask, answer (refine)",
        "questions that lead from the whole to details, and to what else must be asked",
    ),
    "ts": Listing(
        "sensegraph.methods.graphrag.global_search:TS",
        "the TS condition of Edge et al. 2024",
        "rate, answer",
        "reading the whole corpus for one question: the thorough and expensive baseline",
    ),
    "hybrid": Listing(
        "sensegraph.methods.basic.ranked_chunks:Hybrid",
        "rank fusion, Cormack et al. 2009; a walk with a text prior, after Gutiérrez et al. 2025",
        "answer",
        "questions whose answer lies in a few passages, which names, words or meaning lead to",
    ),
    "walk": Listing(
        "sensegraph.methods.walk.walk:Walk",
        "the walk of Gutiérrez et al. 2025 (HippoRAG 2) over names, with a second hop of our own",
        "answer",
        "questions whose answer lies in a few passages that names tie together; quick, without a model or vectors",
    ),
    "bm25": Listing(
        "sensegraph.methods.basic.ranked_chunks:BM25",
        "Robertson and Zaragoza 2009",
        "answer",
        "rare words, codes and names as they are written",
    ),
    "lazygraphrag": Listing(
        "sensegraph.methods.lazygraphrag.lazygraphrag:LazyGraphRAG",
        "Microsoft Research 2024 (announcement), after its intelligence-toolkit",
        "refine, test, rate, answer",
        "questions of any breadth on an index that no model has read; a budget of tests sets the cost",
    ),
    "fastgraphrag": Listing(
        "sensegraph.methods.fastgraphrag.fastgraphrag:FastGraphRAG",
        "fast-graphrag (CircleMind 2024), after Gutiérrez et al. 2024",
        "refine, answer",
        "questions that lead from names over relations to passages",
    ),
    "lightrag": Listing(
        "sensegraph.methods.lightrag.lightrag:LightRAG",
        "Guo et al. 2024",
        "refine, answer",
        "questions that mix names and themes; reads the vectors of relations, built by index --method lightrag",
    ),
    "leanrag": Listing(
        "sensegraph.methods.leanrag.leanrag:LeanRAG",
        "Zhang et al. 2025",
        "aggregate, relate, answer",
        "questions that join things with what they have in common; reads aggregates, built by index --method leanrag",
    ),
    "hirag": Listing(
        "sensegraph.methods.hirag.hirag:HiRAG",
        "Huang et al. 2025",
        "abstract, report, answer",
        "questions that join distant things of a kind; reads summary entities, built by index --method hirag",
    ),
    "kag": Listing(
        "sensegraph.methods.kag.kag:KAG",
        "Liang et al. 2024",
        "ask, answer (refine)",
        "questions that are answered in steps: relations of relations, comparisons, what two conditions share",
    ),
    "hipporag": Listing(
        "sensegraph.methods.hipporag.hipporag:HippoRAG",
        "Gutiérrez et al. 2025 (HippoRAG 2); Gutiérrez et al. 2024",
        "answer (test)",
        "questions that join facts of several passages, on a graph with good relations",
    ),
    "linearrag": Listing(
        "sensegraph.methods.linearrag.linearrag:LinearRAG",
        "Zhuang et al. 2025",
        "answer",
        "questions that join sentences of several passages, on an index that no model has read",
    ),
    "raptor": Listing(
        "sensegraph.methods.raptor.raptor:RAPTOR",
        "Sarthi et al. 2024",
        "condense, answer",
        "details of long texts and what they say on the whole; reads a tree, built by index --method raptor",
    ),
    "graft": Listing(
        "sensegraph.methods.graft.graft:Graft",
        "GRAFT: Graph Retrieval Augmented Fine-Tuning (undated, about 2024)",
        "report, answer",
        "questions about one part of a corpus in few tokens: the one report that is nearest; made for a tuned model",
    ),
    "naive": Listing(
        "sensegraph.methods.basic.ranked_chunks:Naive",
        "vector RAG, the SS condition of Edge et al. 2024",
        "answer",
        "questions that one passage answers; the baseline",
    ),
}


def method_class(name: str) -> type[Any]:
    """The class of the method `name`, of ours or of an installed plug-in, which takes the place of none of ours.

    Raises SettingsError for a name that nobody knows, with the nearest that somebody does.
    """
    if name not in METHODS:
        known = (*METHODS, *plugin_names("methods"))
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}."
            raise SettingsError(f"No method is called {name!r}; {hint}")
        loaded: type[Any] = load_plugin("methods", name)
        return loaded
    module, _, attribute = METHODS[name].place.partition(":")
    found: type[Any] = getattr(import_module(module), attribute)
    return found


def parts_needed(method: Method) -> frozenset[str]:
    """The parts of an index that a method cannot do without: those that it reads, less those that it `can_miss`."""
    spared: frozenset[str] = getattr(method, "can_miss", frozenset())
    return method.reads - spared


def load_method(name: str, **settings: Any) -> Method:
    """The method `name` with these settings."""
    made: Method = method_class(name)(**settings)
    return made
