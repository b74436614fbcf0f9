"""Questions made from the graph by rule, where a corpus has none: names left out of sentences, and what links two.

They are labelled `template`. Each is answered by the very words of its gold passage, so that it can be checked; none
asks for more than one or two sentences say, and a model that is trained on nothing else learns to look up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from sensegraph.index.index import Index
from sensegraph.lab.finetuning.data.example_types import Passage, SourceQuestion
from sensegraph.lab.finetuning.data.index_source import ChunkPassages
from sensegraph.lab.finetuning.data.sources import Source
from sensegraph.lab.questions.stated_facts import make_name_pattern
from sensegraph.language.text import fold
from sensegraph.types import Chunk, Entity, Relation

_SENTENCE = (40, 300)  # characters of a sentence to ask about
_SHORT = 3  # characters of a name that is asked for, at least
_SAME = 3  # questions with one answer, at most
_GAP = "____"


@dataclass(frozen=True, slots=True)
class _NamingSentence:
    """A sentence of a chunk that names an entity, with the entity's name as the sentence has it."""

    text: str
    name: str
    entity: str
    chunk: Chunk

    @property
    def gapped(self) -> str:
        """The sentence without the name."""
        return make_name_pattern(self.name).sub(_GAP, self.text)


def draw_graph_questions(index: Index, count: int, seed: int = 0, topic: str = "") -> Source:
    """Up to `count` questions over the relations of an index, drawn with `seed`, and how many more were asked for.

    `gap` leaves the rarer name out of a sentence that names two; `shared` leaves one name out of two sentences of
    different chunks; `link` asks for the one sentence that names two entities together.
    """
    chunks = ChunkPassages(index, topic)
    made = tuple(islice(_draw_questions(index, chunks, Random(f"templates {seed}")), count))
    missing = ((f"of {count:,} asked for, the graph gives no more", count - len(made)),) if len(made) < count else ()
    return Source("graph", made, chunks, missing, topics=chunks.topics())


def _draw_questions(index: Index, chunks: ChunkPassages, random: Random) -> Iterator[SourceQuestion]:
    """Questions relation by relation in a random order, each of the kind that is rarest so far.

    A question whose answer was asked for often enough is left out.
    """
    relations, entities = index.graph.relations, {e.id: e for e in index.graph.entities}
    earlier: dict[str, list[_NamingSentence]] = defaultdict(list)
    count: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for place in random.sample(range(len(relations)), len(relations)):
        relation = relations[place]
        ends = sorted((entities[relation.source], entities[relation.target]), key=lambda e: (e.degree, e.id))
        said = _find_sentence(relation, ends, index)
        if said:
            text, first = f"Which name is missing here: “{said[0].gapped}”?", said[0]
            oracles = _make_oracles(chunks, first.chunk)
            gap = SourceQuestion(f"gap-{relation.id}", text, (first.name,), oracles, type="gap", made="template")
            kinds = [_ask_shared_name(relation, said, earlier, chunks), gap]
            if len(relation.chunks) < 2:  # one chunk alone names the two together
                text = f"In which sentence are {ends[0].name} and {ends[1].name} named together?"
                link = SourceQuestion(f"link-{relation.id}", text, (first.text,), oracles, type="link", made="template")
                kinds.insert(1, link)
            made = min((q for q in kinds if q), key=lambda q: count[q.type])
            count[made.type] += 1
            answers[fold(made.answers[0])] += 1
            if answers[fold(made.answers[0])] <= _SAME:
                yield made
        for now in said:
            earlier[now.entity].append(now)


def _find_sentence(relation: Relation, ends: Sequence[Entity], index: Index) -> list[_NamingSentence]:
    """The first sentence behind a relation that names both of its ends, once for each name that can be asked for."""
    found = index.chunks([d.source.chunk for d in relation.descriptions])
    for description in relation.descriptions:
        source = description.source
        chunk = found.get(source.chunk)
        if chunk is None:
            continue
        text = " ".join(chunk.text[source.start : source.end].split())
        names = [next((n for n in (e.name, *e.aliases) if make_name_pattern(n).search(text)), "") for e in ends]
        if all(names) and _SENTENCE[0] <= len(text) <= _SENTENCE[1]:
            # a name can be asked for that is long enough, and written as a name where its script has capitals
            return [
                _NamingSentence(text, name, end.id, chunk)
                for name, end in zip(names, ends, strict=True)
                if len(name) >= _SHORT and (name[:1].isupper() or not name[:1].islower())
            ]
    return []


def _make_oracles(chunks: ChunkPassages, *found: Chunk) -> tuple[Passage, ...]:
    return tuple(replace(chunks.passage(c), oracle=True) for c in found)


def _ask_shared_name(
    relation: Relation,
    said: Sequence[_NamingSentence],
    earlier: Mapping[str, Sequence[_NamingSentence]],
    chunks: ChunkPassages,
) -> SourceQuestion | None:
    """The rarest name of the sentence that another chunk's sentence had before; None where there is none."""
    pairs = ((s, now) for now in said for s in earlier.get(now.entity, ()) if s.chunk.id != now.chunk.id)
    before, now = next(pairs, (None, None))
    if before is None or now is None:
        return None
    question = f"Which name is missing in both: “{before.gapped}” and “{now.gapped}”?"
    answers = tuple(dict.fromkeys((now.name, before.name)))
    oracles = _make_oracles(chunks, before.chunk, now.chunk)
    return SourceQuestion(f"shared-{relation.id}", question, answers, oracles, type="shared", made="template")
