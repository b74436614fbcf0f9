"""The text of a question before it is read: the parts that it asks for, and names that are typed in small letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.text import WORD
from sensegraph.language.word_lists import stop_words

_PARTS = re.compile(
    r",?\s+(?:and|und|et|y)\s+(?=(?:(?:until|till|since|from)\s+when|what|who|whom|whose|why|when|where|how|which|does|did|is|was|has|"
    r"(?:bis|seit)\s+wann|was|wer|wann|wo|wie|warum|welche\w*|quand|où|pourquoi|comment|cuándo|dónde|cómo)\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_][\w’'-]*(?:\.\d+)*")


def split_question(question: str) -> list[str]:
    """The parts of a question in order; the whole where it asks for one thing."""
    return [part for part in _PARTS.split(question.strip()) if WORD.search(part)]


def restore_names(question: str, sentences: Sequence[SourceSentence]) -> str:
    """The question with its words as the texts mostly write them inside of sentences; as it is where it has capitals.

    Function words stay as they are.
    """
    if question[1:] != question[1:].lower():
        return question
    stop = stop_words("xx")
    wanted = {w for w in _WORD.findall(question.lower()) if w not in stop and any(c.isalpha() for c in w)}
    written: dict[str, Counter[str]] = {word: Counter() for word in wanted}
    for sentence in sentences:
        for i, word in enumerate(_WORD.findall(sentence.raw)):
            if i and word.lower() in written:
                written[word.lower()].update([word])

    def write(match: re.Match[str]) -> str:
        counts = written.get(match[0].lower())
        if not counts:
            return match[0]
        form, times = counts.most_common(1)[0]
        return form if 2 * times > counts.total() else match[0]

    return _WORD.sub(write, question)
