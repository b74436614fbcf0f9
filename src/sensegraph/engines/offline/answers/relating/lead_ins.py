"""What stands around a sentence that makes it an answer: what it leads in to, and the version that heads it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.sentence_cues import is_command
from sensegraph.language.text import WORD

MOST, LONG = 6, 30  # lines that a sentence leads in to, and the words of one at most
FARTHEST = 60  # sentences above one in which the heading with its version is looked for
_LISTED = re.compile(r"^\s*(?:[-*•+–]|\(?[\w]{1,3}[.)])\s+\S")
_ASKS_VERSION = re.compile(
    r"^\W*(?:(?:in|since|with|from|as of)\s+)?(?:which|what)\s+(?:[\w.-]+\s+){0,2}?(?:version|release)\b", re.IGNORECASE
)
_HEADS = re.compile(
    r"\b(?:version|release)s?\s+v?(?P<named>\d[\w.~+-]*)|^\W*[\w.+-]*\s*\(?v?(?P<bare>\d+(?:\.\d+)+[\w.~+-]*)\)?",
    re.IGNORECASE,
)


def list_led_in(sentences: Sequence[SourceSentence], i: int) -> list[SourceSentence]:
    """The lines that a sentence with a colon leads in to, or the command right behind one without; none elsewhere."""
    one = sentences[i]
    opens = one.raw.rstrip().endswith((":", "：")) and not one.speaker
    found: list[SourceSentence] = []
    for other in sentences[i + 1 : i + 1 + MOST]:
        if other.reference != one.reference or other.speaker or len(WORD.findall(other.raw)) > LONG:
            break
        command = is_command(other.raw)
        if not opens and not (command and not is_command(one.raw)):
            break
        if (
            found
            and not (command and is_command(found[-1].raw))
            and not (_LISTED.search(other.raw) and _LISTED.search(found[0].raw))
        ):
            break
        found.append(other)
        if not opens:
            break
    return found


def find_version(question: str, sentences: Sequence[SourceSentence], i: int) -> tuple[str, SourceSentence] | None:
    """The version that a sentence is of, and the heading that says so; None for other questions, or where it says one.

    Changes of a program stand below the number of the version that brought them.
    """
    if not _ASKS_VERSION.search(question) or _HEADS.search(sentences[i].raw):
        return None
    for j in range(i - 1, max(-1, i - FARTHEST), -1):
        if sentences[j].reference != sentences[i].reference:
            break
        match = _HEADS.search(sentences[j].raw)
        if match and (match["named"] or is_heading(sentences[j].raw)):
            return (match["named"] or match["bare"]).rstrip(".-"), sentences[j]
    return None
