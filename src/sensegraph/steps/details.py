"""What the sources say on a question beside what the reports show of them: for engines that answer in quotations.

A model reads a report and understands what it stands for; an engine that quotes can only show sentences that it is
given. So the sentences behind a community's entities and relations join its report where they hold a rare word of the
question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sensegraph.runtime import Table
from sensegraph.steps.index import Index
from sensegraph.text import HAN, terms
from sensegraph.types import Cluster, Description

_COMMON = 0.05  # a word in more than this share of the elements tells nothing apart
_MOST = 40  # sentences added to one report
_SHORT = 4  # letters; shorter words are seldom content


def details(question: str, index: Index, clusters: Sequence[Cluster]) -> dict[str, list[Description]]:
    """Sentences by cluster id that hold a rare word of `question`, in the order of elements, each once.

    Elements are searched as stored bytes, and decoded only where a word is found.
    """
    words = _words(question)
    home = {e: c.id for c in clusters for e in c.entities}
    found: dict[str, dict[tuple[str, int, int], Description]] = defaultdict(dict)
    for kept, ends, descriptions in _elements(index, words):
        places = {home.get(e, "") for e in ends} - {""}
        for place in sorted(places):
            for d in descriptions:
                if len(found[place]) < _MOST and any(w in d.text.casefold() for w in kept):
                    found[place].setdefault((d.source.chunk, d.source.start, d.source.end), d)
    return {place: list(said.values()) for place, said in found.items() if said}


def _elements(index: Index, words: Sequence[str]) -> Iterable[tuple[list[str], tuple[str, ...], Sequence[Description]]]:
    """Entities and relations that hold a rare word: those words, the entities concerned, and the descriptions."""
    rows: list[tuple[Table[Any], bytes, list[str]]] = []
    held: Counter[str] = Counter()
    total = 0
    for table in (index.graph.entities, index.graph.relations):
        if isinstance(table, Table):
            for raw in table.raw():
                total += 1
                low = raw.decode().casefold()
                if hit := [w for w in words if w in low]:
                    held.update(hit)
                    rows.append((table, raw, hit))
    rare = {w for w in words if held[w] <= max(3, _COMMON * total)}
    for table, raw, hit in rows:
        if kept := [w for w in hit if w in rare]:
            record = table.decode(raw)
            ends = (record.source, record.target) if hasattr(record, "source") else (record.id,)
            yield kept, ends, record.descriptions


def _words(question: str) -> list[str]:
    """The question's longer words, without the endings that vary, and its pairs of characters."""
    found = (w if HAN.search(w) else w[: max(_SHORT, len(w) - 2)] for w in terms(question))
    return sorted({w for w in found if len(w) >= _SHORT or HAN.search(w)})
