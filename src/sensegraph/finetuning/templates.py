"""Questions made from the graph by rule, where a corpus has none: names left out of sentences, and what links two.

They are labelled `template`. Each is answered by the very words of its gold passage, so that it can be checked; none
asks for more than one or two sentences say, and a model that is trained on nothing else learns to look up.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from sensegraph.finetuning.indexed import Chunks
from sensegraph.finetuning.sources import Source
from sensegraph.finetuning.values import Asked, Passage
from sensegraph.steps.index import Index
from sensegraph.text import fold
from sensegraph.types import Chunk, Description, Entity, Relation

_SENTENCE = (40, 300)  # characters of a sentence to ask about
_SHORT = 3  # characters of a name that is asked for, at least
_SAME = 3  # questions with one answer, at most
_GAP = "____"


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a chunk that names an entity, with the entity's name as the sentence has it."""

    text: str
    name: str
    chunk: Chunk

    @property
    def gapped(self) -> str:
        """The sentence without the name."""
        return _named(self.name).sub(_GAP, self.text)


def from_graph(index: Index, count: int, seed: int = 0, topic: str = "") -> Source:
    """Up to `count` questions over the relations of an index, drawn with `seed`, and how many more were asked for.

    `gap` leaves the rarer name out of a sentence that names two; `shared` leaves one name out of two sentences of
    different chunks; `link` asks for the one sentence that names two entities together.
    """
    chunks = Chunks(index, topic)
    made = tuple(islice(_varied(_made(index, chunks, Random(f"templates {seed}"))), count))
    missing = ((f"of {count:,} asked for, the graph gives no more", count - len(made)),) if len(made) < count else ()
    return Source("graph", made, chunks, missing)


def _made(index: Index, chunks: Chunks, random: Random) -> Iterator[Asked]:
    """Questions of the three kinds by turns, relation by relation in a random order."""
    relations, entities = index.graph.relations, {e.id: e for e in index.graph.entities}
    earlier: dict[str, list[_Said]] = defaultdict(list)
    order = random.sample(range(len(relations)), len(relations))
    for turn, place in enumerate(order):
        relation = relations[place]
        rare, other = sorted((entities[relation.source], entities[relation.target]), key=lambda e: (e.degree, e.id))
        said = _sentence(relation, rare, other, index)
        if said is None:
            continue
        if turn % 3 == 1 and len(relation.chunks) == 1:
            yield _link(relation, rare, other, said, chunks)
            continue
        before = next((s for s in earlier[rare.id] if s.chunk.id != said.chunk.id), None)
        earlier[rare.id].append(said)
        if turn % 3 == 2 and before is not None:
            yield _shared(relation, before, said, chunks)
        else:
            yield _gap(relation, said, chunks)


def _sentence(relation: Relation, rare: Entity, other: Entity, index: Index) -> _Said | None:
    """The first sentence behind a relation that names both of its ends as they are called; None where none does."""
    found = index.chunks([d.source.chunk for d in relation.descriptions])
    for said in relation.descriptions:
        text = _words(said, found)
        name = next((n for n in (rare.name, *rare.aliases) if _usable(n) and _named(n).search(text)), "")
        there = any(_named(n).search(text) for n in (other.name, *other.aliases))
        if name and there and _SENTENCE[0] <= len(text) <= _SENTENCE[1]:
            return _Said(text, name, found[said.source.chunk])
    return None


def _words(said: Description, chunks: dict[str, Chunk]) -> str:
    """The span behind a description as the chunk has it, in one line; empty where it is not known."""
    chunk = chunks.get(said.source.chunk)
    return " ".join(chunk.text[said.source.start : said.source.end].split()) if chunk else ""


def _usable(name: str) -> bool:
    """Whether a name can be asked for: it is long enough, and written as a name where its script has capitals."""
    return len(name) >= _SHORT and (name[:1].isupper() or not name[:1].islower())


def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _oracles(chunks: Chunks, *found: Chunk) -> tuple[Passage, ...]:
    return tuple(replace(chunks.passage(c), oracle=True) for c in found)


def _gap(relation: Relation, said: _Said, chunks: Chunks) -> Asked:
    question = f"Which name is missing here: “{said.gapped}”?"
    oracles = _oracles(chunks, said.chunk)
    return Asked(f"gap-{relation.id}", question, (said.name,), oracles, type="gap", made="template")


def _shared(relation: Relation, before: _Said, said: _Said, chunks: Chunks) -> Asked:
    question = f"Which name is missing in both: “{before.gapped}” and “{said.gapped}”?"
    answers = tuple(dict.fromkeys((said.name, before.name)))
    oracles = _oracles(chunks, before.chunk, said.chunk)
    return Asked(f"shared-{relation.id}", question, answers, oracles, type="shared", made="template")


def _link(relation: Relation, rare: Entity, other: Entity, said: _Said, chunks: Chunks) -> Asked:
    question = f"In which sentence are {rare.name} and {other.name} named together?"
    return Asked(
        f"link-{relation.id}", question, (said.text,), _oracles(chunks, said.chunk), type="link", made="template"
    )


def _varied(questions: Iterable[Asked]) -> Iterator[Asked]:
    """`questions` without those whose answer was asked for often enough."""
    count: Counter[str] = Counter()
    for asked in questions:
        count[fold(asked.answers[0])] += 1
        if count[fold(asked.answers[0])] <= _SAME:
            yield asked
