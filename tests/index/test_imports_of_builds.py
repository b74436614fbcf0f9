"""A build imports no more than it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document

said = "Ada Finch met Tom Reed in Port {0}. Tom Reed wrote to the harbour board about tide gauges in {0}."
ports = ["Lund", "Bonn", "Oslo", "Kiel", "Cork", "Bergen", "Malmo", "Turku"]
with Corpus.open(sys.argv[1], settings={"processes": 1}) as corpus:
    corpus.add([Document(f"d{i}", said.format(port), f"Letter {i}") for i, port in enumerate(ports)])
    built = corpus.build()
    corpus.add([Document("more", "Ada Finch and Thomas Reed, called Tom Reed, left Lund.", "More")])
    more = corpus.build()
print(built.counts["documents"], more.counts["documents"], "numpy" in sys.modules, "numpy.ma" in sys.modules)
"""


def test_neither_a_build_nor_an_update_imports_masked_arrays(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8", "9", "True", "False"]
