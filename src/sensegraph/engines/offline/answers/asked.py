"""What every form of an answer is written from: a question, the texts that were found for it, and their sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import end_sentence
from sensegraph.language.asking.sentence_cues import is_code, is_command
from sensegraph.language.sentences import balance_emphasis
from sensegraph.language.text import WORD
from sensegraph.language.word_lists import ENGLISH_MONTHS
from sensegraph.types import Passage, Statement, WordCounts

_NEAR = 80  # characters, blanks mostly, between a line that leads in and the first behind it
LED_IN, LONG_LINE = 6, 30  # lines that a sentence leads in to, and the words of one at most
_LISTED = re.compile(r"^\s*(?:[-*•+–]|\(?[\w]{1,3}[.)])\s+\S")

LABEL = re.compile(r"^(?:A|Answer): (?=\S)")  # what stands before answers in a list of questions


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the chunks that were found for it, best first, and all their sentences in order.

    `counted` tells how rare the question's words are in the corpus, where that is known; `quoting` are records that
    quote sentences of other chunks, which stand behind those of the chunks.
    """

    question: str
    chunks: tuple[Passage, ...]
    sentences: tuple[SourceSentence, ...]
    counted: WordCounts | None = None
    quoting: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """The statements of an answer, whether that is no answer, and whether it only shows what comes `nearest`."""

    statements: tuple[Statement, ...]
    abstained: bool = False
    nearest: bool = False


def show_sentence(one: SourceSentence) -> str:
    """A sentence, in quotation marks with its speaker where somebody says it: there in the source's own words."""
    if is_code(one.raw):
        return f"`{one.text}`"
    if not one.speaker:
        return end_sentence(LABEL.sub("", one.text))
    said = balance_emphasis(" ".join(one.raw.split())).replace("“", "‘").replace("”", "’").replace('"', "'")
    return f"“{said}” — {one.speaker}"


def list_sentences(chosen: Sequence[SourceSentence], lead: str = "") -> list[Statement]:
    """Sentences as an answer shows them: the first in its own line behind `lead`, the others as a list, all cited."""
    return list_shown([(one, show_sentence(one)) for one in chosen], lead)


def list_shown(shown: Sequence[tuple[SourceSentence, str]], lead: str) -> list[Statement]:
    """Sentences, each with the text that shows it, as `list_sentences` lays them out."""
    begin = ("\n\n- ", "\n- ")
    behind = [one for one, _ in shown[1:]]
    texts = [
        f"{text.removesuffix('.')}:" if other and _leads_to(one, other) else text
        for (one, text), other in zip_longest(shown, behind)
    ]
    return [
        one.cite((lead if i == 0 else begin[i > 1]) + text)
        for i, ((one, _), text) in enumerate(zip(shown, texts, strict=True))
    ]


def _leads_to(one: SourceSentence, other: SourceSentence) -> bool:
    """Whether a sentence ends with a colon, and the other stands right behind it."""
    near = one.chunk == other.chunk and 0 <= other.source.start - one.source.end < _NEAR
    return near and not one.speaker and one.raw.rstrip().endswith((":", "：")) and other.order == one.order + 1


def write_date(moment: str) -> str:
    """A day, month or year in words: 30 June 2023."""
    parts = moment.split("-")
    if not moment or len(parts) > 3 or not parts[0]:
        return moment
    words = [str(int(parts[2][:2]))] if len(parts) > 2 else []
    words += [ENGLISH_MONTHS[int(parts[1]) - 1].title()] if len(parts) > 1 else []
    return " ".join([*words, str(int(parts[0]))])


def list_led_in(sentences: Sequence[SourceSentence], i: int) -> list[SourceSentence]:
    """The lines that a sentence with a colon leads in to, or the command right behind one without; none elsewhere."""
    one = sentences[i]
    opens = one.raw.rstrip().endswith((":", "：")) and not one.speaker
    found: list[SourceSentence] = []
    for other in sentences[i + 1 : i + 1 + LED_IN]:
        if other.reference != one.reference or other.speaker or len(WORD.findall(other.raw)) > LONG_LINE:
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


def list_led_commands(sentences: Sequence[SourceSentence], i: int) -> list[SourceSentence]:
    """The commands that a sentence leads in to; none where it is one itself."""
    return [] if is_command(sentences[i].raw) else [s for s in list_led_in(sentences, i) if is_command(s.raw)]
