"""A closed world of made-up names: facts to learn from, facts held out, and passages that only look alike.

Every example is a small scene in which some people govern some towns. The same town has other governors in other
scenes, so that nothing can be learnt by heart: the right name stands in the oracle passage, and the distractors say the
same of other towns. Pairs of town and governor that are held out occur in no training scene, neither in an oracle
passage nor in a distractor.

As files a world is a tiny model of random weights with a tokenizer of whole words, examples, held-out questions, a
corpus, and a 2 × 2 design over it: for trying everything out on a CPU in minutes.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sensegraph.engines.llm.trained_prompt import Layout
from sensegraph.engines.local.local_model import hide_progress_bars, require_extra
from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.data import example_types
from sensegraph.lab.finetuning.data.example_types import Example, Passage, format_passage
from sensegraph.papers import paper_folder

_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The configuration of a tiny model. `theta` is the base of the rotary positions: a small one tells near places
    apart at once, `spread` the deviation of the random weights."""

    family: Literal["llama", "phi"] = "llama"
    width: int = 64
    layers: int = 2
    heads: int = 4
    positions: int = 512
    theta: float = 6.0
    spread: float = 0.1
    seed: int = 0


def write_tiny_model(folder: Path, words: Sequence[str], sizes: Sizes | None = None) -> Path:
    """Write a model of random weights that knows these words, parted by blanks and punctuation; returns the folder."""
    require_extra("A tiny model")
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    hide_progress_bars()
    sizes = sizes or Sizes()
    names = dict.fromkeys((*_SPECIAL, *words))
    made = Tokenizer(models.WordLevel({name: n for n, name in enumerate(names)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece(prefix="##")
    marks = dict(zip(("pad_token", "bos_token", "eos_token", "unk_token"), _SPECIAL, strict=True))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=1 << 16, **marks)
    common = {
        "vocab_size": len(tokenizer),
        "hidden_size": sizes.width,
        "intermediate_size": 2 * sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "max_position_embeddings": sizes.positions,
        "initializer_range": sizes.spread,
        "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": sizes.theta, "partial_rotary_factor": 1.0},
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    torch.manual_seed(sizes.seed)
    model: Any
    if sizes.family == "llama":
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**common))
    else:
        free = {"resid_pdrop": 0.0, "embd_pdrop": 0.0}
        model = transformers.PhiForCausalLM(transformers.PhiConfig(**common, **free))
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


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


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written: examples to train on with 0 to `distractors` distractors and RAFT's P, and `held_out` examples
    and questions about pairs that training never shows, these with exactly `distractors`."""

    examples: int = 16_000
    distractors: int = 3
    oracle_share: float = 1.0
    held_out: int = 200
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Files:
    """Where everything is."""

    base: Path
    train: Path
    held_out: Path
    questions: Path
    prompt: Path
    recipe: Path
    corpus: Path
    asked: Path
    design: Path


def list_world_files(folder: Path) -> Files:
    """The files of a world in `folder`."""
    names = ("train.jsonl", "held-out.jsonl", "questions.jsonl", "prompt.md", "recipe.toml", "corpus.jsonl")
    return Files(folder / "base", *(folder / name for name in (*names, "asked.jsonl", "design.toml")))


def write_world_files(folder: Path, plan: Plan) -> Files:
    """Write all into `folder`. Raises SettingsError, before anything is written, without the extra `finetune`."""
    require_extra("A world's tiny model")
    place, to = make_world(seed=plan.seed), list_world_files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_tiny_model(to.base, place.words, Sizes(seed=plan.seed))
    train = Scenes(plan.examples, (0, plan.distractors), plan.oracle_share, seed=plan.seed)
    watched = Scenes(plan.held_out, (0, plan.distractors), held_out=True, seed=plan.seed)
    write_completions(to.train, draw_scenes(place, train))
    write_completions(to.held_out, draw_scenes(place, watched))
    write_held_out_questions(to.questions, place, plan.held_out, plan.distractors, plan.seed + 1)
    # a document a town, of pairs that training never shows, and questions about one town (non-global) or all
    found = draw_state(place, plan.seed)
    documents = [{"_id": f.town, "title": f.town, "text": f"{f.text}"} for f in found]
    asked = [(f.town, f"who {f.does} {f.town}", f.person, "non-global", f.does) for f in found]
    people = {does: "; ".join(f.person for f in found if f.does == does) for does in (f.does for f in found)}
    asked += [(does, f"who {does}", named, "global", does) for does, named in people.items()]
    rows = [{"id": i, "question": q, "answers": [a], "type": k, "topic": t} for i, q, a, k, t in asked]
    _write_json_rows(to.corpus, documents)
    _write_json_rows(to.asked, rows)
    to.prompt.write_text(LAYOUT.template, encoding="utf-8")
    # the recipe suffices for a random model of two layers (measured by bench/finetuning.py); the design's corpus is
    # indexed in the folder index, from where the models' folders are meant
    for path in (to.recipe, to.design):
        given = paper_folder("graft2024") / "closed-world" / path.name
        path.write_text(given.read_text("utf-8"), encoding="utf-8")
    return to


def _write_json_rows(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_completions(path: Path, examples: Iterable[Example]) -> Path:
    """Write examples as prompt and completion, in the world's own prompt."""
    prompted = ((LAYOUT.prompt(e.question, list(map(format_passage, e.passages))), e.target) for e in examples)
    _write_json_rows(path, ({"prompt": prompt, "completion": f" {target}"} for prompt, target in prompted))
    return path


def write_held_out_questions(path: Path, place: World, count: int, distractors: int, seed: int) -> Path:
    """Write questions about held-out pairs, each among exactly so many distractors, in the evaluation form."""
    how = Scenes(count, (distractors, distractors), held_out=True, seed=seed)
    path.write_text(
        "".join(example_types.format_example_line(e, "evaluation") for e in draw_scenes(place, how)), encoding="utf-8"
    )
    return path
