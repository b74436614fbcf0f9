"""Questions grounded in an index, each with the evidence that it needs: the grounds, and questions by template.

    index ─▶ grounds of each class, spread over the corpus ─▶ templates, or a model (`question_making`) ─▶ questions

Spread means that groups of chunks take turns. Templates need no model, and hold the words of the sentences that they
are made from, so their questions are easier to find evidence for than a person's, for methods that look for words most
of all: compare methods by them, and never with other sets.

papers: the classes and the k-means of chunks of Edge et al. (2025); section 35 of the survey (N42)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError, NotIndexed
from sensegraph.index.index import Index
from sensegraph.lab.questions import stated_facts
from sensegraph.lab.questions.described_things import PlainFacts, reads_well
from sensegraph.lab.questions.grounds import Ground, Material, find_grounds, find_looser_grounds, remove_date
from sensegraph.lab.questions.proposing import Proposer
from sensegraph.lab.questions.question_files import GROUNDED, KINDS, Kind, Outcome, Posed, sum_counts
from sensegraph.lab.scores.standard import Floats
from sensegraph.language.text import fold
from sensegraph.language.word_lists import read_lexicon
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import take_records
from sensegraph.types import Entity

T = TypeVar("T")

GROUPS = 50
_ROWS = 5_000  # on which centres are found
_CYCLES = 25

_ANSWERED = frozenset(("local", "bridge", "intersection"))  # classes of which the answer is known
_GAPPED = frozenset(("local", "intersection"))  # classes that need no words of ours
_DIRECTED = frozenset(("bridge", "comparison"))  # which only sentences with a direction make
LACKING: Mapping[str, str] = {  # what texts do not have that give too few questions of a class by template
    "local": "few sentences begin with a name and say what can be asked",
    "bridge": "few sentences lead from one thing to another that a second text describes (Foo uses Bar)",
    "intersection": "few things have sentences that begin with their names in two texts",
    "comparison": "few things of one kind are described in different texts (Foo is a tool that …)",
    "temporal": "few dated sentences, and few documents with a time, are about one thing",
    "disambiguation": "few things share a name",
    "global": "few communities have three names and two texts",
    "adversarial": "few sentences hold a name that can be exchanged",
}
_ABOUT = 3  # questions on one entity at most, while others are left


def cluster_vectors(rows: NDArray[np.float32], groups: int = GROUPS, seed: int = 0) -> NDArray[np.int64]:
    """The group of each of the unit vectors `rows`, shape (n, d), by spherical k-means from k-means++ with `seed`.

    There are at most `groups`, and at most as many as rows that differ. Equal rows are in one group.
    """
    if not len(rows):
        return np.zeros(0, np.int64)
    random = np.random.default_rng(seed)
    some = np.asarray(rows if len(rows) <= _ROWS else rows[np.sort(random.permutation(len(rows))[:_ROWS])], np.float64)
    # the first centres: rows drawn by their squared distance from those drawn before (Arthur and Vassilvitskii 2007)
    chosen = [int(random.integers(len(some)))]
    far = _cosine_distance(some, some[chosen[0]])
    while len(chosen) < groups and far.sum() > 1e-9:
        chosen.append(int(random.choice(len(some), p=far / far.sum())))
        far = np.minimum(far, _cosine_distance(some, some[chosen[-1]]))
    centres: Floats = some[chosen]
    for _ in range(_CYCLES):
        placed = (some @ centres.T).argmax(axis=1)
        moved = centres.copy()
        for i, centre in enumerate(centres):  # the direction of the mean; where there is none, the centre stays
            members = some[placed == i]
            mean = members.sum(axis=0) if len(members) else centre
            length = float(np.linalg.norm(mean))
            moved[i] = mean / length if length else centre
        if np.allclose(moved, centres):
            break
        centres = moved
    found: NDArray[np.int64] = np.asarray(rows @ centres.T.astype(rows.dtype)).argmax(axis=1)
    return found


def _cosine_distance(rows: Floats, centre: Floats) -> Floats:
    apart: Floats = np.maximum(1 - rows @ centre, 0)
    apart[apart < 1e-9] = 0
    return apart


def take_turns(items: Iterable[T], group: Callable[[T], int], name: Callable[[T], str], seed: int = 0) -> list[T]:
    """`items` so that the groups take turns; inside a group, and among groups, by a hash of name and seed."""
    inside: dict[int, list[T]] = {}
    for item in items:
        inside.setdefault(group(item), []).append(item)
    for listed in inside.values():
        listed.sort(key=lambda item: key(seed, name(item)))
    lists = [inside[g] for g in sorted(inside, key=lambda g: key(seed, g))]
    longest = max(map(len, lists), default=0)
    return [listed[i] for i in range(longest) for listed in lists if i < len(listed)]


def word_question(ground: Ground, documents: Sequence[str], *, english: bool = True) -> Posed:
    """The question that a template makes of a ground, whose chunks are of `documents`.

    In other languages than English sentences get a gap, and only the classes that need no words of ours are asked.
    """
    if english:
        text = _word_in_english(ground)
    elif ground.kind == "local":
        (one,) = ground.told
        text = one.rest if stated_facts.GAP in one.rest else f"{stated_facts.GAP} {one.rest}?"
    else:
        text = " … ".join(f"{stated_facts.GAP} {one.rest}" for one in ground.told) + "?"
    answers = tuple(dict.fromkeys(e.name for e in ground.entities[:1])) if ground.kind in _ANSWERED else ()
    if ground.claims:
        answers = (remove_date(ground.claims[0]),)
    evidence = () if ground.kind == "adversarial" else ground.chunks
    return Posed(
        text,
        ground.kind,
        "template",
        evidence,
        tuple(dict.fromkeys(documents)) if evidence else (),
        answers,
        tuple(e.name for e in ground.entities),
        max(1, len(ground.told)) if ground.kind in ("bridge", "intersection") else 1,
    )


def _word_in_english(ground: Ground) -> str:
    """The question in English, by the class of the ground."""
    told, entities = ground.told, ground.entities
    match ground.kind:
        case "local" if stated_facts.GAP in told[0].rest:
            return f"Which name is missing here: “{told[0].rest}”?"
        case "local":
            return f"{_question_word(told[0].subject)} {told[0].rest}?"
        case "bridge" if ground.other:
            return f"What links {_name_in_sentence(entities[1])} with {_name_in_sentence(entities[2])}?"
        case "bridge":
            # each sentence but the last gives up the name of what the next one is about, which says what is meant
            text = told[-1].rest
            for one in told[-2::-1]:
                text = f"{one.head} the one that {text}{f', {one.after}' if one.after else ''}"
            return f"{_question_word(told[0].subject)} {text}?"
        case "intersection":
            first, second = told
            also = "" if "also" in second.rest.split() else "also "
            return f"{_question_word(first.subject)} {first.rest}, and {also}{second.rest}?"
        case "comparison":
            left, right, shared = entities[0].name, entities[1].name, _name_in_sentence(entities[2])
            return f"How do {left} and {right} differ in what they have to do with {shared}?"
        case "temporal" if ground.claims:
            sooner, later = sorted(map(remove_date, ground.claims))
            return f"Which came first: “{sooner}”, or “{later}”?"
        case "temporal":
            begin, end = ground.times
            return f"What changed in what is said of {_name_in_sentence(entities[0])} between {begin} and {end}?"
        case "disambiguation":
            meant, mark, *others = entities
            what = f"the {ground.other.title()}"
            if others and fold(meant.name) == fold(others[0].name) and fold(meant.type) != fold(others[0].type):
                what = f"{meant.name}, the {meant.type.casefold()}"
            return f"What is said of {what} that has to do with {_name_in_sentence(mark)}?"
        case "global":
            *names, last = map(_name_in_sentence, entities)
            listed = f"{', '.join(names)} and {last}"
            return f"What are the main themes in all that is said of {listed}, and how do they hang together?"
        case "adversarial":
            (sentence,) = told
            return f"{_question_word(sentence.subject)} {f'{sentence.head} {ground.other} {sentence.after}'.strip()}?"


def has_template(kind: Kind, *, english: bool) -> bool:
    """Whether there is a template of this class in the language."""
    return english or kind in _GAPPED


def _question_word(entity: Entity) -> str:
    """Who for a person, what for anything else, and for what only one word that is no given name calls a person."""
    words = fold(entity.name).split()
    named = len(words) > 1 or bool(set(words) & read_lexicon("people")["first"]) or fold(entity.name).endswith(".")
    return "Who" if fold(entity.type) == "person" and named else "What"


def _name_in_sentence(entity: Entity) -> str:
    """An entity inside a sentence: what is no name gets its article."""
    return entity.name if entity.name[:1] != entity.name[:1].lower() else f"the {entity.name}"


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
    strata: int = GROUPS
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
        return stated_facts.speaks_english(c.text for c in self.index.chunks(ids).values())

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The classes that are asked: without reports no global ones, unless these alone are wanted."""
        wanted = self.how.classes
        return (
            wanted
            if self.index.manifest.hierarchy or wanted == ("global",)
            else tuple(kind for kind in wanted if kind != "global")
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which classes are left out, and why."""
        left_out = "global questions are left out: they are made of reports, which this index was built without"
        return (left_out,) if self.kinds != self.how.classes else ()

    def of(self, kind: Kind, *, loosely: bool = True) -> list[Ground]:
        """The grounds of a class: groups of chunks take turns, and nothing is asked about too often.

        Where sentences give fewer than are needed, looser ones follow, if they may (`loosely`).
        """
        material = self._material(kind)
        found = self._turned(find_grounds(kind, material))
        enough = len(found) >= self.how.each * (1 + self.how.rounds)
        return found if enough or not loosely else [*found, *self._turned(find_looser_grounds(kind, material))]

    def _turned(self, found: Sequence[Ground]) -> list[Ground]:
        turned = take_turns(found, lambda g: self._group[g.chunks[0]], lambda g: g.id, self.how.seed)
        asked, rounds = Counter[str](), list[int]()
        for ground in turned:  # 0 for the first grounds of what a ground is about, 1 for the next, and so on
            about = ground.entities[0].id if ground.entities else ground.chunks[0]
            rounds.append(asked[about] // _ABOUT)
            asked[about] += 1
        return [turned[i] for i in sorted(range(len(turned)), key=rounds.__getitem__)]

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
                "index.parts and run `sensegraph index` (in Python: `corpus.build()`), or leave the class out."
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
        told = stated_facts.find_stated_facts(graph, english=self.english)
        ties, gaps = stated_facts.find_tied_entities(graph), stated_facts.find_gapped_sentences(graph)
        return Material(told, ties, gaps, self._entities, list(graph.claims), times=dated, hops=self.how.hops)

    def plain(self, kind: Kind) -> list[Posed]:
        """Questions on what sentences say outright: what a thing is or does; groups of chunks take turns.

        A question that two sentences answer differently is none.
        """
        asked = {
            "local": PlainFacts.ask_local,
            "bridge": PlainFacts.ask_bridges,
            "comparison": PlainFacts.ask_comparisons,
        }
        if not self.english or kind not in asked:
            return []
        worded = list(asked[kind](self._plain_facts))
        often = Counter(w.text for w in worded)
        turned = take_turns(
            (w for w in worded if often[w.text] == 1),
            lambda w: self._group[w.chunks[0]],
            lambda w: w.text,
            self.how.seed,
        )
        of = self.index.documents_of([name for w in turned for name in w.chunks])
        return [
            Posed(
                w.text,
                kind,
                "template",
                w.chunks,
                tuple(dict.fromkeys(of[c] for c in w.chunks)),
                w.answers,
                hops=len(w.chunks) if kind == "bridge" else 1,
                parts=w.parts,
            )
            for w in turned
        ]

    @cached_property
    def _plain_facts(self) -> PlainFacts:
        names = [c.id for c in self.index.catalogue.chunks]
        return PlainFacts.of(self.index.chunks(names).values())

    def sampled(self, kind: Kind) -> list[Ground]:
        """The chunks as grounds, groups of them by turns: what a model reads that needs no more than one text."""
        names = [c.id for c in self.index.catalogue.chunks]
        turned = take_turns(names, self._group.__getitem__, lambda n: n, self.how.seed)
        return [Ground(kind, (name,)) for name in turned]

    def documents(self, ground: Ground) -> list[str]:
        """The documents of the ground's chunks."""
        of = self.index.documents_of(ground.chunks)
        return [of[name] for name in ground.chunks]

    @cached_property
    def _group(self) -> Mapping[str, int]:
        """The group of every chunk."""
        rows = np.asarray(self.index.vectors)
        groups = cluster_vectors(rows, self.how.strata, self.how.seed)
        return {c.id: int(g) for c, g in zip(self.index.catalogue.chunks, groups, strict=True)}


# ── by template ──


def make_template_questions(index: Index, by: Proposer, how: GroundSettings | None = None) -> Outcome:
    """Questions of each class by rule, where the graph gives grounds for them; `missing` counts where it does not."""
    how = how or GroundSettings()
    found, made = Grounds(index, how), list[Posed]()
    dropped, missing = Counter[str](), Counter[str]()
    for kind in found.kinds:
        loosely = not (found.english and kind in _DIRECTED)
        listed = found.of(kind, loosely=loosely) if has_template(kind, english=found.english) else []
        told = [word_question(g, found.documents(g), english=found.english) for g in listed]
        well = [q for q in told if not found.english or reads_well(q.text, q.answers if kind in _ANSWERED else ())]
        dropped["ill-formed"] += len(told) - len(well)
        written = [*found.plain(kind), *well][: how.each * (1 + how.rounds)]
        kept: list[Posed] = []
        if written:  # the first that are new, as many as are wanted
            fresh = by.fresh([q.text for q in written], [q.text for q in made], how.near)
            dropped["a duplicate"] += len(written) - len(fresh)
            kept = [written[i] for i in fresh[: how.each]]
        made += kept
        missing[kind] += how.each - len(kept)
    return Outcome(tuple(made), sum_counts(dropped.items()), sum_counts(missing.items()), found.notes)
