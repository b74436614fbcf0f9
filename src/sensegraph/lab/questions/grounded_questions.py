"""Questions grounded in an index, each with the evidence that it needs: the grounds, and questions by template.

    index ─▶ grounds of each class, spread over the corpus ─▶ templates, or a model (`model_questions`) ─▶ questions

papers: the classes of Edge et al. (2025); section 35 of the survey (N42)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sensegraph.errors import InputError, NotIndexed
from sensegraph.index.index import Index
from sensegraph.lab.questions import question_templates, strata
from sensegraph.lab.questions.grounds import Ground, Material, find_grounds, find_looser_grounds
from sensegraph.lab.questions.proposing import Proposer
from sensegraph.lab.questions.question_files import GROUNDED, KINDS, Kind, Outcome, Posed, sum_counts
from sensegraph.lab.questions.stated_facts import (
    find_gapped_sentences,
    find_stated_facts,
    find_tied_entities,
    speaks_english,
)
from sensegraph.runtime.results import take_records
from sensegraph.types import Entity

_ABOUT = 3  # questions on one entity at most, while others are left


@dataclass(frozen=True, slots=True)
class GroundSettings:
    """Which classes of questions are made, and how many of `each`.

    A model is asked for `over` times as many as are wanted, and in at most `rounds` rounds. Questions are one from a
    cosine of `near` on. `strata` are the groups of chunks that take turns, `hops` the most facts that a bridge joins,
    `seed` that of every draw.
    """

    classes: tuple[Kind, ...] = GROUNDED
    each: int = 10
    over: int = 2
    rounds: int = 4
    near: float = 0.9
    strata: int = strata.GROUPS
    hops: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := [k for k in self.classes if k not in KINDS]:
            raise InputError(f"No class of questions is called {unknown[0]!r}; there are {', '.join(KINDS)}.")
        if not self.classes or min(self.each, self.over, self.rounds, self.strata) < 1 or self.hops < 2:
            raise InputError("Name at least one class; each, over, rounds, strata must be at least 1, hops at least 2.")


class Grounds:
    """The grounds of an index, class by class, in the order in which they are asked about.

    Raises NotIndexed where the index was built without its graph, or for the class `global` without reports.
    """

    def __init__(self, index: Index, how: GroundSettings) -> None:
        self.index, self.how = index, how

    @cached_property
    def english(self) -> bool:
        """Whether the corpus is English: the templates' own words are."""
        entries = self.index.catalogue.chunks
        ids = [e.id for e in take_records(entries, range(0, len(entries), max(1, len(entries) // 50)))]
        return speaks_english(c.text for c in self.index.chunks(ids).values())

    def of(self, kind: Kind) -> list[Ground]:
        """The grounds of a class: groups of chunks take turns, and nothing is asked about too often.

        Where sentences give fewer than are needed, looser ones follow.
        """
        material = self._material(kind)
        found = self._turned(find_grounds(kind, material))
        enough = len(found) >= self.how.each * (1 + self.how.rounds)
        return found if enough else [*found, *self._turned(find_looser_grounds(kind, material))]

    def _turned(self, found: Sequence[Ground]) -> list[Ground]:
        turned = strata.take_turns(found, lambda g: self._group[g.chunks[0]], lambda g: g.id, self.how.seed)
        return sorted(turned, key=_Often().rank)

    def texts(self, ground: Ground) -> tuple[str, ...]:
        """What a model is to read of a ground: its chunks, or the report."""
        if ground.texts:
            return ground.texts
        found = self.index.chunks(ground.chunks)
        return tuple(found[name].text for name in ground.chunks)

    def _material(self, kind: Kind) -> Material:
        if kind != "global":
            return self._facts
        if not self.index.manifest.hierarchy:
            raise NotIndexed(
                "Global questions are made of the reports, which this index was built without; add 'reports' to "
                "index.parts and run `sensegraph index`, or leave the class out."
            )
        return Material((), entities=self._entities, clusters=[c for c in self.index.hierarchy.clusters if c.text])

    @cached_property
    def _entities(self) -> list[Entity]:
        return list(self.index.graph.entities)

    @cached_property
    def _facts(self) -> Material:
        catalogue = self.index.catalogue
        times = {d.id: d.time for d in catalogue.documents if d.time}
        dated = {c.id: times[c.document] for c in catalogue.chunks if c.document in times}
        graph = self.index.graph
        told, ties, gaps = (
            find_stated_facts(graph, english=self.english),
            find_tied_entities(graph),
            find_gapped_sentences(graph),
        )
        return Material(told, ties, gaps, self._entities, list(graph.claims), times=dated, hops=self.how.hops)

    def sampled(self, kind: Kind) -> list[Ground]:
        """The chunks as grounds, groups of them by turns: what a model reads that needs no more than one text."""
        names = [c.id for c in self.index.catalogue.chunks]
        turned = strata.take_turns(names, self._group.__getitem__, lambda n: n, self.how.seed)
        return [Ground(kind, (name,)) for name in turned]

    def documents(self, ground: Ground) -> list[str]:
        """The documents of the ground's chunks."""
        of = self.index.documents_of(ground.chunks)
        return [of[name] for name in ground.chunks]

    @cached_property
    def _group(self) -> Mapping[str, int]:
        """The group of every chunk."""
        rows = np.asarray(self.index.vectors)
        groups = strata.cluster_vectors(rows, self.how.strata, self.how.seed)
        return {c.id: int(g) for c, g in zip(self.index.catalogue.chunks, groups, strict=True)}


class _Often:
    """How often an entity has been asked about already, when its next ground comes."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()

    def rank(self, ground: Ground) -> int:
        """0 for the first grounds of what the ground is about, 1 for the next, and so on."""
        about = ground.entities[0].id if ground.entities else ground.chunks[0]
        self._count[about] += 1
        return (self._count[about] - 1) // _ABOUT


# ── by template ──


def make_template_questions(index: Index, by: Proposer, how: GroundSettings | None = None) -> Outcome:
    """Questions of each class by rule, where the graph gives grounds for them; `missing` counts where it does not."""
    how = how or GroundSettings()
    found, made = Grounds(index, how), list[Posed]()
    dropped, missing = Counter[str](), Counter[str]()
    for kind in how.classes:
        listed = found.of(kind) if question_templates.has_template(kind, english=found.english) else []
        written = [question_templates.word_question(g, found.documents(g), english=found.english) for g in listed]
        written = written[: how.each * (1 + how.rounds)]
        kept: list[Posed] = []
        if written:  # the first that are new, as many as are wanted
            fresh = by.fresh([q.text for q in written], [q.text for q in made], how.near)
            dropped["a duplicate"] += len(written) - len(fresh)
            kept = [written[i] for i in fresh[: how.each]]
        made += kept
        missing[kind] += how.each - len(kept)
    return Outcome(tuple(made), sum_counts(dropped.items()), sum_counts(missing.items()))
