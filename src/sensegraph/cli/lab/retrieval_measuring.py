"""What `evaluate` needs before it can measure: methods by name, an index of each set, and where it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from sensegraph.cli.options import open_settled, read_overrides
from sensegraph.cli.progress import Report
from sensegraph.corpus.settings import Settings, convert_settings, load_settings
from sensegraph.corpus.tools import keep_in_folder
from sensegraph.errors import InputError, NotIndexed
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import read_manifest
from sensegraph.index.parts import parts_with_needs
from sensegraph.lab.retrieval import Cost, JudgedSet, Measuring, Named, Result, measure
from sensegraph.lab.retrieval.runs import cpu_seconds
from sensegraph.methods import load_method
from sensegraph.protocols import PartName


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
