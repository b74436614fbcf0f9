"""What `estimate` foresees of a build, beside what the build then takes.

    python bench/estimates.py [--data DIR] [--corpus podcast | --corpus FOLDER]

The scripted server answers at once, in a process of its own; nothing has been computed before the estimate.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from client import chosen, options, prepared, serving, table
from sensegraph.corpus.corpus import Corpus


def main() -> None:
    given = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        with Corpus.open(prepared(Path(folder) / "corpus", server)) as corpus:
            corpus.add(chosen(given))
            foreseen = corpus.estimate()
            corpus.build()
            paid = corpus.store.ledger()
        rows = []
        for step in foreseen.steps:
            if step.calls:
                tokens, real = step.prompt_tokens + step.completion_tokens, paid[step.step]
                rows.append([step.step, step.calls, real.calls, tokens, real.prompt_tokens + real.completion_tokens])
        tokens = sum(u.prompt_tokens + u.completion_tokens + u.embedding_tokens for u in paid.values())
        rows.append(["together", foreseen.calls, sum(u.calls for u in paid.values()), foreseen.tokens, tokens])
        head = ["step", "calls foreseen", "made", "tokens foreseen", "taken", "foreseen ÷ taken"]
        table(head, [[*row, f"{row[3] / row[4]:.2f}"] for row in rows])
        print(f"limit that estimate advises: {foreseen.most_tokens} tokens")


if __name__ == "__main__":
    main()
