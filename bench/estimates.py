"""What `estimate` foresees of a build and of questions, beside what these then take.

    python bench/estimates.py [--data DIR] [--corpus podcast | --corpus FOLDER] [--questions FILE] [--gleaning]

The questions, one a line, are asked by each method that the estimate names; their means are compared with what was
foreseen before and after the build. With --gleaning chunks are gleaned as they are by default.

The scripted server answers at once, in a process of its own; nothing has been computed before the estimate.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from client import chosen, options, prepared, serving, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.estimate import Estimate


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--questions", type=Path, help="a file of questions, one a line")
    parser.add_argument("--gleaning", action="store_true")
    given = parser.parse_args()
    settings = {"model": {"max_gleanings": 1}} if given.gleaning else {}
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        with Corpus.open(prepared(Path(folder) / "corpus", server), settings=settings) as corpus:
            corpus.add(chosen(given))
            foreseen = corpus.estimate()
            corpus.build()
            paid = corpus.store.ledger()
            asked = compare_questions(corpus, foreseen, given.questions)
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
        table(["question by", "calls foreseen", "made", "prompt tokens foreseen", "after the build", "sent"], asked)


def compare_questions(corpus: Corpus, before: Estimate, questions: Path | None) -> list[list[object]]:
    """What a question was foreseen to take by each method, before and after the build, and what it took on average."""
    texts = questions.read_text("utf-8").splitlines() if questions else []
    after = {q.method: q for q in corpus.estimate().questions}
    rows: list[list[object]] = []
    for found in before.questions if texts else ():
        paid = [corpus.query(text, method=found.method).usage for text in texts]
        calls, sent = (sum(getattr(u, name) for u in paid) / len(paid) for name in ("calls", "prompt_tokens"))
        later = after[found.method]
        rows.append([found.method, later.calls, f"{calls:.1f}", found.prompt_tokens, later.prompt_tokens, round(sent)])
    return rows


if __name__ == "__main__":
    main()
