"""Documents need not be files: add values, change one, remove one, and pay only for what changed.

python examples/documents_from_code.py
"""

from __future__ import annotations

import tempfile

from sensegraph import Corpus, Document

ADA = Document(
    "ada", "Ada Lovelace met Charles Babbage in London. She wrote notes on the Analytical Engine.", time="1843"
)
GRACE = Document("grace", "Grace Hopper joined the Navy. Grace Hopper wrote the first compiler for Remington Rand.")


def main() -> None:
    with tempfile.TemporaryDirectory() as root, Corpus.open(root, settings={"engine": "offline"}) as corpus:
        corpus.add([ADA, GRACE])
        print(corpus.build().counts)
        print(corpus.add(Document("ada", ADA.text + " Charles Babbage built the Difference Engine.")))
        print(dict(corpus.build().computed))  # one document is observed anew; the other comes from the store
        corpus.remove("ada")
        print(corpus.build().counts)
        print(corpus.query("Who wrote the first compiler?", method="naive").text)


if __name__ == "__main__":
    main()
