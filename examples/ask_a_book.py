"""Index a folder of texts without a model, ask two questions, and follow a citation to its source.

python examples/ask_a_book.py [FOLDER]      without a folder, the bundled book is read
"""

from __future__ import annotations

import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from sensegraph import Corpus


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as root, Corpus.open(root, settings={"engine": "offline"}) as corpus:
        corpus.add(folder)
        built = corpus.build()
        print(f"{built.counts}, communities by depth {built.clusters}")
        answer = corpus.query("What are the main themes?", method="graphrag", depth=0)
        print(answer.text)
        first = answer.citations[0]
        text = {d.id: d.text for d in corpus.documents()}[first.document]
        print(f"\n[{first.marker}] stands in {first.document}:")
        print("… " + " ".join(text[max(0, first.start - 150) : first.end + 150].split()) + " …")
        for passage in corpus.search("Who is poor, and who helps?", top=3).passages:
            print(f"\n{passage.score:.3f} {' '.join(passage.text.split())[:200]} …")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with as_file(files("sensegraph") / "data" / "carol") as bundled:
            main(bundled)
