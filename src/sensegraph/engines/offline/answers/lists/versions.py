"""The version that a sentence is of: what the heading above it says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sensegraph.engines.offline.answers.lists.releases import read_entry_version
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading

FARTHEST = 60  # sentences above one in which the heading with its version is looked for
_ASKS_VERSION = re.compile(
    r"^\W*(?:(?:in|since|with|from|as of)\s+)?(?:which|what)\s+(?:[\w.-]+\s+){0,2}?(?:version|release)\b", re.IGNORECASE
)
_HEADS = re.compile(
    r"\b(?:version|release)s?\s+v?(?P<named>\d[\w.~+-]*)|^\W*[\w.+-]*\s*\(?v?(?P<bare>\d+(?:\.\d+)+[\w.~+-]*)\)?",
    re.IGNORECASE,
)


def find_version(question: str, sentences: Sequence[SourceSentence], i: int) -> tuple[str, SourceSentence] | None:
    """The version that a sentence is of, and the heading that says so; None for other questions, or where it says one.

    Changes of a program stand below the number of the version that brought them.
    """
    if not _ASKS_VERSION.search(question) or _HEADS.search(sentences[i].raw):
        return None
    for j in range(i - 1, max(-1, i - FARTHEST), -1):
        if sentences[j].reference != sentences[i].reference:
            break
        match, number = _HEADS.search(sentences[j].raw), read_entry_version(sentences[j])
        if not number and match and (match["named"] or is_heading(sentences[j].raw)):
            number = (match["named"] or match["bare"]).rstrip(".-")
        if number:
            return number, sentences[j]
    return None
