"""What gleaning costs and brings: over the wire on a corpus, and by gold entities.

    python bench/gleaning.py [--corpus ../shared/bench/texts/MX] [--missed 0.1]
    python bench/gleaning.py --gold [--data DIR]

Over the wire: each first list of the scripted server leaves out that share of its entities (by name, the same ones in
every run), a check says yes where something was left out, and a further list holds all of it: a model that knows
perfectly what it missed. Asked about names, it lists those that it was asked about. `foreseen` is what `estimate` says,
for which nothing is missed. `tokens each` are prompt tokens above those without gleaning, by entity found.

--gold: two documents of Re-DocRED make a chunk of the usual size; a reply lists the gold entities (persons, places,
organisations, works, events, …) but for those that are dropped at random: in every chunk, or in 30 % of them, or those
of one mention above all. `asked` is the share of chunks that are asked about again, precision and recall say how well
that meets the chunks of which a tenth was dropped. The paper's check is taken to be right each time and its further
list to be whole; about names the reply lists those that are gold. Tokens are those of the prompts that would be sent,
a listed entity being its name and its first sentence in JSON, without relations (so the check costs more than said).
Last, how many texts would be asked about again with the lists that real models made of them.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from client import chosen, options, table  # noqa: E402
from scripted import Script, ScriptedServer  # noqa: E402
from scripted_replies import Draw, asked_in, task_of  # noqa: E402
from scripted_replies import reply as usual_reply  # noqa: E402
from sensegraph.corpus.corpus import Corpus  # noqa: E402
from sensegraph.engines.llm import gleaning, prompts  # noqa: E402
from sensegraph.engines.llm.extraction_task import fill_names  # noqa: E402
from sensegraph.engines.llm.llm import LLMEngine  # noqa: E402
from sensegraph.engines.llm.llm_settings import LLMSettings  # noqa: E402
from sensegraph.language.text import count_tokens, fold  # noqa: E402
from sensegraph.models.endpoint.client import Endpoint  # noqa: E402
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings  # noqa: E402
from sensegraph.types import Chunk, ExtractedEntity, Extraction  # noqa: E402

EXTRACTION = "extraction.extract"
VARIANTS: tuple[dict[str, Any], ...] = (
    {"max_gleanings": 0},
    {"gleaning": "names"},
    {"gleaning": "check"},
    {"gleaning": "check", "max_gleanings": 3},
    {"max_gleanings": 0, "claims": True},
    {"gleaning": "names", "claims": True},
    {"gleaning": "check", "claims": True},
)
HEAD = ["model", "calls foreseen", "made", "prompt tokens foreseen", "sent", "foreseen ÷ sent", "× the first"]
HEAD += ["entities found", "tokens each"]
GOLD_HEAD = [
    "dropped",
    "of",
    "way",
    "asked",
    "precision",
    "recall",
    "found again",
    "prompt tokens a chunk",
    "each found",
]
DROPS = (("nothing", 0.0, 1.0), ("evenly", 0.05, 1.0), ("evenly", 0.1, 1.0), ("evenly", 0.2, 1.0))
DROPS += (("named once", 0.1, 1.0), ("30 % of chunks", 0.2, 0.3), ("30 % of chunks", 0.3, 0.3))
_BEGIN = 6  # messages before the first reply: instructions, two examples with their replies, the passage
_LISTING = {"response_format": {"json_schema": {"name": "extraction"}}}
NAMED = frozenset({"PER", "ORG", "LOC", "MISC"})


def main() -> None:
    parser = options(__doc__, "carol")
    parser.add_argument("--missed", type=float, default=0.1, help="share of the entities that a first list leaves out")
    parser.add_argument("--gold", action="store_true", help="by the gold entities of Re-DocRED")
    given = parser.parse_args()
    (measure_by_gold if given.gold else measure_over_wire)(given)


# ── over the wire ──


def measure_over_wire(given: Namespace) -> None:
    """Calls and tokens of extraction by variant, foreseen and made."""

    def reply(body: dict[str, Any]) -> str | None:
        task = task_of(body)
        if task not in ("check", "extraction"):
            return None
        lacking = "and the list lacks: " in body["messages"][-1]["content"]
        if lacking or "what it claims" in body["messages"][0]["content"]:
            return None
        whole = json.loads(usual_reply({**body, "messages": body["messages"][:_BEGIN], **_LISTING}, "json"))
        missed = {e["name"] for e in whole["entities"] if Draw(0, asked_in(body), 0)(e["name"]) < given.missed}
        rounds = sum(m["role"] == "assistant" for m in body["messages"][_BEGIN:])
        if task == "check":
            return "yes" if missed and rounds < 2 else "no"
        wanted = [e for e in whole["entities"] if (e["name"] in missed) == bool(rounds)]
        names = {e["name"] for e in whole["entities"] if rounds or e["name"] not in missed}
        kept = [r for r in whole["relations"] if {r["source"], r["target"]} <= names]
        return json.dumps({"entities": wanted, "relations": kept})

    rows: list[list[Any]] = []
    with ScriptedServer(Script(reply=reply)) as server:
        for model in VARIANTS:
            (calls, tokens), (made, sent), found = build_graph(server, model, chosen(given))
            row = [", ".join(f"{n} {v}" for n, v in model.items()), calls, made, tokens, sent, f"{tokens / sent:.2f}"]
            more = found - rows[0][7] if rows else 0
            rows.append([*row, f"{sent / (rows[0][4] if rows else sent):.2f}", found])
            rows[-1].append(round((sent - rows[0][4]) / more) if more and not model.get("claims") else "-")
    table(HEAD, rows)


def build_graph(
    server: ScriptedServer, model: dict[str, Any], documents: Any
) -> tuple[tuple[int, int], tuple[int, int], int]:
    """(calls, prompt tokens) of extraction, foreseen and made; in how many chunks an entity was found, over all."""
    settings = {"endpoint": {"base_url": server.base_url, "model": "scripted"}, "model": model, "embedder": "offline"}
    settings["index"] = {"parts": ["graph"], "resolve": {"automatic": False}}
    with tempfile.TemporaryDirectory() as folder, Corpus.open(Path(folder), settings=settings) as corpus:
        corpus.add(documents)
        step = next(s for s in corpus.estimate().steps if s.step == EXTRACTION)
        corpus.build()
        paid = corpus.store.ledger()[EXTRACTION]
        found = sum(len(e.chunks) for e in corpus.index().graph.entities)
    return (step.calls, step.prompt_tokens), (paid.calls, paid.prompt_tokens), found


# ── by gold entities ──


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold entity: its name, how it is written, and its place in the chunk."""

    name: str
    written: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Trial:
    """A chunk of which a reply dropped entities: whether it was asked about, what came of it, prompt tokens sent."""

    much_dropped: bool
    asked: bool
    dropped: int
    found: int
    tokens: int


