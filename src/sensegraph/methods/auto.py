"""The choice of a method by the kind of question: `auto`.

A question about the whole corpus goes to GraphRAG, one that some passage may answer to vector RAG. The choice reads
the question alone, is made before anything is paid, and is told in the answer's notes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sensegraph.steps.index import Index

_WHOLE = re.compile(
    r"""\b(themes?|topics?|trends?|overall|overview|across|summar\w+|main|major|common(?:ly)?|recurring|most\s+often
    |frequent\w*|how\s+(?:often|many)|corpus|collection|all\s+(?:the\s+)?(?:documents|texts|episodes|articles|chapters)
    |perspectives?|viewpoints?|opinions?|attitudes?|patterns?|key\s+(?:points|findings|issues|takeaways)|in\s+general
    |what\s+is\s+(?:this|it)\s+(?:all\s+)?about|do\s+(?:the\s+)?(?:guests|speakers|authors|people|leaders|they)
    |\w*themen|worum\s+geht|überblick|zusammenfass\w+|insgesamt|hauptsächlich\w*|thèmes?|résum\w+|temas?|resum\w+)\b
    |主题|主要|总结|概述|总体|テーマ|要約""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A method and why it was chosen."""

    method: str
    reason: str


def choose(question: str, index: Index) -> Choice:
    """The method for `question`, of those that the index can serve."""
    if (found := _WHOLE.search(question)) and index.manifest.hierarchy:
        return Choice("graphrag", f"“{found[0]}” asks about the whole corpus")
    return Choice("naive", "the question names something that single passages can answer")
