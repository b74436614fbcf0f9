"""What gleaning and claims add to the cost of reading a corpus, foreseen and made.

    python bench/gleaning.py [--data DIR] [--corpus carol | --corpus FOLDER] [--missed 0.3]

The scripted server says yes to "was anything missed?" for a share of the chunks (`--missed`), and its next list then
holds nothing new: what is measured is calls and tokens, not what a model would find. Foreseen is what `estimate` says,
for which nothing is missed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from client import chosen, options, table  # noqa: E402
from scripted import Script, ScriptedServer  # noqa: E402
from scripted_replies import Draw, asked_in, task_of  # noqa: E402, asked_in
from sensegraph.corpus.corpus import Corpus  # noqa: E402

EXTRACTION = "extraction.extract"
VARIANTS: tuple[dict[str, Any], ...] = (
    {"max_gleanings": 0},
    {"max_gleanings": 1},
    {"max_gleanings": 3},
    {"max_gleanings": 0, "claims": True},
    {"max_gleanings": 1, "claims": True},
    {"max_gleanings": 1, "claims": True, "extraction_format": "tuple"},
)
HEAD = ["model", "calls foreseen", "made", "tokens foreseen", "taken", "foreseen ÷ taken", "× the first"]


def main() -> None:
    parser = options(__doc__, "carol")
    parser.add_argument("--missed", type=float, default=0.3, help="share of the checks that are answered with yes")
    given = parser.parse_args()

    def reply(body: dict[str, Any]) -> str | None:
        if task_of(body) != "check":
            return None
        return "yes" if Draw(0, asked_in(body), len(body["messages"]))("missed") < given.missed else "no"

    rows: list[list[Any]] = []
    with ScriptedServer(Script(reply=reply)) as server:
        for model in VARIANTS:
            foreseen, made = extracted(server, model, chosen(given))
            rows.append([named(model), foreseen[0], made[0], foreseen[1], made[1], f"{foreseen[1] / made[1]:.2f}"])
            rows[-1].append(f"{made[1] / rows[0][4]:.2f}")
    table(HEAD, rows)


def named(model: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in model.items())


def extracted(server: ScriptedServer, model: dict[str, Any], documents: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """(calls, tokens) of extraction, foreseen and made."""
    settings = {"endpoint": {"base_url": server.base_url, "model": "scripted"}, "model": model, "embedder": "offline"}
    with tempfile.TemporaryDirectory() as folder, Corpus.open(Path(folder), settings=settings) as corpus:
        corpus.add(documents)
        step = next(s for s in corpus.estimate().steps if s.step == EXTRACTION)
        corpus.build()
        paid = corpus.store.ledger()[EXTRACTION]
    return (
        (step.calls, step.prompt_tokens + step.completion_tokens),
        (paid.calls, paid.prompt_tokens + paid.completion_tokens),
    )


if __name__ == "__main__":
    main()
