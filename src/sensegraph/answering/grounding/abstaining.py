"""Whether an answer says that it has none, and whether it does so where it should.

The wording is matched, in English and a few other languages; an answer that abstains at length, or goes on to answer
all the same, is told by its first two sentences only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sensegraph.language.text import split_sentences

_FIRST = 2  # sentences at the beginning in which an answer says that it has none
_LONG, _CITED = 4, 2  # sentences from which an answer does answer, whatever it begins with; one that cites
_MARK = re.compile(r"\[\s*(?:\d|Data:)")
_NONE = re.compile(
    r"\bnothing in (?:this|the|these) (?:corpus|documents?|context|sources?|texts?|passages?|data)\b"
    r"|\bno (?:relevant |such |specific |direct |explicit |further )*"
    r"(?:information|mention|evidence|data|details?|records?|answer|passages?|documents?)\b"
    r"|\b(?:do(?:es)?|did|is|are|was|were|can|could)(?: not|n['’]t) (?:contain|provide|include|mention|specify|say|"
    r"state|tell|give|hold|have (?:any|enough|sufficient)|enough|mentioned|specified|provided|stated|known|"
    r"available|answer|determine|find|be (?:answered|determined|found))\b"
    r"|\b(?:cannot|unable to|impossible to|not possible to) (?:answer|determine|find|provide|say|tell|"
    r"be (?:answered|determined|found))\b"
    r"|\b(?:insufficient|not enough) (?:information|evidence|data|context)\b"
    r"|^(?:Sorry, |Unfortunately, )?I (?:do not|don['’]t) know\b|\b(?:unanswerable|not answerable)\b"
    r"|\b(?:says?|finds?|found) nothing\b"
    r"|\bkeine (?:Informationen|Angaben|Antwort)\b|\bweiß (?:ich )?nicht\b|\baucune (?:information|mention|réponse)\b"
    r"|\bno hay (?:información|respuesta)\b|没有(?:相关|提到|提及|足够)?.{0,4}(?:信息|内容|答案)|无法(?:回答|确定)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Abstention:
    """How often answers abstained: on questions with an answer, and on those without."""

    answerable: int
    refused: int
    unanswerable: int
    abstained: int

    @property
    def rate(self) -> float | None:
        """Abstentions ÷ questions without an answer, 0 to 1; None without such a question."""
        return self.abstained / self.unanswerable if self.unanswerable else None

    @property
    def false_rate(self) -> float | None:
        """Abstentions ÷ questions with an answer, 0 to 1; None without such a question."""
        return self.refused / self.answerable if self.answerable else None

    @property
    def precision(self) -> float | None:
        """Abstentions on questions without an answer ÷ all abstentions, 0 to 1; None without one."""
        total = self.refused + self.abstained
        return self.abstained / total if total else None


def says_no_answer(text: str) -> bool:
    """Whether a short answer says in its first two sentences that the sources give none; an empty one does."""
    spans = split_sentences(text)
    most = _CITED if _MARK.search(text) else _LONG
    return not spans or (len(spans) < most and _NONE.search(text[: spans[:_FIRST][-1][1]]) is not None)


def count_abstentions(answers: Iterable[tuple[bool, str]]) -> Abstention:
    """Counts over (has an answer, text of the answer)."""
    told = [(has, says_no_answer(text)) for has, text in answers]
    return Abstention(
        sum(has for has, _ in told),
        sum(has and none for has, none in told),
        sum(not has for has, _ in told),
        sum(not has and none for has, none in told),
    )
