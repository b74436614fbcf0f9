"""What `evaluate` needs before it can measure: methods by name, an index of each set, and where it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from sensegraph.cli.options import open_settled, read_overrides
from sensegraph.cli.progress import Report
from sensegraph.corpus.settings import FOLDER, Settings, convert_settings, load_settings
from sensegraph.corpus.tools import estimate_only, has_store, keep_in_folder
from sensegraph.errors import InputError, NotIndexed
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import read_manifest
from sensegraph.index.parts import parts_with_needs
from sensegraph.index.question_costs import foresee_calls
from sensegraph.lab.retrieval import Cost, JudgedSet, Measuring, Named, Result, measure, read_set
from sensegraph.lab.retrieval.runs import cpu_seconds
from sensegraph.language.text import count_tokens
from sensegraph.methods import load_method
from sensegraph.protocols import PartName, PricedEngine
from sensegraph.types import Usage


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Where the index of a set is, by which settings it is built, and the parts that were asked for besides."""

    root: Path
    settings: Settings
    parts: tuple[PartName, ...]
    progress: Report


def load_measuring_settings(root: Path, given: Mapping[str, Any]) -> tuple[Settings, tuple[PartName, ...]]:
    """The settings of the folder `root` with flags laid over, and the parts of an index that the flags ask for."""
    flags = convert_settings(given, Settings, "command line")  # so that a mistake in a flag is not blamed on the file
    asked = flags.index.parts if "parts" in given.get("index", {}) else ()
    return keep_in_folder(load_settings(root, given)), asked


def load_named_methods(text: str, settings: Settings) -> list[Named]:
    """The methods of a list such as `naive,hybrid:fusion=rrf:k=20`, each called what it was written as."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names or len(set(names)) < len(names):
        raise typer.BadParameter(f"--methods {text!r}: name at least one method, and each once.")
    found = []
    for name in names:
        method, *pairs = name.split(":")
        found.append(Named(name, load_method(method, **settings.method_settings(method, read_overrides(pairs)))))
    return found


def parse_cutoffs(text: str) -> tuple[int, ...]:
    """The places where rankings are cut, ascending. Raises BadParameter for what is no list of numbers above 0."""
    cuts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in cuts):
        raise typer.BadParameter(f"--cutoffs {text!r} is no list of numbers above 0, such as 2,5,10.")
    return tuple(sorted({int(part) for part in cuts}))


def read_sets(data: Sequence[Path], split: str, *, titles: bool) -> list[JudgedSet]:
    """The test collections in these folders. Raises BadParameter where two are called alike."""
    sets = [read_set(folder, split, titles=titles) for folder in data]
    names = [s.name for s in sets]
    if twice := [n for n in names if names.count(n) > 1]:
        raise typer.BadParameter(f"--data names two folders called {twice[0]!r}; results go by that name: rename one.")
    return sets


@estimate_only()
def estimate_set(judged: JudgedSet, methods: Sequence[Named], place: IndexPlace) -> dict[str, Usage]:
    """What measuring a set would ask a model and an embedder for: its index, and each method's questions."""
    made = has_store(place.settings, place.root / FOLDER)
    with TemporaryDirectory(prefix="sensegraph-") as spare:
        root = place.root if made else Path(spare)
        with closing(open_settled(root, place.settings, readonly=made, progress=place.progress)) as corpus:
            parts = parts_with_needs({*place.parts}.union(*(m.method.reads for m in methods)))
            corpus.workspace.settings = replace(corpus.settings, index=replace(corpus.settings.index, parts=parts))
            found = corpus.estimate(*judged.documents)
            asked, engine, readable = len(judged.queries), corpus.engine, found.readable
            told = {f"index of {judged.name}": found.usage}
            query_tokens = sum(count_tokens(q.text) for q in judged.queries) if corpus.embedder.waits else 0
            for one in methods:
                spent = Usage()
                if engine.waits and isinstance(engine, PricedEngine) and readable:
                    spent = foresee_calls(one.method, readable, engine, corpus.store.ledger())
                spent = sum([spent] * asked, Usage())
                told[f"{asked:,} questions of {judged.name} by {one.name}"] = replace(
                    spent, embedding_tokens=query_tokens
                )
            return told


def measure_set(judged: JudgedSet, methods: Sequence[Named], how: Measuring, place: IndexPlace) -> Result:
    """Index the documents of `judged`, unless the index is there, and measure `methods` over it."""
    place.root.mkdir(parents=True, exist_ok=True)
    with closing(open_settled(place.root, place.settings, progress=place.progress)) as corpus:
        # measuring must not change what somebody keeps there
        there = corpus.document_keys()
        keys = corpus.runtime().keys(keep_documents, judged.documents)
        if there and there != {d.id: k for d, k in zip(judged.documents, keys, strict=True)}:
            raise InputError(
                f"{corpus.root} holds other documents than {judged.name} as it is measured; choose an empty --root."
            )
        begun = cpu_seconds()
        try:
            present = read_manifest(corpus.store).part_names  # none of them may be lost
        except NotIndexed:
            present = frozenset()
        wanted = {*place.parts, *present}.union(*(m.method.reads for m in methods))
        settings = corpus.settings.index
        parts = parts_with_needs(wanted, settings.part_objects)
        corpus.workspace.settings = replace(corpus.settings, index=replace(settings, parts=parts))
        corpus.add(judged.documents)
        built = corpus.build()
        cost = Cost(cpu_seconds() - begun, judged.megabytes, sum(built.computed.values()))
        index, rt = corpus.index(), replace(corpus.runtime(), reranker=corpus.reranker)
        return Result(measure(judged, methods, index, rt, how), index.manifest, cost)
