"""A closed world of made-up names: facts to learn from, facts held out, and passages that only look alike.

Every example is a small scene in which some people govern some towns. The same town has other governors in other
scenes, so that nothing can be learnt by heart: the right name stands in the oracle passage, and the distractors say the
same of other towns. Pairs of town and governor that are held out occur in no training scene, neither in an oracle
passage nor in a distractor.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.local.local_engine import Layout
from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.data.example_types import Example, Passage

LAYOUT = Layout("{{passages}}\n\n{{question}}")  # the question last, and no instruction: for models of a few weights
_ONSETS = "b d f g k l m n p r s t v z br dr gr kl pl st tr".split()
_VOWELS = "a e i o u".split()
_CODAS = "l m n r s x".split()
_DOES = ("governs", "leads", "guards", "feeds")


@dataclass(frozen=True, slots=True)
class World:
    """The names of a world, all from its seed; `share` of the pairs of town and governor are held out."""

    towns: tuple[str, ...]
    people: tuple[str, ...]
    share: float = 0.2
    seed: int = 0

    def held_out(self, town: str, person: str) -> bool:
        """Whether this pair is kept from training."""
        found = hashlib.blake2b(f"{self.seed} {town} {person}".encode(), digest_size=8).digest()
        return int.from_bytes(found) / 2**64 < self.share

    @property
    def words(self) -> tuple[str, ...]:
        """Every word that its texts can hold, in a fixed order."""
        return (*_DOES, "who", ".", *self.towns, *self.people)


@dataclass(frozen=True, slots=True)
class Fact:
    """Who does what for a town."""

    town: str
    person: str
    does: str

    @property
    def text(self) -> str:
        """The fact as a sentence, its words and its full stop apart: what a tokenizer of whole words reads."""
        return f"{self.person} {self.does} {self.town} ."

    @property
    def passage(self) -> Passage:
        """The fact as a passage under the town's name."""
        return Passage(f"{self.town} {self.person}", self.text, self.town)


@dataclass(frozen=True, slots=True)
class Scenes:
    """How scenes are drawn: least and most distractors, RAFT's P (the share that keeps its oracle passage), which
    side of the split, how many, and the seed."""

    count: int
    distractors: tuple[int, int] = (0, 4)
    oracle_share: float = 1.0
    held_out: bool = False
    seed: int = 0


def make_world(towns: int = 30, people: int = 30, seed: int = 0, share: float = 0.2) -> World:
    """A world of so many names, no two alike."""
    draw = random.Random(f"names {seed}")
    names: dict[str, None] = {}
    while len(names) < towns + people:
        names.setdefault((_draw_syllable(draw) + _draw_syllable(draw) + draw.choice(_CODAS)).capitalize())
    found = tuple(names)
    return World(found[:towns], found[towns:], share, seed)


def draw_scenes(place: World, how: Scenes) -> Iterator[Example]:
    """Scenes as examples: the governor of one town, asked among others. Equal seeds give equal scenes.

    Raises SettingsError where a scene needs more towns than there are.
    """
    most = how.distractors[1] + 2
    if most > len(place.towns):
        raise SettingsError(f"{most - 2} distractors need {most} towns, and the world has {len(place.towns)}.")
    draw = random.Random(f"scenes {place.seed} {how.seed} {how.held_out}")
    for number in range(how.count):
        fewest, greatest = how.distractors
        towns = draw.sample(place.towns, draw.randint(fewest, greatest) + 2)
        fact, spare, *others = (_draw_fact(place, town, how.held_out, draw) for town in towns)
        kept = draw.random() < how.oracle_share
        shown = [replace(fact.passage, oracle=True) if kept else spare.passage, *(other.passage for other in others)]
        draw.shuffle(shown)
        name, person = f"{'held-out' if how.held_out else 'scene'}-{how.seed}-{number}", fact.person
        question = f"who {fact.does} {fact.town}"
        yield Example(name, question, person, tuple(shown), person, answers=(person,), made="template")


def draw_state(place: World, seed: int = 0) -> list[Fact]:
    """One fact about every town, all of pairs that are held out: what a corpus of this world says."""
    draw = random.Random(f"state {place.seed} {seed}")
    return [_draw_fact(place, town, True, draw) for town in place.towns]


def _draw_fact(place: World, town: str, held_out: bool, draw: random.Random) -> Fact:
    # somebody for the town, of the pairs on this side of the split
    found = [p for p in place.people if place.held_out(town, p) == held_out]
    if not found:
        raise SettingsError(f"No pair of {town} is {'held out' if held_out else 'for training'}: take more people.")
    return Fact(town, draw.choice(found), draw.choice(_DOES))


def _draw_syllable(draw: random.Random) -> str:
    return draw.choice(_ONSETS) + draw.choice(_VOWELS)


def list_stated_pairs(examples: Sequence[Example]) -> set[tuple[str, str]]:
    """All pairs of town and governor that passages of the examples state."""
    return {(p.title, p.text.split()[0]) for e in examples for p in e.passages}