def measure_by_gold(given: Namespace) -> None:
    """How well each way tells the chunks that miss something, and what an entity found again costs."""
    chunks = list(read_chunks(Path(given.data) / "redocred" / "docs.dev.jsonl"))
    engine = LLMEngine(Endpoint(EndpointSettings(base_url="http://localhost:9/v1", model="m")), LLMSettings())
    began = time.process_time()
    for chunk, _ in chunks:
        gleaning.find_missing_names(chunk.text, ())
    spent = 1000 * (time.process_time() - began) / len(chunks)
    rows: list[list[Any]] = []
    for kind, share, lazy in DROPS:
        for way in ("names", "check"):
            rng = random.Random(1)
            tried = [try_chunk(engine, *one, way, drop_some(one[1], kind, share, lazy, rng)) for one in chunks]
            rows.append([kind, f"{share:.0%}", way, *summarise_trials(tried)])
    table(GOLD_HEAD, rows)
    print(f"{len(chunks)} chunks; the criterion takes {spent:.1f} ms of CPU a chunk")
    for name, pairs in read_model_lists(Path(given.data)):
        again = sum(bool(gleaning.find_missing_names(text, listed)) for text, listed in pairs)
        print(f"{name}: {again} of {len(pairs)} texts would be asked about again")


def read_model_lists(data: Path) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """Texts with the entities that a real model listed of them."""
    corpus = {r["_id"]: r["text"] for r in read_lines(data / "musique" / "corpus.jsonl")}
    with gzip.open(data / "musique" / "openie_gpt35.jsonl.gz", "rt", encoding="utf-8") as lines:
        listed = [json.loads(line) for line in lines]
    yield "GPT-3.5 on passages of musique", [(corpus[r["id"]], r["entities"]) for r in listed if r["id"] in corpus]
    place = data / "carol-reference-index"
    names = {e["id"]: e["title"] for e in read_lines(place / "entities.jsonl")}
    units = read_lines(place / "text_units.jsonl")
    found = [(u["text"], [names[i] for i in u["entity_ids"] or () if i in names]) for u in units]
    yield "GraphRAG's own index of A Christmas Carol, gleaned as published", found


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a .jsonl file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_chunks(path: Path) -> Iterator[tuple[Chunk, tuple[Gold, ...]]]:
    """Two documents as one chunk, with their gold entities."""
    records = read_lines(path)
    for number, pair in enumerate(zip(records[::2], records[1::2], strict=True)):
        text, found, offset = "\n\n".join(r["text"] for r in pair), list[Gold](), 0
        for record in pair:
            for e in record["entities"]:
                if e["type"] in NAMED:
                    written = tuple(m["text"] for m in e["mentions"])
                    found.append(Gold(e["name"], written, offset + min(m["start"] for m in e["mentions"])))
            offset += len(record["text"]) + 2
        yield Chunk(str(number), str(number), 0, len(text), count_tokens(text), text), tuple(found)


def drop_some(gold: Sequence[Gold], kind: str, share: float, lazy: float, rng: random.Random) -> list[Gold]:
    """The entities that a reply leaves out."""
    share *= rng.random() < lazy
    once = {True: 1.6, False: 0.25} if kind == "named once" else {True: 1.0, False: 1.0}
    return [g for g in gold if rng.random() < share * once[len(g.written) == 1]]


def try_chunk(engine: LLMEngine, chunk: Chunk, gold: Sequence[Gold], way: str, dropped: Sequence[Gold]) -> Trial:
    """What a way makes of a reply without the dropped entities."""
    listed = [g for g in gold if g not in dropped]
    (stage,) = engine._stages
    user = prompts.write_chunk(chunk)
    first = stage.plan.overhead + count_tokens(user)
    much = bool(dropped) and len(dropped) >= 0.1 * len(gold)
    if way == "check":
        said = count_tokens(json.dumps([record_of(g, chunk) for g in listed])) + first
        tokens = said + count_tokens(stage.check) + (said + count_tokens(stage.more) if dropped else 0)
        return Trial(much, bool(dropped), len(dropped), len(dropped), tokens)
    missing = gleaning.find_missing_names(chunk.text, [g.name for g in listed])
    if not missing:
        return Trial(much, False, len(dropped), 0, 0)
    held = Extraction(tuple(ExtractedEntity(g.name, "", "") for g in listed))
    keys = [set(fold(name).split()) for name in missing]
    again = [g for g in dropped if any(words >= k or words <= k for words in word_sets(g) for k in keys)]
    return Trial(much, True, len(dropped), len(again), first + count_tokens(fill_names(stage.names, held, missing)))


def word_sets(gold: Gold) -> list[set[str]]:
    """The words of each way in which an entity is written."""
    return [words for text in gold.written if (words := set(fold(text).split()))]


def record_of(gold: Gold, chunk: Chunk) -> dict[str, str]:
    """The record of an entity: its first sentence as description."""
    said = chunk.text[gold.place :].partition(". ")[0]
    return {"name": gold.name, "type": "organization", "description": said}


def summarise_trials(tried: Sequence[Trial]) -> list[str]:
    """A row: shares of chunks asked, precision, recall, entities found, tokens a chunk and an entity."""
    asked, much = [t for t in tried if t.asked], sum(t.much_dropped for t in tried)
    right, found, dropped = (
        sum(t.much_dropped for t in asked),
        sum(t.found for t in tried),
        sum(t.dropped for t in tried),
    )
    tokens = sum(t.tokens for t in tried)
    shares = ((len(asked), len(tried)), (right, len(asked)), (right, much), (found, dropped))
    return [
        *(
            f"{100 * a / b:.0f} %" if b and much else f"{100 * a / b:.0f} %" if b == len(tried) else "-"
            for a, b in shares
        ),
        f"{tokens / len(tried):.0f}",
        f"{tokens / found:.0f}" if found else "-",
    ]


if __name__ == "__main__":
    main()
